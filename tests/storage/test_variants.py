"""Variants of a scene: what they change, and one clear line for every mistake."""

import dataclasses
import tempfile
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from mpm_addon.core.errors import MpmError, PresetError, SceneError
from mpm_addon.core.geometry.shapes import Box, Sphere
from mpm_addon.storage import read_scene, scene_hash, write_scene
from mpm_addon.storage.scene_file import read_scene_words

SCENE = """
schema = 1
name = "jellies"
description = "Two jellies fall."
source = "Made up."
[time]
fps = 30
[solver]
grid_spacing = 0.05
[domain]
kind = "box"
min = [-1, -1, 0]
max = [1, 1, 2]
friction = 0.5
[domain.sides.z_max]
surface = "open"
[materials.jelly]
law = "corotated"
young_modulus = 1e4
[[emitters]]
name = "left"
material = "jelly"
velocity = [1, 0, 0]
shape = { kind = "sphere", center = [-0.5, 0, 1], radius = 0.2 }
[[emitters]]
material = "jelly"
shape = { kind = "sphere", center = [0.5, 0, 1], radius = 0.2 }
[[colliders]]
name = "floor"
shape = { kind = "plane" }
"""
STIFF = """
[variants.stiff]
description = "Ten times as stiff, on ice."
leave_out = ["emitter_2"]
[variants.stiff.time]
fps = 60
[variants.stiff.domain]
friction = 0.0
[variants.stiff.domain.sides.z_min]
surface = "sticky"
[variants.stiff.materials.jelly]
young_modulus = 1e5
[variants.stiff.materials.snow]
preset = "powder_snow"
[variants.stiff.emitters.left]
velocity = [0, 0, -1]
shape = { radius = 0.3 }
[variants.stiff.emitters.ball]
material = "snow"
shape = { kind = "box", center = [0, 0, 1], size = [0.2, 0.2, 0.2] }
[variants.boxes]
[variants.boxes.materials.jelly]
law = "neo_hookean"
[variants.boxes.emitters.emitter_2.shape]
kind = "box"
size = [0.5, 0.5, 0.5]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "scene.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_variant_changes_what_it_says_and_nothing_else(tmp_path: Path) -> None:
    path = written(tmp_path, SCENE + STIFF)
    scene, stiff = read_scene(path), read_scene(path, "stiff")
    assert scene == read_scene(written(tmp_path, SCENE))
    assert (stiff.time.fps, stiff.time.frame_end) == (60.0, scene.time.frame_end)
    assert stiff.domain.min == scene.domain.min
    assert stiff.domain.sides["x_min"].friction == 0.0
    assert [stiff.domain.sides[name].surface for name in ("z_min", "z_max", "x_min")] == ["sticky", "open", "slip"]
    assert list(stiff.materials) == ["jelly", "snow"]
    assert stiff.materials["jelly"].law == dataclasses.replace(scene.materials["jelly"].law, young_modulus=1e5)
    left, ball = stiff.emitters
    larger = Sphere(center=(-0.5, 0.0, 1.0), radius=0.3)
    assert left == dataclasses.replace(scene.emitters[0], velocity=(0.0, 0.0, -1.0), shape=larger)
    assert (ball.name, ball.material) == ("ball", "snow")
    assert stiff.colliders == scene.colliders
    assert stiff.name == "jellies (stiff)"


def test_a_table_of_another_kind_replaces_the_scenes(tmp_path: Path) -> None:
    boxes = read_scene(written(tmp_path, SCENE + STIFF), "boxes")
    assert boxes.emitters[1].shape == Box(size=(0.5, 0.5, 0.5))
    assert boxes.materials["jelly"].law.name == "neo_hookean"
    assert boxes.materials["jelly"].law.young_modulus == 1e5  # the law's own default, not the scene's 1e4


def test_a_variant_is_another_scene_and_is_written_whole(tmp_path: Path) -> None:
    path = written(tmp_path, SCENE + STIFF)
    stiff = read_scene(path, "stiff")
    assert scene_hash(stiff) != scene_hash(read_scene(path))
    again = write_scene(stiff, tmp_path / "again")
    assert read_scene(again) == stiff
    assert "variants" not in again.read_text(encoding="utf-8")


def test_the_texts_of_a_scene_do_not_change_it(tmp_path: Path) -> None:
    words = read_scene_words(written(tmp_path, SCENE + STIFF))
    assert (words.description, words.source) == ("Two jellies fall.", "Made up.")
    assert words.variants == {"stiff": "Ten times as stiff, on ice.", "boxes": ""}
    plain = SCENE.replace('description = "Two jellies fall."\nsource = "Made up."\n', "")
    assert scene_hash(read_scene(written(tmp_path, SCENE))) == scene_hash(read_scene(written(tmp_path, plain)))


@pytest.mark.parametrize(
    ("addition", "expected"),
    [
        ("[variants.a]\nsolvr = {}", 'Variant "a": unknown key "solvr" (did you mean "solver"?)'),
        ("[variants.a]\nname = 'b'", 'Variant "a": unknown key "name"'),
        ("[variants.a.solver]\ngrid_spacin = 1", 'Variant "a": solver: unknown key "grid_spacin" (did you mean "grid_spacing"?)'),
        ("[variants.a.solver]\ngrid_spacing = -1", 'Variant "a": solver: grid_spacing -1 m is not allowed'),
        ("[variants.a.solver]\ngrid_spacing = 0.9", "is larger than the object"),
        ("[variants.a.materials.jely]\ndensity = 1", 'Variant "a", materials: "jely" is not in the scene (did you mean "jelly"?)'),
        ("[variants.a.materials.jelly]\npreset = 'powder_sno'", 'Variant "a": material preset "powder_sno" is unknown'),
        ("[variants.a.materials.jelly]\nviscosity = 1", 'Variant "a": Material "jelly": unknown key "viscosity"'),
        ("[variants.a.emitters.lefft]\nmode = 'once'", 'Variant "a", emitters: "lefft" is not in the scene (did you mean "left"?)'),
        ("[variants.a.emitters.left]\nname = 'right'", "\"left\" cannot be renamed to 'right'"),
        ("[variants.a.emitters.left]\nvelocity = 3", 'Variant "a": Emitter "left": velocity 3'),
        ("[variants.a.emitters.left.shape]\nsize = [1, 1, 1]", 'Variant "a": Emitter "left", shape: unknown key "size"'),
        ("[variants.a]\nemitters = 3", 'Variant "a", emitters: 3 is not a table'),
        ("[variants.a]\ncolliders = { floor = 3 }", 'Variant "a", colliders.floor: 3 is not a table'),
        ("[[variants.a.emitters]]\nname = 'left'", "is not a table; use the entries' names as keys"),
        ("[variants.a]\nleave_out = ['flor']", 'leave_out "flor" is unknown (did you mean "floor"?)'),
        ("[variants.a]\nleave_out = 'floor'", "leave_out 'floor' is not allowed"),
        ("[variants.a]\ndescription = 3", 'Variant "a": description 3 is not allowed'),
        ("[variants]\na = 3", 'Variant "a": 3 is not a table'),
        ("[[colliders]]\nname = 'floor'\nshape = { kind = 'plane' }\n[variants.a]", 'Collider "floor" appears twice'),
    ],
)
def test_what_is_wrong_in_a_variant_is_wrong_in_the_file(tmp_path: Path, addition: str, expected: str) -> None:
    path = written(tmp_path, f"{SCENE}\n{addition}\n")
    for variant in (None, "a"):
        with pytest.raises((SceneError, PresetError)) as caught:
            read_scene(path, variant)
            read_scene_words(path)
        assert expected in str(caught.value)
        assert "\n" not in str(caught.value)


def test_an_unknown_variant_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r'variant "stif" is unknown \(did you mean "stiff"\?\); use one of stiff, boxes\.'):
        read_scene(written(tmp_path, SCENE + STIFF), "stif")
    with pytest.raises(SceneError, match='variant "stif" is unknown, because it has no variants'):
        read_scene(written(tmp_path, SCENE), "stif")


WORDS = st.sampled_from(
    ["time", "solver", "domain", "sides", "materials", "emitters", "colliders", "forces", "left", "floor", "jelly", "shape", "kind",
     "law", "preset", "material", "name", "leave_out", "description", "fps", "velocity", "radius", "min"]
)  # fmt: skip
VALUES = st.recursive(
    st.sampled_from([0, -1, 0.5, True, "", "left", "floor", "box", "water"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_whatever_a_variant_says_it_is_read_or_refused_in_one_line(changes: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), SCENE + "\n" + tomli_w.dumps({"variants": {"a": changes}}))
        try:
            read_scene(path, "a")
        except MpmError as error:
            assert "\n" not in str(error)
