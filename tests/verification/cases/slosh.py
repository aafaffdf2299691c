"""Water that sloshes in a box: the period and the damping of its first mode."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mpm_addon.core.geometry.shapes import Points
from mpm_addon.core.scene.description import Emitter
from tests import diagnostics

from .setting import GRAVITY, Floats, material, observe, scene, walls

WIDTH, DEPTH, AMPLITUDE = 1.0, 0.5, 0.05
WAVE_NUMBER = np.pi / WIDTH
# of the linear first mode, w^2 = g k tanh(k d) (Lamb 1932, section 228)
FREQUENCY = float(np.sqrt(GRAVITY * WAVE_NUMBER * np.tanh(WAVE_NUMBER * DEPTH)))
PERIOD = 2.0 * np.pi / FREQUENCY


@dataclass(frozen=True)
class Slosh:
    """A mode that dies down.

    Attributes:
        period: [s].
        damping: the share of its amplitude that it loses in a period.
    """

    period: float
    damping: float


@lru_cache
def slosh(cells: int, *, offset: float = 0.0, periods: float = 4.0, transfer: str = "apic") -> Slosh:
    """Water 0.5 m deep in a box 1 m wide, in two dimensions; it begins flat, with the velocities of a first mode 0.05 m high.

    Args:
        cells: along the depth.
        offset: how far the box is moved along both axes [cells].
        transfer: of the solver.
    """
    spacing = DEPTH / cells
    way, edge = offset * spacing, 0.5 * spacing
    x, z = np.meshgrid(np.arange(0.5 * edge, WIDTH, edge), np.arange(0.5 * edge, DEPTH, edge))
    x, z, still = x.ravel(), z.ravel(), np.zeros(x.size)
    speed = AMPLITUDE * FREQUENCY / np.sinh(WAVE_NUMBER * DEPTH)
    along = speed * np.sin(WAVE_NUMBER * x) * np.cosh(WAVE_NUMBER * z)
    upward = -speed * np.cos(WAVE_NUMBER * x) * np.sinh(WAVE_NUMBER * z)
    points = Points(np.stack([x + way, still, z + way], axis=1), np.stack([along, still, upward], axis=1), still + edge**2)
    described = scene(
        Emitter("water", points, "water"),
        material("water", bulk_modulus=1e5),
        seconds=periods * PERIOD,
        fps=40.0 / PERIOD,
        domain=walls((way, -1.0, way), (WIDTH + way, 1.0, way + 2.0)),
        dimension=2,
        grid_spacing=spacing,
        transfer=transfer,
    )
    time, middle = observe(described, lambda simulation: float(diagnostics.positions(simulation)[:, 0].mean()) - 0.5 * WIDTH - way)
    return _fitted(time, np.array(middle))


def _fitted(time: Floats, middle: Floats) -> Slosh:
    """From the center of mass along x: the times at which it passes the middle, and how far it gets between two of these."""
    after = np.flatnonzero(middle[1:-1] * middle[2:] < 0.0) + 1
    passes = time[after] - middle[after] * (time[after + 1] - time[after]) / (middle[after + 1] - middle[after])
    peaks = np.array([np.abs(part).max() for part in np.split(middle, after + 1)[:-1]])
    period = 2.0 * float(np.diff(passes).mean())
    slope = np.polyfit(np.arange(len(peaks)) / 2.0, np.log(peaks), 1)[0]
    return Slosh(period, 1.0 - float(np.exp(slope)))
