"""How full the space around particles is."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender import display
from mpm_addon.blender.display import packed as packed_nodes
from mpm_addon.blender.playback import packing
from mpm_addon.blender.settings.display_settings import AUTOMATIC, MATERIALS
from mpm_addon.core.laws.finish import GRAINS, MESH, POINTS
from tests.blender.displayed import SAND, WATER, displayed_particles

SIDE = 12


def lattice() -> Any:
    """Particles that fill a block, eight to a cube of one unit."""
    axis = 0.5 * (np.arange(SIDE) + 0.5)
    return np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)


def test_space_is_full_inside_less_so_at_faces_and_nearly_empty_around_one_particle() -> None:
    position = lattice()
    found = packing.fullness(position, np.full(len(position), 0.125))
    low, high = position.min(axis=1), position.max(axis=1)
    inside = (low > 2.5) & (high < 0.5 * SIDE - 2.5)
    np.testing.assert_allclose(found[inside], 1.0, atol=1e-5)
    middle = np.sort(np.minimum(position, 0.5 * SIDE - position), axis=1)
    face = found[(middle[:, 0] < 0.3) & (middle[:, 1] > 2.0)]
    assert 0.6 < face.min() <= face.max() < 0.8
    # one particle at a corner of a cube finds all of its volume; at a third of each edge, the share (1/3)^2 + (2/3)^2 along each axis
    alone = 0.125 * (1.0 + 2.0 * (5.0 / 9.0) ** 3) / 3.0
    np.testing.assert_allclose(packing.fullness(np.zeros((1, 3)), np.array([0.125])), alone, rtol=1e-6)


def test_a_small_clump_keeps_its_packed_particles_while_it_flies() -> None:
    random = np.random.default_rng(0)
    axis = 0.5 * np.arange(4)
    clump = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3) + random.uniform(-0.08, 0.08, (64, 3))
    found = np.array([packing.fullness(clump + moved, np.full(64, 0.125)) for moved in random.uniform(0.0, 1.0, (50, 3))])
    # with one lattice 0.022, so that 0.3 to 0.9 of the particles are packed
    assert found.std(axis=0).mean() < 0.005
    packed = (found > packed_nodes._LEAST_FULLNESS).mean(axis=1)
    assert packed.max() - packed.min() < 0.15


def test_edges_of_a_packed_block_are_told_from_clouds() -> None:
    """A cloud of particles that fills 0.35 of the space, and the edges of a block: those have full space beside them."""
    position = lattice() + np.random.default_rng(0).uniform(-0.08, 0.08, (SIDE**3, 3))
    found = packing.fullness(position, np.full(len(position), 0.125))
    near = np.sort(np.minimum(position, 0.5 * SIDE - position), axis=1)
    edge = found[(near[:, 1] < 0.4) & (near[:, 2] > 1.0)]
    cloud = np.random.default_rng(1).uniform(0.0, 9.0, (round(0.35 * 8 * 9**3), 3))
    sparse = packing.fullness(cloud, np.full(len(cloud), 0.125))
    assert np.percentile(edge, 5) > packed_nodes._LEAST_FULLNESS > np.percentile(sparse, 95)


def test_it_is_the_same_anywhere_and_for_particles_far_apart() -> None:
    position, volume = lattice(), np.full(SIDE**3, 0.125)
    far = np.concatenate([position - 40.0, [[9000.0, -9000.0, 100.0]]])
    found = packing.fullness(far, np.append(volume, 0.125))
    np.testing.assert_allclose(found[:-1], packing.fullness(position, volume), rtol=1e-5)
    assert found[-1] == pytest.approx(packing.fullness(np.zeros((1, 3)), np.array([0.125]))[0])


@pytest.mark.parametrize(
    ("render", "material", "expected"),
    [
        (AUTOMATIC, "dry_sand", True),
        (AUTOMATIC, "wet_sand", False),
        (POINTS, "dry_sand", False),
        (GRAINS, "wet_sand", True),
        # sand whose mesh is shown has grains until it has a skin
        (MESH, "dry_sand", True),
    ],
)
def test_only_what_renders_show_as_grains_needs_it(render: str, material: str, expected: bool) -> None:
    item = item_of((render, material))
    arrays = {"position": np.zeros((2, 3), np.float32), "scale": np.ones(2, np.float32)}
    assert (packing.FULLNESS in packing.with_fullness(item, arrays)) == expected
    # frames without sizes, and without particles
    assert packing.FULLNESS not in packing.with_fullness(item, {"position": arrays["position"]})
    assert packing.FULLNESS not in packing.with_fullness(item, {name: values[:0] for name, values in arrays.items()})


def item_of(*emitters: tuple[str, str]) -> Any:
    """An object with emitters of sand, by their modes in renders and materials."""
    display_settings = SimpleNamespace(color_by=MATERIALS, parts=[])
    item = SimpleNamespace(mpm=SimpleNamespace(display=display_settings))
    given = {"viewport": AUTOMATIC, "law": "sand", "follows": False, "skin": None, "id_data": item}
    display_settings.parts += [SimpleNamespace(**given, render=render, simulated_material=material) for render, material in emitters]
    return item


def block_and_loose(edge: float, loose_edge: float) -> dict[str, Any]:
    """A packed block of the first emitter, and 20 particles of the second, far from it and from each other, as arrays of a frame."""
    packed = 2.0 * edge * lattice()
    loose = np.random.default_rng(0).uniform(0.0, 0.1 * loose_edge, (20, 3))
    loose[:, 0] += 7.0 * loose_edge * np.arange(20) - 900.0 * loose_edge
    sizes = np.repeat(np.float32([edge, loose_edge]), [len(packed), len(loose)])
    numbers = np.repeat(np.int32([0, 1]), [len(packed), len(loose)])
    return {"position": np.concatenate([packed, loose]).astype(np.float32), "scale": sizes, "emitter_index": numbers}


@pytest.mark.parametrize(("edge", "loose_edge"), [(0.1, 0.1), (0.1, 0.3), (0.3, 0.1)])
@pytest.mark.parametrize("material", ["dry_sand", "wet_sand"])
def test_particles_of_an_emitter_are_packed_by_their_own_size(edge: float, loose_edge: float, material: str) -> None:
    """Particles of three times the edge fill cubes of the size of the others each alone."""
    arrays = block_and_loose(edge, loose_edge)
    found = packing.with_fullness(item_of((AUTOMATIC, material), (AUTOMATIC, "dry_sand")), arrays)[packing.FULLNESS]
    assert found[-20:].max() < 0.2
    # wet sand has a surface of its own
    assert found[:-20].max() == (pytest.approx(1.0, abs=0.1) if material == "dry_sand" else 0.0)


@pytest.mark.parametrize(("other", "expected"), [("dry_sand", 1.0), ("wet_sand", 0.5)])
def test_grains_of_emitters_that_are_mixed_fill_the_space_together(other: str, expected: float) -> None:
    position = lattice().astype(np.float32)
    numbers = np.random.default_rng(0).integers(0, 2, len(position)).astype(np.int32)
    arrays = {"position": position, "scale": np.full(len(position), 0.5, np.float32), "emitter_index": numbers}
    found = packing.with_fullness(item_of((AUTOMATIC, "dry_sand"), (AUTOMATIC, other)), arrays)[packing.FULLNESS]
    inside = (position.min(axis=1) > 2.0) & (position.max(axis=1) < 0.5 * SIDE - 2.0) & (numbers == 0)
    assert found[inside].mean() == pytest.approx(expected, abs=0.1)


def call(handlers: Any, scene: Any) -> None:
    for handler in list(handlers):
        handler(scene, None)


def rendered(bpy: Any, item: Any, frame: int, moments: tuple[float, ...]) -> list[Any]:
    """Play what a render does with a frame, and return how full space is at moments of its shutter."""
    scene, found = bpy.context.scene, []
    call(bpy.app.handlers.render_pre, scene)
    for moment in moments:
        scene.frame_set(frame, subframe=moment)
        values = np.empty(len(item.data.vertices), np.float32)
        item.data.attributes[packing.FULLNESS].data.foreach_get("value", values)
        found.append(values)
    call(bpy.app.handlers.render_post, scene)
    return found


@pytest.fixture
def heap(bpy: Any, tmp_path: Path) -> Any:
    item = displayed_particles(bpy, tmp_path / "cache")
    display.dress(item, [WATER, SAND])
    return item


@pytest.mark.blender
@pytest.mark.parametrize("last", ["render_post", "render_cancel"])
def test_it_lasts_from_the_beginning_of_a_render_to_its_end(bpy: Any, heap: Any, last: str) -> None:
    """Copies, saved files and published frames that kept it would be closed by the surface of another frame."""
    scene = bpy.context.scene
    assert packing.FULLNESS not in heap.data.attributes
    call(bpy.app.handlers.render_pre, scene)
    scene.frame_set(2)
    assert packing.FULLNESS in heap.data.attributes
    copied = heap.data.copy()
    call(getattr(bpy.app.handlers, last), scene)
    assert packing.FULLNESS not in heap.data.attributes
    assert packing.FULLNESS not in copied.attributes


@pytest.mark.blender
def test_a_frame_of_the_viewport_removes_what_a_file_or_undo_brought_back(bpy: Any, heap: Any) -> None:
    heap.data.attributes.new(packing.FULLNESS, "FLOAT", "POINT")
    bpy.context.scene.frame_set(2)
    assert packing.FULLNESS not in heap.data.attributes


@pytest.mark.blender
def test_it_is_the_same_at_all_moments_of_a_shutter(bpy: Any, heap: Any) -> None:
    """Particles that became loose within a shutter would have grains at some of its moments only."""
    first, second = (rendered(bpy, heap, 2, moments) for moments in ((0.0, 0.25, 0.5), (0.25, 0.5)))
    for shutter in (first, second):
        assert all(np.array_equal(values, shutter[0]) for values in shutter)
    # the next frame has its own
    assert not np.array_equal(first[0], second[0])
