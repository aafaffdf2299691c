"""Names of dynamic colliders and their pieces in frames and journals, after a collider was renamed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..core.particles import Frame

# Name of a dynamic collider -> its other name.
Renames = Mapping[str, str]


def with_names(frame: Frame, names: Renames) -> Frame:
    """A frame with other names."""
    if not names or not frame.poses:
        return frame
    pieces = {_other(name, names): piece._replace(whole=names.get(piece.whole, piece.whole)) for name, piece in frame.pieces.items()}
    return replace(frame, poses={_other(name, names): pose for name, pose in frame.poses.items()}, pieces=pieces)


def entry_with_names(entry: Mapping[str, Any], names: Renames) -> Mapping[str, Any]:
    """An entry of a journal with other names."""
    if not names:
        return entry
    changed = {}
    for key in ("poses", "pieces"):
        if isinstance(entry.get(key), dict):
            changed[key] = {_other(name, names): value for name, value in entry[key].items()}
    if "pieces" in changed:
        changed["pieces"] = {name: names.get(whole, whole) for name, whole in changed["pieces"].items()}
    return {**entry, **changed}


def _other(name: str, names: Renames) -> str:
    """The other name of a collider, or of a piece, which is named after its collider: "Vase/3"."""
    if name in names:
        return names[name]
    whole, slash, number = name.rpartition("/")
    return f"{names.get(whole, whole)}{slash}{number}"
