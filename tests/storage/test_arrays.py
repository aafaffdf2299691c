"""Array files: the same bytes for the same arrays, and all damage is detected."""

import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from mpm_addon.storage.arrays import ArrayFileError, digest, is_whole, read_arrays, write_arrays

ARRAYS = {
    "position": np.arange(12, dtype=np.float32).reshape(4, 3),
    "id": np.arange(4, dtype=np.int32),
    "empty": np.zeros((0, 3)),
    "single": np.array(7),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_arrays(tmp_path / "x.npz", ARRAYS)
    return tmp_path / "x.npz"


def test_arrays_come_back_as_they_were(path: Path) -> None:
    again = read_arrays(path)
    assert list(again) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (again[name].dtype, again[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(again[name], array)


def test_numpy_reads_the_same(path: Path) -> None:
    with np.load(path, allow_pickle=False) as file:
        np.testing.assert_array_equal(file["position"], ARRAYS["position"])


def test_compressed_and_column_major_files_are_read(tmp_path: Path) -> None:
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.savez_compressed(tmp_path / "x.npz", array=array)
    np.testing.assert_array_equal(read_arrays(tmp_path / "x.npz")["array"], array)


def test_the_bytes_depend_on_the_arrays_alone(path: Path, tmp_path: Path) -> None:
    write_arrays(tmp_path / "y.npz", {name: array.copy() for name, array in ARRAYS.items()})
    assert path.read_bytes() == (tmp_path / "y.npz").read_bytes()


def test_every_flipped_bit_is_found_or_harmless(path: Path) -> None:
    whole = path.read_bytes()
    found = 0
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << (position % 8)
        path.write_bytes(damaged)
        try:
            again = read_arrays(path)
        except ArrayFileError:
            found += 1
            continue
        # the archive's own notes (dates, permissions) may change, the numbers never
        for name in set(ARRAYS) & set(again):
            np.testing.assert_array_equal(again[name], ARRAYS[name])
    assert found > len(whole) // 2


def test_every_truncation_is_found(path: Path) -> None:
    whole = path.read_bytes()
    assert is_whole(path)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert not is_whole(path)
        with pytest.raises(ArrayFileError):
            read_arrays(path)


def test_an_array_that_claims_to_be_huge_takes_no_memory(tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }"
    header += b" " * (64 - (len(header) + 11) % 64) + b"\n"
    member = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("huge.npy", member + b"\x00" * 16)
    with pytest.raises(ArrayFileError, match="does not have the length that it states"):
        read_arrays(tmp_path / "x.npz")


def test_bytes_after_an_array_are_found(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive, archive.open("a.npy", "w") as member:
        np.lib.format.write_array(member, np.arange(3))
        member.write(b"more")
    with pytest.raises(ArrayFileError, match="does not have the length that it states"):
        read_arrays(tmp_path / "x.npz")


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", evil=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ArrayFileError, match="Python objects"):
        read_arrays(tmp_path / "x.npz")


def test_the_digest_sees_names_types_shapes_and_values() -> None:
    digests = {
        digest({"a": np.zeros(4)}),
        digest({"b": np.zeros(4)}),
        digest({"a": np.zeros(4, dtype=np.float32)}),
        digest({"a": np.zeros((2, 2))}),
        digest({"a": np.array([0, 0, 0, 1.0])}),
    }
    assert len(digests) == 5
    assert digest({"a": np.zeros(4), "b": np.ones(1)}) == digest({"b": np.ones(1), "a": np.zeros(4)})
