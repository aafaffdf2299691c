"""A block of every material preset falls into a tray: it comes to rest, behaves like its name, and a preview predicts the bake."""

import dataclasses
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.geometry.shapes import Box
from mpm_addon.core.scene.description import Scene
from mpm_addon.core.stepping.simulation import Simulation
from mpm_addon.core.stepping.time_step import StepControl
from mpm_addon.storage import load_material_preset, read_scene
from mpm_addon.storage.presets import material_preset_names, scene_preset_folders
from mpm_addon.storage.scene_file import read_scene_words

pytestmark = pytest.mark.slow

SCENE = scene_preset_folders()["material_drop"]
# The material of the scene itself; every other preset is a variant.
FIRST_MATERIAL = "water"
EDGE, DROP_HEIGHT, HALF_TRAY = 0.3, 0.1, 0.36
PREVIEW, FINAL = 0.036, 0.024
# A pool of 5 cm, or mud of 8 cm, needs more cells to be as deep as it should.
PREVIEW_OF_LIQUID, FINAL_OF_LIQUID = 0.03, 0.02
# What is stiff for its weight takes many substeps, and few cells for its shape.
PREVIEW_OF_STIFF, FINAL_OF_STIFF = 0.05, 0.036

# What each is known by. Whoever adds a material says here what it looks like.
LIQUID = {"water", "water_drops", "honey", "ketchup"}  # run to the walls, level; ketchup nearly
LOW = {*LIQUID, "mud"}
PASTE = {"cream", "mud", "lava", "fresh_concrete", "dough"}  # slump to less than two thirds of their height and stand
HEAP = {"dry_sand", "fine_sand", "gravel"}  # run out into a heap, highest in the middle
SHAPED = {
    "clay",
    "metal",
    "foam",
    "wet_sand",
    "snow",
    "powder_snow",
    "wet_snow",
    "icy_snow",
    "wax",
    "butter",
    "chocolate",
    "melting_ice",
}  # keep their shape, more or less dented
STIFF = {"rubber", "sponge"}
ELASTIC = {*STIFF, "jelly", "gelatin"}  # bounce and come back to their shape
BRITTLE = {"glass", "ice", "ceramic", "concrete", "biscuit", "dry_clay", "wood"}  # stay whole here, and break where they fall faster
# these lie still after a second; the others flow for two, or bounce as wax does
STILL = (SHAPED | ELASTIC) - {"foam", "wax", "wet_sand"}
LAST_OF_STILL, LAST = 25, 49
# nothing damps what is brittle, so it goes on bouncing
RESTING = set(material_preset_names()) - BRITTLE
# one of each law and look; the others take minutes together
OFTEN = {"water", "mud", "dry_sand", "clay", "snow", "jelly", "glass"}


def each(names: set[str]) -> list[Any]:
    """The parameters of a test of materials."""
    return [pytest.param(name, marks=[] if name in OFTEN else pytest.mark.long) for name in sorted(names)]


def spacings(name: str) -> tuple[float, float]:
    """Cell sizes [m] of the preview and the final."""
    if name in STIFF:
        return PREVIEW_OF_STIFF, FINAL_OF_STIFF
    return (PREVIEW_OF_LIQUID, FINAL_OF_LIQUID) if name in LOW else (PREVIEW, FINAL)


@dataclass(frozen=True)
class Outcome:
    """What a drop came to.

    Attributes:
        heights: of the matter itself, from its 2nd to its 98th percentile [m], at 0.3 s, 0.6 s and the end; the gap of a part of a
            cell that matter keeps from the floor is not counted.
        spreads: the 98th percentile of the distance from the middle along the farther axis [m], at the same times.
        speed: root of the mean squared speed at the end [m/s].
        volume_ratio: mean J at the end.
        slope: height at the middle less that near the rim [m], at the end.
        failures: steps that had to be taken back.
    """

    heights: tuple[float, ...]
    spreads: tuple[float, ...]
    speed: float
    volume_ratio: float
    slope: float
    failures: int


