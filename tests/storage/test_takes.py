"""Takes: resuming after any frame with other settings, and what happens to existing frames."""

from pathlib import Path

import pytest

from mpm_addon.core.errors import CacheError, SceneError, UnstableError
from mpm_addon.storage import open_cache
from mpm_addon.storage.lock import WriterLock
from mpm_addon.storage.overview import CacheWatch
from mpm_addon.storage.takes import describe_takes, rename_take, show_take, take_words
from tests.storage import stand_in
from tests.storage.stand_in import bake_here, contents, write_small_scene

pytestmark = pytest.mark.usefixtures("stand_in_simulation")


@pytest.mark.parametrize("frame", [1, 3, 4])
def test_later_frames_become_a_new_take_and_the_old_ones_stay(cache: Path, other: Path, frame: int) -> None:
    before = contents(cache, 1)
    events = bake_here(other, cache, from_frame=frame)
    assert (events[0]["done"], events[0]["total"], events[-1]["event"]) == (frame, 6, "done")
    assert contents(cache, 1) == before
    shown = open_cache(cache)
    assert (shown.take, shown.frames) == (2, [1, 2, 3, 4, 5, 6])
    assert list(contents(cache, 2)) == [f"frame_{number:06d}.mpm" for number in range(frame + 1, 7)]
    first = open_cache(cache, take=1)
    assert (shown.frame(frame).position == first.frame(frame).position).all()
    # the state after the frame was taken up, and what other settings do to it shows from the next frame on
    step = shown.frame(frame + 1).position - first.frame(frame + 1).position
    assert step == pytest.approx(stand_in.PUSH, abs=1e-3)
    assert len(shown.frame(6).attribute("rest_position")) == stand_in.PARTICLES
    assert list(shown.damaged()) == []


def test_stopped_at_any_frame_a_take_resumes_to_the_same_bytes(
    cache: Path, other: Path, tmp_path: Path, stand_in_simulation: type[stand_in.Simulation]
) -> None:
    whole = tmp_path / "whole"
    bake_here(tmp_path / "scene", whole)
    bake_here(other, whole, from_frame=4)
    # the state after frame 4 is made again from that after frame 3, which the first take keeps
    for failing in (4, 5, 6):
        stand_in_simulation.fails_at = failing
        with pytest.raises(UnstableError):
            bake_here(other, cache, from_frame=4)
    stand_in_simulation.fails_at = None
    # once it is shown, the scene alone tells which take is meant
    bake_here(other, cache)
    assert contents(cache, 2) == contents(whole, 2)
    assert len(describe_takes(cache)) == 2


def test_a_take_is_shown_when_it_has_a_frame(cache: Path, other: Path, stand_in_simulation: type[stand_in.Simulation]) -> None:
    stand_in_simulation.fails_at = 4
    with pytest.raises(UnstableError):
        bake_here(other, cache, from_frame=3)
    assert open_cache(cache).take == 1


def test_a_take_continues_from_a_take(cache: Path, other: Path, tmp_path: Path) -> None:
    bake_here(other, cache, from_frame=3)
    third = write_small_scene(tmp_path / "third", seed=7)
    bake_here(third, cache, from_frame=5)
    shown = open_cache(cache)
    assert [take.number for take in shown.takes] == [1, 2, 3]
    assert shown.frames == [1, 2, 3, 4, 5, 6]
    assert [shown.state_path(moment).parts[-3] for moment in shown.moments] == ["0001"] * 3 + ["0002"] * 2 + ["0003"]
    # and one after a frame of the first belongs to the first
    bake_here(write_small_scene(tmp_path / "fourth", seed=8), cache, from_frame=2)
    assert [take.number for take in open_cache(cache).takes] == [1, 4]


def changed(folder: Path, line: str) -> Path:
    """The small scene with one more line about its emitter."""
    scene = write_small_scene(folder, checkpoint_interval=2)
    (scene / "scene.toml").write_text((scene / "scene.toml").read_text() + line)
    return scene


@pytest.mark.parametrize(
    ("line", "is_told"),
    [("velocity = [1.0, 0.0, 0.0]", True), ("particle_count = 50", True), ("goal = 0.0", True), ('mode = "repeat"', False)],
)
def test_a_take_that_cannot_differ_says_so(cache: Path, tmp_path: Path, line: str, is_told: bool) -> None:
    """Once all particles are emitted, it does not matter how."""
    events = bake_here(changed(tmp_path / "changed", line), cache, from_frame=3)
    topics = [event["topic"] for event in events if event["event"] == "warning"]
    assert ("no_effect" in topics) == is_told


def test_outdated_frames_are_reported(cache: Path, other: Path) -> None:
    bake_here(other, cache, from_frame=4)
    assert [take_words(take) for take in describe_takes(cache)] == [
        'take 1: frames 1-6 of "small", outdated: 5-6',
        'take 2: frames 5-6 of "small", after frame 4 of take 1, shown',
    ]
    show_take(cache, 1)
    assert open_cache(cache).take == 1
    assert [take["outdated"] for take in describe_takes(cache)] == [None, [5, 6]]
    with pytest.raises(CacheError, match="has no take 9; use one of 1, 2"):
        show_take(cache, 9)


