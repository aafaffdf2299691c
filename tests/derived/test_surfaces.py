"""Surfaces made from caches: their volume and attributes, and what `derive` prints, resumes and deletes."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trimesh

from mpm_addon.core.geometry.shapes.mesh import Mesh
from mpm_addon.core.laws import LAWS
from mpm_addon.core.particles import Moment
from mpm_addon.core.scene.description import Emitter, Material
from mpm_addon.derived.particles import Cloud, groups_of
from mpm_addon.derived.reconstruction import reconstruct
from mpm_addon.derived.settings import SurfaceSettings
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import State, counts_of, derived_path, state_of
from mpm_addon.storage.surface_file import SurfacePiece, surface_at
from mpm_addon.storage.take import SURFACE
from tests.derived.caches import SPACING, arrays, block, description, write_cache
from tests.derived.caches import derived as derive
from tests.derived.skins import cube, scene_of

ROOT = Path(__file__).parents[2]
DRAFT = ("--quality", "draft")


def pieces(cache: Path, number: int = 1) -> dict[str, SurfacePiece]:
    return {piece.name: piece for piece in surface_at(open_cache(cache), Moment(number)).pieces}


def closed(piece: SurfacePiece) -> trimesh.Trimesh:
    return trimesh.Trimesh(piece.position, piece.triangles, process=False)


def test_a_block_at_rest_keeps_its_volume_and_is_closed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = 24
    write_cache(tmp_path, arrays(block(size, (100.0, 0.0, -3.0))))
    assert derive(capsys, tmp_path)[0] == 0
    mesh = closed(pieces(tmp_path)["water"])
    assert mesh.is_watertight
    # a positive volume says that triangles face outward, too
    assert mesh.volume == pytest.approx((size * SPACING) ** 3, rel=0.02)
    np.testing.assert_allclose(mesh.centroid, [100.0, 0.0, -3.0], atol=0.1 * SPACING)
    # nowhere farther from the block than half a spacing, except where edges are rounded off
    assert (np.abs(mesh.bounds - [100.0, 0.0, -3.0]) <= (0.5 * size + 0.5) * SPACING).all()


def test_vertices_take_what_the_particles_around_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    position = np.concatenate([block(8, (-0.3, 0.0, 0.0)), block(8, (0.3, 0.0, 0.0))])
    emitter = np.repeat([0, 1], 512)
    painted = np.tile(np.array([0.1, 0.2, 0.3, 1.0], np.float32), (1024, 1))
    write_cache(tmp_path, arrays(position, emitter, color=painted))
    assert derive(capsys, tmp_path, *DRAFT)[0] == 0
    found = pieces(tmp_path)["water"]
    assert set(found.arrays) == {"position", "velocity", "age", "stress", "material_index", "emitter_index", "color"}
    np.testing.assert_allclose(found.arrays["velocity"], np.tile([1.0, -2.0, 3.0], (len(found.position), 1)), rtol=1e-3)
    np.testing.assert_allclose(found.arrays["age"], 0.25, rtol=1e-3)
    np.testing.assert_allclose(found.arrays["color"], np.tile([0.1, 0.2, 0.3, 1.0], (len(found.position), 1)), rtol=1e-3)
    far = np.abs(found.position[:, 0]) > 0.1
    np.testing.assert_array_equal(found.arrays["emitter_index"][far], (found.position[far, 0] > 0).astype(int))
    assert set(np.unique(found.arrays["emitter_index"])) == {0, 1}


def test_values_do_not_depend_on_which_others_a_mesh_has() -> None:
    """Scalars are interpolated in groups of three: 1 to 5 of them, beside vectors and values of four components, alone and together."""
    generator = np.random.default_rng(3)
    position = (0.05 * generator.random((300, 3))).astype(np.float32)
    shapes = {"velocity": (300, 3), "heat": (300,), "group 0": (300, 4), "age": (300,), "stress": (300,), "damage": (300,), "wear": (300,)}
    values = {name: generator.random(shape).astype(np.float32) for name, shape in shapes.items()}
    numbers = {"emitter_index": np.repeat(np.array([0, 2, 7], np.int32), 100)}
    recipe = SurfaceSettings().recipe
    whole, _ = reconstruct(Cloud("all", 0.008, position, values, numbers), recipe, None)
    assert set(whole.arrays) == {"position", *values, *numbers}
    for name, array in values.items():
        alone, _ = reconstruct(Cloud("one", 0.008, position, {name: array}, {}), recipe, None)
        # splashsurf may sum in another order
        assert whole.arrays[name] == pytest.approx(alone.arrays[name], rel=1e-5), name
        assert whole.arrays[name].std() > 0.02, name
    assert set(np.unique(whole.arrays["emitter_index"])) == {0, 2, 7}


def test_vertices_are_as_hot_as_the_particles_around(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What glows glows by it."""
    position = np.concatenate([block(4, (-0.3, 0.0, 0.0)), block(4, (0.3, 0.0, 0.0))])
    warm = np.repeat(np.array([20.0, 1160.0], np.float32), 64)
    write_cache(tmp_path, arrays(position, temperature=warm))
    assert derive(capsys, tmp_path, *DRAFT)[0] == 0
    found = pieces(tmp_path)["water"]
    np.testing.assert_allclose(found.arrays["temperature"], np.where(found.position[:, 0] < 0.0, 20.0, 1160.0), rtol=1e-3)


