"""Particles from emitters, pinned particles, and outflows."""
