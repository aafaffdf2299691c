"""Constitutive laws: declared parameters, constants for the kernels and a few generic functions.

A law's functions are plain arithmetic on values (see `arithmetic.operations`), so the same source serves float64
scalars (`evaluate_law`, verification) and vectors of particles (the solver). This module does not import numba.

Notation: F deformation gradient, L velocity gradient [1/s], J = det F, s principal stretches,
tau = P F^T Kirchhoff stress [Pa]. A tensor is a tuple of 9 values, row by row; a symmetric one of 6:
xx, xy, xz, yy, yz, zz.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ..parameters import parameter, validate
from .factors import Factors
from .finish import GRAINS, PLAIN, POINTS, SPHERES, SURFACE, Color, Finish, color_of_name

# bounds of J in fluids, which store no F
LEAST_FLUID_RATIO = 0.1
GREATEST_FLUID_RATIO = 10.0
# of the substep in which viscosity would just reverse the shear of a particle that is alone
VISCOUS_SHARE = 0.95


@dataclass(frozen=True)
class Law:
    """Base of all laws. A subclass is a frozen dataclass whose fields are `parameter`s.

    Class attributes of a concrete law:
        name: the word in scene files and presets.
        label: the name in the interface.
        help: how the material behaves, for tooltips; no full stop at the end.
        state_names: the components of the plastic state, in order; as many as the law needs. Each particle stores one number for each.
        virgin_state: their values in undeformed material.
        scalable: the factors that may be painted on emitters of this law (see `painting.ACTING`); `scaled` defines what they mean.
        least_volume_ratio: the law is undefined for J at or below this value, where material is inverted or crushed to nothing.
        family: the heading under which presets of similar laws are shown; by default the label.
        color: default display color, linear RGBA; by default derived from the name.
        finish: default surface and display mode.
        takes_space: whether the material displaces fluids from its volume.
        constants_type: the NamedTuple of floats that `constants` makes; its type selects the law in the kernels.
        variants: other such types by name, for values of parameters that need other code; `kernel_name` tells which.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str] = ""
    state_names: ClassVar[tuple[str, ...]] = ()
    virgin_state: ClassVar[tuple[float, ...]] = ()
    scalable: ClassVar[tuple[str, ...]] = ("density", "stiffness")
    least_volume_ratio: ClassVar[float] = -math.inf
    family: ClassVar[str]
    color: ClassVar[Color]
    finish: ClassVar[Finish] = PLAIN
    takes_space: ClassVar[bool] = True
    constants_type: ClassVar[type]
    variants: ClassVar[Mapping[str, type]] = {}
    wave_speed_squared: ClassVar[Callable[..., Any]]

    density: float = parameter(1000.0, unit="kg/m^3", above=0.0, help="Mass per volume (foam 50, snow 400, water 1000, stone 2500)")

    @property
    def mixes(self) -> bool:
        """Whether its particles share a velocity field with those of other emitters that mix; otherwise they are in contact with them."""
        return False

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "constants_type" in vars(cls):
            if not hasattr(cls, "family"):
                cls.family = cls.label
            if not hasattr(cls, "color"):
                cls.color = color_of_name(cls.name)
            _check_declarations(cls)
            # how `law_of` finds the law of constants
            for kind in (cls.constants_type, *vars(cls).get("variants", {}).values()):
                kind.law = cls

    def check(self, subject: str) -> None:
        """Check all parameters. `subject` is how messages name the material.

        Raises:
            SceneError: a value is out of range, or values contradict each other.
        """
        validate(self, subject)

    def volume_ratio(self, elastic: Any, state: Any) -> Any:
        """Current volume over rest volume, including plastic change, from det F and the state's arrays in order."""
        return elastic

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values given for parameters, and those that follow from what is given: choices that would make it idle."""
        return dict(values)

    @classmethod
    def idle(cls, values: Any) -> frozenset[str]:
        """The parameters that have no effect with the given values: a law, or anything with the same attributes."""
        return frozenset()

    def scaled(self, factors: Factors) -> "Law":
        """This law with factors on the tangent of its friction angle, and, as strength, on the stresses or stretches at which it yields.

        Each law defines these; a law without them returns itself. Stiffness is scaled in `constants`, density in `MaterialInstance`.
        """
        return self

    @property
    def kernel_name(self) -> str:
        """The name of the type of its constants: that of the law, or of one of its variants."""
        return self.name

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> NamedTuple:
        """The constants for the law's functions, of the type that `kernel_name` names; dimension is 3, or 2 for plane strain."""
        raise NotImplementedError

    def wave_speed(self, stiffness_scale: float = 1.0, dimension: int = 3) -> float:
        """The wave speed in undeformed material [m/s]: the kernels' value, in double precision."""
        constants = self.constants(stiffness_scale, dimension)
        return math.sqrt(float(type(self).wave_speed_squared(constants, 1.0, self.virgin_state)))

    @property
    def uses_rest_state(self) -> bool:
        """Whether forces come from the rest state of a body (see `transfer.rest_grid`) instead of its current state."""
        return False

    @property
    def greatest_stretch(self) -> float:
        """The distance of neighbors over that at rest at which they part (see `stepping.tearing`); infinite if they never do."""
        return math.inf

    @property
    def tears(self) -> bool:
        """Whether neighbors part where they are stretched too far."""
        return self.greatest_stretch < math.inf

    @property
    def breaks(self) -> bool:
        """Whether the material comes apart into fragments with velocity fields of their own (see `stepping.breaking`)."""
        return False

    @property
    def has_bonds(self) -> bool:
        """Whether frames tell which neighbors have parted."""
        return self.tears or self.breaks

    def on_grid(self, spacing: float) -> "Law":
        """This law in cells of a size [m], for laws that depend on it."""
        return self

    def greatest_viscosity(self, stiffness_scale: float = 1.0) -> float:
        """The greatest viscosity [Pa s], which limits the substep; 0 for a law whose stress does not depend on L."""
        return 0.0

    def viscosities(self, stiffness_scale: float = 1.0) -> tuple[float, float]:
        """The shear viscosity m and the bulk term l of tau = 2 m D + l tr(D) I [Pa s], for laws that use the rest state; 0 without."""
        return 0.0, 0.0

    def viscous_limit(
        self, spacing: float, dimension: int, *, stiffness_scale: float = 1.0, mass_scale: float = 1.0, inverse_inertia: float = 0.0
    ) -> float:
        """h^2 rho / (2 d eta) [s], the longest substep that viscosity allows on a grid of this spacing [m].

        Args:
            inverse_inertia: h^2 D^-1 of the scheme, if particles carry their velocity gradient (APIC); 0 with other transfers.
        """
        viscosity = self.greatest_viscosity(stiffness_scale)
        return spacing**2 * self.density * mass_scale / (2.0 * dimension * viscosity) if viscosity > 0.0 else math.inf

    def capillary_limit(self, spacing: float, mass_scale: float = 1.0) -> float:
        """sqrt(rho h^3 / (2 pi sigma)) [s], the longest substep that surface tension allows (Brackbill, Kothe and Zemach 1992, eq. 61)."""
        return math.inf

    def stiffening(self, wave_speed: float, impact_speed: float) -> float:
        """The greatest factor on the wave speed after an impact. For estimates.

        Args:
            wave_speed: wave speed in undeformed material [m/s].
            impact_speed: speed of the impact [m/s].

        Returns:
            1 for a law that does not harden, at least 1 for others.
        """
        return 1.0


