"""Outflows remove particles that enter, however thin the outflow is and however fast particles or the outflow move."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.emission import outflows
from mpm_addon.core.geometry.rotation import rotation_matrix
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Emitter, Outflow, Scene
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import LATTICE, box, box_mesh, material, scene


def falling(*outflows: Outflow, speed: float = 10.0, frames: int = 5, at: Any = (0.0, 0.0, 0.5), **rest: Any) -> Scene:
    emitter = Emitter("block", box(at, 0.2), "neo_hookean", velocity=(0.0, 0.0, -speed), **LATTICE)
    given = {"gravity": (0.0, 0.0, 0.0), **rest}
    return scene(emitter, materials=(material("neo_hookean"),), outflows=outflows, frames=frames, **given)


def slab(thickness: float, **rest: Any) -> Outflow:
    return Outflow("drain", SHAPES["box"](center=(0.0, 0.0, 0.0), size=(2.0, 2.0, thickness)), **rest)


@pytest.mark.parametrize("dimension", [3, 2])
def test_nothing_crosses_an_outflow_of_a_hundredth_of_a_cell_at_ten_meters_a_second(dimension: int) -> None:
    """A particle crosses two hundred times the thickness between two sorts."""
    frames = list(simulate(falling(slab(0.0005), dimension=dimension)))
    count, mass = frames[0].statistics.particles, frames[0].statistics.mass
    assert frames[1].statistics.particles < count
    for frame in frames:
        assert frame.position[:, 2].min(initial=np.inf) > 0.0
        assert frame.statistics.particles + frame.statistics.deleted == count
        assert frame.statistics.mass == pytest.approx(mass * frame.statistics.particles / count, rel=1e-5)
    assert frames[-1].statistics.particles == 0 and frames[-1].statistics.momentum == (0.0, 0.0, 0.0)


def test_matter_beside_an_outflow_stays() -> None:
    drain = Outflow("drain", SHAPES["box"](center=(0.5, 0.0, 0.0), size=(1.0, 2.0, 0.001)))
    first, *_, last = simulate(falling(drain))
    assert set(last.id) == set(first.id[first.position[:, 0] < 0.0])


def test_a_mesh_and_a_plane_take_what_is_in_them() -> None:
    for shape in (box_mesh((2.0, 2.0, 0.2)), SHAPES["plane"]()):
        *_, last = simulate(falling(Outflow("drain", shape)))
        assert last.statistics.particles == 0


def test_a_moving_outflow_sweeps_up_what_rests() -> None:
    """A thin blade goes through a resting block within one frame, and turns at the same time."""
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[:, 2, 3] = 1.5, -0.5
    poses[1, :3, :3] = rotation_matrix(np.array([0.0, 0.0, 3.0]))
    blade = slab(0.001, motion=Motion(np.array([2.0, 3.0]), matrices=poses))
    counts = [frame.statistics.particles for frame in simulate(falling(blade, speed=0.0, frames=4))]
    assert counts[1] == counts[0] > 0 and counts[2] == 0


@pytest.mark.parametrize("angle", [-3.0, 3.0])
def test_a_blade_that_turns_takes_what_lies_on_its_arc_and_nothing_else(angle: float) -> None:
    """Half a turn within a frame: the straight way from start to end, seen from the blade, passes beside it."""
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[1, :3, :3] = rotation_matrix(np.array([0.0, angle, 0.0]))
    shape = SHAPES["box"](center=(0.6, 0.0, 0.0), size=(0.8, 2.0, 0.001))
    blade = Outflow("blade", shape, motion=Motion(np.array([2.0, 3.0]), matrices=poses))
    *_, last = simulate(falling(blade, speed=0.0, frames=4))
    assert (last.statistics.particles == 0) == (angle < 0.0)
    assert last.statistics.particles in (0, 512)


def test_an_outflow_that_is_not_enabled_takes_nothing_until_it_is() -> None:
    flag = Animation(np.array([1.0, 3.0]), {"enabled": np.array([0.0, 1.0])})
    drain = slab(2.0, animation=flag)
    counts = [frame.statistics.particles for frame in simulate(falling(drain, speed=0.1, frames=4))]
    assert counts[0] == counts[1] > 0 and counts[2:] == [0, 0]
    assert [frame.statistics.particles for frame in simulate(falling(slab(2.0, enabled=False), frames=2))] == counts[:2]


def test_what_is_emitted_in_an_outflow_is_gone_at_once_and_ids_are_never_used_again() -> None:
    drain = Outflow("drain", SHAPES["box"](center=(0.05, 0.0, 0.5), size=(0.1, 1.0, 1.0)))
    block = Emitter("block", box((0.0, 0.0, 0.5), 0.2), "neo_hookean", mode="repeat", interval=2, velocity=(-3.0, 0.0, 0.0), **LATTICE)
    frames = list(simulate(scene(block, materials=(material("neo_hookean"),), outflows=(drain,), frames=3, gravity=(0.0, 0.0, 0.0))))
    assert (frames[0].position[:, 0] < 0.0).all()
    each = frames[0].statistics.particles
    assert frames[0].statistics.deleted == each
    assert frames[2].id[:each].tolist() == frames[0].id.tolist() and frames[2].id[each:].min() >= 2 * each


@pytest.mark.parametrize("touch", [1e-3, 0.6])
def test_a_resumed_simulation_gives_the_same_bytes(touch: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a way ended so near to an outflow that a particle which stood there would be taken."""
    monkeypatch.setattr(outflows, "TOUCH", touch)
    drained = falling(slab(0.01), speed=2.6, frames=6)
    whole = Simulation(drained)
    states = [(frame, whole.snapshot()) for frame in whole.frames()]
    resumed = list(Simulation(drained, snapshot=states[4][1]).frames())
    assert 0 < states[5][0].statistics.particles < states[4][0].statistics.particles < states[0][0].statistics.particles
    for frame, (expected, _) in zip(resumed, states[5:], strict=True):
        assert np.array_equal(frame.position, expected.position)
        assert frame.statistics == expected.statistics
