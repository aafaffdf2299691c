"""Where takes, restarts, limits and births meet."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.errors import CacheError
from mpm_addon.core.particles import Frame
from mpm_addon.storage import open_cache
from mpm_addon.storage.checkpoints import checkpoint_frames, checkpoint_path
from mpm_addon.storage.takes import show_take
from tests.storage import stand_in
from tests.storage.stand_in import bake_here, contents, write_small_scene

pytestmark = pytest.mark.usefixtures("stand_in_simulation")


def born_at_seed(monkeypatch: pytest.MonkeyPatch, simulation: type[stand_in.Simulation]) -> None:
    """Let the rest positions be the seed of the scene."""
    plain = simulation._frame

    def frame(self: stand_in.Simulation, substeps: int) -> Frame:
        made = plain(self, substeps)
        rest = np.full((stand_in.PARTICLES, 3), self._scene.solver.seed, np.float32)
        return dataclasses.replace(made, arrays={**made.arrays, "rest_position": rest}, births={**made.births, "rest_position": rest})

    monkeypatch.setattr(simulation, "_frame", frame)


@pytest.mark.parametrize("restart", [False, True])
def test_births_of_another_scene_do_not_become_those_of_this_one(
    cache: Path, other: Path, restart: bool, monkeypatch: pytest.MonkeyPatch, stand_in_simulation: type[stand_in.Simulation]
) -> None:
    born_at_seed(monkeypatch, stand_in_simulation)
    # what a bake leaves that ends between the births of its first frame and that frame
    for moment in open_cache(cache).moments:
        open_cache(cache).state_path(moment).unlink()
    bake_here(other, cache, restart=restart)
    assert (open_cache(cache).frame(2).attribute("rest_position") == 5.0).all()
    assert list(open_cache(cache).damaged()) == []


def test_the_state_of_a_take_is_simulated_again_from_earlier_takes(cache: Path, other: Path, tmp_path: Path) -> None:
    bake_here(other, cache, from_frame=3)
    third = write_small_scene(tmp_path / "third", seed=7)
    expected = tmp_path / "expected"
    bake_here(tmp_path / "scene", expected)
    bake_here(other, expected, from_frame=3)
    bake_here(third, expected, from_frame=5)
    # old states are thinned out, and damaged ones are as good as gone
    states = cache / "takes" / "0002" / "checkpoints"
    for frame in checkpoint_frames(states):
        checkpoint_path(states, frame).unlink()
    bake_here(third, cache, from_frame=5)
    assert contents(cache, 3) == contents(expected, 3)


def test_a_take_that_is_whole_is_shown_when_it_is_asked_for_again(cache: Path, other: Path) -> None:
    bake_here(other, cache, from_frame=3)
    show_take(cache, 1)
    bake_here(other, cache, from_frame=3)
    assert open_cache(cache).take == 2


def test_a_damaged_take_does_not_affect_others(cache: Path, other: Path, tmp_path: Path) -> None:
    bake_here(other, cache, from_frame=3)
    (cache / "takes" / "0002" / "take.json").write_text("{")
    show_take(cache, 1)
    bake_here(other, cache, from_frame=3)
    assert (open_cache(cache).take, open_cache(cache).frames) == (3, [1, 2, 3, 4, 5, 6])


def test_a_cache_without_particles_is_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stand_in_simulation: type[stand_in.Simulation]
) -> None:
    plain = stand_in_simulation._frame

    def empty(self: stand_in.Simulation, substeps: int) -> Frame:
        made = plain(self, substeps)
        arrays, births = ({name: array[:0] for name, array in table.items()} for table in (made.arrays, made.births))
        return dataclasses.replace(made, arrays=arrays, births=births)

    monkeypatch.setattr(stand_in_simulation, "_frame", empty)
    bake_here(write_small_scene(tmp_path / "scene"), tmp_path / "cache")
    assert list(open_cache(tmp_path / "cache").damaged()) == []


def test_frames_that_a_restart_replaces_do_not_count_against_the_limit(cache: Path, other: Path) -> None:
    (open_cache(cache).folder / "takes" / "0001" / "frames" / "frame_000001.mpm").write_bytes(b"\0" * 20_000_000)
    bake_here(other, cache, restart=True, size_limit=0.01)
    assert open_cache(cache).frames == [1, 2, 3, 4, 5, 6]


def test_showing_a_take_of_no_cache_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(CacheError, match="contains no cache"):
        show_take(tmp_path / "nowhere", 1)
    assert not (tmp_path / "nowhere").exists()
