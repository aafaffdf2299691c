"""Bonds from a bake to the cache: stored once with the births, parted bonds with each frame."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.bake import Order, bake
from mpm_addon.core.bonds import Bonds
from mpm_addon.core.errors import CacheError
from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.stepping.simulation import simulate
from mpm_addon.storage import frame_file
from mpm_addon.storage.births import births_name
from mpm_addon.storage.cache import open_cache
from mpm_addon.storage.scene_writer import write_scene
from tests.core.scenes import LATTICE, box
from tests.core.test_bonds import flying_apart

FRAMES = 7


def two_bars() -> Scene:
    """A bar that tears, and another that is emitted later."""
    torn = flying_apart(frames=FRAMES)
    later = Emitter(
        "later", box((0.0, 0.0, 1.0), (0.8, 0.2, 0.2)), "neo_hookean", frame_start=3, angular_velocity=(0.0, 900.0, 0.0), **LATTICE
    )
    return replace(torn, emitters=(*torn.emitters, later))


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("torn")
    write_scene(two_bars(), folder / "scene")
    bake(folder / "scene", folder / "cache")
    return folder


def test_a_cache_tells_which_bonds_have_parted_and_when(baked: Path) -> None:
    cache = open_cache(baked / "cache")
    assert cache.manifest["attributes"]["damage"]["components"] == 1
    counts = []
    for frame in simulate(two_bars()):
        wanted, found = frame.bonds, cache.bonds(frame.number)
        assert wanted is not None
        assert np.array_equal(found.pairs, wanted.pairs)
        assert np.array_equal(found.parted, wanted.parted)
        shown = cache.frame(frame.number)
        assert shown.attribute("damage") == pytest.approx(frame.attribute("damage"), abs=1e-3)
        assert shown.bonds is None
        counts.append((len(found), int((~found.is_whole).sum())))
    assert counts[0][0] < counts[-1][0]
    assert counts[0][1] == 0 < counts[-1][1]


def test_a_resumed_bake_writes_the_same_bytes(baked: Path, tmp_path: Path) -> None:
    bake(baked / "scene", tmp_path, Order(frames=(1, 5)))
    bake(baked / "scene", tmp_path)
    whole, parts = (
        {path.name: path.read_bytes() for path in (folder / "takes/0001/frames").iterdir()} for folder in (baked / "cache", tmp_path)
    )
    assert whole == parts


def test_a_take_continues_with_the_bonds_of_the_earlier_one(baked: Path, tmp_path: Path) -> None:
    """The other take tears less easily; up to its first frame, the bonds are those of the first."""
    shutil.copytree(baked / "cache", tmp_path / "cache")
    scene = two_bars()
    material = scene.materials["neo_hookean"]
    tougher = replace(material, law=replace(material.law, tear_stretch=3.0))
    write_scene(replace(scene, materials={"neo_hookean": tougher}), tmp_path / "scene")
    bake(tmp_path / "scene", tmp_path / "cache", Order(from_frame=4))
    first, second = open_cache(tmp_path / "cache", take=1), open_cache(tmp_path / "cache", take=2)
    for one, other in ((first.bonds(4), second.bonds(4)), (first.bonds(4), second.bonds(FRAMES))):
        assert np.array_equal(first.bonds(FRAMES).pairs, other.pairs)
        assert np.array_equal(one.parted, other.parted)
    assert (~first.bonds(FRAMES).is_whole).sum() > (~second.bonds(FRAMES).is_whole).sum()


def test_material_that_began_without_bonds_cannot_tear_later(baked: Path, tmp_path: Path) -> None:
    shutil.copytree(baked / "cache", tmp_path / "cache")
    scene = two_bars()
    material = scene.materials["neo_hookean"]
    write_scene(
        replace(scene, materials={"neo_hookean": replace(material, law=replace(material.law, tear_stretch=0.0))}), tmp_path / "scene"
    )
    with pytest.raises(Exception, match="tearing False differs from True"):
        bake(tmp_path / "scene", tmp_path / "cache", Order(from_frame=4))


def test_a_cache_without_tearing_has_no_bonds(tmp_path: Path) -> None:
    write_scene(flying_apart(0.0, frames=2), tmp_path / "scene")
    bake(tmp_path / "scene", tmp_path / "cache")
    cache = open_cache(tmp_path / "cache")
    assert "damage" not in cache.manifest["attributes"]
    assert len(cache.bonds(2)) == 0


def test_damaged_bonds_are_found(baked: Path, tmp_path: Path) -> None:
    shutil.copytree(baked / "cache", tmp_path / "cache")
    births = tmp_path / "cache/takes/0001/births"
    path = sorted(births.iterdir())[0]
    data = path.read_bytes()
    # the bonds are the last section
    path.write_bytes(data[:-20] + bytes(20))
    cache = open_cache(tmp_path / "cache")
    assert len(cache.frame(1).id)
    with pytest.raises(CacheError, match=path.name):
        cache.bonds(1)
    assert any(path.name in message.text() for message in cache.damaged())


def _with(header: dict[str, Any], name: str, **changes: Any) -> dict[str, Any]:
    return {**header, "parted": {**header["parted"], name: {**header["parted"][name], **changes}}}


@pytest.mark.parametrize(
    "change",
    [
        lambda header: _with(header, "bond", dtype="<i8"),
        lambda header: _with(header, "bond", shape=[10**12]),
        lambda header: _with(header, "bond", encoding="ids", shape=[10**12], bytes=0),
        lambda header: _with(header, "time", section=10**6),
        lambda header: {**header, "parted": {"bond": header["parted"]["bond"]}},
        lambda header: {**header, "parted": 3},
        lambda header: {**header, "emitted": 1},
    ],
)
def test_a_hostile_frame_is_refused(baked: Path, monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    read = frame_file.read_container

    def changed(path: Path, kind: str) -> Any:
        container = read(path, kind)
        container.header.update(change(dict(container.header)))
        return container

    monkeypatch.setattr(frame_file, "read_container", changed)
    with pytest.raises(CacheError):
        open_cache(baked / "cache").bonds(FRAMES)


def test_bonds_take_little_space(baked: Path) -> None:
    """A few bytes for each bond, once."""
    cache = open_cache(baked / "cache")
    bonds: Bonds = cache.bonds(FRAMES)
    count = len(cache.births_of(1)["emitter_index"])
    sizes = [(baked / "cache/takes/0001/births" / births_name(*ids)).stat().st_size for ids in ((0, count // 2), (count // 2, count))]
    assert sum(sizes) < 4 * len(bonds) + 20 * count
