"""Wavefront OBJ: positions only, one vertex per particle. The format has no attributes.

Without point elements, because programs read vertices alone as points, and Blender prints a warning for each element.
"""

from typing import IO

import numpy as np

from ...core.particles import Frame


def write(frame: Frame, file: IO[bytes]) -> None:
    """Write the positions [m]."""
    file.write(f"# frame {frame.number}, {frame.time:.9g} s, {len(frame.position)} particles; Z up, meters\n".encode())
    np.savetxt(file, frame.position, fmt="v %.9g %.9g %.9g")
