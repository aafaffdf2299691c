"""Fullness around particles: closed forms of flat surfaces and walls, and the effect of fluids of other densities."""

from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy.integrate import quad

from mpm_addon.core.contact.coverage import cover_nodes, covered_share, fill_nodes
from mpm_addon.core.geometry.shapes.box import Box
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.scene.settings import Solver, Time
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.transfer.fullness import fullness
from mpm_addon.core.transfer.scheme import Scheme, cubic_weights, quadratic_weights, scheme_of
from tests import diagnostics

KERNELS = ["quadratic", "cubic"]
# of a particle that weighs nothing beside a cell
TINY = 1e-9


def spline(kernel: str, distance: float) -> float:
    """The B-spline at a distance from its node [cells]."""
    s = abs(distance)
    if kernel == "cubic":
        return 2.0 / 3.0 - s * s + s**3 / 2.0 if s < 1.0 else max(2.0 - s, 0.0) ** 3 / 6.0
    return 0.75 - s * s if s < 0.5 else max(1.5 - s, 0.0) ** 2 / 2.0


def beyond(kernel: str, distance: float) -> float:
    """The share of a node's kernel farther than a distance [cells] along an axis."""
    return (
        float(quad(lambda s: spline(kernel, s), distance, 2.0, points=[-1.5, -1.0, -0.5, 0.5, 1.0, 1.5], limit=200)[0])
        if distance < 2.0
        else 0.0
    )


@njit
def of_particle(scheme: Any, mass: float, around: float, slope: tuple[float, float, float], full_mass: float) -> tuple[float, float]:
    return fullness(scheme, mass, around, slope, full_mass)


def below_a_surface(scheme: Scheme, kernel: str, depth: float, offset: float) -> float:
    """The fullness of a particle so far below the flat surface of an evenly filled half-space [cells], a node `offset` above it."""
    weights = cubic_weights if kernel == "cubic" else quadratic_weights
    nodes = np.arange(-6, 3) + offset
    masses = [beyond(kernel, node) for node in nodes]
    weight = [spline(kernel, node + depth) for node in nodes]
    assert sum(weight) == pytest.approx(1.0) and len(weights(0.5)) in (3, 4)
    around = float(np.dot(weight, masses))
    slope = scheme.inverse_inertia * float(np.dot(weight, masses * (nodes + depth)))
    return of_particle(scheme, TINY, around, (0.0, 0.0, slope), 1.0)[0]


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_wall_covers_the_integral_of_the_kernel(kernel: str) -> None:
    for distance in np.linspace(-1.49, 1.49, 25):
        share = covered_share(float(distance), kernel == "cubic")
        assert share == pytest.approx(beyond(kernel, distance), abs=1e-9 if kernel == "quadratic" else 0.003)
    assert covered_share(1.5, kernel == "cubic") == 0.0 and covered_share(-1.5, kernel == "cubic") == 1.0


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_space_below_a_free_surface_is_full(kernel: str, dimension: int) -> None:
    """Within 1 %, from half a particle below the surface down, on average over where between two nodes it lies."""
    scheme = scheme_of(Solver(grid_spacing=1.0, kernel=kernel, dimension=dimension))
    for depth in (0.25, 0.5, 0.75, 1.0, 1.5, 2.5):
        found = [below_a_surface(scheme, kernel, depth, offset) for offset in np.linspace(0.0, 1.0, 20, endpoint=False)]
        assert np.mean(found) == pytest.approx(1.0, abs=0.01)


def test_spray_is_not_full() -> None:
    """Where less than a third of the space is taken up there is no surface, however steep it is; without fluids nothing is full."""
    scheme = scheme_of(Solver(grid_spacing=1.0))
    assert of_particle(scheme, TINY, 0.3, (0.0, 0.0, 0.4), 1.0)[0] == 0.0
    assert of_particle(scheme, TINY, 0.3, (0.0, 0.0, 0.4), 0.0)[0] == 0.0


def test_several_colliders_cover_no_more_than_all() -> None:
    covered, found = np.zeros(4, np.float32), np.zeros(5, np.int64)
    count = cover_nodes(covered, np.array([1, 2]), np.array([0.5, 1.0], np.float32), found, 0)
    count = cover_nodes(covered, np.array([1, 2, 3]), np.array([0.5, 0.5, 0.25], np.float32), found, count)
    assert covered.tolist() == [0.0, 0.75, 1.0, 0.25]
    assert found[:count].tolist() == [1, 2, 3]


@pytest.mark.parametrize(("beside", "filled"), [(1.0, 1.0), (0.9, 1.0), (0.5, 0.5), (0.25, 0.25), (0.0, 0.0)])
def test_walls_are_as_full_as_the_space_beside_them(beside: float, filled: float) -> None:
    full_mass, share = 8.0, 0.25
    nodes, covered = np.zeros(4), np.full(1, share, np.float32)
    nodes[3] = beside * (1.0 - share) * full_mass
    fill_nodes(nodes, covered, np.array([0]), 1, full_mass)
    assert nodes[3] == pytest.approx(full_mass * ((1.0 - share) * beside + share * filled))


def two_fluids(dimension: int, *, is_first: bool) -> Scene:
    """A block of a heavy fluid that falls apart, and a light one far away that is the first of the scene, or not there."""
    spacing = 0.05
    heavy, light = LAWS["water"](density=6000.0, bulk_modulus=1e6), LAWS["water"](density=500.0)
    materials = {"light": Material("light", light), "heavy": Material("heavy", heavy)}
    size = (0.4, 0.4, 0.4)
    falling = Emitter(
        "falling",
        Box(center=(0.2, 0.2, 0.2), size=size),
        "heavy",
        velocity=(0.0, 0.0, -2.0),
        angular_velocity=(0.0, 200.0, 0.0),
        sampling="lattice",
    )
    far = Emitter("far", Box(center=(9.0, 0.2, 0.2), size=size), "light", sampling="lattice")
    solver = Solver(grid_spacing=spacing, dimension=dimension, time_step=2e-4, precision="float64")
    return Scene(
        "fluids",
        solver,
        materials if is_first else {"heavy": materials["heavy"]},
        (far, falling) if is_first else (falling,),
        time=Time(fps=100.0, frame_start=0, frame_end=10),
    )


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_fluid_does_the_same_whichever_fluid_is_the_first(dimension: int) -> None:
    """Fullness is counted in the first fluid's mass; a fluid of twelve times its density must not notice."""
    ends = []
    for is_first in (True, False):
        simulation = Simulation(two_fluids(dimension, is_first=is_first))
        for _ in simulation.frames():
            continue
        position, ratio = diagnostics.positions(simulation), diagnostics.volume_ratios(simulation)
        chosen = position[:, 0] < 4.0
        order = np.argsort(diagnostics.ids(simulation)[chosen])
        ends.append(np.column_stack([position[chosen], ratio[chosen]])[order])
    assert np.ptp(ends[1][:, 3]) > 1e-3
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)
