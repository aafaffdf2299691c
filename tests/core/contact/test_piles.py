"""Piles and walls of rigid bodies without particles: they rest, slide, tip and collapse."""

from typing import Any
from unittest import mock

import numpy as np
import pytest

from mpm_addon.core.contact import rigid_contact
from mpm_addon.core.contact.rigid_body import RigidBody
from mpm_addon.core.contact.rigid_impulses import SolverBodies, solve_contacts
from mpm_addon.core.contact.standstill import Standstill
from mpm_addon.core.contact.warm_start import forces_of, table_of
from mpm_addon.core.errors import CacheError
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.geometry.shapes.box import CUBE, CUBE_TRIANGLES
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Scene
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import scene

pytestmark = pytest.mark.slow
GRAVITY = 9.81
BRICK = np.array([0.2, 0.1, 0.06])
FLOOR = Collider("floor", SHAPES["plane"](), friction=0.6)


def brick(name: str, center: Any, size: Any = BRICK, *, kind: str = "box", **more: Any) -> Collider:
    center, size = np.asarray(center, np.float64), np.asarray(size, np.float64)
    if kind == "mesh":
        shape: Any = SHAPES["mesh"](0.5 * CUBE * size + center, CUBE_TRIANGLES)
    else:
        shape = SHAPES["box"](center=tuple(center.tolist()), size=tuple(size.tolist()))
    return Collider(name, shape, dynamic=True, **{"friction": 0.6, **more})


def wall(rows: int, columns: int, kind: str = "box") -> list[Collider]:
    """Bricks in a running bond, with half bricks at the ends of every other row."""
    length, depth, height = BRICK
    bricks = []
    for row in range(rows):
        centers = [(number * length, length) for number in range(columns)]
        if row % 2:
            inner = [((number + 0.5) * length, length) for number in range(columns - 1)]
            centers = [(-0.25 * length, 0.5 * length), *inner, ((columns - 0.75) * length, 0.5 * length)]
        for x, width in centers:
            bricks.append(brick(f"{row} {x:.3f}", (x, 0.0, (row + 0.5) * height), (width, depth, height), kind=kind))
    return bricks


def of(*colliders: Collider, seconds: float, fps: float = 24.0, **more: Any) -> Scene:
    return scene(materials=(), colliders=colliders, frames=1 + round(seconds * fps), fps=fps, **more)


def centers(simulation: Simulation) -> np.ndarray:
    return np.array([body.center for body in simulation.rigid_bodies])


def moved(described: Scene) -> np.ndarray:
    """How far each body has moved from its place at the start at the end [m]."""
    simulation = Simulation(described)
    start = centers(simulation)
    for _ in simulation.frames():
        pass
    return np.linalg.norm(centers(simulation) - start, axis=1)


@pytest.mark.parametrize("kind", ["box", "mesh"])
def test_a_stack_of_ten_bricks_rests(kind: str) -> None:
    """Exactly: not a bit of any center changes once it rests, and it has sunk by nothing that anyone sees."""
    bricks = [brick(f"{number}", (0.0, 0.0, (number + 0.5) * BRICK[2]), kind=kind) for number in range(10)]
    simulation = Simulation(of(FLOOR, *bricks, seconds=1.0, fps=4.0))
    start = centers(simulation)
    states = [simulation._stepper.rigid.state() for _ in simulation.frames()]
    assert np.abs(centers(simulation) - start).max() < 1e-6
    # a state that a substep does not change, with the same forces, stays forever
    assert np.array_equal(states[2], states[-1])


