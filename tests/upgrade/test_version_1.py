"""What version 1 wrote can be read.

`version_1` has a scene, and the cache of its bake: a surface for each frame of the first take, and a second take from frame 2 on; and what
`make_version_1` writes: caches with skins, foam, debris, a volume, bonds, heat and pieces, a failed bake, a preset and a wedge.
These files are never written again: a later version reads them as they are, or says in one line what to do.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mpm_addon.bake import bake
from mpm_addon.core.particles import Moment
from mpm_addon.storage import open_cache, read_scene
from mpm_addon.storage.derived import counts_of, read_origin
from mpm_addon.storage.failure import read_failure
from mpm_addon.storage.presets import read_material_preset
from mpm_addon.storage.skin_file import skin_at
from mpm_addon.storage.status import read_status
from mpm_addon.storage.surface_file import surface_at
from mpm_addon.storage.swarm_file import swarm_at
from mpm_addon.storage.take import DEBRIS, FOAM, VOLUME
from mpm_addon.storage.takes import show_take
from mpm_addon.wedge.index import open_index
from tests.upgrade.make_version_1 import CACHES, PRESET, WITH_CHECKPOINT

FOLDER = Path(__file__).parent / "version_1"
PARTICLES = 219
# the frames and the states between them, of the cache "torn"
TORN = [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (4, 0)]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A copy: showing a take writes into the folder."""
    return Path(shutil.copytree(FOLDER / "cache", tmp_path / "cache"))


def test_the_scene_is_read() -> None:
    scene = read_scene(FOLDER / "scene")
    assert (scene.emitters[0].name, scene.emitters[0].material, scene.colliders[0].name) == ("Drop", "water", "Floor")
    assert (scene.time.frame_end, scene.solver.grid_spacing) == (4, 0.1)


@pytest.mark.parametrize("take", [1, 2])
def test_every_frame_of_both_takes_is_read(cache: Path, take: int) -> None:
    show_take(cache, take)
    opened = open_cache(cache)
    assert (opened.take, opened.frames) == (take, [1, 2, 3, 4])
    heights = [float(opened.frame(number).position[:, 2].mean()) for number in (1, 2, 3)]
    # a free fall for 1/24 s a frame: g t^2 / 2, and g t dt / 2 more, with at least 30 substeps of dt in a frame
    fallen = [0.5 * 9.81 * (frames / 24.0) ** 2 for frames in range(3)]
    assert [heights[0] - height for height in heights] == pytest.approx(fallen, abs=1e-3)
    for number in opened.frames:
        assert len(opened.frame(number).id) == PARTICLES


def test_the_first_takes_surfaces_are_read(cache: Path) -> None:
    show_take(cache, 1)
    opened = open_cache(cache)
    for number in opened.frames:
        surface = surface_at(opened, Moment(number))
        assert sum(len(piece.triangles) for piece in surface.pieces) > 1000


def test_a_scene_that_a_take_contains_is_read() -> None:
    scene = read_scene(FOLDER / "cache" / "takes" / "0002" / "scene")
    assert scene.colliders[0].surface == "sticky"


@pytest.mark.parametrize("name", [*CACHES, "failed"])
def test_every_state_of_every_cache_is_read_and_none_is_damaged(name: str) -> None:
    opened = open_cache(FOLDER / name)
    assert list(opened.damaged()) == []
    for moment in opened.whole_moments():
        frame = opened.state(moment)
        assert frame.number == moment.number
        assert all(len(frame.attribute(each)) == len(frame.id) for each in frame.attributes)
    # with the settings that it has, what the scene says is what was baked
    assert read_scene(FOLDER / name / "takes" / "0001" / "scene").time.frame_end >= opened.frames[-1]


@pytest.mark.parametrize("name", CACHES)
def test_a_bake_that_is_complete_remains_as_it_is(name: str, tmp_path: Path) -> None:
    """Its scene has the same hash as when it was baked, or everything would be baked again."""
    copied = Path(shutil.copytree(FOLDER / name, tmp_path / "cache"))
    before = {path: path.read_bytes() for path in copied.rglob("*.mpm")}
    events: list[str] = []
    bake(copied / "takes" / "0001" / "scene", copied, on_event=lambda event: events.append(event.word))
    assert "frame" not in events
    assert {path: path.read_bytes() for path in copied.rglob("*.mpm")} == before


