"""From emitters to particles: positions, velocities, masses and volumes. No files, no grid of the solver."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .description import Emitter, Scene
from .errors import SceneError
from .geometry.sampling import sample_shape
from .geometry.shapes.points import Points

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """Particles that one emitter gives at one frame.

    Attributes:
        emitter_index: number of the emitter in the scene.
        position: [m], shape (n, 3).
        velocity: [m/s], shape (n, 3).
        velocity_gradient: [1/s], shape (9,), the same for all.
        volume: rest volumes [m^3], shape (n,).
        mass: [kg], shape (n,).
    """

    emitter_index: int
    position: Floats
    velocity: Floats
    velocity_gradient: Floats
    volume: Floats
    mass: Floats


def is_due(emitter: Emitter, frame: int, scene: Scene) -> bool:
    """Whether an emitter gives particles at the start of a frame."""
    start = scene.time.frame_start if emitter.frame_start is None else emitter.frame_start
    if emitter.mode == "once":
        return frame == start
    end = scene.time.frame_end if emitter.frame_end is None else emitter.frame_end
    return start <= frame <= end and (frame - start) % emitter.interval == 0


def emit(scene: Scene, frame: int) -> list[Batch]:
    """The particles that come into the scene at a frame, in the order of the emitters."""
    return [
        _batch(scene, index, frame) for index, emitter in enumerate(scene.emitters) if is_due(emitter, frame, scene)
    ]


def _batch(scene: Scene, index: int, frame: int) -> Batch:
    emitter = scene.emitters[index]
    density = scene.materials[emitter.material].law.density * emitter.mass_scale
    position, volume = _fill(scene, emitter, index, frame)
    velocity, gradient = _motion(emitter, position)
    return Batch(index, position, velocity, gradient, volume, density * volume)


def _fill(scene: Scene, emitter: Emitter, index: int, frame: int) -> tuple[Floats, Floats]:
    """Positions and rest volumes; the volumes add up to the shape's."""
    shape = emitter.shape
    spacing = scene.solver.grid_spacing
    if isinstance(shape, Points):
        position = np.asarray(shape.position, dtype=np.float64)
        volume = point_volumes(position, spacing) if shape.volume is None else np.asarray(shape.volume, dtype=np.float64)
        return position, volume
    position = sample_shape(
        shape,
        grid_spacing=spacing,
        particles_per_cell=emitter.particles_per_cell,
        particle_count=emitter.particle_count,
        sampling=emitter.sampling,
        # every emission is another arrangement, and two emitters of one shape are not copies of each other
        seed=int(np.random.SeedSequence([scene.solver.seed, index, frame % 2**32]).generate_state(1)[0] % 2**31),
        subject=f'Emitter "{emitter.name}"',
    )
    if len(position) == 0:
        raise SceneError(f'Emitter "{emitter.name}": no particle fits into the shape; use a smaller grid_spacing than {spacing:g} m.')
    return position, np.full(len(position), shape.volume() / len(position))


def _motion(emitter: Emitter, position: Floats) -> tuple[Floats, Floats]:
    """Velocity of each particle and the velocity gradient of the rotation about the shape's centre."""
    omega = np.radians(np.asarray(emitter.angular_velocity))
    velocity = np.broadcast_to(np.asarray(emitter.velocity), position.shape).astype(np.float64)
    if isinstance(emitter.shape, Points) and emitter.shape.velocity is not None:
        velocity = velocity + np.asarray(emitter.shape.velocity)
    centre = emitter.shape.bounds().mean(axis=0)
    velocity = velocity + np.cross(omega, position - centre)
    x, y, z = omega
    return velocity, np.array([0.0, -z, y, z, 0.0, -x, -y, x, 0.0])


def point_volumes(position: Floats, spacing: float) -> Floats:
    """Rest volumes of bare points: one transfer to the grid gives their number density there (Jiang et al. 2016, section 7).

    Args:
        position: [m], shape (n, 3).
        spacing: cell size [m].

    Returns:
        [m^3], shape (n,): 1 / sum_i w_ip n_i, with n_i = sum_p w_ip / h^3.
    """
    base = np.floor(position / spacing - 0.5).astype(np.int64)
    offset = position / spacing - base - 1.0
    weights = np.stack([0.5 * (0.5 - offset) ** 2, 0.75 - offset**2, 0.5 * (0.5 + offset) ** 2], axis=1)
    low = base.min(axis=0)
    size = base.max(axis=0) - low + 3
    if math.prod(int(extent) for extent in size) >= 2**62:
        raise SceneError("points: they lie too far apart to be counted on the grid; give their volume.")
    corners = np.stack(np.meshgrid(range(3), range(3), range(3), indexing="ij"), axis=-1).reshape(-1, 3)
    shares = np.stack([weights[:, i, 0] * weights[:, j, 1] * weights[:, k, 2] for i, j, k in corners], axis=1)
    node = (base - low)[:, None, :] + corners
    keys = (node[..., 0] * size[1] + node[..., 1]) * size[2] + node[..., 2]
    _, number = np.unique(keys, return_inverse=True)
    number = number.reshape(keys.shape)
    density = np.bincount(number.ravel(), shares.ravel())
    return spacing**3 / (shares * density[number]).sum(axis=1)
