"""Inflows: how much an emitter emits, and when, as a steady stream or into free space.

A steady stream (see `geometry.stream`) emits exactly as much as its velocity carries in. Every other inflow fills the free part of its
shape, at moments so close together that neither particles nor the emitter move more than half a cell in between. No state is stored
between moments: the amount that is due depends on time alone, and the free part on the particles that are present.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..geometry.nearness import free_places
from ..geometry.sampling import sample_shape
from ..geometry.shapes.points import Points
from ..geometry.stream import Stream
from ..scene.animation import value_at
from ..scene.description import Scene
from ..scene.emitter import PARTICLES_PER_CELL
from .emitter_shape import EmitterShape, prepared, subject_of
from .schedule import LARGEST_GAP, first_frame, greatest_speed, has_flow_rate, in_plane, last_frame, volume_due
from .surroundings import Surroundings

Floats = NDArray[np.float64]

MOST_MOMENTS = 500
# Candidate points for each particle that fits.
CANDIDATES = 4.0
# The least distances of new particles from others, in units of r with N r^d / V = FILLED_PACKING: first r, then slightly less, until the
# shape is full. In a stream through the shape the measured density is 1.00 to 1.07 times the rest density.
FILLED_PACKING = {2: 0.714, 3: 0.6805}
DISTANCES = (1.0, 0.92)
# Points of a stream are left out if they are nearer to particles than this [point spacings].
STREAM_DISTANCE = 0.5


def seed_of(scene: Scene, index: int, frame: int, *more: int) -> int:
    """The seed of an emitter's random choices at a moment."""
    sequence = np.random.SeedSequence([scene.solver.seed, index, frame % 2**32, *more])
    return int(sequence.generate_state(1)[0] % 2**31)


def moments_of(scene: Scene, index: int, frame: int) -> tuple[float, ...]:
    """The moments of an inflow between its first and last frame: fractions of the time from `frame` to the next, ascending."""
    emitter = scene.emitters[index]
    count = _moment_count(scene, index, frame) if frame < last_frame(emitter, scene) else 1
    moments = tuple(moment / count for moment in range(count))
    if has_flow_rate(emitter):
        return moments
    return tuple(moment for moment in moments if value_at(emitter, "enabled", frame + moment))


def _moment_count(scene: Scene, index: int, frame: int) -> int:
    """The number of an inflow's moments from one frame to the next."""
    emitter = scene.emitters[index]
    if emitter.is_stream(scene.solver.dimension):
        speed = float(np.linalg.norm(in_plane(emitter.velocity, scene)))
        return max(1, math.ceil(speed * scene.time.frame_seconds / (LARGEST_GAP * scene.solver.grid_spacing) - 1e-9))
    advance = greatest_speed(scene, emitter, frame) * scene.time.frame_seconds
    return min(max(1, math.ceil(advance / (LARGEST_GAP * scene.solver.grid_spacing) - 1e-9)), MOST_MOMENTS)


def flow_in(
    scene: Scene, index: int, placed: EmitterShape, frame: int, fraction: float, surroundings: Surroundings | None
) -> tuple[Floats, Floats]:
    """The particles that an inflow emits at one of its moments: positions [m] (n, 3) and rest volumes (n,)."""
    emitter = scene.emitters[index]
    if emitter.is_stream(scene.solver.dimension):
        return _stream_in(scene, index, placed, frame, fraction, surroundings)
    volume = _particle_volume(scene, index)
    most = None
    if has_flow_rate(emitter):
        now, before = frame + fraction, _moment_before(scene, index, frame, fraction)
        due = volume_due(scene, emitter, now) / volume
        past = volume_due(scene, emitter, before) / volume if before is not None else 0.0
        # products of rates and times are integers only up to rounding
        most = math.floor(due + 1e-9) - math.floor(past + 1e-9)
    if most == 0:
        return np.empty((0, 3)), np.empty(0)
    space = FreeSpace(placed, volume, surroundings, most)
    for density in (1.0, CANDIDATES):
        key = round(fraction * 2**30), int(density)
        points = _candidates(scene, index, placed, density, seed_of(scene, index, frame, *key))
        points = points[np.random.default_rng(seed_of(scene, index, frame, *key, 1)).permutation(len(points))]
        points = points[space.outside_colliders(points)]
        if density == 1.0:
            space.take(points, 1.0, is_arranged=True)
        else:
            for distance in DISTANCES:
                space.take(points, distance)
    return space.taken, np.full(len(space.taken), volume)


