"""Subframes: their files, resuming, restarting and freeing, and what never changes for the frames themselves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mpm_addon.bake import wanted_moments
from mpm_addon.core.errors import CacheError, Cancelled
from mpm_addon.core.particles import Frame, Moment
from mpm_addon.storage import open_cache
from mpm_addon.storage.removal import remove_cache
from tests.storage import stand_in
from tests.storage.stand_in import TAKE, bake_here, frame_bytes, write_small_scene

pytestmark = pytest.mark.usefixtures("stand_in_simulation")


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return write_small_scene(tmp_path / "scene", subframes=3)


@pytest.fixture
def whole(tmp_path: Path, scene: Path) -> dict[str, bytes]:
    """The states of an uninterrupted bake."""
    bake_here(scene, tmp_path / "whole")
    return frame_bytes(tmp_path / "whole")


def test_subframes_have_their_own_file_names(tmp_path: Path, whole: dict[str, bytes]) -> None:
    cache = open_cache(tmp_path / "whole")
    assert cache.frames == [1, 2, 3, 4, 5, 6]
    assert [moment.frame for moment in cache.moments] == [1.0 + 0.25 * step for step in range(21)]
    assert list(whole)[:4] == ["frame_000001.mpm", "frame_000001_1of4.mpm", "frame_000001_2of4.mpm", "frame_000001_3of4.mpm"]
    between = cache.state(Moment(2, 3, 4))
    assert (between.number, between.moment, between.time) == (2, Moment(2, 3, 4), pytest.approx(1.75 / 24))
    assert cache.manifest["subframes"] == 3
    assert cache.size() == sum(map(len, whole.values()))


def test_the_journal_and_the_numbers_are_those_of_frames(scene: Path, tmp_path: Path) -> None:
    events = bake_here(scene, tmp_path / "cache")
    assert [event["frame"] for event in events if event["event"] == "frame"] == [1, 2, 3, 4, 5, 6]
    assert [event["done"] for event in events if event["event"] == "frame"] == [1, 2, 3, 4, 5, 6]
    cache = open_cache(tmp_path / "cache")
    # steps are counted from the frame before, so that those of frames add up
    assert [entry["substeps"] for entry in cache.statistics()] == [0, 4, 4, 4, 4, 4]


def test_another_number_of_subframes_is_another_bake(tmp_path: Path, whole: dict[str, bytes]) -> None:
    other = write_small_scene(tmp_path / "other", subframes=1)
    with pytest.raises(CacheError, match="use --restart"):
        bake_here(other, tmp_path / "whole")
    bake_here(other, tmp_path / "whole", restart=True)
    assert [moment.frame for moment in open_cache(tmp_path / "whole").moments] == [1.0 + 0.5 * step for step in range(11)]


@pytest.mark.parametrize("lost", ["frame_000003_2of4.mpm", "frame_000005_3of4.mpm", "frame_000006.mpm"])
def test_a_missing_subframe_is_baked_again(scene: Path, tmp_path: Path, whole: dict[str, bytes], lost: str) -> None:
    (tmp_path / "whole" / TAKE / "frames" / lost).unlink()
    events = bake_here(scene, tmp_path / "whole")
    assert (events[0]["done"], events[-1]["event"]) == (5, "done")
    assert frame_bytes(tmp_path / "whole") == whole


def test_cancelled_between_subframes_it_resumes_to_the_same_bytes(
    scene: Path, tmp_path: Path, whole: dict[str, bytes], stand_in_simulation: type[stand_in.Simulation]
) -> None:
    cache = tmp_path / "cache"

    def frames(simulation: stand_in.Simulation) -> Iterator[Frame]:
        for frame in stand_in.Simulation.frames(simulation):
            if frame.moment == Moment(3, 3, 4):
                (cache / "cancel").touch()
            yield frame

    stand_in_simulation.pause = 0.03
    stand_in_simulation.frames = frames
    with pytest.raises(Cancelled):
        bake_here(scene, cache)
    assert open_cache(cache).moments[-1] == Moment(3, 3, 4)
    (cache / "cancel").unlink()
    del stand_in_simulation.frames
    assert bake_here(scene, cache)[0]["resumed_from"] == 3
    assert frame_bytes(cache) == whole


def test_only_the_subframes_of_the_requested_frames_are_stored(scene: Path, tmp_path: Path, whole: dict[str, bytes]) -> None:
    bake_here(scene, tmp_path / "cache", frames=(3, 4))
    assert [moment.frame for moment in open_cache(tmp_path / "cache").moments] == [3.0, 3.25, 3.5, 3.75, 4.0]
    bake_here(scene, tmp_path / "cache")
    assert frame_bytes(tmp_path / "cache") == whole


def test_freeing_removes_the_subframes_and_nothing_else(tmp_path: Path, whole: dict[str, bytes]) -> None:
    folder = tmp_path / "whole" / TAKE / "frames"
    foreign = ("frame_000002_0of4.mpm", "frame_000002_4of4.mpm", "frame_000002_1of4.txt")
    for name in foreign:
        (folder / name).write_text("mine")
    remove_cache(tmp_path / "whole")
    assert sorted(path.name for path in folder.iterdir()) == sorted(foreign)


def test_a_subframe_under_the_name_of_another_is_refused(tmp_path: Path, whole: dict[str, bytes]) -> None:
    folder = tmp_path / "whole" / TAKE / "frames"
    (folder / "frame_000002_1of4.mpm").rename(folder / "frame_000002.mpm")
    with pytest.raises(CacheError, match=r"contains frame 2\.25, not 2"):
        open_cache(tmp_path / "whole").frame(2)


def test_the_moments_of_a_bake_end_with_its_last_frame() -> None:
    assert [moment.frame for moment in wanted_moments(range(2, 4), 1)] == [2.0, 2.5, 3.0]
