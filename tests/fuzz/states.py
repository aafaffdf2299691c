"""Files of caches whose particles tear, melt, and whose bodies break: those of the upgrade tests, so that nothing is simulated first.

Whatever of a wrong checkpoint is accepted must also run, because kernels do not check indices.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import zstandard

from mpm_addon.core.errors import CacheError, UnstableError
from mpm_addon.core.particles import Moment
from mpm_addon.core.stepping.simulation import Progress, Simulation
from mpm_addon.storage import open_cache, read_scene
from mpm_addon.storage.cache_writer import last_checkpoint

from .campaign import Format, try_all
from .mutator import ODD_NUMBERS, mutated_container

BAKED = Path(__file__).parents[1] / "upgrade" / "version_1"
# So many substeps of what was accepted are made.
SUBSTEPS = 5


class _EnoughError(Exception):
    """As many substeps as wanted were made."""


def _copy(name: str, pattern: str) -> Callable[[Path], Sequence[Path]]:
    """A cache of the upgrade tests, of which the files of a pattern are made wrong."""

    def write(folder: Path) -> Sequence[Path]:
        shutil.copytree(BAKED / name, folder / "cache")
        scene = folder / "cache" / "takes" / "0001" / "scene" / "scene.toml"
        last = open_cache(folder / "cache").frames[-1]
        # or nothing would be left to simulate
        scene.write_text(scene.read_text().replace(f"frame_end = {last}", f"frame_end = {last + 1}"))
        return sorted((folder / "cache").glob(pattern))

    return write


def check_frames(folder: Path) -> None:
    """Everything that is read of frames with bonds, temperatures or pieces."""
    cache = open_cache(folder / "cache")
    states = [partial(_check_state, cache, moment) for moment in cache.moments]
    try_all(lambda: list(cache.damaged()), lambda: _check_pieces(cache.pieces()), *states)


def _check_state(cache: Any, moment: Moment) -> None:
    frame, bonds = cache.state(moment), cache.bonds_at(moment)
    for name in frame.attributes:
        assert len(frame.attribute(name)) == len(frame.id)
    assert bonds.pairs.shape == (len(bonds), 2) and len(bonds.parted) == len(bonds)
    assert bonds.pairs.min(initial=0) >= 0


def _check_pieces(pieces: dict[str, Any]) -> None:
    for _, piece in pieces.values():
        assert np.isfinite(piece.vertices).all() and len(piece.triangles) == len(piece.is_inside)
        assert 0 <= piece.triangles.min(initial=0) <= piece.triangles.max(initial=0) < len(piece.vertices)


def check_going_on(folder: Path) -> None:
    """Some substeps of a bake that goes on from the checkpoint, if it is accepted. It may become unstable, in one line."""
    found = last_checkpoint(open_cache(folder / "cache").takes[-1], 99)
    if found is None:
        raise CacheError("it is passed over", subject="the checkpoint")

    def count(progress: Progress) -> None:
        if progress.stage == "simulating" and progress.substeps > first + SUBSTEPS:
            raise _EnoughError

    first = int(np.ravel(found[1].get("substeps", 0))[0]) if "substeps" in found[1] and found[1]["substeps"].size else 0
    try:
        for _ in Simulation(read_scene(folder / "cache" / "takes" / "0001" / "scene"), snapshot=found[1], report=count).frames():
            pass
    except _EnoughError:
        return
    except UnstableError as error:
        assert str(error).isprintable()


def mutated_values(data: bytes, random: Random, others: Sequence[bytes] = ()) -> bytes:
    """A checkpoint of which one to three numbers are others, in arrays that keep their types and sizes; sometimes wrong as a container."""
    if random.random() < 0.3:
        return mutated_container(data, random, others)
    packer = zstandard.ZstdCompressor(level=1, write_checksum=True, write_content_size=True)
    end = 12 + int.from_bytes(data[8:12], "little")
    header, sections = json.loads(zstandard.decompress(data[12:end])), []
    for size, _ in header["sections"]:
        sections.append(bytearray(zstandard.decompress(data[end : end + size])))
        end += size
    for _ in range(random.choice((1, 1, 2, 3))):
        table = random.choice(list(header["arrays"].values()))
        numbers = np.frombuffer(sections[table["section"]], np.dtype(table.get("dtype", "u1")))
        if numbers.size:
            place = random.randrange(numbers.size)
            with np.errstate(all="ignore"):
                numbers[place] = np.array(random.choice((*ODD_NUMBERS, 2.0, 100.0, 2.0**31, numbers[place] * -1.5))).astype(numbers.dtype)
    packed = [packer.compress(bytes(section)) for section in sections]
    header["sections"] = [[len(small), len(section)] for small, section in zip(packed, sections, strict=True)]
    text = packer.compress(json.dumps(header).encode())
    return b"".join((b"MPMCACHE", len(text).to_bytes(4, "little"), text, *packed))


STATES = (
    Format("frame_of_bonds.mpm", _copy("torn", "takes/*/frames/*"), check_frames, mutated_container),
    Format("births_of_bonds.mpm", _copy("torn", "takes/*/births/*"), check_frames, mutated_container),
    Format("frame_of_heat.mpm", _copy("melting", "takes/*/frames/*"), check_frames, mutated_container),
    Format("frame_of_pieces.mpm", _copy("brick", "takes/*/frames/*"), check_frames, mutated_container),
    Format("state_of_fragments", _copy("broken", "takes/*/checkpoints/*"), check_going_on, mutated_values),
    Format("state_of_heat", _copy("melting", "takes/*/checkpoints/*"), check_going_on, mutated_values),
    Format("state_of_pieces", _copy("brick", "takes/*/checkpoints/*"), check_going_on, mutated_values),
)
