"""How the work of a bake is expected to be spread over its frames: more substeps in what hardens, and more blocks where liquids spread.

Blocks of the grid cost about as much as hundreds of particles, so a liquid that has fallen and spread in a thin layer takes several times
as long as the drop that it was. Plain numpy.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..emission.schedule import in_plane
from ..geometry.rotation import Floats
from ..laws.law import FluidLaw
from ..scene.description import Emitter, Scene
from .estimate import BLOCK, particles_at_frames, substep_rates, wave_speed_of
from .impact import Impact, first_impact
from .placement import bounds_at

# Particles that take as long as a block of the grid in the same substep: measured with falling water of 20,000 and 64,000 particles.
PARTICLES_PER_BLOCK = 600.0
# Spray and chunks occupy more blocks than a layer of one cell does. At first, a splash lies in more blocks than its area has.
_SPRAY, _CHUNKS, _CALM, _SPLASH = 3.0, 1.5, 1.1, 1.4
# A splash falls back within this many times the fall before it.
_SETTLING = 1.5
# What hardens shatters if it is compressed by more than this at an impact, and its pieces fly with this share of the speed.
_SHATTERING, _THROWN = 0.25, 0.3
# What every substep costs, in blocks.
_LEAST = 30.0


def course_of(scene: Scene) -> NDArray[np.float64]:
    """The work of each frame but the first, relative to each other, shape (frames - 1,), positive."""
    time = scene.time
    ends = np.array([time.seconds_at(frame) for frame in time.frames])
    substeps = np.zeros(len(ends) - 1)
    for begin, stop, rate in substep_rates(scene):
        substeps += rate * np.clip(np.minimum(ends[1:], stop) - np.maximum(ends[:-1], begin), 0.0, None)
    particles = np.array(particles_at_frames(scene))[1:]
    share = particles / max(float(particles.max(initial=0.0)), 1.0)
    blocks = np.sum(
        [_blocks(scene, emitter, 0.5 * (ends[1:] + ends[:-1])) for emitter in scene.emitters] or [np.ones(len(substeps))], axis=0
    )
    return np.maximum(substeps, 1.0) * (particles / PARTICLES_PER_BLOCK + _LEAST + blocks * share)


def _blocks(scene: Scene, emitter: Emitter, seconds: Floats) -> Floats:
    """The approximate number of blocks that an emitter's particles occupy, if all have been emitted, at moments [s], shape (n,)."""
    dimension, block = scene.solver.dimension, BLOCK * scene.solver.grid_spacing
    axes = [0, 1, 2] if dimension == 3 else [0, 2]
    box = bounds_at(emitter, scene.time.frame_start)[:, axes]
    if not np.isfinite(box).all():
        return np.ones(len(seconds))
    extent = box[1] - box[0]
    compact = float(np.prod(extent / block + 1.0))
    impact = first_impact(scene, emitter)
    speed = 0.0 if impact is None or _is_held(scene, box, axes) else _spreading_speed(scene, emitter, impact, float(extent[-1]))
    if impact is None or speed == 0.0:
        return np.full(len(seconds), compact)
    since = np.clip(seconds - impact.seconds, 0.0, None)
    spread = np.prod(np.minimum(extent[:-1] + 2.0 * speed * since[:, None], _ground(scene, axes[:-1])) / block + 1.0, axis=1)
    layer = float(np.prod(extent)) / scene.solver.grid_spacing / block ** (dimension - 1)
    scattered = _SPRAY if isinstance(scene.materials[emitter.material].law, FluidLaw) else _CHUNKS
    fall = speed / max(float(np.linalg.norm(in_plane(scene.solver.gravity, scene))), 1e-9)
    splash = _CALM + _SPLASH * np.exp(-since / (_SETTLING * fall))
    return np.where(since > 0.0, np.maximum(compact, splash * np.minimum(spread, scattered * layer)), compact)


def _spreading_speed(scene: Scene, emitter: Emitter, impact: Impact, height: float) -> float:
    """The speed with which an emitter's material of a height [m] spreads after its first impact [m/s]; 0 if it stays in one piece."""
    law = scene.materials[emitter.material].law
    if isinstance(law, FluidLaw):
        # what rests falls from its own height
        return max(impact.speed, math.sqrt(float(np.linalg.norm(in_plane(scene.solver.gravity, scene))) * height))
    wave = wave_speed_of(emitter, scene)
    is_shattered = law.stiffening(wave, math.inf) > 1.0 and impact.speed > _SHATTERING * wave
    return _THROWN * impact.speed if is_shattered else 0.0


def _is_held(scene: Scene, box: Floats, axes: list[int]) -> bool:
    """Whether the lower end of an emitter with this bounding box [m] begins inside a collider's, as in a bowl."""
    around = (bounds_at(collider, scene.time.frame_start)[:, axes] for collider in scene.colliders)
    lower = np.array([box[0], [*box[1, :-1], box[0, -1]]])
    return any(bool(np.isfinite(each).all() and (each[0] <= lower[0]).all() and (lower[1] <= each[1]).all()) for each in around)


def _ground(scene: Scene, axes: list[int]) -> Floats:
    """The extents of the ground on which a liquid can spread along horizontal axes [m]; infinite without an end."""
    widest = np.zeros(len(axes))
    if scene.domain.corners is not None:
        low, high = np.asarray(scene.domain.corners)
        widest = (high - low)[axes]
    else:
        for collider in scene.colliders:
            low, high = bounds_at(collider, scene.time.frame_start)[:, axes]
            widest = np.maximum(widest, high - low)
    return np.where(widest > 0.0, widest, np.inf)
