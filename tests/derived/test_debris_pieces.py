"""Chips and dust of rigid bodies that break: on their cracks, once pieces part, and the same however they are made."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import SHAPES
from mpm_addon.core.particles import Frame, FrameStatistics, Moment, Piece
from mpm_addon.core.scene.description import Collider, Scene
from mpm_addon.core.scene.fracture import Fracture
from mpm_addon.core.scene.settings import CacheSettings, Solver, Time
from mpm_addon.derived import debris_settings
from mpm_addon.derived.debris_lineage import lineage_of
from mpm_addon.derived.debris_pieces import Cracks, Formed, cracks_between
from mpm_addon.derived.debris_settings import DebrisSettings
from mpm_addon.derived.sources import bodies_of_debris, emitters_of_debris
from mpm_addon.derived.swarm import MOST_BIRTHS
from mpm_addon.storage import open_cache
from mpm_addon.storage.cache_writer import CacheWriter
from mpm_addon.storage.derived import counts_of, derived_path
from mpm_addon.storage.swarm_file import swarm_at
from mpm_addon.storage.take import DEBRIS as KIND
from tests.derived.caches import arrays, derived

# A brick of 0.4 x 0.2 x 0.2 m that breaks in its middle, and then its right half again.
SPACING, SECONDS, HEIGHT = 0.02, 1.0 / 24.0, 2.0
CHIP, DUST = 0, 1


def box(low: float, high: float, inside: tuple[float, ...]) -> Piece:
    """The part of the brick between two places along x; the faces at some of them are inside."""
    corner = np.array([(x, y, z) for x in (low, high) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    # of the quads at both ends, both triangulated along the same diagonal, and of the other sides
    ends = [(0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7)]
    sides = [(0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    is_inside = [low in inside] * 2 + [high in inside] * 2 + [False] * len(sides)
    return Piece("brick", corner, np.array(ends + sides, np.int64), np.array(is_inside))


LEFT, RIGHT = box(-0.2, 0.0, (0.0,)), box(0.0, 0.2, (0.0,))
MIDDLE, END = box(0.0, 0.1, (0.0, 0.1)), box(0.1, 0.2, (0.1,))


def at(x: float, z: float = HEIGHT) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = x, 0.0, z
    return pose


def described(**fracture: Any) -> Scene:
    brick = Collider("brick", SHAPES["box"](size=(0.4, 0.2, 0.2)), dynamic=True, density=2000.0, fracture=Fracture(**fracture))
    solver = Solver(grid_spacing=SPACING, gravity=(0.0, 0.0, 0.0))
    return Scene("broken", solver, {}, (), colliders=(brick,), time=Time(frame_end=8), cache=CacheSettings(precision="exact"))


def moments(speed: float = 1.0) -> list[tuple[Mapping[str, Any], Mapping[str, Piece]]]:
    """Poses and new pieces of each frame: what fell fast breaks; both halves part at twice a speed [m/s], and later the right one's."""
    way = speed * SECONDS
    return [
        ({"brick": at(0.0, HEIGHT + 10.0 * SECONDS)}, {}),
        ({"brick/1": at(-way), "brick/2": at(way)}, {"brick/1": LEFT, "brick/2": RIGHT}),
        ({"brick/1": at(-2.0 * way), "brick/2": at(2.0 * way)}, {}),
        ({"brick/1": at(-3.0 * way), "brick/3": at(3.0 * way), "brick/4": at(4.0 * way)}, {"brick/3": MIDDLE, "brick/4": END}),
        ({"brick/1": at(-4.0 * way), "brick/3": at(4.0 * way), "brick/4": at(6.0 * way)}, {}),
        ({"brick/1": at(-5.0 * way), "brick/3": at(5.0 * way), "brick/4": at(8.0 * way)}, {}),
    ]


def write(folder: Path, speed: float = 1.0) -> None:
    scene = described()
    writer = CacheWriter(folder, scene)
    writer.prepare(scene, restart=True)
    if writer.is_replacing:
        writer.begin(scene)
    statistics = FrameStatistics(0, 0, 1, 0.0, (0.0, 0.0, 0.0), 0.0, 0.0)
    for number, (poses, pieces) in enumerate(moments(speed), start=1):
        nobody = arrays(np.zeros((0, 3), np.float32))
        writer.write_frame(Frame(number, (number - 1) * SECONDS, nobody, statistics, poses=dict(poses), births={}, pieces=dict(pieces)))


