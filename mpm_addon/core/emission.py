"""From emitters to particles: positions, velocities, masses and volumes. No files, no grid of the solver.

Whoever simulates asks for the `moments` of each frame and takes at each of them what `emit` gives. Nothing is remembered from
one moment to the next, so that a simulation can be continued from any frame.
"""

import math
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .description import Emitter, Scene, Shape
from .errors import SceneError
from .geometry.sampling import PARTICLES_PER_CELL, sample_shape
from .geometry.section import section_of
from .geometry.shapes.mesh import Mesh
from .geometry.shapes.points import Points
from .geometry.stream import Stream

Floats = NDArray[np.float64]

# How far a flow may move between two moments of its emission [cells].
LARGEST_GAP = 0.5


@dataclass(frozen=True)
class Batch:
    """Particles that one emitter gives at one moment.

    Attributes:
        emitter_index: number of the emitter in the scene.
        position: [m], shape (n, 3); in 2D y is 0 here and everywhere below.
        velocity: [m/s], shape (n, 3).
        velocity_gradient: [1/s], shape (9,), the same for all.
        volume: rest volumes [m^3], in 2D areas [m^2], shape (n,).
        mass: [kg], in 2D per metre of depth, shape (n,).
    """

    emitter_index: int
    position: Floats
    velocity: Floats
    velocity_gradient: Floats
    volume: Floats
    mass: Floats


def moments(scene: Scene, frame: int) -> tuple[float, ...]:
    """The moments of a frame at which particles come.

    Args:
        scene: the scene.
        frame: number of the frame with which the stretch of time begins.

    Returns:
        Fractions of the time to the next frame, ascending, in [0, 1); 0 is the frame itself.
    """
    return tuple(sorted({fraction for emitter in scene.emitters for fraction in _moments_of(emitter, scene, frame)}))


def emit(scene: Scene, frame: int, fraction: float = 0.0) -> list[Batch]:
    """The particles that come into the scene at a moment.

    Args:
        scene: the scene.
        frame: number of a frame.
        fraction: one of the frame's `moments`.

    Returns:
        Batches in the order of the emitters, none of them empty.
    """
    batches = [
        _batch(scene, index, frame, fraction)
        for index, emitter in enumerate(scene.emitters)
        if fraction in _moments_of(emitter, scene, frame)
    ]
    return [batch for batch in batches if len(batch.position)]


def _moments_of(emitter: Emitter, scene: Scene, frame: int) -> tuple[float, ...]:
    start = scene.time.frame_start if emitter.frame_start is None else emitter.frame_start
    if emitter.mode == "once":
        return (0.0,) if frame == start else ()
    end = scene.time.frame_end if emitter.frame_end is None else emitter.frame_end
    if not start <= frame <= end:
        return ()
    if emitter.mode == "repeat":
        return (0.0,) if (frame - start) % emitter.interval == 0 else ()
    count = _moment_count(emitter, scene)
    return tuple(moment / count for moment in range(count if frame < end else 1))


def _moment_count(emitter: Emitter, scene: Scene) -> int:
    """The moments of an inflow in each frame."""
    advance = float(np.linalg.norm(_in_plane(emitter.velocity, scene))) * scene.time.frame_seconds
    return max(1, math.ceil(advance / (LARGEST_GAP * scene.solver.grid_spacing) - 1e-9))


def _batch(scene: Scene, index: int, frame: int, fraction: float) -> Batch:
    emitter = scene.emitters[index]
    density = scene.materials[emitter.material].law.density * emitter.mass_scale
    if emitter.mode == "inflow":
        position, volume = _flow_in(scene, index, frame, fraction)
    else:
        position, volume = _fill(scene, index, frame)
    velocity, gradient = _motion(scene, emitter, position)
    if emitter.velocity_spread > 0.0:
        generator = np.random.default_rng(_seed(scene, index, frame, round(fraction * 2**30), 1))
        velocity += _in_plane(generator.normal(scale=emitter.velocity_spread, size=velocity.shape), scene)
    return Batch(index, position, velocity, gradient, volume, density * volume)


def _fill(scene: Scene, index: int, frame: int) -> tuple[Floats, Floats]:
    """Positions and rest volumes; the volumes add up to the shape's."""
    emitter, spacing, dimension = scene.emitters[index], scene.solver.grid_spacing, scene.solver.dimension
    shape = emitter.shape
    if isinstance(shape, Points):
        position = _in_plane(shape.position, scene)
        volume = point_volumes(position, spacing, dimension) if shape.volume is None else np.asarray(shape.volume, np.float64)
        return position, volume
    position = sample_shape(
        shape,
        grid_spacing=spacing,
        particles_per_cell=emitter.particles_per_cell,
        particle_count=emitter.particle_count,
        sampling=emitter.sampling,
        # every emission is another arrangement, and two emitters of one shape are not copies of each other
        seed=_seed(scene, index, frame),
        subject=_subject(emitter),
        dimension=dimension,
    )
    return position, np.full(len(position), _solid(scene, emitter).volume() / len(position))


