"""Scenes with a wrong or empty result are refused with one line that names object, value, limit and remedy."""

import re
from dataclasses import replace

import numpy as np
import pytest

from mpm_addon.core import evaluate_law, simulate
from mpm_addon.core.errors import MpmError, SceneError
from mpm_addon.core.geometry.shapes import Mesh, Points
from mpm_addon.core.geometry.shapes.box import Box
from mpm_addon.core.geometry.shapes.sphere import Sphere
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Collider, Emitter, Outflow
from mpm_addon.core.scene.force import Force
from mpm_addon.core.scene.settings import Domain, Side
from tests.core.scenes import LATTICE, box, material, scene

WATER = (material("water"),)


def refusal(emitter: Emitter, **rest: object) -> str:
    with pytest.raises(MpmError) as caught:
        list(simulate(scene(emitter, **{"materials": WATER, "frames": 8, **rest})))  # type: ignore[arg-type]
    return str(caught.value)


def test_an_emitter_that_never_emits_is_refused() -> None:
    shape = box((0.0, 0.0, 0.0), 0.2)
    assert refusal(Emitter("a", shape, "water", frame_start=0)) == ('Emitter "a": frame_start 0 is not a frame of the scene; use 1 to 8.')
    assert refusal(Emitter("a", shape, "water", mode="repeat", frame_start=5, frame_end=2)) == (
        'Emitter "a": frame_end 2 is before frame_start 5; use at least 5.'
    )
    assert "its frames 20 to 30 lie outside the scene's 1 to 8" in refusal(
        Emitter("a", shape, "water", mode="repeat", frame_start=20, frame_end=30)
    )


def test_poses_that_stretch_a_collider_are_refused() -> None:
    poses = np.stack([np.eye(4), np.diag([4.0, 1.0, 1.0, 1.0])])
    with pytest.raises(SceneError, match=r'^Collider "c": motion at frame 9 scales the shape by \(4, 1, 1\); use the same scale .* \(1\)'):
        Collider("c", Sphere(radius=1.0), motion=Motion(np.array([1.0, 9.0]), matrices=poses))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_poses_that_are_not_finite_are_refused(value: float) -> None:
    poses = np.stack([np.eye(4), np.eye(4)])
    poses[1, 0, 1] = value
    with pytest.raises(SceneError, match=r'^Collider "c": motion at frame 9 has a matrix that is not made of finite numbers; correct it'):
        Collider("c", Sphere(radius=1.0), motion=Motion(np.array([1.0, 9.0]), matrices=poses))


def test_poses_that_turn_a_collider_out_of_the_plane_are_refused_in_two_dimensions() -> None:
    def poses(axis: int) -> Motion:
        first, second = (other for other in range(3) if other != axis)
        quarter = np.eye(4)
        quarter[[first, first, second, second], [first, second, first, second]] = 0.0, 1.0, -1.0, 0.0
        quarter[:3, 3] = 1.0, 5.0, 2.0
        return Motion(np.array([1.0, 9.0]), matrices=np.stack([np.eye(4), quarter]))

    emitter = Emitter("a", box((0.0, 0.0, 0.0), 0.2), "water", **LATTICE)
    for axis in (0, 2):
        wheel = Collider("wheel", Sphere(radius=1.0), motion=poses(axis))
        assert scene(emitter, materials=WATER, colliders=(wheel,)).colliders == (wheel,)
        with pytest.raises(SceneError, match=r'^Collider "wheel": motion at frame 9 rotates the shape out of the x-z plane; in 2D'):
            scene(emitter, materials=WATER, colliders=(wheel,), dimension=2)
    scene(emitter, materials=WATER, colliders=(Collider("wheel", Sphere(radius=1.0), motion=poses(1)),), dimension=2)


