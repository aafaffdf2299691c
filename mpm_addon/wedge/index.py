"""The index of a wedge: the variants in its folder, their values and states. Variants are never removed."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import CacheError
from ..storage.atomic import write_atomically
from ..storage.plain_files import parse_json, read_plain
from ..storage.wedge_variants import Variation

INDEX = "wedge.json"
KIND = "mpm_addon wedge"
SCHEMA = 1
STATES = ("waiting", "running", "done", "failed", "cancelled")
SCENES, CACHES = "scenes", "caches"

_NAME = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9._+-]{0,99}")


@dataclass
class Variant:
    """One variant of a wedge.

    Attributes:
        name: the name of its cache and its scene file.
        values: key of the scene file -> value.
        state: one of `STATES`.
        message: why it failed.
    """

    name: str
    values: dict[str, Any]
    state: str = "waiting"
    message: str = ""

    @property
    def identity(self) -> str:
        """A text that is equal for equal values; 1 and 1.0 are equal."""
        return _identity(self.values)

    @property
    def label(self) -> str:
        """Its values in words, one per line."""
        return Variation(self.values, {}).label


@dataclass
class Index:
    """The content of wedge.json.

    Attributes:
        folder: the folder of the wedge.
        scene: the scene file that varies, for display.
        scene_hash: hash of that scene.
        variants: all variants ever planned.
    """

    folder: Path
    scene: str
    scene_hash: str
    variants: list[Variant] = field(default_factory=list)

    def scene_file(self, variant: Variant) -> Path:
        """The scene file of a variant."""
        return self.folder / SCENES / f"{variant.name}.toml"

    def cache(self, variant: Variant) -> Path:
        """The cache of a variant."""
        return self.folder / CACHES / variant.name

    def take(self, wanted: Sequence[Variation]) -> list[Variant]:
        """The variants with these values, in order; new ones are added."""
        known = {variant.identity: variant for variant in self.variants}
        # some file systems ignore case
        names = {variant.name.lower() for variant in self.variants}
        chosen = []
        for variation in wanted:
            variant = known.get(_identity(variation.values))
            if variant is None:
                variant = Variant(_free_name(variation.name, names), dict(variation.values))
                names.add(variant.name.lower())
                self.variants.append(variant)
            chosen.append(variant)
        return chosen

    def write(self) -> None:
        """Write wedge.json. Raises CacheError if that fails."""
        content = {
            "kind": KIND,
            "schema": SCHEMA,
            "scene": self.scene,
            "scene_hash": self.scene_hash,
            "variants": [
                {
                    "name": variant.name,
                    "values": variant.values,
                    "scene": f"{SCENES}/{variant.name}.toml",
                    "cache": f"{CACHES}/{variant.name}",
                    "state": variant.state,
                    "message": variant.message,
                }
                for variant in self.variants
            ],
        }
        text = json.dumps(content, indent=1)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / INDEX, lambda file: file.write(text.encode()))
        except OSError as error:
            raise CacheError(f"it cannot be written ({error.strerror})", "choose another --output", subject=str(self.folder)) from error


def open_index(folder: Path, scene: str, scene_hash: str) -> Index:
    """The index of the wedge in a folder; an empty one if there is none.

    Raises:
        CacheError: it is damaged, of another program, of a later version, or of another scene.
    """
    path = folder / INDEX
    try:
        content = parse_json(read_plain(path))
    except (FileNotFoundError, NotADirectoryError):
        return Index(folder, scene, scene_hash)
    except OSError as error:
        raise CacheError(f"it cannot be read ({error.strerror})", "check its permissions", subject=str(path)) from error
    except ValueError as error:
        remedy = "delete it (the caches remain) or choose another --output"
        raise CacheError(f"it is damaged ({error})", remedy, subject=str(path)) from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise CacheError("it belongs to another program", "choose another --output", subject=str(path))
    if content.get("schema") != SCHEMA:
        raise CacheError(f"this version does not support schema {content.get('schema')!r}, only {SCHEMA}", subject=str(path))
    if content.get("scene_hash") != scene_hash:
        raise CacheError("it belongs to another scene, or the scene was changed", "choose another --output", subject=str(path))
    entries = content.get("variants")
    if not isinstance(entries, list):
        raise CacheError("it is damaged (variants is not a list)", "choose another --output", subject=str(path))
    return Index(folder, scene, scene_hash, [_variant(entry, path) for entry in entries])


def _variant(entry: Any, path: Path) -> Variant:
    """An entry of the index. Names become paths, so none may lead outside the folder."""
    entry = entry if isinstance(entry, dict) else {}
    name, values, state, message = (entry.get(key) for key in ("name", "values", "state", "message"))
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not isinstance(values, dict):
        raise CacheError("it is damaged (a variant without a valid name and values)", "choose another --output", subject=str(path))
    return Variant(name, values, state if state in STATES else "waiting", message if isinstance(message, str) else "")


def _identity(values: dict[str, Any]) -> str:
    return json.dumps({key: _canonical(value) for key, value in values.items()}, sort_keys=True)


def _canonical(value: Any) -> Any:
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _free_name(name: str, taken: set[str]) -> str:
    """The name, or the first free one with a number after it."""
    name = name or "variant"
    number, free = 1, name
    while free.lower() in taken:
        number += 1
        free = f"{name}__{number}"
    return free
