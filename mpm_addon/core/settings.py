"""The settings of a whole scene: its frames, how it is computed, and the space that it has."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .animation import Animation, animatable_parameters, check_animation
from .errors import SceneError
from .parameters import parameter, suggestion, validate

# About as far as Blender counts frames, to both sides of 0.
LAST_FRAME = 1_000_000

SURFACES = ("slip", "sticky", "separate")
SIDES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")


@dataclass(frozen=True)
class Time:
    """The frames of a scene. Frame n is the state at (n - frame_start) * frame_seconds."""

    fps: float = parameter(24.0, unit="1/s", minimum=1e-6, maximum=100000.0, help="Frames per second")
    frame_start: int = parameter(1, minimum=-LAST_FRAME, maximum=LAST_FRAME, help="First frame, the initial state")
    frame_end: int = parameter(48, minimum=-LAST_FRAME, maximum=LAST_FRAME, help="Last frame")
    time_scale: float = parameter(
        1.0, minimum=1e-6, maximum=1000.0, help="Simulated time that passes in a second of the animation; below 1 is slow motion"
    )
    subframes: int = parameter(0, minimum=0, maximum=99, help="States that are kept between two frames")

    def __post_init__(self) -> None:
        validate(self, "time")
        if self.frame_end < self.frame_start:
            raise SceneError(f"time: frame_end {self.frame_end} is before frame_start {self.frame_start}; use at least {self.frame_start}.")

    @property
    def frames(self) -> range:
        return range(self.frame_start, self.frame_end + 1)

    @property
    def frame_seconds(self) -> float:
        """The simulated time from one frame to the next [s]."""
        return self.time_scale / self.fps

    def seconds_at(self, frame: float) -> float:
        """The simulated time [s] of a (fractional) frame."""
        return (frame - self.frame_start) * self.time_scale / self.fps


@dataclass(frozen=True)
class Solver:
    """How the scene is computed."""

    dimension: int = parameter(3, minimum=2, maximum=3, help="3, or 2 for plane strain in the x-z plane")
    grid_spacing: float = parameter(unit="m", minimum=1e-9, maximum=1e9, example=0.1, help="Edge length of a grid cell")
    transfer: str = parameter("apic", choices=("apic", "pic", "flip"), help="How velocities move between particles and grid")
    flip_ratio: float = parameter(0.95, minimum=0.0, maximum=1.0, help="Share of FLIP in the FLIP/PIC blend")
    kernel: str = parameter("quadratic", choices=("quadratic", "cubic"), help="B-spline that carries particles to the grid")
    cfl: float = parameter(0.4, minimum=1e-6, maximum=1.0, help="Cells that a wave may cross in a step")
    max_displacement: float = parameter(0.5, unit="cells", minimum=1e-6, maximum=1.0, help="Cells that a particle may cross in a step")
    time_step: float | None = parameter(None, unit="s", minimum=1e-15, example=1e-4, help="Fixed step; automatic where it is not given")
    precision: str = parameter("float32", choices=("float32", "float64"), help="Numbers that the solver computes with")
    seed: int = parameter(0, minimum=0, maximum=2**31 - 1, help="Seed of every random choice")
    max_speed: float | None = parameter(
        None, unit="m/s", above=0.0, example=10.0, is_animatable=True, help="No matter moves faster than this"
    )
    gravity: tuple[float, float, float] = parameter((0.0, 0.0, -9.81), unit="m/s^2", is_animatable=True, help="Acceleration of gravity")
    animation: Animation | None = None

    def __post_init__(self) -> None:
        validate(self, "solver")
        check_animation(self.animation, animatable_parameters(Solver), "solver")


@dataclass(frozen=True)
class CacheSettings:
    """What is kept of a bake. Decides nothing of how matter moves."""

    precision: str = parameter(
        "compact", choices=("compact", "exact"), help="compact rounds positions to less than 1e-4 of a cell, the rest to 3 digits"
    )
    velocity: bool = parameter(True, help="Keep velocities, for motion blur and between frames")
    density_ratio: bool = parameter(True, help="Keep volume ratios")
    stress: bool = parameter(True, help="Keep stresses")
    rotation: bool = parameter(True, help="Keep rotations")
    rest_position: bool = parameter(True, help="Keep where particles were emitted, for textures that stick to matter")
    checkpoint_interval: int = parameter(
        10, minimum=1, maximum=100000, help="Frames between two exact states, from which a bake can go on; a minute at most lies between"
    )
    checkpoint_count: int = parameter(8, minimum=1, maximum=100000, help="Exact states that are kept; older ones are thinned out")
    size_limit: float | None = parameter(None, unit="GB", above=0.0, example=100.0, help="Size at which the bake stops")
    time_limit: float | None = parameter(None, unit="h", above=0.0, example=12.0, help="Time after which the bake stops")

    def __post_init__(self) -> None:
        validate(self, "cache")


@dataclass(frozen=True)
class Side:
    """One side of a box domain."""

    surface: str = parameter("slip", choices=(*SURFACES, "open"), help="How matter meets this side; open lets it leave")
    friction: float = parameter(0.0, minimum=0.0, maximum=100.0, help="Coulomb friction coefficient of this side")

    def __post_init__(self) -> None:
        validate(self, "domain.sides")


@dataclass(frozen=True)
class Domain:
    """The space of the simulation: unbounded, or a box whose sides are walls or open."""

    kind: str = parameter("unbounded", choices=("unbounded", "box"), help="Unbounded space, or a box")
    min: tuple[float, float, float] | None = parameter(None, unit="m", example=(-1.0, -1.0, 0.0), help="Lowest corner of the box")
    max: tuple[float, float, float] | None = parameter(None, unit="m", example=(1.0, 1.0, 2.0), help="Highest corner of the box")
    sides: Mapping[str, Side] = field(default_factory=dict)

    @property
    def corners(self) -> tuple[tuple[float, float, float], tuple[float, float, float]] | None:
        """The lowest and the highest corner of a box [m]; None for unbounded space."""
        return (self.min, self.max) if self.kind == "box" and self.min is not None and self.max is not None else None

    def __post_init__(self) -> None:
        validate(self, "domain")
        if self.kind == "unbounded":
            return
        if self.min is None or self.max is None:
            raise SceneError("domain: a box needs min and max, three coordinates [m] each; give both.")
        for axis, low, high in zip("xyz", self.min, self.max, strict=True):
            if not low < high:
                raise SceneError(f"domain: min {low:g} m is not below max {high:g} m along {axis}; exchange or move them.")
        for name in self.sides:
            if name not in SIDES:
                raise SceneError(f'domain: side "{name}" is unknown{suggestion(name, SIDES)}; use one of {", ".join(SIDES)}.')
        object.__setattr__(self, "sides", {name: self.sides.get(name, Side()) for name in SIDES})
