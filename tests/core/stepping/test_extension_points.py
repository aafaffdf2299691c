"""Other ways of stepping that the architecture names, each run in a step: many states, two velocity fields, a pass over neighbors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.spatial import cKDTree

from mpm_addon.core import evaluate_law, return_map
from mpm_addon.core.arithmetic.operations import generic
from mpm_addon.core.compilation.team import parallel_kernel
from mpm_addon.core.compilation.tickets import shared
from mpm_addon.core.contact.body_contact import BodyContact
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import PrincipalLaw
from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
from mpm_addon.core.stepping import simulation as simulation_module
from mpm_addon.core.stepping.simulation import Progress, Simulation
from mpm_addon.core.transfer.blocks import BLOCK
from mpm_addon.core.transfer.rows import MASS, POSITION
from tests.core.scenes import LATTICE, box, material, scene
from tests.core.stepping.nearby import LARGEST_RADIUS, near, particles_near, particles_of
from tests.diagnostics import deformations

WEIGHTLESS: dict[str, Any] = {"gravity": (0.0, 0.0, 0.0)}
DT = 5e-4


class ElephantConstants(NamedTuple):
    stiffness: float
    density: float
    rate: float


@generic
def remembered(memory: Any, strain: Any, step: Any) -> Any:
    """A memory of the strain that fades by a step, as a share of its time."""
    return (memory + step * strain) / (1.0 + step)


@generic
def remember(constants: ElephantConstants, s: Any, state: Any, dt: Any) -> Any:
    s0, s1, s2 = s
    strain = s0 * s0 + s1 * s1 + s2 * s2 - 3.0
    m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 = state
    step = constants.rate * dt
    first = (remembered(m0, strain, step), remembered(m1, strain, 0.5 * step), remembered(m2, strain, 0.25 * step))
    second = (remembered(m3, s0, step), remembered(m4, s0, 0.5 * step), remembered(m5, s0, 0.25 * step))
    third = (remembered(m6, s1, step), remembered(m7, s1, 0.5 * step), remembered(m8, s2, step), remembered(m9, s2, 0.5 * step))
    return s, first + second + third


@generic
def remembering_stress(constants: ElephantConstants, s: Any, state: Any) -> Any:
    """The more is remembered, the stiffer it is."""
    m0, _, _, _, _, _, _, _, _, m9 = state
    k = constants.stiffness * (1.0 + m0 + m9)
    s0, s1, s2 = s
    return k * (s0 - 1.0) * s0, k * (s1 - 1.0) * s1, k * (s2 - 1.0) * s2


@generic
def remembering_energy(constants: ElephantConstants, s: Any, state: Any) -> Any:
    m0, _, _, _, _, _, _, _, _, m9 = state
    s0, s1, s2 = s
    squares = (s0 - 1.0) * (s0 - 1.0) + (s1 - 1.0) * (s1 - 1.0) + (s2 - 1.0) * (s2 - 1.0)
    return 0.5 * constants.stiffness * (1.0 + m0 + m9) * squares


@generic
def remembering_speed(constants: ElephantConstants, volume_ratio: Any, state: Any) -> Any:
    return 0.0 * volume_ratio + 4.0 * constants.stiffness / constants.density


@dataclass(frozen=True)
class Elephant(PrincipalLaw):
    """A law with ten states, none of which begins like another."""

    name = "elephant"
    label = "Elephant"
    state_names = tuple(f"memory_{number}" for number in range(10))
    virgin_state = tuple(0.1 * number for number in range(10))
    constants_type = ElephantConstants
    project = staticmethod(remember)
    principal_stress = staticmethod(remembering_stress)
    principal_energy = staticmethod(remembering_energy)
    wave_speed_squared = staticmethod(remembering_speed)

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> ElephantConstants:
        return ElephantConstants(1e4 * stiffness_scale, self.density, 200.0)


def elephant_scene() -> Scene:
    """A spinning block of it flies past one of another material; each frame is one step of DT."""
    emitters = (
        Emitter("other", box((0.0, 0.0, 0.6), 0.2), "corotated", **LATTICE),
        Emitter("own", box((0.0, 0.0, 0.0), 0.2), "own", velocity=(15.0, 0.0, 0.0), angular_velocity=(0.0, 7000.0, 0.0), **LATTICE),
    )
    materials = (material("corotated", young_modulus=1e4), Material("own", Elephant()))
    return scene(*emitters, materials=materials, frames=26, fps=1.0 / DT, **WEIGHTLESS)


class Moment(NamedTuple):
    """What is known of the particles with ten states at a frame, in order of id."""

    deformation: np.ndarray
    states: dict[str, np.ndarray]
    keys: np.ndarray


def moment_of(simulation: Simulation, frame: Frame) -> Moment:
    store, snapshot = simulation.store, simulation.snapshot()
    slots = np.flatnonzero(store.live)
    its = np.flatnonzero(snapshot["instances"] == 1)
    its = its[np.argsort(snapshot["ids"][its])]
    assert snapshot["ids"][its].tolist() == frame.id[frame.attribute("material_index") == 1].tolist()
    states = dict(zip(Elephant.state_names, store.states(10, slots[its]).astype(np.float64), strict=True))
    return Moment(deformations(simulation)[its], states, snapshot["keys"][its])


@pytest.mark.slow
def test_ten_states_of_a_particle_go_through_steps_sorts_and_resuming() -> None:
    simulation, before, snapshots = Simulation(elephant_scene()), None, {}
    for frame in simulation.frames():
        now = moment_of(simulation, frame)
        if before is None:
            assert {name: set(values) for name, values in now.states.items()} == {
                name: {float(np.float32(value))} for name, value in zip(Elephant.state_names, Elephant.virgin_state, strict=True)
            }
        else:
            assert frame.statistics.substeps == 1
            _, expected = return_map(Elephant(), now.deformation, before.states, time_step=DT)
            for name in Elephant.state_names:
                assert now.states[name] == pytest.approx(expected[name], abs=5e-6)
        before = now
        _, tau = evaluate_law(Elephant(), now.deformation, state=now.states)
        deviator = tau - np.trace(tau, axis1=1, axis2=2)[:, None, None] / 3.0 * np.eye(3)
        mises = np.sqrt(1.5 * (deviator**2).sum(axis=(1, 2))) / np.linalg.det(now.deformation)
        assert frame.attribute("stress")[frame.attribute("material_index") == 1] == pytest.approx(mises, rel=1e-3, abs=1.0)
        snapshots[frame.number] = simulation.snapshot()
    assert before is not None
    # all of them have changed by far more than the rounding, and most particles have come to other blocks
    for name, virgin in zip(Elephant.state_names, Elephant.virgin_state, strict=True):
        assert np.abs(before.states[name] - virgin).max() > 1e-2
    early = snapshots[1]
    its = np.flatnonzero(early["instances"] == 1)
    assert (early["keys"][its[np.argsort(early["ids"][its])]] != before.keys).mean() > 0.5
    resumed = Simulation(elephant_scene(), snapshot=snapshots[8])
    assert [frame.number for frame in resumed.frames()] == list(range(9, 27))
    for name, values in resumed.snapshot().items():
        assert values.tobytes() == snapshots[26][name].tobytes(), name


def two_blocks(gap: float, transfer: str) -> Scene:
    """Two blocks of matter without stress fly toward each other."""
    emitters = (
        Emitter("left", box((-0.2 - 0.5 * gap, 0.0, 0.0), 0.4), "left", velocity=(1.0, 0.0, 0.25), **LATTICE),
        Emitter("right", box((0.2 + 0.5 * gap, 0.0, 0.0), 0.4), "right", velocity=(-1.0, 0.5, 0.0), **LATTICE),
    )
    materials = tuple(Material(name, material("stress_free").law) for name in ("left", "right"))
    return scene(*emitters, materials=materials, frames=3, fps=10.0, transfer=transfer, **WEIGHTLESS)


def a_field_for_each_instance(instances: Any) -> tuple[range, ...]:
    return tuple(range(number, number + 1) for number in range(len(instances)))


def simulated(transfer: str, look: Callable[[Simulation], None]) -> tuple[Frame, Frame]:
    """The first and the last frame of `two_blocks` that touch each other; calls `look` after each step."""

    def report(progress: Progress) -> None:
        if progress.stage == "simulating":
            look(simulations[0])

    simulations = []
    simulations.append(Simulation(two_blocks(0.0, transfer), report=report))
    first, *_, last = simulations[0].frames()
    return first, last


def nodes_of_both(simulation: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """What the two fields have at the nodes where both have mass, (n, 4) each."""
    layout, store = simulation.store.layout, simulation.store
    count = len(layout.node_keys)
    origin = {tuple(place): number for number, place in enumerate(layout.node_coordinates[:count].tolist())}
    ones = store.nodes[[origin[tuple(place)] for place in layout.node_coordinates[count:].tolist()]].reshape(-1, 4)
    others = store.nodes[count : layout.node_count].reshape(-1, 4)
    is_both = (ones[:, 3] > 0.0) & (others[:, 3] > 0.0)
    return ones[is_both], others[is_both]


@pytest.mark.parametrize("transfer", ["apic", "flip"])
def test_two_velocity_fields_pass_through_each_other(transfer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the nodes that both reach there are two velocities; with one field they would stop each other."""
    first, last = simulated(transfer, lambda simulation: None)
    assert (np.abs(last.velocity - first.velocity).max(axis=1) > 0.3).mean() > 0.1
    monkeypatch.setattr(simulation_module, "fields_of", a_field_for_each_instance)
    monkeypatch.setattr(BodyContact, "meet", lambda *arguments: None)
    counts = []

    def look(simulation: Simulation) -> None:
        ones, others = nodes_of_both(simulation)
        counts.append(len(ones))
        assert ones[:, :3] == pytest.approx(np.tile([1.0, 0.0, 0.25], (len(ones), 1)), abs=1e-5)
        assert others[:, :3] == pytest.approx(np.tile([-1.0, 0.5, 0.0], (len(others), 1)), abs=1e-5)

    first, last = simulated(transfer, look)
    assert min(counts) > 0
    assert counts[-1] > 2 * counts[0]
    assert np.abs(last.velocity - first.velocity).max() < 1e-5
    assert last.position == pytest.approx(first.position + (last.time - first.time) * first.velocity, abs=1e-5)


