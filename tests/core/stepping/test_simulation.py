"""The solver as a whole: conservation, closed forms, boundaries, determinism, recovery."""

import tracemalloc

import numpy as np
import pytest

from mpm_addon.core import simulate
from mpm_addon.core.errors import Cancelled, UnstableError
from mpm_addon.core.failure import Trouble
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.scene.description import Collider, Emitter
from mpm_addon.core.scene.settings import Domain, Side
from mpm_addon.core.stepping.simulation import Progress, Simulation
from mpm_addon.core.stepping.stepper import Stepper
from tests.core.scenes import LATTICE, box, four_materials, material, scene

GRAVITY = 9.81


@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-12), ("float32", 2e-5)])
def test_free_fall_follows_the_closed_form(precision: str, tolerance: float) -> None:
    """Symplectic Euler: z_n = z_0 + v_0 n dt - g dt^2 n (n + 1) / 2, rotation-free, stress-free."""
    dt, start = 1e-3, np.array([1.5, -0.7, 2.0])
    emitter = Emitter("block", box((0.3, -0.2, 0.1), 0.4), "neo_hookean", velocity=tuple(start), **LATTICE)
    free = scene(emitter, materials=(material("neo_hookean"),), frames=4, fps=10.0, time_step=dt, precision=precision)
    first, *_, last = list(simulate(free))
    count = 300
    expected = first.position + start * count * dt
    expected[:, 2] -= GRAVITY * dt**2 * count * (count + 1) / 2
    assert last.statistics.substeps == 100
    # frames are float32; the state behind them is held to the tolerance
    assert np.abs(last.position - expected).max() < max(tolerance, 3e-7)
    assert np.abs(last.velocity - (start - np.array([0.0, 0.0, GRAVITY * count * dt]))).max() < max(tolerance, 1e-6) * 10
    assert np.abs(last.attribute("volume_ratio") - 1.0).max() < max(tolerance, 1e-7)


def test_a_block_crosses_many_blocks_of_the_grid_unchanged() -> None:
    """Forty cells a frame, through negative and positive coordinates: a rigid translation stays one."""
    velocity = np.array([48.0, -31.0, 27.0])
    emitter = Emitter("block", box((-3.0, 2.0, -1.5), 0.3), "snow", velocity=tuple(velocity), **LATTICE)
    flight = scene(emitter, materials=(material("snow"),), gravity=(0.0, 0.0, 0.0), frames=4)
    first, *_, last = simulate(flight)
    assert np.abs(last.position - (first.position + velocity * 3.0 / 24.0)).max() < 1e-4
    assert np.abs(last.velocity - velocity).max() < 1e-3
    assert last.statistics.particles == first.statistics.particles


@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-12), ("float32", 1e-5)])
def test_colliding_bodies_keep_mass_and_momentum(precision: str, tolerance: float) -> None:
    pair = scene(
        Emitter("left", box((-0.2, 0.02, 0.0), 0.3), "corotated", velocity=(3.0, 0.0, 0.0), **LATTICE),
        Emitter("right", box((0.2, 0.0, 0.01), 0.3), "snow", velocity=(-3.0, 0.0, 0.0), **LATTICE),
        materials=(material("corotated"), material("snow")),
        gravity=(0.0, 0.0, 0.0),
        precision=precision,
        frames=5,
    )
    frames = list(simulate(pair))
    mass = 0.3**3 * (1000.0 + 400.0)
    size = 0.3**3 * 3.0 * 1000.0
    initial = np.array(frames[0].statistics.momentum)
    assert initial == pytest.approx([0.3**3 * 3.0 * 600.0, 0.0, 0.0], rel=1e-6)
    for frame in frames:
        assert frame.statistics.mass == pytest.approx(mass, rel=1e-6)
        assert np.abs(np.array(frame.statistics.momentum) - initial).max() < tolerance * size
    assert frames[-1].statistics.kinetic_energy < 0.9 * frames[0].statistics.kinetic_energy


