"""The errors that a user can cause. Each names the object, the value, the limit and the remedy."""

from typing import TYPE_CHECKING, Self

from .messages import Action, Message, one_line

if TYPE_CHECKING:
    from .failure import Failure


class MpmError(Exception):
    """Base of every error that the command line and the operators turn into one line; its text is that of the command line.

    Attributes:
        message: what is wrong and what helps.
    """

    def __init__(self, problem: str, *remedies: str | Action, subject: str = "") -> None:
        self.message = Message(problem, remedies, subject)
        super().__init__(one_line(self.message.text()))

    @classmethod
    def of(cls, message: Message) -> Self:
        """The error that tells a message."""
        return cls(message.problem, *message.remedies, subject=message.subject)


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

    failure: "Failure | None" = None

    @classmethod
    def of_failure(cls, failure: "Failure") -> Self:
        """The error that tells a failure."""
        error = cls.of(failure.message)
        error.failure = failure
        return error


class Cancelled(MpmError):
    """The user asked the bake to stop."""


class Stopped(MpmError):
    """A bake came to a limit: of size, of time, or of the room on the disk.

    Attributes:
        reason: "size_limit", "time_limit" or "disk".
    """

    def __init__(self, reason: str, problem: str, *remedies: str | Action, subject: str = "") -> None:
        super().__init__(problem, *remedies, subject=subject)
        self.reason = reason
