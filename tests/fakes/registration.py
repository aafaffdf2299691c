"""bpy.utils.register_class and bpy.ops: checks classes as Blender does, and calls operators as scripts do."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from typing import Any, get_type_hints

from . import data, definitions, structs
from .definitions import PropertyDeferred
from .structs import STUBS, FakeLimitation, create, struct_class

REGISTRABLE = (
    "Operator", "Panel", "UIList", "Menu", "Header", "PropertyGroup", "AddonPreferences", "Macro", "Gizmo",
    "GizmoGroup", "NodeTree", "Node", "NodeSocket", "NodeTreeInterfaceSocket", "KeyingSetInfo", "RenderEngine",
    "AssetShelf", "FileHandler",
)  # fmt: skip
REQUIRED = {
    "Operator": ("bl_idname", "bl_label"),
    "Panel": ("bl_label", "bl_space_type", "bl_region_type", "draw"),
    "Menu": ("bl_label", "draw"),
    "Header": ("bl_space_type", "draw"),
    "UIList": (),
    "AddonPreferences": ("bl_idname",),
    "FileHandler": ("bl_idname", "bl_label", "bl_import_operator", "bl_file_extensions"),
}
INFIXES = {"Panel": "_PT_", "Menu": "_MT_", "UIList": "_UL_", "Header": "_HT_"}
OPERATOR_RESULTS = ("RUNNING_MODAL", "CANCELLED", "FINISHED", "PASS_THROUGH", "INTERFACE")
EXECUTION_CONTEXTS = tuple(
    f"{how}_{where}"
    for how in ("INVOKE", "EXEC")
    for where in ("DEFAULT", "REGION_WIN", "REGION_CHANNELS", "REGION_PREVIEW", "AREA", "SCREEN")
)

registered: dict[str, type] = {}  # Blender's identifier of a class -> the class
builtin_operators: dict[str, Callable[..., set[str]]] = {}  # "wm.read_homefile" -> the fake's implementation


def register_class(cls: type) -> None:
    """Register a class; raises if Blender would refuse, or only warn."""
    base = _registrable_base(cls, "register_class")
    if cls.__dict__.get("is_registered"):
        raise ValueError(f"register_class(...): already registered as a subclass '{cls.__name__}'")
    for name in REQUIRED.get(base, ()):
        if name == "bl_label" and "HIDE_HEADER" in getattr(cls, "bl_options", ()):
            continue
        if not _is_defined(cls, name):
            raise AttributeError(f'expected {base}, {cls.__name__} class to have an "{name}" attribute')
    identifier = _identifier(cls, base)
    _check_identifier(cls, base, identifier)
    if identifier in registered:
        raise ValueError(f"register_class(...): '{identifier}' has been registered before by {registered[identifier]}")
    _check_declared_enums(cls, base)
    if base == "Panel" and getattr(cls, "bl_parent_id", "") and cls.bl_parent_id not in registered:
        raise RuntimeError(f"Registering panel class: parent '{cls.bl_parent_id}' for '{identifier}' not found")
    _bind_annotations(cls)
    type.__setattr__(cls, "is_registered", True)
    registered[identifier] = cls
    if base == "AddonPreferences":
        data.add_preferences(cls)
    if hasattr(cls, "register"):
        cls.register()


def unregister_class(cls: type) -> None:
    """Unregister a class; RuntimeError if it is not registered."""
    if not (isinstance(cls, type) and cls.__dict__.get("is_registered")):
        raise RuntimeError(f"unregister_class(...):, missing bl_rna attribute from '{cls}' (may not be registered)")
    if hasattr(cls, "unregister"):
        cls.unregister()
    if issubclass(cls, struct_class("AddonPreferences")):
        data.remove_preferences(cls)
    type.__setattr__(cls, "is_registered", False)
    identifier = next(name for name, known in registered.items() if known is cls)
    del registered[identifier]
    for name, value in list(vars(cls).items()):
        if isinstance(value, definitions.Property):
            delattr(cls, name)


def _registrable_base(cls: Any, caller: str) -> str:
    if isinstance(cls, type):
        for name in REGISTRABLE:
            if name in STUBS.names("bpy.types") and issubclass(cls, struct_class(name)):
                return name
    raise ValueError(f"{caller}(...): expected a subclass of a registerable RNA type, got {cls!r}")


def _is_defined(cls: type, name: str) -> bool:
    return any(name in vars(ancestor) for ancestor in cls.__mro__ if ancestor.__module__ != "bpy.types")


def _identifier(cls: type, base: str) -> str:
    if base == "Operator":
        return cls.bl_idname
    return cls.bl_idname if _is_defined(cls, "bl_idname") else cls.__name__


def _check_identifier(cls: type, base: str, identifier: str) -> None:
    if base == "Operator" and not re.fullmatch(r"[a-z0-9_]+\.[a-z0-9_]+", identifier):
        raise RuntimeError(f"Error: Registering operator class: '{cls.__name__}', invalid bl_idname '{identifier}'")
    infix = INFIXES.get(base)
    if infix and not re.fullmatch(rf"[A-Z0-9]+[A-Za-z0-9_]*{infix}[A-Za-z0-9_]+", identifier):
        raise RuntimeError(f"'{identifier}' does not contain '{infix}' with prefix and suffix")


def _check_declared_enums(cls: type, base: str) -> None:
    for name, stub in ((name, stub) for ancestor in STUBS.lineage(base) for name, stub in ancestor.properties.items()):
        items = STUBS.enum_items(stub.annotation)
        if items is None or not name.startswith("bl_") or not _is_defined(cls, name):
            continue
        value = getattr(cls, name)
        for entry in value if isinstance(value, set) else [value]:
            if entry not in items:
                raise TypeError(f"validating class: {cls.__name__}.{name}: '{entry}' not found in {items}")


def _bind_annotations(cls: type) -> None:
    for ancestor in cls.__mro__:
        if ancestor.__module__ == "bpy.types":
            continue
        for name, value in vars(ancestor).items():
            if isinstance(value, PropertyDeferred):
                raise TypeError(f"{ancestor.__name__}.{name}: a property is declared by an annotation, not assigned")
    annotations: dict[str, Any] = {}
    for ancestor in reversed(cls.__mro__):
        own = vars(ancestor).get("__annotations__", {})
        if any(isinstance(value, str) for value in own.values()):
            own = get_type_hints(ancestor)
        annotations.update(own)
    for name, declared in annotations.items():
        if isinstance(declared, PropertyDeferred):
            setattr(cls, name, declared)


def find_operator(idname: str) -> type | None:
    """The registered operator class with this bl_idname."""
    found = registered.get(idname)
    return found if found is not None and issubclass(found, struct_class("Operator")) else None


def operator_exists(idname: str) -> bool:
    """Whether an operator is registered or is one of Blender's own."""
    module, _, name = idname.partition(".")
    if find_operator(idname) is not None:
        return True
    return STUBS.has_module(f"bpy.ops.{module}") and name in STUBS.names(f"bpy.ops.{module}")


