"""A failing operator reports one line and leaves the file unchanged, wherever it fails."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from mpm_addon.blender import display
from mpm_addon.blender.building import quick
from mpm_addon.blender.host import operation
from mpm_addon.blender.host.wording import in_blender
from mpm_addon.blender.playback import particle_objects
from mpm_addon.core.errors import MpmError
from mpm_addon.core.messages import Action, Message
from tests.blender.file_state import difference, file_state
from tests.blender.scenes import add_collider, add_emitter, add_mesh, error_of, write_cache
from tests.fakes import layout

LAYER = str(Path(operation.__file__).parents[1])
# code that restores the file
UNHARMED = {"operation.py", "file_record.py"}
# callbacks of Blender, which prints their exceptions, so that no operator sees them
CALLBACKS = {"active_row.py": ("_row", "_choose"), "display_settings.py": ("_changed",), "emitter_look.py": ("role_changed",)}
FAULTS = 12


class FaultError(Exception):
    """An exception that no operator expects."""


class Faults:
    """Counts the lines of Blender's layer that an operator's `execute` runs, and raises at one of them."""

    def __init__(self, at: int = -1) -> None:
        self.at, self.count = at, 0
        self.place = ""

    def __call__(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        name = frame.f_code.co_filename
        is_counted = name.startswith(LAYER) and Path(name).name not in UNHARMED and self._is_in_execute(frame)
        return self._line if is_counted else None

    def _line(self, frame: FrameType, event: str, _argument: Any) -> Any:
        """Raise if this is the line; Python calls it for each event in a function that is counted."""
        if event == "line":
            self.count += 1
            if self.count == self.at:
                self.place = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
                raise FaultError(self.place)
        return self._line

    def _is_in_execute(self, frame: FrameType | None) -> bool:
        while frame is not None:
            name, function = Path(frame.f_code.co_filename).name, frame.f_code.co_name
            if function.startswith(("_on_", *CALLBACKS.get(name, ()))) and frame.f_code.co_filename.startswith(LAYER):
                return False
            if (name, function) == ("operation.py", "execute"):
                return True
            frame = frame.f_back
        return False

    @contextmanager
    def active(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self)
        try:
            yield
        finally:
            sys.settrace(before)


def quick_on_two(bpy: Any, _folder: Path) -> Callable[[], Any]:
    add_mesh(bpy, "Bystander").mpm.type = "collider"
    bpy.data.objects["Bystander"].mpm.type = "none"
    for number in range(2):
        item = add_mesh(bpy, f"Body {number}")
        item.location = (2.0 * number, 0.0, 1.0)
        item.select_set(True)
    bpy.data.objects["Body 1"].mpm.emitter.flow_rate = 2.0
    bpy.context.view_layer.update()
    return lambda: bpy.ops.mpm.quick(material="sand" if "sand" in quick.PRESET_WORDS else "snow", particle_count=2000)


def quick_collider(bpy: Any, _folder: Path) -> Callable[[], Any]:
    for name in ("First", "Second"):
        item = add_emitter(bpy, name)
        item.hide_render, item.display_type = True, "WIRE"
        item.select_set(True)
    return lambda: bpy.ops.mpm.quick_collider()


def add_domain(bpy: Any, _folder: Path) -> Callable[[], Any]:
    add_mesh(bpy, "Mine").select_set(True)
    return lambda: bpy.ops.mpm.add(kind="domain")


def add_inflow(bpy: Any, _folder: Path) -> Callable[[], Any]:
    add_mesh(bpy, "Mine").select_set(True)
    return lambda: bpy.ops.mpm.add(kind="inflow")


def ready_scene_here(bpy: Any, _folder: Path) -> Callable[[], Any]:
    return lambda: bpy.ops.mpm.add_ready_scene(scene="dam_break")


def ready_scene_beside(bpy: Any, _folder: Path) -> Callable[[], Any]:
    add_collider(bpy, "Mine").select_set(True)
    return lambda: bpy.ops.mpm.add_ready_scene(scene="snowball")


def objects_add(bpy: Any, _folder: Path) -> Callable[[], Any]:
    for name in ("First", "Second"):
        add_mesh(bpy, name).select_set(True)
    return lambda: bpy.ops.mpm.objects_add(type="outflow")


def material_choose(bpy: Any, _folder: Path) -> Callable[[], Any]:
    add_emitter(bpy).select_set(True)
    bpy.ops.mpm.material_choose(name="honey")
    bpy.ops.mpm.material_customize()
    return lambda: bpy.ops.mpm.material_choose(name="snow")


def material_customize(bpy: Any, _folder: Path) -> Callable[[], Any]:
    add_emitter(bpy).select_set(True)
    bpy.ops.mpm.material_choose(name="honey")
    return lambda: bpy.ops.mpm.material_customize()


WITHOUT_NODES = (
    quick_on_two,
    quick_collider,
    add_domain,
    add_inflow,
    ready_scene_here,
    ready_scene_beside,
    objects_add,
    material_choose,
    material_customize,
)


def show(bpy: Any, folder: Path) -> Callable[[], Any]:
    if not (folder / "cache").exists():
        write_cache(folder / "cache", {1: 3, 2: 3})
    add_mesh(bpy, "Mine").select_set(True)
    return lambda: bpy.ops.mpm.show(cache=str(folder / "cache"))


def display_same(bpy: Any, folder: Path) -> Callable[[], Any]:
    dressed(bpy, folder).mpm.display.parts[0].viewport = "spheres"
    return lambda: bpy.ops.mpm.display_same()


def display_fit(bpy: Any, folder: Path) -> Callable[[], Any]:
    item = dressed(bpy, folder)
    item.mpm.display.use_fitted_range = False
    item.mpm.display.color_by = "speed"
    return lambda: bpy.ops.mpm.display_fit()


def display_assets(bpy: Any, _folder: Path) -> Callable[[], Any]:
    return lambda: bpy.ops.mpm.display_assets()


LOOKS = [display.Look("One", (0.1, 0.2, 0.9, 1.0), law="water"), display.Look("Two", (0.9, 0.9, 0.9, 1.0), law="snow")]


def dressed(bpy: Any, folder: Path) -> Any:
    if not (folder / "cache").exists():
        write_cache(folder / "cache", {1: 3, 2: 3})
    item = particle_objects.result_object(bpy.context.scene, str(folder / "cache"))
    display.dress(item, LOOKS)
    bpy.context.view_layer.objects.active = item
    particle_objects.show(bpy.context.scene)
    return item


WITH_NODES = (show, display_same, display_fit, display_assets)


def check(bpy: Any, case: Any, folder: Path, unexpected: list[BaseException]) -> None:
    """Make an operator fail at many lines, one after another; then let it succeed."""
    bpy.ops.wm.read_homefile(use_empty=True)
    in_blender(Message("the names of parameters are kept from the first message on"))
    counted = Faults()
    press = case(bpy, folder)
    before = file_state(bpy)
    with counted.active():
        assert press() == {"FINISHED"}
    assert difference(before, file_state(bpy)), "the operator does nothing that a fault could leave half done"
    assert counted.count > 3
    bpy.ops.wm.read_homefile(use_empty=True)
    press = case(bpy, folder)
    before = file_state(bpy)
    # building something a second time takes fewer lines
    reached = counted.count if case not in WITH_NODES else counted.count // 2
    for at in sorted({1 + number * (reached - 1) // (FAULTS - 1) for number in range(FAULTS)}):
        faults = Faults(at)
        with faults.active():
            said = error_of(press)
        assert faults.place and said.count("\n") == 0
        assert f"failed unexpectedly (FaultError: {faults.place})" in said
        assert difference(before, file_state(bpy)) == {}, faults.place
        assert [str(error) for error in unexpected] == [faults.place]
        unexpected.clear()
    assert press() == {"FINISHED"}


@pytest.mark.parametrize("case", WITHOUT_NODES, ids=lambda case: case.__name__)
def test_wherever_it_fails_the_file_is_as_before(bpy: Any, case: Any, tmp_path: Path, unexpected: list[BaseException]) -> None:
    check(bpy, case, tmp_path, unexpected)


@pytest.mark.blender
@pytest.mark.slow
@pytest.mark.parametrize("case", WITH_NODES, ids=lambda case: case.__name__)
def test_so_it_is_with_nodes(bpy: Any, case: Any, tmp_path: Path, unexpected: list[BaseException]) -> None:
    check(bpy, case, tmp_path, unexpected)


def test_every_operator_is_one_of_these(bpy: Any) -> None:
    found = layout.registered_classes(bpy, "Operator")
    assert len(found) > 30
    assert [cls.__name__ for cls in found if not issubclass(cls, operation.Operation)] == []
    # an operator that reports an error itself skips the code that restores the file
    sources = {path: path.read_text(encoding="utf-8") for path in Path(LAYER).rglob("*.py")}
    assert [path.name for path, text in sources.items() if 'report({"ERROR"}' in text] == []


def test_what_is_foreseen_is_said_as_it_is_and_taken_back_too(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    add_mesh(bpy, "Body").select_set(True)
    before = file_state(bpy)

    def refuse(*_arguments: Any) -> None:
        raise MpmError("No room for a floor", Action.RESTART)

    monkeypatch.setattr(quick, "_add_floor", refuse)
    assert error_of(bpy.ops.mpm.quick) == "No room for a floor; bake with restart=True."
    assert difference(before, file_state(bpy)) == {}


def test_notes_of_an_operator_are_worded_for_scripts_in_the_background(bpy: Any) -> None:
    reports: list[tuple[set[str], str]] = []
    operator: Any = SimpleNamespace(report=lambda level, text: reports.append((level, text)))
    operation.Operation.notes(operator, [Message("The scene has changed", (Action.RESTART,)), Message("`grid_spacing` is large")])
    assert reports == [
        ({"WARNING"}, "The scene has changed; bake with restart=True."),
        ({"WARNING"}, "Cell Size is large"),
    ]


def test_what_cannot_be_taken_back_is_said(bpy: Any, monkeypatch: pytest.MonkeyPatch, unexpected: list[BaseException]) -> None:
    add_mesh(bpy, "Body").select_set(True)

    def fail(*_arguments: Any) -> None:
        raise FaultError("again")

    monkeypatch.setattr(quick, "_add_floor", fail)
    monkeypatch.setattr(operation.FileRecord, "put_back", fail)
    assert "Some changes could not be undone" in error_of(bpy.ops.mpm.quick)
    assert len(unexpected) == 2
    unexpected.clear()


@pytest.mark.blender
def test_undo_works_as_before(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an undo stack, a failure leaves no undo step: undo reverts what was done before it."""
    item = add_mesh(bpy, "Body")
    item.select_set(True)
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="one")
    item.location.x = 5.0
    bpy.ops.ed.undo_push(message="two")
    with monkeypatch.context() as patched:
        patched.setattr(quick, "_add_floor", lambda *_arguments: (_ for _ in ()).throw(MpmError("no")))
        assert error_of(bpy.ops.mpm.quick) == "no"
    bpy.ops.ed.undo()
    assert bpy.data.objects["Body"].location.x == 0.0
    bpy.ops.ed.redo()
    assert bpy.data.objects["Body"].location.x == 5.0
    assert bpy.data.objects["Body"].mpm.type == "none"
