"""Debris: made by the operator, shown beside the particles as stones and points, and, as foam, as a volume."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender import display
from mpm_addon.blender.baking import derived_facts, derived_kinds
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import fog_objects, orphans, particle_objects, swarm_objects
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.messages import NOTHING
from mpm_addon.core.particles import Moment
from mpm_addon.core.scene.description import Collider
from mpm_addon.core.scene.fracture import Fracture
from mpm_addon.derived.debris_settings import DebrisSettings
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import Origin, derived_path, source_of
from mpm_addon.storage.swarm_file import StoredSwarm, write_swarm
from mpm_addon.storage.take import DEBRIS
from tests.blender.scenes import add_collider, description, write_cache

blender = pytest.mark.blender
COUNT = 6


def path_of(item: Any, number: int) -> Path:
    return derived_path(open_cache(item.mpm.cache), Moment(number), DEBRIS)


def write(item: Any, number: int, *, count: int = COUNT) -> None:
    """The debris of a frame: particles along x that move along z, chips and dust in turn, of the first two emitters."""
    cache, path = open_cache(item.mpm.cache), path_of(item, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    along = np.arange(count, dtype=np.float32)
    arrays = {
        "position": np.column_stack([along, 0.0 * along, 0.0 * along + number]).astype(np.float32),
        "velocity": np.tile(np.array([0.0, 0.0, 2.0], np.float32), (count, 1)),
        "id": np.arange(count, dtype=np.int32),
        "kind": (np.arange(count) % 2).astype(np.int32),
        "age": along,
        "life": np.full(count, 0.5, np.float32),
        "size": np.full(count, 0.5, np.float32),
        "emitter_index": (np.arange(count) // 2 % 2).astype(np.int32),
    }
    origin = Origin(Moment(number), DebrisSettings().hash, source_of(cache, Moment(number), DEBRIS), (1,))
    write_swarm(path, DEBRIS, StoredSwarm(origin, arrays), 0.1)


def count_of(item: Any) -> int:
    return len(item.mpm.debris.object.data.vertices)


def test_the_debris_of_each_frame_is_shown_beside_the_particles(bpy: Any, particles: Any) -> None:
    write(particles, 2)
    swarm_objects.add(particles, DEBRIS)
    for number, count in ((1, 0), (2, COUNT), (3, 0)):
        bpy.context.scene.frame_set(number)
        assert (count_of(particles), swarm_objects.status(particles, DEBRIS)) == (count, NOTHING)
    bpy.context.scene.frame_set(2)
    particles.mpm.debris.is_shown = False
    assert count_of(particles) == 0


@blender
def test_dust_as_a_volume_replaces_its_points_and_chips_stay(bpy: Any, particles: Any) -> None:
    write(particles, 1)
    swarm_objects.add(particles, DEBRIS)
    bpy.context.scene.frame_set(1)
    assert particles.mpm.debris.fog is None
    particles.mpm.debris.is_fog = True
    fog = particles.mpm.debris.fog
    assert (fog.parent, fog.type, count_of(particles)) == (particles, "VOLUME", COUNT // 2)
    first = fog.data.filepath
    assert Path(first).stat().st_size > 1000
    assert len(fog.data.materials) == 1
    particles.mpm.debris.fog_detail = 1
    assert fog.data.filepath != first
    # a frame without debris
    bpy.context.scene.frame_set(2)
    assert (fog.data.filepath, count_of(particles)) == ("", 0)
    bpy.context.scene.frame_set(1)
    particles.mpm.debris.is_fog = False
    assert (fog.data.filepath, count_of(particles)) == ("", COUNT)


@blender
def test_the_volume_goes_with_its_particles(bpy: Any, particles: Any) -> None:
    write(particles, 1)
    swarm_objects.add(particles, DEBRIS)
    particles.mpm.debris.is_fog = True
    bpy.context.scene.frame_set(1)
    fog = particles.mpm.debris.fog
    assert fog.data.filepath
    bpy.data.objects.remove(particles)
    orphans.empty_new()
    assert fog.data.filepath == ""


@blender
def test_the_volume_is_removed_with_the_debris(bpy: Any, particles: Any) -> None:
    swarm_objects.add(particles, DEBRIS)
    particles.mpm.debris.is_fog = True
    assert particles.mpm.debris.fog is not None
    swarm_objects.remove(particles, DEBRIS)
    assert (particles.mpm.debris.object, particles.mpm.debris.fog) == (None, None)
    assert not {name for name in (*swarm_objects.NAMES.values(), *fog_objects.NAMES.values()) if name in bpy.data.objects}


@blender
def test_only_the_last_files_of_volumes_are_kept(bpy: Any, particles: Any) -> None:
    swarm_objects.add(particles, DEBRIS)
    particles.mpm.debris.is_fog = True
    for number in (1, 2):
        write(particles, number)
        bpy.context.scene.frame_set(number)
        for detail in range(1, 9):
            particles.mpm.debris.fog_detail = detail
    fog = Path(particles.mpm.debris.fog.data.filepath)
    assert fog.exists()
    assert len(list(fog.parent.glob("*.vdb"))) == fog_objects.KEPT


def test_the_operators_make_and_delete_debris(bpy: Any, particles: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dressed: list[Any] = []
    monkeypatch.setattr(derived_kinds.display, "dress_debris", lambda _item, shown, *_materials: dressed.append(shown))
    scene = bpy.context.scene
    scene.mpm.debris.emitters = open_cache(particles.mpm.cache).manifest["emitters"][0]
    assert bpy.ops.mpm.debris_make() == {"FINISHED"}
    assert derived_facts.facts_of(scene, DEBRIS)[:3] == (3, 3, 0)
    assert dressed == [particles.mpm.debris.object]
    scene.mpm.debris.chips = 3.0
    assert derived_facts.facts_of(scene, DEBRIS)[:3] == (3, 0, 3)
    assert bpy.ops.mpm.debris_delete() == {"FINISHED"}
    assert (particles.mpm.debris.object, particles.mpm.debris.fog) == (None, None)
    assert not {name for name in (*swarm_objects.NAMES.values(), *fog_objects.NAMES.values()) if name in bpy.data.objects}


def test_damaged_debris_says_so(bpy: Any, particles: Any) -> None:
    write(particles, 2)
    path_of(particles, 2).write_bytes(path_of(particles, 2).read_bytes()[:200])
    swarm_objects.add(particles, DEBRIS)
    bpy.context.scene.frame_set(2)
    assert "delete this file, then make the debris again" in in_blender(swarm_objects.status(particles, DEBRIS))


@blender
def test_chips_become_stones_of_their_size_in_the_material_of_their_emitter_and_dust_points(bpy: Any, particles: Any) -> None:
    write(particles, 1)
    shown = swarm_objects.add(particles, DEBRIS)
    for _again in range(2):
        display.dress_debris(particles, shown, {}, None)
    (modifier,) = shown.modifiers
    bpy.context.scene.frame_set(1)
    stones, points = evaluated(bpy, shown)
    assert len(stones) == COUNT // 2
    assert points == COUNT // 2
    # a stone is about as large as the diameter says: half a meter
    assert all(0.3 < size < 0.7 for size in stones)
    display.set_input(modifier, "Chips", False)
    assert evaluated(bpy, shown) == ([], COUNT // 2)
    display.set_input(modifier, "Dust", False)
    assert evaluated(bpy, shown) == ([], 0)


def modifier_input(bpy: Any, modifier: Any, name: str) -> Any:
    """The value of an input of a geometry-nodes modifier."""
    identifier = display.input_identifier(modifier.node_group, name)
    return getattr(modifier.properties.inputs, identifier).value if bpy.app.version >= (5, 2, 0) else modifier[identifier]


@blender
def test_chips_of_colliders_that_break_have_the_material_inside_their_pieces(bpy: Any, tmp_path: Path) -> None:
    shape, fracture = SHAPES["box"](size=(1.0, 1.0, 1.0)), Fracture()
    bodies = tuple(Collider(name, shape, dynamic=True, density=2000.0, fracture=fracture) for name in ("Wall", "Pot"))
    described = replace(description(), emitters=description().emitters[:1], colliders=(Collider("Floor", shape), *bodies))
    scene = bpy.context.scene
    scene.mpm.cache = str(write_cache(tmp_path / "cache", {1: 6}, scene=described))
    blue, brick = (bpy.data.materials.new(name) for name in ("Blue", "Brick"))
    brick.diffuse_color = (0.5, 0.1, 0.1, 1.0)
    wall, _pot = add_collider(bpy, "Wall"), add_collider(bpy, "Pot")
    for material in (blue, brick):
        wall.data.materials.append(material)
    item = particle_objects.result_object(scene, str(tmp_path / "cache"))
    display.dress(item, [display.Look("water ball", (0.0, 0.0, 1.0, 1.0), False, "water", "water")])
    assert derived_kinds.DERIVED_KINDS[DEBRIS].add_object(scene, item)
    shown = item.mpm.debris.object
    (modifier,) = shown.modifiers
    chips = [modifier_input(bpy, modifier, f"Material of Emitter {number}") for number in (1, 2, 3, 4)]
    pot = bpy.data.materials["Pot Inside"]
    assert chips == [item.mpm.display.parts[0].material, brick, pot, pot]
    assert {brick, pot} < set(shown.data.materials)
    # water throws off no debris, so the dust is that of the wall
    item.mpm.debris.is_fog = True
    for dust in (bpy.data.materials["MPM Dust"], item.mpm.debris.fog.data.materials[0]):
        assert tuple(dust.diffuse_color)[:3] == pytest.approx((0.5**0.7, 0.1**0.7, 0.1**0.7))


def evaluated(bpy: Any, shown: Any) -> tuple[list[float], int]:
    """The sizes of the stones of the evaluated object, and how many points it has."""
    stones, points = [], 0
    for each in bpy.context.evaluated_depsgraph_get().object_instances:
        if not each.parent or each.parent.original != shown:
            continue
        if each.object.type == "MESH" and each.is_instance:
            corners = np.array(each.object.bound_box)
            stones.append(max(each.matrix_world.to_scale()) * float((corners.max(axis=0) - corners.min(axis=0)).max()))
        elif each.object.type == "POINTCLOUD":
            points += len(each.object.data.points)
    return stones, points