def quarter_scene(material: str, grid_spacing: float) -> Scene:
    """The scene with a quarter of the block, x > 0 and y > 0: planes without friction stand where it is symmetric."""
    scene = read_scene(SCENE, None if material == FIRST_MATERIAL else material)
    block = Box(center=(EDGE / 4, EDGE / 4, DROP_HEIGHT + EDGE / 2), size=(EDGE / 2, EDGE / 2, EDGE))
    return dataclasses.replace(
        scene,
        solver=dataclasses.replace(scene.solver, grid_spacing=grid_spacing),
        domain=dataclasses.replace(scene.domain, min=(0.0, 0.0, 0.0)),
        emitters=(dataclasses.replace(scene.emitters[0], shape=block),),
    )


@functools.cache
def dropped(material: str, grid_spacing: float) -> Outcome:
    """Bake a quarter of the block, until it rests, and check in every frame that nothing is lost."""
    scene = quarter_scene(material, grid_spacing)
    last = LAST_OF_STILL if material in STILL else LAST
    scene = dataclasses.replace(scene, time=dataclasses.replace(scene.time, frame_end=last))
    failures = []
    heights, spreads = [], []
    with pytest.MonkeyPatch.context() as patch:
        # the real one still ends a run that cannot be mended
        shorten = StepControl.shorten
        patch.setattr(StepControl, "shorten", lambda control, dt: (failures.append(dt), shorten(control, dt))[1])
        frames = Simulation(scene).frames()
        frame = first = next(frames)
        for frame in frames:
            assert np.array_equal(frame.id, first.id)
            assert frame.statistics.deleted == 0
            assert frame.statistics.mass == pytest.approx(first.statistics.mass, rel=1e-6)
            assert np.isfinite(frame.position).all()
            assert np.isfinite(frame.velocity).all()
            if frame.number in (8, 15, last):
                low, high = np.percentile(frame.position[:, 2], (2, 98))
                heights.append(float(high - low))
                spreads.append(float(np.percentile(frame.position[:, :2].max(axis=1), 98)))
    radius = np.hypot(frame.position[:, 0], frame.position[:, 1])
    height = frame.position[:, 2]
    middle = height[radius < np.percentile(radius, 20)].max()
    rim = height[radius > np.percentile(radius, 80)].max()
    return Outcome(
        heights=tuple(heights),
        spreads=tuple(spreads),
        speed=float(np.sqrt((frame.velocity.astype(float) ** 2).sum(axis=1).mean())),
        volume_ratio=float(frame.attribute("volume_ratio").mean()),
        slope=float(middle - rim),
        failures=len(failures),
    )


def test_every_material_is_known_by_its_look_and_has_a_variant() -> None:
    kinds = [LIQUID, PASTE, HEAP, SHAPED, ELASTIC, BRITTLE]
    assert sum(map(len, kinds)) == len(set().union(*kinds))
    assert set().union(*kinds) == set(material_preset_names())
    assert {FIRST_MATERIAL, *read_scene_words(SCENE).variants} == set(material_preset_names())
    for name in material_preset_names():
        assert quarter_scene(name, FINAL).materials["block"].law == load_material_preset(name)
    assert read_scene(SCENE).emitters[0].shape.volume() == pytest.approx(EDGE**3)


@pytest.mark.parametrize("name", each(RESTING))
def test_a_block_comes_to_rest_without_a_step_taken_back(name: str) -> None:
    for spacing in spacings(name):
        outcome = dropped(name, spacing)
        assert outcome.failures == 0
        # the impact was at 1.4 m/s
        assert outcome.speed < 0.1
        assert 0.75 < outcome.volume_ratio < 1.05


@pytest.mark.parametrize("name", each(RESTING))
def test_a_preview_predicts_the_final_within_a_tenth(name: str) -> None:
    preview, final = (dropped(name, spacing) for spacing in spacings(name))
    assert preview.heights[-1] == pytest.approx(final.heights[-1], rel=0.1)
    assert preview.spreads[-1] == pytest.approx(final.spreads[-1], rel=0.1)


