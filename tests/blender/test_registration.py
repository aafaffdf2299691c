"""Registering and unregistering leave nothing behind, however often and in any state."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

import mpm_addon
from mpm_addon.blender import registration
from mpm_addon.blender.host.registrar import Registrar
from mpm_addon.blender.interface.panels import all_panels as panels

from .blender_state import Subscriptions, state

blender = pytest.mark.blender
PARTS = [part.__name__.rpartition(".")[2] for part in registration._PARTS]


@pytest.fixture(autouse=True)
def registered_again() -> Iterator[None]:
    yield
    mpm_addon.register()


@pytest.fixture
def bare(bpy: Any) -> set[str]:
    """The state of Blender without the add-on."""
    mpm_addon.unregister()
    return state(bpy)


def our_handlers(bpy: Any) -> list[str]:
    return sorted(line for line in state(bpy) if line.startswith("handler") and "mpm_addon" in line)


def test_registering_twice_is_registering_once(bpy: Any) -> None:
    before, handlers = state(bpy), our_handlers(bpy)
    mpm_addon.register()
    assert state(bpy) == before
    # each once: the state counts them
    assert handlers
    assert all(line.endswith(" 1") for line in handlers)
    assert any("particle_objects._on_frame_change" in line for line in handlers)
    assert hasattr(bpy.types.Object, "mpm")
    assert hasattr(bpy.types.Scene, "mpm")


def test_nothing_is_there_after_unregistering(bpy: Any) -> None:
    mpm_addon.unregister()
    mpm_addon.unregister()
    assert [line for line in state(bpy) if "mpm" in line.lower()] == []
    assert not hasattr(bpy.types.Object, "mpm")
    assert not hasattr(bpy.types, "MPM_PT_bake")


def test_registering_and_unregistering_change_nothing(bpy: Any, bare: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    handed_out = Subscriptions(bpy, monkeypatch)
    for _ in range(2):
        mpm_addon.register()
        there = state(bpy)
        assert len(there - bare) > 50
        mpm_addon.unregister()
        assert state(bpy) == bare
        assert handed_out.left() == {}


def test_the_state_sees_every_kind_of_residue(bpy: Any, bare: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above can fail: each kind of residue shows."""

    def appended(_self: Any, _context: Any) -> None:
        pass

    bpy.app.handlers.save_post.append(appended)
    assert len(state(bpy) - bare) == 1
    bpy.app.handlers.save_post.append(appended)
    assert any(line.endswith(" 2") for line in state(bpy) - bare)
    del bpy.app.handlers.save_post[-2:]
    monkeypatch.setattr(registration, "appended", appended, raising=False)
    bpy.app.timers.register(registration.appended, first_interval=1000.0)
    assert [line for line in state(bpy) - bare if line.startswith("timer")] != []
    bpy.app.timers.unregister(registration.appended)
    bpy.types.Scene.mpm_left = bpy.props.IntProperty()
    assert state(bpy) - bare == {"property Scene.mpm_left"}
    del bpy.types.Scene.mpm_left
    bpy.utils.register_class(panels.CLASSES[0])
    assert [line for line in state(bpy) - bare if line.startswith("class")] != []
    bpy.utils.unregister_class(panels.CLASSES[0])
    assert state(bpy) == bare


