"""Measuring: the wall and CPU seconds of a call, modules that answer once, and programs that run rounds on request.

Answers are JSON, one object per line. Only the standard library is used: every compared program imports this module.
"""

import argparse
import inspect
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

# The wall and CPU seconds of a call; for a program that takes turns, also particles times steps.
Round = dict[str, float]
LEAST_CALLS = 4


def timed(run: Callable[[], object]) -> Round:
    """The wall and CPU seconds of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def least(run: Callable[[], object], tries: int) -> Round:
    """The minimum wall and CPU seconds of several calls, after a warm-up call."""
    run()
    rounds = [timed(run) for _ in range(tries)]
    return {key: min(each[key] for each in rounds) for key in ("wall", "cpu")}


def answer(measure: Callable[..., Any]) -> None:
    """Call `measure` with the arguments of the command line, of the types that it declares, print what it returns, and exit."""
    parser = argparse.ArgumentParser(description=measure.__doc__)
    for each in inspect.signature(measure).parameters.values():
        parser.add_argument(each.name, type=each.annotation, default=each.default, nargs="?" if each.default is not each.empty else None)
    arguments = parser.parse_args()
    stream = results_stream()
    say(stream, measure(**vars(arguments)))
    # some releases of bpy never exit by themselves
    stream.flush()
    os._exit(0)


def results_stream() -> TextIO:
    """The former stdout; all other output goes to stderr from now on."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return stream


def say(stream: TextIO, value: Any) -> None:
    print(json.dumps(value), file=stream, flush=True)


def serve(stream: TextIO, facts: dict[str, Any], run_round: Callable[[float], Round]) -> None:
    """Print the facts, then run a round for each request until stdin ends; a request states the minimum number of seconds."""
    say(stream, facts)
    for line in sys.stdin:
        say(stream, run_round(float(json.loads(line)["seconds"])))


def serve_calls(stream: TextIO, facts: dict[str, Any], call: Callable[[int], object], particle_steps: float) -> None:
    """Serve rounds of `call`, whose argument is the number of repetitions, each of this many particle-steps."""

    def run(count: int) -> Round:
        return {"particle_steps": count * particle_steps, **timed(lambda: call(count))}

    run(1)
    each = run(LEAST_CALLS)["wall"] / LEAST_CALLS
    serve(stream, facts, lambda seconds: run(max(LEAST_CALLS, round(seconds / each))))
