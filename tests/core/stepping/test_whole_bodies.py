"""Whole brittle bodies that are rigid until something could break them: when they are, what is conserved, and reproducibility."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.contact.coupling import LONGEST_STEP
from mpm_addon.core.geometry.rotation import euler_matrix
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.force import Force
from mpm_addon.core.stepping.body_strength import bears_weight
from mpm_addon.core.stepping.held_particles import nothing_held
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import LATTICE, box, material, scene
from tests.core.stepping.test_rigid_fragments import momenta_of_particles

# waves of 41 m/s have the stress of the strength at 0.67 m/s
BISCUIT: dict[str, Any] = {"density": 2000.0, "young_modulus": 3e6, "tensile_strength": 5.5e4, "fracture_energy": 76.0}
FLOOR = Collider("floor", SHAPES["plane"](), friction=0.5)


def falling(share: float = 0.8, speed: float = 2.0, height: float = 0.3, colliders: Any = (FLOOR,), **given: Any) -> Scene:
    """A tilted bar that falls onto a floor, which it reaches within the first frames."""
    law = material("brittle", **{**BISCUIT, "rigid_share": share, **given.pop("law", {})})
    shape = SHAPES["box"](center=(0.0, 0.0, height), size=(0.5, 0.2, 0.2), rotation=(0.0, 15.0, 0.0))
    bar = Emitter("bar", shape, "brittle", velocity=(0.3, 0.0, -speed), angular_velocity=(0.0, 30.0, 60.0), **LATTICE)
    bar = replace(bar, **given.pop("emitter", {}))
    return scene(bar, materials=(law,), colliders=colliders, **{"frames": 6, **given})


def substeps(described: Scene) -> list[int]:
    return [frame.statistics.substeps for frame in Simulation(described).frames()]


def shifted(x: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[0, 3] = x
    return matrix


def softened(described: Scene) -> tuple[Simulation, int]:
    """A simulation of one that becomes matter, and the first frame of its matter."""
    simulation = Simulation(described)
    for frame in simulation.frames():
        if simulation.store.particle_count:
            return simulation, frame.number
    raise AssertionError("it never became matter")


def test_a_body_at_rest_is_rigid_from_the_first_frame_on() -> None:
    """At 10 substeps of 1/240 s per frame. Negative controls: with a share of 0, and beside forces, limits, keyframes and matter."""
    stool = Collider("stool", box((0.0, 0.0, 0.1), (0.6, 0.6, 0.2)), friction=0.5)
    law = material("brittle", **BISCUIT)
    block = Emitter("block", box((0.0, 0.0, 0.301), 0.2), "brittle", **LATTICE)
    described = scene(block, materials=(law,), colliders=(stool,), frames=5)
    simulation = Simulation(described)
    frames = list(simulation.frames())
    assert [frame.statistics.substeps for frame in frames[2:]] == [10, 10, 10]
    assert simulation.store.particle_count == 0 and len(simulation.rigid_bodies) == 1
    # its surface is not quite flat
    assert np.abs(frames[-1].position - frames[0].position).max() < 0.15 * 0.05
    weaker = replace(law, animation=Animation(np.array([1.0, 9.0]), {"tensile_strength": np.array([5.5e4, 1e3])}))
    capped = Animation(np.array([1.0, 9.0]), {"max_speed": np.array([20.0, 10.0])})
    near, soft_law = Emitter("near", box((0.0, 0.0, 0.5), 0.1), "soft", **LATTICE), material("brittle", **BISCUIT, rigid_share=0.0)
    for other in (
        replace(described, materials={"brittle": material("brittle", **BISCUIT, rigid_share=0.0)}),
        replace(described, forces=(Force("wind", kind="wind"),)),
        replace(described, solver=replace(described.solver, animation=capped)),
        replace(described, materials={"brittle": weaker}),
        replace(described, emitters=(block, near), materials={"brittle": law, "soft": replace(soft_law, name="soft")}),
    ):
        soft = Simulation(replace(other, time=replace(other.time, frame_end=2)))
        last = list(soft.frames())[-1]
        assert soft.store.particle_count >= len(frames[0].id) and last.statistics.substeps > 40


def test_it_becomes_matter_before_an_impact_that_could_break_it() -> None:
    """One at 2 m/s, and not one at 0.2 m/s, below f / (sqrt(3) rho c): no particle is in the floor before."""
    _, number = softened(falling())
    assert number > 1
    *_, rigid = Simulation(falling(frames=number)).frames()
    lowest = float(rigid.position[:, 2].min())
    # half a particle's distance above it, and no farther than it falls in two substeps, beside the cells where nodes begin to act
    assert lowest > 0.0
    assert lowest < 2.5 * 2.0 * (2.0 * LONGEST_STEP) + 0.1
    gentle = falling(speed=0.2, height=0.18, gravity=(0.0, 0.0, 0.0))
    assert max(substeps(gentle)[2:]) == 10
    # a collider that moves toward it counts as well
    moving = Motion(np.array([1.0, 20.0]), matrices=np.stack([np.eye(4), shifted(6.0)]))
    wall = Collider("wall", box((-0.6, 0.0, 0.5), (0.1, 1.0, 1.0)), motion=moving)
    assert softened(falling(speed=0.0, height=0.5, gravity=(0.0, 0.0, 0.0), colliders=(wall,)))[1] > 1


def test_momentum_angular_momentum_and_energy_are_those_of_the_rigid_motion() -> None:
    """sum m v = M V, sum (x x m v + S) = X x M V + I w, and the energies, to the rounding of float32."""
    simulation = Simulation(falling(gravity=(0.0, 0.0, 0.0)))
    frames = simulation.frames()
    next(frames)
    (body,) = simulation.rigid_bodies
    wholes = simulation._stepper.wholes
    momentum, energy = body.mass * body.velocity, body.kinetic_energy
    angular = np.cross(body.center, momentum) + body.spin
    wholes._due[:] = True
    simulation._sort()
    assert not simulation.rigid_bodies
    found = momenta_of_particles(simulation)
    assert found[0] == pytest.approx(momentum, rel=1e-6, abs=1e-6)
    assert found[1] == pytest.approx(angular, rel=1e-5, abs=1e-6)
    assert found[2] == pytest.approx(energy, rel=1e-6)


def test_its_deformation_turns_with_it_and_its_bonds_remain() -> None:
    """A strain of one in a thousand along an axis of the bar, which has turned by half a circle, has the stress of its law."""
    simulation = Simulation(falling(height=5.0, frames=4))
    frames = simulation.frames()
    next(frames)
    fragments = simulation._stepper.fragments
    stretched = np.eye(3) + 1e-3 * np.outer([1.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    fragments.held.deformation[:] = stretched.ravel()
    next(frames), next(frames)
    turn = simulation.rigid_bodies[0].rotation
    wholes = simulation._stepper.wholes
    wholes._due[:] = True
    simulation._sort()
    table = simulation.store.table[:, simulation.store.live.nonzero()[0]]
    assert np.abs(table[25:34].T - (turn @ stretched).ravel()).max() < 1e-6
    # Kirchhoff stress xx, yy, zz, xy, xz, yz in world axes, of the Hencky strain ln(1.001) along the turned axis
    law = material("brittle", **BISCUIT).law
    mu, lam = law.lame(1.0)  # type: ignore[attr-defined]
    axis, strain = turn[:, 0], np.log(1.001)
    stress = 2.0 * mu * strain * np.outer(axis, axis) + lam * strain * np.eye(3)
    expected = stress[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    assert np.sort(table[15:21, 0]) == pytest.approx(np.sort(expected), rel=2e-3, abs=10.0)
    assert simulation._stepper.tearing.bonds.is_whole.all()


def pieces_at(speed: float, *, is_held: bool) -> np.ndarray:
    """The shares of the mass of the pieces over 5%, largest first."""
    with pytest.MonkeyPatch.context() as patch:
        if not is_held:
            patch.setattr("mpm_addon.core.stepping.whole_bodies.may_be_held", lambda scene: [False] * len(scene.materials))
        *_, last = Simulation(falling(speed=speed, frames=5)).frames()
    assert last.bonds is not None
    count = np.bincount(np.unique(last.bonds.fragments(len(last.id)), return_inverse=True)[1].ravel()) / len(last.id)
    return np.sort(count[count > 0.05])[::-1]


def test_it_breaks_as_if_it_had_been_matter_throughout() -> None:
    """Negative control: one that becomes matter only half a cell from the floor breaks into more pieces, since nodes stop it at once."""
    soft, held = (pieces_at(4.0, is_held=is_held) for is_held in (False, True))
    assert len(soft) > 2 and held == pytest.approx(soft, abs=0.03)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mpm_addon.core.stepping.whole_bodies.CONTACT_REACH", 0.0)
        late = pieces_at(4.0, is_held=True)
    assert len(late) != len(soft) or np.abs(late - soft).max() > 0.03


def test_a_beam_breaks_on_an_edge_as_if_it_had_been_matter_throughout() -> None:
    """At 0.8 f / (rho c): its middle stops, which bends it with sqrt(3) rho c v. Negative control: as if that were rho c v."""
    edge = Collider("edge", box((0.0, 0.0, -0.1), (0.05, 2.0, 0.2)), friction=0.5)
    shape = SHAPES["box"](center=(0.0, 0.0, 0.12), size=(0.8, 0.05, 0.1))
    beam = {"shape": shape, "velocity": (0.0, 0.0, -0.8 * 0.67), "angular_velocity": (0.0, 0.0, 0.0)}
    described = falling(colliders=(edge,), gravity=(0.0, 0.0, 0.0), frames=6, grid_spacing=0.025, emitter=beam)

    def parted() -> int:
        simulation = Simulation(described)
        list(simulation.frames())
        return int((~simulation._stepper.tearing.bonds.is_whole).sum())

    wholes, held = "mpm_addon.core.stepping.whole_bodies", parted()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{wholes}.may_be_held", lambda scene: [False])
        assert held == pytest.approx(parted(), rel=0.2) and held > 50
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{wholes}.BENDING", 1.0)
        assert parted() == 0


def test_what_it_lies_on_may_start_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A narrow stool that jerks upward from the fourth frame on breaks a beam. Negative control: without looking ahead at each frame."""
    rise = np.eye(4)
    rise[2, 3] = 2.0 * 10 / 24
    motion = Motion(np.array([1.0, 4.0, 14.0]), matrices=np.stack([np.eye(4), np.eye(4), rise]))
    stool = Collider("stool", box((0.0, 0.0, 0.1), (0.1, 0.6, 0.2)), friction=0.5, motion=motion)
    beam = {"shape": box((0.0, 0.0, 0.2501), (0.8, 0.05, 0.1)), "velocity": (0.0, 0.0, 0.0), "angular_velocity": (0.0, 0.0, 0.0)}
    described = falling(colliders=(stool,), gravity=(0.0, 0.0, -1.0), frames=5, grid_spacing=0.025, emitter=beam)

    def counts() -> tuple[int, int]:
        simulation = Simulation(described)
        rigid = [len(simulation.rigid_bodies) for _ in simulation.frames()]
        return rigid[3], int((~simulation._stepper.tearing.bonds.is_whole).sum())

    is_rigid, parted = counts()
    assert is_rigid == 1 and parted > 50
    monkeypatch.setattr("mpm_addon.core.stepping.whole_bodies.WholeBodies.look_ahead", lambda _: None)
    assert counts() == (1, 0)


