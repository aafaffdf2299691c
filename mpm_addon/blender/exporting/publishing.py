"""Publishing: a folder with a .blend, USD and OpenVDB files, which plays particles and derived data in a Blender without this extension.

The open file is saved as a copy. A separate Blender without extensions links the objects of the copy to the files and packs
external data, which proves that the copy works there; see `published_file.py`. The open file does not change.
"""

import errno
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import MpmError
from ...core.messages import Message
from ..baking import previews
from ..baking.child import run_script
from ..host.blender_types import BlenderObject, BlenderScene, Context, NodeTree
from ..host.wording import in_blender
from ..playback import particle_objects
from .particle_files import alone_in, cannot_write, missing_frames
from .publication_folder import replacing, write_manifest
from .published_data import MeshWriter, VolumeWriter
from .published_file import ANSWER
from .published_objects import Member, derived_notes, family_of

_SCRIPT = Path(__file__).with_name("published_file.py")


def publish(context: Context, folder: Path) -> list[Message]:
    """Publish the open file.

    Args:
        folder: new, empty, or an earlier publication, which is replaced once the new one is whole.

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
    with replacing(folder, folder / name):
        return _publish(context, folder, folder / name, shown)


def _publish(context: Context, folder: Path, target: Path, shown: Iterable[tuple[BlenderScene, BlenderObject]]) -> list[Message]:
    """Write every file of a publication, the manifest last. Returns warnings to report."""
    notes: list[Message] = []
    jobs: list[dict[str, Any]] = []
    for scene, item in shown:
        made, missing = _write_frames(context, scene, item, folder, len(jobs))
        jobs += made
        notes += missing
    if target.is_dir():
        # 4.2 would rename it as if it were the file's last version
        raise cannot_write(target, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(target), copy=True, check_existing=False)
    except RuntimeError as error:
        raise cannot_write(target, error) from error
    told = {"preview": previews.MARK, "hidden": previews.HIDDEN, "jobs": jobs}
    said = run_script(_SCRIPT, [str(target), json.dumps(told)])
    outside = json.loads(said.rpartition(ANSWER)[2].splitlines()[0])["outside"]
    notes += [Message("it is outside the folder and was not packed", ("copy it to the same path",), path) for path in outside]
    write_manifest(folder, {"blend": target.name, "objects": jobs, "outside": outside, "notes": [in_blender(note) for note in notes]})
    return notes


def _write_frames(
    context: Context, scene: BlenderScene, item: BlenderObject, folder: Path, count: int
) -> tuple[list[dict[str, Any]], list[Message]]:
    """Write a file per object and frame, so that a render node reads only what it renders and memory holds a single frame.

    Args:
        count: the number of objects written before.

    Returns:
        The jobs of the published file's script, and warnings to report.
    """
    first, last = scene.frame_start, scene.frame_end
    groups: list[NodeTree] = []
    try:
        with family_of(scene, item, groups) as family, alone_in(context, family.scene):
            writers = [_writer(member, folder, count + number) for number, member in enumerate(family.members)]
            said = {}
            for frame in range(first, last + 1):
                said[frame] = family.go_to(frame)
                for writer in writers:
                    with family.only(writer.member):
                        writer.write(frame, first)
            rate = particle_objects.frame_rate(scene)
            jobs = [{**writer.job(), "scene": scene.name, "first": first, "last": last, "rate": rate} for writer in writers]
    except (OSError, RuntimeError) as error:
        raise cannot_write(folder, error) from error
    finally:
        for group in groups:
            bpy.data.node_groups.remove(group)
    # without any frame, its cache cannot be read, which is the only thing to report
    return jobs, [*missing_frames(item, said), *([] if all(said.values()) else derived_notes(scene, item))]


def _writer(member: Member, folder: Path, number: int) -> "MeshWriter | VolumeWriter":
    subfolder = f"{member.kind}/{number + 1:02d}_{bpy.path.clean_name(member.source.name)}"
    (folder / subfolder).mkdir(parents=True, exist_ok=True)
    return VolumeWriter(member, folder, subfolder) if member.is_volume else MeshWriter(member, folder, subfolder)
