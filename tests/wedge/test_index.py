"""The index of a wedge: it grows, keeps existing entries, and no path leaves its folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.core.errors import CacheError
from mpm_addon.storage.wedge_variants import Variation
from mpm_addon.wedge.index import open_index


def variation(**values: Any) -> Variation:
    return Variation({f"solver.{key}": value for key, value in values.items()}, {})


def test_known_values_keep_their_variant_and_new_ones_are_added(tmp_path: Path) -> None:
    index = open_index(tmp_path, "scene.toml", "hash")
    first = index.take([variation(seed=1), variation(seed=2)])
    first[0].state = "done"
    index.write()
    again = open_index(tmp_path, "scene.toml", "hash")
    taken = again.take([variation(seed=3), variation(seed=1.0)])
    assert [variant.name for variant in again.variants] == ["seed_1", "seed_2", "seed_3"]
    assert (taken[1].name, taken[1].state) == ("seed_1", "done")


def test_values_that_read_alike_have_caches_of_their_own(tmp_path: Path) -> None:
    variants = open_index(tmp_path, "scene.toml", "hash").take([variation(cfl=0.1), variation(cfl=0.10000001), variation(cfl="0.1")])
    assert [variant.name for variant in variants] == ["cfl_0.1", "cfl_0.1__2", "cfl_0.1__3"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "other"}, "belongs to another program"),
        ({"schema": 2}, "does not support schema 2"),
        ({"scene_hash": "other"}, "belongs to another scene"),
        ({"variants": 3}, "is damaged"),
        ({"variants": [3]}, "is damaged"),
        ({"variants": [{"name": "../../etc", "values": {}}]}, "is damaged"),
        ({"variants": [{"name": "..", "values": {}}]}, "is damaged"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    open_index(tmp_path, "scene.toml", "hash").write()
    path = tmp_path / "wedge.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(CacheError, match=words):
        open_index(tmp_path, "scene.toml", "hash")


@pytest.mark.parametrize("content", [b"", b"[1", b"\xff", b"[]", b"[" * 100_000])
def test_a_damaged_file_is_never_overwritten(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "wedge.json").write_bytes(content)
    with pytest.raises(CacheError):
        open_index(tmp_path, "scene.toml", "hash")
    assert (tmp_path / "wedge.json").read_bytes() == content
