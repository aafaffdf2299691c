"""How fast shapes are filled with particles, and meshes are prepared for collisions: `python -m benchmarks.geometry THREADS`.

The distance of a rigid mesh is sampled once; that of a deforming mesh is recomputed in each pose, at the nodes of all blocks with a
node within a cell of it. Both are tori, and the grid has 128 cells along their longest side.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mpm_addon.core.processor import prepare_numba

from .measuring import answer, least

CELLS = 128
# triangles, and the radius of the tube of a torus of radius 1; the thinner torus has about the surface area of a person at this resolution
RESTING = (100_000, 0.4)
DEFORMING = (10_000, 0.1)
TRIES = 5
PARTICLES = 1_000_000
FILLINGS = 2
BLOCK = 4


def torus(triangle_count: int, tube: float) -> tuple[Any, Any]:
    """Vertices (n, 3) [m] and triangles (m, 3) of a tilted torus of radius 1 m, its quads about as long as wide."""
    from trimesh.creation import torus

    around = round((0.5 * triangle_count * tube) ** 0.5)
    made = torus(1.0, tube, major_sections=round(0.5 * triangle_count / around), minor_sections=around)
    tilt = np.linalg.qr(np.array([[1.0, 0.2, 0.3], [-0.3, 1.0, 0.1], [-0.2, -0.1, 1.0]]))[0]
    return np.array(made.vertices @ tilt.T), np.array(made.faces)


def spacing_of(vertices: Any) -> float:
    return float(np.ptp(vertices, axis=0).max()) / CELLS


def measure_filling(kind: str, make: Callable[[], Any]) -> dict[str, Any]:
    """Fills a shape with a million evenly arranged particles."""
    from mpm_addon.core.geometry.sampling import sample_shape

    spacing = 2.0 * float(make().volume() / PARTICLES) ** (1.0 / 3.0)
    particles: list[int] = []
    # a new shape each time, because a shape caches its preparation
    seconds = least(lambda: particles.append(len(sample_shape(make(), grid_spacing=spacing))), FILLINGS)
    return {"shape": kind, "particles": particles[-1], **seconds}


def measure_resting() -> dict[str, Any]:
    """Samples the distance of a mesh."""
    from mpm_addon.core.geometry.distance import MeshDistance
    from mpm_addon.core.geometry.shapes import Mesh

    vertices, triangles = torus(*RESTING)
    made: list[Any] = []
    # a new mesh each time, because a mesh caches its preparation
    seconds = least(lambda: made.append(MeshDistance(Mesh(vertices, triangles), spacing_of(vertices))), TRIES)
    return {"mesh": "at rest", "triangles": len(triangles), "points": made[-1].field.samples.size, **seconds}


def measure_deforming() -> dict[str, Any]:
    """Computes distance, normal and velocity at the nodes near a mesh with new vertices."""
    from mpm_addon.core.geometry.deforming import DeformingMesh

    vertices, triangles = torus(*DEFORMING)
    spacing = spacing_of(vertices)
    mesh = DeformingMesh(vertices[None], triangles, spacing)
    low, high = mesh.bounds() / (BLOCK * spacing)
    axes = [np.arange(np.floor(a) - 1, np.ceil(b) + 1) for a, b in zip(low, high, strict=True)]
    blocks = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3) * (BLOCK * spacing)
    distance, _, _ = mesh.at_lattices(blocks, BLOCK, spacing, 1.1 * spacing)
    near = blocks[np.abs(distance).min(axis=1) < spacing]

    def prepare() -> None:
        mesh.move_to(vertices, vertices)
        mesh.at_lattices(near, BLOCK, spacing, 1.1 * spacing)

    return {"mesh": "deforming, a pose", "triangles": len(triangles), "points": len(near) * BLOCK**3, **least(prepare, TRIES)}


def measure(threads: int) -> dict[str, Any]:
    """How fast shapes are filled, and meshes are prepared for collisions."""
    prepare_numba(threads)
    from mpm_addon.core.geometry.shapes import Box, Mesh, Sphere

    vertices, triangles = torus(*RESTING)
    shapes = {"box": lambda: Box(size=(1.0, 1.0, 1.0)), "sphere": lambda: Sphere(radius=1.0), "mesh": lambda: Mesh(vertices, triangles)}
    fillings = [measure_filling(kind, make) for kind, make in shapes.items()]
    return {"threads": threads, "cells": CELLS, "fillings": fillings, "meshes": [measure_resting(), measure_deforming()]}


if __name__ == "__main__":
    answer(measure)