def test_all_materials_fall_on_obstacles_and_stay_above_them() -> None:
    frames = list(simulate(four_materials(frames=12)))
    count = frames[0].statistics.particles
    for frame in frames:
        assert frame.statistics.particles == count
        assert np.array_equal(frame.id, np.arange(count))
        for name in frame.attributes:
            assert np.isfinite(frame.attribute(name)).all(), name
        assert frame.position[:, 2].min() > -0.025
    distance = np.linalg.norm(frames[-1].position - [0.0, 0.1, 0.0], axis=1) - 0.15
    began_inside = np.linalg.norm(frames[0].position - [0.0, 0.1, 0.0], axis=1) < 0.15
    assert distance[~began_inside].min() > -0.025
    assert np.abs(frames[-1].velocity).max() < 5.0


@pytest.mark.parametrize("shift", [0.0, 0.37, 0.75])
def test_water_keeps_its_volume_and_comes_to_rest_level(shift: float) -> None:
    """Wherever between two nodes the walls lie."""
    corner = shift * 0.02
    pool = scene(
        Emitter("water", box((corner + 0.1, corner + 0.1, corner + 0.15), (0.2, 0.2, 0.3)), "water", **LATTICE),
        materials=(material("water", bulk_modulus=5e4, viscosity=20.0),),
        domain=Domain(kind="box", min=(corner,) * 3, max=(corner + 0.4, corner + 0.2, corner + 0.6)),
        grid_spacing=0.02,
        frames=36,
    )
    *_, last = simulate(pool)
    x, z = last.position[:, 0] - corner, last.position[:, 2] - corner
    # 0.3 m over half of the floor are 0.15 m over all of it; hydrostatic compression is 1.5 %
    assert z.mean() == pytest.approx(0.075, rel=0.1)
    heights = [np.percentile(z[(x >= low) & (x < low + 0.1)], 99) for low in (0.0, 0.1, 0.2, 0.3)]
    assert max(heights) - min(heights) < 0.025
    assert last.attribute("volume_ratio").mean() == pytest.approx(1.0 - 1000 * GRAVITY * 0.075 / 5e4, abs=0.01)


@pytest.mark.parametrize(("angle", "friction", "slides"), [(24.0, np.tan(np.radians(15.0)), True), (10.0, np.tan(np.radians(15.0)), False)])
def test_a_block_slides_down_a_slope_as_coulomb_says(angle: float, friction: float, slides: bool) -> None:
    """x = g (sin - mu cos) t^2 / 2 on a slope steeper than the angle of friction; gravity is tilted instead of the floor."""
    tilt = np.radians(angle)
    slope = scene(
        Emitter("block", box((0.0, 0.0, 0.1), (0.4, 0.3, 0.2)), "corotated", **LATTICE),
        materials=(material("corotated", young_modulus=1e6),),
        colliders=(Collider("floor", SHAPES["plane"](), surface="separate", friction=float(friction)),),
        gravity=(GRAVITY * np.sin(tilt), 0.0, -GRAVITY * np.cos(tilt)),
        frames=13,
    )
    frames = list(simulate(slope))
    middle = np.array([frame.position[:, 0].astype(np.float64).mean() for frame in frames])
    if slides:
        acceleration = GRAVITY * (np.sin(tilt) - friction * np.cos(tilt))
        # the block settles in the first frames
        speed = (middle[12] - middle[10]) * 12.0
        earlier = (middle[6] - middle[4]) * 12.0
        assert (speed - earlier) / (6.0 / 24.0) == pytest.approx(acceleration, rel=0.02)
    else:
        assert abs(middle[12] - middle[4]) < 0.01 * 0.05


