"""Ready scenes: each is complete and without warnings, bakes a few frames, and changes no existing work."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.building.ready_scenes import SCENES, adding
from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.blender.settings.derived_settings import settings_of
from mpm_addon.core.advice.preflight import warnings_of
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.storage import open_cache
from mpm_addon.storage.take import DEBRIS
from tests.blender.scenes import add_mesh

# scene -> emitters, colliders
COUNTS = {
    "snowball": (1, 2),
    "dam_break": (1, 3),
    "sand_castle": (2, 1),
    "hourglass": (1, 2),
    "jelly_stack": (4, 2),
    "honey_suzanne": (1, 2),
    "pouring_bowl": (1, 3),
    "avalanche": (1, 2),
    "boot_in_mud": (1, 3),
    "lava_flow": (1, 1),
    "dropped_bowl": (1, 1),
    "brick_wall": (0, 30),
}
# without particles
RIGID = ("brick_wall",)
# its first frames are baked where the ball is watched
BROKEN = "brick_wall"
# Blender itself makes Suzanne.
EVERYWHERE = [name for name in SCENES if name != "honey_suzanne"]
# and large meshes, which the fake makes item by item, so that there each of these scenes is made once
LARGE = ("sand_castle", "hourglass", "avalanche", "boot_in_mud", "lava_flow")
REAL = pytest.param("honey_suzanne", marks=pytest.mark.blender)
SMALL_OR_REAL = [pytest.param(name, marks=pytest.mark.blender) if name in LARGE else name for name in EVERYWHERE]

blender = pytest.mark.blender


def add(bpy: Any, name: str, **options: str) -> Any:
    assert bpy.ops.mpm.add_ready_scene(scene=name, **options) == {"FINISHED"}
    return bpy.context.scene


def is_promised(size: str, particles: int) -> bool:
    """Whether the description of a size, "20,000 to 90,000 particles ...", is right."""
    low, _, high, *_ = adding.SIZES[size][1].replace(",", "").split()
    return int(low) <= particles <= int(high)


def test_every_ready_scene_is_listed() -> None:
    assert list(COUNTS) == list(SCENES)


@pytest.mark.parametrize("name", [*EVERYWHERE, REAL])
def test_a_ready_scene_is_whole_and_without_a_warning(bpy: Any, name: str) -> None:
    scene = add(bpy, name)
    described = extract_scene(bpy.context)
    assert (len(described.emitters), len(described.colliders)) == COUNTS[name]
    cost = estimate(described)
    assert warnings_of(described, cost) == []
    assert cost.particles == 0 if name in RIGID else is_promised("draft", cost.particles)
    assert (scene.camera.type, scene.frame_start, scene.frame_current) == ("CAMERA", 1, 1)
    assert scene.mpm.cache.startswith("//cache_mpm_")
    assert bpy.context.view_layer.objects.active.mpm.type == ("collider" if name in RIGID else "emitter")
    # particles replace their emitter
    assert all(item.hide_render for item in scene.objects if item.mpm.type == "emitter")


@pytest.mark.parametrize("name", [*(each for each in SMALL_OR_REAL if each not in RIGID), REAL])
def test_a_final_ready_scene_has_several_times_the_particles_and_no_warning_either(bpy: Any, name: str) -> None:
    add(bpy, name)
    draft = estimate(extract_scene(bpy.context))
    bpy.ops.wm.read_homefile(use_empty=True)
    add(bpy, name, size="full")
    described = extract_scene(bpy.context)
    cost = estimate(described)
    assert warnings_of(described, cost) == []
    assert cost.particles > max(300_000, 3 * draft.particles)
    assert cost.particles < 450_000
    assert is_promised("full", cost.particles)


def test_a_final_brick_wall_has_more_tetrahedra_and_no_warning_either(bpy: Any) -> None:
    fractures = {}
    for size in ("draft", "full"):
        bpy.ops.wm.read_homefile(use_empty=True)
        add(bpy, "brick_wall", size=size)
        described = extract_scene(bpy.context)
        assert warnings_of(described, estimate(described)) == []
        fractures[size] = next(each.fracture for each in described.colliders if each.fracture is not None)
    assert fractures["full"].tetrahedra >= 2 * fractures["draft"].tetrahedra


@pytest.mark.parametrize(
    ("size", "quality", "pixels", "is_blurred"), [("draft", "good", (640, 360), False), ("full", "film", (1920, 1080), True)]
)
def test_the_size_of_a_ready_scene_decides_how_it_is_shown(
    bpy: Any, size: str, quality: str, pixels: tuple[int, int], is_blurred: bool
) -> None:
    scene = add(bpy, "dam_break", size=size)
    assert scene.mpm.surface.quality == quality
    assert (scene.render.resolution_x, scene.render.resolution_y) == pixels
    assert scene.render.use_motion_blur == is_blurred


@blender
@pytest.mark.parametrize("size", ["draft", "full"])
def test_light_passes_as_many_faces_as_it_may_bounce(bpy: Any, size: str) -> None:
    cycles = add(bpy, "dam_break", size=size).cycles
    # reflections inside drops are glossy, and each pane has two faces
    assert cycles.glossy_bounces == cycles.transmission_bounces == cycles.max_bounces == 12
    assert cycles.transparent_max_bounces == 32


@pytest.mark.parametrize("name", [*SMALL_OR_REAL, REAL])
def test_all_of_a_ready_scene_is_in_its_own_collection(bpy: Any, name: str) -> None:
    scene = add(bpy, name)
    collection = scene.collection.children[0]
    assert collection.name == SCENES[name].LABEL
    assert {item.name for item in collection.objects} == {item.name for item in scene.objects}


@blender
def test_a_block_of_jelly_has_layers_that_follow_its_uv_map(bpy: Any) -> None:
    """From its bottom to its top, on all sides."""
    mesh = add(bpy, "jelly_stack").objects["Orange"].data
    place, corner, uv = (
        np.empty(3 * len(mesh.vertices), np.float32),
        np.empty(len(mesh.loops), np.int32),
        np.empty(2 * len(mesh.loops), np.float32),
    )
    for name, field, values in (("position", "vector", place), (".corner_vert", "value", corner), ("UVMap", "vector", uv)):
        mesh.attributes[name].data.foreach_get(field, values)
    height = place[2::3][corner]
    assert np.allclose(uv[1::2], (height - height.min()) / np.ptp(height), atol=1e-6)
    # few samples of what shows through jelly would guide the removal of noise astray
    assert bpy.context.scene.cycles.denoising_input_passes == "RGB"
    assert [node.uv_map for node in mesh.materials[0].node_tree.nodes if node.type == "UVMAP"] == ["UVMap"]


@blender
def test_blocks_of_jelly_are_fine_where_they_bend_and_nowhere_else(bpy: Any) -> None:
    """What is in a mesh is read, checked, filled and moved: their flat sides need short edges, their round edges no more faces."""
    scene = add(bpy, "jelly_stack")
    graph = bpy.context.evaluated_depsgraph_get()
    blocks = [item for item in scene.objects if item.mpm.type == "emitter"]
    assert len(blocks) == 4
    for item in blocks:
        mesh = item.evaluated_get(graph).data
        assert len(mesh.polygons) < 4000
        place, ends = np.empty(3 * len(mesh.vertices), np.float32), np.empty(2 * len(mesh.edges), np.int32)
        mesh.attributes["position"].data.foreach_get("vector", place)
        mesh.attributes[".edge_verts"].data.foreach_get("value", ends)
        one, other = np.moveaxis(place.reshape(-1, 3)[ends.reshape(-1, 2)], 1, 0)
        assert np.linalg.norm(one - other, axis=1).max() < 0.018


def dust_of(scene: Any) -> float:
    """The size of a scene's dust [m]; 0 where it follows from the cells."""
    settings: Any = settings_of(scene, DEBRIS)
    return settings.dust_size or 0.0


