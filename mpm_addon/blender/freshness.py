"""Whether a scene has changed since what is shown of it was baked. The object that shows a cache remembers it of every take."""

import json
import time

from ..storage.plain_files import parse_json
from .blender_types import BlenderObject, BlenderScene
from .fingerprint import fingerprint, is_comparable

# A digest is taken again after so many times what it took, and what it may take in any case [s].
REST = 20.0
CHEAP = 0.001
# The takes that are remembered at the most.
MOST = 64
# What stands for any take, where it is not known which.
_ANY = ""

# Scene and emitter -> when the next digest is due, and the last one.
_digests: dict[tuple[int, str], tuple[float, str]] = {}


def digest(scene: BlenderScene, emitter_name: str = "") -> str:
    """The fingerprint of a scene, not more than a few moments old."""
    key = (scene.session_uid, emitter_name)
    now = time.perf_counter()
    due, known = _digests.get(key, (0.0, ""))
    if now < due:
        return known
    known = fingerprint(scene, emitter_name)
    after = time.perf_counter()
    took = after - now
    _digests[key] = (after + (REST * took if took > CHEAP else 0.0), known)
    return known


def note(item: BlenderObject, take: int | None, value: str) -> None:
    """Remember with which settings a take was baked, given their fingerprint; `take` is None where it is not known."""
    noted = {} if take is None else _noted(item)
    noted.pop(_ANY, None)
    noted[_ANY if take is None else str(take)] = value
    item.mpm.fingerprint = json.dumps(dict(list(noted.items())[-MOST:]))


def is_outdated(scene: BlenderScene, item: BlenderObject, take: int | None) -> bool:
    """Whether a scene has changed since the take that an object shows was baked; no where that is not known."""
    noted = _noted(item)
    value = noted.get(str(take), noted.get(_ANY, ""))
    return bool(value) and value != digest(scene, item.mpm.emitter_name)


def are_comparable(text: str) -> bool:
    """Whether what an object remembers was made of the settings that there are today."""
    return all(is_comparable(value) for value in _remembered(text).values())


def forget() -> None:
    """Forget all scenes."""
    _digests.clear()


def _noted(item: BlenderObject) -> dict[str, str]:
    """Take -> fingerprint."""
    return _remembered(item.mpm.fingerprint)


def _remembered(text: str) -> dict[str, str]:
    """Take -> fingerprint; files of earlier versions hold a fingerprint alone."""
    if not text.startswith("{"):
        return {_ANY: text} if text else {}
    try:
        found = parse_json(text)
    except ValueError:
        return {}
    return {key: value for key, value in found.items() if isinstance(value, str)}