def debris(folder: Path, number: int) -> dict[str, np.ndarray]:
    return dict(swarm_at(open_cache(folder), Moment(number), KIND).arrays)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in derived_path(open_cache(folder), Moment(1), KIND).parent.glob("*")}


def test_chips_and_dust_come_from_the_crack_in_the_frame_after_pieces_appear(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    assert derived(capsys, tmp_path, "debris", "--spread", "0.5")[0] == 0
    assert [len(debris(tmp_path, number)["id"]) for number in (1, 2)] == [0, 0]
    found = debris(tmp_path, 3)
    # 0.04 m^2 on both sides, of four particles per cell^2, of which each makes 2 chips and 20 particles of dust
    makers = 2.0 * 0.04 * 4.0 / SPACING**2
    assert (found["kind"] == CHIP).sum() == pytest.approx(2.0 * makers, abs=2.0)
    assert (found["kind"] == DUST).sum() == pytest.approx(20.0 * makers, abs=2.0)
    assert set(found["emitter_index"].tolist()) == {0}
    # each flies with its half and away from it, by half of the 2 m/s at which they part at most
    x, way = found["position"][:, 0].astype(np.float64), found["velocity"][:, 0].astype(np.float64)
    is_left = x < 0.0
    assert is_left.mean() == pytest.approx(0.5, abs=0.02)
    assert (way[is_left] > -1.01).all() and (way[is_left] < 0.01).all()
    assert (way[~is_left] < 1.01).all() and (way[~is_left] > -0.01).all()
    # and not with the velocity of the brick before it broke, 10 m/s down
    assert np.abs(found["velocity"][:, 2]).max() < 1.01
    assert np.abs(found["position"][:, 1]).max() < 0.1 + SECONDS + 0.01
    assert np.abs(found["position"][:, 2] - HEIGHT).max() < 0.1 + SECONDS + 0.01
    # and no more while nothing breaks
    assert np.isin(debris(tmp_path, 4)["id"], found["id"]).all()


def test_an_old_crack_makes_nothing_when_its_piece_breaks_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    assert derived(capsys, tmp_path, "debris", "--spread", "0")[0] == 0
    before, after = debris(tmp_path, 4), debris(tmp_path, 5)
    born = ~np.isin(after["id"], before["id"])
    # the second crack was at x = 0.1 m of the brick, the first at 0 m
    assert born.sum() == pytest.approx(22.0 * 2.0 * 0.04 * 4.0 / SPACING**2 * 1.0, rel=0.01)
    assert after["position"][born, 0].min() > 0.1


def test_pieces_that_do_not_part_make_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, speed=0.0)
    assert derived(capsys, tmp_path, "debris", "--dust", "1000")[0] == 0
    assert [len(debris(tmp_path, number)["id"]) for number in range(1, 7)] == [0] * 6


def cracks(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray], pieces: Mapping[str, Piece]) -> Cracks:
    """Those at the end of a tenth of a second, of a body that was whole a frame before its beginning."""
    return last_cracks([{"brick": np.eye(4)}, before, after], pieces)


def last_cracks(frames: Sequence[Mapping[str, np.ndarray]], pieces: Mapping[str, Piece]) -> Cracks:
    """Those of the last frame."""
    formed = Formed(pieces, lineage_of(frames, pieces))
    return cracks_between(frames[-2], frames[-1], len(frames) - 1, formed, 0.1, {"brick": 3})


def test_a_piece_that_turns_carries_its_debris_along() -> None:
    turn = np.eye(4)
    angle = 0.02
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    still = {"brick/1": np.eye(4), "brick/2": np.eye(4)}
    found = cracks(still, still | {"brick/2": turn}, {"brick/1": LEFT, "brick/2": RIGHT})
    assert len(found.parting) == 4 and set(found.emitter.tolist()) == {3}
    # the middles of the triangles are 1/30 m from the axis
    assert found.parting == pytest.approx([2.0 * np.sin(0.5 * angle) / 30.0 / 0.1] * 4, rel=1e-6)
    assert found.area() == pytest.approx([0.02] * 4)
    assert np.abs(found.velocity[:2]).max() == 0.0 and np.abs(found.velocity[2:]).max() > 0.01
    # both sides face each other
    assert found.normals()[:, 0] == pytest.approx([1.0, 1.0, -np.cos(angle), -np.cos(angle)], abs=1e-6)


