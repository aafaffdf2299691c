"""Every parameter of every law: values in range compute, others are refused in one line with name, unit and range."""

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mpm_addon.core import evaluate_law, return_map
from mpm_addon.core.errors import SceneError
from mpm_addon.core.laws import LAWS
from mpm_addon.core.parameters import LARGEST as LARGEST_NUMBER
from mpm_addon.core.parameters import Parameter, parameters_of

SUBJECT = 'Material "test"'
NUMBERS = [(name, declared) for name, law in LAWS.items() for declared in parameters_of(law) if declared.kind in ("number", "vector")]
WORDS = [(name, declared) for name, law in LAWS.items() for declared in parameters_of(law) if declared.kind == "text"]
LARGEST = 1e9


def ids(pairs: list[tuple[str, Parameter]]) -> list[str]:
    return [f"{name}.{declared.name}" for name, declared in pairs]


def given_value(declared: Parameter, number: float) -> Any:
    """A value of the parameter's kind: a number, or a vector of which one component is that number and the rest are allowed."""
    return (number, *[sample(declared)] * (declared.size - 1)) if declared.kind == "vector" else number


def sample(declared: Parameter) -> float:
    low, high = bounds(declared)
    return 0.5 * (low + min(high, low + 1.0))


def bounds(declared: Parameter) -> tuple[float, float]:
    """The least and the greatest allowed float."""
    low, high = -LARGEST_NUMBER, LARGEST_NUMBER
    if declared.minimum is not None:
        low = declared.minimum
    if declared.above is not None:
        low = math.nextafter(declared.above, math.inf)
    if declared.maximum is not None:
        high = declared.maximum
    if declared.below is not None:
        high = math.nextafter(declared.below, -math.inf)
    return low, high


def refusal(name: str, key: str, value: Any) -> str | None:
    try:
        LAWS[name](**{key: value}).check(SUBJECT)
    except SceneError as error:
        return str(error)
    return None


def assert_refused(name: str, declared: Parameter, value: Any) -> None:
    message = refusal(name, declared.name, value)
    assert message is not None, f"{name}.{declared.name} = {value} is allowed"
    assert message.startswith(f"{SUBJECT}: {declared.name} ")
    words = f" is not allowed; use {declared.limits()}"
    assert message.endswith((f"{words}.", f"{words}, at most {LARGEST_NUMBER:g} in magnitude."))
    assert declared.limits().endswith(f" {declared.unit}" if declared.unit else "")
    for limit in (declared.minimum, declared.maximum, declared.above, declared.below):
        assert limit is None or f"{limit:g}" in message
    assert "\n" not in message


@pytest.mark.parametrize(("name", "declared"), NUMBERS, ids=ids(NUMBERS))
def test_limits_themselves_are_right_to_the_last_digit(name: str, declared: Parameter) -> None:
    low, high = bounds(declared)
    if declared.kind == "number":
        for limit in (low, high):
            if math.isfinite(limit):
                assert refusal(name, declared.name, limit) is None
    for beyond in (math.nextafter(low, -math.inf), math.nextafter(high, math.inf), math.nan, math.inf, -math.inf):
        if not low <= beyond <= high or not math.isfinite(beyond):
            assert_refused(name, declared, given_value(declared, beyond))


@pytest.mark.parametrize(("name", "declared"), NUMBERS, ids=ids(NUMBERS))
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_any_number_is_either_in_range_or_refused(name: str, declared: Parameter, data: st.DataObject) -> None:
    number = data.draw(st.floats())
    low, high = bounds(declared)
    if low <= number <= high and math.isfinite(number):
        message = refusal(name, declared.name, given_value(declared, number))
        # a vector's components may also contradict each other
        assert message is None or declared.kind == "vector"
    else:
        assert_refused(name, declared, given_value(declared, number))


@pytest.mark.parametrize(("name", "declared"), NUMBERS, ids=ids(NUMBERS))
@pytest.mark.parametrize("value", ["soft", True, [1.0], {}])
def test_anything_but_a_number_is_refused(name: str, declared: Parameter, value: Any) -> None:
    assert_refused(name, declared, value)