def _moment_before(scene: Scene, index: int, frame: int, fraction: float) -> float | None:
    """The previous moment of an inflow with a flow rate, in frames; None for the first."""
    earlier = [moment for moment in moments_of(scene, index, frame) if moment < fraction]
    if earlier:
        return frame + earlier[-1]
    if frame <= max(first_frame(scene.emitters[index], scene), scene.time.frame_start):
        return None
    return frame - 1 + moments_of(scene, index, frame - 1)[-1]


def _particle_volume(scene: Scene, index: int) -> float:
    """The volume of each particle of an inflow into free space [m^3], in 2D its area [m^2]."""
    emitter = scene.emitters[index]
    if emitter.particle_count is None:
        return scene.solver.grid_spacing**scene.solver.dimension / (emitter.particles_per_cell or PARTICLES_PER_CELL)
    start = float(max(first_frame(emitter, scene), scene.time.frame_start))
    return prepared(scene, index, "volume", lambda: EmitterShape(scene, index, start).volume()) / emitter.particle_count


def _candidates(scene: Scene, index: int, placed: EmitterShape, density: float, seed: int) -> Floats:
    """World positions (n, 3) of Poisson-disk points in the shape, `density` of them for each particle that fits."""
    spacing, dimension = scene.solver.grid_spacing, scene.solver.dimension
    per_cell = density * spacing**dimension / _particle_volume(scene, index)

    def sample(seed: int) -> Floats:
        return sample_shape(
            placed.solid,
            grid_spacing=spacing / placed.scale,
            particles_per_cell=per_cell,
            seed=seed,
            subject=subject_of(scene.emitters[index]),
            dimension=dimension,
        )

    if not placed.is_rigid:
        return sample(seed)
    return placed.world(prepared(scene, index, f"candidates {density}", lambda: sample(seed_of(scene, index, 0, int(density)))))


class FreeSpace:
    """The free part of an emitter's shape at a moment: away from present particles, and outside colliders.

    New particles never exceed the volume of the free part, so that refilling a shape does not make material expand.

    Args:
        placed: the shape.
        volume: of each new particle [m^3].
        surroundings: what surrounds the emitter; None for nothing.
        most: largest number of new particles; by default as many as fit.

    Attributes:
        present: positions of the particles in and around the shape [m], shape (k, 3).
        content: the volume of those inside it [m^3].
        taken: positions of new particles [m], shape (n, 3).
    """

    def __init__(self, placed: EmitterShape, volume: float, surroundings: Surroundings | None, most: int | None = None) -> None:
        self._placed, self._volume, self._surroundings, self._most = placed, volume, surroundings, most
        dimension = placed.scene.solver.dimension
        self._radius = (FILLED_PACKING[dimension] * volume) ** (1.0 / dimension)
        self.present, self.content, self.taken = np.empty((0, 3)), 0.0, np.empty((0, 3))
        self._free_share = 1.0
        if surroundings is not None:
            self.present, volumes = surroundings.particles_in(placed.bounds() + np.array([[-self._radius], [self._radius]]))
            if len(self.present) and not isinstance(placed.solid, Points):
                self.content = float(volumes[placed.are_inside(self.present)].sum())

    def outside_colliders(self, points: Floats) -> NDArray[np.int64]:
        """The numbers of points (n, 3) that lie outside colliders; their share is that of the free part of the shape."""
        if self._surroundings is None or len(points) == 0:
            return np.arange(len(points))
        is_blocked, _ = self._surroundings.blocked(points, self._placed.frame, is_whole_shape=False)
        self._free_share = 1.0 - float(is_blocked.mean())
        return np.flatnonzero(~is_blocked)

    def take(self, points: Floats, distance: float, *, is_arranged: bool = False) -> NDArray[np.int64]:
        """Take the points that keep a distance from all particles, in order, until the shape is full.

        Args:
            points: candidates [m], shape (n, 3).
            distance: least distance, in units of the r of `FILLED_PACKING`.
            is_arranged: whether the points already keep this distance from each other.

        Returns:
            numbers of the points that are taken, ascending.
        """
        most = len(points)
        if not isinstance(self._placed.solid, Points):
            most = math.floor((self._free_share * self._placed.volume() - self.content) / self._volume + 0.5) - len(self.taken)
        if self._most is not None:
            most = min(most, self._most - len(self.taken))
        if most <= 0:
            return np.zeros(0, np.int64)
        occupied = np.concatenate([self.present, self.taken])
        found = np.flatnonzero(free_places(points, occupied, distance * self._radius, most=most, is_mutual=not is_arranged))
        self.taken = np.concatenate([self.taken, points[found]])
        return found