def operator_properties(idname: str) -> set[str] | None:
    """The properties of an operator; None if the stubs do not tell."""
    cls = find_operator(idname)
    if cls is None:
        return None
    return {name for name, value in vars(cls).items() if isinstance(value, definitions.Property)}


class OperatorModule:
    """bpy.ops.MODULE: any name is accepted, and calling a missing operator fails, as in Blender."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> OperatorCall:
        if name.startswith("__"):
            raise AttributeError(name)
        return OperatorCall(f"{self._module}.{name}")


class OperatorRoot:
    """bpy.ops."""

    def __getattr__(self, module: str) -> OperatorModule:
        if module.startswith("__"):
            raise AttributeError(module)
        return OperatorModule(module)


class OperatorCall:
    """bpy.ops.MODULE.NAME: a call of an operator from a script."""

    def __init__(self, idname: str) -> None:
        self._idname = idname

    def idname_py(self) -> str:
        return self._idname

    def idname(self) -> str:
        module, _, name = self._idname.partition(".")
        return f"{module.upper()}_OT_{name}"

    def get_rna_type(self) -> structs.RnaDescription:
        return structs.RnaDescription(self._class())

    def poll(self, _execution_context: str = "EXEC_DEFAULT") -> bool:
        poll = getattr(self._class(), "poll", None)
        return poll is None or bool(poll(definitions.CONTEXT()))

    def _class(self) -> type:
        cls = find_operator(self._idname)
        if cls is None:
            if operator_exists(self._idname):
                raise FakeLimitation(f"the fake does not simulate bpy.ops.{self._idname}(); test it on the real bpy")
            raise AttributeError(f'Calling operator "bpy.ops.{self._idname}" error, could not be found')
        return cls

    def __call__(self, execution_context: str = "EXEC_DEFAULT", undo: bool | None = None, **keywords: Any) -> set[str]:
        if execution_context not in EXECUTION_CONTEXTS:
            raise TypeError(f'Calling operator "bpy.ops.{self._idname}" error, expected a string enum in {EXECUTION_CONTEXTS}')
        if self._idname in builtin_operators:
            return builtin_operators[self._idname](**keywords)
        cls = self._class()
        poll_message.clear()
        if not self.poll():
            reason = poll_message[-1] if poll_message else "failed, context is incorrect"
            raise RuntimeError(f"Operator bpy.ops.{self._idname}.poll() {reason}")
        return run_operator(cls, keywords)


poll_message: list[str] = []


def make_operator(cls: type, keywords: dict[str, Any]) -> Any:
    """An instance of an operator with its properties set, as Blender makes one for a call."""
    operator = create(cls)
    operator.__dict__["_reports"] = []
    for name, value in keywords.items():
        if not isinstance(getattr(cls, name, None), definitions.Property):
            raise TypeError(f'Converting py args to operator properties:: keyword "{name}" unrecognized')
        try:
            setattr(operator, name, value)
        except TypeError as error:
            raise TypeError(f"Converting py args to operator properties: {error}") from None
    return operator


def run_operator(cls: type, keywords: dict[str, Any]) -> set[str]:
    """Run execute(), also for INVOKE_DEFAULT, as Blender without a window does."""
    operator = make_operator(cls, keywords)
    try:
        result = operator.execute(definitions.CONTEXT())
    except Exception as error:
        raise RuntimeError(f"Error: Python: {traceback.format_exc()}") from error
    if not isinstance(result, set) or not result <= set(OPERATOR_RESULTS):
        raise RuntimeError(f"Error: Python: RuntimeError: class {cls.__name__}, function execute: incompatible return value {result!r}")
    errors = [message for level, message in operator.__dict__["_reports"] if level.startswith("ERROR")]
    if errors:
        raise RuntimeError("".join(f"Error: {message}\n" for message in errors))
    return result


def _report(self: Any, level: set[str], message: str) -> None:
    allowed = STUBS.named_enum("WmReportItems")
    if not isinstance(level, set) or not level <= set(allowed):
        raise ValueError(f'{type(self).__name__}.report(): error with argument 1, "type": {level} not in {allowed}')
    if not isinstance(message, str):
        raise TypeError(f'{type(self).__name__}.report(): error with argument 2, "message" expected a string')
    self.__dict__["_reports"].extend((entry, message) for entry in level)


def _poll_message_set(_cls: type, message: str | Callable[..., str], *arguments: Any) -> None:
    poll_message.append(message(*arguments) if callable(message) else message)


structs.BEHAVIORS["Operator", "report"] = _report
structs.NAMESPACES["Operator"] = {"poll_message_set": classmethod(_poll_message_set)}
