"""The command `doctor`: versions, threads, folders, memory and disk of an installation with a working numba, and a kernel's result."""

import argparse
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from ..core.errors import MpmError
from ..core.memory import available_memory
from ..core.messages import NOTHING, Message, one_line
from ..core.processor import LEVELS, chosen_level, is_supported, prepare_numba
from ..dependencies import load_numba, missing_package
from ..storage.installation import presets_folder, version
from .printing import answering, print_json, print_table

# The key of the kernel's result in a report, and its value if all is well.
KERNEL_TEST, RIGHT = "kernel_test", "right"


def add_command(commands: Any) -> None:
    """Add `doctor` to the sub-commands of a parser."""
    doctor = commands.add_parser("doctor", help="show versions, threads, folders, memory and disk", allow_abbrev=False)
    doctor.add_argument("--json", action="store_true", help="print JSON")
    doctor.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> None:
    prepare_numba()
    with answering(options):
        try:
            load_numba()
        except ImportError as error:
            raise MpmError(*missing_package(error)) from error
    report = _report()
    print_json(report) if options.json else print_table(report)
    if complaint := kernel_complaint(report):
        raise MpmError.of(complaint)


def kernel_complaint(report: Mapping[str, Any]) -> Message:
    """What a report says against the compiled kernels; `NOTHING` if the tested one is right."""
    told = report.get(KERNEL_TEST)
    if told == RIGHT:
        return NOTHING
    return Message(
        f"a compiled kernel fails its test ({told})",
        (f"delete the folder {report.get('kernel_cache')}, so that kernels are compiled anew", "reinstall the extension's zip"),
    )


def _kernel_test() -> str:
    """What is wrong with the result of a kernel, or why there is none."""
    from ..core.stepping.self_test import kernel_problem

    try:
        return kernel_problem() or RIGHT
    except Exception as error:  # noqa: BLE001 - the errors of compilers are not documented
        return one_line(f"{type(error).__name__}: {error}")


def _report() -> dict[str, Any]:
    import llvmlite
    import numba
    import numpy

    from ..core.compilation.kernel import shipped_archive, store
    from ..core.compilation.team import team_size

    folder = store().folder
    return {
        "mpm_addon": version(),
        "python": sys.version.split()[0],
        "executable": sys.executable,
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "cores": os.cpu_count(),
        "threads": team_size(),
        "processor_level": chosen_level(),
        "processor_levels": [name for name in LEVELS if is_supported(name)],
        "shipped_kernels": len(shipped_archive().names()),
        "shipped_kernels_problem": shipped_archive().problem,
        "kernel_cache": str(folder),
        "kernel_cache_bytes": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        KERNEL_TEST: _kernel_test(),
        "presets": str(presets_folder()),
        "memory_available_gb": round(available_memory() / 1e9, 2),
        "disk_free_gb": round(shutil.disk_usage(folder).free / 1e9, 2),
    }
