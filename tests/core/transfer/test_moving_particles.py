"""Particles that cross cells and blocks: fast, far from the origin, alone, crowded, and on other processors."""

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.failure import Trouble
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.scene.settings import Solver
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.stepping.stepper import Stepper
from mpm_addon.core.transfer.grid import update_grid
from mpm_addon.core.transfer.particle_store import MaterialPoints, ParticleStore, new_particles
from mpm_addon.core.transfer.rows import MASS, POSITION
from mpm_addon.core.transfer.scatter import particles_to_grid
from mpm_addon.core.transfer.scheme import scheme_of
from tests import diagnostics
from tests.core.scenes import LATTICE, box, four_materials, material, scene, started

SPACING = 0.05
BLOCK_EDGE = 4 * SPACING
EACH = ("water", "corotated", "snow", "sand")


def flying(velocity: tuple[float, float, float], center: tuple[float, float, float], law: str = "corotated", **solver: object) -> Scene:
    """A block of jelly that flies without gravity; 24 frames per second."""
    emitter = Emitter("block", box(center, 0.3), law, velocity=velocity, **LATTICE)
    return scene(emitter, materials=(material(law),), frames=6, **{"gravity": (0.0, 0.0, 0.0), "grid_spacing": SPACING, **solver})


def by_id(simulation: Simulation) -> np.ndarray:
    return diagnostics.positions(simulation)[np.argsort(diagnostics.ids(simulation))]


@pytest.mark.parametrize(
    ("law", "kernel"),
    [("corotated", "quadratic"), ("water", "quadratic"), ("corotated", "cubic"), pytest.param("water", "cubic", marks=pytest.mark.long)],
)
@pytest.mark.parametrize("transfer", ["apic", "flip"])
@pytest.mark.parametrize("direction", [(1.0, 1.0, 1.0), (-1.0, 0.5, -0.25)])
def test_five_cells_a_frame_through_borders_of_blocks(kernel: str, transfer: str, law: str, direction: tuple[float, ...]) -> None:
    """x = x0 + v t to rounding, from negative coordinates to positive ones and back, sorted again on the way."""
    velocity = 5.0 * SPACING * 24.0 * np.array(direction)
    simulation = Simulation(flying(tuple(velocity), (-0.3, 0.1, -0.2), law, kernel=kernel, transfer=transfer, precision="float64"))
    frames = simulation.frames()
    next(frames)
    start = by_id(simulation)
    for number, _ in enumerate(frames, start=1):
        assert np.abs(by_id(simulation) - (start + velocity * number / 24.0)).max() < 1e-12
        assert np.abs(diagnostics.velocities(simulation) - velocity).max() < 1e-11
    moved = np.floor(by_id(simulation) / BLOCK_EDGE) - np.floor(start / BLOCK_EDGE)
    assert np.abs(moved).max(axis=0).min() >= 1.0


