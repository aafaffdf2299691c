"""Bakes: their processes, their state and their results in the file."""
