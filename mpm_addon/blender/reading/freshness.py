"""Whether a scene has changed since its displayed frames were baked. The object that shows a cache stores a digest for each baked scene.

A take is identified by the hash of its scene, not by its number: a restarted bake reuses the number for other frames.
"""

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from ...storage.plain_files import parse_json
from ..host.blender_types import BlenderObject, BlenderScene
from ..host.runtime import OfFile, OfSession, runtime
from .fingerprint import fingerprint, is_comparable

# The interval between digests as a multiple of their duration, and its maximum [s].
REST = 20.0
CHEAP = 0.001
# Maximum number of baked scenes that are stored.
MOST = 64


class Freshness(Enum):
    """Whether frames match the current settings."""

    CURRENT = "the settings are those of the bake"
    OUTDATED = "the settings have changed"
    UNKNOWN = "the frames come from elsewhere"


@dataclass
class Digests(OfFile):
    """Scene and emitter -> time of the next digest, and the last digest."""

    of_scenes: dict[tuple[int, str], tuple[float, str]] = field(default_factory=dict)


@dataclass
class Baked(OfSession):
    """Hash of a scene baked by this Blender -> fingerprint of its settings."""

    fingerprints: dict[str, str] = field(default_factory=dict)


def digest(scene: BlenderScene, emitter_name: str = "") -> str:
    """The fingerprint of a scene, at most a few moments old."""
    key = (scene.session_uid, emitter_name)
    digests = runtime.of(Digests).of_scenes
    now = time.perf_counter()
    due, known = digests.get(key, (0.0, ""))
    if now < due:
        return known
    known = fingerprint(scene, emitter_name)
    after = time.perf_counter()
    took = after - now
    digests[key] = (after + (REST * took if took > CHEAP else 0.0), known)
    return known


def note(item: BlenderObject, scene_hash: str, value: str) -> None:
    """Store the settings with which a scene was baked, given its hash and their fingerprint; does nothing if either is unknown."""
    if not scene_hash or not value:
        return
    runtime.of(Baked).fingerprints[scene_hash] = value
    noted = _noted(item)
    noted.pop(scene_hash, None)
    noted[scene_hash] = value
    item.mpm.fingerprint = json.dumps(dict(list(noted.items())[-MOST:]))


def is_last(item: BlenderObject, scene_hash: str) -> bool:
    """Whether the last settings that an object stores are those of a scene with this hash."""
    return bool(scene_hash) and next(reversed(_noted(item)), "") == scene_hash


def note_known(item: BlenderObject, scene_hash: str) -> None:
    """Store what this Blender knows about a baked scene on an object."""
    note(item, scene_hash, runtime.of(Baked).fingerprints.get(scene_hash, ""))


def freshness_of(scene: BlenderScene, items: Iterable[BlenderObject], scene_hash: str) -> Freshness:
    """Whether a scene has changed since the displayed frames of objects were baked, given the hash of the baked scene."""
    found = {_of_item(scene, item, scene_hash) for item in items}
    return next((each for each in (Freshness.OUTDATED, Freshness.CURRENT) if each in found), Freshness.UNKNOWN)


def _of_item(scene: BlenderScene, item: BlenderObject, scene_hash: str) -> Freshness:
    value = _noted(item).get(scene_hash) or runtime.of(Baked).fingerprints.get(scene_hash)
    if not value:
        return Freshness.UNKNOWN
    return Freshness.CURRENT if value == digest(scene, item.mpm.emitter_name) else Freshness.OUTDATED


def are_comparable(text: str) -> bool:
    """Whether what an object stores is about these frames, and about the current set of settings."""
    return text.startswith("{") and all(is_comparable(value) for value in _remembered(text).values())


def _noted(item: BlenderObject) -> dict[str, str]:
    """Hash of a baked scene -> fingerprint."""
    return _remembered(item.mpm.fingerprint)


def _remembered(text: str) -> dict[str, str]:
    """What an object stores; empty if damaged, since it comes from the file."""
    try:
        found = parse_json(text) if text.startswith("{") else {}
    except ValueError:
        return {}
    return {key: value for key, value in found.items() if isinstance(value, str)}
