"""Points that fill a shape, one per particle."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SceneError
from ..scene.emitter import PARTICLES_PER_CELL, THINNEST_EMITTER
from ..scene.shape import Shape
from .inside import InsideTest, inside_test
from .layer import Layer
from .mesh_topology import Floats
from .poisson import poisson_disk
from .region import Region, region_of
from .section import section_of
from .shapes import ClosedForm, Mesh

# N r^d / V of Poisson-disk points at distance r deep inside a shape, measured
DISK_PACKING = {2: 0.722, 3: 0.6465}
# Points at a surface have neighbors on one side only and lie closer together: a layer as deep as their distance holds this share more
# points than the same volume deep inside, minus those that the next layer lacks (measured).
SURFACE_EXCESS = {2: 0.05, 3: 0.23}
# relative tolerance of the number of Poisson-disk points
COUNT_TOLERANCE = 0.02
SEARCH_ROUNDS = 8
POINTS_PER_CHUNK = 2**20


def sample_shape(
    shape: Shape,
    *,
    grid_spacing: float,
    particles_per_cell: float | None = None,
    particle_count: int | None = None,
    sampling: str = "poisson",
    seed: int = 0,
    subject: str = "",
    dimension: int = 3,
) -> Floats:
    """Fill a shape with points.

    Args:
        shape: any shape with an inside; the holes of a mesh are capped.
        grid_spacing: edge of a grid cell h [m].
        particles_per_cell: points in a cell's volume; 8 if neither this nor `particle_count` is given.
        particle_count: the exact number of points.
        sampling: "poisson" (random, evenly spaced; Bridson 2007), "lattice" (spacing h / particles_per_cell^(1/d), centered in the
            shape's bounds) or "random" (uniform and independent).
        seed: the same seed gives the same points.
        subject: the emitter's name in messages.
        dimension: 3, or 2 for the shape's section with the plane y = 0; then volumes are areas, and all points have y = 0.

    Returns:
        Positions inside [m], shape (n, 3), float64. With `particles_per_cell`, n is volume / h^d * particles_per_cell: exactly for
        "random", within 2 % for "poisson" (less precisely for a few points), and depending on where the lattice points fall for "lattice".

    Raises:
        SceneError: the shape has no volume, is smaller than a cell, or would contain no point.
    """
    shape = _region(shape, dimension, subject)
    extent = float(np.diff(shape.bounds()[:, :: 4 - dimension], axis=0).min())
    if extent < grid_spacing * (1.0 - 1e-9):
        raise SceneError(
            f"`grid_spacing` {grid_spacing:g} m is larger than the object ({extent:g} m)",
            f"use at most {extent / THINNEST_EMITTER:g} m",
            subject=subject,
        )
    spacing = grid_spacing / (particles_per_cell or PARTICLES_PER_CELL) ** (1.0 / dimension)
    count = particle_count or round(shape.volume() / spacing**dimension)
    if count < 1:
        raise SceneError(
            f"`particles_per_cell` {particles_per_cell:g} gives no particle in {shape.volume():g} m^{dimension}",
            f"use at least {grid_spacing**dimension / shape.volume():.2g}",
            subject=subject,
        )
    if sampling == "random":
        return _random(shape, count, seed, dimension)
    if sampling == "lattice":
        positions = _lattice(shape, spacing, dimension) if particle_count is None else _lattice_of(shape, count, seed, dimension)
    else:
        positions = _poisson_of(shape, count, seed, dimension, is_exact=particle_count is not None)
    if len(positions) == 0:
        raise SceneError(f"no particle fits into the object at a spacing of {spacing:g} m", "use a smaller `grid_spacing`", subject=subject)
    return positions


def _region(shape: Shape, dimension: int, subject: str) -> Shape:
    """What is filled: in 3D the shape, with its holes capped, in 2D its section. Raises SceneError if it has no inside."""
    if not isinstance(shape, ClosedForm | Mesh) or not shape.can_emit:
        raise SceneError(f"a {shape.kind} has no inside to fill", "use a closed shape", subject=subject)
    shape.check_inside(subject or "sampling")
    if dimension == 3:
        return shape.closed if isinstance(shape, Mesh) else shape
    if isinstance(shape, Layer):
        return shape
    section = section_of(shape, subject)
    section.check_inside(subject)
    return section


def sampled_volumes(shape: Shape, positions: Floats, *, sampling: str, dimension: int = 3) -> Floats:
    """The volume that each point of a sample represents, so that material is as dense at the surface as inside.

    Args:
        shape: the shape that `sample_shape` has filled; a mesh must be closed, and in 2D it is a section.
        positions: all points of the sample [m], shape (n, 3).
        sampling: how they were sampled; see `sample_shape`.
        dimension: 3, or 2 for areas.

    Returns:
        [m^3], in 2D [m^2], shape (n,); together the volume of the shape.
    """
    volume, count = shape.volume(), len(positions)
    share = np.ones(count)
    if sampling == "poisson":
        distance = (DISK_PACKING[dimension] * volume / count) ** (1.0 / dimension)
        share[_surface_points(shape, positions, distance, dimension)] = 1.0 / (1.0 + SURFACE_EXCESS[dimension])
    return share * (volume / share.sum())


def _surface_points(shape: Shape, positions: Floats, depth: float, dimension: int) -> NDArray[np.int64]:
    """The numbers of the positions less deep inside than `depth`; measures only those in blocks at the surface and next to these."""
    region = region_of(shape, 2.0 * depth, dimension)
    is_deep = np.zeros(region.blocks.max(axis=0) + 3, dtype=np.bool_)
    is_deep[tuple(region.blocks.T + 1)] = region.is_inside
    for axis in (0, 1, 2) if dimension == 3 else (0, 2):
        is_deep = is_deep & np.roll(is_deep, 1, axis) & np.roll(is_deep, -1, axis)
    blocks = np.floor((positions - region.low) / region.edge).astype(np.int64) + 1
    near = np.flatnonzero(~is_deep[tuple(np.clip(blocks, 0, np.array(is_deep.shape) - 1).T)])
    return near[shape.signed_distance(positions[near]) > -depth]


def sample_mesh(vertices: ArrayLike, triangles: ArrayLike, spacing: float, seed: int = 0) -> Floats:
    """Fill a mesh with Poisson-disk points: no two nearer than `spacing`, and no gap wider than 1.2 spacings.

    Args:
        vertices: [m], shape (v, 3).
        triangles: vertex indices of any integer type, shape (m, 3).
        spacing: least distance between two points [m].
        seed: the same seed gives the same points.

    Returns:
        Positions inside [m], shape (n, 3), float64.

    Raises:
        SceneError: the mesh is malformed or has no volume, or the spacing is not above 0 m.
    """
    mesh = Mesh(np.asarray(vertices), np.asarray(triangles))
    mesh.check("sample_mesh")
    mesh.check_inside("sample_mesh")
    if not (np.isfinite(spacing) and spacing > 0.0):
        raise SceneError(f"sample_mesh: spacing {spacing} m is not allowed", "use a finite number above 0 m")
    return poisson_disk(mesh.closed, float(spacing), int(seed))


def _poisson_of(shape: Shape, count: int, seed: int, dimension: int, *, is_exact: bool) -> Floats:
    """Poisson-disk points whose number is `count`, exactly or within `COUNT_TOLERANCE`."""
    distance = (DISK_PACKING[dimension] * shape.volume() / count) ** (1.0 / dimension)
    if count > 50_000:
        distance = _distance_for(shape, count, seed, dimension)
    low, high = (1.0, 1.0 + COUNT_TOLERANCE) if is_exact else (1.0 - COUNT_TOLERANCE, 1.0 + COUNT_TOLERANCE)
    best = np.empty((0, 3))
    attempt = 0
    while attempt < SEARCH_ROUNDS or (is_exact and len(best) < count):
        positions = poisson_disk(shape, distance, seed + attempt, dimension=dimension)
        is_better = abs(len(positions) - count) < abs(len(best) - count)
        if is_exact and min(len(positions), len(best)) < count:
            is_better = len(positions) > len(best)
        if is_better:
            best = positions
        if low * count <= len(positions) <= high * count:
            break
        attempt += 1
        target = 0.5 * (low + high) * count
        # small numbers of points vary randomly: if more are needed, the distance is reduced until they are found
        haste = 1.0 - 0.02 * attempt if is_exact and len(positions) < count else 1.0
        distance *= haste * (max(len(positions), 1) / target) ** (1.0 / dimension)
    return best[:count] if is_exact else best


def _distance_for(shape: Shape, count: int, seed: int, dimension: int) -> float:
    """The Poisson-disk distance [m] for a large number of points, from a small trial.

    N = DISK_PACKING V / r^d + b / r^(d - 1): the second term is that of the surface, where points have neighbors on one side; the trial
    gives b.
    """
    inner = DISK_PACKING[dimension] * shape.volume()
    trial_distance = (inner / 10_000) ** (1.0 / dimension)
    trial_count = len(poisson_disk(shape, trial_distance, seed, dimension=dimension))
    surface = (trial_count - inner / trial_distance**dimension) * trial_distance ** (dimension - 1)
    distance = (inner / count) ** (1.0 / dimension)
    for _ in range(8):
        expected = inner / distance**dimension + surface / distance ** (dimension - 1)
        distance *= (expected / count) ** (1.0 / dimension)
    return distance


def _lattice(shape: Shape, spacing: float, dimension: int) -> Floats:
    """The points, inside a shape, of a cubic (in 2D square) lattice centered in its bounds, in lexicographic order."""
    low, high = shape.bounds()
    counts = np.maximum(np.round((high - low) / spacing), 1).astype(np.int64)
    if dimension == 2:
        counts[1] = 1
    x, y, z = ((low[a] + high[a]) / 2 + (np.arange(counts[a]) - 0.5 * (counts[a] - 1)) * spacing for a in range(3))
    region = region_of(shape, 4.0 * spacing, dimension)
    test = inside_test(shape)
    kept = []
    rows = max(1, POINTS_PER_CHUNK // (len(y) * len(z)))
    for start in range(0, len(x), rows):
        points = np.stack(np.meshgrid(x[start : start + rows], y, z, indexing="ij"), axis=-1).reshape(-1, 3)
        kept.append(points[_are_inside(test, region, points)])
    return np.concatenate(kept)


def _lattice_of(shape: Shape, count: int, seed: int, dimension: int) -> Floats:
    """A lattice of exactly `count` points: the sparsest one with enough points, minus a few random ones."""
    spacing = (shape.volume() / count) ** (1.0 / dimension)
    best = _lattice(shape, spacing, dimension)
    if len(best) == count:
        return best
    fine, coarse = spacing, spacing
    while len(best) < count:
        fine *= 0.9
        best = _lattice(shape, fine, dimension)
    for _ in range(24):
        middle = 0.5 * (fine + coarse)
        points = _lattice(shape, middle, dimension)
        if len(points) == count:
            return points
        if len(points) > count:
            fine = middle
            best = points if len(points) < len(best) else best
        else:
            coarse = middle
    chosen = np.random.default_rng(seed).choice(len(best), count, replace=False)
    return best[np.sort(chosen)]


def _random(shape: Shape, count: int, seed: int, dimension: int) -> Floats:
    """Uniform independent points inside a shape."""
    generator = np.random.default_rng(seed)
    region = region_of(shape, (shape.volume() / 4096.0) ** (1.0 / dimension), dimension)
    test = inside_test(shape)
    share = min(1.0, shape.volume() / (len(region.blocks) * region.edge**dimension))
    kept, missing = [], count
    while missing > 0:
        darts = min(int(missing / share * 1.1) + 16, POINTS_PER_CHUNK)
        blocks = region.blocks[generator.integers(len(region.blocks), size=darts)]
        points = region.low + (blocks + generator.random((darts, 3))) * region.edge
        if dimension == 2:
            points[:, 1] = 0.0
        points = points[_are_inside(test, region, points)][:missing]
        kept.append(points)
        missing -= len(points)
    return np.concatenate(kept)


def _are_inside(test: InsideTest, region: Region, points: Floats) -> np.ndarray:
    """Whether points (n, 3) are inside a shape; tests only those in blocks that the surface cuts."""
    state = np.zeros(region.blocks.max(axis=0) + 1, dtype=np.int8)
    state[tuple(region.blocks.T)] = np.where(region.is_inside, 2, 1)
    cells = np.clip(np.floor((points - region.low) / region.edge).astype(np.int64), 0, np.array(state.shape) - 1)
    states = state[tuple(cells.T)]
    asked = np.flatnonzero(states == 1)
    result = states == 2
    if len(asked):
        result[asked] = test(points[asked])
    return result
