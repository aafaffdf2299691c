"""The formats that are read from disk. Adding one: a function that writes samples, and its line in `FORMATS`."""

import json
import sys
import tomllib
import unittest.mock
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import plyfile
import tomli_w

from mpm_addon.core.failure import Failure, Kind
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.geometry.subdivision import Subdivision
from mpm_addon.core.particles import Moment
from mpm_addon.core.stepping.support import refuse_unsupported
from mpm_addon.storage import open_cache, read_scene
from mpm_addon.storage.births import check_attribute
from mpm_addon.storage.cache_writer import CacheWriter
from mpm_addon.storage.derived import Origin, counts_of, derived_path, source_of
from mpm_addon.storage.failure import FAILURE, read_failure, summary, write_failure
from mpm_addon.storage.mesh_encoding import in_order_of_use
from mpm_addon.storage.presets import read_material_preset
from mpm_addon.storage.retimed_frames import MomentReader
from mpm_addon.storage.scene_file import read_scene_words
from mpm_addon.storage.skin_file import Cut, Skin, SkinPiece, skin_at, write_skin
from mpm_addon.storage.status import read_status, status_words
from mpm_addon.storage.surface_file import Surface, SurfacePiece, surface_at, write_surface
from mpm_addon.storage.swarm_file import StoredSwarm, swarm_at, types_of, write_swarm
from mpm_addon.storage.take import DEBRIS, FOAM, SKIN, SURFACE, VOLUME
from mpm_addon.storage.vdb import Grid
from mpm_addon.storage.volume_file import write_volume
from mpm_addon.wedge.wedge import status_of
from tests.storage import stand_in

from .campaign import Format, Mutation, try_all
from .mutator import mutated, mutated_archive, mutated_container, mutated_json, mutated_tree
from .scenes import POINTS, SCENE
from .states import STATES

VERTICES = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
TRIANGLES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)


def _scene(folder: Path, mesh: str = "cube.npz", text: str = SCENE, extra: str = "") -> Path:
    """A scene package around a mesh file; `extra` is said of its emitter."""
    (folder / "scene.toml").write_text(text.replace("MESH", mesh).replace('name = "Cube"\n', f'name = "Cube"\n{extra}'))
    return folder / "scene.toml"


def _mesh(folder: Path) -> Path:
    np.savez(folder / "cube.npz", vertices=VERTICES, triangles=TRIANGLES)
    return folder / "cube.npz"


def write_scene(folder: Path) -> Sequence[Path]:
    _mesh(folder)
    return [_scene(folder)]


def write_arrays(name: str, extra: str, text: str = SCENE, **arrays: Any) -> Callable[[Path], Sequence[Path]]:
    def write(folder: Path) -> Sequence[Path]:
        _scene(folder, _mesh(folder).name, text, extra)
        np.savez(folder / name, **arrays)
        return [folder / name]

    return write


def write_mesh(folder: Path) -> Sequence[Path]:
    _scene(folder)
    return [_mesh(folder)]


def write_ply(*, is_text: bool) -> Callable[[Path], Sequence[Path]]:
    def write(folder: Path) -> Sequence[Path]:
        _scene(folder, "cube.ply")
        vertices = np.array([tuple(vertex) for vertex in VERTICES], dtype=[(axis, "f4") for axis in "xyz"])
        faces = np.array([(triangle,) for triangle in TRIANGLES], dtype=[("vertex_indices", "i4", (3,))])
        elements = [plyfile.PlyElement.describe(vertices, "vertex"), plyfile.PlyElement.describe(faces, "face")]
        plyfile.PlyData(elements, text=is_text, byte_order="<").write(str(folder / "cube.ply"))
        return [folder / "cube.ply"]

    return write


def write_obj(folder: Path) -> Sequence[Path]:
    lines = [f"v {x} {y} {z}" for x, y, z in VERTICES] + [f"f {a + 1} {b + 1}/2 {c + 1}//3" for a, b, c in TRIANGLES]
    (folder / "cube.obj").write_text("\n".join(["# a cube", *lines, ""]))
    _scene(folder, "cube.obj")
    return [folder / "cube.obj"]