@pytest.mark.parametrize("name", WITH_CHECKPOINT)
def test_a_bake_goes_on_from_a_checkpoint(name: str, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(FOLDER / name, tmp_path / "cache"))
    scene = copied / "takes" / "0001" / "scene" / "scene.toml"
    last = open_cache(copied).frames[-1]
    longer = tmp_path / "scene"
    shutil.copytree(scene.parent, longer)
    (longer / "scene.toml").write_text(scene.read_text().replace(f"frame_end = {last}", f"frame_end = {last + 1}"))
    events: list[dict[str, object]] = []
    bake(longer, copied, on_event=lambda event: events.append(event.fields()))
    assert [event["frame"] for event in events if event["event"] == "frame"] == [last + 1]


def test_bonds_and_states_between_frames_are_read() -> None:
    opened = open_cache(FOLDER / "torn")
    assert [str(moment) for moment in opened.moments] == [str(Moment(number, part, 2 if part else 1)) for number, part in TORN]
    parted = [int((~opened.bonds(number).is_whole).sum()) for number in opened.frames]
    assert parted[0] == 0 < parted[-1] < len(opened.bonds(opened.frames[-1]))
    assert opened.frame(opened.frames[-1]).attribute("damage").max() > 0.2


def test_skins_are_read_and_the_last_is_cut() -> None:
    opened = open_cache(FOLDER / "torn")
    skins = [skin_at(opened, Moment(number)) for number in opened.frames]
    assert skins[0].pieces[0].cut is None
    last = skins[-1].pieces[0].cut
    assert last is not None and len(last.triangles) > 100


@pytest.mark.parametrize(("name", "kind", "least"), [("broken", DEBRIS, 100), ("splashing", FOAM, 1)])
def test_foam_and_debris_are_read(name: str, kind: str, least: int) -> None:
    opened = open_cache(FOLDER / name)
    counts = [len(swarm_at(opened, Moment(number), kind).arrays["id"]) for number in opened.frames]
    assert counts[0] == 0 and counts[-1] >= least


def test_a_volume_is_up_to_date_with_its_frame() -> None:
    opened = open_cache(FOLDER / "splashing")
    origin = read_origin(FOLDER / "splashing" / "takes" / "0001" / "derived" / "volume" / "frame_000001.vdb", VOLUME)
    assert origin.moment == Moment(1)
    counts = counts_of(opened, VOLUME, origin.settings)
    assert (counts.made, counts.outdated) == (1, 0)


def test_heat_and_what_ice_becomes_are_read() -> None:
    described = read_scene(FOLDER / "melting" / "takes" / "0001" / "scene")
    ice = described.materials["ice"]
    assert ice.thermal is not None and ice.thermal.latent_heat == 3.34e5
    assert ice.melts_into is not None and ice.melts_into.name == "water"
    opened = open_cache(FOLDER / "melting")
    assert opened.frame(1).attribute("temperature") == pytest.approx(-1.0, abs=1e-3)
    assert opened.frame(opened.frames[-1]).attribute("temperature").min() > -1.0


def test_pieces_of_rigid_bodies_are_read() -> None:
    opened = open_cache(FOLDER / "brick")
    pieces = opened.pieces()
    assert len(pieces) > 1 and {piece.whole for _, piece in pieces.values()} == {"brick"}
    assert set(opened.frame(opened.frames[-1]).poses) <= set(pieces)


def test_the_status_of_a_failed_bake_is_read() -> None:
    status = read_status(FOLDER / "failed")
    assert status is not None and (status.state, status.done, status.total) == ("error", 2, 6)
    failure = read_failure(FOLDER / "failed")
    assert failure is not None and (failure.frame, len(failure.id)) == (3, 10)
    assert failure.subject in status.message.text()


def test_a_preset_with_heat_and_curves_is_read() -> None:
    preset = read_material_preset(FOLDER / "presets" / "wax_of_a_candle.toml")
    assert (preset.label, preset.law.name) == (PRESET, "viscoplastic")
    assert preset.thermal is not None and preset.thermal.melting_temperature == 48.0
    assert [*map(float, preset.curves["viscosity"][0])] == [42.0, 3000.0]


def test_the_index_of_a_wedge_is_read(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER / "wedge", tmp_path / "wedge"))
    told = json.loads((folder / "wedge.json").read_text())
    index = open_index(folder, told["scene"], told["scene_hash"])
    assert [variant.state for variant in index.variants] == ["done", "failed", "waiting"]
    for variant in index.variants:
        assert read_scene(index.scene_file(variant)).solver.grid_spacing == variant.values["solver.grid_spacing"]


def test_there_is_a_test_for_every_kind_of_file() -> None:
    """A folder that nobody reads protects nothing."""
    assert {path.name for path in FOLDER.iterdir()} == {*CACHES, "cache", "scene", "failed", "presets", "wedge"}
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 600_000