def test_a_wall_rests_and_collapses_when_a_ball_hits_it() -> None:
    """It stands to the last bit; a heavy ball at 8 m/s throws bricks off, and all of them stay above the floor."""
    bricks = wall(6, 5)
    simulation = Simulation(of(FLOOR, *bricks, seconds=1.0))
    start = centers(simulation)
    states = [simulation._stepper.rigid.state() for _ in simulation.frames()]
    assert np.abs(centers(simulation) - start).max() < 1e-6
    assert np.array_equal(states[12], states[-1])
    ball = Collider("ball", SHAPES["sphere"](center=(0.4, -0.4, 0.2), radius=0.08), dynamic=True, density=5000.0, velocity=(0.0, 8.0, 0.0))
    simulation = Simulation(of(FLOOR, *bricks, ball, seconds=1.0))
    for _ in simulation.frames():
        assert (centers(simulation)[:, 2] > 0.02).all()
    assert (np.linalg.norm(centers(simulation)[:-1] - start, axis=1) > 0.1).sum() >= 8


def test_bricks_without_friction_do_not_stay_on_each_other() -> None:
    """Negative control: on a slope only friction holds a pile together."""
    tilt = np.radians(10.0)
    gravity = (GRAVITY * np.sin(tilt), 0.0, -GRAVITY * np.cos(tilt))
    for friction, slides in ((0.0, True), (0.6, False)):
        pile = [brick(f"{number}", (0.0, 0.0, (number + 0.5) * BRICK[2]), friction=friction) for number in range(3)]
        assert (moved(of(FLOOR, *pile, seconds=0.5, gravity=gravity)).max() > 0.02) == slides


def test_a_shaken_floor_moves_a_stack_but_does_not_topple_it() -> None:
    """0.5 mm at 4 Hz: an acceleration of 0.03 g, which friction transmits. Without friction the stack would stay behind."""
    frames = np.arange(0.0, 49.0)
    poses = np.tile(np.eye(4), (len(frames), 1, 1))
    poses[:, 0, 3] = 5e-4 * np.sin(2.0 * np.pi * 4.0 * frames / 24.0)
    table = Collider(
        "floor", SHAPES["box"](center=(0.0, 0.0, -0.5), size=(2.0, 2.0, 1.0)), friction=0.6, motion=Motion(frames + 1.0, poses)
    )
    bricks = [brick(f"{number}", (0.0, 0.0, (number + 0.5) * BRICK[2])) for number in range(6)]
    simulation = Simulation(of(table, *bricks, seconds=2.0))
    start, places = centers(simulation), []
    for _ in simulation.frames():
        places.append(centers(simulation) - start)
    assert np.abs(np.array(places)[:, :, 0]).max() > 3e-4
    assert np.abs(places[-1]).max() < 1e-3


@pytest.mark.parametrize("kind", ["box", "mesh"])
@pytest.mark.parametrize("angle", [15.0, 35.0])
def test_a_brick_slides_down_any_slope_as_coulomb_says(angle: float, kind: str) -> None:
    """a = g (sin a - mu cos a), mu = 0.2; and with mu = 0.8 > tan a it does not move at all."""
    tilt = np.radians(angle)
    gravity = (GRAVITY * np.sin(tilt), 0.0, -GRAVITY * np.cos(tilt))
    for friction in (0.2, 0.8):
        floor = Collider("floor", SHAPES["plane"](), friction=friction)
        simulation = Simulation(of(floor, brick("brick", (0.013, 0.007, 0.03), kind=kind, friction=friction), seconds=0.5, gravity=gravity))
        for _ in simulation.frames():
            pass
        (body,) = simulation.rigid_bodies
        expected = 0.5 * GRAVITY * max(np.sin(tilt) - friction * np.cos(tilt), 0.0)
        assert body.velocity[0] == pytest.approx(expected, rel=1e-4, abs=1e-12)
        assert body.center[2] == pytest.approx(0.03, abs=1e-6)


