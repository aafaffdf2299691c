"""Particles for other programs, and for Blender without this extension."""
