"""Changes over time: gravity, the speed limit, a material's parameters."""

from typing import Any

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.laws import LAWS
from mpm_addon.core.scene.animation import Animation
from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
from mpm_addon.core.scene.force import Force
from mpm_addon.core.stepping.simulation import Simulation
from tests.core.scenes import LATTICE, box, material, scene


def keys(**values: Any) -> Animation:
    """Values at frames 1, 2 and so on."""
    count = len(next(iter(values.values())))
    return Animation(np.arange(1.0, count + 1.0), {name: np.asarray(given, np.float64) for name, given in values.items()})


def block(**rest: Any) -> Scene:
    spread = rest.pop("velocity_spread", 0.0)
    emitter = Emitter("block", box((0.0, 0.0, 0.0), 0.2), "neo_hookean", velocity_spread=spread, **LATTICE)
    return scene(emitter, materials=(material("neo_hookean"),), **rest)


def test_keyframed_gravity_acts_at_every_moment() -> None:
    """g rises from 0 over two frames and turns: v = integral of g."""
    gravity = keys(gravity=[[0.0, 0.0, 0.0], [0.0, 0.0, -12.0], [24.0, 0.0, 0.0]])
    frames = list(simulate(block(animation=gravity, frames=4, time_step=1e-4)))
    step = 1.0 / 24.0
    expected = [[0.0, 0.0, 0.0], [0.0, 0.0, -6.0 * step], [12.0 * step, 0.0, -12.0 * step], [36.0 * step, 0.0, -12.0 * step]]
    for frame, velocity in zip(frames, expected, strict=True):
        assert frame.velocity.mean(axis=0) == pytest.approx(velocity, abs=5e-3)


@pytest.mark.parametrize(("transfer", "dimension"), [("apic", 3), ("flip", 3), ("apic", 2)])
def test_nothing_is_faster_than_the_limit(transfer: str, dimension: int) -> None:
    wind = Force("wind", kind="wind", strength=400.0, direction=(1.0, 0.0, 1.0))
    # FLIP keeps for long what particles have beyond the velocity of the grid
    given: dict[str, Any] = {"forces": (wind,), "frames": 5, "transfer": transfer, "dimension": dimension, "velocity_spread": 0.5}
    frames = list(simulate(block(max_speed=3.0, **given)))
    for frame in frames[1:]:
        assert np.linalg.norm(frame.velocity.astype(np.float64), axis=1).max() <= 3.0
    assert np.linalg.norm(frames[-1].velocity.mean(axis=0)) > 2.9
    moved = np.linalg.norm(frames[4].position.astype(np.float64) - frames[3].position, axis=1)
    assert moved.max() <= 3.0 / 24.0 + 1e-6
    *_, free = simulate(block(**given))
    assert np.linalg.norm(free.velocity, axis=1).min() > 60.0


def test_the_speed_limit_may_be_animated() -> None:
    wind = Force("wind", kind="wind", strength=400.0)
    frames = list(simulate(block(max_speed=3.0, animation=keys(max_speed=[3.0, 3.0, 3.0, 6.0]), forces=(wind,), frames=4)))
    assert frames[2].velocity[:, 2].mean() == pytest.approx(3.0, abs=1e-3)
    assert frames[3].velocity[:, 2].mean() == pytest.approx(6.0, rel=2e-2)


def melting(animation: Animation | None, **rest: Any) -> Scene:
    jelly = Material("jelly", LAWS["corotated"](young_modulus=2e5, density=1000.0), animation)
    emitter = Emitter("block", box((0.0, 0.0, 0.2), 0.4), "jelly", **LATTICE)
    floor = Collider("floor", SHAPES["plane"](), surface="sticky")
    return scene(emitter, materials=(jelly,), colliders=(floor,), **{"frames": 10, **rest})


def height(frame: Any) -> float:
    return float(np.percentile(frame.position[:, 2], 99))


def test_melting_jelly_sags_and_stiff_jelly_does_not() -> None:
    melt = keys(young_modulus=[2e5, 2e5, *np.linspace(2e5, 2e3, 4)])
    firm, melted = (list(simulate(melting(animation)))[-1] for animation in (None, melt))
    assert height(firm) > 0.37
    assert height(melted) < 0.25


def test_faster_waves_shorten_the_substeps_in_time() -> None:
    """A hundred times as stiff within a frame: that frame already has the substeps of the stiff jelly."""
    stiffen = keys(young_modulus=[2e3, 2e3, 2e5, 2e5])
    firm, stiffening = (list(simulate(melting(animation, frames=4))) for animation in (None, stiffen))
    assert stiffening[1].statistics.substeps < 0.3 * firm[1].statistics.substeps
    assert stiffening[2].statistics.substeps >= 0.9 * firm[2].statistics.substeps
    assert np.isfinite(stiffening[-1].position).all()


def test_animated_viscosity_limits_the_substeps() -> None:
    def poured(values: list[float]) -> list[int]:
        honey = Material("honey", LAWS["water"](bulk_modulus=2e3), keys(viscosity=values))
        emitter = Emitter("drop", box((0.0, 0.0, 0.0), 0.2), "honey", **LATTICE)
        return [frame.statistics.substeps for frame in simulate(scene(emitter, materials=(honey,), frames=3))]

    thin, thick = poured([0.0, 0.0, 0.0]), poured([0.0, 0.0, 400.0])
    assert thick[1] == thin[1] and thick[2] > 2 * thin[2]


def test_an_animated_strength_acts_at_every_moment() -> None:
    """Clay on a floor keeps its shape until its yield stress falls."""

    def last(animation: Animation | None) -> Any:
        clay = Material("clay", LAWS["von_mises"](young_modulus=1e6, yield_stress=2e4), animation)
        emitter = Emitter("block", box((0.0, 0.0, 0.2), 0.4), "clay", **LATTICE)
        floor = Collider("floor", SHAPES["plane"](), surface="sticky")
        *_, frame = simulate(scene(emitter, materials=(clay,), colliders=(floor,), frames=8))
        return frame

    assert height(last(None)) > 0.37
    assert height(last(keys(yield_stress=[2e4, 2e4, 20.0]))) < 0.33


def test_a_resumed_simulation_gives_the_same_bytes() -> None:
    melt = keys(young_modulus=[2e5, 2e4, 2e5, 2e3])
    changing = {"gravity": (0.0, 0.0, -9.81), "frames": 5}
    whole = Simulation(melting(melt, **changing))
    states = [(frame, whole.snapshot()) for frame in whole.frames()]
    for start in (1, 2):
        *_, resumed = Simulation(melting(melt, **changing), snapshot=states[start][1]).frames()
        assert np.array_equal(resumed.position, states[-1][0].position)
        assert resumed.statistics == states[-1][0].statistics


def test_values_that_contradict_each_other_at_a_frame_are_refused() -> None:
    sand = LAWS["sand"](friction_hardening=(35.0, 9.0, 0.2, 10.0))
    with pytest.raises(
        SceneError, match=r'^Material "s", frame 1: friction_hardening and friction_angle|^Material "s", frame 1: friction_angle and'
    ):
        Material("s", sand, keys(friction_angle=[30.0, 40.0]))
