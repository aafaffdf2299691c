"""The description of a scene: frozen dataclasses, checked when they are created. No files, no numba, no Blender.

SI units, Z up. Angles are in degrees, velocities in m/s and degrees/s. Readers of scenes (scene files, Blender) build these, and
the solver trusts them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import SceneError
from ..laws.brittle import Brittle
from ..laws.factors import Factors
from ..parameters import suggestion
from ..particles import TEMPERATURE
from .animation import check_motion_turn
from .collider import Collider
from .emitter import THINNEST_EMITTER, Emitter
from .force import Force
from .material import Material
from .outflow import Outflow
from .settings import CacheSettings, Domain, Solver, Time


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
        if not self.is_heated and any(material.thermal is not None for material in self.materials.values()):
            # without temperatures it has no effect, and scenes are equal
            cold = {name: replace(material, thermal=None, curves={}, melts_into=None) for name, material in self.materials.items()}
            object.__setattr__(self, "materials", cold)
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
            _refuse_plane_fracture(self.colliders)

        self._check_carried()

    @cached_property
    def prepared(self) -> dict[tuple[int, str], Any]:
        """Results that are computed once per emitter, by its number and their name; see `emitter_shape.prepared`."""
        return {}

    @property
    def is_heated(self) -> bool:
        """Whether heat is simulated: where nothing has a temperature, it is not."""
        sources = (*self.emitters, *self.colliders)
        return (
            self.solver.ambient_temperature is not None
            or any(each.temperature is not None for each in sources)
            or any(force.heating is not None for force in self.forces)
        )

    @property
    def tears(self) -> bool:
        """Whether the material of an emitter tears or breaks, so that frames tell which bonds have parted."""
        return any(self.materials[emitter.material].law.has_bonds for emitter in self.emitters)

    @property
    def has_fragments(self) -> bool:
        """Whether the material of an emitter breaks into fragments with velocity fields of their own."""
        return any(self.materials[emitter.material].law.breaks for emitter in self.emitters)

    @property
    def has_rigid_fragments(self) -> bool:
        """Whether fragments of an emitter's material may become rigid bodies."""
        if self.solver.dimension == 2 or self.is_heated or self.outflows:
            return False
        materials = [self.materials[emitter.material] for emitter in self.emitters]
        return any(isinstance(each.law, Brittle) and each.ever("rigid_share") for each in materials)

    @property
    def breaks(self) -> bool:
        """Whether a rigid body may break."""
        return any(collider.fracture is not None and collider.is_ever_enabled for collider in self.colliders)

    @property
    def carried(self) -> dict[str, int]:
        """The painted values of all emitters that frames carry: name -> number of components."""
        paintings = [emitter.painting for emitter in self.emitters if emitter.painting is not None]
        return {name: components for painting in paintings for name, components in painting.carried.items()}

    def _check_carried(self) -> None:
        """Check that emitters agree on the number of components of the values they carry. Raises SceneError."""
        carried = self.carried
        if self.is_heated and TEMPERATURE in carried:
            raise SceneError(
                f'"{TEMPERATURE}" is painted, but it is an attribute of every frame of a scene with heat',
                "rename the painted one",
                subject=next(f'Emitter "{each.name}"' for each in self.emitters if each.painting and TEMPERATURE in each.painting.values),
            )
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
                f"`grid_spacing` {self.solver.grid_spacing:g} m is larger than the object ({size:g} m)",
                f"use at most {size / THINNEST_EMITTER:.3g} m",
                subject=f'Emitter "{emitter.name}"',
            )


def _refuse_plane_fracture(colliders: tuple[Collider, ...]) -> None:
    """Refuse fracture in two dimensions."""
    for collider in colliders:
        if collider.fracture is not None:
            remedy = "use `dimension` 3, or remove its fracture"
            raise SceneError("fracture needs three dimensions", remedy, subject=f'Collider "{collider.name}"')


def _check_factors(emitter: Emitter, material: Material) -> None:
    """Refuse painted factors and randomness that the material's law does not support."""
    names = () if emitter.painting is None else emitter.painting.values
    law = type(material.law)
    for name in Factors._fields:
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
        raise SceneError(
            f"`frame_start` {start} is not a frame of the scene", f"use {time.frame_start} to {time.frame_end}", subject=subject
        )
    if emitter.mode != "once" and end < start:
        raise SceneError(f"`frame_end` {end} is before `frame_start` {start}", f"use at least {start}", subject=subject)
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
