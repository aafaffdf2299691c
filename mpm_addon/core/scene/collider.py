"""Colliders: shapes that particles cannot enter, fixed, moving or pushed by the simulation."""

from dataclasses import dataclass, replace
from typing import Any

from ..errors import SceneError
from ..parameters import parameter, validate
from .animation import (
    Animation,
    Motion,
    animatable_parameters,
    check_animation,
    check_motion_scale,
    check_motion_vertices,
    refuse_vertices,
)
from .fracture import Fracture
from .settings import SURFACE_HELP, friction_parameter
from .shape import Shape
from .thermal import ABSOLUTE_ZERO


@dataclass(frozen=True)
class Collider:
    """A shape that particles cannot enter."""

    name: str
    shape: Shape
    surface: str = parameter("separate", choices=SURFACE_HELP, help="How particles behave on contact")
    friction: float | None = friction_parameter("Coulomb friction", is_animatable=True)
    restitution: float = parameter(
        0.0,
        minimum=0.0,
        maximum=1.0,
        help="Bounciness of dynamic colliders: ratio of the normal speeds after and before an impact (clay 0, wood 0.5, rubber ball 0.8)",
    )
    enabled: bool = parameter(
        True, is_animatable=True, help="Enable the collider; keyframe it off to release particles, like opening a gate"
    )
    dynamic: bool = parameter(False, help="Let particles, gravity and other colliders move this collider (a floating box, a stone in mud)")
    density: float = parameter(
        500.0,
        unit="kg/m^3",
        above=0.0,
        maximum=1e6,
        help="Mass per volume if no mass is set; colliders lighter than the liquid float (wood 500, ice 900, stone 2500)",
    )
    mass: float | None = parameter(
        None, unit="kg", above=0.0, maximum=1e12, example=1.0, help="Total mass; overrides the density (ball 0.5, person 70, car 1500)"
    )
    velocity: tuple[float, float, float] = parameter((0.0, 0.0, 0.0), unit="m/s", help="Initial velocity (pushed 1, thrown 10)")
    angular_velocity: tuple[float, float, float] = parameter(
        (0.0, 0.0, 0.0), unit="degrees/s", help="Initial spin about the center of mass (360 is one turn per second)"
    )
    temperature: float | None = parameter(
        None,
        unit="°C",
        minimum=ABSOLUTE_ZERO,
        maximum=1e5,
        example=200.0,
        is_animatable=True,
        help="Temperature at which the collider stays; if not set, it takes up no heat (cold 5, stove 250, forge 1200)",
    )
    heat_transfer: float | None = parameter(
        None,
        unit="W/(m^2 K)",
        minimum=0.0,
        maximum=1e9,
        example=500.0,
        help="Heat that passes between the surface and particles; if not set, contact is perfect (rough 200, pressed 2000)",
    )
    motion: Motion | None = None
    animation: Animation | None = None
    fracture: Fracture | None = None

    @property
    def is_ever_enabled(self) -> bool:
        """Whether it is enabled at any time."""
        given = {} if self.animation is None else self.animation.values
        return bool(given["enabled"].any()) if "enabled" in given else self.enabled

    def __post_init__(self) -> None:
        subject = f'Collider "{self.name}"'
        validate(self, subject)
        check_motion_scale(self.motion, subject)
        check_animation(self.animation, animatable_parameters(Collider), subject)
        if not self.shape.can_collide:
            raise SceneError(f'a shape of kind "{self.shape.kind}" has no surface', "use another shape", subject=subject)
        self.shape.check(subject)
        check_motion_vertices(self.motion, self.shape, subject)
        if self.dynamic:
            refuse_vertices(self.motion, "a dynamic collider", subject)
        if self.fracture is not None:
            self.fracture.check(subject)
            self.fracture.check_owner(is_dynamic=self.dynamic, subject=subject)
        _check_first_pose(self.motion, self.shape, subject)


def _check_first_pose(motion: Motion | None, shape: Any, subject: str) -> None:
    """Refuse a deforming mesh without area in its first pose, which determines whether the mesh has an inside."""
    if motion is not None and motion.vertices is not None:
        replace(shape, vertices=motion.vertices[0]).check(f"{subject}, frame {motion.frames[0]:g}")
