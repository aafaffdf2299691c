"""Meshes and the particles that fill them, in caches whose frames move both in known ways."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from mpm_addon.core.bonds import WHOLE, Bonds, neighbors
from mpm_addon.core.geometry.shapes.mesh import Mesh
from mpm_addon.core.laws import LAWS
from mpm_addon.core.particles import BIRTH, Moment
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.scene.settings import CacheSettings, Solver, Time
from mpm_addon.storage import open_cache
from mpm_addon.storage.cache import Cache
from mpm_addon.storage.skin_file import SkinPiece, skin_at
from tests.derived.caches import SPACING, arrays, write_cache

# The edge of the cubes of these tests [m].
SIDE = 1.0
Move = Callable[[np.ndarray], np.ndarray]
# The number of the piece that each particle belongs to, given where they were emitted.
Pieces = Callable[[np.ndarray], np.ndarray]


def particles(size: int, center: tuple[float, float, float] = (0.0, 0.0, 0.0), seed: int = 1) -> np.ndarray:
    """Particles in a cube of size^3 spacings, without a pattern, (n, 3)."""
    axis = (np.arange(size) - 0.5 * (size - 1)) * SPACING
    regular = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    return regular + np.random.default_rng(seed).uniform(-0.3, 0.3, regular.shape) * SPACING + center


def cube(side: float, center: tuple[float, float, float] = (0.0, 0.0, 0.0), cuts: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """The surface of a cube: vertices (n, 3), and triangles (m, 3) that face outward."""
    steps = np.linspace(-0.5, 0.5, cuts + 1)
    grid = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1).reshape(-1, 2)
    corner = (np.arange(cuts)[:, None] * (cuts + 1) + np.arange(cuts)).ravel()
    quads = np.stack([corner, corner + cuts + 1, corner + cuts + 2, corner + 1], axis=1)
    vertices, triangles, count = [], [], 0
    for axis in range(3):
        for side_of in (-0.5, 0.5):
            face = np.insert(grid if side_of > 0 else grid[:, ::-1], axis, side_of, axis=1)
            face = face if axis != 1 else face[:, [2, 1, 0]]
            vertices.append(face)
            triangles += [quads[:, [0, 1, 2]] + count, quads[:, [0, 2, 3]] + count]
            count += len(face)
    merged, place = np.unique(np.round(np.concatenate(vertices), 9), axis=0, return_inverse=True)
    return merged * side + center, place.reshape(-1)[np.concatenate(triangles)]


def together(*meshes: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Several meshes as loose parts of one."""
    first = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    triangles = [triangles + start for (_, triangles), start in zip(meshes, first, strict=False)]
    return np.concatenate([vertices for vertices, _ in meshes]), np.concatenate(triangles)


def scene_of(*meshes: tuple[np.ndarray, np.ndarray], tear_stretch: float = 1.0, **emitter: object) -> Scene:
    """A scene with an emitter of jelly for each mesh: "one", "two" and so on."""
    names = ("one", "two", "three")
    law = LAWS["corotated"](young_modulus=1e4, tear_stretch=tear_stretch)
    emitters = [
        Emitter(name=name, shape=Mesh(*mesh), material="jelly", **emitter)  # type: ignore[arg-type]
        for name, mesh in zip(names, meshes, strict=False)
    ]
    return Scene(
        "test",
        Solver(grid_spacing=2 * SPACING),
        {"jelly": Material("jelly", law)},
        tuple(emitters),
        time=Time(frame_end=3),
        cache=CacheSettings(precision="exact"),
    )


def write_moves(
    folder: Path, scene: Scene, rest: np.ndarray, *moves: Move, emitter: int | np.ndarray = 0, pieces: Sequence[Pieces] = ()
) -> Cache:
    """A cache whose frames show particles that were emitted at `rest` (n, 3) moved; a move may remove some by NaN.

    Where material tears, `pieces` says for each frame which particles bonds still join.
    """
    numbers = np.broadcast_to(np.asarray(emitter, np.int32), len(rest)).copy()
    births = {
        "emitter_index": numbers,
        "material_index": np.zeros(len(rest), np.int32),
        "rest_position": rest.astype(np.float32),
        BIRTH: np.zeros(len(rest)),
    }
    frames = []
    for move in moves:
        position = move(rest).astype(np.float32)
        left = np.flatnonzero(np.isfinite(position).all(axis=1))
        found = arrays(position[left], numbers[left], id=left.astype(np.int32))
        # a velocity that tells whether it is summed like positions
        frames.append({**found, "velocity": 2.0 * position[left]})
    return write_cache(folder, *frames, scene=scene, births=births, bonds=list(_bonds(rest, numbers, pieces)))


def _bonds(rest: np.ndarray, emitter: np.ndarray, pieces: Sequence[Pieces]) -> Iterator[Bonds]:
    """The bonds of each frame: those between pieces part, and stay parted."""
    pairs = neighbors(rest, SPACING).astype(np.int32) if pieces else np.zeros((0, 2), np.int32)
    pairs = pairs[emitter[pairs[:, 0]] == emitter[pairs[:, 1]]]
    parted = np.full(len(pairs), WHOLE)
    for number, piece_of in enumerate(pieces):
        piece = piece_of(rest)
        parted = np.minimum(parted, np.where(piece[pairs[:, 0]] != piece[pairs[:, 1]], number / 24.0, WHOLE))
        yield Bonds(pairs, parted)


def piece(cache: Path, number: int, place: int = 0) -> SkinPiece:
    return skin_at(open_cache(cache), Moment(number)).pieces[place]


def at_rest(found: SkinPiece, mesh: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Where the vertices of a skin are at rest, with those that its mesh does not have."""
    return mesh[0] if found.subdivision is None else found.subdivision.between(mesh[0])


def same(x: np.ndarray) -> np.ndarray:
    return x


def twisted(x: np.ndarray) -> np.ndarray:
    """Two radians over the length."""
    angle = 2.0 * x[:, 2]
    return np.stack([x[:, 0] * np.cos(angle) - x[:, 1] * np.sin(angle), x[:, 0] * np.sin(angle) + x[:, 1] * np.cos(angle), x[:, 2]], axis=1)
