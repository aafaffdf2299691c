"""Writing a cache, so that a bake killed at any moment loses nothing that was good and resumes to the same bytes.

For each frame, in this order: its file, its line in the journal, the checkpoint. Whatever a crash cuts off is made
again from the checkpoint before it, and comes out the same.
"""

import contextlib
import importlib.metadata
import json
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.description import Scene
from ..core.errors import CacheError
from ..core.particles import Frame, frame_attributes
from .arrays import ArrayFileError, read_arrays, write_arrays
from .atomic import TEMPORARY_SUFFIX, write_atomically
from .cache import CACHE_KIND, CACHE_SCHEMA, FRAMES, JOURNAL, MANIFEST, Cache, frame_name, read_manifest
from .frame_file import write_frame
from .installation import version
from .scene_writer import scene_hash, write_scene

CHECKPOINT = "checkpoint.npz"
STATUS = "status.json"
CANCEL = "cancel"
SCENE = "scene"

# In a checkpoint beside the solver's arrays; no array of a snapshot begins with an underscore.
_CHECKPOINT_FRAME = "_frame"
_CHECKPOINT_HASH = "_scene_hash"

Snapshot = dict[str, NDArray[Any]]


class CacheWriter:
    """The writing side of one cache.

    Attributes:
        cache: the reading side.
        is_replacing: whether frames of an earlier bake are still there, to be removed by `begin`.
    """

    def __init__(self, folder: Path, scene: Scene) -> None:
        self.cache = Cache(folder, manifest_of(scene))
        self.is_replacing = False
        self._folder = folder
        self._hash: str = self.cache.manifest["scene_hash"]
        self._checkpoint_frame: int | None = None

    def prepare(self, scene: Scene, *, restart: bool) -> None:
        """Make the folder ready: check that it is free or holds this scene's frames, and note what is baked.

        Frames that a restart replaces stay, with their scene, until `begin`: a bake that fails before its first frame
        must not cost them.

        Args:
            scene: the scene that will be baked.
            restart: whether to replace what an earlier bake left.

        Raises:
            CacheError: the folder is a file, holds another scene or foreign files, or cannot be written.
        """
        if self._folder.exists() and not self._folder.is_dir():
            raise CacheError(f"{self._folder}: is a file, not a folder; give another cache folder or remove the file.")
        with _writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._check(restart=restart)
            for place in (self._folder, self._folder / FRAMES, self._folder / SCENE):
                _remove_temporaries(place)
            (self._folder / CANCEL).unlink(missing_ok=True)
        self.is_replacing = restart and bool(self.cache.moments)
        if not self.is_replacing:
            self.begin(scene)

    def begin(self, scene: Scene) -> None:
        """Remove what is replaced and note what is baked. Raises CacheError."""
        with _writing(self._folder):
            if self.is_replacing or not self.cache.moments:
                remove_frames(self._folder)
            self.is_replacing = False
            write_scene(scene, self._folder / SCENE)
            text = json.dumps(dict(self.cache.manifest), indent=1) + "\n"
            write_atomically(self._folder / MANIFEST, lambda file: file.write(text.encode()))
            (self._folder / FRAMES).mkdir(exist_ok=True)
            self._mend_journal()

    def write_frame(self, frame: Frame) -> None:
        """Keep a frame or a state between two. Raises CacheError."""
        with _writing(self._folder):
            write_frame(self._folder / FRAMES / frame_name(frame.moment), frame)

    def note(self, frame: Frame, seconds: float) -> None:
        """Note in the journal how long a frame took. Raises CacheError."""
        entry = {"frame": frame.number, "seconds": seconds, "step_seconds": frame.statistics.step_seconds}
        with _writing(self._folder), open(self._folder / JOURNAL, "ab") as file:
            file.write(json.dumps(entry).encode() + b"\n")

    def is_newer(self, number: int) -> bool:
        """Whether frame `number` comes after the one that the checkpoint holds."""
        return self._checkpoint_frame is None or number > self._checkpoint_frame

    def write_checkpoint(self, number: int, snapshot: Snapshot) -> None:
        """Keep the exact state after frame `number`. Raises CacheError."""
        marks = {
            _CHECKPOINT_FRAME: np.array(number),
            _CHECKPOINT_HASH: np.frombuffer(self._hash.encode(), dtype=np.uint8),
        }
        with _writing(self._folder):
            write_arrays(self._folder / CHECKPOINT, {**marks, **snapshot})
        self._checkpoint_frame = number

    def read_checkpoint(self) -> tuple[int, Snapshot] | None:
        """The last frame with its exact state; None where there is none that is whole and of this scene."""
        try:
            arrays = read_arrays(self._folder / CHECKPOINT)
            number = int(arrays.pop(_CHECKPOINT_FRAME))
            owner = arrays.pop(_CHECKPOINT_HASH).tobytes().decode()
        except (OSError, ArrayFileError, KeyError, TypeError, ValueError):
            return None
        if owner != self._hash:
            return None
        self._checkpoint_frame = number
        return number, arrays

    def write_status(self, status: dict[str, Any]) -> None:
        """Tell other processes how far the bake is. Raises CacheError."""
        with _writing(self._folder):
            text = json.dumps(status).encode()
            write_atomically(self._folder / STATUS, lambda file: file.write(text), is_durable=False)

    @property
    def cancel_file(self) -> Path:
        """The file that asks the bake to stop."""
        return self._folder / CANCEL

    def _check(self, *, restart: bool) -> None:
        """Check that nothing of anybody else would be lost. Raises CacheError."""
        if not (self._folder / MANIFEST).exists():
            # the scene alone may be here already: the interface puts it where the bake would copy it
            foreign = [name for name in (FRAMES, JOURNAL, CHECKPOINT, STATUS) if (self._folder / name).exists()]
            if foreign:
                raise CacheError(f'{self._folder}: holds "{foreign[0]}" but no {MANIFEST}: it is no cache; give another folder.')
            return
        manifest = read_manifest(self._folder, must_be_whole=not restart)
        if restart or not self.cache.moments:
            return
        remedy = "use --restart to replace them, or give another cache folder."
        if manifest.get("scene_hash") != self._hash:
            name = manifest.get("scene_name")
            raise CacheError(f'{self._folder}: holds frames of another scene or of other settings ("{name}"); {remedy}')
        baked_by = manifest.get("versions", {}).get("mpm_addon")
        if baked_by != version():
            raise CacheError(
                f"{self._folder}: holds frames of version {baked_by}, this is {version()}, and its frames may differ; {remedy}"
            )

    def _mend_journal(self) -> None:
        """End a line that a crash cut short, so that the next one stands alone."""
        path = self._folder / JOURNAL
        if path.exists() and path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            with open(path, "ab") as file:
                file.write(b"\n")


