"""The bake: resume, cancel, failure, and what it never does to foreign files."""

import json
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.bake import bake
from mpm_addon.core.advice import preflight
from mpm_addon.core.errors import CacheError, SceneError, UnstableError
from mpm_addon.core.messages import Message, SceneWarning, Topic
from mpm_addon.storage import open_cache
from mpm_addon.storage.sealed import sealed, unsealed
from tests.storage import stand_in
from tests.storage.stand_in import TAKE, bake_here, frame_bytes, write_small_scene

pytestmark = pytest.mark.usefixtures("stand_in_simulation")


def test_problems_with_stored_kernels_are_warnings(
    scene: Path, tmp_path: Path, stand_in_simulation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = SceneWarning(Topic.KERNELS, Message("are cold", (), "Kernels"))
    monkeypatch.setattr(stand_in_simulation, "kernel_problems", (problem,))
    events = bake_here(scene, tmp_path / "cache")
    assert {"event": "warning", **problem.fields()} in events
    assert events[-1]["event"] == "done"


def test_a_bake_reports_its_progress(scene: Path, tmp_path: Path) -> None:
    events = bake_here(scene, tmp_path / "cache")
    kinds = [event["event"] for event in events]
    assert kinds[:5] == ["start", "compiling", "compiling", "compiling", "preparing"]
    assert [(event["compiled"], event["kernels"]) for event in events[1:4]] == [(0, 2), (1, 2), (2, 2)]
    assert kinds[-1] == "done"
    assert [event["frame"] for event in events if event["event"] == "frame"] == [1, 2, 3, 4, 5, 6]
    progress = next(event for event in events if event["event"] == "progress")
    assert {
        "frame",
        "fraction",
        "substeps",
        "particles",
        "done",
        "total",
        "eta_seconds",
        "seconds_per_frame",
    } <= set(progress)
    assert json.loads((tmp_path / "cache" / "status.json").read_text())["state"] == "done"
    json.dumps(events)


def test_the_same_scene_gives_the_same_bytes(scene: Path, tmp_path: Path, whole: dict[str, bytes]) -> None:
    bake_here(scene, tmp_path / "again")
    assert frame_bytes(tmp_path / "again") == whole
    manifests = [(tmp_path / name / TAKE / "take.json").read_bytes() for name in ("whole", "again")]
    assert manifests[0] == manifests[1]


def test_a_scene_baked_from_its_copy_gives_the_same_bytes(tmp_path: Path, whole: dict[str, bytes]) -> None:
    bake_here(tmp_path / "whole" / TAKE / "scene", tmp_path / "again")
    assert frame_bytes(tmp_path / "again") == whole


def test_a_scene_may_lie_where_the_bake_would_copy_it(tmp_path: Path, whole: dict[str, bytes]) -> None:
    write_small_scene(tmp_path / "cache" / "scene")
    bake_here(tmp_path / "cache" / "scene", tmp_path / "cache")
    bake_here(tmp_path / "cache" / TAKE / "scene", tmp_path / "cache", restart=True)
    assert frame_bytes(tmp_path / "cache") == whole


def test_existing_frames_are_kept(
    scene: Path, tmp_path: Path, stand_in_simulation: type[stand_in.Simulation], whole: dict[str, bytes]
) -> None:
    stand_in_simulation.fails_at = 1
    events = bake_here(scene, tmp_path / "whole")
    assert [event["event"] for event in events] == ["start", "done"]


def test_a_longer_scene_resumes_from_the_checkpoint(tmp_path: Path, whole: dict[str, bytes]) -> None:
    short, cache = write_small_scene(tmp_path / "short", frame_end=3), tmp_path / "cache"
    bake_here(short, cache)
    events = bake_here(tmp_path / "scene", cache)
    assert events[0]["resumed_from"] == 3
    assert frame_bytes(cache) == whole
    assert open_cache(cache).manifest["frame_end"] == 6


def test_a_missing_frame_in_the_middle_is_baked_again(scene: Path, tmp_path: Path, whole: dict[str, bytes]) -> None:
    (tmp_path / "whole" / TAKE / "frames" / "frame_000003.mpm").unlink()
    truncated = tmp_path / "whole" / TAKE / "frames" / "frame_000005.mpm"
    truncated.write_bytes(truncated.read_bytes()[:100])
    bake_here(scene, tmp_path / "whole")
    assert frame_bytes(tmp_path / "whole") == whole


def test_filling_a_gap_keeps_the_later_checkpoint(scene: Path, tmp_path: Path, whole: dict[str, bytes]) -> None:
    (tmp_path / "whole" / TAKE / "frames" / "frame_000002.mpm").unlink()
    bake_here(scene, tmp_path / "whole", frames=(2, 2))
    longer = write_small_scene(tmp_path / "longer", frame_end=7)
    assert bake_here(longer, tmp_path / "whole")[0]["resumed_from"] == 6


def test_a_checkpoint_of_another_scene_is_not_used(scene: Path, tmp_path: Path, whole: dict[str, bytes]) -> None:
    cache, other = tmp_path / "cache", tmp_path / "other_cache"
    bake_here(scene, cache, frames=(1, 3))
    bake_here(write_small_scene(tmp_path / "other", seed=5), other, frames=(1, 3))
    for path in (cache / TAKE / "checkpoints").iterdir():
        path.write_bytes((other / TAKE / "checkpoints" / path.name).read_bytes())
    assert bake_here(scene, cache)[0]["resumed_from"] is None
    assert frame_bytes(cache) == whole


def test_a_journal_line_cut_short_spoils_no_later_line(scene: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    bake_here(scene, cache, frames=(1, 3))
    journal = cache / TAKE / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-10])
    assert open_cache(cache).frames == [1, 2]
    bake_here(scene, cache)
    assert open_cache(cache).frames == [1, 2, 3, 4, 5, 6]


