"""Names of properties are never cut: their column is as wide as they need, and what is too long has a line of its own."""

from __future__ import annotations

import pytest

from mpm_addon.blender.interface.panels import property_rows
from mpm_addon.blender.interface.panels.property_rows import USUAL_FACTOR, factor_for, has_own_line


@pytest.fixture
def _width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(property_rows, "panel_width", lambda: request.param)


@pytest.mark.parametrize("_width", [230.0], indirect=True)
def test_short_names_have_the_column_of_other_panels(_width: None) -> None:
    assert factor_for(["Friction", "Size"]) == USUAL_FACTOR == factor_for([])


@pytest.mark.parametrize("_width", [230.0], indirect=True)
def test_the_longest_name_that_fits_beside_a_value_decides(_width: None) -> None:
    alone = factor_for(["Effector Collection"])
    assert USUAL_FACTOR < alone < 0.64
    assert factor_for(["Size", "Effector Collection", "Checkpoint Interval of All Scenes"]) == alone
    assert has_own_line("Checkpoint Interval of All Scenes") and not has_own_line("Effector Collection")


@pytest.mark.parametrize("_width", [90.0], indirect=True)
def test_in_a_narrow_editor_a_usual_name_has_a_line_of_its_own(_width: None) -> None:
    assert has_own_line("Velocity Spread") and not has_own_line("Size")
