"""Kills bakes with SIGKILL at random moments, half of them inside writes, and shows that nothing is lost and no byte differs.

    python -m tests.faults.kills KILLS [SEED]

A history is a bake with states between frames and particles that are born on the way, then another scene that goes on after one of
its frames, then a third that replaces everything. Every life of a bake ends by a kill and the next one goes on. While it lives, and
between two lives, readers look at the whole cache. Histories are begun anew until there were enough kills; each must end with the
frames, births and journal of one that was never interrupted.
"""

import hashlib
import json
import mmap
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from mpm_addon.bake import Order, bake
from mpm_addon.core.errors import CacheError
from mpm_addon.storage import open_cache
from mpm_addon.storage.status import read_status
from mpm_addon.storage.takes import describe_takes
from tests.faults.writes import faulty_writes
from tests.storage import stand_in

# A life that is killed inside a write ends at one of so many places in writes; about 15 of them are passed in a frame.
_PLACES = 100
# [s] Within which other lives end, and for which the places in writes hold up, so that many of them end there too.
_LIFE, _SLOWNESS = 0.4, 0.002
# How often one bake of a history is killed before it is left in peace, so that all of them take part.
_MOST_OF_ONE = 8


class Phase(NamedTuple):
    """One bake of a history: of which scene, and how it is called."""

    scene: Path
    options: dict[str, Any]


class Ledger(NamedTuple):
    """What is told at the end: how many kills fell where, and how often readers looked."""

    kills: Counter[str]
    looks: Counter[str]


def phases(folder: Path) -> list[Phase]:
    """The bakes of a history."""
    write = stand_in.write_small_scene
    first = write(folder / "first", frame_end=8, subframes=1, checkpoint_interval=3)
    second = write(folder / "second", frame_end=8, subframes=1, checkpoint_interval=2, seed=1)
    third = write(folder / "third", frame_end=6, seed=2, precision="exact")
    for scene in (first, second, third):
        # few states, so that older ones are thinned out
        name = scene / "scene.toml"
        name.write_text(name.read_text().replace("[cache]", "[cache]\ncheckpoint_count = 2"))
    return [Phase(first, {}), Phase(second, {"from_frame": 5}), Phase(third, {"restart": True})]


def fingerprint(cache: Path) -> dict[str, Any]:
    """What must be equal: hashes of the frames and births of every take, and all that the journals say but durations.

    Takes are counted anew: a restart that is killed before its take is shown leaves a number unused.
    """
    takes = sorted(path for path in (cache / "takes").iterdir() if (path / "take.json").exists())
    found: dict[str, Any] = {"shown": [path.name for path in takes].index(f"{open_cache(cache).take:04d}")}
    for number, take in enumerate(takes):
        for path in [*sorted((take / "frames").iterdir()), *sorted((take / "births").iterdir())]:
            found[f"{number}/{path.parent.name}/{path.name}"] = hashlib.sha256(path.read_bytes()).hexdigest()
        found[f"{number}/journal"] = journal(take / "journal.jsonl")
    return found


def journal(path: Path) -> dict[Any, dict[str, Any]]:
    """What a journal says of every frame and state, but durations. Lines that a kill cut short stand beside whole ones."""
    entries = {}
    for line in path.read_bytes().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        kept = {name: value for name, value in entry.items() if name not in ("seconds", "step_seconds", "crc32")}
        entries[entry["frame"], entry["part"]] = kept
    return entries


def look(cache: Path) -> str:
    """Read all that there is of a cache, as a viewer would, and return whether there was something. Raises AssertionError."""
    read_status(cache)
    manifest = cache / "cache.json"
    before = manifest.read_bytes() if manifest.exists() else None
    if before is None:
        return "no cache"
    try:
        opened = open_cache(cache)
        complaints = [message.text() for message in opened.damaged()]
        for moment in opened.moments[-2:]:
            opened.state(moment)
        describe_takes(cache)
        seen = "frames" if opened.moments else "no frame"
    except CacheError as error:
        seen, complaints = "no frame", [] if "no frame is cached yet" in str(error) else [str(error)]
    # a reader that is overtaken by a restart opens the cache again
    if complaints and manifest.read_bytes() == before:
        raise AssertionError(f"a reader sees {complaints[0]}")
    return seen


