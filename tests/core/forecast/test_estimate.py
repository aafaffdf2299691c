"""The estimate before a bake: accurate for simple shapes, and a refusal before any memory is allocated."""

import dataclasses
import math
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.core import memory
from mpm_addon.core.errors import SceneError
from mpm_addon.core.forecast import estimate as module
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.geometry.shapes import Box, Cylinder, Points, Sphere
from mpm_addon.core.laws import LAWS
from mpm_addon.core.memory import available_memory
from mpm_addon.core.scene.description import Emitter, Material, Scene
from mpm_addon.core.scene.painting import Painting
from mpm_addon.core.scene.settings import CacheSettings, Solver, Time


def scene_of(*emitters: Emitter, solver: Solver | None = None, **changes: Any) -> Scene:
    materials = {"jelly": Material("jelly", LAWS["corotated"]())}
    return Scene("test", solver or Solver(grid_spacing=0.1), materials, emitters, **changes)


def test_a_unit_cube_of_ten_cells_an_edge_has_eight_thousand_particles() -> None:
    cost = estimate(scene_of(Emitter("cube", Box(size=(1, 1, 1)), "jelly")))
    assert (cost.cells, cost.particles) == (1000, 8000)


def test_counts_given_are_counts_used() -> None:
    cube = Emitter("cube", Box(size=(1, 1, 1)), "jelly", particle_count=1234)
    cloud = Emitter("cloud", Points(np.zeros((7, 3))), "jelly")
    dense = Emitter("dense", Box(size=(1, 1, 1)), "jelly", particles_per_cell=20)
    assert estimate(scene_of(cube, cloud, dense)).particles == 1234 + 7 + 20_000


def test_in_two_dimensions_the_section_counts() -> None:
    solver = Solver(grid_spacing=0.1, dimension=2)
    square = estimate(scene_of(Emitter("square", Box(size=(1, 5, 1)), "jelly", particles_per_cell=4), solver=solver))
    assert square.particles == 400
    disk = estimate(scene_of(Emitter("disk", Sphere(radius=1), "jelly", particles_per_cell=4), solver=solver))
    assert disk.particles == math.ceil(400 * math.pi)
    tilted = Emitter("tilted", Cylinder(radius=0.5, height=9.0, rotation=(40, 0, 0)), "jelly", particles_per_cell=4)
    ellipse = estimate(scene_of(tilted, solver=solver))
    assert ellipse.particles == pytest.approx(400 * math.pi * 0.25 / math.sin(math.radians(40)), rel=1e-3)


def test_in_two_dimensions_points_apart_along_y_share_a_block() -> None:
    column = np.stack([np.zeros(50), np.arange(50.0), np.zeros(50)], axis=1)
    cloud = Emitter("cloud", Points(column), "jelly")
    flat, space = (estimate(scene_of(cloud, solver=Solver(grid_spacing=0.1, dimension=dimension))).memory_bytes for dimension in (2, 3))
    assert space - flat == 49 * module.BYTES_PER_BLOCK["float32"]


def test_repeats_and_inflows_add_up() -> None:
    cube = Emitter("cube", Box(size=(1, 1, 1)), "jelly")
    time = Time(fps=10, frame_start=1, frame_end=21)
    repeat = dataclasses.replace(cube, mode="repeat", interval=5)
    assert estimate(scene_of(repeat, time=time)).particles == 5 * 8000
    # two meters of flow pass in two seconds at 1 m/s, beside the meter that is there
    inflow = dataclasses.replace(cube, mode="inflow", velocity=(1, 0, 0))
    assert estimate(scene_of(inflow, time=time)).particles == 3 * 8000
    # of a ball: pi r^2 x 2 m beside 4/3 pi r^3
    ball = dataclasses.replace(inflow, shape=Sphere(radius=0.5))
    assert estimate(scene_of(ball, time=time)).particles == math.ceil(8000 * math.pi * (0.25 * 2.0 + 4.0 / 3.0 * 0.125))
    # in the plane the part of the velocity along y brings nothing
    flat = dataclasses.replace(inflow, velocity=(1, 5, 0), particles_per_cell=4)
    assert estimate(scene_of(flat, time=time, solver=Solver(grid_spacing=0.1, dimension=2))).particles == 3 * 400


def test_what_was_due_before_the_scene_is_not_counted() -> None:
    """Every 5 frames from -8 on: -8, -3, 2, 7, 12, 17; of these the scene sees four."""
    cube = Emitter("cube", Box(size=(1, 1, 1)), "jelly", mode="repeat", interval=5, frame_start=-8)
    assert estimate(scene_of(cube, time=Time(frame_start=1, frame_end=21))).particles == 4 * 8000
    inflow = dataclasses.replace(cube, mode="inflow", velocity=(1, 0, 0))
    assert estimate(scene_of(inflow, time=Time(fps=10, frame_start=1, frame_end=21))).particles == 3 * 8000


