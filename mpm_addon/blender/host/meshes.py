"""Triangles and points of evaluated Blender objects as arrays. Knows nothing of emitters and colliders."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import SceneError
from .blender_types import BlenderMesh, BlenderObject, Depsgraph

Floats = NDArray[np.float64]
Triangles = NDArray[np.int64]
Counts = tuple[int, int, int]

SURFACE_TYPES = {"MESH", "CURVE", "SURFACE", "META", "FONT"}
CLOUD_TYPES = {"POINTCLOUD"}
VELOCITY = "velocity"
# Blender stores an infinite value as its largest number.
_INFINITY = float(np.finfo(np.float32).max)

# Reads painted values while a mesh exists: from the object, its mesh, and the corners (m, 3) and faces (m,) of its triangles.
ReadPainting = Callable[[BlenderObject, BlenderMesh, Triangles, Triangles], dict[str, Floats]]


@dataclass(frozen=True)
class Geometry:
    """The evaluated mesh of one object.

    Attributes:
        vertices: in local space [Blender units] (n, 3), float32 as in Blender.
        triangles: (m, 3), counterclockwise as seen from outside.
        counts: number of vertices, faces and corners of the mesh.
        painting: name -> values of each vertex (n, components), or of each corner of the triangles (m, 3, components).
        is_cloud: whether it consists of vertices only, without edges and faces.
        velocity: the attribute "velocity" of a cloud's vertices [Blender units/s] (n, 3), if it exists.
    """

    vertices: NDArray[np.float32]
    triangles: Triangles
    counts: Counts
    painting: dict[str, Floats] = field(default_factory=dict)
    is_cloud: bool = False
    velocity: NDArray[np.float32] | None = None


def check_finite(matrix: Floats, subject: str, frame: float | None = None, *, rotation: Iterable[float] = ()) -> None:
    """Check that the place of an object is made of finite numbers.

    Args:
        matrix: world from object (4, 4).
        subject: the name of the object in messages.
        frame: the frame at which it has this matrix, for the message.
        rotation: its Euler angles, from which Blender makes a finite matrix even if they are infinite.

    Raises:
        SceneError: they are not.
    """
    if not all(np.abs(each) < _INFINITY for each in (*matrix.ravel(), *rotation)):
        moment = "" if frame is None else f" at frame {frame:g}"
        raise SceneError(
            f"its location, rotation or scale, or that of a parent, is not a finite number{moment}",
            "type in another value, or correct the animation, driver or constraint that sets it",
            subject=subject,
        )


def check_scale(matrix: Floats, subject: str, frame: float | None = None) -> None:
    """Check that an object has an extent along each of its axes.

    Args:
        matrix: world from object (4, 4).
        subject: the name of the object in messages.
        frame: the frame at which it has this matrix, for the message.

    Raises:
        SceneError: the scale of the object or of a parent is zero.
    """
    if np.linalg.det(matrix[:3, :3]) != 0.0:
        return
    flat = [name for name, axis in zip("XYZ", matrix[:3, :3].T, strict=True) if not axis.any()]
    # a parent's axis need not be one of the object
    axes = ", ".join([*flat[:-2], " and ".join(flat[-2:])]) if flat else "an axis of a parent"
    moment = "" if frame is None else f" at frame {frame:g}"
    raise SceneError(f"its scale along {axes} is zero{moment}", "set the scale there to a value other than 0, such as 1", subject=subject)


@contextmanager
def mesh_of(evaluated: BlenderObject, subject: str) -> Iterator[BlenderMesh]:
    """The mesh of an evaluated object (with modifiers applied), inside the block.

    Raises:
        SceneError: objects of this type have no mesh, or a metaball is part of another one's surface.
    """
    try:
        mesh = evaluated.to_mesh()
    except RuntimeError:
        kind = evaluated.type.replace("_", " ").lower()
        raise SceneError(
            f"a {kind} object has no mesh", "use a mesh, a curve, a text, a metaball or a collection", subject=subject
        ) from None
    if mesh is None:  # an empty curve or text
        raise SceneError("it has no surface", "give it one, or set its type to None in the Physics tab", subject=subject)
    try:
        if evaluated.type == "META" and not len(mesh.vertices) and "." in evaluated.name:
            family = evaluated.name.rpartition(".")[0]
            raise SceneError(f'its surface is that of the metaball family "{family}"', f'use the object "{family}"', subject=subject)
        yield mesh
    finally:
        evaluated.to_mesh_clear()


def read_geometry(
    evaluated: BlenderObject, subject: str, *, read_painting: ReadPainting | None = None, has_triangles: bool = True
) -> Geometry:
    """The mesh of an evaluated object in local space. Raises SceneError as `mesh_of`.

    Args:
        has_triangles: False reads only the vertices.
    """
    with mesh_of(evaluated, subject) as mesh:
        counts = len(mesh.vertices), len(mesh.polygons), len(mesh.loops)
        vertices = np.empty(3 * counts[0], np.float32)
        if counts[0]:
            mesh.attributes["position"].data.foreach_get("vector", vertices)  # far faster than the vertices' "co"
        triangles, painting = np.empty((0, 3), np.int64), {}
        if has_triangles:
            mesh.calc_loop_triangles()
            triangles = _indices(mesh.loop_triangles, "vertices", 3)
            if read_painting is not None:
                corners = _indices(mesh.loop_triangles, "loops", 3)
                painting = read_painting(evaluated, mesh, corners, _indices(mesh.loop_triangles, "polygon_index", 1)[:, 0])
        is_cloud = counts[0] > 0 and not len(mesh.edges) and not counts[1]
        velocity = _velocity(mesh) if is_cloud and has_triangles else None
        return Geometry(vertices.reshape(-1, 3), triangles, counts, painting, is_cloud, velocity)


def read_cloud(evaluated: BlenderObject, *, read_painting: ReadPainting | None = None) -> Geometry:
    """The points of an evaluated point cloud in local space. Raises SceneError if a painted attribute is missing."""
    cloud: Any = evaluated.data
    count = len(cloud.points)
    points = np.empty(3 * count, np.float32)
    if count:
        cloud.attributes["position"].data.foreach_get("vector", points)
    none = np.empty((0, 3), np.int64)
    painting = read_painting(evaluated, cloud, none, none[:, 0]) if read_painting is not None and count else {}
    return Geometry(points.reshape(-1, 3), none, (count, 0, 0), painting, count > 0, _velocity(cloud))


def _velocity(geometry: Any) -> NDArray[np.float32] | None:
    attribute = geometry.attributes.get(VELOCITY)
    if attribute is None or attribute.data_type != "FLOAT_VECTOR" or attribute.domain != "POINT":
        return None
    values = np.empty(3 * len(attribute.data), np.float32)
    attribute.data.foreach_get("vector", values)
    return values.reshape(-1, 3)


def may_instance(item: BlenderObject) -> bool:
    """Whether an object may make instances that count, see `instances_of`."""
    return item.instance_type != "NONE" or any(each.type == "NODES" for each in item.modifiers)


def instances_of(depsgraph: Depsgraph, owners: dict[str, Any]) -> Iterator[tuple[str, BlenderObject, Floats]]:
    """The instances that objects create: collections, instancing on vertices and faces, and geometry nodes, but not particle systems.

    Args:
        owners: objects by full name.

    Yields:
        the owner's full name, the evaluated instanced object (valid until the next iteration), world from instance (4, 4).
    """
    for instance in depsgraph.object_instances:
        if not instance.is_instance or instance.particle_system is not None or instance.parent is None:
            continue
        owner = instance.parent.original.name_full
        if owner in owners and instance.object.type in SURFACE_TYPES:
            yield owner, instance.object, matrix_array(instance.matrix_world)


def instanced_geometries(
    depsgraph: Depsgraph, owners: dict[str, Any], read: Callable[[str, BlenderObject], Geometry]
) -> Iterator[tuple[str, Geometry, Floats]]:
    """The meshes of `instances_of`, each read once: the owner's full name, the mesh, world from instance (4, 4)."""
    known: dict[tuple[str, int], Geometry] = {}
    for owner, item, matrix in instances_of(depsgraph, owners):
        # an instance is valid only during its iteration, so read its mesh now
        key = (owner, item.data.as_pointer())
        if key not in known or item.type != "MESH":
            known[key] = read(owner, item)
        yield owner, known[key], matrix