def test_a_restart_removes_all_takes(cache: Path, other: Path) -> None:
    bake_here(other, cache, from_frame=4)
    bake_here(other, cache, restart=True)
    assert [(take["take"], take["parent"], take["frames"]) for take in describe_takes(cache)] == [(3, None, [1, 6])]
    assert [path.name for path in (cache / "takes").iterdir()] == ["0003"]


def test_a_frame_that_is_not_there_is_named(cache: Path, other: Path, tmp_path: Path) -> None:
    with pytest.raises(CacheError, match="cannot resume after frame 9, which is not cached; use one from 1 to 6"):
        bake_here(other, cache, from_frame=9)
    with pytest.raises(CacheError, match="contains no cache"):
        bake_here(other, tmp_path / "nowhere", from_frame=2)
    assert not (tmp_path / "nowhere").exists()


def test_a_scene_that_does_not_fit_leaves_no_take(cache: Path, tmp_path: Path) -> None:
    other = write_small_scene(tmp_path / "other")
    text = (other / "scene.toml").read_text()
    (other / "scene.toml").write_text(text.replace("grid_spacing = 0.05", "grid_spacing = 0.04"))
    with pytest.raises(SceneError, match=r"^solver: grid_spacing 0\.04 differs from 0\.05"):
        bake_here(other, cache, from_frame=3)
    assert [take["take"] for take in describe_takes(cache)] == [1]


def test_births_continue_in_the_take(cache: Path, other: Path) -> None:
    """Particles that come later have ids of their own in each take."""
    bake_here(other, cache, from_frame=3)
    assert open_cache(cache).takes[-1].first_id == stand_in.PARTICLES


def test_missing_frames_of_an_earlier_take_are_reported_and_not_counted(cache: Path, other: Path, tmp_path: Path) -> None:
    bake_here(other, cache, from_frame=4)
    before = contents(cache, 1)
    for number in (2, 3):
        open_cache(cache).frame_path(number).unlink()
    events = bake_here(other, cache)
    told = [event for event in events if event.get("topic") == "gap"]
    assert len(told) == 1 and "2 frames, 2 to 3, belong to an earlier take" in told[0]["message"]
    assert (events[0]["done"], events[-1]["frames"]) == (4, 4)
    damaged = [each.text() for each in open_cache(cache).damaged()]
    assert len(damaged) == 2 and all("is missing; show take 1, bake " in line and "show take 2 again" in line for line in damaged)
    # and that remedy helps
    show_take(cache, 1)
    bake_here(cache / "takes" / "0001" / "scene", cache)
    show_take(cache, 2)
    assert contents(cache, 1) == before
    assert list(open_cache(cache).damaged()) == []


@pytest.mark.parametrize("content", [None, b"", b"\0" * 40])
def test_a_cache_that_lost_its_manifest_is_one_again_when_a_take_is_shown(cache: Path, other: Path, content: bytes | None) -> None:
    bake_here(other, cache, from_frame=4)
    path = cache / "cache.json"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(CacheError, match="show one of its takes"):
        open_cache(cache)
    with pytest.raises(CacheError, match="show one of its takes"):
        bake_here(other, cache)
    show_take(cache, 2)
    assert (open_cache(cache).take, open_cache(cache).frames) == (2, [1, 2, 3, 4, 5, 6])


def test_frames_of_which_no_manifest_says_the_scene_are_no_other_scene_s(cache: Path, other: Path) -> None:
    (cache / "takes" / "0001" / "take.json").unlink()
    with pytest.raises(CacheError, match=r"take\.json is missing; .*--restart"):
        bake_here(other, cache)
    bake_here(other, cache, restart=True)
    assert open_cache(cache).frames == [1, 2, 3, 4, 5, 6]


def test_a_take_keeps_its_name_and_its_frames(cache: Path, other: Path) -> None:
    bake_here(other, cache, from_frame=4)
    before = contents(cache, 1), contents(cache, 2)
    rename_take(cache, 2, "  slow\tmotion ")
    assert (contents(cache, 1), contents(cache, 2)) == before
    watch = CacheWatch(cache)
    names = [(take["name"], take_words(take).partition(":")[0]) for take in describe_takes(cache)]
    assert names == [("", "take 1"), ("slow motion", 'take 2 "slow motion"')]
    found = watch.look()
    assert found is not None and [take.name for take in found.takes] == ["", "slow motion"]
    # baked again after the same frame, and resumed, it is the same take
    (cache / "takes" / "0002" / "frames" / "frame_000006.mpm").unlink()
    bake_here(other, cache, from_frame=4)
    bake_here(other, cache)
    assert [take["name"] for take in describe_takes(cache)] == ["", "slow motion"]
    assert contents(cache, 2) == before[1]
    rename_take(cache, 2, "")
    assert [take["name"] for take in describe_takes(cache)] == ["", ""]
    # a restart begins anew
    rename_take(cache, 1, "first")
    bake_here(other, cache, restart=True)
    assert [take["name"] for take in describe_takes(cache)] == [""]


def test_a_name_that_cannot_be_given_is_refused(cache: Path) -> None:
    with pytest.raises(CacheError, match="take 1: a name of 61 characters is too long; use at most 60"):
        rename_take(cache, 1, "x" * 61)
    with pytest.raises(CacheError, match="has no take 4; use one of 1"):
        rename_take(cache, 4, "wet")
    with WriterLock(cache), pytest.raises(CacheError):
        rename_take(cache, 1, "wet")
    assert [take["name"] for take in describe_takes(cache)] == [""]
