"""Keeps frames and the objects that show them together when the file is saved for the first time, saved elsewhere, or appended from.

- An unsaved file is saved: its frames move from the temporary folder to a folder beside it, once the save has succeeded. An existing
  cache is kept, and the frames get another name. While a bake is running, they wait for the next save.
- A file is saved in another folder: its objects keep showing the frames where they are, and new bakes go beside the new file.
- An object is appended from another file: it keeps showing the same frames.

Handlers never raise; what fails becomes a message for the panel, and is printed.
"""

import contextlib
import errno
import os
import shutil
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import bpy
from bpy.app.handlers import persistent

from ...core.errors import CacheError
from ...core.messages import NOTHING, Message, one_line
from ...storage import open_cache
from ...storage.disk import folder_size, free_space
from ...storage.lock import is_held
from ...storage.status import read_status
from ...storage.take import KINDS
from ..host.blender_types import BlenderObject, BlenderScene
from ..host.registrar import Registrar
from ..host.runtime import OfFile, runtime
from ..host.wording import in_blender
from ..playback import keyframes
from ..settings import paths
from . import derived_processes, session, unstable


class Change(NamedTuple):
    """A path that was changed for the file being saved, and its earlier value."""

    owner: Any
    name: str
    before: str
    is_custom: bool


class Move(NamedTuple):
    """Frames that move to another folder once the file is saved."""

    source: Path
    target: Path
    shown: str  # as Blender stores the target


@dataclass
class Saving(OfFile):
    """Changes made by a save, undone if it fails or only saves a copy; frames to move, and failures."""

    changes: list[Change] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    notices: list[Message] = field(default_factory=list)


def notices(scene: BlenderScene) -> list[Message]:
    """Notices about the location of frames: failures of a save, and frames that are not beside the file."""
    found = list(runtime.of(Saving).notices)
    for item in _showing(scene.objects):
        if paths.library_of(item) is not None:
            continue
        own, shown = paths.own_folder(item), paths.shown_folder(item)
        if own != shown:
            found.append(Message(f"it shows the frames in {shown}, because there are none in {own}", (), f'"{item.name}"'))
        elif item.mpm.home:
            found.append(Message(f"it shows the frames in {shown}, and new bakes go to {item.mpm.home}", (), f'"{item.name}"'))
        elif paths.is_unsaved(own) and bpy.data.filepath and paths.holds_cache(own):
            found.append(Message(f"The frames are in {own}", ("save the file again to move them next to it",)))
    return found


def _showing(items: Any) -> list[BlenderObject]:
    return [item for item in items if item.mpm.cache]


def _notice(message: Message) -> None:
    runtime.of(Saving).notices.append(message)


def _set(owner: Any, name: str, value: str) -> None:
    before = getattr(owner, name)
    if before != value:
        runtime.of(Saving).changes.append(Change(owner, name, before, is_custom=False))
        setattr(owner, name, value)


def _rename_results(folder: Path, shown: str) -> None:
    """Update the folder in other results of a bake in the file."""
    for blocks, key in ((bpy.data.objects, unstable.CACHE), (bpy.data.actions, keyframes.CACHE)):
        for block in blocks:
            if block.library is None and key in block and paths.absolute(str(block[key])) == folder and block[key] != shown:
                runtime.of(Saving).changes.append(Change(block, key, block[key], is_custom=True))
                block[key] = shown


@persistent
def _on_save_pre(path: str = "", _unused: Any = None) -> None:
    """Store paths in the file that are correct at its destination."""
    runtime.forget(Saving)
    if not path:  # the startup file
        return
    target = Path(path).absolute().parent
    for item in _showing(bpy.data.objects):
        if item.library is not None or item.override_library is not None:
            continue
        paths.adopt(item)
        folder = paths.shown_folder(item)
        if paths.is_unsaved(folder):
            _bring_along(item, folder, target, Path(path).stem)
        elif item.mpm.cache.startswith("//") and paths.file_folder() not in (None, target):
            _keep(item, folder, target)
        if paths.holds_cache(folder):
            _set(item.mpm, "folder", str(folder))


def _keep(item: BlenderObject, folder: Path, target: Path) -> None:
    """The file moves to another folder without its frames."""
    beside = Path(os.path.normpath(target / item.mpm.cache[2:]))
    if beside != folder and paths.holds_cache(folder) and not _is_copy(beside, folder):
        _set(item.mpm, "home", item.mpm.home or item.mpm.cache)
        _set(item.mpm, "cache", paths.written(folder, target))
        _rename_results(folder, item.mpm.cache)


def _is_copy(folder: Path, of: Path) -> bool:
    """Whether a folder contains the same bake, as in a copied project."""
    try:
        return open_cache(folder).manifest == open_cache(of).manifest
    except (CacheError, OSError):
        return False


def _bring_along(item: BlenderObject, folder: Path, target: Path, stem: str) -> None:
    """Move the frames of an unsaved file beside it."""
    wanted = _wanted(folder)
    if not paths.holds_cache(folder):
        _set(item.mpm, "cache", f"//{wanted}")
        return
    move = next((move for move in runtime.of(Saving).moves if move.source == folder), None)
    if move is None:
        refusal = _refusal(folder, target)
        if refusal:
            _notice(refusal)
            return
        name = _free_name(target, wanted, stem)
        move = Move(folder, target / name, f"//{name}")
        runtime.of(Saving).moves.append(move)
        _rename_results(folder, move.shown)
        if name != wanted:
            _notice(Message(f"it already exists, so the frames of this file go to {target / name}", (), str(target / wanted)))
            scenes: Any = bpy.data.scenes
            for scene in scenes:
                if scene.library is None and scene.mpm.cache == f"//{wanted}" and scene.objects.get(item.name) == item:
                    _set(scene.mpm, "cache", move.shown)
    _set(item.mpm, "cache", move.shown)


