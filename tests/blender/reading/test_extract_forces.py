"""Force fields of the scene, compared with forces described by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.core.errors import SceneError
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.force import Force
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage import read_scene, write_scene
from tests.blender.scenes import add_emitter, add_field, add_mesh


def forces(bpy: Any) -> tuple[Force, ...]:
    if not any(item.mpm.type == "emitter" for item in bpy.context.scene.objects):
        add_emitter(bpy, "Source")
    return extract_scene(bpy.context).forces


@pytest.mark.parametrize(
    ("kind", "settings", "expected"),
    [
        ("FORCE", {"strength": -5.0}, Force("Field", kind="point", strength=-5.0, seed=1)),
        ("WIND", {"strength": 3.0, "noise": 0.5, "seed": 7}, Force("Field", kind="wind", strength=3.0, noise=0.5, seed=7)),
        ("VORTEX", {"shape": "PLANE", "flow": 0.25}, Force("Field", kind="vortex", shape="plane", flow=0.25, seed=1)),
        ("FORCE", {"shape": "LINE"}, Force("Field", shape="line", seed=1)),
        ("TURBULENCE", {"size": 0.5, "strength": 2.0}, Force("Field", kind="turbulence", strength=2.0, size=0.5, seed=1)),
        (
            "DRAG",
            {"linear_drag": 0.5, "quadratic_drag": 2.0},
            Force("Field", kind="drag", strength=0.0, linear_drag=2.0, quadratic_drag=0.5, seed=1),
        ),
        (
            "HARMONIC",
            {"strength": 4.0, "rest_length": 0.5, "harmonic_damping": 0.75},
            Force("Field", kind="harmonic", strength=4.0, rest_length=0.5, damping=0.75, seed=1),
        ),
        (
            "FORCE",
            {
                "shape": "PLANE",
                "z_direction": "POSITIVE",
                "falloff_power": 2.0,
                "use_min_distance": True,
                "distance_min": 0.5,
                "use_max_distance": True,
                "distance_max": 4.0,
            },
            Force("Field", shape="plane", side="positive", falloff=2.0, min_distance=0.5, radius=4.0, seed=1),
        ),
        (
            "FORCE",
            {
                "falloff_type": "TUBE",
                "radial_falloff": 1.5,
                "use_radial_min": True,
                "radial_min": 0.5,
                "use_radial_max": True,
                "radial_max": 2.0,
                "distance_min": 3.0,
                "distance_max": 3.0,
            },
            Force("Field", falloff_shape="tube", radial_falloff=1.5, radial_min=0.5, radial_max=2.0, seed=1),
        ),
        (
            "FORCE",
            {"falloff_type": "CONE", "use_radial_max": True, "radial_max": 30.0, "radial_min": 10.0},
            Force("Field", falloff_shape="cone", radial_max=30.0, seed=1),
        ),
    ],
)
def test_a_field_is_the_force_described_by_hand(bpy: Any, kind: str, settings: dict[str, Any], expected: Force) -> None:
    add_field(bpy, kind, **{"seed": 1, **settings})
    assert forces(bpy) == (expected,)


def test_lengths_and_accelerations_are_in_blender_units(bpy: Any) -> None:
    bpy.context.scene.unit_settings.scale_length = 0.5
    item = add_field(
        bpy,
        "FORCE",
        strength=4.0,
        noise=2.0,
        flow=3.0,
        use_max_distance=True,
        distance_max=8.0,
        falloff_type="TUBE",
        use_radial_max=True,
        radial_max=6.0,
        seed=1,
    )
    item.location = (2.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    add_field(bpy, "DRAG", "Drag", linear_drag=1.0, quadratic_drag=1.0, seed=1)
    add_field(bpy, "HARMONIC", "Spring", strength=5.0, rest_length=1.0, seed=1)
    add_field(bpy, "TURBULENCE", "Eddies", size=2.0, seed=1)
    found = {force.name: force for force in forces(bpy)}
    field = found["Field"]
    assert (field.strength, field.noise, field.flow, field.radius, field.radial_max) == (2.0, 1.0, 3.0, 4.0, 3.0)
    assert field.center == (1.0, 0.0, 0.0)
    # 1/m: drag with the square of a speed in m/s
    assert (found["Drag"].linear_drag, found["Drag"].quadratic_drag) == (1.0, 2.0)
    assert (found["Spring"].strength, found["Spring"].rest_length) == (5.0, 0.5)
    assert (found["Eddies"].strength, found["Eddies"].size) == (0.5, 1.0)


def test_a_field_points_along_the_z_axis_of_its_object(bpy: Any) -> None:
    item = add_field(bpy, "WIND")
    item.location, item.rotation_euler, item.scale = (1.0, 2.0, 3.0), (0.0, np.pi / 2.0, 0.0), (1.0, 2.0, -5.0)
    (force,) = forces(bpy)
    assert force.center == (1.0, 2.0, 3.0)
    assert force.direction == pytest.approx((-1.0, 0.0, 0.0), abs=1e-6)


def test_a_field_that_moves_and_changes(bpy: Any, tmp_path: Any) -> None:
    bpy.context.scene.frame_end = 3
    item = add_field(bpy, "WIND", seed=1)
    item.scale = (3.0, 3.0, 3.0)
    for frame, place, strength in ((1, 0.0, 1.0), (3, 4.0, 5.0)):
        item.location.x, item.field.strength = place, strength
        item.keyframe_insert("location", frame=frame)
        item.keyframe_insert("field.strength", frame=frame)
    (force,) = forces(bpy)
    frames = np.array([1.0, 2.0, 3.0])
    poses = np.tile(np.eye(4), (3, 1, 1))
    poses[:, 0, 3] = [0.0, 2.0, 4.0]
    assert force.motion.matrices == pytest.approx(poses, abs=1e-6)
    values = {"strength": np.array([1.0, 3.0, 5.0])}
    assert force == Force(
        "Field", kind="wind", seed=1, motion=Motion(frames, matrices=force.motion.matrices), animation=Animation(frames, values)
    )
    scene = extract_scene(bpy.context)
    assert read_scene(write_scene(scene, tmp_path)) == scene


def test_weights_are_factors_and_zero_leaves_out(bpy: Any) -> None:
    weights = bpy.context.scene.mpm.forces
    add_field(bpy, "WIND", strength=4.0, flow=2.0, noise=1.0, seed=1)
    add_field(bpy, "VORTEX", "Twist", strength=4.0, seed=1)
    weights.all, weights.wind, weights.vortex, weights.gravity = 0.5, 0.5, 0.0, 0.25
    (force,) = forces(bpy)
    assert (force.name, force.strength, force.flow, force.noise) == ("Field", 1.0, 0.5, 0.25)
    assert extract_scene(bpy.context).solver.gravity == pytest.approx((0.0, 0.0, -9.81 / 4.0))


def test_an_effector_collection_chooses_the_fields(bpy: Any) -> None:
    add_field(bpy, "WIND", "Outside")
    add_field(bpy, "CHARGE", "Charge")
    inside = add_field(bpy, "VORTEX", "Inside")
    collection = bpy.data.collections.new("Effectors")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(inside)
    bpy.context.scene.mpm.effector_collection = collection
    assert [force.name for force in forces(bpy)] == ["Inside"]


def test_what_does_not_act_is_left_out(bpy: Any) -> None:
    add_field(bpy, "NONE", "None")
    add_field(bpy, "FORCE", "Turns", apply_to_location=False)
    add_field(bpy, "FORCE", "Weak", strength=0.0)
    assert forces(bpy) == ()


def test_a_field_without_strength_that_heats_is_kept(bpy: Any) -> None:
    item = add_field(bpy, strength=0.0, use_max_distance=True, distance_max=2.0)
    heat = item.mpm.field
    heat.heating, heat.temperature = 2e4, 300.0
    assert forces(bpy) == ()
    heat.use_heating = True
    expected = Force("Field", strength=0.0, seed=forces(bpy)[0].seed, radius=2.0, heating=2e4)
    assert forces(bpy) == (expected,)
    heat.use_temperature = True
    bpy.context.scene.mpm.forces.force = 0.5
    assert forces(bpy) == (replace(expected, heating=1e4, temperature=300.0),)
    bpy.context.scene.mpm.forces.force = 0.0
    assert forces(bpy) == ()


def test_how_a_field_heats_can_be_keyframed(bpy: Any, tmp_path: Any) -> None:
    bpy.context.scene.frame_end = 3
    item = add_field(bpy, strength=0.0)
    heat = item.mpm.field
    heat.use_heating = heat.use_temperature = True
    for frame, heating, limit in ((1, 0.0, 50.0), (3, 4000.0, 150.0)):
        heat.heating, heat.temperature = heating, limit
        item.keyframe_insert("mpm.field.heating", frame=frame)
        item.keyframe_insert("mpm.field.temperature", frame=frame)
    (force,) = forces(bpy)
    assert force.animation.values["heating"].tolist() == pytest.approx([0.0, 2000.0, 4000.0])
    assert force.animation.values["temperature"].tolist() == pytest.approx([50.0, 100.0, 150.0])
    scene = extract_scene(bpy.context)
    assert read_scene(write_scene(scene, tmp_path)) == scene


def test_a_pure_heater_melts_butter_and_without_its_heat_the_butter_stays(bpy: Any) -> None:
    scene, butter, floor = bpy.context.scene, add_emitter(bpy, "Butter"), add_mesh(bpy, "Floor")
    scene.frame_end, scene.mpm.solver.grid_spacing = 19, 0.25
    butter.mpm.material.preset = "butter"
    butter.mpm.emitter.use_temperature, butter.mpm.emitter.temperature = True, 8.0
    floor.mpm.type, floor.location, floor.scale = "collider", (0.0, 0.0, -2.0), (5.0, 5.0, 1.0)
    item = add_field(bpy, strength=0.0)
    item.mpm.field.heating = 1e6
    bpy.context.view_layer.update()
    melted, width = {}, {}
    for is_on in (True, False):
        item.mpm.field.use_heating = is_on
        described = extract_scene(bpy.context)
        *_, frame = Simulation(described).frames()
        warmth = frame.attribute("temperature").astype(np.float64)
        melted[is_on] = float((warmth > 36.0).mean())
        width[is_on] = float(np.ptp(frame.position[:, 0]))
    assert (melted[True], melted[False]) == (1.0, 0.0)
    assert width[True] > 1.2 * width[False]


def test_a_disabled_field_does_not_act_and_a_keyed_one_for_a_while(bpy: Any) -> None:
    bpy.context.scene.frame_end = 3
    add_field(bpy, "WIND", "Disabled").hide_viewport = True
    item = add_field(bpy, "WIND", "Gust")
    for frame, hidden in ((1, False), (2, True), (3, False)):
        item.hide_render = hidden
        item.keyframe_insert("hide_render", frame=frame)
    (force,) = forces(bpy)
    assert force.animation.values["enabled"].tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        *(
            (kind, {}, f"fields of the type {kind.lower().replace('_', ' ')} are not supported; use one of force, wind, vortex, turbulence")
            for kind in ("CHARGE", "MAGNET", "BOID", "TEXTURE", "GUIDE", "FLUID_FLOW", "LENNARDJ")
        ),
        ("FORCE", {"shape": "SURFACE"}, "fields of the shape surface are not supported; use the shape point, line or plane"),
        ("FORCE", {"shape": "POINTS"}, "fields of the shape every point are not supported"),
        ("FORCE", {"use_gravity_falloff": True}, "gravitation is not supported; turn it off and use a falloff power of 2"),
        ("WIND", {"use_absorption": True}, "absorption by colliders is not supported; turn it off"),
        ("WIND", {"use_max_distance": True, "distance_max": 0.0}, r"radius 0 m is not allowed; use a finite number above 0 m"),
    ],
)
def test_what_is_not_computed_is_refused(bpy: Any, kind: str, settings: dict[str, Any], words: str) -> None:
    add_field(bpy, kind, "Odd", **settings)
    with pytest.raises(SceneError, match=f'^Force "Odd": {words}'):
        forces(bpy)
