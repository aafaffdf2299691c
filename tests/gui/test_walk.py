"""The first steps of an artist in a real window: add, bake by mouse, cancel, resume, play, render, save, reopen."""

import re

import pytest
from PIL import Image

from tests.gui.conftest import BAKING_SECONDS, COMPILING_SECONDS, F12, Walk
from tools.gui.cut_texts import cut_texts
from tools.gui.menus import find_entry, open_by_key

# More than any computer bakes before its buttons are found and pressed.
ENDLESS = 2000
# At the end, the bake is let finish with at least this many.
FRAMES = 24


def test_the_sidebar_has_the_tab_after_the_installation(walk: Walk) -> None:
    box = walk.window.run('result = show_sidebar("MPM")')
    assert box[2] > 100
    walk.picture("empty_file")


def test_a_ready_scene_is_added_from_the_menu(walk: Walk) -> None:
    window = walk.window
    menu = open_by_key(window, walk.viewport(height=0.2), "shift+a")
    find_entry(window, menu, "mpm.add_ready_scene(scene='snowball'")
    walk.picture("add_menu")
    window.mouse("click", "1")
    window.wait_until("any(item.mpm.type == 'emitter' for item in scene().objects)", limit=20)
    window.run(f"scene().frame_end = {ENDLESS}")
    window.run('result = show_properties("PHYSICS")')
    window.run('result = show_sidebar("MPM")')
    walk.picture("ready_scene")


def test_the_button_bakes_and_the_panel_tells_how_far_it_is(walk: Walk) -> None:
    window = walk.window
    assert window.ask("view()['state']") == "EMPTY"
    window.press("mpm.bake(")
    window.wait_until("is_live()", limit=20)
    walk.picture("preparing")
    left, top, width, height = window.run('result = box("VIEW_3D", "UI")')
    sidebar = (left, top, left + width, top + height)
    window.wait_until("view()['state'] == 'BAKING'", limit=COMPILING_SECONDS)
    first_text, first_picture = window.ask("view()['text']"), _settled(walk, sidebar)
    window.wait_until(f"view()['text'] != {first_text!r} and len(baked()) >= 5", limit=BAKING_SECONDS)
    assert re.match(r"Baking \d+%", window.ask("view()['text']"))
    assert first_picture.tobytes() != _settled(walk, sidebar).tobytes(), "the panel shows the same as before"
    walk.picture("baking")


def test_the_frames_that_are_there_are_shown_while_the_rest_is_baked(walk: Walk) -> None:
    # Follow Bake takes the timeline along
    walk.window.wait_until("scene().frame_current >= 5 and points()['count'] > 1000", limit=60)
    assert walk.window.ask("is_live()"), "the bake was over before it could be looked at"
    walk.picture("frame_of_running_bake")


def test_cancel_ends_the_bake_and_the_frames_stay(walk: Walk) -> None:
    window = walk.window
    window.press("mpm.bake_cancel(")
    window.wait_until("not is_live()", limit=30)
    window.wait_until("view()['state'] == 'RESUMABLE'", limit=10)
    frames = window.ask("baked()")
    wanted = window.ask("wanted()")
    assert 1 <= len(frames) < len(wanted)
    assert f"{len(frames)} of {len(wanted)} frames" in window.ask("view()['text']")
    walk.picture("cancelled")


def test_the_bake_is_resumed_and_paused(walk: Walk) -> None:
    window = walk.window
    there = len(window.ask("baked()"))
    window.press("mpm.bake(")
    window.wait_until("view()['state'] == 'BAKING'", limit=COMPILING_SECONDS)
    assert len(window.ask("baked()")) >= there
    # lines that appear later would move the button from under the mouse
    window.wait_until("'frames, ' in view()['text']", limit=60)
    window.press("mpm.bake_pause(")
    window.wait_until("view()['state'] == 'PAUSED'", limit=60)
    walk.picture("paused")
    window.press("mpm.bake_pause(")
    window.wait_until("view()['state'] == 'BAKING'", limit=60)
    window.press("mpm.bake_cancel(")
    window.wait_until("view()['state'] == 'RESUMABLE'", limit=30)


def test_fewer_frames_are_wanted_and_the_bake_finishes(walk: Walk) -> None:
    window = walk.window
    window.run(f"scene().frame_end = max({FRAMES}, len(baked()) + 4)")
    assert window.ask("view()['state']") == "RESUMABLE"
    window.press("mpm.bake(")
    window.wait_until("is_live()", limit=30)
    window.wait_until("not is_live()", limit=BAKING_SECONDS)
    assert window.ask("baked()") == window.ask("wanted()")
    window.wait_until("view()['state'] == 'DONE'", limit=10)
    walk.picture("baked")


