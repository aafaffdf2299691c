"""Where water makes spray, foam and bubbles, that nothing but the frames decides about them, and what runs of `derive DIR foam` say."""

import dataclasses
import os
import re
import shutil
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mpm_addon.command_line.main import main
from mpm_addon.core.errors import CacheError, MpmError
from mpm_addon.core.geometry.rotation import rotation_matrix
from mpm_addon.core.geometry.shapes import SHAPES, Mesh
from mpm_addon.core.geometry.shapes.box import CUBE_TRIANGLES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.particles import Moment
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Scene
from mpm_addon.core.scene.settings import Domain
from mpm_addon.core.stepping.kernel_list import argument_types, dispatcher_of, units_of_default_scheme
from mpm_addon.derived import job
from mpm_addon.derived.foam import FoamProduct, foaming_speed, usual_size
from mpm_addon.derived.foam_swarm import sizes
from mpm_addon.derived.settings import FoamSettings, VolumeSettings
from mpm_addon.derived.swarm_product import highest_speeds
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import State, counts_of, derived_path, source_of, sources_of, state_of
from mpm_addon.storage.swarm_file import read_swarm, swarm_at, types_of
from mpm_addon.storage.take import FOAM as KIND
from mpm_addon.storage.take import SURFACE
from tests.derived.caches import ROOT, SPACING, add_frame, arrays, block, derived, description, killed_run, write_cache

CELL = 2 * SPACING
FRAME = 1.0 / 24.0
SHORT = ("--life", "0.1", "--amount", "200")


