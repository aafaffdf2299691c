"""What the command line says, in the words of Blender's buttons. Knows nothing of Blender's data."""

import re

# What messages of storage and bake call, and the button that does it; the first that fits counts.
_BUTTONS = (
    (r"bake again with --restart", "choose Bake Again"),
    (r"use --restart to", "choose Bake Again to"),
    (r"--from to", "From Frame to"),
    (r"info --check names what is missing and how it is made again", "show that take and resume its bake to fill the gap"),
    (r"bake again to (go on|fill)", r"choose Resume to \1"),
    (r"bake into it", "choose Bake"),
    (r"show one of its takes", "choose one of its takes"),
    (r"--restart\b", "Bake Again"),
    (r"--from\b", "From Frame"),
)


def in_blender(message: str) -> str:
    """A message with the name of a button in the place of each option of the command line."""
    for pattern, words in _BUTTONS:
        message = re.sub(pattern, words, message)
    return message


def sentence(message: str) -> str:
    """A message with a capital letter and without its full stop."""
    return (message[:1].upper() + message[1:]).removesuffix(".")


def with_remedy(message: str) -> tuple[str, str]:
    """What is wrong, and what helps: a message of ours tells both, with a semicolon between them."""
    wrong, separator, remedy = message.rpartition("; ")
    return (sentence(wrong), sentence(remedy)) if separator else (sentence(message), "")


def duration(seconds: float) -> str:
    """A time for people: "40 s", "12 min", "2 h 5 min"."""
    minutes = round(seconds / 60.0)
    if seconds < 90.0:
        return f"{seconds:.0f} s" if seconds >= 1.0 else f"{seconds:.2g} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def remaining(seconds: float) -> str:
    """A time that is counted down: "0:31", "1:02:10"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def size(count: float) -> str:
    """Bytes for people: "3.2 GB", "12 MB"."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count:.0f} bytes"


def counted(number: int, noun: str) -> str:
    """A number of things: "1 frame", "48 frames"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
