"""The manifest of a take: facts about the scene from which it was baked."""

import importlib.metadata
import platform
from typing import Any

import numpy as np

from ..core.particles import frame_attributes
from ..core.processor import chosen_level
from ..core.scene.description import Scene
from .frame_file import stored_attributes
from .installation import version
from .scene_writer import scene_hash
from .toml_tables import table_of


def outline(scene: Scene) -> dict[str, Any]:
    """The facts about a scene that manifests and `info` share: frames, grid, and names of materials and emitters in order of index."""
    return {
        "fps": scene.time.fps,
        "time_scale": scene.time.time_scale,
        "subframes": scene.time.subframes,
        "frame_start": scene.time.frame_start,
        "frame_end": scene.time.frame_end,
        "dimension": scene.solver.dimension,
        "grid_spacing": scene.solver.grid_spacing,
        "materials": list(scene.materials),
        "emitters": [emitter.name for emitter in scene.emitters],
    }


def manifest_of(scene: Scene) -> dict[str, Any]:
    """The content of take.json, except for entries that depend on other takes; see docs/formats.md."""
    attributes = frame_attributes(scene.carried, tears=scene.tears, is_heated=scene.is_heated)
    kept = stored_attributes(attributes, scene.cache)
    return {
        "scene_name": scene.name,
        "scene_hash": scene_hash(scene),
        "units": "SI",
        **outline(scene),
        "domain": table_of(scene.domain),
        "colliders": [
            {"name": collider.name, "kind": collider.shape.kind, "dynamic": collider.dynamic, "is_moving": collider.motion is not None}
            for collider in scene.colliders
        ],
        "precision": scene.cache.precision,
        "processor_level": chosen_level(),
        "attributes": {name: attributes[name]._asdict() for name in kept},
        "versions": {
            "mpm_addon": version(),
            "python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in ("numba", "zstandard")},
            "numpy": np.__version__,
        },
    }
