"""The runs of Martin Garcia 2020 with two balls: measurements of what their figures show."""

from dataclasses import replace

import numpy as np
import pytest

from mpm_addon.core.laws.snow import Snow
from mpm_addon.core.scene.description import Scene

from .published import Run, play, with_laws

pytestmark = pytest.mark.slow


def widths(run: Run, name: str) -> np.ndarray:
    """Extents of a ball in every frame over those at the start, shape (frames, 3)."""
    sizes = run.sizes(name)
    return sizes / sizes[0]


def approach(run: Run, frame: int) -> float:
    """How fast the balls' centers come together along x [m/s]; negative once they move apart."""
    return float(run.velocities(frame, "left")[:, 0].mean() - run.velocities(frame, "right")[:, 0].mean())


def distance(run: Run, frame: int) -> float:
    """Between the balls' centers [m]."""
    return float(np.linalg.norm(run.positions(frame, "left").mean(axis=0) - run.positions(frame, "right").mean(axis=0)))


# --- noQ, noQY: after the balls met, before they reach the floor


def meeting(variant: str | None) -> Run:
    return play("garcia_no_stress", variant, spacing=0.04, frames=0.125)


def test_the_plastic_law_keeps_the_balls_shape() -> None:
    """noQY (figures 6.1, 6.2 and 7.2)."""
    for name in ("left", "right"):
        assert (np.abs(widths(meeting(None), name) - 1.0) < 0.2).all()


def test_without_stress_the_shape_is_lost_at_once() -> None:
    """noQ (figure 7.2)."""
    run = meeting("noQ")
    # two tenths of a second later: a disk
    assert widths(run, "left")[-1, 0] < 0.2
    assert np.abs(run.positions(-1)[:, 0] - 0.5).max() < 0.05


# --- nPlastic0, 6, 7


def elastic(variant: str | None, frames: float) -> Run:
    return play("garcia_elastic", variant, spacing=0.04, frames=frames)


def test_elastic_balls_rebound_from_each_other() -> None:
    """nPlastic0."""
    run = elastic(None, 0.0625)
    assert approach(run, 0) == pytest.approx(4.0)
    assert approach(run, -1) < -0.6 * 4.0


def test_plastic_balls_do_not() -> None:
    """The control: with the law that the source calls plastic, they lose more of their speed."""

    def plastic(scene: Scene) -> Scene:
        return with_laws(scene, ball=Snow(density=1000.0, young_modulus=1e6, poisson_ratio=0.35))

    assert approach(play("garcia_elastic", None, spacing=0.04, frames=0.0625, change=plastic), -1) > -0.6 * 4.0


@pytest.mark.parametrize("variant", ["nPlastic6", "nPlastic7"])
def test_soft_elastic_balls_flatten_recover_and_bounce(variant: str) -> None:
    """nPlastic6 (figure 7.8) and 7."""
    run = elastic(variant, 0.4)
    height = widths(run, "left")[:, 2]
    landed = int(run.centers("left")[:, 2].argmin())
    assert height[landed] < 0.9
    assert height[-1] == pytest.approx(1.0, abs=0.05)
    assert run.centers("left")[-1, 2] > run.centers("left")[landed, 2] + 0.1


# --- snow1, snow2


def snow(variant: str | None, frames: float) -> Run:
    return play("garcia_snowball", variant, spacing=0.03, frames=frames)


def dented(run: Run) -> float:
    """The share of particles that take up 2 % more or less space at the end than at the start."""
    return float((np.abs(run.frames[-1].attribute("volume_ratio") - 1.0) > 0.02).mean())


def test_a_slow_meeting_of_stiff_snowballs_dents_nothing() -> None:
    """snow1."""
    run = snow(None, 0.1)
    for name in ("left", "right"):
        assert widths(run, name) == pytest.approx(np.ones_like(widths(run, name)), abs=0.02)
    assert dented(run) < 0.01
    assert approach(run, 0) == pytest.approx(1.0)
    # contact that pushes apart what overlaps once made them part faster than they met
    assert -1.0 < min(approach(run, frame) for frame in range(len(run.frames))) < -0.2


def test_a_fast_meeting_of_stiff_snowballs_does() -> None:
    """The control: at the speed of snow2 the law of snow1 is dented."""

    def fast(scene: Scene) -> Scene:
        left, right = scene.emitters
        return replace(scene, emitters=(replace(left, velocity=(5.0, 0.0, 0.0)), replace(right, velocity=(-5.0, 0.0, 0.0))))

    run = play("garcia_snowball", None, spacing=0.03, frames=0.05, change=fast)
    assert dented(run) > 0.02


def test_a_fast_meeting_of_soft_snowballs_liquefies_both() -> None:
    """snow2 (figure 7.10): both spread, and lumps stay."""
    run = snow("snow2", 0.15)
    for name in ("left", "right"):
        assert widths(run, name)[4, 0] < 0.6
        assert widths(run, name)[-1, 1:].min() > 3.0
    assert len(run.pieces(-1, reach=0.75)) > 3


