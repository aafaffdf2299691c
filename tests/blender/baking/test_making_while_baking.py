"""Surfaces that are made while a bake runs: when they begin, what they follow, how they end."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.blender.baking import derived_facts, derived_kinds, derived_processes, session
from mpm_addon.blender.host.file_record import silent
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import particle_objects
from mpm_addon.core.errors import MpmError
from mpm_addon.core.scene.settings import Solver
from mpm_addon.storage.take import SURFACE
from tests.blender.scenes import description, write_cache
from tests.blender.stand_ins import show_at_once, stand_in

__all__ = ["stand_in"]


def test_a_bake_makes_its_surface_on_the_way_if_it_is_asked_to(bpy: Any, host: str, stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("good")
    if host == "fake":
        monkeypatch.setattr(derived_kinds.display, "rebuild", lambda _item: None)
    settings = bpy.context.scene.mpm.surface
    settings.quality, settings.while_baking = "draft", True
    assert bpy.ops.mpm.bake() == {"FINISHED"}
    assert derived_processes.current(SURFACE) is None
    assert derived_facts.facts_of(bpy.context.scene, SURFACE)[:3] == (2, 2, 0)
    (item,) = particle_objects.result_objects(bpy.context.scene)
    assert item.mpm.surface.object is not None
    settings.attributes = "stres"
    said = session.bake(bpy.context)
    assert ["The surface was not made" in line and '"stres"' in line for line in map(in_blender, said)] == [True]


@pytest.mark.parametrize("is_begun", [True, False])
def test_the_surface_of_a_bake_is_begun_once(bpy: Any, stand_in: Any, monkeypatch: pytest.MonkeyPatch, is_begun: bool) -> None:
    """A surface that was stopped, or cannot be made, is not begun again at the next frame; one that had to wait is."""
    asked: list[Any] = []

    def follow(_scene: Any, cache: str, kind: str) -> bool:
        if kind != "surface":
            return False
        asked.append(cache)
        return is_begun

    monkeypatch.setattr(session.derived_processes, "follow", follow)
    stand_in("good")
    show_at_once(monkeypatch)
    session.bake(bpy.context)
    # at each of two frames, and at the end
    assert len(asked) == (1 if is_begun else 3)


def test_a_surface_that_cannot_be_begun_counts_as_begun(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    stand_in("good")
    session.bake(bpy.context)
    folder = tmp_path / "cache"
    shutil.rmtree(folder)
    assert not derived_processes.follow(scene, str(folder), SURFACE)
    scene.mpm.surface.while_baking = True
    assert derived_processes.follow(scene, str(folder), SURFACE)
    assert "contains no cache" in derived_processes.trouble(folder, SURFACE).problem
    assert derived_processes.current(SURFACE) is None


def test_a_surface_is_made_where_renders_show_one(bpy: Any, stand_in: Any, tmp_path: Path) -> None:
    """On by default; not for snow, where the artist renders points, nor in two dimensions."""
    scene = bpy.context.scene
    stand_in("good")
    session.bake(bpy.context)
    scene.mpm.surface.property_unset("while_baking")
    (item,) = particle_objects.result_objects(scene)
    water, snow = item.mpm.display.parts
    assert [(part.law, part.render) for part in (water, snow)] == [("water", "automatic"), ("snow", "automatic")]

    def is_begun(cache: str = scene.mpm.cache) -> bool:
        try:
            return derived_processes.follow(scene, cache, SURFACE)
        finally:
            derived_processes.end(SURFACE)

    assert is_begun()
    with silent():
        water.render = "points"
    assert not is_begun()
    with silent():
        snow.render = "surface"
    assert is_begun()
    flat = replace(description(), solver=Solver(grid_spacing=0.05, dimension=2))
    item.mpm.cache = str(write_cache(tmp_path / "flat", {1: 4}, scene=flat))
    assert not is_begun(item.mpm.cache)


def test_a_bake_that_fails_leaves_no_surface_process(bpy: Any, host: str, stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("unstable")
    if host == "fake":
        monkeypatch.setattr(derived_kinds.display, "rebuild", lambda _item: None)
    show_at_once(monkeypatch)
    bpy.context.scene.mpm.surface.while_baking = True
    begun: list[Any] = []
    kept = derived_processes.follow
    monkeypatch.setattr(derived_processes, "follow", lambda *given: begun.append(kept(*given)) or begun[-1])
    with pytest.raises(MpmError):
        session.bake(bpy.context)
    assert (begun.count(True), derived_processes.current(SURFACE)) == (1, None)


def test_what_is_made_follows_the_emitters_of_this_bake(bpy: Any, host: str, stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of the bake before, which the object in the scene shows until the first frame arrives."""
    if host == "fake":
        monkeypatch.setattr(derived_kinds.display, "rebuild", lambda _item: None)
    stand_in("good")
    session.bake(bpy.context)
    (item,) = particle_objects.result_objects(bpy.context.scene)
    item.mpm.display.parts[0].law = item.mpm.display.parts[0].simulated_material = "snow"
    bpy.context.scene.mpm.surface.while_baking = True
    begun: list[Any] = []
    monkeypatch.setattr(derived_processes, "follow", lambda *given: begun.append([part.law for part in item.mpm.display.parts]) or True)
    session.bake(bpy.context)
    assert begun and all(each == ["water", "snow"] for each in begun)


def test_a_bake_neither_waits_for_nor_ends_a_surface_that_the_user_makes(bpy: Any, stand_in: Any) -> None:
    stand_in("good")
    session.bake(bpy.context)
    made = derived_processes.start(bpy.context.scene, kind=SURFACE)
    try:
        assert derived_processes.finish(made.folder) == []
        derived_processes.abandon(made.folder)
        assert derived_processes.current(SURFACE) is made
        assert not made.is_finished
    finally:
        derived_processes.end(SURFACE)
