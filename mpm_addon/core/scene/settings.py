"""The settings of a whole scene: its frames, how it is computed, and the space that it has."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import SceneError
from ..parameters import parameter, suggestion, validate
from .animation import Animation, animatable_parameters, check_animation

# About as far as Blender counts frames, to both sides of 0.
LAST_FRAME = 1_000_000

SURFACE_HELP = {
    "slip": "Matter slides along it and does not come off: a pane of glass with water on it",
    "sticky": "Matter stays where it touches: mud on a boot, paint on a wall",
    "separate": "Matter slides along it, bounces and comes off: right for most things",
}
SURFACES = tuple(SURFACE_HELP)
SIDES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")


@dataclass(frozen=True)
class Time:
    """The frames of a scene. Frame n is the state at (n - frame_start) * frame_seconds."""

    fps: float = parameter(24.0, unit="1/s", minimum=1e-6, maximum=100000.0, help="Frames in a second of the animation; film 24, games 60")
    frame_start: int = parameter(1, minimum=-LAST_FRAME, maximum=LAST_FRAME, help="First frame: how everything is at the start; 1 usual")
    frame_end: int = parameter(48, minimum=-LAST_FRAME, maximum=LAST_FRAME, help="Last frame; 48 is two seconds at 24 frames a second")
    time_scale: float = parameter(
        1.0,
        minimum=1e-6,
        maximum=1000.0,
        help="How fast time passes; 0.25 is slow motion, 1 real time, 2 twice as fast and twice as long to bake",
    )
    subframes: int = parameter(
        0,
        minimum=0,
        maximum=99,
        help="States kept between two frames, for smooth slow motion and motion blur; 0 usual, 3 for fast turns. Each adds to the cache",
    )

    def __post_init__(self) -> None:
        validate(self, "time")
        if self.frame_end < self.frame_start:
            raise SceneError(
                f"time: frame_end {self.frame_end} is before frame_start {self.frame_start}", f"use at least {self.frame_start}"
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
    """How the scene is computed."""

    dimension: int = parameter(3, minimum=2, maximum=3, help="3 for space; 2 computes a thin slice along x and z, for quick tests")
    grid_spacing: float = parameter(
        unit="m",
        minimum=1e-9,
        maximum=1e9,
        example=0.1,
        help="Size of a grid cell, which sets the detail: half of it shows finer splashes and crumbs, and bakes some 16 times longer. "
        "A tenth of the smallest object that matters is a good start",
    )
    transfer: str = parameter(
        "apic",
        choices={
            "apic": "Keeps swirls and spins without noise: right for most things",
            "pic": "Calms everything down, as if it were thicker",
            "flip": "Livelier splashes, with some noise; see FLIP Ratio",
        },
        help="How lively matter moves: splashes, swirls and noise",
    )
    flip_ratio: float = parameter(0.95, minimum=0.0, maximum=1.0, help="How lively FLIP is; 1 splashes and is noisy, 0.8 calmer, 0 is PIC")
    kernel: str = parameter(
        "quadratic",
        choices={"quadratic": "Fast, and right for most things", "cubic": "Smoother pressure and less noise, and slower"},
        help="How far a particle reaches on the grid",
    )
    cfl: float = parameter(
        0.4,
        minimum=1e-6,
        maximum=1.0,
        help="Length of a step: how many cells a shock may cross in it. Smaller is safer and slower; 0.4 usual, 0.2 where a bake explodes",
    )
    max_displacement: float = parameter(
        0.5,
        unit="cells",
        minimum=1e-6,
        maximum=1.0,
        help="Length of a step: how far a particle may move in it. Smaller is safer and slower; 0.5 usual, 0.2 for fast thin colliders",
    )
    time_step: float | None = parameter(
        None,
        unit="s",
        minimum=1e-15,
        example=1e-4,
        help="One length for all steps; found automatically where it is not given, which is best",
    )
    precision: str = parameter(
        "float32",
        choices={"float32": "Fast, and exact enough for pictures", "float64": "Slower, with twice the memory: for measurements"},
        help="How exactly numbers are computed",
    )
    seed: int = parameter(
        0, minimum=0, maximum=2**31 - 1, help="Another number arranges particles and random speeds differently; any number, 0 usual"
    )
    max_speed: float | None = parameter(
        None,
        unit="m/s",
        above=0.0,
        example=10.0,
        is_animatable=True,
        help="No matter moves faster than this, which tames wild splashes and shortens bakes; table top 10, landscape 50",
    )
    gravity: tuple[float, float, float] = parameter(
        (0.0, 0.0, -9.81), unit="m/s^2", is_animatable=True, help="How strongly and where everything falls; Earth -9.81 along Z, Moon -1.62"
    )
    animation: Animation | None = None

    def __post_init__(self) -> None:
        validate(self, "solver")
        check_animation(self.animation, animatable_parameters(Solver), "solver")


@dataclass(frozen=True)
class CacheSettings:
    """What is kept of a bake. Decides nothing of how matter moves."""

    precision: str = parameter(
        "compact",
        choices={
            "compact": "Small files: positions to less than 1e-4 of a cell, the rest to 3 digits. Nobody sees the difference",
            "exact": "Every digit, in files twice as large",
        },
        help="How exactly frames are kept",
    )
    velocity: bool = parameter(True, help="Keep velocities, which motion blur, slow motion and colours by speed need")
    density_ratio: bool = parameter(True, help="Keep how much matter is squeezed or loosened, for colours and shaders; 1 is untouched")
    stress: bool = parameter(True, help="Keep how strongly matter is loaded [Pa], for colours and shaders")
    rotation: bool = parameter(True, help="Keep how particles turn, for grains and chips that tumble")
    stretch: bool = parameter(False, help="Keep how long and flat particles are pulled, for grains and chips of jelly, rubber and metal")
    rest_position: bool = parameter(True, help="Keep where particles were emitted, for textures that stick to the matter")
    checkpoint_interval: int = parameter(
        10,
        unit="frames",
        minimum=1,
        maximum=100000,
        help="How often a bake keeps a state from which it can go on; 10 usual. A minute of baking at most lies between two",
    )
    checkpoint_count: int = parameter(
        8,
        minimum=1,
        maximum=100000,
        help="How many such states are kept; 8 usual. Older ones are thinned out, each is about 100 bytes a particle",
    )
    size_limit: float | None = parameter(
        None, unit="GB", above=0.0, example=100.0, help="Size of the cache at which the bake stops; it can go on later"
    )
    time_limit: float | None = parameter(
        None, unit="h", above=0.0, example=12.0, help="Time after which the bake stops, such as 12 for a night; it can go on later"
    )

    def __post_init__(self) -> None:
        validate(self, "cache")


@dataclass(frozen=True)
class Side:
    """One side of a box domain."""

    surface: str = parameter(
        "slip",
        choices={**SURFACE_HELP, "open": "Matter flies out here and is removed"},
        help="What happens to matter that touches this side",
    )
    friction: float = parameter(
        0.0, minimum=0.0, maximum=100.0, help="How much this side slows matter that slides on it; ice 0.05, wood 0.4, rubber 1"
    )

    def __post_init__(self) -> None:
        validate(self, "domain.sides")


@dataclass(frozen=True)
class Domain:
    """The space of the simulation: unbounded, or a box whose sides are walls or open."""

    kind: str = parameter(
        "unbounded",
        choices={"unbounded": "Without end: matter may fly anywhere", "box": "A box, whose sides are walls or open"},
        help="How far the simulation reaches",
    )
    min: tuple[float, float, float] | None = parameter(
        None, unit="m", example=(-1.0, -1.0, 0.0), help="Lowest corner of the box; a table top needs about 2 by 2 by 2"
    )
    max: tuple[float, float, float] | None = parameter(
        None, unit="m", example=(1.0, 1.0, 2.0), help="Highest corner of the box, above the lowest one along every axis"
    )
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
            raise SceneError("domain: a box needs min and max, three coordinates [m] each", "give both")
        for axis, low, high in zip("xyz", self.min, self.max, strict=True):
            if not low < high:
                raise SceneError(f"domain: min {low:g} m is not below max {high:g} m along {axis}", "exchange or move them")
        for name in self.sides:
            if name not in SIDES:
                raise SceneError(f'domain: side "{name}" is unknown{suggestion(name, SIDES)}', f"use one of {', '.join(SIDES)}")
        object.__setattr__(self, "sides", {name: self.sides.get(name, Side()) for name in SIDES})