def test_a_second_field_takes_memory_where_it_meets_the_first_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation_module, "fields_of", a_field_for_each_instance)
    monkeypatch.setattr(BodyContact, "meet", lambda *arguments: None)
    for gap in (0.0, 2.0):
        simulation = Simulation(two_blocks(gap, "apic"))
        next(simulation.frames())
        layout = simulation.store.layout
        twins = layout.node_coordinates[len(layout.node_keys) :]
        # blocks of 0.2 m: those within two of the plane where the matter touches
        assert set(twins[:, 0]) <= {-2, -1, 0, 1}
        assert {-1, 0} <= set(twins[:, 0]) or (gap > 0.0 and not len(twins))
        assert len(np.unique(twins, axis=0)) == len(twins)
        assert len(twins) == np.isin(layout.node_coordinates[: len(layout.node_keys), 0], twins[:, 0]).sum()


@parallel_kernel
def sum_kernels(tickets: Any, near: Any, mass: Any, density: Any, count: Any) -> None:
    """The mass around each particle by the weights (1 - (d / r)^2)^3, and how many particles are within the radius."""
    for block in shared(tickets[0], near.around.shape[0], 1):
        for slot in particles_of(near, block):
            total, found = 0.0, 0
            for other, squared in particles_near(near, block, slot):
                rest = 1.0 - squared / (near.radius * near.radius)
                total += mass[other] * rest * rest * rest
                found += 1
            density[slot], count[slot] = total, found


