"""Fluids that leave their bulk modulus to the scene: ten times the speed that they can reach, whatever the scene's size."""

import math
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from mpm_addon.core.forecast import stiffness
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.forecast.stiffness import modulus_text, reachable_speed, settled_law, settled_moduli
from mpm_addon.core.geometry.shapes import SHAPES, Mesh, Points
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
from mpm_addon.core.scene.force import Force
from mpm_addon.core.scene.painting import Painting
from mpm_addon.core.scene.settings import Domain
from mpm_addon.core.stepping.material_instances import instances_of
from mpm_addon.storage import load_material_preset, read_scene
from tests.core.scenes import box, box_mesh, material, scene

G = 9.81
FLOOR = Collider("floor", SHAPES["plane"]())


def drop(height: float = 1.0, size: float = 0.4, *colliders: Collider, **changes: Any) -> Scene:
    """A cube of water whose top is at a height; without colliders, above a floor."""
    water = Emitter("drop", box((0.0, 0.0, height - 0.5 * size), size), "water", **changes.pop("emitter", {}))
    automatic = material("water", stiffness="automatic", **changes.pop("law", {}))
    return scene(water, materials=(automatic,), colliders=colliders or (FLOOR,), **{"grid_spacing": 0.05, **changes})


def test_the_greatest_speed_is_that_of_a_fall_from_the_top_to_the_floor() -> None:
    assert reachable_speed(drop(1.0)) == pytest.approx(math.sqrt(2.0 * G * 1.0))
    assert reachable_speed(drop(3.0)) == pytest.approx(math.sqrt(2.0 * G * 3.0))
    assert reachable_speed(drop(1.0, gravity=(0.0, 0.0, -1.62))) == pytest.approx(math.sqrt(2.0 * 1.62))


def test_waves_are_ten_times_as_fast_and_the_modulus_has_two_digits() -> None:
    for height in (0.5, 0.7, 1.0, 20.0):
        law = settled_law(drop(height), "water")
        assert law.wave_speed() == pytest.approx(10.0 * math.sqrt(2.0 * G * height), rel=0.05)
        assert law.wave_speed() >= 10.0 * math.sqrt(2.0 * G * height) * (1.0 - 1e-6)
        assert float(f"{law.bulk_modulus:.1e}") == pytest.approx(law.bulk_modulus, rel=1e-9)  # type: ignore[attr-defined]


def test_a_scene_of_another_size_takes_the_same_substeps_in_the_time_of_its_fall() -> None:
    scenes = [drop(size, 0.4 * size, grid_spacing=0.05 * size, frames=25, fps=24.0 / math.sqrt(size)) for size in (0.5, 1.0, 8.0)]
    counts = [estimate(each).substeps for each in scenes]
    assert max(counts) < 1.06 * min(counts)


def test_a_given_modulus_and_other_laws_stay() -> None:
    for law in (material("water", bulk_modulus=3e5), material("corotated")):
        described = scene(Emitter("block", box((0.0, 0.0, 1.0), 0.4), law.name), materials=(law,), colliders=(FLOOR,))
        assert settled_law(described, law.name) is law.law
        assert not settled_moduli(described)


def test_water_and_honey_of_the_presets_leave_it_to_the_scene() -> None:
    for name in ("water", "honey"):
        assert load_material_preset(name).stiffness == "automatic"  # type: ignore[attr-defined]


def test_the_solver_and_the_estimate_use_it() -> None:
    high, low = drop(4.0), drop(1.0)
    (instance,) = instances_of(high)
    assert instance.law.wave_speed() == pytest.approx(2.0 * instances_of(low)[0].law.wave_speed(), rel=0.05)
    # as soon as the higher one has landed, twice as many; until then, both have fallen as far
    first, last = ([estimate(drop(height, frames=frames)).substeps for height in (4.0, 1.0)] for frames in (4, 49))
    assert first[0] == first[1]
    assert last[0] > 1.5 * last[1]


