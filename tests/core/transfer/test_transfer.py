"""Transfers and the blocked grid against closed forms and plain numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpm_addon.core.arithmetic.vector import LANE_COUNT
from mpm_addon.core.errors import UnstableError
from mpm_addon.core.laws import StressFree
from mpm_addon.core.scene.settings import Solver
from mpm_addon.core.transfer.advance import EXTREME_COUNT, Pass, advance_particles
from mpm_addon.core.transfer.blocks import BLOCK
from mpm_addon.core.transfer.grid import update_grid
from mpm_addon.core.transfer.layout import packed, unpacked
from mpm_addon.core.transfer.particle_store import MaterialPoints, ParticleStore, new_particles
from mpm_addon.core.transfer.rows import DEFORMATION, MASS, POSITION, VELOCITY, VELOCITY_GRADIENT
from mpm_addon.core.transfer.scatter import particles_to_grid
from mpm_addon.core.transfer.scheme import Scheme, cubic_weights, farthest_drift, quadratic_weights, scheme_of
from mpm_addon.core.transfer.sparse import MOST

SPACING = 0.1
GRADIENT = np.array([[0.3, -2.0, 0.5], [1.5, -0.4, 0.2], [-0.7, 0.9, 0.1]])
SHIFT = np.array([0.2, -1.0, 3.0])
SCHEMES = [
    scheme_of(Solver(grid_spacing=1.0, kernel=kernel, dimension=dimension)) for kernel in ("quadratic", "cubic") for dimension in (3, 2)
]


def dimension_of(scheme: Scheme) -> int:
    return int(type(scheme).__name__[-1])


def is_cubic(scheme: Scheme) -> bool:
    return "Cubic" in type(scheme).__name__


def points(count: int, scheme: Scheme, seed: int = 0) -> np.ndarray:
    positions = np.random.default_rng(seed).uniform(-1.0, 1.0, (count, 3))
    positions[:, 1] *= dimension_of(scheme) == 3
    return positions


def gradient_in(scheme: Scheme) -> np.ndarray:
    in_use = np.array([1.0, dimension_of(scheme) == 3, 1.0])
    return GRADIENT * in_use * in_use[:, None]


def shift_in(scheme: Scheme) -> np.ndarray:
    return SHIFT * [1.0, dimension_of(scheme) == 3, 1.0]


def stored(positions: np.ndarray, dtype: str = "float64", scheme: Scheme = SCHEMES[0]) -> ParticleStore:
    """Particles of unit mass in the velocity field shift + gradient x."""
    store = ParticleStore(1, dtype, dimension_of(scheme), is_flip=scheme.flip_ratio > 0.0)
    count = len(positions)
    velocities = shift_in(scheme) + positions @ gradient_in(scheme).T
    points = MaterialPoints(positions, velocities, np.tile(gradient_in(scheme).ravel(), (count, 1)), np.ones(count), np.zeros(count))
    store.sort(new_particles(points, spacing=SPACING, dtype=dtype, first_id=0, instances=np.zeros(count, np.int64), subject="test"))
    return store


def to_grid(store: ParticleStore, scheme: Scheme, dt: float = 0.0) -> np.ndarray:
    """One transfer to the grid; returns velocities and masses of the nodes, (node blocks, block nodes, 4)."""
    layout = store.layout
    everywhere = np.ones(len(layout.keys), np.bool_)
    particles_to_grid(scheme, store.particles, store.grid(SPACING), everywhere, True, dt, store.scratch, store.arenas)
    update_grid(store.arenas, layout.node_arenas, store.nodes, store.node_rows, np.zeros(16, store.dtype), store.node_speeds)
    return store.nodes[: len(layout.node_keys)].reshape(len(layout.node_keys), -1, 4)


def transfer(store: ParticleStore, scheme: Scheme = SCHEMES[0], dt: float = 0.0) -> np.ndarray:
    """One transfer to the grid and back; returns the extremes."""
    extremes = np.zeros((len(store.layout.runs.pieces) - 1, EXTREME_COUNT))
    to_grid(store, scheme, dt)
    store.nodes_before = store.nodes.copy()
    task = Pass(
        instance=0, dt=dt, next_dt=0.0, reach=0.0, is_fused=False, is_kept=np.zeros(len(store.layout.keys), np.bool_), full_mass=0.0
    )
    constants, grid = StressFree().constants(), store.grid(SPACING)
    advance_particles(constants, scheme, store.particles, grid, task, store.scratch, store.arenas, extremes)
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


@given(st.floats(0.0, 1.0))
def test_cubic_weights_are_a_partition_of_unity_with_vanishing_first_moment(offset: float) -> None:
    weights = np.array(cubic_weights(offset))
    nodes = np.array([-1.0, 0.0, 1.0, 2.0]) - offset
    assert weights.sum() == pytest.approx(1.0, abs=1e-15)
    assert weights @ nodes == pytest.approx(0.0, abs=1e-15)
    assert weights @ nodes**2 == pytest.approx(1.0 / 3.0, abs=1e-15)


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float32", 1e-5)])
@pytest.mark.parametrize("count", [3000, 400])
def test_an_affine_velocity_field_is_kept(count: int, dtype: str, tolerance: float, scheme: Scheme) -> None:
    """APIC transfers a velocity field that is linear in space without loss (Jiang et al. 2015, section 5); also of sparse particles."""
    store = stored(points(count, scheme), dtype, scheme)
    transfer(store, scheme)
    live = np.flatnonzero(store.live)
    velocities = store.table[VELOCITY : VELOCITY + 3, live].T
    gradients = store.table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9, live].T
    assert np.abs(velocities - (shift_in(scheme) + world(store)[live] @ gradient_in(scheme).T)).max() < tolerance * 10
    assert np.abs(gradients - gradient_in(scheme).ravel()).max() < tolerance * 100


@pytest.mark.parametrize("name", ["pic", "flip"])
def test_pic_and_flip_do_not_carry_the_affine_part(name: str) -> None:
    scheme = scheme_of(Solver(grid_spacing=1.0, transfer=name, flip_ratio=1.0))
    store = stored(points(3000, scheme), scheme=scheme)
    transfer(store, scheme)
    assert np.abs(store.table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9, store.ids >= 0].T - GRADIENT.ravel()).max() > 0.1


def test_flip_leaves_velocities_alone_where_the_grid_changes_nothing() -> None:
    """v + sum w (v_i - v_i before) with v_i = v_i before (Zhu and Bridson 2005); the rest of the blend is PIC."""
    before = stored(points(3000, SCHEMES[0])).table[VELOCITY].copy()
    found = {}
    for ratio in (1.0, 0.5, 0.0):
        scheme = scheme_of(Solver(grid_spacing=1.0, transfer="flip", flip_ratio=ratio))
        store = stored(points(3000, scheme), scheme=scheme)
        transfer(store, scheme)
        found[ratio] = store.table[VELOCITY]
    assert np.abs(found[1.0] - before).max() < 1e-14
    assert np.abs(found[0.0] - before).max() > 0.05
    assert np.abs(found[0.5] - 0.5 * (found[0.0] + before)).max() < 1e-14


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)
def test_mass_and_momentum_reach_the_grid_exactly(scheme: Scheme) -> None:
    positions = points(500, scheme, seed=1)
    store = stored(positions, scheme=scheme)
    nodes = to_grid(store, scheme).reshape(-1, 4)
    assert nodes[:, 3].sum() == pytest.approx(500.0, rel=1e-13)
    momentum = (shift_in(scheme) + positions @ gradient_in(scheme).T).sum(axis=0)
    assert (nodes[:, :3] * nodes[:, 3:]).sum(axis=0) == pytest.approx(momentum, rel=1e-11, abs=1e-10)


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)
def test_the_grid_agrees_with_plain_numpy(scheme: Scheme) -> None:
    positions = points(200, scheme, seed=2)
    store = stored(positions, scheme=scheme)
    nodes = to_grid(store, scheme)
    cells = positions / SPACING
    base = np.floor(cells).astype(int) - 1 if is_cubic(scheme) else np.floor(cells - 0.5).astype(int)
    offset = cells - base - 1.0
    weights = np.stack(cubic_weights(offset) if is_cubic(scheme) else quadratic_weights(offset), axis=1)
    taps = weights.shape[1]
    if dimension_of(scheme) == 2:
        base[:, 1] = 0
        weights[:, :, 1] = np.eye(taps)[0]
    expected: dict[tuple[int, ...], float] = {}
    for p, (i, j, k) in ((p, corner) for p in range(200) for corner in np.ndindex(taps, taps, taps)):
        node = tuple(int(n) for n in base[p] + (i, j, k))
        expected[node] = expected.get(node, 0.0) + weights[p, i, 0] * weights[p, j, 1] * weights[p, k, 2]
    found = {}
    for block, coordinates in enumerate(store.layout.node_coordinates):
        for place in range(nodes.shape[1]):
            node = (place // 16, place // 4 % 4, place % 4) if dimension_of(scheme) == 3 else (place // 4, 4, place % 4)
            if nodes[block, place, 3] > 0.0:
                found[tuple(int(n) for n in 4 * coordinates + node)] = nodes[block, place, 3]
    assert found.keys() == {node for node, mass in expected.items() if mass > 0.0}
    assert max(abs(found[node] - expected[node]) for node in found) < 1e-14


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)
def test_particles_may_drift_before_the_next_sort(scheme: Scheme) -> None:
    """Particles that have moved as far as a scheme allows since the sort transfer the same as freshly sorted ones."""
    drifted = stored(points(2000, scheme, seed=3), scheme=scheme)
    move = np.array([1.0, -float(dimension_of(scheme) == 3), 0.98]) * farthest_drift(scheme)
    drifted.table[POSITION : POSITION + 3] += move[:, None]
    drifted.table[VELOCITY : VELOCITY + 3] += (gradient_in(scheme) @ move)[:, None] * SPACING
    transfer(drifted, scheme)
    order = np.argsort(drifted.ids[: drifted.layout.slot_count][drifted.live])
    fresh = stored(world(drifted)[drifted.live][order], scheme=scheme)
    transfer(fresh, scheme)
    order, fresh_order = (np.argsort(np.where(store.ids >= 0, store.ids, 2**30)) for store in (drifted, fresh))
    assert np.abs(drifted.table[VELOCITY, order[:2000]] - fresh.table[VELOCITY, fresh_order[:2000]]).max() < 1e-11


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)
def test_a_block_writes_into_no_arena_but_its_own(scheme: Scheme, dtype: str) -> None:
    """Not even zeros, which another thread's sums could get lost in: particles as far up as they may drift."""
    place = 4.49 + farthest_drift(scheme)
    upper = np.array([[4.4, 4.4 if dimension_of(scheme) == 3 else 0.0, 4.4], [4.4, 0.0, 12.4]]) * SPACING
    store = stored(upper, dtype, scheme)
    store.table[POSITION : POSITION + 3] = [[place], [place if dimension_of(scheme) == 3 else 4.0], [place]]
    arenas = store.arenas
    for is_waiting, is_first in (([True, True], True), ([True, False], False)):
        arenas.values[:] = -0.0
        particles_to_grid(scheme, store.particles, store.grid(SPACING), np.array(is_waiting), is_first, 0.0, store.scratch, arenas)
    start, other = arenas.starts
    assert start < other
    assert np.signbit(arenas.values[other:]).all()
    assert not np.signbit(arenas.values[start:other]).all()


