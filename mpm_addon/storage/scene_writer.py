"""Writing scene packages, and the digest that tells whether two scenes mean the same."""

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
from .scene_file import SCENE_FILE, SCENE_SCHEMA
from .toml_tables import table_of


def write_scene(scene: Scene, folder: str | Path, name: str = SCENE_FILE) -> Path:
    """Write a scene package: scene.toml and its array files. `read_scene` gives an equal scene back.

    Array files are named by their content, so that a package which is overwritten stays whole at every moment, and
    scenes that are alike share them in one folder.

    Args:
        scene: the scene.
        folder: where it is written; made where it is missing.
        name: the file's name, where several scenes share the folder.

    Returns:
        The path of the scene file.

    Raises:
        SceneError: the folder cannot be written.
    """
    toml = require("tomli_w", "tomli-w", "writing scenes")
    folder = Path(folder)

    def store(owner: str, arrays: Arrays) -> str:
        file = f"{_slug(owner)}_{digest(arrays)[:12]}.npz"
        if not (folder / file).exists():
            write_arrays(folder / file, arrays)
        return file

    try:
        folder.mkdir(parents=True, exist_ok=True)
        text = toml.dumps(scene_table(scene, PackageWriter(store)))
        write_atomically(folder / name, lambda file: file.write(text.encode()))
    except OSError as error:
        raise SceneError(f"the scene cannot be written ({error.strerror})", "choose another folder", subject=str(folder)) from error
    return folder / name


def scene_hash(scene: Scene) -> str:
    """A SHA-256 over everything that decides how the frames of a scene look, as hexadecimal text.

    The last frame is left out: a scene that only goes on for longer is the same scene. So is what the cache keeps.
    """
    table = scene_table(scene, PackageWriter(lambda _owner, arrays: digest(arrays)))
    del table["time"]["frame_end"], table["cache"]
    return hashlib.sha256(json.dumps(table).encode()).hexdigest()


def scene_table(scene: Scene, writer: PackageWriter) -> dict[str, Any]:
    """The scene as the tables of its file, every default written out."""
    table: dict[str, Any] = {
        "schema": SCENE_SCHEMA,
        "name": scene.name,
        "time": table_of(scene.time),
        "solver": _solver_table(scene.solver, writer),
        "domain": _domain_table(scene.domain),
        "materials": {name: _material_table(material, writer) for name, material in scene.materials.items()},
        "emitters": [_emitter_table(emitter, writer) for emitter in scene.emitters],
        "colliders": [_obstacle_table(collider, writer) for collider in scene.colliders],
        "forces": [_common(force, writer) for force in scene.forces],
        "outflows": [_obstacle_table(outflow, writer) for outflow in scene.outflows],
        "cache": table_of(scene.cache),
    }
    return {key: value for key, value in table.items() if value != []}


def _domain_table(domain: Domain) -> dict[str, Any]:
    if domain.kind == "unbounded":
        return {"kind": "unbounded"}
    return {**table_of(domain), "sides": {name: table_of(side) for name, side in domain.sides.items()}}


def _emitter_table(emitter: Emitter, writer: PackageWriter) -> dict[str, Any]:
    table = {"material": emitter.material, "shape": writer.shape(emitter.shape, emitter.name), **_common(emitter, writer)}
    return table if emitter.painting is None else {**table, "painting": writer.painting(emitter.painting, emitter.name)}


def _obstacle_table(obstacle: Collider | Outflow, writer: PackageWriter) -> dict[str, Any]:
    return {"shape": writer.shape(obstacle.shape, obstacle.name), **_common(obstacle, writer)}


def _common(thing: Emitter | Collider | Outflow | Force, writer: PackageWriter) -> dict[str, Any]:
    """Name, parameters and change over time."""
    table = {"name": thing.name, **table_of(thing)}
    if thing.motion is not None:
        table["motion"] = writer.motion(thing.motion, thing.name)
    if thing.animation is not None:
        table["animation"] = writer.animation(thing.animation, thing.name)
    return table


def _material_table(material: Material, writer: PackageWriter) -> dict[str, Any]:
    table = {"law": material.law.name, **table_of(material.law)}
    return table if material.animation is None else {**table, "animation": writer.animation(material.animation, material.name)}


def _solver_table(solver: Solver, writer: PackageWriter) -> dict[str, Any]:
    table = {**table_of(solver), "time_step": solver.time_step or "auto"}
    return table if solver.animation is None else {**table, "animation": writer.animation(solver.animation, "solver")}


def _slug(text: str) -> str:
    """A file name that every system takes."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40] or "arrays"
