"""Warnings before a bake: thin shapes, fast colliders, objects outside the domain or inside each other, lost material, and its cost.

Warnings do not change or refuse anything. Checking for overlaps may query mesh distances, which loads numba.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from ..emission.schedule import first_frame, has_flow_rate, last_frame
from ..forecast.estimate import Estimate, automatic_substeps
from ..forecast.placement import bounds_at, in_world
from ..geometry.inscribed_ball import ball_diameter, disk_diameter
from ..geometry.outline import Outline
from ..geometry.section import section_of
from ..geometry.shapes import Mesh, Points
from ..geometry.solid import solid_properties
from ..geometry.thickness import thickening
from ..messages import Message, SceneWarning, Topic
from ..scene.animation import value_at
from ..scene.description import Collider, Emitter, Scene
from ..scene.emitter import THINNEST_EMITTER
from ..scene.settings import SIDES
from ..scene.shape import Shape
from .capillarity import tense_surfaces
from .heat import heatless_materials
from .leaving import lost_material
from .openings import closing_colliders, narrow_openings
from .overlaps import first_emission, has_inside, overlaps
from .speeds import fast_emitters
from .viscosity import viscous_materials

# Below this thickness a solid collider lets some material through and acts as if it were thicker [cells].
THINNEST_COLLIDER = 1.0
# How far a collider may move within a substep that the materials allow [cells]; beyond this a bake takes several times as long.
FARTHEST = 2.0
# Largest share of a mesh's surface that a hole may have without a warning.
LARGEST_HOLE = 0.05
# Largest shares of what is available, and longest duration, without a warning.
LARGEST_SHARE_OF_MEMORY = 0.8
LARGEST_SHARE_OF_DISK = 0.9
LONGEST_HOURS = 6.0
# Density of a dynamic collider over that of the lightest material, below which its motion may be wrong.
LIGHTEST_BODY = 1.0 / 30.0

_POSES = 50


def warnings_of(scene: Scene, cost: Estimate, *, disk_free: int | None = None, expected_seconds: float | None = None) -> list[SceneWarning]:
    """All warnings of a scene.

    Args:
        scene: the scene.
        cost: its estimate.
        disk_free: free disk space for the cache [bytes]; not checked if it is None.
        expected_seconds: how long the bake will take [s], if it has been measured.

    Raises:
        SceneError: for a shape that a bake would refuse too.
    """
    return scene_warnings(scene) + cost_warnings(scene, cost, disk_free=disk_free, expected_seconds=expected_seconds)


def scene_warnings(scene: Scene) -> list[SceneWarning]:
    """The warnings that depend on the scene alone (`Topic.is_of_scene`). Raises SceneError as `warnings_of`."""
    found = [*_thin_shapes(scene), *_open_meshes(scene), *_outside(scene), *overlaps(scene), *lost_material(scene)]
    return [
        *found,
        *_silent_emitters(scene),
        *_light_bodies(scene),
        *_fast_colliders(scene),
        *fast_emitters(scene),
        *narrow_openings(scene),
        *closing_colliders(scene),
        *tense_surfaces(scene),
        *viscous_materials(scene),
        *heatless_materials(scene),
    ]


def cost_warnings(
    scene: Scene, cost: Estimate, *, disk_free: int | None = None, expected_seconds: float | None = None
) -> list[SceneWarning]:
    """Warnings about memory, disk space and duration; the arguments are those of `warnings_of`."""
    found: list[SceneWarning] = []
    subject = f'Scene "{scene.name}"'
    if cost.memory_bytes > LARGEST_SHARE_OF_MEMORY * cost.memory_available_bytes:
        found.append(
            SceneWarning(
                Topic.MEMORY,
                Message(
                    f"it needs about {_gigabytes(cost.memory_bytes)} of memory, and {_gigabytes(cost.memory_available_bytes)} is available",
                    ("close other programs or use a larger `grid_spacing`",),
                    subject,
                ),
            )
        )
    if disk_free is not None and cost.disk_bytes > LARGEST_SHARE_OF_DISK * disk_free:
        found.append(
            SceneWarning(
                Topic.DISK,
                Message(
                    f"its cache needs about {_gigabytes(cost.disk_bytes)} of disk space, but only {_gigabytes(disk_free)} is free",
                    ("free disk space, choose another cache folder, or use fewer frames or particles",),
                    subject,
                ),
            )
        )
    if expected_seconds is not None and expected_seconds > 3600.0 * LONGEST_HOURS:
        found.append(
            SceneWarning(
                Topic.DURATION,
                Message(
                    f"it takes about {expected_seconds / 3600.0:.0f} hours to bake, more than {LONGEST_HOURS:.0f}",
                    ("use a larger `grid_spacing`, softer materials, or fewer frames",),
                    subject,
                ),
            )
        )
    return found


def _silent_emitters(scene: Scene) -> Iterator[SceneWarning]:
    """Emitters that are disabled or have no flow in every frame in which they could emit."""
    for emitter in scene.emitters:
        frames = range(max(first_frame(emitter, scene), scene.time.frame_start), min(last_frame(emitter, scene), scene.time.frame_end) + 1)
        is_flowing = emitter.mode != "inflow" or not has_flow_rate(emitter)
        if not any(value_at(emitter, "enabled", frame) and (is_flowing or value_at(emitter, "flow_rate", frame) > 0.0) for frame in frames):
            yield SceneWarning(
                Topic.NEVER_EMITS,
                Message(
                    f"it is disabled or has no flow at every frame from {frames[0]} to {frames[-1]}",
                    ("enable it or set its `flow_rate` at one of these frames",),
                    f'Emitter "{emitter.name}"',
                ),
            )


def _light_bodies(scene: Scene) -> Iterator[SceneWarning]:
    """Dynamic colliders that are far lighter than the lightest material."""
    lightest = min((scene.materials[emitter.material].law.density * emitter.mass_scale for emitter in scene.emitters), default=0.0)
    for collider in scene.colliders:
        if not collider.dynamic:
            continue
        subject = f'Collider "{collider.name}"'
        density = collider.density
        if collider.mass is not None:
            density = collider.mass / solid_properties(collider.shape, subject, scene.solver.dimension).volume
        if density < LIGHTEST_BODY * lightest:
            yield SceneWarning(
                Topic.LIGHT_BODY,
                Message(
                    f"its density of {density:.3g} kg/m^3 is less than 1/30 of the lightest material's "
                    f"{lightest:.3g} kg/m^3: it may jump and require short substeps",
                    (f"use at least {LIGHTEST_BODY * lightest:.3g} kg/m^3",),
                    subject,
                ),
            )


def _fast_colliders(scene: Scene) -> Iterator[SceneWarning]:
    """Colliders that need far shorter substeps than the materials: contact stays reliable, but the bake takes long."""
    duration = (len(scene.time.frames) - 1) * scene.time.frame_seconds
    if not duration or not any(collider.motion is not None for collider in scene.colliders):
        return
    substep, spacing = duration / max(1, automatic_substeps(scene)), scene.solver.grid_spacing
    for collider in scene.colliders:
        speed, way, frame, following = max(_steps_of(collider, scene), default=(0.0, 0.0, 0.0, 0.0))
        cells = speed * substep / spacing
        if not collider.dynamic and cells > FARTHEST:
            yield SceneWarning(
                Topic.FAST_COLLIDER,
                Message(
                    f"it moves {way:.3g} m from frame {frame:g} to {following:g}, {cells:.2g} times the cell size in a substep that the "
                    f"materials allow, more than {FARTHEST:g}: these frames need about {1.0 + cells / scene.solver.cfl:.0f} times as many",
                    ("move it more slowly, or disable it while it jumps",),
                    _subject(collider),
                ),
            )


def _steps_of(collider: Collider, scene: Scene) -> Iterator[tuple[float, float, float, float]]:
    """For each interval between poses that begins enabled: the collider's greatest speed [m/s] and displacement [m], and both frames."""
    motion = collider.motion
    if motion is None:
        return
    low, high = collider.shape.bounds()
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    corners = np.where(np.isfinite(corners), corners, 0.0)
    for index, (frame, following) in enumerate(pairwise(float(each) for each in motion.frames)):
        if following <= scene.time.frame_start or frame >= scene.time.frame_end or not value_at(collider, "enabled", frame):
            continue
        if motion.vertices is not None:
            ways = np.asarray(motion.vertices[index + 1], np.float64) - motion.vertices[index]
        else:
            ways = in_world(collider, following, corners) - in_world(collider, frame, corners)
        way = float(np.linalg.norm(ways, axis=1).max())
        yield way / ((following - frame) * scene.time.frame_seconds), way, frame, following


