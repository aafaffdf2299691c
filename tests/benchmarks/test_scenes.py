"""The measured block, the bare scene, and the assignment of bytes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.memory import footprint
from benchmarks.run import ALONE, VARIANTS
from benchmarks.scenes import SPACING, WAVE_CELLS, Block, all_laws, fixed_step, without_obstacles
from mpm_addon.core.forecast.estimate import estimate
from mpm_addon.core.laws import LAWS
from mpm_addon.core.stepping.kernel_list import units_of
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.storage import read_scene
from mpm_addon.storage.installation import presets_folder


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_block_has_about_as_many_particles_as_asked_for(law: str, variant: str) -> None:
    cost = estimate(Block(law, 100_000, **VARIANTS[variant]).scene())
    assert cost.particles == pytest.approx(100_000, rel=0.05)


def test_the_block_stands_on_the_floor_of_a_closed_box() -> None:
    scene = Block("water", 1000).scene()
    low, _ = scene.emitters[0].shape.bounds()
    assert low[2] == pytest.approx(scene.domain.min[2])
    assert {side.surface for side in scene.domain.sides.values()} == {"separate"}


def test_the_step_follows_the_wave_speed_and_the_viscosity() -> None:
    thin = LAWS["water"](bulk_modulus=1e5, viscosity=0.0)
    thick = LAWS["water"](bulk_modulus=1e5, viscosity=1000.0)
    assert fixed_step(thin, 3) == pytest.approx(WAVE_CELLS * SPACING / (1e5 / thin.density) ** 0.5)
    assert fixed_step(thick, 3) < fixed_step(thin, 3)


def test_bare_is_the_scene_without_what_stands_in_the_way() -> None:
    scene = read_scene(presets_folder() / "scenes" / "four_materials")
    bare = without_obstacles(scene)
    assert (bare.colliders, bare.domain.kind) == ((), "unbounded")
    assert (bare.emitters, bare.solver, bare.materials) == (scene.emitters, scene.solver, scene.materials)


def test_bytes_are_the_states_the_copys_and_the_grids() -> None:
    count = 1000
    table = np.zeros((40, count), np.float32)
    store = SimpleNamespace(
        table=table,
        ids=np.zeros(count, np.int32),
        _spare_table=table.copy(),
        _source=SimpleNamespace(table=table),
        particle_count=count,
        arenas=np.zeros((10, 512), np.float32),
        layout=SimpleNamespace(keys=np.zeros(10)),
    )
    held = footprint(SimpleNamespace(store=store, provenance={"birth": np.zeros(count)}))
    assert held == {"state": 164.0, "copy": 160.0, "grid": 2056.0, "provenance": 8.0}


@pytest.mark.parametrize("alone", ALONE)
def test_torn_matter_has_so_many_particles_in_each_block(alone: int) -> None:
    simulation = Simulation(Block("snow", 64 * alone, alone=alone).scene())
    next(simulation.frames())
    counts = np.unique(
        np.repeat(simulation.store.layout.keys, np.diff(simulation.store.layout.first))[simulation.store.live], return_counts=True
    )[1]
    assert counts.tolist() == [alone] * 64


def test_the_scene_of_all_laws_needs_the_kernels_of_each() -> None:
    assert {unit.variant.law for unit in units_of(all_laws()) if unit.variant.law} == set(LAWS)
    room = read_scene(presets_folder() / "scenes" / "four_materials")
    needed, known = ({unit.kernel for unit in units_of(scene)} for scene in (all_laws(), room))
    assert known <= needed
    # brittle solids break between particles
    assert {kernel.rpartition(".")[0] for kernel in needed - known} == {"transfer.bond_passes"}
