"""The order of convergence of an error with the grid spacing."""

import numpy as np

from .setting import Floats


def observed_order(spacing: Floats, errors: Floats) -> float:
    """The slope p of log |error| over log h by least squares: an error of order p falls as h^p."""
    return float(np.polyfit(np.log(spacing), np.log(np.abs(errors)), 1)[0])
