"""The runs of Nekic 2011: measurements of what their figures show."""

from dataclasses import replace

import numpy as np
import pytest

from mpm_addon.core.scene.description import Scene

from .published import Run, play

pytestmark = pytest.mark.slow

# The block reaches the floor and is pressed together most.
IMPACT = 12


def fluid(variant: str | None = None) -> Run:
    return play("nekic_fluid", variant, spacing=0.04)


def packing(run: Run) -> float:
    """Particles per area [1/m^2] in a layer on the floor before the obstacle, over the last ten frames."""
    counts = [((at[:, 0] < 0.7) & (at[:, 2] < 0.06)).sum() for at in (run.positions(frame) for frame in range(-10, 0))]
    return float(np.mean(counts)) / (0.7 * 0.06)


def test_the_fluid_falls_spills_over_the_obstacle_and_comes_to_rest() -> None:
    run = fluid()
    end = run.positions(-1)
    assert len(end) == 500
    assert (run.positions(0)[:, 0] < 0.72).all()
    assert 0.05 < (end[:, 0] > 0.88).mean() < 0.5
    # nothing stays on the obstacle's top
    assert end[:, 2].max() < 0.4
    energies = [frame.statistics.kinetic_energy for frame in run.frames]
    assert energies[-1] < 0.05 * max(energies)


@pytest.mark.parametrize(("variant", "expected"), [("light", 0.5), ("heavy", 2.5)], ids=["figure 7", "figure 6"])
def test_the_rest_density_packs_the_same_particles(variant: str, expected: float) -> None:
    """Under its own weight the looser fluid gives way more and the denser one less."""
    run = fluid(variant)
    assert len(run.positions(-1)) == 500
    assert run.frames[0].statistics.mass == pytest.approx(fluid().frames[0].statistics.mass, rel=1e-3)
    assert packing(run) / packing(fluid()) == pytest.approx(expected, rel=0.35)


def test_heavier_matter_is_not_packed_more_densely() -> None:
    """The control: a larger density instead of a smaller area."""

    def heavier(scene: Scene) -> Scene:
        material = scene.materials["fluid"]
        return replace(scene, materials={"fluid": replace(material, law=replace(material.law, density=2500.0))})

    run = play("nekic_fluid", None, spacing=0.04, change=heavier)
    assert packing(run) / packing(fluid()) < 0.65 * 2.5


def test_stiffer_fluid_repels_more() -> None:
    """Figures 8 and 9: k 0.005, 0.05 and 0.5. The stiffer, the less it is pressed together when it lands and when it rests."""
    heights = [fluid(variant).centers()[IMPACT, 2] for variant in ("soft", None, "stiff")]
    assert heights[0] < 0.8 * heights[1] < 0.8 * 0.9 * heights[2]
    densities = [packing(fluid(variant)) for variant in ("soft", None, "stiff")]
    assert densities[0] > 1.15 * densities[1] > 1.15 * 1.05 * densities[2]


def test_a_tenth_of_the_gravity_is_a_slow_fall() -> None:
    """Figure 10: when the block has landed with the gravity of the code, it has sunk by g t^2 / 2 with a tenth of it."""
    height = fluid("weak_gravity").centers()[:, 2]
    time = fluid("weak_gravity").frames[IMPACT].time
    assert height[0] - height[IMPACT] == pytest.approx(0.5 * 0.981 * time**2, rel=0.1)
    assert height.argmin() > 2 * IMPACT


def test_ten_times_the_gravity_presses_the_fluid_like_a_gas() -> None:
    """Figure 11."""
    assert packing(fluid("strong_gravity")) > 1.15 * packing(fluid())


@pytest.mark.parametrize(("variant", "sign"), [("attracting", 1.0), ("repelling", -1.0)])
def test_the_pointer_draws_and_pushes(variant: str, sign: float) -> None:
    """It is to the right of the falling block: the block turns to it, or away from it, within 0.4 s."""
    way = fluid(variant).centers()[IMPACT, 0] - fluid().centers()[IMPACT, 0]
    assert sign * way > 0.03


def test_particles_are_reflected_at_the_top_of_the_obstacle() -> None:
    """Figure 12: they jump up, and hardly any, at most 15 in a thousand, is farther inside than half a cell."""
    run = fluid()
    for frame in range(len(run.frames)):
        at = run.positions(frame)
        inside = (np.abs(at[:, 0] - 0.8) < 0.08 - 0.02) & (at[:, 2] < 0.24 - 0.02)
        assert inside.mean() <= 0.015, frame
    rising = [(run.velocities(frame)[:, 2] > 0.5)[run.positions(frame)[:, 0] > 0.6].sum() for frame in range(IMPACT, 24)]
    assert max(rising) > 20
