"""Settings of a scene: its frames, solver, cache and domain."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import SceneError
from ..parameters import parameter, suggestion, validate
from .animation import Animation, animatable_parameters, check_animation
from .thermal import ABSOLUTE_ZERO

# Blender's limit on frame numbers, in both directions.
LAST_FRAME = 1_000_000

SURFACE_HELP = {
    "slip": "Particles slide along the surface; solids that rest on it do not lift off, but a hard impact rebounds (a wet pane of glass)",
    "sticky": "Particles stick where they touch, but a hard impact rebounds (mud on a boot, paint on a wall)",
    "separate": "Particles slide along the surface and can leave it; suitable for most colliders",
}
# friction of solids on a surface that they can leave, unless it is given
DEFAULT_FRICTION = 0.5
# Size of a checkpoint per particle [bytes]: measured with jelly and snow in single precision, and twice that; water needs a third less.
CHECKPOINT_BYTES = {"float32": 100, "float64": 200}
SIDES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")


def friction_parameter(what: str, *, is_animatable: bool = False) -> Any:
    """The parameter `friction` of a surface; `what` begins its help."""
    return parameter(
        None,
        minimum=0.0,
        maximum=100.0,
        example=DEFAULT_FRICTION,
        is_animatable=is_animatable,
        help=f"{what} for solids and liquids; if not set, Separate uses {DEFAULT_FRICTION:g} for solids (ice 0.05, wood 0.4, rubber 1)",
    )


@dataclass(frozen=True)
class Time:
    """The frames of a scene. Frame n is the state at (n - frame_start) * frame_seconds."""

    fps: float = parameter(24.0, unit="1/s", minimum=1e-6, maximum=100000.0, help="Frames per second of the animation (film 24, games 60)")
    frame_start: int = parameter(1, minimum=-LAST_FRAME, maximum=LAST_FRAME, help="First frame, which shows the initial state (usually 1)")
    frame_end: int = parameter(48, minimum=-LAST_FRAME, maximum=LAST_FRAME, help="Last frame (48 is two seconds at 24 frames per second)")
    time_scale: float = parameter(
        1.0,
        minimum=1e-6,
        maximum=1000.0,
        help="Speed of time; higher values take proportionally longer to bake (slow motion 0.25, real time 1)",
    )
    subframes: int = parameter(
        0,
        minimum=0,
        maximum=99,
        help="Extra states cached between frames, for smooth slow motion and motion blur; each enlarges the cache (usually 0; 3 for fast "
        "spins)",
    )

    def __post_init__(self) -> None:
        validate(self, "time")
        if self.frame_end < self.frame_start:
            raise SceneError(
                f"`frame_end` {self.frame_end} is before `frame_start` {self.frame_start}",
                f"use at least {self.frame_start}",
                subject="time",
            )

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
    """Settings of the solver."""

    dimension: int = parameter(3, minimum=2, maximum=3, help="Number of dimensions; 2 simulates a thin slice along X and Z for quick tests")
    grid_spacing: float = parameter(
        unit="m",
        minimum=1e-6,
        maximum=1e9,
        example=0.1,
        help="Size of a grid cell; half the size shows finer detail and takes about 16 times longer to bake (start with a tenth of "
        "the smallest object)",
    )
    transfer: str = parameter(
        "apic",
        choices={
            "apic": "Preserves swirls and spin without noise; suitable for most scenes",
            "pic": "Damps all motion, as if the material were thicker",
            "flip": "Livelier splashes with some noise; see FLIP Ratio",
        },
        help="How velocities are transferred between particles and grid; affects splashes, swirls and noise",
    )
    flip_ratio: float = parameter(
        0.95, minimum=0.0, maximum=1.0, help="Blend from PIC to FLIP; higher values splash more and are noisier (PIC 0, calm 0.8, FLIP 1)"
    )
    kernel: str = parameter(
        "quadratic",
        choices={"quadratic": "Fast; suitable for most scenes", "cubic": "Smoother pressure and less noise, but slower"},
        help="Interpolation kernel between particles and grid",
    )
    cfl: float = parameter(
        0.4,
        minimum=1e-6,
        maximum=1.0,
        help="Cells a pressure wave may cross per substep; smaller is safer and slower (usually 0.4; 0.2 if the bake is unstable)",
    )
    max_displacement: float = parameter(
        0.5,
        unit="cells",
        minimum=1e-6,
        maximum=1.0,
        help="Cells a particle may cross per substep; smaller is safer and slower (usually 0.5; 0.2 for fast, thin colliders)",
    )
    time_step: float | None = parameter(
        None,
        unit="s",
        minimum=1e-15,
        example=1e-4,
        help="Fixed length of substeps; chosen automatically if not set",
    )
    precision: str = parameter(
        "float32",
        choices={"float32": "Fast, and accurate enough for rendering", "float64": "Slower and uses twice the memory, for measurements"},
        help="Floating-point precision of the solver",
    )
    seed: int = parameter(0, minimum=0, maximum=2**31 - 1, help="Random seed for particle placement and velocity spread")
    max_speed: float | None = parameter(
        None,
        unit="m/s",
        above=0.0,
        example=10.0,
        is_animatable=True,
        help="Maximum speed of particles, which tames splashes and speeds up bakes (tabletop 10, landscape 50)",
    )
    gravity: tuple[float, float, float] = parameter(
        (0.0, 0.0, -9.81), unit="m/s^2", is_animatable=True, help="Direction and strength of gravity (Earth -9.81 along Z, Moon -1.62)"
    )
    ambient_temperature: float | None = parameter(
        None,
        unit="°C",
        minimum=ABSOLUTE_ZERO,
        maximum=1e5,
        example=20.0,
        is_animatable=True,
        help="Temperature of the air, which cools or warms free surfaces; if not set, they exchange no heat (cold -10, room 20, oven 200)",
    )
    heat_speed: float | None = parameter(
        None,
        above=0.0,
        maximum=1e6,
        example=20.0,
        help="How many times as fast as in nature heat flows, because melting takes minutes (natural 1, candle 20, ice cube 100)",
    )
    animation: Animation | None = None

    def __post_init__(self) -> None:
        validate(self, "solver")
        check_animation(self.animation, animatable_parameters(Solver), "solver")

    @property
    def affine_inertia(self) -> float:
        """h^2 D^-1 of APIC, whose particles carry the velocity gradient; 0 with other transfers."""
        return 0.0 if self.transfer != "apic" else 3.0 if self.kernel == "cubic" else 4.0


@dataclass(frozen=True)
class CacheSettings:
    """The data that a bake stores. These settings have no effect on the motion."""

    precision: str = parameter(
        "compact",
        choices={
            "compact": "Small, visually lossless files: positions to 1e-4 of a cell, other attributes to 3 digits",
            "exact": "Full precision, in files twice as large",
        },
        help="Precision of the cached frames",
    )
    velocity: bool = parameter(True, help="Cache velocities, needed for motion blur, slow motion and coloring by speed")
    volume_ratio: bool = parameter(True, help="Cache the volume ratio for colors and shaders (1 is undeformed)")
    density_ratio: bool = parameter(False, help="Cache the density relative to the rest density for shaders (about 0.5 at a free surface)")
    stress: bool = parameter(True, help="Cache the von Mises stress in Pa for colors and shaders")
    rotation: bool = parameter(True, help="Cache the rotation of particles, for tumbling grains and chips")
    stretch: bool = parameter(False, help="Cache the stretch of particles along each axis, for grains and chips")
    rest_position: bool = parameter(True, help="Cache the rest position of particles, for textures that stick to them")
    checkpoint_interval: int = parameter(
        10,
        unit="frames",
        minimum=1,
        maximum=100000,
        help="Frames between checkpoints, from which a bake can resume; one is kept at least every minute",
    )
    checkpoint_count: int = parameter(
        8,
        minimum=1,
        maximum=100000,
        help=f"Maximum number of checkpoints, each of about {CHECKPOINT_BYTES['float32']} bytes per particle; older ones are thinned out",
    )
    size_limit: float | None = parameter(
        None, unit="GB", above=0.0, example=100.0, help="Cache size at which the bake stops; it can be resumed"
    )
    time_limit: float | None = parameter(
        None, unit="h", above=0.0, example=12.0, help="Hours after which the bake stops; it can be resumed (12 for a night)"
    )

    def __post_init__(self) -> None:
        validate(self, "cache")


@dataclass(frozen=True)
class Side:
    """One side of a box domain."""

    surface: str = parameter(
        "slip",
        choices={**SURFACE_HELP, "open": "Particles leave here and are removed"},
        help="How particles behave on contact with this side",
    )
    friction: float | None = friction_parameter("Friction of this side")

    def __post_init__(self) -> None:
        validate(self, "domain.sides")


@dataclass(frozen=True)
class Domain:
    """The extent of the simulation: unbounded, or a box whose sides are walls or open."""

    kind: str = parameter(
        "unbounded",
        choices={"unbounded": "No boundary", "box": "A box with closed or open sides"},
        help="Extent of the simulation",
    )
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
            raise SceneError("a box needs min and max, three coordinates [m] each", "set both", subject="domain")
        for axis, low, high in zip("xyz", self.min, self.max, strict=True):
            if not low < high:
                raise SceneError(f"min {low:g} m is not below max {high:g} m along {axis}", "swap or change them", subject="domain")
        for name in self.sides:
            if name not in SIDES:
                raise SceneError(f'side "{name}" is unknown{suggestion(name, SIDES)}', f"use one of {', '.join(SIDES)}", subject="domain")
        object.__setattr__(self, "sides", {name: self.sides.get(name, Side()) for name in SIDES})
