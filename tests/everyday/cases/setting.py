"""Shared by the everyday cases: scenes from files, moved on the grid, and measurements of their water."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mpm_addon.core.scene.description import Scene
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage.scene_file import read_scene
from tests import diagnostics
from tests.verification.cases.setting import Floats

SCENES = Path(__file__).parents[1] / "scenes"
# where between two nodes the floor and the walls lie [cells]; tests take one that is not zero
OFFSETS = (0.0, 0.25, 0.5, 0.75)
TESTED_OFFSET = 0.25
# what shapes say of their place
_PLACES = ("center", "point")


def everyday_scene(name: str, *, offset: float = 0.0, spacing: float | None = None, material: Mapping[str, Any] | None = None) -> Scene:
    """A scene of this folder.

    Args:
        name: of its file.
        offset: how far everything is moved along all axes [cells].
        spacing: another cell size [m].
        material: other parameters of its one material.
    """
    scene = read_scene(SCENES / f"{name}.toml")
    solver = replace(scene.solver, grid_spacing=spacing or scene.solver.grid_spacing)
    way = offset * solver.grid_spacing
    domain = scene.domain
    if domain.corners is not None:
        low, high = (tuple(float(each + way) for each in corner) for corner in domain.corners)
        domain = replace(domain, min=low, max=high)
    materials = dict(scene.materials)
    if material is not None:
        ((key, each),) = materials.items()
        materials[key] = replace(each, law=replace(each.law, **material))
    return replace(
        scene,
        solver=solver,
        domain=domain,
        materials=materials,
        emitters=tuple(replace(each, shape=_moved(each.shape, way)) for each in scene.emitters),
        colliders=tuple(replace(each, shape=_moved(each.shape, way)) for each in scene.colliders),
    )


def _moved(shape: Any, way: float) -> Any:
    places = {name: tuple(float(each + way) for each in getattr(shape, name)) for name in _PLACES if hasattr(shape, name)}
    return replace(shape, **places)


@dataclass(frozen=True)
class Pool:
    """Material in a box without leaks, at one moment.

    Attributes:
        mean_height: twice the height of the center of volume, over what the volume fills at rest density.
        surface: the 98 % quantile of the heights over .98 of the same, mean of columns two cells wide along x.
        density: by layers of two cells from the floor up, rest volume over space; volume_ratio: 1 / mean J there.
    """

    mean_height: float
    surface: float
    density: Floats
    volume_ratio: Floats

    def full_layers(self) -> slice:
        """The layers below the one with the surface."""
        return slice(0, max(int(np.count_nonzero(self.density > 0.9)) - 1, 1))


def pool_of(simulation: Simulation) -> Pool:
    """What the material of a simulation in a box domain looks like now."""
    domain = simulation.scene.domain
    low, high = np.array((domain.min, domain.max), np.float64)
    volume = diagnostics.rest_volumes(simulation)
    height = diagnostics.positions(simulation)[:, 2] - low[2]
    area = float((high[0] - low[0]) * (high[1] - low[1]))
    level = volume.sum() / area
    layer = 2.0 * simulation.scene.solver.grid_spacing
    number = np.maximum((height / layer).astype(int), 0)
    # particles may sink a little into the walls
    last = round((high[0] - low[0]) / layer) - 1
    columns = np.clip((diagnostics.positions(simulation)[:, 0] - low[0]) / layer, 0, last).astype(int)
    surfaces = [float(np.quantile(height[columns == column], 0.98)) for column in np.unique(columns)]
    count = np.bincount(number)
    ratio = np.bincount(number, diagnostics.volume_ratios(simulation)) / np.maximum(count, 1)
    return Pool(
        2.0 * float(np.average(height, weights=volume)) / level,
        float(np.mean(surfaces)) / 0.98 / level,
        np.bincount(number, volume) / (area * layer),
        1.0 / np.where(count > 0, ratio, 1.0),
    )


def pools(scene: Scene, times: tuple[float, ...]) -> list[Pool]:
    """The pool at some times [s], of a simulation that ends at the last."""
    frames = [round(time * scene.time.fps) for time in times]
    simulation = Simulation(replace(scene, time=replace(scene.time, frame_end=frames[-1])))
    found = []
    for number, _ in enumerate(simulation.frames()):
        if number in frames:
            found.append(pool_of(simulation))
    return found
