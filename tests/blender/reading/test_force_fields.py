"""The core's force fields accelerate particles like Blender's accelerate particles of 1 kg."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.scene.force import Force
from mpm_addon.core.scene.settings import Solver
from mpm_addon.core.stepping.force_fields import ForceFields

pytestmark = pytest.mark.blender

# a frame of a particle system lasts 1/25 s, whatever the scene's frame rate
FRAME = 0.04
PLACES = np.random.default_rng(1).uniform(-1.5, 1.5, (40, 3))
VELOCITY = (1.0, -2.0, 0.5)
CENTER, EULER = (0.2, -0.1, 0.3), (0.4, -0.7, 0.2)


def blender_accelerations(bpy: Any, kind: str, places: np.ndarray, velocity: Any = (0.0, 0.0, 0.0), **values: Any) -> np.ndarray:
    """The acceleration of particles in a field during their first frame [m/s^2], shape (n, 3)."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 10
    mesh = bpy.data.meshes.new("Places")
    mesh.from_pydata(places.tolist(), [], [])
    item = bpy.data.objects.new("Places", mesh)
    scene.collection.objects.link(item)
    item.modifiers.new("Particles", "PARTICLE_SYSTEM")
    settings = item.particle_systems[0].settings
    settings.count, settings.emit_from, settings.use_emit_random = len(places), "VERT", False
    settings.frame_start = settings.frame_end = 1
    settings.lifetime = 100
    settings.normal_factor, settings.object_align_factor = 0.0, velocity
    settings.physics_type, settings.integrator, settings.mass = "NEWTON", "EULER", 1.0
    settings.drag_factor = settings.brownian_factor = settings.damping = settings.effector_weights.gravity = 0.0
    field = bpy.data.objects.new("Field", None)
    scene.collection.objects.link(field)
    field.location, field.rotation_euler = CENTER, EULER
    bpy.context.view_layer.objects.active = field
    bpy.ops.object.forcefield_toggle()
    field.field.type = kind
    for name, value in {"flow": 0.0, **values}.items():
        setattr(field.field, name, value)
    seen = []
    for frame in (1, 2):
        scene.frame_set(frame)
        particles = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).particle_systems[0].particles
        assert np.allclose([particle.location for particle in particles], places, atol=0.5)
        seen.append(np.array([particle.velocity for particle in particles]))
    return (seen[1] - seen[0]) / FRAME


def our_accelerations(bpy: Any, places: np.ndarray, velocity: Any = (0.0, 0.0, 0.0), **values: Any) -> np.ndarray:
    normal = bpy.data.objects["Field"].matrix_world.to_3x3().col[2]
    force = Force("field", center=CENTER, direction=tuple(normal), **values)
    block = Emitter("block", SHAPES["box"](size=(1.0, 1.0, 1.0)), "jelly")
    fields = ForceFields(
        Scene("fields", Solver(grid_spacing=0.1), {"jelly": Material("jelly", LAWS["corotated"]())}, (block,), forces=(force,))
    )
    fields.move_to(1.0)
    return fields.at(places, np.tile(velocity, (len(places), 1)))


