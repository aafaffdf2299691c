"""The Blender layer: the only place that knows Blender. Reads scenes, starts bakes, shows their frames."""
