"""Sliding on a floor: solids have friction on a separate surface by default, fluids only if friction is set."""

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
from tests.core.scenes import BOX_CORNERS, BOX_TRIANGLES, LATTICE, box, digests_by_threads, material, scene
from tests.core.stepping.test_extension_points import a_field_for_each_instance

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
    blocks = (block(law, -1.6 * number) for number, law in enumerate(laws))
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


# jelly and snow deform a little as they slide
SLIDES = pytest.approx(after_friction(DEFAULT_FRICTION), abs=0.05)
KEEPS = pytest.approx(SPEED, abs=0.01)


@pytest.mark.parametrize("dimension", [3, 2])
@pytest.mark.parametrize("law", ["corotated", "snow"])
def test_solids_feel_the_default_friction(law: str, dimension: int) -> None:
    assert speeds(sliding(law, dimension=dimension)) == [SLIDES]


@pytest.mark.parametrize("dimension", [3, 2])
def test_a_heap_of_sand_is_slowed_by_the_default_friction(dimension: int) -> None:
    """The heap slumps while it slides, and its edges press less."""
    (speed,) = speeds(sliding("sand", dimension=dimension))
    assert after_friction(DEFAULT_FRICTION) < speed < after_friction(0.5 * DEFAULT_FRICTION)


@pytest.mark.parametrize("dimension", [3, 2])
def test_fluids_feel_only_friction_that_is_given(dimension: int) -> None:
    assert speeds(sliding("water", dimension=dimension)) == [KEEPS]
    assert speeds(sliding("water", dimension=dimension, friction=DEFAULT_FRICTION))[0] < 0.8 * SPEED


@pytest.mark.parametrize("floor", [{"surface": "slip"}, {"friction": 0.0}], ids=["slip", "given"])
@pytest.mark.parametrize("law", LAWS)
def test_everything_slides_freely_where_friction_is_zero(law: str, floor: dict[str, Any]) -> None:
    assert speeds(sliding(law, dimension=2, **floor)) == [KEEPS]


def test_given_friction_is_felt_on_a_slippery_surface_as_well() -> None:
    assert speeds(sliding("corotated", dimension=2, surface="slip", friction=DEFAULT_FRICTION))[0] < after_friction(0.5 * DEFAULT_FRICTION)


@pytest.mark.parametrize(
    ("side", "speed"), [({"surface": "separate"}, SLIDES), ({}, KEEPS), ({"surface": "separate", "friction": 0.0}, KEEPS)]
)
def test_the_sides_of_a_domain_have_the_same_defaults(side: dict[str, Any], speed: Any) -> None:
    domain = Domain(kind="box", min=(-5.0, -5.0, 0.0), max=(5.0, 5.0, 5.0), sides={"z_min": Side(**side)})
    assert speeds(sliding("corotated", domain=domain, dimension=2)) == [speed]


def still(kind: str) -> Collider:
    """A floor that counts as moving, or as deforming."""
    size = np.array([4.0, 4.0, 1.0])
    mesh = SHAPES["mesh"](vertices=BOX_CORNERS * size - (0.0, 0.0, 0.5), triangles=BOX_TRIANGLES)
    keys = np.array([1.0, 9.0])
    motions = {"matrices": np.tile(np.eye(4), (2, 1, 1)), "vertices": np.tile(mesh.vertices, (2, 1, 1))}
    return Collider("floor", mesh, motion=Motion(keys, **{kind: motions[kind]}))


@pytest.mark.parametrize("kind", ["matrices", "vertices"])
@pytest.mark.parametrize(("law", "speed"), [("corotated", SLIDES), ("water", KEEPS)])
def test_colliders_that_move_and_deform_have_the_same_defaults(law: str, speed: Any, kind: str) -> None:
    assert speeds(sliding(law, collider=still(kind))) == [speed]


def test_friction_that_is_animated_counts_as_given() -> None:
    keys = np.array([1.0, 4.0, 4.01])
    braking = Animation(keys, {"friction": np.array([0.0, 0.0, DEFAULT_FRICTION])})
    # it brakes in the second half
    half = pytest.approx(after_friction(0.5 * DEFAULT_FRICTION), abs=0.05)
    assert speeds(sliding("corotated", dimension=2, animation=braking)) == [half]
    assert speeds(sliding("water", dimension=2, animation=braking))[0] < 0.9 * SPEED


def test_in_fields_of_their_own_fluids_and_solids_differ_on_one_floor(monkeypatch: Any) -> None:
    monkeypatch.setattr(simulation_module, "fields_of", a_field_for_each_instance)
    jelly, water = speeds(sliding("corotated", "water", dimension=2))
    assert jelly < after_friction(0.5 * DEFAULT_FRICTION)
    assert water == KEEPS


@pytest.mark.parametrize(("floor", "speed"), [({}, after_friction(0.5)), ({"surface": "slip"}, SPEED), ({"friction": 0.0}, SPEED)])
def test_rigid_bodies_are_solids(floor: dict[str, Any], speed: float) -> None:
    """A body and a floor of which neither friction is given; the friction of a pair is the geometric mean."""
    crate = Collider("crate", box((0.0, 0.0, 0.1), (0.6, 0.6, 0.2)), dynamic=True, velocity=(SPEED, 0.0, 0.0))
    far = Emitter("corotated", box((9.0, 0.0, 0.1), 0.2), "corotated", **LATTICE)
    colliders = (Collider("floor", SHAPES["plane"](), **floor), crate)
    described = scene(far, materials=(material("corotated"),), colliders=colliders, frames=7, dimension=2)
    places = [frame.poses["crate"][0, 3] for frame in simulate(described)]
    assert places[-1] == pytest.approx(0.5 * (SPEED + speed) * SECONDS, rel=0.02)


@pytest.mark.parametrize("owner", [Side, lambda **given: Collider("floor", SHAPES["plane"](), **given)])
def test_friction_out_of_range_is_refused(owner: Any) -> None:
    assert owner().friction is None
    with pytest.raises(SceneError, match=r"friction -0\.1 is not allowed; use a finite number at least 0 and at most 100"):
        owner(friction=-0.1)


@pytest.mark.long
def test_friction_gives_the_same_bytes_with_any_number_of_threads() -> None:
    made = "from tests.core.contact.test_friction import sliding\nscenes = [sliding('corotated', 'snow', 'sand', 'water')]"
    assert len(digests_by_threads(made)) == 1
