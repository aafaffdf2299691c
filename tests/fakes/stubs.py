"""Reads Blender's names from the stubs of fake-bpy-module; knows nothing of their behavior.

The stubs are files of type hints that cannot be imported, written in a newer syntax than Python 3.11 reads.
"""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import importlib.util
import inspect
import re
from dataclasses import dataclass, field
from pathlib import Path

GENERIC_NAME = re.compile(r"(?m)^(\s*(?:class|def) \w+)\[[^\]\n]*\](?=[(:])")
TYPE_ALIAS = re.compile(r"(?m)^type (\w+) =")
ENUM_MODULE = "bpy.stub_internal.rna_enums"


@dataclass(frozen=True)
class PropertyStub:
    """One property of a Blender struct."""

    name: str
    annotation: ast.expr | None
    is_readonly: bool


@dataclass(frozen=True)
class StructStub:
    """One class of bpy.types: its bases, and its own properties and methods."""

    name: str
    bases: tuple[str, ...]
    item_type: str | None
    properties: dict[str, PropertyStub] = field(default_factory=dict)
    methods: dict[str, ast.FunctionDef] = field(default_factory=dict)


class Stubs:
    """The stubs installed in this environment."""

    def __init__(self) -> None:
        found = importlib.util.find_spec("bpy-stubs")
        if found is None or not found.submodule_search_locations:
            raise RuntimeError("fake-bpy-module is not installed; run make setup")
        self._site = Path(next(iter(found.submodule_search_locations))).parent
        self._structs: dict[str, StructStub] = {}

    @property
    def version(self) -> tuple[int, int, int]:
        """The Blender version of the stubs, which omit the third number."""
        names = [distribution.name.replace("-", ".") for distribution in importlib.metadata.distributions()]
        found = [match for name in names if (match := re.fullmatch(r"fake\.bpy\.module\.(\d+)\.(\d+)", name))]
        return int(found[0][1]), int(found[0][2]), 0

    @functools.cache  # noqa: B019 - one object lives as long as the process
    def names(self, module: str) -> dict[str, ast.stmt]:
        """The statement that declares each top-level name of a module such as "bpy.utils"."""
        declared: dict[str, ast.stmt] = {}
        for statement in self._parse(module).body:
            match statement:
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                    declared.setdefault(name, statement)
                case ast.Assign(targets=[ast.Name(id=name)]):
                    declared[name] = statement
                case ast.ImportFrom(level=1, module=None, names=[ast.alias(name=name)]):
                    declared[name] = statement
                case _:
                    continue
        return declared

    def has_module(self, module: str) -> bool:
        """Whether the stubs describe a module."""
        return self._path(module).is_file()

    def _path(self, module: str) -> Path:
        top, _, rest = module.partition(".")
        return self._site / f"{top}-stubs" / rest.replace(".", "/") / "__init__.pyi"

    def _parse(self, module: str) -> ast.Module:
        source = self._path(module).read_text(encoding="utf-8")
        return ast.parse(TYPE_ALIAS.sub(r"\1 =", GENERIC_NAME.sub(r"\1", source)))

    def signature(self, module: str, function: str) -> inspect.Signature:
        """The parameters of a function of a module."""
        node = self.names(module)[function]
        assert isinstance(node, ast.FunctionDef)
        return signature_of(node)

    def struct(self, name: str) -> StructStub:
        """A class of bpy.types; KeyError if Blender has none of that name."""
        if name not in self._structs:
            node = self.names("bpy.types")[name]
            if not isinstance(node, ast.ClassDef):
                raise KeyError(name)
            self._structs[name] = _read_struct(node)
        return self._structs[name]

    @functools.cache  # noqa: B019 - one object lives as long as the process
    def lineage(self, name: str) -> tuple[StructStub, ...]:
        """A class of bpy.types and its ancestors, itself first."""
        stub = self.struct(name)
        found = [stub]
        for base in stub.bases:
            found += [ancestor for ancestor in self.lineage(base) if ancestor not in found]
        return tuple(found)

    def find_property(self, struct: str, name: str) -> PropertyStub | None:
        """The property of a struct, its own or inherited."""
        return next((stub.properties[name] for stub in self.lineage(struct) if name in stub.properties), None)

    def find_method(self, struct: str, name: str) -> ast.FunctionDef | None:
        """The method of a struct, its own or inherited."""
        return next((stub.methods[name] for stub in self.lineage(struct) if name in stub.methods), None)

    @functools.cache  # noqa: B019 - one object lives as long as the process
    def enum_items(self, annotation: ast.expr | None) -> tuple[str, ...] | None:
        """The identifiers that an annotation allows; None if it is no enum."""
        match annotation:
            case ast.BinOp(left=left, right=right):
                return self.enum_items(left) or self.enum_items(right)
            case ast.Subscript(value=value, slice=inner) if ast.unparse(value) == "typing.Literal":
                values = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                # The stubs of 5.x write typing.Literal[SomeAlias] instead of SomeAlias.
                if isinstance(values[0], ast.Attribute):
                    return self.enum_items(values[0])
                return tuple(str(value.value) for value in values if isinstance(value, ast.Constant))
            case ast.Subscript(value=ast.Name(id="set"), slice=inner):
                return self.enum_items(inner)
            case ast.Attribute(attr=alias) if ast.unparse(annotation) == f"{ENUM_MODULE}.{alias}":
                return self.named_enum(alias)
            case _:
                return None

    @functools.cache  # noqa: B019 - one object lives as long as the process
    def named_enum(self, alias: str) -> tuple[str, ...]:
        """The identifiers of a shared enum, such as "IconItems"."""
        node = self.names(ENUM_MODULE)[alias]
        assert isinstance(node, ast.Assign)
        return self.enum_items(node.value) or ()