def test_speeds_of_emission_add_to_the_fall_by_their_energy() -> None:
    thrown = drop(1.0, emitter={"velocity": (3.0, 0.0, 4.0)})
    assert reachable_speed(thrown) == pytest.approx(math.sqrt(25.0 + 2.0 * G))
    keyed = Animation(np.array([1.0, 5.0]), {"velocity": np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -7.0]])})
    assert reachable_speed(drop(1.0, emitter={"animation": keyed})) == pytest.approx(math.sqrt(49.0 + 2.0 * G))
    assert reachable_speed(drop(1.0, emitter={"angular_velocity": (0.0, 0.0, 360.0)})) > reachable_speed(drop(1.0)) + 0.1


def test_a_collider_that_moves_pushes_and_one_that_lifts_lets_fall() -> None:
    def moved(*ends: tuple[float, float, float]) -> Motion:
        matrices = np.tile(np.eye(4), (2, 1, 1))
        matrices[:, :3, 3] = ends
        return Motion(np.array([1.0, 25.0]), matrices)

    paddle = Collider("paddle", box((1.0, 0.0, 0.2), 0.2), motion=moved((0.0, 0.0, 0.0), (-2.0, 0.0, 0.0)))
    assert reachable_speed(drop(1.0, 0.4, FLOOR, paddle)) == pytest.approx(math.sqrt(2.0 * G) + 2.0)
    bucket = Collider("bucket", box((0.0, 0.0, 0.5), 1.0), motion=moved((0.0, 0.0, 0.0), (0.0, 0.0, 3.0)))
    assert reachable_speed(drop(0.9, 0.4, FLOOR, bucket)) == pytest.approx(math.sqrt(2.0 * G * 3.9) + 3.0)
    spinning = np.tile(np.eye(4), (2, 1, 1))
    spinning[1, :2, :2] = [[0.0, -1.0], [1.0, 0.0]]
    mixer = Collider("mixer", box((0.0, 0.0, 0.3), (2.0, 0.1, 0.1)), motion=Motion(np.array([1.0, 7.0]), spinning))
    assert reachable_speed(drop(1.0, 0.4, FLOOR, mixer)) > math.sqrt(2.0 * G) + 5.0


def test_what_stops_the_fall_is_the_inside_of_a_bowl_and_the_top_of_a_slab() -> None:
    slab = Collider("slab", box_mesh((4.0, 4.0, 10.0), (0.0, 0.0, -5.0)))
    inverted = Mesh(slab.shape.vertices, slab.shape.triangles[:, ::-1])  # type: ignore[attr-defined]
    sheet = Mesh(np.array([[-2.0, -2.0, 0.0], [2.0, -2.0, 0.0], [2.0, 2.0, 0.0], [-2.0, 2.0, 0.0]]), np.array([[0, 2, 1], [0, 3, 2]]))
    for shape in (slab.shape, inverted, sheet):
        assert reachable_speed(drop(1.0, 0.4, Collider("ground", shape))) == pytest.approx(math.sqrt(2.0 * G))
    for down in (FLOOR, Collider("cellar", box_mesh((4.0, 4.0, 1.0), (0.0, 0.0, -3.5)))):
        lower = reachable_speed(drop(1.0, 0.4, slab, down))
        assert lower == pytest.approx(math.sqrt(2.0 * G * (1.0 if down is FLOOR else 4.0)))


def test_a_domain_stops_the_fall_and_without_anything_below_only_its_own_height_counts() -> None:
    tank = Domain(kind="box", min=(-1.0, -1.0, -1.0), max=(1.0, 1.0, 2.0))
    far = Collider("shelf", box((0.0, 0.0, 5.0), 0.2))
    assert reachable_speed(drop(1.0, 0.4, far, domain=tank)) == pytest.approx(math.sqrt(2.0 * G * 2.0))
    assert reachable_speed(drop(1.0, 0.4, far)) == pytest.approx(math.sqrt(2.0 * G * 0.4))


