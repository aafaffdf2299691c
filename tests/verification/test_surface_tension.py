"""Surface tension: periods of drops, Laplace's pressure, momentum, a cube that becomes a ball, a thread that breaks, walls."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core.scene.description import Emitter
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics
from tests.core.scenes import digests_by_threads

from .cases.drop import FREE, SPACING, contact_angle, cube, ellipsoid, resting, swing, thread, water
from .cases.setting import observe, scene

DROPS = [
    (2, 8.0, {"density": 3}),
    (2, 6.0, {"density": 3, "shift": 0.5}),
    pytest.param(2, 12.0, {"density": 3}, marks=pytest.mark.long),
    (2, 8.0, {"kernel": "cubic"}),
    (3, 6.0, {}),
    pytest.param(3, 8.0, {"shift": 0.25}, marks=pytest.mark.long),
]


@pytest.mark.parametrize(("dimension", "cells", "changes"), DROPS)
def test_a_drop_oscillates_with_its_period_and_has_the_pressure_of_laplace(dimension: int, cells: float, changes: dict[str, Any]) -> None:
    """p = (d - 1) sigma / R (Laplace 1805), as if R were smaller: by half a cell in two dimensions, by 1.1 cells in three."""
    found = swing(dimension, cells, **changes)
    assert found.period == pytest.approx(1.0, abs=0.05)
    assert found.pressure == pytest.approx(cells / (cells - (0.5 if dimension == 2 else 1.1)), abs=0.08)


def test_without_surface_tension_a_drop_keeps_its_shape() -> None:
    """Negative control."""
    found = swing(2, 8.0, tension=0.0, density=3)
    assert found.elongation[-1] == pytest.approx(found.elongation[0], rel=1e-3)
    assert found.period == np.inf


@pytest.mark.parametrize(("dimension", "transfer"), [(2, "apic"), (3, "apic"), (2, "pic")])
def test_surface_tension_keeps_momentum_and_angular_momentum(dimension: int, transfer: str) -> None:
    """Its stress is symmetric and scattered with the other stress. PIC, the negative control, loses angular momentum."""
    drop = Emitter("drop", ellipsoid(dimension, 5.0, 0.4, 0.0, 2), "water", velocity=(0.1, 0.0, 0.05), angular_velocity=(0.0, 2000.0, 0.0))
    described = scene(
        drop,
        water(),
        seconds=0.004,
        fps=1000.0,
        gravity=FREE,
        dimension=dimension,
        grid_spacing=SPACING,
        transfer=transfer,
        precision="float64",
    )

    def measure(simulation: Simulation) -> Any:
        return np.concatenate([diagnostics.linear_momentum(simulation), diagnostics.angular_momentum(simulation)])

    values = np.array(observe(described, measure)[1])
    mass = 1000.0 * float(np.sum(drop.shape.volume))  # type: ignore[attr-defined]
    changes = np.abs(values - values[0]).max(axis=0) / (mass * np.repeat([0.1, 0.1 * 5.0 * SPACING], 3))
    assert changes[:3].max() < 1e-5
    assert (changes[3:].max() < 1e-4) if transfer == "apic" else (changes[3:].max() > 1e-2)


def test_a_weightless_cube_becomes_a_ball() -> None:
    ratios = cube()
    assert ratios[0] > 1.26
    assert ratios[-1] == pytest.approx(25.0 / 21.0, rel=0.01)
    # without surface tension it stays a cube
    assert cube(0.0)[-1] == pytest.approx(ratios[0], rel=1e-3)


def test_a_thread_breaks_into_drops_nine_radii_apart() -> None:
    """Two wavelengths between two walls, which are planes of symmetry: half a drop at each, a whole one between them."""
    left = thread()
    third = len(left) // 4
    assert left[third - 2 : third + 3].min() < 0.05
    assert left[-third - 2 : len(left) - third + 2].min() < 0.05
    assert min(left[0], left[len(left) // 2], left[-1]) > 1.5
    # without surface tension it stays as it is
    assert np.abs(thread(0.0) - 1.0).max() < 0.05


def test_water_meets_slippery_walls_at_a_right_angle_and_lets_go_of_those_that_only_push() -> None:
    assert contact_angle("slip") == pytest.approx(90.0, abs=5.0)
    assert contact_angle("separate") > 140.0


def test_threads_change_no_byte_and_a_resumed_simulation_gives_the_same() -> None:
    made = "from tests.verification.cases.drop import resting\nscenes = [resting('slip', fps=100.0)]"
    assert len(digests_by_threads(made)) == 1
    described = resting("slip", fps=100.0)
    whole = Simulation(described)
    states = [(frame, whole.snapshot()) for frame in whole.frames()]
    *_, resumed = Simulation(described, snapshot=states[1][1]).frames()
    assert np.array_equal(resumed.position, states[-1][0].position)
    assert np.array_equal(resumed.velocity, states[-1][0].velocity)
