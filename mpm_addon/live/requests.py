"""Requests of the controlling process: a small JSON file that is replaced as a whole. Only the newest version counts.

{"run": 1, "until": 12, "things": {"Empty": {"matrix": [[...]], "values": {"strength": -20}}}, "gravity": [0, 0, -9.81]}
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..core.errors import SceneError
from ..storage.atomic import write_atomically
from ..storage.plain_files import parse_json, read_plain

_MOST_BYTES = 4_000_000
# A frame that is never reached: simulate without waiting.
NO_FRAME = 2**31 - 1


def _request(default: Any, words: str, *kinds: type) -> Any:
    """A request with its default, the types of its value in JSON, and what these are in words."""
    given: dict[str, Any] = {"default_factory": default} if callable(default) else {"default": default}
    return field(**given, metadata={"words": words, "kinds": kinds})


@dataclass(frozen=True)
class Requests:
    """The requests to a live simulation.

    Attributes:
        run: another number starts over at the first frame.
        until: the last frame to simulate for now.
        scene: a scene file or its folder for this run and later ones; the original one if empty.
        things: name of a collider or force -> the arguments of `Steering.steer`.
        gravity: [m/s^2]; None for the scene's.
    """

    run: int = _request(1, "a whole number", int)
    until: int = _request(NO_FRAME, "a frame number", int)
    scene: str = _request("", "a path", str)
    things: Mapping[str, Mapping[str, Any]] = _request(dict, "an object", dict)
    gravity: tuple[float, float, float] | None = _request(None, "three numbers", list, type(None))


_DECLARED = {each.name: each.metadata for each in fields(Requests)}
_THING = ("matrix", "center", "values")


def write_requests(path: Path, requests: Requests) -> None:
    """Replace the requests. Raises OSError."""
    text = json.dumps(asdict(requests)).encode()
    write_atomically(path, lambda file: file.write(text), is_durable=False)


class RequestReader:
    """Reads requests when they change."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None

    def changed(self) -> Requests | None:
        """The requests if they have changed since the last call, else None. Raises SceneError."""
        try:
            found = os.stat(self._path)
            seen = (found.st_mtime_ns, found.st_size, found.st_ino)
            if seen == self._seen:
                return None
            text = read_plain(self._path, _MOST_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SceneError(f"it cannot be read ({error.strerror or error})", "check its permissions", subject=str(self._path)) from error
        self._seen = seen
        return _parsed(text, self._path)


def _parsed(text: bytes, path: Path) -> Requests:
    try:
        told = parse_json(text)
    except ValueError as error:
        raise SceneError(f"it is not JSON ({error})", 'write an object such as {"things": {}}', subject=str(path)) from error
    if not isinstance(told, dict):
        raise SceneError("it is not a JSON object", 'write one such as {"things": {}}', subject=str(path))
    for name, value in told.items():
        if name not in _DECLARED:
            raise SceneError(f'"{name}" is unknown', f"use {', '.join(_DECLARED)}", subject=str(path))
        if not isinstance(value, _DECLARED[name]["kinds"]) or isinstance(value, bool):
            raise SceneError(f'"{name}" is {json.dumps(value)[:40]}', f"use {_DECLARED[name]['words']}", subject=str(path))
    for name, request in told.get("things", {}).items():
        unknown = next((key for key in request if key not in _THING), None) if isinstance(request, dict) else "it"
        if unknown is not None or not isinstance(request.get("values", {}), dict):
            raise SceneError(
                f'things: "{name}": {unknown or "values"} is wrong', f"use an object with {', '.join(_THING)}", subject=str(path)
            )
        wrong = next((key for key, value in request.get("values", {}).items() if not isinstance(value, (int, float))), None)
        if wrong is not None:
            raise SceneError(f'things: "{name}": {wrong} is not a number', "use a number", subject=str(path))
    return Requests(**told)
