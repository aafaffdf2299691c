"""The report of `doctor` on an installation with a working numba: versions, threads, folders, memory and disk."""

import os
import shutil
import sys
from typing import Any

import llvmlite
import numba
import numpy

from .core.compilation.kernel import shipped_archive, store
from .core.compilation.team import team_size
from .core.memory import available_memory
from .core.processor import LEVELS, chosen_level, is_supported
from .storage.installation import presets_folder, version


def report() -> dict[str, Any]:
    """The report, as `doctor --json` prints it."""
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
        "presets": str(presets_folder()),
        "memory_available_gb": round(available_memory() / 1e9, 2),
        "disk_free_gb": round(shutil.disk_usage(folder).free / 1e9, 2),
    }
