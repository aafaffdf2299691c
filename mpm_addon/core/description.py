"""What a scene is: frozen dataclasses, checked when they are made. No files, no numba, no Blender.

SI units, Z up. Angles in degrees, velocities in m/s and degrees/s. Whatever reads a scene (scene files, Blender) builds
these; the solver trusts them.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

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
from .errors import SceneError
from .force import Force
from .laws.law import Law
from .painting import FACTOR_NAMES, Painting
from .parameters import parameter, parameters_of, suggestion, validate
from .settings import LAST_FRAME, SURFACES, CacheSettings, Domain, Solver, Time

Floats = NDArray[np.float64]


class Shape(ABC):
    """A region of space: what an emitter fills or a collider blocks. Concrete shapes are frozen dataclasses.

    Class attributes:
        kind: the word in scene files.
        can_emit, can_collide: what the shape can be used for.
    """

    kind: ClassVar[str]
    can_emit: ClassVar[bool] = True
    can_collide: ClassVar[bool] = True

    @abstractmethod
    def bounds(self) -> Floats:
        """The axis-aligned bounding box [m], shape (2, 3): lowest and highest corner."""

    @abstractmethod
    def signed_distance(self, points: Floats) -> Floats:
        """The signed distance [m] of points (n, 3) from the surface, shape (n,); positive outside."""

    @abstractmethod
    def volume(self) -> float:
        """The enclosed volume [m^3]."""

    def check(self, subject: str) -> None:
        """Check the parameters. Raises SceneError naming `subject`."""
        validate(self, subject)

    def check_inside(self, subject: str) -> None:
        """Check, after `check`, that there is an inside to fill. Raises SceneError naming `subject`."""


@dataclass(frozen=True)
class Material:
    """A named law with its parameters."""

    name: str
    law: Law
    animation: Animation | None = None

    def __post_init__(self) -> None:
        subject = f'Material "{self.name}"'
        self.law.check(subject)
        # the mass of a particle is given when it is emitted
        numbers = {each.name: each for each in parameters_of(type(self.law)) if each.kind == "number" and each.name != "density"}
        check_animation(self.animation, numbers, subject)
        # values that are allowed one by one may contradict each other
        for frame in () if self.animation is None else self.animation.frames:
            law_at(self.law, self.animation, float(frame)).check(f"{subject}, frame {frame:g}")


def law_at(law: Law, animation: Animation | None, frame: float) -> Law:
    """A law with the values that its parameters have at a (fractional) frame."""
    if animation is None:
        return law
    return replace(law, **{name: float(animation.at(name, frame)) for name in animation.values})


# What makes an inflow unsteady when it changes.
_FLOW_PARAMETERS = ("enabled", "flow_rate", "velocity", "normal_velocity", "angular_velocity")


@dataclass(frozen=True)
class Emitter:
    """A shape that becomes particles of one material."""

    name: str
    shape: Shape
    material: str
    mode: str = parameter("once", choices=("once", "inflow", "repeat"), help="Emit once, as a steady inflow, or again and again")
    frame_start: int | None = parameter(
        None, minimum=-LAST_FRAME, maximum=LAST_FRAME, example=1, help="First frame of emission; the scene's first where it is not given"
    )
    frame_end: int | None = parameter(
        None, minimum=-LAST_FRAME, maximum=LAST_FRAME, example=48, help="Last frame of emission; the scene's last where it is not given"
    )
    interval: int = parameter(10, unit="frames", minimum=1, maximum=LAST_FRAME, help="Frames between two emissions in mode repeat")
    enabled: bool = parameter(True, is_animatable=True, help="Whether it emits")
    source: str = parameter("volume", choices=("volume", "surface"), help="Emit in the inside, or in a layer at the surface")
    flow_rate: float | None = parameter(
        None,
        unit="m^3/s",
        minimum=0.0,
        maximum=1e9,
        example=0.01,
        is_animatable=True,
        help="Volume that mode inflow lets in at most; as much as finds room where it is not given",
    )
    velocity: tuple[float, float, float] = parameter((0.0, 0.0, 0.0), unit="m/s", is_animatable=True, help="Velocity at the start")
    normal_velocity: float = parameter(
        0.0, unit="m/s", minimum=-1e6, maximum=1e6, is_animatable=True, help="Velocity along the outward normals of the shape"
    )
    inherit_velocity: float = parameter(
        1.0, minimum=-10.0, maximum=10.0, is_animatable=True, help="Share of the object's own velocity that its particles get"
    )
    angular_velocity: tuple[float, float, float] = parameter(
        (0.0, 0.0, 0.0), unit="degrees/s", is_animatable=True, help="Rotation about the shape's centre at the start"
    )
    velocity_spread: float = parameter(
        0.0, unit="m/s", minimum=0.0, maximum=1e6, help="Random part of the start velocity: standard deviation along each axis"
    )
    particles_per_cell: float | None = parameter(
        None,
        above=0.0,
        maximum=1000.0,
        example=8.0,
        help="Particles in a grid cell; 8 where neither this nor particle_count is given",
    )
    particle_count: int | None = parameter(None, minimum=1, maximum=2**31 - 1, example=100000, help="Number of particles, exactly")
    sampling: str = parameter("poisson", choices=("poisson", "lattice", "random"), help="Arrangement of the particles")
    mass_scale: float = parameter(1.0, above=0.0, maximum=1e6, help="Factor on the material's density")
    stiffness_scale: float = parameter(1.0, above=0.0, maximum=1e6, help="Factor on the material's stiffness")
    color: tuple[float, float, float, float] = parameter((1.0, 1.0, 1.0, 1.0), minimum=0.0, maximum=1.0, help="Colour for display")
    goal: float = parameter(
        0.0, minimum=0.0, maximum=1.0, is_animatable=True, help="How far particles are held to the moving shape: 1 holds, 0 leaves free"
    )
    goal_frequency: float = parameter(
        10.0, unit="1/s", above=0.0, maximum=1e4, is_animatable=True, help="Frequency of the spring that pulls particles to the shape"
    )
    goal_damping: float = parameter(1.0, minimum=0.0, maximum=10.0, is_animatable=True, help="Damping ratio of that spring; 1 is critical")
    motion: Motion | None = None
    animation: Animation | None = None
    painting: Painting | None = None

    def __post_init__(self) -> None:
        subject = f'Emitter "{self.name}"'
        validate(self, subject)
        check_motion_scale(self.motion, subject)
        check_animation(self.animation, animatable_parameters(Emitter), subject)
        if self.particles_per_cell is not None and self.particle_count is not None:
            raise SceneError(f"{subject}: particles_per_cell and particle_count are both given; give one of them.")
        if not self.shape.can_emit:
            raise SceneError(f"{subject}: a {self.shape.kind} has no inside to fill; use a closed shape.")
        self.shape.check(subject)
        check_motion_vertices(self.motion, self.shape, subject)
        if self.source == "volume":
            self.shape.check_inside(subject)
        elif self.shape.kind == "points":
            raise SceneError(f'{subject}: points have no surface; use source "volume".')
        if self.painting is not None:
            self.painting.check(*_point_counts(self.shape, subject), subject)
        if self.mode == "inflow" and self.shape.kind == "points":
            raise SceneError(f'{subject}: points cannot flow in, they have no inside; use mode "once" or "repeat".')
        if self.shape.kind == "points" and self.ever("normal_velocity"):
            raise SceneError(f"{subject}: points have no surface with normals; use normal_velocity 0.")

    def ever(self, name: str) -> bool:
        """Whether a parameter is not 0, at any time."""
        if self.animation is not None and name in self.animation.values:
            return bool(self.animation.values[name].any())
        return bool(np.any(getattr(self, name)))

    def is_stream(self, dimension: int) -> bool:
        """Whether this is an inflow at its simplest: it stands still, and one constant velocity carries its matter; dimension 2 or 3."""
        given = () if self.animation is None else self.animation.values
        if self.mode != "inflow" or self.source != "volume" or self.motion is not None or self.flow_rate is not None:
            return False
        if self.normal_velocity != 0.0 or any(name in given for name in _FLOW_PARAMETERS):
            return False
        velocity, turn = np.asarray(self.velocity), np.asarray(self.angular_velocity)
        if dimension == 2:
            velocity, turn = velocity * [1.0, 0.0, 1.0], turn * [0.0, 1.0, 0.0]
        speed = float(np.linalg.norm(velocity))
        # a rotation across the flow makes it faster on one side than on the other
        return speed > 0.0 and bool(np.linalg.norm(np.cross(velocity, turn)) <= 1e-6 * speed * np.linalg.norm(turn))

    @property
    def has_goal(self) -> bool:
        """Whether it ever holds its particles."""
        return self.goal > 0.0 or (self.animation is not None and "goal" in self.animation.values)


@dataclass(frozen=True)
class Collider:
    """A shape that matter cannot enter."""

    name: str
    shape: Shape
    surface: str = parameter("separate", choices=SURFACES, help="sticky holds matter, slip lets it slide, separate lets it leave too")
    friction: float = parameter(0.0, minimum=0.0, maximum=100.0, is_animatable=True, help="Coulomb friction coefficient")
    enabled: bool = parameter(True, is_animatable=True, help="Whether it is there")
    dynamic: bool = parameter(False, help="Whether matter, gravity and other colliders move it")
    density: float = parameter(
        500.0, unit="kg/m^3", above=0.0, maximum=1e6, help="Mass over volume of a dynamic collider, where mass is not given"
    )
    mass: float | None = parameter(None, unit="kg", above=0.0, maximum=1e12, example=1.0, help="Mass of a dynamic collider")
    velocity: tuple[float, float, float] = parameter((0.0, 0.0, 0.0), unit="m/s", help="Velocity of a dynamic collider at the start")
    angular_velocity: tuple[float, float, float] = parameter(
        (0.0, 0.0, 0.0), unit="degrees/s", help="Rotation of a dynamic collider about its centre of mass at the start"
    )
    motion: Motion | None = None
    animation: Animation | None = None

    def __post_init__(self) -> None:
        subject = f'Collider "{self.name}"'
        validate(self, subject)
        check_motion_scale(self.motion, subject)
        check_animation(self.animation, animatable_parameters(Collider), subject)
        if not self.shape.can_collide:
            raise SceneError(f'{subject}: a shape of kind "{self.shape.kind}" has no surface; use another shape.')
        self.shape.check(subject)
        check_motion_vertices(self.motion, self.shape, subject)
        if self.dynamic:
            refuse_vertices(self.motion, "a dynamic collider", subject)
        _check_first_pose(self.motion, self.shape, subject)


@dataclass(frozen=True)
class Outflow:
    """A shape in which matter vanishes."""

    name: str
    shape: Shape
    enabled: bool = parameter(True, is_animatable=True, help="Whether matter vanishes in it")
    motion: Motion | None = None
    animation: Animation | None = None

    def __post_init__(self) -> None:
        subject = f'Outflow "{self.name}"'
        validate(self, subject)
        if not self.shape.can_collide:
            raise SceneError(f'{subject}: matter cannot vanish in a shape of kind "{self.shape.kind}"; use another shape.')
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
                    f'Emitter "{emitter.name}": material "{emitter.material}" does not exist'
                    f"{suggestion(emitter.material, self.materials)}; use one of: {known}."
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

    @property
    def carried(self) -> dict[str, int]:
        """The painted values that frames show, of all emitters: name -> components."""
        paintings = [emitter.painting for emitter in self.emitters if emitter.painting is not None]
        return {name: components for painting in paintings for name, components in painting.carried.items()}

    def _check_carried(self) -> None:
        """Check that emitters agree on the components of what they carry. Raises SceneError."""
        carried = self.carried
        for emitter in self.emitters:
            for name, components in ({} if emitter.painting is None else emitter.painting.carried).items():
                if components != carried[name]:
                    raise SceneError(
                        f'Emitter "{emitter.name}": the painted attribute "{name}" has {components} components and {carried[name]} '
                        "on another emitter; use as many on both, or another name."
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
                f'Emitter "{emitter.name}": grid_spacing {self.solver.grid_spacing:g} m is larger than the object '
                f"({size:g} m); use at most {size / 4:.3g} m."
            )


def _check_first_pose(motion: Motion | None, shape: Any, subject: str) -> None:
    """Refuse a deforming mesh without area in its first pose, which tells whether it has an inside."""
    if motion is not None and motion.vertices is not None:
        replace(shape, vertices=motion.vertices[0]).check(f"{subject}, frame {motion.frames[0]:g}")


def _check_factors(emitter: Emitter, material: Material) -> None:
    """Refuse painted factors on what the material's law does not have."""
    names = () if emitter.painting is None else emitter.painting.values
    law = type(material.law)
    for name in FACTOR_NAMES:
        if name in names and name not in law.scalable:
            known = ", ".join(law.scalable)
            raise SceneError(
                f'Emitter "{emitter.name}": "{name}" is painted, and the law "{law.name}" of material "{material.name}" has none; '
                f"its factors are: {known}. Remove the attribute, or use another law."
            )


