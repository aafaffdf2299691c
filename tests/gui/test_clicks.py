"""From a mesh of one's own to a rendered picture in four steps, with the sidebar closed; a menu counts as one step."""

from tests.gui.conftest import BAKING_SECONDS, COMPILING_SECONDS, F12, Walk

FRAMES = 4


def test_one_the_mesh_is_clicked(walk: Walk) -> None:
    window = walk.window
    window.run(
        f"render = scene().render; render.engine = 'BLENDER_WORKBENCH'; scene().frame_end = {FRAMES}\n"
        "render.resolution_x, render.resolution_y, render.resolution_percentage = 480, 270, 100\n"
        "finished = []; bpy.app.handlers.render_complete.append(lambda *_: finished.append(1))\n"
        "[item.select_set(False) for item in scene().objects]; CONTEXT.view_layer.objects.active = None\n"
        "area_of('VIEW_3D')[1].spaces.active.show_region_ui = False"
    )
    left, top, width, height = window.run('result = box("VIEW_3D")')
    window.click(left + width // 2, top + height // 2)
    window.wait_until("[item.name for item in CONTEXT.selected_objects] == ['Cube']", limit=10)


def test_two_a_quick_effect_opens_the_tab(walk: Walk) -> None:
    window = walk.window
    walk.choose("VIEW3D_MT_object_quick_effects", "mpm.quick(material='snow'", columns=1)
    window.wait_until("emitters() == ['Cube']", limit=20)
    window.wait_until("region_of('VIEW_3D', 'UI')[2].active_panel_category == 'MPM'", limit=10)
    assert window.ask("area_of('VIEW_3D')[1].spaces.active.show_region_ui")
    walk.picture("tab")


def test_three_its_button_bakes(walk: Walk) -> None:
    walk.press_and_bake("mpm.bake(")
    assert walk.window.ask("points()['count']") > 10_000
    walk.picture("baked")


def test_four_f12_renders(walk: Walk) -> None:
    window = walk.window
    window.move(*walk.viewport())
    window.key(F12)
    window.wait_until("finished", limit=300)
    walk.picture("rendered")
    window.key("Escape")


def test_the_panel_that_adjusts_a_quick_effect_starts_the_bake(walk: Walk) -> None:
    window = walk.window
    window.run("bpy.ops.wm.read_homefile()")
    window.run(f"scene().frame_end = {FRAMES}; select('Cube'); edited()")
    walk.choose("VIEW3D_MT_object_quick_effects", "mpm.quick(material='snow'", columns=1)
    window.wait_until("emitters() == ['Cube']", limit=20)
    walk.tick_last_setting("bake_at_once")
    window.wait_until("is_live()", limit=20)
    assert window.ask("emitters()") == ["Cube"]
    walk.picture("adjusted")
    window.wait_until("not is_live() and view()['state'] == 'DONE'", limit=BAKING_SECONDS + COMPILING_SECONDS)
    window.key("Escape")  # the panel would take the keys
    window.run("undone = []; bpy.app.handlers.undo_post.append(lambda *_: undone.append(1))")
    walk.undo()
    window.wait_until("undone", limit=10)
    assert window.ask("emitters()") == ["Cube"]


def test_blender_closes_and_its_console_shows_no_error(walk: Walk) -> None:
    walk.close()
