"""Objects that are put into a scene: the add menu, quick effects, materials and ready scenes."""
