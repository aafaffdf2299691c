"""Writing scene packages, and hashes that identify scenes."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from ..core.errors import SceneError
from ..core.scene.description import Collider, Emitter, Material, Outflow, Scene
from ..core.scene.force import Force
from ..core.scene.settings import Domain, Solver
from .arrays import Arrays, digest, write_arrays
from .atomic import write_atomically
from .installation import require
from .package_files import PackageWriter
from .presets import fluid_table
from .scene_file import SCENE_FILE, SCENE_SCHEMA
from .toml_tables import table_of


def write_scene(scene: Scene, folder: str | Path, name: str = SCENE_FILE) -> Path:
    """Write a scene package: scene.toml and its array files. `read_scene` returns an equal scene.

    Array files are named after their content, so that a package is complete at every moment while it is overwritten, and
    similar scenes in one folder share them.

    Args:
        scene: the scene.
        folder: the folder, created if necessary.
        name: the file's name, if several scenes share the folder.

    Returns:
        The path of the scene file.

    Raises:
        SceneError: the folder cannot be written.
    """
    toml = require("tomli_w", "tomli-w", "writing scenes")
    folder = Path(folder)

    def store(owner: str, arrays: Arrays) -> str:
        file = array_file(owner, arrays)
        if (folder / file).exists():
            return file
        # that of an object which was renamed
        same = next(folder.glob(f"*_{file.rpartition('_')[2]}"), None)
        if same is not None:
            return same.name
        write_arrays(folder / file, arrays)
        return file

    try:
        folder.mkdir(parents=True, exist_ok=True)
        text = toml.dumps(scene_table(scene, PackageWriter(store)))
        write_atomically(folder / name, lambda file: file.write(text.encode()))
    except OSError as error:
        raise SceneError(f"the scene cannot be written ({error.strerror})", "choose another folder", subject=str(folder)) from error
    return folder / name


def array_file(owner: str, arrays: Arrays) -> str:
    """The name of the file of an owner's arrays."""
    return f"{_slug(owner)}_{digest(arrays)[:12]}.npz"


def scene_hash(scene: Scene) -> str:
    """A SHA-256 hash of everything that determines the frames of a scene, as hexadecimal text.

    It excludes the last frame, because a longer scene is still the same scene, and the cache settings.
    """
    table = scene_table(scene, PackageWriter(lambda _owner, arrays: digest(arrays)))
    del table["time"]["frame_end"], table["cache"]
    return hashlib.sha256(json.dumps(table).encode()).hexdigest()


def scene_table(scene: Scene, writer: PackageWriter) -> dict[str, Any]:
    """A scene as the tables of its file, including all defaults."""
    table: dict[str, Any] = {
        "schema": SCENE_SCHEMA,
        "name": scene.name,
        "time": table_of(scene.time),
        "solver": _solver_table(scene.solver, writer),
        "domain": _domain_table(scene.domain),
        "materials": {name: _material_table(material, writer) for name, material in scene.materials.items()},
        "emitters": [_emitter_table(emitter, writer) for emitter in scene.emitters],
        "colliders": [_collider_table(collider, writer) for collider in scene.colliders],
        "forces": [_common(force, writer) for force in scene.forces],
        "outflows": [_shape_table(outflow, writer) for outflow in scene.outflows],
        "cache": table_of(scene.cache),
    }
    return {key: value for key, value in table.items() if value != []}


def _domain_table(domain: Domain) -> dict[str, Any]:
    if domain.kind == "unbounded":
        return {"kind": "unbounded"}
    return {**table_of(domain), "sides": {name: table_of(side) for name, side in domain.sides.items()}}


def _emitter_table(emitter: Emitter, writer: PackageWriter) -> dict[str, Any]:
    table = {"material": emitter.material, "shape": writer.shape(emitter.shape, emitter.name), **_common(emitter, writer)}
    if emitter.randomness.amounts:
        table["randomness"] = table_of(emitter.randomness)
    return table if emitter.painting is None else {**table, "painting": writer.painting(emitter.painting, emitter.name)}


def _collider_table(collider: Collider, writer: PackageWriter) -> dict[str, Any]:
    table = _shape_table(collider, writer)
    return table if collider.fracture is None else {**table, "fracture": table_of(collider.fracture)}


def _shape_table(solid: Collider | Outflow, writer: PackageWriter) -> dict[str, Any]:
    return {"shape": writer.shape(solid.shape, solid.name), **_common(solid, writer)}


def _common(thing: Emitter | Collider | Outflow | Force, writer: PackageWriter) -> dict[str, Any]:
    """Name, parameters, motion and animation."""
    table = {"name": thing.name, **table_of(thing)}
    if thing.motion is not None:
        table["motion"] = writer.motion(thing.motion, thing.name)
    if thing.animation is not None:
        table["animation"] = writer.animation(thing.animation, thing.name)
    return table


def _material_table(material: Material, writer: PackageWriter) -> dict[str, Any]:
    table = {"law": material.law.name, **table_of(material.law)}
    if material.thermal is not None:
        table["thermal"] = table_of(material.thermal)
    if material.melts_into is not None:
        table["melts_into"] = fluid_table(material.melts_into)
    if material.curves:
        table["curves"] = {name: [list(point) for point in points] for name, points in material.curves.items()}
    return table if material.animation is None else {**table, "animation": writer.animation(material.animation, material.name)}


def _solver_table(solver: Solver, writer: PackageWriter) -> dict[str, Any]:
    table = {**table_of(solver), "time_step": solver.time_step or "auto"}
    return table if solver.animation is None else {**table, "animation": writer.animation(solver.animation, "solver")}


def _slug(text: str) -> str:
    """A text as a file name that is valid on every system."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40] or "arrays"
