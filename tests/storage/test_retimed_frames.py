"""A cache at fractional frames: cached frames unchanged, others interpolated between their neighbors."""

from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.errors import CacheError
from mpm_addon.core.particles import Moment
from mpm_addon.storage import open_cache
from mpm_addon.storage.cache import Cache
from mpm_addon.storage.retimed_frames import MomentReader, nearest_frame
from tests.storage.stand_in import bake_here, write_small_scene

pytestmark = pytest.mark.usefixtures("stand_in_simulation")


def baked(tmp_path: Path, **settings: int) -> Cache:
    bake_here(write_small_scene(tmp_path / "scene", precision="exact", **settings), tmp_path / "cache")
    return open_cache(tmp_path / "cache")


@pytest.mark.parametrize(("frame", "nearest"), [(1.0, 1), (1.4, 1), (1.5, 1), (1.51, 2), (2.0, 2), (-0.5, -1), (0.5, 0), (2.5 + 1e-9, 2)])
def test_the_nearest_frame(frame: float, nearest: int) -> None:
    assert nearest_frame(frame) == nearest


def test_a_baked_frame_is_returned_unchanged(tmp_path: Path) -> None:
    cache = baked(tmp_path)
    arrays = MomentReader(cache).arrays(3.0)
    assert all(arrays[name].tobytes() == values.tobytes() for name, values in cache.frame(3).arrays.items())


@pytest.mark.parametrize("subframes", [0, 3])
@pytest.mark.parametrize("frame", [2.1, 2.25, 2.9, 5.75])
def test_between_frames_particles_are_where_they_move_through(tmp_path: Path, frame: float, subframes: int) -> None:
    """The stand-in's particles keep their velocities: x = x0 + v (n - 1) / 24."""
    cache = baked(tmp_path, subframes=subframes)
    first = cache.frame(1)
    arrays = MomentReader(cache).arrays(frame)
    assert arrays["position"] == pytest.approx(first.position + first.velocity * (frame - 1) / 24, abs=1e-5)
    assert arrays["velocity"] == pytest.approx(first.velocity, abs=1e-4)


def test_subframes_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = baked(tmp_path, subframes=3)
    read: list[Moment] = []
    state = Cache.state
    monkeypatch.setattr(Cache, "state", lambda self, moment: (read.append(moment), state(self, moment))[1])
    reader = MomentReader(cache)
    reader.arrays(2.3)
    assert set(read) == {Moment(2), Moment(2, 1, 4), Moment(2, 2, 4)}
    # the next moment between the same two reads nothing, the next but one the state that is new
    read.clear()
    reader.arrays(2.4)
    assert read == []
    reader.arrays(2.6)
    assert set(read) == {Moment(3), Moment(2, 3, 4)}


@pytest.mark.parametrize("frame", [0.6, 6.5])
def test_half_a_frame_beyond_the_ends_particles_move_on(tmp_path: Path, frame: float) -> None:
    cache = baked(tmp_path)
    first = cache.frame(1)
    assert MomentReader(cache).arrays(frame)["position"] == pytest.approx(first.position + first.velocity * (frame - 1) / 24, abs=1e-5)


def test_a_missing_neighbor_is_not_needed(tmp_path: Path) -> None:
    cache = baked(tmp_path)
    cache.frame_path(4).unlink()
    expected = cache.frame(3).position + cache.frame(3).velocity * 0.4 / 24
    assert MomentReader(cache).arrays(3.4)["position"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("frame", [0.4, 6.6, 20.0])
def test_farther_from_any_frame_there_is_nothing(tmp_path: Path, frame: float) -> None:
    cache = baked(tmp_path)
    with pytest.raises(CacheError, match=f"Frame {nearest_frame(frame)} is not baked"):
        MomentReader(cache).arrays(frame)


@pytest.mark.parametrize("frame", [float("nan"), float("inf"), -1e30])
def test_a_frame_that_is_no_frame_is_not_baked(tmp_path: Path, frame: float) -> None:
    with pytest.raises((CacheError, OSError)):
        MomentReader(baked(tmp_path)).arrays(frame)


def test_the_particles_of_another_frame_may_be_wanted(tmp_path: Path) -> None:
    cache = baked(tmp_path)
    reader = MomentReader(cache)
    far = reader.arrays(4.7, like=2)
    assert np.array_equal(far["id"], cache.frame(2).id)
    assert far["position"] == pytest.approx(reader.arrays(4.7)["position"], abs=1e-5)


def test_a_frame_that_is_baked_again_is_read_again(tmp_path: Path) -> None:
    cache = baked(tmp_path)
    reader = MomentReader(cache)
    before = reader.arrays(3.4)["position"]
    bake_here(write_small_scene(tmp_path / "other", seed=5), tmp_path / "cache", restart=True)
    reader.cache = open_cache(tmp_path / "cache")
    assert not np.allclose(reader.arrays(3.4)["position"], before)
