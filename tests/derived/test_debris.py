"""Where breaking material makes chips and dust, that only the frames decide about them, and what runs of `derive DIR debris` say."""

import dataclasses
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.command_line.main import main
from mpm_addon.core.laws import LAWS
from mpm_addon.core.particles import Moment
from mpm_addon.core.scene.description import Scene
from mpm_addon.core.stepping.kernel_list import argument_types, dispatcher_of, units_of_default_scheme
from mpm_addon.derived.debris import breaking_speed
from mpm_addon.derived.debris_settings import DebrisSettings
from mpm_addon.derived.sources import emitters_of_debris
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import counts_of, derived_path
from mpm_addon.storage.swarm_file import swarm_at, types_of
from mpm_addon.storage.take import DEBRIS as KIND
from tests.derived.caches import arrays, block, derived, description, write_cache
from tests.derived.test_foam import FRAME, tank

SHORT = ("--chip-life", "0.15", "--dust-life", "0.1")


def derive(capsys: pytest.CaptureFixture[str], cache: Path, *more: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit status, events and stderr."""
    return derived(capsys, cache, "debris", *more)


def debris(cache: Path, number: int) -> dict[str, np.ndarray]:
    return dict(swarm_at(open_cache(cache), Moment(number), KIND).arrays)


def burst(frame: int, rate: float = 6.0, size: int = 12) -> dict[str, np.ndarray]:
    """A cube of sand in the middle of a cubic meter that flies apart from its first frame on."""
    position, time = block(size, (0.4, 0.6, 0.6)), frame * FRAME
    center = np.float32((0.4, 0.6, 0.6))
    velocity = np.float32(rate) * (position - center)
    return arrays(position + np.float32(time) * velocity, 2, velocity=velocity.astype(np.float32))


def falling(frame: int, size: int = 12) -> dict[str, np.ndarray]:
    """The same cube, whole."""
    time = frame * FRAME
    position = block(size, (0.4, 0.6, 5.0 - 0.5 * 9.81 * time**2))
    return arrays(position, 2, velocity=np.tile(np.float32((0.0, 0.0, -9.81 * time)), (len(position), 1)))


def test_sand_that_flies_apart_makes_chips_and_dust_and_whole_sand_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path / "whole", *(falling(frame) for frame in range(4)))
    assert derive(capsys, tmp_path / "whole", "--chips", "100", "--dust", "100", "--speed", "0.001")[0] == 0
    assert [len(debris(tmp_path / "whole", number)["id"]) for number in (1, 2, 3, 4)] == [0, 0, 0, 0]
    write_cache(tmp_path / "burst", *(burst(frame) for frame in range(4)))
    assert derive(capsys, tmp_path / "burst")[0] == 0
    found = debris(tmp_path / "burst", 3)
    assert {name: array.dtype.type for name, array in found.items()} == {name: kind for name, (kind, _shape) in types_of(KIND).items()}
    chips, dust = (found["kind"] == 0).sum(), (found["kind"] == 1).sum()
    assert chips > 100
    # ten times as much, as by default
    assert dust == pytest.approx(10 * chips, rel=0.2)
    assert set(found["emitter_index"].tolist()) == {2}
    assert derive(capsys, tmp_path / "burst", "--chips", "0")[0] == 0
    assert not (debris(tmp_path / "burst", 3)["kind"] == 0).any()
    # where it parts too slowly
    assert derive(capsys, tmp_path / "burst", "--speed", "50")[0] == 0
    assert len(debris(tmp_path / "burst", 3)["id"]) == 0


def test_particles_keep_their_ids_and_die(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frames = [burst(frame) for frame in range(4)]
    write_cache(tmp_path, *frames, *[{**frames[-1], "velocity": 0.0 * frames[-1]["velocity"]}] * 6)
    assert derive(capsys, tmp_path, *SHORT)[0] == 0
    first, second = debris(tmp_path, 3), debris(tmp_path, 4)
    shared, at_first, at_second = np.intersect1d(first["id"], second["id"], return_indices=True)
    assert len(shared) > 100
    for name in ("size", "kind", "emitter_index"):
        np.testing.assert_array_equal(first[name][at_first], second[name][at_second])
    np.testing.assert_allclose(second["age"][at_second] - first["age"][at_first], FRAME, atol=1e-3)
    assert (second["life"][at_second] < first["life"][at_first]).all()
    alive = [set(debris(tmp_path, number)["kind"].tolist()) for number in (4, 7, 8, 9, 10)]
    assert alive[:2] == [{0, 1}, {0, 1}]
    # 1.5 times the mean lives after the last burst
    assert alive[2:] == [{0}, {0}, set()]


def files_of(cache: Path) -> dict[str, bytes]:
    folder = derived_path(open_cache(cache), Moment(1), KIND).parent
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.mpm"))}


@pytest.mark.slow
def test_ranges_threads_and_resumed_runs_give_the_same_bytes_and_change_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_cache(tmp_path / "one", *(burst(frame % 4) for frame in range(12)), scene=tank())
    before = {path: path.read_bytes() for path in (tmp_path / "one").rglob("*") if path.is_file()}
    copies = [Path(shutil.copytree(tmp_path / "one", tmp_path / name)) for name in ("ranges", "threads")]
    assert derive(capsys, tmp_path / "one", *SHORT, "--threads", "1")[0] == 0
    whole = files_of(tmp_path / "one")
    assert len(whole) == 12
    assert sum(map(len, whole.values())) > 20_000
    # the last range begins with no earlier file, and far enough from the first frame that it need not start there
    for frames in ("9-12", "1-3", "6-8", "4-5"):
        assert derive(capsys, copies[0], *SHORT, "--frames", frames)[0] == 0
    assert files_of(copies[0]) == whole
    assert derive(capsys, copies[1], *SHORT, "--threads", "4")[0] == 0
    assert files_of(copies[1]) == whole
    assert derive(capsys, copies[1], "--chip-life", "0.16")[0] == 0
    assert files_of(copies[1]) != whole
    assert all(path.read_bytes() == data for path, data in before.items())


def test_only_material_that_tears_or_crumbles_makes_debris_unless_others_are_named() -> None:
    def of(*materials: str, **parameters: float) -> Scene:
        scene = description(tuple((name, name) for name in materials))
        laws = {name: LAWS[name](**parameters if name == "corotated" else {}) for name in materials}
        return dataclasses.replace(
            scene, materials={name: dataclasses.replace(each, law=laws[name]) for name, each in scene.materials.items()}
        )

    assert emitters_of_debris(of("water", "sand", "corotated", "snow"), DebrisSettings()) == (1, 3)
    assert emitters_of_debris(of("water", "sand", "corotated", "snow"), DebrisSettings(emitters="water")) == (0,)
    assert emitters_of_debris(of("corotated", tear_stretch=1.5), DebrisSettings()) == (0,)
    assert emitters_of_debris(of("water", "brittle"), DebrisSettings()) == (1,)
    with pytest.raises(
        Exception, match="Debris: no emitter is made of a material that breaks; name the emitters that do, or let them tear"
    ):
        emitters_of_debris(of("corotated", "water"), DebrisSettings())


def test_the_speed_at_which_material_throws_off_debris_follows_from_the_highest_mean_speed() -> None:
    assert [breaking_speed(speed) for speed in (0.0, 1.0, 10.0)] == [0.04, 0.04, 0.2]


@pytest.mark.parametrize("count", [0, 1])
def test_hardly_any_material_gives_no_debris(tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int) -> None:
    few = [{name: array[:count] for name, array in burst(frame).items()} for frame in range(2)]
    write_cache(tmp_path, *few)
    status, events, _ = derive(capsys, tmp_path)
    assert (status, [event.get("particles") for event in events[1:3]]) == (0, [0, 0])


def test_debris_is_exported_in_the_formats_of_particles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path / "cache", burst(0), burst(1))
    export = ["export", str(tmp_path / "cache"), "--debris", "--format", "npz", "--output", str(tmp_path / "out")]
    assert main(export) == 1
    assert "frame 1 has no debris; derive it first." in capsys.readouterr().err
    assert derive(capsys, tmp_path / "cache")[0] == 0
    assert counts_of(open_cache(tmp_path / "cache"), KIND, DebrisSettings().hash)[:2] == (2, 0)
    assert main(export) == 0
    with np.load(tmp_path / "out" / "frame_000002.npz") as file:
        for name, array in debris(tmp_path / "cache", 2).items():
            np.testing.assert_array_equal(file[name], array)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--emitters", "hep"), r'Debris: emitter "hep" does not exist \(did you mean "heap"\?\)'),
        (("--dust-life", "0"), r"Debris: dust_life 0 s is not allowed"),
        (("--bounce", "1.5"), r"Debris: bounce 1.5 is not allowed"),
        (("--amount", "1"), r"--amount is a setting of foam; omit it to make debris\."),
        (("--dust", "1000", "--speed", "0.001"), r"Debris: frame 2 would make .* new particles; use a smaller amount\."),
    ],
)
def test_wrong_requests_are_answered_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], words: str
) -> None:
    write_cache(tmp_path, *(burst(frame, rate=12.0, size=20) for frame in range(2)))
    status, events, told = derive(capsys, tmp_path, *options)
    assert (status, events[-1]["event"], told.count("\n")) == (1, "error", 1)
    assert re.search(words, told), told


def test_all_kernels_that_debris_calls_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path, *(burst(frame) for frame in range(3)))
    for frames in ("1-2", "3"):
        assert derive(capsys, tmp_path, "--frames", frames)[0] == 0
    for unit in (unit for unit in units_of_default_scheme() if unit.group in ("swarm", "debris")):
        assert dispatcher_of(unit).signatures == [argument_types(unit)], unit.kernel


def test_the_hash_is_that_of_what_decides() -> None:
    fields = [each.name for each in dataclasses.fields(DebrisSettings)]
    changed: dict[str, Any] = {name: "a" if name == "emitters" else 0.7 for name in fields}
    hashes = {DebrisSettings().hash, *(DebrisSettings(**{name: value}).hash for name, value in changed.items())}
    assert len(hashes) == 1 + len(fields)


def test_some_attributes_of_a_frame_are_read_without_the_others(tmp_path: Path) -> None:
    cache = write_cache(tmp_path, burst(0))
    whole, some = cache.state(Moment(1)), cache.state(Moment(1), ("velocity", "unknown"))
    assert set(some.arrays) == {"position", "id", "velocity"} < set(whole.arrays)
    for name, array in some.arrays.items():
        np.testing.assert_array_equal(array, whole.arrays[name])
