"""The Blender layer: the only code that knows Blender. Reads scenes, starts bakes and shows their frames."""
