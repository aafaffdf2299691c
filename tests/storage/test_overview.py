"""Overviews of a watched cache."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.particles import Frame, FrameStatistics
from mpm_addon.storage.cache_writer import CacheWriter
from mpm_addon.storage.overview import CacheWatch, spans
from mpm_addon.storage.removal import remove_cache
from mpm_addon.storage.takes import describe_takes, show_take
from tests.blender.scenes import description, frame_arrays, write_cache


def write_frame(writer: CacheWriter, number: int, count: int = 5) -> None:
    statistics = FrameStatistics(count, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)
    writer.write_frame(Frame(number, number / 24, frame_arrays(number, count), statistics), 0.5)


@pytest.fixture
def writer(tmp_path: Path) -> CacheWriter:
    """A cache whose second take goes on after frame 2."""
    folder = write_cache(tmp_path / "cache", {1: 5, 2: 5, 3: 5})
    other = dataclasses.replace(description(), name="changed")
    writer = CacheWriter(folder, other)
    writer.prepare(other, restart=False, from_frame=2)
    writer.begin(other)
    write_frame(writer, 3)
    return writer


def test_an_overview_agrees_with_describe_takes(writer: CacheWriter) -> None:
    watch = CacheWatch(writer.folder)
    for shown in (2, 1):
        show_take(writer.folder, shown)
        found = watch.look()
        assert found is not None
        told = describe_takes(writer.folder)
        for seen, expected in zip(found.takes, told, strict=True):
            assert json.loads(json.dumps({name: getattr(seen, name) for name in expected})) == expected
        assert [take.frame_count for take in found.takes] == [3, 1]
        assert found.shown == shown
        assert list(found.rows) == [1, 2, 3]
    assert found.bytes == sum(path.stat().st_size for path in (writer.folder / "takes" / "0001" / "frames").iterdir())


def test_an_unchanged_overview_is_the_same_object_and_growth_is_seen(writer: CacheWriter) -> None:
    watch = CacheWatch(writer.folder)
    first = watch.look()
    assert watch.look() is first
    write_frame(writer, 4)
    second = watch.look()
    assert second is not None and list(second.rows) == [1, 2, 3, 4]
    assert second.seconds == 1.0
    (writer.folder / "takes" / "0002" / "frames" / "frame_000003.mpm").unlink()
    third = watch.look()
    assert third is not None and list(third.rows) == [1, 2, 4]
    assert (third.next_missing((1, 4)), third.next_missing((1, 2)), third.last_before(3)) == (3, None, 2)


def test_a_look_takes_no_longer_than_it_may(writer: CacheWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpm_addon.storage.journal._CHUNK", 10)
    watch = CacheWatch(writer.folder)
    looks = [watch.look(0.0)]
    while not (looks[-1] and looks[-1].is_read):
        looks.append(watch.look(0.0))
        assert len(looks) < 20
    assert len(looks) >= 3
    assert looks[-1] == CacheWatch(writer.folder).look()


def test_a_folder_without_a_cache_and_a_damaged_one_have_nothing_to_see(writer: CacheWriter) -> None:
    assert CacheWatch(writer.folder / "nothing").look() is None
    watch = CacheWatch(writer.folder)
    assert watch.look() is not None
    (writer.folder / "takes" / "0002" / "take.json").write_text("{}")
    assert watch.look() is None
    assert "is damaged" in watch.problem.problem
    show_take(writer.folder, 1)
    found = watch.look()
    assert found is not None and [take.take for take in found.takes] == [1]
    remove_cache(writer.folder)
    assert watch.look() is None
    assert not watch.problem


def test_frames_make_runs() -> None:
    assert spans([]) == []
    assert spans([-2, -1, 0, 3, 5, 6]) == [(-2, 0), (3, 3), (5, 6)]
    assert np.all(np.array(spans(range(1, 2001))) == [[1, 2000]])
