"""How long surfaces and skins take to make, and how fast Blender plays them.

`python -m benchmarks.derived surface PARTICLES QUALITY`, `skin VERTICES`, or, with bpy, `playback TRIANGLES` and `skin_playback VERTICES`.
"""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpm_addon.core.geometry.shapes import Mesh, Sphere
from mpm_addon.core.laws import LAWS
from mpm_addon.core.particles import BIRTH, Frame, FrameStatistics, Moment
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.scene.settings import Solver, Time
from mpm_addon.derived.job import DerivedJob
from mpm_addon.derived.particles import Cloud
from mpm_addon.derived.reconstruction import reconstruct
from mpm_addon.derived.settings import RECIPES, SkinSettings, SurfaceSettings
from mpm_addon.derived.skin import SkinProduct
from mpm_addon.storage import open_cache
from mpm_addon.storage.cache import Cache
from mpm_addon.storage.cache_writer import CacheWriter
from mpm_addon.storage.derived import Origin, derived_path, source_of
from mpm_addon.storage.mesh_encoding import in_order_of_use
from mpm_addon.storage.skin_file import Skin, SkinPiece, write_skin
from mpm_addon.storage.surface_file import Surface, SurfacePiece, write_surface
from mpm_addon.storage.take import SKIN, SURFACE

from .measuring import answer, timed

Floats = NDArray[np.float64]

FRAMES, ROUNDS, FPS = 6, 3, 24.0
SPACING = 0.01
# The radius of the tube of a torus of radius 1.
TUBE = 0.4
# Particles along the tube of the torus that a skin follows.
ACROSS = 12


def measure(what: str, count: int, quality: str = "") -> dict[str, Any]:
    """Times by what is measured, each for a size."""
    if what == "surface":
        return measure_surface(count, quality)
    return {"skin": measure_skin, "playback": measure_playback, "skin_playback": measure_skin_playback}[what](count)


def measure_surface(particles: int, quality: str) -> dict[str, Any]:
    """Seconds to make the mesh of a cube of uneven particles at rest, with the usual attributes, and its volume over theirs."""
    random, size = np.random.default_rng(0), round(particles ** (1.0 / 3.0))
    axis = (np.arange(size) + 0.5) * SPACING
    position = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    position += random.normal(scale=0.15 * SPACING, size=position.shape)
    count = len(position)
    values = {"velocity": np.zeros((count, 3)), "age": np.zeros(count), "stress": np.zeros(count), "volume_ratio": np.ones(count)}
    indices = {name: np.zeros(count, np.int32) for name in ("emitter_index", "material_index")}
    floats = {name: each.astype(np.float32) for name, each in values.items()}
    cloud = Cloud("water", SPACING, position.astype(np.float32), floats, indices)
    made: list[SurfacePiece] = []
    seconds = timed(lambda: made.append(reconstruct(cloud, RECIPES[quality], None)[0]))
    mesh = made[0]
    first, second, third = (mesh.position[mesh.triangles[:, corner]].astype(np.float64) for corner in range(3))
    volume = float(np.einsum("nd,nd->", first, np.cross(second, third)) / 6.0)
    return {"quality": quality, "particles": count, "triangles": len(mesh.triangles), **seconds, "volume": volume / (count * SPACING**3)}


def measure_skin(vertices: int) -> dict[str, Any]:
    """Seconds for each frame of the skin of a torus that twists: reading it, moving the vertices, and writing the file."""
    points, triangles = torus(2 * vertices)
    spacing = 2.0 * TUBE / ACROSS
    axis = np.arange(-1.0 - TUBE, 1.0 + TUBE, spacing)
    rest = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    rest = rest[np.hypot(np.hypot(*rest[:, :2].T) - 1.0, rest[:, 2]) < TUBE]
    scene = _scene("jelly", Emitter("torus", Mesh(points, triangles), "jelly"), 2.0 * spacing)
    with tempfile.TemporaryDirectory() as folder:
        cache = _written(Path(folder), scene, [twisted(rest, 0.2 * number) for number in range(FRAMES)], spacing)
        marks: list[tuple[float, float]] = []

        def mark(_event: object) -> None:
            marks.append((time.perf_counter(), time.process_time()))

        mark(None)
        DerivedJob(cache, SkinProduct(cache, SkinSettings()), on_event=mark).run()
    # an event before the first frame, one after each, and one at the end
    steps = np.diff(marks[1 : FRAMES + 2], axis=0)
    wall, cpu = np.median(steps[1:], axis=0)
    return {"vertices": len(points), "particles": len(rest), "first": marks[2][1] - marks[0][1], "wall": float(wall), "cpu": float(cpu)}


