"""The objects that an artist can move during a live simulation: their current state, as the simulation needs it."""

import time
from typing import Any, NamedTuple

import numpy as np

from ...core.scene.animation import animatable_parameters
from ...core.scene.description import Collider, Scene
from ...core.scene.force import Force
from ..host.blender_types import BlenderObject, BlenderScene
from ..host.meshes import Floats, matrix_array
from ..reading.fingerprint import settings_state
from ..reading.forces import force_values, weights_of
from ..reading.motion import metric
from ..reading.simulated_objects import gravity_of, meters

_TOLERANCE = 1e-6
# Seconds between checks of the settings, and for which they must be stable before the simulation restarts.
_LOOK_SECONDS = 0.25
_SETTLED_SECONDS = 0.4
_NUMBERS = tuple(animatable_parameters(Force))


class _Movable(NamedTuple):
    """A movable object: its session UID, its initial pose, and the initial values of its field; None for a collider."""

    number: int
    start: Floats
    values: dict[str, Any] | None


class MovableObjects:
    """The unanimated colliders and force fields of a scene, which an artist can move.

    Args:
        scene: Blender's scene, at the frame at which it was read.
        described: the description that the simulation got.
    """

    def __init__(self, scene: BlenderScene, described: Scene) -> None:
        self._units = meters(scene)
        steady = {each.name for each in (*described.colliders, *described.forces) if _is_steady(each)}
        fields = {each.name for each in described.forces}
        self._movables: dict[str, _Movable] = {}
        for item in scene.objects:
            name = next((name for name in (item.name, item.name_full) if name in steady), None)
            matrix = matrix_array(item.matrix_world)
            if name is not None and abs(np.linalg.det(matrix[:3, :3])) > 0.0:
                self._movables[name] = _Movable(item.session_uid, matrix, self._values(item, scene) if name in fields else None)
        self._has_gravity = described.solver.animation is None
        self._gravity = gravity_of(scene)
        self._sent: set[str] = set()

    def things(self, scene: BlenderScene) -> dict[str, dict[str, Any]]:
        """Objects that have moved since the start, or had moved before, by name: see `Steering.steer`."""
        items = {item.session_uid: item for item in scene.objects}
        found = {}
        for name, movable in self._movables.items():
            item = items.get(movable.number)
            request = None if item is None else self._request(item, movable, scene, is_sent=name in self._sent)
            if request:
                found[name] = request
        self._sent |= found.keys()
        return found

    def gravity(self, scene: BlenderScene) -> tuple[float, ...] | None:
        """The gravity [m/s^2] if it has changed since the start, or had changed before; None otherwise."""
        now = gravity_of(scene)
        if not self._has_gravity or (now == self._gravity and "" not in self._sent):
            return None
        self._sent.add("")
        return now

    def settings(self, scene: BlenderScene) -> dict[str, Any]:
        """All other settings that affect the simulation: a change of these restarts it."""
        state = settings_state(scene)
        if self._has_gravity:
            del state["gravity"], state["settings"]["forces"]
        for thing in state["objects"]:
            if thing["name"] in self._movables and thing["settings"]["type"] == "collider":
                thing["place"].pop("matrix", None)
        for thing in state["fields"]:
            movable = self._movables.get(thing["place"]["name"])
            if movable is not None and movable.values is not None:
                thing["place"].pop("matrix", None)
                for part in ("field", "heat"):
                    if isinstance(thing[part], dict):
                        thing[part] = {key: value for key, value in thing[part].items() if not isinstance(value, float)}
        return state

    def _request(self, item: BlenderObject, movable: _Movable, scene: BlenderScene, *, is_sent: bool) -> dict[str, Any]:
        request: dict[str, Any] = {}
        now = matrix_array(item.matrix_world)
        if (is_sent or np.abs(now - movable.start).max() > _TOLERANCE) and abs(np.linalg.det(now[:3, :3])) > 0.0:
            request["matrix"] = metric(now @ np.linalg.inv(movable.start), self._units).tolist()
        if movable.values is not None:
            values = self._values(item, scene)
            changed = {name: value for name, value in values.items() if is_sent or value != movable.values.get(name)}
            if changed:
                request["values"] = {name: value for name, value in changed.items() if movable.values.get(name) is not None}
        return request

    def _values(self, item: BlenderObject, scene: BlenderScene) -> dict[str, Any]:
        said = force_values(item, weights_of(scene), self._units, f'Force "{item.name}"')
        return {name: value for name, value in said.items() if name in _NUMBERS and value is not None}


class SettingsWatch:
    """Notices when settings other than those of the movable objects change.

    Args:
        objects: the movable objects.
        scene: Blender's scene, as it was read.
    """

    def __init__(self, objects: MovableObjects, scene: BlenderScene) -> None:
        self._objects = objects
        self._settings = objects.settings(scene)
        self._changed_at: float | None = None
        self._next_look = 0.0

    def has_settled(self, scene: BlenderScene) -> bool:
        """Whether settings have changed and have been stable for a moment; checks only from time to time."""
        now = time.monotonic()
        if now < self._next_look:
            return False
        self._next_look = now + _LOOK_SECONDS
        settings = self._objects.settings(scene)
        if settings != self._settings:
            self._settings, self._changed_at = settings, now
            return False
        return self._changed_at is not None and now > self._changed_at + _SETTLED_SECONDS


def _is_steady(item: Collider | Force) -> bool:
    return item.motion is None and not (isinstance(item, Collider) and item.dynamic)
