"""Skins of coarse meshes: they get additional vertices to bend, and look as before at rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.baking import shown_caches
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import particle_objects, skin_normals, skin_objects
from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.core.geometry.subdivision import Subdivision
from mpm_addon.core.particles import Moment
from mpm_addon.derived.settings import SkinSettings
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import Origin, derived_path, source_of
from mpm_addon.storage.skin_file import Skin, SkinPiece, write_skin
from mpm_addon.storage.take import SKIN
from tests.blender.scenes import CORNERS, FACES, add_mesh, write_cache
from tests.blender.skin_objects import edge_uses, use, vertices
from tests.derived.skins import Move, twisted, write_moves
from tests.derived.skins import particles as filling

blender = pytest.mark.blender
TURN = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
# Values of a place that are the same for all faces around it, and linear.
UV = np.array([[1.0, 0.0], [0.5, 0.25], [0.0, 1.0]])
COLOR = np.array([[0.3, 0.1, 0.0, 0.0], [0.0, 0.2, 0.3, 0.0], [0.1, 0.0, 0.2, 0.0]])
Dress = Callable[[Any], None]


def turned(x: np.ndarray) -> np.ndarray:
    return x @ TURN.T


def show(bpy: Any, folder: Path, item: Any, *moves: Move, cell: float | None = None) -> Any:
    """The object that shows an emitter and the particles around it, whose skin is made."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, len(moves)
    item.mpm.type = "emitter"
    scene.mpm.use_render_modifiers = False
    if cell is not None:
        scene.mpm.solver.grid_spacing = cell
    write_moves(folder, extract_scene(bpy.context), filling(20), *moves)
    scene.mpm.cache = str(folder)
    shown_caches.show_cache(scene)
    shown = particle_objects.result_objects(scene)[0]
    shown.mpm.display.parts[0].render = "mesh"
    assert bpy.ops.mpm.skin_make() == {"FINISHED"}
    scene.frame_set(1)
    return shown


def box(bpy: Any) -> Any:
    """A box of eight vertices with a texture, colors, a vertex group, two materials, a seam and a crease."""
    item = add_mesh(bpy, "Jelly")
    mesh = item.data
    corner = np.array([tuple(mesh.vertices[loop.vertex_index].co) for loop in mesh.loops])
    mesh.uv_layers.new(name="Mine").data.foreach_set("uv", (corner @ UV).astype(np.float32).ravel())
    place = np.array([tuple(vertex.co) for vertex in mesh.vertices])
    painted = mesh.color_attributes.new("Painted", "FLOAT_COLOR", "POINT")
    painted.data.foreach_set("color", (place @ COLOR + 0.5).astype(np.float32).ravel())
    group = item.vertex_groups.new(name="Top")
    for vertex in mesh.vertices:
        group.add([vertex.index], vertex.co.z + 0.5, "REPLACE")
    for name in ("Red", "Blue"):
        mesh.materials.append(bpy.data.materials.new(name))
    numbers = mesh.attributes.new("Number", "INT", "FACE")
    for polygon in mesh.polygons:
        polygon.material_index = int(polygon.center.x > 0.1)
        numbers.data[polygon.index].value = 10 + polygon.index
    mesh.edges[0].use_seam = True
    return item


def mesh_of(item: Any) -> Any:
    return item.mpm.display.parts[0].skin.data


def values(mesh: Any, name: str, domain: str, kind: str, width: int) -> np.ndarray:
    found = np.empty(width * len(getattr(mesh, domain)), np.float32)
    mesh.attributes[name].data.foreach_get(kind, found)
    return found.reshape(-1, width)


def places(mesh: Any) -> np.ndarray:
    return values(mesh, "position", "vertices", "vector", 3)


def corners(mesh: Any) -> np.ndarray:
    return places(mesh)[[loop.vertex_index for loop in mesh.loops]]


def normals(mesh: Any) -> np.ndarray:
    found = np.empty(3 * len(mesh.loops), np.float32)
    mesh.corner_normals.foreach_get("vector", found)
    return found.reshape(-1, 3)


