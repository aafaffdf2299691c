"""Emitters that are chosen by name."""

from collections.abc import Sequence

from ..core.errors import SceneError
from ..core.parameters import suggestion


def named(text: str, names: Sequence[str], subject: str) -> list[str]:
    """The names in a text, separated by commas, which they may contain. Raises SceneError about the subject for an unknown one."""
    found, rest = [], text.strip().strip(",")
    while rest:
        fitting = [name for name in names if rest.startswith(name) and rest[len(name) :].lstrip()[:1] in ("", ",")]
        if not fitting:
            wrong = rest.split(",")[0].strip()
            raise SceneError(
                f'emitter "{wrong}" does not exist{suggestion(wrong, names)}', f"use one or more of {', '.join(names)}", subject=subject
            )
        found.append(max(fitting, key=len))
        rest = rest[len(found[-1]) :].lstrip().removeprefix(",").strip()
    return found
