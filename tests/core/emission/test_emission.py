"""Emitters become particles with the exact mass, correct velocities and unique IDs."""

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.emission.emission import emit, moments, point_volumes
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.geometry.shapes.mesh import Mesh
from mpm_addon.core.geometry.shapes.points import Points
from mpm_addon.core.geometry.shapes.sphere import Sphere
from mpm_addon.core.scene.description import Collider, Emitter
from tests.core.scenes import LATTICE, box, material, scene


@pytest.mark.parametrize("sampling", ["poisson", "lattice", "random"])
def test_mass_is_density_times_volume(sampling: str) -> None:
    emitter = Emitter("ball", Sphere(center=(0.1, 0.2, 0.3), radius=0.2), "snow", sampling=sampling, mass_scale=1.5)
    (batch,) = emit(scene(emitter, materials=(material("snow"),)), 1)
    assert batch.points.mass.sum() == pytest.approx(400.0 * 1.5 * 4.0 / 3.0 * np.pi * 0.2**3, rel=1e-12)
    assert np.ptp(batch.points.volume) == 0.0


def test_rotation_gives_velocities_and_their_gradient() -> None:
    emitter = Emitter("spin", box((1.0, 0.0, 0.0), 0.2), "snow", velocity=(1.0, 2.0, 3.0), angular_velocity=(0.0, 0.0, 180.0), **LATTICE)
    (batch,) = emit(scene(emitter, materials=(material("snow"),)), 1)
    arm = batch.points.position - [1.0, 0.0, 0.0]
    expected = np.array([1.0, 2.0, 3.0]) + np.pi * np.stack([-arm[:, 1], arm[:, 0], 0.0 * arm[:, 0]], axis=1)
    assert np.abs(batch.points.velocity - expected).max() < 1e-12
    gradient = batch.points.velocity_gradient[0].reshape(3, 3)
    assert np.abs(batch.points.velocity - [1.0, 2.0, 3.0] - arm @ gradient.T).max() < 1e-12


def test_in_the_plane_matter_turns_about_y_alone() -> None:
    shape = box((1.0, 5.0, 0.0), 0.2)
    emitter = Emitter("spin", shape, "snow", velocity=(1.0, 2.0, 3.0), angular_velocity=(90.0, 180.0, 45.0), **LATTICE)
    (batch,) = emit(scene(emitter, materials=(material("snow"),), dimension=2), 1)
    arm = batch.points.position - [1.0, 0.0, 0.0]
    expected = np.array([1.0, 0.0, 3.0]) + np.pi * np.stack([arm[:, 2], 0.0 * arm[:, 0], -arm[:, 0]], axis=1)
    assert np.abs(batch.points.velocity - expected).max() < 1e-12
    gradient = batch.points.velocity_gradient[0].reshape(3, 3)
    assert np.abs(batch.points.velocity - [1.0, 0.0, 3.0] - arm @ gradient.T).max() < 1e-12
    assert not gradient[1].any() and not gradient[:, 1].any()


@pytest.mark.parametrize("sampling", ["poisson", "lattice", "random"])
def test_in_the_plane_mass_is_density_times_area(sampling: str) -> None:
    emitter = Emitter("disk", Sphere(center=(0.1, 9.0, 0.3), radius=0.2), "snow", sampling=sampling, mass_scale=1.5)
    (batch,) = emit(scene(emitter, materials=(material("snow"),), dimension=2), 1)
    assert batch.points.mass.sum() == pytest.approx(400.0 * 1.5 * np.pi * 0.2**2, rel=1e-12)
    assert (batch.points.position[:, 1] == 0.0).all() and np.ptp(batch.points.volume) == 0.0