@pytest.mark.parametrize("count", [1, LANE_COUNT - 1, LANE_COUNT, LANE_COUNT + 1])
def test_runs_are_filled_with_weightless_copies(count: int) -> None:
    store = stored(np.random.default_rng(4).uniform(0.16, 0.3, (count, 3)))
    slots = store.layout.slot_count
    assert slots % LANE_COUNT == 0
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
    store.table[POSITION : POSITION + 3] += rng.uniform(-3.9, 3.9, (3, store.table.shape[1]))
    moved = world(store)[store.live][np.argsort(store.ids[: store.layout.slot_count][store.live])]
    assert store.sort() == 0
    after = world(store)[store.live][np.argsort(store.ids[: store.layout.slot_count][store.live])]
    assert np.abs(after - moved).max() < 1e-14
    assert np.abs(after - where).max() > 0.35
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
    assert np.array_equal(np.argsort(keys, kind="stable"), np.lexsort(array.T[::-1]))


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_layout_names_the_blocks_around(dimension: int) -> None:
    """Those that hold a node which a particle can touch before it is sorted again, a cell from here, or a neighbor of such a node."""
    scheme = scheme_of(Solver(grid_spacing=1.0, dimension=dimension))
    store = stored(points(200, scheme, seed=7) * 10.0, scheme=scheme)
    layout = store.layout
    offsets = [(x, y, z) for x in (-1, 0, 1) for y in ((-1, 0, 1) if dimension == 3 else (0,)) for z in (-1, 0, 1)]
    node_block = {tuple(key): number for number, key in enumerate(layout.node_coordinates.tolist())}
    block = {tuple(key): number for number, key in enumerate(layout.coordinates.tolist())}
    wanted = {}
    for key, number in block.items():
        cells = store.table[POSITION : POSITION + 3, layout.first[number] : layout.first[number + 1]]
        # the nearest node is the middle one of three
        low, high = np.floor(cells.min(axis=1) - 1.0 - 0.5) - 1, np.floor(cells.max(axis=1) + 1.0 - 0.5) + 3
        is_there = [[low[axis] < 0, True, high[axis] >= BLOCK] for axis in range(3)]
        wanted[key] = [
            all(is_there[axis][part + 1] for axis, part in enumerate(offset) if axis != 1 or dimension == 3) for offset in offsets
        ]
    found = {tuple(np.add(key, offset)) for key in block for offset, is_wanted in zip(offsets, wanted[key], strict=True) if is_wanted}
    assert list(node_block) == sorted(found)
    assert len(found) < 0.9 * len({tuple(np.add(key, offset)) for key in block for offset in offsets})
    nothing = len(node_block)
    for key, number in block.items():
        around = [node_block.get(tuple(np.add(key, offset)), nothing) for offset in offsets]
        expected = [other if is_wanted else nothing for other, is_wanted in zip(around, wanted[key], strict=True)]
        assert layout.neighbors[number].tolist() == expected
    numbers = np.arange(nothing)
    around_nodes = layout.node_neighbors(numbers)
    for key, number in node_block.items():
        around = [tuple(int(part) for part in np.add(key, offset)) for offset in offsets]
        reaching = [block.get(other, -1) for other in around]
        expected = [there if there >= 0 and number in layout.neighbors[there] else -1 for there in reaching]
        assert layout.node_arenas[number].tolist() == expected
        assert around_nodes[number].tolist() == [node_block.get(other, -1) for other in around]