def test_what_an_impact_has_damaged_breaks_at_a_slower_one() -> None:
    """Its strength is f (1 - d), so it becomes matter before an impact that it would survive undamaged."""
    for damage, is_rigid in ((0.0, True), (0.6, False)):
        simulation = Simulation(falling(speed=0.3, height=0.2, gravity=(0.0, 0.0, 0.0), emitter={"angular_velocity": (0.0, 0.0, 0.0)}))
        frames = simulation.frames()
        next(frames)
        held = simulation._stepper.fragments.held
        simulation._stepper.fragments.held = held._replace(damage=np.full(len(held.id), damage))
        counts = [(len(simulation.rigid_bodies), simulation.store.particle_count) for _ in frames]
        assert (counts == [(1, 0)] * len(counts)) is is_rigid


def test_a_body_may_become_matter_at_the_frame_at_which_another_leaves() -> None:
    """Whichever of them has the lower number: the bodies are numbered anew before the other becomes matter."""
    described = falling(height=5.0, frames=3)
    bar = described.emitters[0]
    away = replace(bar, name="away", shape=SHAPES["box"](center=(3.0, 0.0, 5.0), size=(0.2, 0.2, 0.2)))
    for emitters, due in (((bar, away), [True, False]), ((away, bar), [False, True])):
        simulation = Simulation(replace(described, emitters=emitters))
        frames = simulation.frames()
        next(frames)
        wholes, count = simulation._stepper.wholes, len(simulation._stepper.fragments.held.id)
        simulation._limits[1, 0] = 2.0 / 0.05
        wholes._due[:] = due
        simulation._sort(is_frame=True)
        assert not simulation.rigid_bodies
        assert simulation.store.particle_count + simulation._deleted == count and simulation._deleted < simulation.store.particle_count
        assert float(simulation.store.positions(0.05)[simulation.store.live, 0].max()) < 1.0


