"""Files of a cache that were cut short or changed: readers find the damage, their advice repairs it, and no intact data is lost."""

import random
import re
import shutil
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mpm_addon.core.errors import CacheError, UnstableError
from mpm_addon.storage import open_cache
from mpm_addon.storage.failure import read_failure, summary
from mpm_addon.storage.status import read_status
from mpm_addon.storage.takes import describe_takes, show_take
from tests.faults.kills import fingerprint
from tests.storage import stand_in
from tests.storage.stand_in import bake_here, write_small_scene

TAKE = "takes/0001/"
# One file of every kind.
FILES = [
    "cache.json", "status.json", "failure.npz", "lock", TAKE + "take.json", TAKE + "journal.jsonl", TAKE + "scene/scene.toml",
    TAKE + "frames/frame_000002.mpm", TAKE + "frames/frame_000003_1of2.mpm", TAKE + "births/0000000200_0000000230.mpm",
    TAKE + "checkpoints/frame_000003.mpm",
]  # fmt: skip


def flip(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "empty": lambda _content, _chance: b"",
    "half": lambda content, _chance: content[: len(content) // 2],
    "cut by two bytes": lambda content, _chance: content[:-2],
    "zeros at its end, as after a power cut": lambda content, _chance: (
        content[: len(content) // 2] + bytes(len(content) - len(content) // 2)
    ),
    "first flip": flip,
    "second flip": flip,
    "third flip": flip,
}


class Baked:
    """A cache whose last frame is still missing, what its bake would give, and what a reader sees."""

    def __init__(self, folder: Path) -> None:
        self.scene = write_small_scene(folder / "scene", frame_end=4, subframes=1, checkpoint_interval=2)
        self.folder = folder / "part"
        bake_here(self.scene, folder / "whole")
        self.whole = fingerprint(folder / "whole")
        simulation = sys.modules[stand_in.MODULE].Simulation
        simulation.fails_at = 4
        with pytest.raises(UnstableError):
            bake_here(self.scene, self.folder)
        simulation.fails_at = None
        failure = read_failure(self.folder)
        assert failure is not None
        self.failure = summary(failure)
        (self.folder / "lock").write_text('{"host": "elsewhere", "pid": 1, "token": "a"}')
        cache = open_cache(self.folder)
        self.frames = {moment: cache.state(moment) for moment in cache.moments}
        assert len(self.frames) == 6


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Baked:
    with pytest.MonkeyPatch.context() as patch:

        class Simulation(stand_in.Simulation):
            inflow = 30

        patch.setitem(sys.modules, stand_in.MODULE, stand_in.module(Simulation))
        return Baked(tmp_path_factory.mktemp("baked"))


def complaints(cache: Path, baked: Baked) -> list[str]:
    """What a reader says; whatever it reads nevertheless must be right."""
    said: list[str] = []

    def tried(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except CacheError as error:
            said.append(str(error))
            return None

    read_status(cache)
    failure = tried(lambda: read_failure(cache))
    assert failure is None or summary(failure) == baked.failure
    tried(lambda: describe_takes(cache))
    opened = tried(lambda: open_cache(cache))
    if opened is not None:
        said += [message.text() for message in opened.damaged()]
        for moment in opened.moments:
            frame, right = tried(lambda moment=moment: opened.state(moment)), baked.frames[moment]
            if frame is not None:
                assert {name: array.tobytes() for name, array in frame.arrays.items()} == {
                    name: array.tobytes() for name, array in right.arrays.items()
                }
    assert not [line for line in said if "\n" in line or str(cache) not in line]
    return said


def follow(advice: str) -> None:
    """Do what an error says: delete the file that it names."""
    named = re.match(r"(\S+?):? (?:(\S+\.mpm): )?", advice)
    assert named and "delete this file" in advice, advice
    path = Path(named[1].removesuffix(":"))
    (path / named[2] if named[2] else path).unlink()


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_found_and_what_is_advised_heals_it(
    name: str, baked: Baked, tmp_path: Path, stand_in_simulation: type[stand_in.Simulation]
) -> None:
    stand_in_simulation.inflow = 30
    for number, (kind, damage) in enumerate(DAMAGES.items()):
        cache = tmp_path / str(number)
        shutil.copytree(baked.folder, cache)
        path = cache / name
        path.write_bytes(damage(path.read_bytes(), random.Random(zlib.crc32((name + kind).encode()))))
        said = complaints(cache, baked)
        if path.parent.name in ("frames", "births") or path.name in ("cache.json", "take.json"):
            assert said, f"{kind}: nobody says that {name} is damaged"
        try:
            bake_here(baked.scene, cache)
        except CacheError as error:
            assert "\n" not in str(error)
            if path.name == "cache.json":
                assert "show one of its takes to rewrite it" in str(error)
                show_take(cache, 1)
            else:
                # what the frames are of is not known any more
                assert path.name == "take.json" and "bake again with --restart" in str(error)
                bake_here(baked.scene, cache, restart=True)
        for advice in open_cache(cache).damaged():
            follow(advice.text())
        bake_here(baked.scene, cache)
        assert list(open_cache(cache).damaged()) == [], kind
        assert fingerprint(cache) == baked.whole, kind
