"""Settings that numba reads when it is loaded: the number of threads, and the processor level that kernels are compiled for.

A level is an instruction set that many processors share. Kernels of one level are the same machine code everywhere, so they can be
compiled before they are shipped, and all computers of a farm that use one level compute the same bytes. Never loads numba.
"""

import os
import platform
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .errors import MpmError

# the level for a bake or a whole farm; if it is not set, the processor's best level
LEVEL_VARIABLE = "MPM_PROCESSOR_LEVEL"
NATIVE = "native"
_PACKAGE = Path(__file__).resolve().parent.parent
_FOR_OTHERS = "MPM_PROCESSOR_MAY_BE_ANOTHER"


class Level(NamedTuple):
    """An instruction set.

    Attributes:
        machine: values of `platform.machine`, in lower case.
        cpu: LLVM's name.
        features: the features that kernels may use, by LLVM's names.
        tuning: how LLVM should use them.
    """

    machine: frozenset[str]
    cpu: str
    features: tuple[str, ...]
    tuning: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The features in the form that numba reads."""
        return ",".join([*(f"+{name}" for name in self.features), *self.tuning])


_X86 = frozenset({"x86_64", "amd64"})
_V2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")

# the best first; x86-64-v3 and v4 are defined by the System V ABI
LEVELS = {
    # LLVM would split vectors of 512 bits in two, which only helps code that has few of them
    "x86-64-v4": Level(_X86, "x86-64-v4", _V4, ("-prefer-256-bit",)),
    "x86-64-v3": Level(_X86, "x86-64-v3", _V3),
    "arm64": Level(frozenset({"aarch64", "arm64"}), "generic", ("fp-armv8", "neon")),
}


def platform_tag() -> str:
    """The Python version and platform that compiled kernels depend on: "cp311-linux-x86_64"."""
    return f"cp{sys.version_info.major}{sys.version_info.minor}-{sys.platform}-{platform.machine().lower()}"


def shipped_file(level: str, package: Path = _PACKAGE) -> Path:
    """The file in the package with the precompiled kernels of a level."""
    return package / "compiled_kernels" / platform_tag() / f"{level}.zip"


@cache
def host_features() -> frozenset[str]:
    """This processor's features, by LLVM's names."""
    from llvmlite.binding import get_host_cpu_features

    return frozenset(name for name, is_present in get_host_cpu_features().items() if is_present)


def is_supported(name: str) -> bool:
    """Whether this processor has a level's instructions."""
    level = LEVELS[name]
    return platform.machine().lower() in level.machine and host_features().issuperset(level.features)


def best_level() -> str:
    """The best level of this processor, or `NATIVE` if it has none."""
    return next((name for name in LEVELS if is_supported(name)), NATIVE)


def chosen_level(*, is_for_others: bool = False) -> str:
    """The level that kernels are compiled for; with `is_for_others` they need not run here.

    Raises:
        MpmError: the variable names an unknown level, or one that this processor does not support.
    """
    name = os.environ.get(LEVEL_VARIABLE, "") or best_level()
    if name != NATIVE and name not in LEVELS:
        raise MpmError(f"unknown processor level {name}", f"use one of {', '.join(LEVELS)}, or {NATIVE}", subject=str(LEVEL_VARIABLE))
    if name != NATIVE and not (is_for_others or is_supported(name)):
        raise MpmError(f"this processor does not support level {name}", f"use {best_level()} or another computer")
    return name


def thread_count() -> int:
    """The number of threads that numba uses in this process, without loading it."""
    given = os.environ.get("NUMBA_NUM_THREADS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare_numba(threads: int | None = None, level: str | None = None, *, is_for_others: bool = False) -> None:
    """Set the variables that numba reads when it is loaded. A processor set in numba's own variables takes precedence.

    Args:
        threads: number of threads; all cores if neither this nor NUMBA_NUM_THREADS is set.
        level: a name of `LEVELS`, or `NATIVE`; by default `LEVEL_VARIABLE`, else the best level.
        is_for_others: whether kernels are compiled for another processor, here and in child processes.

    Raises:
        MpmError: as for `chosen_level`.
    """
    if threads is not None:
        os.environ["NUMBA_NUM_THREADS"] = str(threads)
    if level is not None:
        os.environ[LEVEL_VARIABLE] = level
    if is_for_others:
        os.environ[_FOR_OTHERS] = "1"
    name = chosen_level(is_for_others=_FOR_OTHERS in os.environ)
    chosen = os.environ.get("NUMBA_CPU_NAME"), os.environ.get("NUMBA_CPU_FEATURES")
    if chosen != (None, None) and chosen not in {(each.cpu, each.words) for each in LEVELS.values()}:
        return
    for variable in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"):
        os.environ.pop(variable, None)
    if name != NATIVE:
        os.environ["NUMBA_CPU_NAME"], os.environ["NUMBA_CPU_FEATURES"] = LEVELS[name].cpu, LEVELS[name].words
    if "numba" in sys.modules:
        sys.modules["numba"].config.reload_config()


def level_of(cpu: str, features: str) -> str:
    """The level at which numba compiles for this processor name and these features."""
    return next((name for name, level in LEVELS.items() if (level.cpu, level.words) == (cpu, features)), NATIVE)
