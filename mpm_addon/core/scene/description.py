"""The description of a scene: frozen dataclasses, checked when they are created. No files, no numba, no Blender.

SI units, Z up. Angles are in degrees, velocities in m/s and degrees/s. Readers of scenes (scene files, Blender) build these, and
the solver trusts them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..laws.law import Law
from ..parameters import parameter, parameters_of, suggestion, validate
from .animation import (
    Animation,
    Motion,
    animatable_parameters,
    check_animation,
    check_motion_scale,
    check_motion_turn,
    check_motion_vertices,
    refuse_vertices,
)
from .emitter import THINNEST_EMITTER, Emitter, Shape
from .force import Force
from .painting import FACTOR_NAMES
from .settings import DEFAULT_FRICTION, SURFACE_HELP, CacheSettings, Domain, Solver, Time

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Material:
    """A named law with its parameters."""

    name: str
    law: Law
    animation: Animation | None = None

    def __post_init__(self) -> None:
        subject = f'Material "{self.name}"'
        self.law.check(subject)
        # the mass of a particle is fixed when it is emitted
        numbers = {each.name: each for each in parameters_of(type(self.law)) if each.kind == "number" and each.name != "density"}
        check_animation(self.animation, numbers, subject)
        # values within their ranges may still contradict each other
        for frame in () if self.animation is None else self.animation.frames:
            law_at(self.law, self.animation, float(frame)).check(f"{subject}, frame {frame:g}")


def law_at(law: Law, animation: Animation | None, frame: float) -> Law:
    """A law with its parameters' values at a (fractional) frame."""
    if animation is None:
        return law
    return replace(law, **{name: float(animation.at(name, frame)) for name in animation.values})


@dataclass(frozen=True)
class Collider:
    """A shape that particles cannot enter."""

    name: str
    shape: Shape
    surface: str = parameter("separate", choices=SURFACE_HELP, help="How particles behave on contact")
    friction: float | None = parameter(
        None,
        minimum=0.0,
        maximum=100.0,
        example=DEFAULT_FRICTION,
        is_animatable=True,
        help="Coulomb friction for solids and liquids; if not set, Separate uses 0.5 for solids (ice 0.05, wood 0.4, rubber 1)",
    )
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
    motion: Motion | None = None
    animation: Animation | None = None

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
        _check_first_pose(self.motion, self.shape, subject)


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


@dataclass(frozen=True)
class Scene:
    """Everything that the solver needs to know."""

    name: str
    solver: Solver
    materials: Mapping[str, Material]
    emitters: tuple[Emitter, ...]
    time: Time = field(default_factory=Time)
    domain: Domain = field(default_factory=Domain)
    colliders: tuple[Collider, ...] = ()
    forces: tuple[Force, ...] = ()
    outflows: tuple[Outflow, ...] = ()
    cache: CacheSettings = field(default_factory=CacheSettings)

    def __post_init__(self) -> None:
        for emitter in self.emitters:
            self._check_size(emitter)
            if emitter.material not in self.materials:
                known = ", ".join(self.materials) or "none"
                raise SceneError(
                    f'material "{emitter.material}" does not exist{suggestion(emitter.material, self.materials)}',
                    f"use one of: {known}",
                    subject=f'Emitter "{emitter.name}"',
                )
            _check_emission_frames(emitter, self.time)
            _check_factors(emitter, self.materials[emitter.material])
            if emitter.mode == "inflow":
                _check_flow(emitter, self.solver, has_forces=bool(self.forces))
        if self.solver.dimension == 2:
            for noun, group in (("Emitter", self.emitters), ("Collider", self.colliders), ("Outflow", self.outflows)):
                for each in group:
                    check_motion_turn(each.motion, f'{noun} "{each.name}"')

        self._check_carried()

    @cached_property
    def prepared(self) -> dict[tuple[int, str], Any]:
        """Results that are computed once per emitter, by its number and their name; see `emitter_shape.prepared`."""
        return {}

    @property
    def tears(self) -> bool:
        """Whether the material of an emitter tears, so that frames tell which bonds have parted."""
        return any(self.materials[emitter.material].law.tears for emitter in self.emitters)

    @property
    def carried(self) -> dict[str, int]:
        """The painted values of all emitters that frames carry: name -> number of components."""
        paintings = [emitter.painting for emitter in self.emitters if emitter.painting is not None]
        return {name: components for painting in paintings for name, components in painting.carried.items()}

    def _check_carried(self) -> None:
        """Check that emitters agree on the number of components of the values they carry. Raises SceneError."""
        carried = self.carried
        for emitter in self.emitters:
            for name, components in ({} if emitter.painting is None else emitter.painting.carried).items():
                if components != carried[name]:
                    raise SceneError(
                        f'the painted attribute "{name}" has {components} components, but {carried[name]} on another emitter',
                        "use the same number on both, or rename one",
                        subject=f'Emitter "{emitter.name}"',
                    )

    def _check_size(self, emitter: Emitter) -> None:
        """Check that an emitter is at least one cell thick. Raises SceneError."""
        if emitter.shape.kind == "points" or emitter.source == "surface":
            return
        low, high = emitter.shape.bounds()
        extents = high - low
        size = float(min(extents) if self.solver.dimension == 3 else min(extents[0], extents[2]))
        if self.solver.grid_spacing > size * (1.0 + 1e-9):
            raise SceneError(
                f"grid_spacing {self.solver.grid_spacing:g} m is larger than the object ({size:g} m)",
                f"use at most {size / THINNEST_EMITTER:.3g} m",
                subject=f'Emitter "{emitter.name}"',
            )