def write_material(folder: Path) -> Sequence[Path]:
    words = "\n[parameters]\ndensity = 400.0\nyoung_modulus = 1.4e5\nfriction_angle = 30\n"
    text = f'schema = 1\nlabel = "Sand"\ndescription = "Dry sand."\nsource = "Nobody."\nlaw = "sand"\n{words}'
    (folder / "sand.toml").write_text(text)
    return [folder / "sand.toml"]


def check_scene(folder: Path) -> None:
    """What happens to a scene before anything is made of it."""
    scene = read_scene(folder)
    refuse_unsupported(scene)
    estimate(scene)
    read_scene_words(folder)


def write_cache(*patterns: str) -> Callable[[Path], Sequence[Path]]:
    """A small cache, of which the files of some patterns are made wrong."""

    def write(folder: Path) -> Sequence[Path]:
        with unittest.mock.patch.dict(sys.modules, {stand_in.MODULE: stand_in.module()}):
            stand_in.bake_here(stand_in.write_small_scene(folder / "scene", frame_end=2, subframes=1), folder / "cache")
        return sorted(path for pattern in patterns for path in (folder / "cache").glob(pattern))

    return write


def write_failed(folder: Path) -> Sequence[Path]:
    numbers = {"frame": 3, "time": 0.1, "time_step": 1e-4, "shortening": 8}
    words = {"subject": 'Material "jelly"', "advice": "Use a smaller cfl.", "emitters": ("Cube",)}
    where = {"id": np.arange(3, dtype=np.int32), "position": np.eye(3, dtype=np.float32)}
    write_failure(folder, Failure(kind=next(iter(Kind)), **words, **numbers, **where))
    return [folder / FAILURE]


def check_failure(folder: Path) -> None:
    failure = read_failure(folder)
    if failure is not None:
        json.dumps(summary(failure), allow_nan=False)


def check_status(folder: Path) -> None:
    status_of(folder / "cache")
    status = read_status(folder / "cache")
    if status is not None:
        assert status_words(status).isprintable()


def check_cache(folder: Path) -> None:
    """Everything that is read of a cache: its numbers, and its particles at frames and between."""
    cache = open_cache(folder / "cache")
    try_all(
        lambda: json.dumps([dict(cache.manifest), list(cache.statistics()), cache.size()], allow_nan=False),
        lambda: (cache.time, list(cache.damaged()), cache.whole_moments()),
        lambda: [frame.attributes for frame in map(cache.state, cache.moments)],
        lambda: [MomentReader(cache).arrays(frame) for frame in (1.5, 1.75)],
    )


def write_surfaces(folder: Path) -> Sequence[Path]:
    """Surfaces beside the frames of a small cache: two pieces, with attributes of every kind."""
    write_cache("cache.json")(folder)
    cache = open_cache(folder / "cache")
    position = np.ascontiguousarray(VERTICES, np.float32)
    triangles, used = in_order_of_use(np.asarray(TRIANGLES))
    values = {"position": position, "velocity": position, "age": position[:, 0], "emitter_index": np.zeros(8, np.int32)}
    arrays = {name: array[used] for name, array in values.items()}
    pieces = tuple(SurfacePiece(name, triangles.astype(np.int32), arrays) for name in ("jelly", "water"))
    paths = [derived_path(cache, Moment(number), SURFACE) for number in cache.frames]
    paths[0].parent.mkdir(parents=True)
    for number, path in zip(cache.frames, paths, strict=True):
        write_surface(path, Surface(Origin(Moment(number), "", source_of(cache, Moment(number)), (0,)), pieces), 0.1)
    return paths


def check_surfaces(folder: Path) -> None:
    """Everything that is read of surfaces: their states, and their meshes, whose triangles have vertices with attributes of frames."""
    cache = open_cache(folder / "cache")
    counts_of(cache, SURFACE, "")
    for number in cache.frames:
        for piece in surface_at(cache, Moment(number)).pieces:
            for name, array in piece.arrays.items():
                check_attribute(name, array)
                assert (len(array), array.dtype.itemsize) == (len(piece.position), 4)
            assert len(piece.triangles) == 0 or 0 <= piece.triangles.min() <= piece.triangles.max() < len(piece.position)


