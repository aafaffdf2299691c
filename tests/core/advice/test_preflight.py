"""Warnings before a bake: each with a scene that causes it, and a similar one that does not."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.advice.preflight import size_text, sizes_of, warnings_of
from mpm_addon.core.forecast.estimate import automatic_substeps, estimate
from mpm_addon.core.geometry.shapes import SHAPES, Mesh, Points
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Collider, Emitter, Scene
from mpm_addon.core.scene.settings import Domain, Side
from tests.core.scenes import LATTICE, box, material, scene

H = 0.05
WATER = (material("water"),)
SIDE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
QUADS = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
TRIANGLES = np.concatenate([QUADS[:, [0, 1, 2]], QUADS[:, [0, 2, 3]]])


def block(size: Any, center: Any = (0.0, 0.0, 0.0), *, flip: bool = False) -> Mesh:
    """A box as a mesh."""
    return Mesh(SIDE * size + center, TRIANGLES[:, ::-1] if flip else TRIANGLES)


def cup(wall: float) -> Mesh:
    """A box with a box-shaped hollow inside: a closed mesh whose walls are `wall` thick."""
    inner = SIDE * (1.0 - 2.0 * wall)
    return Mesh(np.concatenate([SIDE, inner]), np.concatenate([TRIANGLES, TRIANGLES[:, ::-1] + 8]))


def sheet(height: float = 0.0) -> Mesh:
    return Mesh(np.array([[-1, -1, height], [1, -1, height], [1, 1, height], [-1, 1, height]]), np.array([[0, 1, 2], [0, 2, 3]]))


def emitter(shape: Any, **settings: Any) -> Emitter:
    return Emitter("drop", shape, "water", **{**LATTICE, **settings})


def found(*emitters: Emitter, colliders: tuple[Collider, ...] = (), domain: Domain | None = None, **solver: Any) -> list[Any]:
    described = scene(*emitters, materials=WATER, colliders=colliders, domain=domain, **solver)
    return warnings_of(described, estimate(described))


def topics(*emitters: Emitter, **rest: Any) -> list[tuple[str, str]]:
    return [(warning.topic, warning.message.subject) for warning in found(*emitters, **rest)]


FINE = emitter(box((0.0, 0.0, 2.0), 0.4))


@pytest.mark.parametrize("dimension", [3, 2])
@pytest.mark.parametrize("thin", [0.06, 0.09])
def test_a_thin_emitter_is_named_with_its_cells(thin: float, dimension: int) -> None:
    for shape in (box((0, 0, 0), (0.4, 0.4, thin)), block((0.4, 0.4, thin)), block((0.4, 0.4, thin), flip=True)):
        (warning,) = found(emitter(shape), dimension=dimension)
        assert (warning.topic, warning.message.subject) == ("thin_emitter", 'Emitter "drop"')
        value = float(warning.message.sentence().split(" m thick, ")[0].split()[-1])
        assert value == pytest.approx(thin, abs=0.013)
        assert f"{value / H:.2g} times the cell size of 0.05 m; make it at least 2 cells thick" in warning.message.sentence()


@pytest.mark.parametrize("dimension", [3, 2])
@pytest.mark.parametrize(
    "shape",
    [
        box((0, 0, 0), 0.1),
        block(0.1),
        block((0.5, 0.3, 0.101)),
        SHAPES["sphere"](radius=0.05),
        cup(0.12),
        SHAPES["cylinder"](radius=0.06, height=0.3),
        SHAPES["box"](center=(0, 0, 0), size=(0.2, 0.2, 0.1), rotation=(30.0, 20.0, 10.0)),
    ],
)
def test_what_is_two_cells_thick_is_not(shape: Any, dimension: int) -> None:
    assert topics(emitter(shape), dimension=dimension) == []


def test_a_large_object_with_thin_walls_is_thin() -> None:
    """The largest ball inside counts: neither the box around a cup nor its volume over its area alone tells."""
    assert topics(emitter(cup(0.06))) == [("thin_emitter", 'Emitter "drop"')]


def test_points_and_layers_have_no_thickness() -> None:
    assert topics(emitter(Points(np.array([[0.0, 0.0, 0.0], [0.01, 0.0, 0.0]])))) == []
    assert topics(emitter(block((0.4, 0.4, 0.06)), source="surface")) == []


def test_a_thin_collider_says_how_much_thicker_it_acts() -> None:
    (warning,) = found(FINE, colliders=(Collider("wall", block((1.0, 1.0, 0.02))),))
    assert (warning.topic, warning.message.subject) == ("thin_collider", 'Collider "wall"')
    # 2 volume / area of a plate of 1 x 1 x 0.02 is 0.0192, and the grid spacing 0.05
    assert warning.message.problem.endswith(
        "particles collide with it as if it were 0.031 m thicker, and fast ones may pass through it all the same"
    )
    (warning,) = found(FINE, colliders=(Collider("wall", box((0, 0, 0), (1.0, 1.0, 0.04))),))
    assert warning.message.sentence() == (
        "it is only 0.04 m thick, 0.8 times the cell size of 0.05 m: some material may pass through it; "
        "make it at least 1 cell thick, or use a grid_spacing of at most 0.04 m."
    )


@pytest.mark.parametrize(
    "shape", [SHAPES["plane"](), sheet(), block((1.0, 1.0, 0.2)), SHAPES["sphere"](radius=0.2), cup(0.05), box((0, 0, 0), (1.0, 1.0, 0.05))]
)
def test_floors_sheets_and_colliders_of_a_cell_are_not_thin(shape: Any) -> None:
    assert topics(FINE, colliders=(Collider("floor", shape),)) == []


def jumping(cells: float, *, enabled: bool = True, deforms: bool = False) -> Collider:
    """A collider that moves so far from frame 2 to 3, in cells per substep that the scene's water allows."""
    still = scene(FINE, materials=WATER)
    substep = (len(still.time.frames) - 1) * still.time.frame_seconds / automatic_substeps(still)
    way = cells * H * still.time.frame_seconds / substep
    frames, shape = np.arange(1.0, 5.0), block(0.3, (0.0, 0.0, -1.0))
    matrices = np.tile(np.eye(4), (4, 1, 1))
    matrices[2:, 0, 3] = way
    poses = shape.vertices + matrices[:, None, :3, 3]
    motion = Motion(frames, vertices=poses) if deforms else Motion(frames, matrices=matrices)
    animation = None if enabled else Animation(frames, {"enabled": np.array([1.0, 0.0, 1.0, 1.0])})
    return Collider("paddle", shape, motion=motion, animation=animation)


