"""The side of a program that is measured: it says what it is, then runs a round whenever it is asked to.

One JSON object a line: facts on stdout once it is warm, then a round for each request on stdin. Standard library alone, for
every program that is compared imports it.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

# What a round holds: particles times steps, and the wall and CPU seconds that they took.
Round = dict[str, float]


def results_stream() -> TextIO:
    """What was stdout; from now on whatever else prints there goes to stderr."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return stream


def say(stream: TextIO, value: Any) -> None:
    print(json.dumps(value), file=stream, flush=True)


def serve(stream: TextIO, facts: dict[str, Any], run_round: Callable[[float], Round]) -> None:
    """Answer requests until stdin ends; `run_round` takes the seconds that the round should take at least."""
    say(stream, facts)
    for line in sys.stdin:
        say(stream, run_round(float(json.loads(line)["seconds"])))
