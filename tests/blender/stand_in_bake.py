"""Replaces the bake's process in tests: `python stand_in_bake.py CACHE BEHAVIOR`.

Behaviors: "good" writes frames 1 and 2 of a cache with their events; "warned" warns before; "error" reports an error; "unstable" writes
frame 1 and what made the bake unstable; "crash" exits without an event; "slow" simulates until the file `cancel` exists; "stubborn" ignores
`cancel`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

from mpm_addon.core.messages import Action, Message, SceneWarning, Topic
from mpm_addon.storage.events import (
    BakeFrame,
    BakeProgress,
    BakeStart,
    CancelledEvent,
    ErrorEvent,
    Event,
    Finished,
    Preparing,
    WarningEvent,
)


def say(event: Event) -> None:
    print(json.dumps(event.fields()), flush=True)


def say_frame(number: int) -> None:
    pace = {"seconds_per_frame": 0.1, "eta_seconds": 0.1 * (2 - number)}
    say(BakeFrame(frame=number, particles=4, substeps=9, done=number, total=2, deleted=0, crushed=0, seconds=0.1, **pace))


def main() -> None:
    cache, behavior = Path(sys.argv[1]), sys.argv[2]
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from mpm_addon.storage.scene_writer import scene_hash
    from tests.blender.scenes import description

    baked = scene_hash(description())
    counts = {"particles": 4, "done": 0, "total": 2}
    say(BakeStart(scene="test", cache=str(cache), **counts, resumed_from=None, take=1, scene_hash=baked, pid=os.getpid()))
    print("not JSON: a library's greeting", flush=True)
    say(Preparing(frame=1))
    if behavior == "warned":
        for topic, problem in ((Topic.OPEN_MESH, "its mesh has a hole"), (Topic.DISK, "it is full")):
            say(WarningEvent(warning=SceneWarning(topic, Message(problem, (), 'Emitter "Cube"'))))
        behavior = "good"
    if behavior == "good":
        from tests.blender.scenes import write_cache

        write_cache(cache, {1: 4, 2: 4})
        for number in (1, 2):
            say_frame(number)
        say(Finished(frames=2, seconds=0.5))
    elif behavior == "error":
        say(ErrorEvent(message=Message("too small", ("use a larger one",), 'Emitter "Cube"')))
        sys.exit(1)
    elif behavior == "unstable":
        from mpm_addon.storage.failure import write_failure
        from tests.blender.scenes import failure, write_cache

        write_cache(cache, {1: 4})
        write_failure(cache, failure(2))
        say_frame(1)
        say(ErrorEvent(message=failure(2).message))
        sys.exit(1)
    elif behavior == "crash":
        print("first line\nthe reason", file=sys.stderr, flush=True)
        os._exit(3)
    else:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        cache.mkdir(parents=True, exist_ok=True)
        pace = {"seconds_per_frame": None, "eta_seconds": 61.0}
        say(BakeProgress(frame=2, fraction=0.5, substeps=7, particles=4, done=1, total=2, **pace))
        while behavior == "stubborn" or not (cache / "cancel").exists():
            time.sleep(0.01)
        say(CancelledEvent(message=Message("canceled: 1 of 2 frames are cached", (Action.RESUME,))))
        sys.exit(130)


if __name__ == "__main__":
    main()
