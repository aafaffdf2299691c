"""A strict stand-in for Blender's Python modules, to test the add-on's logic without Blender.

    from tests import fakes
    blender = fakes.install()                       # sys.modules["bpy"], ["mathutils"] and their submodules
    blender.reset()                                 # an empty file, nothing registered
    blender.fire_timers()                           # call the registered timers once
    blender.leftovers()                             # what is still registered: must be empty after unregister()

Every name comes from the stubs of fake-bpy-module: a name that Blender lacks raises AttributeError. What Blender has
and the fake does not simulate raises FakeLimitation when it is called; such a test is marked with `blender` and runs
only on the real bpy. tests/fakes/test_contract_*.py check the same expectations on both.
"""

from __future__ import annotations

import importlib.machinery
import os
import re
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import context, data, definitions, interface, menus, registration, structs, vectors
from . import meshes as meshes  # fills the tables of `structs`
from .definitions import make_function
from .structs import STUBS, FakeLimitation, create, struct_class

__all__ = ["FakeBlender", "FakeLimitation", "install"]

MATHUTILS = {name: getattr(vectors, name) for name in ("Vector", "Matrix", "Euler", "Quaternion", "Color")}


class FakeModule(types.ModuleType):
    """A module with the names of the stubs; some have a value, the others raise FakeLimitation."""

    def __init__(self, name: str, values: dict[str, Any]) -> None:
        super().__init__(name)
        self.__spec__ = importlib.machinery.ModuleSpec(name, loader=None, is_package=True)
        self.__dict__.update(values, __path__=[])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = self.__name__
        if name not in STUBS.names(module):
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        if module == "bpy.types":
            return menus.own_class(name) or struct_class(name)
        raise FakeLimitation(f"the fake does not simulate {module}.{name}; test it on the real bpy")