def remove_frames(folder: Path) -> None:
    """Remove what bakes write into a cache, except its scene, and nothing else. Raises OSError.

    The manifest goes last, so that a removal which is interrupted can be repeated.
    """
    cache = Cache(folder, {})
    for moment in cache.moments:
        cache.state_path(moment).unlink()
    for name in (CHECKPOINT, JOURNAL, STATUS, MANIFEST):
        (folder / name).unlink(missing_ok=True)


def manifest_of(scene: Scene) -> dict[str, Any]:
    """What cache.json says of a scene."""
    return {
        "kind": CACHE_KIND,
        "schema": CACHE_SCHEMA,
        "scene_name": scene.name,
        "scene_hash": scene_hash(scene),
        "fps": scene.time.fps,
        "time_scale": scene.time.time_scale,
        "subframes": scene.time.subframes,
        "frame_start": scene.time.frame_start,
        "frame_end": scene.time.frame_end,
        "dimension": scene.solver.dimension,
        "grid_spacing": scene.solver.grid_spacing,
        "materials": list(scene.materials),
        "emitters": [emitter.name for emitter in scene.emitters],
        "attributes": {name: attribute._asdict() for name, attribute in frame_attributes(scene.carried).items()},
        "versions": {
            "mpm_addon": version(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": importlib.metadata.version("numba"),
        },
    }


def _remove_temporaries(folder: Path) -> None:
    for path in folder.glob(f"*{TEMPORARY_SUFFIX}"):
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn what the system says about a failed write into one line."""
    try:
        yield
    except OSError as error:
        free = f", {shutil.disk_usage(folder).free / 1e9:.1f} GB free" if folder.is_dir() else ""
        raise CacheError(
            f"{folder}: cannot be written ({error.strerror or error}{free}); make room or give another cache folder."
        ) from error
