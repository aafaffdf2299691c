"""In every situation, every panel, list, menu and appended button is drawn, and every operator refuses or runs with one clear line.

Registered classes are found, not listed, so additions are tested automatically.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender.baking import health, preflight, session
from mpm_addon.blender.baking.bake_view import Progress, State
from mpm_addon.blender.host import redrawing
from tests.blender.situations import ROLES, SITUATIONS, add_object, object_types
from tests.fakes import layout

pytestmark = pytest.mark.blender
# adds node groups to the file, whatever is in it, which takes half of the time of all operators
ASSETS = "mpm.display_assets"
WITH_ASSETS = {"nothing", "another scene", "a linked scene", "a library override", "a cache that is played"}
CASES = [
    *((name, name in WITH_ASSETS) for name in SITUATIONS),
    *(pytest.param(name, True, marks=pytest.mark.long) for name in SITUATIONS if name not in WITH_ASSETS),
]


@pytest.fixture(autouse=True)
def no_process_is_started(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process is started: bakes and the installation are checked elsewhere."""

    def no_process(*_arguments: Any, **_keywords: Any) -> Any:
        raise session.MpmError("Tests start no process; use a real one.")

    monkeypatch.setattr(session, "Worker", no_process)
    monkeypatch.setattr(preflight, "Worker", no_process)
    monkeypatch.setattr(health, "ask_worker", no_process)
    monkeypatch.setenv("HOME", str(tmp_path))


def draw_everything(bpy: Any) -> int:
    """Draws all registered and appended entries, and the rows of all lists; returns how many were drawn."""
    drawings: list[Any] = []
    for base in ("Panel", "Menu"):
        drawings += [layout.draw(bpy, cls) for cls in layout.registered_classes(bpy, base)]
    for name, functions in layout.appended_functions(bpy).items():
        drawings += [layout.draw_appended(bpy, name, function) for function in functions]
    shown = [each for each in drawings if each is not None]
    for drawn in shown:
        for call in drawn.find("template_list"):
            if call.arguments["listtype_name"].startswith("MPM_"):
                layout.draw_list(bpy, call)
                layout.draw_list(bpy, call, filter_name="o", use_filter_invert=True, use_filter_sort_alpha=True)
                getattr(call.arguments["active_dataptr"], call.arguments["active_propname"])
    return len(shown)


def run_every_operator(bpy: Any, *, has_assets: bool = True) -> dict[str, str]:
    """Polls every operator, runs those that can, and returns their reports: an exception is a fault, an error report is not."""
    said: dict[str, str] = {}
    for cls in layout.registered_classes(bpy, "Operator"):
        name = cls.bl_idname
        if name == ASSETS and not has_assets:
            continue
        poll = getattr(cls, "poll", None)
        if poll is not None and not poll(bpy.context):
            said[name] = "cannot run"
            continue
        try:
            said[name] = str(getattr(bpy.ops.mpm, name.partition(".")[2])())
        except RuntimeError as error:
            said[name] = str(error)
            assert "Traceback" not in said[name], f"{name}: {error}"
            assert said[name].count("\n") <= 3, f"{name}: {error}"
    return said


def check(bpy: Any, override: dict[str, Any] | None = None, *, has_assets: bool = True) -> None:
    with bpy.context.temp_override(**override) if override else nullcontext():
        bpy.context.view_layer.update()
        before = snapshot(bpy)
        assert draw_everything(bpy) > 5
        assert snapshot(bpy) == before, "drawing changed the file"
        run_every_operator(bpy, has_assets=has_assets)
        draw_everything(bpy)


def snapshot(bpy: Any) -> list[Any]:
    """What drawing must not change: data-blocks, the active object and the settings."""
    blocks = [
        (type(block).__name__, block.name_full)
        for name in ("objects", "meshes", "materials", "node_groups", "scenes")
        for block in getattr(bpy.data, name)
    ]
    settings = [
        (item.name_full, item.mpm.type, item.mpm.cache, item.select_get() if item.name in bpy.context.view_layer.objects else None)
        for item in bpy.data.objects
    ]
    return [blocks, settings, bpy.context.view_layer.objects.active, [scene.mpm.cache for scene in bpy.data.scenes]]


@pytest.mark.parametrize(("name", "has_assets"), CASES)
def test_nothing_fails_in_any_situation(bpy: Any, name: str, has_assets: bool, tmp_path: Path) -> None:
    check(bpy, SITUATIONS[name](bpy, tmp_path), has_assets=has_assets)


def test_situations_with_assets_are_situations() -> None:
    assert set(SITUATIONS) > WITH_ASSETS


@pytest.mark.parametrize("role", ROLES)
def test_nothing_fails_for_any_type_of_object(bpy: Any, role: str) -> None:
    tried = []
    for kind in object_types(bpy):
        item = add_object(bpy, kind)
        if item is None:
            continue
        tried.append(kind)
        item.mpm.type = role
        draw_everything(bpy)
        for cls in layout.registered_classes(bpy, "Operator"):
            if hasattr(cls, "poll"):
                cls.poll(bpy.context)
    assert len(tried) >= 15
    run_every_operator(bpy)


def test_nothing_fails_while_a_bake_and_a_preflight_run(bpy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = {"frame": 12, "done": 12, "total": 48, "substeps": 87, "eta_seconds": 31.0, "particles": 9}
    result = SimpleNamespace(scene=bpy.context.scene)
    progress = Progress(State.BAKING, 0.25, numbers)
    monkeypatch.setattr(session, "current", lambda: SimpleNamespace(progress=progress, folder=tmp_path, result=result, object_name=""))
    monkeypatch.setattr(preflight, "current", lambda: SimpleNamespace(is_finished=False, close=lambda: None))
    SITUATIONS["a cache that is played"](bpy, tmp_path)
    draw_everything(bpy)
    monkeypatch.undo()


def test_all_windows_are_drawn_again(bpy: Any) -> None:
    drawn: list[str] = []

    def part(kind: str, *regions: Any) -> Any:
        return SimpleNamespace(type=kind, regions=regions, tag_redraw=lambda: drawn.append(kind))

    def window() -> Any:
        viewport = part("VIEW_3D", part("WINDOW"), part("UI"))
        return SimpleNamespace(screen=SimpleNamespace(areas=[viewport, part("PROPERTIES"), part("TEXT_EDITOR")]))

    redrawing.redraw(SimpleNamespace(windows=[window(), window()]))
    assert drawn == ["UI", "PROPERTIES"] * 2


def test_what_is_wrong_is_found(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_panel: Any, _context: Any) -> None:
        raise AttributeError("a panel that fails")

    def writing(_panel: Any, _context: Any) -> None:
        bpy.data.meshes.new("written while drawing")

    panel = layout.registered_classes(bpy, "Panel")[0]
    monkeypatch.setattr(panel, "poll", classmethod(lambda _cls, _context: True))
    for function in (broken, writing):
        monkeypatch.setattr(panel, "draw", function)
        with pytest.raises((AttributeError, AssertionError)):
            check(bpy)
