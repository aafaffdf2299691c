"""Volumes made from caches: what is powder, its mass and velocity, how sparse they are, and what `derive DIR volume` says and resumes."""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.command_line.main import main
from mpm_addon.core.errors import MpmError
from mpm_addon.core.particles import Moment
from mpm_addon.derived import voxels as voxels_module
from mpm_addon.derived.settings import SkinSettings, SurfaceSettings, VolumeSettings
from mpm_addon.derived.volume import looseness, sizes_of
from mpm_addon.derived.voxels import Voxels
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import State, counts_of, derived_path, state_of
from mpm_addon.storage.take import VOLUME
from tests.derived.caches import SPACING, add_frame, arrays, block, derived, description, killed_run, write_cache
from tests.derived.vdb_reader import Leaves, mass_of, positions_of, read_vdb

HEAP, EVERYTHING = 2, "--no-powder-only"
CELL = 2 * SPACING


def derive(capsys: pytest.CaptureFixture[str], cache: Path, *more: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit status, events and stderr."""
    return derived(capsys, cache, "volume", *more)


def grids(cache: Path, number: int = 1) -> dict[str, Leaves]:
    return read_vdb(derived_path(open_cache(cache), Moment(number), VOLUME))


def dust(count: int = 200, size: float = 10.0, seed: int = 1) -> np.ndarray:
    """Particles many cells apart from one another."""
    return (np.random.default_rng(seed).random((count, 3)) * size - 0.5 * size).astype(np.float32)


def test_the_volume_holds_as_much_as_the_particles_at_their_places_with_their_velocities(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    position = dust() + np.array([40.0, -7.0, 3.0])
    velocity = np.random.default_rng(2).normal(size=position.shape).astype(np.float32)
    scale = np.linspace(0.01, SPACING, len(position)).astype(np.float32)
    write_cache(tmp_path, arrays(position.astype(np.float32), HEAP, velocity=velocity, scale=scale))
    assert derive(capsys, tmp_path, EVERYTHING)[0] == 0
    density, moving = grids(tmp_path)["density"], grids(tmp_path)["velocity"]
    volume = scale.astype(np.float64) ** 3
    assert mass_of(density) == pytest.approx(volume.sum(), rel=1e-3)
    weight = density.values[..., None] * density.voxel**3
    np.testing.assert_allclose((weight * positions_of(density)).sum(axis=(0, 1, 2, 3)), volume @ position, rtol=2e-3)
    np.testing.assert_array_equal(density.start, moving.start)
    np.testing.assert_allclose((weight * moving.values).sum(axis=(0, 1, 2, 3)), volume @ velocity, atol=2e-3 * volume.sum())


@pytest.mark.parametrize("voxel", [0.05, 0.08, 0.2])
@pytest.mark.parametrize("radius", [1.0, 1.7, 2.0, 4.0])
def test_every_particle_is_spread_evenly_whatever_its_place_in_a_voxel(voxel: float, radius: float) -> None:
    position = np.random.default_rng(4).random((40, 3)) * 100.0 - 50.0
    found = Voxels(position, voxel, radius * voxel)
    total = found.spread(np.ones((40, 1)))
    assert total.sum(dtype=np.float64) == pytest.approx(40, rel=1e-6)
    place = (8 * found.leaves[:, None] + np.stack(np.meshgrid(*[np.arange(8)] * 3, indexing="ij"), axis=-1).reshape(512, 3)) * voxel
    reached = place[total[:, :, 0] > 0]
    near = np.abs(reached[:, None] - position).max(axis=2).min(axis=1)
    assert near.max() <= radius * voxel
    # a point gathers what it spread: the number itself where nothing varies
    np.testing.assert_allclose(found.gathered(np.full(total.shape[:2], 3.0, np.float32)), 3.0, rtol=1e-6)


def test_chunks_stay_clear_and_powder_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size, away = 16, (6.0, 0.0, 0.0)
    chunk = np.concatenate([block(size), (dust(100, 2.0) + away).astype(np.float32)])
    write_cache(tmp_path, arrays(chunk, HEAP))
    assert derive(capsys, tmp_path)[0] == 0
    density = grids(tmp_path)["density"]
    powder = positions_of(density)[..., 0] > 3.0
    whole = SPACING**3
    assert (density.values * powder).sum(dtype=np.float64) * density.voxel**3 == pytest.approx(100 * whole, rel=0.15)
    # nothing but a little at edges and corners
    assert (density.values * ~powder).sum(dtype=np.float64) * density.voxel**3 < 0.01 * size**3 * whole
    inside = (np.abs(positions_of(density)) < 0.2 * size * SPACING).all(axis=-1)
    assert (density.values[inside] == 0.0).all()
    assert derive(capsys, tmp_path, EVERYTHING)[0] == 0
    assert mass_of(grids(tmp_path)["density"]) == pytest.approx((100 + size**3) * whole, rel=1e-3)


def test_how_full_the_space_is_inside_at_a_face_at_an_edge_and_alone() -> None:
    size = 12
    position = np.concatenate([block(size).astype(np.float64), [[9.0, 9.0, 9.0]]])
    volume = np.full(len(position), SPACING**3)
    loose = {limit: looseness(position, volume, CELL, limit) for limit in (0.35, 0.5, 0.7)}
    cube = {limit: values[:-1].reshape(size, size, size) for limit, values in loose.items()}
    assert [values[-1] for values in loose.values()] == [1.0, 1.0, 1.0]
    assert cube[0.35][1:-1, 1:-1, :].max() == cube[0.7][1:-1, 1:-1, 1:-1].max() == 0.0
    # a corner, an edge and a face
    assert cube[0.5][0, 0, 0] > cube[0.5][0, 0, 5] > cube[0.5][0, 5, 5] == 0.0
    assert cube[0.7][0, 5, 5] > 0.0


def test_grains_become_powder_and_if_there_are_none_everything_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    position, emitter = dust(90), np.repeat([0, 1, 2], 30).astype(np.int32)
    write_cache(tmp_path / "heap", arrays(position, emitter))
    assert derive(capsys, tmp_path / "heap")[0] == 0
    assert mass_of(grids(tmp_path / "heap")["density"]) == pytest.approx(30 * SPACING**3, rel=0.05)
    assert derive(capsys, tmp_path / "heap", "--emitters", "left, right", EVERYTHING)[0] == 0
    assert mass_of(grids(tmp_path / "heap")["density"]) == pytest.approx(60 * SPACING**3, rel=1e-3)
    scene = description((("left", "water"), ("right", "water")))
    write_cache(tmp_path / "water", arrays(position, emitter // 2), scene=scene)
    assert derive(capsys, tmp_path / "water", EVERYTHING)[0] == 0
    assert mass_of(grids(tmp_path / "water")["density"]) == pytest.approx(90 * SPACING**3, rel=1e-3)


@pytest.mark.parametrize("count", [0, 1])
def test_hardly_any_particles_give_hardly_any_volume(tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int) -> None:
    write_cache(tmp_path, arrays(dust(count), HEAP), arrays(dust(3), HEAP))
    status, events, _ = derive(capsys, tmp_path)
    assert (status, [event["event"] for event in events]) == (0, ["start", "frame", "frame", "done"])
    assert (events[1]["voxels"] > 0) == (count > 0)
    assert mass_of(grids(tmp_path)["density"]) == pytest.approx(count * SPACING**3, rel=1e-3)


def test_particles_that_are_flung_far_away_take_no_more_room_than_near_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A box around all of them has 10^21 voxels; one particle is beyond what a file can hold, and left out."""
    near, far = dust(50, 10.0), dust(50, 5e5)
    far[0] = 1e9
    write_cache(tmp_path, arrays(near, HEAP), arrays(far, HEAP))
    assert derive(capsys, tmp_path)[0] == 0
    assert len(grids(tmp_path, 2)["density"].start) <= 8 * 49
    assert mass_of(grids(tmp_path, 2)["density"]) == pytest.approx(49 * SPACING**3, rel=1e-3)
    found = Voxels(far.astype(np.float64), SPACING, CELL)
    assert found.spread(np.ones((50, 1))).nbytes <= 8 * 49 * 512 * 4


def test_a_frame_that_would_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voxels_module, "_MOST_LEAVES", 100)
    with pytest.raises(MpmError, match=r"Volume: a frame would have about .* voxels; use a larger voxel size\."):
        Voxels(dust(500).astype(np.float64), SPACING, CELL)


