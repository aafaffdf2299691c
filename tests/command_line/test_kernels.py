"""Kernels from the command line: compiled once, for a processor level, by a bake or before one."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mpm_addon.core.compilation.kernel import cache_folder
from mpm_addon.core.compilation.kernel_files import SUFFIX
from mpm_addon.core.processor import LEVELS, NATIVE, best_level, is_supported, shipped_file
from mpm_addon.storage import open_cache
from mpm_addon.storage.sealed import unsealed, write_sealed

ROOT = Path(__file__).resolve().parents[2]
SCENE = """
schema = 1
name = "drop"
[time]
frame_end = 2
[solver]
grid_spacing = 0.1
[materials.jelly]
law = "neo_hookean"
[[emitters]]
name = "ball"
material = "jelly"
sampling = "lattice"
shape = { kind = "box", center = [0, 0, 0], size = [0.2, 0.2, 0.2] }
"""


def run(*arguments: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    given = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-m", "mpm_addon", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=False)


def events(done: "subprocess.CompletedProcess[str]") -> list[dict]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scene") / "scene.toml"
    path.write_text(SCENE)
    return path


@pytest.fixture(scope="module")
def cold(scene: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict]]:
    """A bake on a machine that never baked, with two processes that compile; its folder and its events."""
    folder = tmp_path_factory.mktemp("cold")
    return folder, bake_in(folder, scene)


@pytest.fixture(scope="module")
def without_law(scene: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict]]:
    """The same on a machine that never baked this law, but has all other kernels that are stored here."""
    folder, stored = tmp_path_factory.mktemp("without law"), cache_folder()
    own = folder / "kernels" / stored.parent.name / stored.name
    own.mkdir(parents=True)
    for path in stored.glob(f"*{SUFFIX}"):
        if not path.name.startswith("advance."):
            shutil.copy2(path, own)
    return folder, bake_in(folder, scene)


def bake_in(folder: Path, scene: Path) -> list[dict]:
    return events(run("bake", scene, "--cache", folder / "cache", "--json", "--threads", "2", NUMBA_CACHE_DIR=str(folder / "kernels")))


@pytest.mark.long
def test_a_first_bake_counts_the_kernels_that_it_compiles(cold: tuple[Path, list[dict]]) -> None:
    told = [event for event in cold[1] if event["event"] == "compiling"]
    counts = [event["compiled"] for event in told]
    (kernels,) = {event["kernels"] for event in told}
    assert counts[0] == 0
    assert counts == sorted(counts)
    assert counts[-1] == kernels > 10
    kinds = [event["event"] for event in cold[1]]
    assert kinds.index("preparing") > max(number for number, kind in enumerate(kinds) if kind == "compiling")
    assert not [event for event in cold[1] if event["event"] == "warning" and event["topic"] == "kernels"]


@pytest.mark.slow
def test_a_second_bake_compiles_nothing_and_gives_the_same_bytes(without_law: tuple[Path, list[dict]], scene: Path, tmp_path: Path) -> None:
    folder, heard = without_law
    assert "compiling" in {event["event"] for event in heard}
    told = events(run("bake", scene, "--cache", tmp_path / "cache", "--json", NUMBA_CACHE_DIR=str(folder / "kernels")))
    assert "compiling" not in {event["event"] for event in told}
    first, second = open_cache(folder / "cache"), open_cache(tmp_path / "cache")
    assert first.frames == second.frames == [1, 2]
    for number in first.frames:
        assert first.frame(number).position.tobytes() == second.frame(number).position.tobytes()
        assert first.frame(number).attribute("stress").tobytes() == second.frame(number).attribute("stress").tobytes()


@pytest.mark.slow
def test_a_cache_records_its_level_and_a_resumed_bake_keeps_it(scene: Path, tmp_path: Path) -> None:
    assert open_level(run_level(scene, tmp_path / "best")) == best_level()
    if best_level() not in LEVELS or not is_supported("x86-64-v3"):
        pytest.fail("the tests need a processor with level x86-64-v3")
    cache = run_level(scene, tmp_path / "v3", "--processor", "x86-64-v3", "--frames", "1-1")
    assert open_level(cache) == "x86-64-v3"
    # nothing says the level now: the cache does, whatever the environment says
    done = run("bake", scene, "--cache", cache, "--json", MPM_PROCESSOR_LEVEL="x86-64-v4" if is_supported("x86-64-v4") else NATIVE)
    assert events(done)[-1]["event"] == "done"
    assert open_level(cache) == "x86-64-v3"
    whole = run_level(scene, tmp_path / "whole", "--processor", "x86-64-v3")
    assert open_cache(whole).frame(2).position.tobytes() == open_cache(cache).frame(2).position.tobytes()


def run_level(scene: Path, cache: Path, *options: str) -> Path:
    assert events(run("bake", scene, "--cache", cache, "--json", *options))[-1]["event"] == "done"
    return cache


def open_level(cache: Path) -> str:
    return open_cache(cache).manifest["processor_level"]


def test_an_unsupported_level_is_refused_in_one_line(scene: Path, tmp_path: Path) -> None:
    foreign = next(name for name in LEVELS if not is_supported(name))
    done = run("bake", scene, "--cache", tmp_path / "cache", "--processor", foreign)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"this processor does not support level {foreign}; use {best_level()}" in done.stderr


def test_a_cache_of_an_unsupported_level_resumes_with_a_warning(scene: Path, tmp_path: Path) -> None:
    cache = run_level(scene, tmp_path / "cache", "--frames", "1-1")
    foreign = next(name for name in LEVELS if not is_supported(name))
    (manifest,) = cache.rglob("take.json")
    write_sealed(manifest, {**unsealed(manifest.read_bytes()), "processor_level": foreign})
    told = events(run("bake", scene, "--cache", cache, "--json"))
    assert told[-1]["event"] == "done"
    (warning,) = [event for event in told if event["event"] == "warning" and event["topic"] == "processor"]
    assert foreign in warning["message"]


def test_a_level_that_does_not_exist_is_refused() -> None:
    done = run("doctor", MPM_PROCESSOR_LEVEL="x86-64-v9")
    assert done.returncode == 1
    assert "unknown processor level x86-64-v9; use one of x86-64-v4, x86-64-v3" in done.stderr


def test_a_processor_below_all_levels_is_compiled_for_as_it_is() -> None:
    told = json.loads(run("doctor", "--json", MPM_PROCESSOR_LEVEL=NATIVE).stdout)
    assert told["processor_level"] == NATIVE
    assert f"{NATIVE}-" in told["kernel_cache"]


def test_doctor_reports_the_level_and_the_supported_ones() -> None:
    told = json.loads(run("doctor", "--json").stdout)
    assert told["processor_level"] == best_level()
    assert told["processor_levels"] == [name for name in LEVELS if is_supported(name)]


def test_an_archive_holds_every_kernel_of_the_default_scheme(tmp_path: Path) -> None:
    from mpm_addon.core.stepping.compiling import stored_name
    from mpm_addon.core.stepping.kernel_list import units_of_default_scheme

    done = run("kernels", "--package", tmp_path)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(shipped_file(best_level(), tmp_path)) as archive:
        names = set(archive.namelist())
    assert names == {"manifest.json", *(stored_name(unit) for unit in units_of_default_scheme())}
