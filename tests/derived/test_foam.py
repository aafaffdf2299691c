"""Where water makes spray, foam and bubbles, that nothing but the frames decides about them, and what runs of `derive DIR foam` say."""

import dataclasses
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.command_line.main import main
from mpm_addon.core.errors import MpmError
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.particles import Moment
from mpm_addon.core.scene.description import Collider
from mpm_addon.core.scene.settings import Domain
from mpm_addon.core.stepping.kernel_list import argument_types, dispatcher_of, units_of_default_scheme
from mpm_addon.derived.foam import FoamProduct, foaming_speeds
from mpm_addon.derived.settings import FoamSettings, VolumeSettings
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import State, counts_of, derived_path, state_of
from mpm_addon.storage.foam_file import ATTRIBUTES, foam_at, read_foam
from mpm_addon.storage.take import FOAM as KIND
from tests.derived.caches import SPACING, arrays, block, derived, description, killed_run, write_cache

CELL = 2 * SPACING
FRAME = 1.0 / 24.0
SHORT = ("--life", "0.1", "--amount", "200")


def derive(capsys: pytest.CaptureFixture[str], cache: Path, *more: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit status, events and stderr."""
    return derived(capsys, cache, "foam", *more)


def foam(cache: Path, number: int) -> dict[str, np.ndarray]:
    return dict(foam_at(open_cache(cache), Moment(number)).arrays)


def splash(seed: int, speed: float = 3.0, count: int = 4000) -> dict[str, np.ndarray]:
    """Water in drops that fly into each other, in half of a cubic meter."""
    random = np.random.default_rng(seed)
    velocity = (speed * random.normal(size=(count, 3))).astype(np.float32)
    return arrays(random.random((count, 3)).astype(np.float32), 0, velocity=velocity)


def test_water_foams_where_it_splashes_and_not_where_it_is_still(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    still = arrays(block(16), 0, velocity=np.zeros((16**3, 3), np.float32))
    slow = splash(1, speed=0.05)
    write_cache(tmp_path / "still", still, still, slow, slow)
    assert derive(capsys, tmp_path / "still", "--amount", "1000")[0] == 0
    assert [len(foam(tmp_path / "still", number)["id"]) for number in (1, 2, 3, 4)] == [0, 0, 0, 0]
    write_cache(tmp_path / "wild", splash(1), splash(2))
    assert derive(capsys, tmp_path / "wild")[0] == 0
    few = len(foam(tmp_path / "wild", 2)["id"])
    assert few > 100
    assert derive(capsys, tmp_path / "wild", "--amount", "400")[0] == 0
    assert len(foam(tmp_path / "wild", 2)["id"]) == pytest.approx(4 * few, rel=0.15)
    # at ten times the speed from which it is to foam, this is calm
    assert derive(capsys, tmp_path / "wild", "--speed", "30")[0] == 0
    assert len(foam(tmp_path / "wild", 2)["id"]) == 0


def test_particles_keep_their_ids_and_sizes_and_die(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    still = arrays(block(16), 0, velocity=np.zeros((16**3, 3), np.float32))
    write_cache(tmp_path, still, splash(1), splash(2), *[still] * 6)
    assert derive(capsys, tmp_path, "--life", "0.1")[0] == 0
    first, second = foam(tmp_path, 2), foam(tmp_path, 3)
    assert {name: array.dtype.type for name, array in second.items()} == {name: kind for name, (kind, _shape) in ATTRIBUTES.items()}
    shared, at_first, at_second = np.intersect1d(first["id"], second["id"], return_indices=True)
    assert len(shared) > 50
    assert len(np.unique(second["id"])) == len(second["id"]) > len(shared)
    np.testing.assert_array_equal(first["size"][at_first], second["size"][at_second])
    np.testing.assert_allclose(second["age"][at_second] - first["age"][at_first], FRAME, atol=1e-3)
    assert (second["life"][at_second] < first["life"][at_first]).all()
    assert (second["life"] > 0.0).all()
    assert second["size"].min() > 0.3 * CELL / 8
    assert np.mean(second["size"]) == pytest.approx(CELL / 8, rel=0.1)
    # 1.5 times the mean life after the last splash
    assert [len(foam(tmp_path, number)["id"]) > 0 for number in (3, 4, 8, 9)] == [True, True, False, False]


def files_of(cache: Path) -> dict[str, bytes]:
    folder = derived_path(open_cache(cache), Moment(1), KIND).parent
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.mpm"))}


def test_ranges_threads_and_resumed_runs_give_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    post = Collider("post", SHAPES["cylinder"](center=(0.5, 0.5, 0.5), radius=0.1, height=0.6, rotation=(20.0, 30.0, 0.0)))
    tank = dataclasses.replace(description(), colliders=(post,), domain=Domain(kind="box", min=(0.0, 0.0, 0.0), max=(1.0, 1.0, 1.0)))
    write_cache(tmp_path / "one", *(splash(seed) for seed in range(12)), scene=tank)
    copies = [Path(shutil.copytree(tmp_path / "one", tmp_path / name)) for name in ("ranges", "threads", "stopped")]
    assert derive(capsys, tmp_path / "one", *SHORT, "--threads", "1")[0] == 0
    whole = files_of(tmp_path / "one")
    assert len(whole) == 12
    # the last range begins with no earlier file, and far enough from the first frame that it need not start there
    for frames in ("9-12", "1-3", "6-8", "4-5"):
        assert derive(capsys, copies[0], *SHORT, "--frames", frames)[0] == 0
    assert files_of(copies[0]) == whole
    assert derive(capsys, copies[1], *SHORT, "--threads", "2")[0] == 0
    assert files_of(copies[1]) == whole
    for frames in ("1-7", "1-12"):
        assert derive(capsys, copies[2], *SHORT, "--frames", frames)[0] == 0
    path = derived_path(open_cache(copies[2]), Moment(9), KIND)
    path.write_bytes(path.read_bytes()[:-7])
    assert [event.get("frame") for event in derive(capsys, copies[2], *SHORT)[1]] == [None, 9, None]
    assert files_of(copies[2]) == whole
    # other lives, other bytes
    assert derive(capsys, copies[2], "--life", "0.11", "--amount", "200")[0] == 0
    assert files_of(copies[2]) != whole


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_run_leaves_whole_frames_and_resumes_to_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = write_cache(tmp_path / "cache", *(splash(seed) for seed in range(30)))
    whole = Path(shutil.copytree(tmp_path / "cache", tmp_path / "whole"))
    made = killed_run(cache, KIND)
    assert 0 < len(made) < 30
    assert derive(capsys, tmp_path / "cache")[0] == derive(capsys, whole)[0] == 0
    assert files_of(tmp_path / "cache") == files_of(whole)
    assert all(path.read_bytes() == data for path, data in made.items())


def test_an_earlier_frame_that_changes_makes_later_foam_outdated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = write_cache(tmp_path, *(splash(seed) for seed in range(3)))
    assert derive(capsys, tmp_path)[0] == 0
    files = {number: derived_path(cache, Moment(number), KIND).read_bytes() for number in (1, 2, 3)}
    assert counts_of(cache, KIND, FoamSettings().hash)[:2] == (3, 0)
    assert counts_of(cache, KIND, FoamSettings(life=1.0).hash)[:2] == (0, 3)
    again = write_cache(tmp_path, splash(0), splash(7), splash(2))
    for number, data in files.items():
        path = derived_path(again, Moment(number), KIND)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    states = [state_of(again, Moment(number), KIND, FoamSettings().hash) for number in (1, 2, 3)]
    assert states == [State.MADE, State.OUTDATED, State.OUTDATED]


def test_the_speed_from_which_water_foams_is_half_of_the_highest_mean_speed_so_far() -> None:
    assert foaming_speeds([(0.0, 0.0), (0.0, 1.0), (50.0, 1.0), (8.0, 1.0), (0.02, 1.0)]) == [0.5, 0.5, 5.0, 5.0, 5.0]
    assert foaming_speeds([(0.02, 1.0)]) == [0.5]


@pytest.mark.parametrize("count", [0, 1])
def test_hardly_any_water_gives_no_foam(tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int) -> None:
    write_cache(tmp_path, splash(1, count=count), splash(2, count=count))
    status, events, _ = derive(capsys, tmp_path)
    assert (status, [event["event"] for event in events]) == (0, ["start", "frame", "frame", "done"])
    assert [event["particles"] for event in events[1:3]] == [0, 0]
    assert len(foam(tmp_path, 2)["position"]) == 0


def test_only_water_foams_unless_others_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = splash(1)
    given["emitter_index"][:] = 2
    write_cache(tmp_path, given, given)
    assert derive(capsys, tmp_path)[1][2]["particles"] == 0
    assert derive(capsys, tmp_path, "--emitters", "heap")[1][2]["particles"] > 0
    write_cache(tmp_path / "dry", given, scene=description((("heap", "sand"),)))
    assert "Foam: no emitter is made of water; name the emitters that splash." in derive(capsys, tmp_path / "dry")[2]


def test_deleting_removes_foam_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path, splash(1), splash(2))
    assert derive(capsys, tmp_path)[0] == 0
    assert derive(capsys, tmp_path, "--delete")[1] == [{"event": "deleted", "kind": "foam", "frames": 2}]
    assert open_cache(tmp_path).frames == [1, 2]
    assert not list(tmp_path.rglob("derived"))


def test_an_estimate_is_of_the_right_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path, *(splash(seed) for seed in range(12)))
    (estimate,) = derive(capsys, tmp_path, "--life", "0.1", "--estimate")[1]
    assert derive(capsys, tmp_path, "--life", "0.1")[0] == 0
    size = sum(map(len, files_of(tmp_path).values()))
    assert (estimate["frames"], 0.4 * size < estimate["bytes"] < 2.5 * size) == (12, True)


def test_foam_is_exported_in_the_formats_of_particles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path / "cache", splash(1), splash(2))
    export = ["export", str(tmp_path / "cache"), "--foam", "--format", "npz", "--output", str(tmp_path / "out")]
    assert main(export) == 1
    assert "frame 1 has no foam; derive it first." in capsys.readouterr().err
    assert derive(capsys, tmp_path / "cache")[0] == 0
    assert main(export) == 0
    with np.load(tmp_path / "out" / "frame_000002.npz") as file:
        for name, array in foam(tmp_path / "cache", 2).items():
            np.testing.assert_array_equal(file[name], array)
    for name in ("ply", "vtk", "vtu", "obj"):
        assert main([*export[:3], "--foam", "--format", name, "--output", str(tmp_path / name)]) == 0


def test_damaged_files_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mpm_addon.storage.arrays import ArrayFileError

    write_cache(tmp_path, splash(1), splash(2))
    assert derive(capsys, tmp_path)[0] == 0
    path = derived_path(open_cache(tmp_path), Moment(2), KIND)
    whole = path.read_bytes()
    random = np.random.default_rng(3)
    for place in random.integers(0, len(whole), 60):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(bytes(damaged))
        with pytest.raises(ArrayFileError):
            read_foam(path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--emitters", "lefd"), r'Foam: emitter "lefd" does not exist \(did you mean "left"\?\)'),
        (("--life", "0"), r"Foam: life 0 s is not allowed"),
        (("--amount", "-1"), r"Foam: amount -1 1/s is not allowed"),
        (("--size", "0"), r"Foam: size 0 m is not allowed"),
        (("--voxel-size", "1"), r"--voxel-size is a setting of surfaces and volumes; omit it to make foam\."),
        (("--amount", "10000", "--speed", "0.001"), r"frame 1 would make .* new particles; use a smaller amount\."),
    ],
)
def test_wrong_requests_are_answered_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], words: str
) -> None:
    write_cache(tmp_path, splash(1), splash(2))
    status, events, told = derive(capsys, tmp_path, *options)
    assert (status, events[-1]["event"], told.count("\n")) == (1, "error", 1)
    assert re.search(words, told), told


def test_frames_without_velocity_and_flat_ones_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = splash(1)
    del given["velocity"]
    write_cache(tmp_path / "slow", given)
    assert "frame 1 has no velocity" in derive(capsys, tmp_path / "slow")[2]
    write_cache(tmp_path / "flat", splash(1), scene=description(dimension=2))
    assert "is two-dimensional, so it has no foam" in derive(capsys, tmp_path / "flat")[2]
    with pytest.raises(MpmError, match=r"life 60 s is too long at this frame rate; use at most .* s"):
        fast = dataclasses.replace(description(), time=dataclasses.replace(description().time, fps=240.0))
        FoamProduct(write_cache(tmp_path / "fast", splash(1), scene=fast), FoamSettings(life=60.0))


def test_all_kernels_that_foam_calls_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So they ship with the extension: none is compiled for other types, whether a state comes from a file or from a run."""
    write_cache(tmp_path, *(splash(seed) for seed in range(3)))
    for frames in ("1-2", "3"):
        assert derive(capsys, tmp_path, "--frames", frames)[0] == 0
    for unit in (unit for unit in units_of_default_scheme() if unit.group == "foam"):
        assert dispatcher_of(unit).signatures == [argument_types(unit)], unit.kernel


def test_the_hash_is_that_of_what_decides() -> None:
    others: list[dict[str, Any]] = [{"emitters": "a"}, {"amount": 1.0}, {"speed": 1.0}, {"life": 1.0}, {"size": 0.1}, {"drag": 1.0}]
    hashes = {FoamSettings().hash, VolumeSettings().hash, *(FoamSettings(**each).hash for each in others)}
    assert len(hashes) == 2 + len(others)