def test_a_take_with_forces_lets_whole_bodies_become_matter() -> None:
    described = falling(height=5.0, frames=3)
    simulation = Simulation(described)
    next(simulation.frames())
    assert len(simulation.rigid_bodies) == 1
    windy = replace(described, forces=(Force("wind", kind="wind"),))
    resumed = Simulation(windy, snapshot=simulation.snapshot(), before=described)
    next(resumed.frames())
    assert not resumed.rigid_bodies and resumed.store.particle_count == len(simulation._stepper.fragments.held.id)


def test_the_height_of_a_tilted_plate_is_that_of_its_layers() -> None:
    """3/2 rho g L^2 / h with L = 2 r and h = n s, also for a single layer, whose particles have no extent across it."""
    spacing, turn = 0.01, euler_matrix((20.0, 33.0, 50.0))
    for layers in (1, 2, 5):
        axes = [np.arange(count) - 0.5 * (count - 1) for count in (60, 40, layers)]
        place = spacing * np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3) @ turn.T
        mass, volume = np.full(len(place), 2000.0 * spacing**3), np.full(len(place), spacing**3)
        rows = nothing_held()._replace(place=place, mass=mass, volume=volume)
        load = 1.5 * 2000.0 * 9.81 * (2.0 * np.linalg.norm(place, axis=1).max()) ** 2 / (layers * spacing)
        assert not bears_weight(rows, 0.999 * load, 9.81)
        assert bears_weight(rows, 1.001 * load, 9.81)