@pytest.mark.parametrize("height", [0.0, 0.5, 0.75, 0.99])
def test_sand_stays_a_heap_wherever_between_two_nodes_the_floor_lies(height: float) -> None:
    """A floor that lies far above the last node inside must carry sand, and rub, like any other."""
    spacing = 0.03
    column = SHAPES["cylinder"](center=(0.013, 0.007, height * spacing + 0.121), radius=0.12, height=0.24)
    floor = SHAPES["plane"](point=(0.0, 0.0, height * spacing))
    collapse = scene(
        Emitter("column", column, "sand"),
        materials=(material("sand", young_modulus=2e5, friction_angle=38.0),),
        colliders=(Collider("floor", floor, friction=0.6),),
        grid_spacing=spacing,
        frames=20,
    )
    *_, last = simulate(collapse)
    above = last.position[:, 2] - height * spacing
    assert np.linalg.norm(last.velocity, axis=1).mean() < 0.01
    assert 0.07 < above.max() < 0.12
    assert above.min() > -0.5 * spacing
    assert np.median(np.hypot(last.position[:, 0], last.position[:, 1])) < 0.17


@pytest.mark.parametrize("surface", ["sticky", "slip", "separate"])
def test_surfaces_differ_as_their_names_say(surface: str) -> None:
    """A block thrown up and sideways from a floor: sticky holds it, slip lets it slide but not rise, separate lets it go."""
    thrown = scene(
        Emitter("block", box((0.0, 0.0, 0.05), 0.1), "corotated", velocity=(1.0, 0.0, 1.0), **LATTICE),
        materials=(material("corotated", young_modulus=1e6),),
        colliders=(Collider("floor", SHAPES["plane"](), surface=surface),),
        gravity=(0.0, 0.0, 0.0),
        grid_spacing=0.025,
        frames=13,
    )
    *_, last = simulate(thrown)
    x, z = last.position[:, 0].mean(), last.position[:, 2].min()
    assert (x > 0.45) == (surface != "sticky")
    assert (z > 0.45) == (surface == "separate")


def test_open_sides_delete_and_count() -> None:
    open_box = Domain(
        kind="box", min=(-0.5, -0.5, -0.5), max=(0.5, 0.5, 0.5), sides={"x_max": Side(surface="open"), "z_min": Side(surface="open")}
    )
    leaving = scene(
        Emitter("left", box((0.3, 0.0, 0.0), 0.2), "sand", velocity=(4.0, 0.0, 0.0), **LATTICE),
        Emitter("stays", box((-0.3, 0.0, 0.0), 0.2), "sand", **LATTICE),
        materials=(material("sand"),),
        domain=open_box,
        gravity=(0.0, 0.0, 0.0),
        frames=8,
    )
    first, *_, last = simulate(leaving)
    assert last.statistics.particles + last.statistics.deleted == first.statistics.particles
    assert last.statistics.particles == first.statistics.particles // 2
    assert (last.attribute("emitter_index") == 1).all()
    assert np.array_equal(last.id, first.id[first.attribute("emitter_index") == 1])


def test_a_moving_collider_pushes_matter_ahead() -> None:
    from mpm_addon.core.scene.animation import Motion

    frames = np.array([1.0, 13.0])
    matrices = np.stack([np.eye(4), np.eye(4)])
    matrices[0, 0, 3], matrices[1, 0, 3] = -0.5, 0.5
    pusher = Collider("pusher", SHAPES["box"](size=(0.2, 1.0, 1.0)), surface="separate", motion=Motion(frames, matrices=matrices))
    pushed = scene(
        Emitter("jelly", box((0.0, 0.0, 0.0), 0.2), "corotated", **LATTICE),
        materials=(material("corotated"),),
        colliders=(pusher,),
        gravity=(0.0, 0.0, 0.0),
        frames=13,
    )
    frame = None
    for frame in simulate(pushed):
        face = -0.4 + (frame.number - 1) / 12.0
        assert frame.position[:, 0].min() > face - 0.25 * 0.05
    assert frame is not None and frame.position[:, 0].mean() > 0.6


