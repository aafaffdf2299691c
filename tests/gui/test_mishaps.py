"""What goes wrong around a bake, by mouse: undo after each step, exports, a process that dies, a limit, no numba."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.gui.conftest import BAKING_SECONDS, COMPILING_SECONDS, Walk

FRAMES = 4
# More than the steps of undo between a bake and the frames that it showed.
_UNDONE_STEPS = 3


def test_water_is_baked(walk: Walk) -> None:
    window = walk.window
    window.run('result = show_sidebar("MPM")')
    window.run("select('Cube'); CONTEXT.preferences.view.filebrowser_display_type = 'SCREEN'")
    window.press("mpm.quick(material='water'")
    window.wait_until("emitters() == ['Cube']", limit=60)
    path = window.inside(walk.files / "mishaps.blend")
    window.run(f"scene().frame_end = {FRAMES}; scene().mpm.solver.grid_spacing *= 2.0; bpy.ops.wm.save_as_mainfile(filepath={path!r})")
    window.run("edited('smaller')")
    walk.press_and_bake("mpm.bake(")
    walk.picture("baked")


def test_undo_after_a_bake_keeps_its_frames_and_a_click_shows_them(walk: Walk) -> None:
    window = walk.window
    for _ in range(_UNDONE_STEPS):
        if walk.state() != "NOT_SHOWN":
            walk.undo()
            window.run("result = (None for _ in range(10))")
    window.wait_until("view()['state'] == 'NOT_SHOWN'", limit=20)
    walk.picture("bake_undone")
    assert window.ask("emitters()") == ["Cube"]
    assert window.ask("baked()") == list(range(1, FRAMES + 1))
    window.press("mpm.show(")
    window.wait_until("view()['state'] == 'DONE'", limit=30)
    # the bake has made a surface, which covers the particles
    assert window.ask("len(scene().objects[derived_objects('surface')[0]].data.vertices)") > 100
    walk.picture("shown_again")


@pytest.mark.parametrize("kind", ["surface", "foam"])
def test_undo_of_what_comes_after_derived_data_leaves_it(walk: Walk, kind: str) -> None:
    window = walk.window
    walk.open(f"MPM_PT_{kind}")
    window.press(f"mpm.{kind}_make(")
    window.wait_until(f"made({kind!r}) == {{'made': len(baked()), 'outdated': 0}}", limit=COMPILING_SECONDS)
    window.wait_until(f"not is_deriving({kind!r})", limit=30)
    shown = window.ask(f"derived_objects({kind!r})")
    assert len(shown) == 1
    walk.picture(kind)
    window.run("before = scene().objects['Light'].location.x; scene().objects['Light'].location.x += 1.0; edited('move the light')")
    walk.undo()
    window.wait_until("scene().objects['Light'].location.x == before", limit=20)
    assert window.ask(f"derived_objects({kind!r})") == shown
    assert window.ask(f"made({kind!r})") == {"made": FRAMES, "outdated": 0}
    walk.picture(f"{kind}_after_undo")
    walk.redo()
    window.wait_until("scene().objects['Light'].location.x > before", limit=20)
    assert window.ask(f"derived_objects({kind!r})") == shown


def test_points_are_exported_in_the_file_browser(walk: Walk) -> None:
    window = walk.window
    walk.open("MPM_PT_export")
    window.press("mpm.export_points(")
    window.wait_until("file_dialog() is not None", limit=30)
    walk.picture("export")
    window.run("file_dialog().active_operator.format = 'ply'; file_dialog().params.filename = 'particles.ply'")
    _accept(walk)
    window.wait_until("file_dialog() is None", limit=BAKING_SECONDS)
    written = sorted(path.name for path in walk.files.glob("particles_ply/*.ply"))
    assert len(written) == FRAMES, written
    walk.picture("exported")


def test_a_format_that_this_blender_lacks_is_named(walk: Walk) -> None:
    window = walk.window
    window.press("mpm.export_points(")
    window.wait_until("file_dialog() is not None", limit=30)
    window.run("file_dialog().active_operator.format = 'usdc'; file_dialog().params.filename = 'particles.usdc'")
    _accept(walk)
    window.wait_until("file_dialog() is None", limit=BAKING_SECONDS)
    walk.picture("export_without_usd")
    assert "USD" in window.run("result = last_report()")
    assert not list(walk.files.glob("*.usdc"))
    window.key("Escape")


def test_the_scene_is_published(walk: Walk) -> None:
    window = walk.window
    window.press("mpm.publish(")
    window.wait_until("file_dialog() is not None", limit=30)
    walk.picture("publish")
    _accept(walk)
    window.wait_until("file_dialog() is None", limit=BAKING_SECONDS)
    walk.picture("published")
    found = [path.name for path in walk.files.glob("published/*.blend")]
    if window.ask("bpy.app.build_options.usd"):
        assert found == ["mishaps.blend"]
    else:
        report = window.run("result = last_report()")
        assert "/published/" in report
        assert "without USD" in report
        assert not found
    window.key("Escape")
    assert walk.state() == "DONE"


def test_a_bake_whose_process_dies_is_resumed(walk: Walk) -> None:
    window = walk.window
    walk.open()
    window.run("scene().frame_end = 60; edited('more frames')")
    window.wait_until("view()['state'] == 'RESUMABLE'", limit=20)
    window.press("mpm.bake(")
    window.wait_until(f"len(baked()) > {FRAMES}", limit=COMPILING_SECONDS)
    os.kill(_process_of_bake(walk), signal.SIGKILL)
    window.wait_until("view()['state'] == 'FAILED'", limit=60)
    walk.picture("killed")
    window.key("Escape")
    assert "SIGKILL" in window.ask("view()['text']")
    there = window.ask("baked()")
    assert len(there) > FRAMES
    window.run(f"scene().frame_end = {there[-1] + 1}; edited('fewer frames')")
    walk.press_and_bake("mpm.bake(")
    assert window.ask("baked()")[: len(there)] == there


def test_a_bake_stops_at_a_limit_and_says_which(walk: Walk) -> None:
    window = walk.window
    window.run("scene().frame_end += 2; limits = scene().mpm.cache_settings; limits.use_size_limit, limits.size_limit = True, 1e-4")
    window.run("edited('a limit')")
    window.press("mpm.bake(")
    window.wait_until("not is_live() and view()['state'] == 'LIMITED'", limit=BAKING_SECONDS)
    walk.picture("limited")
    window.key("Escape")
    assert "Size Limit" in window.ask("view()['text']")
    window.run("scene().mpm.cache_settings.use_size_limit = False; edited('no limit')")
    walk.press_and_bake("mpm.bake(")


def test_without_numba_the_panel_says_so_and_offers_no_bake(walk: Walk) -> None:
    window = walk.window
    with _hidden(_numba(walk)):
        window.wait_until("view()['state'] == 'UNAVAILABLE'", limit=20)
        window.run("area_of('VIEW_3D')[1].tag_redraw(); select('Cube'); result = show_properties('PHYSICS')")
        walk.picture("without_numba")
        assert "Numba is missing" in window.ask("view()['text']")
    window.wait_until("view()['state'] == 'DONE'", limit=20)


def test_blender_closes_and_its_console_shows_no_error(walk: Walk) -> None:
    walk.close("SIGKILL", "USD")


def _accept(walk: Walk) -> None:
    """Press the main button of the file browser by its key."""
    left, top, width, height = walk.window.run('result = box("FILE_BROWSER")')
    walk.window.move(left + width // 2, top + height // 2)
    walk.window.key("Return")


def _process_of_bake(walk: Walk) -> int:
    """The bake's process on this machine."""
    run = f"MPM_GUI_RUN={walk.window.place.inside(walk.window.folder)}\0".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if b"bake" in words and b"mpm_addon" in words and run in (folder / "environ").read_bytes():
                return int(folder.name)
        except OSError:  # it has ended
            continue
    raise AssertionError("no process bakes")


def _numba(walk: Walk) -> Path:
    return next((walk.window.home / "blender").glob("extensions/.local/lib/python*/site-packages/numba"))


@contextmanager
def _hidden(folder: Path) -> Iterator[None]:
    """A folder under another name."""
    other = folder.with_name(f"{folder.name}_hidden")
    folder.rename(other)
    try:
        yield
    finally:
        other.rename(folder)
