"""Particles from emitters: positions, velocities, masses and volumes. Knows neither files nor the solver's grid.

The simulation asks for the `moments` of each frame and calls `emit` at each of them. No state is stored between moments, so that a
simulation can be resumed from any frame.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..geometry.sampling import sample_shape, sampled_volumes
from ..geometry.shapes.points import Points
from ..laws.law import FluidLaw
from ..scene.animation import value_at
from ..scene.description import Scene
from ..transfer.particle_store import MaterialPoints
from .emitter_shape import EmitterShape, prepared, start_motion, subject_of
from .inflow import FreeSpace, flow_in, moments_of, seed_of
from .painted import Painted, paint
from .schedule import first_frame, frame_of_once, in_plane, last_frame
from .surroundings import Surroundings

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """Particles that one emitter creates at one moment.

    Attributes:
        emitter_index: number of the emitter in the scene.
        points: positions, velocities, masses and volumes of the particles.
        painted: the emitter's painted values at the particles.
    """

    emitter_index: int
    points: MaterialPoints
    painted: Painted


def moments(scene: Scene, frame: int) -> tuple[float, ...]:
    """The moments of a frame at which particles are emitted.

    Args:
        scene: the scene.
        frame: number of the frame.

    Returns:
        Fractions of the time to the next frame, ascending, in [0, 1); 0 is the frame itself.
    """
    return tuple(sorted({fraction for index in range(len(scene.emitters)) for fraction in _moments_of(scene, index, frame)}))


def emit(scene: Scene, frame: int, fraction: float = 0.0, surroundings: Surroundings | None = None) -> list[Batch]:
    """The particles that are emitted at a moment.

    Args:
        scene: the scene.
        frame: number of a frame.
        fraction: one of the frame's `moments`.
        surroundings: the particles and colliders that are present; None for empty space.

    Returns:
        Batches in the order of the emitters, without empty ones.

    Raises:
        SceneError: a shape cannot be filled, or all its particles lie inside colliders.
    """
    batches: list[Batch] = []
    for index in range(len(scene.emitters)):
        if fraction in _moments_of(scene, index, frame):
            around = None if surroundings is None else _WithBatches(surroundings, batches)
            batch = _batch(scene, index, frame, fraction, around)
            if len(batch.points.position):
                batches.append(batch)
    return batches


class _WithBatches:
    """Surroundings that also include the batches already emitted at the same moment."""

    def __init__(self, surroundings: Surroundings, batches: list[Batch]) -> None:
        self._batches = batches
        self._surroundings = surroundings
        self.blocked = surroundings.blocked

    def particles_in(self, bounds: Floats) -> tuple[Floats, Floats]:
        position, volume = self._surroundings.particles_in(bounds)
        for batch in self._batches:
            points = batch.points
            is_in = ((points.position >= bounds[0]) & (points.position <= bounds[1])).all(axis=1)
            position = np.concatenate([position, points.position[is_in]])
            volume = np.concatenate([volume, points.volume[is_in]])
        return position, volume


def _moments_of(scene: Scene, index: int, frame: int) -> tuple[float, ...]:
    emitter = scene.emitters[index]
    start = first_frame(emitter, scene)
    if emitter.mode == "once":
        return (0.0,) if frame == prepared(scene, index, "once", lambda: frame_of_once(emitter, scene)) else ()
    if not start <= frame <= last_frame(emitter, scene):
        return ()
    if emitter.mode == "repeat":
        return (0.0,) if (frame - start) % emitter.interval == 0 and value_at(emitter, "enabled", frame) else ()
    return moments_of(scene, index, frame)


def _batch(scene: Scene, index: int, frame: int, fraction: float, surroundings: Surroundings | None) -> Batch:
    emitter = scene.emitters[index]
    placed = EmitterShape(scene, index, frame + fraction)
    if emitter.mode == "inflow":
        position, volume = flow_in(scene, index, placed, frame, fraction, surroundings)
        chosen = np.arange(len(position))
    else:
        position, volume = _fill(scene, index, placed, frame)
        if emitter.mode == "repeat":
            chosen = _in_free_space(position, float(volume.mean()), placed, surroundings)
        else:
            chosen = _outside(position, placed, surroundings)
    if isinstance(placed.own, Points):
        # each point has its own velocity
        velocity, gradient = (each[chosen] for each in start_motion(placed, position))
    else:
        velocity, gradient = start_motion(placed, position[chosen])
    position, volume = position[chosen], volume[chosen]
    if emitter.velocity_spread > 0.0:
        generator = np.random.default_rng(seed_of(scene, index, frame, round(fraction * 2**30), 1))
        velocity = velocity + in_plane(generator.normal(scale=emitter.velocity_spread, size=velocity.shape), scene)
    painted = paint(scene, index, placed, position, chosen)
    density = scene.materials[emitter.material].law.density * np.array([factors.density for factors in painted.combinations])
    mass = density[painted.combination] * volume
    return Batch(index, MaterialPoints(position, velocity, gradient, mass, volume), painted)


def _in_free_space(position: Floats, volume: float, placed: EmitterShape, surroundings: Surroundings | None) -> NDArray[np.int64]:
    """The numbers of the positions (n, 3) that lie outside colliders and away from present particles."""
    space = FreeSpace(placed, volume, surroundings)
    free = space.outside_colliders(position)
    if len(space.present) == 0:
        return free
    seed = seed_of(placed.scene, placed.index, math.floor(placed.frame), 2)
    order = np.random.default_rng(seed).permutation(free)
    return np.sort(order[space.take(position[order], 1.0, is_arranged=True)])


def _outside(position: Floats, placed: EmitterShape, surroundings: Surroundings | None) -> NDArray[np.int64]:
    """The numbers of the positions (n, 3) that lie outside colliders; sticky colliders clamp particles inside them."""
    if surroundings is None:
        return np.arange(len(position))
    is_blocked, names = surroundings.blocked(position, placed.frame, is_whole_shape=True)
    if is_blocked.all():
        colliders = ", ".join(f'"{name}"' for name in names)
        raise SceneError(
            f"it lies entirely inside Collider {colliders}",
            "move one of them, or make the collider sticky to clamp the body in it",
            subject=subject_of(placed.emitter),
        )
    return np.flatnonzero(~is_blocked)


def _fill(scene: Scene, index: int, placed: EmitterShape, frame: int) -> tuple[Floats, Floats]:
    """Positions and rest volumes of particles that fill a shape; the volumes add up to the shape's."""
    emitter, spacing, dimension = placed.emitter, scene.solver.grid_spacing, scene.solver.dimension
    if isinstance(placed.own, Points):
        position = placed.world(in_plane(placed.own.position, scene))
        if placed.own.volume is None:
            return position, point_volumes(position, spacing, dimension)
        return position, np.asarray(placed.own.volume, np.float64) * placed.scale**dimension
    position = sample_shape(
        placed.solid,
        grid_spacing=spacing / placed.scale,
        particles_per_cell=emitter.particles_per_cell,
        particle_count=emitter.particle_count,
        sampling=emitter.sampling,
        # a different arrangement for every emission, and for two emitters of the same shape
        seed=seed_of(scene, index, frame),
        subject=subject_of(emitter),
        dimension=dimension,
    )
    if isinstance(scene.materials[emitter.material].law, FluidLaw):
        # only the pressure of fluids depends on how densely the particles are sampled
        volume = sampled_volumes(placed.solid, position, sampling=emitter.sampling, dimension=dimension) * placed.scale**dimension
    else:
        volume = np.full(len(position), placed.volume() / len(position))
    return placed.world(position), volume


