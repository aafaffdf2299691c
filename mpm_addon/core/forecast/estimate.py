"""The cost of a scene before anything is computed: particles, memory, disk space, substeps.

Uses only volumes and closed forms, so it is instant even for a scene that could never fit into memory. No numba.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..contact.foresight import LONGEST_STEP
from ..emission.references import rest_states
from ..emission.schedule import first_frame, frame_of_once, greatest_speed, has_flow_rate, in_plane, last_frame, volume_due
from ..errors import SceneError
from ..geometry.outline import Outline
from ..geometry.section import section_of
from ..geometry.shadow import shadow
from ..geometry.shapes.mesh import Mesh
from ..memory import available_memory
from ..particles import TEMPERATURE
from ..scene.animation import value_at
from ..scene.description import Emitter, Scene
from ..scene.emitter import PARTICLES_PER_CELL
from ..scene.randomness import LARGEST_NOISE
from ..scene.settings import CHECKPOINT_BYTES
from ..scene.shape import Shape
from .brittle_bodies import bearable_speed
from .impact import breaking_impact, fall, first_impact, stiffened_wave_speeds
from .stiffness import follows_speed, modulus_at, settled_fluid, settled_law, settled_moduli, starting_speed

# Peak memory per particle [bytes]: its state, the sorted copy, and a frame and a checkpoint being written to disk.
# Measured in dense material: 660 in single precision; 1638 in double precision, before copies were reduced.
BYTES_PER_PARTICLE = {"float32": 700, "float64": 1700}

# Further memory per particle with a rest state [bytes]: its place there, and the nodes. Measured in single precision: 510.
BYTES_PER_REST_STATE = {"float32": 550, "float64": 1100}

# Memory for each block of 4^d cells that holds a particle [bytes]: its arena and the node blocks around it, which
# neighbors share. Measured with one particle in each block.
BYTES_PER_BLOCK = {"float32": 20_000, "float64": 40_000}
# as in `transfer.blocks`, which imports numba
BLOCK = 4

# Size of a frame's file per particle [bytes]: measured means of several scenes, after compression.
FRAME_BYTES = {
    "compact": {
        "position": 7.0,
        "velocity": 5.0,
        "volume_ratio": 1.3,
        "density_ratio": 1.4,
        "stress": 1.4,
        "rotation": 3.2,
        "stretch": 2.3,
        "temperature": 1.4,
    },
    "exact": {
        "position": 10.5,
        "velocity": 11.0,
        "volume_ratio": 3.2,
        "density_ratio": 3.5,
        "stress": 3.6,
        "rotation": 14.0,
        "stretch": 6.5,
        "temperature": 3.6,
    },
}

# Bytes per particle that never change and are stored once; each painted number adds 4.
BIRTH_BYTES = 12.0

# The longest substep that viscosity allows bodies with a rest state, over that of a particle alone, in each dimension: 1.5 times in the
# plane and 2.3 times in space, measured in compact bodies that are compressed a little (see `stepping.viscous_modes`).
REST_SHARE = 0.76

# the wave speed of what moves as a rigid body: it does not limit substeps
RIGID = -math.inf

# Memory of the interpreter, numba and the compiled kernels.
BYTES_OF_PROGRAM = 400_000_000


@dataclass(frozen=True)
class Estimate:
    """The cost of a scene.

    Attributes:
        particles: particles after all emission.
        cells: grid cells that they fill.
        frame_count: frames of the scene.
        memory_bytes: memory that the solver needs.
        memory_available_bytes: memory available on this computer.
        frame_bytes: size of the last frame's file.
        disk_bytes: size of the whole cache.
        substeps: a rough number of substeps for the whole scene.
    """

    particles: int
    cells: int
    frame_count: int
    memory_bytes: int
    memory_available_bytes: int
    frame_bytes: int
    disk_bytes: int
    substeps: int


def estimate(scene: Scene) -> Estimate:
    """Estimate the cost of a scene.

    Raises:
        SceneError: the particles do not fit into memory; the message says what would fit.
    """
    available = available_memory()
    particles, cells, memory = _size_within(available, scene)
    sizes = {name: size for name, size in FRAME_BYTES[scene.cache.precision].items() if name != TEMPERATURE or scene.is_heated}
    frame_bytes = sum(size for name, size in sizes.items() if getattr(scene.cache, name, True))
    states = min(scene.cache.checkpoint_count, len(scene.time.frames) // scene.cache.checkpoint_interval + 1)
    kept_bytes = BIRTH_BYTES + 4.0 * sum(scene.carried.values()) + states * CHECKPOINT_BYTES[scene.solver.precision]
    frames = scene.time.frames
    at_frames = particles_at_frames(scene)
    # subframes come before every frame but the first
    in_all = sum(at_frames) + scene.time.subframes * sum(at_frames[1:])
    return Estimate(
        particles=math.ceil(particles),
        cells=math.ceil(cells),
        frame_count=len(frames),
        memory_bytes=math.ceil(memory),
        memory_available_bytes=available,
        frame_bytes=math.ceil(particles * frame_bytes),
        disk_bytes=math.ceil(in_all * frame_bytes + particles * kept_bytes),
        substeps=automatic_substeps(scene),
    )


def refuse_too_large(scene: Scene) -> None:
    """Refuse a scene that does not fit into memory. Raises SceneError as `estimate`."""
    _size_within(available_memory(), scene)


def _size_within(available: int, scene: Scene) -> tuple[float, float, float]:
    """The particles after all emission, the cells that they fill, and the memory that they need, at most `available` [bytes].

    Raises:
        SceneError: as `estimate`.
    """
    loads = [_load_of(emitter, scene) for emitter in scene.emitters]
    emissions = [float(_emissions(load, scene)[-1]) for load in loads]
    particles = sum(times * load.particles for times, load in zip(emissions, loads, strict=True))
    cells = sum(times * load.cells for times, load in zip(emissions, loads, strict=True))
    blocks = sum(times * load.blocks for times, load in zip(emissions, loads, strict=True))
    precision = scene.solver.precision
    memory = BYTES_OF_PROGRAM + particles * BYTES_PER_PARTICLE[precision] + blocks * BYTES_PER_BLOCK[precision]
    memory += BYTES_PER_REST_STATE[precision] * sum(
        load.particles for load, has_one in zip(loads, rest_states(scene), strict=True) if has_one
    )
    if memory > available:
        heaviest = max(range(len(loads)), key=lambda number: emissions[number] * loads[number].particles)
        need = f"{particles:.3g} particles need {memory / 1e9:.3g} GB of memory, but only {available / 1e9:.3g} GB is available"
        _refuse(scene, loads[heaviest], loads[heaviest].blocks * emissions[heaviest], need, memory, available)
    return particles, cells, memory


def particles_at_frames(scene: Scene) -> list[float]:
    """The approximate number of particles at every frame of a scene."""
    loads = [_load_of(emitter, scene) for emitter in scene.emitters]
    courses = [load.particles * _emissions(load, scene) for load in loads]
    return np.sum(courses, axis=0).tolist() if courses else [0.0] * len(scene.time.frames)


@dataclass(frozen=True)
class _Load:
    """The contribution of one emission of an emitter.

    Attributes:
        emitter: the emitter.
        particles: particles.
        cells: grid cells that they fill.
        blocks: blocks of the grid that they occupy, at most the number of particles.
        turnover: for an inflow without a flow rate, how often its shape is emitted again [1/s].
        volume: volume of the shape's content [m^3]; in 2D, its area [m^2].
    """

    emitter: Emitter
    particles: float
    cells: float
    blocks: float
    turnover: float
    volume: float


def _load_of(emitter: Emitter, scene: Scene) -> _Load:
    spacing, dimension = scene.solver.grid_spacing, scene.solver.dimension
    if emitter.shape.kind == "points":
        position = np.array(emitter.shape.position)  # type: ignore[attr-defined]
        position[:, 1] *= dimension - 2
        return _Load(emitter, len(position), len(position) / PARTICLES_PER_CELL, _occupied_blocks(position, spacing), 0.0, 0.0)
    shape = emitter.shape if dimension == 3 else section_of(emitter.shape, f'Emitter "{emitter.name}"')
    volume = _layer_volume(shape, spacing, dimension) if emitter.source == "surface" else shape.volume()
    if emitter.motion is not None and emitter.motion.matrices is not None:
        volume *= float(np.cbrt(abs(np.linalg.det(np.asarray(emitter.motion.matrices)[0, :3, :3])))) ** dimension
    cells = volume / spacing**dimension
    particles = emitter.particle_count or cells * (emitter.particles_per_cell or PARTICLES_PER_CELL)
    turnover = 0.0
    if emitter.mode == "inflow" and emitter.is_stream(dimension):
        velocity = in_plane(emitter.velocity, scene)
        speed = float(np.linalg.norm(velocity))
        turnover = speed * shadow(shape, velocity / speed) / volume
    elif emitter.mode == "inflow":
        # an upper bound: particles cross at least the shape's least extent before they leave it
        extents = np.diff(shape.bounds()[:, :: 4 - dimension], axis=0)
        turnover = float(_speeds(scene, emitter).mean()) / max(float(extents.min()), spacing)
    return _Load(emitter, float(particles), cells, min(particles, cells / BLOCK**dimension), turnover, volume)


def _speeds(scene: Scene, emitter: Emitter) -> NDArray[np.float64]:
    """The greatest initial speed of an emitter's particles [m/s], in each frame, or in the first alone if nothing changes."""
    frames = scene.time.frames if emitter.animation is not None or emitter.motion is not None else scene.time.frames[:1]
    return np.array([greatest_speed(scene, emitter, frame) for frame in frames])


