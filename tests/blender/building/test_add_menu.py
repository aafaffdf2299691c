"""The Add menu and quick effects: what each entry adds to a file, and when it is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.building import add_menu, quick, quick_menu
from mpm_addon.blender.host.meshes import world_bounds
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.blender.reading.simulated_objects import meters
from mpm_addon.core.advice.preflight import scene_warnings, warnings_of
from mpm_addon.core.errors import SceneError
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.storage.presets import material_preset_names
from tests.blender.scenes import add_emitter, add_mesh, error_of
from tests.fakes import menus


def add(bpy: Any, kind: str, **settings: Any) -> Any:
    assert bpy.ops.mpm.add(kind=kind, **settings) == {"FINISHED"}
    return bpy.context.view_layer.objects.active


def heights(item: Any) -> tuple[float, float]:
    """The lowest and the highest vertex in world space, for an unrotated object."""
    own = [vertex.co[2] for vertex in item.data.vertices]
    return min(own) + item.location[2], max(own) + item.location[2]


def select(bpy: Any, *items: Any) -> None:
    for item in bpy.context.scene.objects:
        item.select_set(item in items)


@pytest.mark.parametrize("name", material_preset_names())
def test_every_material_can_be_added_and_described_without_a_warning(bpy: Any, name: str) -> None:
    add(bpy, "floor")
    item = add(bpy, name)
    scene = extract_scene(bpy.context)
    assert [(emitter.name, emitter.material) for emitter in scene.emitters] == [(item.name, name)]
    cost = estimate(scene)
    assert warnings_of(scene, cost) == []
    assert 30_000 < cost.particles < 100_000


def test_every_added_object_is_simulated(bpy: Any) -> None:
    types = {kind: add(bpy, kind).mpm.type for kind in ("domain", "floor", "collider", "outflow")}
    bpy.context.scene.cursor.location = (0.0, 0.0, 1.0)
    types["inflow"] = add(bpy, "inflow").mpm.type
    assert types == {"inflow": "emitter", "domain": "none", "floor": "collider", "collider": "collider", "outflow": "outflow"}
    assert bpy.context.scene.mpm.domain.kind == "box"
    assert bpy.context.scene.mpm.domain.object.display_type == "BOUNDS"
    scene = extract_scene(bpy.context)
    assert scene.emitters[0].mode == "inflow"
    assert scene.emitters[0].velocity[2] < 0.0
    assert warnings_of(scene, estimate(scene)) == []


def test_things_stand_at_the_cursor_and_are_selected(bpy: Any) -> None:
    bpy.context.scene.cursor.location = (1.0, 2.0, 3.0)
    before = add(bpy, "floor")
    item = add(bpy, "jelly")
    assert heights(before)[1] == pytest.approx(3.0)
    assert heights(item)[0] == pytest.approx(3.25)
    assert tuple(item.location)[:2] == (1.0, 2.0)
    assert [each.name for each in bpy.context.selected_objects] == [item.name]
    domain = add(bpy, "domain")
    assert heights(domain)[0] == pytest.approx(3.0)
    assert tuple(add(bpy, "inflow").location) == pytest.approx((1.0, 2.0, 3.0))


def test_the_cell_size_fits_the_first_emitter(bpy: Any) -> None:
    solver = bpy.context.scene.mpm.solver
    add(bpy, "floor")
    add(bpy, "water", size=2.0)
    assert solver.grid_spacing == pytest.approx(0.1)
    add(bpy, "snow", size=0.2)
    assert solver.grid_spacing == pytest.approx(0.1)


def test_cells_that_were_chosen_stay_when_a_collider_is_there(bpy: Any) -> None:
    bpy.context.scene.mpm.solver.grid_spacing = 0.07
    floor = add(bpy, "floor")
    low, high = heights(floor)
    assert high - low >= 0.07 * add_menu.THINNEST_CELLS - 1e-6
    add(bpy, "water")
    assert bpy.context.scene.mpm.solver.grid_spacing == pytest.approx(0.07)


def test_a_second_domain_is_refused(bpy: Any) -> None:
    add(bpy, "domain")
    assert error_of(lambda: bpy.ops.mpm.add(kind="domain")) == (
        'The scene already has a domain, "Domain"; scale that one, or delete it first.'
    )


def test_nothing_is_added_outside_object_mode(bpy: Any) -> None:
    with bpy.context.temp_override(mode="EDIT_MESH") if hasattr(bpy, "fake") else edit_mode(bpy):
        for call in (bpy.ops.mpm.add, bpy.ops.mpm.add_ready_scene, bpy.ops.mpm.quick, bpy.ops.mpm.quick_collider):
            assert not call.poll()
            assert "Object Mode" in error_of(call)


class edit_mode:
    """A cube in edit mode, inside the block."""

    def __init__(self, bpy: Any) -> None:
        self._bpy = bpy

    def __enter__(self) -> None:
        add_mesh(self._bpy, "Cube").select_set(True)
        self._bpy.ops.object.mode_set(mode="EDIT")

    def __exit__(self, *_problem: object) -> None:
        self._bpy.ops.object.mode_set(mode="OBJECT")


def test_the_menus_show_every_material_once_and_every_ready_scene(bpy: Any, draw: Any) -> None:
    shown = [draw(menu) for menu in (add_menu.MPM_MT_add, add_menu.MPM_MT_add_material, add_menu.MPM_MT_ready_scenes)]
    kinds = [call.arguments["settings"]["kind"] for layout in shown for call in layout.find("operator", "mpm.add")]
    assert sorted(kinds) == sorted(add_menu.KINDS)
    scenes = [call.arguments["settings"]["scene"] for call in shown[2].find("operator", "mpm.add_ready_scene")]
    assert scenes == list(add_menu.SCENES)
    assert set(add_menu.FAVORITES) <= set(material_preset_names())


def test_blenders_menus_lead_to_them(bpy: Any, draw: Any) -> None:
    class MPM_MT_test(bpy.types.Menu):
        bl_label = "Test"

        def draw(self, context: Any) -> None:
            add_menu.draw_entry(self, context)
            quick_menu.draw_entry(self, context)

    layout = draw(MPM_MT_test)
    assert layout.find("menu", "MPM_MT_add")
    assert layout.find("menu", "MPM_MT_quick")
    assert layout.find("operator") == []
    submenu = draw(quick_menu.MPM_MT_quick)
    more = draw(quick_menu.MPM_MT_quick_material)
    quick_materials = [call.arguments["settings"]["material"] for each in (submenu, more) for call in each.find("operator", "mpm.quick")]
    assert sorted(quick_materials) == list(material_preset_names())
    assert submenu.find("menu", "MPM_MT_quick_material")
    assert submenu.find("operator", "mpm.quick_collider")


def test_the_entries_go_with_the_extension(bpy: Any, fake_blender: Any) -> None:
    import mpm_addon

    ours = {"draw_entry in VIEW3D_MT_add", "draw_entry in VIEW3D_MT_object_quick_effects", "draw_entry in VIEW3D_MT_object"}
    assert ours <= set(menus.appended())
    mpm_addon.unregister()
    assert not ours & set(menus.appended())
    mpm_addon.register()
    assert ours <= set(menus.appended())


def test_quick_emitters_get_a_floor_and_a_fitting_cell_size(bpy: Any) -> None:
    cube = add_mesh(bpy, "Cube")
    cube.location = (0.0, 0.0, 0.8)
    select(bpy, cube)
    assert bpy.ops.mpm.quick(material="snow", particle_count=40_000) == {"FINISHED"}
    assert (cube.mpm.type, cube.mpm.material.preset, cube.hide_render) == ("emitter", "snow", True)
    scene = extract_scene(bpy.context)
    cost = estimate(scene)
    assert cost.particles == pytest.approx(40_000, rel=0.05)
    assert [collider.name for collider in scene.colliders] == ["Floor"]
    assert scene.colliders[0].shape.bounds()[1, 2] * meters(bpy.context.scene) == pytest.approx(0.0)
    assert warnings_of(scene, cost) == []


def test_the_floor_for_a_liquid_is_wider(bpy: Any) -> None:
    """Within half a second, a cube of water spreads beyond a floor that is wide enough for what holds together."""
    cube = add_mesh(bpy, "Cube")
    cube.location = (0.0, 0.0, 0.8)
    widths = []
    for material in ("snow", "water"):
        select(bpy, cube)
        bpy.ops.mpm.quick(material=material)
        floor = next(item for item in bpy.context.scene.objects if item.mpm.type == "collider")
        low, high = world_bounds(floor)
        widths.append(high[0] - low[0])
        bpy.data.objects.remove(floor)
    low, high = world_bounds(cube)
    assert widths == pytest.approx([4.0 * (high[0] - low[0]), 10.0 * (high[0] - low[0])])


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_slow_gravity_of_small_units_is_told(bpy: Any, unit: float) -> None:
    bpy.context.scene.unit_settings.scale_length = unit
    select(bpy, add_mesh(bpy, "Cube"))
    _, notes = quick.quick_emitters(bpy.context, "jelly", 1000)
    assert any("Unit Scale" in text and "slow motion" in text for text in map(in_blender, notes)) == (unit != 1.0)


def test_an_empty_is_told_what_it_can_be(bpy: Any) -> None:
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    select(bpy, empty)
    assert 'Object "Empty": an empty has no surface; select a mesh' in error_of(bpy.ops.mpm.quick)
    empty.instance_type, empty.instance_collection = "COLLECTION", bpy.data.collections.new("Parts")
    assert "choose its type in the Physics tab to use that" in error_of(bpy.ops.mpm.quick)


def test_what_is_thin_gets_finer_cells_and_a_few_times_more_particles_at_most(bpy: Any) -> None:
    plate = add_mesh(bpy, "Plate", [(2.0 * x, 2.0 * y, 0.1 * z) for x, y, z in _corners()])
    select(bpy, plate)
    bpy.ops.mpm.quick(material="jelly", particle_count=20_000)
    cell = bpy.context.scene.mpm.solver.grid_spacing
    assert 0.1 / cell > 2.4
    assert 20_000 < 2.0 * 2.0 * 0.1 * 8.0 / cell**3 <= 80_001


def test_cells_stay_where_something_emits_and_a_thin_object_is_reported(bpy: Any) -> None:
    add_emitter(bpy, "First")
    bpy.context.scene.mpm.solver.grid_spacing = 0.1
    thin = add_mesh(bpy, "Thin", np.array(_corners()) * (1.0, 1.0, 0.05))
    select(bpy, thin)
    refused, _ = quick.quick_emitters(bpy.context, "jelly", 1000)
    assert list(map(in_blender, refused)) == [
        'Object "Thin" is only 0.5 cells thick; use a cell size of at most 0.025, or make it thicker.'
    ]
    assert bpy.context.scene.mpm.solver.grid_spacing == pytest.approx(0.1)


@pytest.mark.parametrize("wanted", [100, 64_000, 1_000_000])
def test_another_number_of_particles_is_told_where_cells_stay(bpy: Any, wanted: int) -> None:
    """A cube of 20 cells, with 8 particles in each."""
    add_emitter(bpy, "First")
    bpy.context.scene.mpm.solver.grid_spacing = 0.05
    select(bpy, add_mesh(bpy, "Cube"))
    refused, notes = quick.quick_emitters(bpy.context, "jelly", wanted)
    assert refused == []
    told = [text for text in map(in_blender, notes) if "keeps its cell size" in text]
    cell = {100: "0.43", 1_000_000: "0.02"}.get(wanted)
    begin = f"The scene keeps its cell size of 0.05, so there are about 64,000 particles, not {wanted:,}; "
    assert told == ([] if cell is None else [begin + f"for these, set it to {cell} (MPM tab > Quality)."])


def test_objects_that_cannot_emit_are_named_and_the_others_emit(bpy: Any) -> None:
    cube = add_mesh(bpy, "Cube")
    sheet = add_mesh(bpy, "Sheet", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2, 3)])
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    select(bpy, cube, sheet, camera)
    refused = list(map(in_blender, quick.quick_emitters(bpy.context, "water", 10_000)[0]))
    assert any("Sheet" in line and "no volume" in line for line in refused)
    assert 'Object "Camera": a camera has no surface; select a mesh, a curve, a text or a metaball.' in refused
    assert [item.mpm.type for item in (cube, sheet, camera)] == ["emitter", "none", "none"]
    select(bpy, camera)
    assert "a camera has no surface" in error_of(bpy.ops.mpm.quick)
    assert "a camera has no surface" in error_of(bpy.ops.mpm.quick_collider)
    select(bpy)
    assert "Select an object first" in error_of(bpy.ops.mpm.quick)


def test_a_nozzle_that_larger_cells_leave_too_thin_is_told_before_the_bake(bpy: Any) -> None:
    bpy.ops.mpm.add(kind="floor")
    bpy.context.scene.cursor.location = (0.0, 0.0, 2.0)
    bpy.ops.mpm.add(kind="inflow", size=2.0)
    solver = bpy.context.scene.mpm.solver
    assert scene_warnings(extract_scene(bpy.context)) == []
    solver.grid_spacing = 0.4
    (warning,) = scene_warnings(extract_scene(bpy.context))
    assert (warning.topic, warning.message.subject) == ("thin_emitter", 'Emitter "Inflow"')
    assert warning.message.problem == "it is only 0.5 m thick, 1.3 times the cell size of 0.4 m"
    assert "make it at least 2 cells thick, or use a Cell Size of at most 0.25 m" in in_blender(warning.message)
    solver.grid_spacing = 0.8
    with pytest.raises(SceneError) as caught:
        extract_scene(bpy.context)
    assert in_blender(caught.value.message) == 'Emitter "Inflow": Cell Size 0.8 m is larger than the object (0.5 m); use at most 0.25 m.'


def test_a_nozzle_that_is_added_to_larger_cells_is_deep_enough_for_them(bpy: Any) -> None:
    bpy.context.scene.mpm.solver.grid_spacing = 0.03
    add(bpy, "floor")
    low, high = heights(add(bpy, "inflow", size=0.14))
    assert high - low > 2.0 * 0.03
    scene = extract_scene(bpy.context)
    assert scene.solver.grid_spacing == pytest.approx(0.03)
    assert "thin_emitter" not in [warning.topic for warning in scene_warnings(scene)]


def test_an_object_without_size_is_told_its_axis(bpy: Any) -> None:
    cube = add_mesh(bpy, "Cube")
    cube.scale = (1.0, 1.0, 0.0)
    select(bpy, cube)
    expected = 'Object "Cube": its scale along Z is zero; set the scale there to a value other than 0, such as 1.'
    assert expected in error_of(bpy.ops.mpm.quick)
    cube.scale = (0.0, 1.0, 0.0)
    assert "its scale along X and Z is zero" in error_of(bpy.ops.mpm.quick)
    cube.scale = (0.0, 0.0, 0.0)
    assert "its scale along X, Y and Z is zero" in error_of(bpy.ops.mpm.quick)
    cube.scale = (1.0, 1.0, 1.0)
    cube.parent = add_mesh(bpy, "Parent")
    cube.parent.scale = (1.0, 0.0, 1.0)
    cube.rotation_euler = (0.5, 0.0, 0.0)
    assert "its scale along an axis of a parent is zero" in error_of(bpy.ops.mpm.quick)


def test_a_quick_collider_replaces_an_emitter(bpy: Any) -> None:
    cube = add_mesh(bpy, "Cube")
    select(bpy, cube)
    bpy.ops.mpm.quick()
    assert cube.hide_render
    assert bpy.ops.mpm.quick_collider() == {"FINISHED"}
    assert (cube.mpm.type, cube.hide_render, cube.display_type) == ("collider", False, "TEXTURED")


def _corners() -> list[tuple[float, float, float]]:
    return [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]


def test_what_breaks_on_impact_is_a_rigid_body_with_fracture(bpy: Any) -> None:
    item, wall = add_mesh(bpy, "Vase"), add_mesh(bpy, "Wall")
    for each, is_chosen in ((item, True), (wall, False)):
        each.select_set(is_chosen)
    assert bpy.ops.mpm.quick_collider(breaks=True) == {"FINISHED"}
    assert (item.mpm.type, item.mpm.collider.dynamic, item.mpm.collider.use_fracture) == ("collider", True, True)
    item.select_set(False)
    wall.select_set(True)
    assert bpy.ops.mpm.quick_collider() == {"FINISHED"}
    assert (wall.mpm.type, wall.mpm.collider.dynamic, wall.mpm.collider.use_fracture) == ("collider", False, False)
