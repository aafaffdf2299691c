"""Formats messages, durations and sizes for the interface. Knows nothing of Blender's data."""

from ...core.messages import Action, Message, Wording, one_line

BUTTONS = {
    Action.BAKE: "choose Bake",
    Action.RESTART: "choose Bake Again",
    Action.RESUME: "choose Resume",
    Action.FILL_GAP: "choose Resume to fill the gap",
    Action.REPLACE: "choose Bake Again to replace the frames, From Frame to resume after one of them, or choose another cache folder",
    Action.SHOW_OTHER_TAKE: "show another take, or choose Bake Again",
    Action.MEND_BY_TAKE: "choose one of its takes",
    Action.DERIVE: "choose Make Surface, Make Skin, Make Volume, Make Foam or Make Debris to resume",
    Action.FIND_MISSING: "show that take and resume its bake to fill the gap",
    Action.THICKEN: "give it a thickness (Extrude for a text or curve, Solidify for a mesh), or, for an emitter, set Source to Surface",
}
# In scripts, which have no buttons.
ARGUMENTS = {
    **BUTTONS,
    Action.BAKE: "call bpy.ops.mpm.bake()",
    Action.RESTART: "bake with restart=True",
    Action.RESUME: "bake again to resume",
    Action.FILL_GAP: "bake again to fill the gap",
    Action.REPLACE: "bake with restart=True to replace the frames, with from_frame to resume after one of them, or with another cache",
    Action.SHOW_OTHER_TAKE: "show another take, or bake with restart=True",
}
# Words or whole names that have a different label, and words that stay lowercase in titles.
_WORDS = {
    "cfl": "CFL",
    "apic": "APIC",
    "pic": "PIC",
    "flip": "FLIP",
    "neo_hookean": "Neo-Hookean",
    "poisson_ratio": "Poisson's Ratio",
    "young_modulus": "Young's Modulus",
    "grid_spacing": "Cell Size",
    "goal": "Pin Strength",
    "goal_damping": "Pin Damping",
    "goal_frequency": "Pin Frequency",
}
_SMALL = {"of", "per", "by", "from", "at", "in"}


def title(word: str) -> str:
    """The label for a name: "young_modulus" -> "Young's Modulus", "particles_per_cell" -> "Particles per Cell"."""
    parts = [part if part in _SMALL else _WORDS.get(part, part.title()) for part in word.split("_")]
    return _WORDS.get(word) or " ".join(parts)


BLENDER = Wording(BUTTONS, title)
SCRIPTS = Wording(ARGUMENTS, title)


def in_blender(message: Message) -> str:
    """A message as one line, with buttons instead of command-line options, and labels instead of names."""
    return one_line(message.text(BLENDER))


def for_scripts(message: Message) -> str:
    """A message as one line, with arguments of operators instead of buttons, and labels instead of names."""
    return one_line(message.text(SCRIPTS))


def sentence(words: str) -> str:
    """Capitalize the first letter and remove the full stop."""
    return (words[:1].upper() + words[1:]).removesuffix(".")


def problem_and_remedy(message: Message) -> tuple[str, str]:
    """The problem, with its subject, and the remedy; each as a sentence."""
    problem = message._replace(remedies=()).text(BLENDER)
    return sentence(problem), sentence(message.remedy(BLENDER))


def duration(seconds: float) -> str:
    """A readable duration: "40 s", "12 min", "2 h 5 min"."""
    minutes = round(seconds / 60.0)
    if seconds < 90.0:
        return f"{seconds:.0f} s" if seconds >= 1.0 else f"{seconds:.2g} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def size(count: float) -> str:
    """A readable size: "3.2 GB", "12 MB"."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count:.0f} bytes"


def counted(number: int, noun: str) -> str:
    """A number of things: "1 frame", "48 frames"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
