"""Transfers and the blocked grid against closed forms and plain numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpm_addon.core.kernels import blocks
from mpm_addon.core.kernels.rows import DEFORMATION, MASS, POSITION, VELOCITY, VELOCITY_GRADIENT
from mpm_addon.core.kernels.transfer import grid_to_particles, particles_to_grid, quadratic_weights, update_grid
from mpm_addon.core.particle_store import ParticleStore, new_particles, numbered_blocks, packed, unpacked

SPACING = 0.1
GRADIENT = np.array([[0.3, -2.0, 0.5], [1.5, -0.4, 0.2], [-0.7, 0.9, 0.1]])
SHIFT = np.array([0.2, -1.0, 3.0])


def stored(positions: np.ndarray, dtype: str = "float64", gradient: np.ndarray = GRADIENT) -> ParticleStore:
    """Particles of unit mass in the velocity field SHIFT + gradient x."""
    store = ParticleStore(1, dtype)
    count = len(positions)
    velocities = SHIFT + positions @ gradient.T
    particles = new_particles(
        positions, velocities, gradient.ravel(), np.ones(count), np.zeros(count),
        spacing=SPACING, dtype=dtype, first_id=0, body=0, subject="test",
    )  # fmt: skip
    store.sort(particles)
    return store


def transfer(store: ParticleStore, dt: float = 0.0) -> np.ndarray:
    """One transfer to the grid and back; returns the extremes."""
    layout, extremes = store.layout, np.zeros((len(store.layout.pieces) - 1, 3))
    common = (store.table, layout.first, 1, layout.pieces)
    particles_to_grid(*common, dt, SPACING, store.scratch, store.index, store.arenas)
    update_grid(store.arenas, layout.node_arenas, store.nodes, dt, 0.0, 0.0, 0.0)
    grid_to_particles(*common, layout.neighbours, store.nodes, dt, SPACING, store.scratch, store.index, extremes)
    return extremes


def world(store: ParticleStore) -> np.ndarray:
    block = np.repeat(np.arange(len(store.layout.keys)), np.diff(store.layout.first))
    return (store.table[POSITION : POSITION + 3, : store.layout.slot_count].T + 4 * store.layout.coordinates[block]) * SPACING


@given(st.floats(-0.5, 0.5))
def test_weights_are_a_partition_of_unity_with_vanishing_first_moment(offset: float) -> None:
    weights = np.array(quadratic_weights(offset))
    nodes = np.array([-1.0, 0.0, 1.0]) - offset
    assert weights.sum() == pytest.approx(1.0, abs=1e-15)
    assert weights @ nodes == pytest.approx(0.0, abs=1e-15)
    assert weights @ nodes**2 == pytest.approx(0.25, abs=1e-15)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float32", 1e-5)])
def test_an_affine_velocity_field_is_kept(dtype: str, tolerance: float) -> None:
    """APIC transfers a velocity field that is linear in space without loss (Jiang et al. 2015, section 5)."""
    positions = np.random.default_rng(0).uniform(-1.0, 1.0, (3000, 3))
    store = stored(positions, dtype)
    transfer(store)
    live = np.flatnonzero(store.live)
    velocities = store.table[VELOCITY : VELOCITY + 3, live].T
    gradients = store.table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9, live].T
    assert np.abs(velocities - (SHIFT + world(store)[live] @ GRADIENT.T)).max() < tolerance * 10
    assert np.abs(gradients - GRADIENT.ravel()).max() < tolerance * 100


def test_without_the_affine_part_the_field_is_lost() -> None:
    positions = np.random.default_rng(0).uniform(-1.0, 1.0, (3000, 3))
    store = stored(positions)
    store.table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9] = 0.0
    transfer(store)
    assert np.abs(store.table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9, store.ids >= 0].T - GRADIENT.ravel()).max() > 0.1


def test_mass_and_momentum_reach_the_grid_exactly() -> None:
    positions = np.random.default_rng(1).normal(0.0, 0.6, (500, 3))
    store = stored(positions)
    layout = store.layout
    particles_to_grid(store.table, layout.first, 1, layout.pieces, 0.0, SPACING, store.scratch, store.index, store.arenas)
    update_grid(store.arenas, layout.node_arenas, store.nodes, 0.0, 0.0, 0.0, 0.0)
    nodes = store.nodes[: len(layout.node_keys)].reshape(-1, 4)
    assert nodes[:, 3].sum() == pytest.approx(500.0, rel=1e-13)
    momentum = (SHIFT + positions @ GRADIENT.T).sum(axis=0)
    assert (nodes[:, :3] * nodes[:, 3:]).sum(axis=0) == pytest.approx(momentum, rel=1e-11, abs=1e-10)


def test_the_grid_agrees_with_plain_numpy() -> None:
    positions = np.random.default_rng(2).normal(0.0, 0.4, (200, 3))
    store = stored(positions)
    layout = store.layout
    particles_to_grid(store.table, layout.first, 1, layout.pieces, 0.0, SPACING, store.scratch, store.index, store.arenas)
    update_grid(store.arenas, layout.node_arenas, store.nodes, 0.0, 0.0, 0.0, 0.0)
    base = np.floor(positions / SPACING - 0.5).astype(int)
    weights = np.stack(quadratic_weights(positions / SPACING - base - 1.0), axis=1)
    expected: dict[tuple[int, ...], float] = {}
    for p, (i, j, k) in ((p, corner) for p in range(200) for corner in np.ndindex(3, 3, 3)):
        node = tuple(int(n) for n in base[p] + (i, j, k))
        expected[node] = expected.get(node, 0.0) + weights[p, i, 0] * weights[p, j, 1] * weights[p, k, 2]
    found = {}
    for block, coordinates in enumerate(layout.node_coordinates):
        for place, (i, j, k) in enumerate(np.ndindex(4, 4, 4)):
            mass = store.nodes[block, 4 * place + 3]
            if mass > 0.0:
                found[tuple(int(n) for n in 4 * coordinates + (i, j, k))] = mass
    assert found.keys() == {node for node, mass in expected.items() if mass > 0.0}
    assert max(abs(found[node] - expected[node]) for node in found) < 1e-14


def test_drift_of_a_cell_is_allowed_before_the_next_sort() -> None:
    """Particles that have moved by up to a cell since the sort transfer the same as freshly sorted ones."""
    positions = np.random.default_rng(3).uniform(-1.0, 1.0, (2000, 3))
    drifted = stored(positions)
    move = np.array([0.99, -0.99, 0.97])
    drifted.table[POSITION : POSITION + 3] += move[:, None]
    drifted.table[VELOCITY : VELOCITY + 3] += (GRADIENT @ move)[:, None] * SPACING
    transfer(drifted)
    fresh = stored(world(drifted)[drifted.live][np.argsort(drifted.ids[: drifted.layout.slot_count][drifted.live])])
    transfer(fresh)
    order, fresh_order = (np.argsort(np.where(store.ids >= 0, store.ids, 2**30)) for store in (drifted, fresh))
    assert np.abs(drifted.table[VELOCITY, order[:2000]] - fresh.table[VELOCITY, fresh_order[:2000]]).max() < 1e-11


@pytest.mark.parametrize("count", [1, 7, 8, 9])
def test_runs_are_filled_with_weightless_copies(count: int) -> None:
    store = stored(np.random.default_rng(4).uniform(0.16, 0.3, (count, 3)))
    slots = store.layout.slot_count
    assert slots % 8 == 0
    assert store.live.sum() == count
    assert store.table[MASS, :slots].sum() == count
    assert (store.table[DEFORMATION, :slots] == 1.0).all()
    extremes = transfer(store, dt=0.01)
    assert np.isfinite(extremes).all()


def test_sorting_keeps_every_particle_and_its_numbers() -> None:
    rng = np.random.default_rng(5)
    store = stored(rng.uniform(-2.0, 2.0, (5000, 3)))
    before = {int(i): store.table[:, slot].copy() for slot, i in enumerate(store.ids[: store.layout.slot_count]) if i >= 0}
    where = world(store)[store.live][np.argsort(store.ids[: store.layout.slot_count][store.live])]
    store.table[POSITION : POSITION + 3] += rng.uniform(-9.0, 9.0, (3, store.table.shape[1]))
    moved = world(store)[store.live][np.argsort(store.ids[: store.layout.slot_count][store.live])]
    assert store.sort() == 0
    after = world(store)[store.live][np.argsort(store.ids[: store.layout.slot_count][store.live])]
    assert np.abs(after - moved).max() < 1e-14
    assert np.abs(after - where).max() > 0.5
    for slot in np.flatnonzero(store.live):
        assert np.array_equal(store.table[3:, slot], before[int(store.ids[slot])][3:])


def test_restore_goes_back_to_the_last_sort() -> None:
    store = stored(np.random.default_rng(6).uniform(-1.0, 1.0, (1000, 3)))
    store.sort()
    saved = store.table[:, : store.layout.slot_count].copy()
    store.table[:] = np.nan
    store.restore()
    assert np.array_equal(store.table[:, : store.layout.slot_count], saved)


@given(st.lists(st.tuples(*[st.integers(-(2**20) + 2, 2**20 - 3)] * 3), min_size=1, max_size=50))
def test_keys_name_blocks_in_order(coordinates: list[tuple[int, int, int]]) -> None:
    array = np.array(coordinates, np.int64)
    keys = packed(array)
    assert np.array_equal(unpacked(keys), array)
    unique, numbers = numbered_blocks(keys)
    assert np.array_equal(unique, np.unique(keys))
    assert np.array_equal(unique[numbers], keys)
    around = np.empty((len(keys), 27), np.int64)
    blocks.neighbour_keys(keys, around)
    assert np.array_equal(around[:, 13], keys)
    assert np.array_equal(unpacked(around[:, 26]), array + 1)