def test_a_slow_slide_is_not_rest() -> None:
    """mu a thousandth below tan a: a hundredth of a percent of gravity accelerates it, and it must not be held."""
    tilt = np.radians(20.0)
    friction = float(np.tan(tilt) * 0.999)
    floor = Collider("floor", SHAPES["plane"](), friction=friction)
    gravity = (GRAVITY * np.sin(tilt), 0.0, -GRAVITY * np.cos(tilt))
    simulation = Simulation(of(floor, brick("brick", (0.0, 0.0, 0.03), friction=friction), seconds=0.5, gravity=gravity))
    for _ in simulation.frames():
        pass
    assert simulation.rigid_bodies[0].velocity[0] == pytest.approx(0.5 * GRAVITY * np.sin(tilt) * 1e-3, rel=0.01)


@pytest.mark.parametrize(("overhang", "falls"), [(0.45, False), (0.55, True)])
def test_a_brick_over_an_edge_tips_when_its_middle_is_beyond(overhang: float, falls: bool) -> None:
    table = brick("table", (0.0, 0.0, 0.1), (0.4, 0.2, 0.2), density=1e5)
    top = brick("top", (0.2 + BRICK[0] * (overhang - 0.5), 0.0, 0.23))
    assert (moved(of(FLOOR, table, top, seconds=0.6))[1] > 0.02) == falls


def test_dominoes_fall_one_after_another() -> None:
    row = [brick(f"{number}", (0.05 * number, 0.0, 0.05), (0.015, 0.05, 0.1)) for number in range(6)]
    row[0] = brick("0", (0.0, 0.0, 0.05), (0.015, 0.05, 0.1), velocity=(0.3, 0.0, 0.0), angular_velocity=(0.0, 250.0, 0.0))
    simulation = Simulation(of(FLOOR, *row, seconds=1.0))
    for _ in simulation.frames():
        pass
    assert (np.array([body.rotation[2, 2] for body in simulation.rigid_bodies]) < 0.8).all()
    # the negative control: nobody pushes them
    row[0] = brick("0", (0.0, 0.0, 0.05), (0.015, 0.05, 0.1))
    assert moved(of(FLOOR, *row, seconds=0.5)).max() < 1e-6


@pytest.mark.parametrize("kind", ["box", "mesh", "sphere", "capsule"])
def test_a_collision_conserves_momentum_and_angular_momentum(kind: str) -> None:
    """Of two bodies that hit each other off their middles, with friction and without gravity; the energy does not grow.

    In free flight the midpoint rule, which is symmetric in time, keeps the energy of a body that wobbles without drift; its swing is of
    the second order of the step. The box that the ball has hit swings by 9e-6 of the energy in a frame.
    """
    other: Any = brick(
        "other", (0.0, 0.0, 0.0), (0.2, 0.1, 0.06), kind="mesh" if kind == "mesh" else "box", angular_velocity=(20.0, 90.0, 40.0)
    )
    first = brick("first", (-0.25, 0.03, 0.02), (0.1, 0.1, 0.1), velocity=(1.0, 0.0, 0.0), angular_velocity=(100.0, 0.0, 50.0))
    if kind in ("sphere", "capsule"):
        round_one = SHAPES["sphere"](center=(-0.25, 0.03, 0.02), radius=0.05)
        if kind == "capsule":
            round_one = SHAPES["capsule"](start=(-0.25, -0.03, 0.02), end=(-0.25, 0.05, 0.04), radius=0.03)
        first = Collider("first", round_one, dynamic=True, friction=0.6, velocity=(1.0, 0.0, 0.0), angular_velocity=(100.0, 0.0, 50.0))
    simulation = Simulation(of(first, other, seconds=0.5, gravity=(0.0, 0.0, 0.0)))
    rows = []
    for _ in simulation.frames():
        bodies = simulation.rigid_bodies
        momentum = np.sum([body.mass * body.velocity for body in bodies], axis=0)
        turning = np.sum([body.spin + body.mass * np.cross(body.center, body.velocity) for body in bodies], axis=0)
        rows.append((*momentum, *turning, sum(body.kinetic_energy for body in bodies)))
    found = np.array(rows)
    scale = np.abs(found[0, :6]).max()
    assert np.abs(found[:, :6] - found[0, :6]).max() < 1e-9 * scale
    assert (found[:, 6] < (1.0 + 1e-9) * found[0, 6]).all()
    assert (np.diff(found[:, 6]) < 1e-5 * found[0, 6]).all()
    assert found[-1, 6] < 0.99 * found[0, 6]


