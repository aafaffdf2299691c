"""Colliders among nodes and particles: thin walls, corners, and regions that the solver skips because they are empty."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.contact import footing
from mpm_addon.core.contact import slabs as slabs_of_colliders
from mpm_addon.core.contact.obstacle import Field, Obstacle
from mpm_addon.core.failure import Trouble
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.settings import Domain, Side
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.stepping.stepper import Stepper
from tests.core.scenes import LATTICE, box, digests_by_threads, material, scene


def cup(half: float, height: float, thickness: float, corner: float) -> Any:
    """An open box with solid walls as one mesh, `half` its half width inside; the middle of its floor is at (corner, corner, corner)."""
    rings = [(half + thickness, -thickness), (half + thickness, height), (half, height), (half, 0.0)]
    vertices = [(sx * r, sy * r, z) for r, z in rings for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    quads = [(3, 2, 1, 0), (12, 13, 14, 15)]
    for ring in (0, 4, 8):
        quads += [(ring + k, ring + (k + 1) % 4, ring + (k + 1) % 4 + 4, ring + k + 4) for k in range(4)]
    triangles = [triangle for a, b, c, d in quads for triangle in ((a, b, c), (a, c, d))]
    return SHAPES["mesh"](np.array(vertices) + corner, np.array(triangles))


@pytest.mark.parametrize(("cells", "shift"), [(1.75, 0.25), (1.75, 0.75), (1.9, 0.25), (2.3, 0.0), (2.7, 0.5)])
def test_water_stays_in_a_cup_with_thin_walls(cells: float, shift: float) -> None:
    """Nodes in such a wall may lie nearer to its far side; two thirds of the water left where they were free to move away."""
    spacing = 0.02
    corner, thickness = shift * spacing, cells * spacing
    filled = scene(
        Emitter("water", box((corner, corner, corner + 0.06), (0.2, 0.2, 0.12)), "water", **LATTICE),
        materials=(material("water", bulk_modulus=5e4),),
        colliders=(Collider("cup", cup(0.1, 0.5, thickness, corner), surface="separate"),),
        grid_spacing=spacing,
        frames=10,
    )
    *_, last = simulate(filled)
    position = last.position - corner
    is_out = (np.abs(position[:, :2]).max(axis=1) > 0.1 + 0.5 * thickness) | (position[:, 2] < -0.5 * thickness)
    assert is_out.mean() < 0.02


def corner_scene(**solver: Any) -> Scene:
    """Sand and water in the corner of a box, with a ramp through it and a ball that is pushed into them."""
    frames, matrices = np.array([1.0, 6.0]), np.stack([np.eye(4), np.eye(4)])
    matrices[0, 0, 3], matrices[1, 0, 3] = 0.9, 0.3
    sides = {name: Side(surface="separate", friction=0.3) for name in ("x_min", "y_min", "z_min")}
    motion = Motion(frames, matrices=matrices)
    ball = Collider("ball", SHAPES["sphere"](center=(0.0, 0.2, 0.15), radius=0.12), surface="separate", motion=motion)
    ramp = Collider("ramp", SHAPES["plane"](point=(0.1, 0.1, 0.0), normal=(1.0, 1.0, 2.0)), surface="separate", friction=0.5)
    return scene(
        Emitter("sand", box((0.16, 0.16, 0.26), 0.3), "sand", velocity=(-1.0, -1.0, -2.0), **LATTICE),
        Emitter("water", box((0.46, 0.16, 0.2), (0.3, 0.3, 0.2)), "water", velocity=(-1.0, 0.0, -1.0), **LATTICE),
        materials=(material("sand"), material("water")),
        domain=Domain(kind="box", min=(0.013, 0.013, 0.013), max=(1.2, 1.2, 1.2), sides=sides),
        colliders=(ramp, ball),
        frames=6,
        **solver,
    )


CORNERS = """
from mpm_addon.core.contact import footing, slabs
from tests.core.contact.test_obstacles import corner_scene
footing.PARALLEL_FEET = slabs.PIECE_FEET = 1
scenes = [corner_scene(kernel=kernel) for kernel in ("quadratic", "cubic")]
"""


@pytest.mark.long
def test_obstacles_in_a_corner_give_the_same_bytes_on_any_number_of_threads() -> None:
    assert len(digests_by_threads(CORNERS)) == 1


def marked(reached: np.ndarray, block_nodes: int) -> np.ndarray:
    return (reached[:, None] >> np.arange(block_nodes) & 1).astype(bool)


@pytest.mark.parametrize(
    ("dimension", "kernel"), [(3, "quadratic"), (3, "cubic"), (2, "quadratic"), pytest.param(2, "cubic", marks=pytest.mark.long)]
)
def test_no_node_has_mass_that_obstacles_take_for_out_of_reach(monkeypatch: pytest.MonkeyPatch, dimension: int, kernel: str) -> None:
    simulation = Simulation(corner_scene(dimension=dimension, kernel=kernel))
    step, checked = Stepper.step, []

    def checking(stepper: Stepper, dt: float, next_dt: float | None) -> Trouble | None:
        result = step(stepper, dt, next_dt)
        store = simulation.store
        mass = store.nodes[: store.layout.node_count].reshape(store.layout.node_count, -1, 4)[:, :, 3]
        for group in stepper.obstacles:
            assert not (mass > 0.0)[~marked(group._reached[:-1], mass.shape[1])].any()
            due = group.due_blocks(stepper._store.node_speeds, dt, 0.0, np.inf)
            assert (np.diff(due) > 0).all()
            checked.append(len(due))
        return result

    monkeypatch.setattr(Stepper, "step", checking)
    for _ in simulation.frames():
        pass
    assert max(checked) > 0


def test_slabs_of_one_color_touch_no_node_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footing, "PARALLEL_FEET", 1)
    simulation = Simulation(corner_scene())
    next(simulation.frames())
    group = simulation._stepper.obstacles[0]
    feet, slabs, count = group.footing.feet, group.footing.slabs, len(group.obstacles)
    assert slabs.slab_count > 3
    assert (np.diff(slabs.cuts) > 0).all()
    for color in range(2):
        owner_of_node: dict[int, int] = {}
        for slab in range(slabs.cuts[slabs.colors[color]], slabs.cuts[slabs.colors[color + 1]]):
            for foot in range(feet.first[slab * count], feet.first[(slab + 1) * count]):
                for node in (feet.nodes[foot], *feet.corners[foot, : feet.counts[foot]]):
                    assert owner_of_node.setdefault(int(node), slab) == slab


def test_colliders_of_one_level_touch_no_node_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footing, "PARALLEL_FEET", 1)
    monkeypatch.setattr(slabs_of_colliders, "PIECE_FEET", 1)
    simulation = Simulation(corner_scene())
    next(simulation.frames())
    group = simulation._stepper.obstacles[0]
    feet, deep, slabs, count = group.footing.feet, group.footing.deep, group.footing.slabs, len(group.obstacles)
    touched = [set[int]() for _ in range(count)]
    for run in range(slabs.slab_count * count):
        for foot in range(feet.first[run], feet.first[run + 1]):
            touched[run % count] |= {int(feet.nodes[foot]), *feet.corners[foot, : feet.counts[foot]].tolist()}
        touched[run % count] |= set(deep.nodes[deep.first[run] : deep.first[run + 1]].tolist())
    assert 0 < slabs.levels.max() < count - 1
    for one in range(count):
        for other in range(one):
            assert slabs.levels[other] < slabs.levels[one] or not touched[one] & touched[other]


def measured_along(
    shape: Any, poses: np.ndarray, middle: tuple[float, float, float], spacing: float, steps: int
) -> tuple[Obstacle, Iterator[tuple[Field, Field]]]:
    """A collider that moves beside water within a frame, and at each step the field that it carries on and the one measured anew."""
    moving = Collider("moving", shape, motion=Motion(np.array([1.0, 2.0]), matrices=poses))
    water = Emitter("water", box(middle, 0.1), "water", **LATTICE)
    made = scene(water, materials=(material("water"),), colliders=(moving,), grid_spacing=spacing, frames=2)
    simulation = Simulation(made)
    next(simulation.frames())
    layout = simulation.store.layout
    carried, fresh = Obstacle(moving, made), Obstacle(moving, made)

    def fields() -> Iterator[tuple[Field, Field]]:
        for frame in np.linspace(1.0, 2.0, steps):
            for obstacle in (carried, fresh):
                obstacle.move_to(float(frame))
            fresh.begin_frame()
            one, other = (each.measure(0, layout.node_keys, layout.node_coordinates) for each in (carried, fresh))
            yield one, other

    return carried, fields()


@pytest.mark.parametrize("speed", [0.02, 0.3])
def test_a_collider_that_moves_is_measured_as_often_as_it_has_moved(speed: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between measurements, the distance of a turning, sinking cup at the nodes is that in its pose, to a part of the way since."""
    spacing = 0.02
    shape = cup(0.1, 0.2, 0.03, 0.005)
    poses = np.stack([np.eye(4), np.eye(4)])
    turn = 3.0 * speed
    poses[1, :3, :3] = [[np.cos(turn), 0.0, np.sin(turn)], [0.0, 1.0, 0.0], [-np.sin(turn), 0.0, np.cos(turn)]]
    poses[1, :3, 3] = 0.0, 0.0, -speed
    carried, fields = measured_along(shape, poses, (0.005, 0.005, 0.06), spacing, 41)
    asked = []
    ask = Obstacle.distance
    monkeypatch.setattr(Obstacle, "distance", lambda self, points, **rest: asked.append(self) or ask(self, points, **rest))
    for field, exact in fields:
        rows = np.searchsorted(field.keys, exact.keys[(np.abs(exact.distance) < spacing).any(axis=1)])
        others = np.searchsorted(exact.keys, field.keys[rows])
        near = np.abs(exact.distance[others]) < spacing
        error = np.abs(field.distance[rows] - exact.distance[others])[near] / spacing
        # where two surfaces are equally near, as at an edge, the nearest one changes within a tenth of a cell
        assert np.median(error) < 0.005 and error.max() < 0.15
        assert np.median(np.einsum("rnd,rnd->rn", field.normal[rows], exact.normal[others])[near]) > 0.999
    # two queries for each measurement; with 0.02 m, the rim moves by two cells in all, with 0.3 m by up to a cell in a step
    times = sum(obstacle is carried for obstacle in asked) // 2
    assert 10 <= times <= 25 if speed < 0.1 else times == 41


