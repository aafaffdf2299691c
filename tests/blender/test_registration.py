"""Registering and unregistering leave nothing behind, however often and in whatever state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import mpm_addon
from mpm_addon.blender import registration

HANDLERS = ("load_pre", "load_post", "frame_change_pre", "frame_change_post", "save_post", "depsgraph_update_post")


@pytest.fixture(autouse=True)
def registered_again() -> Iterator[None]:
    yield
    mpm_addon.register()


def our_handlers(bpy: Any) -> list[str]:
    return [
        f"{name}: {function.__name__}"
        for name in HANDLERS
        for function in getattr(bpy.app.handlers, name)
        if function.__module__.startswith("mpm_addon")
    ]


def test_everything_is_there_once_after_registering_twice(bpy: Any) -> None:
    mpm_addon.register()
    mpm_addon.register()
    assert our_handlers(bpy) == [
        "load_pre: _on_load_pre",
        "load_post: _on_load",
        "load_post: _on_load",
        "frame_change_post: _on_frame_change",
    ]
    assert hasattr(bpy.types.Object, "mpm")
    assert hasattr(bpy.types.Scene, "mpm")


def test_nothing_is_there_after_unregistering(bpy: Any) -> None:
    mpm_addon.unregister()
    mpm_addon.unregister()
    assert our_handlers(bpy) == []
    assert not hasattr(bpy.types.Object, "mpm")
    assert not hasattr(bpy.types.Scene, "mpm")
    assert not hasattr(bpy.types, "MPM_OT_bake")
    assert not hasattr(bpy.types, "MPM_PT_bake")


def test_nothing_the_fake_knows_of_is_left(bpy: Any, fake_blender: Any) -> None:
    mpm_addon.unregister()
    assert fake_blender.leftovers() == []


def test_a_failure_half_way_takes_back_what_was_done(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mpm_addon.unregister()
    with monkeypatch.context() as patch:
        patch.setattr(registration.playback, "register", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            mpm_addon.register()
    assert not hasattr(bpy.types.Object, "mpm")
    assert our_handlers(bpy) == []
    mpm_addon.register()
    assert hasattr(bpy.types.Object, "mpm")


def test_handlers_outlive_a_new_file(bpy: Any) -> None:
    bpy.ops.wm.read_homefile(use_empty=True)
    assert len(our_handlers(bpy)) == 4
