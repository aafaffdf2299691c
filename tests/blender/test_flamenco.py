"""The job type for Flamenco: the tasks that it creates, whose command lines the programs accept."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import quickjs

from mpm_addon.blender.baking import shown_caches
from mpm_addon.blender.interface.operators import commands
from mpm_addon.blender.playback import particle_objects

from .scenes import write_cache

SCRIPT = Path(__file__).resolve().parents[2] / "presets" / "flamenco" / "mpm_bake_and_render.js"
MANAGER = Path(__file__).with_name("flamenco_manager.js")

SETTINGS = {
    "frames": "1-25",
    "chunk_size": 10,
    "cache": "/farm/caches/snow",
    "emitter": "",
    "render_output_root": "/farm/pictures",
    "render_output_path": "/farm/pictures/snow/{timestamp}/######",
    "blendfile": "/farm/jobs/snow.blend",
    "format": "PNG",
}

# The schema AvailableJobSetting of Flamenco Manager 3.
SETTING_KEYS = {
    "key",
    "type",
    "subtype",
    "choices",
    "propargs",
    "description",
    "default",
    "eval",
    "evalInfo",
    "visible",
    "required",
    "editable",
}
SETTING_TYPES = {"string": str, "int32": int, "float": float, "bool": bool}
SUBTYPES = {"file_path", "dir_path", "file_name", "hashed_file_path"}
VISIBILITIES = {"visible", "hidden", "submission", "web"}


@pytest.fixture
def manager() -> Callable[..., Any]:
    """Calls a function of the stand-in with the job type loaded, in its own engine."""
    context = quickjs.Context()
    context.eval(MANAGER.read_text(encoding="utf-8") + SCRIPT.read_text(encoding="utf-8"))
    return lambda name, *arguments: json.loads(context.get(name)(*arguments))


def compiled(manager: Callable[..., Any], **changes: Any) -> Any:
    return manager("compiled", "snow", json.dumps({**SETTINGS, **changes}))


def command_line(task: dict[str, Any]) -> list[str]:
    """The arguments that a worker passes to the program."""
    (command,) = task["commands"]
    assert command["name"] == "blender-render"
    parameters = command["parameters"]
    assert (parameters["exe"], parameters["exeArgs"]) == ("{blender}", "{blenderArgs}")
    # the default of {blenderArgs}
    return ["-b", "-y", *parameters["argsBefore"], parameters["blendfile"], *parameters["args"]]


def test_settings_are_as_the_manager_takes_them(manager: Callable[..., Any]) -> None:
    job_type = manager("jobType")
    assert job_type["label"]
    keys = [setting["key"] for setting in job_type["settings"]]
    assert sorted(keys) == sorted(SETTINGS)
    for setting in job_type["settings"]:
        assert set(setting) <= SETTING_KEYS
        assert setting["type"] in SETTING_TYPES
        assert setting.get("subtype", "file_path") in SUBTYPES
        assert setting.get("visible", "visible") in VISIBILITIES
        assert isinstance(setting.get("default", SETTING_TYPES[setting["type"]]()), SETTING_TYPES[setting["type"]])
        assert setting["description"]
        assert {"showLinkButton", "description"} == set(setting.get("evalInfo", ("showLinkButton", "description")))


def test_one_task_bakes_and_all_others_wait_for_it(manager: Callable[..., Any]) -> None:
    job = compiled(manager)
    assert [task["name"] for task in job["tasks"]] == ["bake", "render-1-10", "render-11-20", "render-21-25"]
    assert [task["dependencies"] for task in job["tasks"]] == [[], ["bake"], ["bake"], ["bake"]]
    assert {task["type"] for task in job["tasks"]} == {"blender"}
    assert job["settings"]["render_output_path"] == "/farm/pictures/snow/2026-01-02_030405/######"


@pytest.mark.parametrize("emitter", ["", 'Ball "one"'])
def test_the_bake_is_a_command_that_our_parser_takes(bpy: Any, manager: Callable[..., Any], emitter: str) -> None:
    line = command_line(compiled(manager, emitter=emitter)["tasks"][0])
    assert line[:5] == ["-b", "-y", "/farm/jobs/snow.blend", "--command", "mpm"]
    options = commands._parser().parse_args(line[5:])
    assert (options.cache, options.object, options.restart) == ("/farm/caches/snow", emitter, False)


def test_frames_are_rendered_into_the_output_in_blenders_words(manager: Callable[..., Any]) -> None:
    line = command_line(compiled(manager, frames="3, 5-10, 47-49", chunk_size=5)["tasks"][1])
    assert line[2] == "/farm/jobs/snow.blend"
    options = line[3 : line.index("--")]
    given = dict(zip(options[::2], options[1::2], strict=True))
    assert given["--render-frame"] == "3,5..8"
    assert given["--render-output"] == "/farm/pictures/snow/2026-01-02_030405/######"
    assert given["--render-format"] == "PNG"
    # an error in the script must fail the task, so it comes first; rendering comes last
    assert list(given)[:2] == ["--python-exit-code", "--python-expr"]
    assert list(given)[-1] == "--render-frame"
    assert line[line.index("--") + 1 :] == ["/farm/caches/snow", ""]


def test_the_script_of_a_render_shows_the_cache(bpy: Any, host: str, manager: Callable[..., Any], tmp_path: Path, monkeypatch: Any) -> None:
    if host == "fake":
        # the fake has no node trees
        monkeypatch.setattr(shown_caches.display, "dress", lambda _item, _looks: None)
    folder = write_cache(tmp_path / """it's a "cache" """.strip().replace('"', "" if sys.platform == "win32" else '"'), {1: 3})
    line = command_line(compiled(manager, cache=str(folder))["tasks"][1])
    bpy.context.scene.frame_set(1)
    monkeypatch.setattr(sys, "argv", ["blender", *line])
    exec(line[line.index("--python-expr") + 1], {})
    (item,) = particle_objects.result_objects(bpy.context.scene)
    assert len(item.data.vertices) == 3


