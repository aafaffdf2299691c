"""Particles and grid in memory, and the transfers between them. Nothing else knows how the table, lanes and arenas are laid out."""