def sizes_of(scene: Scene) -> dict[str, tuple[float, float, float]]:
    """The extents [m] along x, y and z of every bounded emitter and collider: name -> size."""
    sizes = {}
    for item in (*scene.emitters, *scene.colliders):
        low, high = bounds_at(item, scene.time.frame_start)
        if np.isfinite(high - low).all():
            x, y, z = (float(extent) for extent in high - low)
            sizes[item.name] = x, y, z
    return sizes


def size_text(name: str, size: tuple[float, ...]) -> str:
    """A size in words: "Suzanne is 2.7 x 1.9 x 1.6 m"."""
    largest = max(size)
    unit, factor = ("m", 1.0) if largest >= 1.0 else ("cm", 100.0) if largest >= 0.01 else ("mm", 1000.0)
    return f"{name} is {' x '.join(_two_digits(factor * extent) for extent in size)} {unit}"


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):g}"


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:.3g} GB"


def _subject(item: Emitter | Collider) -> str:
    return f'{type(item).__name__} "{item.name}"'


def _thin_shapes(scene: Scene) -> Iterator[SceneWarning]:
    spacing = scene.solver.grid_spacing
    for item in (*scene.emitters, *scene.colliders):
        subject, is_emitter = _subject(item), isinstance(item, Emitter)
        cells = THINNEST_EMITTER if is_emitter else THINNEST_COLLIDER
        limit = cells * spacing
        shape = item.shape if scene.solver.dimension == 3 else section_of(item.shape, subject)
        thickness = thickness_of(item, shape, limit)
        if thickness is None or thickness >= 0.99 * limit:
            continue
        words = f"it is only {thickness:.2g} m thick, {thickness / spacing:.2g} times the cell size of {spacing:g} m"
        added = 0.0 if is_emitter else thickening(shape, spacing)
        if added > 0.0:
            words += f": particles collide with it as if it were {added:.2g} m thicker, and fast ones may pass through it all the same"
        elif not is_emitter:
            words += ": some material may pass through it"
        wanted = "1 cell" if cells == 1.0 else f"{cells:g} cells"
        remedy = f"make it at least {wanted} thick, or use a `grid_spacing` of at most {thickness / cells:.2g} m"
        yield SceneWarning(Topic.THIN_EMITTER if is_emitter else Topic.THIN_COLLIDER, Message(words, (remedy,), subject))


