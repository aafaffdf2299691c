"""Deforming colliders: what they lift, how deep material sinks into them, and that they agree with rigid ones."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.motion import pose_at, vertices_at
from mpm_addon.core.geometry.rotation import euler_matrix
from mpm_addon.core.geometry.shapes import Mesh
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter
from mpm_addon.core.scene.settings import Domain, Side, Time
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import BOX_TRIANGLES, LATTICE, box, digests_by_threads, material, scene

H = 0.05


def grid_plate(half: float, thickness: float, count: int = 24) -> Mesh:
    """A closed square plate, its top at z = 0, of count^2 quads on either side."""
    x, y = np.meshgrid(np.linspace(-half, half, count + 1), np.linspace(-half, half, count + 1), indexing="ij")
    layer = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    corner = (np.arange(count)[:, None] * (count + 1) + np.arange(count)).ravel()
    top = np.concatenate([[corner, corner + count + 1, corner + count + 2], [corner, corner + count + 2, corner + 1]], axis=1).T
    size = count + 1
    ring = np.concatenate(
        [np.arange(count) * size, count * size + np.arange(count), np.arange(count, 0, -1) * size + count, np.arange(count, 0, -1)]
    )
    after = np.roll(ring, -1)
    sides = np.concatenate([np.column_stack([ring + x.size, after + x.size, after]), np.column_stack([ring + x.size, after, ring])])
    vertices = np.concatenate([layer, layer - [0.0, 0.0, thickness]])
    return Mesh(vertices, np.concatenate([top, top[:, ::-1] + x.size, sides]))


def bulging(plate: Mesh, height: float, frames: int) -> Motion:
    """The middle of a plate rises by `height` over the frames, its rim stays."""
    x, y, _ = plate.vertices.T
    shape = np.cos(0.5 * np.pi * x / x.max()) * np.cos(0.5 * np.pi * y / y.max())
    poses = [plate.vertices + np.outer(share * height * shape, [0.0, 0.0, 1.0]) for share in np.linspace(0.0, 1.0, frames)]
    return Motion(np.arange(1.0, frames + 1.0), vertices=np.stack(poses))


def jelly(**rest: Any) -> Emitter:
    return Emitter("jelly", box((0.0, 0.0, 0.21), 0.4), "corotated", **LATTICE, **rest)


@pytest.mark.parametrize("surface", ["separate", "sticky"])
def test_a_plate_that_bulges_lifts_a_block_of_jelly(surface: str) -> None:
    """At 0.5 m/s in the middle; the jelly follows the surface and sinks in by no more than a particle may before it is pushed."""
    frames, height = 13, 0.25
    plate = grid_plate(0.5, 0.15)
    motion = bulging(plate, height, frames)
    lifted = scene(
        jelly(),
        materials=(material("corotated", young_modulus=1e5),),
        frames=frames,
        colliders=(Collider("plate", plate, surface=surface, friction=0.3, motion=motion),),
        grid_spacing=H,
    )
    deepest, heights, middle = 0.0, [], 0.0
    for frame in simulate(lifted):
        pose, _ = vertices_at(motion, float(frame.number), 24.0)
        deepest = min(deepest, float(Mesh(pose, plate.triangles).signed_distance(np.float64(frame.position)).min()))
        heights.append(float(frame.position[:, 2].min()))
        middle = float(frame.position[:, 2].mean())
    assert deepest > -0.25 * H - 1e-3 * H
    # the whole block is lifted: to rest on a bulge of 0.25 m its middle rises by almost as much
    rise = middle - 0.21
    assert 0.6 * height < rise < 1.1 * height
    assert heights[-1] > heights[0]


def test_motion_of_vertices_is_straight_between_frames() -> None:
    plate = grid_plate(0.5, 0.15, 4)
    motion = bulging(plate, 0.3, 4)
    assert motion.vertices is not None
    before, velocity = vertices_at(motion, 1.999999, 24.0)
    after, _ = vertices_at(motion, 2.000001, 24.0)
    assert np.abs(before - after).max() < 1e-6
    place, velocity = vertices_at(motion, 2.25, 24.0)
    assert place == pytest.approx(motion.vertices[1] + 0.25 * (motion.vertices[2] - motion.vertices[1]))
    # 0.1 m a frame
    assert np.abs(velocity).max() == pytest.approx(2.4)
    for frame, held in ((0.0, 0), (4.0, 3), (9.0, 3)):
        place, velocity = vertices_at(motion, frame, 24.0)
        assert np.array_equal(place, motion.vertices[held]) and not velocity.any()


def test_rigid_motion_by_vertices_does_what_matrices_do() -> None:
    """A turning paddle hits a block of jelly; the distance of the rigid one is sampled, that of the other is exact."""
    paddle = Mesh(*(getattr(grid_plate(0.3, 0.2, 4), name) for name in ("vertices", "triangles")))
    frames = np.linspace(1.0, 7.0, 25)
    matrices = np.tile(np.eye(4), (len(frames), 1, 1))
    for number, frame in enumerate(frames):
        matrices[number, :3, :3] = euler_matrix((0.0, 8.0 * (frame - 1.0), 0.0))
        matrices[number, :3, 3] = 0.01, 0.0, -0.02 + 0.01 * (frame - 1.0)
    posed = np.einsum("kij,nj->kni", matrices[:, :3, :3], paddle.vertices) + matrices[:, None, :3, 3]
    by_matrix, by_vertices = Motion(frames, matrices=matrices), Motion(frames, vertices=posed)
    assert pose_at(by_matrix, 3.0)[:3, :3] @ paddle.vertices[7] == pytest.approx(
        vertices_at(by_vertices, 3.0, 24.0)[0][7] - pose_at(by_matrix, 3.0)[:3, 3]
    )
    ends = []
    for motion in (by_matrix, by_vertices):
        collider = Collider("paddle", paddle, surface="separate", friction=0.2, motion=motion)
        made = scene(jelly(), materials=(material("corotated"),), colliders=(collider,), frames=7, grid_spacing=H)
        *_, last = simulate(made)
        ends.append((np.float64(last.position[np.argsort(last.id)]), np.float64(last.velocity[np.argsort(last.id)])))
    (rigid, rigid_velocity), (deforming, deforming_velocity) = ends
    assert np.abs(rigid[:, 2].mean() - 0.21) > 0.3 * H
    assert np.abs(rigid - deforming).max() < 0.1 * H
    assert np.sqrt(((rigid_velocity - deforming_velocity) ** 2).sum(axis=1).mean()) < 0.03 * np.linalg.norm(rigid_velocity, axis=1).max()


def test_a_bulge_in_the_plane_lifts_what_lies_on_it() -> None:
    plate = grid_plate(0.5, 0.15)
    motion = bulging(plate, 0.25, 13)
    made = scene(
        jelly(),
        materials=(material("corotated", young_modulus=1e5),),
        frames=13,
        dimension=2,
        grid_spacing=H,
        colliders=(Collider("plate", plate, surface="sticky", motion=motion),),
    )
    *_, last = simulate(made)
    pose, _ = vertices_at(motion, 13.0, 24.0)
    assert Mesh(pose, plate.triangles).signed_distance(np.float64(last.position)).min() > -0.26 * H
    assert last.position[:, 2].mean() - 0.21 > 0.6 * 0.25


def test_a_section_moves_as_the_mesh_goes_through_the_plane() -> None:
    """A wedge that slides along y through the plane is seen as a wall that moves: its slope times the speed."""
    from mpm_addon.core.geometry.deforming_section import DeformingSection

    wedge = np.array([[x, y, z] for x in (0.0, 1.0) for y in (-2.0, 2.0) for z in (-1.0, 1.0)])
    wedge[:, 0] += np.where(wedge[:, 0] == 1.0, 0.5 * wedge[:, 1], 0.0)
    section = DeformingSection(wedge[None], BOX_TRIANGLES, H, "wedge")
    points = np.array([[1.1, 0.0, 0.1], [0.9, 5.0, 0.2], [0.5, 0.0, 1.2]])
    step, speed = 1e-4, np.array([0.3, -1.0, 0.0])
    section.move_to(wedge, np.tile(speed, (8, 1)))
    distance, normal, velocity = section(points)
    assert distance == pytest.approx([0.1, -0.1, 0.2], abs=1e-9)
    section.move_to(wedge + step * speed, np.tile(speed, (8, 1)))
    change = (section(points)[0] - distance) / step
    assert np.einsum("nd,nd->n", velocity, normal) == pytest.approx(-change, abs=1e-6)
    assert velocity[0] == pytest.approx([0.8, 0.0, 0.0], abs=1e-9)


def test_a_fast_vertex_shortens_the_steps_only_where_it_may_arrive() -> None:
    plate = grid_plate(0.5, 0.15, 4)
    emitter = jelly()
    steps = []
    for shift in (0.0, 500.0):
        vertices = np.stack([plate.vertices - [0.0, 0.0, 3.0], plate.vertices - [0.0, 0.0, 0.1]]) + np.array([shift, 0.0, 0.0])
        collider = Collider("plate", Mesh(vertices[0], plate.triangles), motion=Motion(np.array([1.0, 2.0]), vertices=vertices))
        *_, last = simulate(scene(emitter, materials=(material("corotated", young_modulus=1e3),), colliders=(collider,), frames=2))
        steps.append(last.statistics.substeps)
    # 2.9 m in a frame, at 0.4 cells a step
    assert steps[0] >= 2.9 / (0.4 * H) > 2 * steps[1]


def test_distance_is_carried_on_between_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured in every step or only where it has moved, the distance at the nodes is the same to a part of the way between."""
    from mpm_addon.core.contact import deforming_obstacle

    plate = grid_plate(0.5, 0.15)
    motion = bulging(plate, 0.25, 5)
    made = scene(
        jelly(), materials=(material("corotated"),), colliders=(Collider("plate", plate, motion=motion),), frames=5, grid_spacing=H
    )
    simulation = Simulation(made)
    next(simulation.frames())
    obstacle = simulation._stepper.obstacles[0].obstacles[0]
    layout, counted = simulation.store.layout, []
    measure = deforming_obstacle.DeformingObstacle._measured
    monkeypatch.setattr(deforming_obstacle.DeformingObstacle, "_measured", lambda self, *rest: counted.append(1) or measure(self, *rest))
    for frame in np.linspace(1.0, 1.9, 40):
        obstacle.move_to(float(frame))
        field = obstacle.measure(0, layout.node_keys, layout.node_coordinates)
        exact = measure(obstacle, 0, layout.node_keys, layout.node_coordinates)
        for row, key in enumerate(field.keys):
            near = np.abs(field.distance[row]) < 0.9 * H
            if near.any():
                other = exact.distance[exact.keys == key]
                assert len(other) == 1 and np.abs(field.distance[row] - other[0])[near].max() < 0.02 * H
    # 0.0625 m a frame are 1.1 cells
    assert 8 <= len(counted) <= 16


