"""bpy.context: Blender's members, pointing into the fake's file; and the scene's time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from . import structs
from .data import CURRENT
from .objects import animate
from .structs import BEHAVIORS, STUBS, create, struct_class

NOTHING_WITHOUT_A_WINDOW = ("area", "region", "region_data", "space_data", "screen", "window", "workspace")


def _selected(_context: Any) -> list[Any]:
    return [block for block in CURRENT["scene"].objects if block.select_get()]


MEMBERS: dict[str, Callable[[Any], Any]] = {
    "scene": lambda context: CURRENT["scene"],
    "view_layer": lambda context: CURRENT["view_layer"],
    "blend_data": lambda context: CURRENT["data"],
    "collection": lambda context: CURRENT["scene"].collection,
    "object": lambda context: CURRENT["view_layer"].objects.active,
    "active_object": lambda context: CURRENT["view_layer"].objects.active,
    "selected_objects": _selected,
    "selected_editable_objects": _selected,
    "visible_objects": lambda context: list(CURRENT["scene"].objects),
    "window_manager": lambda context: CURRENT["data"].window_managers[0],
    "preferences": lambda context: CURRENT["preferences"],
    "mode": lambda context: "OBJECT",
    "engine": lambda context: CURRENT["scene"].render.engine,
    "id": lambda context: None,
    **{name: (lambda context: None) for name in NOTHING_WITHOUT_A_WINDOW},
}


@contextlib.contextmanager
def _override(self: Any, **members: Any) -> Iterator[None]:
    for name in members:
        if STUBS.find_property("Context", name) is None:
            raise TypeError(f"temp_override(): unknown context member '{name}'")
    before = dict(self._values["overrides"])
    self._values["overrides"].update(members)
    try:
        yield
    finally:
        self._values["overrides"] = before


def _member(name: str) -> Callable[[Any], Any]:
    def read(context: Any) -> Any:
        overrides = context._values["overrides"]
        return overrides[name] if name in overrides else MEMBERS[name](context)

    return read


for _name in MEMBERS:
    structs.COMPUTED["Context", _name] = _member(_name)
structs.NAMESPACES["Context"] = {
    "temp_override": _override,
    "copy": lambda self: {name: getattr(self, name) for name in MEMBERS},
}
BEHAVIORS["Context", "evaluated_depsgraph_get"] = lambda self: self.view_layer.depsgraph


def new_context() -> Any:
    """The context of the fake."""
    return create(struct_class("Context"), overrides={})


def set_frame(scene: Any, frame: int, call_handlers: Callable[..., None], subframe: float = 0.0) -> None:
    """Set the frame of a scene and call the handlers that Blender calls."""
    scene._values.update(frame_current=frame, frame_subframe=subframe)
    animate(frame + subframe)
    depsgraph = CURRENT["view_layer"].depsgraph
    for name in ("frame_change_pre", "depsgraph_update_pre", "depsgraph_update_post", "frame_change_post"):
        call_handlers(name, scene, depsgraph)
