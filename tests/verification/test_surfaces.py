"""Surface types of colliders: solids that rest on slip and sticky planes do not lift off, and hard impacts rebound from both."""

from functools import lru_cache

import numpy as np
import pytest

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider, Emitter
from tests import diagnostics

from .cases.impact import bouncing_ball
from .cases.setting import GRAVITY, block, lattice, material, observe, scene

SPACING, OFFSET = 0.05, 0.5
GROUND = OFFSET * SPACING


@lru_cache
def lifted(law: str, surface: str) -> float:
    """How high a block of four cells that begins on a plane is 0.3 s later if gravity points upward: its lowest 2 % above the plane [m]."""
    resting = Emitter("block", block((-0.2, 0.0, GROUND), (0.2, 0.2, GROUND + 0.2)), law, **lattice(2))
    floor = Collider("floor", SHAPES["plane"](point=(0.0, 0.0, GROUND)), surface=surface, friction=0.0)
    described = scene(
        resting,
        material(law),
        seconds=0.3,
        fps=20.0,
        gravity=(0.0, 0.0, GRAVITY),
        colliders=(floor,),
        dimension=2,
        grid_spacing=SPACING,
    )
    _, heights = observe(described, lambda simulation: float(np.quantile(diagnostics.positions(simulation)[:, 2], 0.02)) - GROUND)
    return heights[-1]


@pytest.mark.parametrize("surface", ["slip", "sticky"])
@pytest.mark.parametrize("law", ["corotated", "snow"])
def test_solids_hang_on_slip_and_sticky_planes(law: str, surface: str) -> None:
    """In free fall they would be 0.44 m away, as they are from a plane that they can leave."""
    assert lifted(law, surface) < 0.5 * SPACING
    assert lifted(law, "separate") == pytest.approx(0.44, abs=0.02)


@pytest.mark.parametrize("surface", ["slip", "sticky"])
def test_water_drips_off_them_and_jelly_rebounds_from_a_hard_impact(surface: str) -> None:
    """What the help of the two surfaces says."""
    assert lifted("water", surface) > 0.1
    assert bouncing_ball(2, cells=20, surface=surface).rebound > 0.5