@pytest.mark.parametrize("name", SMALL_OR_REAL)
def test_a_ready_scene_has_the_same_size_in_meters_in_any_unit(bpy: Any, name: str) -> None:
    bpy.context.scene.unit_settings.scale_length = 0.01
    add(bpy, name)
    in_centimeters, dust = extract_scene(bpy.context), dust_of(bpy.context.scene)
    bpy.ops.wm.read_homefile(use_empty=True)
    add(bpy, name)
    in_meters = extract_scene(bpy.context)
    assert dust == pytest.approx(dust_of(bpy.context.scene), rel=1e-5)
    assert in_centimeters.solver.grid_spacing == pytest.approx(in_meters.solver.grid_spacing, rel=1e-5)
    for one, other in zip(in_centimeters.emitters, in_meters.emitters, strict=True):
        assert one.shape.bounds() == pytest.approx(other.shape.bounds(), abs=1e-5)
        assert one.velocity == pytest.approx(other.velocity, rel=1e-5)
    for one, other in zip(in_centimeters.colliders, in_meters.colliders, strict=True):
        assert one.velocity == pytest.approx(other.velocity, rel=1e-5)
        assert (one.fracture is None) == (other.fracture is None)
        if one.fracture is not None and other.fracture is not None:
            assert one.fracture.crack_radius == pytest.approx(other.fracture.crack_radius, rel=1e-5)


