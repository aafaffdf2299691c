"""Skins: the emitters' own meshes, shown in the place of their particles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.blender.baking import derived_facts, worker
from mpm_addon.blender.display import looks
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import particle_objects, skin_objects
from mpm_addon.blender.settings.derived_settings import settings_of
from mpm_addon.core.particles import Moment
from mpm_addon.derived.settings import SkinSettings
from mpm_addon.storage import open_cache
from mpm_addon.storage.derived import Origin, derived_path, source_of
from mpm_addon.storage.skin_file import Skin, SkinPiece, write_skin
from mpm_addon.storage.take import SKIN, SURFACE
from tests.blender.scenes import CORNERS, add_mesh, error_of, write_cache
from tests.blender.skin_objects import moved, use, vertices

blender = pytest.mark.blender
CUBE = np.array(CORNERS, np.float32)
PACE = np.array([24.0, 0.0, 0.0], np.float32)


@pytest.fixture
def particles(bpy: Any, tmp_path: Path) -> Any:
    """The object that shows the scene's cache: frames 1 to 3 of 6 particles of two emitters, the first of which is shown as a cube."""
    bpy.context.scene.mpm.cache = str(write_cache(tmp_path / "cache", {1: 6, 2: 6, 3: 6}))
    item = particle_objects.result_object(bpy.context.scene, str(tmp_path / "cache"))
    for name in ("first", "second"):
        item.mpm.display.parts.add().name = name
    part = item.mpm.display.parts[0]
    part.skin = add_mesh(bpy, "first Skin")
    part.skin.parent = item
    use(item, render="mesh")
    bpy.context.scene.frame_set(1)
    return item


def write(item: Any, number: int, *, emitters: tuple[int, ...] = (0,), position: np.ndarray | None = None) -> Path:
    """The skin of a frame: a cube that moves by a meter each frame."""
    cache = open_cache(item.mpm.cache)
    place = CUBE + PACE * ((number - 1) / 24.0) if position is None else position
    pieces = tuple(SkinPiece("first", {"position": place, "velocity": np.tile(PACE, (len(place), 1))}) for _ in emitters)
    path = derived_path(cache, Moment(number), SKIN)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_skin(path, Skin(Origin(Moment(number), settings_of_mesh(), source_of(cache, Moment(number)), emitters), pieces), 0.01)
    return path


def settings_of_mesh() -> str:
    return SkinSettings(emitters="first").hash


def test_vertices_are_where_the_files_say_and_replace_the_particles(bpy: Any, particles: Any) -> None:
    for number in (2, 3):
        write(particles, number)
    for number, points in ((1, 6), (2, 3), (3, 3), (1, 6), (3, 3)):
        bpy.context.scene.frame_set(number)
        assert len(particles.data.vertices) == points
        # without a skin, nothing is seen: all vertices lie at one point
        expected = CUBE * 0.0 if number == 1 else moved(CUBE, number - 1.0, 0.0, 0.0)
        np.testing.assert_allclose(vertices(particles), expected, atol=1e-5)
        assert not skin_objects.status(particles)
    np.testing.assert_allclose(vertices(particles, "velocity"), np.tile(PACE, (8, 1)), rtol=1e-3)
    assert len(particles.mpm.display.parts[0].skin.data.polygons) == 6


def test_vertices_move_between_frames(bpy: Any, particles: Any) -> None:
    for number in (1, 2):
        write(particles, number)
    for subframe in (0.25, 0.5, 0.75):
        bpy.context.scene.frame_set(1, subframe=subframe)
        np.testing.assert_allclose(vertices(particles), moved(CUBE, subframe, 0.0, 0.0), atol=1e-4)
    # the next frame has none: the vertices move on with their velocity
    bpy.context.scene.frame_set(2, subframe=0.25)
    np.testing.assert_allclose(vertices(particles), moved(CUBE, 1.25, 0.0, 0.0), atol=1e-3)


def test_a_frame_before_the_emission_shows_nothing(bpy: Any, particles: Any) -> None:
    write(particles, 1, position=CUBE[:0])
    write(particles, 2)
    bpy.context.scene.frame_set(2)
    bpy.context.scene.frame_set(1)
    assert (np.ptp(vertices(particles), axis=0).max(), len(particles.data.vertices)) == (0.0, 3)


def test_particles_that_one_side_still_shows_are_kept(bpy: Any, particles: Any) -> None:
    write(particles, 2)
    use(particles, viewport="points")
    bpy.context.scene.frame_set(2)
    assert len(particles.data.vertices) == 6
    np.testing.assert_allclose(vertices(particles), moved(CUBE, 1.0, 0.0, 0.0), atol=1e-5)


