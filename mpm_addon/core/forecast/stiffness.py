"""The bulk modulus of fluids that leave it to the scene: high enough for the greatest speed that they can reach there. Plain numpy.

Weakly compressible water is as stiff as it has to be, not as in nature: waves ten times as fast as the water change its density by at most
about a percent (Monaghan 1994). Water that falls by H reaches sqrt(2 g H), so waves cross the cells of a glass and of a swimming pool
equally often in the time of such a fall. A modulus that is too high costs substeps, and each substep smooths the motion a little.

Everything here depends on what the scene's hash contains, not on its last frame.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..emission.schedule import in_plane
from ..geometry.rotation import Floats
from ..geometry.shapes import Mesh, Plane, Points
from ..laws import Law, Water
from ..laws.water import AUTOMATIC, GIVEN
from ..scene.description import Collider, Emitter, Scene
from ..scene.force import Force

# the wave speed over the greatest speed
SOUND_SHARE = 10.0
# the compression modulus of water in nature [Pa]
GREATEST_MODULUS = 2.2e9
# least speeds: without gravity and initial speed, and with force fields, which may push again and again [m/s]
SLOW, DRIVEN = 1.0, 4.5
# moduli begin with those for this share of the greatest speed, at least
LEAST_SHARE = 0.1
# water is under tension only up to this strain [1 / strain]
LEAST_STRAIN = 100.0
# what surface tension pulls together is compressed by this strain at most [1 / strain]; below half of this, grid-scale ripples grow
SURFACE_STRAIN = 50.0
# of random velocities, this many standard deviations count
DEVIATIONS = 3.0
# faces that point upward by more than this, the cosine to the vertical, can stop what falls
UPWARD = 0.1
# and of a floor without an edge
LEVEL = 0.95
# of a long animation, this many steps from one given frame to the next are looked at
STEPS = 100
_DIGITS = 2


def settled_law(scene: Scene, name: str) -> Law:
    """The law of a material, with the bulk modulus that it leaves to the scene; one that is animated stays."""
    material = scene.materials[name]
    keyed = {} if material.animation is None else material.animation.values
    if "bulk_modulus" in keyed:
        return material.law.on_grid(scene.solver.grid_spacing)
    return _settled(scene, name, material.law, surface_stress_of(scene, name))


def settled_fluid(scene: Scene, name: str) -> Law | None:
    """The law of the fluid that a material melts into, with the bulk modulus that it leaves to the scene; None if it keeps its law."""
    fluid = scene.materials[name].melts_into
    surface_tension = getattr(fluid, "surface_tension", 0.0)
    return None if fluid is None else _settled(scene, name, fluid, surface_tension / scene.solver.grid_spacing)


def _settled(scene: Scene, name: str, law: Law, surface_stress: float) -> Law:
    """A law of a material with a bulk modulus for a scene, if it leaves it to that."""
    law = law.on_grid(scene.solver.grid_spacing)
    if not isinstance(law, Water) or law.stiffness != AUTOMATIC:
        return law
    # what nothing but surface tension moves is slow
    speed = _known_speed(scene) if surface_stress > 0.0 else reachable_speed(scene)
    return replace(law, bulk_modulus=_modulus(scene, name, law, surface_stress, speed), stiffness=GIVEN)


def _modulus(scene: Scene, name: str, law: Water, surface_stress: float, speed: float) -> float:
    """The bulk modulus of a material for a speed [m/s], in Pa."""
    heaviest = max((_greatest_density(emitter) for emitter in scene.emitters if emitter.material == name), default=1.0)
    modulus = max(law.density * heaviest * (SOUND_SHARE * speed) ** 2, LEAST_STRAIN * law.cohesion, SURFACE_STRAIN * surface_stress)
    return _rounded_up(min(modulus, GREATEST_MODULUS))


def follows_speed(scene: Scene, name: str) -> bool:
    """Whether the bulk modulus of a material rises with the speeds that occur, up to that of `settled_law`."""
    material = scene.materials[name]
    is_automatic = isinstance(material.law, Water) and material.law.stiffness == AUTOMATIC
    return is_automatic and material.animation is None and "bulk_modulus" not in material.curves


def modulus_at(scene: Scene, name: str, speed: float) -> float:
    """The bulk modulus [Pa] of a material that `follows_speed`, for a speed [m/s]; at most that of `settled_law`."""
    law = settled_law(scene, name)
    assert isinstance(law, Water)
    return min(_modulus(scene, name, law, surface_stress_of(scene, name), speed), law.bulk_modulus)


def starting_speed(scene: Scene) -> float:
    """The speed that moduli have to hold for at first [m/s]: that of emission, and of a fall over the height of an emitter.

    Under water of the depth H, K = rho (10 v)^2 with v^2 = 2 g H, so its weight compresses it by half a percent at most. Where a vessel
    tilts, the water in it is as deep as it would be if it turned with it.
    """
    tracks = [(each, _track(scene, each)) for each in scene.emitters]
    strongest = max(weight for weight, _ in _gravities(scene))
    speeds = [LEAST_SHARE * reachable_speed(scene), *(_thrown(scene, each) for each in scene.colliders if each.is_ever_enabled)]
    for emitter, track in tracks:
        boxes = [track.boxes[0] @ turn.T for turn in (np.eye(3), *_turns(scene, track))]
        deep = max(float(np.ptp(box @ up)) for _, up in _gravities(scene) for box in boxes)
        speeds.append(math.hypot(_initial_speed(scene, emitter, track), math.sqrt(2.0 * strongest * deep)))
    return max(speeds)


def _turns(scene: Scene, emitter: "_Track") -> Iterator[Floats]:
    """How colliders turn that an emitter's matter may be in, or on, from their first pose (3, 3)."""
    low, high = emitter.boxes[0].min(axis=0), emitter.boxes[0].max(axis=0)
    for collider in scene.colliders:
        if not collider.is_ever_enabled or collider.motion is None or collider.motion.matrices is None:
            continue
        corners = _track(scene, collider).boxes[0]
        if np.isfinite(corners).all() and ((corners.min(axis=0) <= high) & (low <= corners.max(axis=0))).all():
            poses = np.asarray(collider.motion.matrices, np.float64)[:, :3, :3]
            first = np.linalg.inv(poses[0])
            chosen = np.unique(np.linspace(0, len(poses) - 1, STEPS).round().astype(np.int64))
            yield from (pose @ first for pose in poses[chosen])


