"""The errors that a user can cause. Each message names the object, the value, the limit and the remedy in one line."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .failure import Failure


class MpmError(Exception):
    """Base of every error that the command line and the operators turn into one line."""


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
