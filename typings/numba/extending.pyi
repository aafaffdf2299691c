"""numba passes the typing context of an intrinsic itself, so what it decorates is Any to pyright."""

from typing import Any

def __getattr__(name: str) -> Any: ...
