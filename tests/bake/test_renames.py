"""Renaming what is simulated changes nothing that is simulated: frames are kept, and go by the latest names."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.errors import CacheError, SceneError
from mpm_addon.core.particles import Frame, Piece
from mpm_addon.storage import open_cache, read_scene
from mpm_addon.storage.overview import CacheWatch
from mpm_addon.storage.renames import scene_of
from mpm_addon.storage.skin_file import scenes_of_emission
from mpm_addon.storage.takes import show_take
from tests.storage import stand_in
from tests.storage.stand_in import TAKE, bake_here, frame_bytes, write_small_scene

pytestmark = pytest.mark.usefixtures("stand_in_simulation")

MORE = """
[[emitters]]
name = "cube"
material = "jelly"
shape = { kind = "box", center = [1.25, 0.25, 0.25], size = [0.5, 0.5, 0.5] }
[[colliders]]
name = "floor"
shape = { kind = "plane", normal = [0.0, 0.0, 1.0] }
[[colliders]]
name = "crate"
dynamic = true
shape = { kind = "box", center = [0.25, 0.25, 2.25], size = [0.5, 0.5, 0.5] }
[[forces]]
name = "breeze"
kind = "wind"
[[outflows]]
name = "drain"
shape = { kind = "box", center = [0.25, 0.25, -1.75], size = [0.5, 0.5, 0.5] }
"""
NAMES = ("small", "jelly", "ball", "cube", "floor", "crate", "breeze", "drain")


def write_scene(folder: Path, *, frame_end: int = 6, **names: str) -> Path:
    """A scene with one of everything that has a name, some of them other names."""
    path = write_small_scene(folder, frame_end=frame_end) / "scene.toml"
    text = path.read_text() + MORE
    for name, other in names.items():
        text = text.replace(f'"{name}"', f'"{other}"').replace(f"materials.{name}]", f"materials.{other}]")
    path.write_text(text)
    return folder


@pytest.fixture
def named(tmp_path: Path) -> Path:
    return write_scene(tmp_path / "named")


@pytest.fixture
def posed(monkeypatch: pytest.MonkeyPatch, stand_in_simulation: type[stand_in.Simulation]) -> None:
    """Frames with the poses of dynamic colliders, and a piece of each from frame 2 on."""
    plain = stand_in_simulation._frame

    def frame(self: stand_in.Simulation, substeps: int) -> Frame:
        made = plain(self, substeps)
        names = [collider.name for collider in self._scene.colliders if collider.dynamic]
        poses = {name: np.eye(4) * made.number for name in names}
        if made.number < 2:
            return dataclasses.replace(made, poses=poses)
        broken = {f"{name}/1": Piece(name, np.eye(3), np.array([[0, 1, 2]]), np.array([True])) for name in names}
        poses |= {name: np.eye(4) for name in broken}
        return dataclasses.replace(made, poses=poses, pieces=broken if made.number == 2 else {})

    monkeypatch.setattr(stand_in_simulation, "_frame", frame)


@pytest.mark.parametrize("name", NAMES)
def test_a_renamed_thing_keeps_all_frames(name: str, named: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    bake_here(named, cache)
    whole, first = frame_bytes(cache), open_cache(cache).manifest
    events = bake_here(write_scene(tmp_path / "other", **{name: "Renamed"}), cache)
    assert not [event for event in events if event["event"] == "frame"]
    assert frame_bytes(cache) == whole
    now = open_cache(cache).manifest
    assert now["scene_hash"] == first["scene_hash"]
    assert "Renamed" in str(now) or name in ("breeze", "drain")
    assert "Renamed" in str(read_scene(cache / TAKE / "scene"))
    # and again, with the first names
    bake_here(named, cache)
    assert open_cache(cache).manifest == first


def test_a_renamed_scene_goes_on_to_the_same_bytes(named: Path, tmp_path: Path) -> None:
    bake_here(named, tmp_path / "whole")
    bake_here(write_scene(tmp_path / "short", frame_end=3), tmp_path / "cache")
    events = bake_here(write_scene(tmp_path / "other", ball="Hero", small="Shot", crate="Box"), tmp_path / "cache")
    assert events[0]["resumed_from"] == 3
    assert frame_bytes(tmp_path / "cache") == frame_bytes(tmp_path / "whole")
    assert list(open_cache(tmp_path / "cache").damaged()) == []


@pytest.mark.usefixtures("posed")
def test_frames_go_by_the_latest_names(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    watch = CacheWatch(cache)
    bake_here(write_scene(tmp_path / "short", frame_end=3), cache)
    assert watch.look() is not None
    bake_here(write_scene(tmp_path / "other", crate="Box/1"), cache)
    opened = open_cache(cache)
    for frame in opened.frames:
        wanted = {"Box/1"} | ({"Box/1/1"} if frame >= 2 else set())
        assert set(opened.frame(frame).poses) == wanted
        overview = watch.look()
        assert overview is not None and set(overview.rows[frame]["poses"]) == wanted
    assert {name: piece.whole for name, (_, piece) in opened.pieces().items()} == {"Box/1/1": "Box/1"}
    assert list(opened.damaged()) == []


@pytest.mark.usefixtures("posed")
def test_names_that_change_places_are_told_apart(tmp_path: Path) -> None:
    """What is simulated is the same: the order and the shapes remain."""
    both = MORE.replace('name = "floor"', 'name = "floor"\ndynamic = true')
    first = write_small_scene(tmp_path / "first", frame_end=6)
    (first / "scene.toml").write_text(
        (first / "scene.toml").read_text() + both.replace('kind = "plane", normal = [0.0, 0.0, 1.0]', 'kind = "sphere", radius = 0.3')
    )
    text = (first / "scene.toml").read_text()
    swapped = tmp_path / "swapped"
    swapped.mkdir()
    (swapped / "scene.toml").write_text(text.replace('"floor"', '"?"').replace('"crate"', '"floor"').replace('"?"', '"crate"'))
    cache = tmp_path / "cache"
    bake_here(first, cache)
    assert list(open_cache(cache).frame(1).poses) == ["floor", "crate"]
    bake_here(swapped, cache)
    assert list(open_cache(cache).frame(1).poses) == ["crate", "floor"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("radius = 0.2", "radius = 0.21"),
        # the two emitters change places
        lambda text: (
            text.replace('kind = "sphere", radius = 0.2', "?")
            .replace('kind = "box", center = [1.25, 0.25, 0.25], size = [0.5, 0.5, 0.5]', 'kind = "sphere", radius = 0.2')
            .replace("?", 'kind = "box", center = [1.25, 0.25, 0.25], size = [0.5, 0.5, 0.5]')
        ),
        # what joins emitters is no mere name
        lambda text: text.replace('material = "jelly"', 'material = "jelly"\nbody = "one"'),
    ],
)
def test_a_scene_that_differs_by_more_is_refused(change: object, named: Path, tmp_path: Path) -> None:
    bake_here(named, tmp_path / "cache")
    other = write_scene(tmp_path / "other", ball="Hero")
    (other / "scene.toml").write_text(change((other / "scene.toml").read_text()))  # type: ignore[operator]
    with pytest.raises(CacheError, match="baked before this scene changed"):
        bake_here(other, tmp_path / "cache")


@pytest.mark.usefixtures("posed")
def test_a_take_continues_from_frames_with_other_names(named: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    bake_here(named, cache)
    other = write_scene(tmp_path / "other", ball="Hero", jelly="Jam", crate="Box")
    path = other / "scene.toml"
    path.write_text(path.read_text().replace('kind = "wind"', 'kind = "wind"\nstrength = 3.0'))
    bake_here(other, cache, from_frame=3)
    opened = open_cache(cache)
    assert (opened.take, opened.frames) == (2, [1, 2, 3, 4, 5, 6])
    assert [list(opened.frame(frame).poses) for frame in (1, 6)] == [["Box"], ["Box", "Box/1"]]
    scene = scene_of(opened.takes[0], opened.takes[1])
    assert ([each.name for each in scene.emitters], scene.colliders[1].name) == (["Hero", "cube"], "Box")
    assert [each.emitters[0].name for each in scenes_of_emission(opened)] == ["Hero", "Hero"]
    # the same take again, with its things renamed once more
    path.write_text(path.read_text().replace('"Hero"', '"Star"'))
    bake_here(other, cache, from_frame=3)
    assert (open_cache(cache).take, open_cache(cache).manifest["emitters"]) == (2, ["Star", "cube"])
    show_take(cache, 1)
    assert list(open_cache(cache).frame(1).poses) == ["crate"]


def test_a_take_does_not_continue_with_another_emitter(named: Path, tmp_path: Path) -> None:
    """An emitter that was replaced, not renamed, has another shape."""
    bake_here(named, tmp_path / "cache")
    other = write_scene(tmp_path / "other", ball="Hero")
    (other / "scene.toml").write_text((other / "scene.toml").read_text().replace("radius = 0.2", "radius = 0.25"))
    with pytest.raises(SceneError, match='Emitter 1: name "Hero" differs from "ball"'):
        bake_here(other, tmp_path / "cache", from_frame=3)


def test_arrays_of_renamed_things_are_not_stored_twice(tmp_path: Path) -> None:
    from mpm_addon.core.geometry.shapes import Mesh
    from mpm_addon.storage import write_scene as write_package

    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    mesh = Mesh(vertices, np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]))
    scene = read_scene(write_small_scene(tmp_path / "scene"))
    emitter = dataclasses.replace(scene.emitters[0], shape=mesh)
    for name in ("ball", "Hero"):
        write_package(dataclasses.replace(scene, emitters=(dataclasses.replace(emitter, name=name),)), tmp_path / "package")
    assert len(list((tmp_path / "package").glob("*.npz"))) == 1
    assert read_scene(tmp_path / "package").emitters[0].name == "Hero"