def test_a_simulation_resumes_before_and_after() -> None:
    described = falling()
    frames, snapshots = [], []
    simulation = Simulation(described)
    for frame in simulation.frames():
        frames.append(frame)
        snapshots.append({name: array.copy() for name, array in simulation.snapshot().items()})
    counts = [len(each["ids"]) for each in snapshots]
    assert counts[0] == 0 < max(counts)
    for start in range(len(frames) - 1):
        last = list(Simulation(described, snapshot=snapshots[start]).frames())[-1]
        for name, values in frames[-1].arrays.items():
            assert np.array_equal(values, last.arrays[name]), (start, name)


def test_what_its_own_weight_or_turning_could_break_stays_matter() -> None:
    """rho w^2 r^2 = 82 kPa at 900 degrees/s, and 3/2 rho g L^2 / h of a thin plate on an edge.

    Negative controls: half the speed, no edge, and no gravity.
    """
    still: dict[str, Any] = {"colliders": (), "gravity": (0.0, 0.0, 0.0), "frames": 1}
    plate = {"shape": box((0.0, 0.0, 1.0), (1.0, 0.6, 0.15)), "velocity": (0.0, 0.0, 0.0), "angular_velocity": (0.0, 0.0, 0.0)}
    below = Collider("below", box((0.0, 0.0, 0.4), (0.2, 2.0, 1.04)))
    for described, is_rigid in (
        (falling(**still, emitter={"shape": box((0.0, 0.0, 0.0), (0.8, 0.2, 0.2)), "angular_velocity": (0.0, 900.0, 0.0)}), False),
        (falling(**still, emitter={"shape": box((0.0, 0.0, 0.0), (0.8, 0.2, 0.2)), "angular_velocity": (0.0, 450.0, 0.0)}), True),
        (falling(colliders=(below,), frames=2, emitter=plate), False),
        # nothing bends what falls freely
        (falling(colliders=(), frames=2, emitter=plate), True),
        (falling(**{**still, "colliders": (below,)}, emitter=plate), True),
    ):
        simulation = Simulation(described)
        list(simulation.frames())
        assert (len(simulation.rigid_bodies) == 1) is is_rigid


def test_of_two_bodies_each_becomes_matter_where_the_other_strikes_it() -> None:
    """In weightlessness, one that flies at the other, which rests."""
    described = falling(colliders=(), gravity=(0.0, 0.0, 0.0), speed=0.0, height=0.0, frames=7)
    other = replace(described.emitters[0], name="other", shape=box((-0.8, 0.0, 0.0), (0.2, 0.2, 0.2)), velocity=(5.0, 0.0, 0.0))
    simulation = Simulation(replace(described, emitters=(described.emitters[0], other)))
    counts = [(len(simulation.rigid_bodies), simulation.store.particle_count) for _ in simulation.frames()]
    assert counts[0] == (2, 0) and (0, len(simulation.provenance)) in counts
