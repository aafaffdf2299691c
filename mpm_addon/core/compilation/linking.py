"""Functions that compiled functions alone call get no machine code of their own: they are linked into their callers.

numba makes machine code of each function that it compiles, before it compiles the one that calls it. Of a kernel's hundred functions
nothing but the kernel is ever entered from outside; the code of the others would never run.
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
    """A library that is there to be linked into others."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


def _is_entered() -> bool:
    """Whether Python or C may call the function that is compiled now; numba's `overload` asks for no way in from either."""
    flags: Any = targetconfig.ConfigStack.top_or_none()
    has_way_from_c = flags is not None and flags.is_set("no_cfunc_wrapper") and not flags.no_cfunc_wrapper
    return flags is None or not flags.no_cpython_wrapper or has_way_from_c


def _create_way_from_c(context: CPUContext, *arguments: Any) -> None:
    """See `CPUContext.create_cfunc_wrapper`, which numba calls unless told not to."""
    if _is_entered():
        CPUContext.create_cfunc_wrapper(context, *arguments)


def _get_executable(context: CPUContext, library: Any, description: Any, environment: Any) -> Any:
    """What numba knows a compiled function by; see `CPUContext.get_executable`."""
    # what was loaded from a file is complete
    if _is_entered() or library._finalized:
        executable = CPUContext.get_executable(context, library, description, environment)
        _set_environments(library)
        return executable
    library.__class__ = _Linked
    library.finalize()
    name = description.qualname.rpartition(".")[2]
    return _dynfunc.make_function(description.lookup_module(), name, "linked into its callers", NO_ENTRY, environment, (library,))


def _set_environments(library: Any) -> None:
    """Give functions that were linked in the globals that they had when they were compiled, as numba does for code from a file."""
    names = [variable.name for variable in library._final_module.global_variables if variable.name.startswith("_ZN08NumbaEnv")]
    for name in names:
        environment = lookup_environment(name)
        if environment is not None:
            library.codegen.set_env(name, environment)


def link_what_is_not_entered(context: CPUContext) -> None:
    """Let a target context make machine code of those functions alone that are entered from Python or C."""
    context.create_cfunc_wrapper = MethodType(_create_way_from_c, context)
    context.get_executable = MethodType(_get_executable, context)
