"""Replaces the bake's process in tests: `python stand_in_bake.py CACHE BEHAVIOR`.

Behaviors: "good" writes frames 1 and 2 of a cache with their events; "error" reports an error; "unstable" writes frame 1 and what made
the bake unstable; "crash" exits without an event; "slow" simulates until the file `cancel` exists; "stubborn" ignores `cancel`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

from mpm_addon.core.messages import Action, Message


def say(event: str, **fields: object) -> None:
    print(json.dumps({"event": event, **fields}), flush=True)


def main() -> None:
    cache, behavior = Path(sys.argv[1]), sys.argv[2]
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from mpm_addon.storage.scene_writer import scene_hash
    from tests.blender.scenes import description

    baked = scene_hash(description())
    say("start", scene="test", cache=str(cache), particles=4, done=0, total=2, scene_hash=baked, pid=os.getpid())
    print("not JSON: a library's greeting", flush=True)
    say("preparing", frame=1)
    if behavior == "good":
        from tests.blender.scenes import write_cache

        write_cache(cache, {1: 4, 2: 4})
        for number in (1, 2):
            say("frame", frame=number, particles=4, substeps=9, done=number, total=2, deleted=0, seconds=0.1)
        say("done", frames=2, seconds=0.5)
    elif behavior == "error":
        say("error", **Message("too small", ("use a larger one",), 'Emitter "Cube"').fields())
        sys.exit(1)
    elif behavior == "unstable":
        from mpm_addon.storage.failure import write_failure
        from tests.blender.scenes import failure, write_cache

        write_cache(cache, {1: 4})
        write_failure(cache, failure(2))
        say("frame", frame=1, particles=4, substeps=9, done=1, total=2, deleted=0, seconds=0.1)
        say("error", **failure(2).message.fields())
        sys.exit(1)
    elif behavior == "crash":
        print("first line\nthe reason", file=sys.stderr, flush=True)
        os._exit(3)
    else:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        cache.mkdir(parents=True, exist_ok=True)
        say("progress", frame=2, fraction=0.5, substeps=7, particles=4, done=1, total=2, eta_seconds=61.0)
        while behavior == "stubborn" or not (cache / "cancel").exists():
            time.sleep(0.01)
        say("cancelled", **Message("canceled: 1 of 2 frames are cached", (Action.RESUME,)).fields())
        sys.exit(130)


if __name__ == "__main__":
    main()
