"""Bakes: their processes, what is known of them, and what they leave in the file."""