@blender
def test_the_state_sees_menus_previews_and_drawing_functions(bpy: Any, bare: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import bpy.utils.previews as previews

    def appended(_self: Any, _context: Any) -> None:
        pass

    bpy.types.VIEW3D_MT_add.append(appended)
    assert [line for line in state(bpy) - bare if line.startswith("menu VIEW3D_MT_add")] != []
    bpy.types.VIEW3D_MT_add.remove(appended)
    assert state(bpy) == bare
    collection = previews.new()
    assert [line for line in state(bpy) - bare if line.startswith("previews")] != []
    previews.remove(collection)
    handed_out = Subscriptions(bpy, monkeypatch)
    handle = bpy.types.SpaceView3D.draw_handler_add(appended, (None, None), "WINDOW", "POST_VIEW")
    owner = object()
    bpy.msgbus.subscribe_rna(key=(bpy.types.Scene, "name"), owner=owner, args=(), notify=appended)
    assert handed_out.left() == {"drawing in SpaceView3D": 1, "message": 1}
    bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    bpy.msgbus.clear_by_owner(owner)
    assert handed_out.left() == {}


def test_nothing_the_fake_knows_of_is_left(bpy: Any, fake_blender: Any) -> None:
    mpm_addon.unregister()
    assert fake_blender.leftovers() == []


def fail(*_arguments: Any) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_fails_takes_back_what_was_done(bpy: Any, bare: set[str], monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(getattr(registration, part), "register", fail)
        with pytest.raises(ZeroDivisionError):
            mpm_addon.register()
    assert state(bpy) == bare
    mpm_addon.register()
    assert hasattr(bpy.types.Object, "mpm")


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_fails_at_its_end_takes_back_what_it_did(bpy: Any, bare: set[str], monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    module = getattr(registration, part)
    register = module.register

    def fail_at_the_end(registrar: Registrar) -> None:
        register(registrar)
        fail()

    with monkeypatch.context() as patch:
        patch.setattr(module, "register", fail_at_the_end)
        with pytest.raises(ZeroDivisionError):
            mpm_addon.register()
    assert state(bpy) == bare


def test_a_class_that_fails_takes_back_those_before(bpy: Any, bare: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    handed_out = Subscriptions(bpy, monkeypatch)
    register_class = bpy.utils.register_class
    for failing in (panels.CLASSES[0], panels.CLASSES[-1]):
        with monkeypatch.context() as patch:
            patch.setattr(bpy.utils, "register_class", lambda cls, own=failing: fail() if cls is own else register_class(cls))
            with pytest.raises(ZeroDivisionError):
                mpm_addon.register()
        assert state(bpy) == bare
        assert handed_out.left() == {}


def test_what_cannot_be_taken_back_keeps_nothing_else(bpy: Any, bare: set[str]) -> None:
    registrar = Registrar()
    registrar.classes(panels.CLASSES[:1])
    registrar.on_removal(fail)
    registrar.settings(bpy.types.Scene, "mpm_left", bpy.props.IntProperty())
    with pytest.raises(ZeroDivisionError):
        registrar.take_back()
    assert state(bpy) == bare


def test_a_package_that_is_reloaded_unregisters_what_it_registered(bpy: Any, bare: set[str]) -> None:
    mpm_addon.register()
    importlib.reload(mpm_addon)
    mpm_addon.register()
    mpm_addon.unregister()
    assert state(bpy) == bare


def test_handlers_outlive_a_new_file(bpy: Any) -> None:
    before = our_handlers(bpy)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert our_handlers(bpy) == before


def test_an_older_blender_gets_one_clear_line(bpy: Any, bare: set[str], fake_blender: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bpy.app.__dict__, "version", (3, 6, 5))
    with pytest.raises(RuntimeError, match=r"^MPM needs Blender 4\.2 or newer, and this is 3\.6: install a newer Blender\.$"):
        mpm_addon.register()
    assert state(bpy) == bare


def test_what_an_old_blender_reads_is_what_the_manifest_says() -> None:
    import tomllib
    from pathlib import Path

    manifest = tomllib.loads((Path(mpm_addon.__file__).parents[1] / "blender_manifest.toml").read_text())
    assert ".".join(map(str, mpm_addon.bl_info["version"])) == manifest["version"]  # type: ignore[arg-type]
    assert ".".join(map(str, mpm_addon.bl_info["blender"])) == manifest["blender_version_min"]  # type: ignore[arg-type]
    assert (mpm_addon.bl_info["name"], mpm_addon.bl_info["description"]) == (manifest["name"], manifest["tagline"])