def test_the_timeline_plays_the_frames(walk: Walk) -> None:
    window = walk.window
    window.run("scene().frame_set(1)")
    first = window.ask("points()")
    window.move(*walk.viewport())
    window.key("space")
    window.wait_until("scene().frame_current >= 12", limit=60)
    # at once: the last frame is followed by the first
    later = window.ask("points()")
    walk.picture("playing")
    window.key("space")
    assert later["count"] == first["count"]
    assert later["middle"][0] > first["middle"][0] + 0.1, "the snowball does not fly"


def test_a_picture_is_rendered(walk: Walk) -> None:
    window = walk.window
    window.run(
        "scene().frame_set(20); render = scene().render; render.engine = 'BLENDER_WORKBENCH'\n"
        "render.resolution_x, render.resolution_y, render.resolution_percentage = 480, 270, 100\n"
        "finished = []; bpy.app.handlers.render_complete.append(lambda *_: finished.append(1))"
    )
    window.move(*walk.viewport())
    window.key(F12)
    window.wait_until("finished", limit=300)
    walk.picture("rendered")
    path = walk.window.folder / "rendered.png"
    window.run(f"bpy.data.images['Render Result'].save_render({window.inside(path)!r}, scene=scene())")
    with Image.open(path) as picture:
        colors = picture.convert("RGB").getcolors(maxcolors=480 * 270)
    assert colors is not None
    assert len(colors) > 50, "the picture is empty"
    window.key("Escape")


def test_frames_are_shown_after_saving_and_opening_again(walk: Walk) -> None:
    window = walk.window
    before = window.ask("points()")
    path = window.inside(walk.files / "walk.blend")
    window.run(f"bpy.ops.wm.save_as_mainfile(filepath={path!r})")
    window.run("bpy.ops.wm.read_homefile()")
    window.run(f"bpy.ops.wm.open_mainfile(filepath={path!r})")
    window.wait_until("points()['count']", limit=20)
    again = window.ask("points()")
    assert again["count"] == before["count"]
    assert again["middle"] == pytest.approx(before["middle"])
    window.run('result = show_sidebar("MPM")')
    walk.picture("opened_again")


@pytest.mark.parametrize(("scale", "theme"), [(1.0, "Blender_Dark"), (1.5, "Blender_Light"), (2.0, "Blender_Dark")])
def test_no_text_in_the_sidebar_is_cut(walk: Walk, scale: float, theme: str) -> None:
    window = walk.window
    # behind the panels, nothing that looks like dots
    window.run("space = area_of('VIEW_3D')[1].spaces.active; space.shading.type = 'WIREFRAME'; space.overlay.show_overlays = False")
    window.run("[item.hide_set(True) for item in scene().objects]")
    tab = f"All{theme}{100 * scale:.0f}"
    window.run(f"open_all_panels({tab!r}); choose_theme({theme!r}); CONTEXT.preferences.view.ui_scale = {scale}")
    window.run(f"result = show_sidebar({tab!r})")
    found: dict[int, list[tuple[int, int]]] = {}
    for number, page in enumerate(window.pages("VIEW_3D", "UI"), 1):
        page.save(walk.folder / f"sidebar_{scale:.0%}_{theme}_{number:02d}.png")
        found[number] = cut_texts(page, scale)
    window.run("forget_copies()")
    assert not any(found.values()), f"cut texts in the pictures sidebar_{scale:.0%}_{theme}: {found}"


def test_the_add_on_goes_and_comes_without_a_word(walk: Walk) -> None:
    window = walk.window
    window.run("bpy.ops.preferences.addon_disable(module='bl_ext.user_default.mpm_addon')")
    assert not window.ask("hasattr(bpy.types.Scene, 'mpm')")
    walk.picture("disabled")
    window.run("bpy.ops.preferences.addon_enable(module='bl_ext.user_default.mpm_addon')")
    assert window.ask("hasattr(bpy.types.Scene, 'mpm')")


def test_blender_closes_and_its_console_shows_no_error(walk: Walk) -> None:
    walk.close()


def _settled(walk: Walk, box: tuple[int, int, int, int]) -> Image.Image:
    """The region of the screen after the panel has been drawn."""
    walk.window.run("result = (None for _ in range(10))")
    return walk.window.picture().crop(box)