def _open_meshes(scene: Scene) -> Iterator[SceneWarning]:
    """Meshes that are filled or block their inside although they have a large hole; the hole counts as closed."""
    # 2D uses only the section, which may be closed even if the mesh is not
    items = (*scene.emitters, *scene.colliders) if scene.solver.dimension == 3 else ()
    for item in items:
        shape = item.shape
        if not isinstance(shape, Mesh) or (isinstance(item, Emitter) and item.source == "surface") or not has_inside(item, shape):
            continue
        holes, area = shape.holes(), shape.area()
        if not holes or holes[0].area <= LARGEST_HOLE * area:
            continue
        share, edges = sum(hole.area for hole in holes) / area, sum(hole.edge_count for hole in holes)
        has = "a hole" if len(holes) == 1 else f"{len(holes)} holes"
        effect = "it is filled" if isinstance(item, Emitter) else "it blocks particles"
        yield SceneWarning(
            Topic.OPEN_MESH,
            Message(
                f"its mesh has {has} with {edges} boundary edges ({share:.0%} of its surface), and {effect} as if it were closed there",
                ("close it (in Blender: Mesh > Clean Up > Fill Holes) or give it thickness (Solidify modifier)",),
                _subject(item),
            ),
        )


def thickness_of(item: Emitter | Collider, shape: Shape, limit: float) -> float | None:
    """The thickness [m] of an emitter or collider, at most `limit`; None if only its surface is used.

    Args:
        shape: its shape; in 2D, the section of it.
    """
    if isinstance(shape, Points) or (isinstance(item, Emitter) and item.source == "surface") or not has_inside(item, shape):
        return None
    return shape_thickness(shape, limit)


def shape_thickness(shape: Shape, limit: float) -> float:
    """The diameter [m] of the largest ball inside a shape, at most `limit`; accurate to a few percent for meshes and outlines."""
    if isinstance(shape, Mesh):
        return ball_diameter(shape, limit)
    if isinstance(shape, Outline):
        return disk_diameter(shape, limit)
    low, high = shape.bounds()
    if not np.isfinite(high - low).all():
        return limit
    return min(limit, -2.0 * float(shape.signed_distance(0.5 * (low + high)[None])[0]))


def _outside(scene: Scene) -> Iterator[SceneWarning]:
    domain = scene.domain.corners
    if domain is None:
        return
    axes = [axis for axis in range(3) if scene.solver.dimension == 3 or axis != 1]
    for emitter in scene.emitters:
        frame = first_emission(emitter, scene)
        if frame is None:
            continue
        bounds = bounds_at(emitter, frame)
        places, is_lost = [], False
        for axis in axes:
            for is_high in (0, 1):
                side = SIDES[2 * axis + is_high]
                beyond = float((bounds[is_high, axis] - domain[is_high][axis]) * (1.0 if is_high else -1.0))
                is_open = scene.domain.sides[side].surface == "open"
                if beyond > (0.0 if is_open else 0.5 * scene.solver.grid_spacing):
                    places.append(f"{beyond:.3g} m beyond side {side} of the domain at {domain[is_high][axis]:g} m")
                    is_lost = is_lost or not is_open
        if places:
            effect = "it cannot be baked" if is_lost else "particles emitted there are removed at once"
            where = " and ".join(filter(None, (", ".join(places[:-1]), places[-1])))
            message = Message(f"it extends {where}: {effect}", ("move it inside or enlarge the domain",), _subject(emitter))
            yield SceneWarning(Topic.OUTSIDE_DOMAIN, message)
    for collider in scene.colliders:
        # a dynamic collider may fall into the domain
        if collider.dynamic:
            continue
        frames = scene.time.frames if collider.motion is not None else scene.time.frames[:1]
        bounds = np.array([bounds_at(collider, frame) for frame in frames[:: -(-len(frames) // _POSES)]])
        low, high = bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)
        if any(low[axis] > domain[1][axis] or high[axis] < domain[0][axis] for axis in axes):
            yield SceneWarning(
                Topic.OUTSIDE_DOMAIN,
                Message(
                    "it is outside the domain at every frame and has no effect",
                    ("move it inside, enlarge the domain, or remove it",),
                    _subject(collider),
                ),
            )
