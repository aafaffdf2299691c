"""User presets: safe names, complete files, only data, and limits on what is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpm_addon.core.errors import PresetError
from mpm_addon.core.laws import LAWS
from mpm_addon.storage import user_presets
from mpm_addon.storage.presets import LARGEST_PRESET, MaterialPreset, material_presets, read_material_preset


def preset(label: str = "Mine", law: str = "snow") -> MaterialPreset:
    return MaterialPreset("", label, "For a test.", "Made up.", LAWS[law](), color=(0.1, 0.2, 1.0))


@pytest.mark.parametrize("built_in", material_presets(), ids=lambda each: each.name)
def test_what_is_saved_is_read_back(tmp_path: Path, built_in: MaterialPreset) -> None:
    read = read_material_preset(user_presets.save_preset(tmp_path, built_in))
    assert (read.label, read.description, read.source, read.law, read.color) == (
        built_in.label,
        built_in.description,
        built_in.source,
        built_in.law,
        built_in.color,
    )


@given(st.text(max_size=80))
def test_a_file_name_is_a_plain_word(label: str) -> None:
    try:
        name = user_presets.file_name(label)
    except PresetError:
        return
    assert name == Path(name).name
    assert name.replace("_", "a").isalnum()
    assert len(name) <= 67


def test_names_of_devices_are_not_used() -> None:
    assert user_presets.file_name("CON") == "con_preset"
    assert user_presets.file_name("Lpt1") == "lpt1_preset"
    assert user_presets.file_name("Beton für Opa / 2") == "beton_für_opa_2"


def test_presets_are_listed_in_order_and_read_again_when_they_change(tmp_path: Path) -> None:
    first, second = (user_presets.save_preset(tmp_path, preset(label)) for label in ("b", "a"))
    (tmp_path / "notes.txt").write_text("no preset")
    assert user_presets.preset_files(tmp_path) == (second, first)
    assert user_presets.listed(first).label == "b"
    user_presets.save_preset(tmp_path, MaterialPreset("", "B", "Another text.", "Made up.", LAWS["sand"]()), replace=True)
    os.utime(first, ns=(1, 1))
    assert user_presets.listed(first).law.name == "sand"
    user_presets.remove_preset(tmp_path, "b")
    assert user_presets.listed(first) is None
    assert user_presets.preset_files(tmp_path / "missing") == ()


def test_an_existing_preset_is_replaced_only_when_asked(tmp_path: Path) -> None:
    path = user_presets.save_preset(tmp_path, preset())
    before = path.read_bytes()
    with pytest.raises(PresetError, match="already exists"):
        user_presets.save_preset(tmp_path, preset(law="sand"))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("color = [", "color = [2,"), "color"),
        (("    0.1,", "    nan,"), "color"),
        (("    0.1,", "    true,"), "color"),
        (('label = "Mine"', f'label = "{"x" * 61}"'), "at most 60 characters"),
        (('label = "Mine"', 'label = "a\\nb"'), "a single line"),
        (('source = "Made up."', f'source = "{"x" * 1001}"'), "at most 1000 characters"),
        (("density = 400.0", "density = inf"), "density inf"),
        (("schema = 1", "schema = 1\nscript = 'import os'"), "unknown key"),
    ],
)
def test_a_wrong_preset_is_refused_in_one_line(tmp_path: Path, change: tuple[str, str], expected: str) -> None:
    path = user_presets.save_preset(tmp_path, preset())
    text = path.read_text()
    assert change[0] in text
    path.write_text(text.replace(*change))
    with pytest.raises(PresetError, match=expected) as caught:
        read_material_preset(path)
    assert "\n" not in str(caught.value)
    assert user_presets.listed(path) is None


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = user_presets.save_preset(tmp_path, preset())
    path.write_text(path.read_text() + "#" * LARGEST_PRESET)
    with pytest.raises(PresetError, match=r"more than 0\.064 MB"):
        read_material_preset(path)


def test_every_built_in_preset_has_a_color_and_a_small_picture() -> None:
    total = 0
    for each in material_presets():
        assert each.color is not None
        assert each.picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        total += each.picture.stat().st_size
    assert total < 600_000