def surface_stress_of(scene: Scene, name: str) -> float:
    """The greatest surface tension of a material over the cell size [Pa]: its stress where it acts, in a layer of about a cell."""
    material = scene.materials[name]
    keys = () if material.animation is None else material.animation.values.get("surface_tension", ())
    points = material.curves.get("surface_tension", ())
    values = [*(float(key) for key in keys), *(value for _, value in points)]
    return max([getattr(material.law, "surface_tension", 0.0), *values]) / scene.solver.grid_spacing


def settled_moduli(scene: Scene) -> dict[str, float]:
    """The bulk moduli that follow from the scene: material -> [Pa]."""
    laws = {name: settled_law(scene, name) for name in scene.materials}
    return {name: law.bulk_modulus for name, law in laws.items() if isinstance(law, Water) and law is not scene.materials[name].law}


def modulus_text(name: str, modulus: float) -> str:
    """A bulk modulus that follows from the scene, in words."""
    unit, factor = next(((unit, factor) for unit, factor in (("GPa", 1e9), ("MPa", 1e6), ("kPa", 1e3)) if modulus >= factor), ("Pa", 1.0))
    return f"{name}: bulk modulus {float(f'{modulus / factor:.2g}'):g} {unit} at most, for the speeds in this scene"


def reachable_speed(scene: Scene) -> float:
    """The greatest speed that fluids of a scene can be expected to reach [m/s]."""
    return _known_speed(scene) or SLOW