class FakeBlender:
    """The installed fake: the state behind the modules, and actions that Blender performs by itself."""

    def __init__(self, version: tuple[int, int, int]) -> None:
        self.version = version
        self.handlers: dict[str, list[Callable[..., Any]]] = {name: [] for name in STUBS.names("bpy.app.handlers") if name != "persistent"}
        self.timers: list[Callable[[], float | None]] = []
        self.persistent_timers: list[Callable[[], float | None]] = []
        self.command_line: dict[str, Callable[..., Any]] = {}
        self.manual_maps: list[Callable[[], Any]] = []
        self.translations = interface.Translations()
        self.previews = interface.Previews()
        self.user_folder = Path(tempfile.mkdtemp(prefix="fake-blender-user-"))
        self.context = context.new_context()
        self.modules = self._make_modules()
        self.reset()

    def reset(self) -> None:
        """Start over: an empty file, nothing registered, no handler, no timer."""
        for cls in reversed(registration.registered.values()):
            type.__setattr__(cls, "is_registered", False)
        registration.registered.clear()
        structs.forget_declared_properties()
        for functions in self.handlers.values():
            functions.clear()
        self.timers.clear()
        self.persistent_timers.clear()
        self.command_line.clear()
        self.manual_maps.clear()
        self.translations.registered.clear()
        self.previews.collections.clear()
        menus.forget()
        data.CURRENT["preferences"] = create(struct_class("Preferences"))
        self.open_empty_file()

    def open_empty_file(self) -> None:
        """Do what `read_homefile(use_empty=True)` does: persistent handlers and registered classes stay."""
        self.call_handlers("load_pre", "")
        for functions in self.handlers.values():
            functions[:] = [function for function in functions if hasattr(function, "_bpy_persistent")]
        self.timers[:] = [function for function in self.timers if function in self.persistent_timers]
        self.modules["bpy"].__dict__["data"] = data.new_file()
        self.context._values["overrides"] = {}
        self.call_handlers("load_post", "")

    def save_file(self, filepath: str) -> None:
        """Do what `save_as_mainfile` does to the state and the handlers; no file is written."""
        self.call_handlers("save_pre", filepath)
        data.CURRENT["data"]._values.update(filepath=filepath, is_saved=True, is_dirty=False)
        self.call_handlers("save_post", filepath)

    def call_handlers(self, name: str, *arguments: Any) -> None:
        """Call the handlers of one list, with as many arguments as each takes."""
        for function in list(self.handlers[name]):
            count = function.__code__.co_argcount if hasattr(function, "__code__") else len(arguments)
            function(*arguments[:count])

    def fire_timers(self) -> None:
        """Call each registered timer once; one that returns None is removed."""
        for function in list(self.timers):
            if function() is None and function in self.timers:
                self.timers.remove(function)

    def leftovers(self) -> list[str]:
        """What is still registered: classes, properties on Blender's classes, handlers, timers, commands."""
        found = [f"class {name}" for name in registration.registered]
        for name, functions in self.handlers.items():
            found += [f"handler {name}: {function.__qualname__}" for function in functions]
        found += [f"timer {getattr(function, '__qualname__', function)}" for function in self.timers]
        found += [f"command {name}" for name in self.command_line]
        found += [f"manual {function.__qualname__}" for function in self.manual_maps]
        found += menus.appended()
        found += [f"translations of {name}" for name in self.translations.registered]
        found += [f"pictures {list(collection)}" for collection in self.previews.collections]
        for name in ("Object", "Scene", "WindowManager", "Collection", "Material", "Mesh", "NodeTree"):
            properties = vars(struct_class(name)).items()
            found += [f"property {name}.{key}" for key, value in properties if isinstance(value, structs.BoundProperty)]
        return found

    def _make_modules(self) -> dict[str, types.ModuleType]:
        modules: dict[str, types.ModuleType] = {}

        def add(name: str, **values: Any) -> types.ModuleType:
            modules[name] = FakeModule(name, values)
            return modules[name]

        app = add(
            "bpy.app",
            version=self.version,
            version_string=".".join(map(str, self.version)),
            version_file=self.version,
            background=True,
            binary_path="",
            tempdir=str(self.user_folder / "temp"),
            debug=False,
            online_access=False,
            is_job_running=lambda _kind: False,
            handlers=add("bpy.app.handlers", persistent=_persistent, **self.handlers),
            timers=add(
                "bpy.app.timers",
                register=self._register_timer,
                unregister=self._unregister_timer,
                is_registered=lambda function: function in self.timers,
            ),
            translations=add("bpy.app.translations", **self.translations.functions()),
        )
        add(
            "bpy",
            fake=self,
            app=app,
            context=self.context,
            ops=registration.OperatorRoot(),
            path=add("bpy.path", **_path_functions()),
            props=add("bpy.props", **{name: make_function(name) for name in definitions.CLASSES}),
            types=add("bpy.types"),
            utils=add(
                "bpy.utils",
                register_class=registration.register_class,
                unregister_class=registration.unregister_class,
                register_classes_factory=_register_classes_factory,
                register_manual_map=self.manual_maps.append,
                unregister_manual_map=self.manual_maps.remove,
                extension_path_user=self._extension_path_user,
                user_resource=self._user_resource,
                register_cli_command=self._register_command,
                unregister_cli_command=self.command_line.pop,
                previews=add("bpy.utils.previews", new=self.previews.new, remove=self.previews.remove),
            ),
        )
        add("mathutils", **MATHUTILS)
        return modules

    def _register_timer(self, function: Callable[[], float | None], *, first_interval: float = 0.0, persistent: bool = False) -> None:
        if not callable(function) or first_interval < 0:
            raise TypeError(f"timers.register(): expected a function and a delay, got {function!r}, {first_interval}")
        self.timers.append(function)
        if persistent:
            self.persistent_timers.append(function)

    def _unregister_timer(self, function: Callable[[], float | None]) -> None:
        if function not in self.timers:
            raise ValueError("Error: function is not registered")
        self.timers.remove(function)

    def _register_command(self, id: str, execute: Callable[..., Any]) -> str:
        if id in self.command_line:
            raise ValueError(f"register_cli_command(...): '{id}' is already registered")
        self.command_line[id] = execute
        return id

    def _extension_path_user(self, package: str, *, path: str = "", create: bool = False) -> str:
        parts = package.split(".")
        if len(parts) != 3 or parts[0] != "bl_ext":
            raise ValueError('The "package" does not name an extension')
        return self._make_folder(self.user_folder / "extensions" / ".user" / parts[1] / parts[2] / path, create)

    def _user_resource(self, resource_type: str, *, path: str = "", create: bool = False) -> str:
        if resource_type not in ("DATAFILES", "CONFIG", "SCRIPTS", "EXTENSIONS"):
            raise ValueError(f"user_resource(): unknown resource type '{resource_type}'")
        return self._make_folder(self.user_folder / resource_type.lower() / path, create)

    @staticmethod
    def _make_folder(folder: Path, create: bool) -> str:
        if create:
            folder.mkdir(parents=True, exist_ok=True)
        return str(folder)