@pytest.mark.parametrize("mode", ["once", "inflow"])
def test_in_the_plane_a_mesh_is_what_the_plane_cuts(mode: str) -> None:
    """A tetrahedron with a corner at y = 1 and its base at y = -1: the cut halfway up has a quarter of the base's area, 1/2 m^2."""
    vertices = np.array([[0.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, -1.0, 1.0], [0.0, 1.0, 0.0]])
    mesh = Mesh(vertices, np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]))
    emitter = Emitter("wedge", mesh, "snow", mode=mode, velocity=(0.0, 0.0, -1.0))
    (batch,) = emit(scene(emitter, materials=(material("snow"),), dimension=2), 1)
    assert batch.points.mass.sum() == pytest.approx(400.0 * 0.125, rel=1e-12)
    x, y, z = batch.points.position.T
    assert x.min() > 0.0 and z.min() > 0.0 and (x + z).max() < 0.5 and not y.any()


def test_start_velocities_can_have_a_random_part() -> None:
    """Isotropic and normal: the mean of n = 32768 has the standard deviation s / sqrt(n), the spread s / sqrt(2 n)."""

    def velocities(spread: float, dimension: int = 3, seed: int = 0) -> list[np.ndarray]:
        shape = box((0.0, 0.0, 0.0), 0.8)
        pair = [Emitter(name, shape, "snow", velocity=(1.0, 0.0, 2.0), velocity_spread=spread, **LATTICE) for name in "ab"]
        return [batch.points.velocity for batch in emit(scene(*pair, materials=(material("snow"),), dimension=dimension, seed=seed), 1)]

    first, second = velocities(0.5)
    assert np.abs(first.mean(axis=0) - [1.0, 0.0, 2.0]).max() < 5 * 0.5 / len(first) ** 0.5
    assert np.abs(first.std(axis=0) - 0.5).max() < 5 * 0.5 / (2 * len(first)) ** 0.5
    assert np.abs(np.corrcoef(first.T) - np.eye(3)).max() < 5 / len(first) ** 0.5
    assert np.array_equal(first, velocities(0.5)[0]) and not np.array_equal(first, velocities(0.5, seed=1)[0])
    assert abs(np.corrcoef(first[:, 0], second[:, 0])[0, 1]) < 5 / len(first) ** 0.5
    flat = velocities(0.5, dimension=2)[0]
    assert not flat[:, 1].any() and np.abs(flat[:, [0, 2]].std(axis=0) - 0.5).max() < 0.05
    assert np.ptp(velocities(0.0)[0], axis=0).max() == 0.0


def test_factors_of_an_emitter_are_those_of_its_material() -> None:
    """Density 2 rho and modulus 3 E by the emitter's factors, or in the material: the same motion to rounding."""
    floor = (Collider("floor", SHAPES["plane"]()),)

    def dropped(law: dict[str, float], **factors: float) -> np.ndarray:
        block = Emitter("block", box((0.0, 0.0, 0.11), 0.2), "corotated", velocity=(0.0, 0.0, -3.0), **LATTICE, **factors)
        *_, last = simulate(scene(block, materials=(material("corotated", **law),), colliders=floor, frames=4))
        return last.position

    by_material = dropped({"density": 2000.0, "young_modulus": 3e4})
    by_factors = dropped({"density": 1000.0, "young_modulus": 1e4}, mass_scale=2.0, stiffness_scale=3.0)
    neither = dropped({"density": 1000.0, "young_modulus": 1e4})
    assert np.abs(by_factors - by_material).max() < 1e-5
    assert np.abs(neither - by_material).max() > 1e-3


def test_a_spinning_ball_keeps_its_angular_momentum() -> None:
    """Half a turn of a free elastic ball; L = I omega with I = 2/5 m R^2 to the accuracy of the sampling."""
    emitter = Emitter("ball", Sphere(radius=0.2), "corotated", angular_velocity=(0.0, 0.0, 360.0), sampling="lattice", particles_per_cell=8)
    first, *_, last = simulate(scene(emitter, materials=(material("corotated"),), gravity=(0.0, 0.0, 0.0), frames=13))
    mass = 1000.0 * 4.0 / 3.0 * np.pi * 0.2**3

    def angular_momentum(frame: object) -> float:
        x, v = frame.position.astype(float), frame.velocity.astype(float)  # type: ignore[attr-defined]
        return float((x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]).mean() * mass)

    assert angular_momentum(first) == pytest.approx(0.4 * mass * 0.2**2 * 2.0 * np.pi, rel=0.03)
    # the part that the affine velocities carry comes and goes
    assert angular_momentum(last) == pytest.approx(angular_momentum(first), rel=0.03)
    turned = last.position[:, :2] + first.position[:, :2]
    assert np.abs(turned).max() < 0.03


