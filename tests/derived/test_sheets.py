"""Thin sheets without holes, compared with the same particles without those that are added."""

from pathlib import Path

import numpy as np
import pytest
import trimesh

from mpm_addon.core.particles import Moment
from mpm_addon.derived.neighbors import nearest
from mpm_addon.derived.particles import Cloud
from mpm_addon.derived.settings import SurfaceSettings
from mpm_addon.derived.sheets import filled
from mpm_addon.storage import open_cache
from mpm_addon.storage.surface_file import surface_at
from tests.derived.caches import SPACING, arrays, block, write_cache
from tests.derived.caches import derived as derive

WIDTH = 30


def sheet(apart: float, height: float = 0.0) -> np.ndarray:
    """A square sheet of one layer, `WIDTH` spacings wide, with uneven particles that many spacings apart; its plane is tilted."""
    generator = np.random.default_rng(0)
    axis = (np.arange(round(WIDTH / apart)) + 0.5) * apart
    across = np.stack(np.meshgrid(axis, axis, [height], indexing="ij"), axis=-1).reshape(-1, 3)
    across[:, :2] += generator.normal(scale=0.2 * apart, size=(len(across), 2))
    across[:, 2] += generator.normal(scale=0.08, size=len(across))
    return (SPACING * across @ tilt().T).astype(np.float32)


def tilt() -> np.ndarray:
    """Rows are the axes of the world; the last column is the normal of the sheets."""
    return np.linalg.qr(np.array([[1.0, 0.2, 0.5], [0.1, 1.0, 0.3], [-0.4, -0.2, 1.0]]))[0]


def cloud(position: np.ndarray) -> Cloud:
    """A cloud whose particles have their place as an attribute, and their number modulo 2 as the emitter."""
    numbers = (np.arange(len(position)) % 2).astype(np.int32)
    return Cloud("water", SPACING, position, {"place": position.copy()}, {"emitter_index": numbers})


def holes(mesh: trimesh.Trimesh) -> float:
    """The share of the sheet, without its rim, over which no part of a mesh lies: squares of half a spacing without a point of a face."""
    corners = mesh.vertices[mesh.faces] @ tilt()[:, :2] / SPACING
    shares = np.array([[i, j, 4 - i - j] for i in range(5) for j in range(5 - i)]) / 4.0
    points = np.einsum("sk,fkd->sfd", shares, corners).reshape(-1, 2)
    count, _, _ = np.histogram2d(*points.T, bins=[np.arange(3.0, WIDTH - 3.0, 0.5)] * 2)
    return float((count == 0).mean())


@pytest.mark.parametrize("apart", [2.2, 2.7])
def test_a_stretched_sheet_is_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str], apart: float) -> None:
    write_cache(tmp_path, arrays(sheet(apart)))
    share, volume = {}, {}
    for name in ("--no-close-sheets", "--close-sheets"):
        assert derive(capsys, tmp_path, name)[0] == 0
        (piece,) = surface_at(open_cache(tmp_path), Moment(1)).pieces
        mesh = trimesh.Trimesh(piece.position, piece.triangles, process=False)
        assert mesh.is_watertight
        share[name], volume[name] = holes(mesh), float(mesh.volume)
    # negative control: the same particles alone
    assert share["--no-close-sheets"] > 0.05
    assert share["--close-sheets"] < 0.2 * share["--no-close-sheets"]
    # closed, and hardly thicker: the volume grows about as the covered area does
    covered = (1.0 - share["--close-sheets"]) / (1.0 - share["--no-close-sheets"])
    assert volume["--close-sheets"] < 1.25 * covered * volume["--no-close-sheets"]


def test_what_is_added_lies_in_the_sheet_and_has_the_mean_of_what_is_around() -> None:
    given = cloud(np.concatenate([sheet(2.2), sheet(2.2, height=4.5)]))
    made = filled(given)
    count = len(given.position)
    np.testing.assert_array_equal(made.position[:count], given.position)
    added = made.position[count:]
    assert len(added) > count
    # the second sheet, 4.5 spacings above the first, is not joined to it
    height = added @ tilt()[:, 2] / SPACING
    assert np.minimum(np.abs(height), np.abs(height - 4.5)).max() < 0.5
    # places are averaged like any attribute, and indices are those of a particle nearby
    np.testing.assert_allclose(made.values["place"], made.position, atol=1e-6)
    assert set(np.unique(made.numbers["emitter_index"])) == {0, 1}
    # none is nearer to another than there is room
    apart = np.linalg.norm(added[:, None] - added[None], axis=-1) + np.eye(len(added))
    assert apart.min() > 0.75 * SPACING
    again = filled(given)
    assert again.position.tobytes() == made.position.tobytes()


@pytest.mark.parametrize(
    "position",
    [
        block(8),
        block(1),
        block(2),
        np.linspace([0.0, 0.0, 0.0], [5.0, 1.0, 0.3], 60).astype(np.float32),
        sheet(1.0),
        (np.random.default_rng(1).random((300, 3)) * 60.0 * SPACING).astype(np.float32),
    ],
    ids=["block", "particle", "drop", "thread", "dense sheet", "spray"],
)
def test_nothing_is_added_to_what_is_no_stretched_sheet(position: np.ndarray) -> None:
    assert len(filled(cloud(position)).position) <= 1.1 * len(position)


def test_surfaces_from_before_stay_up_to_date() -> None:
    assert SurfaceSettings(close_sheets=False).hash == "2b5a606db353f036"
    assert SurfaceSettings().hash == SurfaceSettings(close_sheets=True).hash != SurfaceSettings(close_sheets=False).hash


@pytest.mark.parametrize("farthest", [0.3, 1.0, 2.5])
def test_neighbors_are_complete_up_to_the_farthest(farthest: float) -> None:
    """Among a dense block and points that are alone, for which all others are far away."""
    rng = np.random.default_rng(3)
    points = np.concatenate([rng.random((400, 3)), 40.0 * rng.random((60, 3))])
    found = nearest(points, points, 12, 0.2, farthest)
    distance = np.linalg.norm(points[:, None] - points[None], axis=-1)
    for row, (number, squared) in enumerate(zip(found.number, found.squared, strict=True)):
        wanted = np.argsort(distance[row], kind="stable")[:12]
        wanted = wanted[distance[row, wanted] <= farthest]
        near = squared <= farthest**2
        assert set(number[near]) == set(wanted)
        np.testing.assert_allclose(squared[near], distance[row, number[near]] ** 2, atol=1e-12)
