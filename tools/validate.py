"""Writes the tables of docs/validation.md and its figures: what the solver computes, beside closed forms and published experiments.

The cases are those of tests/verification and tests/everyday, so that the page shows what the tests check. Each part of the page is a
section with a table and figures; the text around them is written by hand.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from environments import ROOT

if TYPE_CHECKING:
    from validation_rows import Row

PAGE = ROOT / "docs" / "validation.md"
FIGURES = ROOT / "docs" / "validation"
HEAD = "| what | compared with | expected | allowed | measured |\n|---|---|---|---|---|\n"


class Part(NamedTuple):
    """A section of the page.

    Attributes:
        title: its heading.
        rows: measures the lines of its table.
        figures: the names of its figures.
    """

    title: str
    rows: "Callable[[], Iterator[Row]]"
    figures: tuple[str, ...] = ()


def parts() -> dict[str, Part]:
    """The parts by name, in the order of the page."""
    import validation_rows as rows

    return {
        "volume": Part("Water: volume", rows.kept_volume, ("volume",)),
        "breaking": Part("Snow: pieces of a snowball", rows.breaking_snow),
        "holding": Part("Colliders: what should hold, holds", rows.held),
        "floating": Part("Rigid bodies: floating", rows.afloat, ("floating",)),
        "afloat": Part("Floating for long, and jelly in water", rows.long_afloat),
        "bodies": Part("Bodies: jelly on jelly", rows.touching, ("bodies",)),
        "slopes": Part("Slopes: solids slide, stand and touch", rows.standing),
        "rubber": Part("Rubber: stretched far", rows.rubber_band, ("rubber",)),
        "rebound": Part("Rebounds", rows.rebounds),
        "slosh": Part("Water: sloshing", rows.sloshing),
        "dam": Part("Water: a dam breaks", rows.breaking_dam, ("dam_break",)),
        "column": Part("Water: at rest", rows.resting_water, ("water_column",)),
        "sand": Part("Sand: collapsing columns and heaps", rows.collapsing_sand, ("run_out", "heaps")),
        "elasticity": Part("Elasticity: bars and beams", rows.elasticity, ("bar", "beam")),
        "motion": Part("Conservation: free fall, spin, drift", rows.motion, ("spinning_disk",)),
        "friction": Part("Friction: a block on a slope", rows.sliding, ("slope",)),
        "impact": Part("Impact: elastic bodies", rows.elastic_impact, ("impact",)),
    }


def page(before: str, part: Part, table: str) -> str:
    """Returns the page with another table in the section of a part; a section that is missing is added at the end."""
    heading = f"## {part.title}\n"
    if heading not in before:
        figures = "".join(f"\n![{part.title}]({FIGURES.name}/{name}.svg)\n" for name in part.figures)
        return f"{before}\n{heading}\n{HEAD}{table}{figures}"
    start = before.index(HEAD, before.index(heading)) + len(HEAD)
    end = start
    while before.startswith("|", end):
        end = before.index("\n", end) + 1
    return before[:start] + table + before[end:]


def measure(name: str, part: Part) -> None:
    """Measure a part, and write its table and figures."""
    from validation_figures import draw

    start = time.monotonic()
    table = ""
    for row in part.rows():
        print(f"validate: {row.text()}", end="", flush=True)
        table += row.text()
    draw(FIGURES, part.figures)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), part, table), encoding="utf-8")
    print(f"validate: {name} in {time.monotonic() - start:.0f} s", flush=True)


def main() -> None:
    # the cases are found from the source tree, wherever this is started
    sys.path.insert(0, str(ROOT))
    every = parts()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"measure these parts only: {', '.join(every)}")
    chosen: list[str] = parser.parse_args().parts
    unknown = sorted(set(chosen) - set(every))
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; choose from {', '.join(every)}")
    for name in chosen or every:
        measure(name, every[name])


if __name__ == "__main__":
    main()
