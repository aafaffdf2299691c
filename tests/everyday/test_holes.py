"""What runs through a hole in a thin plate or a sheet: as much as through a thick one, apart from the half cell that thin ones block."""

import pytest

from .cases.holes import outflow

# a sheet blocks half a cell around it, and in narrower holes more
WIDE = 9.0


@pytest.mark.parametrize(("material", "wide"), [("water", 6.0), pytest.param("dry_sand", 6.0, marks=pytest.mark.long), ("dry_sand", WIDE)])
@pytest.mark.parametrize("offset", [0.3, pytest.param(0.75, marks=pytest.mark.long)])
def test_as_much_runs_through_a_thin_plate_as_through_a_thick_one(material: str, wide: float, offset: float) -> None:
    """At .3; where the floor lies between two nodes, more runs through a thick one. Before, a quarter to a half."""
    thick = outflow(material, wide=wide, thick=2.2, offset=offset)
    assert 0.75 * thick < outflow(material, wide=wide, thick=1.0, offset=offset) < 1.25 * thick


@pytest.mark.parametrize(("material", "power"), [("water", 2.0), ("dry_sand", 2.5)])
def test_a_hole_in_a_sheet_is_a_cell_narrower(material: str, power: float) -> None:
    """The flow through a hole goes with its area, and of sand with D^2.5 (Beverloo, Leniger and van de Velde 1961)."""
    thick = outflow(material, wide=WIDE, thick=2.2, offset=0.3)
    narrower = ((WIDE - 1.0) / WIDE) ** power
    assert outflow(material, wide=WIDE, thick=0.0, offset=0.3) == pytest.approx(narrower * thick, rel=0.12)


def test_so_little_runs_through_a_narrow_hole_in_a_sheet() -> None:
    """A negative control: below nine cells, the nodes around the rim hold more than that."""
    assert outflow("water", wide=6.0, thick=0.0, offset=0.3) < 0.9 * (5.0 / 6.0) ** 2 * outflow("water", wide=6.0, thick=2.2, offset=0.3)