def tumble(frames: int = 16) -> Scene:
    """Bodies of every kind fall on each other."""
    spin = {"angular_velocity": (50.0, 90.0, 20.0)}
    colliders = [
        brick(f"{number}", (0.03 * number, 0.02 * number, 0.05 + 0.12 * number), kind=("box", "mesh")[number % 2], **spin)
        for number in range(6)
    ]
    colliders.append(Collider("ball", SHAPES["sphere"](center=(0.05, 0.0, 0.9), radius=0.06), dynamic=True))
    colliders.append(Collider("capsule", SHAPES["capsule"](start=(0.0, 0.0, 1.0), end=(0.1, 0.0, 1.05), radius=0.04), dynamic=True))
    colliders.append(Collider("drum", SHAPES["cylinder"](center=(0.1, 0.05, 1.2), radius=0.06, height=0.1), dynamic=True))
    return of(FLOOR, *colliders, seconds=(frames - 1) / 24.0)


def test_a_resumed_pile_gives_the_same_bytes() -> None:
    """The impulses that the sweeps begin with are part of the checkpoint: without them the poses differ, the negative control."""
    simulation = Simulation(tumble())
    frames = simulation.frames()
    for _ in range(11):
        next(frames)
    snapshot = {name: array.copy() for name, array in simulation.snapshot().items()}
    rest = [frame.poses for frame in frames]
    resumed = [frame.poses for frame in Simulation(tumble(), snapshot=snapshot).frames()]
    cold = [frame.poses for frame in Simulation(tumble(), snapshot={**snapshot, "rigid_contacts": snapshot["rigid_contacts"][:0]}).frames()]
    assert len(rest) == len(resumed) == 5
    for mine, its in zip(rest, resumed, strict=True):
        assert all(pose.tobytes() == its[name].tobytes() for name, pose in mine.items())
    assert any(pose.tobytes() != cold[-1][name].tobytes() for name, pose in rest[-1].items())


def test_a_checkpoint_of_contacts_of_other_bodies_is_refused() -> None:
    """Of an earlier version it has none, and the sweeps begin without."""
    simulation = Simulation(tumble())
    frames = simulation.frames()
    for _ in range(8):
        next(frames)
    good = simulation.snapshot()
    assert len(good["rigid_contacts"])
    old = {name: array for name, array in good.items() if name != "rigid_contacts"}
    assert next(Simulation(tumble(), snapshot=old).frames()).poses
    for column, value in ((0, 9.0), (0, -1.0), (1, 9.0)):
        contacts = good["rigid_contacts"].copy()
        contacts[0, column] = value
        with pytest.raises(CacheError, match="rigid_contacts"):
            Simulation(tumble(), snapshot={**good, "rigid_contacts": contacts})


def test_bodies_can_be_replaced_between_two_substeps() -> None:
    """The lowest of three bricks becomes two halves: what stood on it stands on them, and a rollback brings it back."""
    bricks = [brick(f"{number}", (0.0, 0.0, (number + 0.5) * BRICK[2])) for number in range(3)]
    simulation = Simulation(of(FLOOR, *bricks, seconds=0.5))
    frames = simulation.frames()
    for _ in range(4):
        next(frames)
    rigid = simulation._stepper.rigid
    before = rigid.state()
    halves = [brick(f"half {x}", (x, 0.0, 0.03), (0.1, 0.1, 0.06)) for x in (-0.05, 0.05)]
    rigid.take([*(RigidBody(half, simulation.scene) for half in halves), *rigid.bodies[1:]])
    assert [body.name for body in rigid.bodies] == ["half -0.05", "half 0.05", "1", "2"]
    rigid.restore()
    assert [body.name for body in rigid.bodies] == ["0", "1", "2"]
    assert np.array_equal(rigid.state(), before)
    rigid.take([*(RigidBody(half, simulation.scene) for half in halves), *rigid.bodies[1:]])
    rigid.save()
    start = centers(simulation)
    for frame in frames:
        assert list(frame.poses) == ["half -0.05", "half 0.05", "1", "2"]
    assert np.abs(centers(simulation) - start).max() < 1e-6


