"""Keyframed settings in the solver's description."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.blender.reading.sampling import animated
from mpm_addon.core.errors import SceneError
from mpm_addon.core.parameters import parameters_of
from mpm_addon.core.scene.animation import animatable_parameters
from mpm_addon.core.scene.description import Collider, Emitter, Outflow
from mpm_addon.storage import read_scene, write_scene
from tests.blender.scenes import add_collider, add_emitter, add_mesh


def key(owner: Any, path: str, values: dict[int, Any]) -> None:
    for frame, value in values.items():
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)


ANIMATABLE = [(owner, name) for owner in (Emitter, Collider, Outflow) for name in animatable_parameters(owner)]


@pytest.mark.parametrize(("owner", "name"), ANIMATABLE, ids=[f"{owner.__name__}.{name}" for owner, name in ANIMATABLE])
def test_every_parameter_that_may_change_is_sampled(bpy: Any, owner: type, name: str) -> None:
    bpy.context.scene.frame_end = 3
    bpy.context.scene.unit_settings.scale_length = 0.5
    add_emitter(bpy, "Source")
    kind = owner.__name__.lower()
    item = bpy.data.objects["Source"] if owner is Emitter else add_mesh(bpy, "Thing")
    item.mpm.type = kind
    group = getattr(item.mpm, kind)
    declared = animatable_parameters(owner)[name]
    if declared.optional:
        setattr(group, f"use_{name}", True)
    start, end = {"flag": (True, False), "vector": ((0.0, 0.0, 0.0), (1.0, 2.0, 4.0))}.get(declared.kind, (0.25, 0.75))
    key(group, name, {1: start, 3: end})
    thing = getattr(extract_scene(bpy.context), kind + "s")[0]
    found = thing.animation.values[name]
    factor = 0.5 if declared.unit in ("m", "m/s", "m/s^2") else 1.0
    bpy.context.scene.frame_set(2)
    middle = getattr(group, name)
    expected = np.array([start, tuple(middle) if declared.kind == "vector" else middle, end], dtype=np.float64) * factor
    assert found == pytest.approx(expected)
    assert thing.animation.frames.tolist() == [1.0, 2.0, 3.0]
    assert set(thing.animation.values) == {name}


def test_the_parameters_of_an_own_material_are_sampled(bpy: Any) -> None:
    bpy.context.scene.frame_end = 3
    item = add_emitter(bpy, "Jelly")
    item.mpm.material.source, item.mpm.material.law = "custom", "corotated"
    key(item.mpm.material.corotated, "young_modulus", {1: 1e4, 3: 5e4})
    (material,) = extract_scene(bpy.context).materials.values()
    assert set(material.animation.values) == {"young_modulus"}
    assert material.animation.values["young_modulus"][[0, 2]].tolist() == [1e4, 5e4]
    assert material.law.young_modulus == 1e4
    item.mpm.material.source = "preset"
    assert [each.animation for each in extract_scene(bpy.context).materials.values()] == [None]


def test_gravity_and_the_speed_limit_of_the_scene_are_sampled(bpy: Any) -> None:
    scene = bpy.context.scene
    scene.frame_end = 3
    add_emitter(bpy)
    key(scene, "gravity", {1: (0.0, 0.0, -10.0), 3: (0.0, 0.0, 10.0)})
    scene.mpm.solver.use_max_speed = True
    key(scene.mpm.solver, "max_speed", {1: 4.0, 3: 8.0})
    scene.mpm.forces.gravity = 0.5
    solver = extract_scene(bpy.context).solver
    assert solver.gravity == (0.0, 0.0, -5.0)
    assert solver.animation.values["gravity"][:, 2] == pytest.approx([-5.0, 0.0, 5.0], abs=1e-6)
    assert solver.animation.values["max_speed"] == pytest.approx([4.0, 6.0, 8.0])


@pytest.mark.blender
def test_drivers_count_as_keyframes_do(bpy: Any) -> None:
    bpy.context.scene.frame_end = 3
    item = add_collider(bpy)
    add_emitter(bpy)
    item.driver_add("mpm.collider.friction").driver.expression = "frame / 10"
    collider = extract_scene(bpy.context).colliders[0]
    assert collider.animation.values["friction"] == pytest.approx([0.1, 0.2, 0.3])


def test_keys_that_change_nothing_are_no_animation(bpy: Any) -> None:
    bpy.context.scene.frame_end = 3
    item = add_emitter(bpy)
    key(item.mpm.emitter, "normal_velocity", {1: 2.0, 3: 2.0})
    emitter = extract_scene(bpy.context).emitters[0]
    assert (emitter.animation, emitter.normal_velocity) == (None, 2.0)


@pytest.mark.parametrize("name", ["velocity_spread", "use_flow_rate", "mode", "stiffness_attribute"])
def test_what_cannot_change_takes_no_keyframes(bpy: Any, name: str) -> None:
    with pytest.raises(TypeError, match="not animatable"):
        add_emitter(bpy).mpm.emitter.keyframe_insert(name, frame=1)


def test_what_scripts_change_all_the_same_is_refused() -> None:
    frames = np.array([1.0, 2.0])
    with pytest.raises(SceneError, match=r'^Emitter "X": mode changes at frame 2 and cannot be animated; keep it "once" at all frames'):
        animated([{"mode": "once"}, {"mode": "repeat"}], frames, 'Emitter "X"')
    with pytest.raises(SceneError, match=r'^Emitter "X": flow_rate is unset at only some frames \(see frame 2\); keep its checkbox'):
        animated([{"flow_rate": 1.0}, {"flow_rate": None}], frames, 'Emitter "X"')


def test_the_package_of_an_animated_scene_reads_back_equal(bpy: Any, tmp_path: Any) -> None:
    bpy.context.scene.frame_end = 3
    item = add_emitter(bpy, "Tap")
    key(item.mpm.emitter, "velocity", {1: (0.0, 0.0, 0.0), 3: (1.0, 2.0, 3.0)})
    key(add_collider(bpy).mpm.collider, "enabled", {1: True, 2: False})
    key(bpy.context.scene, "gravity", {1: (0.0, 0.0, -10.0), 3: (0.0, 0.0, 10.0)})
    scene = extract_scene(bpy.context)
    assert read_scene(write_scene(scene, tmp_path)) == scene


def test_every_animatable_parameter_has_a_property(bpy: Any) -> None:
    item = add_mesh(bpy, "Cube")
    for owner in (Emitter, Collider, Outflow):
        group = getattr(item.mpm, owner.__name__.lower())
        assert {declared.name for declared in parameters_of(owner)} <= set(group.bl_rna.properties.keys())