def measure_playback(triangles: int) -> dict[str, Any]:
    """Seconds from one frame to the next in Blender: reading a surface, decoding it, filling the mesh, and evaluating it."""
    import bpy

    import mpm_addon
    from mpm_addon.blender.playback import particle_objects, surface_objects

    points, faces = torus(triangles)
    scene = _scene("water", Emitter("flow", Sphere(radius=1.0), "water"), 0.1)
    with tempfile.TemporaryDirectory() as folder:
        cache = _written(Path(folder), scene, [np.zeros((1, 3))] * FRAMES, 0.05)
        for number in range(1, FRAMES + 1):
            _write_surface(cache, number, twisted(points, 0.2 * number), faces)
        mpm_addon.register()
        bpy.ops.wm.read_factory_settings(use_empty=True)
        shown: Any = bpy.context.scene
        item = particle_objects.result_object(shown, folder)
        surface = surface_objects.add(item)
        played = _played(shown)
        count = len(surface.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.polygons)
        mpm_addon.unregister()
    if count != len(faces):
        raise SystemExit(f"derived: {count} of {len(faces)} triangles were shown")
    return {"triangles": count, **played}


def measure_skin_playback(vertices: int) -> dict[str, Any]:
    """Seconds from one frame to the next in Blender: reading a skin, decoding it, moving the vertices and normals, and evaluating it."""
    import bpy

    import mpm_addon
    from mpm_addon.blender.playback import particle_objects

    points, faces = torus(2 * vertices)
    scene = _scene("jelly", Emitter("torus", Mesh(points, faces), "jelly"), 0.1)
    with tempfile.TemporaryDirectory() as folder:
        cache = _written(Path(folder), scene, [np.zeros((1, 3))] * FRAMES, 0.05)
        for number in range(1, FRAMES + 1):
            _write_skin(cache, number, twisted(points, 0.2 * number))
        mpm_addon.register()
        bpy.ops.wm.read_factory_settings(use_empty=True)
        shown: Any = bpy.context.scene
        item: Any = particle_objects.result_object(shown, folder)
        mesh = bpy.data.meshes.new("torus")
        mesh.from_pydata(points, [], faces.tolist())
        mesh.shade_smooth()
        skin: Any = bpy.data.objects.new("torus", mesh)
        shown.collection.objects.link(skin)
        skin.parent = item
        part = item.mpm.display.parts.add()
        part.name, part.skin, part.render = "torus", skin, "mesh"
        played = _played(shown)
        found = np.empty(3 * len(points), np.float32)
        skin.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices.foreach_get("co", found)
        mpm_addon.unregister()
    if np.abs(found.reshape(-1, 3) - twisted(points, 0.2 * FRAMES)).max() > 1e-3:
        raise SystemExit("derived: the skin does not follow its files")
    return {"vertices": len(points), **played}


def _played(scene: Any) -> dict[str, float]:
    """Seconds from one frame to the next of a scene in Blender."""
    turns = [timed(lambda number=number: scene.frame_set(number)) for _ in range(ROUNDS) for number in range(1, FRAMES + 1)]
    # warm-up: the files are read for the first time
    walls, busy = ([turn[key] for turn in turns[FRAMES:]] for key in ("wall", "cpu"))
    return {"wall": statistics.median(walls), "worst": max(walls), "cpu": statistics.median(busy)}


