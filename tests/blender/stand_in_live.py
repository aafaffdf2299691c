"""Replaces the process of a live simulation in tests: `python stand_in_live.py CACHE REQUESTS BEHAVIOR`.

Behaviors: "good" writes the requested frames, 1 to 3 in every run; "warning" does so after a warning; "error" reports an error;
"crash" exits without an event.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from mpm_addon.core.messages import Message, SceneWarning, Topic
from mpm_addon.storage.events import ErrorEvent, Event, LiveFrame, WarningEvent

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.blender.scenes import write_cache


def say(event: Event) -> None:
    print(json.dumps(event.fields()), flush=True)


def main() -> None:
    cache, requests, behavior = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    if behavior == "error":
        say(ErrorEvent(message=Message("too small", ("use a larger one",), 'Emitter "Cube"')))
        sys.exit(1)
    if behavior == "crash":
        print("first line\nthe reason", file=sys.stderr, flush=True)
        os._exit(3)
    if behavior == "warning":
        say(WarningEvent(warning=SceneWarning(Topic.THIN_EMITTER, Message("it is 1.9 cells thin", (), 'Emitter "Cube"'))))
    run = number = 0
    while True:
        told = json.loads(requests.read_text())
        if told["run"] != run:
            run, number = told["run"], 0
            write_cache(cache, {1: 4, 2: 4, 3: 4})
        if number < min(3, told["until"]):
            number += 1
            say(LiveFrame(frame=number, run=run, particles=4, substeps=9, seconds=0.1))
        time.sleep(0.005)


if __name__ == "__main__":
    main()
