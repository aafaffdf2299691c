"""The folder of a publication, in which a new one takes the place of an earlier one, or leaves it as it was."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import MpmError
from ...storage.atomic import write_atomically
from ...storage.installation import version
from ...storage.take import KINDS
from .particle_files import cannot_write
from .published_objects import POINTS

MANIFEST = "published.json"
KIND = "mpm_addon publication"
# where the earlier publication is while a new one is made, and afterward
_EARLIER, _REPLACED = f"{MANIFEST}.earlier", f"{MANIFEST}.replaced"


@contextmanager
def replacing(folder: Path, blend: Path) -> Iterator[None]:
    """Makes the folder for a publication, whose manifest the block writes last. An earlier one is put back if the block fails.

    Args:
        folder: new, empty, or an earlier publication, also one that was interrupted.
        blend: the file that the new publication will have in it.

    Raises:
        MpmError: the folder contains anything else, or cannot be written.
    """
    if blend.exists() and Path(bpy.data.filepath).exists() and blend.samefile(bpy.data.filepath):
        raise MpmError("it is the folder of the open file", "choose another folder", subject=str(folder))
    earlier = folder / _EARLIER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if earlier.is_dir():
            _recover(folder, blend)
        shutil.rmtree(folder / _REPLACED, ignore_errors=True)
        if any(folder.iterdir()):
            _put_aside(folder)
    except OSError as error:
        raise cannot_write(folder, error) from error
    try:
        yield
    except BaseException:
        _recover(folder, blend)
        raise
    if earlier.is_dir():
        _discard(folder)


def write_manifest(folder: Path, content: dict[str, Any]) -> None:
    """Write the file that marks the folder as a publication. Raises MpmError."""
    manifest = {"kind": KIND, "schema": 1, **content, "versions": {"mpm_addon": version(), "blender": bpy.app.version_string}}
    data = json.dumps(manifest, indent=1).encode()
    try:
        write_atomically(folder / MANIFEST, lambda file: file.write(data))
    except OSError as error:
        raise cannot_write(folder / MANIFEST, error) from error


def _put_aside(folder: Path) -> None:
    """Move a publication into its subfolder. Raises MpmError without a manifest, and OSError."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        raise MpmError("it contains other files", "choose a new or empty folder", subject=str(folder))
    # a manifest may come from anyone: nothing outside the folder is moved
    blends = [name for name in (manifest.get("blend"),) if isinstance(name, str) and Path(name).name == name]
    (folder / _EARLIER).mkdir()
    try:
        # the manifest last: while it is in the folder, nothing new is
        for name in (*blends, POINTS, *KINDS, MANIFEST):
            if (folder / name).exists():
                (folder / name).rename(folder / _EARLIER / name)
    except OSError:
        _put_back(folder)
        raise


def _recover(folder: Path, blend: Path) -> None:
    """Leave the folder with the newest whole publication, wherever making another one has ended."""
    earlier = folder / _EARLIER
    if (folder / MANIFEST).exists() and (earlier / MANIFEST).exists():
        _discard(folder)
        return
    if not earlier.is_dir() or (earlier / MANIFEST).exists():
        if blend.is_file():
            blend.unlink()
        for name in (POINTS, *KINDS):
            shutil.rmtree(folder / name, ignore_errors=True)
    if earlier.is_dir():
        _put_back(folder)


def _put_back(folder: Path) -> None:
    """Move what was put aside back, the manifest first: once it is in the folder, nothing there is deleted."""
    for path in sorted((folder / _EARLIER).iterdir(), key=lambda path: path.name != MANIFEST):
        path.rename(folder / path.name)
    (folder / _EARLIER).rmdir()


def _discard(folder: Path) -> None:
    """Delete what was put aside."""
    (folder / _EARLIER).rename(folder / _REPLACED)
    # what another program has open stays until the next time
    shutil.rmtree(folder / _REPLACED, ignore_errors=True)
