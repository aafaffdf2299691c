"""Sand that runs out of a silo, and what the pre-flight check says about its opening."""

from functools import lru_cache

import numpy as np

from mpm_addon.core.advice.preflight import warnings_of
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.scene.description import Scene
from mpm_addon.core.stepping.simulation import Simulation
from tests import diagnostics

from .setting import everyday_scene

# of the opening [m]
WIDTH = 0.12
# after this the flow is even [s]
START = 0.2


def silo(cells: int, *, offset: float = 0.0) -> Scene:
    """The scene with so many cells across the opening."""
    return everyday_scene("silo", offset=offset, spacing=WIDTH / cells)


@lru_cache
def flow(cells: int, *, offset: float = 0.0) -> float:
    """How fast the area of the sand above the opening decreases [m^2/s]."""
    scene = silo(cells, offset=offset)
    simulation = Simulation(scene)
    top = offset * scene.solver.grid_spacing
    rows = []
    for frame in simulation.frames():
        if frame.time >= START - 1e-6:
            is_above = diagnostics.positions(simulation)[:, 2] > top
            rows.append((frame.time, diagnostics.rest_volumes(simulation)[is_above].sum()))
    time, area = np.array(rows).T
    return -float(np.polyfit(time, area, 1)[0])


def is_named(cells: int) -> bool:
    """Whether the pre-flight check warns about the opening."""
    scene = silo(cells)
    return any(warning.topic == "narrow_opening" for warning in warnings_of(scene, estimate(scene)))
