"""The points that foam is rendered as."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.display import foam, set_input, swarm_look
from mpm_addon.blender.playback import attributes
from tests.blender.displayed import show_as_rendered

pytestmark = pytest.mark.blender

SIZE, APART, SIDE = 0.01, 1.0, 8


@pytest.fixture
def item(bpy: Any) -> Any:
    return floating(bpy)


def floating(bpy: Any) -> Any:
    """Foam that is far apart: spray, foam and bubbles in turn, of one size, with all of their life ahead."""
    mesh: Any = bpy.data.meshes.new("Foam")
    axis = np.arange(SIDE) * APART
    places = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3).astype(np.float32)
    mesh.vertices.add(len(places))
    arrays = {
        "position": places,
        "size": np.full(len(places), SIZE, np.float32),
        "life": np.ones(len(places), np.float32),
        "kind": np.arange(len(places), dtype=np.int32) % 3,
        "id": np.arange(len(places), dtype=np.int32),
    }
    for name, values in arrays.items():
        attributes.store(mesh, name, values, values.ravel())
    made = bpy.data.objects.new("Foam", mesh)
    bpy.context.scene.collection.objects.link(made)
    swarm_look.dress_foam(made)
    return made


def points_of(bpy: Any) -> tuple[Any, Any, Any]:
    """Places (n, 3), radii and kinds of the points."""
    instances = bpy.context.evaluated_depsgraph_get().object_instances
    (data,) = [each.object.data for each in instances if each.object.type == "POINTCLOUD"]
    position, radius = np.empty(3 * len(data.points), np.float32), np.empty(len(data.points), np.float32)
    data.attributes["position"].data.foreach_get("vector", position)
    data.attributes["radius"].data.foreach_get("value", radius)
    kind = np.empty(len(data.points), np.int32)
    data.attributes["kind"].data.foreach_get("value", kind)
    return position.reshape(-1, 3), radius, kind


def test_the_viewport_shows_each_particle_as_it_is(bpy: Any, item: Any) -> None:
    _, radius, _ = points_of(bpy)
    np.testing.assert_allclose(radius, 0.5 * SIZE, rtol=1e-5)
    assert len(radius) == SIDE**3


def test_renders_show_small_ones_that_cover_twice_the_area_of_the_particle(bpy: Any, item: Any) -> None:
    show_as_rendered(item, item.modifiers[0])
    position, radius, kind = points_of(bpy)
    count = 12
    assert len(radius) == count * SIDE**3
    assert (radius**2).sum() == pytest.approx(2.0 * SIDE**3 * (0.5 * SIZE) ** 2, rel=0.05)
    assert radius.max() / radius.min() == pytest.approx(5.0, rel=0.05)
    away = position - APART * np.round(position / APART)
    assert np.abs(away).max() < 4.0 * SIZE
    for number in range(3):
        of_kind = away[kind == number]
        assert len(of_kind) > 1000
        wide, high = of_kind[:, 0].std(), of_kind[:, 2].std()
        assert wide > SIZE
        assert high / wide == pytest.approx(0.12 if number == 1 else 1.0, rel=0.1)


def test_one_each_stays_as_it_is(bpy: Any, item: Any) -> None:
    set_input(item.modifiers[0], foam.COUNT, 1)
    show_as_rendered(item, item.modifiers[0])
    position, radius, _ = points_of(bpy)
    np.testing.assert_allclose(radius, 0.5 * SIZE, rtol=1e-5)
    np.testing.assert_allclose(position, np.round(position / APART) * APART, atol=1e-6)


def test_all_small_ones_together_are_limited(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foam, "_MOST", 3.9 * SIDE**3)
    made = floating(bpy)
    show_as_rendered(made, made.modifiers[0])
    _, radius, _ = points_of(bpy)
    assert len(radius) == 3 * SIDE**3
