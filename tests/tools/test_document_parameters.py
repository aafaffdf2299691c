"""The page of materials matches the declarations of the laws."""

from __future__ import annotations

import document_parameters

from mpm_addon.core.laws import LAWS
from mpm_addon.core.parameters import parameters_of


def test_the_page_is_up_to_date() -> None:
    assert document_parameters.PAGE.read_text(encoding="utf-8") == document_parameters.page(), "run `make docs`"


def test_every_parameter_of_every_law_has_its_row() -> None:
    for name, law in LAWS.items():
        section = document_parameters.section(name, law)
        for declared in parameters_of(law):
            row = next(line for line in section.splitlines() if line.startswith(f"| `{declared.name}` |"))
            assert declared.unit in row
            assert declared.help in row
            assert all(word in row and help in row for word, help in declared.choice_help.items())
            assert row.count(" | ") == 4
