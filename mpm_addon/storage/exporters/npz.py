"""NumPy: every attribute as an array of an .npz file, with the frame's number and time."""

from typing import IO

import numpy as np

from ...core.particles import Frame
from ..arrays import write_arrays_to


def write(frame: Frame, file: IO[bytes]) -> None:
    """Write all attributes under their names, and `frame` and `time` [s]."""
    write_arrays_to(file, {**frame.arrays, "frame": np.array(frame.number), "time": np.array(frame.time)})
