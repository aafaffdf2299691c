"""Thin colliders: results depend neither on the number of threads nor on the frame of resumption."""

import numpy as np
import pytest

from mpm_addon.core.contact import obstacles
from mpm_addon.core.geometry.shapes.mesh import Mesh
from mpm_addon.core.scene.animation import Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import LATTICE, box, digests_by_threads, material, scene


def sheet(half: float, height: float) -> Mesh:
    corners = half * np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    return Mesh(corners + np.array([0.0, 0.0, height]), np.array([[0, 1, 2], [0, 2, 3]]))


def between_sheets(frames: int = 6) -> Scene:
    """Water falls on a fixed sheet, whose edges it reaches, from below a sheet that tilts; both have it on both sides."""
    angles = np.radians(20.0) * np.array([0.0, 1.0])
    matrices = np.tile(np.eye(4), (2, 1, 1))
    for matrix, angle in zip(matrices, angles, strict=True):
        matrix[:3, :3] = [[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]]
    colliders = (
        Collider("fixed", sheet(0.3, -0.213)),
        Collider("tilting", sheet(0.25, 0.037), motion=Motion(np.array([1.0, 8.0]), matrices=matrices)),
    )
    emitters = (
        Emitter("above", box((0.0, 0.0, 0.2), (0.5, 0.5, 0.2)), "water", velocity=(0.3, 0.0, -2.0), **LATTICE),
        Emitter("between", box((0.0, 0.0, -0.1), (0.5, 0.5, 0.16)), "water", velocity=(0.0, 0.2, -2.0), **LATTICE),
        Emitter("below", box((0.1, 0.0, -0.35), (0.4, 0.5, 0.2)), "water", velocity=(0.0, 0.0, 1.0), **LATTICE),
    )
    return scene(*emitters, materials=(material("water", bulk_modulus=1e5),), colliders=colliders, frames=frames)


SHEETS = """
from mpm_addon.core.contact import footing, slabs
from tests.core.contact.test_thin_walls import between_sheets
footing.PARALLEL_FEET = slabs.PIECE_FEET = 1
scenes = [between_sheets()]
"""


@pytest.mark.slow
def test_thin_colliders_give_the_same_bytes_on_any_number_of_threads() -> None:
    assert len(digests_by_threads(SHEETS)) == 1


def test_a_resumed_simulation_with_thin_colliders_gives_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    marked = []
    turn_nodes = obstacles.turn_nodes

    def counting(*arguments: object) -> None:
        turn_nodes(*arguments)
        marked.append(np.count_nonzero(arguments[-1]))

    monkeypatch.setattr(obstacles, "turn_nodes", counting)
    whole = Simulation(between_sheets())
    frames = whole.frames()
    for _ in range(3):
        next(frames)
    snapshot = {name: array.copy() for name, array in whole.snapshot().items()}
    marked.clear()
    rest = list(frames)
    # both sheets were met, from both sides
    assert max(marked) > 0
    continued = list(Simulation(between_sheets(), snapshot=snapshot).frames())
    assert len(rest) == len(continued) == 3
    for mine, its in zip(rest, continued, strict=True):
        assert mine.position.tobytes() == its.position.tobytes()
        assert mine.velocity.tobytes() == its.velocity.tobytes()
