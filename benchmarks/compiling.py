"""How long kernels take to compile, and how large their code is.

`python -m benchmarks.compiling` compiles all kernels that scenes with the default scheme can call, one after another; shared code is
compiled with the first kernel that uses it. With the number of a unit, only that unit is compiled.
"""

import os
import tempfile
from typing import Any

from mpm_addon.core.processor import chosen_level, prepare_numba

from .measuring import answer, timed


def measure(number: int = -1) -> dict[str, Any]:
    """The processor level, and the cost of each unit compiled into an empty folder; or of one unit alone, by its number."""
    prepare_numba(threads=1)
    with tempfile.TemporaryDirectory(prefix="mpm_bench_") as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        from mpm_addon.core.stepping.kernel_list import units_of_default_scheme

        units = units_of_default_scheme()
        chosen = range(len(units)) if number < 0 else [number]
        return {"level": chosen_level(), "units": [compiled(each, units[each]) for each in chosen]}


def compiled(number: int, unit: Any) -> dict[str, Any]:
    """Compile a unit: CPU seconds, those of them in LLVM, and the bytes of the object file."""
    from numba.core.event import TimingListener, install_listener

    from mpm_addon.core.compilation.kernel import store
    from mpm_addon.core.stepping.compiling import compile_unit, stored_name

    in_llvm = TimingListener()
    with install_listener("numba:llvm_lock", in_llvm):
        seconds = timed(lambda: compile_unit(unit))
    share = in_llvm.duration / seconds["wall"]
    # numba's result begins with the name of the library, the word "object", and the object file with its bitcode
    ((_, _, (code, _)), *_) = store().load(stored_name(unit))
    kernel = unit.kernel.rpartition(".")[2].lstrip("_")
    costs = {"cpu": seconds["cpu"], "llvm": share * seconds["cpu"], "bytes": len(code)}
    return {"number": number, "kernel": kernel, "law": unit.variant.law, **costs}


if __name__ == "__main__":
    answer(measure)
