"""What numba reads when it is loaded: the number of threads, and the processor level that kernels are compiled for.

A level is a set of instructions that many processors have. Kernels of one level are the same machine code everywhere, so they can be
compiled before they are shipped, and every machine of a farm that is held to one level computes the same bytes. Loads numba nowhere.
"""

import os
import platform
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .errors import MpmError

# what a bake, or a whole farm, is held to; the best level of the processor where it is not set
LEVEL_VARIABLE = "MPM_PROCESSOR_LEVEL"
NATIVE = "native"
_PACKAGE = Path(__file__).resolve().parent.parent
_FOR_OTHERS = "MPM_PROCESSOR_MAY_BE_ANOTHER"


class Level(NamedTuple):
    """A set of instructions.

    Attributes:
        machine: what `platform.machine` says, in lower case.
        cpu: LLVM's name.
        features: that kernels may use, by LLVM's names.
        tuning: how LLVM is to use them.
    """

    machine: frozenset[str]
    cpu: str
    features: tuple[str, ...]
    tuning: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The features as numba reads them."""
        return ",".join([*(f"+{name}" for name in self.features), *self.tuning])


_X86 = frozenset({"x86_64", "amd64"})
_V2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")

# the best first; x86-64-v3 and v4 as the System V ABI defines them
LEVELS = {
    # LLVM would cut vectors of 512 bits in two, which helps code that has few of them
    "x86-64-v4": Level(_X86, "x86-64-v4", _V4, ("-prefer-256-bit",)),
    "x86-64-v3": Level(_X86, "x86-64-v3", _V3),
    "arm64": Level(frozenset({"aarch64", "arm64"}), "generic", ("fp-armv8", "neon")),
}


def platform_tag() -> str:
    """What of Python and platform compiled kernels depend on: "cp311-linux-x86_64"."""
    return f"cp{sys.version_info.major}{sys.version_info.minor}-{sys.platform}-{platform.machine().lower()}"


def shipped_file(level: str, package: Path = _PACKAGE) -> Path:
    """Where the kernels of a level, compiled before this version was shipped, lie in the package."""
    return package / "compiled_kernels" / platform_tag() / f"{level}.zip"


@cache
def host_features() -> frozenset[str]:
    """What this processor can do, by LLVM's names."""
    from llvmlite.binding import get_host_cpu_features

    return frozenset(name for name, is_there in get_host_cpu_features().items() if is_there)


def is_supported(name: str) -> bool:
    """Whether this processor has a level's instructions."""
    level = LEVELS[name]
    return platform.machine().lower() in level.machine and host_features().issuperset(level.features)


def best_level() -> str:
    """The best level of this processor; `NATIVE`, what it is itself, where it has none."""
    return next((name for name in LEVELS if is_supported(name)), NATIVE)


def chosen_level(*, is_for_others: bool = False) -> str:
    """The level that kernels are compiled for; `is_for_others` where they do not run here.

    Raises:
        MpmError: the variable names none, or one that this processor lacks.
    """
    name = os.environ.get(LEVEL_VARIABLE, "") or best_level()
    if name != NATIVE and name not in LEVELS:
        raise MpmError(f"there is no processor level {name}", f"use one of {', '.join(LEVELS)}, or {NATIVE}", subject=str(LEVEL_VARIABLE))
    if name != NATIVE and not (is_for_others or is_supported(name)):
        raise MpmError(f"processor level {name}: this processor lacks its instructions", f"use {best_level()}, or another machine")
    return name


def prepare_numba(threads: int | None = None, level: str | None = None, *, is_for_others: bool = False) -> None:
    """Set what numba reads when it is loaded. A processor that the user has told numba of by its own variables stays.

    Args:
        threads: how many; all cores where neither this nor NUMBA_NUM_THREADS says it.
        level: a name of `LEVELS`, or `NATIVE`; else `LEVEL_VARIABLE`, else the best.
        is_for_others: whether kernels are compiled for another processor, here and in processes of this one.

    Raises:
        MpmError: as `chosen_level`.
    """
    if threads is not None:
        os.environ["NUMBA_NUM_THREADS"] = str(threads)
    if level is not None:
        os.environ[LEVEL_VARIABLE] = level
    if is_for_others:
        os.environ[_FOR_OTHERS] = "1"
    name = chosen_level(is_for_others=_FOR_OTHERS in os.environ)
    told = os.environ.get("NUMBA_CPU_NAME"), os.environ.get("NUMBA_CPU_FEATURES")
    if told != (None, None) and told not in {(each.cpu, each.words) for each in LEVELS.values()}:
        return
    os.environ.pop("NUMBA_CPU_NAME", None), os.environ.pop("NUMBA_CPU_FEATURES", None)
    if name != NATIVE:
        os.environ["NUMBA_CPU_NAME"], os.environ["NUMBA_CPU_FEATURES"] = LEVELS[name].cpu, LEVELS[name].words
    if "numba" in sys.modules:
        sys.modules["numba"].config.reload_config()


def level_of(cpu: str, features: str) -> str:
    """The name of the level with which numba compiles for this processor name and these features."""
    return next((name for name, level in LEVELS.items() if (level.cpu, level.words) == (cpu, features)), NATIVE)
