"""Translation catalogs: the PO files in `mpm_addon/locale`, one per language, named by its code ("de", "pt_BR").

Messages without a translation remain in English. Only a subset of the format is supported: comments, contexts, messages and
translations, each text in one or more quoted lines.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import PresetError
from .installation import PACKAGE
from .plain_files import read_plain

FOLDER = PACKAGE / "locale"
# Blender's translation contexts: anything, or the label of an operator.
ANY, OPERATOR = "*", "Operator"

_LINE = re.compile(r'(msgctxt|msgid|msgstr)?\s*"((?:[^"\\]|\\.)*)"')
_ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}

Key = tuple[str, str]


@dataclass(frozen=True)
class Entry:
    """A message: its context, the English text, the translation ("" if there is none), and where it is shown."""

    context: str
    message: str
    translated: str = ""
    places: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        return self.context, self.message


def read_catalog(path: Path) -> list[Entry]:
    """The entries of a PO file.

    Raises:
        PresetError: it cannot be read, or one of its lines is malformed.
    """
    try:
        lines = read_plain(path).decode("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise PresetError(f"the translations cannot be read ({error})", "reinstall the extension", subject=str(path)) from error
    entries: list[Entry] = []
    fields: dict[str, str] = {}
    places: list[str] = []
    word = ""
    for number, line in enumerate([*lines, ""], start=1):
        if not line.strip():
            if fields.get("msgid"):
                entries.append(Entry(fields.get("msgctxt") or ANY, fields["msgid"], fields.get("msgstr", ""), tuple(places)))
            fields, places = {}, []
        elif line.startswith("#:"):
            places.append(line[2:].strip())
        elif not line.startswith("#"):
            match = _LINE.fullmatch(line.strip())
            if match is None or not (match[1] or word):
                raise PresetError(f"line {number} is not valid in a PO file", "correct it", subject=str(path))
            word = match[1] or word
            fields[word] = fields.get(word, "") + re.sub(r"\\.", lambda found: _ESCAPES.get(found[0], found[0]), match[2])
    return entries


def written(entries: list[Entry], language: str) -> str:
    """The text of a PO file with these entries; `language` is "" for the template that translators start from."""
    head = f'msgid ""\nmsgstr ""\n"Language: {language}\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    return "\n".join([head, *(_entry_text(entry) for entry in entries)])


def _entry_text(entry: Entry) -> str:
    lines = [f"#: {place}" for place in entry.places]
    if entry.context != ANY:
        lines.append(f"msgctxt {_quoted(entry.context)}")
    return "\n".join([*lines, f"msgid {_quoted(entry.message)}", f"msgstr {_quoted(entry.translated)}", ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def dictionaries(folder: Path = FOLDER) -> dict[str, dict[Key, str]]:
    """Language -> (context, message) -> translation, as Blender expects it. Raises PresetError if a file is malformed."""
    files = sorted(folder.glob("*.po"))
    return {path.stem: {entry.key: entry.translated for entry in read_catalog(path) if entry.translated} for path in files}
