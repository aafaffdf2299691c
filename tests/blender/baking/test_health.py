"""Each problem of an installation is one clear line with its remedy, and everything else works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.baking import health, session, worker
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.interface import preferences
from mpm_addon.blender.interface.panels import bake_panels, notice_panels, object_panels
from mpm_addon.blender.playback import particle_objects
from mpm_addon.core.errors import MpmError
from mpm_addon.core.messages import NOTHING
from mpm_addon.storage import container
from tests.blender.scenes import add_emitter, error_of, write_cache


@pytest.fixture(autouse=True)
def looked_at_anew() -> Any:
    health.forget()
    yield
    health.forget()


def spec(folder: Path) -> SimpleNamespace:
    return SimpleNamespace(origin=str(folder / "__init__.py"))


def installed(tmp_path: Path, *, suffix: str = "", library: str = "") -> Any:
    """A `find_spec` that finds numba and llvmlite with these files."""
    for name in ("numba", "llvmlite"):
        (tmp_path / name / "binding").mkdir(parents=True, exist_ok=True)
    (tmp_path / "numba" / f"_dispatcher{suffix}").touch()
    if library:
        (tmp_path / "llvmlite" / "binding" / library).touch()
    return lambda name: spec(tmp_path / name)


def test_an_installation_that_is_whole_has_nothing_to_say(bpy: Any) -> None:
    assert health.lines() == []
    health.require_baking()


def test_numba_of_another_python_or_platform_is_one_line(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health.importlib.util, "find_spec", installed(tmp_path, suffix=".cp39-win_arm64.pyd"))
    (line,) = health.lines()
    assert line.startswith("numba is built for another Python or platform than this Blender's (Python 3.")
    assert error_of(lambda: bpy.ops.mpm.bake()) == line


def test_llvmlite_of_another_platform_is_one_line(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = installed(tmp_path, suffix=health.EXTENSION_SUFFIXES[0], library="llvmlite.of_another_system")
    monkeypatch.setattr(health.importlib.util, "find_spec", found)
    assert [line for line in health.lines() if line.startswith("llvmlite is built for another platform")] != []


@pytest.mark.parametrize(("present", "fits"), [("1.21.0", False), ("1.22", True), ("2.5.1", True), ("2.6.0", False), ("3.0.0rc1", False)])
def test_the_versions_of_numpy_are_those_that_numba_says(present: str, fits: bool) -> None:
    found = health.numpy_problem(present, "<2.6,>=1.22")
    assert bool(found) != fits
    assert fits or (f"numpy {present} of this Blender" in found.problem and "(<2.6,>=1.22)" in found.problem)


def test_numba_says_which_versions_of_numpy_it_takes() -> None:
    assert health.numpy_problem("0.1", health._wanted_numpy())


def test_without_zstandard_frames_say_why_they_are_not_shown(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    item = particle_objects.result_object(bpy.context.scene, str(write_cache(tmp_path / "cache", {1: 5})))
    monkeypatch.setattr(container, "zstandard", None)
    bpy.context.scene.frame_set(1)
    assert len(item.data.vertices) == 0
    assert particle_objects.status(item) == container.MISSING
    assert health.lines() == [in_blender(container.MISSING)]
    assert error_of(bpy.ops.mpm.bake) == in_blender(container.MISSING)
    monkeypatch.undo()
    bpy.context.scene.frame_set(1)
    assert len(item.data.vertices) == 5


def test_frames_play_where_nothing_can_be_baked(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health.importlib.util, "find_spec", lambda _name: None)
    item = particle_objects.result_object(bpy.context.scene, str(write_cache(tmp_path / "cache", {1: 5, 2: 6})))
    bpy.context.scene.frame_set(2)
    assert (len(item.data.vertices), particle_objects.status(item)) == (6, NOTHING)
    with pytest.raises(MpmError, match="numba is missing"):
        session.require_numba()


def test_the_interface_comes_up_without_any_bundled_package(tmp_path: Path) -> None:
    """In a separate process, in which the names of bundled packages lead to modules that fail to load."""
    for name in ("numba", "llvmlite", "zstandard", "plyfile", "tomli_w"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('DLL load failed: it is for another system')\n")
    script = (
        "from tests import fakes; blender = fakes.install(); import mpm_addon; mpm_addon.register(); "
        "from mpm_addon.blender.baking import health; print(*health.lines(), sep='\\n'); mpm_addon.unregister(); print(blender.leftovers())"
    )
    root = Path(__file__).parents[3]
    path = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(root)!r}]; "
    done = subprocess.run([sys.executable, "-c", path + script], capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 0, done.stderr
    *lines, left = done.stdout.strip().splitlines()
    assert left == "[]"
    assert [line.partition(" ")[0] for line in lines] == ["numba", "zstandard"]


def test_a_worker_that_cannot_load_numba_says_so_in_one_line(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "numba.py").write_text("raise OSError('libllvmlite.so: wrong ELF class')\n")
    monkeypatch.setattr(worker.sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(MpmError) as raised:
        health.ask_worker()
    line = str(raised.value)
    assert line.startswith("Baking does not work: numba does not work with this Python 3.")
    assert "wrong ELF class" in line
    assert "reinstall the extension's zip" in line
    monkeypatch.undo()
    # known from now on
    assert health.lines() == [line]
    assert error_of(bpy.ops.mpm.bake) == line


def test_the_doctor_reports_what_a_bug_report_needs(bpy: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answer = {
        "numba": "0.68.1",
        "threads": 2,
        "processor_level": "x86-64-v3",
        "kernel_cache": "/tmp/mpm_addon_kernels_x",
        "kernel_test": "right",
    }
    monkeypatch.setattr(
        health.subprocess, "run", lambda *_a, **_k: SimpleNamespace(returncode=0, stdout=health.json.dumps(answer), stderr="")
    )
    assert bpy.ops.mpm.doctor() == {"FINISHED"}
    text = capsys.readouterr().out  # reports of Blender may follow
    told = json.JSONDecoder().raw_decode(text, text.index("{"))[0]
    assert told["worker"] == answer
    assert told["blender"] == bpy.app.version_string
    assert told["problems"] == [in_blender(health.kernels_problem())]
    assert "cache folder cannot be written" in health.kernels_problem().problem


@pytest.mark.parametrize("status", [0, 1])
def test_a_wrong_kernel_does_not_work(bpy: Any, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    from tests.fakes.layout import RecordingLayout
    from tests.fakes.layout_schema import schema_for

    answer = {"numba": "0.68.1", "threads": 2, "processor_level": "x86-64-v3", "kernel_cache": "/kernels", "kernel_test": "stress [0.0] Pa"}
    done = SimpleNamespace(returncode=status, stdout=json.dumps(answer), stderr="mpm_addon: error")
    monkeypatch.setattr(health.subprocess, "run", lambda *_a, **_k: done)
    with pytest.raises(MpmError, match=r"^Baking does not work: a compiled kernel fails its test \(stress \[0.0\] Pa\); delete"):
        health.ask_worker()
    assert health.report()["worker"] == answer
    layout = RecordingLayout(schema_for(bpy))
    preferences.draw_health(layout)
    texts = " ".join(layout.texts())
    assert "Baking works" not in texts and "fails its test" in texts
    with pytest.raises(MpmError, match="fails its test"):
        health.require_baking()


def test_folders_that_cannot_be_written_are_said(bpy: Any, draw: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bpy.context.scene.mpm.cache = str(tmp_path / "not" / "there" / "yet")
    assert health.folder_problem(tmp_path / "not" / "there") == NOTHING
    assert draw(notice_panels.MPM_PT_notices) is None
    (tmp_path / "not").touch()
    assert in_blender(health.folder_problem(tmp_path / "not" / "there")) == (
        f"The cache folder {tmp_path / 'not' / 'there'} cannot be written ({tmp_path / 'not'} is a file); choose another one."
    )
    assert "choose another one" in " ".join(draw(notice_panels.MPM_PT_notices).texts())
    monkeypatch.setattr(health.os, "access", lambda *_: False)
    assert f"({tmp_path} is read-only)" in health.folder_problem(tmp_path / "cache").problem
    assert health.temporary_problem().problem.startswith("The folder for temporary files, ")
    for panel in (bake_panels.MPM_PT_bake, object_panels.MPM_PT_object):
        add_emitter(bpy)
        assert any("temporary files" in text for text in draw(panel).texts())


def test_a_newer_blender_gets_a_word_and_works() -> None:
    assert health.blender_notice((5, 2, 9)) == NOTHING
    assert health.blender_notice((4, 2, 0)) == NOTHING
    assert "Blender 5.3 is newer than the versions that MPM" in health.blender_notice((5, 3, 0)).problem


def test_preferences_tell_bakes_how_many_threads_and_which_processor_level(bpy: Any, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NUMBA_NUM_THREADS", "MPM_PROCESSOR_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    assert preferences.told() == {}
    assert not {"NUMBA_NUM_THREADS", "MPM_PROCESSOR_LEVEL"} & set(worker.environment())
    if host == "fake":
        own = bpy.context.preferences.addons[0].preferences
        own.threads, own.processor = 3, "x86-64-v3"
    else:
        entry = SimpleNamespace(module="mpm_addon", preferences=SimpleNamespace(threads=3, processor="x86-64-v3"))
        context = SimpleNamespace(preferences=SimpleNamespace(addons=[entry]))
        monkeypatch.setattr(preferences, "bpy", SimpleNamespace(context=context))
    environment = worker.environment()
    assert (environment["NUMBA_NUM_THREADS"], environment["MPM_PROCESSOR_LEVEL"]) == ("3", "x86-64-v3")
    monkeypatch.undo()


def test_the_levels_to_choose_are_those_that_there_are() -> None:
    from mpm_addon.core.processor import LEVELS, NATIVE

    chosen = {name for name, _, _ in preferences.LEVEL_ITEMS} - {"AUTO"}
    assert chosen == {NATIVE, *(name for name in LEVELS if name.startswith("x86"))}


def test_the_health_lines_of_the_preferences_are_drawn(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.fakes.layout import RecordingLayout
    from tests.fakes.layout_schema import schema_for

    monkeypatch.setattr(health.importlib.util, "find_spec", lambda _name: None)
    layout = RecordingLayout(schema_for(bpy))
    preferences.draw_health(layout)
    texts = layout.texts()
    assert any(text.startswith("MPM ") for text in texts)
    assert any("numba is missing" in text for text in texts)
    assert len(layout.find("operator", "mpm.doctor")) == 1