def test_frames_without_sizes_and_emitters_have_volumes_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = arrays(dust(40), HEAP)
    for name in ("scale", "velocity", "stress", "rotation"):
        del given[name]
    write_cache(tmp_path, given)
    assert derive(capsys, tmp_path)[0] == 0
    # eight particles a cell are usual
    assert mass_of(grids(tmp_path)["density"]) == pytest.approx(40 * SPACING**3, rel=0.05)
    assert list(grids(tmp_path)) == ["density"]


def test_a_run_resumes_and_settings_and_frames_make_volumes_outdated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = write_cache(tmp_path, *(arrays(dust(30, seed=seed), HEAP) for seed in range(3)))
    assert [event["event"] for event in derive(capsys, tmp_path, "--frames", "2")[1]] == ["start", "frame", "done"]
    status, events, _ = derive(capsys, tmp_path)
    assert (status, [event.get("frame") for event in events]) == (0, [None, 1, 3, None])
    assert (events[0]["done"], events[0]["total"], events[0]["kind"]) == (1, 3, "volume")
    assert counts_of(cache, VOLUME, VolumeSettings().hash)[:2] == (3, 0)
    assert counts_of(cache, VOLUME, VolumeSettings(velocity=False).hash)[:2] == (0, 3)
    path = derived_path(cache, Moment(3), VOLUME)
    assert path.name == "frame_000003.vdb"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    assert [event.get("frame") for event in derive(capsys, tmp_path)[1]] == [None, 3, None]
    assert path.read_bytes() == whole
    again = write_cache(tmp_path, *(arrays(dust(30, seed=seed), HEAP) for seed in range(2)), arrays(dust(31), HEAP))
    derived_path(again, Moment(3), VOLUME).parent.mkdir(parents=True, exist_ok=True)
    derived_path(again, Moment(3), VOLUME).write_bytes(whole)
    assert state_of(again, Moment(3), VOLUME, VolumeSettings().hash) is State.OUTDATED


