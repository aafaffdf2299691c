"""The problem with the last bake into each folder, kept until its frames are removed or baked again."""

from dataclasses import dataclass, field
from pathlib import Path

from ...core.messages import NOTHING, Message
from ..host.runtime import OfFile, runtime


@dataclass
class Troubles(OfFile):
    """The problem with the last bake into each folder."""

    by_folder: dict[Path, Message] = field(default_factory=dict)


def trouble(folder: Path) -> Message:
    """What went wrong with this Blender's last bake into a folder; "" if nothing."""
    return runtime.of(Troubles).by_folder.get(folder, NOTHING)


def forget_trouble(folder: Path) -> None:
    """Discard the trouble with the last bake into a folder."""
    runtime.of(Troubles).by_folder.pop(folder, None)
