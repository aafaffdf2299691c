"""Particles and grid in memory, and the transfers between them. Nothing else knows the table, the lanes and the arenas."""