def test_a_fast_block_is_sorted_in_the_middle_of_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the test above would not cross blocks between sorts."""
    simulation = Simulation(flying((6.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    sorts = []
    begin = Stepper.begin
    monkeypatch.setattr(Stepper, "begin", lambda stepper: (sorts.append(1), begin(stepper))[1])
    frame_count = len(list(simulation.frames()))
    assert len(sorts) >= 4 * (frame_count - 1)


@pytest.mark.parametrize("blocks", [1, -2500])
def test_a_place_far_from_the_origin_changes_no_bit(blocks: int) -> None:
    """Shifted by whole blocks, up to 10,000 cells: what a particle has relative to its block is the same in float32."""
    simulations = []
    for shift in (0, blocks):
        # a spacing that float64 holds exactly, so that the shift is exact too
        described = flying((3.0, -2.0, 1.0), (0.0, 0.0, 0.0), grid_spacing=0.0625, gravity=(0.0, 0.0, -9.81))
        points = diagnostics.positions(started(described)) + np.array([1.0, -1.0, 1.0]) * shift * 0.25
        emitter = Emitter("points", SHAPES["points"](position=points), "corotated", velocity=(3.0, -2.0, 1.0))
        simulation = Simulation(scene(emitter, materials=(material("corotated"),), frames=4, grid_spacing=0.0625))
        list(simulation.frames())
        simulations.append(simulation)
    near, far = simulations
    slots = near.store.layout.slot_count
    assert far.store.layout.slot_count == slots
    assert near.store.table[:, :slots].tobytes() == far.store.table[:, :slots].tobytes()
    assert np.array_equal(
        far.store.layout.coordinates - near.store.layout.coordinates, [[blocks, -blocks, blocks]] * len(near.store.layout.keys)
    )


@pytest.mark.parametrize("dimension", [2, 3])
def test_one_particle_alone_falls_freely(dimension: int) -> None:
    """z = z0 + sum of dt v over the steps, v = -g t exactly (symplectic Euler)."""
    emitter = Emitter("point", SHAPES["points"](position=np.array([[0.013, 0.0, 0.5]]), volume=np.array([1e-6])), "corotated")
    simulation = Simulation(scene(emitter, materials=(material("corotated"),), frames=8, dimension=dimension, precision="float64"))
    time = 0.0
    for number, frame in enumerate(simulation.frames()):
        time = number / 24.0
        assert diagnostics.velocities(simulation)[0] == pytest.approx([0.0, 0.0, -9.81 * time], abs=1e-12)
        assert frame.statistics.particles == 1
    assert diagnostics.positions(simulation)[0, 2] == pytest.approx(0.5 - 0.5 * 9.81 * time**2, abs=0.005)


def test_two_million_particles_in_one_block_reach_the_grid_and_stay() -> None:
    rng = np.random.default_rng(1)
    count = 2_000_000
    positions = rng.uniform(0.5, 4.499, (count, 3)) * SPACING
    velocities = np.tile([1.0, -2.0, 3.0], (count, 1))
    store = ParticleStore(1, "float32")
    points = MaterialPoints(positions, velocities, np.zeros((count, 9)), np.full(count, 1e-3), np.full(count, 1e-9))
    store.sort(new_particles(points, spacing=SPACING, dtype="float32", first_id=0, instances=np.zeros(count, np.int64), subject="test"))
    layout = store.layout
    assert len(layout.keys) == 1
    scheme = scheme_of(Solver(grid_spacing=1.0))
    everywhere = np.ones(1, np.bool_)
    particles_to_grid(scheme, store.particles, store.grid(SPACING), everywhere, True, 0.0, store.scratch, store.arenas)
    update_grid(store.arenas, layout.node_arenas, store.nodes, store.node_rows, np.zeros(16, store.dtype), store.node_speeds)
    nodes = store.nodes[: len(layout.node_keys)].reshape(-1, 4)
    # sums of float32 grow by up to two million terms
    assert nodes[:, 3].sum(dtype=np.float64) == pytest.approx(count * 1e-3, rel=1e-3)
    assert np.abs(nodes[nodes[:, 3] > 1.0, :3] - [1.0, -2.0, 3.0]).max() < 2e-3
    before = store.table[POSITION, np.argsort(store.ids[: layout.slot_count])].copy()
    assert store.sort() == 0
    assert store.particle_count == count
    assert np.array_equal(store.table[POSITION, np.argsort(store.ids[: store.layout.slot_count])], before)
    assert store.table[MASS, : store.layout.slot_count].sum(dtype=np.float64) == pytest.approx(count * 1e-3, rel=1e-6)


@pytest.mark.parametrize(
    ("precision", "names"),
    [("float64", ("water", "corotated")), pytest.param("float64", EACH, marks=pytest.mark.long), ("float32", EACH)],
    ids=["float64-two", "float64-each", "float32-each"],
)
def test_fused_and_separate_passes_give_the_same(precision: str, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Scattered at once or from the table: with a fixed step the same numbers, but for rounding."""
    described = four_materials(3, names, precision=precision, time_step=1.2e-4)
    fused = list(Simulation(described).frames())[-1]
    plans = []
    step = Stepper.step

    def unfused(stepper: Stepper, dt: float, next_dt: float | None) -> Trouble | None:
        plans.append(next_dt)
        return step(stepper, dt, None)

    monkeypatch.setattr(Stepper, "step", unfused)
    separate = list(Simulation(described).frames())[-1]
    assert sum(plan is not None for plan in plans) > 100
    assert np.abs(fused.position - separate.position).max() < (1e-7 if precision == "float64" else 1e-4)
    assert np.abs(fused.velocity - separate.velocity).max() < (1e-6 if precision == "float64" else 5e-3)


def torn_snow() -> Scene:
    """A block that turns so fast that it tears, with nothing around it."""
    block = Emitter("block", box((0.0, 0.0, 0.0), 0.3), "snow", angular_velocity=(1000.0, 2000.0, 0.0), **LATTICE)
    return scene(block, materials=(material("snow"),), frames=2)


def on_obstacles() -> Scene:
    return four_materials(2)


ON_ANOTHER_PROCESSOR = """
import sys
import numpy as np
from mpm_addon.core.arithmetic.vector import LANE_COUNT
from mpm_addon.core import simulate
from tests.core.transfer import test_moving_particles
*_, last = simulate(getattr(test_moving_particles, sys.argv[2])())
np.savez(sys.argv[1], lanes=LANE_COUNT, position=last.position, velocity=last.velocity)
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="names features of x86-64 processors")
@pytest.mark.parametrize(
    ("features", "lanes", "made"),
    [
        ("+sse2", 4, torn_snow),
        # compiling for these takes minutes
        pytest.param("+sse2", 4, on_obstacles, marks=pytest.mark.long),
        pytest.param("+sse2,+sse4.2,+avx,+avx2,+fma", 16, on_obstacles, marks=pytest.mark.long),
    ],
)
def test_narrower_processors_compute_the_same(features: str, lanes: int, made: Callable[[], Scene], tmp_path: Path) -> None:
    """The same source without the vectors that this processor may have."""
    root = Path(__file__).parents[3]
    environment = {
        **os.environ,
        "NUMBA_CPU_NAME": "x86-64",
        "NUMBA_CPU_FEATURES": features,
        "PYTHONPATH": str(root),
    }
    command = [sys.executable, "-c", ON_ANOTHER_PROCESSOR, str(tmp_path / "found.npz"), made.__name__]
    subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    with np.load(tmp_path / "found.npz") as found:
        *_, here = Simulation(made()).frames()
        assert found["lanes"] == lanes
        assert np.abs(found["position"] - here.position).max() < 1e-4
        assert np.abs(found["velocity"] - here.velocity).max() < 1e-2