def _point_counts(shape: Shape, subject: str) -> tuple[int, int]:
    """The vertices and triangles, or the points, that values can be painted on."""
    vertices = getattr(shape, "vertices", getattr(shape, "position", None))
    if vertices is None:
        raise SceneError(f"{subject}: a {shape.kind} has no vertices to paint on; use a mesh or points.")
    return len(vertices), len(getattr(shape, "triangles", ()))


def _check_emission_frames(emitter: Emitter, time: Time) -> None:
    """Refuse an emitter that would never emit."""
    subject = f'Emitter "{emitter.name}"'
    start = time.frame_start if emitter.frame_start is None else emitter.frame_start
    end = time.frame_end if emitter.frame_end is None else emitter.frame_end
    if emitter.mode == "once" and start not in time.frames:
        raise SceneError(f"{subject}: frame_start {start} is not a frame of the scene; use {time.frame_start} to {time.frame_end}.")
    if emitter.mode != "once" and end < start:
        raise SceneError(f"{subject}: frame_end {end} is before frame_start {start}; use at least {start}.")
    if emitter.mode != "once" and (start > time.frame_end or end < time.frame_start):
        raise SceneError(
            f"{subject}: its frames {start} to {end} lie outside the scene's {time.frame_start} to {time.frame_end}; let them overlap."
        )


def _check_flow(emitter: Emitter, solver: Solver, *, has_forces: bool) -> None:
    """Refuse an inflow that nothing makes flow: its matter would stay, and no more find room."""
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
            f'Emitter "{emitter.name}": velocity 0 m/s{where} brings nothing in without gravity; mode inflow needs a velocity such as '
            "(0, 0, -1)."
        )