def test_a_particle_thrown_past_the_blocks_around_is_an_instability() -> None:
    store = stored(np.random.default_rng(8).uniform(-1.0, 1.0, (100, 3)))
    store.table[POSITION, np.flatnonzero(store.live)[0]] += 9.0
    with pytest.raises(UnstableError, match=r"^1 particles were thrown more than 4 cells in a step, or nowhere; "):
        store.sort()


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)
def test_nothing_is_left_at_nodes_that_particles_have_gone_from(scheme: Scheme) -> None:
    positions = np.array([[0.1, 0.1, 0.1], [3.9, 0.2, 2.2], [7.3, 5.1, 0.3]]) * [1.0, dimension_of(scheme) == 3, 1.0] * SPACING
    store = stored(positions, scheme=scheme)
    for way in (0.0, 0.4, -0.8, 0.45):
        store.table[POSITION] += way
        store.table[POSITION + 2] -= way
        nodes = to_grid(store, scheme)
        assert nodes[..., 3].sum() == pytest.approx(3.0, rel=1e-12)
        # each particle has 3 nodes, or 4, along an axis
        touched = (4 if "Cubic" in type(scheme).__name__ else 3) ** dimension_of(scheme)
        assert np.count_nonzero(nodes[..., 3]) <= 3 * touched


