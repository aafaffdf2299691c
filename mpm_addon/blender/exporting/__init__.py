"""Particles for other programs, and for a Blender without this extension."""
