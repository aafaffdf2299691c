"""Wavefront OBJ: positions only, one vertex and one point per particle. The format has no attributes."""

from typing import IO

import numpy as np

from ...core.particles import Frame


def write(frame: Frame, file: IO[bytes]) -> None:
    """Write the positions [m]."""
    file.write(f"# frame {frame.number}, {frame.time:.9g} s, {len(frame.position)} particles; Z up, meters\n".encode())
    np.savetxt(file, frame.position, fmt="v %.9g %.9g %.9g")
    np.savetxt(file, np.arange(1, len(frame.position) + 1), fmt="p %d")
