"""The contact sheet: the contents and positions of tiles."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mpm_addon.core.errors import MpmError
from mpm_addon.wedge import sheet
from mpm_addon.wedge.index import Index, Variant
from mpm_addon.wedge.points import draw_points, view_of
from tests.storage import stand_in

WHITE, BLACK = np.ones((1, 3)), (0, 0, 0)


def lit(picture: np.ndarray) -> tuple[float, float]:
    """The middle of what is not black: column and row as shares of the picture."""
    rows, columns = np.nonzero(picture.sum(axis=2))
    return float(columns.mean() / picture.shape[1]), float(rows.mean() / picture.shape[0])


@pytest.mark.parametrize(("place", "column", "row"), [((1.0, 0.0, 0.0), 1, 0), ((0.0, 0.0, 1.0), 0, -1), ((-1.0, 0.0, 0.0), -1, 0)])
@pytest.mark.parametrize("dimension", [2, 3])
def test_right_is_right_and_up_is_up(place: tuple[float, float, float], column: int, row: int, dimension: int) -> None:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float32)
    view = view_of([corners], dimension)
    middle = lit(draw_points(np.zeros((1, 3), np.float32), WHITE, 0.1, view, (120, 120), BLACK))
    there = lit(draw_points(np.array([place], np.float32), WHITE, 0.1, view, (120, 120), BLACK))
    assert middle == pytest.approx((0.5, 0.5), abs=0.02)
    assert np.sign(np.round(there[0] - middle[0], 2)) == column
    if row or dimension == 2:
        assert np.sign(np.round(there[1] - middle[1], 2)) == row


def test_what_is_nearer_hides_what_is_behind() -> None:
    # seen from -y, from above
    positions = np.array([[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]], np.float32)
    view = view_of([positions * 2], 2)
    colors = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for order in ([0, 1], [1, 0]):
        picture = draw_points(positions[order], colors[order], 0.2, view, (60, 60), BLACK)
        assert picture[..., 0].max() > 0
        assert picture[..., 2].max() == 0


def test_few_particles_far_away_do_not_shrink_the_rest() -> None:
    cloud = np.random.default_rng(0).uniform(-1, 1, (10_000, 3)).astype(np.float32)
    cloud[:20] = 1e3
    view = view_of([cloud], 3)
    assert (view.high - view.low).max() < 4.0


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """A wedge of 2 x 3 variants: four are baked, one failed after some frames, one has none."""
    monkeypatch.setitem(__import__("sys").modules, stand_in.MODULE, stand_in.module())
    values = [{"solver.seed": seed, "solver.cfl": cfl} for seed in (1, 2) for cfl in (0.1, 0.2, 0.3)]
    index = Index(tmp_path / "wedge", "scene.toml", "hash", [Variant(f"v{n}", value, "done") for n, value in enumerate(values)])
    for variant in index.variants[:5]:
        scene = stand_in.write_small_scene(tmp_path / variant.name)
        frames = (1, 4) if variant.name == "v4" else None
        stand_in.bake_here(scene, index.cache(variant), frames=frames)
    index.variants[4].state = index.variants[5].state = "failed"
    return index


def test_a_sheet_has_a_tile_for_every_variant(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    paste = sheet._paste
    monkeypatch.setattr(sheet, "_paste", lambda *arguments: (drawn.append(arguments), paste(*arguments)))
    with Image.open(sheet.draw_sheet(index, index.variants)) as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    tiles = [arguments[1] for arguments in drawn]
    corners = [arguments[2] for arguments in drawn]
    assert [tile.frame.number if tile.frame else None for tile in tiles] == [6, 6, 6, 6, 4, None]
    assert [tile.remark for tile in tiles] == ["", "", "", "", "failed frame 4", "failed"]
    assert tiles[5].label == "seed = 2\ncfl = 0.3"
    # rows as long as the last key has values
    assert len({row for _, row in corners}) == 2
    assert len({column for column, _ in corners}) == 3
    # below the remark
    bright = [np.abs(pixels[y + 30 : y + 270, x : x + 360] - pixels[y + 135, x + 1]).sum(axis=2) > 40 for x, y in corners]
    assert [mask.any() for mask in bright] == [True, True, True, True, True, False]


def test_a_frame_may_be_chosen(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    tiles: list[Any] = []
    monkeypatch.setattr(sheet, "_paste", lambda _sheet, tile, *_: tiles.append(tile))
    sheet.draw_sheet(index, index.variants, 2)
    assert [tile.frame.number if tile.frame else None for tile in tiles] == [2, 2, 2, 2, 2, None]


def test_without_pillow_or_frames_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index(tmp_path, "scene.toml", "hash", [Variant("v", {"solver.seed": 1})])
    with pytest.raises(MpmError, match="no variant has a particle"):
        sheet.draw_sheet(index, index.variants)
    monkeypatch.setitem(__import__("sys").modules, "PIL.Image", None)
    with pytest.raises(MpmError, match="drawing it needs the package PIL"):
        sheet.draw_sheet(index, index.variants)


def test_the_outermost_balls_are_seen_whole() -> None:
    cloud = np.random.default_rng(0).uniform(-1, 1, (200, 3)).astype(np.float32)
    picture = draw_points(cloud, np.ones((200, 3)), 0.2, view_of([cloud], 3, 0.2), (120, 120), BLACK)
    assert not picture[[0, -1]].any() and not picture[:, [0, -1]].any()
