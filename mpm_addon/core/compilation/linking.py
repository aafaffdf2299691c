"""Functions that only compiled functions call get no machine code of their own: they are linked into their callers.

numba generates machine code for each function that it compiles before it compiles the caller. Of a kernel's hundred functions,
only the kernel is ever entered from outside; the code of the others would never run.
"""

from types import MethodType
from typing import Any

from numba import _dynfunc
from numba.core import targetconfig
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext
from numba.core.environment import lookup_environment

NO_ENTRY = 0


class _Linked(JITCodeLibrary):
    """A library that is only linked into others."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


def _is_entered() -> bool:
    """Whether Python or C may call the function being compiled; numba's `overload` requests no wrapper for either."""
    flags: Any = targetconfig.ConfigStack.top_or_none()
    has_c_wrapper = flags is not None and flags.is_set("no_cfunc_wrapper") and not flags.no_cfunc_wrapper
    return flags is None or not flags.no_cpython_wrapper or has_c_wrapper


def _create_c_wrapper(context: CPUContext, *arguments: Any) -> None:
    """Replaces `CPUContext.create_cfunc_wrapper`."""
    if _is_entered():
        CPUContext.create_cfunc_wrapper(context, *arguments)


def _get_executable(context: CPUContext, library: Any, description: Any, environment: Any) -> Any:
    """Replaces `CPUContext.get_executable`."""
    # a library loaded from a file is complete
    if _is_entered() or library._finalized:
        executable = CPUContext.get_executable(context, library, description, environment)
        _set_environments(library)
        return executable
    library.__class__ = _Linked
    library.finalize()
    name = description.qualname.rpartition(".")[2]
    return _dynfunc.make_function(description.lookup_module(), name, "linked into its callers", NO_ENTRY, environment, (library,))


def _set_environments(library: Any) -> None:
    """Give linked functions the globals that they were compiled with, as numba does for code from a file."""
    names = [variable.name for variable in library._final_module.global_variables if variable.name.startswith("_ZN08NumbaEnv")]
    for name in names:
        environment = lookup_environment(name)
        if environment is not None:
            library.codegen.set_env(name, environment)


def link_what_is_not_entered(context: CPUContext) -> None:
    """Make a target context generate machine code only for functions that are entered from Python or C."""
    context.create_cfunc_wrapper = MethodType(_create_c_wrapper, context)
    context.get_executable = MethodType(_get_executable, context)
