"""Every state of a bake and what an artist does about it, by mouse in a real window: undo, errors, takes, previews, live, derived data."""

import numpy as np
from PIL import Image

from tests.gui.conftest import BAKING_SECONDS, COMPILING_SECONDS, Walk

FRAMES = 6
# Of a curve of the statistics: the greatest difference of its color, of 255, and the fewest columns of pixels.
_NEAR_COLOR, _NARROWEST_CURVE = 40, 80


def test_an_empty_scene_offers_three_ways_to_begin(walk: Walk) -> None:
    walk.window.run('result = show_sidebar("MPM")')
    walk.picture("empty")
    assert walk.window.ask("panels_shown()") == ["MPM_PT_bake"]


def test_what_has_no_surface_is_refused_in_one_line(walk: Walk) -> None:
    walk.window.run("select('Light')")
    walk.window.press("mpm.quick(material='jelly'")
    walk.picture("refused")
    walk.window.key("Escape")
    assert "has no surface" in walk.window.run("result = last_report()")
    assert not walk.window.ask("emitters()")


def test_a_quick_effect_is_undone_and_done_again(walk: Walk) -> None:
    window = walk.window
    window.run("select('Cube')")
    window.press("mpm.quick(material='jelly'")
    window.wait_until("emitters() == ['Cube']", limit=20)
    walk.picture("quick")
    walk.undo()
    window.wait_until("not emitters()", limit=10)
    assert window.ask("scene().objects.keys()") == ["Cube", "Light", "Camera"]
    walk.redo()
    window.wait_until("emitters() == ['Cube']", limit=10)
    path = window.inside(walk.files / "states.blend")
    window.run(f"scene().frame_end = {FRAMES}; scene().mpm.solver.grid_spacing *= 2.5; bpy.ops.wm.save_as_mainfile(filepath={path!r})")
    assert walk.state() == "EMPTY"


def test_a_click_bakes_and_all_frames_are_shown(walk: Walk) -> None:
    walk.press_and_bake("mpm.bake(")
    assert walk.state() == "DONE"
    assert walk.window.ask("points()['count']") > 100
    walk.picture("done")


def test_another_material_is_chosen_from_its_menu_and_undone(walk: Walk) -> None:
    window = walk.window
    window.run('result = show_properties("PHYSICS")')
    walk.picture("physics_tab")
    window.run("select('Cube')")
    walk.choose("MPM_MT_materials", "mpm.material_choose(name='rubber'", columns=6)
    window.wait_until("scene().objects['Cube'].mpm.material.preset == 'rubber'", limit=10)
    window.wait_until("view()['state'] == 'OUTDATED'", limit=20)
    walk.picture("outdated")
    walk.undo()
    window.wait_until("scene().objects['Cube'].mpm.material.preset == 'jelly'", limit=10)
    window.wait_until("view()['state'] == 'DONE'", limit=20)
    assert window.ask("points()['count']") > 100


def test_more_frames_are_baked_from_where_the_others_end(walk: Walk) -> None:
    window = walk.window
    window.run(f"scene().frame_end = {FRAMES + 3}; edited()")
    window.wait_until("view()['state'] == 'RESUMABLE'", limit=20)
    walk.picture("resumable")
    walk.press_and_bake("mpm.bake(")
    assert window.ask("baked()") == list(range(1, FRAMES + 4))


def test_a_second_take_is_baked_named_shown_and_deleted(walk: Walk) -> None:
    window = walk.window
    window.run("scene().frame_set(4)")
    walk.press_and_bake("from_frame=4")
    assert window.ask("take_numbers()") == [1, 2]
    walk.open("MPM_PT_takes")
    walk.picture("takes")
    window.press("mpm.take_rename(take=2")
    walk.write("softer")
    window.wait_until("take_names() == ['', 'softer']", limit=10)
    window.press("mpm.take_show(take=1")
    window.wait_until("shown_take() == 1", limit=10)
    window.press("mpm.take_remove(take=2")
    walk.confirm("delete_take")
    window.wait_until("take_numbers() == [1]", limit=10)
    assert walk.state() == "DONE"


def test_statistics_are_drawn(walk: Walk) -> None:
    walk.open("MPM_PT_statistics")
    left, top, width, height = walk.window.run('result = box("VIEW_3D", "UI")')
    with Image.open(walk.picture("statistics")) as picture:
        pixels = np.asarray(picture.convert("RGB").crop((left, top, left + width, top + height)), np.int16)
    colors = walk.window.ask("curve_colors()")
    assert len(colors) == 4
    for name, color in colors.items():
        columns = (np.abs(pixels - color).max(axis=2) < _NEAR_COLOR).any(axis=0)
        # a swatch beside its words is narrower
        assert columns.sum() > _NARROWEST_CURVE, f"the curve of {name} is not drawn"