def test_the_hash_is_that_of_what_decides() -> None:
    usual = VolumeSettings().hash
    same = [VolumeSettings(powder_only=False), VolumeSettings(powder_only=False, max_fullness=0.8)]
    assert same[0].hash == same[1].hash != usual
    others: list[dict[str, Any]] = [{"emitters": "a"}, {"max_fullness": 0.4}, {"voxel_size": 0.1}, {"radius": 0.1}, {"velocity": False}]
    hashes = {usual, SurfaceSettings().hash, SkinSettings().hash, *(VolumeSettings(**each).hash for each in others)}
    assert len(hashes) == 3 + len(others)


def test_sizes_follow_from_the_cell_or_the_voxel() -> None:
    assert sizes_of(VolumeSettings(), 0.1) == (0.1, 0.2)
    assert sizes_of(VolumeSettings(voxel_size=0.01), 0.1) == (0.01, 0.04)
    assert sizes_of(VolumeSettings(voxel_size=0.5), 0.1) == (0.5, 0.5)
    assert sizes_of(VolumeSettings(radius=0.13), 0.1) == (0.1, 0.13)


def test_deleting_removes_volumes_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mpm_addon.storage.removal import remove_cache

    cache = write_cache(tmp_path / "cache", arrays(dust(30), HEAP))
    assert derive(capsys, tmp_path / "cache")[0] == 0
    path = derived_path(cache, Moment(1), VOLUME)
    own = path.parent / "smoke.vdb"
    own.write_bytes(b"an artist's own")
    assert derive(capsys, tmp_path / "cache", "--delete")[1] == [{"event": "deleted", "kind": "volume", "frames": 1}]
    assert (own.exists(), path.exists(), open_cache(tmp_path / "cache").frames) == (True, False, [1])
    own.unlink()
    assert derive(capsys, tmp_path / "cache")[0] == 0
    path.with_name(f"{path.name}.4711.partial").write_bytes(b"half")
    remove_cache(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_an_estimate_is_of_the_right_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path, *(arrays(dust(1000, size), HEAP) for size in (20.0, 5.0, 2.0)))
    (estimate,) = derive(capsys, tmp_path, "--estimate")[1]
    assert derive(capsys, tmp_path)[0] == 0
    size = sum(derived_path(open_cache(tmp_path), Moment(number), VOLUME).stat().st_size for number in (1, 2, 3))
    assert (estimate["frames"], 0.5 * size < estimate["bytes"] < 2.0 * size) == (3, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--emitters", "haep"),
            r'Volume: emitter "haep" does not exist \(did you mean "heap"\?\); use one or more of left, right, heap\.',
        ),
        (("--radius", "0.01"), r"Volume: radius 0\.01 m is not between one and 4 voxels of 0\.1 m; use 0\.1 to 0\.4 m, or another"),
        (("--voxel-size", "0"), r"Volume: voxel_size 0 m is not allowed; use a finite number above 0 m\."),
        (("--max-fullness", "3"), r"Volume: max_fullness 3 is not allowed"),
        (("--quality", "draft"), r"--quality is a setting of surfaces; omit it to make volumes\."),
        (("--frames", "7-9"), r"there are no frames 7-9; frames 1 to 1 are cached\."),
    ],
)
def test_wrong_requests_are_answered_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], words: str
) -> None:
    write_cache(tmp_path, arrays(dust(5), HEAP))
    status, events, told = derive(capsys, tmp_path, *options)
    assert (status, events[-1]["event"], told.count("\n")) == (1, "error", 1)
    assert re.search(words, told), told


