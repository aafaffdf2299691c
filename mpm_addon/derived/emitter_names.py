"""Emitters that are chosen by name, also if they were renamed after the bake."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ..core.errors import SceneError
from ..core.parameters import suggestion
from ..storage.renames import COLLIDERS, EMITTERS, first_names, names_of

Settings = TypeVar("Settings")


def settings_in(manifest: Mapping[str, Any], settings: Settings) -> Settings:
    """Settings that choose emitters by the names which they have in a cache now; former names are understood, too."""
    chosen = _chosen(manifest, settings)
    return settings if chosen is None else replace(settings, emitters=", ".join(chosen))  # type: ignore[type-var]


def hash_in(manifest: Mapping[str, Any], settings: Any) -> str:
    """The hash of settings in a cache, which renaming what they choose does not change."""
    chosen, first = _chosen(manifest, settings), dict(_pairs(manifest))
    return settings.hash if chosen is None else replace(settings, emitters=", ".join(first[name] for name in chosen)).hash


def _chosen(manifest: Mapping[str, Any], settings: Any) -> list[str] | None:
    """The names in settings as they are now; None if nothing was renamed, or nothing, or nothing known, is chosen."""
    text, pairs = getattr(settings, "emitters", ""), _pairs(manifest)
    if not text or all(now == first for now, first in pairs):
        return None
    known = {first: now for now, first in pairs} | {now: now for now, _first in pairs}
    try:
        return [known[name] for name in named(text, list(known), "")]
    except SceneError:  # raised where emitters are chosen, with the subject
        return None


def _pairs(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The names of emitters and dynamic colliders now, each with that in the frames."""
    now, first = names_of(manifest), first_names(manifest)
    return [pair for key in (EMITTERS, COLLIDERS) for pair in zip(now[key], first[key], strict=True)]


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
