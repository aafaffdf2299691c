"""Which emitters' forces come from the rest state: those that ask for it, and of those that leave the choice, all that can. No numba."""

import numpy as np

from ..geometry.mesh_topology import components, loose_parts
from ..geometry.shapes import Mesh, Points
from ..laws import HyperelasticLaw, Law
from ..scene.bodies import body_of
from ..scene.description import Scene
from ..scene.emitter import Emitter
from ..scene.shape import Shape
from .schedule import frame_of_once

# points farther apart than this along an axis, with none between, are in different parts [cells]
LEAST_GAP = 3.0
LEAST_SCALE = 1e-9
# a mesh with more loose parts is taken for debris without comparing their boxes
MOST_PARTS = 1000


def rest_states(scene: Scene) -> tuple[bool, ...]:
    """Whether the forces on each emitter's particles come from their rest state, (emitters,)."""
    return tuple(_has_rest_state(scene, index) for index in range(len(scene.emitters)))


def why_current(scene: Scene, index: int) -> str:
    """Why an emitter has no rest state although its material leaves the choice; "" if it has, or if there is no choice."""
    numbers = [number for number in range(len(scene.emitters)) if body_of(scene, number) == body_of(scene, index)]
    others = [scene.emitters[number] for number in numbers]
    law = _law(scene, scene.emitters[index])
    if not isinstance(law, HyperelasticLaw) or law.reference != "automatic" or _given(scene, others) == {"rest"}:
        return ""
    if {emitter.mode for emitter in others} != {"once"}:
        return "it emits more than once"
    if not all(isinstance(_law(scene, emitter), HyperelasticLaw) for emitter in others) or "current" in _given(scene, others):
        return "its body includes materials without a rest state"
    if len({frame_of_once(emitter, scene) for emitter in others}) > 1:
        return "its body is emitted in parts"
    if any(_law(scene, emitter).tears for emitter in others):
        return "its torn pieces would pass through one another"
    if any(scene.materials[emitter.material].changes_instance for emitter in others):
        return "its material follows from its temperature"
    if any(collider.dynamic and collider.surface == "sticky" for collider in scene.colliders):
        return "a dynamic collider is sticky"
    if any(_is_in_parts(scene, number) for number in numbers):
        return "its loose parts would pass through one another"
    return ""


def current_reasons(scene: Scene) -> dict[str, str]:
    """What `why_current` says of each emitter of which it says something: name -> reason."""
    reasons = {emitter.name: why_current(scene, index) for index, emitter in enumerate(scene.emitters)}
    return {name: reason for name, reason in reasons.items() if reason}


def reason_text(name: str, reason: str) -> str:
    """A reason in words: "drops uses the current state as its reference, because it emits more than once"."""
    return name + " uses the current state as its reference, because " + reason


def _has_rest_state(scene: Scene, index: int) -> bool:
    law = _law(scene, scene.emitters[index])
    if not isinstance(law, HyperelasticLaw):
        return False
    return law.reference == "rest" or (law.reference == "automatic" and not why_current(scene, index))


def _is_in_parts(scene: Scene, index: int) -> bool:
    """Whether an emitter's shape has parts that do not touch; found once for a scene."""
    key = index, "is_in_parts"
    if key not in scene.prepared:
        emitter = scene.emitters[index]
        matrices = None if emitter.motion is None else emitter.motion.matrices
        scale = 1.0 if matrices is None else float(np.cbrt(abs(np.linalg.det(matrices[0, :3, :3]))))
        scene.prepared[key] = _has_parts(emitter.shape, LEAST_GAP * scene.solver.grid_spacing / max(scale, LEAST_SCALE))
    return scene.prepared[key]


def _has_parts(shape: Shape, gap: float) -> bool:
    """Whether a mesh has parts whose bounding boxes do not touch, or points have a gap [m] along an axis."""
    if isinstance(shape, Points):
        return any(bool((np.diff(np.sort(along)) > gap).any()) for along in np.asarray(shape.position, np.float64).T)
    if not isinstance(shape, Mesh):
        return False
    used = np.unique(shape.triangles)
    _, label = np.unique(loose_parts(shape.vertices, shape.triangles)[used], return_inverse=True)
    count = int(label.max()) + 1
    if count > MOST_PARTS:
        return True
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, label.ravel(), shape.vertices[used])
    np.maximum.at(high, label.ravel(), shape.vertices[used])
    starts, ends = np.nonzero((low[:, None] <= high).all(axis=2) & (low <= high[:, None]).all(axis=2))
    return bool(components(starts, ends, count).any())


def _given(scene: Scene, emitters: list[Emitter]) -> set[str]:
    """The references that emitters' materials do not leave open."""
    laws = [_law(scene, emitter) for emitter in emitters]
    return {law.reference for law in laws if isinstance(law, HyperelasticLaw)} - {"automatic"}


def _law(scene: Scene, emitter: Emitter) -> Law:
    return scene.materials[emitter.material].law