def write_skins(folder: Path) -> Sequence[Path]:
    """Skins beside the frames of a small cache: a piece, one that was cut, one subdivided, and one of an emitter without particles."""
    write_cache("cache.json")(folder)
    cache = open_cache(folder / "cache")
    position = np.ascontiguousarray(VERTICES, np.float32)
    parents, weights = np.array([[0, 1, 2], [1, 2, 3]], np.int32), np.full((2, 3), 1.0 / 3.0, np.float32)
    cut = Cut(parents[:, :3], weights, np.array([[0, 1, 9], [8, 9, 2]], np.int32), np.array([3, -1], np.int32))
    bisected = Subdivision(np.array([[0, 1], [1, 2], [2, 8]], np.int32), np.array([2, 1], np.int32))
    shapes = ((position, None), (np.concatenate([position, position[:2]]), cut), (position[:0], None))
    pieces = [SkinPiece("jelly", {"position": each, "velocity": each}, cut) for each, cut in shapes]
    finer = np.concatenate([position, position[:3]])
    pieces = (*pieces[:2], SkinPiece("jelly", {"position": finer, "velocity": finer}, None, bisected), pieces[2])
    paths = [derived_path(cache, Moment(number), SKIN) for number in cache.frames]
    paths[0].parent.mkdir(parents=True)
    for number, path in zip(cache.frames, paths, strict=True):
        write_skin(path, Skin(Origin(Moment(number), "", source_of(cache, Moment(number)), (0, 1, 2, 3)), pieces), 0.1)
    return paths


def check_skins(folder: Path) -> None:
    """Everything that is read of skins: their states, and finite vertices, as many velocities as positions."""
    cache = open_cache(folder / "cache")
    counts_of(cache, SKIN, "")
    for number in cache.frames:
        skin = skin_at(cache, Moment(number))
        assert len(skin.pieces) == len(skin.origin.emitters)
        for piece in skin.pieces:
            for array in piece.arrays.values():
                assert (array.shape, array.dtype) == ((len(piece.position), 3), np.float32)
                assert np.isfinite(array).all()
            if piece.cut is not None:
                assert 0 <= piece.cut.triangles.min(initial=0) <= piece.cut.triangles.max(initial=0) < len(piece.position)
                assert 0 <= piece.cut.parents.min(initial=0) <= piece.cut.parents.max(initial=0) < max(piece.whole_count, 1)
                assert len(piece.cut.triangles) == len(piece.cut.source)
            if piece.subdivision is not None:
                assert len(piece.subdivision.ends) == piece.subdivision.rounds.sum() == piece.whole_count - piece.own_count
                ends = np.repeat(piece.own_count + np.arange(len(piece.subdivision.ends))[:, None], 2, axis=1)
                assert ((piece.subdivision.ends >= 0) & (piece.subdivision.ends < ends)).all()


def write_swarms(kind: str) -> Callable[[Path], Sequence[Path]]:
    """Foam or debris beside the frames of a small cache: particles of every kind."""

    def write(folder: Path) -> Sequence[Path]:
        write_cache("cache.json")(folder)
        cache = open_cache(folder / "cache")
        position, number = np.ascontiguousarray(VERTICES, np.float32), np.arange(8)
        arrays = {name: (position if shape else 0.1 * number).astype(type) for name, (type, shape) in types_of(kind).items()}
        arrays |= {"id": (3 * number).astype(np.int32), "kind": (number % (3 if kind == FOAM else 2)).astype(np.int32)}
        paths = [derived_path(cache, Moment(number), kind) for number in cache.frames]
        paths[0].parent.mkdir(parents=True)
        for frame, path in zip(cache.frames, paths, strict=True):
            origin = Origin(Moment(frame), "", source_of(cache, Moment(frame), kind), (0,))
            write_swarm(path, kind, StoredSwarm(origin, arrays), 0.1)
        return paths

    return write


def check_swarms(kind: str) -> Callable[[Path], None]:
    """Everything that is read of foam or debris: its states, and finite arrays of the right types, with ascending ids and known kinds."""

    def check(folder: Path) -> None:
        cache = open_cache(folder / "cache")
        counts_of(cache, kind, "")
        for number in cache.frames:
            arrays = swarm_at(cache, Moment(number), kind).arrays
            for name, (type, shape) in types_of(kind).items():
                assert (arrays[name].dtype, arrays[name].shape) == (type, (len(arrays["id"]), *shape))
                assert np.isfinite(arrays[name]).all()
            assert (np.diff(arrays["id"]) > 0).all()
            assert np.isin(arrays["kind"], (0, 1, 2) if kind == FOAM else (0, 1)).all()

    return check


