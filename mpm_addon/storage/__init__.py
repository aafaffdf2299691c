"""Files: scene packages, caches, presets and exports. No Blender, no numba."""

from .cache import Cache, open_cache
from .presets import load_material_preset, presets_folder
from .scene_file import read_scene
from .scene_writer import scene_hash, write_scene

__all__ = ["Cache", "load_material_preset", "open_cache", "presets_folder", "read_scene", "scene_hash", "write_scene"]
