"""A publication plays in a Blender without this extension, and the published file does not change."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender import display
from mpm_addon.blender.baking import child, previews, shown_caches
from mpm_addon.blender.exporting import particle_files, publishing
from mpm_addon.blender.exporting.publication_folder import KIND, MANIFEST
from mpm_addon.blender.interface.operators import commands
from mpm_addon.blender.playback import particle_objects
from mpm_addon.core.errors import MpmError
from mpm_addon.core.particles import ATTRIBUTES
from mpm_addon.core.scene.settings import CacheSettings
from tests.blender.scenes import add_mesh, frame_arrays, write_cache

blender = pytest.mark.blender
COUNTS = {1: 5, 2: 0, 3: 8, 4: 8}
LOOKS = [
    display.Look("red", (1.0, 0.0, 0.0, 1.0), mode="spheres"),
    display.Look("green", (0.0, 1.0, 0.0, 1.0), is_painted=True, mode="spheres"),
]
RENAMED = ("material_index", "color", "temperature")
PAINTED = {"color": 4, "UVMap": 2, "my weight": 1, "way.001": 3}

# In a Blender without the extension: writes the displayed attributes as arrays, and prints the other results.
LOOK = """
import json, os, sys
import bpy, numpy as np
assert not hasattr(bpy.types.Object, "mpm")
bpy.ops.wm.open_mainfile(filepath=sys.argv[1], use_scripts=False)
scene, item = bpy.context.scene, bpy.data.objects["MPM Particles"]
FIELDS = {"FLOAT_VECTOR": ("vector", 3), "FLOAT2": ("vector", 2), "FLOAT_COLOR": ("color", 4), "QUATERNION": ("value", 4)}
def material(item):
    return next(used.name for used in item.data.materials if used)
def instances():
    graph = bpy.context.evaluated_depsgraph_get()
    return [[*each.matrix_world.translation, material(each.object)] for each in graph.object_instances if each.is_instance]
