"""Steering: moving colliders, force fields and gravity by hand while a scene is simulated. Animated objects cannot be steered.

A steered object has a motion whose last interval is rewritten before every frame, from its current pose to its target. It therefore has
a velocity and pushes with it, and the solver does not need to know about steering. A new target takes effect at the next frame.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..geometry.rotation import rotation_matrix, rotation_vector
from ..parameters import parameters_of, suggestion
from ..scene.animation import Animation, Motion, animatable_parameters
from ..scene.description import Collider, Scene
from ..scene.force import Force

Floats = NDArray[np.float64]

# The farthest that a collider moves in a frame [cells]; if its target jumps farther, it arrives later, since every cell costs substeps.
LONGEST_MOVE = 30.0
# The farthest that an unbounded collider turns in a frame [rad].
LARGEST_TURN = 0.3
# Poses per frame, because an object that turns about a point away from the origin moves along an arc.
_KEYS = 5


class Steering:
    """The objects of a scene that are steered, each from its first target on.

    Attributes:
        scene: the scene with its steered objects; simulate this one.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._steered: dict[str, list[_Steered]] = {}
        self._gravity: _Values | None = None

    def steer(self, name: str, matrix: Any = None, center: Any = None, values: Mapping[str, float] | None = None) -> bool:
        """Set the target of an object, or values of a force field, from the next frame on.

        Args:
            name: a collider or force field.
            matrix: its motion since the scene began: world from initial world (4, 4) [m]. The scale is ignored.
            center: the target of its center [m] (3,), instead of a matrix.
            values: values of a force field, such as its strength.

        Returns:
            Whether the simulation must continue with the new `scene`, because the object was not steered before.

        Raises:
            SceneError: the object does not exist or cannot be steered, or a value is wrong.
        """
        is_new = name not in self._steered
        if is_new:
            self._start_steering(name)
        for steered in self._steered[name]:
            steered.set_target(matrix, center, values or {})
        return is_new

    def steer_gravity(self, gravity: Any) -> bool:
        """Set another gravity [m/s^2] (3,). Returns as `steer`. Raises SceneError if it is animated or not a vector."""
        target = _numbers(gravity, (3,), "gravity")
        is_new = self._gravity is None
        if self._gravity is None:
            solver = self.scene.solver
            if solver.animation is not None and "gravity" in solver.animation.values:
                raise SceneError("it is animated, so it cannot be steered", "remove its keyframes", subject="gravity")
            given = {} if solver.animation is None else solver.animation.values
            if given:
                raise SceneError(
                    "settings of the solver are animated, so it cannot be steered", "remove their keyframes", subject="gravity"
                )
            self._gravity = _Values({"gravity": np.array(solver.gravity)})
            self.scene = replace(self.scene, solver=replace(solver, animation=self._gravity.animation))
        self._gravity.targets["gravity"] = target
        return is_new

    def begin(self, frame: int) -> None:
        """Prepare the interval that begins at a frame: all steered objects move toward their targets and reach them at the next."""
        for steered in (steered for group in self._steered.values() for steered in group):
            steered.begin(frame)
        if self._gravity is not None:
            self._gravity.begin(frame)

    def _start_steering(self, name: str) -> None:
        scene = self.scene
        found = [each for each in (*scene.colliders, *scene.forces) if each.name == name]
        if not found:
            names = [each.name for each in (*scene.colliders, *scene.forces)]
            known = ", ".join(names) or "none"
            raise SceneError(f'"{name}" is not a collider or force of the scene{suggestion(name, names)}', f"use one of: {known}")
        steered = {id(each): _Steered(each, scene) for each in found}
        self._steered[name] = list(steered.values())
        self.scene = replace(
            scene,
            colliders=tuple(steered[id(each)].item if id(each) in steered else each for each in scene.colliders),
            forces=tuple(steered[id(each)].item if id(each) in steered else each for each in scene.forces),
        )


class _Values:
    """Values that change from frame to frame: the current ones and their targets."""

    def __init__(self, values: dict[str, Floats]) -> None:
        self.targets = values
        self.animation = Animation(np.array([0.0, 1.0]), {name: np.stack([value, value]) for name, value in values.items()})

    def begin(self, frame: int) -> None:
        self.animation.frames[:] = frame, frame + 1
        for name, values in self.animation.values.items():
            values[0], values[1] = values[1], self.targets[name]


