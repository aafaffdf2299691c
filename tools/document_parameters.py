"""Writes docs/materials.md: the parameters of laws, of the finish of a preset and of randomness, as declared. `make docs` runs it."""

import argparse
from typing import Any

from environments import ROOT

from mpm_addon.core.laws import LAWS
from mpm_addon.core.laws.finish import Finish
from mpm_addon.core.parameters import parameters_of
from mpm_addon.core.scene.randomness import Randomness

PAGE = ROOT / "docs" / "materials.md"

INTRODUCTION = """\
# Materials

The laws and their parameters, the finish of presets, and randomness. Scene files and presets use these names; the interface shows them as
labels, such as *Young's Modulus* for `young_modulus`. A value outside its range is refused. `make docs` writes this page from the source.
"""


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    PAGE.write_text(page(), encoding="utf-8")
    print(f"docs: {PAGE.relative_to(ROOT)}")


def page() -> str:
    """Returns the page: a heading and a table for each law, for the finish of a preset and for randomness."""
    return "\n".join(
        [INTRODUCTION, *(section(name, owner) for name, owner in {**LAWS, "finish": Finish, "randomness": Randomness}.items())]
    )


def section(name: str, owner: Any) -> str:
    """Returns the heading of a law or a finish, and the table of its parameters."""
    rows = ["| parameter | default | unit | range | meaning |", "|---|---|---|---|---|"]
    for declared in parameters_of(owner):
        default = "required" if declared.is_required else shown(declared.default)
        bounds = declared.limits().removesuffix(declared.unit).removeprefix("a finite number").strip()
        choices = "".join(f". `{word}`: {help}" for word, help in declared.choice_help.items())
        cells = (f"`{declared.name}`", default, declared.unit, bounds, declared.help + choices)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return f"## {owner.label}: `{name}`\n\n" + "\n".join(rows) + "\n"


def shown(value: object) -> str:
    """Returns a default as written in a scene file."""
    if value is None:
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
