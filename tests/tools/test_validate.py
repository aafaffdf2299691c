"""Lines and sections of docs/validation.md, without measuring anything."""

import math

import pytest
from validate import PARTS, page
from validation_rows import Row, limits_of, table

HEAD = "| what | compared with | expected | allowed | measured |\n|---|---|---|---|---|\n"


@pytest.mark.parametrize(
    ("expected", "allowed", "limits"),
    [
        ("2", "5%", (1.9, 2.1)),
        ("0", "0.5%", (-0.005, 0.005)),
        ("0.5", "0.05", (0.45, 0.55)),
        ("0", "1e-5", (-1e-5, 1e-5)),
        ("0", "0", (0.0, 0.0)),
        ("1.20 to 1.80", "0.90 to 2.00", (0.9, 2.0)),
        ("2.86 if even", "≥ 2.3", (2.3, math.inf)),
    ],
)
def test_the_words_of_a_line_are_its_limits(expected: str, allowed: str, limits: tuple[float, float]) -> None:
    assert limits_of(expected, allowed) == pytest.approx(limits)


def test_only_values_that_a_line_does_not_allow_are_bold() -> None:
    row = Row("Jelly: gap [cells]", "they touch", "0", "0.25", (0.1, -0.3, 0.2, 0.26), "{:.2f}")
    assert row.text(with_before=False) == "| Jelly: gap [cells] | they touch | 0 | 0.25 | 0.10, **-0.30**, 0.20, **0.26** |\n"


def test_a_table_replaces_that_of_its_section_alone() -> None:
    before = f"# Validation\n\n## Rebounds\n\nWords.\n\n{HEAD}| old |\n| older |\n\nMore words.\n\n## Other\n\n{HEAD}| other |\n"
    after = page(before, PARTS["rebound"], f"{HEAD}| new |\n")
    assert after == before.replace("| old |\n| older |\n", "| new |\n")
    other_head = page(before, PARTS["rebound"], "| what | now |\n|---|---|\n")
    assert other_head == before.replace(f"{HEAD}| old |\n| older |\n", "| what | now |\n|---|---|\n")


def test_a_missing_section_is_added_with_its_figures() -> None:
    after = page("# Validation\n", PARTS["sand"], f"{HEAD}| new |\n")
    assert after.startswith(f"# Validation\n\n## {PARTS['sand'].title}\n\n{HEAD}| new |\n")
    assert after.count("](validation/run_out.svg)") == after.count("](validation/heaps.svg)") == 1


def test_a_table_has_a_column_for_what_was_before_if_a_line_does() -> None:
    old = Row("Water: height", "volume", "1", "5%", (1.01,), "{:.2f}", before="1.27")
    new = Row("Sand: height", "volume", "1", "5%", (1.02,), "{:.2f}")
    assert table([new]) == f"{HEAD}| Sand: height | volume | 1 | 5% | 1.02 |\n"
    assert table([old, new]) == (
        "| what | compared with | expected | allowed | before | now |\n|---|---|---|---|---|---|\n"
        "| Water: height | volume | 1 | 5% | 1.27 | 1.01 |\n| Sand: height | volume | 1 | 5% | – | 1.02 |\n"
    )
