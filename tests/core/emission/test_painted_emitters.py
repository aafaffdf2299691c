"""Painting on emitters: factors on the material, and values passed on to frames."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.emission.emission import emit
from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import Mesh, Points
from mpm_addon.core.laws import LAWS
from mpm_addon.core.laws.factors import Factors
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.factors import levels_of
from mpm_addon.core.scene.painting import Painting
from mpm_addon.core.stepping.material_instances import instances_of
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import LATTICE, box, material, scene

CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
FACES = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
JELLY = (material("corotated", young_modulus=2e4),)


def bar(size: tuple[float, float, float] = (0.4, 0.2, 0.2), **values: Any) -> dict[str, Any]:
    """A mesh, subdivided along x so that values change there alone, and what is painted on it."""
    return {
        "shape": Mesh(CORNERS * size, np.array(FACES)),
        "painting": Painting({name: np.array(each, float) for name, each in values.items()}),
    }


def along_x(low: float, high: float) -> np.ndarray:
    return np.where(CORNERS[:, 0] < 0.0, low, high)


def painted(name: str = "e", law: str = "corotated", *, given: dict[str, Any], **rest: Any) -> Emitter:
    return Emitter(name, given["shape"], law, painting=given["painting"], **{**LATTICE, **rest})


def one_batch(described: Scene) -> Any:
    (batch,) = emit(described, 1)
    return batch


def test_values_of_vertices_are_linear_on_the_faces() -> None:
    weight = CORNERS @ [1.0, 2.0, 3.0]
    batch = one_batch(scene(painted(given=bar((0.4, 0.4, 0.4), weight=weight)), materials=JELLY))
    x, y, z = batch.points.position.T / 0.4
    # the nearest surface point of those nearest to the side x = 0.5, off the diagonals where two sides are as near
    near = (x > np.abs(y) + 0.05) & (x > np.abs(z) + 0.05)
    expected = 0.5 + 2.0 * y[near] + 3.0 * z[near]
    assert near.sum() > 20 and np.abs(batch.painted.carried["weight"][near, 0] - expected).max() < 1e-6


def test_a_seam_keeps_its_sides_apart() -> None:
    """Texture coordinates on corners: each triangle has values of its own, and no particle has one between them."""
    values = np.zeros((12, 3, 2))
    values[:, :, 0] = np.arange(12)[:, None]
    batch = one_batch(scene(painted(given=bar((0.4, 0.4, 0.4), UVMap=values)), materials=JELLY))
    found = batch.painted.carried["UVMap"]
    assert found.dtype == np.float32 and found.shape == (len(batch.points.position), 2)
    assert set(np.unique(found[:, 0])) == set(range(12)) and not found[:, 1].any()


def test_points_take_what_is_painted_on_them() -> None:
    rng = np.random.default_rng(0)
    points, goal, color = rng.uniform(-0.2, 0.2, (40, 3)), rng.random(40), rng.random((40, 4))
    emitter = Emitter("cloud", Points(points, volume=np.full(40, 1e-5)), "corotated", painting=Painting({"goal": goal, "color": color}))
    wall = Collider("wall", box((0.5, 0.0, 0.0), 1.0))
    batch = one_batch(scene(emitter, materials=JELLY))
    assert np.array_equal(batch.painted.pin_share, goal) and np.array_equal(batch.painted.carried["color"], color.astype(np.float32))
    # those in a wall are missing, and the others keep their own
    frame = next(simulate(scene(emitter, materials=JELLY, colliders=(wall,))))
    outside = points[:, 0] < 0.001
    assert np.array_equal(frame.attribute("color"), color.astype(np.float32)[outside]) and 5 < outside.sum() < 35


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [2, 3])
def test_density_changes_mass_exactly(dimension: int) -> None:
    described = scene(painted(given=bar(density=along_x(1.0, 4.0)), mass_scale=1.5), materials=JELLY, dimension=dimension)
    batch = one_batch(described)
    levels = levels_of(described, "corotated")["density"]
    assert len(levels) == 16 and np.allclose(levels[1:] / levels[:-1], 4.0 ** (1 / 15))
    ratio = batch.points.mass / batch.points.volume / 1500.0
    nearest = np.abs(np.log(ratio[:, None] / levels)).min(axis=1)
    assert nearest.max() < 1e-12 and 1.0 <= ratio.min() < 1.2 and 3.4 < ratio.max() <= 4.0
    frame = next(simulate(described))
    assert frame.statistics.mass == pytest.approx(batch.points.mass.sum(), rel=1e-6)
    # on the long sides the value is linear along x: rounded to the nearest level
    x = batch.points.position[:, 0]
    sides = np.abs(x) < 0.09
    wanted = 1.0 + 3.0 * (x[sides] / 0.4 + 0.5)
    assert np.abs(np.log(ratio[sides] / wanted)).max() < 0.5 * np.log(4.0) / 15 + 1e-9


def test_the_soft_half_sags_more() -> None:
    """Two halves of one block on a floor, a hundred times as stiff at the right: as two blocks of these stiffnesses do."""
    vertices = np.array([[x, y, z] for x in (-0.2, -1e-4, 1e-4, 0.2) for y in (-0.1, 0.1) for z in (0.0, 0.3)])
    faces = []
    for cell in range(3):
        a = 4 * cell
        ring = [a, a + 1, a + 3, a + 2]
        for i in range(4):
            p, q = ring[i], ring[(i + 1) % 4]
            faces += [[p, p + 4, q], [q, p + 4, q + 4]]
    faces += [[0, 1, 3], [0, 3, 2], [12, 15, 13], [12, 14, 15]]
    mesh = Mesh(vertices, np.array(faces))
    stiffness = np.where(vertices[:, 0] < 0.0, 1.0, 100.0)
    floor = (Collider("floor", box((0.0, 0.0, -0.1), (2.0, 2.0, 0.2)), surface="slip"),)
    emitter = Emitter("block", mesh, "corotated", painting=Painting({"stiffness": stiffness}), **LATTICE)
    described = scene(emitter, materials=(material("corotated", young_modulus=2e4),), colliders=floor, frames=5)
    first, *_, last = simulate(described)
    sunk = first.position[:, 2] - last.position[:, 2]
    top = first.position[:, 2] > 0.25
    soft, stiff = (sunk[top & side].mean() for side in (first.position[:, 0] < -0.1, first.position[:, 0] > 0.1))
    assert soft > 4.0 * abs(stiff) and soft > 0.004


def test_bodies_are_sixty_four_at_most() -> None:
    ends = along_x(0.5, 2.0)
    one = scene(painted(given=bar(stiffness=ends)), materials=JELLY)
    two = scene(painted(given=bar(stiffness=ends, density=ends)), materials=JELLY)
    sand = (material("sand"),)
    four = scene(painted(law="sand", given=bar(stiffness=ends, density=ends, friction=ends, strength=along_x(0.0, 1.0))), materials=sand)
    many = scene(*[painted(f"e{scale}", given=bar(stiffness=ends), mass_scale=scale) for scale in range(1, 8)], materials=JELLY)
    assert [len(instances_of(each)) for each in (one, two, four)] == [16, 64, 16]
    assert 49 < len(instances_of(many)) <= 64
    same = scene(painted(given=bar(stiffness=np.full(8, 2.0))), Emitter("plain", box((1.0, 0.0, 0.0), 0.2), "corotated"), materials=JELLY)
    assert [instance.stiffness_scale for instance in instances_of(same)] == [2.0, 1.0]
    assert np.array_equal(levels_of(four, "sand")["strength"], [0.0, 1.0])


def test_laws_say_what_friction_and_strength_are() -> None:
    sand = LAWS["sand"](friction_angle=30.0, cohesion=100.0).scaled(Factors(friction=0.5, strength=3.0))
    assert np.tan(np.radians(sand.friction_angle)) == pytest.approx(0.5 * np.tan(np.radians(30.0))) and sand.cohesion == 300.0
    klar = LAWS["sand"]().scaled(Factors(friction=0.5))
    h0, h1, h2, h3 = klar.friction_hardening
    assert np.tan(np.radians(h0)) == pytest.approx(0.5 * np.tan(np.radians(35.0)))
    assert (h1 / h0, h2, h3 / h0) == pytest.approx((9 / 35, 0.2, 10 / 35))
    LAWS["sand"]().scaled(Factors(friction=1e3)).check("steep")
    assert LAWS["von_mises"](yield_stress=10.0).scaled(Factors(strength=2.0)).yield_stress == 20.0
    assert LAWS["viscoplastic"](yield_stress=10.0).scaled(Factors(strength=0.0)).yield_stress == 0.0
    assert LAWS["snow"](critical_stretch=0.01).scaled(Factors(strength=2.0)).critical_stretch == 0.02
    assert LAWS["snow"](critical_stretch=0.01).scaled(Factors(strength=1e6)).critical_stretch == 1.0
    assert LAWS["water"](cohesion=5.0).scaled(Factors(strength=2.0)).cohesion == 10.0
    for law in LAWS.values():
        assert law().scaled(Factors()) == law()


@pytest.mark.parametrize(
    ("law", "name", "known"),
    [
        ("corotated", "friction", "density, stiffness"),
        ("water", "friction", "density, stiffness, strength"),
        ("stress_free", "stiffness", "density"),
    ],
)
def test_a_law_refuses_factors_that_it_does_not_have(law: str, name: str, known: str) -> None:
    with pytest.raises(SceneError) as caught:
        scene(painted(law=law, given=bar(**{name: np.ones(8)})), materials=(material(law),))
    assert str(caught.value) == (
        f'Emitter "e": "{name}" is painted, but the law "{law}" of material "{law}" has no such factor; '
        f"remove the attribute, paint one of {known}, or use another law."
    )


def test_names_that_files_use_are_refused() -> None:
    for name in ("header", "a/b", "time"):
        with pytest.raises(SceneError, match="cannot be the name of a painted attribute"):
            painted(given=bar(**{name: np.ones(8)}))


def test_emitters_must_agree_on_components() -> None:
    with pytest.raises(SceneError, match=r'^Emitter "a": the painted attribute "v" has 1 components, but 3 on another'):
        scene(painted("a", given=bar(v=np.ones(8))), painted("b", given=bar(v=np.ones((8, 3)))), materials=JELLY)


def test_frames_carry_the_union_and_come_back_after_a_resume() -> None:
    first = painted(
        "a", given=bar(weight=along_x(1.0, 2.0), color=np.ones((8, 4)) * 0.5), mode="repeat", interval=2, velocity=(0.0, 0.0, -6.0)
    )
    second = Emitter("b", box((1.0, 0.0, 0.0), 0.2), "corotated", **LATTICE)
    third = painted("c", given=bar(UVMap=np.ones((12, 3, 2)), stiffness=along_x(1.0, 4.0)), velocity=(0.0, 3.0, 0.0))
    described = scene(first, second, third, materials=JELLY, frames=7, gravity=(0.0, 0.0, 0.0))
    simulation = Simulation(described)
    frames = simulation.frames()
    frame = next(frames)
    assert list(frame.attributes)[-3:] == ["weight", "color", "UVMap"]
    emitter = frame.attribute("emitter_index")
    assert frame.attribute("color").shape == (len(emitter), 4) and (frame.attribute("color")[emitter == 0] == 0.5).all()
    assert not frame.attribute("weight")[emitter > 0].any() and not frame.attribute("UVMap")[emitter == 1].any()
    assert (frame.attribute("UVMap")[emitter == 2] == 1.0).all()
    next(frames)
    snapshot = {name: array.copy() for name, array in simulation.snapshot().items()}
    *_, expected = frames
    *_, resumed = Simulation(described, snapshot=snapshot).frames()
    for name in expected.attributes:
        assert expected.attribute(name).tobytes() == resumed.attribute(name).tobytes(), name