def _layer_volume(shape: Shape, spacing: float, dimension: int) -> float:
    """The approximate volume of a layer one cell thick at a shape's surface [m^3]; in 2D, its area [m^2]."""
    if isinstance(shape, Mesh):
        return shape.area() * spacing
    if isinstance(shape, Outline):
        return shape.length() * spacing
    extents = np.diff(shape.bounds()[:, :: 4 - dimension], axis=0)
    return shape.volume() * (1.0 - float(np.prod(np.maximum(1.0 - 2.0 * spacing / extents, 0.0))))


def _refuse(scene: Scene, heaviest: _Load, blocks: float, need: str, memory: float, available: int) -> None:
    """Raise SceneError naming the spacing that would fit, or the count if the heaviest emitter sets one."""
    emitter = heaviest.emitter
    budget = max(0.9 * available - BYTES_OF_PROGRAM, 0.05 * available)
    is_cloud = emitter.shape.kind == "points"
    if is_cloud or emitter.particle_count is not None:
        count = f"{heaviest.particles:.0f} points" if is_cloud else f"`particle_count` {emitter.particle_count}"
        fitting = _fitting_count(blocks, scene.solver.precision, budget)
        raise SceneError(f"{count}: {need}", f"use at most {fitting} particles", subject=f'Emitter "{emitter.name}"')
    spacing = scene.solver.grid_spacing * (memory / budget) ** (1.0 / scene.solver.dimension)
    raise SceneError(
        f"`grid_spacing` {scene.solver.grid_spacing:g} m: {need}",
        f"use a `grid_spacing` of at least {_rounded_up(spacing):g} m",
        subject=f'Emitter "{emitter.name}"',
    )