def outward(mesh: Any) -> np.ndarray:
    """For each corner, the direction in which the face of the box points on which it is at rest."""
    found = np.zeros((len(mesh.loops), 3))
    place = corners(mesh)
    for polygon in mesh.polygons:
        loops = list(polygon.loop_indices)
        middle = place[loops].mean(axis=0)
        axis = int(np.abs(middle).argmax())
        found[loops, axis] = np.sign(middle[axis])
    return found


@blender
def test_a_box_bends_and_keeps_all_that_it_has(bpy: Any, tmp_path: Path) -> None:
    item = show(bpy, tmp_path / "cache", box(bpy), lambda x: x, twisted)
    mesh = mesh_of(item)
    assert not skin_objects.status(item)
    place = places(mesh).astype(np.float64)
    assert len(place) > 150
    np.testing.assert_allclose(np.abs(place).max(axis=1), 0.5, atol=1e-4)
    assert (edge_uses(mesh) == 2).all()
    np.testing.assert_allclose(values(mesh, "Mine", "loops", "vector", 2), corners(mesh) @ UV, atol=2e-4)
    np.testing.assert_allclose(values(mesh, "Painted", "vertices", "color", 4), place @ COLOR + 0.5, atol=2e-4)
    weights = [max((each.weight for each in vertex.groups), default=0.0) for vertex in mesh.vertices]
    np.testing.assert_allclose(weights, place[:, 2] + 0.5, atol=2e-4)
    assert [slot.material.name for slot in item.mpm.display.parts[0].skin.material_slots] == ["Red", "Blue"]
    for polygon in mesh.polygons:
        middle = place[list(polygon.vertices)].mean(axis=0)
        assert polygon.material_index == int(middle[0] > 0.4999)
        number = mesh.attributes["Number"].data[polygon.index].value - 10
        of_face = np.array(CORNERS)[list(FACES[number])].mean(axis=0)
        assert np.dot(of_face, middle) > 0.2499
    seam = np.array([[tuple(place[end]) for end in edge.vertices] for edge in mesh.edges if edge.use_seam])
    assert np.linalg.norm(seam[:, 0] - seam[:, 1], axis=1).sum() == pytest.approx(1.0, abs=1e-3)
    assert np.ptp(seam.reshape(-1, 3), axis=0).max() == pytest.approx(1.0, abs=1e-3)
    bpy.context.scene.frame_set(2)
    assert np.abs(places(mesh) - twisted(place)).max() < 0.01


def flat(item: Any) -> None:
    item.data.shade_flat()


def smooth(item: Any) -> None:
    item.data.shade_smooth()


def custom(item: Any) -> None:
    """Normals that no shading gives: those of a smooth box, turned."""
    item.data.shade_smooth()
    place = np.array([tuple(vertex.co) for vertex in item.data.vertices]) @ LEAN.T
    item.data.normals_split_custom_set_from_vertices((place / np.linalg.norm(place, axis=1, keepdims=True)).tolist())


LEAN = np.array([[0.9553365, -0.2955202, 0.0], [0.2955202, 0.9553365, 0.0], [0.0, 0.0, 1.0]])


@blender
@pytest.mark.parametrize(
    ("dress", "expected"),
    [(flat, lambda place, out: out), (smooth, lambda place, out: place), (custom, lambda place, out: place @ LEAN.T)],
    ids=["flat", "smooth", "custom normals"],
)
def test_it_is_shaded_as_before_and_the_shading_turns_with_it(bpy: Any, tmp_path: Path, dress: Dress, expected: Any) -> None:
    emitter = box(bpy)
    dress(emitter)
    item = show(bpy, tmp_path / "cache", emitter, lambda x: x, turned)
    mesh = mesh_of(item)
    wanted = expected(corners(mesh).astype(np.float64), outward(mesh))
    wanted = wanted / np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(normals(mesh), wanted, atol=1e-2)
    bpy.context.scene.frame_set(2)
    np.testing.assert_allclose(normals(mesh), wanted @ TURN.T, atol=1e-2)


