"""Errors that a user can cause. Each names the object, the value, the limit and the remedy."""

from typing import TYPE_CHECKING, Self

from .messages import Action, Message, one_line

if TYPE_CHECKING:
    from .failure import Failure


class MpmError(Exception):
    """Base of every error that the command line and the operators report in one line; its text is the command line's.

    Attributes:
        message: the problem and its remedies.
    """

    def __init__(self, problem: str, *remedies: str | Action, subject: str = "") -> None:
        self.message = Message(problem, remedies, subject)
        super().__init__(one_line(self.message.text()))

    @classmethod
    def of(cls, message: Message) -> Self:
        """The error that carries a message."""
        return cls(message.problem, *message.remedies, subject=message.subject)


class SceneError(MpmError):
    """The description of a scene is wrong: a value out of range, a missing file, an impossible shape."""


class PresetError(MpmError):
    """A preset is missing or malformed."""


class CacheError(MpmError):
    """A cache cannot be read or written, or belongs to another scene."""


class UnstableError(MpmError):
    """The simulation cannot continue: no substep is short enough.

    Attributes:
        failure: the failure and the particles at fault, if known.
    """

    failure: "Failure | None" = None

    @classmethod
    def of_failure(cls, failure: "Failure") -> Self:
        """The error that carries a failure."""
        error = cls.of(failure.message)
        error.failure = failure
        return error


class Cancelled(MpmError):
    """The user asked the bake to stop."""


class Stopped(MpmError):
    """A bake reached a limit: its size, its time, or the free disk space.

    Attributes:
        reason: "size_limit", "time_limit" or "disk".
    """

    def __init__(self, reason: str, problem: str, *remedies: str | Action, subject: str = "") -> None:
        super().__init__(problem, *remedies, subject=subject)
        self.reason = reason
