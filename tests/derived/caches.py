"""Small caches with known particles, written without a simulation."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.command_line.main import main
from mpm_addon.core.bonds import Bonds
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.particles import Frame, FrameStatistics, Moment
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.scene.settings import CacheSettings, Solver, Time
from mpm_addon.storage import open_cache
from mpm_addon.storage.atomic import TEMPORARY_SUFFIX
from mpm_addon.storage.cache import Cache
from mpm_addon.storage.cache_writer import CacheWriter
from mpm_addon.storage.derived import derived_path

ROOT = Path(__file__).parents[2]
SPACING = 0.05
# Emitters 0 and 1 are of the first material, emitter 2 of the second.
EMITTERS = (("left", "water"), ("right", "water"), ("heap", "sand"))


def block(size: int, center: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """The centers of a cube of size^3 cells, of which a cube of that many spacings consists."""
    axis = (np.arange(size) - 0.5 * (size - 1)) * SPACING
    return (np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3) + center).astype(np.float32)


def arrays(position: np.ndarray, emitter: int | np.ndarray = 0, **more: Any) -> dict[str, np.ndarray]:
    count = len(position)
    numbers = np.broadcast_to(np.asarray(emitter, np.int32), count).copy()
    return {
        "position": position,
        "velocity": np.tile(np.array([1.0, -2.0, 3.0], np.float32), (count, 1)),
        "id": np.arange(count, dtype=np.int32),
        "material_index": (numbers == 2).astype(np.int32),
        "emitter_index": numbers,
        "age": np.full(count, 0.25, np.float32),
        "stress": np.full(count, 7.0, np.float32),
        "rotation": np.tile(np.array([1, 0, 0, 0], np.float32), (count, 1)),
        "scale": np.full(count, SPACING, np.float32),
        **more,
    }


def description(emitters: tuple[tuple[str, str], ...] = EMITTERS, dimension: int = 3) -> Scene:
    materials = {name: Material(name, LAWS[name]()) for name in dict.fromkeys(material for _, material in emitters)}
    sphere = SHAPES["sphere"](radius=0.2)
    return Scene(
        "test",
        Solver(grid_spacing=2 * SPACING, dimension=dimension),
        materials,
        tuple(Emitter(name=name, shape=sphere, material=material) for name, material in emitters),
        time=Time(frame_end=3),
        cache=CacheSettings(precision="exact"),
    )


def write_cache(
    folder: Path,
    *frames: dict[str, np.ndarray],
    scene: Scene | None = None,
    births: dict[str, np.ndarray] | None = None,
    bonds: Sequence[Bonds] = (),
) -> Cache:
    """A cache with these frames, from 1 on; with the bonds of each, if a material of the scene tears."""
    described = scene or description()
    writer = CacheWriter(folder, described)
    writer.prepare(described, restart=True)
    if writer.is_replacing:
        writer.begin(described)
    for number, given in enumerate(frames, start=1):
        _write_frame(writer, number, given, births, bonds[number - 1] if bonds else None)
    return open_cache(folder)


def add_frame(folder: Path, scene: Scene, number: int, given: dict[str, np.ndarray], births: dict[str, np.ndarray] | None = None) -> None:
    """Another frame of a cache, as a bake that resumes adds it."""
    writer = CacheWriter(folder, scene)
    writer.prepare(scene, restart=False)
    _write_frame(writer, number, given, births)


def add_take(folder: Path, scene: Scene, from_frame: int, given: dict[str, np.ndarray]) -> None:
    """A take of another scene that continues after a frame of a cache, with one frame of its own."""
    writer = CacheWriter(folder, scene)
    writer.prepare(scene, restart=False, from_frame=from_frame)
    writer.begin(scene)
    _write_frame(writer, from_frame + 1, given)


def _write_frame(
    writer: CacheWriter,
    number: int,
    given: dict[str, np.ndarray],
    births: dict[str, np.ndarray] | None = None,
    bonds: Bonds | None = None,
) -> None:
    count = len(given["position"])
    statistics = FrameStatistics(count, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)
    writer.write_frame(Frame(number, (number - 1) / 24.0, given, statistics, births=births or {}, bonds=bonds))


def derived(capsys: pytest.CaptureFixture[str], cache: Path, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    """Run the command `derive`; returns the exit status, the events and stderr."""
    status = main(["derive", str(cache), *arguments, "--json"])
    printed = capsys.readouterr()
    return status, [json.loads(line) for line in printed.out.splitlines()], printed.err


def killed_run(cache: Cache, kind: str, whole: int = 1) -> dict[Path, bytes]:
    """Run `derive` in a process that is killed before the next file after `whole` gets its name; returns the files that it left."""
    first = derived_path(cache, Moment(1), kind)
    command = [sys.executable, "-c", _KILLED, str(first.parent), first.suffix, str(whole), "derive", str(cache.folder), kind]
    assert subprocess.run(command, cwd=ROOT, check=False, timeout=120).returncode == -signal.SIGKILL
    assert list(first.parent.glob(f"*{TEMPORARY_SUFFIX}"))
    made = {path: path.read_bytes() for path in first.parent.glob(f"*{first.suffix}")}
    assert len(made) == whole
    return made


_KILLED = """
import os, signal, sys
from pathlib import Path

from mpm_addon.command_line.main import main

folder, suffix, whole = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
replace = os.replace


def replace_or_die(source, target):
    if Path(target).parent == folder and len(list(folder.glob("*" + suffix))) == whole:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)


os.replace = replace_or_die
sys.exit(main(sys.argv[4:]))
"""
