"""What quick effects let particles fall on: the ground that a scene shows, or a floor of their own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.building import quick
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.blender.reading.simulated_objects import meters
from mpm_addon.core.errors import MpmError
from tests.blender.building.test_add_menu import heights, select
from tests.blender.reading.test_surfaces import instancing_nodes
from tests.blender.scenes import CORNERS, add_mesh, error_of


def test_a_floor_is_added_only_if_particles_would_fall_forever(bpy: Any) -> None:
    cube = add_mesh(bpy, "Cube")
    table = add_mesh(bpy, "Table")
    table.mpm.type, table.location = "collider", (0.0, 0.0, -2.0)
    select(bpy, cube)
    bpy.ops.mpm.quick()
    assert "Floor" not in bpy.context.scene.objects


def test_an_object_beside_the_floor_gets_one_of_its_own(bpy: Any) -> None:
    first, second = add_mesh(bpy, "First"), add_mesh(bpy, "Second")
    first.location, second.location = (0.0, 0.0, 0.8), (9.0, 0.0, 0.8)
    for item in (first, second, first):
        select(bpy, item)
        bpy.ops.mpm.quick(particle_count=1000)
    floors = [item for item in bpy.context.scene.objects if item.mpm.type == "collider"]
    assert [tuple(floor.location)[:2] for floor in floors] == [(0.0, 0.0), (9.0, 0.0)]
    assert [heights(floor)[1] for floor in floors] == pytest.approx([0.0, 0.0])


@pytest.mark.blender
@pytest.mark.parametrize("keeps_mesh", [False, True])
def test_what_nodes_instance_is_emitted_and_is_ground(bpy: Any, keeps_mesh: bool) -> None:
    """Cubes on the corners of a cube, which itself may be left out."""
    for name, height in (("Upper", 5.0), ("Lower", 2.0)):
        item = add_mesh(bpy, name)
        item.modifiers.new("Nodes", "NODES").node_group = instancing_nodes(bpy, keeps_mesh=keeps_mesh)
        item.location = (0.0, 0.0, height)
    select(bpy, item := bpy.data.objects["Upper"])
    bpy.ops.mpm.quick(particle_count=1000)
    assert item.mpm.type == "emitter"
    (emitter,) = extract_scene(bpy.context).emitters
    assert bpy.context.scene.mpm.solver.grid_spacing == pytest.approx(quick.fitting_cell([emitter.shape], 1000), rel=1e-3)
    assert bpy.data.objects["Lower"].mpm.type == "collider"


def extent(item: Any) -> list[float]:
    """The lowest and highest x, then y, of an object, from its own transform."""
    return [
        item.location[axis] + item.scale[axis] * limit(vertex.co[axis] for vertex in item.data.vertices)
        for axis in (0, 1)
        for limit in (min, max)
    ]


def add_first_effect(bpy: Any) -> Any:
    """The floor of an effect with a cube."""
    cube = add_mesh(bpy, "First")
    cube.location = (0.0, 0.0, 0.8)
    select(bpy, cube)
    bpy.ops.mpm.quick(particle_count=1000)
    return bpy.context.scene.objects["Floor"]


def test_a_floor_of_an_earlier_effect_is_widened_for_what_stands_over_its_edge(bpy: Any) -> None:
    floor = add_first_effect(bpy)
    second, third, before = add_mesh(bpy, "Second"), add_mesh(bpy, "Third"), extent(floor)
    # half over its edge
    second.location, third.location = (before[1], 0.0, 0.8), (0.0, 0.0, 3.0)
    select(bpy, second)
    _, told = quick.quick_emitters(bpy.context, "jelly", 1000)
    assert 'Object "Floor" is wider now, because an object stands over its edge' in list(map(in_blender, told))
    after = extent(floor)
    assert after[0] == pytest.approx(before[0]) and after[1] > second.location[0] + 1.0
    assert after[2:] == pytest.approx(before[2:])
    assert heights(floor)[1] == pytest.approx(0.0)
    # no other floor, and none is wider without need
    select(bpy, third)
    bpy.context.view_layer.update()
    bpy.ops.mpm.quick(particle_count=1000)
    assert [item.name for item in bpy.context.scene.objects if item.mpm.type == "collider"] == ["Floor"]
    assert extent(floor) == pytest.approx(after)


def test_a_floor_that_the_artist_has_changed_stays_as_it_is(bpy: Any) -> None:
    floor, second = add_first_effect(bpy), add_mesh(bpy, "Second")
    floor.location[0] += 0.25
    bpy.context.view_layer.update()
    before = extent(floor)
    second.location = (before[1], 0.0, 0.8)
    select(bpy, second)
    bpy.ops.mpm.quick(particle_count=1000)
    assert extent(floor) == pytest.approx(before)


def test_an_effect_that_fails_widens_no_floor(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    floor, second = add_first_effect(bpy), add_mesh(bpy, "Second")
    before = extent(floor)
    second.location = (before[1], 0.0, 0.8)
    select(bpy, second)

    def fail(_scene: Any) -> Any:
        raise MpmError("no")

    monkeypatch.setattr(quick, "scaled_gravity", fail)
    assert "no" in error_of(lambda: bpy.ops.mpm.quick(particle_count=1000))
    assert extent(floor) == pytest.approx(before)


def test_too_many_particles_are_refused(bpy: Any) -> None:
    cube = add_mesh(bpy, "Cube")
    select(bpy, cube)
    said = error_of(lambda: bpy.ops.mpm.quick(particle_count=100_000_001))
    assert "Quick MPM: 100,000,001 particles are too many; use at most 100,000,000" in said
    assert cube.mpm.type == "none"


@pytest.mark.blender
def test_an_object_that_shows_its_instances_alone_is_emitted_without_its_own_mesh(bpy: Any) -> None:
    frame, child = add_mesh(bpy, "Frame"), add_mesh(bpy, "Child", np.array(CORNERS) * 0.1)
    child.parent, frame.instance_type, frame.show_instancer_for_viewport = frame, "VERTS", False
    select(bpy, frame)
    bpy.ops.mpm.quick(particle_count=1000)
    (emitter,) = extract_scene(bpy.context).emitters
    assert len(emitter.shape.vertices) == 64
    assert bpy.context.scene.mpm.solver.grid_spacing == pytest.approx(quick.fitting_cell([emitter.shape], 1000), rel=1e-3)


@pytest.mark.blender
def test_a_meadow_is_ground_without_its_grass(bpy: Any) -> None:
    """Thousands of instances would be read for nothing, and a level meadow would not be level."""
    cube, meadow = add_mesh(bpy, "Cube"), add_plane(bpy, 3.0, 0.0)
    cube.location = (0.0, 0.0, 3.0)
    meadow.modifiers.new("Nodes", "NODES").node_group = instancing_nodes(bpy, keeps_mesh=True)
    select(bpy, cube)
    bpy.ops.mpm.quick(particle_count=1000)
    assert meadow.mpm.type == "none"
    assert heights(bpy.data.objects["Floor"])[1] == pytest.approx(0.0, abs=1e-6)


def add_plane(bpy: Any, half: float, height: float) -> Any:
    corners = [(-half, -half, height), (half, -half, height), (half, half, height), (-half, half, height)]
    return add_mesh(bpy, "Ground", corners, [(0, 1, 2, 3)])


def test_a_plane_of_the_artist_stays_the_only_ground_that_is_rendered(bpy: Any) -> None:
    """A floor at the same height would flicker, and render black."""
    ground, cube = add_plane(bpy, 3.0, -2.0), add_mesh(bpy, "Cube")
    select(bpy, cube)
    _, told = quick.quick_emitters(bpy.context, "jelly", 1000)
    floor = bpy.context.scene.objects["Floor"]
    assert list(map(in_blender, told)) == ['Object "Ground": particles fall on a floor below its surface, which is hidden in renders']
    assert (ground.mpm.type, ground.hide_render, floor.mpm.type, floor.hide_render) == ("none", False, "collider", True)
    assert heights(floor)[1] == pytest.approx(-2.0)


@pytest.mark.parametrize("half", [0.6, 40.0])
def test_a_floor_below_a_plane_ends_with_it(bpy: Any, half: float) -> None:
    """Objects that are added later find it too, and what flows to the edge of the plane stays on it."""
    add_plane(bpy, half, -2.0)
    cube = add_mesh(bpy, "Cube")
    select(bpy, cube)
    quick.quick_emitters(bpy.context, "dry_sand", 1000)
    bounds = extract_scene(bpy.context).colliders[0].shape.bounds() * meters(bpy.context.scene)
    assert (bounds[1] - bounds[0])[:2] == pytest.approx((2.0 * half, 2.0 * half))


@pytest.mark.parametrize("corners", [4, 3, 40])
def test_a_floor_below_a_plane_has_its_outline(bpy: Any, corners: int) -> None:
    """Nothing stands in the air beside a plane that is turned, or round."""
    turns = [0.5 + 2.0 * math.pi * corner / corners for corner in range(corners)]
    add_mesh(bpy, "Ground", [(3.0 * math.cos(turn), 3.0 * math.sin(turn), -2.0) for turn in turns], [tuple(range(corners))])
    select(bpy, add_mesh(bpy, "Cube"))
    quick.quick_emitters(bpy.context, "dry_sand", 1000)
    shape, unit = extract_scene(bpy.context).colliders[0].shape, meters(bpy.context.scene)
    area = shape.volume() * unit**3 / float(np.ptp(shape.bounds()[:, 2]) * unit)
    assert area == pytest.approx(4.5 * corners * math.sin(2.0 * math.pi / corners), rel=1e-4)


@pytest.mark.parametrize("is_collider", [False, True])
def test_particles_fall_on_a_table_of_the_artist_and_from_it_on_the_ground(bpy: Any, is_collider: bool) -> None:
    """Also if the table was made a collider before; a second effect finds the same ground."""
    ground = add_plane(bpy, 9.0, -4.0)
    table, cube, second = add_mesh(bpy, "Table"), add_mesh(bpy, "Cube"), add_mesh(bpy, "Second")
    table.location = (0.2, 0.0, -2.0)
    second.location = (0.0, 0.0, 2.0)
    if is_collider:
        select(bpy, table)
        bpy.ops.mpm.quick_collider()
    select(bpy, cube)
    _, told = quick.quick_emitters(bpy.context, "jelly", 1000)
    of_table = ['Object "Table" is a collider now, because particles fall on it']
    of_ground = ['Object "Ground": particles fall on a floor below its surface, which is hidden in renders']
    assert list(map(in_blender, told)) == (of_ground if is_collider else of_table + of_ground)
    assert (table.mpm.type, table.hide_render, ground.mpm.type) == ("collider", False, "none")
    assert heights(bpy.context.scene.objects["Floor"])[1] == pytest.approx(-4.0)
    select(bpy, second)
    assert quick.quick_emitters(bpy.context, "water", 1000)[1] == []
    assert len([item for item in bpy.context.scene.objects if item.mpm.type == "collider"]) == 2


def test_all_that_is_below_an_object_is_its_ground_but_not_a_wall_beside_it(bpy: Any) -> None:
    """A plank above two pillars, and a wall at its end that reaches from below it to above it."""
    wide = np.multiply(CORNERS, (4.0, 1.0, 0.2))
    plank, wall = add_mesh(bpy, "Plank", wide), add_mesh(bpy, "Wall", np.multiply(CORNERS, (1.0, 1.0, 5.0)))
    pillars = [add_mesh(bpy, f"Pillar {number}") for number in range(2)]
    for pillar, x in zip(pillars, (-1.4, 1.4), strict=True):
        pillar.location = (x, 0.0, -1.0)
    wall.location = (2.2, 0.0, 0.0)
    add_plane(bpy, 9.0, -1.5)
    select(bpy, plank)
    quick.quick_emitters(bpy.context, "wood", 1000)
    assert [pillar.mpm.type for pillar in pillars] == ["collider", "collider"]
    assert wall.mpm.type == "none"
    assert heights(bpy.context.scene.objects["Floor"])[1] == pytest.approx(-1.5)
    assert len([item for item in bpy.context.scene.objects if item.mpm.type == "collider"]) == 3


def test_what_falls_through_a_hole_in_a_collider_falls_on_the_ground(bpy: Any) -> None:
    add_plane(bpy, 9.0, -4.0)
    funnel, cube = add_mesh(bpy, "Funnel", *frame()), add_mesh(bpy, "Cube")
    funnel.mpm.type, funnel.location = "collider", (0.0, 0.0, -2.0)
    select(bpy, cube)
    quick.quick_emitters(bpy.context, "dry_sand", 1000)
    assert heights(bpy.context.scene.objects["Floor"])[1] == pytest.approx(-4.0)


def frame() -> tuple[list[tuple[float, float, float]], list[tuple[int, ...]]]:
    """Vertices and faces of a level square sheet with a square hole."""
    corners = [(half * x, half * y, 0.0) for half in (1.0, 0.3) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return corners, [(each, (each + 1) % 4, 4 + (each + 1) % 4, 4 + each) for each in range(4)]


@pytest.mark.parametrize("change", ["hidden", "beside", "above"])
def test_what_nothing_falls_on_is_no_ground(bpy: Any, change: str) -> None:
    ground, cube = add_plane(bpy, 3.0, 2.0 if change == "above" else -2.0), add_mesh(bpy, "Cube")
    ground.hide_render = change == "hidden"
    cube.location = (9.0 if change == "beside" else 0.0, 0.0, 0.0)
    select(bpy, cube)
    assert quick.quick_emitters(bpy.context, "jelly", 1000)[1] == []
    assert not bpy.context.scene.objects["Floor"].hide_render


def test_what_hangs_above_an_object_is_no_ground(bpy: Any) -> None:
    cube, lamp = add_mesh(bpy, "Cube"), add_mesh(bpy, "Lamp")
    lamp.mpm.type, lamp.location = "collider", (0.0, 0.0, 3.0)
    select(bpy, cube)
    bpy.ops.mpm.quick()
    assert "Floor" in bpy.context.scene.objects


@pytest.mark.parametrize("width", [0.5, 1.1, 1.4])
def test_what_stands_in_an_object_is_no_ground(bpy: Any, width: float) -> None:
    """A disk in the lowest tenth of a vase is its content, also if it reaches into the sides; if it is wider, the vase stands on it."""
    vase, disk = add_mesh(bpy, "Vase"), add_mesh(bpy, "Disk", np.multiply(CORNERS, (width, width, 0.06)))
    low = heights(vase)[0]
    disk.location = (0.0, 0.0, low + 0.05)
    select(bpy, vase)
    bpy.ops.mpm.quick(material="ceramic")
    assert [item.name for item in bpy.context.scene.objects if item.mpm.type == "collider"] == (["Floor"] if width < 1.2 else ["Disk"])
