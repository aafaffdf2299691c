"""A preview of a scene: the same scene on a coarser grid, computed in seconds, that shows roughly how the bake will move.

Materials, forces and frames are unchanged because they determine the motion. What changes is the cell size, and with it the number of
particles; the number of particles per cell is unchanged unless an emitter is too thin for cells of the size that would require.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..forecast.estimate import particles_at_frames
from ..geometry.section import section_of
from ..geometry.shapes.points import Points
from ..messages import Message, SceneWarning, Topic
from ..scene.description import Collider, Emitter, Scene
from ..scene.emitter import PARTICLES_PER_CELL
from ..scene.painting import Painting
from ..scene.settings import CacheSettings
from .preflight import THINNEST_COLLIDER, thickness_of

# Default number of particles of a preview.
PARTICLES = 10_000
# Least thickness of an emitter [cells]: a thinner one has no inside that deforms.
EMITTER_CELLS = 4.0
# Least thickness of a collider [cells]: a thinner one acts as if it were thicker.
COLLIDER_CELLS = THINNEST_COLLIDER
# Share of the particles to aim for: sampling gives a few percent more or fewer than estimated.
AIM = 0.95
# The longest substeps that are still stable; a bake takes shorter ones because they cost it little.
CFL = 0.6
_SEARCHES = 40
_REMEDY = "use more particles for the preview"
# Least share of the particles per cell; with fewer, the material has holes.
_FEWEST_SHARE = 0.6


@dataclass(frozen=True)
class Preview:
    """A preview.

    Attributes:
        scene: the scene to simulate.
        coarseness: its grid spacing over that of the bake.
        particles: the approximate maximum number of particles.
        warnings: what the preview shows less well than the bake.
    """

    scene: Scene
    coarseness: float
    particles: int
    warnings: tuple[SceneWarning, ...]


def preview_of(scene: Scene, particles: int = PARTICLES) -> Preview:
    """A preview of a scene with at most `particles` particles in any of its frames.

    Raises:
        SceneError: the scene cannot be computed on any grid.
    """
    if _most(scene) <= particles:
        spacing, share = scene.solver.grid_spacing, 1.0
    else:
        spacing, share = _spacing_for(scene, AIM * particles)
    coarse = _at(scene, spacing, share)
    limits = _limits(scene, spacing)
    warnings = [_thin(item, thickness, spacing) for item, thickness, limit in limits if limit < 0.99 * spacing]
    if share < _FEWEST_SHARE:
        warnings.append(_sparse(scene, share))
    return Preview(coarse, spacing / scene.solver.grid_spacing, round(_most(coarse)), tuple(warnings))


def _most(scene: Scene) -> float:
    """The greatest number of particles at any frame."""
    return max(particles_at_frames(scene))


def _at(scene: Scene, spacing: float, share: float = 1.0) -> Scene:
    """The scene at another grid spacing [m], with a share of its particles per cell, and without the settings that only a bake needs."""
    factor = share * (scene.solver.grid_spacing / spacing) ** scene.solver.dimension
    return replace(
        scene,
        solver=replace(scene.solver, grid_spacing=spacing, time_step=None, precision="float32", cfl=max(CFL, scene.solver.cfl)),
        time=replace(scene.time, subframes=0),
        emitters=tuple(_thinned(emitter, factor, share) for emitter in scene.emitters),
        cache=CacheSettings(checkpoint_interval=100_000, checkpoint_count=1),
    )


def _thinned(emitter: Emitter, factor: float, share: float) -> Emitter:
    """An emitter with `factor` times its particle count if it sets one, else with `share` times its particles per cell."""
    if isinstance(emitter.shape, Points):
        return emitter if factor >= 1.0 else _with_fewer_points(emitter, emitter.shape, factor)
    if emitter.particle_count is not None:
        return replace(emitter, particle_count=max(1, math.floor(emitter.particle_count * factor)))
    if share == 1.0:
        return emitter
    return replace(emitter, particles_per_cell=share * (emitter.particles_per_cell or PARTICLES_PER_CELL))


def _with_fewer_points(emitter: Emitter, points: Points, factor: float) -> Emitter:
    """An emitter with a share of its points, always the same ones, which represent the whole volume."""
    count = len(points.position)
    fewer = max(1, math.floor(count * factor))
    chosen = np.sort(np.random.default_rng(0).permutation(count)[:fewer])
    shape = Points(
        points.position[chosen],
        None if points.velocity is None else points.velocity[chosen],
        None if points.volume is None else points.volume[chosen] * (points.volume.sum() / points.volume[chosen].sum()),
        points.source,
    )
    painting, motion = emitter.painting, emitter.motion
    if painting is not None:
        painting = Painting({name: values[chosen] for name, values in painting.values.items()})
    if motion is not None and motion.vertices is not None:
        motion = replace(motion, vertices=motion.vertices[:, chosen])
    return replace(emitter, shape=shape, painting=painting, motion=motion)


def _spacing_for(scene: Scene, particles: float) -> tuple[float, float]:
    """The grid spacing [m] that gives at most `particles` particles, and the share of the particles per cell.

    A cell may not be larger than an emitter; if that still gives too many particles, the number per cell is reduced.
    """
    largest = min((_extent(emitter, scene) for emitter in scene.emitters if _has_volume(emitter)), default=math.inf)
    low = high = scene.solver.grid_spacing
    largest = max(low, largest)
    for _ in range(_SEARCHES):
        high = min(1.5 * high, largest)
        if high == largest or _most(_at(scene, high)) <= particles:
            break
    if _most(_at(scene, high)) > particles:
        return high, _share_for(scene, high, particles)
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _most(_at(scene, middle)) <= particles else (middle, high)
    return high, 1.0


def _share_for(scene: Scene, spacing: float, particles: float) -> float:
    """The share of the particles per cell that gives at most `particles` particles."""
    share = 1.0
    for _ in range(_SEARCHES):
        found = _most(_at(scene, spacing, share))
        if found <= particles:
            break
        share *= 0.99 * particles / found
    return share


def _has_volume(emitter: Emitter) -> bool:
    return emitter.source == "volume" and emitter.shape.kind != "points"


def _extent(emitter: Emitter, scene: Scene) -> float:
    """The least extent [m] of an emitter's bounding box: a cell may not be larger."""
    return float(np.diff(emitter.shape.bounds()[:, :: 4 - scene.solver.dimension], axis=0).min())


def _limits(scene: Scene, spacing: float) -> Iterator[tuple[Emitter | Collider, float, float]]:
    """Items too thin for a grid spacing: the item, its thickness [m], and the largest spacing for it [m], at least the scene's."""
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
    kind, effect = ("emitter", "moves more stiffly") if is_emitter else ("collider", "acts thicker")
    problem = f"it is only {thickness / spacing:.2g} cells thick in the preview and {effect} than in the bake"
    return SceneWarning(Topic(f"thin_{kind}"), Message(problem, (_REMEDY,), f'{kind.capitalize()} "{item.name}"'))


def _sparse(scene: Scene, share: float) -> SceneWarning:
    problem = f"its preview has {share:.0%} of the bake's particles per cell, because an emitter is too thin for larger cells"
    return SceneWarning(Topic.PREVIEW_PARTICLES, Message(problem, (_REMEDY,), f'Scene "{scene.name}"'))
