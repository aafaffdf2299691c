"""Colliders, walls and rigid bodies, and what they do to matter and to each other."""