def test_three_hundred_bodies_rest_on_each_other() -> None:
    """A wall of 300 bricks, for a quarter of a second; nothing limits its substeps but the rigid bodies themselves."""
    simulation = Simulation(of(FLOOR, *wall(20, 15), seconds=0.25))
    start = centers(simulation)
    counts = [frame.statistics.substeps for frame in simulation.frames()]
    assert len(start) >= 300
    assert counts[1:] == [10] * 6
    assert np.abs(centers(simulation) - start).max() < 1e-4


def heap(friction: float) -> list[Collider]:
    """Thirty bricks of random sizes and rotations, which fall onto one another."""
    random = np.random.default_rng(3)
    bricks = []
    for number in range(30):
        layer, place = divmod(number, 6)
        x, y = 0.24 * (place % 3 - 1), 0.24 * (place // 3 - 0.5)
        center = np.array([x, y, 0.2 + 0.26 * layer]) + random.uniform(-0.01, 0.01, 3)
        shape = SHAPES["box"](
            center=tuple(center.tolist()),
            size=tuple((BRICK * random.uniform(0.7, 1.1, 3)).tolist()),
            rotation=tuple(random.uniform(0.0, 360.0, 3).tolist()),
        )
        bricks.append(Collider(f"{number}", shape, dynamic=True, friction=friction))
    return bricks


def test_a_random_heap_does_not_creep() -> None:
    """Not by a micrometer over ten seconds, after three in which it settles, with bricks on top of others."""
    simulation = Simulation(of(FLOOR, *heap(0.6), seconds=13.0, fps=2.0))
    places = [centers(simulation) for _ in simulation.frames()]
    assert np.abs(np.array(places[6:]) - places[6]).max() < 1e-6
    assert places[-1][:, 2].max() > 1.5 * BRICK[2]


def test_a_random_heap_without_friction_creeps() -> None:
    """Negative control."""
    simulation = Simulation(of(FLOOR, *heap(0.0), seconds=3.5, fps=2.0))
    places = [centers(simulation) for _ in simulation.frames()]
    assert np.abs(places[-1] - places[6]).max() > 0.1


def test_an_impact_elsewhere_does_not_disturb_a_stack() -> None:
    """It has not moved by a bit, although a ball hits another brick with 2,000 times the speed that gravity adds in a substep.

    Negative control: against a brick of the stack itself.
    """
    stack = [brick(f"{number}", (0.0, 0.0, (number + 0.5) * BRICK[2])) for number in range(5)]
    target = brick("target", (3.0, 0.0, 0.03))
    for x, is_hit in ((3.0, False), (0.0, True)):
        ball = Collider(
            "ball", SHAPES["sphere"](center=(x, -10.0, 0.04), radius=0.03), dynamic=True, density=8000.0, velocity=(0.0, 80.0, 0.0)
        )
        simulation = Simulation(of(FLOOR, *stack, target, ball, seconds=0.25))
        states = [simulation._stepper.rigid.state() for _ in simulation.frames()]
        assert np.linalg.norm(states[-1][-2 if x else 0, :3] - states[0][-2 if x else 0, :3]) > 0.05
        assert np.array_equal(states[2][:5], states[-1][:5]) is not is_hit


def test_a_group_that_moves_is_solved_only_as_far_as_anyone_sees() -> None:
    """A wall that a ball hits takes less than a fifth of the work of contacts solved to the end, within 1% of the ball's speed."""
    ball = Collider("ball", SHAPES["sphere"](center=(0.4, -0.2, 0.2), radius=0.08), dynamic=True, density=5000.0, velocity=(0.0, 8.0, 0.0))
    # a substep per frame; the ball hits the wall in the third
    simulation = Simulation(of(FLOOR, *wall(6, 5), ball, seconds=10.0 / 240.0, fps=240.0))
    for _ in simulation.frames():
        pass
    rigid = simulation._stepper.rigid
    assert rigid.touching is not None
    contacts = rigid.touching.contacts
    masses, inertias = rigid._inverse()
    found, work = [], []
    for limits in (rigid_contact.while_moving(GRAVITY / 240.0), rigid_contact.PRECISE._replace(enough=1e-9)):
        velocities = rigid.before - np.array([0.0, 0.0, GRAVITY / 240.0, 0.0, 0.0, 0.0])
        impulses, noise = np.zeros((len(contacts.first), 4)), np.zeros(len(contacts.first))
        least = -240.0 * np.maximum(contacts.gap, 0.0)
        work.append(solve_contacts(contacts, least, SolverBodies(velocities, masses, inertias), limits, impulses, noise))
        found.append(velocities)
    assert 5 * work[0] < work[1]
    assert 1e-6 < np.abs(found[0] - found[1])[:, :3].max() < 0.01 * 8.0


def test_a_wall_at_rest_is_not_solved_again() -> None:
    """The bytes are those of one that is solved in every substep."""

    def rested(*, is_solved: bool) -> tuple[bytes, int]:
        simulation = Simulation(of(FLOOR, *wall(3, 3), seconds=0.5))
        solved = mock.patch.object(rigid_contact, "solve_contacts", wraps=rigid_contact.solve_contacts)
        begin = Standstill.begin

        def unknown(self: Standstill, *inputs: Any) -> bool:
            return begin(self, *inputs) and not is_solved

        with solved as solver, mock.patch.object(Standstill, "begin", unknown):
            for _ in simulation.frames():
                pass
        return simulation._stepper.rigid.state().tobytes(), solver.call_count

    (state, count), (its_state, its_count) = rested(is_solved=False), rested(is_solved=True)
    assert state == its_state
    assert its_count >= 120 > 2 * count


def test_a_contact_with_the_floor_continues_beside_one_with_a_body() -> None:
    """The floor comes last, although its number is negative."""
    first, partner = np.array([0, 0, 1, 1]), np.array([1, -1, 2, -2])
    places, forces = np.zeros((4, 3)), np.arange(16.0).reshape(4, 4)
    kept = table_of(first, partner, places, forces)
    assert np.array_equal(forces_of(first, partner, places, np.ones(2), kept), forces)


def test_impulses_of_many_sweeps_are_equal_and_opposite() -> None:
    """However few sweeps are affordable, the momentum of all bodies changes only by what the floor gives."""
    simulation = Simulation(of(FLOOR, *wall(3, 3), seconds=0.05))
    frames = simulation.frames()
    next(frames)
    next(frames)
    rigid = simulation._stepper.rigid
    found = rigid.touching
    assert found is not None
    masses, inertias = rigid._inverse()
    velocities = np.random.default_rng(1).normal(size=(len(masses), 6))
    before = velocities.copy()
    between = np.flatnonzero(found.contacts.second >= 0)
    contacts = found.contacts.rows(between)
    contacts.solve(SolverBodies(velocities, masses, inertias), np.zeros(len(between)))
    assert np.abs(velocities - before).max() > 0.1
    change = ((velocities - before)[:, :3] / masses).sum(axis=0)
    assert np.abs(change).max() < 1e-12 * np.abs(before[:, :3] / masses).sum()
