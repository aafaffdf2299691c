"""Randomness: noise in space, and what it does to the particles of an emitter."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from mpm_addon.core.advice.preview import preview_of
from mpm_addon.core.emission import noise as module
from mpm_addon.core.emission.emission import Batch, emit
from mpm_addon.core.emission.noise import noise
from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import SHAPES, Mesh, Points
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.scene.factors import MOST_NOISE_LEVELS
from mpm_addon.core.scene.painting import Painting
from mpm_addon.core.scene.randomness import LARGEST_NOISE, Randomness
from mpm_addon.core.stepping.material_instances import instances_of
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import BOX_CORNERS, BOX_TRIANGLES, LATTICE, box, digests_by_threads, material, scene

PLACES = np.random.default_rng(0).random((40_000, 3)) * 20.0
SNOW = (material("snow"),)
STRONG = Randomness(strength=1.0, size=0.2)


def random(name: str = "e", shape: Any = None, law: str = "snow", randomness: Randomness = STRONG, **rest: Any) -> Emitter:
    return Emitter(name, shape or box((0.0, 0.0, 0.0), 0.8), law, randomness=randomness, **{**LATTICE, **rest})


def batch_of(described: Scene, frame: int = 1) -> Batch:
    (batch,) = emit(described, frame)
    return batch


def noise_of(batch: Batch) -> np.ndarray:
    """The rounded noise of particles whose strength has an amount of 1."""
    return np.log([factors.strength for factors in batch.painted.combinations])[batch.painted.combination]


def correlation_at(first: Batch, second: Batch, way: Any = (0.0, 0.0, 0.0)) -> float:
    """The correlation of the noise of one batch with that of the nearest particles of another, moved by `way`."""
    _, nearest = cKDTree(first.points.position + way).query(second.points.position)
    return float(np.corrcoef(noise_of(first)[nearest], noise_of(second))[0, 1])


def test_noise_has_no_mean_and_unit_variance() -> None:
    values = noise(PLACES, 0.1, 3)
    assert abs(values.mean()) < 0.02 and values.std() == pytest.approx(1.0, abs=0.02)
    # nearly a normal distribution: 4.6 % beyond two deviations
    assert (np.abs(values) > 2.0).mean() == pytest.approx(0.0455, abs=0.01)


def test_the_variance_is_the_same_at_and_between_the_points_of_the_lattice() -> None:
    """Blended values without the division would have a variance of 1/8 in the middle of a cell."""
    middles = np.stack(np.meshgrid(*[np.arange(32.0)] * 3), axis=-1).reshape(-1, 3) + 0.5
    key = np.uint64(5)
    for place in (0.0, 0.25, 0.5):
        assert module._octave(middles - place, key).var() == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("direction", [(1.0, 0.0, 0.0), (0.577, 0.577, 0.577), (0.0, -0.6, 0.8)])
def test_noise_is_correlated_over_its_size_and_no_farther(direction: tuple[float, float, float]) -> None:
    size = 0.1
    found = [
        float((noise(PLACES, size, 3) * noise(PLACES + distance * size * np.array(direction), size, 3)).mean())
        for distance in (0.05, 0.5, 1.0, 2.0)
    ]
    assert found[0] > 0.95 and 0.45 < found[1] < 0.6 and found[2] < 0.2 and abs(found[3]) < 0.03


def test_noise_depends_on_the_place_in_sizes_and_on_the_seed() -> None:
    values = noise(PLACES, 0.1, 3)
    assert noise(4.0 * PLACES, 0.4, 3) == pytest.approx(values)
    assert abs(np.corrcoef(values, noise(PLACES, 0.1, 4))[0, 1]) < 0.03


def test_noise_does_not_depend_on_the_other_points(monkeypatch: pytest.MonkeyPatch) -> None:
    values = noise(PLACES, 0.1, 3)
    assert noise(PLACES[::-1], 0.1, 3)[::-1].tobytes() == values.tobytes()
    monkeypatch.setattr(module, "_CHUNK", 999)
    assert noise(PLACES, 0.1, 3).tobytes() == values.tobytes()


def test_two_resolutions_see_the_same_noise() -> None:
    coarse, fine = (batch_of(scene(random(), materials=SNOW, grid_spacing=spacing)) for spacing in (0.1, 0.04))
    assert correlation_at(fine, coarse) > 0.95
    other = batch_of(scene(random(randomness=replace(STRONG, seed=1)), materials=SNOW, grid_spacing=0.04))
    assert abs(correlation_at(other, coarse)) < 0.3


def test_a_preview_sees_the_noise_of_the_bake() -> None:
    points = np.random.default_rng(1).random((30_000, 3))
    for shape in (None, Points(points, volume=np.full(len(points), 1.0 / len(points)))):
        emitter = replace(random(), particles_per_cell=None) if shape is None else random(shape=shape, particles_per_cell=None)
        described = scene(emitter, materials=SNOW, grid_spacing=0.04)
        preview = preview_of(described, 6000).scene
        assert preview.solver.grid_spacing > 0.05
        assert correlation_at(batch_of(described), batch_of(preview)) > 0.95


def test_neither_place_nor_motion_changes_the_noise() -> None:
    mesh = Mesh(BOX_CORNERS * 0.8, BOX_TRIANGLES)
    still = batch_of(scene(random(shape=mesh), materials=SNOW))
    aside = batch_of(scene(random(shape=Mesh(mesh.vertices + np.array([3.0, 0.0, 2.0]), mesh.triangles)), materials=SNOW))
    matrix = np.tile(np.eye(4), (2, 1, 1))
    matrix[:, :3, :3] = Rotation.from_rotvec([0.3, 0.5, -0.2]).as_matrix()
    matrix[:, :3, 3] = [[1.0, 2.0, 3.0], [1.5, 2.0, 3.0]]
    moving = batch_of(scene(random(shape=mesh, motion=Motion(np.array([1.0, 2.0]), matrix)), materials=SNOW))
    for other in (aside, moving):
        # but for the few whose noise lies at the limit of two levels
        assert (other.painted.combination == still.painted.combination).mean() > 0.999


def test_every_emission_of_a_repeated_shape_has_its_own_noise() -> None:
    described = scene(random(mode="repeat", interval=1), materials=SNOW)
    first, second = batch_of(described, 1), batch_of(described, 2)
    assert abs(correlation_at(first, second)) < 0.3


def flowing(**rest: Any) -> tuple[Batch, Batch]:
    """The first particles of an inflow, and those three frames later, after 0.3 m."""
    described = scene(random(mode="inflow", velocity=(2.4, 0.0, 0.0), **rest), materials=SNOW, gravity=(0.0, 0.0, 0.0))
    return batch_of(described, 1), batch_of(described, 4)


def test_an_inflow_carries_its_noise_along() -> None:
    """One that is not a steady stream, so that it fills the whole shape each time."""
    first, later = flowing(angular_velocity=(0.0, 1.0, 0.0))
    assert correlation_at(first, later, (0.3, 0.0, 0.0)) > 0.7
    assert correlation_at(first, later) < 0.4


def test_a_steady_stream_is_not_striped() -> None:
    """What enters differs from what entered there before."""
    first, later = flowing()
    assert len(later.points.position) < len(first.points.position)
    assert abs(correlation_at(first, later)) < 0.5


def test_an_amount_of_zero_changes_nothing() -> None:
    plain, off = (scene(random(randomness=each), materials=SNOW) for each in (Randomness(), Randomness(size=0.01, seed=9)))
    assert [[each.factors for each in instances_of(described)] for described in (plain, off)] == [[(1.0, 1.0, 1.0, 1.0)]] * 2
    assert not batch_of(off).painted.combination.any()


def test_noise_multiplies_what_is_painted_and_scaled() -> None:
    painting = Painting({"strength": np.where(BOX_CORNERS[:, 0] < 0.0, 2.0, 4.0)})
    both = Randomness(strength=1.0, stiffness=0.5)
    emitter = random(
        shape=Mesh(BOX_CORNERS * 0.8, BOX_TRIANGLES),
        painting=painting,
        stiffness_scale=3.0,
        randomness=both,
    )
    described = scene(emitter, materials=SNOW)
    batch = batch_of(described)
    found = np.array([batch.painted.combinations[number] for number in np.unique(batch.painted.combination)])
    deviation = np.log(found[:, 1] / 3.0) / 0.5
    assert np.abs(deviation).max() == pytest.approx(LARGEST_NOISE, abs=0.7)
    painted = found[:, 3] / np.exp(deviation)
    assert painted.min() == pytest.approx(2.0) and painted.max() == pytest.approx(4.0)
    assert len(instances_of(described)) == len(batch.painted.combinations) == 64


def test_each_body_has_the_strength_of_its_level() -> None:
    instances = instances_of(scene(random(), materials=SNOW))
    assert len(instances) == MOST_NOISE_LEVELS
    stretches = np.array([instance.law.critical_stretch for instance in instances]) / SNOW[0].law.critical_stretch  # type: ignore[attr-defined]
    assert np.log(stretches) == pytest.approx(np.linspace(-LARGEST_NOISE, LARGEST_NOISE, MOST_NOISE_LEVELS))


@pytest.mark.parametrize(
    ("law", "values", "message"),
    [
        (
            "snow",
            {"friction": 0.2},
            'its randomness of friction is 0.2, but the law "snow" of material "snow" has no friction; use 0, use ',
        ),
        ("corotated", {"strength": 0.2}, 'but the law "corotated" of material "corotated" has no strength; use 0, use stiffness, or use'),
        ("snow", {"strength": -1.0}, "randomness: strength -1 is not allowed; use a finite number at least 0 and at most 3."),
        ("snow", {"size": 0.0}, "randomness: size 0 m is not allowed; use a finite number above 0 and at most 1e\\+06 m."),
        ("snow", {"seed": 0.5}, "randomness: seed 0.5 is not allowed; use a whole number"),
    ],
)
def test_bad_values_are_refused_in_one_line(law: str, values: dict[str, Any], message: str) -> None:
    with pytest.raises(SceneError, match=f'^Emitter "e".*{message}') as caught:
        scene(random(law=law, randomness=Randomness(**values)), materials=(material(law),))
    assert "\n" not in str(caught.value)


def falling() -> Scene:
    shape = SHAPES["sphere"](center=(0.0, 0.0, 0.0), radius=0.2)
    first = random(shape=shape, velocity=(3.0, 0.0, 0.0))
    more = random("more", box((0.0, 1.0, 0.0), 0.3), mode="repeat", interval=2, velocity=(0.0, -3.0, 0.0))
    return scene(first, more, materials=SNOW, frames=5, grid_spacing=0.05)


def test_a_resumed_simulation_has_the_same_bytes() -> None:
    simulation = Simulation(falling())
    frames = simulation.frames()
    next(frames)
    next(frames)
    snapshot = {name: array.copy() for name, array in simulation.snapshot().items()}
    *_, expected = frames
    *_, resumed = Simulation(falling(), snapshot=snapshot).frames()
    for name in expected.attributes:
        assert expected.attribute(name).tobytes() == resumed.attribute(name).tobytes(), name


def test_the_number_of_threads_does_not_change_the_bytes() -> None:
    assert len(digests_by_threads("from tests.core.scene.test_randomness import falling\nscenes = [falling()]")) == 1
