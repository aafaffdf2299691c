"""The machine that the figures were measured on: processor, memory and versions, but not its name."""

import datetime
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

# Instruction sets that determine the vector width.
SIMD = ("sse4_2", "avx", "avx2", "fma", "avx512f", "asimd", "sve")


def describe() -> dict[str, Any]:
    import llvmlite.binding

    info = processor_info()
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": info.get("model name") or platform.processor() or platform.machine(),
        "target": llvmlite.binding.get_host_cpu_name(),
        "cores": os.cpu_count(),
        "simd": [name for name in SIMD if name in (info.get("flags") or info.get("Features") or "").split()],
        "caches": caches(),
        "memory_gb": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9, 1),
        "system": f"{platform.system()} {platform.release().split('-')[0]}, {platform.machine()}",
        "versions": {"Python": sys.version.split()[0], **{name: version(name) for name in ("numpy", "numba", "llvmlite")}},
    }


def processor_info() -> dict[str, str]:
    """Linux's description of the first core; empty on other systems."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").split("\n\n")[0].splitlines() if path.exists() else []
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}


def caches() -> dict[str, str]:
    """The sizes of the first core's data caches, by level, if the system reports them."""
    found = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        found.append([(folder / name).read_text(encoding="utf-8").strip() for name in ("type", "level", "size")])
    return {f"L{level}": size for kind, level, size in found if kind != "Instruction"}
