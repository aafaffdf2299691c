"""Changes over time: poses and vertices at frames, and values of parameters. Plain numpy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..parameters import Parameter, parameters_of, suggestion

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Motion:
    """The motion of an object: world from local, at given frames.

    Attributes:
        frames: frame numbers (k,), ascending, possibly fractional.
        matrices: world from local (k, 4, 4) for rigid motion, or None.
        vertices: world positions (k, n, 3) of a deforming mesh's vertices, or None; the mesh then only provides the triangles.
    """

    frames: Floats
    matrices: Floats | None = None
    vertices: Floats | None = None

    def __eq__(self, other: object) -> bool:
        """Whether the arrays are equal by value."""
        if not isinstance(other, Motion):
            return NotImplemented
        pairs = ((self.frames, other.frames), (self.matrices, other.matrices), (self.vertices, other.vertices))
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Animation:
    """Values of parameters at given frames: linear between them, constant before the first and after the last.

    A flag keeps its value until the next given frame.

    Attributes:
        frames: frame numbers (k,), ascending, possibly fractional.
        values: parameter name -> values (k,), or (k, components) for a vector.
    """

    frames: Floats
    values: Mapping[str, Floats]

    def __eq__(self, other: object) -> bool:
        """Whether the arrays are equal by value."""
        if not isinstance(other, Animation):
            return NotImplemented
        return (
            np.array_equal(self.frames, other.frames)
            and self.values.keys() == other.values.keys()
            and all(np.array_equal(values, other.values[name]) for name, values in self.values.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def at(self, name: str, frame: float) -> Floats:
        """A parameter's value at a (fractional) frame, shape () or (components,)."""
        values, frames = self.values[name], self.frames
        first = int(np.clip(np.searchsorted(frames, frame, side="right") - 1, 0, len(frames) - 1))
        if first == len(frames) - 1 or frame <= frames[0]:
            return np.asarray(values[first])
        share = (frame - frames[first]) / (frames[first + 1] - frames[first])
        return np.asarray((1.0 - share) * values[first] + share * values[first + 1])

    def flag_at(self, name: str, frame: float) -> bool:
        """A flag's value at a (fractional) frame: that of the last given frame not after it."""
        first = int(np.searchsorted(self.frames, frame, side="right")) - 1
        return bool(self.values[name][max(first, 0)] >= 0.5)


def value_at(owner: Any, name: str, frame: float) -> Any:
    """A parameter at a (fractional) frame, of an owner whose `animation` may be None: a number, a flag, or a tuple."""
    given = getattr(owner, name)
    animation: Animation | None = owner.animation
    if animation is None or name not in animation.values:
        return given
    if isinstance(given, bool):
        return animation.flag_at(name, frame)
    value = animation.at(name, frame)
    return tuple(value.tolist()) if value.ndim else float(value)


def animatable_parameters(owner: type) -> dict[str, Parameter]:
    """The parameters of a dataclass that can be animated: name -> parameter."""
    return {declared.name: declared for declared in parameters_of(owner) if declared.is_animatable}


def check_animation(animation: Animation | None, known: Mapping[str, Parameter], subject: str) -> None:
    """Check that an animation only changes animatable parameters, with values within their ranges at every frame.

    Args:
        known: the animatable parameters, by name.
        subject: how messages name the owner.

    Raises:
        SceneError: naming the parameter, the frame and the value.
    """
    if animation is None:
        return
    for name, values in animation.values.items():
        if name not in known:
            words = ", ".join(known) or "none"
            raise SceneError(f'"{name}" cannot be animated{suggestion(name, known)}', f"use one of: {words}", subject=subject)
        declared = known[name]
        wanted = (len(animation.frames), declared.size) if declared.kind == "vector" else (len(animation.frames),)
        if values.shape != wanted:
            raise SceneError(f"the animation of {name} has the shape {values.shape}", f"use {wanted}", subject=subject)
        for frame, value in zip(animation.frames, values, strict=True):
            if declared.kind == "flag":
                if value not in (0.0, 1.0):
                    raise SceneError(f"{name} is {value:g} at frame {frame:g}", "use 0 or 1", subject=subject)
                continue
            declared.check(value.tolist() if value.ndim else float(value), f"{subject}, frame {frame:g}")