def test_a_section_that_the_plane_misses_is_refused_before_anything_is_made() -> None:
    away = Emitter("away", Cylinder(center=(0, 3, 0), radius=0.5, height=1.0), "jelly")
    with pytest.raises(SceneError, match=r'^Emitter "away": the cylinder reaches from y = 2.5 m to 3.5 m; in 2D'):
        estimate(scene_of(away, solver=Solver(grid_spacing=0.1, dimension=2)))


def test_the_disk_space_is_that_of_the_frames() -> None:
    kept = CacheSettings(stretch=True, density_ratio=True)
    cube, sizes = Emitter("cube", Box(size=(1, 1, 1)), "jelly"), module.FRAME_BYTES["compact"]
    cost = estimate(scene_of(cube, time=Time(frame_end=10), cache=kept))
    assert cost.frame_bytes == pytest.approx(8000 * (sum(sizes.values()) - sizes["temperature"]), abs=1)
    assert cost.disk_bytes >= 10 * cost.frame_bytes
    heated = estimate(scene_of(dataclasses.replace(cube, temperature=20.0), time=Time(frame_end=10), cache=kept))
    assert heated.frame_bytes == pytest.approx(8000 * sum(sizes.values()), abs=1)


def test_attributes_that_are_not_cached_take_no_disk_space() -> None:
    cube = Emitter("cube", Box(size=(1, 1, 1)), "jelly")
    costs = [
        estimate(scene_of(cube, cache=cache)).disk_bytes
        for cache in (CacheSettings(precision="exact"), CacheSettings(), CacheSettings(rotation=False), CacheSettings(checkpoint_count=2))
    ]
    assert costs[0] > costs[1] > costs[2] > 0 and costs[1] > costs[3]


def test_too_many_particles_are_refused_before_memory_is_allocated() -> None:
    scene = scene_of(Emitter("Cube", Box(size=(1, 1, 1)), "jelly"), solver=Solver(grid_spacing=1e-5))
    tracemalloc.start()
    with pytest.raises(SceneError) as caught:
        estimate(scene)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    text = str(caught.value)
    assert text.startswith('Emitter "Cube": grid_spacing 1e-05 m: 8e+15 particles need')
    assert "GB is available; use a grid_spacing of at least" in text
    assert peak < 1_000_000


def test_the_spacing_that_is_advised_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_memory", lambda: 2_000_000_000)
    cube = Emitter("Cube", Box(size=(1, 1, 1)), "jelly")
    with pytest.raises(SceneError) as caught:
        estimate(scene_of(cube, solver=Solver(grid_spacing=0.002)))
    advice = float(str(caught.value).rsplit("at least ", 1)[1].split()[0])
    assert 0.002 < advice < 0.02
    estimate(scene_of(cube, solver=Solver(grid_spacing=advice)))


def test_a_count_that_does_not_fit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_memory", lambda: 1_000_000_000)
    cube = Emitter("Cube", Box(size=(1, 1, 1)), "jelly", particle_count=2**31 - 1)
    with pytest.raises(SceneError, match=r'Emitter "Cube": particle_count 2147483647: .* use at most'):
        estimate(scene_of(cube))


def test_dense_material_takes_the_measured_memory() -> None:
    """660 bytes a particle in single precision, and 1638 at most in double precision."""
    cube = Emitter("cube", Box(size=(1, 1, 1)), "jelly", particles_per_cell=8)
    for precision, measured in (("float32", 660), ("float64", 1638)):
        cost = estimate(scene_of(cube, solver=Solver(grid_spacing=0.01, precision=precision)))
        each = (cost.memory_bytes - module.BYTES_OF_PROGRAM) / cost.particles
        assert measured < each < 1.2 * measured


def test_distant_points_take_a_block_each() -> None:
    apart = np.stack(np.meshgrid(*[np.arange(10.0)] * 3), axis=-1).reshape(-1, 3)
    memory = {}
    for name, position in (("apart", apart), ("together", apart * 0.01)):
        cost = estimate(scene_of(Emitter(name, Points(position), "jelly")))
        memory[name] = cost.memory_bytes - module.BYTES_OF_PROGRAM
    assert memory["apart"] == 1000 * (700 + 20_000)
    assert memory["together"] == 1000 * 700 + 20_000