SEVERAL = """
import numpy as np
from mpm_addon.core.contact import footing, slabs
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider
from tests.core.scenes import material, scene
from tests.core.contact.test_deforming_obstacles import bulging, grid_plate, jelly
footing.PARALLEL_FEET = footing.PARALLEL_FEET_MOVING = slabs.PIECE_FEET = 1
plate = grid_plate(0.5, 0.15)
colliders = (Collider("plate", plate, motion=bulging(plate, 0.25, 5), friction=0.3),)
scenes = [scene(jelly(), materials=(material("corotated"),), colliders=colliders, frames=5)]
"""


@pytest.mark.long
def test_deforming_obstacles_give_the_same_bytes_on_any_number_of_threads() -> None:
    assert len(digests_by_threads(SEVERAL)) == 1


@pytest.mark.parametrize(("keys", "subframes"), [((1.0, 7.0), 0), ((1.0, 2.0, 3.0, 4.0), 1)])
def test_a_resumed_simulation_gives_the_same_bytes(keys: tuple[float, ...], subframes: int) -> None:
    """Also within a stretch of the motion, where the distance would be carried on from a measurement before."""
    block = grid_plate(0.1, 0.2)
    poses = [block.vertices + np.array([0.2 - 0.04 * key, 0.0, 0.2 + 0.02 * key]) for key in keys]
    paddle = Collider("paddle", block, motion=Motion(np.array(keys), vertices=np.stack(poses)))
    water = Emitter("water", box((0.0, 0.0, 0.15), (0.6, 1.0, 0.3)), "water")
    described = replace(
        scene(water, materials=(material("water", bulk_modulus=2e4),), colliders=(paddle,), dimension=2, grid_spacing=H),
        time=Time(frame_start=1, frame_end=4, subframes=subframes),
    )
    whole = Simulation(described)
    states = [(frame, whole.snapshot()) for frame in whole.frames()]
    for _, snapshot in states[:-1]:
        *_, resumed = Simulation(described, snapshot=snapshot).frames()
        assert np.array_equal(resumed.attribute("position"), states[-1][0].attribute("position"))