def live(phase: Phase, cache: Path, inside: mmap.mmap, fatal_place: int | None) -> None:
    """Bake in this process, which ends by itself at a place inside a write, or is slow there."""
    places = 0

    def fault(name: str, _path: str) -> None:
        nonlocal places
        places += 1
        inside[0] = name != "replaced"
        if places == fatal_place:
            os.kill(os.getpid(), signal.SIGKILL)
        if fatal_place is None:
            time.sleep(_SLOWNESS)
        inside[0] = name in ("open", "write", "flush", "fsync")

    with faulty_writes(fault):
        bake(phase.scene, cache, Order(**phase.options))


def one_life(phase: Phase, cache: Path, chance: random.Random, ledger: Ledger, *, is_killed: bool) -> bool:
    """One process that bakes, and the readers beside it. Returns whether it came to its end."""
    inside = mmap.mmap(-1, 1)
    is_inside_write = chance.random() < 0.5
    fatal_place = (chance.randrange(1, _PLACES) if is_inside_write else None) if is_killed else -1
    end = time.monotonic() + chance.uniform(0.0, _LIFE)
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        status = 1
        try:
            live(phase, cache, inside, fatal_place)
            status = 0
        finally:
            os._exit(status)
    try:
        while not (ended := os.waitpid(process, os.WNOHANG))[0]:
            ledger.looks[look(cache)] += 1
            if is_killed and not is_inside_write and time.monotonic() > end:
                os.kill(process, signal.SIGKILL)
                ended = os.waitpid(process, 0)
                break
    except BaseException:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        raise
    code = os.waitstatus_to_exitcode(ended[1])
    assert code in (0, -signal.SIGKILL), f"a bake ended with status {code}"
    if code:
        ledger.kills["inside a write" if inside[0] else "between writes"] += 1
        ledger.looks[look(cache)] += 1
    return code == 0


def one_history(wanted: list[Phase], cache: Path, chance: random.Random, ledger: Ledger, most: int) -> list[dict[str, Any]]:
    """Bake all phases, however often they are killed, but `most` times at most in all; what is there after each of them."""
    found = []
    for phase in wanted:
        here = min(most, ledger.kills.total() + chance.randint(2, _MOST_OF_ONE))
        while True:
            is_killed = ledger.kills.total() < here
            if one_life(phase, cache, chance, ledger, is_killed=is_killed):
                break
            if "restart" in phase.options and open_cache(cache).manifest["scene_name"] == "replaced":
                phase = phase._replace(options={})
        found.append(fingerprint(cache))
        left = [str(path.relative_to(cache)) for path in cache.rglob("*.partial")]
        assert not left, f"is left over: {left}"
    return found


def main(kills: int, seed: int) -> None:
    """Kill so many times. Raises AssertionError with the first thing that is wrong."""
    stand_in.Simulation.inflow = 30
    sys.modules[stand_in.MODULE] = stand_in.module()
    chance, ledger, began = random.Random(seed), Ledger(Counter(), Counter()), time.perf_counter()
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        wanted = phases(Path(folder))
        name = wanted[-1].scene / "scene.toml"
        name.write_text(name.read_text().replace('"small"', '"replaced"'))
        expected = one_history(wanted, Path(folder) / "whole", chance, ledger, 0)
        number = 0
        while ledger.kills.total() < kills:
            number += 1
            before = ledger.kills.total()
            found = one_history(wanted, Path(folder) / f"cache {number}", chance, ledger, kills)
            for phase, (one, other) in enumerate(zip(found, expected, strict=True), 1):
                different = sorted(key for key in {*one, *other} if one.get(key) != other.get(key))
                assert not different, f"history {number} differs after bake {phase}: {different}"
            print(f"history {number}: {ledger.kills.total() - before} kills, every frame, birth and journal as without", flush=True)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(ledger.kills.items()))
    print(
        f"{ledger.kills.total()} kills ({kinds}) and as many resumes: nothing lost, no byte different; "
        f"readers looked {ledger.looks.total()} times; {time.perf_counter() - began:.1f} s"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6))
