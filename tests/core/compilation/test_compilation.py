"""The keys of stored kernels change with their sources, so that stale machine code is never loaded."""

import ast
import re
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path

from mpm_addon.core.compilation.kernel import CORE, kernel_sources

MARKED = re.compile(r"^@(kernel|parallel_kernel|law_kernel|generic|njit|overload|register_jitable)\b", re.MULTILINE)
# What kernels' modules import for the Python around them: declarations, errors and what numba reads.
PLAIN = ("errors", "parameters", "processor", "scene")


def imported(path: Path) -> Iterator[Path]:
    """The modules of the core that a module of it imports."""
    package = ".".join(("core", *path.relative_to(CORE).parent.parts))
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            home = resolve_name("." * node.level + (node.module or ""), package)
            for name in (home, *(f"{home}.{each.name}" for each in node.names)):
                file = CORE.parent / f"{name.replace('.', '/')}.py"
                if file.is_file():
                    yield file


def test_every_kernel_is_among_the_sources() -> None:
    marked = {path for path in CORE.rglob("*.py") if MARKED.search(path.read_text())}
    assert len(marked) > 40
    assert marked <= set(kernel_sources())


def test_kernels_are_made_of_nothing_else() -> None:
    sources = set(kernel_sources())
    marked = [path for path in sources if MARKED.search(path.read_text())]
    missing = {used for path in marked for used in imported(path) if used not in sources and used.relative_to(CORE).parts[0] not in PLAIN}
    missing = {path for path in missing if path.relative_to(CORE).stem not in PLAIN}
    assert missing == set()


def compiled_functions() -> Iterator[tuple[ast.FunctionDef, bool]]:
    """The kernels and generic functions of the core, and whether each counts references."""
    for path in kernel_sources():
        for node in ast.walk(ast.parse(path.read_text())):
            marks = [ast.unparse(each) for each in node.decorator_list] if isinstance(node, ast.FunctionDef) else []
            if isinstance(node, ast.FunctionDef) and any(MARKED.match(f"@{each}") for each in marks):
                yield node, any("allocates=True" in each for each in marks)


def test_what_calls_a_kernel_that_makes_arrays_counts_references() -> None:
    """Where references are not counted, the arrays that a called kernel returns would never be released."""
    functions = list(compiled_functions())
    makers = {function.name for function, allocates in functions if allocates}
    assert len(makers) > 10
    for function, allocates in functions:
        called = {ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
        assert allocates or not called & makers, function.name