def _fitting_count(blocks: float, precision: str, budget: float) -> int:
    """The number of particles that fit into the occupied blocks or, if these alone are too many, with one particle in each block."""
    each, block = BYTES_PER_PARTICLE[precision], BYTES_PER_BLOCK[precision]
    return max(1, int(max((budget - blocks * block) / each, budget / (each + block))))


def _rounded_up(value: float) -> float:
    """The value rounded up to two digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit) * unit


def _occupied_blocks(position: NDArray[np.float64], spacing: float) -> float:
    """The number of blocks that hold a point; positions [m], shape (n, 3)."""
    if not np.isfinite(position).all():
        return float(len(position))
    # 21 bits per axis are packed into one key; points farther out are refused later
    x, y, z = np.clip(np.floor(position / (BLOCK * spacing)), -(2.0**20), 2.0**20 - 1.0).astype(np.int64).T
    return float(len(np.unique((x << 42) + (y << 21) + z)))


def _emissions(load: _Load, scene: Scene) -> NDArray[np.float64]:
    """How often the content of an emitter's shape has been emitted up to each frame of the scene."""
    emitter = load.emitter
    frames = np.array(scene.time.frames)
    if emitter.mode == "once":
        frame = frame_of_once(emitter, scene)
        return (frames >= frame).astype(np.float64) if frame is not None else np.zeros(len(frames))
    is_on = np.array([bool(value_at(emitter, "enabled", frame)) for frame in frames])
    is_on &= (frames >= first_frame(emitter, scene)) & (frames <= last_frame(emitter, scene))
    if emitter.mode == "repeat":
        return np.cumsum(is_on & ((frames - first_frame(emitter, scene)) % emitter.interval == 0)).astype(np.float64)
    if has_flow_rate(emitter):
        first, last = max(first_frame(emitter, scene), frames[0]), last_frame(emitter, scene)
        return np.array([volume_due(scene, emitter, float(np.clip(frame, first, last))) for frame in frames]) / load.volume
    flowing = np.concatenate([[0.0], np.cumsum(is_on[1:] & is_on[:-1])])
    return (np.cumsum(is_on) > 0) + load.turnover * flowing * scene.time.frame_seconds


