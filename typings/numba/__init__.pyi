"""numba is typed in part only; to pyright everything in it is Any, and so are the functions that it decorates."""

from typing import Any

def __getattr__(name: str) -> Any: ...