def test_without_gravity_and_speed_and_with_forces_there_is_a_usual_speed() -> None:
    assert reachable_speed(drop(1.0, gravity=(0.0, 0.0, 0.0))) == 1.0
    assert reachable_speed(drop(0.5, forces=(Force("breeze", kind="wind"),))) == 4.5


def test_heavy_emitters_are_as_stiff_for_their_density() -> None:
    heavy = settled_law(drop(1.0, emitter={"mass_scale": 4.0}), "water")
    assert heavy.bulk_modulus == pytest.approx(4.0 * settled_law(drop(1.0), "water").bulk_modulus, rel=0.05)  # type: ignore[attr-defined]


def test_a_longer_bake_has_the_same_modulus() -> None:
    assert settled_moduli(drop(1.0, frames=4)) == settled_moduli(drop(1.0, frames=400))


def test_planes_that_move_or_turn_push_as_far_as_their_middle_tells() -> None:
    lifted, turned = np.tile(np.eye(4), (2, 1, 1)), np.tile(np.eye(4), (2, 1, 1))
    lifted[1, 2, 3] = 2.0
    turned[1, :3, :3] = [[0.866, 0.0, 0.5], [0.0, 1.0, 0.0], [-0.5, 0.0, 0.866]]
    frames = np.array([1.0, 25.0])
    still = reachable_speed(drop(1.0))
    piston = Collider("piston", SHAPES["plane"](), motion=Motion(frames, lifted))
    assert reachable_speed(drop(1.0, 0.4, piston)) >= still + 2.0 - 1e-6
    assert reachable_speed(drop(1.0, 0.4, Collider("lid", SHAPES["plane"](), motion=Motion(frames, turned)))) == pytest.approx(
        still, rel=0.2
    )


def test_thrown_bodies_and_points_and_painted_density_count() -> None:
    stone = Collider("stone", SHAPES["sphere"](center=(0.0, 0.0, 0.5), radius=0.1), dynamic=True, velocity=(0.0, 0.0, -20.0))
    assert reachable_speed(drop(1.0, 0.4, FLOOR, stone)) >= 20.0
    points = Points(np.array([[0.0, 0.0, 1.0], [0.1, 0.0, 1.0]]), np.array([[0.0, 0.0, 0.0], [20.0, 0.0, 0.0]]))
    flying = scene(Emitter("spray", points, "water"), materials=(material("water", stiffness="automatic"),), gravity=(0.0, 0.0, 0.0))
    assert reachable_speed(flying) == pytest.approx(20.0)
    mesh = box_mesh((0.4, 0.4, 0.4), (0.0, 0.0, 0.8))
    painted = Emitter("drop", mesh, "water", painting=Painting({"density": np.linspace(1.0, 4.0, 8)}))
    heavy = scene(painted, materials=(material("water", stiffness="automatic"),), colliders=(FLOOR,))
    assert settled_moduli(heavy)["water"] == pytest.approx(4.0 * settled_moduli(drop(1.0))["water"], rel=0.05)


def test_colliders_that_are_never_enabled_and_directions_out_of_the_plane_do_not_count() -> None:
    off = Collider("off", box((0.0, 0.0, -4.0), 1.0), enabled=False)
    assert reachable_speed(drop(1.0, 0.4, FLOOR, off)) == reachable_speed(drop(1.0))
    assert reachable_speed(drop(1.0, dimension=2, gravity=(0.0, -9.81, 0.0))) == 1.0


