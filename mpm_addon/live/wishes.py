"""What somebody who steers wants: a small JSON file that is replaced as a whole. The newest one counts; what was between is not asked for.

{"run": 1, "until": 12, "things": {"Empty": {"matrix": [[...]], "values": {"strength": -20}}}, "gravity": [0, 0, -9.81]}
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import SceneError
from ..storage.atomic import write_atomically
from ..storage.plain_files import parse_json, read_plain

_MOST_BYTES = 4_000_000
# A frame that is never reached: simulate as fast as it goes.
NO_FRAME = 2**31 - 1


@dataclass(frozen=True)
class Wishes:
    """What is wanted.

    Attributes:
        run: another number begins anew at the first frame.
        until: the last frame to simulate for now.
        scene: a scene file or its folder for the runs from this one on; the one that was begun with where it is empty.
        things: name of a collider or force -> the arguments of `Steering.steer`.
        gravity: [m/s^2]; the scene's where it is None.
    """

    run: int = 1
    until: int = NO_FRAME
    scene: str = ""
    things: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    gravity: tuple[float, float, float] | None = None


_KINDS: dict[str, tuple[type, ...]] = {"run": (int,), "until": (int,), "scene": (str,), "things": (dict,), "gravity": (list, type(None))}
_THING = ("matrix", "center", "values")


def write_wishes(path: Path, wishes: Wishes) -> None:
    """Replace the wishes. Raises OSError."""
    text = json.dumps(asdict(wishes)).encode()
    write_atomically(path, lambda file: file.write(text), is_durable=False)


class WishReader:
    """Reads wishes where they have changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None

    def changed(self) -> Wishes | None:
        """The wishes, if they are others than at the last call; None where not, or where there are none yet. Raises SceneError."""
        try:
            found = os.stat(self._path)
            seen = (found.st_mtime_ns, found.st_size, found.st_ino)
            if seen == self._seen:
                return None
            text = read_plain(self._path, _MOST_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SceneError(f"cannot be read ({error.strerror or error})", "check its permissions", subject=str(self._path)) from error
        self._seen = seen
        return _parsed(text, self._path)


def _parsed(text: bytes, path: Path) -> Wishes:
    try:
        told = parse_json(text)
    except ValueError as error:
        raise SceneError(f"is no JSON ({error})", 'write an object such as {"things": {}}', subject=str(path)) from error
    if not isinstance(told, dict):
        raise SceneError("is no JSON object", 'write one such as {"things": {}}', subject=str(path))
    for name, value in told.items():
        if name not in _KINDS:
            raise SceneError(f'{path}: "{name}" is unknown', f"use {', '.join(_KINDS)}")
        if not isinstance(value, _KINDS[name]) or isinstance(value, bool):
            raise SceneError(f'{path}: "{name}" is {json.dumps(value)[:40]}', f"use {_word(name)}")
    for name, wish in told.get("things", {}).items():
        unknown = next((key for key in wish if key not in _THING), None) if isinstance(wish, dict) else "it"
        if unknown is not None or not isinstance(wish.get("values", {}), dict):
            raise SceneError(
                f'things: "{name}": {unknown or "values"} is wrong', f"use an object with {', '.join(_THING)}", subject=str(path)
            )
        wrong = next((key for key, value in wish.get("values", {}).items() if not isinstance(value, (int, float))), None)
        if wrong is not None:
            raise SceneError(f'things: "{name}": {wrong} is no number', "use one", subject=str(path))
    return Wishes(**told)


def _word(name: str) -> str:
    return {"run": "a whole number", "until": "a frame number", "scene": "a path", "things": "an object", "gravity": "three numbers"}[name]
