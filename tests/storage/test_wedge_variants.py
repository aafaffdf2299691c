"""Grids of variants: their meaning, and one clear line for every mistake."""

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpm_addon.core.errors import MpmError, SceneError
from mpm_addon.storage.wedge_variants import MOST_VARIATIONS, parse_axis, variations

TABLE: dict[str, Any] = {
    "materials": {"snow": {"preset": "snow"}, "sand": {"preset": "dry_sand"}},
    "emitters": [{"name": "Cube.001"}, {}],
}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0:1:3", (0.0, 0.5, 1.0)),
        ("1:0:lin:5", (1.0, 0.75, 0.5, 0.25, 0.0)),
        ("1,2.5,-3e4,.5", (1, 2.5, -3e4, 0.5)),
        ("true,false", (True, False)),
        ("snow,powder_snow", ("snow", "powder_snow")),
        ('"a,b",c', ("a,b", "c")),
        ("[0,0,-1],[1,2,3]", ([0, 0, -1], [1, 2, 3])),
    ],
)
def test_values_are_ranges_or_lists(text: str, values: tuple[Any, ...]) -> None:
    assert parse_axis(f"solver.seed={text}").values == values


def test_a_range_with_log_has_even_ratios_and_its_own_ends() -> None:
    values = parse_axis("materials.snow.young_modulus=1e4:1e6:log:5").values
    assert (values[0], values[-1]) == (1e4, 1e6)
    assert [later / before for before, later in itertools.pairwise(values)] == pytest.approx([math.sqrt(10.0)] * 4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("solver.seed", "is not a key with values"),
        ("=1,2", "is not a key with values"),
        ("solver seed=1", '"solver seed" is not a key'),
        ("solver.seed=", "has no value"),
        ("solver.seed=1,2,1", "has the value 1 twice"),
        ("solver.seed=1:2", "1:2 is not a range"),
        ("solver.seed=1:2:cubic:3", "1:2:cubic:3 is not a range"),
        ("solver.seed=1:inf:3", "1:inf:3 is not a range"),
        ("solver.seed=a:b:3", "a:b:3 is not a range"),
        ("solver.seed=1:2:1", "the count 1 is not allowed"),
        ("solver.seed=1:2:999999999999", "the count 999999999999 is not allowed; use 2 to 1000"),
        ("solver.seed=0:2:log:3", "needs both ends above 0"),
    ],
)
def test_odd_words_are_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(SceneError) as caught:
        parse_axis(text)
    assert words in str(caught.value)
    assert str(caught.value).startswith((f"--vary {text}: ", f"--vary {text} "))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["materials.snw.density=1,2"], '"snw" is not in materials (did you mean "snow"?)'),
        (["material.snow.density=1,2"], 'unknown key "material" (did you mean "materials"?)'),
        (["emitters.Cube.density=1,2"], '"Cube" is not in emitters (did you mean "Cube.001"?)'),
        (["materials.snow=1,2"], "is not the path of a value; use materials.NAME.KEY"),
        (["solver=1,2"], "is not the path of a value; use solver.KEY"),
        (["forces.wind.strength=1,2"], '"wind" is not in forces; use one of none'),
        (["name=a,b"], 'unknown key "name"'),
        (["solver.seed=1,2", "solver.seed=3,4"], "overlaps with --vary solver.seed"),
        (["emitters.emitter_2.shape=1,2", "emitters.emitter_2.shape.radius=1,2"], "overlaps with --vary emitters.emitter_2.shape"),
        (["solver.seed=1:100:100", "time.fps=1:100:100"], f"10000 combinations are too many; use at most {MOST_VARIATIONS}"),
    ],
)
def test_keys_that_lead_nowhere_name_the_nearest(texts: list[str], words: str) -> None:
    with pytest.raises(SceneError) as caught:
        variations([parse_axis(text) for text in texts], TABLE)
    assert words in str(caught.value)


def test_all_combinations_come_with_the_last_axis_fastest() -> None:
    axes = [parse_axis("materials.snow.density=300,400"), parse_axis('emitters."Cube.001".shape.radius=1,2')]
    grid = variations(axes, TABLE)
    assert [variation.name for variation in grid] == [
        "density_300__radius_1",
        "density_300__radius_2",
        "density_400__radius_1",
        "density_400__radius_2",
    ]
    assert grid[1].changes == {"materials": {"snow": {"density": 300}}, "emitters": {"Cube.001": {"shape": {"radius": 2}}}}
    assert grid[1].values == {"materials.snow.density": 300, 'emitters."Cube.001".shape.radius': 2}
    assert grid[1].label == "density = 300\nradius = 2"


def test_keys_that_end_alike_are_told_apart() -> None:
    (variation,) = variations([parse_axis("materials.snow.density=1"), parse_axis("materials.sand.density=2")], TABLE)
    assert variation.label == "materials.snow.density = 1\nmaterials.sand.density = 2"


@given(st.text(max_size=40))
def test_any_text_is_an_axis_or_one_line(text: str) -> None:
    try:
        axis = parse_axis(text)
        variations([axis], TABLE)
    except MpmError as error:
        assert "\n" not in str(error)
        return
    assert axis.values