@pytest.mark.blender
def test_the_settings_that_blender_fills_in_can_be_evaluated(bpy: Any, manager: Callable[..., Any], tmp_path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    names = {
        "bpy": bpy,
        "C": bpy.context,
        "Path": Path,
        "abspath": lambda path: Path(bpy.path.abspath(str(path))),
        "jobname": "snow",
        "settings": SimpleNamespace(render_output_root="/farm/pictures"),
    }
    found = {setting["key"]: eval(setting["eval"], names) for setting in manager("jobType")["settings"] if "eval" in setting}
    assert found == {
        "frames": "1-250",
        "cache": str(tmp_path / "cache_mpm"),
        "render_output_path": SETTINGS["render_output_path"],
        "format": "PNG",
    }


@pytest.mark.parametrize("cache", ["", "//cache_mpm", "cache_mpm", "../cache"])
def test_a_cache_that_workers_would_not_share_is_refused(manager: Callable[..., Any], cache: str) -> None:
    with pytest.raises(Exception, match="must be an absolute path that all workers share"):
        compiled(manager, cache=cache)


@pytest.mark.parametrize("cache", ["/farm/cache", "S:\\farm\\cache", "S:/farm/cache", "\\\\server\\farm", "{shared}/cache"])
def test_absolute_paths_of_every_system_are_taken(manager: Callable[..., Any], cache: str) -> None:
    assert command_line(compiled(manager, cache=cache)["tasks"][1])[-2] == cache


def test_videos_are_refused(manager: Callable[..., Any]) -> None:
    with pytest.raises(Exception, match="The scene renders a video"):
        compiled(manager, format="FFMPEG")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ('author.Command("bake", {})', 'no command is called "bake"'),
        ('author.Command("exec", {exe: "a"})', 'parameter "args" must be given'),
        ('author.Command("echo", {message: "a", loud: true})', 'no parameter "loud"'),
        ('author.Command("echo", {message: 3})', 'parameter "message" must be given as string'),
        ('author.Task("a", "baking")', "by default no worker takes"),
        ('author.Tusk("a", "misc")', "not a function"),
        ('frameChunker("1-x", 3)', "invalid range"),
    ],
)
def test_the_stand_in_is_strict(call: str, words: str) -> None:
    context = quickjs.Context()
    context.eval(MANAGER.read_text(encoding="utf-8"))
    with pytest.raises(quickjs.JSException, match=words):
        context.eval(call)
