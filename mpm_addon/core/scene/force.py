"""Declarations of force fields; `stepping.forces` computes them."""

from dataclasses import dataclass

from ..errors import SceneError
from ..parameters import parameter, validate
from .animation import Animation, Motion, animatable_parameters, check_animation, check_motion_scale, refuse_vertices, value_at
from .thermal import ABSOLUTE_ZERO

FORCE_KINDS = ("point", "wind", "vortex", "turbulence", "drag", "harmonic")
FORCE_SHAPES = ("point", "line", "plane")
FALLOFF_SHAPES = ("sphere", "tube", "cone")
FORCE_SIDES = ("both", "positive", "negative")


@dataclass(frozen=True)
class Force:
    """A force field: an acceleration at each position, equal to that of Blender's force fields on particles of 1 kg.

    Its local z axis is `direction`. With `motion`, center and direction are in its local space.
    """

    name: str
    kind: str = parameter("point", choices=FORCE_KINDS, help="Kind of force")
    strength: float = parameter(
        1.0,
        unit="m/s^2",
        minimum=-1e6,
        maximum=1e6,
        is_animatable=True,
        help="Acceleration at the center, or stiffness of a harmonic field [1/s^2]; a negative point force attracts (not used by drag)",
    )
    shape: str = parameter("point", choices=FORCE_SHAPES, help="Origin of distances: a point, the z axis, or the plane perpendicular to it")
    center: tuple[float, float, float] = parameter((0.0, 0.0, 0.0), unit="m", help="Position of the field")
    direction: tuple[float, float, float] = parameter(
        (0.0, 0.0, 1.0), help="Z axis of the field: the direction of wind or the axis of a vortex"
    )
    falloff: float = parameter(
        0.0, minimum=-3.0, maximum=10.0, help="Power of the decrease with distance; negative values increase the force"
    )
    falloff_shape: str = parameter(
        "sphere", choices=FALLOFF_SHAPES, help="How distance is measured: from the center, along and from the axis, or in a cone"
    )
    min_distance: float = parameter(
        0.0, unit="m", minimum=0.0, is_animatable=True, help="Distance up to which the force has its full strength"
    )
    radius: float | None = parameter(
        None,
        unit="m",
        above=0.0,
        example=1.0,
        is_animatable=True,
        help="Distance beyond which the force has no effect; if not set, unlimited",
    )
    radial_falloff: float = parameter(0.0, minimum=-3.0, maximum=10.0, help="Power of the decrease away from the axis, for tube and cone")
    radial_min: float = parameter(
        0.0, minimum=0.0, help="Distance from the axis [m], or angle of a cone [degrees], up to which the force has its full strength"
    )
    radial_max: float | None = parameter(
        None,
        above=0.0,
        example=1.0,
        help="Distance from the axis [m], or angle of a cone [degrees], beyond which the force has no effect; if not set, unlimited",
    )
    side: str = parameter("both", choices=FORCE_SIDES, help="Sides of the plane perpendicular to the z axis on which the force acts")
    flow: float = parameter(
        0.0, unit="1/s", minimum=0.0, maximum=1e4, is_animatable=True, help="How strongly the field slows particles down"
    )
    noise: float = parameter(0.0, unit="m/s^2", minimum=0.0, maximum=1e6, is_animatable=True, help="Random part of the strength")
    seed: int = parameter(0, minimum=0, maximum=2**31 - 1, help="Seed of noise and turbulence")
    size: float = parameter(0.1, unit="m", above=0.0, is_animatable=True, help="Size of the eddies of turbulence")
    linear_drag: float = parameter(0.0, unit="1/s", minimum=0.0, maximum=1e4, is_animatable=True, help="Drag proportional to the velocity")
    quadratic_drag: float = parameter(
        0.0, unit="1/m", minimum=0.0, maximum=1e4, is_animatable=True, help="Drag proportional to the square of the velocity"
    )
    rest_length: float = parameter(0.0, unit="m", minimum=0.0, is_animatable=True, help="Distance at which a harmonic field has no force")
    damping: float = parameter(0.0, minimum=0.0, maximum=10.0, is_animatable=True, help="Damping ratio of a harmonic field; 1 is critical")
    heating: float | None = parameter(
        None,
        unit="W/kg",
        minimum=-1e9,
        maximum=1e9,
        example=1000.0,
        is_animatable=True,
        help="Heat that particles take up where the field acts; a negative value cools (warm air 500, torch 2e4)",
    )
    temperature: float | None = parameter(
        None,
        unit="°C",
        minimum=ABSOLUTE_ZERO,
        maximum=1e5,
        example=200.0,
        is_animatable=True,
        help="Temperature beyond which the field neither heats nor cools; if not set, there is no limit",
    )
    enabled: bool = parameter(True, is_animatable=True, help="Enable the force")
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
        # values within their ranges may still contradict each other
        for frame in () if self.animation is None else self.animation.frames.tolist():
            radius, min_distance = (value_at(self, name, frame) for name in ("radius", "min_distance"))
            _check_distances(radius, min_distance, f"{subject}, frame {frame:g}")


def _check_distances(radius: float | None, min_distance: float, subject: str) -> None:
    if radius is not None and radius < min_distance:
        raise SceneError(
            f"radius {radius:g} m is below `min_distance` {min_distance:g} m", f"use at least {min_distance:g} m", subject=subject
        )
