"""Feature scenes: one module each, with `STILLS`, the frames that are rendered, a `build` that fills an empty file's stage, and perhaps
what is done `after_bake`. They run in Blender."""