@pytest.mark.parametrize("deforms", [False, True])
def test_a_collider_that_jumps_is_named_with_what_it_costs(deforms: bool) -> None:
    (warning,) = found(FINE, colliders=(jumping(3.0, deforms=deforms),))
    assert (warning.topic, warning.message.subject) == ("fast_collider", 'Collider "paddle"')
    # substeps are 0.4 cells over the sum of both speeds: 1 + 3 / 0.4
    assert "from frame 2 to 3, 3 times the cell size in a substep" in warning.message.sentence()
    assert "more than 2: these frames need about 8 times as many; move it more slowly" in warning.message.sentence()


def test_a_sheet_that_jumps_is_named() -> None:
    jump = jumping(3.0)
    (warning,) = found(FINE, colliders=(dataclasses.replace(jump, shape=sheet(-1.0)),))
    assert (warning.topic, warning.message.subject) == ("fast_collider", 'Collider "paddle"')


def test_a_slower_one_and_one_that_is_disabled_while_it_jumps_are_not() -> None:
    assert topics(FINE, colliders=(jumping(1.5),)) == []
    assert topics(FINE, colliders=(jumping(3.0, enabled=False),)) == []


def opened(share: float) -> Mesh:
    """A box of 1 m with a square hole of that share of its surface in one side."""
    half = 0.5 * (6.0 * share / (1.0 + share)) ** 0.5
    ring = np.array([(-half, -half, 0.5), (half, -half, 0.5), (half, half, 0.5), (-half, half, 0.5)])
    top = [index for index, vertex in enumerate(SIDE) if vertex[2] > 0]
    around = sorted(top, key=lambda index: float(np.arctan2(SIDE[index, 1], SIDE[index, 0])))
    rest = [row for row in TRIANGLES.tolist() if not set(row) <= set(top)]
    for turn in range(4):
        a, b, c, d = around[turn], around[(turn + 1) % 4], 8 + (turn + 1) % 4, 8 + turn
        rest += [[a, b, c], [a, c, d]]
    return Mesh(np.concatenate([SIDE, ring]), np.array(rest))


def test_a_mesh_with_a_large_hole_is_named_with_its_edges() -> None:
    (warning,) = found(emitter(opened(0.2)))
    assert (warning.topic, warning.message.subject) == ("open_mesh", 'Emitter "drop"')
    assert warning.message.sentence() == (
        "its mesh has a hole with 4 boundary edges (20% of its surface), and it is filled as if it were closed there; "
        "close it (in Blender: Mesh > Clean Up > Fill Holes) or give it thickness (Solidify modifier)."
    )
    (warning,) = found(FINE, colliders=(Collider("rock", opened(0.08)),))
    assert str(warning).startswith(
        'Collider "rock": its mesh has a hole with 4 boundary edges (8% of its surface), and it blocks particles as if'
    )


