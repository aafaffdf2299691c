"""Advice before and after a simulation: warnings, previews and probes."""
