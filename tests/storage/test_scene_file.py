"""Reading scene files: what they mean, and one clear line for every mistake."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.errors import MpmError, PresetError, SceneError
from mpm_addon.core.geometry.shapes import Box, Mesh, Plane, Points, Sphere
from mpm_addon.core.scene.randomness import UNIFORM, Randomness
from mpm_addon.storage import load_material_preset, read_scene, scene_hash, write_scene
from mpm_addon.storage.presets import material_preset

SCENE = """
schema = 1
name = "pour"
[time]
fps = 30
frame_start = 0
frame_end = 12
[solver]
grid_spacing = 0.05
time_step = "auto"
gravity = [0, 0, -10]
[domain]
kind = "box"
min = [-1, -1, 0]
max = [1, 1, 2]
surface = "sticky"
friction = 0.5
[domain.sides.z_max]
surface = "open"
[materials.water]
law = "water"
bulk_modulus = 100000
[materials.snow]
preset = "powder_snow"
density = 165
[[emitters]]
name = "Cube"
material = "water"
mode = "inflow"
velocity = [1, 0, 0]
particles_per_cell = 6
shape = { kind = "box", center = [0, 0, 1], size = [0.5, 0.5, 0.5], rotation = [0, 0, 45] }
[[emitters]]
name = "Ball"
material = "snow"
shape = { kind = "sphere", radius = 0.2 }
[[colliders]]
name = "Floor"
surface = "slip"
friction = 0.2
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
[[forces]]
kind = "wind"
strength = 3.0
direction = [1, 0, 0]
"""

TETRAHEDRON = (
    np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scene.toml").write_text(SCENE)
    return tmp_path


def edit(folder: Path, old: str, new: str) -> Path:
    text = (folder / "scene.toml").read_text()
    assert old in text
    (folder / "scene.toml").write_text(text.replace(old, new, 1))
    return folder


def message(path: Path) -> str:
    """The one line that reading the scene gives."""
    with pytest.raises(MpmError) as caught:
        read_scene(path)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_every_key_of_the_schema_is_read(folder: Path) -> None:
    scene = read_scene(folder)
    assert scene.name == "pour"
    assert (scene.time.fps, list(scene.time.frames)) == (30.0, list(range(13)))
    assert scene.solver.time_step is None
    assert scene.solver.gravity == (0.0, 0.0, -10.0)
    assert scene.domain.sides["x_min"].surface == "sticky"
    assert scene.domain.sides["x_min"].friction == 0.5
    assert scene.domain.sides["z_max"].surface == "open"
    assert scene.domain.sides["z_max"].friction == 0.5
    assert list(scene.materials) == ["water", "snow"]
    assert scene.materials["water"].law.bulk_modulus == 1e5  # type: ignore[attr-defined]
    cube, ball = scene.emitters
    assert (cube.name, cube.material, cube.mode, cube.velocity, cube.particles_per_cell) == (
        "Cube",
        "water",
        "inflow",
        (1.0, 0.0, 0.0),
        6.0,
    )
    assert cube.shape == Box(center=(0, 0, 1), size=(0.5, 0.5, 0.5), rotation=(0, 0, 45))
    assert ball.shape == Sphere(radius=0.2)
    (floor,) = scene.colliders
    assert (floor.surface, floor.friction, floor.shape) == ("slip", 0.2, Plane(point=(0, 0, 0), normal=(0, 0, 1)))
    assert scene.forces[0].kind == "wind"
    assert (scene.forces[0].strength, scene.forces[0].direction) == (3.0, (1.0, 0.0, 0.0))


def test_a_body_name_is_read_and_written(folder: Path, tmp_path: Path) -> None:
    scene = read_scene(edit(folder, 'name = "Ball"', 'name = "Ball"\nbody = "beam"'))
    assert [emitter.body for emitter in scene.emitters] == ["", "beam"]
    assert read_scene(write_scene(scene, tmp_path / "again")) == scene
    assert scene_hash(scene) != scene_hash(read_scene(edit(folder, '"beam"', '"other"')))


def test_the_file_and_its_folder_are_the_same_scene(folder: Path) -> None:
    assert read_scene(folder) == read_scene(folder / "scene.toml") == read_scene(str(folder))


def test_a_preset_gives_the_law_and_the_file_changes_it(folder: Path) -> None:
    snow, preset = read_scene(folder).materials["snow"].law, load_material_preset("powder_snow")
    assert snow.density == 165.0
    assert snow.hardening == preset.hardening  # type: ignore[attr-defined]
    assert preset.density != 165.0


def test_a_fixed_time_step_is_in_seconds(folder: Path) -> None:
    assert read_scene(edit(folder, 'time_step = "auto"', "time_step = 1e-4")).solver.time_step == 1e-4


@pytest.mark.parametrize("suffix", ["npz", "ply", "obj"])
def test_meshes_come_from_every_format(folder: Path, suffix: str) -> None:
    vertices, triangles = TETRAHEDRON
    path = folder / f"body.{suffix}"
    if suffix == "npz":
        np.savez(path, vertices=vertices.astype(np.float32), triangles=triangles.astype(np.uint16))
    else:
        import trimesh

        trimesh.Trimesh(vertices, triangles, process=False).export(path)
    edit(folder, 'kind = "sphere", radius = 0.2', f'kind = "mesh", file = "body.{suffix}"')
    assert read_scene(folder).emitters[1].shape == Mesh(vertices, triangles)


def test_points_bring_velocities_and_volumes(folder: Path) -> None:
    position, velocity, volume = np.eye(3), np.ones((3, 3)), np.full(3, 1e-6)
    np.savez(folder / "cloud.npz", position=position, velocity=velocity, volume=volume)
    edit(folder, 'kind = "sphere", radius = 0.2', 'kind = "points", file = "cloud.npz"')
    assert read_scene(folder).emitters[1].shape == Points(position, velocity, volume)


def test_a_motion_comes_from_its_file(folder: Path) -> None:
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, :3, 3] = (1.0, 2.0, 3.0)
    np.savez(folder / "poses.npz", frame=np.array([0, 12]), matrix=matrices)
    edit(folder, 'surface = "slip"', 'surface = "slip"\nmotion = "poses.npz"')
    motion = read_scene(folder).colliders[0].motion
    assert motion is not None
    assert motion.matrices is not None
    np.testing.assert_array_equal(motion.frames, [0, 12])
    np.testing.assert_array_equal(motion.matrices, matrices)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("grid_spacing = 0.05", "grid_spacng = 0.05", 'unknown key "grid_spacng" (did you mean "grid_spacing"?)'),
        ("[solver]", "[sovler]", 'unknown key "sovler" (did you mean "solver"?)'),
        ('law = "water"', 'law = "watr"', 'Material "water": law "watr" is unknown (did you mean "water"?)'),
        ("bulk_modulus", "bulk_modlus", 'unknown key "bulk_modlus" (did you mean "bulk_modulus"?)'),
        ('"powder_snow"', '"powder_sno"', 'preset "powder_sno" is unknown (did you mean "powder_snow"?)'),
        ('material = "snow"', 'material = "snwo"', 'material "snwo" does not exist (did you mean "snow"?)'),
        ('kind = "sphere"', 'kind = "spere"', 'shape kind "spere" is unknown (did you mean "sphere"?)'),
        ("radius = 0.2", "radus = 0.2", 'Emitter "Ball", shape: unknown key "radus" (did you mean "radius"?)'),
        ('surface = "slip"', 'surface = "slipp"', 'surface "slipp" is not allowed (did you mean "slip"?)'),
        ("sides.z_max", "sides.z_mx", 'domain.sides: unknown key "z_mx" (did you mean "z_max"?)'),
        ('surface = "open"', 'surfce = "open"', 'domain.sides.z_max: unknown key "surfce" (did you mean "surface"?)'),
        ('kind = "wind"', 'kind = "wnd"', 'kind "wnd" is not allowed (did you mean "wind"?)'),
        ('"auto"', '"auot"', 'solver: time_step "auot" is not allowed (did you mean "auto"?)'),
        ('kind = "box"\nmin', 'kind = "unbounded"\nmin', 'domain: only a box has min; add kind = "box" or remove min.'),
        ("schema = 1", "schema = 2", "this version does not support schema 2; use 1."),
        ("schema = 1", "", "schema is missing; begin with schema = 1."),
        ("grid_spacing = 0.05", "", "solver: grid_spacing is missing; use a finite number at least 1e-06 and at most 1e+09 m."),
        ("fps = 30", 'fps = "30"', 'time: fps "30" 1/s is not allowed'),
        ("frame_end = 12", "frame_end = -1", "frame_end -1 is before frame_start 0; use at least 0."),
        ("frame_end = 12", "frame_end = 1.5", "time: frame_end 1.5 is not allowed; use a whole number at least -1e+06 and at most 1e+06."),
        ("density = 165", "density = nan", 'Material "snow": density nan kg/m^3 is not allowed; use a finite number'),
        ("density = 165", "density = -1", 'Material "snow": density -1 kg/m^3 is not allowed'),
        ("density = 165", "poisson_ratio = 0.5", 'Material "snow": poisson_ratio 0.5 is not allowed; use'),
        ("radius = 0.2", "radius = 0.0", 'Emitter "Ball"'),
        ("radius = 0.2", "radius = 0.01", "0.05 m is larger than the object (0.02 m); use at most 0.01 m."),
        ('shape = { kind = "sphere", radius = 0.2 }', "", 'Emitter "Ball": shape is missing'),
        ('{ kind = "sphere", radius = 0.2 }', '"sphere"', "Emitter \"Ball\": shape 'sphere' is not a table"),
        ("[[colliders]]", "[colliders]", "colliders is not a list of tables; begin each with [[colliders]]."),
        ('material = "snow"', "", 'Emitter "Ball": material None is not allowed'),
        ('law = "water"', 'law = "water"\npreset = "water"', 'Material "water" needs either a law'),
        ('{ kind = "sphere", radius = 0.2 }', '{ kind = "plane" }', "has no inside to fill"),
        ("schema = 1", "schema = 1 =", "is not valid TOML"),
    ],
)
def test_a_mistake_gives_one_line_that_names_it(folder: Path, old: str, new: str, expected: str) -> None:
    assert expected in message(edit(folder, old, new))


def test_a_missing_scene_is_named(tmp_path: Path) -> None:
    assert message(tmp_path / "none.toml") == f"{tmp_path}/none.toml: the file does not exist; check the path."


def test_an_unknown_preset_is_a_preset_error(folder: Path) -> None:
    with pytest.raises(PresetError):
        read_scene(edit(folder, '"powder_snow"', '"porridge"'))


@pytest.mark.parametrize("name", ["../body.npz", "/etc/body.npz", "link.npz"])
def test_no_file_outside_of_the_scene_folder_is_read(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "package"
    folder.mkdir()
    np.savez(tmp_path / "body.npz", vertices=TETRAHEDRON[0], triangles=TETRAHEDRON[1])
    (folder / "link.npz").symlink_to(tmp_path / "body.npz")
    text = SCENE.replace('kind = "sphere", radius = 0.2', f'kind = "mesh", file = "{name}"')
    (folder / "scene.toml").write_text(text)
    assert "is outside the scene's folder" in message(folder)


def test_a_file_that_would_run_code_is_refused(folder: Path) -> None:
    np.savez(folder / "body.npz", vertices=np.array([object()]), triangles=TETRAHEDRON[1])
    edit(folder, 'kind = "sphere", radius = 0.2', 'kind = "mesh", file = "body.npz"')
    assert "contains Python objects" in message(folder)


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"vertices": TETRAHEDRON[0]}, 'has no array "triangles"'),
        ({"vertices": TETRAHEDRON[0], "triangles": TETRAHEDRON[1] + 2}, "a triangle with vertex 4 of 4; use 0 to 3"),
        ({"vertices": TETRAHEDRON[0], "triangles": TETRAHEDRON[1][:0]}, "has no faces"),
        ({"vertices": TETRAHEDRON[0], "triangles": TETRAHEDRON[1] * 0.5}, "whole numbers per triangle"),
        ({"vertices": TETRAHEDRON[0][:, :2], "triangles": TETRAHEDRON[1]}, "three numbers per vertex"),
        ({"vertices": TETRAHEDRON[0] * np.nan, "triangles": TETRAHEDRON[1]}, "vertex 0 at [nan nan nan]"),
        ({"vertices": TETRAHEDRON[0] * [1, 1, 0], "triangles": TETRAHEDRON[1]}, "no volume"),
    ],
)
def test_a_bad_mesh_is_named(folder: Path, arrays: dict[str, np.ndarray], expected: str) -> None:
    np.savez(folder / "body.npz", **arrays)
    edit(folder, 'kind = "sphere", radius = 0.2', 'kind = "mesh", file = "body.npz"')
    assert expected in message(folder)
    assert 'Emitter "Ball"' in message(folder)


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"frame": np.array([2, 1]), "matrix": np.tile(np.eye(4), (2, 1, 1))}, "frames that do not ascend"),
        ({"frame": np.array([1])}, 'needs either "matrix"'),
        ({"frame": np.array([1]), "matrix": np.zeros((1, 4, 4))}, "not a transform"),
        ({"frame": np.array([1]), "matrix": np.eye(4)}, "matrix of shape (4, 4)"),
        ({"frame": np.array([1]), "matrx": np.eye(4)}, 'unknown array "matrx"'),
        ({"matrix": np.eye(4)[None]}, 'no array "frame"'),
        ({"frame": np.array([np.inf]), "matrix": np.eye(4)[None]}, "not a finite number"),
    ],
)
def test_a_bad_motion_is_named(folder: Path, arrays: dict[str, np.ndarray], expected: str) -> None:
    np.savez(folder / "poses.npz", **arrays)
    edit(folder, 'surface = "slip"', 'surface = "slip"\nmotion = "poses.npz"')
    assert expected in message(folder)


def test_flags_may_be_booleans(folder: Path) -> None:
    np.savez(folder / "flags.npz", frame=[1, 9], enabled=np.array([True, False]))
    edit(folder, 'surface = "slip"', 'surface = "slip"\nanimation = "flags.npz"')
    animation = read_scene(folder).colliders[0].animation
    assert animation is not None
    assert animation.values["enabled"].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("name", ["body.npz", "body.ply", "body.obj", "body.stl", "body"])
def test_garbage_instead_of_a_mesh_is_named(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"v 1 2\nf 1 2 3\n\xff\x00 rubbish")
    edit(folder, 'kind = "sphere", radius = 0.2', f'kind = "mesh", file = "{name}"')
    assert f'Emitter "Ball": file "{name}"' in message(folder)


def test_reading_loads_neither_numba_nor_blender() -> None:
    import subprocess
    import sys

    modules = "mpm_addon.storage, mpm_addon.command_line.main, mpm_addon.bake"
    code = f"import sys, {modules};print(sorted({{'numba', 'llvmlite', 'bpy'}} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_randomness_comes_from_the_preset_and_a_file_changes_it(tmp_path: Path) -> None:
    text = """
schema = 1
[solver]
grid_spacing = 0.1
[materials.packed]
preset = "snow"
density = 300
[materials.plain]
law = "snow"
"""
    emitters = "[[emitters]]\n" + 'material = "{}"\n{}\nshape = {{ kind = "sphere", radius = 0.5 }}\n'
    path = tmp_path / "scene.toml"
    own = "randomness = { strength = 0.5, seed = 7 }"
    path.write_text(text + "".join(emitters.format(*each) for each in (("packed", ""), ("packed", own), ("plain", ""), ("plain", own))))
    found = [emitter.randomness for emitter in read_scene(path).emitters]
    preset = material_preset("snow").randomness
    assert preset.amounts
    assert found == [preset, replace(preset, strength=0.5, seed=7), UNIFORM, Randomness(strength=0.5, seed=7)]
    path.write_text(text + emitters.format("packed", "randomness = { strenght = 0.5 }"))
    with pytest.raises(SceneError, match=r'^Emitter "emitter_1", randomness: unknown key "strenght" \(did you mean "strength"\?\)'):
        read_scene(path)
