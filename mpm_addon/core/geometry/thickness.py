"""What of a mesh blocks matter, and how much thicker than it is. Plain numpy, because the interface warns of it."""

import numpy as np

from ..scene.description import Shape
from .outline import Outline
from .shapes import Mesh

# Openings above this share of a mesh's own surface are meant to be open.
LARGEST_CAPPED_OPENING = 0.1
SAMPLES_PER_CELL = 2
LARGEST_SAMPLE_COUNT = 2**25
# samples are kept in blocks of so many cells an edge
CELLS = 8


def is_solid(shape: Mesh | Outline) -> bool:
    """Whether a mesh or an outline blocks its inside; otherwise it is a sheet."""
    return shape.opening() <= LARGEST_CAPPED_OPENING


def sample_spacing(mesh: Mesh, spacing: float) -> float:
    """The distance between the samples of a mesh that stays as it is [m]: half the grid spacing, or what fits into memory."""
    # A surface of area A touches about 2.5 A / edge^2 blocks, each of edge^3 / spacing^3 samples.
    by_area = 2.5 * CELLS * mesh.area() / LARGEST_SAMPLE_COUNT
    by_volume = float(np.prod(np.ptp(mesh.bounds(), axis=0))) / (LARGEST_SAMPLE_COUNT * CELLS**3)
    return max(spacing / SAMPLES_PER_CELL, by_area**0.5, by_volume ** (1.0 / 3.0))


def thickening(shape: Shape, spacing: float) -> float:
    """How much thicker a collider is than its shape, at that grid spacing [m]; 0 where the grid can see it as it is.

    Half of it lies on either side. A closed mesh is as thick as 2 volume / area, a sheet is not thick at all.
    """
    if isinstance(shape, Mesh):
        thickness = 2.0 * shape.volume() / shape.area() if is_solid(shape) else 0.0
        return max(0.0, SAMPLES_PER_CELL * sample_spacing(shape, spacing) - thickness)
    if isinstance(shape, Outline):
        thickness = 2.0 * shape.volume() / shape.length() if is_solid(shape) else 0.0
        return max(0.0, spacing - thickness)
    return 0.0