def test_a_single_velocity_that_is_not_finite_is_seen_at_the_nodes() -> None:
    """The bound on the speeds of particles: if it did not tell, they would be moved nowhere and scattered from there."""
    store = stored(np.full((MOST + 2, 3), 2.0) * SPACING, "float32")
    store.table[VELOCITY : VELOCITY_GRADIENT + 9] = 0.0
    store.table[MASS, 0], store.table[VELOCITY, 0] = 10.0, 2e37
    # twice this momentum, at the lowest nodes along z, is more than single precision can represent
    store.table[VELOCITY_GRADIENT + 2, 0] = -2e38
    nodes = to_grid(store, SCHEMES[0])
    assert 0 < np.count_nonzero(~np.isfinite(nodes)) <= 9
    assert np.isnan(store.node_speeds.max())


@pytest.mark.parametrize("count", [1, MOST + 2])
def test_the_least_masses_have_finite_velocities(count: int) -> None:
    """Where particles lie on a lattice, the weights of their farthest nodes are squares of rounding errors, along each of three axes."""
    store = stored(np.full((count, 3), 2.4) * SPACING, "float32")
    its = np.flatnonzero(store.live)
    store.table[POSITION : POSITION + 3, its] = np.float32(2.5) - np.float32(2.4e-7)
    store.table[MASS, its] *= 1e-4
    store.table[VELOCITY, its] = 3.0
    nodes = to_grid(store, SCHEMES[0])
    masses = nodes[..., 3]
    assert 0.0 < masses[masses > 0.0].min() < 1e-38
    assert np.isfinite(nodes).all()
    assert np.isfinite(store.node_speeds.max())


def test_a_state_that_is_not_finite_leaves_nothing_behind_where_all_goes_back_to_a_sort() -> None:
    store = stored(np.array([[0.1, 0.1, 0.1], [3.9, 0.2, 2.2]]) * SPACING)
    store.sort()
    store.table[VELOCITY, 0] = np.nan
    assert not np.isfinite(to_grid(store, SCHEMES[0])).all()
    store.restore()
    nodes = to_grid(store, SCHEMES[0])
    assert nodes[..., 3].sum() == pytest.approx(2.0, rel=1e-12)
    assert np.isfinite(nodes).all()
