"""What a scene will cost, before anything of it is made: particles, memory, disk, steps.

Counts from volumes and closed forms alone, so it answers at once even for a scene that could never fit. No numba.
"""

import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .description import Emitter, Scene
from .errors import SceneError
from .geometry.section import section_of
from .geometry.shadow import shadow
from .particles import ATTRIBUTES

# Bytes of memory for a particle at the peak: state, its sorted copy, a frame and a checkpoint on their way to the disk.
# Measured in dense matter: 853 in single precision, 1638 in double precision.
BYTES_PER_PARTICLE = {"float32": 900, "float64": 1700}

# Bytes of memory for each block of 4^d cells that holds a particle: its arena and the blocks of nodes around it, which
# neighbours share. Measured with every particle alone in its block.
BYTES_PER_BLOCK = {"float32": 20_000, "float64": 40_000}
BLOCK = 4

# Bytes of a checkpoint for a particle.
CHECKPOINT_BYTES = {"float32": 180, "float64": 340}

# Particles in a cell where a scene does not say.
PARTICLES_PER_CELL = 8.0

# Memory of the interpreter, of numba and of the compiled kernels.
BYTES_OF_PROGRAM = 400_000_000

# Where Linux tells the limit of a container (control groups, version 2).
CONTROL_GROUP = Path("/sys/fs/cgroup")

_ITEM_BYTES = {"float32": 4, "int32": 4}
FRAME_BYTES_PER_PARTICLE = sum(_ITEM_BYTES[attribute.dtype] * attribute.components for attribute in ATTRIBUTES.values())


@dataclass(frozen=True)
class Estimate:
    """The cost of a scene.

    Attributes:
        particles: particles when all emitters have emitted.
        cells: grid cells that matter fills.
        frame_count: frames of the scene.
        memory_bytes: memory that the solver needs.
        memory_available_bytes: memory that this computer has left.
        frame_bytes: size of the last frame's file.
        disk_bytes: size of the whole cache.
        substeps: a rough number of steps for the whole scene.
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
        SceneError: the particles do not fit into the memory; the message says what would.
    """
    loads = [_load_of(emitter, scene) for emitter in scene.emitters]
    emissions = [_emissions(load, scene, scene.time.frame_end) for load in loads]
    particles = sum(times * load.particles for times, load in zip(emissions, loads, strict=True))
    cells = sum(times * load.cells for times, load in zip(emissions, loads, strict=True))
    blocks = sum(times * load.blocks for times, load in zip(emissions, loads, strict=True))
    precision = scene.solver.precision
    memory = BYTES_OF_PROGRAM + particles * BYTES_PER_PARTICLE[precision] + blocks * BYTES_PER_BLOCK[precision]
    available = available_memory()
    if memory > available:
        heaviest = max(range(len(loads)), key=lambda number: emissions[number] * loads[number].particles)
        need = f"{particles:.3g} particles need {memory / 1e9:.3g} GB of memory and {available / 1e9:.3g} GB are available"
        _refuse(scene, loads[heaviest], loads[heaviest].blocks * emissions[heaviest], need, memory, available)
    frames = scene.time.frames
    at_frames = particles_at_frames(scene)
    # every frame but the first has the states before it
    in_all = sum(at_frames) + scene.time.subframes * sum(at_frames[1:])
    return Estimate(
        particles=math.ceil(particles),
        cells=math.ceil(cells),
        frame_count=len(frames),
        memory_bytes=math.ceil(memory),
        memory_available_bytes=available,
        frame_bytes=math.ceil(particles * FRAME_BYTES_PER_PARTICLE),
        disk_bytes=math.ceil(in_all * FRAME_BYTES_PER_PARTICLE + particles * CHECKPOINT_BYTES[scene.solver.precision]),
        substeps=math.ceil((len(frames) - 1) * scene.time.frame_seconds / _time_step(scene)),
    )


def particles_at_frames(scene: Scene) -> list[float]:
    """About how many particles there are at every frame of a scene."""
    loads = [_load_of(emitter, scene) for emitter in scene.emitters]
    return [sum(_emissions(load, scene, frame) * load.particles for load in loads) for frame in scene.time.frames]


@dataclass(frozen=True)
class _Load:
    """What one emission of an emitter brings.

    Attributes:
        emitter: the emitter.
        particles: particles.
        cells: grid cells that they fill.
        blocks: blocks of the grid that they occupy, no more than there are particles.
        turnover: for an inflow, how often its shape's content flows in anew [1/s].
    """

    emitter: Emitter
    particles: float
    cells: float
    blocks: float
    turnover: float


def _load_of(emitter: Emitter, scene: Scene) -> _Load:
    spacing, dimension = scene.solver.grid_spacing, scene.solver.dimension
    if emitter.shape.kind == "points":
        position = np.array(emitter.shape.position)  # type: ignore[attr-defined]
        position[:, 1] *= dimension - 2
        return _Load(emitter, len(position), len(position) / PARTICLES_PER_CELL, _occupied_blocks(position, spacing), 0.0)
    shape = emitter.shape if dimension == 3 else section_of(emitter.shape, f'Emitter "{emitter.name}"')
    cells = shape.volume() / spacing**dimension
    particles = emitter.particle_count or cells * (emitter.particles_per_cell or PARTICLES_PER_CELL)
    turnover = 0.0
    if emitter.mode == "inflow":
        velocity = np.array(emitter.velocity) * [1.0, dimension - 2.0, 1.0]
        speed = float(np.linalg.norm(velocity))
        turnover = speed * shadow(shape, velocity / speed) / shape.volume()
    return _Load(emitter, float(particles), cells, min(particles, cells / BLOCK**dimension), turnover)


