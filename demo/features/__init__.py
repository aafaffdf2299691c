"""Feature scenes: one module each, with a `VIEW`, a `build` that makes an empty file the scene, and perhaps what is
done `after_bake`. They run in Blender."""