def test_a_material_with_a_texture_takes_its_place_along(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The crust of lava moves with it, so its vertices know where they were at rest; those of water need not."""
    position, moved = block(10), np.array([0.5, 0.0, 0.25], np.float32)
    for material in ("lava", "water"):
        law = LAWS["viscoplastic" if material == "lava" else "water"]()
        usual = description((("flow", "water"),))
        emitters = (replace(usual.emitters[0], material=material),)
        scene = replace(usual, materials={material: Material(material, law)}, emitters=emitters)
        write_cache(tmp_path / material, arrays(position + moved, rest_position=position), scene=scene)
        assert derive(capsys, tmp_path / material, *DRAFT)[0] == 0
        (piece,) = pieces(tmp_path / material).values()
        assert ("rest_position" in piece.arrays) == (material == "lava")
        if material == "lava":
            np.testing.assert_allclose(piece.arrays["rest_position"] + moved, piece.position, atol=SPACING)


def test_damp_sand_keeps_edges_that_water_rounds_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two towers of a castle with a gap of two particles between them."""
    usual, position = description((("flow", "water"),)), block(10)
    position = position[(np.abs(position[:, 0]) > 1.1 * SPACING) | (position[:, 2] < 0.0)]
    depth, textured = {}, set()
    for law, material in (("water", "water"), ("sand", "wet_sand")):
        emitters = (replace(usual.emitters[0], material=material),)
        scene = replace(usual, materials={material: Material(material, LAWS[law]())}, emitters=emitters)
        write_cache(tmp_path / material, arrays(position, rest_position=position), scene=scene)
        assert derive(capsys, tmp_path / material)[0] == 0
        (piece,) = pieces(tmp_path / material).values()
        top = piece.position[(np.abs(piece.position[:, :2]) < 0.6 * SPACING).all(axis=1), 2].max()
        depth[material] = (5.0 * SPACING - top) / SPACING
        textured |= {material} if "rest_position" in piece.arrays else set()
    assert depth["wet_sand"] > 4.0 > depth["water"]
    assert textured == {"wet_sand"}


def test_attributes_are_chosen_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path, arrays(block(6)))
    assert derive(capsys, tmp_path, *DRAFT, "--attributes", "stress, velocity")[0] == 0
    found = pieces(tmp_path)["water"]
    assert set(found.arrays) == {"position", "velocity", "stress", "emitter_index"}
    np.testing.assert_allclose(found.arrays["stress"], 7.0, rtol=1e-3)
    status, _events, words = derive(capsys, tmp_path, "--attributes", "stres")
    assert status == 1
    assert 'has no attribute "stres" for a surface (did you mean "stress"?)' in words
    assert words.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), ["water"]),
        (("--include", "all"), ["water", "sand"]),
        (("--meshes", "emitter"), ["left", "right"]),
        (("--meshes", "emitter", "--include", "all"), ["left", "right", "heap"]),
        (("--meshes", "together", "--include", "all"), [""]),
    ],
)
def test_meshes_of_materials_and_emitters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], names: list[str]
) -> None:
    places = [block(4, (x, 0.0, 0.0)) for x in (-1.0, 0.0, 1.0)]
    write_cache(tmp_path, arrays(np.concatenate(places), np.repeat([0, 1, 2], 64)))
    assert derive(capsys, tmp_path, *DRAFT, *options)[0] == 0
    found = pieces(tmp_path)
    assert list(found) == names
    covered = {"water": (-1, 0), "sand": (1,), "left": (-1,), "right": (0,), "heap": (1,), "": (-1, 0, 1)}
    for name, piece in found.items():
        assert {round(float(x)) for x in piece.position[:, 0]} == set(covered[name])
    emitters = (0, 1, 2) if "--include" in options else (0, 1)
    assert surface_at(open_cache(tmp_path), Moment(1)).origin.emitters == emitters


