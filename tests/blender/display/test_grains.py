"""The grains that each particle is rendered as: their places, sizes and motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender import display
from mpm_addon.blender.display import grains, tree
from mpm_addon.blender.display.points import SPHERE_RADIUS
from mpm_addon.blender.playback import packing, particle_objects
from tests.blender.displayed import EDGE, SAND, block, particles_at, show_as_rendered, use

pytestmark = pytest.mark.blender

SIDE, COUNT = 6, 12
SNOW = display.Look("Snow", (0.86, 0.9, 0.95, 1.0), law="snow", material="snow", spacing=2.0 * EDGE)


@pytest.fixture
def sand(bpy: Any) -> Any:
    """A block of particles with several grains each, also in the viewport."""
    item = block(bpy, SIDE)
    display.dress(item, [SAND])
    use(item, "grains")
    shown, _ = sorted(nodes(item), key=lambda node: node.inputs[grains.COUNT].is_linked)
    shown.inputs[grains.COUNT].default_value = COUNT
    return item


def nodes(item: Any) -> list[Any]:
    """The nodes that make grains, one for each side."""
    group: Any = display.modifier_of(item)
    found = [node for node in group.node_group.nodes if getattr(node, "node_tree", None) is not None and node.node_tree.name == grains.NAME]
    assert len(found) == 2
    return found


def matrices(bpy: Any) -> Any:
    """The transforms of all grains, shape (n, 4, 4), in the order of their particles."""
    instances = bpy.context.evaluated_depsgraph_get().object_instances
    return np.array([np.array(each.matrix_world) for each in instances if each.is_instance])


def sizes(bpy: Any) -> Any:
    return np.cbrt(np.linalg.det(matrices(bpy)[:, :3, :3]))


def particles_of(item: Any) -> Any:
    return np.array([vertex.co for vertex in item.data.vertices])


AFFORDABLE = [(0, 1e6, 1e6, 50), (0, 4000, 1e6, 18), (0, 10, 1e6, 10), (0, 10, 2000, 9), (0, 10, 10, 1), (7, 10, 10, 7)]


@pytest.mark.parametrize(("chosen", "of_small", "affordable", "expected"), AFFORDABLE)
def test_renders_show_as_many_grains_as_chosen_or_as_an_emitter_can_afford(
    bpy: Any, monkeypatch: pytest.MonkeyPatch, chosen: int, of_small: float, affordable: float, expected: int
) -> None:
    monkeypatch.setattr(tree, "_GRAINS_OF_SMALL", of_small)
    monkeypatch.setattr(tree, "_ALL_GRAINS", affordable)
    item = block(bpy, SIDE)
    display.dress(item, [SAND])
    use(item, "grains")
    shown, rendered = sorted(nodes(item), key=lambda node: node.inputs[grains.COUNT].is_linked)
    assert (shown.inputs[grains.COUNT].is_linked, shown.inputs[grains.COUNT].default_value) == (False, 1)
    display.modifier_of(item).node_group.links.new(rendered.inputs[grains.COUNT].links[0].from_socket, shown.inputs[grains.COUNT])
    display.set_input(display.modifier_of(item), tree.COUNT, chosen)
    assert len(matrices(bpy)) == expected * SIDE**3


def test_the_viewport_shows_one_grain_at_each_particle(bpy: Any) -> None:
    item = block(bpy, SIDE)
    display.dress(item, [SAND])
    use(item, "grains")
    assert len(matrices(bpy)) == SIDE**3
    np.testing.assert_allclose(matrices(bpy)[:, :3, 3], particles_of(item), atol=1e-6)


def test_grains_lie_around_their_particle_and_overlap_those_of_its_neighbors(bpy: Any, sand: Any) -> None:
    places = matrices(bpy)[:, :3, 3]
    assert len(places) == COUNT * SIDE**3
    assert len(np.unique(places.round(7), axis=0)) == len(places)
    offsets = (places - np.repeat(particles_of(sand), COUNT, axis=0)) / EDGE
    reach = 1.4 * (1.0 - COUNT ** (-1.0 / 3.0))
    assert np.abs(offsets).max() < reach
    # a triangular distribution, with about the spread of grains that would fill the particle's cube
    np.testing.assert_allclose(offsets.std(axis=0), reach / np.sqrt(6.0), rtol=0.05)
    np.testing.assert_allclose(offsets.std(axis=0), 1.0 / np.sqrt(12.0), rtol=0.2)
    np.testing.assert_allclose(offsets.mean(axis=0), 0.0, atol=0.02)


@pytest.mark.parametrize(("apart", "looseness"), [(0.8, 1.0), (2.5, 2.5), (50.0, 4.0)])
def test_grains_of_loose_particles_fill_the_distance_between_them(bpy: Any, sand: Any, apart: float, looseness: float) -> None:
    """Snow that bursts: particles keep their size, and get farther and farther from each other."""
    packed = (matrices(bpy)[:, :3, 3] - np.repeat(particles_of(sand), COUNT, axis=0)).std()
    sizes_before = sizes(bpy)
    sand.data.attributes["position"].data.foreach_set("vector", (apart * particles_of(sand)).astype(np.float32).ravel())
    sand.data.update_tag()
    spread = (matrices(bpy)[:, :3, 3] - np.repeat(particles_of(sand), COUNT, axis=0)).std()
    assert spread == pytest.approx(looseness * packed, rel=1e-3)
    np.testing.assert_allclose(sizes(bpy), sizes_before, rtol=1e-4)


@pytest.mark.parametrize(("full", "looseness"), [(0.4, 1.3572), (0.125, 2.0), (1.2, 1.0)])
def test_grains_of_a_cloud_fill_the_mean_distance_even_where_two_particles_are_near(
    bpy: Any, sand: Any, full: float, looseness: float
) -> None:
    """Particles that fill a share f of the space are f^(-1/3) edges apart; pairs of them would show as crumbs."""
    centers = np.repeat(particles_of(sand), COUNT, axis=0)
    packed = (matrices(bpy)[:, :3, 3] - centers).std()
    values = np.full(SIDE**3, full, np.float32)
    sand.data.attributes.new(packing.FULLNESS, "FLOAT", "POINT").data.foreach_set("value", values)
    sand.data.update_tag()
    assert (matrices(bpy)[:, :3, 3] - centers).std() == pytest.approx(looseness * packed, rel=1e-3)


@pytest.mark.parametrize("variation", [0.0, 0.35, 1.0])
def test_sizes_follow_a_power_law_and_keep_the_volume(bpy: Any, sand: Any, variation: float) -> None:
    display.set_input(display.modifier_of(sand), display.VARIATION, variation)
    found = sizes(bpy)
    assert (found**3).sum() == pytest.approx(SIDE**3 * (SPHERE_RADIUS * EDGE) ** 3, rel=0.08)
    largest = 1.0 + 6.0 * variation
    assert found.max() / found.min() == pytest.approx(largest, rel=0.05)
    if variation:
        # the share of grains above the middle size, from the density r^-3.5
        middle = np.sqrt(found.min() * found.max())
        expected = (largest**-1.25 - largest**-2.5) / (1.0 - largest**-2.5)
        assert (found > middle).mean() == pytest.approx(expected, rel=0.15)


def test_grains_rotate_and_stretch_around_their_particle(bpy: Any, sand: Any) -> None:
    before = matrices(bpy)
    count = len(sand.data.vertices)
    half_turn, stretch = np.array([0.0, 0.0, 0.0, 1.0], np.float32), np.array([2.0, 1.0, 0.5], np.float32)
    for name, kind, values in (("rotation", "QUATERNION", half_turn), ("stretch", "FLOAT_VECTOR", stretch)):
        attribute = sand.data.attributes.get(name) or sand.data.attributes.new(name, kind, "POINT")
        attribute.data.foreach_set("value" if kind == "QUATERNION" else "vector", np.tile(values, (count, 1)).ravel())
    sand.data.update_tag()
    after = matrices(bpy)
    centers = np.repeat(particles_of(sand), COUNT, axis=0)
    deformed = np.diag([-2.0, -1.0, 0.5])
    np.testing.assert_allclose(after[:, :3, 3] - centers, (before[:, :3, 3] - centers) @ deformed.T, atol=1e-6)
    np.testing.assert_allclose(after[:, :3, :3], deformed @ before[:, :3, :3], atol=1e-6)


@pytest.mark.parametrize(
    ("material", "meters", "expected"), [("gravel", 1.0, 50), ("gravel", 0.2, 4), ("gravel", 0.05, 1), ("dry_sand", 0.05, 50)]
)
def test_stones_are_not_divided_into_smaller_ones(bpy: Any, material: str, meters: float, expected: int) -> None:
    """A particle of 2 cm is as large as (2 / 1.2)^3 = 4.6 stones of 1.2 cm, and sand of any size is many grains."""
    bpy.context.scene.unit_settings.scale_length = meters
    item = block(bpy, SIDE)
    display.dress(item, [SAND._replace(material=material)])
    use(item, "grains")
    shown, rendered = sorted(nodes(item), key=lambda node: node.inputs[grains.COUNT].is_linked)
    display.modifier_of(item).node_group.links.new(rendered.inputs[grains.COUNT].links[0].from_socket, shown.inputs[grains.COUNT])
    assert len(matrices(bpy)) == expected * SIDE**3


@pytest.fixture
def heap(bpy: Any) -> Any:
    """A packed block and two loose particles, as renders show them."""
    side = 9
    lattice = particles_of(block(bpy, side))
    loose = np.array([[3.0, 0.0, 0.0], [3.0, 0.0, 0.5]])
    position = np.concatenate([lattice, loose]).astype(np.float32)
    item = particles_at(bpy, position)
    display.dress(item, [SAND])
    sizes = np.full(len(position), EDGE, np.float32)
    particle_objects.fill(item.data, packing.with_fullness(item, {"position": position, "scale": sizes, **numbered(len(position))}), 1.0)
    show_as_rendered(item)
    return item


def numbered(count: int) -> dict[str, Any]:
    return {"id": np.arange(count, dtype=np.int32), "emitter_index": np.zeros(count, np.int32)}


def closed_surface(bpy: Any, item: Any) -> tuple[Any, Any]:
    """The vertices and triangles of the surface that an object shows; none if it shows none."""
    for each in bpy.context.evaluated_depsgraph_get().object_instances:
        mesh = each.object.data
        if each.object.original == item and not each.is_instance and each.object.type == "MESH" and len(mesh.polygons):
            mesh.calc_loop_triangles()
            return np.array([v.co for v in mesh.vertices]), np.array([t.vertices[:] for t in mesh.loop_triangles])
    return np.empty((0, 3)), np.empty((0, 3), int)


def test_packed_grains_have_a_closed_surface_with_their_volume_on_which_the_outermost_lie(bpy: Any, heap: Any) -> None:
    vertices, triangles = closed_surface(bpy, heap)
    first, second, third = (vertices[triangles[:, corner]] for corner in range(3))
    volume = np.einsum("ij,ij->i", first, np.cross(second, third)).sum() / 6.0
    # 9^3 shares of a cube of the edge; edges are rounded off
    assert volume == pytest.approx((9 * EDGE) ** 3, rel=0.12)
    edges = np.sort(np.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])]), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    places = matrices(bpy)[:, :3, 3]
    on_heap = places[places[:, 0] < 2.0]
    nearest = np.sqrt(((on_heap[::40, None, :] - vertices[None]) ** 2).sum(axis=2).min(axis=1))
    # vertices are half an edge apart
    assert nearest.max() < 0.5 * EDGE
    assert 0 < len(on_heap) < 0.9 * 50 * 9**3


def test_loose_grains_have_their_volume_beside_a_surface(bpy: Any, heap: Any) -> None:
    found = matrices(bpy)
    loose = found[found[:, 0, 3] > 2.0]
    assert len(loose) == 2 * 50
    assert (np.cbrt(np.linalg.det(loose[:, :3, :3])) ** 3).sum() == pytest.approx(2 * (SPHERE_RADIUS * EDGE) ** 3, rel=0.3)


def test_packed_grains_can_do_without_a_surface(bpy: Any, heap: Any) -> None:
    display.set_input(display.modifier_of(heap), tree.PACKED, False)
    assert len(closed_surface(bpy, heap)[0]) == 0
    assert len(matrices(bpy)) == 50 * (9**3 + 2)


def test_each_particle_keeps_its_number_of_grains_while_a_heap_falls_apart(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is buried is not shown, but a number by what is shown would change from frame to frame."""
    monkeypatch.setattr(tree, "_GRAINS_OF_SMALL", 20.0 * 9**3)
    position = particles_of(block(bpy, 9)).astype(np.float32)
    item = particles_at(bpy, position)
    display.dress(item, [SAND])
    show_as_rendered(item)
    shown = []
    for stretched in (1.0, 3.0):
        arrays = {
            "position": position * np.float32(stretched),
            "scale": np.full(len(position), EDGE, np.float32),
            **numbered(len(position)),
        }
        particle_objects.fill(item.data, packing.with_fullness(item, arrays), 1.0)
        shown.append(len(matrices(bpy)))
    buried, all_of_them = shown
    assert all_of_them == 20 * 9**3
    assert buried % 20 == 0 and 0 < buried < all_of_them