def test_vertices_that_do_not_fit_are_refused() -> None:
    plate = grid_plate(0.5, 0.15, 4)
    good = np.stack([plate.vertices, plate.vertices])
    frames = np.array([1.0, 5.0])
    bad = good.copy()
    bad[1, 3, 0] = np.nan
    with pytest.raises(SceneError, match=r'^Collider "c": motion at frame 5 has vertex 3 at \[ *nan .*\]; move it to finite coordinates'):
        Collider("c", plate, motion=Motion(frames, vertices=bad))
    with pytest.raises(
        SceneError, match=r'^Collider "c": motion at frame 1 has 49 vertices, but the mesh has 50; use a mesh with the same'
    ):
        Collider("c", plate, motion=Motion(frames, vertices=good[:, :-1]))
    with pytest.raises(SceneError, match=r'^Collider "c": motion has vertices of shape \(1, 50, 3\) for 2 frames; use'):
        Collider("c", plate, motion=Motion(frames, vertices=good[:1]))
    with pytest.raises(SceneError, match=r'^Collider "c": a box has no vertices to move; use motion by matrix, or a mesh'):
        Collider("c", box((0.0, 0.0, 0.0), 1.0), motion=Motion(frames, vertices=good))
    beside = good + np.array([0.0, 3.0, 0.0])
    far = Collider("c", Mesh(beside[0], plate.triangles), motion=Motion(frames, vertices=beside))
    with pytest.raises(SceneError, match=r'^Collider "c": the mesh reaches from y = 2.5 m to 3.5 m at all frames; in 2D'):
        Simulation(scene(jelly(), materials=(material("corotated"),), colliders=(far,), dimension=2))


def test_deforming_and_rigid_obstacles_meet_in_one_scene() -> None:
    plate = grid_plate(0.5, 0.15, 8)
    rigid = Motion(np.array([1.0, 5.0]), matrices=np.stack([np.eye(4), np.eye(4)]))
    colliders = (
        Collider("plate", plate, motion=bulging(plate, 0.1, 5)),
        Collider("ball", box((0.0, 0.0, 0.6), 0.2), motion=rigid),
    )
    domain = Domain(kind="box", min=(-0.4, -0.4, -1.0), max=(0.4, 0.4, 2.0), sides={"x_min": Side(), "x_max": Side()})
    made = scene(jelly(), materials=(material("corotated"),), colliders=colliders, domain=domain, frames=5)
    *_, last = simulate(made)
    assert np.isfinite(last.position).all() and last.position[:, 2].min() > 0.0
