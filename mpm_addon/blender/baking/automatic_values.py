"""What was chosen automatically: by the last bake of the scene, as its status says, or by the last pre-flight check. Reads only."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...core.messages import one_line
from ...storage.overview import Overview
from ..host.blender_types import BlenderScene
from ..settings import paths
from . import cache_watch, preflight


class AutomaticValues(NamedTuple):
    """Automatic values in words.

    Attributes:
        source: where they are from.
        rows: name and value.
    """

    source: str
    rows: tuple[tuple[str, str], ...]


def automatic_values(scene: BlenderScene) -> AutomaticValues | None:
    """The values of a pre-flight check of the scene as it is, else those of its last bake; None if there is neither."""
    report, is_current = preflight.kept_report(scene)
    if report is not None and is_current:
        return AutomaticValues("Before the bake", tuple(_rows(report, f"About {report['substeps']:,}")))
    folder = paths.absolute(paths.cache_path(scene))
    status, overview = cache_watch.status_of(folder), cache_watch.overview(folder)
    told = None if status is None else status.told.get("automatic")
    if overview is None or not isinstance(told, dict):
        return None
    rows = tuple(_rows({**told, "particles": _most(overview, "particles")}, f"Max {_most(overview, 'substeps'):,} per frame"))
    return AutomaticValues("In the last bake", rows) if rows else None


def _rows(told: Mapping[str, Any], substeps: str) -> Iterator[tuple[str, str]]:
    """The values in an untrusted table: those of a wrong type are left out."""
    if _is_number(told.get("grid_spacing")):
        yield "Cell Size", f"{told['grid_spacing']:.3g} m"
    if _is_number(told.get("particles")):
        yield "Particles", f"{told['particles']:,.0f}"
    yield "Substeps", substeps
    moduli = told.get("bulk_moduli")
    for name, modulus in moduli.items() if isinstance(moduli, dict) else ():
        if isinstance(name, str) and _is_number(modulus):
            yield "Bulk Modulus", f"{_pascals(modulus)}, {one_line(name)}"
    if _is_number(told.get("threads")):
        yield "Threads", f"{told['threads']:.0f}"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e18


def _pascals(value: float) -> str:
    unit, factor = next(((unit, factor) for unit, factor in (("GPa", 1e9), ("MPa", 1e6), ("kPa", 1e3)) if value >= factor), ("Pa", 1.0))
    return f"{float(f'{value / factor:.2g}'):g} {unit}"


def _most(overview: Overview, name: str) -> int:
    """The greatest number of a kind in any frame."""
    numbers = [row.get(name) for row in overview.rows.values()]
    return max((round(each) for each in numbers if isinstance(each, (int, float)) and _is_number(each)), default=0)