def write_volumes(folder: Path) -> Sequence[Path]:
    """Fog beside the frames of a small cache."""
    write_cache("cache.json")(folder)
    cache = open_cache(folder / "cache")
    path = derived_path(cache, Moment(1), VOLUME)
    path.parent.mkdir(parents=True)
    grid = Grid("density", np.zeros((1, 3), np.int64), np.ones((1, 512), np.float32))
    write_volume(path, Origin(Moment(1), "", source_of(cache, Moment(1)), (0,)), [grid], 0.1)
    return [path]


def check_resumption(folder: Path) -> None:
    """What a bake goes on from."""
    writer = CacheWriter(folder / "cache", read_scene(folder / "scene"))
    writer.read_checkpoint(Moment(99))


def toml_mutation(data: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """Some of the files are wrong as text, most are right TOML with wrong values."""
    if random.random() < 0.25:
        return mutated(data, random, others)
    return tomli_w.dumps(mutated_tree(tomllib.loads(data.decode()), random)).encode()


def _package(name: str, write: Callable[[Path], Sequence[Path]], mutation: Mutation = mutated_archive) -> Format:
    return Format(name, write, check_scene, mutation)


MOVED = np.stack([VERTICES, VERTICES + 0.1])
POSES = np.tile(np.eye(4), (3, 1, 1))
KEYS = {"enabled": [True, False], "velocity": np.zeros((2, 3)), "goal": [0.0, 0.5]}
PAINTED = {"density": np.linspace(1, 2, 8), "UVMap": np.zeros((12, 3, 2)), "color": np.ones((8, 4), "f4")}
CLOUD = {"position": VERTICES, "velocity": VERTICES, "volume": np.full(8, 0.01)}

FORMATS = {
    subject.name: subject
    for subject in (
        _package("scene.toml", write_scene, toml_mutation),
        _package("mesh.npz", write_mesh),
        _package("points.npz", write_arrays("points.npz", "", POINTS, **CLOUD)),
        _package("motion.npz", write_arrays("motion.npz", 'motion = "motion.npz"\n', frame=[1, 2.5, 9], matrix=POSES)),
        _package("deformation.npz", write_arrays("motion.npz", 'motion = "motion.npz"\n', frame=[1, 9], vertices=MOVED)),
        _package("animation.npz", write_arrays("keys.npz", 'animation = "keys.npz"\n', frame=[1, 4], **KEYS)),
        _package("painting.npz", write_arrays("paint.npz", 'painting = "paint.npz"\n', **PAINTED)),
        _package("text.ply", write_ply(is_text=True), mutated),
        _package("binary.ply", write_ply(is_text=False), mutated),
        _package("mesh.obj", write_obj, mutated),
        Format("material.toml", write_material, lambda folder: read_material_preset(folder / "sand.toml"), toml_mutation),
        Format("cache.json", write_cache("cache.json"), check_cache, mutated_json),
        Format("take.json", write_cache("takes/*/take.json"), check_cache, mutated_json),
        Format("journal.jsonl", write_cache("takes/*/journal.jsonl"), check_cache, mutated_json),
        Format("failure.npz", write_failed, check_failure, mutated_archive),
        Format("status.json", write_cache("status.json"), check_status, mutated_json),
        Format("frame.mpm", write_cache("takes/*/frames/*"), check_cache, mutated_container),
        Format("surface.mpm", write_surfaces, check_surfaces, mutated_container),
        Format("skin.mpm", write_skins, check_skins, mutated_container),
        Format("foam.mpm", write_swarms(FOAM), check_swarms(FOAM), mutated_container),
        Format("debris.mpm", write_swarms(DEBRIS), check_swarms(DEBRIS), mutated_container),
        Format("fog.vdb", write_volumes, lambda folder: counts_of(open_cache(folder / "cache"), VOLUME, ""), mutated),
        Format("births.mpm", write_cache("takes/*/births/*"), check_cache, mutated_container),
        Format("checkpoint.mpm", write_cache("takes/*/checkpoints/*"), check_resumption, mutated_container),
        *STATES,
    )
}
