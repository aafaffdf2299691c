"""Messages about a problem: the problem and its remedies, as data that each front end words in its own way."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

# Maximum characters of a message; a name from a file may have millions.
LONGEST = 1000


class Action(Enum):
    """A remedy for which each front end has a command or a button; the value is the command line's wording."""

    BAKE = "bake into it"
    RESTART = "bake again with --restart"
    RESUME = "bake again to resume"
    FILL_GAP = "bake again to fill the gap"
    REPLACE = "use --restart to replace the frames, --from to resume after one of them, or choose another cache folder"
    SHOW_OTHER_TAKE = "show another take, or bake again with --restart"
    MEND_BY_TAKE = "show one of its takes to rewrite it"
    DERIVE = "derive again to resume"
    FIND_MISSING = "run info --check to see what is missing and how to bake it"


class Message(NamedTuple):
    """A problem, its subject and its remedies.

    Attributes:
        problem: what is wrong: the value and the limit. A clause without a full stop.
        remedies: what to do, in order.
        subject: what it is about, such as 'Emitter "Cube"'; "" if the problem says it.
    """

    problem: str
    remedies: tuple[str | Action, ...] = ()
    subject: str = ""

    def __bool__(self) -> bool:
        return bool(self.problem)

    def remedy(self, words: Mapping[Action, str] | None = None) -> str:
        """What to do, with a front end's wording of actions; by default the command line's."""
        return ", then ".join(_words(each, words) if isinstance(each, Action) else each for each in self.remedies)

    def sentence(self, words: Mapping[Action, str] | None = None) -> str:
        """Problem and remedy, without the subject."""
        remedy = self.remedy(words)
        return f"{self.problem}; {remedy}." if remedy else self.problem

    def text(self, words: Mapping[Action, str] | None = None) -> str:
        """Everything in one line."""
        told = self.sentence(words)
        return f"{self.subject}: {told}" if self.subject else told

    def within(self, subject: str) -> "Message":
        """The message with something larger in front of its subject: 'Variant "wet": Emitter "Cube"'."""
        return self._replace(subject=f"{subject}: {self.subject}" if self.subject else subject)

    def fields(self) -> dict[str, Any]:
        """The message as part of a JSON object: the data that `message_of` reads, and the command line's text."""
        remedies = [{"action": each.name.lower()} if isinstance(each, Action) else each for each in self.remedies]
        return {"message": self.text(), "problem": self.problem, "remedies": remedies, "subject": self.subject}


NOTHING = Message("")


@dataclass(frozen=True)
class SceneWarning:
    """Something worth a second look; the scene can still be baked.

    Attributes:
        topic: one word for programs: "thin_emitter", "thin_collider", "open_mesh", "outside_domain", "overlap", "never_emits",
            "light_body", "fast_collider", "narrow_opening", "closing_collider", "crushed", "memory", "disk", "duration", "kernels", ...
        subject: what it is about: 'Emitter "Cube"'.
        problem: the value and the limit, a clause without the subject.
        remedy: what to do; "" if nothing helps.
    """

    topic: str
    subject: str
    problem: str
    remedy: str | Action = ""

    @property
    def told(self) -> Message:
        """The warning as a message."""
        return Message(self.problem, (self.remedy,) if self.remedy else (), self.subject)

    @property
    def message(self) -> str:
        """Problem and remedy in the command line's words."""
        return self.told.sentence()

    def __str__(self) -> str:
        return self.told.text()

    def fields(self) -> dict[str, Any]:
        """The warning as part of a JSON object; its message leaves out the subject."""
        return {"topic": self.topic, **self.told.fields(), "message": self.message}


def message_of(told: Mapping[str, Any]) -> Message:
    """The message in an untrusted JSON object: anything of the wrong type is left out."""
    names = {action.name.lower(): action for action in Action}
    remedies: list[str | Action] = []
    found = told.get("remedies")
    for each in found if isinstance(found, list) else []:
        if isinstance(each, str):
            remedies.append(each)
        elif isinstance(each, dict) and each.get("action") in names:
            remedies.append(names[each["action"]])
    return Message(one_line(_text(told, "problem") or _text(told, "message")), tuple(remedies), one_line(_text(told, "subject")))


def one_line(text: str) -> str:
    """A text made safe to show anywhere: on one line, without control characters, and no longer than `LONGEST`."""
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]} ... {text[-LONGEST // 3 :]}"
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    return " " if letter.isspace() else letter.encode("unicode_escape").decode()


def _words(action: Action, words: Mapping[Action, str] | None) -> str:
    return action.value if words is None else words[action]


def _text(told: Mapping[str, Any], key: str) -> str:
    value = told.get(key)
    return value if isinstance(value, str) else ""