def test_a_blurred_background_is_the_same_in_any_unit(bpy: Any) -> None:
    blurs = []
    for unit in (1.0, 0.01):
        bpy.ops.wm.read_homefile(use_empty=True)
        bpy.context.scene.unit_settings.scale_length = unit
        camera = add(bpy, "jelly_stack").camera
        assert camera.data.dof.use_dof
        # the width of a blurred point is that of the lens, whose focal length is in millimeters of a Blender unit, seen from the focus
        width = camera.data.lens / camera.data.dof.aperture_fstop
        blurs.append((camera.data.dof.focus_distance * unit, width / camera.data.dof.focus_distance))
    assert blurs[0] == pytest.approx(blurs[1], rel=1e-5)
    # from the camera to the middle of the stack
    assert blurs[0][0] == pytest.approx(1.44, abs=0.01)


@pytest.mark.parametrize("name", SMALL_OR_REAL)
def test_only_snow_gets_fog(bpy: Any, name: str) -> None:
    scene = add(bpy, name)
    assert scene.mpm.volume.while_baking == (name in ("snowball", "avalanche"))


@blender
def test_light_is_scattered_in_fog_often_enough_not_to_look_gray(bpy: Any) -> None:
    assert add(bpy, "snowball").cycles.volume_bounces == 4


def test_a_scene_of_the_user_is_not_touched(bpy: Any) -> None:
    scene = bpy.context.scene
    mine = add_mesh(bpy, "Mine")
    scene.camera = bpy.data.objects.new("My Camera", bpy.data.cameras.new("My Camera"))
    scene.collection.objects.link(scene.camera)
    scene.frame_end, scene.world = 77, bpy.data.worlds.new("Mine")
    adding.add_ready_scene(bpy.context, "snowball")
    assert len(bpy.data.scenes) == 2
    assert (scene.frame_end, scene.camera.name, scene.world.name) == (77, "My Camera", "Mine")
    assert {item.name for item in scene.objects} == {"Mine", "My Camera"}
    assert not mine.hide_render
    assert not any(scene.mpm.is_property_set(word) for word in ("cache", "time_scale"))


@pytest.mark.parametrize(
    "change",
    [
        lambda bpy, scene: setattr(scene, "frame_end", 100),
        lambda bpy, scene: setattr(scene.render, "fps", 30),
        lambda bpy, scene: setattr(scene, "world", bpy.data.worlds.new("Sunset")),
        lambda bpy, scene: setattr(scene.mpm.solver, "grid_spacing", 0.3),
        lambda bpy, scene: setattr(scene.mpm.volume, "while_baking", True),
        lambda bpy, scene: setattr(scene.mpm.surface, "quality", "draft"),
        lambda bpy, scene: add_mesh(bpy, "Table"),
    ],
)
def test_what_a_user_changed_makes_a_scene_the_users(bpy: Any, change: Any) -> None:
    scene = bpy.context.scene
    assert adding.is_untouched(scene)
    change(bpy, scene)
    assert not adding.is_untouched(scene)


@blender
def test_the_startup_file_becomes_the_ready_scene_and_its_cube_is_hidden(bpy: Any) -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    scene = bpy.context.scene
    assert adding.is_untouched(scene)
    add(bpy, "snowball")
    assert bpy.context.scene == scene
    assert all(scene.objects[name].hide_render and scene.objects[name].hide_viewport for name in ("Cube", "Light"))
    assert "Cube" not in [item.name for item in extract_scene(bpy.context).colliders]
    assert scene.camera.name != "Camera"


