"""The interface in other languages: the catalog contains the current texts, and translations match existing texts."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import pytest
from extract_messages import collected, literals, of_call, translated

from mpm_addon.blender.host import translations
from mpm_addon.core.errors import PresetError
from mpm_addon.storage.catalog import ANY, FOLDER, OPERATOR, Entry, dictionaries, read_catalog, written

LANGUAGES = sorted(FOLDER.glob("*.po"))
REFRESH = "texts of the interface have changed: make translations"


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_the_catalog_has_the_texts_of_today(bpy: Any) -> None:
    kept = {entry.key for entry in read_catalog(FOLDER / "mpm_addon.pot")}
    today = {entry.key for entry in collected()}
    assert (today - kept, kept - today) == (set(), set()), REFRESH


def test_translations_are_of_texts_that_exist_and_fill_in_the_same_values() -> None:
    known = {entry.key for entry in read_catalog(FOLDER / "mpm_addon.pot")}
    for entries in map(read_catalog, LANGUAGES):
        assert {entry.key for entry in entries} - known == set(), REFRESH
        for entry in entries:
            if entry.translated and "{" in entry.message:
                assert fields(entry.translated) == fields(entry.message), entry.message
            assert entry.translated == entry.translated.strip()


def test_texts_of_every_kind_are_found(bpy: Any) -> None:
    found = {entry.key for entry in collected()}
    assert {
        (ANY, "Material"),  # the label of a panel
        (OPERATOR, "Edit Values"),  # the label of an operator
        (ANY, "A named material with tested values"),  # a tooltip
        (ANY, "Young's Modulus (Pa)"),  # a property that a law declares
        (ANY, "Honey"),
        (OPERATOR, "Honey"),  # a preset in a list, and on a button
        (ANY, "Based on {name}"),  # a template
        (ANY, "Saved as {path}"),  # a report
        (ANY, "Select an emitter"),  # the reason why an operator cannot run
    } <= found


def test_what_is_new_is_added_and_what_is_gone_is_taken_out() -> None:
    entries = [Entry(ANY, "Old"), Entry(ANY, "New"), Entry(OPERATOR, "Old")]
    renewed = translated(entries, {(ANY, "Old"): "Alt", (ANY, "Gone"): "Weg"})
    assert [(entry.message, entry.translated) for entry in renewed] == [("Old", "Alt"), ("New", ""), ("Old", "")]


def test_a_file_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    entries = [
        Entry(ANY, 'He said "no"\\yes', "Er sagte „nein“\n\\ja", ("a.py",)),
        Entry(OPERATOR, "Bake", "Backen"),
        Entry(ANY, "{name} is missing", ""),
    ]
    (tmp_path / "xx.po").write_text(written(entries, "xx"), encoding="utf-8")
    assert read_catalog(tmp_path / "xx.po") == entries
    assert dictionaries(tmp_path) == {"xx": {entry.key: entry.translated for entry in entries[:2]}}


def test_texts_in_several_lines_are_joined(tmp_path: Path) -> None:
    (tmp_path / "xx.po").write_text('# by hand\nmsgid ""\n"two "\n"lines"\nmsgstr "zwei "\n"Zeilen"\n', encoding="utf-8")
    assert dictionaries(tmp_path) == {"xx": {(ANY, "two lines"): "zwei Zeilen"}}


@pytest.mark.parametrize("text", ["msgid unquoted", '"a line that belongs to nothing"', 'msgid "a" b', "\x00"])
def test_a_broken_file_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "xx.po").write_text(text, encoding="utf-8")
    with pytest.raises(PresetError, match="correct it") as caught:
        dictionaries(tmp_path)
    assert "\n" not in str(caught.value)


def test_templates_are_translated_before_their_values_are_filled_in(fake_blender: Any) -> None:
    assert translations.text("Based on {name}", name="Honey") == "Based on Honey"
    words = {(ANY, "Based on {name}"): "Nach {name}", (ANY, "Saved as {path}"): "Gesichert als {path}"}
    fake_blender.translations.register("mpm_test", {"de_DE": words})
    fake_blender.translations.locale = "de_DE"
    try:
        assert translations.text("Based on {name}", name="Honey") == "Nach Honey"
        assert translations.message("Saved as {path}", path="x") == "Gesichert als x"
        assert translations.tip("Not in the catalog {n}", n=1) == "Not in the catalog 1"
    finally:
        fake_blender.translations.locale = ""
        fake_blender.translations.unregister("mpm_test")


def test_calls_whose_texts_are_found() -> None:
    import ast

    def found(code: str) -> list[tuple[str, str]]:
        call = ast.parse(code, mode="eval").body
        assert isinstance(call, ast.Call)
        return list(of_call(call))

    assert found('layout.label(text="A")') == [(ANY, "A")]
    assert found('layout.operator("mpm.bake", text="A" if new else "B")') == [(OPERATOR, "A"), (OPERATOR, "B")]
    assert found('layout.label(text="A", translate=False)') == []
    assert found('self.report({"INFO"}, "A")') == [(ANY, "A")]
    assert found('text("A {n}", n=1)') == [(ANY, "A {n}")]
    assert found("layout.label(text=name)") == []
    assert list(literals(ast.parse("3", mode="eval").body)) == []
