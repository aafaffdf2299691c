"""The bulk modulus of fluids that follows from a scene: high enough for the greatest speed that a fluid can reach there. Plain numpy.

Weakly compressible water is as stiff as it has to be, not as in nature: waves ten times as fast as the water change its density by at most
about a percent (Monaghan 1994). Water that falls by H reaches sqrt(2 g H), so waves cross the cells of a glass and of a swimming pool
equally often in the time of such a fall. A modulus that is too high costs substeps, and each substep smooths the motion a little.

Everything here depends only on what the scene's hash contains, not on its last frame: a longer bake has the same moduli.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..geometry.motion import velocity_at
from ..geometry.rotation import Floats
from ..geometry.shapes import Mesh, Plane
from ..laws import Law, Water
from ..laws.water import AUTOMATIC, GIVEN
from ..scene.description import Collider, Emitter, Scene
from .placement import bounds_at, in_world

# the wave speed over the greatest speed
SOUND_SHARE = 10.0
# the compression modulus of water in nature [Pa]
GREATEST_MODULUS = 2.2e9
# speeds where the scene tells nothing: without gravity and initial speed, and with force fields [m/s]
SLOW, DRIVEN = 1.0, 4.5
# of random velocities, this many standard deviations count
DEVIATIONS = 3.0
# faces that point upward by more than this, the cosine to the vertical, can stop what falls
UPWARD = 0.1
_DIGITS = 2


def settled_law(scene: Scene, name: str) -> Law:
    """The law of a material, with the bulk modulus that it leaves to the scene."""
    law = scene.materials[name].law
    if not isinstance(law, Water) or law.stiffness != AUTOMATIC:
        return law
    heaviest = max((emitter.mass_scale for emitter in scene.emitters if emitter.material == name), default=1.0)
    modulus = law.density * heaviest * (SOUND_SHARE * reachable_speed(scene)) ** 2
    return replace(law, bulk_modulus=min(_rounded_up(modulus), GREATEST_MODULUS), stiffness=GIVEN)


def settled_moduli(scene: Scene) -> dict[str, float]:
    """The bulk moduli that follow from the scene: material -> [Pa]."""
    laws = {name: settled_law(scene, name) for name in scene.materials}
    return {name: law.bulk_modulus for name, law in laws.items() if isinstance(law, Water) and law is not scene.materials[name].law}


def modulus_text(name: str, modulus: float) -> str:
    """A bulk modulus that follows from the scene, in words."""
    return f"{name}: bulk modulus {modulus:.2g} Pa, for the speeds in this scene"


def reachable_speed(scene: Scene) -> float:
    """The greatest speed that fluids of a scene can be expected to reach [m/s], found once for a scene."""
    key = -1, "reachable_speed"
    if key not in scene.prepared:
        scene.prepared[key] = _reachable_speed(scene)
    return scene.prepared[key]


def _reachable_speed(scene: Scene) -> float:
    initial = max((_initial_speed(scene, emitter) for emitter in scene.emitters), default=0.0)
    pushed = max((_own_speed(scene, collider) for collider in scene.colliders), default=0.0)
    fallen = max(math.sqrt(2.0 * weight * _fall(scene, up)) for weight, up in _gravities(scene))
    speed = math.hypot(initial, fallen) + pushed
    return max(speed or SLOW, DRIVEN if scene.forces else 0.0)


def _rounded_up(value: float) -> float:
    """A value with two digits, at least as large."""
    step = 10.0 ** (math.floor(math.log10(value)) - _DIGITS + 1)
    return math.ceil(value / step * (1.0 - 1e-9)) * step


def _given(thing: Emitter | Scene, name: str) -> Floats:
    """The values of a parameter at all keys, (k, components)."""
    animation = thing.animation if isinstance(thing, Emitter) else thing.solver.animation
    holder = thing if isinstance(thing, Emitter) else thing.solver
    keys = [] if animation is None or name not in animation.values else list(animation.values[name])
    return np.array([np.atleast_1d(value) for value in [getattr(holder, name), *keys]], np.float64)


def _gravities(scene: Scene) -> Iterator[tuple[float, Floats]]:
    """The strengths of gravity at all keys [m/s^2], and the directions up, (3,)."""
    for gravity in _given(scene, "gravity"):
        weight = float(np.linalg.norm(gravity))
        yield weight, (-gravity / weight if weight > 0.0 else np.array([0.0, 0.0, 1.0]))


def _initial_speed(scene: Scene, emitter: Emitter) -> float:
    radius = 0.5 * float(np.linalg.norm(np.ptp(emitter.shape.bounds(), axis=0)))
    turn = math.radians(_greatest(_given(emitter, "angular_velocity")))
    own = _own_speed(scene, emitter) * max(1.0, _greatest(_given(emitter, "inherit_velocity")))
    thrown = _greatest(_given(emitter, "velocity")) + _greatest(_given(emitter, "normal_velocity")) + turn * radius
    return thrown + own + DEVIATIONS * emitter.velocity_spread


def _greatest(vectors: Floats) -> float:
    return float(np.linalg.norm(vectors, axis=1).max())


def _frames(item: Emitter | Collider, scene: Scene) -> Floats:
    return np.array([float(scene.time.frame_start)]) if item.motion is None else np.asarray(item.motion.frames, np.float64)


def _own_speed(scene: Scene, item: Emitter | Collider) -> float:
    """The greatest speed of a point of an object with a given motion [m/s]."""
    motion, rate = item.motion, 1.0 / scene.time.frame_seconds
    if motion is None:
        return 0.0
    if motion.matrices is None:
        assert motion.vertices is not None
        steps = zip(motion.vertices[:-1], motion.vertices[1:], np.diff(motion.frames), strict=True)
        return max((rate / step * _greatest(np.asarray(end, np.float64) - start) for start, end, step in steps), default=0.0)
    speeds = [0.0]
    for frame in motion.frames:
        pose, velocity, turn = velocity_at(motion, float(frame), rate)
        reach = np.abs(bounds_at(item, float(frame)) - pose[:3, 3]).max(axis=0)
        speeds.append(float(np.linalg.norm(velocity) + np.linalg.norm(turn) * np.linalg.norm(reach)))
    return max(speeds)


def _fall(scene: Scene, up: Floats) -> float:
    """The height from the highest place that matter starts at, or is carried to, down to the lowest that can stop it [m]."""
    carriers = [each for each in scene.colliders if each.motion is not None or each.dynamic]
    boxes = [bounds_at(each, float(frame)) for each in (*scene.emitters, *carriers) for frame in _frames(each, scene)]
    heights = np.array([_heights(box, up) for box in boxes if np.isfinite(box).all()]).reshape(-1, 2)
    if not len(heights):
        return 0.0
    top = float(heights[:, 1].max())
    own = min((_heights(bounds_at(each, float(frame)), up)[0] for each in scene.emitters for frame in _frames(each, scene)), default=top)
    levels = [own, *(level for each in scene.colliders for level in _levels(scene, each, up)), *_walls(scene, up)]
    return top - min(level for level in levels if level <= top)


def _heights(box: Floats, up: Floats) -> tuple[float, float]:
    """The lowest and the highest corner of a box along a direction [m]."""
    middle, half = box.mean(axis=0) @ up, 0.5 * np.ptp(box, axis=0) @ np.abs(up)
    return float(middle - half), float(middle + half)


def _levels(scene: Scene, collider: Collider, up: Floats) -> Iterator[float]:
    """The height at which a collider stops what falls on it, or into it, at the lowest [m]."""
    if isinstance(collider.shape, Plane):
        yield from _levels_of_plane(scene, collider, collider.shape, up)
        return
    lows = [_heights(bounds_at(collider, float(frame)), up) for frame in _frames(collider, scene)]
    if collider.motion is not None:
        # what it holds falls at most to where its lowest corner gets
        yield min(low for low, _ in lows)
    elif isinstance(collider.shape, Mesh):
        yield _lowest_stop(collider.shape, up, lows[0][0])
    else:
        yield 0.5 * sum(lows[0])


def _lowest_stop(mesh: Mesh, up: Floats, lowest: float) -> float:
    """The height of a mesh's lowest face that stops what falls [m]; its lowest corner if none does."""
    # the first faces of the closed mesh are its own, turned outward
    corners = np.asarray(mesh.vertices, np.float64)[mesh.closed.triangles[: len(mesh.triangles)]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = normals @ up
    # a sheet has no inside, and stops from both sides
    facing = facing if mesh.opening() == 0.0 else np.abs(facing)
    stops = facing > UPWARD * np.linalg.norm(normals, axis=1)
    return float((corners[stops] @ up).max(axis=1).min()) if stops.any() else lowest


def _levels_of_plane(scene: Scene, collider: Collider, plane: Plane, up: Floats) -> Iterator[float]:
    """The heights of a plane below the emitters [m]."""
    for frame in _frames(collider, scene):
        point, tip = in_world(collider, float(frame), np.array([plane.point, np.add(plane.point, plane.normal)]))
        normal = (tip - point) / np.linalg.norm(tip - point)
        if abs(normal @ up) < UPWARD:
            continue
        for emitter in scene.emitters:
            middle = bounds_at(emitter, float(_frames(emitter, scene)[0])).mean(axis=0)
            yield float(middle @ up - (middle - point) @ normal / (normal @ up))


def _walls(scene: Scene, up: Floats) -> Iterator[float]:
    """The lowest corner of the domain, if its sides are closed [m]."""
    corners = scene.domain.corners
    if corners is not None:
        axis = int(np.abs(up).argmax())
        if scene.domain.sides[f"{'xyz'[axis]}_{'min' if up[axis] > 0.0 else 'max'}"].surface != "open":
            yield _heights(np.array(corners), up)[0]