def check_motion_scale(motion: Motion | None, subject: str) -> None:
    """Refuse poses that are not finite, or whose scale is not uniform and constant, so that a signed distance remains one."""
    if motion is None or motion.matrices is None:
        return
    wrong = np.flatnonzero(~np.isfinite(motion.matrices).all(axis=(1, 2)))
    if len(wrong):
        raise SceneError(
            f"motion at frame {motion.frames[wrong[0]]:g} has a matrix that is not made of finite numbers", "correct it", subject=subject
        )
    scales = np.linalg.norm(np.asarray(motion.matrices, np.float64)[:, :3, :3], axis=1)
    wanted = scales[0].mean()
    wrong = np.flatnonzero((np.abs(scales - wanted) > 1e-3 * wanted).any(axis=1))
    if len(wrong):
        shown = ", ".join(f"{scale:g}" for scale in scales[wrong[0]])
        raise SceneError(
            f"motion at frame {motion.frames[wrong[0]]:g} scales the shape by ({shown})",
            f"use the same scale along all axes and at every frame ({wanted:g}), and apply the rest to the shape",
            subject=subject,
        )


def check_motion_vertices(motion: Motion | None, shape: Any, subject: str) -> None:
    """Refuse moving vertices that do not match the shape or are not finite."""
    if motion is None or motion.vertices is None:
        return
    frames, vertices = motion.frames, motion.vertices
    if shape.kind != "mesh":
        raise SceneError(f"a {shape.kind} has no vertices to move", "use motion by matrix, or a mesh", subject=subject)
    count = len(shape.vertices)
    if vertices.ndim != 3 or vertices.shape[::2] != (len(frames), 3):
        raise SceneError(
            f"motion has vertices of shape {vertices.shape} for {len(frames)} frames", "use (frames, vertices, 3)", subject=subject
        )
    if vertices.shape[1] != count:
        raise SceneError(
            f"motion at frame {frames[0]:g} has {vertices.shape[1]} vertices, but the mesh has {count}",
            "use a mesh with the same vertices at every frame",
            subject=subject,
        )
    wrong = np.flatnonzero(~np.isfinite(vertices).all(axis=(1, 2)))
    if len(wrong):
        vertex = int(np.argmax(~np.isfinite(vertices[wrong[0]]).all(axis=1)))
        raise SceneError(
            f"motion at frame {frames[wrong[0]]:g} has vertex {vertex} at {vertices[wrong[0], vertex]}",
            "move it to finite coordinates",
            subject=subject,
        )


def refuse_vertices(motion: Motion | None, owner: str, subject: str) -> None:
    """Refuse moving vertices for an `owner` that only poses can move, such as "an outflow"."""
    if motion is not None and motion.matrices is None:
        raise SceneError(f"motion by vertices cannot move {owner}", 'use "matrix" and a shape that does not deform', subject=subject)


def check_motion_turn(motion: Motion | None, subject: str) -> None:
    """Refuse poses that, in 2D, rotate a shape out of the x-z plane in which its section is taken."""
    if motion is None or motion.matrices is None:
        return
    axes = np.asarray(motion.matrices, np.float64)[:, :3, :3]
    out = np.abs(np.stack([axes[:, 1, 0], axes[:, 1, 2], axes[:, 0, 1], axes[:, 2, 1]])).max(axis=0)
    wrong = np.flatnonzero(out > 1e-5 * np.abs(axes).max(axis=(1, 2)))
    if len(wrong):
        raise SceneError(
            f"motion at frame {motion.frames[wrong[0]]:g} rotates the shape out of the x-z plane",
            "in 2D, rotate it about y only, and apply any other rotation to the shape",
            subject=subject,
        )
