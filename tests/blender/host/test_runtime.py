"""The interface's state is in one place: it is dropped with the file or the add-on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

import mpm_addon
from mpm_addon.blender.host.runtime import OfFile, OfSession, Runtime, runtime


@dataclass
class Page(OfFile):
    lines: list[str] = field(default_factory=list)


@dataclass
class Process(OfSession):
    number: int = 0


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    runtime.forget(Page, Process)


def test_each_class_has_one_object_until_it_is_forgotten() -> None:
    own = Runtime()
    page = own.of(Page)
    page.lines.append("first")
    assert own.of(Page) is page
    assert own.of(Process) == Process()
    assert Runtime().of(Page) == Page()
    own.forget(Page, Process)
    assert (own.of(Page), own.of(Process)) == (Page(), Process())


def test_what_belongs_to_a_file_goes_when_another_is_open(bpy: Any) -> None:
    seen: list[list[str]] = []
    runtime.of(Page).lines.append("first")
    runtime.of(Process).number = 7
    handlers = bpy.app.handlers
    look = handlers.persistent(lambda *_arguments: seen.append(list(runtime.of(Page).lines)))
    handlers.load_pre.append(look)
    handlers.load_post.append(look)
    try:
        bpy.ops.wm.read_homefile(use_empty=True)
    finally:
        handlers.load_pre.remove(look)
        handlers.load_post.remove(look)
    # not before the other file is open: opening may fail
    assert seen == [["first"], []]
    assert runtime.of(Process).number == 7


def test_nothing_is_remembered_after_unregistering(bpy: Any) -> None:
    runtime.of(Page).lines.append("first")
    runtime.of(Process).number = 7
    try:
        mpm_addon.unregister()
        assert (runtime.of(Page), runtime.of(Process)) == (Page(), Process())
    finally:
        mpm_addon.register()