def test_bodies_with_their_own_mesh_get_a_surface_only_if_there_is_no_liquid() -> None:
    jelly = scene_of(cube(0.1), cube(0.1, (1.0, 0.0, 0.0)))
    water = Emitter(name="water", shape=Mesh(*cube(0.1, (2.0, 0.0, 0.0))), material="water")
    over_time = replace(jelly.emitters[1], mode="repeat")
    materials = {**jelly.materials, "water": Material("water", LAWS["water"]())}
    mixed = replace(jelly, materials=materials, emitters=(*jelly.emitters, water))
    cases = ((jelly, "automatic", (0, 1)), (mixed, "automatic", (2,)), (mixed, "all", (0, 1, 2)))
    for scene, include, emitters in cases:
        (group,) = groups_of(scene, SurfaceSettings(meshes="together", include=include))
        assert group.emitters == emitters
    # a mesh cannot follow what is emitted repeatedly, and nothing in two dimensions
    (group,) = groups_of(replace(mixed, emitters=(jelly.emitters[0], over_time, water)), SurfaceSettings(meshes="together"))
    assert group.emitters == (1, 2)
    (group,) = groups_of(replace(mixed, solver=replace(mixed.solver, dimension=2)), SurfaceSettings(meshes="together"))
    assert group.emitters == (0, 1, 2)


def test_if_nothing_is_smooth_everything_gets_a_surface(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path, arrays(block(4)), scene=description((("heap", "sand"),)))
    assert derive(capsys, tmp_path, *DRAFT)[0] == 0
    assert list(pieces(tmp_path)) == ["sand"]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_hardly_any_particles_give_hardly_any_surface(tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int) -> None:
    write_cache(tmp_path, arrays(block(2)[:count]))
    assert derive(capsys, tmp_path, *DRAFT)[0] == 0
    assert len(pieces(tmp_path)) == (1 if count else 0)


