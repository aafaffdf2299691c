"""The node group of one particle object: a row of nodes for each emitter, through the assets, for the viewport and for renders."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core.laws.finish import GRAINS, HIDDEN, MESH, POINTS, SPHERES, SURFACE
from ..host.blender_types import BlenderMaterial, NodeTree
from . import assets, grains, packed, points, spheres, surface
from .node_builder import GEOMETRY, Builder, Inputs, Socket

NAME = "MPM Particles"
SUBDIVISIONS, RADIUS_SCALE, SHARE = spheres.SUBDIVISIONS, points.RADIUS_SCALE, "Viewport Share"
PACKED = "Cover Packed Grains"
VOXEL_SIZE, SMOOTHING, VARIATION, COUNT = surface.VOXEL_SIZE, surface.SMOOTHING, grains.VARIATION, grains.COUNT
# Viewport surfaces have larger faces, and take an eighth of the time.
_VIEWPORT_COARSENESS = 1.6
# What 0 stands for: the grains of each particle of small and large emitters. A million grains add six to fifteen seconds and two gigabytes
# to each frame in Cycles, so a small emitter has half as many at most, and a large one three million.
_MANY, _FEW = 50, 10
_GRAINS_OF_SMALL, _ALL_GRAINS = 5e5, 3e6


def _named(sockets: tuple[Socket, ...], name: str) -> Socket:
    return next(socket for socket in sockets if socket.name == name)


INPUTS = (
    GEOMETRY,
    _named(spheres.INPUTS, SUBDIVISIONS),
    _named(points.INPUTS, RADIUS_SCALE),
    _named(points.INPUTS, points.SHARE)._replace(
        name=SHARE, help="Percentage of the particles to show in the viewport, where fewer are drawn larger; renders show all"
    ),
    _named(surface.INPUTS, VOXEL_SIZE),
    _named(surface.INPUTS, SMOOTHING),
    _named(grains.INPUTS, COUNT)._replace(
        default=0,
        minimum=0,
        help="Grains of each particle in renders, which share its volume (coarse sand 1, fine sand 30); 0 chooses 50, and 10 for "
        "an emitter of 50,000 particles or more. The viewport shows one",
    ),
    _named(grains.INPUTS, VARIATION),
    Socket(PACKED, "Bool", "Cover packed grains with a surface in renders, on which the outermost lie", default=True),
)
# The inputs that each mode uses.
USED = {
    POINTS: (RADIUS_SCALE, SHARE),
    SPHERES: (RADIUS_SCALE, SHARE, SUBDIVISIONS),
    GRAINS: (RADIUS_SCALE, SHARE, COUNT, VARIATION),
    SURFACE: (RADIUS_SCALE, VOXEL_SIZE, SMOOTHING),
    MESH: (),
    HIDDEN: (),
}
# Inputs that are chosen from the particles while they are 0.
AUTOMATIC = (VOXEL_SIZE, COUNT)
# Those of the surface of packed grains in renders.
CLOSED = (PACKED, VOXEL_SIZE, SMOOTHING)


class Part(NamedTuple):
    """How the particles of one emitter are shown.

    Attributes:
        label: its name.
        mode: one of the modes in `core.laws.finish`, except MESH, which needs no nodes.
        flatness: flatness of grains.
        simulated_material: emitters of the same material share a surface.
        grain: the size of grains below which none are shown where particles are larger [Blender units]; 0 for the smallest possible.
    """

    label: str
    mode: str
    material: BlenderMaterial | None
    flatness: float
    simulated_material: str
    grain: float = 0.0


def build(group: NodeTree, viewport: Sequence[Part], render: Sequence[Part]) -> None:
    """Fill a group with rows of nodes for the viewport, and for renders if they differ.

    Args:
        group: a group with `INPUTS`.
    """
    assets.forget(group)
    builder = Builder(group)
    shown = _side(builder, viewport, is_render=False)
    rendered = _side(builder, render, is_render=True)
    builder.end(builder.switch("GEOMETRY", builder.out("GeometryNodeIsViewport"), rendered, shown))
    assets.note(group)


def _side(builder: Builder, parts: Sequence[Part], *, is_render: bool) -> Any:
    rows = [_row(builder, parts, numbers, is_render=is_render) for numbers in _rows(parts)]
    return builder.out("GeometryNodeJoinGeometry", {"Geometry": rows})


def _rows(parts: Sequence[Part]) -> list[list[int]]:
    """The indices of the displayed emitters, grouped by shared surface."""
    rows: dict[Any, list[int]] = {}
    for number, part in enumerate(parts):
        if part.mode != HIDDEN:
            rows.setdefault(part.simulated_material if part.mode == SURFACE and part.simulated_material else number, []).append(number)
    return list(rows.values())


def _row(builder: Builder, parts: Sequence[Part], numbers: Sequence[int], *, is_render: bool) -> Any:
    part, inputs = parts[numbers[0]], builder.inputs
    given: Inputs = {"Geometry": inputs["Geometry"], points.RADIUS_SCALE: inputs[RADIUS_SCALE]}
    if len(numbers) < len(parts):
        given["Selection"] = _selection(builder, numbers)
    if not is_render and part.mode != SURFACE:
        given[points.SHARE] = inputs[SHARE]
    cloud = builder.group(assets.asset(points), part.label, given)
    dressed: Inputs = {"Geometry": cloud, "Material": part.material}
    if part.mode == SPHERES:
        return builder.group(assets.asset(spheres), part.label, {**dressed, SUBDIVISIONS: inputs[SUBDIVISIONS]})
    if part.mode == GRAINS:
        shape = {VARIATION: inputs[VARIATION], grains.FLATNESS: part.flatness}
        if not is_render:
            return builder.group(assets.asset(grains), part.label, {**dressed, **shape})
        return _rendered_grains(builder, part, dressed, shape)
    if part.mode == SURFACE:
        detail = {VOXEL_SIZE: inputs[VOXEL_SIZE], SMOOTHING: inputs[SMOOTHING]}
        if not is_render:
            detail[surface.COARSENESS] = _VIEWPORT_COARSENESS
        mesh = builder.group(assets.asset(surface), part.label, {**dressed, **detail})
        for number in numbers[1:]:
            mesh = builder.painted(mesh, parts[number].material, Selection=_selection(builder, [number]))
        return mesh
    painted = builder.painted(cloud, part.material)
    # joined point clouds would all get the material of one
    return builder.out("GeometryNodeGeometryToInstance", {"Geometry": painted}) if len(parts) > 1 else painted


def _rendered_grains(builder: Builder, part: Part, dressed: Inputs, shape: Inputs) -> Any:
    """Grains, on a surface of the packed ones. Stones are as large as particles, and leave gaps."""
    cloud = dressed["Geometry"]
    if part.grain > 0.0:
        return builder.group(assets.asset(grains), part.label, {**dressed, **shape, COUNT: _grain_count(builder, cloud, part.grain)})
    chosen = {"Switch": builder.inputs[PACKED], "True": packed.only_packed(builder, cloud)}
    covered = builder.out("GeometryNodeSwitch", chosen, input_type="GEOMETRY")
    detail = {VOXEL_SIZE: builder.inputs[VOXEL_SIZE], SMOOTHING: builder.inputs[SMOOTHING]}
    body = builder.group(assets.asset(surface), part.label, {**dressed, **detail, "Geometry": covered})
    seen = packed.without_buried(builder, cloud, body)
    given = {**dressed, **shape, "Geometry": seen, COUNT: _grain_count(builder, cloud, part.grain), grains.SURFACE: body}
    shown = builder.group(assets.asset(grains), part.label, given)
    return builder.out("GeometryNodeJoinGeometry", {"Geometry": [builder.store(body, packed.BODY, "FLOAT", 1.0), shown]})


def _grain_count(builder: Builder, cloud: Any, grain: float) -> Any:
    """The grains of each particle: as many as chosen, or as an emitter with so many particles can afford and its material consists of."""
    chosen = builder.inputs[COUNT]
    particles = builder.out("GeometryNodeAttributeDomainSize", {"Geometry": cloud}, component="POINTCLOUD")
    share = builder.math("DIVIDE", 1.0, builder.math("MAXIMUM", particles, 1.0))
    of_small = builder.math("MINIMUM", _MANY, builder.math("MULTIPLY", _GRAINS_OF_SMALL, share))
    wanted = builder.math("MINIMUM", builder.math("MAXIMUM", _FEW, of_small), builder.math("MULTIPLY", _ALL_GRAINS, share))
    if grain > 0.0:
        edges = builder.math("DIVIDE", builder.out("GeometryNodeInputRadius"), points.SPHERE_RADIUS * grain)
        wanted = builder.math("MINIMUM", wanted, builder.math("POWER", edges, 3.0))
    automatic = builder.math("FLOOR", builder.math("MAXIMUM", wanted, 1.0))
    return builder.switch("INT", builder.is_equal(chosen, 0), chosen, automatic)


def _selection(builder: Builder, numbers: Sequence[int]) -> Any:
    index = builder.attribute("emitter_index", "INT")
    chosen = builder.is_equal(index, numbers[0])
    for number in numbers[1:]:
        chosen = builder.out("FunctionNodeBooleanMath", {0: chosen, 1: builder.is_equal(index, number)}, operation="OR")
    return chosen