@blender
def test_a_second_ready_scene_is_a_scene_of_its_own_with_its_own_cache(bpy: Any) -> None:
    first = add(bpy, "snowball")
    second = add(bpy, "snowball")
    assert first != second
    assert first.mpm.cache != second.mpm.cache
    assert len(extract_scene(bpy.context).emitters) == 1


@blender
def test_one_undo_takes_a_ready_scene_away(bpy: Any) -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    bpy.ops.ed.undo_push(message="before")
    add(bpy, "jelly_stack")
    bpy.ops.ed.undo_push(message="Add Ready Scene")
    bpy.ops.ed.undo()
    assert sorted(bpy.context.scene.objects.keys()) == ["Camera", "Cube", "Light"]
    assert not bpy.context.scene.objects["Cube"].hide_render
    assert bpy.context.scene.frame_end == 250


@blender
@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) if name == BROKEN else name for name in SCENES])
def test_a_few_coarse_frames_bake(bpy: Any, tmp_path: Path, name: str) -> None:
    scene = add(bpy, name)
    scene.mpm.solver.grid_spacing *= 2.0
    scene.frame_end = 3
    assert bpy.ops.mpm.bake(cache=str(tmp_path)) == {"FINISHED"}
    cache = open_cache(tmp_path)
    assert cache.frames == [1, 2, 3]
    last = cache.frame(3)
    assert len(last.poses) > 20 if name in RIGID else len(last.position) > 150


@blender
@pytest.mark.slow
def test_the_ball_breaks_a_part_of_the_wall(bpy: Any, tmp_path: Path) -> None:
    """Pieces have their own material inside, chips fly off, and bricks far from the ball are whole."""
    scene = add(bpy, BROKEN)
    scene.frame_end = 10
    wall = [item for item in scene.objects if item.name.startswith("Brick")]
    assert bpy.ops.mpm.bake(cache=str(tmp_path)) == {"FINISHED"}
    pieces = [item for item in scene.objects if "mpm_piece_of" in item]
    broken = {item.name.rpartition(" ")[0] for item in pieces}
    assert 8 <= len(broken) <= 20 < len(wall)
    for item in pieces:
        used = {item.data.materials[face.material_index].name for face in item.data.polygons}
        assert "Brick Inside" in used and len(used) == 2, (item.name, used)
    scene.frame_set(10)
    (debris,) = [item for item in scene.objects if item.name == "MPM Debris"]
    assert len(debris.data.vertices) > 100


@blender
@pytest.mark.long
def test_no_snow_vanishes_in_view(bpy: Any, tmp_path: Path) -> None:
    """Snow that leaves the domain is outside the camera's view by then."""
    from bpy_extras.object_utils import world_to_camera_view
    from mathutils import Vector

    scene = add(bpy, "snowball")
    bpy.context.view_layer.update()
    assert bpy.ops.mpm.bake(cache=str(tmp_path)) == {"FINISHED"}
    cache = open_cache(tmp_path)
    frames = [cache.frame(number) for number in cache.frames]
    lost: list[Any] = []
    for before, after in pairwise(frames):
        present = set(after.id.tolist())
        lost += [position for number, position in zip(before.id, before.position, strict=True) if number not in present]
    # some does leave, or this would prove nothing
    assert len(lost) > 50
    seen = [world_to_camera_view(scene, scene.camera, Vector(position.tolist())) for position in lost]
    assert [place for place in seen if 0.0 < place.x < 1.0 and 0.0 < place.y < 1.0 and place.z > 0.0] == []


@blender
def test_suzanne_is_whole_in_the_picture_and_honey_enters_it_from_above(bpy: Any) -> None:
    """From chin to ears, between two hundredths of the picture from each edge; the inflow is above its upper edge."""
    from bpy_extras.object_utils import world_to_camera_view

    scene = add(bpy, "honey_suzanne")
    bpy.context.view_layer.update()

    def seen(item: Any) -> list[Any]:
        shape = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        # the floor hides what is below it
        places = [place for place in (item.matrix_world @ vertex.co for vertex in shape.vertices) if place.z > 0.0]
        return [world_to_camera_view(scene, scene.camera, place) for place in places]

    head = seen(scene.objects["Suzanne"])
    assert len(head) > 5000
    assert all(0.02 < place.x < 0.98 and 0.02 < place.y < 0.98 for place in head)
    assert min(place.y for place in seen(scene.objects["Honey"])) > 1.02