def hides_own_mesh(evaluated: BlenderObject) -> bool:
    """Whether only what an object instances is shown."""
    return evaluated.type in SURFACE_TYPES and evaluated.is_instancer and not evaluated.show_instancer_for_viewport


def world_surface(evaluated: BlenderObject, depsgraph: Depsgraph, subject: str) -> tuple[Floats, Triangles]:
    """Vertices (n, 3) in world space and triangles (m, 3) of an evaluated object, including what it instances, as a bake reads them.

    Raises SceneError as `mesh_of`, and if its place is not one (see `check_finite` and `check_scale`).
    """
    matrix = matrix_array(evaluated.matrix_world)
    check_finite(matrix, subject, rotation=evaluated.rotation_euler)
    check_scale(matrix, subject)
    parts = [] if hides_own_mesh(evaluated) else [(read_geometry(evaluated, subject), matrix)]
    owners = {evaluated.original.name_full: evaluated} if may_instance(evaluated) else {}
    found = instanced_geometries(depsgraph, owners, lambda _owner, item: read_geometry(item, subject)) if owners else ()
    parts += [(geometry, its) for _owner, geometry, its in found]
    vertices, triangles, count = [], [np.empty((0, 3), np.int64)], 0
    for geometry, its in parts:
        vertices.append(moved(geometry.vertices, its))
        triangles.append(geometry.triangles + count)
        count += len(geometry.vertices)
    return np.concatenate(vertices) if vertices else np.empty((0, 3)), np.concatenate(triangles)


def _indices(items: Any, name: str, width: int) -> Triangles:
    indices = np.empty(width * len(items), np.int32)
    items.foreach_get(name, indices)
    return indices.reshape(-1, width).astype(np.int64)


def matrix_array(matrix: Any) -> Floats:
    """A Blender 4x4 matrix as an array."""
    return np.array(matrix, dtype=np.float64)


def moved(vertices: NDArray[Any], matrix: Floats) -> Floats:
    """Vertices (n, 3) transformed by a 4x4 matrix, in double precision."""
    return vertices.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def world_bounds(evaluated: BlenderObject) -> Floats:
    """The axis-aligned bounding box [Blender units] of an evaluated object in world space, shape (2, 3)."""
    corners = moved(np.array([tuple(corner) for corner in evaluated.bound_box]), matrix_array(evaluated.matrix_world))
    return np.array([corners.min(axis=0), corners.max(axis=0)])