@pytest.mark.parametrize(("apart", "parting"), [(0.2, 1.0), (0.1, 0.0), (0.05, 0.0)])
def test_a_crack_parts_by_how_much_wider_it_becomes(apart: float, parting: float) -> None:
    pieces = {"brick/1": LEFT, "brick/2": RIGHT}
    found = cracks({"brick/1": at(0.0), "brick/2": at(0.1)}, {"brick/1": at(0.3), "brick/2": at(0.3 + apart)}, pieces)
    assert found.parting == pytest.approx([parting] * 4)


def test_loose_parts_and_pieces_that_break_again_at_once_have_no_cracks() -> None:
    def loose(piece: Piece) -> Piece:
        return piece._replace(is_inside=np.zeros(len(piece.triangles), np.bool_))

    both = {"brick/1": at(-0.1), "brick/2": at(0.1)}
    assert len(cracks(both, both, {"brick/1": loose(LEFT), "brick/2": loose(RIGHT)}).parting) == 0
    assert len(cracks(both, {"brick/1": at(-0.2)}, {"brick/1": LEFT, "brick/2": RIGHT}).parting) == 0


QUARTERS = {"brick/3": box(-0.2, -0.1, (-0.1,)), "brick/4": box(-0.1, 0.0, (-0.1, 0.0)), "brick/5": MIDDLE, "brick/6": END}
HALVES = {"brick/1": LEFT, "brick/2": RIGHT}


def halves(names: Mapping[str, Piece], way: float = 1.0) -> dict[str, np.ndarray]:
    """The poses of some pieces: the halves of the brick have parted by twice a way [m]."""
    return {name: at(-way if name in ("brick/1", "brick/3", "brick/4") else way) for name in names}


def places(found: Cracks, way: float = 1.0) -> list[float]:
    """Where along x in the brick the cracks are that were found between the parts of halves that have parted [m]; each once."""
    x = found.corners[:, :, 0].mean(axis=1)
    return sorted(set((x - way * np.sign(x)).round(6).tolist()))


def test_two_that_break_in_the_same_frame_have_no_new_crack_between_them() -> None:
    frames = [{"brick": at(0.0)}, halves(HALVES), halves(HALVES), halves(QUARTERS), halves(QUARTERS)]
    pieces = HALVES | QUARTERS
    assert places(last_cracks(frames[:3], pieces)) == [0.0]
    assert places(last_cracks(frames, pieces)) == [-0.1, 0.1]
    # nor if the cache begins with pieces
    assert places(last_cracks(frames[2:], pieces)) == [-0.1, 0.1]
    assert places(last_cracks([*frames, frames[-1]], pieces)) == []


def test_a_crack_waits_while_one_of_its_sides_breaks_on() -> None:
    mixed = {"brick/1": LEFT, "brick/5": MIDDLE, "brick/6": END}
    pieces = HALVES | QUARTERS
    # the right half is there in one frame only
    frames = [{"brick": at(0.0)}, halves(HALVES), halves(mixed), halves(mixed)]
    assert places(last_cracks(frames[:3], pieces)) == []
    assert places(last_cracks(frames, pieces)) == [0.0, 0.1]
    assert places(last_cracks([*frames, frames[-1]], pieces)) == []
    # then the left one breaks, along a crack of its own
    later = [*frames, halves(QUARTERS), halves(QUARTERS)]
    assert places(last_cracks(later, pieces)) == [-0.1]
    # both break on before any frame is the second of both
    assert places(last_cracks([*frames[:2], halves(QUARTERS), halves(QUARTERS)], pieces)) == [-0.1, 0.0, 0.1]


def test_pieces_that_share_one_triangle_have_a_crack() -> None:
    corner = np.array([(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0)])
    is_inside = np.array([True, False, False, False])
    up = Piece("brick", np.vstack([corner, [(0.0, 0.0, 0.1)]]), np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]), is_inside)
    down = Piece("brick", np.vstack([corner, [(0.0, 0.0, -0.1)]]), np.array([(0, 1, 2), (1, 0, 3), (2, 1, 3), (0, 2, 3)]), is_inside)
    both = {"brick/1": np.eye(4), "brick/2": np.eye(4)}
    assert len(cracks(both, both, {"brick/1": up, "brick/2": down}).parting) == 2


