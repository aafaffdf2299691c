"""Things that are renamed after a bake: names are for people, and nothing that is simulated depends on them.

Frames keep the names with which they were baked. A take's manifest has the names of now, and, if they differ, those of its frames.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.errors import MpmError
from ..core.scene.description import Scene
from .package_files import PackageWriter
from .scene_file import read_scene, read_table, scene_path
from .scene_writer import array_file, scene_table
from .take import SCENE, Take

# The entry of a manifest with the names that its frames have, if those of its emitters or dynamic colliders are others now.
FIRST_NAMES = "first_names"
EMITTERS, COLLIDERS = "emitters", "colliders"

Names = Mapping[str, list[str]]


def is_same_but_names(folder: Path, scene: Scene) -> bool:
    """Whether the scene package in a folder describes a scene, apart from names, the last frame and the cache settings.

    Files of arrays are compared by the digest in their names. What cannot be read is another scene.
    """
    try:
        table, _subject = read_table(scene_path(folder))
        return _nameless(table) == plain(scene)
    except (MpmError, KeyError, TypeError, ValueError, AttributeError):
        return False


def plain(scene: Scene) -> str:
    """What a scene describes, without names, the last frame and the cache settings: equal for scenes that are simulated alike."""
    return _nameless(scene_table(scene, PackageWriter(array_file)))


def _nameless(table: Mapping[str, Any]) -> str:
    numbers = {name: number for number, name in enumerate(table["materials"])}
    emitters = [{**emitter, "material": numbers[emitter["material"]]} for emitter in table.get(EMITTERS, [])]
    time = {key: value for key, value in table["time"].items() if key != "frame_end"}
    others = {key: value for key, value in table.items() if key not in ("name", "cache")}
    kept = {**others, "time": time, "materials": list(table["materials"].values()), EMITTERS: emitters}
    for section in (EMITTERS, COLLIDERS, "forces", "outflows"):
        kept[section] = [{key: value for key, value in each.items() if key != "name"} for each in kept.get(section, [])]
    return json.dumps(_with_digests(kept), sort_keys=True)


def _with_digests(value: Any) -> Any:
    """A value of a scene file, with the digests in place of the names of files of arrays."""
    if isinstance(value, dict):
        return {key: _with_digests(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_digests(each) for each in value]
    return value.rpartition("_")[2] if isinstance(value, str) and value.endswith(".npz") else value


def names_of(manifest: Mapping[str, Any]) -> Names:
    """The names of emitters and dynamic colliders in a manifest, in order."""
    colliders = [each for each in manifest.get(COLLIDERS, ()) if isinstance(each, dict) and each.get("dynamic") is True]
    return {EMITTERS: list(manifest.get(EMITTERS, ())), COLLIDERS: [str(each.get("name")) for each in colliders]}


def first_names(manifest: Mapping[str, Any]) -> Names:
    """The same names as they are in the frames of a take."""
    now, first = names_of(manifest), manifest.get(FIRST_NAMES)
    if not isinstance(first, dict):
        return now
    return {key: first[key] if _is_alike(first.get(key), names) else names for key, names in now.items()}


def _is_alike(first: Any, names: list[str]) -> bool:
    return isinstance(first, list) and len(first) == len(names) and all(isinstance(name, str) for name in first)


def kept_names(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of a manifest that remembers the names in existing frames, if they differ from those of now."""
    first = first_names(before)
    return {} if first == names_of(now) else {FIRST_NAMES: first}


def pose_names(take: Take, shown: Take) -> dict[str, str]:
    """Name of a dynamic collider in the frames of a take -> its name in the shown take; only of those that differ."""
    first, now = first_names(take.manifest)[COLLIDERS], names_of(shown.manifest)[COLLIDERS]
    return {old: new for old, new in zip(first, now, strict=True) if old != new} if len(first) == len(now) else {}


def names_to_write(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Name of a dynamic collider now -> its name in the other frames of a take; only of those that differ."""
    pairs = zip(names_of(manifest)[COLLIDERS], first_names(manifest)[COLLIDERS], strict=True)
    return {now: first for now, first in pairs if now != first}


def scene_of(take: Take, shown: Take) -> Scene:
    """The scene of a take, with the names of the shown one that continues from it, or is the same. Raises SceneError."""
    scene = read_scene(take.folder / SCENE)
    now = names_of(shown.manifest)
    emitters = tuple(replace(each, name=name) for each, name in zip(scene.emitters, now[EMITTERS], strict=False))
    dynamic = [collider.name for collider in scene.colliders if collider.dynamic]
    if len(dynamic) != len(now[COLLIDERS]):
        return replace(scene, emitters=emitters + scene.emitters[len(emitters) :])
    names = iter(now[COLLIDERS])
    colliders = tuple(replace(each, name=next(names)) if each.dynamic else each for each in scene.colliders)
    return replace(scene, emitters=emitters + scene.emitters[len(emitters) :], colliders=colliders)


def as_named(before: Scene, after: Scene) -> Scene:
    """The scene `before`, with the names that `after` has for the same emitters, their materials, and dynamic colliders.

    One is the same if it has the same place in the order and the same shape, its name is gone and its new one was not there.
    """
    emitters = _renamed(before.emitters, after.emitters)
    materials = {}
    for old, new in zip(before.emitters, after.emitters, strict=False):
        is_gone = old.material not in after.materials and new.material not in before.materials
        if emitters.get(old.name, old.name) == new.name and is_gone:
            materials[old.material] = new.material
    colliders = _renamed(*(tuple(each for each in scene.colliders if each.dynamic) for scene in (before, after)))
    return replace(
        before,
        materials={materials.get(name, name): replace(each, name=materials.get(name, name)) for name, each in before.materials.items()},
        emitters=tuple(
            replace(each, name=emitters.get(each.name, each.name), material=materials.get(each.material, each.material))
            for each in before.emitters
        ),
        colliders=tuple(replace(each, name=colliders.get(each.name, each.name)) for each in before.colliders),
    )


def _renamed(before: tuple[Any, ...], after: tuple[Any, ...]) -> dict[str, str]:
    gone = {each.name for each in before} - {each.name for each in after}
    new = {each.name for each in after} - {each.name for each in before}
    pairs = zip(before, after, strict=False)
    return {old.name: each.name for old, each in pairs if old.name in gone and each.name in new and old.shape == each.shape}