# --- snow2.2 to 3.8: a hard ball and a soft one


def unlike(variant: str | None) -> Run:
    return play("garcia_snowballs", variant, spacing=0.03, frames=0.1)


def loose(run: Run, name: str) -> float:
    """The share of a ball that takes up half as much space again as at the start, or more."""
    return float((run.frames[-1].attribute("volume_ratio")[run.body(run.frames[-1], name)] > 1.5).mean())


@pytest.mark.parametrize("variant", [None, "snow3_2"], ids=["snow2.2", "snow3.2"])
def test_one_ball_sticks_to_the_other(variant: str | None) -> None:
    """snow2.2 (figure 7.11) and 3.2: from the meeting on they move as one, and both are whole."""
    run = unlike(variant)
    assert distance(run, -1) == pytest.approx(0.2, abs=0.02)
    assert abs(approach(run, -1)) < 0.2 * 10.0
    assert len(run.pieces(-1)) == 1
    assert max(loose(run, "left"), loose(run, "right")) < 0.05


@pytest.mark.parametrize("variant", ["snow2_3", pytest.param("snow3_3", marks=pytest.mark.long)])
def test_the_soft_ball_breaks(variant: str) -> None:
    """snow2.3 and 3.3: more than a half of it comes loose, and it is drawn out to more than three times its width."""
    run = unlike(variant)
    assert loose(run, "right") > 0.5
    assert widths(run, "right")[-1].max() > 3.0
    # in the plane of the blow alone
    assert widths(run, "right")[-1, 1] < 1.5
    assert loose(run, "left") < 0.05


@pytest.mark.parametrize("variant", ["snow2_7", pytest.param("snow3_7", marks=pytest.mark.long)])
def test_the_soft_ball_liquefies_and_spreads(variant: str) -> None:
    """snow2.7 and 3.7: it breaks into many pieces, in all directions."""
    run = unlike(variant)
    assert len(run.pieces(-1)) > 50
    assert widths(run, "right")[-1].min() > 3.0
    assert loose(run, "left") < 0.05


@pytest.mark.parametrize("variant", ["snow2_8", pytest.param("snow3_8", marks=pytest.mark.long)])
def test_the_heavy_fluid_drags_the_solid_along(variant: str) -> None:
    """snow2.8 and 3.8: what is left of the collision moves the way of the heavy ball, with one of equal mass against it."""
    lighter = unlike(variant.replace("_8", "_7"))
    assert lighter.velocities(-1, "left")[:, 0].mean() > 1.0
    assert unlike(variant).velocities(-1, "left")[:, 0].mean() < -1.0
    assert loose(unlike(variant), "right") > 0.5


# --- hard2, 5, 6


def hardening(variant: str | None, frames: float) -> Run:
    return play("garcia_hardening", variant, spacing=0.04, frames=frames)


@pytest.mark.parametrize("variant", [None, "hard6"], ids=["hard5", "hard6"])
def test_what_hardens_rests_higher_on_the_floor(variant: str | None) -> None:
    """hard5 and hard6: the ball on the left hardens where it is packed; the other one packs on."""
    run = hardening(variant, 0.3)
    hard, soft = (run.centers(name)[-1, 2] for name in ("left", "right"))
    assert hard > 1.15 * soft
    packed = {name: run.frames[-1].attribute("volume_ratio")[run.body(run.frames[-1], name)] for name in ("left", "right")}
    assert np.quantile(packed["left"], 0.05) > np.quantile(packed["right"], 0.05) + 0.15
    assert widths(run, "right")[-1, 2] < 0.95


def test_balls_that_both_harden_rest_equally_high() -> None:
    """The control."""

    def alike(scene: Scene) -> Scene:
        return with_laws(scene, constant=replace(scene.materials["constant"].law, hardening=10.0))

    run = play("garcia_hardening", None, spacing=0.04, frames=0.3, change=alike)
    assert run.centers("left")[-1, 2] == pytest.approx(run.centers("right")[-1, 2], rel=0.05)


def test_elastic_up_to_a_quarter_the_balls_stick_and_are_torn_apart() -> None:
    """hard2 (figure 7.11)."""
    run = hardening("hard2", 0.15)
    together = [len(run.pieces(frame)) == 1 for frame in range(len(run.frames))]
    assert not together[0]
    assert any(together)
    assert not together[-1]
    # squeezed and stretched where they met, as they were elsewhere
    for name in ("left", "right"):
        ratio = run.frames[-1].attribute("volume_ratio")[run.body(run.frames[-1], name)]
        assert ratio.max() > 1.1
        assert ratio.min() < 0.95
        assert np.median(ratio) == pytest.approx(1.0, abs=0.02)