def test_a_deleted_result_is_shown_again(walk: Walk) -> None:
    window = walk.window
    walk.open()
    window.run("select(*results())")
    window.move(*walk.viewport())
    window.key("Delete")
    window.wait_until("view()['state'] == 'NOT_SHOWN'", limit=20)
    walk.picture("not_shown")
    window.press("mpm.show(")
    window.wait_until("view()['state'] == 'DONE' and points()['count'] > 100", limit=20)
    walk.undo()
    window.wait_until("view()['state'] == 'NOT_SHOWN'", limit=20)
    walk.redo()
    window.wait_until("view()['state'] == 'DONE'", limit=20)


def test_a_mistake_stops_the_bake_with_its_remedy_and_no_frame_is_lost(walk: Walk) -> None:
    window = walk.window
    frames = window.ask("baked()")
    window.run("add_flat_emitter(); edited('flat emitter')")
    window.wait_until("view()['state'] == 'OUTDATED'", limit=20)
    window.press("mpm.bake_again(")
    walk.confirm("bake_again")
    window.wait_until("view()['state'] == 'FAILED'", limit=COMPILING_SECONDS)
    walk.picture("failed")
    window.key("Escape")
    assert "Flat" in window.ask("view()['text']")
    window.press("mpm.copy_message(")
    assert "Flat" in window.ask("CONTEXT.window_manager.clipboard")
    assert window.ask("baked()") == frames
    walk.undo()
    window.wait_until("emitters() == ['Cube']", limit=10)
    walk.picture("mistake_undone")
    window.press("mpm.bake(")
    window.wait_until("view()['state'] == 'DONE'", limit=BAKING_SECONDS)


def test_a_preview_is_baked_and_removed(walk: Walk) -> None:
    window = walk.window
    window.press("mpm.preview(")
    window.wait_until("not is_live() and previewed()", limit=BAKING_SECONDS)
    walk.picture("preview")
    window.press("mpm.preview_free(")
    window.wait_until("not previewed()", limit=10)
    assert walk.state() == "DONE"


def test_live_starts_and_stops(walk: Walk) -> None:
    window = walk.window
    window.press("mpm.live(")
    window.wait_until("live_text().startswith('Frame')", limit=COMPILING_SECONDS)
    walk.picture("live")
    window.press("mpm.live(")
    window.wait_until("not live_text()", limit=20)
    walk.picture("live_over")
    assert window.ask("live_session.message()") == ""
    assert window.ask("previewed() and bool(open_cache(previews.folder(scene())).frames)")
    assert walk.state() == "DONE"


def test_surfaces_are_made_become_outdated_and_are_deleted(walk: Walk) -> None:
    window = walk.window
    walk.open("MPM_PT_surface")
    window.press("mpm.surface_make(")
    window.wait_until("made('surface') == {'made': len(baked()), 'outdated': 0}", limit=BAKING_SECONDS)
    walk.picture("surfaces")
    window.run("scene().mpm.surface.quality = 'draft'; edited()")
    window.wait_until("made('surface')['outdated'] == len(baked())", limit=20)
    walk.picture("surfaces_outdated")
    window.press("mpm.surface_make(")
    window.wait_until("made('surface') == {'made': len(baked()), 'outdated': 0}", limit=BAKING_SECONDS)
    window.press("mpm.surface_delete(")
    walk.confirm("delete_surfaces")
    window.wait_until("made('surface')['made'] == 0", limit=20)
    assert walk.state() == "DONE"


def test_the_pre_flight_answers(walk: Walk) -> None:
    window = walk.window
    walk.open("MPM_PT_preflight")
    window.press("mpm.preflight(")
    window.wait_until("preflight_answer()", limit=COMPILING_SECONDS)
    walk.picture("pre_flight")
    assert window.ask("preflight_answer()['particles']") > 100


def test_frames_of_another_version_of_the_file_are_not_called_baked(walk: Walk) -> None:
    window = walk.window
    path = window.inside(walk.files / "states.blend")
    window.run(f"bpy.ops.wm.save_as_mainfile(filepath={path!r})")
    window.run("scene().objects['Cube'].mpm.emitter.velocity = (0.5, 0.0, 0.0); edited()")
    window.wait_until("view()['state'] == 'OUTDATED'", limit=20)
    walk.open()
    window.press("mpm.bake_again(")
    walk.confirm("bake_all_again")
    window.wait_until("is_live() or view()['state'] == 'DONE'", limit=30)
    window.wait_until("not is_live() and view()['state'] == 'DONE'", limit=BAKING_SECONDS)
    window.run(f"bpy.ops.wm.open_mainfile(filepath={path!r})")
    window.run('result = show_sidebar("MPM")')
    walk.picture("reopened")
    assert walk.state() in ("OUTDATED", "UNKNOWN")
    assert not window.ask("previewed()"), "its frames were deleted by the bake"


def test_freeing_asks_and_leaves_an_empty_scene_of_objects(walk: Walk) -> None:
    window = walk.window
    window.press("mpm.bake_free(")
    walk.confirm("free")
    window.wait_until("view()['state'] == 'EMPTY'", limit=20)
    assert not window.ask("baked()")
    walk.picture("freed")


def test_blender_closes_and_its_console_shows_no_error(walk: Walk) -> None:
    walk.close("has no surface", "so it has no volume")
