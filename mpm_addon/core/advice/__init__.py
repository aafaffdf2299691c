"""What helps before and after a simulation: warnings, previews, probes, and what is conserved."""
