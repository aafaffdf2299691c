"""The status that a bake publishes in status.json for other processes, and the requests of these to the bake."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..core.errors import CacheError
from ..core.messages import NOTHING, Message, SceneWarning, Topic, message_of, one_line
from .lock import is_held
from .plain_files import parse_json, read_plain

STATUS = "status.json"
CANCEL = "cancel"
PAUSE = "pause"
_RUNNING = ("running", "paused")
_MOST_BYTES = 1_000_000
# the keys of a warning
_WARNING = SceneWarning(Topic.SETTINGS, NOTHING).fields().keys()


class BakeStatus(NamedTuple):
    """The status of a bake.

    Attributes:
        state: "running", "paused", "done", "cancelled", "stopped" (by a limit), "error", or "interrupted": the file says that the bake is
            running, but its process has ended.
        message: its last message; `NOTHING` while it runs.
        done: cached frames, of `total`.
        frame: the current or last frame; None if there is none.
        fraction: the completed share of that frame, 0 to 1.
        told: the contents of the file; see docs/formats.md.
    """

    state: str
    message: Message
    done: int
    total: int
    frame: int | None
    fraction: float
    told: dict[str, Any]

    @property
    def is_live(self) -> bool:
        """Whether a process is baking or paused."""
        return self.state in _RUNNING

    @property
    def warnings(self) -> tuple[Message, ...]:
        """The bake's warnings."""
        told = self.told.get("warnings")
        found = [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
        return tuple(map(message_of, found))


def read_status(folder: Path) -> BakeStatus | None:
    """The status in a cache's status.json; None if there is no readable one."""
    told = _read(folder)
    if told is None:
        return None
    if told.get("state") in _RUNNING and not is_held(folder, told):
        # it may have ended between reading the status and checking the lock
        told = _read(folder) or told
        if told.get("state") in _RUNNING:
            told = {**told, "state": "interrupted"}
    return BakeStatus(
        state=str(told.get("state", "")),
        message=message_of(told),
        done=_whole(told.get("done")) or 0,
        total=_whole(told.get("total")) or 0,
        frame=_whole(told.get("frame")),
        fraction=float(told["fraction"]) if isinstance(told.get("fraction"), (int, float)) else 0.0,
        told=told,
    )


def recorded_warnings(folder: Path, scene_hash: str, frames: Sequence[int]) -> list[SceneWarning] | None:
    """The warnings that an earlier bake recorded; None if its scene or frames were different, or it did not check for warnings.

    Args:
        folder: the cache.
        scene_hash: hash of the scene.
        frames: the scene's first and last frame.
    """
    told = _read(folder) or {}
    warnings = told.get("warnings")
    if (told.get("scene_hash"), told.get("checked_frames")) != (scene_hash, list(frames)) or not isinstance(warnings, list):
        return None
    return [SceneWarning(Topic(each["topic"]), message_of(each)) for each in warnings] if all(map(_is_warning, warnings)) else None


def ask_to_cancel(folder: Path) -> None:
    """Ask the bake into a cache to stop. Raises CacheError."""
    with _asking(folder):
        (folder / CANCEL).touch()


def ask_to_pause(folder: Path, *, is_paused: bool) -> None:
    """Ask the bake into a cache to pause or to resume. Raises CacheError."""
    with _asking(folder):
        if is_paused:
            (folder / PAUSE).touch()
        else:
            (folder / PAUSE).unlink(missing_ok=True)


def is_asked_to_pause(folder: Path) -> bool:
    """Whether a bake into a cache has been asked to pause."""
    return (folder / PAUSE).exists()


@contextlib.contextmanager
def _asking(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CacheError(
            f"the bake cannot be controlled ({error.strerror})", "check the folder's permissions", subject=str(folder)
        ) from error


def status_words(status: BakeStatus) -> str:
    """A status in one line, with the remedy."""
    return one_line(_words(status))


def _words(status: BakeStatus) -> str:
    frames = f"{status.done} of {status.total} frames"
    host = status.told.get("host", "?")
    if status.state in _RUNNING:
        return f"{'Paused' if status.state == 'paused' else 'Baking'} on {host}, process {status.told.get('pid', '?')}: {frames}"
    if status.state == "interrupted":
        at = "" if status.frame is None else f" at frame {status.frame}"
        return f"Interrupted{at}: {frames} are cached; bake again to resume"
    if status.state == "done":
        return f"Baked: {frames}"
    words = status.message.text()
    return (words[:1].upper() + words[1:]).removesuffix(".") or status.state.capitalize()


def _read(folder: Path) -> dict[str, Any] | None:
    try:
        told = parse_json(read_plain(folder / STATUS, _MOST_BYTES))
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) else None


def _is_warning(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == _WARNING
        and all(isinstance(value[key], str) for key in ("topic", "subject", "message"))
        and value["topic"] in set(Topic)
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