def automatic_substeps(scene: Scene) -> int:
    """The approximate number of automatic substeps of a scene."""
    return math.ceil(sum((stop - begin) * rate for begin, stop, rate in substep_rates(scene)))


def substep_rates(scene: Scene) -> Iterator[tuple[float, float, float]]:
    """The approximate substeps per second of a scene, from the CFL limit for the initial speeds and the fastest waves.

    Waves are faster in material that has hardened.

    Yields:
        Begin and end of an interval [s], and the substeps per second in it [1/s].
    """
    frame = scene.time.frame_seconds
    end = (len(scene.time.frames) - 1) * frame
    if scene.solver.time_step is not None:
        yield 0.0, end, 1.0 / scene.solver.time_step
        return
    waves, later = _wave_speeds(scene)
    starts = [float(_speeds(scene, emitter).max()) + 3.0 * emitter.velocity_spread for emitter in scene.emitters]
    times = sorted({0.0, end, *(min(seconds, end) for seconds, _ in later)})
    pairs = zip(scene.emitters, rest_states(scene), strict=True)
    longest = min([frame, *(_longest_substep(emitter, scene, has_rest_state=has_one) for emitter, has_one in pairs)])
    if any(wave == RIGID for wave in (*waves, *(after for _, after in later))) or _has_rigid_bodies(scene):
        longest = min(longest, LONGEST_STEP)
    for begin, stop in itertools.pairwise(times):
        now = [after if seconds <= begin else before for before, (seconds, after) in zip(waves, later, strict=True)]
        speed = max((wave + start for wave, start in zip(now, starts, strict=True)), default=0.0)
        limit = min(longest, scene.solver.cfl * scene.solver.grid_spacing / speed) if speed > 0.0 else longest
        yield begin, stop, 1.0 / limit


def _has_rigid_bodies(scene: Scene) -> bool:
    return any(collider.dynamic and collider.is_ever_enabled for collider in scene.colliders)


