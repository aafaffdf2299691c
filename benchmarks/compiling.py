"""How long kernels take to compile, and how large they get.

`python -m benchmarks.compiling` compiles all that scenes with the default scheme can call, one after another; a kernel that comes
later finds compiled what it shares with those before. With numbers of units it compiles these alone.
"""

import contextlib
import json
import sys
import time
from collections.abc import Iterator
from typing import Any

from mpm_addon.core.processor import chosen_level, prepare_numba

# of so many the time alone is measured too
LONGEST = 14


def main() -> None:
    prepare_numba(threads=1)
    from mpm_addon.core.stepping.kernel_list import units_of_default_scheme

    units = units_of_default_scheme()
    chosen = [int(word) for word in sys.argv[1:]] or range(len(units))
    print(json.dumps({"level": chosen_level(), "units": [compiled(number, units[number]) for number in chosen]}))


def compiled(number: int, unit: Any) -> dict[str, Any]:
    """Compile a unit: CPU seconds, of these in LLVM, and the bytes of the object file."""
    from mpm_addon.core.compilation.kernel import store
    from mpm_addon.core.stepping.compiling import compile_unit, kept_name

    began = time.process_time()
    with seconds_in_llvm() as stays:
        compile_unit(unit)
    seconds = time.process_time() - began
    # numba's result begins with the name of the library, the word "object", and the object file with its bitcode
    ((_, _, (code, _)), *_) = store().load(kept_name(unit))
    kernel = unit.kernel.rpartition(".")[2].lstrip("_")
    return {"number": number, "kernel": kernel, "law": unit.variant.law, "cpu": seconds, "llvm": sum(stays), "bytes": len(code)}


@contextlib.contextmanager
def seconds_in_llvm() -> Iterator[list[float]]:
    """The CPU seconds of each stay in LLVM; stays lie in one another, and the outermost count."""
    from numba.core.event import Listener, install_listener

    class Stopwatch(Listener):
        def __init__(self) -> None:
            self.stays: list[float] = []
            self.entered: list[float] = []

        def on_start(self, event: Any) -> None:
            self.entered.append(time.process_time())

        def on_end(self, event: Any) -> None:
            began = self.entered.pop()
            if not self.entered:
                self.stays.append(time.process_time() - began)

    stopwatch = Stopwatch()
    with install_listener("numba:llvm_lock", stopwatch):
        yield stopwatch.stays


if __name__ == "__main__":
    main()