def test_only_the_requested_frames_are_stored(scene: Path, tmp_path: Path, whole: dict[str, bytes]) -> None:
    bake_here(scene, tmp_path / "cache", frames=(3, 4))
    assert open_cache(tmp_path / "cache").frames == [3, 4]
    bake_here(scene, tmp_path / "cache")
    assert frame_bytes(tmp_path / "cache") == whole


@pytest.mark.parametrize(("frames", "expected"), [((0, 3), "has frames 1 to 6"), ((4, 9), "1 to 6"), ((4, 2), "before")])
def test_frames_outside_of_the_scene_are_refused(scene: Path, tmp_path: Path, frames: tuple[int, int], expected: str) -> None:
    with pytest.raises(SceneError, match=expected):
        bake_here(scene, tmp_path / "cache", frames=frames)


def test_a_damaged_checkpoint_costs_time_but_no_frame(scene: Path, tmp_path: Path, whole: dict[str, bytes]) -> None:
    bake_here(scene, tmp_path / "cache", frames=(1, 4))
    states = sorted((tmp_path / "cache" / TAKE / "checkpoints").iterdir())
    assert len(states) == 4
    for path in states[2:]:
        path.write_bytes(path.read_bytes()[:-30])
    events = bake_here(scene, tmp_path / "cache")
    assert events[0]["resumed_from"] == 2
    assert frame_bytes(tmp_path / "cache") == whole


def test_a_cache_of_another_scene_is_refused_and_unchanged(scene: Path, tmp_path: Path, whole: dict[str, bytes]) -> None:
    other = write_small_scene(tmp_path / "other", seed=5)
    with pytest.raises(CacheError, match="baked before this scene changed; use --restart"):
        bake_here(other, tmp_path / "whole")
    table = other / "scene.toml"
    table.write_text(table.read_text().replace('name = "small"', 'name = "large"'))
    with pytest.raises(CacheError, match=r'frames of another scene \("small"\); use --restart'):
        bake_here(other, tmp_path / "whole")
    assert frame_bytes(tmp_path / "whole") == whole
    bake_here(other, tmp_path / "whole", restart=True)
    assert frame_bytes(tmp_path / "whole") != whole