@blender
@pytest.mark.parametrize("scale", [(1.0, 0.9, 0.6), (-1.0, 0.9, 0.6)], ids=["scaled", "mirrored"])
def test_normals_are_those_of_the_emitter_as_it_is_scaled(bpy: Any, tmp_path: Path, scale: tuple[float, float, float]) -> None:
    emitter = box(bpy)
    smooth(emitter)
    emitter.scale = scale
    bpy.context.view_layer.update()
    mesh = mesh_of(show(bpy, tmp_path / "cache", emitter, lambda x: x))
    wanted = corners(mesh) / np.square(scale)
    np.testing.assert_allclose(normals(mesh), wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-2)
    assert all(np.dot(polygon.normal, polygon.center) > 0.0 for polygon in mesh.polygons)


@blender
def test_sharp_edges_stay_sharp(bpy: Any, tmp_path: Path) -> None:
    """Of a smooth box whose edges are sharp around the face on top."""
    emitter = box(bpy)
    smooth(emitter)
    for edge in emitter.data.edges:
        edge.use_edge_sharp = all(emitter.data.vertices[end].co.z > 0.0 for end in edge.vertices)
    mesh = mesh_of(show(bpy, tmp_path / "cache", emitter, lambda x: x))
    place, out, found = corners(mesh), outward(mesh), normals(mesh)
    is_top = out[:, 2] > 0.5
    np.testing.assert_allclose(found[is_top], out[is_top], atol=5e-3)
    # below it, normals are those of the walls
    is_rim = ~is_top & (place[:, 2] > 0.4999)
    walls = place[is_rim] * [1.0, 1.0, 0.0]
    np.testing.assert_allclose(found[is_rim], walls / np.linalg.norm(walls, axis=1, keepdims=True), atol=5e-3)


def steepest(mesh: Any) -> float:
    """The largest angle between the normals at both ends of an edge within a face of a smooth box [degrees]."""
    found = normals(mesh)
    rows = np.array([list(polygon.loop_indices) for polygon in mesh.polygons])
    same = [(found[rows[:, first]] * found[rows[:, last]]).sum(axis=1) for first, last in ((0, 1), (1, 2), (2, 0))]
    return float(np.degrees(np.arccos(np.clip(np.min(same), -1.0, 1.0))))


@blender
@pytest.mark.parametrize("is_free", [True, False], ids=["Blender 4.5", "Blender 4.2"])
def test_smooth_faces_stay_smooth_where_they_are_sheared(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_free: bool) -> None:
    """Before Blender 4.5, normals are relative to edges, which shear turns apart."""
    is_free = is_free and bpy.app.version >= (4, 5, 0)
    if not is_free:
        monkeypatch.setattr(skin_normals, "_FREE", (9, 0, 0))
    emitter = box(bpy)
    smooth(emitter)
    mesh = mesh_of(show(bpy, tmp_path / "cache", emitter, lambda x: x, twisted))
    place = corners(mesh)
    np.testing.assert_allclose(normals(mesh), place / np.linalg.norm(place, axis=1, keepdims=True), atol=1e-2)
    assert steepest(mesh) < 15.0
    bpy.context.scene.frame_set(2)
    bent = normals(mesh)
    assert steepest(mesh) < (25.0 if is_free else 55.0)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    for number in (1, 2):
        bpy.context.scene.frame_set(number)
    mesh = mesh_of(particle_objects.result_objects(bpy.context.scene)[0])
    np.testing.assert_allclose(normals(mesh), bent, atol=1e-3)


