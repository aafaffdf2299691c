"""Foam: made by the operator, shown beside the particles as points, moved between frames, and deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender import display
from mpm_addon.blender.baking import derived_facts, derived_kinds, derived_processes
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import orphans, swarm_objects
from mpm_addon.blender.settings import derived_settings
from mpm_addon.core.messages import NOTHING
from mpm_addon.core.particles import Moment
from mpm_addon.derived.settings import FoamSettings
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import Origin, derived_path, source_of
from mpm_addon.storage.swarm_file import StoredSwarm, write_swarm
from mpm_addon.storage.take import FOAM
from tests.blender.scenes import error_of

blender = pytest.mark.blender
COUNT = 4


def path_of(item: Any, number: int) -> Path:
    return derived_path(open_cache(item.mpm.cache), Moment(number), FOAM)


def write(item: Any, number: int, *, count: int = COUNT, settings: str = "") -> None:
    """The foam of a frame: points along x at a height that is the frame's number, which move along z, one of each kind and the first."""
    cache, path = open_cache(item.mpm.cache), path_of(item, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    along = np.arange(count, dtype=np.float32)
    arrays = {
        "position": np.column_stack([along, 0.0 * along, 0.0 * along + number]).astype(np.float32),
        "velocity": np.tile(np.array([0.0, 0.0, 2.0], np.float32), (count, 1)),
        "id": np.arange(count, dtype=np.int32),
        "kind": (np.arange(count) % 3).astype(np.int32),
        "age": along,
        "life": np.full(count, 0.5, np.float32),
        "size": np.full(count, 0.5, np.float32),
    }
    origin = Origin(Moment(number), settings or FoamSettings().hash, source_of(cache, Moment(number), FOAM), (1,))
    write_swarm(path, FOAM, StoredSwarm(origin, arrays), 0.1)


def points(item: Any, name: str = "position", components: int = 3) -> np.ndarray:
    """An attribute of the shown points, (n, components)."""
    mesh = item.mpm.foam.object.data
    flat = np.zeros(len(mesh.vertices) * components, np.float32)
    if len(flat):
        mesh.attributes[name].data.foreach_get("vector" if components == 3 else "value", flat)
    return flat.reshape(-1, components)


def test_the_foam_of_each_frame_is_shown_and_none_where_there_is_none(bpy: Any, particles: Any) -> None:
    write(particles, 2)
    write(particles, 3, count=7)
    swarm_objects.add(particles, FOAM)
    for number, count in ((1, 0), (2, COUNT), (3, 7), (2, COUNT), (1, 0)):
        bpy.context.scene.frame_set(number)
        found = points(particles)
        assert len(found) == count
        assert (found[:, 2] == number).all()
        # the particles stay
        assert (len(particles.data.vertices), swarm_objects.status(particles, FOAM)) == (6, NOTHING)


def test_foam_can_be_hidden(bpy: Any, particles: Any) -> None:
    write(particles, 1)
    swarm_objects.add(particles, FOAM)
    bpy.context.scene.frame_set(1)
    assert len(points(particles)) == COUNT
    particles.mpm.foam.is_shown = False
    assert len(points(particles)) == 0
    particles.mpm.foam.is_shown = True
    assert len(points(particles)) == COUNT
    particles.mpm.cache += "_missing"
    bpy.context.scene.frame_set(2)
    assert len(points(particles)) == 0


def test_lengths_are_in_the_units_of_the_scene_and_retimed_particles_move_between_frames(bpy: Any, particles: Any) -> None:
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.5
    write(particles, 1)
    swarm_objects.add(particles, FOAM)
    particles.mpm.use_retime, particles.mpm.playback_speed = True, 0.25
    scene.frame_set(2)
    seconds = 0.25 / scene.render.fps
    assert points(particles)[:, 2] == pytest.approx((1.0 + 2.0 * seconds) / 0.5)
    assert points(particles, "velocity")[:, 2] == pytest.approx(0.25 * 2.0 / 0.5)
    assert points(particles, "size", 1)[:, 0] == pytest.approx(0.5 / 0.5)
    scene.mpm.foam.use_size, scene.mpm.foam.size = True, 0.3
    assert derived_settings.settings_of(scene, FOAM) == FoamSettings(size=0.3 * 0.5)


def test_the_foam_is_a_child_beside_the_particles_and_there_is_one(bpy: Any, particles: Any) -> None:
    shown = swarm_objects.add(particles, FOAM)
    assert swarm_objects.add(particles, FOAM) == shown
    assert (shown.parent, list(shown.users_collection)) == (particles, list(particles.users_collection))
    swarm_objects.remove(particles, FOAM)
    assert particles.mpm.foam.object is None
    assert swarm_objects.NAMES[FOAM] not in bpy.data.objects
    assert swarm_objects.NAMES[FOAM] not in bpy.data.meshes


def test_foam_without_its_particles_is_empty(bpy: Any, particles: Any) -> None:
    write(particles, 1)
    shown = swarm_objects.add(particles, FOAM)
    bpy.context.scene.frame_set(1)
    assert len(shown.data.vertices) == COUNT
    bpy.data.objects.remove(particles)
    orphans.empty_new()
    assert len(shown.data.vertices) == 0


def test_facts_tell_made_from_outdated(bpy: Any, particles: Any) -> None:
    scene = bpy.context.scene
    write(particles, 1)
    write(particles, 3, settings="others")
    assert derived_facts.facts_of(scene, FOAM)[:3] == (3, 1, 1)
    scene.mpm.foam.amount = 1.0
    assert derived_facts.facts_of(scene, FOAM)[:3] == (3, 0, 2)


def test_the_operators_make_and_delete_the_foam_of_every_frame(bpy: Any, particles: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dressed: list[Any] = []
    monkeypatch.setattr(derived_kinds.display, "dress_foam", dressed.append)
    scene = bpy.context.scene
    scene.mpm.foam.emitters = open_cache(particles.mpm.cache).manifest["emitters"][0]
    assert bpy.ops.mpm.foam_make() == {"FINISHED"}
    assert derived_facts.facts_of(scene, FOAM)[:3] == (3, 3, 0)
    assert dressed == [particles.mpm.foam.object]
    assert derived_processes.current(FOAM) is None
    assert bpy.ops.mpm.foam_make() == {"FINISHED"}
    assert len(dressed) == 1
    assert bpy.ops.mpm.foam_delete() == {"FINISHED"}
    assert derived_facts.facts_of(scene, FOAM)[:3] == (3, 0, 0)
    assert particles.mpm.foam.object is None


def test_a_bake_has_its_foam_made_if_it_is_to(bpy: Any, particles: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived_kinds.display, "dress_foam", lambda *_given: None)
    scene = bpy.context.scene
    assert not derived_processes.follow(scene, scene.mpm.cache, FOAM)
    scene.mpm.foam.while_baking = True
    scene.mpm.foam.emitters = open_cache(particles.mpm.cache).manifest["emitters"][0]
    assert derived_processes.follow(scene, scene.mpm.cache, FOAM)
    assert derived_processes.finish(Path(scene.mpm.cache)) == []
    assert derived_facts.facts_of(scene, FOAM)[:3] == (3, 3, 0)


def test_what_the_process_says_is_reported(bpy: Any, particles: Any) -> None:
    bpy.context.scene.mpm.foam.emitters = "snow bal"
    assert 'Foam: emitter "snow bal" does not exist (did you mean "snow ball"?)' in error_of(bpy.ops.mpm.foam_make)


def test_damaged_foam_says_so(bpy: Any, particles: Any) -> None:
    write(particles, 2)
    path = path_of(particles, 2)
    path.write_bytes(path.read_bytes()[:200])
    swarm_objects.add(particles, FOAM)
    bpy.context.scene.frame_set(2)
    assert "delete this file, then make the foam again" in in_blender(swarm_objects.status(particles, FOAM))
    assert len(points(particles)) == 0
    bpy.context.scene.frame_set(3)
    assert not swarm_objects.status(particles, FOAM)


@blender
def test_foam_becomes_points_of_its_size_with_one_white_material(bpy: Any, particles: Any) -> None:
    write(particles, 1)
    shown = swarm_objects.add(particles, FOAM)
    for _again in range(2):
        display.dress_foam(shown)
    (modifier,) = shown.modifiers
    (material,) = shown.data.materials
    bpy.context.scene.frame_set(1)
    assert evaluated(bpy, shown) == (COUNT, pytest.approx(0.25), material.name, True)
    # one of four is a bubble, and two are spray
    display.set_input(modifier, "Bubbles", False)
    assert evaluated(bpy, shown)[0] == 3
    display.set_input(modifier, "Spray", False)
    display.set_input(modifier, "Size Scale", 2.0)
    assert evaluated(bpy, shown)[:2] == (1, pytest.approx(0.5))


def evaluated(bpy: Any, shown: Any) -> tuple[int, float, str, bool]:
    """How many points the evaluated object has, their largest radius, their material, and whether they have velocities."""
    instances = bpy.context.evaluated_depsgraph_get().object_instances
    (cloud,) = [
        each.object.data for each in instances if each.object.type == "POINTCLOUD" and each.parent and each.parent.original == shown
    ]
    radius = np.zeros(len(cloud.points), np.float32)
    cloud.attributes["radius"].data.foreach_get("value", radius)
    return len(radius), float(radius.max()), cloud.materials[0].name, "velocity" in cloud.attributes
