"""What `doctor` tells of an installation in which numba works: versions, threads, folders, memory and disk."""

import os
import shutil
import sys
from typing import Any

import llvmlite
import numba
import numpy

from .core.estimate import available_memory
from .core.kernels.compilation import CACHE_FOLDER
from .storage.installation import presets_folder, version


def report() -> dict[str, Any]:
    """The report, as `doctor --json` prints it."""
    return {
        "mpm_addon": version(),
        "python": sys.version.split()[0],
        "executable": sys.executable,
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "cores": os.cpu_count(),
        "threads": numba.get_num_threads(),
        "threading_layer": numba.threading_layer(),
        "kernel_cache": str(CACHE_FOLDER),
        "kernel_cache_bytes": sum(path.stat().st_size for path in CACHE_FOLDER.rglob("*") if path.is_file()),
        "presets": str(presets_folder()),
        "memory_available_gb": round(available_memory() / 1e9, 2),
        "disk_free_gb": round(shutil.disk_usage(CACHE_FOLDER).free / 1e9, 2),
    }