def test_a_cache_without_frames_may_change_its_scene(
    scene: Path, tmp_path: Path, stand_in_simulation: type[stand_in.Simulation], whole: dict[str, bytes]
) -> None:
    stand_in_simulation.fails_at = 1
    cache = tmp_path / "cache"
    with pytest.raises(UnstableError):
        bake_here(write_small_scene(tmp_path / "other", seed=5), cache)
    stand_in_simulation.fails_at = None
    bake_here(scene, cache)
    assert frame_bytes(cache) == whole


def test_a_cache_of_another_version_is_refused(scene: Path, tmp_path: Path, whole: dict[str, bytes]) -> None:
    path = tmp_path / "whole" / TAKE / "take.json"
    manifest = unsealed(path.read_text())
    manifest["versions"]["mpm_addon"] = "0.0.1"
    path.write_text(sealed(manifest))
    with pytest.raises(CacheError, match=r"frames of version 0\.0\.1.* use --restart"):
        bake_here(scene, tmp_path / "whole")


def test_a_restart_removes_only_what_bakes_write(scene: Path, tmp_path: Path, whole: dict[str, bytes]) -> None:
    cache = tmp_path / "whole"
    (cache / TAKE / "frames" / "notes.txt").write_text("mine")
    (cache / "render.png").write_text("mine")
    bake_here(scene, cache, restart=True, frames=(1, 2))
    assert open_cache(cache).frames == [1, 2]
    assert (cache / TAKE / "frames" / "notes.txt").read_text() == "mine"
    assert (cache / "render.png").read_text() == "mine"


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("name", ["cache.json", "status.json", "failure.npz", "takes/x"])
def test_files_of_another_program_are_never_touched(scene: Path, tmp_path: Path, name: str, restart: bool) -> None:
    foreign = tmp_path / "cache" / name
    foreign.parent.mkdir(parents=True)
    foreign.write_text("{}")
    with pytest.raises(CacheError, match="choose another folder"):
        bake_here(scene, tmp_path / "cache", restart=restart)
    assert foreign.read_text() == "{}"


def test_a_restart_that_fails_before_its_first_frame_costs_no_frame(
    tmp_path: Path, stand_in_simulation: type[stand_in.Simulation], whole: dict[str, bytes]
) -> None:
    cache, other = tmp_path / "whole", write_small_scene(tmp_path / "other", seed=5)
    manifest = (cache / "cache.json").read_bytes()
    stand_in_simulation.fails_at = 1
    with pytest.raises(UnstableError):
        bake_here(other, cache, restart=True)
    assert frame_bytes(cache) == whole
    assert (cache / "cache.json").read_bytes() == manifest
    assert bake_here(tmp_path / "scene", cache)[-1]["event"] == "done"
    assert frame_bytes(cache) == whole


def test_a_restart_simulates_again(scene: Path, tmp_path: Path, whole: dict[str, bytes]) -> None:
    events = bake_here(scene, tmp_path / "whole", restart=True)
    assert (events[0]["done"], events[0]["resumed_from"]) == (0, None)
    assert [event["frame"] for event in events if event["event"] == "frame"] == [1, 2, 3, 4, 5, 6]
    assert frame_bytes(tmp_path / "whole") == whole


def test_warnings_come_before_the_first_frame_and_are_in_the_status(scene: Path, tmp_path: Path) -> None:
    assert "warning" not in [event["event"] for event in bake_here(scene, tmp_path / "fine")]
    text = (scene / "scene.toml").read_text()
    (scene / "scene.toml").write_text(text.replace("radius = 0.2", "radius = 0.04"))
    events = bake_here(scene, tmp_path / "cache")
    assert [event["event"] for event in events[:3]] == ["start", "warning", "compiling"]
    warning = events[1]
    assert (warning["topic"], warning["subject"]) == ("thin_emitter", 'Emitter "ball"')
    assert "0.08 m thick, 1.6 times the cell size" in warning["message"]
    status = json.loads((tmp_path / "cache" / "status.json").read_text())
    assert status["warnings"] == [{key: value for key, value in warning.items() if key != "event"}]
    # what is there already is not looked at again
    assert [event["event"] for event in bake_here(scene, tmp_path / "cache")] == ["start", "done"]
    assert json.loads((tmp_path / "cache" / "status.json").read_text())["warnings"] == status["warnings"]


