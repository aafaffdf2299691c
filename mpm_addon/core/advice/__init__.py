"""Advice before and after a simulation: warnings, previews, probes, and conserved quantities."""