@pytest.mark.parametrize(("name", "declared"), WORDS, ids=ids(WORDS))
def test_words_are_chosen_from_a_list(name: str, declared: Parameter) -> None:
    for word in declared.choices:
        assert refusal(name, declared.name, word) is None
    for wrong in ("", declared.choices[0].upper() + "x", 3.0):
        message = refusal(name, declared.name, wrong)
        assert message is not None and message.startswith(f"{SUBJECT}: {declared.name} ")
        assert message.endswith(f"use one of {', '.join(declared.choices)}.")


def test_every_parameter_is_documented() -> None:
    for law in LAWS.values():
        assert law.label
        for declared in parameters_of(law):
            assert declared.help and not declared.help.endswith("."), f"{law.name}.{declared.name}"
            if declared.kind == "number":
                assert refusal(law.name, declared.name, declared.default if declared.default is not None else declared.example) is None


def parameter_values(declared: Parameter) -> st.SearchStrategy[Any]:
    """Values all over a parameter's range, by order of magnitude where it has no upper limit."""
    if declared.kind == "text":
        return st.sampled_from(declared.choices)
    low, high = bounds(declared)
    if math.isinf(high):
        numbers = st.floats(-6.0, math.log10(LARGEST)).map(lambda power: max(low, 10.0**power))
        numbers = st.one_of(numbers, st.just(low)) if declared.minimum is not None else numbers
    else:
        # a range that opens at a limit is entered by a millionth
        numbers = st.floats(max(low, low + 1e-6 * (high - low) * (declared.above is not None)), high)
        if declared.name == "poisson_ratio":
            numbers = st.floats(low, 0.4999)
    values = st.tuples(*[numbers] * declared.size) if declared.kind == "vector" else numbers
    return st.one_of(st.none(), values) if declared.optional else values


def materials(name: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({declared.name: parameter_values(declared) for declared in parameters_of(LAWS[name])})


@pytest.mark.parametrize("name", LAWS)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data())
def test_any_allowed_material_computes_finite_stress(name: str, data: st.DataObject) -> None:
    parameters = data.draw(materials(name))
    if name in ("sand", "brittle"):
        try:
            LAWS[name](**parameters).check(SUBJECT)
        except SceneError as error:
            # hardening numbers of sand may contradict each other, and a direction may have no length; the message says which
            assert re.search("friction" if name == "sand" else "grain_direction", str(error))
            assume(False)
    dimension = data.draw(st.sampled_from([2, 3]))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    trial = np.eye(dimension) + data.draw(st.floats(0.0, 0.3)) * rng.uniform(-1.0, 1.0, size=(20, dimension, dimension))
    trial = trial[np.linalg.det(trial) > 0.05]
    gradient = rng.normal(size=trial.shape)
    dt = data.draw(st.floats(1e-7, 1e-2))
    f, state = return_map(name, trial, None, parameters, time_step=dt)
    energy, tau = evaluate_law(name, f, parameters, state, gradient)
    assert np.isfinite(f).all() and np.isfinite(energy).all() and np.isfinite(tau).all()
    assert all(np.isfinite(values).all() for values in state.values())
    assert (np.linalg.det(f) > 0.0).all()
    law = LAWS[name](**parameters)
    assert 0.0 <= law.greatest_viscosity() < math.inf
    constants = law.constants(dimension=dimension)
    for index, volume_ratio in enumerate(np.linalg.det(f)):
        kept = tuple(float(values[index]) for values in state.values())
        speed = type(law).wave_speed_squared(constants, float(volume_ratio), kept)
        assert speed == 0.0 if name == "stress_free" else 0.0 < speed < math.inf


def test_contradicting_friction_is_refused() -> None:
    with pytest.raises(SceneError, match="friction_angle and friction_hardening are both set"):
        LAWS["sand"](friction_angle=30.0, friction_hardening=(35.0, 9.0, 0.2, 10.0)).check("sand")
    with pytest.raises(SceneError, match="h0 5 degrees is not above h3 10 degrees"):
        LAWS["sand"](friction_hardening=(5.0, 9.0, 0.2, 10.0)).check("sand")
    with pytest.raises(SceneError, match="to stay below 90 degrees"):
        LAWS["sand"](friction_hardening=(80.0, 90.0, 0.2, 10.0)).check("sand")