def test_small_holes_sheets_layers_and_sections_are_not_named() -> None:
    assert topics(emitter(opened(0.03))) == []
    assert topics(emitter(opened(0.2), source="surface")) == []
    assert topics(emitter(opened(0.2)), dimension=2) == []
    assert topics(FINE, colliders=(Collider("bowl", opened(0.2)),)) == []


def domain(**sides: str) -> Domain:
    return Domain(kind="box", min=(-1, -1, 0), max=(1, 1, 3), sides={name: Side(surface=surface) for name, surface in sides.items()})


def test_an_emitter_beyond_a_side_is_named_with_the_side() -> None:
    out = emitter(box((0.9, 0.0, 1.0), 0.4))
    (warning,) = found(out, domain=domain(x_max="open"))
    assert (warning.topic, warning.message.subject) == ("outside_domain", 'Emitter "drop"')
    assert "extends 0.1 m beyond side x_max of the domain at 1 m: particles emitted there are removed" in warning.message.sentence()
    (warning,) = found(out, domain=domain())
    assert "it cannot be baked" in warning.message.sentence()
    # one line, however many sides it is beyond
    (warning,) = found(emitter(box((0.0, 0.0, 1.0), (4.0, 4.0, 1.0))), domain=domain(x_max="open"))
    places = ["1 m beyond side x_min of the domain at -1 m", "1 m beyond side x_max of the domain at 1 m"]
    places.append("1 m beyond side y_min of the domain at -1 m")
    assert warning.message.problem == f"it extends {', '.join(places)} and 1 m beyond side y_max of the domain at 1 m: it cannot be baked"
    assert topics(emitter(box((0.8, 0.0, 1.0), 0.4)), domain=domain(x_max="open")) == []


def test_y_does_not_count_in_the_plane() -> None:
    far = emitter(box((0.0, 7.0, 1.0), 0.4))
    assert topics(far, domain=domain(y_max="open")) == [("outside_domain", 'Emitter "drop"')]
    assert topics(far, domain=domain(y_max="open"), dimension=2) == []


def moved(*places: tuple[float, float, float]) -> Motion:
    matrices = np.tile(np.eye(4), (len(places), 1, 1))
    matrices[:, :3, 3] = places
    return Motion(np.linspace(1.0, 4.0, len(places)), matrices=matrices)


def test_a_collider_that_is_never_inside_is_named() -> None:
    wall = block(0.4)
    for motion, expected in (
        (None, 0),
        (moved((5.0, 0.0, 0.0), (6.0, 0.0, 0.0)), 1),
        (moved((5.0, 0.0, 0.0), (0.0, 0.0, 0.5)), 0),
    ):
        warnings = topics(FINE, colliders=(Collider("wall", wall, motion=motion),), domain=domain())
        assert topics(FINE, colliders=(Collider("wall", wall, dynamic=True, motion=motion),), domain=domain()) == []
        assert warnings == [("outside_domain", 'Collider "wall"')] * expected


@pytest.mark.parametrize("solid", [block(1.0), box((0, 0, 0), 1.0), block(1.0, flip=True)])
@pytest.mark.parametrize("source", [block(0.4, (0.6, 0.0, 0.0)), box((0.6, 0.0, 0.0), 0.4)])
def test_an_overlap_is_the_share_of_the_emitters_volume(solid: Any, source: Any) -> None:
    """A cube of 0.4 m at 0.6 m reaches 0.1 m into one that ends at 0.5 m: a quarter."""
    (warning,) = found(emitter(source), colliders=(Collider("wall", solid),))
    assert (warning.topic, warning.message.subject) == ("overlap", 'Emitter "drop"')
    assert int(warning.message.sentence().split("%")[0]) == pytest.approx(25, abs=1)
    assert 'inside collider "wall" at frame 1' in warning.message.sentence()
    assert topics(emitter(source), colliders=(Collider("wall", solid, motion=moved((-0.101, 0, 0), (-0.101, 0, 0))),)) == []


def test_an_overlap_is_looked_for_where_things_are_when_it_emits() -> None:
    late = emitter(box((2.0, 0.0, 0.0), 0.4), frame_start=4)
    assert topics(late, colliders=(Collider("wall", block(1.0), motion=moved((0, 0, 0), (2.0, 0, 0))),)) == [("overlap", 'Emitter "drop"')]
    assert topics(late, colliders=(Collider("wall", block(1.0), motion=moved((2.0, 0, 0), (0, 0, 0))),)) == []