shown = {}
for frame in json.loads(sys.argv[3]):
    scene.frame_set(int(frame // 1), subframe=frame % 1)
    shown[frame] = instances()
item.modifiers["MPM Particles"].show_viewport = False
arrays = {}
for frame in json.loads(sys.argv[3]):
    scene.frame_set(int(frame // 1), subframe=frame % 1)
    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    for attribute in mesh.attributes:
        if attribute.domain == "POINT":
            field, width = FIELDS.get(attribute.data_type, ("value", 1))
            values = np.empty(width * len(attribute.data), np.int32 if attribute.data_type == "INT" else np.float32)
            attribute.data.foreach_get(field, values)
            arrays[f"{frame:g}/{attribute.name}/{attribute.data_type}"] = values
np.savez(sys.argv[2], **arrays)
paths = [each.filepath for group in (bpy.data.cache_files, bpy.data.images, bpy.data.libraries) for each in group]
settings = item.bl_system_properties_get() if hasattr(item, "bl_system_properties_get") else item
driver = bpy.data.cache_files[0].animation_data.drivers[0].driver
print("ANSWER", json.dumps({"shown": shown, "paths": paths, "is_simple": driver.is_simple_expression, "location": list(item.location),
    "has_settings": settings is not None and "mpm" in settings.keys(),
    "blocks": [len(group) for group in (bpy.data.scenes, bpy.data.objects, bpy.data.meshes, bpy.data.cache_files)],
    "packed": [image.packed_file is not None for image in bpy.data.images]}))
sys.stdout.flush()
os._exit(0)
"""


def arrays_of(number: int, count: int) -> dict[str, np.ndarray]:
    """Every attribute of a frame, with values that identify particles and components; painted attributes too."""
    arrays = frame_arrays(number, count)
    random = np.random.default_rng(number)
    for name, kind in ATTRIBUTES.items():
        if kind.dtype == "float32" and name not in ("position", "velocity"):
            arrays[name] = random.random(arrays[name].shape, dtype=np.float32)
    arrays["rotation"] /= np.linalg.norm(arrays["rotation"], axis=1, keepdims=True)
    painted = {name: random.random((count, width) if width > 1 else count, dtype=np.float32) for name, width in PAINTED.items()}
    return {**arrays, **painted}


@pytest.fixture
def saved(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The particle object of a saved file with frames 1 to 5, of which 1 to 4 are baked."""
    monkeypatch.setattr("tests.blender.scenes.frame_arrays", arrays_of)
    write_cache(tmp_path / "cache", COUNTS, CacheSettings(precision="exact", stretch=True, density_ratio=True))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "my shot.blend"))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 5
    item = particle_objects.result_object(scene, "//cache")
    scene.frame_set(3)
    display.dress(item, LOOKS)
    item.location = (0.0, 0.0, 2.0)
    bpy.ops.wm.save_mainfile()
    return item


def look(blend: Path, frames: list[float], tmp_path: Path) -> tuple[dict[str, Any], Mapping[str, np.ndarray]]:
    (tmp_path / "look.py").write_text(LOOK)
    command = [sys.executable, "-P", tmp_path / "look.py", blend, tmp_path / "found.npz", json.dumps(frames)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.rpartition("ANSWER ")[2].splitlines()[0]), np.load(tmp_path / "found.npz")


@blender
def test_a_publication_shows_everything_without_the_extension(bpy: Any, saved: Any, tmp_path: Path) -> None:
    image = bpy.data.images.new("Texture", 4, 4)
    image.filepath_raw, image.file_format = str(tmp_path / "texture.png"), "PNG"
    image.save()
    image.source = "FILE"
    (tmp_path / "sky.mov").write_bytes(b"")
    # Blender's own files need not be copied
    assets = next(Path(bpy.utils.resource_path("LOCAL")).glob("datafiles/assets/**/*.blend"))
    with bpy.data.libraries.load(str(assets), link=True, relative=False) as (source, target):
        kind = next(kind for kind in ("node_groups", "brushes") if getattr(source, kind))
        setattr(target, kind, getattr(source, kind)[:1])
    getattr(target, kind)[0].use_fake_user = True
    clip = bpy.data.images.new("Sky", 4, 4)
    clip.source, clip.filepath = "MOVIE", str(tmp_path / "sky.mov")
    image.use_fake_user = clip.use_fake_user = True
    file_before = (tmp_path / "my shot.blend").read_bytes()
    objects_before = [(each.name, [modifier.name for modifier in each.modifiers]) for each in bpy.data.objects]

    assert commands.run(["publish", "--output", "//out"]) == 0

    assert (tmp_path / "my shot.blend").read_bytes() == file_before
    assert [(each.name, [modifier.name for modifier in each.modifiers]) for each in bpy.data.objects] == objects_before
    assert (bpy.data.filepath, bpy.context.scene.frame_current) == (str(tmp_path / "my shot.blend"), 3)
    assert (len(saved.data.vertices), image.packed_file, len(bpy.data.scenes), len(bpy.data.cache_files)) == (8, None, 1, 0)
    manifest = json.loads((tmp_path / "out" / MANIFEST).read_text())
    assert manifest["outside"] == [str(tmp_path / "sky.mov")]
    assert manifest["notes"][0] == '"MPM Particles" is empty at frame 5: Frame 5 is not baked'

    (tmp_path / "cache").rename(tmp_path / "gone")
    (tmp_path / "texture.png").unlink()
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    found, arrays = look(tmp_path / "elsewhere" / "my shot.blend", [3, 1, 2, 4, 5, 3.25, 2.75], tmp_path)
    assert found["is_simple"] and all(path.startswith("//") for path in found["paths"] if path and "sky" not in path)
    assert not found["has_settings"]
    assert found["location"] == [0.0, 0.0, 2.0] and found["blocks"] == [1, 1, 1, 1] and sorted(found["packed"]) == [False, True]
    for frame, count in {**COUNTS, 5: 0}.items():
        wanted = arrays_of(frame, count)
        places = (wanted["position"] + [0.0, 0.0, 2.0]).tolist()
        materials = [f"MPM {('red', 'green')[index]}" for index in wanted["emitter_index"]]
        assert sorted(found["shown"][str(frame)]) == sorted([*place, name] for place, name in zip(places, materials, strict=True))
        if count:
            check_attributes(arrays, frame, wanted)
    # between two frames, particles move along their velocity from the nearest one
    for frame in (3.25, 2.75):
        wanted = arrays_of(3, 8)
        moved = wanted["position"] + wanted["velocity"] * (frame - 3.0) / 24.0
        np.testing.assert_allclose(arrays[f"{frame:g}/position/FLOAT_VECTOR"].reshape(-1, 3), moved, atol=1e-6)


def check_attributes(arrays: Mapping[str, np.ndarray], frame: int, wanted: dict[str, np.ndarray]) -> None:
    kinds = {("int32", 1): "INT", ("float32", 1): "FLOAT", ("float32", 2): "FLOAT2", ("float32", 3): "FLOAT_VECTOR"}
    for name, values in wanted.items():
        width = values.shape[1] if values.ndim > 1 else 1
        kind = kinds.get((values.dtype.name, width), "QUATERNION" if name == "rotation" else "FLOAT_COLOR")
        stored = f"mpm_{name}" if name in RENAMED else name
        np.testing.assert_allclose(arrays[f"{frame}/{stored}/{kind}"], values.ravel(), atol=2e-7, err_msg=name)
    assert {key.split("/")[1] for key in arrays if key.startswith(f"{frame}/mpm_")} <= {f"mpm_{name}" for name in RENAMED}


@blender
@pytest.mark.slow
def test_publishing_again_replaces_the_publication(bpy: Any, saved: Any, tmp_path: Path) -> None:
    publishing.publish(bpy.context, tmp_path / "out")
    bpy.context.scene.frame_end = 2
    bpy.ops.mpm.publish(directory="//out")
    assert sorted(path.name for path in (tmp_path / "out").rglob("*.usdc")) == ["frame_000001.usdc", "frame_000002.usdc"]


@blender
@pytest.mark.slow
def test_a_folder_that_a_file_browser_names_is_made(bpy: Any, saved: Any, tmp_path: Path) -> None:
    """The browser gives the folder that it shows as well."""
    bpy.ops.mpm.publish(filepath=str(tmp_path / "named"), directory=str(tmp_path))
    assert list((tmp_path / "named").rglob("*.usdc"))


def test_what_cannot_be_published_is_said(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def message(folder: Path) -> str:
        with pytest.raises(MpmError) as caught:
            publishing.publish(bpy.context, folder)
        return str(caught.value)

    assert message(tmp_path / "out") == "The file is not saved; save it first, then publish it."
    if not hasattr(bpy, "fake"):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
        add_mesh(bpy, "Cube")
        assert message(tmp_path / "out") == "Nothing to publish: no object shows a cache, except previews; bake first."
        write_cache(tmp_path / "cache", {1: 5})
        particle_objects.result_object(bpy.context.scene, "//cache")
        assert "is the folder of the open file; choose another folder" in message(tmp_path)
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "thesis.txt").write_text("")
        assert "full contains other files; choose a new or empty folder" in message(tmp_path / "full")
        assert "file cannot be written (File exists)" in message(make_file(tmp_path / "file"))
        bpy.context.scene.frame_end = 1
        monkeypatch.setattr(publishing, "_SCRIPT", make_file(tmp_path / "broken.py", "raise SystemExit('so it ends')"))
        assert message(tmp_path / "out") == "Blender exited with status 1 while processing the copy: so it ends"
        assert not (tmp_path / "out" / "shot.blend").exists()
        (tmp_path / "out" / MANIFEST).write_text(json.dumps({"kind": KIND}))
        (tmp_path / "out" / "shot.blend" / "kept").mkdir(parents=True)
        assert re.fullmatch(r".*shot\.blend cannot be written \(.+\); choose another location\.", message(tmp_path / "out"))


def make_file(path: Path, content: str = "") -> Path:
    path.write_text(content)
    return path


def test_blender_itself_is_started_without_extensions(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []

    def run(command: list[str], **_options: Any) -> subprocess.CompletedProcess[str]:
        started.append(command)
        return subprocess.CompletedProcess(command, 0, "words", "")

    monkeypatch.setattr(child, "_binary", lambda: "/opt/blender")
    monkeypatch.setattr(subprocess, "run", run)
    assert child.run_script(Path("a.py"), ["b"]) == "words"
    assert started[0][:3] == ["/opt/blender", "--background", "--factory-startup"] and started[0][-4:] == ["--python", "a.py", "--", "b"]


@blender
def test_a_preview_is_not_published_and_hides_nothing_there(bpy: Any, saved: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = "//cache"
    write_cache(tmp_path / "cache_preview", {1: 2})
    preview = particle_objects.result_object(scene, "//cache_preview")
    previews.label(scene)
    assert saved.hide_viewport and particle_files.exported_object(scene) == saved
    publishing.publish(bpy.context, tmp_path / "out")
    assert saved.hide_viewport and previews.shown(scene) == preview
    manifest = json.loads((tmp_path / "out" / MANIFEST).read_text())
    assert [job["object"] for job in manifest["objects"]] == ["MPM Particles"]
    found, _arrays = look(tmp_path / "out" / "my shot.blend", [3], tmp_path)
    assert len(found["shown"]["3"]) == COUNTS[3] and found["blocks"] == [1, 1, 1, 1]


@blender
def test_the_object_of_a_preview_is_not_taken_for_another_cache(bpy: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.mpm.cache = str(tmp_path / "cache")
    preview = particle_objects.result_object(scene, str(tmp_path / "cache_preview"))
    previews.label(scene)
    write_cache(tmp_path / "cache", {1: 2})
    assert shown_caches.show_cache(scene) != preview