@pytest.mark.parametrize("times", [1, 2])
def test_a_crack_is_whole_where_one_side_is_finer(times: int) -> None:
    fine = RIGHT
    for _ in range(times):
        fine = quartered(fine)
    both = {"brick/1": np.eye(4), "brick/2": np.eye(4)}
    found = cracks(both, both | {"brick/2": at(0.1, 0.0)}, {"brick/1": LEFT, "brick/2": fine})
    is_left = found.corners[:, :, 0].max(axis=1) < 0.05
    assert found.area()[is_left].sum() == pytest.approx(0.04) and found.area()[~is_left].sum() == pytest.approx(0.04)
    assert found.parting == pytest.approx([1.0] * len(found.parting))
    assert np.abs(found.velocity[is_left]).max() == 0.0 and found.velocity[~is_left, :, 0] == pytest.approx(1.0)


def quartered(piece: Piece) -> Piece:
    """As the refinement at a crack leaves the faces of a piece."""
    corners = piece.vertices[piece.triangles]
    a, b, c = np.moveaxis(corners, 1, 0)
    ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
    small = [np.stack(each, axis=1) for each in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
    vertices = np.concatenate(small).reshape(-1, 3)
    return Piece(piece.whole, vertices, np.arange(len(vertices)).reshape(-1, 3), np.tile(piece.is_inside, 4))


def test_more_than_a_frame_can_have_are_fewer_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    amounts = ("--chips", "1000", "--dust", "500", "--chip-life", "0.01", "--dust-life", "0.01", "--spread", "0.5")
    assert derived(capsys, tmp_path, "debris", *amounts, "--frames", "1-3")[0] == 0
    found = debris(tmp_path, 3)
    assert MOST_BIRTHS - 3 <= len(found["id"]) < MOST_BIRTHS and len(np.unique(found["id"])) == len(found["id"])
    assert (found["kind"] == CHIP).mean() == pytest.approx(2.0 / 3.0, abs=1e-3)
    assert (found["position"][:, 0] < 0.0).mean() == pytest.approx(0.5, abs=0.02)


def test_debris_that_was_born_as_pieces_appeared_is_outdated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)
    with monkeypatch.context() as earlier:
        earlier.setattr(debris_settings, "_VERSION", 1)
        assert derived(capsys, tmp_path, "debris")[0] == 0
    counts = counts_of(open_cache(tmp_path), KIND, DebrisSettings().hash)
    assert (counts.made, counts.outdated) == (0, len(moments()))


def test_ranges_and_threads_give_the_same_bytes_and_ids_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "one")
    copies = [Path(shutil.copytree(tmp_path / "one", tmp_path / name)) for name in ("ranges", "threads")]
    assert derived(capsys, tmp_path / "one", "debris", "--threads", "1")[0] == 0
    whole = files(tmp_path / "one")
    assert len(whole) == 6
    for frames in ("5-6", "1-2", "3-4"):
        assert derived(capsys, copies[0], "debris", "--frames", frames)[0] == 0
    assert derived(capsys, copies[1], "debris", "--threads", "4")[0] == 0
    assert files(copies[0]) == whole and files(copies[1]) == whole
    first, second = debris(tmp_path / "one", 4), debris(tmp_path / "one", 5)
    shared, at_first, at_second = np.intersect1d(first["id"], second["id"], return_indices=True)
    assert len(shared) > 0.9 * len(first["id"])
    assert np.array_equal(first["size"][at_first], second["size"][at_second])


def test_bodies_that_break_are_chosen_as_emitters_are() -> None:
    scene = described()
    assert (emitters_of_debris(scene, DebrisSettings()), bodies_of_debris(scene, DebrisSettings())) == ((), {"brick": 0})
    assert bodies_of_debris(scene, DebrisSettings(emitters="brick")) == {"brick": 0}
    with pytest.raises(SceneError, match='emitter "brik" does not exist'):
        bodies_of_debris(scene, DebrisSettings(emitters="brik"))