def install(version: tuple[int, int, int] | None = None) -> FakeBlender:
    """Put the fake into sys.modules and return it; an existing fake is emptied and reused.

    The version is the value of bpy.app.version; by default the version of the stubs.
    """
    present = sys.modules.get("bpy")
    if present is not None and not isinstance(present, FakeModule):
        raise RuntimeError("the real bpy is imported already; the fake needs a process of its own")
    version = version or STUBS.version
    if present is not None and present.app.version == version:
        blender = present.__dict__["fake"]
        blender.reset()
        return blender
    blender = FakeBlender(version)
    sys.modules.update(blender.modules)
    _simulate_operators(blender)
    definitions.CONTEXT = data.CURRENT["context"] = lambda: blender.context
    return blender


def _simulate_operators(blender: FakeBlender) -> None:
    def read_homefile(**_keywords: Any) -> set[str]:
        blender.open_empty_file()
        return {"FINISHED"}

    def save_as_mainfile(*, filepath: str, **_keywords: Any) -> set[str]:
        blender.save_file(filepath)
        return {"FINISHED"}

    def undo_push(*, message: str = "Add an undo step *function may be moved*") -> set[str]:
        """Accept an undo step; nothing can be undone."""
        return {"FINISHED"}

    registration.builtin_operators.update(
        {"wm.read_homefile": read_homefile, "wm.save_as_mainfile": save_as_mainfile, "ed.undo_push": undo_push}
    )

    def frame_set(scene: Any, frame: int, subframe: float = 0.0) -> None:
        context.set_frame(scene, frame, blender.call_handlers, subframe)

    structs.BEHAVIORS["Scene", "frame_set"] = frame_set


def _persistent(function: Callable[..., Any]) -> Callable[..., Any]:
    function._bpy_persistent = ()  # type: ignore[attr-defined]
    return function


def _register_classes_factory(classes: Any) -> tuple[Callable[[], None], Callable[[], None]]:
    def register() -> None:
        for cls in classes:
            registration.register_class(cls)

    def unregister() -> None:
        for cls in reversed(classes):
            registration.unregister_class(cls)

    return register, unregister


def _path_functions() -> dict[str, Callable[..., Any]]:
    def abspath(path: str, *, start: str | None = None, library: Any = None) -> str:
        if not path.startswith("//"):
            return path
        return os.path.join(start or os.path.dirname(data.CURRENT["data"].filepath), path[2:])

    def relpath(path: str, *, start: str | None = None) -> str:
        if path.startswith("//"):
            return path
        return "//" + os.path.relpath(path, start or os.path.dirname(data.CURRENT["data"].filepath))

    def ensure_ext(filepath: str, ext: str, *, case_sensitive: bool = False) -> str:
        return filepath if filepath.lower().endswith(ext.lower()) else filepath + ext

    return {
        "abspath": abspath,
        "relpath": relpath,
        "ensure_ext": ensure_ext,
        "basename": lambda path: os.path.basename(path.removeprefix("//")),
        "clean_name": lambda name, *, replace="_": re.sub(r"[^\w\-.]", replace, name),
    }
