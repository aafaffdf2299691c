"""Derived data: made from the cached frames of any bake, afterwards or while it runs, and stored beside them.

It never touches the frames, and changing its settings never touches the simulation. Knows nothing of Blender and of how a bake works.
"""
