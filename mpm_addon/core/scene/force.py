"""Force fields: what pushes matter without touching it. Declarations alone; `stepping.forces` computes them."""

from dataclasses import dataclass

from ..errors import SceneError
from ..parameters import parameter, validate
from .animation import Animation, Motion, animatable_parameters, check_animation, check_motion_scale, refuse_vertices, value_at

FORCE_KINDS = ("point", "wind", "vortex", "turbulence", "drag", "harmonic")
FORCE_SHAPES = ("point", "line", "plane")
FALLOFF_SHAPES = ("sphere", "tube", "cone")


@dataclass(frozen=True)
class Force:
    """A force field: an acceleration of the matter at each place, as Blender's force fields give it to particles of 1 kg.

    Its own z axis is `direction`; `motion` moves it (then center and direction are those in its local space).
    """

    name: str
    kind: str = parameter("point", choices=FORCE_KINDS, help="What the field does")
    strength: float = parameter(
        1.0,
        unit="m/s^2",
        minimum=-1e6,
        maximum=1e6,
        is_animatable=True,
        help="Acceleration at the centre; a negative point strength attracts, a positive one repels. "
        "Of harmonic the stiffness [1/s^2], of drag nothing",
    )
    shape: str = parameter("point", choices=FORCE_SHAPES, help="From where it acts: a point, its z axis, or the plane across that axis")
    center: tuple[float, float, float] = parameter((0.0, 0.0, 0.0), unit="m", help="Where it is")
    direction: tuple[float, float, float] = parameter((0.0, 0.0, 1.0), help="Its z axis: where wind blows, what a vortex turns about")
    falloff: float = parameter(0.0, minimum=-3.0, maximum=10.0, help="Power of the decrease with distance; negative where it grows")
    falloff_shape: str = parameter("sphere", choices=FALLOFF_SHAPES, help="Distance from the centre, along and from the axis, or in a cone")
    min_distance: float = parameter(0.0, unit="m", minimum=0.0, is_animatable=True, help="Up to here it has its full strength")
    radius: float | None = parameter(
        None, unit="m", above=0.0, example=1.0, is_animatable=True, help="Beyond this distance it does nothing"
    )
    radial_falloff: float = parameter(0.0, minimum=-3.0, maximum=10.0, help="Power of the decrease away from the axis, of tube and cone")
    radial_min: float = parameter(
        0.0, minimum=0.0, help="Full strength up to this distance from the axis [m], or angle of a cone [degrees]"
    )
    radial_max: float | None = parameter(
        None, above=0.0, example=1.0, help="Nothing beyond this distance from the axis [m], or angle of a cone [degrees]"
    )
    side: str = parameter("both", choices=("both", "positive", "negative"), help="On which side along its z axis it acts")
    flow: float = parameter(
        0.0, unit="1/s", minimum=0.0, maximum=1e4, is_animatable=True, help="How strongly matter is slowed down in the field"
    )
    noise: float = parameter(0.0, unit="m/s^2", minimum=0.0, maximum=1e6, is_animatable=True, help="Random part of the strength")
    seed: int = parameter(0, minimum=0, maximum=2**31 - 1, help="Seed of noise and turbulence")
    size: float = parameter(0.1, unit="m", above=0.0, is_animatable=True, help="Size of the eddies of turbulence")
    linear_drag: float = parameter(0.0, unit="1/s", minimum=0.0, maximum=1e4, is_animatable=True, help="Drag with the velocity")
    quadratic_drag: float = parameter(0.0, unit="1/m", minimum=0.0, maximum=1e4, is_animatable=True, help="Drag with its square")
    rest_length: float = parameter(0.0, unit="m", minimum=0.0, is_animatable=True, help="Distance at which a harmonic field is at rest")
    damping: float = parameter(0.0, minimum=0.0, maximum=10.0, is_animatable=True, help="Damping ratio of a harmonic field; 1 is critical")
    enabled: bool = parameter(True, is_animatable=True, help="Whether it acts")
    motion: Motion | None = None
    animation: Animation | None = None

    def __post_init__(self) -> None:
        subject = f'Force "{self.name}"'
        validate(self, subject)
        if not any(self.direction):
            raise SceneError("direction (0, 0, 0) points nowhere", "use a direction such as (0, 0, 1)", subject=subject)
        _check_distances(self.radius, self.min_distance, subject)
        refuse_vertices(self.motion, "a force", subject)
        check_motion_scale(self.motion, subject)
        check_animation(self.animation, animatable_parameters(Force), subject)
        # values that are allowed one by one may contradict each other
        for frame in () if self.animation is None else self.animation.frames.tolist():
            radius, min_distance = (value_at(self, name, frame) for name in ("radius", "min_distance"))
            _check_distances(radius, min_distance, f"{subject}, frame {frame:g}")


def _check_distances(radius: float | None, min_distance: float, subject: str) -> None:
    if radius is not None and radius < min_distance:
        raise SceneError(
            f"radius {radius:g} m is below min_distance {min_distance:g} m", f"use at least {min_distance:g} m", subject=subject
        )
