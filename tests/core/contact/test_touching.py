"""Contacts of a rigid body with another surface are found up to the margin, and what is farther away is not looked at."""

import numpy as np
import pytest

from mpm_addon.core.contact.obstacle import Obstacle
from mpm_addon.core.contact.rigid_surfaces import RigidSurface, touching
from mpm_addon.core.geometry.rotation import euler_matrix
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider, Scene
from mpm_addon.core.scene.settings import Solver

EDGE, MARGIN = 0.4, 0.02
FLOORS = {
    "plane": SHAPES["plane"](),
    "box": SHAPES["box"](center=(0.0, 0.0, -0.5), size=(2.0, 2.0, 1.0)),
}


def over_a_floor(kind: str, dimension: int, turn: float, gap: float) -> tuple[RigidSurface, RigidSurface]:
    """A box turned about y [degrees], with its lowest corner at this height above a floor [m], and the floor."""
    scene = Scene("touching", Solver(grid_spacing=0.1, dimension=dimension), {}, ())
    box = Collider("box", SHAPES["box"](size=(EDGE, EDGE, EDGE)), dynamic=True)
    body, floor = (RigidSurface(Obstacle(each, scene), scene) for each in (box, Collider("floor", FLOORS[kind])))
    pose = np.eye(4)
    pose[:3, :3] = euler_matrix((0.0, turn, 0.0))
    pose[2, 3] = gap + 0.5 * EDGE * float(np.abs(pose[2, [0, 2]]).sum())
    assert isinstance(body.obstacle, Obstacle)
    body.obstacle.place(pose, np.zeros(3), np.zeros(3))
    return body, floor


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("kind", list(FLOORS))
# on a corner, the ball around the box is as near as the box itself
@pytest.mark.parametrize("turn", [0.0, 30.0, 45.0])
def test_contacts_are_found_up_to_the_margin(dimension: int, kind: str, turn: float) -> None:
    for gap in (0.0, 0.5 * MARGIN, 0.999 * MARGIN):
        points, normals, gaps = touching(*over_a_floor(kind, dimension, turn, gap), MARGIN)
        assert gaps.min() == pytest.approx(gap, abs=1e-9)
        assert points[gaps.argmin(), 2] == pytest.approx(gap, abs=1e-9)
        assert normals[gaps.argmin()] == pytest.approx([0.0, 0.0, 1.0])
    for gap in (1.001 * MARGIN, 2.0 * MARGIN, 1.0):
        assert not len(touching(*over_a_floor(kind, dimension, turn, gap), MARGIN)[2])


@pytest.mark.parametrize("kind", list(FLOORS))
def test_points_are_not_looked_at_while_a_body_is_far_away(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    near = RigidSurface.near
    monkeypatch.setattr(RigidSurface, "near", lambda *arguments: (looked.append(1), near(*arguments))[1])
    touching(*over_a_floor(kind, 2, 30.0, 0.2), MARGIN)
    assert not looked
    touching(*over_a_floor(kind, 2, 30.0, 0.5 * MARGIN), MARGIN)
    assert len(looked) == 2
