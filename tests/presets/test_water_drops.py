"""The preset Water Drops: a falling cube of it becomes a ball, and the pre-flight says what that costs on fine cells."""

import numpy as np
import pytest

from mpm_addon.core.advice.capillarity import tense_surfaces
from mpm_addon.core.geometry.shapes import Box
from mpm_addon.core.messages import Topic
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.scene.settings import Solver, Time
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage import load_material_preset

EDGE = 0.02
# Moments of fourth and second order: 1.27 in a cube, 25/21 in a ball.
CUBE, BALL = 1.27, 25.0 / 21.0


def falling(preset: str, *, grid_spacing: float, frames: int = 2, fps: float = 24.0) -> Scene:
    water = Material("water", load_material_preset(preset))
    cube = Emitter("cube", Box(center=(0.0, 0.0, 0.0), size=(EDGE,) * 3), "water")
    return Scene("fall", Solver(grid_spacing=grid_spacing), {"water": water}, (cube,), time=Time(fps=fps, frame_end=frames))


def roundness(preset: str) -> float:
    """After 0.7 s, two periods of a ball as large."""
    *_, last = Simulation(falling(preset, grid_spacing=0.0025, frames=18)).frames()
    squared = np.square(last.position - last.position.mean(axis=0)).sum(axis=1)
    return float((squared**2).mean() / squared.mean() ** 2)


@pytest.mark.slow
def test_a_falling_cube_of_two_centimeters_becomes_a_ball() -> None:
    assert roundness("water_drops") == pytest.approx(BALL, abs=0.015)
    # water of the usual preset stays a cube
    assert roundness("water") > CUBE - 0.015


def test_fine_cells_are_warned_of() -> None:
    assert [each.topic for each in tense_surfaces(falling("water_drops", grid_spacing=0.00005))] == [Topic.SURFACE_SUBSTEPS]
    assert not list(tense_surfaces(falling("water_drops", grid_spacing=0.0025)))
    assert not list(tense_surfaces(falling("water", grid_spacing=0.00005)))