def test_vertices_that_move_what_keeps_its_shape_are_refused() -> None:
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    wedge = Mesh(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    motion = Motion(np.array([1.0, 9.0]), vertices=np.stack([corners, 2.0 * corners]))
    with pytest.raises(SceneError, match=r'^Outflow "drain": motion by vertices cannot move an outflow; use "matrix"'):
        Outflow("drain", wedge, motion=motion)
    with pytest.raises(SceneError, match=r'^Collider "crate": motion by vertices cannot move a dynamic collider; use "matrix"'):
        Collider("crate", wedge, dynamic=True, motion=motion)


def test_a_uniform_constant_scale_of_a_collider_is_kept() -> None:
    """A unit ball at scale 0.2 under a falling block holds it at 0.2 m."""
    poses = np.stack([np.diag([0.2, 0.2, 0.2, 1.0])] * 2)
    ball = Collider("ball", Sphere(radius=1.0), surface="sticky", motion=Motion(np.array([1.0, 9.0]), matrices=poses))
    emitter = Emitter("block", box((0.0, 0.0, 0.32), 0.2), "corotated", velocity=(0.0, 0.0, -1.0), **LATTICE)
    *_, last = simulate(scene(emitter, materials=(material("corotated"),), colliders=(ball,), frames=8))
    assert np.linalg.norm(last.position, axis=1).min() > 0.2 - 0.025


@pytest.mark.parametrize(("surface", "is_refused"), [("slip", True), ("open", False)])
def test_matter_behind_a_wall_is_refused(surface: str, is_refused: bool) -> None:
    domain = Domain(kind="box", min=(-1.0, -1.0, 0.0), max=(1.0, 1.0, 1.0), sides={"z_min": Side(surface=surface)})
    emitter = Emitter("deep", box((0.0, 0.0, -0.3), 0.2), "water", **LATTICE)
    if is_refused:
        expected = 'Emitter "deep" extends 0.388 m beyond side z_min of the domain at 0 m; move it inside or enlarge the domain.'
        assert refusal(emitter, domain=domain) == expected
    else:
        *_, last = simulate(scene(emitter, materials=WATER, domain=domain))
        assert last.statistics.particles == 0 and last.statistics.deleted == 64 * 8


def test_frames_that_would_never_end_are_refused() -> None:
    emitter = Emitter("a", box((0.0, 0.0, 0.0), 0.2), "water", **LATTICE)
    message = refusal(emitter, materials=(material("water", bulk_modulus=1e30),))
    assert message.startswith('Material "water": wave speeds of 3.16e+13 m/s allow substeps of only')
    assert message.endswith("use a smaller stiffness or a larger grid_spacing (frame 2).")


def test_particles_too_far_away_are_refused() -> None:
    emitter = Emitter("far", box((1e6, 0.0, 0.0), 0.2), "water", **LATTICE)
    assert refusal(emitter).startswith('Emitter "far": a particle lies 1e+06 m from the origin; at grid_spacing 0.05 m use at most 2097')


@pytest.mark.long
def test_a_fast_collider_shortens_the_steps_before_it_arrives() -> None:
    poses = np.stack([np.eye(4), np.eye(4)])
    poses[0, 0, 3], poses[1, 0, 3] = -100.0, 100.0
    paddle = Collider("paddle", Box(size=(0.2, 1.0, 1.0)), motion=Motion(np.array([1.0, 2.0]), matrices=poses))
    emitter = Emitter("a", box((0.0, 0.0, 0.0), 0.2), "water", **LATTICE)
    still = list(simulate(scene(emitter, materials=WATER, frames=2)))[-1].statistics.substeps
    moving = list(simulate(scene(emitter, materials=WATER, colliders=(paddle,), frames=2)))[-1].statistics.substeps
    # 200 m a frame at 0.4 cells a step
    assert moving >= 200.0 / (0.4 * 0.05) > still


def test_points_of_a_law_must_be_finite_and_fit() -> None:
    with pytest.raises(SceneError, match="F has values that are not finite"):
        evaluate_law("corotated", np.full((3, 3), np.nan))
    with pytest.raises(SceneError, match=r'state "hardening" has shape \(2,\); use one value for each F, shape \(5,\)'):
        evaluate_law("sand", np.tile(np.eye(3), (5, 1, 1)), state={"hardening": [0.0, 1.0]})
    with pytest.raises(SceneError, match='law "water": det F is not positive'):
        evaluate_law("water", -np.eye(3))


def test_the_cause_of_short_substeps_is_named() -> None:
    slow = Emitter("a", box((0.0, 0.0, 0.0), 0.2), "water", **LATTICE)
    poses = np.stack([np.eye(4), np.eye(4)])
    poses[1, 0, 3] = 1e12
    comet = Collider("comet", Box(center=(0.0, 1.0, 0.0), size=(0.2, 0.2, 0.2)), motion=Motion(np.array([1.0, 2.0]), matrices=poses))
    assert re.match(
        r"Colliders: speeds of 2\.4e\+13 m/s allow substeps of only .* s.*; use slower colliders", refusal(slow, colliders=(comet,))
    )
    shot = Emitter("a", box((0.0, 0.0, 0.0), 0.2), "water", velocity=(1e9, 0.0, 0.0), **LATTICE)
    assert re.match(r"Particles: speeds of 1e\+09 m/s allow substeps of .*; use smaller velocities", refusal(shot))
    hardening = Animation(np.array([1.0, 8.0]), {"bulk_modulus": np.array([1e5, 1e30])})
    message = refusal(slow, materials=(replace(material("water"), animation=hardening),))
    assert re.match(r'Material "water": wave speeds of [\d.]+e\+1\d m/s allow substeps of .*; use a smaller stiffness', message)


MESH = Mesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))


@pytest.mark.parametrize("owner", [Collider, Emitter])
def test_a_body_moved_by_vertices_may_vanish_later(owner: type) -> None:
    motion = Motion(np.array([1.0, 9.0]), vertices=np.stack([MESH.vertices, 0.0 * MESH.vertices]))
    rest = {"material": "water"} if owner is Emitter else {}
    assert owner("c", MESH, motion=motion, **rest).motion is motion


def test_a_collider_that_begins_without_a_surface_is_refused() -> None:
    motion = Motion(np.array([3.0, 9.0]), vertices=np.stack([0.0 * MESH.vertices, MESH.vertices]))
    with pytest.raises(SceneError, match=r'^Collider "c", frame 3: the mesh has zero area: .*; use faces with an area\.$'):
        Collider("c", MESH, motion=motion)


def test_distances_of_a_force_may_not_contradict_each_other_at_any_frame() -> None:
    animation = Animation(np.array([1.0, 5.0]), {"min_distance": np.array([0.0, 2.0])})
    Force("f", radius=2.0, animation=animation)
    with pytest.raises(SceneError, match=r'^Force "f", frame 5: radius 1 m is below min_distance 2 m; use at least 2 m\.$'):
        Force("f", radius=1.0, animation=animation)


def test_points_are_no_surface() -> None:
    points = Points(np.zeros((1, 3)))
    with pytest.raises(SceneError, match=r'^Outflow "o": a shape of kind "points" cannot remove particles; use another shape\.$'):
        Outflow("o", points)
    with pytest.raises(SceneError, match=r'^Collider "c": a shape of kind "points" has no surface; use another shape\.$'):
        Collider("c", points)


def test_an_emitter_that_has_shrunk_to_a_point_is_refused() -> None:
    with pytest.raises(SceneError, match=r'^Emitter "a": the mesh has no volume: its faces enclose 0 m\^3'):
        Mesh(0.0 * MESH.vertices, MESH.triangles).check_inside('Emitter "a"')