def _wanted(folder: Path) -> str:
    """The cache folder for the frames of an unsaved file, relative to the file: from the scene's settings, else from their current name."""
    scenes: Any = bpy.data.scenes
    for scene in scenes:
        cache = scene.mpm.cache
        if cache.startswith("//") and paths.temporary_name(cache) == folder.name:
            return cache[2:].strip("/\\") or folder.name
    return folder.name


def _free_name(target: Path, name: str, stem: str) -> str:
    """An unused name in a folder: the cache's own, else with the file's name, else with a number."""
    taken = {move.target for move in runtime.of(Saving).moves}
    candidates = [name, f"{name}_{stem}", *(f"{name}_{stem}_{number}" for number in range(2, 1000))]
    return next(each for each in candidates if not os.path.lexists(target / each) and target / each not in taken)


def _refusal(folder: Path, target: Path) -> Message:
    """Why frames cannot move to a folder now; `NOTHING` if they can."""
    subject = f"The frames stay in {folder}"
    running, status = session.current(), read_status(folder)
    is_live = is_held(folder, {"host": socket.gethostname()})  # a live simulation leaves no status
    if (running is not None and running.folder == folder) or (status is not None and status.is_live) or is_live:
        return Message("a bake is writing to it", ("save again after the bake to move them next to the file",), subject)
    for making in filter(None, map(derived_processes.current, KINDS)):
        if making.folder == folder and not making.is_finished:
            return Message(f"its {making.kind} is being made", ("save again afterward to move them next to the file",), subject)
    try:
        is_near = target.stat().st_dev == folder.stat().st_dev
        size = 0 if is_near else folder_size(folder)
    except OSError as error:
        remedy = f"check the permissions of {target} and save again"
        return Message(f"they cannot be moved ({error.strerror})", (remedy,), subject)
    room = free_space(target)
    if room is not None and size > 0.95 * room:
        problem = f"they need {size / 1e9:.3g} GB and {target} has {room / 1e9:.3g} GB free"
        return Message(problem, ("free disk space and save again",), subject)
    if not os.access(target, os.W_OK):
        return Message(f"{target} cannot be written", ("save the file to another folder",), subject)
    return NOTHING


@persistent
def _on_save_post(path: str = "", _unused: Any = None) -> None:
    if not path or Path(path).absolute() != Path(bpy.data.filepath).absolute():
        _take_back()  # a saved copy: the open file has not moved
        return
    saving = runtime.of(Saving)
    saving.changes.clear()
    for move in saving.moves:
        _carry_out(move)
    saving.moves.clear()
    for notice in saving.notices:
        print(f"mpm: {in_blender(notice)}", flush=True)


@persistent
def _on_save_failed(_path: str = "", _unused: Any = None) -> None:
    _take_back()


def _take_back() -> None:
    saving = runtime.of(Saving)
    runtime.forget(Saving)
    for change in reversed(saving.changes):
        if change.is_custom:
            change.owner[change.name] = change.before
        else:
            setattr(change.owner, change.name, change.before)


def _carry_out(move: Move) -> None:
    """Move frames. If that fails, they stay, are shown from where they are, and the next save tries again."""
    try:
        move_folder(move.source, move.target)
    except OSError as error:
        reason = one_line(error.strerror or str(error))
        problem = f"they could not be moved to {move.target} ({reason})"
        _notice(Message(problem, ("save again to try again",), f"The frames stay in {move.source}"))
        return
    runtime.of(paths.Places).moved[move.source] = move.target
    with contextlib.suppress(OSError):  # it contains other caches
        move.source.parent.rmdir()


def move_folder(source: Path, target: Path) -> None:
    """Move a folder to a path that does not exist, completely or not at all. Raises OSError."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "it already exists", str(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        source.rename(target)
        return
    except OSError:  # another disk
        partial = target.with_name(f"{target.name}.partial")
    try:
        shutil.copytree(source, partial, symlinks=True)
        partial.rename(target)
    except OSError:  # includes shutil's own error
        shutil.rmtree(partial, ignore_errors=True)
        raise
    shutil.rmtree(source, ignore_errors=True)


@persistent
def _on_load(_path: str = "", _unused: Any = None) -> None:
    paths.begin_file(_showing(bpy.data.objects))


@persistent
def _on_import(_context: Any = None, _unused: Any = None) -> None:
    for item in _showing(bpy.data.objects):
        paths.adopt(item)


def register(registrar: Registrar) -> None:
    lists = bpy.app.handlers
    registrar.member(lists.load_post, _on_load)
    registrar.member(lists.save_pre, _on_save_pre)
    registrar.member(lists.save_post, _on_save_post)
    registrar.member(lists.save_post_fail, _on_save_failed)
    registrar.import_handler(_on_import)  # in older versions, `particle_objects` does it when it first shows an object