def point_volumes(position: Floats, spacing: float, dimension: int = 3) -> Floats:
    """Rest volumes of points without volumes, from their number density on the grid (Jiang et al. 2016, section 7).

    Args:
        position: [m], shape (n, 3).
        spacing: cell size [m].
        dimension: 3, or 2 for areas from x and z alone.

    Returns:
        [m^d], shape (n,): 1 / sum_i w_ip n_i, with n_i = sum_p w_ip / h^d.
    """
    position = position if dimension == 3 else position[:, [0, 2]]
    base = np.floor(position / spacing - 0.5).astype(np.int64)
    offset = position / spacing - base - 1.0
    weights = np.stack([0.5 * (0.5 - offset) ** 2, 0.75 - offset**2, 0.5 * (0.5 + offset) ** 2], axis=1)
    low = base.min(axis=0)
    size = base.max(axis=0) - low + 3
    if math.prod(int(extent) for extent in size) >= 2**62:
        raise SceneError("they lie too far apart to be counted on the grid", "set their volume", subject="points")
    corners = np.stack(np.meshgrid(*[range(3)] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    shares = np.stack([np.prod([weights[:, node, axis] for axis, node in enumerate(corner)], axis=0) for corner in corners], axis=1)
    keys = np.zeros(shares.shape, dtype=np.int64)
    for axis in range(dimension):
        keys = keys * size[axis] + (base[:, axis] - low[axis])[:, None] + corners[:, axis]
    _, number = np.unique(keys, return_inverse=True)
    number = number.reshape(keys.shape)
    density = np.bincount(number.ravel(), shares.ravel())
    return spacing**dimension / (shares * density[number]).sum(axis=1)
