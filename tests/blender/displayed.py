"""Displayed particles in tests, and their evaluation by Blender."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from mpm_addon.blender import display
from mpm_addon.blender.playback import particle_objects

from .scenes import write_cache

WATER = display.Look("Pool", (0.1, 0.4, 0.9, 1.0), law="water", material="water")
SAND = display.Look("Heap", (0.7, 0.5, 0.2, 1.0), law="sand", material="dry_sand")
EDGE = 0.1


def displayed_particles(bpy: Any, folder: Path) -> Any:
    """The object that shows a cache whose particles belong to two emitters in turn."""
    write_cache(folder, {1: 6, 2: 6, 3: 8})
    item = particle_objects.result_object(bpy.context.scene, str(folder))
    bpy.context.scene.frame_set(1)
    return item


def block(bpy: Any, size: int) -> Any:
    """An object with particles on a lattice, spaced by their size."""
    axis = np.arange(size, dtype=np.float32) * EDGE
    return particles_at(bpy, np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3))


def torn_sheet(bpy: Any) -> Any:
    """An object with particles in a sheet that is one particle thick and has holes."""
    random = np.random.default_rng(0)
    axis = np.arange(24) * EDGE
    lattice = np.stack(np.meshgrid(axis, axis, [0.0]), axis=-1).reshape(-1, 3)
    places = lattice + random.uniform(-0.3, 0.3, lattice.shape) * EDGE
    return particles_at(bpy, places[random.random(len(places)) < 0.7].astype(np.float32))


def particles_at(bpy: Any, position: Any) -> Any:
    """An object with particles at positions (n, 3)."""
    count = len(position)
    velocity = np.tile(np.array([1.0, 2.0, 3.0], np.float32), (count, 1))
    arrays = {
        "position": position,
        "velocity": velocity,
        "id": np.arange(count, dtype=np.int32),
        "scale": np.full(count, EDGE, np.float32),
        "emitter_index": np.zeros(count, np.int32),
    }
    item = bpy.data.objects.new("Block", bpy.data.meshes.new("Block"))
    bpy.context.scene.collection.objects.link(item)
    particle_objects.fill(item.data, arrays, 1.0)
    return item


def evaluated(bpy: Any, item: Any) -> Any:
    return item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data


def shown(bpy: Any) -> Counter[str]:
    """What is evaluated: points of clouds, and instances by the name of their material."""
    found: Counter[str] = Counter()
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        data = instance.object.data
        if instance.object.type == "POINTCLOUD":
            found["points"] += len(data.points)
        elif instance.is_instance:
            found[data.materials[data.polygons[0].material_index].name] += 1
        elif instance.object.type == "MESH" and len(data.polygons):
            found["faces"] += len(data.polygons)
    return found


def use(item: Any, mode: str, number: int = 0) -> None:
    item.mpm.display.parts[number].viewport = mode


def show_as_rendered(item: Any, modifier: Any = None) -> None:
    """Make the viewport show what renders show: of particles, or of another modifier."""
    group = (modifier or display.modifier_of(item)).node_group
    output = next(node for node in group.nodes if node.bl_idname == "NodeGroupOutput")
    switch = output.inputs[0].links[0].from_node
    group.links.new(switch.inputs["False"].links[0].from_socket, output.inputs[0])
    item.update_tag()