class TensorLaw(Law):
    """A law without plasticity, defined by functions of the deformation gradient.

    energy(constants, F) -> energy per rest volume [J/m^3]
    stress(constants, F, L) -> tau [Pa], 6 values
    wave_speed_squared(constants, J, state) -> [m^2/s^2]
    """

    energy: ClassVar[Callable[..., Any]]
    stress: ClassVar[Callable[..., Any]]


class PrincipalLaw(Law):
    """An isotropic law, defined by functions of the three principal stretches; the solver decomposes F once.

    In 2D the third stretch is that of y, exactly 1, and `project` must not change it.

    project(constants, s, state, dt) -> (s, state)    the return mapping; s unchanged bit for bit if elastic
    principal_stress(constants, s, state) -> 3 principal values of tau [Pa]
    principal_energy(constants, s, state) -> energy per rest volume [J/m^3]
    wave_speed_squared(constants, J, state) -> [m^2/s^2]
    """

    project: ClassVar[Callable[..., Any]]
    principal_stress: ClassVar[Callable[..., Any]]
    principal_energy: ClassVar[Callable[..., Any]]


class DirectedLaw(PrincipalLaw):
    """A principal law whose return mapping also depends on the directions of the stretches in the rest state.

    Its constants have fiber_x, fiber_y and fiber_z, a unit vector in the rest state.

    project(constants, s, alignment, state, dt) -> (s, state)    alignment: the squared cosines of the angles between the fiber and the
        principal axes in the rest state, 3 values
    """


class FluidLaw(Law):
    """A law that stores only the volume ratio J (its first state) and not F.

    advance(constants, J, L, space, dt) -> J    space: the fullness around the particle and its standard deviation; see `fullness`
    fluid_energy(constants, J) -> energy per rest volume [J/m^3]
    fluid_stress(constants, J, L) -> tau [Pa], 6 values
    wave_speed_squared(constants, J, state) -> [m^2/s^2]
    """

    advance: ClassVar[Callable[..., Any]]
    fluid_energy: ClassVar[Callable[..., Any]]
    fluid_stress: ClassVar[Callable[..., Any]]

    @property
    def mixes(self) -> bool:
        return True

    def viscous_limit(
        self, spacing: float, dimension: int, *, stiffness_scale: float = 1.0, mass_scale: float = 1.0, inverse_inertia: float = 0.0
    ) -> float:
        """With APIC, `VISCOUS_SHARE` of h^2 rho / (s eta) [s], where s = h^2 D^-1, 4 with quadratic splines.

        A substep of APIC is T A: A takes dt 2 s nu / h^2 of the deviatoric part of each C, and T, to the grid and back, is a
        contraction in the norm of the kinetic energy, because one way is the adjoint of the other. A does not expand up to this length.
        """
        viscosity = self.greatest_viscosity(stiffness_scale)
        if inverse_inertia == 0.0 or viscosity <= 0.0:
            return super().viscous_limit(spacing, dimension, stiffness_scale=stiffness_scale, mass_scale=mass_scale)
        return VISCOUS_SHARE * spacing**2 * self.density * mass_scale / (inverse_inertia * viscosity)


def _check_declarations(law: type[Law]) -> None:
    """Check the class attributes of a law when its class is defined. Raises TypeError."""
    rules = {
        "name, label and family must not be empty": all(isinstance(word, str) and word for word in (law.name, law.label, law.family)),
        "each state must have its virgin value": len(law.state_names) == len(law.virgin_state),
        "a fluid must have one state, J": not issubclass(law, FluidLaw) or len(law.state_names) == 1,
        "color must be red, green, blue and alpha from 0 to 1": len(law.color) == 4 and all(0.0 <= part <= 1.0 for part in law.color),
        "finish must have a display mode for particles": law.finish.mode in (POINTS, SPHERES, GRAINS, SURFACE),
    }
    for rule, is_met in rules.items():
        if not is_met:
            raise TypeError(f"law {law.__name__}: {rule}")
