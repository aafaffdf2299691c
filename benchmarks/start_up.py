"""How long a bake takes to begin: seconds until `python -m mpm_addon bake` tells of its first step and its first frames."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from .programs import OURS, ROOT, BenchmarkError

# What is waited for: the initial state, the first step that is told of, the first frame after the initial one.
MARKS = ("initial_state", "first_progress", "first_frame")


def measure(scene: str, threads: int, tries: int) -> dict[str, Any]:
    """Seconds to each mark, once without compiled kernels and some times with them."""
    with tempfile.TemporaryDirectory(prefix="mpm_bench_") as folder:
        kernels = Path(folder) / "kernels"
        runs = [begin(scene, threads, Path(folder) / f"cache_{number}", kernels) for number in range(1 + tries)]
        size = sum(path.stat().st_size for path in kernels.rglob("*") if path.is_file())
    return {"scene": scene, "threads": threads, "cold": runs[0], "warm": runs[1:], "kernel_bytes": size}


def begin(scene: str, threads: int, cache: Path, kernels: Path) -> dict[str, float]:
    """Start a bake, stop it at its second frame, and return the seconds to each mark."""
    source = ROOT / "presets" / "scenes" / scene
    command = [str(OURS), "-m", "mpm_addon", "bake", str(source), "--cache", str(cache), "--threads", str(threads), "--json"]
    seconds: dict[str, float] = {}
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | {"NUMBA_CACHE_DIR": str(kernels)}, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    frames = 0
    for line in process.stdout:
        now = time.perf_counter() - began
        kind = json.loads(line)["event"]
        frames += kind == "frame"
        if kind == "progress":
            seconds.setdefault("first_progress", now)
        elif kind == "frame":
            seconds.setdefault(("initial_state", "first_frame")[frames - 1], now)
        if frames == 2:
            process.terminate()
            break
    process.communicate()
    if set(seconds) != set(MARKS):
        raise BenchmarkError(f"the bake of {scene} ended before its second frame")
    return seconds