@blender
def test_a_flat_face_bends_smoothly_between_sharp_edges(bpy: Any, tmp_path: Path) -> None:
    emitter = box(bpy)
    flat(emitter)
    item = show(bpy, tmp_path / "cache", emitter, lambda x: x, twisted)
    mesh = mesh_of(item)
    place, out = corners(mesh), outward(mesh)
    vertex = np.array([loop.vertex_index for loop in mesh.loops])
    bpy.context.scene.frame_set(2)
    found = normals(mesh)
    for axis in range(3):
        some = np.flatnonzero(out[:, axis] > 0.5)
        first = some[np.unique(vertex[some], return_index=True)[1]]
        at = np.searchsorted(vertex[first], vertex[some])
        # all faces around a vertex share their normal on one side of the box, and not with the next one
        np.testing.assert_allclose(found[some], found[first][at], atol=1e-3)
    is_rim = (np.abs(place) > 0.4999).sum(axis=1) > 1
    assert is_rim.any()
    assert len(np.unique(np.round(found[is_rim], 2), axis=0)) > 20


@blender
def test_the_faces_stay_and_what_is_painted_on_them_too(bpy: Any, tmp_path: Path) -> None:
    item = show(bpy, tmp_path / "cache", box(bpy), lambda x: x, twisted, turned)
    mesh = mesh_of(item)
    count = len(mesh.polygons), len(mesh.loops)
    mesh.color_attributes.new("Later", "FLOAT_COLOR", "CORNER")
    for number in (2, 3, 1):
        bpy.context.scene.frame_set(number)
        assert ((len(mesh.polygons), len(mesh.loops)), "Later" in mesh.color_attributes) == (count, True)
    bpy.context.scene.frame_set(2)
    bent = places(mesh).copy()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "file.blend"))
    item = particle_objects.result_objects(bpy.context.scene)[0]
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(2)
    mesh = mesh_of(item)
    assert ((len(mesh.polygons), len(mesh.loops)), "Later" in mesh.color_attributes) == (count, True)
    np.testing.assert_array_equal(places(mesh), bent)
    assert bpy.ops.mpm.skin_delete() == {"FINISHED"}
    assert [each.name for each in bpy.data.meshes if "Skin" in each.name] == []


@blender
def test_another_cell_size_subdivides_anew(bpy: Any, tmp_path: Path) -> None:
    emitter = box(bpy)
    counts = []
    for cell in (0.1, 0.3, 1.0, 0.1):
        item = show(bpy, tmp_path / f"{len(counts)}", emitter, lambda x: x, turned, cell=cell)
        assert not skin_objects.status(item)
        assert (edge_uses(mesh_of(item)) == 2).all()
        counts.append(len(places(mesh_of(item))))
        bpy.context.scene.frame_set(2)
        assert np.abs(places(mesh_of(item)) @ TURN).max() == pytest.approx(0.5, abs=1e-3)
    assert counts[0] > counts[1] > counts[2] == 8
    assert counts[3] == counts[0]