def _known_speed(scene: Scene) -> float:
    """The greatest speed that follows from a scene [m/s], found once for a scene; 0 if nothing moves at first and nothing falls."""
    key = -1, "reachable_speed"
    if key not in scene.prepared:
        scene.prepared[key] = _reachable_speed(scene)
    return scene.prepared[key]


class _Track(NamedTuple):
    """An object during its animation.

    Attributes:
        boxes: the corners of its bounding box, which turns with it, at given frames [m], (k, 8, 3); infinite for a plane.
        speed: the greatest speed of its points [m/s].
    """

    boxes: Floats
    speed: float

    def rise(self, up: Floats) -> float:
        """How far it lifts what it carries [m]."""
        along = self.boxes @ up
        return float(max(0.0, *(ends.max() - ends[0] for ends in (along.min(axis=1), along.max(axis=1)))))

    def heights(self, up: Floats) -> tuple[float, float]:
        """Its lowest and highest place along a direction [m]."""
        along = self.boxes @ up
        return float(along.min()), float(along.max())


def _reachable_speed(scene: Scene) -> float:
    colliders = [each for each in scene.colliders if each.is_ever_enabled]
    emitters = [(each, _track(scene, each)) for each in scene.emitters]
    tracks = [(each, _track(scene, each)) for each in colliders]
    initial = max(
        [*(_initial_speed(scene, each, track) for each, track in emitters), *(_thrown(scene, each) for each in colliders)], default=0.0
    )
    pushed = max((track.speed for _, track in tracks), default=0.0)
    fallen = max(math.sqrt(2.0 * weight * _fall(scene, up, [track for _, track in emitters], tracks)) for weight, up in _gravities(scene))
    driven = _driven_speed(scene, [track for _, track in emitters])
    return max(math.hypot(initial, fallen, driven) + pushed, DRIVEN if driven > 0.0 else 0.0)


def _driven_speed(scene: Scene, emitters: list[_Track]) -> float:
    """The speed that force fields give matter that they push through its own extent [m/s]; drag only brakes."""
    fields = [each for each in scene.forces if each.kind != "drag" and _strongest(each) > 0.0]
    if not fields or not emitters:
        return 0.0
    points = np.concatenate([track.boxes.reshape(-1, 3) for track in emitters])
    extent = float(np.linalg.norm(np.ptp(points, axis=0)))
    return math.sqrt(2.0 * extent * sum(_strongest(each) for each in fields))


def _strongest(force: Force) -> float:
    given = {} if force.animation is None else force.animation.values
    is_on = bool(given["enabled"].any()) if "enabled" in given else force.enabled
    return float(np.abs(given.get("strength", force.strength)).max()) if is_on else 0.0


def _rounded_up(value: float) -> float:
    """A value with two digits, at least as large."""
    step = 10.0 ** (math.floor(math.log10(value)) - _DIGITS + 1)
    return math.ceil(value / step * (1.0 - 1e-9)) * step


def _greatest_density(emitter: Emitter) -> float:
    """The greatest factor on the density of an emitter's particles."""
    painted = {} if emitter.painting is None else emitter.painting.values
    return emitter.mass_scale * float(np.max(painted.get("density", 1.0)))


def _track(scene: Scene, item: Emitter | Collider) -> _Track:
    motion, (low, high) = item.motion, item.shape.bounds()
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    if motion is None:
        return _Track(corners[None], 0.0)
    frames = np.asarray(motion.frames, np.float64)
    starts = np.unique(np.linspace(0, max(len(frames) - 2, 0), STEPS).round().astype(np.int64))
    seconds = np.diff(frames)[starts] * scene.time.frame_seconds if len(frames) > 1 else np.zeros(0)
    boxes, ways = [], []
    for start in starts:
        ends = [_points(item, corners, number) for number in (start, min(start + 1, len(frames) - 1))]
        boxes += [_corners_around(each) if motion.matrices is None else each for each in ends]
        ways.append(float(np.linalg.norm(np.where(np.isfinite(ends[0]), ends[1] - ends[0], 0.0), axis=1).max()))
    speeds = [way / step for way, step in zip(ways, seconds, strict=False)]
    return _Track(np.array(boxes), max(speeds, default=0.0))