def _refuse(scene: Scene, heaviest: _Load, blocks: float, need: str, memory: float, available: int) -> None:
    """Say which spacing would fit, or, for the emitter that is heaviest, which count. Raises SceneError."""
    emitter = heaviest.emitter
    budget = max(0.9 * available - BYTES_OF_PROGRAM, 0.05 * available)
    is_cloud = emitter.shape.kind == "points"
    if is_cloud or emitter.particle_count is not None:
        count = f"{heaviest.particles:.0f} points" if is_cloud else f"particle_count {emitter.particle_count}"
        fitting = _fitting_count(blocks, scene.solver.precision, budget)
        raise SceneError(f'Emitter "{emitter.name}": {count}: {need}; use at most {fitting} particles.')
    spacing = scene.solver.grid_spacing * (memory / budget) ** (1.0 / scene.solver.dimension)
    raise SceneError(
        f'Emitter "{emitter.name}": grid_spacing {scene.solver.grid_spacing:g} m: {need}; '
        f"use a grid_spacing of at least {_rounded_up(spacing):g} m."
    )


def _fitting_count(blocks: float, precision: str, budget: float) -> int:
    """How many particles fit: shared among the blocks that are occupied now, or, where these alone are too many, one in each."""
    each, block = BYTES_PER_PARTICLE[precision], BYTES_PER_BLOCK[precision]
    return max(1, int(max((budget - blocks * block) / each, budget / (each + block))))


def _rounded_up(value: float) -> float:
    """The value with two digits, not below it."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit) * unit


def _occupied_blocks(position: NDArray[np.float64], spacing: float) -> float:
    """The blocks that hold a point; positions [m], shape (n, 3)."""
    if not np.isfinite(position).all():
        return float(len(position))
    # 21 bits an axis make one key; what lies farther out is refused later
    x, y, z = np.clip(np.floor(position / (BLOCK * spacing)), -(2.0**20), 2.0**20 - 1.0).astype(np.int64).T
    return float(len(np.unique((x << 42) + (y << 21) + z)))


def _emissions(load: _Load, scene: Scene, until: int) -> float:
    """How often the content of an emitter's shape has come in up to a frame."""
    emitter = load.emitter
    start = scene.time.frame_start if emitter.frame_start is None else emitter.frame_start
    end = until if emitter.frame_end is None else min(emitter.frame_end, until)
    if emitter.mode == "once":
        return 1.0 if start <= until else 0.0
    first = max(start, scene.time.frame_start)
    if end < first:
        return 0.0
    if emitter.mode == "repeat":
        return float((end - start) // emitter.interval - (first - 1 - start) // emitter.interval)
    return 1.0 + load.turnover * (end - first) * scene.time.frame_seconds


def _time_step(scene: Scene) -> float:
    """A typical automatic step [s]: the CFL step of the stiffest material and the fastest start."""
    if scene.solver.time_step is not None:
        return scene.solver.time_step
    speed = 0.0
    for emitter in scene.emitters:
        law = scene.materials[emitter.material].law
        stiffness = _wave_modulus(law) * emitter.stiffness_scale / emitter.mass_scale
        speed = max(speed, math.sqrt(stiffness / law.density) + math.hypot(*emitter.velocity) + 3.0 * emitter.velocity_spread)
    frame = scene.time.frame_seconds
    return min(frame, scene.solver.cfl * scene.solver.grid_spacing / speed) if speed > 0.0 else frame


def _wave_modulus(law: object) -> float:
    """lambda + 2 mu, or the bulk modulus of a fluid [Pa]; 0 for a law with neither."""
    bulk = getattr(law, "bulk_modulus", None)
    if bulk is not None:
        return bulk
    young, poisson = getattr(law, "young_modulus", 0.0), getattr(law, "poisson_ratio", 0.0)
    return young * (1.0 - poisson) / ((1.0 + poisson) * (1.0 - 2.0 * poisson))


def available_memory() -> int:
    """The memory that a new program can use [bytes], without swapping: of the computer, and within its container's limit."""
    if sys.platform == "win32":
        return _available_on_windows()
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return min([int(line.split()[1]) * 1024, *_left_in_container()])
    # macOS does not tell what is free; it gives back what its caches hold
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _left_in_container() -> list[int]:
    """What the control group has left [bytes]; empty where it has no limit."""
    try:
        limit = (CONTROL_GROUP / "memory.max").read_text().strip()
        used = int((CONTROL_GROUP / "memory.current").read_text())
        statistics = dict(line.split() for line in (CONTROL_GROUP / "memory.stat").read_text().splitlines())
    except OSError:
        return []
    if limit == "max":
        return []
    # the system takes back what it only keeps of files before it refuses memory
    return [max(0, int(limit) - used + int(statistics.get("inactive_file", 0)))]


def _available_on_windows() -> int:
    import ctypes

    class MemoryStatus(ctypes.Structure):
        """MEMORYSTATUSEX of kernel32."""

        _fields_ = [
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "available", "t2", "a2", "t3", "a3", "a4")),
        ]

    status = MemoryStatus(length=ctypes.sizeof(MemoryStatus))
    kernel32 = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
    kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status.available)
