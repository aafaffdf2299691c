"""Feature scenes: one module each, with a `VIEW` and a `build` that makes an empty file the scene. They run in Blender."""