FALLOFF = {"falloff_power": 1.5, "use_min_distance": True, "distance_min": 0.4, "use_max_distance": True, "distance_max": 1.6}
OUR_FALLOFF = {"falloff": 1.5, "min_distance": 0.4, "radius": 1.6}
RADIAL = {"radial_falloff": 2.0, "use_radial_min": True, "use_radial_max": True}
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "wind": ("WIND", {"strength": 2.0}, {"kind": "wind", "strength": 2.0}),
    "wind with falloff": ("WIND", {"strength": 2.0, **FALLOFF}, {"kind": "wind", "strength": 2.0, **OUR_FALLOFF}),
    "wind of a plane": (
        "WIND",
        {"strength": 2.0, "shape": "PLANE", **FALLOFF},
        {"kind": "wind", "strength": 2.0, "shape": "plane", **OUR_FALLOFF},
    ),
    "wind in a tube": (
        "WIND",
        {"strength": 2.0, "falloff_type": "TUBE", **FALLOFF, **RADIAL, "radial_min": 0.3, "radial_max": 1.2},
        {
            "kind": "wind",
            "strength": 2.0,
            "falloff_shape": "tube",
            **OUR_FALLOFF,
            "radial_falloff": 2.0,
            "radial_min": 0.3,
            "radial_max": 1.2,
        },
    ),
    "wind in a cone": (
        "WIND",
        {"strength": 2.0, "falloff_type": "CONE", **RADIAL, "radial_falloff": 0.2, "radial_min": 20.0, "radial_max": 110.0},
        {"kind": "wind", "strength": 2.0, "falloff_shape": "cone", "radial_falloff": 0.2, "radial_min": 20.0, "radial_max": 110.0},
    ),
    "wind on one side": ("WIND", {"strength": 2.0, "z_direction": "POSITIVE"}, {"kind": "wind", "strength": 2.0, "side": "positive"}),
    "wind on the other side": ("WIND", {"strength": 2.0, "z_direction": "NEGATIVE"}, {"kind": "wind", "strength": 2.0, "side": "negative"}),
    "flowing wind": ("WIND", {"strength": 2.0, "flow": 0.3, **FALLOFF}, {"kind": "wind", "strength": 2.0, "flow": 0.3, **OUR_FALLOFF}),
    "point": ("FORCE", {"strength": -3.0, **FALLOFF}, {"kind": "point", "strength": -3.0, **OUR_FALLOFF}),
    "line": ("FORCE", {"strength": 3.0, "shape": "LINE", **FALLOFF}, {"kind": "point", "strength": 3.0, "shape": "line", **OUR_FALLOFF}),
    "plane": ("FORCE", {"strength": 3.0, "shape": "PLANE", **FALLOFF}, {"kind": "point", "strength": 3.0, "shape": "plane", **OUR_FALLOFF}),
    "vortex": ("VORTEX", {"strength": 2.0, "shape": "POINT", **FALLOFF}, {"kind": "vortex", "strength": 2.0, **OUR_FALLOFF}),
    "vortex about an axis": (
        "VORTEX",
        {"strength": 2.0, "shape": "PLANE", **FALLOFF},
        {"kind": "vortex", "strength": 2.0, "shape": "plane", **OUR_FALLOFF},
    ),
    "harmonic": (
        "HARMONIC",
        {"strength": 5.0, "rest_length": 0.5, "harmonic_damping": 0.7, **FALLOFF},
        {"kind": "harmonic", "strength": 5.0, "rest_length": 0.5, "damping": 0.7, **OUR_FALLOFF},
    ),
    # Blender's "linear" drag is quadratic in the velocity, and vice versa
    "drag": (
        "DRAG",
        {"linear_drag": 0.5, "quadratic_drag": 0.25, **FALLOFF},
        {"kind": "drag", "quadratic_drag": 0.5, "linear_drag": 0.25, **OUR_FALLOFF},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_field_gives_the_acceleration_that_blenders_gives(bpy: Any, case: str) -> None:
    kind, values, ours = CASES[case]
    expected = blender_accelerations(bpy, kind, PLACES, VELOCITY, **values)
    found = our_accelerations(bpy, PLACES, VELOCITY, **ours)
    assert np.abs(expected).max() > 0.3
    # a velocity is a float32, and its difference is divided by the frame's duration
    assert np.abs(found - expected).max() < 2e-4


def test_another_strength_would_be_seen(bpy: Any) -> None:
    expected = blender_accelerations(bpy, "FORCE", PLACES, strength=-3.0)
    assert np.abs(our_accelerations(bpy, PLACES, kind="point", strength=-3.01) - expected).max() > 5e-3


def test_turbulence_has_the_strength_and_the_size_of_blenders(bpy: Any) -> None:
    """The noise differs, so statistics are compared: the root mean square, and the correlation along an axis."""
    start = np.random.default_rng(2).uniform(-30.0, 30.0, (3000, 3))
    places = np.concatenate([start, start + np.array([0.3, 0.0, 0.0])])
    expected = blender_accelerations(bpy, "TURBULENCE", places, strength=2.0, size=1.0)
    found = our_accelerations(bpy, places, kind="turbulence", strength=2.0, size=1.0)
    for part in (expected, found):
        assert np.sqrt((part**2).mean(axis=0)) == pytest.approx([0.351] * 3, rel=0.07)
        correlation = (part[:3000] * part[3000:]).mean() / (part**2).mean()
        assert 0.45 < correlation < 0.72


def test_noise_has_the_mean_and_the_strength_of_blenders(bpy: Any) -> None:
    places = np.random.default_rng(2).uniform(-30.0, 30.0, (6000, 3))
    expected = blender_accelerations(bpy, "WIND", places, strength=0.0, noise=3.0)
    found = our_accelerations(bpy, places, kind="wind", strength=0.0, noise=3.0)
    for part in (expected, found):
        along = part @ np.array(bpy.data.objects["Field"].matrix_world.to_3x3().col[2]) / 3.0
        assert along.mean() == pytest.approx(0.25 * math.log(2.0), abs=0.02)
        assert np.sqrt((along**2).mean()) == pytest.approx(math.sqrt(1.0 / 6.0), abs=0.01)
