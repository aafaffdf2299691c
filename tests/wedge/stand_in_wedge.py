"""The command line with the stand-in simulation, in this process and in the bakes that a wedge starts.

`python stand_in_wedge.py wedge SCENE ...`. A scene with the seed 13 fails at frame 3.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from mpm_addon.core.particles import Frame
from mpm_addon.core.scene.description import Scene
from mpm_addon.wedge.process import Order
from tests.storage import stand_in

SCRIPT = Path(__file__)
UNLUCKY = 13

_command = Order.command


def command(order: Order) -> list[str]:
    """What the order's own command is, but for the program."""
    own = _command(order)
    return [sys.executable, str(SCRIPT), *own[own.index("bake") :]]


class Simulation(stand_in.Simulation):
    def frames(self) -> Iterator[Frame]:
        scene: Scene = self._scene
        self.fails_at = 3 if scene.solver.seed == UNLUCKY else None
        yield from super().frames()


def dask_setup(_worker: object) -> None:
    """A worker of a Dask cluster that preloads this file bakes with the stand-in too."""
    Order.command = command  # type: ignore[method-assign]


def main() -> int:
    sys.modules[stand_in.MODULE] = stand_in.module(Simulation)
    Order.command = command  # type: ignore[method-assign]
    from mpm_addon.command_line.main import main

    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
