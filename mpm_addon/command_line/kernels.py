"""The command `kernels`."""

import argparse
import os
from pathlib import Path
from typing import Any

from ..core.processor import prepare_numba
from ..dependencies import load_numba
from ..storage.events import Compiling, KernelsReady
from .arguments import add_json, add_processor, add_threads
from .printing import printer


def add_command(commands: Any) -> None:
    """Add `kernels` to the sub-commands of a parser."""
    kernels = commands.add_parser("kernels", help="compile all kernels in advance", allow_abbrev=False)
    add_processor(kernels, "the best")
    kernels.add_argument("--package", metavar="DIR", type=Path, help="also store them in this copy of the package, for distribution")
    kernels.add_argument("--gently", action="store_true", help="run at low priority")
    add_threads(kernels, "kernels to compile at once (default: all cores)")
    add_json(kernels)
    kernels.set_defaults(run=_kernels)


def _kernels(options: argparse.Namespace) -> None:
    """Compile all kernels that scenes with the default scheme can call."""
    if options.gently and hasattr(os, "nice"):
        os.nice(10)
    prepare_numba(options.threads, options.processor, is_for_others=options.package is not None)
    load_numba()
    from ..core.stepping.compiling import compile_unit, make_all_ready, pack
    from ..core.stepping.kernel_list import units_of_default_scheme

    tell = printer(options)
    reported = -1

    def report(done: int, total: int) -> None:
        nonlocal reported
        if done != reported:
            tell(Compiling(compiled=done, kernels=total))
        reported = done

    if options.package is not None:
        pack(options.package, report)
    else:
        make_all_ready(report)
        # also imports, for the first time after an installation, what a bake imports to load its kernels
        compile_unit(units_of_default_scheme()[0])
    tell(KernelsReady())