@pytest.mark.parametrize(
    ("viewport", "render", "modes", "shown"),
    [
        ("automatic", "mesh", ("mesh", "mesh"), ("points", "surface")),
        ("points", "mesh", ("points", "mesh"), ("points", "hidden")),
        ("mesh", "surface", ("mesh", "surface"), ("hidden", "surface")),
        ("automatic", "automatic", ("points", "surface"), ("points", "surface")),
    ],
)
def test_nodes_show_what_the_mesh_does_not_replace(
    bpy: Any, particles: Any, viewport: str, render: str, modes: tuple[str, str], shown: tuple[str, str]
) -> None:
    """Where both sides show the mesh, particles are only there at frames without a skin, and shown as usual."""
    part = particles.mpm.display.parts[0]
    use(particles, law="corotated", viewport=viewport, render=render)
    assert tuple(looks.mode_of(part, is_render=side) for side in (False, True)) == modes
    assert tuple(looks.particle_mode(part, is_render=side) for side in (False, True)) == shown


def test_a_mesh_with_other_vertices_is_named(bpy: Any, particles: Any) -> None:
    write(particles, 2, position=np.concatenate([CUBE, CUBE]))
    bpy.context.scene.frame_set(2)
    assert (
        in_blender(skin_objects.status(particles))
        == 'The mesh of "first" has 8 vertices, but it was baked with 16; make the skin again, or bake again if the emitter changed.'
    )
    assert len(particles.data.vertices) == 6
    bpy.context.scene.frame_set(3)
    assert not skin_objects.status(particles)


def test_a_damaged_skin_is_named_and_the_particles_are_shown(bpy: Any, particles: Any) -> None:
    path = write(particles, 2)
    path.write_bytes(path.read_bytes()[:-3])
    bpy.context.scene.frame_set(2)
    assert "is damaged" in in_blender(skin_objects.status(particles))
    assert "make the skin again" in in_blender(skin_objects.status(particles))
    assert len(particles.data.vertices) == 6


def test_a_skin_that_is_made_again_is_read_again(bpy: Any, particles: Any) -> None:
    path = write(particles, 2)
    bpy.context.scene.frame_set(2)
    path.unlink()
    write(particles, 2, position=CUBE * np.float32(0.123))
    bpy.context.scene.frame_set(2)
    np.testing.assert_allclose(vertices(particles), CUBE * 0.123, atol=1e-5)


def test_lengths_are_in_blenders_units(bpy: Any, particles: Any) -> None:
    write(particles, 2)
    bpy.context.scene.unit_settings.scale_length = 0.5
    bpy.context.scene.frame_set(2)
    np.testing.assert_allclose(vertices(particles), (moved(CUBE, 1.0, 0.0, 0.0)) / 0.5, atol=1e-4)
    np.testing.assert_allclose(vertices(particles, "velocity"), np.tile(PACE, (8, 1)) / 0.5, rtol=1e-3)


def test_a_copied_particle_object_leaves_the_mesh_to_the_first(bpy: Any, particles: Any) -> None:
    other = add_mesh(bpy, "other")
    particles.mpm.display.parts[0].skin.parent = other
    assert skin_objects.skin_of(particles, particles.mpm.display.parts[0]) is None
    write(particles, 2)
    bpy.context.scene.frame_set(2)
    assert len(particles.data.vertices) == 6


def test_facts_and_the_command_have_the_emitters_that_are_displayed_as_meshes(bpy: Any, particles: Any) -> None:
    scene = bpy.context.scene
    write(particles, 1)
    assert derived_facts.facts_of(scene, SKIN)[:3] == (3, 1, 0)
    assert derived_facts.facts_of(scene, SURFACE)[:3] == (3, 0, 0)
    settings = settings_of(scene, SKIN, Path(scene.mpm.cache))
    assert settings == SkinSettings(emitters="first")
    command = worker.derive_command(Path(scene.mpm.cache), settings, kind=SKIN)
    assert command[command.index("derive") + 2 :] == ["skin", "--json", "--emitters=first"]


def test_without_a_mesh_to_show_one_line_says_so(bpy: Any, particles: Any) -> None:
    use(particles, render="points")
    assert "o emitter is displayed as a mesh" in error_of(bpy.ops.mpm.skin_make)
    assert derived_facts.facts_of(bpy.context.scene, SKIN)[:3] == (3, 0, 0)