def _flow_in(scene: Scene, index: int, frame: int, fraction: float) -> tuple[Floats, Floats]:
    """Positions and rest volumes of what an inflow brings: its shape full at first, then what the flow carries in."""
    emitter = scene.emitters[index]
    stream = _stream_of(scene, index)
    count = _moment_count(emitter, scene)
    start = scene.time.frame_start if emitter.frame_start is None else max(emitter.frame_start, scene.time.frame_start)
    moment = (frame - start) * count + round(fraction * count)
    if moment == 0:
        return stream.filling, np.full(len(stream.filling), _solid(scene, emitter).volume() / len(stream.filling))
    advance = float(np.linalg.norm(_in_plane(emitter.velocity, scene))) * scene.time.frame_seconds / count
    position = stream.entering((moment - 1) * advance, moment * advance)
    return position, np.full(len(position), stream.particle_volume)


# the streams of the scenes that are in use, by identity; what is sampled once serves every moment
_streams: dict[tuple[int, int], tuple[Any, Stream]] = {}


def _stream_of(scene: Scene, index: int) -> Stream:
    key = id(scene), index
    if key not in _streams:
        reference = weakref.ref(scene, lambda _: _streams.pop(key, None))
        _streams[key] = reference, _make_stream(scene, index)
    return _streams[key][1]


def _make_stream(scene: Scene, index: int) -> Stream:
    emitter, dimension = scene.emitters[index], scene.solver.dimension
    shape = _solid(scene, emitter)
    shape.check_inside(_subject(emitter))
    velocity = _in_plane(emitter.velocity, scene)
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
            seed=_seed(scene, index, 0),
            dimension=dimension,
        )
        if len(stream.filling) >= (emitter.particle_count or 0):
            break
        volume *= 0.98
    if len(stream.filling) == 0:
        raise SceneError(
            f"{_subject(emitter)}: no particle fits into the shape; use a smaller grid_spacing than {scene.solver.grid_spacing:g} m."
        )
    if emitter.particle_count is not None:
        generator = np.random.default_rng(_seed(scene, index, 0))
        kept = generator.choice(len(stream.filling), emitter.particle_count, replace=False)
        stream.filling = stream.filling[np.sort(kept)]
    return stream


def _solid(scene: Scene, emitter: Emitter) -> Shape:
    """What an emitter fills: its shape with its holes closed, or the section of it."""
    if scene.solver.dimension == 2:
        return section_of(emitter.shape, _subject(emitter))
    return emitter.shape.closed if isinstance(emitter.shape, Mesh) else emitter.shape


def _subject(emitter: Emitter) -> str:
    return f'Emitter "{emitter.name}"'


def _seed(scene: Scene, index: int, frame: int, *more: int) -> int:
    sequence = np.random.SeedSequence([scene.solver.seed, index, frame % 2**32, *more])
    return int(sequence.generate_state(1)[0] % 2**31)


def _in_plane(vectors: Any, scene: Scene) -> Floats:
    """Vectors (..., 3) without their y in 2D, as they are in 3D; a copy."""
    return np.array(vectors, dtype=np.float64) * [1.0, scene.solver.dimension - 2.0, 1.0]


def _motion(scene: Scene, emitter: Emitter, position: Floats) -> tuple[Floats, Floats]:
    """Velocity of each particle and the velocity gradient of the rotation about the shape's centre; in 2D about y alone."""
    x, y, z = np.radians(np.asarray(emitter.angular_velocity))
    if scene.solver.dimension == 2:
        x, z = 0.0, 0.0
    velocity = np.tile(_in_plane(emitter.velocity, scene), (len(position), 1))
    if isinstance(emitter.shape, Points) and emitter.shape.velocity is not None:
        velocity += _in_plane(emitter.shape.velocity, scene)
    centre = _solid(scene, emitter).bounds().mean(axis=0)
    velocity += np.cross([x, y, z], position - centre)
    return velocity, np.array([0.0, -z, y, z, 0.0, -x, -y, x, 0.0])


def point_volumes(position: Floats, spacing: float, dimension: int = 3) -> Floats:
    """Rest volumes of bare points: one transfer to the grid gives their number density there (Jiang et al. 2016, section 7).

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
        raise SceneError("points: they lie too far apart to be counted on the grid; give their volume.")
    corners = np.stack(np.meshgrid(*[range(3)] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    shares = np.stack([np.prod([weights[:, node, axis] for axis, node in enumerate(corner)], axis=0) for corner in corners], axis=1)
    keys = np.zeros(shares.shape, dtype=np.int64)
    for axis in range(dimension):
        keys = keys * size[axis] + (base[:, axis] - low[axis])[:, None] + corners[:, axis]
    _, number = np.unique(keys, return_inverse=True)
    number = number.reshape(keys.shape)
    density = np.bincount(number.ravel(), shares.ravel())
    return spacing**dimension / (shares * density[number]).sum(axis=1)
