"""The panels of the bake: states, takes, statistics, the queue; the strip on the timeline; folder and command."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.baking import bake_facts, cache_watch, session, unstable
from mpm_addon.blender.baking.bake_view import Progress, State, view_of
from mpm_addon.blender.host.registrar import Registrar
from mpm_addon.blender.host.runtime import runtime
from mpm_addon.blender.host.wording import problem_and_remedy
from mpm_addon.blender.interface import timeline
from mpm_addon.blender.interface.operators import cache_operators
from mpm_addon.blender.interface.panels import all_panels, bake_panels, graph_picture, graphs
from mpm_addon.blender.playback import particle_objects
from mpm_addon.blender.reading import freshness
from mpm_addon.storage import open_cache
from mpm_addon.storage.failure import write_failure
from mpm_addon.storage.overview import CacheWatch
from tests.blender.blender_state import Subscriptions
from tests.blender.scenes import add_emitter, add_mesh, error_of, failure, write_cache


@pytest.fixture(autouse=True)
def looked_at_anew(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(freshness, "REST", 0.0)
    monkeypatch.setattr(cache_watch, "REST", 0.0)
    monkeypatch.setattr(cache_watch, "SLICE", 60.0)
    runtime.forget(freshness.Baked)


@pytest.fixture
def cache(bpy: Any, tmp_path: Path) -> Path:
    """A cache of three frames, which the scene shows."""
    folder = write_cache(tmp_path / "cache", {1: 3, 2: 4, 3: 5})
    bpy.context.scene.mpm.cache = str(folder)
    return folder


def operators_of(layout: Any) -> list[tuple[str, str]]:
    return [(call.arguments["operator"], call.arguments.get("text", "")) for call in layout.find("operator")]


def test_a_scene_without_simulation_offers_three_ways_to_begin_and_nothing_else(bpy: Any, draw: Any) -> None:
    add_mesh(bpy, "Bystander")
    beginning = draw(bake_panels.MPM_PT_bake)
    assert {each for each, _ in operators_of(beginning)} - {"mpm.help"} == {"mpm.quick", "mpm.quick_collider"}
    assert beginning.find("menu", "MPM_MT_ready_scenes")
    top = [panel for panel in all_panels.CLASSES if getattr(panel, "bl_category", "")]
    assert [panel.__name__ for panel in top if draw(panel) is not None] == ["MPM_PT_bake"]
    add_emitter(bpy)
    assert draw(bake_panels.MPM_PT_bake).find("operator", "mpm.quick") == []
    shown = [panel for panel in top if draw(panel) is not None]
    assert {"MPM_PT_objects", "MPM_PT_quality", "MPM_PT_output", "MPM_PT_advanced"} <= {panel.__name__ for panel in shown}


def test_no_panel_of_the_sidebar_comes_or_goes_with_the_selection(bpy: Any, draw: Any, cache: Path) -> None:
    emitter, plain = add_emitter(bpy), add_mesh(bpy, "Bystander")
    particle_objects.result_object(bpy.context.scene, str(cache))
    shown = []
    for item in (emitter, plain, None):
        bpy.context.view_layer.objects.active = item
        shown.append([each.__name__ for each in all_panels.CLASSES if getattr(each, "bl_category", "") and draw(each) is not None])
    assert shown[0] == shown[1] == shown[2]


def test_a_running_bake_shows_its_progress_and_can_be_stopped(bpy: Any, draw: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_emitter(bpy)
    assert draw(bake_panels.MPM_PT_bake).find("operator", "mpm.bake") != []
    progress = Progress(State.BAKING, 0.25, {"frame": 13, "done": 12, "total": 48})
    result = SimpleNamespace(scene=bpy.context.scene)
    monkeypatch.setattr(session, "current", lambda: SimpleNamespace(progress=progress, folder=tmp_path, result=result, object_name=""))
    layout = draw(bake_panels.MPM_PT_bake)
    assert layout.find("progress")[0].arguments["factor"] == 0.25
    assert {"Baking 25%", "Frame 13", "12 of 48 frames"} <= set(layout.texts())
    assert layout.find("operator", "mpm.bake_cancel") != []
    assert layout.find("operator", "mpm.bake_pause")[0].arguments["text"] == "Pause"
    assert layout.find("operator", "mpm.bake") == []
    other = bpy.data.scenes.new("Other")
    result.scene = other
    assert 'Scene "Other"' in draw(bake_panels.MPM_PT_bake).texts()


def test_a_changed_scene_is_shown_as_out_of_date(bpy: Any, draw: Any, cache: Path) -> None:
    scene = bpy.context.scene
    emitter = add_emitter(bpy)
    scene.frame_end = 3
    item = particle_objects.result_object(scene, scene.mpm.cache)
    freshness.note(item, open_cache(cache).manifest["scene_hash"], freshness.digest(scene))
    note = "The scene has changed since the bake"
    layout = draw(bake_panels.MPM_PT_bake)
    assert note not in layout.texts()
    assert "Baked: 3 frames" in layout.texts()
    emitter.mpm.material.preset = "snow"
    scene.frame_set(2)
    layout = draw(bake_panels.MPM_PT_bake)
    assert note in layout.texts()
    shown = [each for each in operators_of(layout) if each[0].startswith("mpm.bake")]
    assert shown[:3] == [("mpm.bake_again", "Bake Again"), ("mpm.bake", "From Frame 2"), ("mpm.bake_free", "")]
    assert layout.find("operator", "mpm.bake")[0].arguments["settings"] == {"from_frame": 2, "object": ""}
    emitter.mpm.material.preset = "water"
    assert note not in draw(bake_panels.MPM_PT_bake).texts()


def test_the_panel_says_what_made_the_bake_stop(bpy: Any, draw: Any, host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if host == "fake":
        # the fake has no node trees
        monkeypatch.setattr(unstable.display, "dress", lambda *_arguments, **_options: None)
    scene = bpy.context.scene
    scene.mpm.cache = str(write_cache(tmp_path / "cache", {1: 3}))
    assert draw(bake_panels.MPM_PT_bake).find("operator", "mpm.select_unstable") == []
    write_failure(tmp_path / "cache", failure(2))
    unstable.refresh(scene, scene.mpm.cache)
    layout = draw(bake_panels.MPM_PT_bake)
    assert layout.find("operator", "mpm.select_unstable") != []
    assert " ".join(problem_and_remedy(failure(2).message)) in " ".join(layout.texts())


def test_an_error_before_the_bake_stays_readable_until_the_next(bpy: Any, host: str, draw: Any, cache: Path) -> None:
    said = error_of(bpy.ops.mpm.bake)
    layout = draw(bake_panels.MPM_PT_bake)
    assert "The bake failed" in layout.texts()
    assert " ".join(layout.texts()).count("has no emitter") == 1
    assert bpy.ops.mpm.copy_message() == {"FINISHED"}
    wrong, _, remedy = said.removesuffix(".").partition("; ")
    # without a window, the real Blender has no clipboard
    copied = bpy.context.window_manager.clipboard if host == "fake" else view_of(bake_facts.facts_of(bpy.context.scene)).text
    assert wrong in copied
    assert remedy[1:] in copied
    assert bpy.ops.mpm.bake_free() == {"FINISHED"}
    assert "The bake failed" not in draw(bake_panels.MPM_PT_bake).texts()


def test_the_active_emitter_has_a_bake_of_its_own(bpy: Any, draw: Any, tmp_path: Path) -> None:
    add_mesh(bpy, "Bystander")
    bpy.context.scene.mpm.cache = str(write_cache(tmp_path / "cache", {1: 3}))
    layout = draw(bake_panels.MPM_PT_bake_alone)
    assert layout.find("operator") == [] and "Select an emitter" in " ".join(layout.texts())
    bpy.context.scene.mpm.cache = "//cache_mpm"
    add_emitter(bpy, "Snowman")
    layout = draw(bake_panels.MPM_PT_bake_alone)
    assert layout.find("operator", "mpm.bake")[0].arguments["settings"] == {"object": "Snowman"}
    shown = "".join(layout.texts())
    assert "Snowman, in" in shown and "cache_Snowman" in shown


def test_statistics_are_drawn_with_their_numbers(bpy: Any, draw: Any, cache: Path) -> None:
    layout = draw(bake_panels.MPM_PT_statistics)
    # without a window, Blender has no icons, and empty pictures are not drawn
    assert layout.find("template_icon") == []
    assert {"Particles: max 5", "Substeps per Frame: max 1", "Seconds per Frame: unknown"} <= set(layout.texts())
    assert any(text.startswith("3 frames in ") for text in layout.texts())
    icon = graphs.picture(cache, cache_watch.overview(cache)).icon
    assert graphs.picture(cache, cache_watch.overview(cache)).icon == icon
    bpy.context.scene.mpm.cache = str(cache) + "_other"
    assert draw(bake_panels.MPM_PT_statistics) is None


def test_a_graph_rises_to_its_greatest_value_and_leaves_gaps_empty() -> None:
    values = np.array([0.0, 1.0, 2.0, np.nan, np.nan, 4.0])
    color = (1.0, 0.0, 0.0)
    pixels = graph_picture.picture([graph_picture.Curve("a", "", color, values)], 60, 50)
    assert pixels.shape == (50, 60, 4)
    red = (pixels[..., 0] - pixels[..., 1]) > 0.2
    heights = np.where(red.any(axis=0), 49 - red[::-1].argmax(axis=0), 0)
    assert heights[-1] >= 44
    assert np.all(heights[34:52] == 0)
    assert np.all(np.diff(heights[:24]) >= 0)
    # more frames than columns: the maximum in each column counts
    long = np.zeros(6000)
    long[3000] = 1.0
    pixels = graph_picture.picture([graph_picture.Curve("a", "", color, long)], 60, 50)
    assert pixels[44, 30, 0] > 0.8


# The timeline.


class View2D:
    """Frame 0 is at 100 pixels, and a frame is ten pixels wide."""

    def view_to_region(self, x: float, _y: float, clip: bool) -> tuple[int, int]:
        assert not clip
        return round(100 + 10 * x), 0


def test_the_strip_shows_what_is_baked_out_of_date_and_missing(cache: Path) -> None:
    (cache / "takes" / "0001" / "frames" / "frame_000002.mpm").unlink()
    found = CacheWatch(cache).look()
    assert found is not None
    drawn = timeline.strips(found, (1, 9), is_outdated=False)
    assert drawn == [(1, 9, "missing"), (1, 1, "baked"), (3, 3, "baked")]
    assert {strip.kind for strip in timeline.strips(found, (1, 9), is_outdated=True)} == {"missing", "outdated"}
    region = SimpleNamespace(view2d=View2D(), width=130, height=200)
    assert timeline.rectangles(drawn, region, 2.0) == [
        (105, 146.0, 130, 154.0, "missing"),
        (105, 146.0, 115, 154.0, "baked"),
        (125, 146.0, 130, 154.0, "baked"),
    ]
    region.width = 90
    assert timeline.rectangles(drawn, region, 1.0) == []


def test_the_strip_is_that_of_the_cache_that_is_shown(bpy: Any, cache: Path, tmp_path: Path) -> None:
    scene = bpy.context.scene
    found = bake_facts.shown_overview(scene)
    assert found is not None and list(found[0].rows) == [1, 2, 3]
    scene.mpm.cache = str(tmp_path / "nothing")
    assert bake_facts.shown_overview(scene) is None
    particle_objects.result_object(scene, str(cache))
    found = bake_facts.shown_overview(scene)
    assert found is not None and list(found[0].rows) == [1, 2, 3]


def test_nothing_is_drawn_without_a_window(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bpy.app.background
    handed_out, registrar = Subscriptions(bpy, monkeypatch), Registrar()
    timeline.register(registrar)
    assert handed_out.left() == {}
    registrar.take_back()


# The folder, and the command.


def test_a_folder_that_is_not_there_is_told(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bpy.context.scene.mpm.cache = str(tmp_path / "cache")
    assert error_of(bpy.ops.mpm.open_cache_folder) == f"{tmp_path / 'cache'} does not exist yet; bake, or choose the folder of a bake."


def test_the_command_line_is_quoted_and_names_file_scene_and_emitter(bpy: Any, host: str, cache: Path, tmp_path: Path) -> None:
    scene = bpy.context.scene
    assert error_of(bpy.ops.mpm.copy_command) == "The file is not saved, so no command can bake it; save it first."
    path = str(tmp_path / "my file.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    command = cache_operators.blender_command(scene)
    assert bpy.ops.mpm.copy_command() == {"FINISHED"}
    assert host != "fake" or bpy.context.window_manager.clipboard == command
    program, *words = shlex.split(command)
    assert words == ["-b", path, "--command", "mpm", "bake"]
    assert Path(program).name.startswith(("blender", "python"))
    bpy.data.scenes.new("Other")
    words = shlex.split(cache_operators.blender_command(scene, "Big Cube"))
    assert words[3:] == ["--scene", scene.name, "--command", "mpm", "bake", "--object", "Big Cube"]
    assert cache_operators.quoted(["a b", "c"]) == "'a b' c"
    words = shlex.split(cache_operators.python_command(scene))
    assert words[0].startswith("PYTHONPATH=")
    assert words[2:] == ["-m", "mpm_addon", "bake", str(cache / "takes" / "0001" / "scene"), "--cache", str(cache)]
