"""Parameters, each declared once: its dataclass field holds the default, unit, range and help.

Scene files, presets, Blender's properties and the documentation are all made from these declarations.
Knows nothing of files, numba or Blender.
"""

import dataclasses
import difflib
import functools
import math
import re
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import SceneError

# The largest number allowed in a scene, so that products of several stay finite.
LARGEST = 1e30
_SIGNS = {"^2": "²", "^3": "³", "^n": "ⁿ", " ": "·", "degrees": "°"}

KINDS = {float: "number", int: "integer", str: "text", bool: "flag"}


@dataclass(frozen=True)
class Parameter:
    """One declared parameter.

    Attributes:
        name: the field's name, which is also its key in scene files.
        kind: "number", "integer", "text", "flag" or "vector".
        default: the default value, or `dataclasses.MISSING` if a value is required.
        unit: SI unit as text, "" for a pure number.
        minimum, maximum: inclusive limits, or None; above, below: exclusive limits, or None.
        choices: the allowed words of a text parameter.
        choice_help: word -> what it means, for tooltips.
        size: the number of components of a vector.
        optional: whether None is allowed.
        example: a typical value, which the interface shows first if there is no default.
        is_animatable: whether an animation may change it.
        help: for tooltips and documentation: its visible effect, then typical values; no full stop at the end.
    """

    name: str
    kind: str
    default: Any
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()
    choice_help: Mapping[str, str] = field(default_factory=dict, hash=False)
    size: int = 0
    optional: bool = False
    example: Any = None
    is_animatable: bool = False
    help: str = ""

    @property
    def is_required(self) -> bool:
        return self.default is dataclasses.MISSING

    @property
    def unit_words(self) -> str:
        """The unit as displayed: "kg/m³", "Pa·s", "°/s"."""
        return "".join(_SIGNS.get(part, part) for part in re.split(r"(\^\w| |degrees)", self.unit))

    def limits(self) -> str:
        """The allowed values in words: "a number above 0 and at most 1 kg/m^3"."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        bounds = [
            f"{word} {limit:g}"
            for word, limit in (
                ("above", self.above),
                ("at least", self.minimum),
                ("below", self.below),
                ("at most", self.maximum),
            )
            if limit is not None
        ]
        noun = {"integer": "a whole number", "vector": f"{self.size} finite numbers", "flag": "true or false"}.get(
            self.kind, "a finite number"
        )
        unit = f" {self.unit}" if self.unit else ""
        return " ".join([noun, " and ".join(bounds)]).rstrip() + unit

    def check(self, value: Any, subject: str) -> Any:
        """Return `value` in its canonical type.

        Raises:
            SceneError: naming the subject, the value, the limit and what to use.
        """
        if value is None and self.optional:
            return None
        checked = _CHECKS[self.kind](self, value)
        if checked is _WRONG:
            unit = f" {self.unit}" if self.unit and self.kind in ("number", "integer") else ""
            hint = suggestion(value, self.choices) if self.choices and isinstance(value, str) else ""
            shown = f'"{value}"' if isinstance(value, str) else _shown(value)
            size = f", at most {LARGEST:g} in magnitude" if _is_number(value) and abs(_as_float(value)) > LARGEST else ""
            raise SceneError(f"`{self.name}` {shown}{unit} is not allowed{hint}", f"use {self.limits()}{size}", subject=subject)
        return checked

    def _is_within(self, value: float) -> bool:
        return (
            abs(value) <= LARGEST
            and (self.minimum is None or value >= self.minimum)
            and (self.maximum is None or value <= self.maximum)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )


_WRONG = object()


def _shown(value: Any) -> str:
    if isinstance(value, int) and abs(value) > LARGEST:  # Python refuses to print integers of thousands of digits
        return f"{_as_float(value):g}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, (bool, str)) and getattr(value, "ndim", 0) == 0


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _check_number(parameter: Parameter, value: Any) -> Any:
    return float(value) if _is_number(value) and parameter._is_within(_as_float(value)) else _WRONG


def _check_integer(parameter: Parameter, value: Any) -> Any:
    if not _is_number(value) or not parameter._is_within(_as_float(value)) or float(value) != int(value):
        return _WRONG
    return int(value)


def _check_text(parameter: Parameter, value: Any) -> Any:
    return value if isinstance(value, str) and (not parameter.choices or value in parameter.choices) else _WRONG


def _check_flag(parameter: Parameter, value: Any) -> Any:
    return value if isinstance(value, bool) else _WRONG


def _check_vector(parameter: Parameter, value: Any) -> Any:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return _WRONG
    components = list(value)
    if len(components) != parameter.size or not all(_is_number(c) and parameter._is_within(_as_float(c)) for c in components):
        return _WRONG
    return tuple(float(component) for component in components)


_CHECKS = {
    "number": _check_number,
    "integer": _check_integer,
    "text": _check_text,
    "flag": _check_flag,
    "vector": _check_vector,
}


def parameter(default: Any = dataclasses.MISSING, *, help: str, choices: Iterable[str] = (), **declared: Any) -> Any:
    """Declare a dataclass field as a parameter; the keywords are the attributes of `Parameter`.

    Args:
        choices: the allowed words, or a mapping from each word to its meaning.
    """
    if isinstance(choices, Mapping):
        declared["choice_help"] = choices
    metadata = {"parameter": {"help": help, "choices": tuple(choices), **declared}}
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata=metadata, kw_only=True)
    return dataclasses.field(default=default, metadata=metadata, kw_only=True)


@functools.cache
def parameters_of(owner: type) -> tuple[Parameter, ...]:
    """The parameters that a dataclass declares, in order."""
    hints = typing.get_type_hints(owner)
    return tuple(_parameter_of(each, hints[each.name]) for each in dataclasses.fields(owner) if "parameter" in each.metadata)


def _parameter_of(declaring: dataclasses.Field[Any], hint: Any) -> Parameter:
    declared = dict(declaring.metadata["parameter"])
    alternatives = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    plain = [alternative for alternative in alternatives if alternative is not type(None)]
    if typing.get_origin(plain[0]) is tuple:
        declared.setdefault("kind", "vector")
        declared.setdefault("size", len(typing.get_args(plain[0])))
    else:
        declared.setdefault("kind", KINDS[plain[0]])
    return Parameter(name=declaring.name, default=declaring.default, optional=len(plain) < len(alternatives), **declared)


def validate(instance: Any, subject: str) -> None:
    """Check every parameter of a (frozen) dataclass instance and store its canonical value.

    Raises:
        SceneError: for the first parameter that is out of range.
    """
    for declared in parameters_of(type(instance)):
        value = declared.check(getattr(instance, declared.name), subject)
        object.__setattr__(instance, declared.name, value)


def suggestion(word: str, known: Iterable[str]) -> str:
    """' (did you mean "x"?)' for the closest known word, '' if none is close."""
    nearest = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.5)
    return f' (did you mean "{nearest[0]}"?)' if nearest else ""
