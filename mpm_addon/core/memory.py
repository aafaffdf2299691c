"""The memory that is available on this computer, as its operating system reports it."""

import os
import sys
from pathlib import Path

# Where Linux reports the memory limit of a container (control groups, version 2).
CONTROL_GROUP = Path("/sys/fs/cgroup")


def available_memory() -> int:
    """The memory that a new program can use without swapping [bytes]: the computer's, within its container's limit."""
    if sys.platform == "win32":
        return _available_on_windows()
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                return min([int(line.split()[1]) * 1024, *_left_in_container()])
    # macOS does not report free memory; its caches are given back on demand
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _left_in_container() -> list[int]:
    """The memory left below the limit of each control group [bytes]; empty without a limit."""
    try:
        limit = (CONTROL_GROUP / "memory.max").read_text(encoding="utf-8").strip()
        used = int((CONTROL_GROUP / "memory.current").read_text(encoding="utf-8"))
        statistics = dict(line.split() for line in (CONTROL_GROUP / "memory.stat").read_text(encoding="utf-8").splitlines())
    except OSError:
        return []
    if limit == "max":
        return []
    # the system reclaims cached files before it refuses memory
    return [max(0, int(limit) - used + int(statistics.get("inactive_file", 0)))]


def _available_on_windows() -> int:
    import ctypes

    class MemoryStatus(ctypes.Structure):
        """MEMORYSTATUSEX of kernel32."""

        _fields_ = [
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "available", "t2", "a2", "t3", "a3", "a4")),
        ]

    status = MemoryStatus(length=ctypes.sizeof(MemoryStatus))
    kernel32 = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
    kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status.available)
