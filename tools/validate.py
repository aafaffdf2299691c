"""Writes the tables of docs/validation.md and its figures: what the solver computes, beside closed forms and published experiments.

The cases are those of tests/verification and tests/everyday, so that the page shows what the tests check. Each part of the page is a
section with a table and figures; the text around them is written by hand.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from environments import ROOT

sys.path.insert(0, str(ROOT))

import validation_figures as figures
import validation_pictures as pictures
import validation_rows as rows

PAGE = ROOT / "docs" / "validation.md"
FIGURES = ROOT / "docs" / "validation"
# How a table begins.
HEAD = f"| {rows.HEAD[0]} |"


class Part(NamedTuple):
    """A section of the page.

    Attributes:
        title: its heading.
        lines: measures the lines of its table.
        drawings: draw its figures.
    """

    title: str
    lines: Callable[[], Iterator[rows.Row]]
    drawings: tuple[figures.Drawing, ...] = ()


# In the order of the page.
PARTS = {
    "volume": Part("Water: volume", rows.kept_volume, (pictures.draw_glass, figures.draw_volume)),
    "breaking": Part("Snow: pieces of a snowball", rows.breaking_snow),
    "holding": Part("Colliders: what should hold, holds", rows.held, (pictures.draw_sheet,)),
    "floating": Part("Rigid bodies: floating", rows.afloat, (pictures.draw_crate, figures.draw_floating)),
    "afloat": Part("Rigid bodies: floating for long", rows.long_afloat),
    "jelly": Part("Jelly in water", rows.jelly_afloat, (pictures.draw_jelly,)),
    "bodies": Part("Bodies: jelly on jelly", rows.touching, (pictures.draw_stack, figures.draw_bodies)),
    "slopes": Part("Slopes: solids slide, stand and touch", rows.standing),
    "rubber": Part("Rubber: stretched far", rows.rubber_band, (pictures.draw_band, figures.draw_rubber)),
    "rebound": Part("Rebounds", rows.rebounds),
    "slosh": Part("Water: sloshing", rows.sloshing),
    "dam": Part("Water: a dam breaks", rows.breaking_dam, (figures.draw_dam_break,)),
    "column": Part("Water: at rest", rows.resting_water, (figures.draw_water_column,)),
    "sand": Part("Sand: collapsing columns and heaps", rows.collapsing_sand, (figures.draw_run_out, figures.draw_heaps)),
    "elasticity": Part("Elasticity: bars and beams", rows.elasticity, (figures.draw_bar, figures.draw_beam)),
    "motion": Part("Conservation: free fall, spin, drift", rows.motion, (figures.draw_spinning_disk,)),
    "friction": Part("Friction: a block on a slope", rows.sliding, (figures.draw_slope,)),
    "impact": Part("Impact: elastic bodies", rows.elastic_impact, (figures.draw_impact,)),
}


def page(before: str, part: Part, table: str) -> str:
    """Returns the page with another table in the section of a part; a section that is missing is added at the end."""
    heading = f"## {part.title}\n"
    if heading not in before:
        shown = "".join(f"\n![{part.title}]({FIGURES.name}/{figures.name_of(each)}.svg)\n" for each in part.drawings)
        return f"{before}\n{heading}\n{table}{shown}"
    start = end = before.index(HEAD, before.index(heading))
    while before.startswith("|", end):
        end = before.index("\n", end) + 1
    return before[:start] + table + before[end:]


def measure(name: str, part: Part) -> None:
    """Measure a part, and write its table and figures."""
    start = time.monotonic()
    lines: list[rows.Row] = []
    for row in part.lines():
        print(f"validate: {row.text(with_before=bool(row.before))}", end="", flush=True)
        lines.append(row)
    figures.draw(FIGURES, part.drawings)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), part, rows.table(lines)), encoding="utf-8")
    print(f"validate: {name} in {time.monotonic() - start:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"measure these parts only: {', '.join(PARTS)}")
    chosen: list[str] = parser.parse_args().parts
    if unknown := sorted(set(chosen) - set(PARTS)):
        parser.error(f"no such part: {', '.join(unknown)}; choose from {', '.join(PARTS)}")
    for name in chosen or PARTS:
        measure(name, PARTS[name])


if __name__ == "__main__":
    main()