@pytest.mark.parametrize("name", LAWS)
def test_the_substeps_follow_the_wave_speed_of_every_law(name: str) -> None:
    """Where nothing moves or hardens, a step is the way of a wave across cfl cells; painted matter counts where waves are fastest."""
    plain = {"water": {"viscosity": 0.0}, "damped_elastic": {"damping_time": 0.0}, "brittle": {"rigid_share": 0.0}}
    law = LAWS[name](**plain.get(name, {}))
    painting = Painting({"density": np.array([0.25, 1.0] * 4)})
    still = Solver(grid_spacing=0.01, gravity=(0.0, 0.0, 0.0))
    frames = Time(fps=10.0, frame_end=2)
    for emitter, factor in (
        (Emitter("cube", Box(size=(1, 1, 1)), "m"), 1.0),
        (Emitter("cube", Box(size=(1, 1, 1)), "m", stiffness_scale=16.0, mass_scale=4.0), 2.0),
        (Emitter("cloud", Points(np.zeros((8, 3))), "m", painting=painting), 2.0),
    ):
        expected = 0.1 / (0.4 * 0.01 / (factor * law.wave_speed())) if law.wave_speed() > 0.0 else 1.0
        found = estimate(Scene("test", still, {"m": Material("m", law)}, (emitter,), frames)).substeps
        assert found == pytest.approx(expected, abs=1.0), emitter.name


def test_the_substeps_follow_the_viscosity_where_it_is_greatest() -> None:
    """h^2 rho / (2 d eta), with eta in proportion to the stiffness."""
    law = dataclasses.replace(LAWS["damped_elastic"](), damping_time=10.0)
    still, frames = Solver(grid_spacing=0.01, gravity=(0.0, 0.0, 0.0)), Time(fps=10.0, frame_end=2)
    for painting, factor in (({}, 1.0), ({"density": [0.25, 1.0] * 4}, 4.0), ({"stiffness": [3.0, 1.0] * 4}, 3.0)):
        painted = Painting({name: np.array(values) for name, values in painting.items()})
        cloud = Emitter("cloud", Points(np.zeros((8, 3))), "m", painting=painted)
        expected = 0.1 * factor * 6.0 * law.greatest_viscosity() / (0.01**2 * law.density)
        found = estimate(Scene("test", still, {"m": Material("m", law)}, (cloud,), frames)).substeps
        assert found == pytest.approx(expected, abs=1.0), painting


@pytest.mark.parametrize(("dimension", "factor"), [(2, 1.5), (3, 2.3)])
def test_substeps_of_viscous_bodies_with_a_rest_state_are_as_much_longer_as_among_other_particles(dimension: int, factor: float) -> None:
    still, frames = Solver(grid_spacing=0.01, gravity=(0.0, 0.0, 0.0), dimension=dimension), Time(fps=10.0, frame_end=2)
    found = {}
    for reference in ("current", "rest"):
        law = LAWS["damped_elastic"](damping_time=10.0, reference=reference)
        found[reference] = estimate(Scene("test", still, {"m": Material("m", law)}, (Emitter("cube", Box(size=(1, 1, 1)), "m"),), frames))
    assert found["current"].substeps / found["rest"].substeps == pytest.approx(factor, rel=0.02)


def test_few_particles_in_a_large_shape_take_no_more_blocks_than_particles() -> None:
    cube = Emitter("cube", Box(size=(1, 1, 1)), "jelly", particle_count=10)
    cost = estimate(scene_of(cube, solver=Solver(grid_spacing=1e-3)))
    assert cost.memory_bytes - module.BYTES_OF_PROGRAM == 10 * (700 + 20_000)


def test_the_count_that_is_advised_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_memory", lambda: 1_000_000_000)
    for spacing in (0.1, 0.001):
        cube = Emitter("Cube", Box(size=(1, 1, 1)), "jelly", particle_count=10**8)
        solver = Solver(grid_spacing=spacing)
        with pytest.raises(SceneError) as caught:
            estimate(scene_of(cube, solver=solver))
        advice = int(str(caught.value).rsplit("at most ", 1)[1].split()[0])
        estimate(scene_of(dataclasses.replace(cube, particle_count=advice), solver=solver))


def test_points_that_do_not_fit_are_counted_in_the_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_memory", lambda: 500_000_000)
    position = np.random.default_rng(0).random((10_000, 3)) * 100.0
    with pytest.raises(SceneError, match=r'Emitter "dust": 10000 points: .* use at most \d+ particles'):
        estimate(scene_of(Emitter("dust", Points(position), "jelly")))


@pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")
@pytest.mark.parametrize(
    ("limit", "cached", "left"), [("300000000", 0, 200_000_000), ("300000000", 50_000_000, 250_000_000), ("1000", 0, 0)]
)
def test_a_container_has_no_more_than_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, cached: int, left: int
) -> None:
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    (tmp_path / "memory.current").write_text("100000000\n")
    (tmp_path / "memory.stat").write_text(f"anon 5\ninactive_file {cached}\n")
    monkeypatch.setattr(memory, "CONTROL_GROUP", tmp_path)
    assert available_memory() == left


@pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")
def test_a_container_without_a_limit_has_what_the_computer_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "CONTROL_GROUP", tmp_path)
    assert available_memory() > 0
    for name, text in (("memory.max", "max\n"), ("memory.current", "1\n"), ("memory.stat", "anon 5\n")):
        (tmp_path / name).write_text(text)
    assert available_memory() > 0


def test_this_computer_has_some_memory() -> None:
    assert 10**8 < available_memory() < 10**14
