"""How fast shapes are filled, and meshes prepared for collisions: `python -m benchmarks.geometry THREADS`.

Shapes are filled with a million Poisson-disk particles, from the shape to their positions; the mesh is the torus at rest.
A mesh that stays as it is gets its distance sampled once; one that deforms is measured anew in each pose, at the nodes of all blocks
of nodes that have one within a cell of it. Both are tori, and the grid has 128 cells along their longest side.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from mpm_addon.core.processor import prepare_numba

from .worker import results_stream, say

CELLS = 128
# triangles, and the radius of the tube for one of 1: the thinner one has about the surface of a person in so many cells
RESTING = (100_000, 0.4)
DEFORMING = (10_000, 0.1)
TRIES = 5
PARTICLES = 1_000_000
FILLINGS = 2
BLOCK = 4


def torus(triangle_count: int, tube: float) -> tuple[Any, Any]:
    """Vertices (n, 3) [m] and triangles (m, 3) of a tilted torus of radius 1 m, its quads about as long as wide."""
    around = round((0.5 * triangle_count * tube) ** 0.5)
    along = round(0.5 * triangle_count / around)
    u, v = np.meshgrid(np.arange(along) * (2.0 * np.pi / along), np.arange(around) * (2.0 * np.pi / around), indexing="ij")
    radius = 1.0 + tube * np.cos(v)
    flat = np.stack([radius * np.cos(u), radius * np.sin(u), tube * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(along), np.arange(around), indexing="ij")
    corners = [((i + a) % along * around + (j + b) % around).ravel() for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    triangles = np.concatenate([np.column_stack([corners[0], *corners[k : k + 2]]) for k in (1, 2)])
    tilt = np.linalg.qr(np.array([[1.0, 0.2, 0.3], [-0.3, 1.0, 0.1], [-0.2, -0.1, 1.0]]))[0]
    return flat @ tilt.T, triangles


def least_seconds(run: Callable[[], object], count: int = TRIES) -> tuple[float, float]:
    """The least wall and CPU seconds of several tries, after one to warm up."""
    run()
    tries: list[tuple[float, float]] = []
    for _ in range(count):
        wall, busy = time.perf_counter(), time.process_time()
        run()
        tries.append((time.perf_counter() - wall, time.process_time() - busy))
    return min(wall for wall, _ in tries), min(busy for _, busy in tries)


def measure_filling(kind: str, make: Callable[[], Any]) -> dict[str, Any]:
    from mpm_addon.core.geometry.sampling import sample_shape

    spacing = 2.0 * float(make().volume() / PARTICLES) ** (1.0 / 3.0)
    particles: list[int] = []
    # a new shape each time, since what was prepared for one is kept
    wall, busy = least_seconds(lambda: particles.append(len(sample_shape(make(), grid_spacing=spacing))), FILLINGS)
    return {"shape": kind, "particles": particles[-1], "wall": wall, "cpu": busy}


def measure_resting() -> dict[str, Any]:
    from mpm_addon.core.geometry.distance import MeshDistance
    from mpm_addon.core.geometry.shapes import Mesh

    vertices, triangles = torus(*RESTING)
    spacing = float(np.ptp(vertices, axis=0).max()) / CELLS
    # a new mesh each time, since what was prepared for one is kept
    wall, busy = least_seconds(lambda: MeshDistance(Mesh(vertices, triangles), spacing))
    points = MeshDistance(Mesh(vertices, triangles), spacing).field.samples.size
    return {"mesh": "at rest", "triangles": len(triangles), "points": points, "wall": wall, "cpu": busy}


def measure_deforming() -> dict[str, Any]:
    from mpm_addon.core.geometry.deforming import DeformingMesh

    vertices, triangles = torus(*DEFORMING)
    spacing = float(np.ptp(vertices, axis=0).max()) / CELLS
    mesh = DeformingMesh(vertices[None], triangles, spacing)
    low, high = mesh.bounds() / (BLOCK * spacing)
    axes = [np.arange(np.floor(a) - 1, np.ceil(b) + 1) for a, b in zip(low, high, strict=True)]
    blocks = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3) * (BLOCK * spacing)
    distance, _, _ = mesh.at_lattices(blocks, BLOCK, spacing, 1.1 * spacing)
    near = blocks[np.abs(distance).min(axis=1) < spacing]

    def prepare() -> None:
        mesh.move_to(vertices, vertices)
        mesh.at_lattices(near, BLOCK, spacing, 1.1 * spacing)

    wall, busy = least_seconds(prepare)
    return {"mesh": "deforming, a pose", "triangles": len(triangles), "points": len(near) * BLOCK**3, "wall": wall, "cpu": busy}


def main(threads: int) -> None:
    stream = results_stream()
    prepare_numba(threads)
    from mpm_addon.core.geometry.shapes import Box, Mesh, Sphere

    vertices, triangles = torus(*RESTING)
    shapes = {"box": lambda: Box(size=(1.0, 1.0, 1.0)), "sphere": lambda: Sphere(radius=1.0), "mesh": lambda: Mesh(vertices, triangles)}
    fillings = [measure_filling(kind, make) for kind, make in shapes.items()]
    meshes = [measure_resting(), measure_deforming()]
    say(stream, {"threads": threads, "cells": CELLS, "fillings": fillings, "meshes": meshes})


if __name__ == "__main__":
    main(int(sys.argv[1]))
