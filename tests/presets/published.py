"""Measurements of a published scene: heights, spreads, pieces. Lengths in m, speeds in m/s."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.description import Scene
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage import read_scene
from mpm_addon.storage.presets import scene_preset_folders

from .coarse import coarser

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """The frames of a scene; the first is its start."""

    scene: Scene
    # pytest would print the arrays of all of them for a test that fails as expected
    frames: tuple[Frame, ...] = field(repr=False)

    def body(self, frame: Frame, *names: str) -> NDArray[np.bool_]:
        """Which particles come from these emitters, from all without a name; shape (n,)."""
        numbers = [number for number, emitter in enumerate(self.scene.emitters) if not names or emitter.name in names]
        return np.isin(frame.attribute("emitter_index"), numbers)

    def positions(self, frame: int, *names: str) -> Floats:
        """Where the particles of some emitters are, shape (n, 3); frame -1 is the last."""
        its = self.frames[frame]
        return its.position[self.body(its, *names)].astype(np.float64)

    def velocities(self, frame: int, *names: str) -> Floats:
        """Velocities of the particles of some emitters, shape (n, 3)."""
        its = self.frames[frame]
        return its.velocity[self.body(its, *names)].astype(np.float64)

    def centers(self, *names: str) -> Floats:
        """The center of some emitters' particles in every frame, shape (frames, 3)."""
        return np.array([self.positions(number, *names).mean(axis=0) for number in range(len(self.frames))])

    def sizes(self, *names: str) -> Floats:
        """Extents of the middle 98 % of some emitters' particles along each axis, shape (frames, 3)."""
        return np.array([extents(self.positions(number, *names)) for number in range(len(self.frames))])

    def pieces(self, frame: int, *names: str, reach: float = 1.0) -> list[int]:
        """Particles in each piece, the largest first; what lies in neighboring cubes with edges of `reach` cells is one piece."""
        return pieces(self.positions(frame, *names), reach * self.scene.solver.grid_spacing)


def extents(positions: Floats) -> Floats:
    """Extents of the middle 98 % of particles along each axis, shape (3,)."""
    low, high = np.quantile(positions, (0.01, 0.99), axis=0)
    return high - low


def pieces(positions: Floats, edge: float) -> list[int]:
    """Particles in each group of cubes of the given edge that touch at faces, edges or corners, the largest first."""
    cubes, counts = np.unique(np.floor(positions / edge).astype(np.int64), axis=0, return_counts=True)
    left = {tuple(cube): int(count) for cube, count in zip(cubes.tolist(), counts, strict=True)}
    steps = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)]
    sizes = []
    while left:
        cube, size = left.popitem()
        reached = [cube]
        while reached:
            x, y, z = reached.pop()
            for i, j, k in steps:
                neighbor = (x + i, y + j, z + k)
                if neighbor in left:
                    size += left.pop(neighbor)
                    reached.append(neighbor)
        sizes.append(size)
    return sorted(sizes, reverse=True)


@lru_cache(maxsize=8)
def play(name: str, variant: str | None, *, spacing: float, frames: float = 1.0, change: Callable[[Scene], Scene] | None = None) -> Run:
    """Simulate the first part of a preset's frames on a grid of the given spacing, optionally with a changed scene."""
    scene = read_scene(scene_preset_folders()[name], variant)
    scene = coarser(scene, spacing / scene.solver.grid_spacing, frames=frames)
    if change is not None:
        scene = change(scene)
    return Run(scene, tuple(Simulation(scene).frames()))


def with_laws(scene: Scene, **laws: object) -> Scene:
    """The scene with other laws of some materials, by name."""
    return replace(scene, materials={name: replace(each, law=laws.get(name, each.law)) for name, each in scene.materials.items()})
