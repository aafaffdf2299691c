"""Levels of x86-64 that programs are compiled for, so that one machine shows what others will do."""

import platform

# LLVM's names of what each level has, as numba takes them (System V ABI, x86-64 supplement, section 3.1.1)
V3 = "avx avx2 bmi bmi2 cx16 f16c fma fxsr lzcnt movbe popcnt sse sse2 sse3 ssse3 sse4.1 sse4.2 xsave"
LEVELS = {"x86-64-v3": V3, "x86-64-v4": f"{V3} avx512bw avx512cd avx512dq avx512f avx512vl"}


def levels_here() -> list[str]:
    """The levels that this machine has, the least one first; none where it is no x86-64."""
    from llvmlite.binding import get_host_cpu_features

    if platform.machine().lower() not in ("x86_64", "amd64"):
        return []
    has = get_host_cpu_features()
    return [level for level, features in LEVELS.items() if all(has.get(name) for name in features.split())]


def environment(level: str) -> dict[str, str]:
    """What makes numba compile for a level."""
    return {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ",".join(f"+{name}" for name in LEVELS[level].split())}
