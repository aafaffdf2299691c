"""The size of derived data, told from a scene alone."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.scene.settings import CacheSettings, Solver, Time
from mpm_addon.derived.debris_settings import DebrisSettings
from mpm_addon.derived.foresight import expected_bytes
from mpm_addon.derived.settings import FoamSettings, SkinSettings, SurfaceSettings, VolumeSettings
from mpm_addon.storage.derived import derived_folder
from mpm_addon.storage.skin_file import BYTES_PER_VERTEX
from tests.derived.caches import arrays, derived, write_cache

SPACING, FRAMES = 0.01, 4
ALL = {"surface": SurfaceSettings(), "skin": SkinSettings(), "volume": VolumeSettings(), "foam": FoamSettings(), "debris": DebrisSettings()}


def scene_of(shape: object, law: str = "water", *, preset: str = "", dimension: int = 3, subframes: int = 0) -> Scene:
    name = preset or law
    return Scene(
        "test",
        Solver(grid_spacing=2.0 * SPACING, dimension=dimension),
        {name: Material(name, LAWS[law]())},
        (Emitter(name="matter", shape=shape, material=name),),  # type: ignore[arg-type]
        time=Time(frame_end=FRAMES, subframes=subframes),
        cache=CacheSettings(precision="compact"),
    )


def cuboid(*counts: int) -> np.ndarray:
    """A lattice of particles, jittered as water is."""
    axes = np.meshgrid(*(SPACING * (np.arange(count) + 0.5 - 0.5 * count) for count in counts), indexing="ij")
    places = np.stack(axes, axis=-1).reshape(-1, 3)
    return (places + np.random.default_rng(4).uniform(-0.3, 0.3, places.shape) * SPACING).astype(np.float32)


# a column, a pool of eight spacings, and a column with loose drops around it
BODIES = {"column": (24, 24, 36), "pool": (60, 44, 8)}


@pytest.mark.parametrize("quality", ["draft", "good"])
@pytest.mark.parametrize("body", [*BODIES, "splash"])
def test_the_size_of_a_surface_is_known_before_there_is_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, quality: str
) -> None:
    counts = BODIES.get(body, BODIES["column"])
    position = cuboid(*counts)
    scene = scene_of(SHAPES["box"](size=tuple(SPACING * count for count in counts)))
    expected = expected_bytes(scene, {"surface": SurfaceSettings(quality=quality)})["surface"] / FRAMES
    if body == "splash":
        position[::40] += np.random.default_rng(5).uniform(-0.4, 0.4, position[::40].shape).astype(np.float32)
    values = np.random.default_rng(6).normal(0.0, 1.0, (2, *position.shape)).astype(np.float32)
    # as of water that splashes: nothing is the same everywhere
    moving = {"velocity": 2.0 * np.sin(9.0 * position) + 0.1 * values[0], "stress": 900.0 * position[:, 2] + 90.0 * values[1, :, 0]}
    scale = np.full(len(position), SPACING, np.float32)
    cache = write_cache(tmp_path / "cache", arrays(position, scale=scale, **moving), scene=scene)
    assert derived(capsys, cache.folder, "--quality", quality)[0] == 0
    files = [path for path in derived_folder(cache.takes[-1].folder, "surface").iterdir() if path.is_file()]
    assert 0.5 < expected / max(path.stat().st_size for path in files) < (2.0 if body == "splash" else 2.6)


def test_what_a_material_would_not_have_is_left_out() -> None:
    ball = SHAPES["sphere"](radius=0.2)
    assert set(expected_bytes(scene_of(ball), ALL)) == {"surface", "foam", "volume"}
    assert set(expected_bytes(scene_of(ball, "snow"), ALL)) == {"volume", "debris"}
    assert set(expected_bytes(scene_of(ball, "sand"), ALL)) == {"volume", "debris"}
    assert expected_bytes(scene_of(ball), {}) == {}
    assert expected_bytes(scene_of(ball, dimension=2), ALL) == {}


def test_a_mesh_that_follows_has_its_vertices_in_every_frame() -> None:
    corners = 0.1 * np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float64)
    faces = [
        (0, 1, 3),
        (0, 3, 2),
        (4, 6, 7),
        (4, 7, 5),
        (0, 4, 5),
        (0, 5, 1),
        (2, 3, 7),
        (2, 7, 6),
        (0, 2, 6),
        (0, 6, 4),
        (1, 5, 7),
        (1, 7, 3),
    ]
    cube = SHAPES["mesh"](vertices=corners, triangles=np.array(faces, np.int32))
    told = expected_bytes(scene_of(cube, "corotated", preset="jelly"), {"skin": SkinSettings(), "surface": SurfaceSettings()})
    assert told == {"skin": round(8 * BYTES_PER_VERTEX * FRAMES)}


def test_only_whole_frames_and_the_rates_count() -> None:
    ball = SHAPES["sphere"](radius=0.2)
    whole = expected_bytes(scene_of(ball), ALL)
    # derived data is made of whole frames
    assert expected_bytes(scene_of(ball, subframes=3), ALL) == whole
    twice = {"foam": FoamSettings(amount=200.0), "debris": DebrisSettings(chips=4.0, dust=40.0)}
    assert expected_bytes(scene_of(ball), twice)["foam"] == pytest.approx(2 * whole["foam"], abs=1.0)
    snow = scene_of(ball, "snow")
    assert expected_bytes(snow, twice)["debris"] == pytest.approx(2 * expected_bytes(snow, ALL)["debris"], abs=1.0)
    assert expected_bytes(snow, {"debris": DebrisSettings(chips=0.0, dust=0.0)}) == {}
    longer = dataclasses.replace(scene_of(ball), time=Time(frame_end=2 * FRAMES))
    assert expected_bytes(longer, ALL)["surface"] == pytest.approx(2 * whole["surface"], abs=1.0)
