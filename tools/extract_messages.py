"""Writes mpm_addon/locale/mpm_addon.pot, the catalogue of all texts of the interface, and brings the translations up to date.

Texts come from the registered classes (their labels, tooltips, properties, enum items) and from the code of the panels and
operators: texts given to layouts, reports and polls, and templates. A translation (locale/*.po) keeps what was translated; what is new is
added without a translation, what no longer exists is taken out. `make translations` runs it.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from environments import ROOT

sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from mpm_addon.storage.catalogue import Entry


def main() -> int:
    """Write the catalogue and the translations."""
    import mpm_addon
    from mpm_addon.storage.catalogue import FOLDER, written
    from mpm_addon.storage.catalogue import read_catalogue as read

    mpm_addon.register()
    entries = collected()
    mpm_addon.unregister()
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "mpm_addon.pot").write_text(written(entries, ""), encoding="utf-8")
    print(f"translations: {len(entries)} in {FOLDER.relative_to(ROOT)}/mpm_addon.pot")
    for path in sorted(FOLDER.glob("*.po")):
        known = {entry.key: entry.translated for entry in read(path)}
        renewed = translated(entries, known)
        path.write_text(written(renewed, path.stem), encoding="utf-8")
        missing = sum(not entry.translated for entry in renewed)
        gone = len(known.keys() - {entry.key for entry in entries})
        print(f"translations: {path.name}: {len(renewed) - missing} translated, {missing} to do, {gone} gone")
    return 0


def collected() -> list[Entry]:
    """All entries without translations, sorted by their text; the add-on is registered."""
    from message_sources import in_code, in_documents, of_registered

    from mpm_addon.storage.catalogue import Entry

    places: dict[tuple[str, str], set[str]] = {}
    for context, text, place in (*of_registered(), *in_code(), *in_documents()):
        if any(letter.isalpha() for letter in text):
            places.setdefault((context, text), set()).add(place)
    return [Entry(context, text, "", tuple(sorted(found)[:3])) for (context, text), found in sorted(places.items(), key=_order)]


def _order(item: tuple[tuple[str, str], set[str]]) -> tuple[str, str, str]:
    (context, text), _ = item
    return text.lower(), text, context


def translated(entries: Iterable[Entry], known: Mapping[tuple[str, str], str]) -> list[Entry]:
    """The entries with the translations that are known; what is not among the entries is left out."""
    return [dataclasses.replace(entry, translated=known.get(entry.key, "")) for entry in entries]


def leave(status: int) -> None:
    """End without Python's own shutdown, in which a process with bpy may hang."""
    sys.stdout.flush()
    os._exit(status)


if __name__ == "__main__":
    leave(main())
