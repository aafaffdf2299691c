"""Scene descriptions, checked when they are created. No files, no numba, no Blender."""