def test_an_overlap_is_with_what_is_there_and_does_not_clamp() -> None:
    """A collider that is not enabled when the emitter first is holds nothing back, and a sticky one clamps a body."""

    def enabled(*values: float) -> Animation:
        return Animation(np.array([1.0, 3.0]), {"enabled": np.array(values)})

    drop, wall = emitter(box((0.0, 0.0, 0.0), 0.4)), Collider("wall", block(1.0))
    assert topics(drop, colliders=(dataclasses.replace(wall, animation=enabled(0.0, 1.0)),)) == []
    assert topics(drop, colliders=(dataclasses.replace(wall, animation=enabled(1.0, 0.0)),)) == [("overlap", 'Emitter "drop"')]
    late = dataclasses.replace(drop, animation=enabled(0.0, 1.0))
    assert topics(late, colliders=(dataclasses.replace(wall, animation=enabled(1.0, 0.0)),)) == []
    held = Collider("wall", block(1.0), surface="sticky")
    assert topics(drop, colliders=(held,)) == []
    assert topics(dataclasses.replace(drop, mode="inflow", velocity=(1.0, 0.0, 0.0)), colliders=(held,)) != []


def test_resting_on_a_floor_is_no_overlap() -> None:
    standing = emitter(box((0.0, 0.0, 0.2), 0.4))
    for floor in (SHAPES["plane"](), sheet(), block((2.0, 2.0, 0.2), (0.0, 0.0, -0.1))):
        assert topics(standing, colliders=(Collider("floor", floor),)) == []


def test_memory_disk_space_and_duration_have_limits() -> None:
    described = scene(FINE, materials=WATER)
    cost = dataclasses.replace(estimate(described), memory_bytes=9 * 10**9, memory_available_bytes=10**10, disk_bytes=5 * 10**9)
    named = lambda **rest: [(each.topic, each.message.subject) for each in warnings_of(described, cost, **rest)]  # noqa: E731
    assert named() == [("memory", 'Scene "test"')]
    assert named(disk_free=5 * 10**9)[1:] == [("disk", 'Scene "test"')]
    assert named(disk_free=6 * 10**9)[1:] == []
    assert named(expected_seconds=7 * 3600.0)[1:] == [("duration", 'Scene "test"')]
    assert named(expected_seconds=5 * 3600.0)[1:] == []
    assert "9 GB of memory, and 10 GB is available" in str(warnings_of(described, cost)[0])


def test_sizes_in_words() -> None:
    described: Scene = scene(
        emitter(block((2.7, 1.9, 1.6))), materials=WATER, colliders=(Collider("floor", SHAPES["plane"]()), Collider("wall", block(1.0)))
    )
    assert sizes_of(described) == {"drop": pytest.approx((2.7, 1.9, 1.6)), "wall": pytest.approx((1.0, 1.0, 1.0))}
    assert size_text("Suzanne", (2.7, 1.9, 1.6)) == "Suzanne is 2.7 x 1.9 x 1.6 m"
    assert size_text("Bead", (0.021, 0.02, 0.005)) == "Bead is 2.1 x 2 x 0.5 cm"
    assert size_text("Ground", (120.0, 80.0, 1.0)) == "Ground is 120 x 80 x 1 m"


def keyed(**values: Any) -> Animation:
    return Animation(np.array([1.0, 2.0]), {name: np.array(numbers, np.float64) for name, numbers in values.items()})


def test_an_emitter_that_never_emits_is_named() -> None:
    pouring = {"mode": "inflow", "velocity": (0.0, 0.0, -1.0)}
    for silent in ({"enabled": False}, {"animation": keyed(enabled=[0, 0])}, {**pouring, "flow_rate": 0.0}):
        (warning,) = found(emitter(box((0.0, 0.0, 2.0), 0.4), **silent))
        assert (warning.topic, warning.message.subject) == ("never_emits", 'Emitter "drop"')
        assert "is disabled or has no flow at every frame from 1 to " in warning.message.sentence()
    for emits in ({"animation": keyed(enabled=[0, 1])}, {**pouring, "flow_rate": 0.0, "animation": keyed(flow_rate=[0, 0.1])}, pouring):
        assert topics(emitter(box((0.0, 0.0, 2.0), 0.4), **emits)) == []