def _check_first_pose(motion: Motion | None, shape: Any, subject: str) -> None:
    """Refuse a deforming mesh without area in its first pose, which determines whether the mesh has an inside."""
    if motion is not None and motion.vertices is not None:
        replace(shape, vertices=motion.vertices[0]).check(f"{subject}, frame {motion.frames[0]:g}")


def _check_factors(emitter: Emitter, material: Material) -> None:
    """Refuse painted factors and randomness that the material's law does not support."""
    names = () if emitter.painting is None else emitter.painting.values
    law = type(material.law)
    for name in FACTOR_NAMES:
        if name in names and name not in law.scalable:
            known = ", ".join(law.scalable)
            raise SceneError(
                f'"{name}" is painted, but the law "{law.name}" of material "{material.name}" has no such factor',
                f"remove the attribute, paint one of {known}, or use another law",
                subject=f'Emitter "{emitter.name}"',
            )
    emitter.randomness.check_factors(law.scalable, law.name, material.name, f'Emitter "{emitter.name}"')


def _check_emission_frames(emitter: Emitter, time: Time) -> None:
    """Refuse an emitter that would never emit."""
    subject = f'Emitter "{emitter.name}"'
    start = time.frame_start if emitter.frame_start is None else emitter.frame_start
    end = time.frame_end if emitter.frame_end is None else emitter.frame_end
    if emitter.mode == "once" and start not in time.frames:
        raise SceneError(f"frame_start {start} is not a frame of the scene", f"use {time.frame_start} to {time.frame_end}", subject=subject)
    if emitter.mode != "once" and end < start:
        raise SceneError(f"frame_end {end} is before frame_start {start}", f"use at least {start}", subject=subject)
    if emitter.mode != "once" and (start > time.frame_end or end < time.frame_start):
        raise SceneError(
            f"its frames {start} to {end} lie outside the scene's {time.frame_start} to {time.frame_end}",
            "make them overlap",
            subject=subject,
        )


def _check_flow(emitter: Emitter, solver: Solver, *, has_forces: bool) -> None:
    """Refuse an inflow whose particles nothing sets in motion: the first ones would block all others."""
    axes = np.array([1.0, solver.dimension - 2.0, 1.0])
    moving = ("velocity", "normal_velocity", "angular_velocity")
    if emitter.motion is not None or has_forces or any(emitter.ever(name) for name in moving[1:]):
        return
    given = emitter.animation.values if emitter.animation is not None else {}
    gravity = [solver.gravity] if solver.animation is None else [solver.gravity, *solver.animation.values.get("gravity", ())]
    velocity = given.get("velocity", [emitter.velocity])
    if not (np.asarray(velocity) * axes).any() and not (np.asarray(gravity) * axes).any():
        where = " in the x-z plane" if solver.dimension == 2 else ""
        raise SceneError(
            f"an inflow with velocity 0 m/s{where} cannot flow without gravity",
            "use a velocity such as (0, 0, -1)",
            subject=f'Emitter "{emitter.name}"',
        )