@pytest.mark.parametrize("name", each(LIQUID))
def test_a_liquid_runs_to_the_walls_and_is_level(name: str) -> None:
    outcome = dropped(name, FINAL_OF_LIQUID)
    level = EDGE**3 / (2.0 * HALF_TRAY) ** 2
    assert outcome.spreads[-1] > 0.95 * HALF_TRAY
    assert outcome.heights[-1] < (1.5 if name == "ketchup" else 1.25) * level
    assert abs(outcome.slope) < 1.5 * FINAL_OF_LIQUID


@pytest.mark.parametrize("name", each(PASTE))
def test_a_paste_slumps_and_stands(name: str) -> None:
    outcome = dropped(name, FINAL)
    assert 0.15 * EDGE < outcome.heights[-1] < 0.67 * EDGE
    assert 0.75 * EDGE < outcome.spreads[-1] < HALF_TRAY
    assert outcome.slope > 0.0


@pytest.mark.parametrize("name", each(HEAP))
def test_grains_heap_with_a_slope(name: str) -> None:
    outcome = dropped(name, FINAL)
    assert outcome.heights[-1] < 0.55 * EDGE
    assert outcome.slope > 0.2 * EDGE


@pytest.mark.parametrize("name", each(SHAPED))
def test_a_solid_keeps_its_shape(name: str) -> None:
    outcome = dropped(name, FINAL)
    assert outcome.heights[-1] > 0.65 * EDGE
    assert outcome.spreads[-1] < 0.75 * EDGE


@pytest.mark.parametrize("name", each(ELASTIC))
def test_an_elastic_body_comes_back_to_its_shape(name: str) -> None:
    outcome = dropped(name, spacings(name)[1])
    assert outcome.heights[-1] == pytest.approx(0.96 * EDGE, rel=0.13)
    assert outcome.spreads[-1] == pytest.approx(0.5 * EDGE, rel=0.1)


def pieces_after_a_fall(name: str, speed: float) -> int:
    """The number of pieces with more than a hundredth of a block that falls this fast [m/s], a twentieth of a second later."""
    scene = read_scene(SCENE, name)
    block = dataclasses.replace(scene.emitters[0].shape, center=(0.0, 0.0, 0.5 * EDGE + 0.5 * scene.solver.grid_spacing))
    falling = dataclasses.replace(scene.emitters[0], shape=block, velocity=(0.0, 0.0, -speed))
    time = dataclasses.replace(scene.time, fps=40.0, frame_end=3)
    *_, last = Simulation(dataclasses.replace(scene, emitters=(falling,), time=time)).frames()
    assert last.bonds is not None
    return int(np.count_nonzero(np.bincount(last.bonds.fragments(len(last.id))) > 0.01 * len(last.id)))


@pytest.mark.parametrize("name", each(BRITTLE))
def test_what_is_brittle_survives_a_small_fall_and_breaks_in_a_large_one(name: str) -> None:
    assert pieces_after_a_fall(name, 1.4) == 1
    assert pieces_after_a_fall(name, 6.0) > 1


@pytest.mark.long
def test_materials_differ_as_their_names_say() -> None:
    final = {name: dropped(name, spacings(name)[1]) for name in RESTING}
    # at 0.3 s, on the way
    assert final["lava"].spreads[0] < 0.7 * final["honey"].spreads[0]
    assert final["honey"].spreads[0] < final["water"].spreads[0]
    # standing
    assert final["gravel"].slope > final["fine_sand"].slope
    assert final["wet_sand"].heights[-1] > 1.4 * final["dry_sand"].heights[-1]
    assert final["clay"].heights[-1] > 1.3 * final["dough"].heights[-1]
    assert final["dough"].heights[-1] > final["fresh_concrete"].heights[-1] > final["mud"].heights[-1]
    assert final["gelatin"].heights[-1] < final["jelly"].heights[-1] < 1.02 * final["rubber"].heights[-1]
    assert final["powder_snow"].volume_ratio < final["wet_snow"].volume_ratio < final["icy_snow"].volume_ratio
