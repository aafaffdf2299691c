"""Descriptions of scenes, checked when they are made. No files, no numba, no Blender."""
