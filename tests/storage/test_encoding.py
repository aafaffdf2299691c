"""Encoding and decoding of arrays: exact ones to the bit, rounded ones within the documented error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mpm_addon.storage import encoding
from mpm_addon.storage.arrays import ArrayFileError
from mpm_addon.storage.encoding import STEPS_PER_CELL, Encoded

CELL = 0.03


def decoded(encoded: Encoded) -> np.ndarray:
    return encoding.decode(encoded.table, len(encoded.data), lambda _size: encoded.data)


@given(hnp.arrays(st.sampled_from([np.float32, np.float64, np.int32, np.uint8, np.bool_]), hnp.array_shapes(max_dims=2, min_side=0)))
def test_exact_arrays_come_back_bit_for_bit(array: np.ndarray) -> None:
    for encode in (encoding.exact, encoding.raw):
        again = decoded(encode(array))
        assert (again.dtype, again.shape, again.tobytes()) == (array.dtype, array.shape, array.tobytes())


@pytest.mark.parametrize("extent", [0.0, 0.5, 50.0, 5000.0])
@pytest.mark.parametrize("center", [0.0, -2.0, 3.0])
def test_positions_come_back_within_a_ten_thousandth_of_a_cell(extent: float, center: float) -> None:
    random = np.random.default_rng(0)
    position = (center + extent * (random.random((500, 3)) - 0.5)).astype(np.float32)
    encoded = encoding.fixed(position, CELL / STEPS_PER_CELL)
    again = decoded(encoded)
    # numbers of float32 far from the origin are no finer than this
    spacing = np.spacing(np.abs(position).max())
    assert np.abs(again.astype(np.float64) - position).max() < 0.62e-4 * CELL + spacing
    assert again.dtype == np.float32
    assert encoded.table["encoding"] == "fixed"
    assert len(encoded.data) == position.size * (3 if extent * STEPS_PER_CELL / CELL < 2**24 else 4)


@pytest.mark.parametrize("position", [[[np.nan, 0, 0]], [[np.inf, 0, 0]], [[0, 0, 0], [1e9, 0, 0]], [[1e20, 0, 0]]])
def test_positions_that_cannot_be_rounded_are_stored_exactly(position: list[list[float]]) -> None:
    array = np.array(position, np.float32)
    encoded = encoding.fixed(array, CELL / STEPS_PER_CELL)
    assert encoded.table["encoding"] == "exact"
    np.testing.assert_array_equal(decoded(encoded), array)


@given(st.floats(1e-20, 1e30))
def test_half_precision_keeps_three_digits_at_any_scale(largest: float) -> None:
    random = np.random.default_rng(1)
    array = (largest * random.uniform(-1.0, 1.0, (200, 3))).astype(np.float32)
    again = decoded(encoding.half(array))
    assert np.abs(again - array).max() <= 5e-4 * np.abs(array).max()
    large = np.abs(array) > 1e-3 * np.abs(array).max()
    assert (np.abs(again - array)[large] <= 5e-4 * np.abs(array)[large]).all()


def test_rotations_come_back_within_a_quarter_of_a_degree() -> None:
    random = np.random.default_rng(2)
    quaternion = random.standard_normal((5000, 4))
    quaternion[0], quaternion[1] = (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.6, -0.8)
    quaternion = (quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)).astype(np.float32)
    again = decoded(encoding.rotation(quaternion))
    cosine = np.abs(np.einsum("ij,ij->i", again.astype(np.float64), quaternion))
    assert np.degrees(2.0 * np.arccos(np.minimum(cosine, 1.0))).max() < 0.25
    assert np.abs(np.linalg.norm(again, axis=1) - 1.0).max() < 1e-6


def test_anything_but_a_rotation_is_stored_exactly() -> None:
    zeros = np.zeros((3, 4), np.float32)
    np.testing.assert_array_equal(decoded(encoding.rotation(zeros)), zeros)


@given(st.lists(st.integers(0, 2**31 - 1), unique=True))
def test_ids_come_back(numbers: list[int]) -> None:
    ids = np.array(sorted(numbers), np.int32)
    np.testing.assert_array_equal(decoded(encoding.ids(ids)), ids)


def test_ids_without_gaps_take_no_bytes() -> None:
    assert encoding.ids(np.arange(1000, dtype=np.int32)).data == b""


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [7, 3]},
        {"shape": [-4, 3]},
        {"shape": [2, 2, 3]},
        {"dtype": "|O"},
        {"dtype": "<U9"},
        {"encoding": "half"},
        {"encoding": "fixed"},
    ],
)
def test_a_table_that_does_not_match_the_bytes_is_refused(change: dict[str, object]) -> None:
    table, data = encoding.exact(np.ones((4, 3), np.float32))
    with pytest.raises((ArrayFileError, KeyError, TypeError, ValueError)):
        encoding.decode({**table, **change}, len(data), lambda _size: data)
