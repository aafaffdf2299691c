"""Every number in the scene's settings: its limits are exact, and values beyond them are refused in one line."""

import dataclasses
import math
from typing import Any

import pytest

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.parameters import Parameter, parameters_of
from mpm_addon.core.scene.description import Collider, Emitter
from mpm_addon.core.scene.settings import Side, Solver, Time

BALL = SHAPES["sphere"](radius=1.0)
SETTINGS: dict[str, Any] = {
    "time": Time(),
    "solver": Solver(grid_spacing=0.1),
    "side": Side(),
    "emitter": Emitter("ball", BALL, "water"),
    "collider": Collider("floor", SHAPES["plane"]()),
}
SHAPE_SETTINGS = {
    "box": SHAPES["box"](size=(1.0, 1.0, 1.0)),
    "sphere": BALL,
    "cylinder": SHAPES["cylinder"](radius=1.0, height=1.0),
    "capsule": SHAPES["capsule"](start=(0.0, 0.0, 0.0), end=(0.0, 0.0, 1.0), radius=1.0),
}


def numbers(settings: dict[str, Any]) -> list[tuple[str, Parameter]]:
    declared = [(name, parameter) for name, made in settings.items() for parameter in parameters_of(type(made))]
    return [(name, parameter) for name, parameter in declared if parameter.kind in ("number", "integer")]


def beyond(declared: Parameter) -> list[float]:
    """The nearest values that are not allowed, and what is no number at all."""
    wrong: list[float] = [] if declared.kind == "integer" else [math.nan, math.inf, -math.inf]
    step = 1 if declared.kind == "integer" else 0
    if declared.minimum is not None:
        wrong.append(declared.minimum - 1 if step else math.nextafter(declared.minimum, -math.inf))
    if declared.maximum is not None:
        wrong.append(declared.maximum + 1 if step else math.nextafter(declared.maximum, math.inf))
    return wrong + [limit for limit in (declared.above, declared.below) if limit is not None]


def assert_refusal(message: str, declared: Parameter) -> None:
    assert declared.name in message and declared.limits() in message
    assert declared.unit in declared.limits()
    assert "\n" not in message


@pytest.mark.parametrize(("name", "declared"), numbers(SETTINGS), ids=lambda value: getattr(value, "name", value))
def test_settings_out_of_range_are_refused_with_unit_and_range(name: str, declared: Parameter) -> None:
    for value in beyond(declared):
        with pytest.raises(SceneError) as error:
            dataclasses.replace(SETTINGS[name], **{declared.name: value})
        assert_refusal(str(error.value), declared)


@pytest.mark.parametrize(("name", "declared"), numbers(SHAPE_SETTINGS), ids=lambda value: getattr(value, "name", value))
def test_shapes_out_of_range_are_refused_with_unit_and_range(name: str, declared: Parameter) -> None:
    for value in beyond(declared):
        with pytest.raises(SceneError) as error:
            dataclasses.replace(SHAPE_SETTINGS[name], **{declared.name: value}).check('Emitter "ball"')
        assert_refusal(str(error.value), declared)
        assert str(error.value).startswith('Emitter "ball": ')