def _wave_speeds(scene: Scene) -> tuple[list[float], list[tuple[float, float]]]:
    """The wave speeds in the emitters' materials as emitted [m/s], and when they change [s] and what they are from then on [m/s].

    Fluids whose modulus follows the speed fall freely until the first impact, and are no faster afterward. What moving colliders do to them
    is unknown, so that with these, their modulus is the greatest that it can be. Brittle bodies are `RIGID` until the first impact that may
    break them, and dynamic colliders count as such where they could reach them.
    """
    waves = [wave_speed_of(emitter, scene) for emitter in scene.emitters]
    later = stiffened_wave_speeds(scene, waves)
    speeds = [bearable_speed(scene, emitter, _stiffest_and_lightest(emitter)[0]) for emitter in scene.emitters]
    for number, speed in enumerate(speeds):
        if speed is not None:
            emitter = scene.emitters[number]
            # beside matter, it may become matter at any speed
            is_weak = speed == 0.0 or None in speeds
            impact = (first_impact(scene, emitter) if is_weak else None) or breaking_impact(scene, emitter, speed)
            later[number] = (0.0, RIGID) if impact is None else (impact.seconds, waves[number])
            waves[number] = RIGID
    if any(collider.is_ever_enabled and (collider.dynamic or collider.motion is not None) for collider in scene.colliders):
        return waves, later
    end = (len(scene.time.frames) - 1) * scene.time.frame_seconds
    for number, emitter in enumerate(scene.emitters):
        if follows_speed(scene, emitter.material):
            impact = first_impact(scene, emitter) or fall(scene, emitter, end)
            start = starting_speed(scene)
            fastest = max(start, impact.speed)
            greatest = waves[number]
            waves[number] = greatest * _softer(scene, emitter.material, 0.5 * (start + fastest))
            later[number] = impact.seconds, greatest * _softer(scene, emitter.material, fastest)
    return waves, later


def _softer(scene: Scene, material: str, speed: float) -> float:
    """Waves in a fluid whose modulus follows the speed [m/s], relative to the fastest that there can be."""
    return math.sqrt(modulus_at(scene, material, speed) / settled_moduli(scene)[material])


def wave_speed_of(emitter: Emitter, scene: Scene) -> float:
    """The wave speed in an emitter's material as emitted [m/s]; where it is painted or random, with the stiffest and lightest values."""
    law, (stiffness_scale, mass_scale) = settled_law(scene, emitter.material), _stiffest_and_lightest(emitter)
    fluid, dimension = settled_fluid(scene, emitter.material), scene.solver.dimension
    melted = 0.0 if fluid is None else fluid.wave_speed(1.0, dimension)
    return max(law.wave_speed(stiffness_scale, dimension), melted) / math.sqrt(mass_scale)


def _longest_substep(emitter: Emitter, scene: Scene, *, has_rest_state: bool) -> float:
    """The longest substep that viscosity and surface tension allow [s]; where a material is painted or random, as for `wave_speed_of`."""
    material, (_, mass_scale) = scene.materials[emitter.material], _stiffest_and_lightest(emitter)
    laws = [law for law in (material.law, material.melts_into) if law is not None]
    capillary = [law.capillary_limit(scene.solver.grid_spacing, mass_scale) for law in laws]
    return min(viscous_substep(emitter, scene, has_rest_state=has_rest_state), *capillary)


def viscous_substep(emitter: Emitter, scene: Scene, *, has_rest_state: bool) -> float:
    """The longest substep that viscosity allows [s]; where a material is painted or random, as for `wave_speed_of`."""
    material, (stiffness_scale, mass_scale) = scene.materials[emitter.material], _stiffest_and_lightest(emitter)
    solver, limits = scene.solver, [math.inf]
    for law, scale in ((material.law, stiffness_scale), (material.melts_into, 1.0)):
        if law is not None:
            viscous = law.viscous_limit(
                solver.grid_spacing,
                solver.dimension,
                stiffness_scale=scale,
                mass_scale=mass_scale,
                inverse_inertia=solver.affine_inertia,
            )
            limits.append(viscous * (REST_SHARE * solver.dimension if has_rest_state else 1.0))
    return min(limits)


def _stiffest_and_lightest(emitter: Emitter) -> tuple[float, float]:
    """The greatest factor on the stiffness and the least on the density of an emitter's particles."""
    painted = {} if emitter.painting is None else emitter.painting.values
    stiffest = float(np.max(painted.get("stiffness", 1.0))) * math.exp(emitter.randomness.stiffness * LARGEST_NOISE)
    return emitter.stiffness_scale * stiffest, emitter.mass_scale * float(np.min(painted.get("density", 1.0)))