def test_bare_points_get_their_volume_from_the_grid() -> None:
    spacing = 0.1
    axis = (np.arange(24) + 0.5) * spacing / 2
    positions = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    volumes = point_volumes(positions, spacing)
    inner = ((positions > 0.3) & (positions < 0.9)).all(axis=1)
    assert volumes[inner] == pytest.approx((spacing / 2) ** 3, rel=1e-12)
    assert (volumes[~inner] >= (spacing / 2) ** 3 * 0.999).all()


def test_in_the_plane_bare_points_get_areas() -> None:
    axis = (np.arange(24) + 0.5) * 0.05
    positions = np.stack(np.meshgrid(axis, [0.0, 7.0], axis, indexing="ij"), axis=-1)[:, :1].reshape(-1, 3)
    volumes = point_volumes(positions + np.array([0.0, 3.0, 0.0]), 0.1, 2)
    inner = ((positions[:, [0, 2]] > 0.3) & (positions[:, [0, 2]] < 0.9)).all(axis=1)
    assert volumes[inner] == pytest.approx(0.05**2, rel=1e-12)


def test_in_the_plane_points_lose_their_y() -> None:
    rng = np.random.default_rng(0)
    positions, velocities, volumes = rng.normal(size=(50, 3)), rng.normal(size=(50, 3)), rng.uniform(1e-6, 1e-5, 50)
    for given, expected in ((volumes, volumes), (None, point_volumes(positions, 0.05, 2))):
        emitter = Emitter("cloud", Points(position=positions, velocity=velocities, volume=given), "water")
        (batch,) = emit(scene(emitter, materials=(material("water"),), dimension=2), 1)
        assert np.array_equal(batch.points.position, positions * [1.0, 0.0, 1.0])
        assert np.array_equal(batch.points.velocity, velocities * [1.0, 0.0, 1.0])
        assert np.array_equal(batch.points.volume, expected)


def test_points_keep_their_positions_velocities_and_volumes() -> None:
    rng = np.random.default_rng(0)
    positions, velocities, volumes = rng.normal(size=(50, 3)), rng.normal(size=(50, 3)), rng.uniform(1e-6, 1e-5, 50)
    emitter = Emitter("cloud", Points(position=positions, velocity=velocities, volume=volumes), "water")
    frame = next(simulate(scene(emitter, materials=(material("water"),))))
    assert np.abs(frame.position - positions).max() < 1e-6
    assert np.abs(frame.velocity - velocities).max() < 1e-6
    assert frame.statistics.mass == pytest.approx(1000.0 * volumes.sum(), rel=1e-6)
    assert frame.attribute("scale") == pytest.approx(np.cbrt(volumes), rel=1e-6)


def test_modes_say_when_an_emitter_is_due() -> None:
    once = Emitter("a", box((0.0, 0.0, 0.0), 0.2), "water", frame_start=3)
    again = Emitter("b", box((0.0, 0.0, 0.0), 0.2), "water", mode="repeat", interval=3, frame_start=2, frame_end=8)
    described = scene(once, again, materials=(material("water"),), frames=12)
    assert [frame for frame in range(1, 13) for batch in emit(described, frame) if batch.emitter_index == 0] == [3]
    assert [frame for frame in range(1, 13) for batch in emit(described, frame) if batch.emitter_index == 1] == [2, 5, 8]
    assert [moments(described, frame) for frame in (1, 2, 3, 9)] == [(), (0.0,), (0.0,), ()]


def test_two_emissions_are_different_arrangements_and_one_seed_gives_the_same() -> None:
    emitter = Emitter("ball", Sphere(radius=0.2), "water", mode="repeat", interval=1)
    described = scene(emitter, materials=(material("water"),))
    first, second, again = (emit(described, frame)[0].points.position for frame in (1, 2, 1))
    assert np.array_equal(first, again)
    assert len(first) != len(second) or not np.array_equal(first, second)