def prism(sides: int) -> tuple[list[Any], list[Any]]:
    """With a face of many corners at each end, one of them not convex."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    radius = 0.5 - 0.1 * (np.arange(sides) % 2)
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    walls = [(number, (number + 1) % sides, (number + 1) % sides + sides, number + sides) for number in range(sides)]
    points = [(x, y, height) for height in (-0.5, 0.5) for x, y in ring]
    return points, [*walls, tuple(range(sides))[::-1], tuple(range(sides, 2 * sides))]


def faulty() -> tuple[list[Any], list[Any]]:
    """A box with a fin, a face without an area, and a vertex on its own."""
    points = [*CORNERS, (0.0, 0.0, 1.5), (0.0, -0.5, -0.5), (3.0, 0.0, 0.0)]
    return points, [*FACES, (0, 1, 8), (0, 9, 4)]


@blender
@pytest.mark.parametrize("mesh", [prism(60), prism(5), faulty()], ids=["sixty corners", "five corners", "faults"])
@pytest.mark.parametrize("is_mirrored", [False, True])
def test_any_mesh_is_subdivided(bpy: Any, tmp_path: Path, mesh: Any, is_mirrored: bool) -> None:
    emitter = add_mesh(bpy, "Jelly", *mesh)
    emitter.data.edges.add(1)
    emitter.data.edges[len(emitter.data.edges) - 1].vertices = (0, len(mesh[0]) - 1)
    if is_mirrored:
        emitter.scale = (-1.0, 1.0, 1.0)
        bpy.context.view_layer.update()
    before = sum(polygon.area for polygon in emitter.data.polygons)
    item = show(bpy, tmp_path / "cache", emitter, lambda x: x, turned)
    found = mesh_of(item)
    assert not skin_objects.status(item)
    assert len(found.vertices) > len(mesh[0]) + 50
    assert not found.validate(verbose=True)
    bpy.context.scene.frame_set(2)
    bpy.context.scene.frame_set(1)
    assert sum(polygon.area for polygon in found.polygons) == pytest.approx(before, rel=1e-3)
    surface = [polygon for polygon in found.polygons if np.linalg.norm(polygon.center) < 0.72 and polygon.area > 1e-9]
    assert np.mean([np.dot(polygon.normal, polygon.center) > -0.01 for polygon in surface]) > 0.95


@blender
def test_text_is_subdivided(bpy: Any, tmp_path: Path) -> None:
    curve = bpy.data.curves.new("Jelly", "FONT")
    curve.body, curve.extrude, curve.align_x, curve.align_y = "ee", 0.2, "CENTER", "CENTER"
    item = bpy.data.objects.new("Jelly", curve)
    bpy.context.scene.collection.objects.link(item)
    bpy.context.view_layer.objects.active = item
    shown = show(bpy, tmp_path / "cache", item, lambda x: x, turned)
    assert not skin_objects.status(shown)
    own = mesh_of(shown)
    rest = places(own).copy()
    bpy.context.scene.frame_set(2)
    np.testing.assert_allclose(places(own), rest @ TURN.T, atol=1e-3)
    plain = shown.mpm.display.parts[0].skin.mpm.subdivided.plain
    assert len(own.vertices) > len(plain.vertices)
    bpy.context.scene.frame_set(1)
    assert sum(each.area for each in own.polygons) == pytest.approx(sum(each.area for each in plain.polygons), rel=1e-3)


@blender
def test_a_fine_mesh_keeps_its_faces(bpy: Any, tmp_path: Path) -> None:
    emitter = box(bpy)
    divided = emitter.modifiers.new("Subdivision", "SUBSURF")
    divided.subdivision_type, divided.levels = "SIMPLE", 4
    item = show(bpy, tmp_path / "cache", emitter, lambda x: x)
    mesh = mesh_of(item)
    assert {len(polygon.vertices) for polygon in mesh.polygons} == {4}
    assert len(mesh.polygons) == 6 * 16**2


def test_a_subdivided_skin_without_the_mesh_that_it_is_of_is_named(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(write_cache(tmp_path / "cache", {1: 6, 2: 6}))
    item = particle_objects.result_object(scene, str(tmp_path / "cache"))
    item.mpm.display.parts.add().name = "first"
    part = item.mpm.display.parts[0]
    part.skin = add_mesh(bpy, "first Skin")
    part.skin.parent = item
    use(item, render="mesh")
    cache = open_cache(tmp_path / "cache")
    position = np.concatenate([np.array(CORNERS, np.float32), np.zeros((1, 3), np.float32)])
    piece = SkinPiece("first", {"position": position}, None, Subdivision(np.array([[0, 1]], np.int32), np.array([1], np.int32)))
    path = derived_path(cache, Moment(2), SKIN)
    path.parent.mkdir(parents=True, exist_ok=True)
    origin = Origin(Moment(2), SkinSettings(emitters="first").hash, source_of(cache, Moment(2)), (0,))
    write_skin(path, Skin(origin, (piece,)), 0.01)
    scene.frame_set(1)
    scene.frame_set(2)
    assert (
        in_blender(skin_objects.status(item))
        == 'The mesh of "first" is not as it was baked; make the skin again, or bake again if the emitter changed.'
    )
    assert np.ptp(vertices(item), axis=0).max() == 0.0
