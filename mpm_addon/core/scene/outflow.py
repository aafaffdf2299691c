"""Outflows: shapes that remove particles."""

from dataclasses import dataclass

from ..errors import SceneError
from ..parameters import parameter, validate
from .animation import Animation, Motion, animatable_parameters, check_animation, check_motion_scale, refuse_vertices
from .shape import Shape


@dataclass(frozen=True)
class Outflow:
    """A shape that removes particles."""

    name: str
    shape: Shape
    enabled: bool = parameter(True, is_animatable=True, help="Enable removal; keyframe it to open and close a drain")
    motion: Motion | None = None
    animation: Animation | None = None

    def __post_init__(self) -> None:
        subject = f'Outflow "{self.name}"'
        validate(self, subject)
        if not self.shape.can_collide:
            raise SceneError(f'a shape of kind "{self.shape.kind}" cannot remove particles', "use another shape", subject=subject)
        self.shape.check(subject)
        check_motion_scale(self.motion, subject)
        refuse_vertices(self.motion, "an outflow", subject)
        check_animation(self.animation, animatable_parameters(Outflow), subject)
