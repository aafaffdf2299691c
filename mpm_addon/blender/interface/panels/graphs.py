"""The graphs of a cache in its panel: substeps, seconds, particles and energy over frames, as a preview image of Blender."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import bpy.utils.previews
import numpy as np
from numpy.typing import NDArray

from ....storage.overview import Overview
from ...host.registrar import Registrar
from ...host.runtime import OfSession, runtime
from .graph_picture import Color, Curve, Pixels, swatch
from .graph_picture import picture as draw_picture

# Size of the picture, in pixels and in interface units.
SIZE = 320
SCALE = 10.0
_SWATCH = 16
# Seconds after which the picture of a running bake is redrawn.
REST = 1.0

# Key in the journal -> label, format of the maximum, color.
_KINDS: dict[str, tuple[str, str, Color]] = {
    "substeps": ("Substeps per Frame", "{:,.0f}", (0.35, 0.65, 0.95)),
    "seconds": ("Seconds per Frame", "{:.3g} s", (0.95, 0.65, 0.25)),
    "particles": ("Particles", "{:,.0f}", (0.45, 0.80, 0.45)),
    "kinetic_energy": ("Kinetic Energy", "{:.3g} J", (0.90, 0.45, 0.65)),
}


class Picture(NamedTuple):
    """A finished picture.

    Attributes:
        icon: its icon ID for layouts.
        seen: the data that it shows.
        moment: when it was made.
    """

    icon: int
    seen: int
    moment: float


@dataclass
class Graphs(OfSession):
    """Blender's preview collection, the pictures in it by cache folder, and the latest curves."""

    previews: Any = None
    pictures: dict[Path, Picture] = field(default_factory=dict)
    curves: tuple[Overview, tuple[Curve, ...]] | None = None


def curves(overview: Overview) -> tuple[Curve, ...]:
    """The curves of a cache; cached while nothing changes."""
    graphs = runtime.of(Graphs)
    if graphs.curves is None or graphs.curves[0] is not overview:
        graphs.curves = overview, tuple(_curve(overview, name) for name in _KINDS)
    return graphs.curves[1]


def _curve(overview: Overview, name: str) -> Curve:
    noun, form, color = _KINDS[name]
    values = _over_frames(overview, name)
    finite = values[np.isfinite(values)]
    words = f"{noun}: max {form.format(finite.max())}" if len(finite) else f"{noun}: unknown"
    return Curve(name, words, color, values)


def _over_frames(overview: Overview, name: str) -> NDArray[np.float64]:
    """One number per frame from first to last, NaN if missing."""
    frames = list(overview.rows)
    values = np.full(frames[-1] - frames[0] + 1, np.nan)
    for frame, row in overview.rows.items():
        value = row.get(name)
        if isinstance(value, (int, float)):
            values[frame - frames[0]] = value
    return values


def picture(folder: Path, overview: Overview) -> Picture | None:
    """The graphs of a cache; None if Blender has no previews."""
    graphs = runtime.of(Graphs)
    if graphs.previews is None:
        return None
    known, now = graphs.pictures.get(folder), time.monotonic()
    if known is None or (known.seen != id(overview) and now > known.moment + REST):
        preview = _preview(str(folder))
        _fill(preview, "image", draw_picture(curves(overview), SIZE, SIZE))
        known = graphs.pictures[folder] = Picture(preview.icon_id, id(overview), now)
    return known


def legend(curve: Curve) -> int:
    """The icon in a curve's color; 0, for no icon, if Blender has no previews."""
    previews = runtime.of(Graphs).previews
    if previews is None:
        return 0
    name = f"legend {curve.name}"
    if name not in previews:
        pixels = swatch(curve.color, _SWATCH)
        _fill(_preview(name), "icon", pixels)
        _fill(_preview(name), "image", pixels)
    return previews[name].icon_id


def _preview(name: str) -> Any:
    previews = runtime.of(Graphs).previews
    return previews[name] if name in previews else previews.new(name)


def _fill(preview: Any, kind: str, pixels: Pixels) -> None:
    setattr(preview, f"{kind}_size", pixels.shape[1::-1])
    getattr(preview, f"{kind}_pixels_float").foreach_set(np.ascontiguousarray(pixels).ravel())


def register(registrar: Registrar) -> None:
    previews = runtime.of(Graphs).previews = bpy.utils.previews.new()
    registrar.on_removal(bpy.utils.previews.remove, previews)
