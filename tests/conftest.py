"""What every test runs with."""

import os

# as the command line does: OpenMP spins, which slows everything where other programs run
os.environ.setdefault("NUMBA_THREADING_LAYER", "workqueue")
