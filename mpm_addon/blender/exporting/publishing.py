"""Publishing: a folder with a .blend and USD files, which plays the particles in a Blender without this extension.

The open file is saved as a copy. A separate Blender without extensions links the particle objects of the copy to the files and packs
external data, which proves that the copy works there; see `published_file.py`. The open file does not change.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import MpmError
from ...core.messages import Message
from ...storage.atomic import write_atomically
from ...storage.installation import version
from ..baking import previews
from ..baking.child import run_script
from ..host.blender_types import BlenderMesh, BlenderObject, BlenderScene, Context
from ..host.wording import in_blender
from ..playback import fog_objects, particle_objects, skin_objects, surface_objects, swarm_objects, volume_objects
from .particle_files import alone_in, cannot_write, missing_frames, pass_through, stand_in, write_usd
from .published_file import ANSWER, Split, split_attributes

POINTS = "points"
MANIFEST = "published.json"
KIND = "mpm_addon publication"
_SCRIPT = Path(__file__).with_name("published_file.py")
# Attributes that USD, or Blender's USD reader, changes in some version: type -> the vector and the number that store their parts.
_SPLIT = {"QUATERNION": (True, True), "FLOAT_COLOR": (True, True), "FLOAT2": (True, False)}
# Of the other attributes, names that USD does not allow.
_RENAMED = {"FLOAT": (False, True), "FLOAT_VECTOR": (True, False)}


def publish(context: Context, folder: Path) -> list[Message]:
    """Publish the open file.

    Args:
        folder: new, empty, or an earlier publication, which is replaced.

    Returns:
        Warnings to report: frames that were not baked, and files outside the folder.

    Raises:
        MpmError: the file was never saved, nothing shows a cache, the folder contains other files, or the copy could not be made.
    """
    if not bpy.data.filepath:
        raise MpmError("The file is not saved", "save it first, then publish it")
    shown = [(scene, item) for scene in bpy.data.scenes for item in particle_objects.result_objects(scene) if not previews.is_preview(item)]
    if not shown:
        raise MpmError("Nothing to publish: no object shows a cache, except previews", "bake first")
    for _, item in shown:
        if item.library is not None:
            subject, remedy = f'"{item.name}"', "publish that file, or make the object local"
            raise MpmError(f"it is linked from {item.library.filepath}", remedy, subject=subject)
    name = Path(bpy.data.filepath).name
    _prepare(folder, folder / name)
    notes: list[Message] = []
    jobs = []
    for number, (scene, item) in enumerate(shown):
        subfolder = f"{POINTS}/{number + 1:02d}_{bpy.path.clean_name(item.name)}"
        job, missing = _write_frames(context, scene, item, folder / subfolder)
        jobs.append({**job, "folder": subfolder})
        notes += missing
    target = folder / name
    bpy.ops.wm.save_as_mainfile(filepath=str(target), copy=True, check_existing=False)
    try:
        surfaces = [surface for _, item in shown if (surface := surface_objects.surface_of(item)) is not None and surface.library is None]
        skins = [skin for _, item in shown for _, _, skin in skin_objects.skins_of(item, is_any=True)]
        volumes = [volume for _, item in shown if (volume := volume_objects.volume_of(item)) is not None and volume.library is None]
        swarms = [(kind, each) for _, item in shown for kind in swarm_objects.NAMES for each in _swarms_of(item, kind)]
        derived = [each.name for each in (*surfaces, *skins, *volumes, *(each for _kind, each in swarms))]
        told = {"preview": previews.MARK, "hidden": previews.HIDDEN, "derived": derived, "jobs": jobs}
        said = run_script(_SCRIPT, [str(target), json.dumps(told)])
        outside = json.loads(said.rpartition(ANSWER)[2].splitlines()[0])["outside"]
    except MpmError:
        target.unlink(missing_ok=True)
        raise
    notes += [Message("it is not published", ("export it as Alembic or USD",), f'"{skin.name}"') for skin in skins]
    notes += [Message("it is not published", ("export the volumes as OpenVDB files",), f'"{volume.name}"') for volume in volumes]
    notes += [Message("it is not published", (f"export the {kind} as PLY or NPZ files",), f'"{each.name}"') for kind, each in swarms]
    notes += [Message("it is outside the folder and was not packed", ("copy it to the same path",), path) for path in outside]
    _write_manifest(folder, {"blend": name, "objects": jobs, "outside": outside, "notes": [in_blender(note) for note in notes]})
    return notes


def _swarms_of(item: BlenderObject, kind: str) -> list[BlenderObject]:
    """The objects that show the foam or debris of a particle object."""
    found = (swarm_objects.swarm_of(item, kind), fog_objects.fog_object_of(item, kind))
    return [each for each in found if each is not None and each.library is None]


def _prepare(folder: Path, blend: Path) -> None:
    """Make the folder, or empty it of an earlier publication. Raises MpmError if it contains anything else."""
    if blend.exists() and Path(bpy.data.filepath).exists() and blend.samefile(bpy.data.filepath):
        raise MpmError("it is the folder of the open file", "choose another folder", subject=str(folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            _check_manifest(folder)
            shutil.rmtree(folder / POINTS, ignore_errors=True)
    except OSError as error:
        raise cannot_write(folder, error) from error


def _check_manifest(folder: Path) -> None:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        raise MpmError("it contains other files", "choose a new or empty folder", subject=str(folder))


def _write_manifest(folder: Path, content: dict[str, Any]) -> None:
    manifest = {"kind": KIND, "schema": 1, **content, "versions": {"mpm_addon": version(), "blender": bpy.app.version_string}}
    data = json.dumps(manifest, indent=1).encode()
    write_atomically(folder / MANIFEST, lambda file: file.write(data))


def _write_frames(context: Context, scene: BlenderScene, item: BlenderObject, folder: Path) -> tuple[dict[str, Any], list[Message]]:
    """Write one USD file per frame, so that a render node reads only what it renders and memory holds a single frame."""
    first, last = scene.frame_start, scene.frame_end
    group = pass_through()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with stand_in(scene, item, group) as alone, alone_in(context, alone.scene):
            said, splits = {}, None
            for frame in range(first, last + 1):
                said[frame] = alone.go_to(frame)
                if splits is None and len(alone.item.data.vertices):
                    splits = splits_of(alone.item.data)
                    split_attributes(group, splits)
                write_usd(folder / f"frame_{frame:06d}.usdc", is_animated=False)
            name = alone.item.name, alone.item.data.name
    except (OSError, RuntimeError) as error:
        raise cannot_write(folder, error) from error
    finally:
        bpy.data.node_groups.remove(group)
    job = {
        "object": item.name,
        "scene": scene.name,
        "first": first,
        "last": last,
        "prim": name,
        "rate": particle_objects.frame_rate(scene),
        "splits": splits or [],
    }
    return job, missing_frames(item, said)


def splits_of(mesh: BlenderMesh) -> list[Split]:
    """How to split the attributes of a mesh that cannot be written unchanged."""
    splits = []
    for index, attribute in enumerate(mesh.attributes):
        is_plain = re.fullmatch(r"[A-Za-z]\w*", attribute.name, re.ASCII) is not None
        parts = _SPLIT.get(attribute.data_type, None if is_plain else _RENAMED.get(attribute.data_type))
        if parts is not None and attribute.domain == "POINT" and not attribute.name.startswith("."):
            names = [f"mpm_{index}_{part}" if is_there else "" for part, is_there in zip(("vector", "number"), parts, strict=True)]
            splits.append((attribute.name, attribute.data_type, *names))
    return splits
