"""Substeps of rigid bodies that change nothing, which are not computed again. Plain numpy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Standstill:
    """Knows the inputs of the last substep if that left them as they were.

    A substep with the same inputs, to the last bit, gives the same result. So whatever differs, a body that was pushed or a new force, is
    computed again, and nothing is stored in checkpoints.
    """

    def __init__(self) -> None:
        self._begun: tuple[bytes, ...] | None = None
        self._known: tuple[bytes, ...] | None = None

    def begin(self, *inputs: NDArray[Any]) -> bool:
        """Begin a substep with these inputs; returns whether it would change nothing."""
        self._begun = tuple(np.asarray(each).tobytes() for each in inputs)
        return self._begun == self._known

    def end(self, *outputs: NDArray[Any]) -> None:
        """End a substep; the outputs are the first inputs of the next one."""
        after = tuple(np.asarray(each).tobytes() for each in outputs)
        self._known = self._begun if self._begun is not None and self._begun[: len(after)] == after else None

    def forget(self) -> None:
        """Something else has changed that the next substep depends on."""
        self._begun = self._known = None
