"""Painted attributes from a bake to the cache, its manifest, a resumed bake and the exports."""

import shutil
from pathlib import Path

import numpy as np
import plyfile

from mpm_addon.bake import Order, bake
from mpm_addon.core.geometry.shapes import Points
from mpm_addon.core.scene.description import Emitter, Scene
from mpm_addon.core.scene.painting import Painting
from mpm_addon.storage.cache import open_cache
from mpm_addon.storage.exporters import export_frames
from mpm_addon.storage.exporters.names import plain_names
from mpm_addon.storage.scene_writer import write_scene
from tests.core.scenes import box, material, scene

POINTS = np.random.default_rng(0).uniform(-0.2, 0.2, (30, 3))


def painted_scene() -> Scene:
    color, weight = np.random.default_rng(1).random((30, 4)), np.arange(30.0)
    values = {"color": color, "my weight": weight, "UV.001": color[:, :2], "stiffness": 1.0 + weight}
    cloud = Emitter("cloud", Points(POINTS, volume=np.full(30, 1e-5)), "corotated", painting=Painting(values))
    plain = Emitter("plain", box((1.0, 0.0, 0.0), 0.1), "corotated", frame_start=2)
    return scene(cloud, plain, materials=(material("corotated"),), frames=5)


def test_painted_attributes_go_all_the_way(tmp_path: Path) -> None:
    described = painted_scene()
    write_scene(described, tmp_path / "scene")
    bake(tmp_path / "scene", tmp_path / "whole")
    cache = open_cache(tmp_path / "whole")
    attributes = cache.manifest["attributes"]
    assert attributes["color"] == {"dtype": "float32", "components": 4, "unit": "", "help": "Painted on the emitters"}
    assert [attributes[name]["components"] for name in ("my weight", "UV.001")] == [1, 2] and "stiffness" not in attributes
    frame = cache.frame(3)
    painting = described.emitters[0].painting
    assert painting is not None
    is_cloud = frame.attribute("emitter_index") == 0
    for name in ("color", "my weight", "UV.001"):
        assert np.array_equal(frame.attribute(name)[is_cloud], painting.values[name].astype(np.float32))
        assert not frame.attribute(name)[~is_cloud].any() and (~is_cloud).any()
    bake(tmp_path / "scene", tmp_path / "parts", Order(frames=(1, 3)))
    bake(tmp_path / "scene", tmp_path / "parts")
    for number in range(1, 6):
        name = f"takes/0001/frames/frame_{number:06d}.mpm"
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "parts" / name).read_bytes()
    (ply,) = export_frames(cache, [3], "ply", tmp_path / "a.ply")
    vertices = plyfile.PlyData.read(ply)["vertex"]
    assert np.array_equal(vertices["color_w"], frame.attribute("color")[:, 3])
    assert np.array_equal(vertices["my_weight"], frame.attribute("my weight"))
    assert np.array_equal(vertices["UV_001_y"], frame.attribute("UV.001")[:, 1])
    (vtk,) = export_frames(cache, [3], "vtk", tmp_path / "a.vtk")
    assert b"SCALARS UV_001 float 2\nLOOKUP_TABLE default\n" in vtk.read_bytes()
    (npz,) = export_frames(cache, [3], "npz", tmp_path / "a.npz")
    assert np.array_equal(np.load(npz)["my weight"], frame.attribute("my weight"))
    shutil.rmtree(tmp_path / "parts")


def test_plain_names_stay_apart() -> None:
    assert plain_names(["a b", "a_b", "a.b", "ab"]) == {"a b": "a_b", "a_b": "a_b_2", "a.b": "a_b_3", "ab": "ab"}
