"""Whether a mesh blocks material as a solid or as a sheet, and how much it is thickened. Plain numpy, because the interface uses it."""

import numpy as np

from ..scene.shape import Shape
from .outline import Outline
from .shapes import Mesh

# openings larger than this, relative to the mesh's own surface, are intentional
LARGEST_CAPPED_OPENING = 0.1
SAMPLES_PER_CELL = 2
LARGEST_SAMPLE_COUNT = 2**25
# cells along the edge of a block of samples
CELLS = 8


def is_solid(shape: Mesh | Outline) -> bool:
    """Whether a mesh or an outline blocks its inside; if not, it is a sheet."""
    return shape.opening() <= LARGEST_CAPPED_OPENING


def sample_spacing(mesh: Mesh, spacing: float) -> float:
    """The distance between the samples of a rigid mesh [m]: half the grid spacing, or more if memory requires it."""
    # a surface of area A touches about 2.5 A / edge^2 blocks, each with edge^3 / spacing^3 samples
    by_area = 2.5 * CELLS * mesh.area() / LARGEST_SAMPLE_COUNT
    by_volume = float(np.prod(np.ptp(mesh.bounds(), axis=0))) / (LARGEST_SAMPLE_COUNT * CELLS**3)
    return max(spacing / SAMPLES_PER_CELL, by_area**0.5, by_volume ** (1.0 / 3.0))


def thickening(shape: Shape, spacing: float) -> float:
    """How much a collider is thickened at this grid spacing [m]; 0 if the grid can resolve its shape.

    Half of this is added on either side. The thickness of a closed mesh is 2 volume / area, that of a sheet 0.
    """
    if isinstance(shape, Mesh):
        thickness = 2.0 * shape.volume() / shape.area() if is_solid(shape) else 0.0
        return max(0.0, SAMPLES_PER_CELL * sample_spacing(shape, spacing) - thickness)
    if isinstance(shape, Outline):
        thickness = 2.0 * shape.volume() / shape.length() if is_solid(shape) else 0.0
        return max(0.0, spacing - thickness)
    return 0.0