def test_a_floor_without_an_edge_ends_the_fall_whatever_is_below() -> None:
    deep = Domain(kind="box", min=(-1.0, -1.0, -5.0), max=(1.0, 1.0, 2.0))
    assert reachable_speed(drop(1.0, domain=deep)) == pytest.approx(math.sqrt(2.0 * G))
    thick = Collider("ground", SHAPES["box"](center=(0.0, 0.0, -5.0), size=(4.0, 4.0, 10.0)))
    assert reachable_speed(drop(1.0, 0.4, thick)) == pytest.approx(math.sqrt(2.0 * G))
    ramp = Mesh(np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, -4.0], [1.0, 1.0, -4.0], [-1.0, 1.0, 0.0]]), np.array([[0, 1, 2], [0, 2, 3]]))
    assert reachable_speed(drop(1.0, 0.4, Collider("ramp", ramp))) == pytest.approx(math.sqrt(2.0 * G * 5.0))


def test_only_forces_that_push_count_and_strong_ones_more() -> None:
    usual = reachable_speed(drop(0.1, 0.1, grid_spacing=0.02))
    for idle in (Force("brake", kind="drag"), Force("breeze", kind="wind", enabled=False), Force("calm", kind="wind", strength=0.0)):
        assert reachable_speed(drop(0.1, 0.1, grid_spacing=0.02, forces=(idle,))) == usual
    storm = Force("storm", kind="wind", strength=1000.0)
    assert reachable_speed(drop(1.0, 0.5, forces=(storm,))) > math.sqrt(2.0 * 1000.0 * 0.5)


def test_water_under_cohesion_hardly_stretches_in_weightlessness() -> None:
    slow = drop(1.0, gravity=(0.0, 0.0, -1e-6), law={"cohesion": 30.0})
    assert settled_moduli(slow)["water"] >= 3000.0


def test_a_modulus_that_a_scene_gives_beside_a_preset_is_used(tmp_path: Path) -> None:
    text = """
    schema = 1
    [solver]
    grid_spacing = 0.05
    [materials.water]
    preset = "water"
    MODULUS
    [[emitters]]
    material = "water"
    shape = { kind = "box", center = [0.0, 0.0, 1.0], size = [0.4, 0.4, 0.4] }
    """
    for given, expected in (("bulk_modulus = 8e5", 8e5), ('bulk_modulus = 8e5\nstiffness = "automatic"', None), ("viscosity = 1.0", None)):
        (tmp_path / "scene.toml").write_text(text.replace("MODULUS", given))
        law = settled_law(read_scene(tmp_path / "scene.toml"), "water")
        assert (law.bulk_modulus == 8e5) == (expected is not None)  # type: ignore[attr-defined]


def test_an_animated_modulus_is_used() -> None:
    keyed = Animation(np.array([1.0, 5.0]), {"bulk_modulus": np.array([1e5, 3e5])})
    water = Material("water", LAWS["water"](stiffness="automatic"), keyed)  # type: ignore[call-arg]
    described = scene(Emitter("drop", box((0.0, 0.0, 0.8), 0.4), "water"), materials=(water,), colliders=(FLOOR,))
    assert settled_law(described, "water") is water.law


def test_long_animations_are_looked_at_in_steps() -> None:
    frames = np.arange(1.0, 3001.0)
    matrices = np.tile(np.eye(4), (len(frames), 1, 1))
    matrices[:, 0, 3] = 0.01 * frames
    gravity = Animation(frames, {"gravity": np.stack([0.0 * frames, 0.0 * frames, -9.81 - 0.001 * frames], axis=1)})
    mover = Collider("mover", box((1.0, 0.0, 0.2), 0.2), motion=Motion(frames, matrices))
    described = drop(1.0, 0.4, FLOOR, mover, animation=gravity)
    with mock.patch.object(stiffness, "_points", wraps=stiffness._points) as points:
        assert reachable_speed(described) == pytest.approx(math.sqrt(2.0 * (9.81 + 3.0)) + 0.24, rel=0.01)
        assert points.call_count <= 2 * stiffness.STEPS


def test_units_in_words() -> None:
    assert modulus_text("Water", 5.5e5).startswith("Water: bulk modulus 550 kPa")
    assert "2.1 MPa" in modulus_text("Water", 2.1e6)