def _points(item: Emitter | Collider, corners: Floats, number: int) -> Floats:
    """The vertices of a deforming mesh or the corners of another shape in the world, at a given frame [m], (n, 3)."""
    motion = item.motion
    assert motion is not None
    if motion.matrices is None:
        assert motion.vertices is not None
        return np.asarray(motion.vertices[number], np.float64)
    matrix = motion.matrices[number]
    # of an unbounded shape, only the origin moves in a way that can be told
    return np.where(np.isfinite(corners), corners, 0.0) @ matrix[:3, :3].T + matrix[:3, 3]


def _corners_around(points: Floats) -> Floats:
    low, high = points.min(axis=0), points.max(axis=0)
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def _given(thing: Emitter | Scene, name: str) -> Floats:
    """The different values of a parameter at all keys, (k, components)."""
    holder = thing if isinstance(thing, Emitter) else thing.solver
    keys = [] if holder.animation is None or name not in holder.animation.values else list(holder.animation.values[name])
    return np.unique(np.array([np.atleast_1d(value) for value in [getattr(holder, name), *keys]], np.float64), axis=0)


def _gravities(scene: Scene) -> Iterator[tuple[float, Floats]]:
    """The strengths of gravity at keys [m/s^2], and the directions up, (3,)."""
    given = in_plane(_given(scene, "gravity"), scene)
    for gravity in given[np.unique(np.linspace(0, len(given) - 1, STEPS).round().astype(np.int64))]:
        weight = float(np.linalg.norm(gravity))
        yield weight, (-gravity / weight if weight > 0.0 else np.array([0.0, 0.0, 1.0]))


def _initial_speed(scene: Scene, emitter: Emitter, track: _Track) -> float:
    """The greatest speed with which an emitter's particles begin [m/s]."""
    radius = 0.5 * float(np.linalg.norm(np.ptp(track.boxes[0], axis=0)))
    turn = math.radians(_greatest(_given(emitter, "angular_velocity")))
    own = track.speed * max(1.0, _greatest(_given(emitter, "inherit_velocity")))
    thrown = _greatest(in_plane(_given(emitter, "velocity"), scene)) + _greatest(_given(emitter, "normal_velocity")) + turn * radius
    if isinstance(emitter.shape, Points) and emitter.shape.velocity is not None:
        thrown += _greatest(in_plane(emitter.shape.velocity, scene))
    return thrown + own + DEVIATIONS * emitter.velocity_spread


def _thrown(scene: Scene, collider: Collider) -> float:
    """The speed with which a rigid body begins [m/s]."""
    if not collider.dynamic:
        return 0.0
    radius = 0.5 * float(np.linalg.norm(np.ptp(collider.shape.bounds(), axis=0)))
    turn = math.radians(float(np.linalg.norm(collider.angular_velocity)))
    return float(np.linalg.norm(in_plane(collider.velocity, scene))) + turn * radius


def _greatest(vectors: Floats) -> float:
    return float(np.linalg.norm(vectors, axis=1).max(initial=0.0))


def _fall(scene: Scene, up: Floats, emitters: list[_Track], colliders: list[tuple[Collider, _Track]]) -> float:
    """The height from the highest place that matter starts at, or is carried to, down to the lowest that can stop it [m]."""
    if not emitters:
        return 0.0
    bodies = [track for each, track in colliders if each.dynamic and not isinstance(each.shape, Plane)]
    lift = max((track.rise(up) for each, track in colliders if each.motion is not None), default=0.0)
    top = max(track.heights(up)[1] for track in (*emitters, *bodies)) + lift
    own = min(track.heights(up)[0] for track in emitters)
    levels = [own, *_walls(scene, up)]
    for collider, track in colliders:
        levels += _levels(collider, track, up, emitters)
    # nothing falls through an unbounded floor
    floors = [each for each in _floors(colliders, up, emitters) if each <= own]
    return top - max([min(level for level in levels if level <= top), *floors])


