"""Wedges: a grid of variants of a scene, baked side by side, and a contact sheet of their pictures.

Every bake is a process of the command line, so nothing here simulates or loads numba. Knows nothing of Blender or of how a bake works.
"""