def test_repeated_emission_adds_particles_and_keeps_ids() -> None:
    repeated = scene(
        Emitter("drops", box((0.0, 0.0, 0.0), 0.1), "water", mode="repeat", interval=2, frame_end=5, velocity=(0.0, 0.0, -4.0), **LATTICE),
        materials=(material("water"),),
        frames=7,
    )
    frames = list(simulate(repeated))
    once = frames[0].statistics.particles
    assert [frame.statistics.particles for frame in frames] == [once, once, 2 * once, 2 * once, 3 * once, 3 * once, 3 * once]
    assert np.array_equal(frames[-1].id, np.arange(3 * once))
    assert np.unique(frames[-1].attribute("age")) == pytest.approx(np.array([2.0, 4.0, 6.0]) / 24.0, abs=1e-6)


def test_far_from_the_origin_nothing_changes() -> None:
    """Positions are kept relative to blocks: 10^4 cells away the same motion to float32's rounding of the output."""

    def fallen(offset: float) -> np.ndarray:
        emitter = Emitter("jelly", box((offset, 0.0, 0.11), 0.2), "corotated", velocity=(0.0, 0.0, -3.0), **LATTICE)
        floor = Collider("floor", SHAPES["plane"](), friction=0.2)
        *_, last = simulate(scene(emitter, materials=(material("corotated"),), colliders=(floor,), frames=5))
        return last.position - np.array([offset, 0.0, 0.0], np.float32)

    near, far = fallen(0.0), fallen(512.0)
    assert np.abs(near - far).max() < 512.0 * 2e-7


def test_a_step_allocates_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither particles nor grid nor fixed obstacles need new memory between two sorts."""
    simulation = Simulation(four_materials(frames=2))
    frames = simulation.frames()
    next(frames)
    step, peaks = Stepper.step, []

    def measured(stepper: Stepper, dt: float, next_dt: float | None) -> Trouble | None:
        tracemalloc.start()
        unstable = step(stepper, dt, next_dt)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        return unstable

    monkeypatch.setattr(Stepper, "step", measured)
    next(frames)
    assert len(peaks) > 10
    assert max(peaks) < 30_000 < 0.05 * simulation.store.table.nbytes


def test_a_fixed_step_that_is_too_long_is_refused() -> None:
    with pytest.raises(UnstableError, match=r"time_step 0.01 s is longer than the stable substep of .*; use at most that"):
        list(simulate(four_materials(time_step=0.01)))


def test_progress_is_reported_and_can_stop_the_simulation() -> None:
    seen: list[Progress] = []

    def report(progress: Progress) -> None:
        seen.append(progress)
        if progress.stage == "simulating" and progress.substeps == 5:
            raise Cancelled("stop")

    with pytest.raises(Cancelled):
        list(Simulation(four_materials(), report=report).frames())
    # kernels that are not kept are compiled before, and counted
    assert [progress.stage for progress in seen if progress.stage != "compiling"] == ["preparing"] + ["simulating"] * 5
    assert all(progress.kernels[1] > 0 for progress in seen if progress.stage == "compiling")
    assert seen[-1].frame == 2 and 0.0 < seen[-1].fraction < 1.0 and seen[-1].particles == 4000


def test_stiffness_and_mass_factors_make_separate_instances() -> None:
    half = {"sampling": "lattice", "particles_per_cell": 8}
    pair = scene(
        Emitter("plain", box((-0.3, 0.0, 0.1), 0.2), "corotated", **half),
        Emitter("heavy", box((0.3, 0.0, 0.1), 0.2), "corotated", mass_scale=3.0, stiffness_scale=2.0, **half),
        materials=(material("corotated"),),
        frames=1,
    )
    simulation = Simulation(pair)
    frame = next(simulation.frames())
    assert frame.statistics.mass == pytest.approx(0.2**3 * 4000.0, rel=1e-6)
    assert [instance.constants.mu for instance in simulation.instances][1] == 2.0 * simulation.instances[0].constants.mu
    assert (frame.attribute("material_index") == 0).all()
