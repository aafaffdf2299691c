"""How long a bake takes to begin: seconds until `python -m mpm_addon bake` tells of its first step and its first frames."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from mpm_addon.core.processor import LEVEL_VARIABLE
from mpm_addon.storage.scene_writer import write_scene

from .programs import OURS, ROOT, BenchmarkError
from .scenes import all_laws

# What is waited for: the initial state, the first step that is told of, the first frame after the initial one.
MARKS = ("initial_state", "first_progress", "first_frame")
SCENES = ("four_materials", "all_laws")


def measure(scene: str, level: str, threads: int, tries: int) -> dict[str, Any]:
    """Seconds to each mark at a processor level, once without compiled kernels and some times with them."""
    with tempfile.TemporaryDirectory(prefix="mpm_bench_") as name:
        folder = Path(name)
        source = write_scene(all_laws(), folder / scene) if scene == "all_laws" else ROOT / "presets" / "scenes" / scene
        kernels = folder / "kernels"
        runs = [begin(source, level, threads, folder / f"cache_{number}", kernels) for number in range(1 + tries)]
        size = sum(path.stat().st_size for path in kernels.rglob("*") if path.is_file())
    return {"scene": scene, "level": level, "threads": threads, "cold": runs[0], "warm": runs[1:], "kernel_bytes": size}


def begin(source: Path, level: str, threads: int, cache: Path, kernels: Path) -> dict[str, float]:
    """Start a bake, stop it at its second frame; the seconds to each mark, and the CPU seconds of all processes to the first step."""
    command = [str(OURS), "-m", "mpm_addon", "bake", str(source), "--cache", str(cache), "--threads", str(threads), "--json"]
    seconds: dict[str, float] = {}
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | {"NUMBA_CACHE_DIR": str(kernels), LEVEL_VARIABLE: level}, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    frames = 0
    for line in process.stdout:
        now = time.perf_counter() - began
        kind = json.loads(line)["event"]
        frames += kind == "frame"
        if kind == "progress" and "first_progress" not in seconds:
            seconds |= {"first_progress": now, "cpu": cpu_seconds(process.pid)}
        elif kind == "frame":
            seconds.setdefault(("initial_state", "first_frame")[frames - 1], now)
        if frames == 2:
            process.terminate()
            break
    process.communicate()
    if set(seconds) != {*MARKS, "cpu"}:
        raise BenchmarkError(f"the bake of {source.name} ended before its second frame")
    return seconds


def cpu_seconds(process: int) -> float:
    """The CPU seconds of a process until now, with those of the processes that it started and that have ended.

    Raises:
        BenchmarkError: the system does not tell.
    """
    try:
        words = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError as error:
        raise BenchmarkError(f"how long a process ran stands in /proc alone, which this system lacks ({error.strerror})") from error
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")
