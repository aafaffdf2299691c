"""Turns the open Blender file into a scene description that is independent of Blender."""
