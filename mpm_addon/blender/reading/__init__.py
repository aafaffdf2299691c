"""From the open Blender file to a scene that asks nothing of Blender any more."""