def derive(capsys: pytest.CaptureFixture[str], cache: Path, *more: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit status, events and stderr."""
    return derived(capsys, cache, "foam", *more)


def foam(cache: Path, number: int) -> dict[str, np.ndarray]:
    return dict(swarm_at(open_cache(cache), Moment(number), KIND).arrays)


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
    assert {name: array.dtype.type for name, array in second.items()} == {name: kind for name, (kind, _shape) in types_of(KIND).items()}
    shared, at_first, at_second = np.intersect1d(first["id"], second["id"], return_indices=True)
    assert len(shared) > 50
    assert len(np.unique(second["id"])) == len(second["id"]) > len(shared)
    np.testing.assert_array_equal(first["size"][at_first], second["size"][at_second])
    np.testing.assert_allclose(second["age"][at_second] - first["age"][at_first], FRAME, atol=1e-3)
    assert (second["life"][at_second] < first["life"][at_first]).all()
    assert (second["life"] > 0.0).all()
    assert second["size"].min() > 0.3 * usual_size(CELL)
    assert np.mean(second["size"]) == pytest.approx(usual_size(CELL), rel=0.1)
    # 1.5 times the mean life after the last splash
    assert [len(foam(tmp_path, number)["id"]) > 0 for number in (3, 4, 8, 9)] == [True, True, False, False]


def test_sizes_follow_two_power_laws() -> None:
    """Numbers in octaves of diameters: r^-1.5 and r^-10/3 give ratios of 2^0.5 and 2^(7/3) from one octave to the next."""
    found = sizes(np.arange(400_000, dtype=np.int64), 2.0)
    assert found.mean() == pytest.approx(2.0, rel=0.005)
    assert found.max() / found.min() == pytest.approx(1.8 / 0.2, rel=0.01)
    # where the laws meet
    middle = found.max() / 1.8

    def count(low: float, high: float) -> float:
        return float(((found > low * middle) & (found <= high * middle)).mean())

    assert count(0.25, 0.5) / count(0.5, 1.0) == pytest.approx(2.0**0.5, rel=0.02)
    assert count(1.0, 1.3) / count(1.3, 1.69) == pytest.approx(1.3 ** (7.0 / 3.0), rel=0.05)
    assert (found < found.mean()).mean() > 0.6


def test_drops_do_not_grow_to_beads_in_coarse_cells() -> None:
    # an eighth of a cell, while that is a drop of at most 1.5 mm
    assert [usual_size(cell) for cell in (0.002, 0.012)] == pytest.approx([0.00025, 0.0015])
    # sqrt(1.5 mm x 10 mm): foam covers 0.15 of the water that eighths of cells would
    assert usual_size(0.08) == pytest.approx(0.003873, rel=1e-3)
    ratios = np.array([usual_size(2.0 * cell) / usual_size(cell) for cell in np.geomspace(0.013, 10.0)])
    np.testing.assert_allclose(ratios, np.sqrt(2.0))


def files_of(cache: Path) -> dict[str, bytes]:
    folder = derived_path(open_cache(cache), Moment(1), KIND).parent
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.mpm"))}


def tank() -> Scene:
    """A cubic meter with a post that turns and rises, and a block that is sheared."""
    turns = np.array([np.eye(4)] * 13)
    for number, pose in enumerate(turns):
        pose[:3, :3] = rotation_matrix(0.4 * number * np.array([0.3, 0.2, 0.9]))
        pose[:3, 3] = 0.6, 0.5, 0.3 + 0.03 * number
    cylinder = SHAPES["cylinder"](radius=0.1, height=0.6, rotation=(20.0, 30.0, 0.0))
    post = Collider("post", cylinder, motion=Motion(np.arange(13.0), turns))
    corners = SHAPES["box"](center=(0.2, 0.3, 0.4), size=(0.2, 0.3, 0.3)).corners()
    sheared = np.array([corners, corners + corners[:, 2:] * np.array([0.7, 0.4, 0.0])])
    block = Collider("block", Mesh(corners, CUBE_TRIANGLES), motion=Motion(np.array([0.0, 12.0]), vertices=sheared))
    bounds = Domain(kind="box", min=(0.0, 0.0, 0.0), max=(1.0, 1.0, 1.0))
    return dataclasses.replace(description(), colliders=(post, block), domain=bounds)


@pytest.mark.slow
def test_ranges_threads_and_resumed_runs_give_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path / "one", *(splash(seed, count=1400) for seed in range(12)), scene=tank())
    copies = [Path(shutil.copytree(tmp_path / "one", tmp_path / name)) for name in ("ranges", "threads", "stopped")]
    assert derive(capsys, tmp_path / "one", *SHORT, "--threads", "1")[0] == 0
    whole = files_of(tmp_path / "one")
    assert len(whole) == 12
    assert all(len(foam(tmp_path / "one", number)["id"]) > 100 for number in range(2, 13))
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


def test_foam_on_a_rising_plate_rises_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rise = np.tile(np.eye(4), (2, 1, 1))
    rise[1, 2, 3] = 2.0 * 3 * FRAME
    plate = SHAPES["box"](center=(0.5, 0.5, 0.1), size=(1.0, 1.0, 0.2))
    scene = dataclasses.replace(description(), colliders=(Collider("plate", plate, motion=Motion(np.array([1.0, 4.0]), rise)),))
    write_cache(tmp_path, *(splash(seed) for seed in range(4)), scene=scene)
    assert derive(capsys, tmp_path)[0] == 0
    for number in (2, 3, 4):
        found = foam(tmp_path, number)
        height = found["position"][:, 2] - 0.2 - 2.0 * (number - 1) * FRAME
        met = (height < 0.0103 * CELL) & (np.abs(found["position"][:, :2] - 0.5) < 0.4).all(axis=1) & (height > 0.0)
        assert met.sum() > 10
        # drops that meet it bounce a little
        assert found["velocity"][met, 2].min() > 1.99


def test_foam_that_follows_a_bake_is_up_to_date(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = description()
    write_cache(tmp_path, splash(0), scene=scene)

    def look(_folder: Path) -> SimpleNamespace:
        """The bake adds a frame at each of two looks, and has ended at the third."""
        number = len(open_cache(tmp_path).frames) + 1
        if number <= 3:
            add_frame(tmp_path, scene, number, splash(number))
        return SimpleNamespace(is_live=number <= 3)

    monkeypatch.setattr(job, "read_status", look)
    monkeypatch.setattr(job, "_PAUSE", 0.0)
    monkeypatch.setattr("mpm_addon.command_line.derive.os.nice", lambda _step: None)
    assert [event.get("frame") for event in derive(capsys, tmp_path, "--follow")[1]] == [None, 1, 2, 3, None]
    assert counts_of(open_cache(tmp_path), KIND, FoamSettings().hash)[:2] == (3, 0)


@pytest.mark.long  # of shorter foam: tests/faults
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_run_leaves_whole_frames_and_resumes_to_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = write_cache(tmp_path / "cache", *(splash(seed) for seed in range(30)))
    whole = Path(shutil.copytree(tmp_path / "cache", tmp_path / "whole"))
    made = killed_run(cache, KIND)
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
    speeds = highest_speeds([(0.0, 0.0), (0.0, 1.0), (0.02, 1.0), (50.0, 1.0), (8.0, 1.0)])
    assert speeds == [0.0, 0.0, 0.2, 10.0, 10.0]
    assert [foaming_speed(speed) for speed in speeds] == [0.5, 0.5, 0.5, 5.0, 5.0]


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


def with_viscosity(viscosity: float) -> Scene:
    """A scene whose emitters "left" and "right" are of a liquid of this viscosity [Pa s]."""
    scene = description()
    thick = dataclasses.replace(scene.materials["water"], law=LAWS["water"](viscosity=viscosity))
    return dataclasses.replace(scene, materials={**scene.materials, "water": thick})


def test_honey_is_too_thick_to_foam_unless_it_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    preset = tomllib.loads((ROOT / "presets/materials/honey.toml").read_text())
    assert preset["law"] == "water"
    write_cache(tmp_path / "honey", splash(1), splash(2), scene=with_viscosity(preset["parameters"]["viscosity"]))
    assert "Foam: no emitter is made of water; name the emitters that splash." in derive(capsys, tmp_path / "honey")[2]
    assert derive(capsys, tmp_path / "honey", "--emitters", "left")[1][2]["particles"] > 0
    write_cache(tmp_path / "oil", splash(1), splash(2), scene=with_viscosity(0.1))
    assert derive(capsys, tmp_path / "oil")[1][2]["particles"] > 0


def test_a_run_asks_a_few_times_which_frames_there_are_and_not_for_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def counted(path: Path) -> bool:
        asked.append(path)
        return path.exists()

    def asked_for(count: int) -> int:
        """How often a run of so many frames asks whether a frame exists."""
        write_cache(tmp_path / str(count), *(splash(seed, count=10) for seed in range(count)))
        with monkeypatch.context() as patch:
            patch.setattr(Path, "is_file", counted)
            asked.clear()
            assert derive(capsys, tmp_path / str(count))[0] == 0
        return len([path for path in asked if path.parent.name == "frames"])

    assert 5 * asked_for(4) >= asked_for(20) > 0


def test_what_a_frame_of_a_surface_is_made_from_is_found_without_looking_for_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = write_cache(tmp_path, splash(1), splash(2))
    known = sources_of(cache, SURFACE)
    monkeypatch.setattr("mpm_addon.storage.derived.sources_of", None)
    assert [source_of(cache, Moment(number)) for number in (1, 2)] == [known[Moment(number)] for number in (1, 2)]
    with pytest.raises(CacheError, match="frame 3 was not baked"):
        source_of(cache, Moment(3))


def test_deleting_removes_foam_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path, splash(1), splash(2))
    assert derive(capsys, tmp_path)[0] == 0
    assert derive(capsys, tmp_path, "--delete")[1] == [{"event": "deleted", "kind": "foam", "frames": 2}]
    assert open_cache(tmp_path).frames == [1, 2]
    assert not list(tmp_path.rglob("derived"))


@pytest.mark.parametrize(("kind", "words"), [("foam", "foam of 2 frames deleted\n"), ("surface", "surfaces of 0 frames deleted\n")])
def test_deleting_says_what_was_deleted(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, words: str) -> None:
    write_cache(tmp_path, splash(1), splash(2))
    assert derive(capsys, tmp_path)[0] == 0
    assert main(["derive", str(tmp_path), kind, "--delete"]) == 0
    assert capsys.readouterr().out == words


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
    for name in ("ply", "vtk", "vtu", "obj", "vdb"):
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
            read_swarm(path, KIND)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--emitters", "lefd"), r'Foam: emitter "lefd" does not exist \(did you mean "left"\?\)'),
        (("--life", "0"), r"Foam: life 0 s is not allowed"),
        (("--amount", "-1"), r"Foam: amount -1 1/s is not allowed"),
        (("--size", "0"), r"Foam: size 0 m is not allowed"),
        (("--voxel-size", "1"), r"--voxel-size is a setting of surfaces and volumes; omit it to make foam\."),
        (("--amount", "10000", "--speed", "0.001"), r"frame 2 would make .* new particles; use a smaller amount\."),
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
    for unit in (unit for unit in units_of_default_scheme() if unit.group in ("swarm", "foam")):
        assert dispatcher_of(unit).signatures == [argument_types(unit)], unit.kernel


def test_the_hash_is_that_of_what_decides() -> None:
    others: list[dict[str, Any]] = [{"emitters": "a"}, {"amount": 1.0}, {"speed": 1.0}, {"life": 1.0}, {"size": 0.1}, {"drag": 1.0}]
    hashes = {FoamSettings().hash, VolumeSettings().hash, *(FoamSettings(**each).hash for each in others)}
    assert len(hashes) == 2 + len(others)
