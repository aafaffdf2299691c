"""Adds objects to a scene: the Add menu, quick effects, materials and ready scenes."""
