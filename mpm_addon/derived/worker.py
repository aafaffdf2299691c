"""`python -m mpm_addon.derived.worker`: the process that makes meshes, one frame after another.

splashsurf holds Python's interpreter lock while it works, so that in the process of the command line a request to stop would wait for
it; and it ends its process when memory runs out. Frames and meshes are pickled through pipes that no other process has.
"""

import os
import pickle
import sys
from typing import Any, BinaryIO

from ..core.errors import MpmError
from ..core.messages import Message
from ..dependencies import missing_package
from .particles import Cloud
from .reconstruction import reconstruct
from .settings import Recipe


def answer(clouds: list[Cloud], recipe: Recipe, voxel: float | None) -> Any:
    """The meshes of particles with their voxel sizes, or the error as text."""
    try:
        return [reconstruct(cloud, recipe, voxel) for cloud in clouds]
    except MpmError as error:
        return error.message
    except ImportError as error:
        problem, remedy = missing_package(error)
        return Message(problem, (remedy,))
    except BaseException as error:  # noqa: BLE001 - a panic in Rust is none of Python's exceptions
        return f"{type(error).__name__}: {error}"


def main(source: BinaryIO, target: BinaryIO) -> None:
    """Serve requests until there are no more."""
    while True:
        try:
            question = pickle.load(source)
        except EOFError:
            return
        pickle.dump(answer(*question), target, pickle.HIGHEST_PROTOCOL)
        target.flush()


if __name__ == "__main__":
    # output of libraries must not mix with the answers
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        main(sys.stdin.buffer, answers)
