"""Files of OpenVDB: what is written is what is read, however far apart; truncated and foreign files are refused."""

from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.particles import Moment
from mpm_addon.storage.arrays import ArrayFileError
from mpm_addon.storage.derived import Origin, read_origin
from mpm_addon.storage.take import VOLUME
from mpm_addon.storage.vdb import Grid, read_info, write_vdb
from mpm_addon.storage.volume_file import write_volume
from tests.derived.vdb_reader import read_vdb

ORIGIN = Origin(Moment(7), "settings", "source", (0, 2))


def grids(count: int = 200) -> list[Grid]:
    """Leaves scattered over many nodes of the tree, in no order; two of them hold nothing."""
    random = np.random.default_rng(3)
    places = np.concatenate([random.integers(-900, 900, (count, 3)), [[0, 0, 0], [0, 0, 1], [-1000000, 5, 1000000]]])
    leaves = random.permutation(np.unique(places, axis=0))
    values = np.where(random.random((len(leaves), 512)) < 0.3, random.random((len(leaves), 512)), 0.0).astype(np.float32)
    values[[1, 5]] = 0.0
    vectors = random.normal(size=(len(leaves), 512, 3)).astype(np.float32) * (values > 0)[..., None]
    return [Grid("density", leaves, values), Grid("velocity", leaves, vectors)]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    given = grids()
    written = write_vdb(tmp_path / "a.vdb", given, 0.25, "words")
    assert written.size == (tmp_path / "a.vdb").stat().st_size
    assert read_info(tmp_path / "a.vdb") == "words"
    found = read_vdb(tmp_path / "a.vdb")
    assert list(found) == ["density", "velocity"]
    for grid in given:
        leaves = found[grid.name]
        assert leaves.voxel == 0.25
        places = {tuple(start // 8): values for start, values in zip(leaves.start, leaves.values, strict=True)}
        half = grid.values.astype(np.float16).astype(np.float32)
        assert len(places) == sum(each.any() for each in half)
        for leaf, values in zip(grid.leaves, half, strict=True):
            if values.any():
                np.testing.assert_array_equal(places[tuple(leaf)].reshape(values.shape), values)


def test_a_grid_may_be_empty(tmp_path: Path) -> None:
    nothing = np.zeros((0, 3), np.int64)
    empty = [Grid("density", nothing, np.zeros((0, 512), np.float32)), Grid("velocity", nothing, np.zeros((0, 512, 3), np.float32))]
    write_vdb(tmp_path / "a.vdb", empty, 0.1)
    assert [len(each.start) for each in read_vdb(tmp_path / "a.vdb").values()] == [0, 0]


def test_the_bytes_depend_only_on_the_content_and_not_on_the_order_of_leaves(tmp_path: Path) -> None:
    first = grids()
    turned = [Grid(each.name, each.leaves[::-1], each.values[::-1]) for each in first]
    sums = [write_vdb(tmp_path / name, given, 0.25).sha256 for name, given in (("a.vdb", first), ("b.vdb", turned), ("a.vdb", first))]
    assert sums[0] == sums[1] == sums[2]
    assert (tmp_path / "a.vdb").read_bytes() == (tmp_path / "b.vdb").read_bytes()
    assert write_vdb(tmp_path / "b.vdb", first, 0.5).sha256 != sums[0]


def test_an_origin_is_read_from_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "frame_000007.vdb"
    write_volume(path, ORIGIN, grids(), 0.1)
    assert read_origin(path, VOLUME) == ORIGIN


@pytest.mark.parametrize("length", [0, 10, 60, 100, 300, -1])
def test_a_truncated_file_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "frame_000007.vdb"
    write_volume(path, ORIGIN, grids(), 0.1)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ArrayFileError, match="damaged"):
        read_origin(path, VOLUME)


@pytest.mark.parametrize("info", ["", "words", "[1, 2]", '{"number": 1}', '{"number": NaN}'])
def test_a_file_of_another_program_is_refused(tmp_path: Path, info: str) -> None:
    write_vdb(tmp_path / "a.vdb", grids(5), 0.1, info)
    with pytest.raises(ArrayFileError, match="header"):
        read_origin(tmp_path / "a.vdb", VOLUME)
