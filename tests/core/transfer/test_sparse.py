"""Sparse groups: what their records give to the nodes, against plain numpy and against passes that write to the table."""

import numpy as np
import pytest

from mpm_addon.core.laws import StressFree
from mpm_addon.core.scene.settings import Solver
from mpm_addon.core.transfer.advance import EXTREME_COUNT, Pass, advance_particles
from mpm_addon.core.transfer.blocks import BLOCK
from mpm_addon.core.transfer.fullness import count_volumes
from mpm_addon.core.transfer.grid import update_grid
from mpm_addon.core.transfer.particle_store import MaterialPoints, ParticleStore, new_particles
from mpm_addon.core.transfer.rows import MASS, POSITION, STRESS, VELOCITY, VELOCITY_GRADIENT, VOLUME
from mpm_addon.core.transfer.scatter import particles_to_grid
from mpm_addon.core.transfer.scheme import Scheme, cubic_weights, farthest_drift, quadratic_weights, scheme_of
from mpm_addon.core.transfer.sparse import IS_RECORDS

SPACING, DT, COUNT = 0.1, 0.02, 500


def stored(scheme: Scheme, dtype: str) -> ParticleStore:
    """Particles of two instances, half of them crowded, which have drifted as far as they may since the sort."""
    rng = np.random.default_rng(1)
    positions = rng.uniform(-1.0, 1.0, (COUNT, 3))
    positions[: COUNT // 2] *= 0.2
    points = MaterialPoints(
        positions, rng.normal(size=(COUNT, 3)), rng.normal(size=(COUNT, 9)), rng.uniform(0.5, 2.0, COUNT), rng.uniform(0.5e-3, 1e-3, COUNT)
    )
    store = ParticleStore(2, dtype, 3)
    instances = rng.integers(0, 2, COUNT)
    store.sort(new_particles(points, spacing=SPACING, dtype=dtype, first_id=0, instances=instances, subject="test"))
    slots, drift = store.layout.slot_count, farthest_drift(scheme)
    store.table[STRESS : STRESS + 6, :slots] = rng.normal(size=(6, slots))
    store.table[POSITION : POSITION + 3, :slots] += rng.uniform(-drift, drift, (3, slots))
    # massless copies equal the last particle
    last = np.maximum.accumulate(np.where(store.live, np.arange(slots), 0))
    for rows in (slice(POSITION, POSITION + 3), slice(STRESS, STRESS + 6)):
        store.table[rows, :slots] = store.table[rows, last]
    return store


def to_grid(store: ParticleStore, scheme: Scheme, is_waiting: np.ndarray | None = None) -> np.ndarray:
    """Scatter and sum; returns momenta and masses of the nodes, (node blocks, 64, 4)."""
    waiting = np.ones(len(store.layout.keys), np.bool_) if is_waiting is None else is_waiting
    particles_to_grid(scheme, store.particles, store.grid(SPACING), waiting, is_waiting is None, DT, store.scratch, store.arenas)
    update_grid(store.arenas, store.layout.node_arenas, store.nodes, store.node_rows, np.zeros(16, store.dtype), store.node_speeds)
    nodes = store.nodes[: store.layout.node_count].reshape(-1, BLOCK**3, 4).astype(np.float64)
    nodes[..., :3] *= nodes[..., 3:]
    return nodes


def expected(store: ParticleStore, scheme: Scheme, share_of_instance: tuple[float, float]) -> np.ndarray:
    """What `to_grid` should return, if the instances count by these shares."""
    layout, live = store.layout, np.flatnonzero(store.live)
    block, instance = np.divmod(np.searchsorted(layout.first, live, side="right") - 1, 2)
    table = store.table[:, live].astype(np.float64)
    is_cubic = "Cubic" in type(scheme).__name__
    position = table[POSITION : POSITION + 3].T
    base = np.floor(position) - 1.0 if is_cubic else np.floor(position - 0.5)
    offset = position - base - 1.0
    weights = np.stack(cubic_weights(offset) if is_cubic else quadratic_weights(offset), axis=1)
    xx, xy, xz, yy, yz, zz = table[STRESS : STRESS + 6]
    stress = np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), 2, 0)
    gradient = table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9].T.reshape(-1, 3, 3)
    force = scheme.inverse_inertia * DT / SPACING * table[VOLUME][:, None, None] * stress
    affine = SPACING * table[MASS][:, None, None] * gradient - force
    number_of = {tuple(each): number for number, each in enumerate(layout.node_coordinates.tolist())}
    result = np.zeros((layout.node_count, BLOCK**3, 4))
    for corner in np.ndindex((weights.shape[1],) * 3):
        weight = weights[:, corner[0], 0] * weights[:, corner[1], 1] * weights[:, corner[2], 2] * np.array(share_of_instance)[instance]
        momentum = table[MASS][:, None] * table[VELOCITY : VELOCITY + 3].T + np.einsum(
            "pij,pj->pi", affine, np.array(corner) - 1.0 - offset
        )
        world = (base + corner).astype(np.int64) + BLOCK * layout.coordinates[block]
        number = [number_of[tuple(each)] for each in (world // BLOCK).tolist()]
        place = world % BLOCK @ [BLOCK * BLOCK, BLOCK, 1]
        np.add.at(result, (number, place), weight[:, None] * np.column_stack([momentum, table[MASS]]))
    return result


every_kind = pytest.mark.parametrize(
    ("kernel", "dtype", "tolerance"),
    [("quadratic", "float32", 4e-6), ("quadratic", "float64", 2e-14), ("cubic", "float32", 4e-6), ("cubic", "float64", 2e-14)],
)


@every_kind
def test_nodes_agree_with_plain_numpy_also_where_bodies_count_by_volume(kernel: str, dtype: str, tolerance: float) -> None:
    scheme = scheme_of(Solver(grid_spacing=1.0, kernel=kernel))
    store = stored(scheme, dtype)
    nodes = to_grid(store, scheme)
    runs = np.diff(store.layout.first) > 0
    is_sparse = store.arenas.boxes[runs, 0] == IS_RECORDS
    assert is_sparse.any()
    assert not is_sparse.all()
    assert np.abs(nodes - expected(store, scheme, (1.0, 1.0))).max() < tolerance
    numbers = np.arange(store.layout.node_count)
    count_volumes(store.arenas, store.layout.node_arenas, numbers, np.array([1.0, 0.25]), store.nodes)
    masses = store.nodes[: len(numbers)].reshape(-1, BLOCK**3, 4)[..., 3]
    assert np.abs(masses - expected(store, scheme, (1.0, 0.25))[..., 3]).max() < tolerance


@pytest.mark.parametrize("kernel", ["quadratic", "cubic"])
def test_runs_of_a_group_are_scattered_by_the_pass_or_later_to_the_same_bytes(kernel: str) -> None:
    scheme = scheme_of(Solver(grid_spacing=1.0, kernel=kernel))
    sums = []
    for share_kept in (0.0, 0.4, 1.0):
        store = stored(scheme, "float32")
        to_grid(store, scheme)
        kept = np.random.default_rng(2).random(len(store.layout.keys)) < share_kept
        for instance in range(2):
            task = Pass(instance=instance, dt=0.0, next_dt=DT, reach=1e-3, is_fused=True, is_kept=kept, full_mass=0.0)
            extremes = np.zeros((len(store.layout.runs.pieces) - 1, EXTREME_COUNT))
            constants, grid = StressFree().constants(), store.grid(SPACING)
            advance_particles(constants, scheme, store.particles, grid, task, store.scratch, store.arenas, extremes)
        sums.append(to_grid(store, scheme, kept))
    assert sums[0].any()
    assert all(np.array_equal(each, sums[0]) for each in sums)