def torus(triangles: int) -> tuple[Floats, NDArray[np.int64]]:
    """A closed mesh with about that many triangles, twice as many as vertices."""
    around = round((triangles / 4.0) ** 0.5)
    first, second = np.meshgrid(np.arange(2 * around), np.arange(around), indexing="ij")
    u, v = np.pi * first.ravel() / around, 2.0 * np.pi * second.ravel() / around
    radius = 1.0 + TUBE * np.cos(v)
    points = np.stack([radius * np.cos(u), radius * np.sin(u), TUBE * np.sin(v)], axis=1)

    def number(i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.int64]:
        return (i % (2 * around) * around + j % around).ravel()

    corners = number(first, second), number(first + 1, second), number(first + 1, second + 1), number(first, second + 1)
    return points, np.concatenate([np.stack([corners[0], *corners[k : k + 2]], axis=1) for k in (1, 2)])


def twisted(points: Floats, angle: float) -> Floats:
    """Points (n, 3) turned around x by an angle [rad] times x."""
    cosine, sine = np.cos(angle * points[:, 0]), np.sin(angle * points[:, 0])
    y, z = points[:, 1], points[:, 2]
    return np.stack([points[:, 0], cosine * y - sine * z, sine * y + cosine * z], axis=1)


def _scene(material: str, emitter: Emitter, spacing: float) -> Scene:
    law = LAWS["water" if material == "water" else "corotated"]()
    length = Time(fps=FPS, frame_end=FRAMES)
    return Scene("derived", Solver(grid_spacing=spacing), {material: Material(material, law)}, (emitter,), time=length)


def _written(folder: Path, scene: Scene, positions: list[Floats], spacing: float) -> Cache:
    """A cache with these particles in its frames; they were emitted where the first frame has them."""
    writer = CacheWriter(folder, scene)
    writer.prepare(scene, restart=False)
    count = len(positions[0])
    indices = np.zeros(count, np.int32)
    births = {"emitter_index": indices, "material_index": indices, "rest_position": positions[0].astype(np.float32), BIRTH: np.zeros(count)}
    for number, position in enumerate(positions, start=1):
        arrays = {
            "position": position.astype(np.float32),
            "velocity": np.zeros((count, 3), np.float32),
            "id": np.arange(count, dtype=np.int32),
            "emitter_index": indices,
            "material_index": indices,
            "scale": np.full(count, spacing, np.float32),
        }
        statistics_ = FrameStatistics(count, 0, 1, 0.0, (0.0, 0.0, 0.0), 1.0, 0.0)
        writer.write_frame(Frame(number, (number - 1) / FPS, arrays, statistics_, births=births))
    return open_cache(folder)


def _write_surface(cache: Cache, number: int, points: Floats, faces: NDArray[np.int64]) -> None:
    triangles, used = in_order_of_use(faces)
    count = len(points)
    arrays = {
        "position": points[used].astype(np.float32),
        "velocity": np.ones((count, 3), np.float32),
        "age": np.full(count, 0.5, np.float32),
        "stress": np.ones(count, np.float32),
        "emitter_index": np.zeros(count, np.int32),
        "material_index": np.zeros(count, np.int32),
    }
    path = derived_path(cache, Moment(number), SURFACE)
    path.parent.mkdir(parents=True, exist_ok=True)
    origin = Origin(Moment(number), SurfaceSettings().hash, source_of(cache, Moment(number)), (0,))
    write_surface(path, Surface(origin, (SurfacePiece("water", triangles.astype(np.int32), arrays),)), 0.01)


def _write_skin(cache: Cache, number: int, points: Floats) -> None:
    moment = Moment(number)
    arrays = {"position": points.astype(np.float32), "velocity": np.ones((len(points), 3), np.float32)}
    path = derived_path(cache, moment, SKIN)
    path.parent.mkdir(parents=True, exist_ok=True)
    origin = Origin(moment, SkinSettings(emitters="torus").hash, source_of(cache, moment), (0,))
    write_skin(path, Skin(origin, (SkinPiece("torus", arrays),)), 0.1)


if __name__ == "__main__":
    answer(measure)