def test_with_stored_kernels_the_first_frame_does_not_wait_for_the_warnings(
    scene: Path, tmp_path: Path, stand_in_simulation: type[stand_in.Simulation]
) -> None:
    stand_in_simulation.kernels_to_compile = 0
    (scene / "scene.toml").write_text((scene / "scene.toml").read_text().replace("radius = 0.2", "radius = 0.04"))
    events = bake_here(scene, tmp_path / "cache")
    assert [event["event"] for event in events[:4]] == ["start", "preparing", "frame", "warning"]
    assert (events[2]["frame"], events[3]["topic"]) == (1, "thin_emitter")
    status = json.loads((tmp_path / "cache" / "status.json").read_text())
    assert (status["checked_frames"], [warning["topic"] for warning in status["warnings"]]) == ([1, 6], ["thin_emitter"])


def test_a_scene_that_fails_before_its_first_frame_is_warned_of_all_the_same(
    scene: Path, tmp_path: Path, stand_in_simulation: type[stand_in.Simulation]
) -> None:
    stand_in_simulation.kernels_to_compile, stand_in_simulation.refuses = 0, "holds no particle"
    (scene / "scene.toml").write_text((scene / "scene.toml").read_text().replace("radius = 0.2", "radius = 0.04"))
    events: list[dict[str, object]] = []
    with pytest.raises(SceneError, match="holds no particle"):
        bake(scene, tmp_path / "cache", on_event=lambda event: events.append(event.fields()))
    assert [event["event"] for event in events] == ["start", "preparing", "warning", "error"]
    assert events[2]["topic"] == "thin_emitter"


def test_a_resumed_bake_repeats_the_scenes_warnings_without_checking_again(
    scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    (scene / "scene.toml").write_text((scene / "scene.toml").read_text().replace("radius = 0.2", "radius = 0.04"))
    bake_here(scene, cache, frames=(1, 2))
    looks: list[object] = []
    look, cost = preflight.scene_warnings, preflight.cost_warnings
    monkeypatch.setattr(preflight, "scene_warnings", lambda scene: looks.append(scene) or look(scene))
    full = SceneWarning(Topic.DISK, Message("it is full", (), "Scene"))
    monkeypatch.setattr(preflight, "cost_warnings", lambda *given, **more: [*cost(*given, **more), full])

    def told(last: int) -> list[str]:
        return [event["topic"] for event in bake_here(scene, cache, frames=(1, last)) if event["event"] == "warning"]

    assert told(3) == ["thin_emitter", "disk"]
    # what depends on the computer is never repeated
    assert told(4) == ["thin_emitter", "disk"]
    assert looks == []
    status = json.loads((cache / "status.json").read_text())
    for damage in ({"checked_frames": None}, {"checked_frames": [1, 3]}, {"scene_hash": "another"}, {"warnings": ["open_mesh"]}):
        (cache / "status.json").write_text(json.dumps(status | damage))
        (cache / TAKE / "frames" / "frame_000004.mpm").unlink()
        assert told(4) == ["thin_emitter", "disk"]
        assert len(looks) == 1
        looks.clear()


def test_a_bake_interrupted_during_the_checks_checks_again(scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    (scene / "scene.toml").write_text((scene / "scene.toml").read_text().replace("radius = 0.2", "radius = 0.04"))
    bake_here(scene, cache, frames=(1, 2))
    (cache / "status.json").unlink()

    def cut(_scene: object) -> None:
        raise RuntimeError("cut")

    with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="cut"):
        patched.setattr(preflight, "scene_warnings", cut)
        bake_here(scene, cache)
    assert json.loads((cache / "status.json").read_text())["checked_frames"] is None
    assert "thin_emitter" in [event.get("topic") for event in bake_here(scene, cache)]