class _Steered:
    """A steered collider or force field.

    Attributes:
        item: its description, with the motion and values that are rewritten.
    """

    def __init__(self, item: Any, scene: Scene) -> None:
        is_collider = isinstance(item, Collider)
        self._subject = f'{"Collider" if is_collider else "Force"} "{item.name}"'
        if item.motion is not None:
            raise SceneError("it is animated, so it cannot be steered", "remove its keyframes", subject=self._subject)
        if is_collider and item.dynamic:
            raise SceneError("it is dynamic, so it cannot be steered", "turn Dynamic off", subject=self._subject)
        self._pivot = _middle(item)
        self._radius, self._longest = math.inf, math.inf
        if is_collider:
            self._longest = LONGEST_MOVE * scene.solver.grid_spacing
            self._radius = float(np.linalg.norm(np.abs(item.shape.bounds() - self._pivot).max(axis=0)))
        self._is_plane = scene.solver.dimension == 2
        self._turn, self._place = np.eye(3), self._pivot.copy()
        self._target_turn, self._target_place = self._turn, self._place
        self._motion = Motion(np.linspace(0.0, 1.0, _KEYS), matrices=np.tile(np.eye(4), (_KEYS, 1, 1)))
        self._values = _force_values(item)
        animation = item.animation if self._values is None else self._values.animation
        self.item: Any = replace(item, motion=self._motion, animation=animation)

    def set_target(self, matrix: Any, center: Any, values: Mapping[str, float]) -> None:
        if matrix is not None:
            moved = _numbers(matrix, (4, 4), f"{self._subject}: matrix")
            left, sizes, right = np.linalg.svd(moved[:3, :3])
            if sizes.min() <= 0.0 or np.linalg.det(left @ right) < 0.0:
                raise SceneError("its matrix flattens or mirrors it", "use a rotation and a translation", subject=self._subject)
            self._target_turn = left @ right
            self._target_place = moved[:3, :3] @ self._pivot + moved[:3, 3]
        if center is not None:
            self._target_place = _numbers(center, (3,), f"{self._subject}: center")
        if self._is_plane:
            self._target_place = self._target_place * [1.0, 0.0, 1.0] + self._pivot * [0.0, 1.0, 0.0]
            turn = rotation_vector(self._target_turn)
            self._target_turn = rotation_matrix(turn * [0.0, 1.0, 0.0])
        for name, value in values.items():
            self._set_value(name, value)

    def _set_value(self, name: str, value: float) -> None:
        if self._values is None or name not in self._values.targets:
            known = ", ".join(self._values.targets) if self._values is not None else "none"
            raise SceneError(f'"{name}" cannot be steered', f"use one of: {known}", subject=self._subject)
        declared = next(each for each in parameters_of(type(self.item)) if each.name == name)
        declared.check(bool(value) if declared.kind == "flag" else value, self._subject)
        self._values.targets[name] = np.array(float(value))

    def begin(self, frame: int) -> None:
        shift = self._target_place - self._place
        turn = rotation_vector(self._target_turn @ self._turn.T)
        share = min(1.0, self._reachable(shift, turn))
        start_turn, start_place = self._turn, self._place
        for number, part in enumerate(np.linspace(0.0, share, _KEYS)):
            self._turn, self._place = rotation_matrix(part * turn) @ start_turn, start_place + part * shift
            pose = self._motion.matrices[number]  # type: ignore[index]
            pose[:3, :3], pose[:3, 3] = self._turn, self._place - self._turn @ self._pivot
        if share == 1.0:
            self._turn, self._place = self._target_turn, self._target_place
        self._motion.frames[:] = np.linspace(frame, frame + 1.0, _KEYS)
        if self._values is not None:
            self._values.begin(frame)

    def _reachable(self, shift: Floats, turn: Floats) -> float:
        """The share of a displacement [m] and a rotation [rad] that is allowed in a frame; may exceed 1."""
        if not math.isfinite(self._longest):
            return 1.0
        angle, farthest = float(np.linalg.norm(turn)), float(np.linalg.norm(shift))
        if math.isfinite(self._radius):
            farthest += angle * self._radius
        shares = [self._longest / farthest if farthest > 0.0 else 1.0]
        if not math.isfinite(self._radius) and angle > 0.0:
            shares.append(LARGEST_TURN / angle)
        return min(shares)


def _middle(item: Any) -> Floats:
    """The point of an object that `center` refers to [m]."""
    if isinstance(item, Force):
        return np.array(item.center, np.float64)
    bounds = item.shape.bounds()
    return bounds.mean(axis=0) if np.isfinite(bounds).all() else np.array(getattr(item.shape, "point", np.zeros(3)), np.float64)


def _force_values(item: Any) -> _Values | None:
    """The values of a force field that can be steered; None if it has none or is animated."""
    if not isinstance(item, Force) or item.animation is not None:
        return None
    given = {name: getattr(item, name) for name in animatable_parameters(Force)}
    return _Values({name: np.array(float(value)) for name, value in given.items() if value is not None})


def _numbers(values: Any, shape: tuple[int, ...], subject: str) -> Floats:
    try:
        found = np.array(values, np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != shape or not np.isfinite(found).all():
        raise SceneError(f"it is {str(values)[:60]}", f"use {' x '.join(map(str, shape))} finite numbers", subject=subject)
    return found
