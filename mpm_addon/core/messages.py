"""Messages about a problem: the problem and its remedies, as data that each front end words in its own way.

Names of parameters are in backticks ("use a larger `grid_spacing`"), because people know them by other names in each front end.
"""

import re
from collections.abc import Callable, Mapping
from enum import Enum, StrEnum
from typing import Any, NamedTuple, Self

# Maximum characters of a message; a name from a file may have millions.
LONGEST = 1000

# A marked name, or a quoted text, which stays as it is.
_MARKED = re.compile(r'"[^"]*"|`(\w+)`')
# The beginning of a problem that is about the subject.
_SUBJECT = "it "


class Action(Enum):
    """A remedy that each front end words in its own way. The value is its name in JSON."""

    BAKE = "bake"
    RESTART = "restart"
    RESUME = "resume"
    FILL_GAP = "fill_gap"
    REPLACE = "replace"
    SHOW_OTHER_TAKE = "show_other_take"
    MEND_BY_TAKE = "mend_by_take"
    DERIVE = "derive"
    FIND_MISSING = "find_missing"
    THICKEN = "thicken"


# How commands, and scripts that read their output, tell actions; Blender's panels have their own words.
COMMANDS = {
    Action.BAKE: "bake into it",
    Action.RESTART: "bake again with --restart",
    Action.RESUME: "bake again to resume",
    Action.FILL_GAP: "bake again to fill the gap",
    Action.REPLACE: "use --restart to replace the frames, --from to resume after one of them, or choose another cache folder",
    Action.SHOW_OTHER_TAKE: "show another take, or bake again with --restart",
    Action.MEND_BY_TAKE: "show one of its takes to rewrite it",
    Action.DERIVE: "derive again to resume",
    Action.FIND_MISSING: "run info --check to see what is missing and how to bake it",
    Action.THICKEN: 'give it a thickness, or use source "surface" if it is an emitter',
}


class Wording(NamedTuple):
    """How a front end words messages.

    Attributes:
        actions: what people do there to take an action.
        label: the name by which people know a parameter there.
    """

    actions: Mapping[Action, str]
    label: Callable[[str], str] = str

    def of(self, text: str) -> str:
        """A text with its marked names as people know them."""
        return _MARKED.sub(lambda found: self.label(found[1]) if found[1] else found[0], text)


COMMAND_LINE = Wording(COMMANDS)


class Message(NamedTuple):
    """A problem, its subject and its remedies.

    Attributes:
        problem: what is wrong: the value and the limit. A clause without a full stop, with names of parameters in backticks.
            A first word "it" stands for the subject.
        remedies: what to do, in order.
        subject: what it is about, such as 'Emitter "Cube"'; "" if the problem says it.
    """

    problem: str
    remedies: tuple[str | Action, ...] = ()
    subject: str = ""

    def __bool__(self) -> bool:
        return bool(self.problem)

    def remedy(self, wording: Wording = COMMAND_LINE) -> str:
        """What to do, in the words of a front end; by default the command line's."""
        return ", then ".join(wording.actions[each] if isinstance(each, Action) else wording.of(each) for each in self.remedies)

    def sentence(self, wording: Wording = COMMAND_LINE) -> str:
        """Problem and remedy, without the subject."""
        problem, remedy = wording.of(self.problem), self.remedy(wording)
        return f"{problem}; {remedy}." if remedy else problem

    def text(self, wording: Wording = COMMAND_LINE) -> str:
        """Everything in one line."""
        sentence = self.sentence(wording)
        if self.subject and self.problem.startswith(_SUBJECT):
            return f"{self.subject} {sentence.removeprefix(_SUBJECT)}"
        return f"{self.subject}: {sentence}" if self.subject else sentence

    def within(self, subject: str) -> "Message":
        """The message with something larger in front of its subject: 'Variant "wet": Emitter "Cube"'."""
        return self._replace(subject=f"{subject}: {self.subject}" if self.subject else subject)

    def fields(self) -> dict[str, Any]:
        """The message as part of a JSON object: the data that `message_of` reads, and the command line's text."""
        remedies = [{"action": each.value} if isinstance(each, Action) else each for each in self.remedies]
        return {"message": self.text(), "problem": self.problem, "remedies": remedies, "subject": self.subject}


NOTHING = Message("")


class Topic(StrEnum):
    """What a warning is about, for programs. The value is the word in files and events.

    Attributes:
        is_of_scene: whether such warnings depend on the scene alone; the others also depend on the computer or on the bake.
    """

    is_of_scene: bool

    def __new__(cls, word: str, is_of_scene: bool = False) -> Self:
        topic = str.__new__(cls, word)
        topic._value_, topic.is_of_scene = word, is_of_scene
        return topic

    THIN_EMITTER = "thin_emitter", True
    THIN_COLLIDER = "thin_collider", True
    OPEN_MESH = "open_mesh", True
    OUTSIDE_DOMAIN = "outside_domain", True
    OVERLAP = "overlap", True
    FALLS_FREELY = "falls_freely", True
    LEAVES_DOMAIN = "leaves_domain", True
    NEVER_EMITS = "never_emits", True
    LIGHT_BODY = "light_body", True
    FAST_COLLIDER = "fast_collider", True
    FAST_EMITTER = "fast_emitter", True
    NARROW_OPENING = "narrow_opening", True
    CLOSING_COLLIDER = "closing_collider", True
    SOFT_SURFACE = "soft_surface", True
    SURFACE_SUBSTEPS = "surface_substeps", True
    VISCOUS_SUBSTEPS = "viscous_substeps", True
    NO_HEAT = "no_heat", True
    PREVIEW_PARTICLES = "preview_particles"
    CRUSHED = "crushed"
    FALLEN = "fallen"
    MEMORY = "memory"
    DISK = "disk"
    UNWRITABLE = "unwritable"
    DURATION = "duration"
    KERNELS = "kernels"
    PROCESSOR = "processor"
    SETTINGS = "settings"
    NO_EFFECT = "no_effect"
    GAP = "gap"
    FAILURE = "failure"
    STEERING = "steering"
    UNSAVED_FILE = "unsaved_file"
    SCALED_GRAVITY = "scaled_gravity"
    TIME_STRETCHING = "time_stretching"
    VIEWPORT_SHAPE = "viewport_shape"
    MOVING_DOMAIN = "moving_domain"
    RENDERED_EMITTER = "rendered_emitter"


class SceneWarning(NamedTuple):
    """Something worth a second look; the scene can still be baked.

    Attributes:
        topic: what it is about, for programs.
        message: the problem, its subject, and the remedy if there is one.
    """

    topic: Topic
    message: Message

    def __str__(self) -> str:
        return self.message.text()

    def fields(self) -> dict[str, Any]:
        """The warning as part of a JSON object; its text leaves out the subject."""
        return {"topic": self.topic.value, **self.message.fields(), "message": self.message.sentence()}


def message_of(told: Mapping[str, Any]) -> Message:
    """The message in an untrusted JSON object: anything of the wrong type is left out."""
    names = {action.value: action for action in Action}
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


def _text(told: Mapping[str, Any], key: str) -> str:
    value = told.get(key)
    return value if isinstance(value, str) else ""