def test_no_drop_is_lost_at_any_quality(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A drop of one particle has few faces, and cleaning up the mesh could remove them all."""
    places = 20.0 * SPACING * np.stack(np.meshgrid(*[np.arange(5)] * 3), axis=-1).reshape(-1, 3)
    drops = (places + np.random.default_rng(1).uniform(-1, 1, places.shape) * SPACING).astype(np.float32)
    write_cache(tmp_path, arrays(drops))
    for quality in ("draft", "good", "film"):
        assert derive(capsys, tmp_path, "--quality", quality)[0] == 0
        assert len(closed(pieces(tmp_path)["water"]).split(only_watertight=True)) == len(drops)


def test_a_second_run_makes_nothing_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path, arrays(block(4)), arrays(block(5)), arrays(block(6)))
    status, events, _ = derive(capsys, tmp_path, *DRAFT, "--frames", "2")
    assert (status, [event["event"] for event in events]) == (0, ["start", "frame", "done"])
    before = derived_path(open_cache(tmp_path), Moment(2), SURFACE).stat().st_mtime_ns
    status, events, _ = derive(capsys, tmp_path, *DRAFT)
    assert [(event["event"], event.get("frame")) for event in events] == [("start", None), ("frame", 1), ("frame", 3), ("done", None)]
    assert (events[0]["done"], events[0]["total"]) == (1, 3)
    assert derived_path(open_cache(tmp_path), Moment(2), SURFACE).stat().st_mtime_ns == before


def test_other_settings_and_other_frames_make_a_surface_outdated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path, arrays(block(4)))
    assert derive(capsys, tmp_path, *DRAFT)[0] == 0
    made = SurfaceSettings(quality="draft")
    assert state_of(open_cache(tmp_path), Moment(1), SURFACE, made.hash) is State.MADE
    assert state_of(open_cache(tmp_path), Moment(1), SURFACE, SurfaceSettings().hash) is State.OUTDATED
    assert counts_of(open_cache(tmp_path), SURFACE, SurfaceSettings().hash)[:2] == (0, 1)
    kept = derived_path(open_cache(tmp_path), Moment(1), SURFACE).read_bytes()
    write_cache(tmp_path, arrays(block(5)))
    again = open_cache(tmp_path)
    path = derived_path(again, Moment(1), SURFACE)
    assert state_of(again, Moment(1), SURFACE, made.hash) is State.MISSING  # a new take
    path.parent.mkdir(parents=True)
    path.write_bytes(kept)
    assert state_of(again, Moment(1), SURFACE, made.hash) is State.OUTDATED


def test_the_hash_is_that_of_the_numbers() -> None:
    good = SurfaceSettings()
    assert good.hash == SurfaceSettings(smoothing=good.recipe.smoothing).hash
    others = [{"quality": "film"}, {"smoothing": 3}, {"voxel_size": 0.1}, {"threshold": 0.4}, {"meshes": "together"}]
    others += [{"include": "all"}, {"attributes": "age"}]
    assert len({good.hash, *(SurfaceSettings(**each).hash for each in others)}) == len(others) + 1


def test_a_damaged_surface_is_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = write_cache(tmp_path, arrays(block(4)))
    assert derive(capsys, tmp_path, *DRAFT)[0] == 0
    path = derived_path(cache, Moment(1), SURFACE)
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    assert [event["event"] for event in derive(capsys, tmp_path, *DRAFT)[1]] == ["start", "frame", "done"]
    assert path.read_bytes() == whole


def test_the_frame_before_a_damaged_one_is_not_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpm_addon.derived.forecast._SAMPLES", 1)  # not the damaged one
    cache = write_cache(tmp_path, *(arrays(block(4)) for _ in range(3)))
    path = cache.frame_path(3)
    path.write_bytes(path.read_bytes()[:-9])
    status, events, _ = derive(capsys, tmp_path, *DRAFT)
    assert (status, [event.get("frame") for event in events]) == (1, [None, 1, 2, None])
    assert [state_of(cache, Moment(number), SURFACE, SurfaceSettings(quality="draft").hash) for number in (1, 2)] == [State.MADE] * 2


def test_deleting_removes_surfaces_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = write_cache(tmp_path, arrays(block(4)), arrays(block(4)))
    before = sorted(path for path in tmp_path.rglob("*"))
    assert derive(capsys, tmp_path, *DRAFT)[0] == 0
    own = derived_path(cache, Moment(1), SURFACE).parent / "notes.txt"
    own.write_text("mine")
    assert derive(capsys, tmp_path, "--delete")[1] == [{"event": "deleted", "kind": "surface", "frames": 2}]
    assert own.read_text() == "mine"
    own.unlink()
    derive(capsys, tmp_path, "--delete")
    assert sorted(path for path in tmp_path.rglob("*")) == before


def test_an_estimate_is_of_the_right_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path, arrays(block(16)))
    (estimate,) = derive(capsys, tmp_path, "--estimate")[1]
    assert not derived_path(open_cache(tmp_path), Moment(1), SURFACE).exists()
    assert derive(capsys, tmp_path)[0] == 0
    size = counts_of(open_cache(tmp_path), SURFACE, SurfaceSettings().hash).size
    assert (estimate["event"], estimate["frames"]) == ("estimate", 1)
    assert 0.5 * size < estimate["bytes"] < 3.0 * size


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--frames", "7-9"), r"there are no frames 7-9; frames 1 to 1 are cached\."),
        (("--frames", "9-7"), r"frames 9-7: the last is before the first; swap them\."),
        (("--voxel-size", "-1"), r"Surface: voxel_size -1 m is not allowed; use a finite number above 0 m\."),
        (("--voxel-size", "1e-6"), r"Surface: a frame would have about .* triangles; use a larger voxel size\."),
        (("--threshold", "2"), r"Surface: threshold 2 is not allowed; use a finite number at least 0\.1 and at most 0\.9\."),
    ],
)
def test_wrong_requests_are_answered_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], words: str
) -> None:
    write_cache(tmp_path, arrays(block(4)))
    status, events, told = derive(capsys, tmp_path, *options)
    assert (status, events[-1]["event"], told.count("\n")) == (1, "error", 1)
    assert re.search(words, told), told


def test_there_may_be_no_cache_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        status, _events, words = derive(capsys, folder)
        assert (status, words.count("\n")) == (1, 1)
        assert "contains no cache" in words


def test_a_flat_scene_has_no_surface(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path, arrays(block(2)), scene=description(dimension=2))
    status, _events, words = derive(capsys, tmp_path)
    assert status == 1
    assert "is two-dimensional" in words
