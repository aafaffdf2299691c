"""Points on the faces of large shapes: those near a box are those of the whole shape, and contacts do not depend on how they are made."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core.contact import rigid_surfaces
from mpm_addon.core.geometry.face_points import FacePoints
from mpm_addon.core.geometry.particle_surface import particle_surface
from mpm_addon.core.geometry.rotation import euler_matrix
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.geometry.shapes.box import CUBE, CUBE_TRIANGLES
from mpm_addon.core.scene.description import Collider
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import scene

TURNED = (0.5 * CUBE * [4.0, 2.0, 0.3]) @ euler_matrix((20.0, -35.0, 10.0)).T


def rows(points: np.ndarray) -> set[tuple[float, ...]]:
    return {tuple(row) for row in np.round(points, 9).tolist()}


@pytest.mark.parametrize("closest", [0.0, 0.025])
def test_those_in_a_box_are_those_of_the_whole_shape(closest: float) -> None:
    """Also at a corner, along an edge, in the middle of a face, and off the surface."""
    faces = FacePoints(TURNED, CUBE_TRIANGLES, 0.05, closest)
    # about the middle of the bounds, as of a part
    every = faces.within(TURNED.min(axis=0) - 1.0, TURNED.max(axis=0) + 1.0)
    whole = faces.all()
    # the mean of all points is not quite the middle of the bounds
    assert len(rows(every) ^ rows(whole)) <= (0.0 if closest == 0.0 else 0.05) * len(whole)
    assert len(whole) == pytest.approx(faces.count, rel=0.1) if closest == 0.0 else 0.4 * faces.count < len(whole) < faces.count
    for middle in (TURNED[0], 0.5 * (TURNED[0] + TURNED[4]), TURNED[:4].mean(axis=0), np.array([0.0, 0.0, 5.0])):
        low, high = middle - [0.3, 0.2, 0.25], middle - [-0.2, -0.3, -0.25]
        found = faces.within(low, high)
        expected = every[((every >= low) & (every <= high)).all(axis=1)]
        assert rows(expected) <= rows(found) <= rows(every)
        assert len(found) <= 2 * len(expected)


def falling() -> np.ndarray:
    """How a bar with rounded edges lies on a wall, thinner than the distance of the bar's points, after a fall."""
    place = np.stack(np.meshgrid(*(np.arange(count) for count in (12, 4, 3)), indexing="ij"), axis=-1).reshape(-1, 3) * 0.05
    surface = particle_surface(place - place.mean(axis=0) + [0.02, 0.0, 0.1], np.full(len(place), 0.05**3))
    bar = SHAPES["mesh"](vertices=surface.vertices, triangles=surface.triangles)
    wall = SHAPES["box"](center=(0.0, 0.0, -0.5), size=(0.01, 2.0, 1.0), rotation=(0.0, 0.0, 10.0))
    colliders = Collider("wall", wall, friction=0.3), Collider("bar", bar, dynamic=True)
    simulation = Simulation(scene(materials=(), colliders=colliders, frames=8))
    for _ in simulation.frames():
        pass
    return np.array(simulation.rigid_bodies[0].state())


def test_contacts_do_not_depend_on_how_points_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to rounding in their order. Negative control: without the points of the wall, the bar falls past its edge."""
    known = falling()
    monkeypatch.setattr(rigid_surfaces, "MOST_POINTS", 100)
    assert falling() == pytest.approx(known, abs=1e-9)
    monkeypatch.setattr(FacePoints, "within", lambda *_: np.zeros((0, 3)))
    assert falling()[2] < known[2] - 0.1


def test_points_that_are_kept_are_those_that_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit, so that a resumed bake, which has kept none, goes on in the same way."""
    monkeypatch.setattr(rigid_surfaces, "MOST_POINTS", 100)
    kept, near = falling(), rigid_surfaces.RigidSurface.near

    def forgetting(surface: rigid_surfaces.RigidSurface, *given: Any) -> Any:
        surface._found.clear()
        return near(surface, *given)

    monkeypatch.setattr(rigid_surfaces.RigidSurface, "near", forgetting)
    assert np.array_equal(falling(), kept)


def test_points_are_made_anew_only_where_a_body_has_come_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes much longer than a substep to find them: a crate in a glass of slivers made a bake eighteen times as long."""
    made, searched = [], []
    within, near = FacePoints.within, rigid_surfaces.RigidSurface.near
    monkeypatch.setattr(rigid_surfaces, "MOST_POINTS", 100)
    monkeypatch.setattr(FacePoints, "within", lambda *given: made.append(given) or within(*given))
    monkeypatch.setattr(rigid_surfaces.RigidSurface, "near", lambda *given: searched.append(given) or near(*given))
    falling()
    assert 0 < len(made) < 0.1 * len(searched)