def _stream_in(
    scene: Scene, index: int, placed: EmitterShape, frame: int, fraction: float, surroundings: Surroundings | None
) -> tuple[Floats, Floats]:
    """The particles of a steady stream: at first they fill its shape, then those that the flow carries in unless they are blocked."""
    emitter, dimension = scene.emitters[index], scene.solver.dimension
    stream: Stream = prepared(scene, index, "stream", lambda: _make_stream(scene, index))
    count = _moment_count(scene, index, frame)
    start = max(first_frame(emitter, scene), scene.time.frame_start)
    moment = (frame - start) * count + round(fraction * count)
    if moment == 0:
        position, volume = stream.filling, placed.volume() / len(stream.filling)
    else:
        advance = float(np.linalg.norm(in_plane(emitter.velocity, scene))) * scene.time.frame_seconds / count
        position, volume = stream.entering((moment - 1) * advance, moment * advance), stream.particle_volume
    if surroundings is not None and len(position):
        position = position[~surroundings.blocked(position, frame + fraction, is_whole_shape=False)[0]]
        spacing = volume ** (1.0 / dimension)
        present, volumes = surroundings.particles_in(placed.bounds() + np.array([[-spacing], [spacing]]))
        if len(present):
            content = float(volumes[placed.are_inside(present)].sum())
            # a lattice enters one layer at a time
            fitting = math.floor((placed.volume() + stream.cross_section * spacing - content) / volume)
            distance = STREAM_DISTANCE * spacing if emitter.sampling != "random" else 1e-3 * spacing
            position = position[free_places(position, present, distance, most=fitting, is_mutual=False)]
    return position, np.full(len(position), volume)


def _make_stream(scene: Scene, index: int) -> Stream:
    emitter, dimension = scene.emitters[index], scene.solver.dimension
    shape = EmitterShape(scene, index, float(scene.time.frame_start)).solid
    velocity = in_plane(emitter.velocity, scene)
    per_cell = emitter.particles_per_cell or PARTICLES_PER_CELL
    volume = scene.solver.grid_spacing**dimension / per_cell
    if emitter.particle_count is not None:
        volume = shape.volume() / emitter.particle_count
    while True:
        stream = Stream(
            shape,
            velocity / np.linalg.norm(velocity),
            volume ** (1.0 / dimension),
            sampling=emitter.sampling,
            seed=seed_of(scene, index, 0),
            dimension=dimension,
        )
        if len(stream.filling) >= (emitter.particle_count or 0):
            break
        volume *= 0.98
    if len(stream.filling) == 0:
        raise SceneError(
            "no particle fits into the shape",
            f"use a smaller `grid_spacing` than {scene.solver.grid_spacing:g} m",
            subject=subject_of(emitter),
        )
    if emitter.particle_count is not None:
        generator = np.random.default_rng(seed_of(scene, index, 0))
        chosen = generator.choice(len(stream.filling), emitter.particle_count, replace=False)
        stream.filling = stream.filling[np.sort(chosen)]
    return stream