def test_a_flat_scene_has_no_volume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path / "flat", arrays(dust(5)), scene=description(dimension=2))
    assert "is two-dimensional, so it has no volume" in derive(capsys, tmp_path / "flat")[2]


def test_volumes_are_exported_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = write_cache(tmp_path / "cache", arrays(dust(5), HEAP), arrays(dust(6), HEAP))
    out = tmp_path / "out"
    export = ["export", str(tmp_path / "cache"), "--volume", "--format", "vdb", "--output"]
    assert main([*export, str(out)]) == 1
    assert "frame 1 has no volume; derive it first." in capsys.readouterr().err
    assert derive(capsys, tmp_path / "cache")[0] == 0
    assert main([*export, str(out)]) == 0
    for number in (1, 2):
        assert (out / f"frame_{number:06d}.vdb").read_bytes() == derived_path(cache, Moment(number), VOLUME).read_bytes()
    assert main([*export, str(tmp_path / "one.vdb"), "--frames", "2"]) == 0
    assert main([*export, str(tmp_path / "one.vdb")]) == 1
    assert "one file cannot hold 2 frames" in capsys.readouterr().err
    for wrong in (["--volume", "--format", "ply"], ["--format", "vdb"], ["--surface", "--format", "vdb"]):
        assert main(["export", str(tmp_path / "cache"), *wrong, "--output", str(out)]) == 1
        assert "use --volume --format vdb for volumes." in capsys.readouterr().err


def test_a_full_disk_is_reported_and_leaves_no_half_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_cache(tmp_path, arrays(dust(5), HEAP))

    def refuse(*_given: object, **_more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mpm_addon.storage.atomic.os.fsync", refuse)
    status, events, words = derive(capsys, tmp_path)
    assert (status, events[-1]["event"]) == (1, "error")
    assert words.endswith("frame_000001.vdb cannot be written (No space left on device); free disk space or check its permissions.\n")
    assert not list(tmp_path.rglob("*.partial"))


def test_a_follower_makes_what_a_running_bake_adds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from mpm_addon.derived import job

    scene = description()
    write_cache(tmp_path, arrays(dust(5), HEAP), scene=scene)

    class Status:
        is_live = True

    def look(_folder: Path) -> Status:
        status = Status()
        status.is_live = len(open_cache(tmp_path).frames) == 1
        if status.is_live:
            add_frame(tmp_path, scene, 2, arrays(dust(6), HEAP))
        return status

    monkeypatch.setattr(job, "read_status", look)
    monkeypatch.setattr("mpm_addon.command_line.derive.os.nice", lambda _step: None)
    status, events, _ = derive(capsys, tmp_path, "--follow")
    assert (status, [event["frame"] for event in events if event["event"] == "frame"]) == (0, [1, 2])


@pytest.mark.long  # of another cache: tests/faults
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_run_leaves_whole_frames_and_resumes_to_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = write_cache(tmp_path / "cache", *(arrays(dust(300, seed=seed), HEAP) for seed in range(30)))
    made = killed_run(cache, VOLUME)
    assert derive(capsys, tmp_path / "cache")[0] == 0
    for number in range(1, 31):
        assert state_of(cache, Moment(number), VOLUME, VolumeSettings().hash) is State.MADE
    assert all(path.read_bytes() == data for path, data in made.items())
