"""Moving emitters at the moment of emission: velocities, gradients, normals, layers."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core.emission.emission import Batch, emit
from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.rotation import rotation_matrix
from mpm_addon.core.geometry.shapes import Mesh, Points, Sphere
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Emitter
from tests.core.scenes import LATTICE, box, material, scene

SNOW = (material("snow"),)
H = 0.05


def ball(subdivisions: int = 24, radius: float = 0.2) -> Mesh:
    """A ball of latitudes and longitudes."""
    theta, phi = np.linspace(0.0, np.pi, subdivisions + 1)[1:-1], np.arange(2 * subdivisions) * np.pi / subdivisions
    rings = np.stack(
        [np.outer(np.sin(theta), np.cos(phi)), np.outer(np.sin(theta), np.sin(phi)), np.outer(np.cos(theta), np.ones(len(phi)))], axis=-1
    )
    count = len(phi)
    vertices = np.concatenate([[[0.0, 0.0, 1.0]], rings.reshape(-1, 3), [[0.0, 0.0, -1.0]]]) * radius
    faces = [[0, 1 + i, 1 + (i + 1) % count] for i in range(count)]
    for ring in range(len(theta) - 1):
        for i in range(count):
            a, b = 1 + ring * count + i, 1 + ring * count + (i + 1) % count
            faces += [[a, a + count, b], [b, a + count, b + count]]
    last = 1 + (len(theta) - 1) * count
    faces += [[len(vertices) - 1, last + (i + 1) % count, last + i] for i in range(count)]
    return Mesh(vertices, np.array(faces))


def sheet(size: float = 0.5) -> Mesh:
    """A square in the plane z = 0 that looks up."""
    vertices = np.array([[x, y, 0.0] for x in (-size, size) for y in (-size, size)])
    return Mesh(vertices, np.array([[0, 2, 1], [1, 2, 3]]))


def turning(rate: float, linear: tuple[float, float, float], frames: int = 5, axis: int = 2) -> Motion:
    """Poses at 24fps of a thing that turns about an axis at a rate [rad/s]."""
    poses = np.tile(np.eye(4), (frames, 1, 1))
    for number in range(frames):
        poses[number, :3, :3] = rotation_matrix(np.eye(3)[axis] * rate * number / 24.0)
        poses[number, :3, 3] = np.array(linear) * number / 24.0
    return Motion(np.arange(1.0, frames + 1.0), matrices=poses)


def only(emitter: Emitter, frame: int = 1, **rest: Any) -> Batch:
    (batch,) = emit(scene(emitter, materials=SNOW, **rest), frame)
    return batch


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_share_of_the_objects_velocity_is_passed_on(share: float) -> None:
    motion = turning(3.0, (2.0, -1.0, 0.5))
    emitter = Emitter(
        "e", box((0.3, 0.0, 0.0), 0.2), "snow", motion=motion, inherit_velocity=share, velocity=(0.0, 0.0, 1.0), frame_start=3
    )
    batch = only(emitter, 3)
    origin = np.array([2.0, -1.0, 0.5]) * 2 / 24
    arm = batch.points.position - origin
    own = np.array([2.0, -1.0, 0.5]) + 3.0 * np.stack([-arm[:, 1], arm[:, 0], 0.0 * arm[:, 0]], axis=1)
    assert np.abs(batch.points.velocity - share * own - [0.0, 0.0, 1.0]).max() < 1e-9
    gradient = batch.points.velocity_gradient[0].reshape(3, 3)
    assert np.abs(gradient - share * np.array([[0.0, -3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]])).max() < 1e-9
    # the shape is where it is at that frame
    local = (batch.points.position - origin) @ rotation_matrix([0.0, 0.0, 3.0 * 2 / 24])
    assert np.abs(local - [0.3, 0.0, 0.0]).max() < 0.1


def test_in_the_plane_an_object_turns_about_y() -> None:
    emitter = Emitter("e", box((0.3, 0.0, 0.0), 0.2), "snow", motion=turning(3.0, (2.0, 9.0, 0.5), axis=1), frame_start=3)
    batch = only(emitter, 3, dimension=2)
    arm = batch.points.position - np.array([2.0, 0.0, 0.5]) * 2 / 24
    expected = np.array([2.0, 0.0, 0.5]) + 3.0 * np.stack([arm[:, 2], 0.0 * arm[:, 0], -arm[:, 0]], axis=1)
    assert np.abs(batch.points.velocity - expected).max() < 1e-9 and not batch.points.position[:, 1].any()


def test_a_scaled_pose_scales_what_is_filled() -> None:
    motion = Motion(np.array([1.0]), matrices=np.diag([2.0, 2.0, 2.0, 1.0])[None])
    batch = only(Emitter("e", Sphere(radius=0.1), "snow", motion=motion))
    assert batch.points.volume.sum() == pytest.approx(4 / 3 * np.pi * 0.008, rel=1e-9)
    assert len(batch.points.volume) == pytest.approx(4 / 3 * np.pi * 0.008 * 8 / H**3, rel=0.03)
    assert 0.18 < np.linalg.norm(batch.points.position, axis=1).max() < 0.2


def test_vertices_that_turn_give_the_velocities_of_a_rotation() -> None:
    """A rotating mesh whose poses come as vertices: inside too, v = w x r, up to the chord between two frames."""
    mesh, rate = ball(), 0.5
    turned = np.stack([mesh.vertices @ rotation_matrix([0.0, 0.0, rate * n / 24.0]).T for n in range(3)])
    emitter = Emitter("e", mesh, "snow", motion=Motion(np.array([1.0, 2.0, 3.0]), vertices=turned))
    batch = only(emitter)
    expected = rate * np.stack([-batch.points.position[:, 1], batch.points.position[:, 0], 0.0 * batch.points.position[:, 0]], axis=1)
    assert np.abs(batch.points.velocity - expected).max() < 0.02 * rate * 0.2
    assert np.abs(batch.points.velocity_gradient[0].reshape(3, 3) - [[0, -rate, 0], [rate, 0, 0], [0, 0, 0]]).max() < 0.02 * rate


def test_vertices_are_interpolated_between_frames() -> None:
    """The mesh of the moment: half way, a ball that grows from 0.2 to 0.4 m has 0.3 m; its matter moves outward with it."""
    mesh = ball()
    motion = Motion(np.array([1.0, 5.0]), vertices=np.stack([mesh.vertices, 2.0 * mesh.vertices]))
    batch = only(Emitter("e", mesh, "snow", motion=motion, frame_start=3), 3)
    assert batch.points.volume.sum() == pytest.approx(mesh.volume() * 1.5**3, rel=1e-9)
    assert 0.27 < np.linalg.norm(batch.points.position, axis=1).max() < 0.3
    assert np.abs(batch.points.velocity - batch.points.position / 0.3 * 0.2 * 24 / 4).max() < 1e-6


def test_points_move_with_their_pose() -> None:
    points = Points(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), velocity=np.array([[1.0, 0.0, 0.0]] * 2), volume=np.full(2, 1e-4))
    quarter = np.eye(4)
    quarter[:3, :3] = rotation_matrix([0.0, 0.0, np.pi / 2])
    batch = only(Emitter("e", points, "snow", motion=Motion(np.array([1.0]), matrices=quarter[None])))
    assert np.allclose(batch.points.position, [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]) and np.allclose(batch.points.velocity, [0.0, 1.0, 0.0])


@pytest.mark.parametrize("shape", [Sphere(radius=0.2), ball(32)], ids=["sphere", "mesh"])
def test_normals_point_away_from_the_nearest_surface(shape: Any) -> None:
    batch = only(Emitter("e", shape, "snow", normal_velocity=2.0, **LATTICE))
    away = np.linalg.norm(batch.points.position, axis=1)
    inner = (away > 0.08) & (away < 0.17)
    expected = batch.points.position / away[:, None]
    assert np.abs(batch.points.velocity - 2.0 * expected)[away > 0.02].max() < (0.3 if isinstance(shape, Mesh) else 1e-9)
    # grad n = (I - n n) / r
    gradient = batch.points.velocity_gradient.reshape(-1, 3, 3)[inner]
    exact = 2.0 * (np.eye(3) - expected[inner, :, None] * expected[inner, None, :]) / away[inner, None, None]
    assert np.abs(gradient - exact).mean() < (0.12 if isinstance(shape, Mesh) else 0.06) * np.abs(exact).max()


def test_velocities_may_be_keyed() -> None:
    keys = {"velocity": np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0]]), "normal_velocity": np.array([0.0, 2.0])}
    animation = Animation(np.array([1.0, 5.0]), keys)
    batch = only(Emitter("e", Sphere(radius=0.2), "snow", frame_start=3, animation=animation), 3)
    assert (
        np.abs(
            batch.points.velocity - [2.0, 0.0, 0.0] - batch.points.position / np.linalg.norm(batch.points.position, axis=1)[:, None]
        ).max()
        < 1e-9
    )


@pytest.mark.parametrize("sampling", ["poisson", "lattice", "random"])
def test_a_layer_lies_just_under_a_closed_surface(sampling: str) -> None:
    batch = only(Emitter("e", Sphere(radius=0.2), "snow", source="surface", sampling=sampling))
    away = np.linalg.norm(batch.points.position, axis=1)
    assert away.max() < 0.2 and away.min() > 0.15
    assert batch.points.volume.sum() == pytest.approx(4 / 3 * np.pi * (0.2**3 - 0.15**3), rel=5e-3)
    assert len(away) == pytest.approx(batch.points.volume.sum() * 8 / H**3, rel=0.1)


def test_in_the_plane_a_layer_is_a_ring() -> None:
    batch = only(Emitter("e", ball(48), "snow", source="surface"), dimension=2)
    away = np.linalg.norm(batch.points.position, axis=1)
    assert away.max() < 0.2 and away.min() > 0.145 and not batch.points.position[:, 1].any()
    assert batch.points.volume.sum() == pytest.approx(np.pi * (0.2**2 - 0.15**2), rel=0.02)


def test_a_sheet_emits_from_both_sides_toward_its_front() -> None:
    batch = only(Emitter("e", sheet(), "snow", source="surface", normal_velocity=3.0))
    z = batch.points.position[:, 2]
    assert np.abs(z).max() < 0.5 * H and (z < -0.2 * H).any() and (z > 0.2 * H).any()
    # a rounded rim of half a cell all around
    assert batch.points.volume.sum() == pytest.approx(H * 1.0 + 4.0 * np.pi * (0.5 * H) ** 2 / 2, rel=5e-3)
    assert np.allclose(batch.points.velocity, [0.0, 0.0, 3.0])
    with pytest.raises(SceneError, match="has no volume"):
        only(Emitter("e", sheet(), "snow"))


def test_points_have_no_normals() -> None:
    with pytest.raises(SceneError, match=r'^Emitter "e": points have no surface with normals'):
        Emitter("e", Points(np.zeros((1, 3))), "snow", normal_velocity=1.0)