def _floors(colliders: list[tuple[Collider, _Track]], up: Floats, emitters: list[_Track]) -> Iterator[float]:
    """The heights of level planes that are always there [m]."""
    for collider, _ in colliders:
        plane, is_fixed = collider.shape, collider.motion is None and collider.animation is None and not collider.dynamic
        if isinstance(plane, Plane) and is_fixed and up @ np.asarray(plane.normal) > LEVEL * np.linalg.norm(plane.normal):
            yield min(_levels_of_plane(plane, np.eye(4), up, emitters))


def _levels(collider: Collider, track: _Track, up: Floats, emitters: Iterable[_Track]) -> Iterator[float]:
    """The heights at which a collider stops what falls on it, or into it, at the lowest [m]."""
    if isinstance(collider.shape, Plane):
        matrices = [np.eye(4)] if collider.motion is None or collider.motion.matrices is None else collider.motion.matrices
        for matrix in (matrices[0], matrices[-1]):
            yield from _levels_of_plane(collider.shape, matrix, up, emitters)
    elif collider.motion is not None:
        # what it holds falls at most to where its lowest corner gets
        yield track.heights(up)[0]
    elif isinstance(collider.shape, Mesh):
        yield _lowest_stop(collider.shape, up, track.heights(up)[0])
    else:
        # what lies below all of an emitter is ground; down the sides of others, matter runs
        low, high = track.heights(up)
        yield high if any(_is_over(each, track, up) for each in emitters) else 0.5 * (low + high)


def _is_over(emitter: _Track, ground: _Track, up: Floats) -> bool:
    """Whether an emitter is above a collider, and does not reach beyond it on any side."""
    across = np.abs(up) < UPWARD
    matter, below = (track.boxes.reshape(-1, 3)[:, across] for track in (emitter, ground))
    return bool((below.min(axis=0) <= matter.min(axis=0)).all() and (matter.max(axis=0) <= below.max(axis=0)).all())


def _levels_of_plane(plane: Plane, matrix: Floats, up: Floats, emitters: Iterable[_Track]) -> Iterator[float]:
    """The heights of a plane below the middle of emitters [m]."""
    normal = np.linalg.inv(matrix[:3, :3]).T @ np.asarray(plane.normal, np.float64)
    point, normal = matrix[:3, :3] @ np.asarray(plane.point) + matrix[:3, 3], normal / np.linalg.norm(normal)
    if abs(normal @ up) < UPWARD:
        return
    for track in emitters:
        middle = track.boxes[0].mean(axis=0)
        yield float(middle @ up - (middle - point) @ normal / (normal @ up))


def _lowest_stop(mesh: Mesh, up: Floats, lowest: float) -> float:
    """The height of a mesh's lowest face that stops what falls [m]; its lowest corner if none does."""
    # the first faces of the closed mesh are its own, turned outward
    corners = np.asarray(mesh.vertices, np.float64)[mesh.closed.triangles[: len(mesh.triangles)]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = normals @ up
    # a sheet has no inside, and stops from both sides
    facing = facing if mesh.opening() == 0.0 else np.abs(facing)
    stops = facing > UPWARD * np.linalg.norm(normals, axis=1)
    return float((corners[stops] @ up).min()) if stops.any() else lowest


def _walls(scene: Scene, up: Floats) -> Iterator[float]:
    """The lowest corner of the domain, if its side there is closed [m]."""
    corners = scene.domain.corners
    if corners is not None:
        axis = int(np.abs(up).argmax())
        if scene.domain.sides[f"{'xyz'[axis]}_{'min' if up[axis] > 0.0 else 'max'}"].surface != "open":
            yield float(np.where(up > 0.0, *corners) @ up)
