"""Fracture: how a rigid body breaks at an impact."""

from dataclasses import dataclass
from typing import ClassVar

from ..errors import SceneError
from ..parameters import parameter, validate


@dataclass(frozen=True)
class Fracture:
    """How a rigid body breaks at an impact (Chen 2013). Its defaults are those of a brick."""

    label: ClassVar[str] = "Fracture of a rigid body"

    strength: float = parameter(
        3e6, unit="Pa", above=0.0, maximum=1e12, help="Tension that starts a crack; more withstands harder impacts (brick 3e6, glass 3e7)"
    )
    crack_radius: float | None = parameter(
        None,
        unit="m",
        above=0.0,
        maximum=1e6,
        example=0.1,
        help="Radius of a crack; a larger one cuts larger pieces off. If not set, six times that of a mean tetrahedron as a ball",
    )
    refinement: bool = parameter(True, help="Split the tetrahedra at a crack into twelve, so that its faces are finer")
    tetrahedra: int = parameter(
        300,
        minimum=12,
        maximum=5000,
        help="Number of tetrahedra that the body consists of; more give finer pieces, and slower impacts (200 to 1000)",
    )
    smallest_piece: float = parameter(
        0.01,
        minimum=0.0,
        maximum=0.5,
        help="Least volume of a piece, as a share of the whole body; smaller ones stay with their neighbor (dust 0.001, chunks 0.05)",
    )
    piece_limit: int = parameter(
        40, minimum=2, maximum=1000, help="Most pieces that the body breaks into; then it no longer breaks; more bake slower (10 to 60)"
    )
    young_modulus: float = parameter(
        1e10,
        unit="Pa",
        above=0.0,
        maximum=1e13,
        help="Stiffness; more puts the body under more stress at an impact (brick 1e10, glass 7e10)",
    )
    poisson_ratio: float = parameter(
        0.2, minimum=0.0, maximum=0.49, help="How much it widens when compressed (brick and glass 0.2, rock 0.25)"
    )
    seed: int = parameter(0, minimum=0, maximum=2**31 - 1, help="Random seed for the tetrahedra, and thus for the pieces")

    def check(self, subject: str) -> None:
        """Check the values. Raises SceneError naming `subject`."""
        validate(self, f"{subject}, fracture")

    def check_owner(self, *, is_dynamic: bool, subject: str) -> None:
        """Refuse fracture of a collider that is not a rigid body. Raises SceneError."""
        if not is_dynamic:
            raise SceneError(
                "only a rigid body breaks, and this collider is not dynamic", "set `dynamic`, or remove its fracture", subject=subject
            )
