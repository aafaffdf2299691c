"""Whether points are inside a shape, for kernels and in bulk: exact, and without computing a distance where that is possible.

A closed form is the set of points within some planes and within a radius of a core (`Form`). For a mesh, or an outline extruded along y,
the winding number decides. A layer also requires that points are within its thickness of the surface.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compilation.kernel import kernel
from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from ..scene.shape import Shape
from .layer import Layer, is_sheet
from .mesh_cells import NO_CELLS, MeshCells, winding_in
from .mesh_distance import nearest
from .mesh_topology import Floats
from .mesh_tree import MOMENTS, MeshTree, build_tree, search_stack
from .outline import Outline
from .rotation import euler_matrix
from .section import Section
from .shapes import Box, Capsule, Cylinder, Mesh, Sphere

InsideTest = Callable[[Floats], NDArray[np.bool_]]

QUERIES_PER_TASK = 1024


class Form(NamedTuple):
    """The parts of a shape's definition other than triangles, in coordinates relative to its center.

    Attributes:
        margin: the least depth at which a point counts as inside, to allow for rounding [m].
        thickness: of a layer, or half of it for a sheet [m]; infinite for a filled shape.
        is_mesh: whether triangles define the inside.
        is_sheet: whether these have no inside.
        axes: of a closed form, as columns, shape (3, 3).
        planes: greatest coordinates along the axes [m], shape (3,).
        core: half extents of the box that the radius is measured from [m], shape (3,).
        radius: greatest distance from the core [m].
    """

    margin: float
    thickness: float
    is_mesh: bool
    is_sheet: bool
    axes: Floats
    planes: Floats
    core: Floats
    radius: float


class Inside(NamedTuple):
    """The arguments of `is_inside`, relative to `center` [m]: a form, and the cells and tree of a mesh, empty if not needed."""

    center: Floats
    form: Form
    cells: MeshCells
    tree: MeshTree


_NO_TREE = MeshTree(np.empty((0, 9)), np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, 6)), np.empty((0, MOMENTS)))


def inside_of(shape: Shape) -> Inside:
    """The inside of a shape, for kernels: a closed form or its section, a closed mesh, an outline, or a layer of these."""
    body = shape.body if isinstance(shape, Layer) else shape
    center = body.bounds().mean(axis=0)
    margin = 4.0 * float(np.finfo(np.float64).eps) * float(np.abs(body.bounds()).max())
    thickness = shape.thickness if isinstance(shape, Layer) else math.inf
    if isinstance(body, Mesh | Outline):
        return _inside_of_triangles(body, center, margin, thickness)
    solid = body.solid if isinstance(body, Section) else body
    everywhere, nothing, axes = np.full(3, math.inf), np.zeros(3), euler_matrix(getattr(solid, "rotation", (0.0, 0.0, 0.0)))
    if isinstance(solid, Box):
        planes, core, radius = np.asarray(solid.size) / 2, nothing, math.inf
    elif isinstance(solid, Sphere):
        planes, core, radius = everywhere, nothing, solid.radius
    elif isinstance(solid, Cylinder):
        planes, core, radius = np.array([math.inf, math.inf, solid.height / 2]), np.array([0.0, 0.0, math.inf]), solid.radius
    elif isinstance(solid, Capsule):
        along = np.asarray(solid.end) - np.asarray(solid.start)
        axes = np.ascontiguousarray(np.linalg.svd(along[None])[2][::-1].T)
        planes, core, radius = everywhere, np.array([0.0, 0.0, 0.5 * float(np.linalg.norm(along))]), solid.radius
    else:
        raise TypeError(f"no inside for a shape of kind {body.kind!r}")
    form = Form(margin, thickness, is_mesh=False, is_sheet=False, axes=axes, planes=planes, core=core, radius=radius)
    return Inside(center, form, NO_CELLS, _NO_TREE)


def _inside_of_triangles(body: Mesh | Outline, center: Floats, margin: float, thickness: float) -> Inside:
    """The inside of a mesh or outline: triangles with caps for a filled shape, without caps for a sheet or a layer."""
    is_layer, tree, nothing = math.isfinite(thickness), _NO_TREE, np.zeros(3)
    is_open = is_layer and is_sheet(body)
    if isinstance(body, Mesh):
        center = body.center
        tree = body.surface.tree if is_layer else tree
    elif is_layer:
        tree = build_tree(*body.extruded(has_caps=not is_open))
    cells = NO_CELLS if is_open else body.cells
    # a sheet has half of its layer on either side
    thickness = 0.5 * thickness if is_open else thickness
    form = Form(margin, thickness, is_mesh=True, is_sheet=is_open, axes=np.eye(3), planes=nothing, core=nothing, radius=0.0)
    return Inside(center, form, cells, tree)


def inside_test(shape: Shape) -> InsideTest:
    """A function of points (n, 3) [m] that returns whether each is inside a shape, shape (n,)."""
    inside = inside_of(shape)

    def are_inside(points: Floats) -> NDArray[np.bool_]:
        result = np.empty(len(points), np.bool_)
        _find_inside(*inside[1:], np.ascontiguousarray(points - inside.center), result)
        return result

    return are_inside


@kernel
def is_inside(form, cells, tree, x, y, z, stack):
    """Whether (x, y, z), relative to the center, is inside; `stack` is from `search_stack`."""
    if not form.is_mesh:
        depth = _depth(form, x, y, z)
        return form.margin < depth < form.thickness - form.margin
    if not form.is_sheet and winding_in(cells, x, y, z) < 1:
        return False
    if form.thickness == math.inf:
        return True
    return math.sqrt(nearest(tree, x, y, z, 0, stack)[0]) < form.thickness - form.margin


@kernel
def _depth(form, x, y, z):
    """How deep inside a closed form a point is [m], negative outside."""
    depth, outward = math.inf, 0.0
    for axis in range(3):
        along = abs(x * form.axes[0, axis] + y * form.axes[1, axis] + z * form.axes[2, axis])
        depth = min(depth, form.planes[axis] - along)
        beyond = max(along - form.core[axis], 0.0)
        outward += beyond * beyond
    return min(depth, form.radius - math.sqrt(outward))


@parallel_kernel(allocates=True)
def _find_inside(tickets, form, cells, tree, points, result):
    for task in shared(tickets[0], (len(points) + QUERIES_PER_TASK - 1) // QUERIES_PER_TASK, 1):
        stack = search_stack()
        for query in range(task * QUERIES_PER_TASK, min((task + 1) * QUERIES_PER_TASK, len(points))):
            x, y, z = points[query]
            result[query] = is_inside(form, cells, tree, x, y, z, stack)
