"""Fixed colliders that touch act as one: distances, normals and cover at nodes, against those of one collider."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core.contact.coverage import COVER_REACH
from mpm_addon.core.contact.obstacle import Field, Floats, Obstacle, field_of
from mpm_addon.core.contact.union import join_solids
from mpm_addon.core.geometry.shapes.plane import Plane
from mpm_addon.core.scene.description import Collider
from tests.core.scenes import box, box_mesh, material, scene

H = 0.05


def obstacles(*shapes: Any) -> list[Obstacle]:
    own = scene(materials=(material("water"),), colliders=tuple(Collider(f"c{n}", shape) for n, shape in enumerate(shapes)), grid_spacing=H)
    return [Obstacle(collider, own) for collider in own.colliders]


def joined(shapes: list[Any], number: int, nodes: Floats) -> Field:
    """The joined field of one of several shapes at nodes (n, 3) [m], in one row."""
    found = obstacles(*shapes)
    distance, normal = found[number].distance(nodes)
    field = field_of(number, np.zeros(1, np.int64), distance[None].copy(), normal[None].copy(), np.zeros((0, len(nodes), 3)))
    join_solids(field, number, found, nodes[None], H)
    return field


def grid(low: tuple[int, int, int], high: tuple[int, int, int]) -> Floats:
    """Nodes between two corners [cells], moved a little, in [m]."""
    axes = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
    return (np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3) + np.array([0.3, 0.2, 0.4])) * H


@pytest.mark.parametrize("floor", [Plane(point=(0, 0, 0), normal=(0, 0, 1)), box((0.0, 0.0, -2 * H), (20 * H, 20 * H, 4 * H))])
@pytest.mark.parametrize("make", [box, lambda center, size: box_mesh(size, center)])
def test_a_wall_on_a_floor_goes_on_below_it(floor: Any, make: Any) -> None:
    """As far as material reaches, like one whose lower end is far below."""
    nodes = grid((-4, -2, -2), (3, 2, 1))
    wall, deep = make((-2 * H, 0.0, 3 * H), (4 * H, 16 * H, 6 * H)), box((-2 * H, 0.0, 0.0), (4 * H, 16 * H, 12 * H))
    field = joined([floor, wall], 1, nodes)
    distance, normal = obstacles(deep)[0].distance(nodes)
    is_near = (np.abs(distance) < 1.5 * H) & (nodes[:, 2] > -1.8 * H)
    assert is_near.sum() > 20
    assert field.distance[0, is_near] == pytest.approx(distance[is_near], abs=1e-9)
    assert field.normal[0, is_near] == pytest.approx(normal[is_near], abs=1e-9)


@pytest.mark.parametrize("place", [0.0, 0.5, -0.3])
def test_floors_side_by_side_cover_what_one_does(place: float) -> None:
    nodes = grid((-4, -2, -2), (3, 2, 2))
    shapes = [box(((place - 5) * H, 0.0, -2 * H), (10 * H, 20 * H, 4 * H)), box(((place + 5) * H, 0.0, -2 * H), (10 * H, 20 * H, 4 * H))]
    fields = [joined(shapes, number, nodes) for number in range(2)]
    height = nodes[:, 2]
    is_open = height > 0.0
    seen = np.array([np.where(field.is_hidden[0], np.inf, field.distance[0]) for field in fields])
    assert seen[:, is_open].min(axis=0) == pytest.approx(height[is_open])
    # the other is hidden, or it would cover part of the same space
    assert (seen[:, is_open].max(axis=0) > COVER_REACH * H).all()
    below = np.array([field.distance[0] for field in fields])[:, ~is_open].min(axis=0)
    assert below == pytest.approx(height[~is_open], abs=1e-9)


def test_colliders_apart_stay_as_they_are() -> None:
    """A gap of half a cell is a gap."""
    nodes = grid((-4, -4, -4), (4, 4, 4))
    shapes = [box((-2.25 * H, 0.0, 0.0), (4 * H, 4 * H, 4 * H)), box((2.25 * H, 0.0, 0.0), (4 * H, 4 * H, 4 * H))]
    field = joined(shapes, 0, nodes)
    distance, normal = obstacles(shapes[0])[0].distance(nodes)
    assert np.array_equal(field.distance[0], distance) and np.array_equal(field.normal[0], normal)
    assert not field.is_hidden.any()


def test_the_normal_midway_between_two_sides_is_that_of_one() -> None:
    """Sampled distances have a ridge there, between two samples that say the same."""
    wall = Collider("wall", box_mesh((2 * H, 12 * H, 12 * H), (0.25 * H, 0.0, 0.0)), dynamic=True)
    obstacle = Obstacle(wall, scene(materials=(material("water"),), colliders=(wall,), grid_spacing=H))
    nodes = np.column_stack([np.zeros(9), np.arange(-4, 5) * H, np.full(9, 0.3 * H)])
    assert np.abs(obstacle.distance(nodes)[1][:, 0]) == pytest.approx(1.0, abs=1e-3)


def test_where_colliders_rest_on_each_other_few_distances_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Around a node in the seam, everything is inside one or the other."""
    nodes = grid((-12, -12, -3), (12, 12, 3))
    shapes = [box((0.0, 0.0, -5 * H), (30 * H, 30 * H, 10 * H)), box((0.0, 0.0, 5 * H), (30 * H, 30 * H, 10 * H))]
    measured = []
    own = Obstacle.distance

    def distance(self: Obstacle, points: Floats, **options: bool) -> tuple[Floats, Floats]:
        measured.append(len(points))
        return own(self, points, **options)

    monkeypatch.setattr(Obstacle, "distance", distance)
    field = joined(shapes, 1, nodes)
    assert (field.distance[0] <= 0.0).sum() > 0.4 * len(nodes)
    assert sum(measured) < 20 * len(nodes)
