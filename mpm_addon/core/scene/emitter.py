"""Emitters: shapes that particles come from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..parameters import parameter, validate
from .animation import Animation, Motion, animatable_parameters, check_animation, check_motion_scale, check_motion_vertices
from .painting import Painting
from .randomness import UNIFORM, Randomness
from .settings import LAST_FRAME
from .shape import Shape
from .thermal import ABSOLUTE_ZERO

Floats = NDArray[np.float64]


# unless an emitter sets its own
PARTICLES_PER_CELL = 8.0
# Below this thickness an emitter is too thin to deform [cells].
THINNEST_EMITTER = 2.0
# Parameters whose animation makes an inflow unsteady.
_FLOW_PARAMETERS = ("enabled", "flow_rate", "velocity", "normal_velocity", "angular_velocity")


@dataclass(frozen=True)
class Emitter:
    """A shape that emits particles of one material."""

    name: str
    shape: Shape
    material: str
    mode: str = parameter(
        "once",
        choices={
            "once": "All at once (a block of jelly, a snowball, a full glass)",
            "inflow": "A steady stream (a tap, a hose, lava from a crack)",
            "repeat": "The whole shape, repeatedly (drops, lumps, balls)",
        },
        help="When particles are emitted",
    )
    frame_start: int | None = parameter(
        None,
        minimum=-LAST_FRAME,
        maximum=LAST_FRAME,
        example=1,
        help="First frame of emission; if not set, the scene's first frame",
    )
    frame_end: int | None = parameter(
        None,
        minimum=-LAST_FRAME,
        maximum=LAST_FRAME,
        example=48,
        help="Last frame of emission; if not set, the scene's last frame",
    )
    interval: int = parameter(
        10, unit="frames", minimum=1, maximum=LAST_FRAME, help="Frames between emissions (pelting 5, occasional drops 48)"
    )
    enabled: bool = parameter(True, is_animatable=True, help="Enable emission; keyframe it to open and close a tap")
    source: str = parameter(
        "volume",
        choices={"volume": "Fill the whole volume", "surface": "Cover the surface with a single layer (a coat, a shell)"},
        help="Where in the object particles are emitted",
    )
    flow_rate: float | None = parameter(
        None,
        unit="m^3/s",
        minimum=0.0,
        maximum=1e9,
        example=0.01,
        is_animatable=True,
        help="Maximum flow rate; if not set, as much as fits (tap 2e-4, hose 5e-4, fire hose 0.02)",
    )
    velocity: tuple[float, float, float] = parameter(
        (0.0, 0.0, 0.0), unit="m/s", is_animatable=True, help="Initial velocity (poured 0.5, thrown 10, shot 50)"
    )
    normal_velocity: float = parameter(
        0.0,
        unit="m/s",
        minimum=-1e6,
        maximum=1e6,
        is_animatable=True,
        help="Initial speed along the surface normals; negative is inward (fountain 3, burst 10)",
    )
    inherit_velocity: float = parameter(
        1.0,
        minimum=-10.0,
        maximum=10.0,
        is_animatable=True,
        help="How much of the object's motion the particles inherit (1 is all of it)",
    )
    angular_velocity: tuple[float, float, float] = parameter(
        (0.0, 0.0, 0.0), unit="degrees/s", is_animatable=True, help="Initial spin about the object's center (360 is one turn per second)"
    )
    velocity_spread: float = parameter(
        0.0,
        unit="m/s",
        minimum=0.0,
        maximum=1e6,
        help="Standard deviation of each particle's random velocity along each axis (smooth jet 0, ragged 0.2, spray 1)",
    )
    particles_per_cell: float | None = parameter(
        None,
        above=0.0,
        maximum=1000.0,
        example=PARTICLES_PER_CELL,
        help="Number of particles per grid cell; more is smoother and slower (draft 4, normal 8, fine 16)",
    )
    particle_count: int | None = parameter(
        None,
        minimum=1,
        maximum=2**31 - 1,
        example=100000,
        help="Exact number of particles, regardless of the object's size (draft 20,000, fine 1,000,000)",
    )
    sampling: str = parameter(
        "poisson",
        choices={
            "poisson": "Evenly spaced without a pattern; best for rendering",
            "lattice": "Regular rows and columns, which may be visible; for tests",
            "random": "Uniformly random; leaves clumps and gaps",
        },
        help="Initial arrangement of the particles",
    )
    temperature: float | None = parameter(
        None,
        unit="°C",
        minimum=ABSOLUTE_ZERO,
        maximum=1e5,
        example=20.0,
        is_animatable=True,
        help="Initial temperature; if none is set in the scene, heat is not simulated (ice -10, room 20, melted wax 80, lava 1150)",
    )
    mass_scale: float = parameter(1.0, above=0.0, maximum=1e6, help="Factor on the material's density (2 is twice as heavy)")
    stiffness_scale: float = parameter(1.0, above=0.0, maximum=1e6, help="Factor on the material's stiffness (0.5 is half as stiff)")
    body: str = parameter(
        "",
        help="Emitters with the same name form one body; without a name, liquids, sand and pastes mix, while other materials only touch",
    )
    color: tuple[float, float, float, float] = parameter(
        (1.0, 1.0, 1.0, 1.0), minimum=0.0, maximum=1.0, help="Color of the particles in the viewport and in renders"
    )
    goal: float = parameter(
        0.0,
        minimum=0.0,
        maximum=1.0,
        is_animatable=True,
        help="How strongly particles are pinned to the moving object (free 0, sways 0.5, rigidly attached 1)",
    )
    goal_frequency: float = parameter(
        10.0,
        unit="1/s",
        above=0.0,
        maximum=1e4,
        is_animatable=True,
        help="How quickly particles spring back to their pinned position (slow sway 1, follows 10, nearly rigid 50)",
    )
    goal_damping: float = parameter(
        1.0,
        minimum=0.0,
        maximum=10.0,
        is_animatable=True,
        help="Damping of the pin (keeps swinging 0.1, no overshoot 1)",
    )
    motion: Motion | None = None
    animation: Animation | None = None
    painting: Painting | None = None
    randomness: Randomness = UNIFORM

    def __post_init__(self) -> None:
        subject = f'Emitter "{self.name}"'
        validate(self, subject)
        check_motion_scale(self.motion, subject)
        check_animation(self.animation, animatable_parameters(Emitter), subject)
        if self.particles_per_cell is not None and self.particle_count is not None:
            raise SceneError("`particles_per_cell` and `particle_count` are both set", "set only one of them", subject=subject)
        if not self.shape.can_emit:
            raise SceneError(f"a {self.shape.kind} has no inside to fill", "use a closed shape", subject=subject)
        self.shape.check(subject)
        check_motion_vertices(self.motion, self.shape, subject)
        if self.source == "volume":
            self.shape.check_inside(subject)
        elif self.shape.kind == "points":
            raise SceneError("points have no surface", 'use source "volume"', subject=subject)
        self.randomness.check(subject)
        if self.painting is not None:
            self.painting.check(*_point_counts(self.shape, subject), subject)
        if self.mode == "inflow" and self.shape.kind == "points":
            raise SceneError("points cannot be an inflow, because they have no inside", 'use mode "once" or "repeat"', subject=subject)
        if self.shape.kind == "points" and self.ever("normal_velocity"):
            raise SceneError("points have no surface with normals", "use `normal_velocity` 0", subject=subject)

    def ever(self, name: str) -> bool:
        """Whether a parameter is nonzero at any time."""
        if self.animation is not None and name in self.animation.values:
            return bool(self.animation.values[name].any())
        return bool(np.any(getattr(self, name)))

    def is_stream(self, dimension: int) -> bool:
        """Whether this is a steady inflow: a static shape with one constant velocity, in 2 or 3 dimensions."""
        given = () if self.animation is None else self.animation.values
        if self.mode != "inflow" or self.source != "volume" or self.motion is not None or self.flow_rate is not None:
            return False
        if self.normal_velocity != 0.0 or any(name in given for name in _FLOW_PARAMETERS):
            return False
        velocity, turn = np.asarray(self.velocity), np.asarray(self.angular_velocity)
        if dimension == 2:
            velocity, turn = velocity * [1.0, 0.0, 1.0], turn * [0.0, 1.0, 0.0]
        speed = float(np.linalg.norm(velocity))
        # a rotation across the flow makes one side faster than the other
        return speed > 0.0 and bool(np.linalg.norm(np.cross(velocity, turn)) <= 1e-6 * speed * np.linalg.norm(turn))

    def thickness(self) -> float:
        """How thick the emitted matter is [m]: the shortest edge of the shape's bounds, or the next one for a stream, which leaves a nozzle
        along its shortest."""
        shortest, middle, _ = sorted(float(edge) for edge in np.ptp(self.shape.bounds(), axis=0))
        return middle if self.mode == "inflow" else shortest

    @property
    def has_pins(self) -> bool:
        """Whether it ever pins its particles."""
        return self.goal > 0.0 or (self.animation is not None and "goal" in self.animation.values)


def _point_counts(shape: Shape, subject: str) -> tuple[int, int]:
    """The numbers of vertices and triangles, or of points, that values can be painted on."""
    vertices = getattr(shape, "vertices", getattr(shape, "position", None))
    if vertices is None:
        raise SceneError(f"a {shape.kind} has no vertices to paint on", "use a mesh or points", subject=subject)
    return len(vertices), len(getattr(shape, "triangles", ()))
