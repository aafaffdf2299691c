"""Damping in real units: a bar's vibration decays as in the Kelvin-Voigt model, exp(-damping_time omega^2 t / 2), at any grid spacing."""

import numpy as np
import pytest

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.scene.settings import SIDES, Domain, Side, Solver, Time
from mpm_addon.core.stepping.simulation import simulate

LENGTH = 25.0
# the first mode of a bar with held ends, E = 100 Pa, rho = 1 kg/m^3: omega = pi c / L, c = 10 m/s
OMEGA = np.pi * 10.0 / LENGTH
PERIOD = 2.0 * np.pi / OMEGA


def swing_after_a_period(cells: int, damping_time: float) -> float:
    """The first mode's velocity after a period, over that at the start; a bar in the plane, two cells thick."""
    spacing = LENGTH / cells
    x, z = np.meshgrid((np.arange(2 * cells) + 0.5) * spacing / 2.0, (np.arange(4) + 0.5) * spacing / 2.0, indexing="ij")
    position = np.stack((x.ravel(), np.zeros(x.size), z.ravel()), axis=1)
    shape = np.sin(np.pi * position[:, 0] / LENGTH)
    velocity = 0.1 * shape[:, None] * np.array([1.0, 0.0, 0.0])
    points = SHAPES["points"](position=position, velocity=velocity, volume=np.full(len(position), spacing**2 / 4.0))
    law = LAWS["damped_elastic"](young_modulus=100.0, poisson_ratio=0.0, density=1.0, damping_time=damping_time)
    far = 10.0 * spacing
    sides = {name: Side(surface="sticky" if name.startswith("x") else "slip") for name in SIDES}
    scene = Scene(
        "bar",
        Solver(dimension=2, grid_spacing=spacing, gravity=(0.0, 0.0, 0.0), precision="float64", cfl=0.05),
        {"rubber": Material("rubber", law)},
        (Emitter("bar", points, "rubber"),),
        time=Time(fps=20.0, frame_start=0, frame_end=round(20.0 * PERIOD)),
        domain=Domain(kind="box", min=(0.0, -far, -far), max=(LENGTH, far, far), sides=sides),
    )
    frames = list(simulate(scene))
    first, last = ((frame.velocity[np.argsort(frame.id), 0] * shape).sum() for frame in (frames[0], frames[-1]))
    return float(last / first)


@pytest.mark.parametrize("cells", [25, 50])
def test_a_damped_bar_loses_the_share_that_its_damping_time_says(cells: int) -> None:
    """A damping ratio of 0.1; the transfers' own damping is divided out by the same bar without (negative control: it swings on)."""
    damping_time = 2.0 * 0.1 / OMEGA
    undamped = swing_after_a_period(cells, 0.0)
    assert undamped > 0.9
    # after a period the phase has moved by the damped frequency: cos(2 pi sqrt(1 - 0.1^2)) = 0.9995
    assert swing_after_a_period(cells, damping_time) / undamped == pytest.approx(np.exp(-0.1 * 2.0 * np.pi), rel=0.03)
