"""A preview of a scene: the same scene at a coarser grid, computed in seconds, whose motion tells how the final will move.

Materials, forces and frames stay as they are, for they decide the motion. What changes is the size of a cell, and with it the number of
particles; the particles in a cell stay as many as they are. Cells stay small enough for thin emitters and colliders.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .description import Collider, Emitter, Scene
from .estimate import particles_at_frames
from .geometry.section import section_of
from .preflight import SceneWarning, thickness_of
from .settings import CacheSettings

# Particles of a preview, unless somebody wants another number.
PARTICLES = 10_000
# So many cells an emitter is to be thick: with less it has no inside that deforms.
EMITTER_CELLS = 4.0
# So many a collider: what is thinner is met as if it were thicker.
COLLIDER_CELLS = 2.0
# For thin things a preview may have so many times the particles that are wanted, and no more.
LARGEST_EXCESS = 2.0
# The longest steps that still are stable; the final has smaller ones because they cost it little.
CFL = 0.6
_SEARCHES = 40


@dataclass(frozen=True)
class Preview:
    """A preview.

    Attributes:
        scene: what is simulated.
        coarseness: its grid spacing over that of the final.
        particles: about how many there will be.
        warnings: what is seen worse in the preview than in the final.
    """

    scene: Scene
    coarseness: float
    particles: int
    warnings: tuple[SceneWarning, ...]


def preview_of(scene: Scene, particles: int = PARTICLES) -> Preview:
    """A preview of a scene with about so many particles at the most, or the scene's own number where that is less.

    Raises:
        SceneError: the scene cannot be computed at any grid.
    """
    wanted = _spacing_for(scene, particles)
    finest = min(wanted, _spacing_for(scene, math.ceil(LARGEST_EXCESS * particles)))
    limits = list(_limits(scene, wanted))
    chosen = max(finest, min([wanted, *(limit for _, _, limit in limits)]))
    largest = min((_extent(emitter, scene) for emitter in scene.emitters if _has_volume(emitter)), default=math.inf)
    spacing = max(scene.solver.grid_spacing, min(chosen, largest))
    coarse = _at(scene, spacing)
    count = round(max(particles_at_frames(coarse)))
    warnings = [_thin(item, thickness, spacing) for item, thickness, limit in limits if limit < 0.99 * spacing]
    if count > 1.2 * LARGEST_EXCESS * particles:
        warnings.append(_many(scene, count, particles))
    return Preview(coarse, spacing / scene.solver.grid_spacing, count, tuple(warnings))


def _at(scene: Scene, spacing: float) -> Scene:
    """The scene at another grid spacing [m], keeping nothing that only a final needs."""
    factor = (scene.solver.grid_spacing / spacing) ** scene.solver.dimension
    emitters = tuple(
        each if each.particle_count is None else replace(each, particle_count=max(1, round(each.particle_count * factor)))
        for each in scene.emitters
    )
    return replace(
        scene,
        solver=replace(scene.solver, grid_spacing=spacing, time_step=None, precision="float32", cfl=max(CFL, scene.solver.cfl)),
        time=replace(scene.time, subframes=0),
        emitters=emitters,
        cache=CacheSettings(checkpoint_interval=100_000, checkpoint_count=1),
    )


def _spacing_for(scene: Scene, particles: int) -> float:
    """The grid spacing [m], not below the scene's, at which there are so many particles at the most."""
    largest = min((_extent(emitter, scene) for emitter in scene.emitters if _has_volume(emitter)), default=math.inf)
    low = scene.solver.grid_spacing
    if not largest > low or max(particles_at_frames(scene)) <= particles:
        return low
    high = low
    for _ in range(_SEARCHES):
        high = min(1.5 * high, largest)
        if high == largest or max(particles_at_frames(_at(scene, high))) <= particles:
            break
    for _ in range(_SEARCHES):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if max(particles_at_frames(_at(scene, middle))) <= particles else (middle, high)
        if high < 1.001 * low:
            break
    return high


def _has_volume(emitter: Emitter) -> bool:
    return emitter.source == "volume" and emitter.shape.kind != "points"


def _extent(emitter: Emitter, scene: Scene) -> float:
    """The least extent [m] of an emitter's box: a cell may not be larger."""
    return float(np.diff(emitter.shape.bounds()[:, :: 4 - scene.solver.dimension], axis=0).min())


def _limits(scene: Scene, spacing: float) -> Iterator[tuple[Emitter | Collider, float, float]]:
    """What is too thin for a grid spacing: the thing, its thickness [m], and the largest spacing for it [m], not below the scene's."""
    for item in (*scene.emitters, *scene.colliders):
        is_emitter = isinstance(item, Emitter)
        if is_emitter and not _has_volume(item):
            continue
        cells = EMITTER_CELLS if is_emitter else COLLIDER_CELLS
        shape = item.shape if scene.solver.dimension == 3 else section_of(item.shape, f'"{item.name}"')
        thickness = thickness_of(item, shape, cells * spacing)
        if thickness is not None and thickness < 0.99 * cells * spacing:
            yield item, thickness, max(thickness / cells, scene.solver.grid_spacing)


def _thin(item: Emitter | Collider, thickness: float, spacing: float) -> SceneWarning:
    is_emitter = isinstance(item, Emitter)
    kind, effect = ("emitter", "moves stiffer") if is_emitter else ("collider", "is met as if it were thicker")
    message = (
        f"it is {thickness / spacing:.2g} cells thin in the preview and {effect} than in the final; use more particles for the preview."
    )
    return SceneWarning(f"thin_{kind}", f'{kind.capitalize()} "{item.name}"', message)


def _many(scene: Scene, count: int, particles: int) -> SceneWarning:
    message = f"its preview has {count} particles, not {particles}, because an emitter is too small or made of points; it will be slower."
    return SceneWarning("preview_particles", f'Scene "{scene.name}"', message)
