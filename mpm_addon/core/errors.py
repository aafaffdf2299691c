"""The errors that a user can cause. Each message names the object, the value, the limit and the remedy in one line."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .failure import Failure

# Characters of a message; a name from a file may have millions.
LONGEST = 1000


def one_line(text: str) -> str:
    """A text as it can be shown anywhere: on one line, without control characters, and no longer than `LONGEST`."""
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]} ... {text[-LONGEST // 3 :]}"
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    return " " if letter.isspace() else letter.encode("unicode_escape").decode()


class MpmError(Exception):
    """Base of every error that the command line and the operators turn into one line; its text is one."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class SceneError(MpmError):
    """The description of a scene is wrong: a value out of range, a missing file, an impossible shape."""


class PresetError(MpmError):
    """A preset is missing or malformed."""


class CacheError(MpmError):
    """A cache cannot be read or written, or belongs to another scene."""


class UnstableError(MpmError):
    """The simulation cannot go on: no step is short enough.

    Attributes:
        failure: what became of which particles, where it is known.
    """

    def __init__(self, message: str, failure: "Failure | None" = None) -> None:
        super().__init__(message)
        self.failure = failure


class Cancelled(MpmError):
    """The user asked the bake to stop."""


class Stopped(MpmError):
    """A bake came to a limit: of size, of time, or of the room on the disk.

    Attributes:
        reason: "size_limit", "time_limit" or "disk".
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
