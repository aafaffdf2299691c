"""The parts of tools/gui that need no window."""

import struct
from pathlib import Path
from typing import cast

import pytest
from PIL import Image, ImageDraw, ImageFont

from tools.gui import places
from tools.gui.blender import Window
from tools.gui.cut_texts import cut_texts
from tools.gui.menus import changed_around, opened
from tools.gui.screen import read_screen


def test_a_screen_in_memory_is_read_as_a_picture(tmp_path: Path) -> None:
    file = tmp_path / "screen"
    write_screen(file, width=2, height=1, pixels=b"\x01\x02\x03\x00\x04\x05\x06\x00")
    image = read_screen(file)
    assert image.size == (2, 1)
    assert [image.getpixel((x, 0)) for x in range(2)] == [(3, 2, 1), (6, 5, 4)]


def test_a_screen_of_another_depth_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "screen"
    write_screen(file, width=2, height=1, pixels=b"\x01\x02\x03\x00", bits=16)
    with pytest.raises(ValueError, match="16 bits"):
        read_screen(file)


def write_screen(path: Path, *, width: int, height: int, pixels: bytes, bits: int = 32) -> None:
    fields = [0] * 25
    fields[0], fields[1], fields[4], fields[5], fields[11], fields[12], fields[19] = 100, 7, width, height, bits, bits // 8 * width, 1
    path.write_bytes(struct.pack(">25I", *fields) + bytes(12) + pixels)


def test_the_box_of_a_menu_is_found_around_the_mouse_and_not_beyond() -> None:
    before = Image.new("RGB", (200, 150), (60, 60, 60))
    after = before.copy()
    after.paste((24, 24, 24), (40, 30, 120, 110))
    # a letter that happens to look as before, and something else that changed far away
    after.paste((60, 60, 60), (60, 50, 62, 58))
    after.paste((255, 0, 0), (180, 130, 190, 140))
    assert changed_around(before, after, (70, 60)) == (40, 30, 120, 110)
    assert changed_around(before, after, (150, 60)) is None
    # the entry below the mouse, as bright as what was there before
    after.paste((60, 60, 60), (42, 52, 118, 70))
    assert changed_around(before, after, (70, 60)) == (40, 30, 120, 110)


def test_a_submenu_that_opens_with_its_menu_is_not_taken_for_what_was_there() -> None:
    before = Image.new("RGB", (200, 150), (60, 60, 60))
    after = before.copy()
    after.paste((24, 24, 24), (20, 10, 80, 60))
    without_submenu = after.copy()
    after.paste((24, 24, 24), (80, 45, 140, 140))

    class Screen:
        def picture(self) -> Image.Image:
            return after

    menu = opened(cast("Window", Screen()), before, (50, 50))
    assert menu.box == (20, 10, 80, 60)
    assert menu.alone.tobytes() == without_submenu.tobytes()


def test_a_place_without_a_root_runs_programs_as_they_are(tmp_path: Path) -> None:
    own = places.Place("5.2", None)
    assert own.command("blender", "-b", variables={"HOME": "/x"}) == ["env", "HOME=/x", "blender", "-b"]
    assert own.inside(tmp_path) == str(tmp_path)


def test_a_root_sees_the_shared_folder_under_its_own_name(tmp_path: Path) -> None:
    place = places.Place("5.2", tmp_path)
    assert place.inside(place.shared / "walk-5.2" / "console.txt") == "/gui/walk-5.2/console.txt"
    command = place.command("blender", variables={"HOME": "/gui/home"})
    assert command[0] == "env"
    assert f"ROOT={tmp_path}" in command
    assert command[-2:] == ["HOME=/gui/home", "blender"]


def test_who_lacks_a_blender_is_told_how_to_get_it() -> None:
    assert places.find("1.0") is None
    assert "python -m tools.gui.prepare 5.2" in places.how_to_get("5.2")


def written(words: str, scale: float) -> Image.Image:
    """A button of Blender's dark theme with words on it."""
    picture = Image.new("RGB", (round(160 * scale), round(60 * scale)), (48, 48, 48))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((round(10 * scale), round(20 * scale), round(150 * scale), round(40 * scale)), fill=(84, 84, 84))
    draw.text((round(20 * scale), round(22 * scale)), words, font=ImageFont.load_default(round(12 * scale)), fill=(230, 230, 230))
    return picture


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_a_text_that_blender_has_cut_is_found_and_a_whole_one_is_not(scale: float) -> None:
    ((x, y),) = cut_texts(written("Resume from Fra…", scale), scale)
    assert 100 * scale < x < 150 * scale
    assert 25 * scale < y < 40 * scale
    assert cut_texts(written("Resume from Frame 3. i: j", scale), scale) == []


def test_the_handle_of_a_panel_is_no_cut_text() -> None:
    picture = written("Bake", 1.0)
    for row in range(2):
        for column in range(3):
            left, top = 120 + 4 * column, 28 + 4 * row
            picture.paste((200, 200, 200), (left, top, left + 2, top + 2))
    assert cut_texts(picture, 1.0) == []
    picture.paste((84, 84, 84), (119, 27, 140, 31))
    assert len(cut_texts(picture, 1.0)) == 1, "one row of its dots is one"