def test_all_nodes_lead_to_the_result(bpy: Any, sand: Any) -> None:
    for group in (display.modifier_of(sand).node_group, bpy.data.node_groups[grains.NAME]):
        ends = [node.name for node in group.nodes if not any(output.is_linked for output in node.outputs)]
        assert ends == ["Group Output"]


def test_stones_are_not_closed_by_a_surface(bpy: Any) -> None:
    item = block(bpy, SIDE)
    display.dress(item, [SAND._replace(material="gravel")])
    sizes = np.full(SIDE**3, EDGE, np.float32)
    arrays = {"position": particles_of(item).astype(np.float32), "scale": sizes, **numbered(SIDE**3)}
    particle_objects.fill(item.data, packing.with_fullness(item, arrays), 1.0)
    show_as_rendered(item)
    assert len(closed_surface(bpy, item)[0]) == 0


def test_snow_of_grains_throws_back_most_of_the_light(bpy: Any, tmp_path: Path) -> None:
    """Light that is lost in its grains and between them made it as gray as felt: 0.43."""
    item = block(bpy, 8)
    display.dress(item, [SNOW])
    use(item, "grains")
    assert reflectance(bpy, tmp_path / "snow.exr") > 0.65


def reflectance(bpy: Any, path: Path) -> float:
    """The brightness of the middle of a block, seen from above, relative to the even light around it."""
    scene = bpy.context.scene
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 32, False
    scene.render.resolution_x = scene.render.resolution_y = 24
    scene.render.image_settings.file_format, scene.view_settings.view_transform = "OPEN_EXR", "Raw"
    scene.render.resolution_percentage = 100
    scene.world = scene.world or bpy.data.worlds.new("Sky")
    if bpy.app.version < (5, 0, 0):
        scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (1.0, 1.0, 1.0, 1.0)
    scene.world.node_tree.nodes["Background"].inputs["Strength"].default_value = 1.0
    camera = bpy.data.cameras.new("Above")
    camera.type, camera.ortho_scale = "ORTHO", 5.0 * EDGE
    scene.camera = bpy.data.objects.new("Above", camera)
    scene.collection.objects.link(scene.camera)
    scene.camera.location = (3.5 * EDGE, 3.5 * EDGE, 5.0)
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath)
    return float(np.reshape(image.pixels[:], (-1, 4))[:, :3].mean())
