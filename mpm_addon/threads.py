"""What runs the kernels' threads, set before numba is loaded."""

import os

# OpenMP that sleeps while it waits. On a busy computer spinning threads take ten times as long, and numba's own work queue half as long
# again. Where OpenMP is missing (macOS), numba takes the next.
_THREADING = {"NUMBA_THREADING_LAYER_PRIORITY": "omp workqueue tbb", "OMP_WAIT_POLICY": "passive"}


def prepare_numba(threads: int | None = None) -> None:
    """Set what numba and OpenMP read when they are loaded: the number of threads and what runs them."""
    for name, value in _THREADING.items():
        os.environ.setdefault(name, value)
    if threads is not None:
        os.environ["NUMBA_NUM_THREADS"] = str(threads)