@pytest.mark.parametrize("dimension", [3, 2])
def test_a_rigid_body_far_lighter_than_the_material_is_named(dimension: int) -> None:
    shape = box((0.0, 0.0, 0.0), 0.4)
    volume = 0.4**dimension
    for weight, density in (({"density": 30.0}, "30"), ({"mass": 20.0 * volume}, "20")):
        (warning,) = found(FINE, colliders=(Collider("ball", shape, dynamic=True, **weight),), dimension=dimension)
        assert (warning.topic, warning.message.subject) == ("light_body", 'Collider "ball"')
        assert f"its density of {density} kg/m^3 is less than 1/30" in warning.message.sentence()
        assert "use at least 33.3 kg/m^3" in warning.message.sentence()
    for weight in ({"density": 34.0}, {"mass": 40.0 * volume}):
        assert topics(FINE, colliders=(Collider("ball", shape, dynamic=True, **weight),), dimension=dimension) == []
    # one that nothing moves has no weight
    assert topics(FINE, colliders=(Collider("ball", shape, density=1.0),), dimension=dimension) == []


def pressing(way: float, *, start: float = 0.5) -> Collider:
    """A box whose bottom begins at a height and sinks so far within the scene [m]."""
    matrices = np.tile(np.eye(4), (4, 1, 1))
    matrices[:, 2, 3] = -way * np.arange(4) / 3
    return Collider("press", box((0.0, 0.0, start + 0.2), (1.0, 1.0, 0.4)), motion=Motion(np.arange(1.0, 5.0), matrices=matrices))


def apart(cells: float) -> tuple[Collider, ...]:
    """Two boxes, the second so many cells beside the first."""
    return tuple(
        Collider(name, box((way * (0.5 + 0.5 * cells * H), 0.0, 0.0), (1.0, 1.0, 0.2))) for name, way in (("left", -1), ("right", 1))
    )


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize(
    ("law", "cells", "words"), [("water", 2.0, "hardly any passes"), ("water", 3.6, "less passes"), ("sand", 5.0, "less passes")]
)
def test_a_narrow_opening_between_two_colliders_is_named(law: str, cells: float, words: str, dimension: int) -> None:
    """Sand needs six cells, water four."""
    drop = Emitter("drop", box((0.0, 0.0, 2.0), 0.4), law, **LATTICE)
    described = scene(drop, materials=(material(law),), colliders=apart(cells), dimension=dimension)
    (warning,) = warnings_of(described, estimate(described))
    assert (warning.topic, warning.message.subject) == ("narrow_opening", 'Collider "left"')
    assert (
        f'the opening between it and collider "right" is only {cells * H:.2g} m, {cells:g} times the cell size'
        in warning.message.sentence()
    )
    assert words in warning.message.sentence()
    assert f"use a grid_spacing of at most {cells * H / (6.0 if law == 'sand' else 4.0):.2g} m" in warning.message.sentence()


@pytest.mark.parametrize("cells", [4.0, 0.9, 0.0, -1.0])
def test_wide_openings_and_colliders_that_touch_or_overlap_are_not(cells: float) -> None:
    sides = [
        Collider(name, block((1.0, 1.0, 0.2), (way * (0.5 + 0.5 * cells * H), 0.0, 0.0))) for name, way in (("left", -1), ("right", 1))
    ]
    assert topics(FINE, colliders=tuple(sides)) == []


def test_an_opening_with_another_collider_in_it_is_not() -> None:
    """Neither are the two halves of it that are left, if they are narrower than a cell."""
    assert len(found(FINE, colliders=apart(3.0))) == 1
    assert topics(FINE, colliders=(*apart(3.0), Collider("plug", box((0.0, 0.0, 0.0), (0.1, 1.0, 0.2))))) == []


def test_the_opening_between_two_balls_is_found() -> None:
    balls = [Collider(name, SHAPES["sphere"](center=(x, 0.3, 0.1), radius=0.4)) for name, x in (("one", 0.0), ("two", 0.95))]
    (warning,) = found(FINE, colliders=tuple(balls))
    assert "is only 0.15 m, 3 times" in warning.message.sentence()


def test_a_collider_that_moves_into_another_is_named() -> None:
    floor = Collider("floor", SHAPES["plane"]())
    (warning,) = found(FINE, colliders=(floor, pressing(0.7)))
    assert (warning.topic, warning.message.subject) == ("closing_collider", 'Collider "press"')
    assert 'it moves 0.2 m into collider "floor" by frame 4, more than the cell size of 0.05 m' in warning.message.sentence()


def test_one_that_stops_before_or_began_inside_is_not() -> None:
    floor = Collider("floor", SHAPES["plane"]())
    assert topics(FINE, colliders=(floor, pressing(0.15))) == []
    assert topics(FINE, colliders=(floor, pressing(0.5, start=-0.1))) == []
