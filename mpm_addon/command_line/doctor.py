"""The command `doctor`: versions, threads, folders, memory and disk of an installation with a working numba, and a kernel's result."""

import argparse
import os
import shutil
import sys
from typing import Any

from ..core.errors import MpmError
from ..core.memory import available_memory
from ..core.processor import LEVELS, chosen_level, is_supported, prepare_numba
from ..dependencies import load_numba, missing_package
from ..storage.installation import presets_folder, version
from .printing import answering, print_json, print_table


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
    print_json(_report()) if options.json else print_table(_report())


def _report() -> dict[str, Any]:
    import llvmlite
    import numba
    import numpy

    from ..core.compilation.kernel import shipped_archive, store
    from ..core.compilation.team import team_size
    from ..core.stepping.self_test import kernel_problem

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
        "kernel_test": kernel_problem() or "right",
        "presets": str(presets_folder()),
        "memory_available_gb": round(available_memory() / 1e9, 2),
        "disk_free_gb": round(shutil.disk_usage(folder).free / 1e9, 2),
    }
