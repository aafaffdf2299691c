"""What slides on a floor: solids feel the friction of a surface that they can leave, fluids only friction that is given."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.settings import DEFAULT_FRICTION, Domain, Side
from mpm_addon.core.stepping import simulation as simulation_module

from .scenes import BOX_CORNERS, BOX_TRIANGLES, LATTICE, box, digests_by_threads, material, scene
from .test_extension_points import a_field_for_each_body

GRAVITY, SPEED, SECONDS = 9.81, 1.5, 0.25
LAWS: dict[str, Any] = {
    "corotated": {"young_modulus": 1e6},
    "snow": {},
    "sand": {},
    "water": {"bulk_modulus": 1e5},
}
SOLIDS = ("corotated", "snow", "sand")


def block(law: str, x: float = 0.0) -> Emitter:
    return Emitter(law, box((x, 0.0, 0.1), (0.4, 0.3, 0.2)), law, velocity=(SPEED, 0.0, 0.0), **LATTICE)


def sliding(*laws: str, domain: Domain | None = None, collider: Collider | None = None, dimension: int = 3, **floor: Any) -> Scene:
    """A block of each material slides on a floor."""
    colliders = () if domain else (collider or Collider("floor", SHAPES["plane"](), **floor),)
    blocks = (block(law, -0.8 * number) for number, law in enumerate(laws))
    made = tuple(material(law, **LAWS[law]) for law in laws)
    return scene(*blocks, materials=made, colliders=colliders, domain=domain, frames=7, dimension=dimension)


def speeds(described: Scene) -> list[float]:
    """The mean speed along x of each emitter's particles after `SECONDS` [m/s]."""
    *_, last = simulate(described)
    count = len(described.emitters)
    velocity = last.velocity[np.argsort(last.id)][:, 0].astype(np.float64)
    return [float(part.mean()) for part in np.split(velocity, count)]


def after_friction(friction: float) -> float:
    """The speed that Coulomb's law leaves [m/s]."""
    return SPEED - friction * GRAVITY * SECONDS


# what the blocks deform takes the rest
SLIDES = pytest.approx(after_friction(DEFAULT_FRICTION), abs=0.05)
KEEPS = pytest.approx(SPEED, abs=0.02)


@pytest.mark.parametrize("dimension", [3, 2])
@pytest.mark.parametrize("law", SOLIDS)
def test_solids_feel_the_default_friction(law: str, dimension: int) -> None:
    print(law, dimension, speeds(sliding(law, dimension=dimension)))
    print(speeds(sliding(law, dimension=dimension, friction=DEFAULT_FRICTION)))
    print(speeds(sliding(law, dimension=dimension, friction=0.0)))


@pytest.mark.parametrize("dimension", [3, 2])
def test_water_feels_only_friction_that_is_given(dimension: int) -> None:
    print(speeds(sliding("water", dimension=dimension)))
    print(speeds(sliding("water", dimension=dimension, friction=0.0)))
    print(speeds(sliding("water", dimension=dimension, friction=DEFAULT_FRICTION)))
