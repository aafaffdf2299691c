"""Wedges: a grid of variants of a scene, baked side by side, and one sheet of their pictures.

Every bake is a process of the command line, so nothing here simulates or loads numba. Knows neither Blender nor how a bake works.
"""
