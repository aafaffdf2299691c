"""Wedges: variants of a scene with all combinations of values for some of its keys. Reads no files."""

import contextlib
import itertools
import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.errors import SceneError
from .toml_tables import Table
from .variants import check_place

# More combinations than this are most likely a typing error.
MOST_VARIATIONS = 1000

_RANGE_WORDS = "use KEY=FIRST:LAST:lin:COUNT, KEY=FIRST:LAST:log:COUNT or KEY=VALUE,VALUE,..."
_ASSIGNMENT = re.compile(r"""((?:"[^"]*"|'[^']*'|[^"'=])+)=(.*)""", re.DOTALL)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# Values separated by commas, ignoring commas inside brackets or quotes.
_ITEMS = re.compile(r"""(?:\[[^\]]*\]|"[^"]*"|'[^']*'|[^,])+""")


@dataclass(frozen=True)
class Axis:
    """A key of a scene file and its values.

    Attributes:
        path: the parts of the key, such as ("materials", "snow", "young_modulus").
        values: numbers, texts, Booleans, or lists of numbers, without duplicates.
    """

    path: tuple[str, ...]
    values: tuple[Any, ...]

    @property
    def key(self) -> str:
        """The key as in a scene file, with quotes around parts that need them."""
        return ".".join(part if _BARE_KEY.fullmatch(part) else f'"{part}"' for part in self.path)


@dataclass(frozen=True)
class Variation:
    """A variant of a wedge: one combination of values.

    Attributes:
        values: key -> value.
        changes: the same as tables, in the form of a variant in a scene file.
    """

    values: dict[str, Any]
    changes: dict[str, Any]

    @property
    def name(self) -> str:
        """A short name for files: the last words of the keys with their values; not always unique."""
        words = (f"{word}_{value_text(value)}" for word, value in self._words())
        return re.sub(r"[^A-Za-z0-9._+-]+", "_", "__".join(words)).strip("._")[:80]

    @property
    def label(self) -> str:
        """The values in words, one per line."""
        return "\n".join(f"{word} = {value_text(value)}" for word, value in self._words())

    def _words(self) -> list[tuple[str, Any]]:
        """The last part of every key, or the whole key if two end alike, with its value."""
        ends = [key.rpartition(".")[2] for key in self.values]
        short = [end if ends.count(end) == 1 else key for end, key in zip(ends, self.values, strict=True)]
        return list(zip(short, self.values.values(), strict=True))


def value_text(value: Any) -> str:
    """A short text for a value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return f"{value:.6g}" if isinstance(value, (int, float)) else str(value)


def parse_axis(text: str) -> Axis:
    """The axis described by a text such as "materials.snow.young_modulus=1e4:1e6:log:5".

    Values are FIRST:LAST:lin:COUNT (or FIRST:LAST:COUNT), evenly spaced, FIRST:LAST:log:COUNT, with equal ratios, both
    including the ends, or a list with commas: numbers, true and false, texts, or lists of numbers in brackets.

    Raises:
        SceneError: it is none of these, or a value appears twice.
    """
    match = _ASSIGNMENT.fullmatch(text)
    subject = f"--vary {text}"
    if match is None:
        raise SceneError("it is not a key with values", _RANGE_WORDS, subject=subject)
    path = _path(match[1].strip(), subject)
    values = _range(match[2], subject) if ":" in match[2] else _list(match[2])
    axis = Axis(path, values)
    if not values:
        raise SceneError("it has no values", _RANGE_WORDS, subject=subject)
    for number, value in enumerate(values):
        if value in values[:number]:
            raise SceneError(f"it has the value {value_text(value)} twice", "remove one", subject=subject)
    return axis


def _path(key: str, subject: str) -> tuple[str, ...]:
    """The parts of a dotted key, in TOML's syntax."""
    try:
        table: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        raise SceneError(f'"{key}" is not a key', "use dots between names, and quotes around names with spaces", subject=subject) from None
    path = []
    while isinstance(table, dict):
        ((part, table),) = table.items()
        path.append(part)
    return tuple(path)


def _range(text: str, subject: str) -> tuple[float, ...]:
    first, last, *kind, count = text.split(":") if 2 <= text.count(":") <= 3 else ("", "", "", "")
    spacing = kind[0].strip() if kind else "lin"
    try:
        start, end, steps = float(first), float(last), int(count)
    except ValueError:
        raise SceneError(f"{text} is not a range", _RANGE_WORDS, subject=subject) from None
    if spacing not in ("lin", "log") or not (math.isfinite(start) and math.isfinite(end)):
        raise SceneError(f"{text} is not a range", _RANGE_WORDS, subject=subject)
    if not 2 <= steps <= MOST_VARIATIONS:
        raise SceneError(f"the count {steps} is not allowed", f"use 2 to {MOST_VARIATIONS}", subject=subject)
    if spacing == "log" and not (start > 0.0 and end > 0.0):
        raise SceneError("a logarithmic range needs both ends above 0", "use lin", subject=subject)
    shares = [step / (steps - 1) for step in range(1, steps - 1)]
    if spacing == "log":
        between = [start ** (1.0 - share) * end**share for share in shares]
    else:
        between = [start + (end - start) * share for share in shares]
    return (start, *between, end)


def _list(text: str) -> tuple[Any, ...]:
    return tuple(_value(item.strip()) for item in _ITEMS.findall(text) if item.strip())


def _value(text: str) -> Any:
    """A number, or a TOML value (a Boolean, a list or a text in quotes), else the text itself."""
    with contextlib.suppress(ValueError):
        return int(text)
    with contextlib.suppress(ValueError):
        return float(text)
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value if isinstance(value, (bool, str, list)) else text


def variations(axes: Sequence[Axis], table: Table) -> list[Variation]:
    """All combinations of the axes' values, the last axis fastest.

    Args:
        axes: the axes.
        table: the scene file.

    Raises:
        SceneError: a key does not exist (the message suggests the closest), two overlap, or there are too many combinations.
    """
    for number, axis in enumerate(axes):
        subject = f"--vary {axis.key}"
        check_place(axis.path, table, subject)
        for other in axes[:number]:
            shared = min(len(axis.path), len(other.path))
            if axis.path[:shared] == other.path[:shared]:
                raise SceneError(f"it overlaps with --vary {other.key}", "keep one of them", subject=subject)
    count = math.prod(len(axis.values) for axis in axes)
    if count > MOST_VARIATIONS:
        raise SceneError(f"{count} combinations are too many", f"use at most {MOST_VARIATIONS}", subject="--vary")
    return [_variation(axes, values) for values in itertools.product(*(axis.values for axis in axes))]


def _variation(axes: Sequence[Axis], values: tuple[Any, ...]) -> Variation:
    changes: dict[str, Any] = {}
    for axis, value in zip(axes, values, strict=True):
        table = changes
        for part in axis.path[:-1]:
            table = table.setdefault(part, {})
        table[axis.path[-1]] = value
    return Variation({axis.key: value for axis, value in zip(axes, values, strict=True)}, changes)
