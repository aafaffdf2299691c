"""Emission near colliders: nothing is emitted inside, touching is allowed, and sticky colliders clamp."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import Mesh, Plane, Sphere
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter
from mpm_addon.core.scene.settings import Domain, Side
from tests.core.scenes import LATTICE, box, box_mesh, material, scene

WATER, JELLY = (material("water"),), (material("corotated"),)
H = 0.05


def grid_sheet(size: float, z: float) -> Mesh:
    vertices = np.array([[x, y, z] for x in (-size, size) for y in (-size, size)])
    return Mesh(vertices, np.array([[0, 2, 1], [1, 2, 3]]))


def first_frame(emitter: Emitter, *colliders: Collider, **rest: Any) -> Any:
    return next(simulate(scene(emitter, materials=(*WATER, *JELLY), colliders=colliders, frames=2, **rest)))


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("mode", ["once", "repeat", "inflow"])
@pytest.mark.parametrize(
    ("shape", "tolerance"),
    [(Sphere(radius=0.2), 0.02), (box((0.0, 0.0, 0.0), 0.3), 0.02), (box_mesh((0.3, 0.3, 0.3)), 0.3)],
    ids=["ball", "box", "mesh"],
)
def test_nothing_is_emitted_inside_a_collider(shape: Any, tolerance: float, mode: str, dimension: int) -> None:
    emitter = Emitter("pool", box((0.0, 0.0, 0.0), 0.6), "water", mode=mode, velocity=(0.0, 0.0, -1.0))
    frame = first_frame(emitter, Collider("rock", shape), dimension=dimension)
    distance = shape.signed_distance(frame.position.astype(float))
    assert distance.min() > -tolerance * H
    whole = first_frame(emitter, dimension=dimension)
    # what is left keeps its volume
    assert set(frame.attribute("scale").tolist()) <= set(whole.attribute("scale").tolist())
    outside = shape.signed_distance(whole.position.astype(float)) > 0.0
    assert len(frame.id) == pytest.approx(np.count_nonzero(outside), rel=0.03)


def test_the_pose_of_the_moment_counts() -> None:
    poses = np.stack([np.eye(4), np.eye(4)])
    poses[:, 0, 3] = -1.0, 1.0
    ball = Collider("ball", Sphere(radius=0.2), motion=Motion(np.array([1.0, 9.0]), matrices=poses))
    emitter = Emitter("pool", box((0.0, 0.0, 0.0), (2.4, 0.2, 0.2)), "water", frame_start=5, **LATTICE)
    described = scene(emitter, materials=WATER, colliders=(ball,), frames=5)
    *_, last = simulate(described)
    assert np.linalg.norm(last.position, axis=1).min() > 0.2 - 0.02 * H
    assert last.position[:, 0].min() < -1.1 and last.position[:, 0].max() > 1.1


def test_dynamic_colliders_count_where_they_are() -> None:
    """A ball has flown for four frames without gravity: the pool emitted then leaves room for it."""
    ball = Collider("ball", Sphere(center=(-0.5, 0.0, 0.0), radius=0.2), dynamic=True, velocity=(3.0, 0.0, 0.0))
    emitter = Emitter("pool", box((0.0, 0.0, 0.0), (1.6, 0.2, 0.2)), "water", frame_start=5, **LATTICE)
    *_, last = simulate(scene(emitter, materials=WATER, colliders=(ball,), frames=5, gravity=(0.0, 0.0, 0.0)))
    assert np.linalg.norm(last.position, axis=1).min() > 0.2 - 0.03 * H
    assert last.position[:, 0].min() < -0.7 and last.position[:, 0].max() > 0.7


def test_disabled_colliders_do_not_count() -> None:
    emitter = Emitter("pool", box((0.0, 0.0, 0.0), 0.4), "water", **LATTICE)
    assert len(first_frame(emitter, Collider("ghost", Sphere(radius=0.2), enabled=False)).id) == 8**3 * 8


@pytest.mark.parametrize("sampling", ["poisson", "lattice", "random"])
@pytest.mark.parametrize(
    "floor",
    [
        Plane(),
        box((0.0, 0.0, -0.1), (2.0, 2.0, 0.2)),
        box_mesh((2.0, 2.0, 0.2), (0.0, 0.0, -0.1)),
        box_mesh((2.0, 2.0, 0.01), (0.0, 0.0, -0.005)),
        grid_sheet(1.0, 0.0),
    ],
    ids=["plane", "box", "mesh", "thin mesh", "sheet"],
)
def test_a_body_that_touches_loses_nothing(floor: Any, sampling: str) -> None:
    """Floors, and a corner between two walls."""
    emitter = Emitter("block", box((0.0, 0.0, 0.2), 0.4), "corotated", sampling=sampling)
    wall = Collider("wall", box((-0.3, 0.0, 0.5), (0.2, 2.0, 2.0)))
    assert len(first_frame(emitter, Collider("floor", floor), wall).id) == len(first_frame(emitter).id)


def test_sticky_colliders_clamp_a_body_and_keep_out_what_flows() -> None:
    clamp = Collider("clamp", box((0.0, 0.0, 0.0), (0.2, 1.0, 1.0)), surface="sticky")
    body = Emitter("beam", box((0.2, 0.0, 0.0), (0.6, 0.2, 0.2)), "corotated", **LATTICE)
    assert len(first_frame(body, clamp).id) == len(first_frame(body).id)
    flow = Emitter("flow", box((0.2, 0.0, 0.0), (0.6, 0.2, 0.2)), "water", mode="inflow", velocity=(0.0, 0.0, -1.0), **LATTICE)
    assert len(first_frame(flow, clamp).id) < 0.72 * len(first_frame(flow).id)


def test_a_body_with_nothing_outside_is_refused() -> None:
    body = Emitter("seed", Sphere(radius=0.1), "corotated")
    with pytest.raises(SceneError) as caught:
        first_frame(body, Collider("rock", Sphere(radius=0.3)))
    assert str(caught.value) == (
        'Emitter "seed" lies entirely inside Collider "rock"; move one of them, or make the collider sticky to clamp the body in it.'
    )


def test_a_tap_that_reaches_through_a_wall_emits_only_inside() -> None:
    domain = Domain(kind="box", min=(-1.0, -1.0, 0.0), max=(1.0, 1.0, 1.0), sides={"z_min": Side(surface="slip")})
    tap = Emitter("tap", Sphere(radius=0.2), "water", mode="inflow", normal_velocity=0.5)
    frame = first_frame(tap, domain=domain)
    assert frame.position[:, 2].min() > 0.0
    assert len(frame.id) == pytest.approx(2 / 3 * np.pi * 0.008 * 8 / H**3, rel=0.02)