# the lattice has many pairs at distances of one and two cells, which would round either way
@pytest.mark.parametrize(("dimension", "radius"), [(3, 0.95), (3, 0.99 * LARGEST_RADIUS), (2, 1.45)])
def test_a_pass_over_neighbors_finds_what_a_search_of_all_particles_does(dimension: int, radius: float) -> None:
    """After each step, wherever particles have drifted since they were sorted: two blocks collide above a floor."""
    emitters = (
        Emitter("jelly", box((-0.12, 0.0, 0.25), 0.2), "corotated", velocity=(2.0, 0.0, -3.0), **LATTICE),
        Emitter("water", box((0.12, 0.0, 0.3), 0.2), "water", velocity=(-2.0, 0.0, -3.0), **LATTICE),
    )
    floor = Collider("floor", SHAPES["plane"]())
    described = scene(*emitters, materials=(material("corotated"), material("water")), colliders=(floor,), frames=3, dimension=dimension)
    drifts, simulations = [], []

    def compare(progress: Progress) -> None:
        if progress.stage != "simulating" or progress.substeps % 7:
            return
        store, spacing = simulations[0].store, described.solver.grid_spacing
        slots = np.flatnonzero(store.live)
        density, count = np.zeros(store.table.shape[1]), np.zeros(store.table.shape[1], np.int64)
        sum_kernels(near(store, radius), store.table[MASS].astype(np.float64), density, count)
        cells = store.positions(spacing)[slots] / spacing
        pairs = cKDTree(cells).sparse_distance_matrix(cKDTree(cells), radius, output_type="ndarray")
        weights = store.table[MASS, slots].astype(np.float64)[pairs["j"]] * (1.0 - (pairs["v"] / radius) ** 2) ** 3
        expected = np.bincount(pairs["i"], weights, minlength=len(slots))
        assert density[slots] == pytest.approx(expected, rel=1e-5)
        # those at the very edge of the radius may round either way
        assert abs(int(count[slots].sum()) - len(pairs)) < 1e-4 * len(pairs)
        place = store.table[POSITION, slots]
        drifts.append(max(0.5 - place.min(), place.max() - BLOCK - 0.5))

    simulations.append(Simulation(described, report=compare))
    for _ in simulations[0].frames():
        pass
    assert len(drifts) > 5
    assert max(drifts) > 0.25