def _read_struct(node: ast.ClassDef) -> StructStub:
    bases: list[str] = []
    item_type = None
    for base in node.bases:
        if isinstance(base, ast.Subscript):
            bases.append(ast.unparse(base.value))
            item_type = ast.unparse(base.slice)
        elif ast.unparse(base) not in ("typing.Any", "typing.Generic"):
            bases.append(ast.unparse(base))
    stub = StructStub(node.name, tuple(name for name in bases if name.isidentifier()), item_type)
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                stub.properties[name] = PropertyStub(name, annotation, is_readonly=False)
            case ast.FunctionDef(name=name, decorator_list=[ast.Name(id="property")], returns=returns):
                stub.properties[name] = PropertyStub(name, returns, is_readonly=True)
            case ast.FunctionDef(name=name):
                stub.methods.setdefault(name, statement)
            case _:
                continue
    return stub


@functools.cache
def signature_of(node: ast.FunctionDef) -> inspect.Signature:
    """The parameters of a stub's function, without self or cls; defaults that are not literals become None."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    parameters: list[inspect.Parameter] = []
    for index, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
        if index == 0 and argument.arg in ("self", "cls"):
            continue
        kind = inspect.Parameter.POSITIONAL_ONLY if index < len(arguments.posonlyargs) else inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(_parameter(argument, kind, default))
    if arguments.vararg:
        parameters.append(inspect.Parameter(arguments.vararg.arg, inspect.Parameter.VAR_POSITIONAL))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(_parameter(argument, inspect.Parameter.KEYWORD_ONLY, default))
    if arguments.kwarg:
        parameters.append(inspect.Parameter(arguments.kwarg.arg, inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def _parameter(argument: ast.arg, kind: inspect._ParameterKind, default: ast.expr | None) -> inspect.Parameter:
    value: object = inspect.Parameter.empty
    if default is not None:
        try:
            value = ast.literal_eval(default)
        except ValueError:
            value = None
    annotation = argument.annotation if argument.annotation is not None else inspect.Parameter.empty
    return inspect.Parameter(argument.arg, kind, default=value, annotation=annotation)