@pytest.mark.parametrize("turn", [0.0, 1.4])
def test_a_collider_that_comes_from_afar_within_a_frame_is_found(turn: float) -> None:
    """A bat that flies at a block at rest, or swings at it about a far end, is at its nodes as soon as it is there."""
    spacing = 0.02
    start, end = np.eye(4), np.eye(4)
    start[:3, 3], end[:3, 3] = (-0.5, 0.0, 0.05), (-0.02, 0.0, 0.05)
    if turn:
        start[:3, 3] = end[:3, 3] = -0.07, 0.0, -0.2
        start[:3, :3] = [[np.cos(turn), 0.0, -np.sin(turn)], [0.0, 1.0, 0.0], [np.sin(turn), 0.0, np.cos(turn)]]
    bat = box((0.0, 0.0, 0.225), (0.06, 0.4, 0.45)) if turn else box((0.0, 0.0, 0.0), (0.06, 0.4, 0.3))
    found = []
    for field, exact in measured_along(bat, np.stack([start, end]), (0.0, 0.0, 0.06), spacing, 201)[1]:
        touched = exact.keys[(exact.distance < spacing).any(axis=1)]
        assert np.isin(touched, field.keys).all()
        found.append(len(touched))
    assert found[0] == 0 and found[-1] > 10
