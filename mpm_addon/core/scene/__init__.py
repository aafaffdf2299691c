"""What a scene is: descriptions, checked when they are made. No files, no numba, no Blender."""
