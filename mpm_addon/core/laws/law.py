"""What a constitutive law is: declared parameters, constants for the kernels and a few generic functions.

A law's functions are plain arithmetic on values (see `arithmetic.operations`), so one source serves float64
scalars (`evaluate_law`, verification) and vectors of particles (the solver). This module knows no numba.

Notation: F deformation gradient, L velocity gradient [1/s], J = det F, s principal stretches,
tau = P F^T Kirchhoff stress [Pa]. A tensor is a tuple of 9 values, row by row; a symmetric one of 6:
xx, xy, xz, yy, yz, zz.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ..parameters import parameter, validate
from .finish import GRAINS, PLAIN, POINTS, SPHERES, SURFACE, Color, Finish, color_of_name

LAW_OF_CONSTANTS: dict[type, type["Law"]] = {}

# The kernels keep that many numbers of plastic state for a particle.
MOST_STATES = 2


@dataclass(frozen=True)
class Law:
    """Base of every law's parameters. A subclass is a frozen dataclass whose fields are `parameter`s.

    Class attributes of a concrete law:
        name: the word in scene files and presets.
        label: the words in the interface.
        help: how such matter looks when it is pushed, for tooltips; no full stop at the end.
        state_names: the plastic state's components (at most two), in order.
        virgin_state: their values in undeformed matter.
        scalable: the factors that may be painted on an emitter of this law (see `painting.ACTING`); what they mean says `scaled`.
        least_volume_ratio: matter with a J of that or less is no matter of this law any more, squeezed to nothing or inverted.
        family: the words under which presets of this law and of laws like it are shown together; the label where a law says none.
        color: in which such matter is shown until an artist chooses, linear RGBA; made from the name where a law says none.
        finish: its surface until an artist chooses, and how it is shown best.
        constants_type: the NamedTuple of floats that `constants` makes; its type selects the law in the kernels.
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
    constants_type: ClassVar[type]
    wave_speed_squared: ClassVar[Callable[..., Any]]

    density: float = parameter(1000.0, unit="kg/m^3", above=0.0, help="Mass per volume (foam 50, snow 400, water 1000, stone 2500)")

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "constants_type" in vars(cls):
            if not hasattr(cls, "family"):
                cls.family = cls.label
            if not hasattr(cls, "color"):
                cls.color = color_of_name(cls.name)
            _check_declarations(cls)
            LAW_OF_CONSTANTS[cls.constants_type] = cls

    def check(self, subject: str) -> None:
        """Check all parameters. `subject` is how messages name the material.

        Raises:
            SceneError: for the first value out of range, or for values that contradict each other.
        """
        validate(self, subject)

    def volume_ratio(self, elastic: Any, state: Any) -> Any:
        """Current volume over rest volume, from det F and the state's arrays by order; plastic volume is counted here."""
        return elastic

    def scaled(self, friction: float = 1.0, strength: float = 1.0) -> "Law":
        """This law with a factor on the tangent of its friction angle, and one on the stresses or stretches at which it gives way.

        Each law says what these are; a law without them is returned as it is. (The stiffness is scaled in `constants`.)
        """
        return self

    def constants(self, stiffness_scale: float = 1.0, dimension: int = 3) -> NamedTuple:
        """The constants that the law's functions take, of type `constants_type`; dimension is 3, or 2 for plane strain."""
        raise NotImplementedError

    def wave_speed(self, stiffness_scale: float = 1.0, dimension: int = 3) -> float:
        """How fast waves run in the matter as it comes [m/s]: what the solver's kernels find in it, in double precision."""
        constants = self.constants(stiffness_scale, dimension)
        return math.sqrt(float(type(self).wave_speed_squared(constants, 1.0, self.virgin_state)))

    def greatest_viscosity(self, stiffness_scale: float = 1.0) -> float:
        """The greatest viscosity [Pa s] that the stress has from L: it limits the step. 0 for a law that takes no L."""
        return 0.0

    def stiffening(self, wave_speed: float, impact_speed: float) -> float:
        """How many times as fast as before waves run, at the most, in matter that has hit something. For estimates.

        Args:
            wave_speed: in the matter as it comes [m/s].
            impact_speed: how fast it hits [m/s].

        Returns:
            1 for a law that does not harden, and at least that for others.
        """
        return 1.0


class TensorLaw(Law):
    """A law without plasticity, given by functions of the deformation gradient.

    energy(constants, F) -> energy per rest volume [J/m^3]
    stress(constants, F, L) -> tau [Pa], 6 values
    wave_speed_squared(constants, J, state) -> [m^2/s^2]
    """

    energy: ClassVar[Callable[..., Any]]
    stress: ClassVar[Callable[..., Any]]


class PrincipalLaw(Law):
    """An isotropic law, given by functions of the three principal stretches; the solver decomposes F once.

    In two dimensions the third stretch is that of y, exactly 1, and `project` must leave it so.

    project(constants, s, state, dt) -> (s, state)    the return mapping; s unchanged bit for bit when elastic
    principal_stress(constants, s, state) -> 3 principal values of tau [Pa]
    principal_energy(constants, s, state) -> energy per rest volume [J/m^3]
    wave_speed_squared(constants, J, state) -> [m^2/s^2]
    """

    project: ClassVar[Callable[..., Any]]
    principal_stress: ClassVar[Callable[..., Any]]
    principal_energy: ClassVar[Callable[..., Any]]


class FluidLaw(Law):
    """A law that remembers nothing but the volume ratio J (its first state); F is not kept.

    advance(constants, J, L, density, dt) -> J    density: of the matter around, as the grid has it [kg/m^3]
    fluid_energy(constants, J) -> energy per rest volume [J/m^3]
    fluid_stress(constants, J, L) -> tau [Pa], 6 values
    wave_speed_squared(constants, J, state) -> [m^2/s^2]
    """

    advance: ClassVar[Callable[..., Any]]
    fluid_energy: ClassVar[Callable[..., Any]]
    fluid_stress: ClassVar[Callable[..., Any]]


def _check_declarations(law: type[Law]) -> None:
    """Refuse a law whose class attributes contradict each other, where it is written. Raises TypeError."""
    rules = {
        "name, label and family are words": all(isinstance(word, str) and word for word in (law.name, law.label, law.family)),
        f"at most {MOST_STATES} states, each with its virgin value": len(law.state_names) == len(law.virgin_state) <= MOST_STATES,
        "color is red, green, blue and alpha, 0 to 1": len(law.color) == 4 and all(0.0 <= part <= 1.0 for part in law.color),
        "finish shows it in a way that there is": law.finish.mode in (POINTS, SPHERES, GRAINS, SURFACE),
    }
    for rule, is_kept in rules.items():
        if not is_kept:
            raise TypeError(f"law {law.__name__} is not declared as laws are: {rule}")
