"""Runs what has to hold for every change: the tests, the static checks, and the Blender layer on each supported Blender.

Tests that take over half a minute, most of several like them, and those that only show that another can fail are left to `make test`.

Three at a time, each beginning when one has ended, because each waits for processes, the disk and timers for a tenth of its time; goes on
after a failure, and ends with one line for each.
"""

import argparse
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import NamedTuple

from environments import DEVELOPMENT_BLENDER, ENVIRONMENTS, ROOT
from run_tests import Outcome, compile_kernels, run_group

_NOT_LONG = ("-m", "not long")
# measurements of the solver's speed, the project's tools, and what takes long, do not depend on the Blender
_BRIEFLY = ("-m", "not slow and not long", "--ignore=tests/benchmarks", "--ignore=tests/tools")
# 4.5 and 5.0 are between two that run more: what depends on names and data of a Blender runs there, not bakes and what is made of
# them
_NAMES_AND_DATA = (*_BRIEFLY, *(f"--ignore=tests/blender/{folder}" for folder in ("baking", "building", "live", "playback")))
# what 4.2 and 5.0 show and publish in the same way needs no third
_NAMES = (*_NAMES_AND_DATA, "--ignore=tests/blender/display", "--ignore=tests/blender/exporting")
# numba and its compiler are the same for every Blender, so what kernels compute does not depend on Python and numpy
_OF_KERNELS = ("arithmetic", "contact", "emission/test_pins.py", "laws", "stepping", "transfer", "test_bonds.py")
_AROUND_KERNELS = (*_BRIEFLY, *(f"--ignore=tests/core/{each}" for each in _OF_KERNELS))


class Job(NamedTuple):
    """A group of tests, for one Blender."""

    blender: str
    group: str
    for_pytest: tuple[str, ...] = _NOT_LONG


# The longest first. The core compiles what other groups call, too: kernels in double precision, in two dimensions and with cubic splines; a
# group with another Python runs beside it. What the solver computes is verified once. What does not touch Blender, and is not of kernels,
# runs again on 5.2, which has another Python and another numpy; 4.2 has the Python of 4.5. The newest Blender runs the whole Blender layer,
# the oldest all that is not slow, and both walk and render through the installed zip; the strict fake needs one Python only.
JOBS = (
    Job("4.5", "core"),
    Job("5.2", "bpy"),
    Job("4.5", "physics"),
    Job("4.5", "everyday"),
    Job("4.5", "plain"),
    Job("4.2", "bpy", _BRIEFLY),
    Job("4.2", "install"),
    Job("5.2", "install"),
    Job("4.5", "fake"),
    Job("5.2", "plain", (*_BRIEFLY, "--ignore=tests/derived", "--ignore=tests/wedge")),
    Job("4.5", "bpy", _NAMES),
    Job("5.0", "bpy", _NAMES_AND_DATA),
    Job("5.2", "core", _AROUND_KERNELS),
)


def prepare(blender: str) -> Outcome:
    """Makes an environment ready."""
    status = subprocess.run([sys.executable, "tools/setup.py", "--blender", blender], cwd=ROOT, check=False).returncode
    return Outcome(int(status != 0), f"setup: Blender {blender} {'ok' if status == 0 else 'FAILED'}")


def compile_for(blender: str, ready: Future[Outcome]) -> Outcome:
    """Compiles the kernels of the Python of an environment, once that is ready, with one process.

    Many functions are parts of several kernels: two processes would compile them twice, and take a tenth longer together.
    """
    if ready.result().status != 0:
        return Outcome(1, f"kernels: Blender {blender} FAILED its environment is missing")
    status = compile_kernels(ENVIRONMENTS[blender], processes=1)
    return Outcome(int(status != 0), f"kernels: Python {ENVIRONMENTS[blender].python} {'ok' if status == 0 else 'FAILED'}")


def run_job(job: Job, ready: Future[Outcome], compiled: Future[Outcome], processes: int) -> Outcome:
    """Runs a job when its environment is ready and what its Python compiled is stored."""
    prepared = ready.result()
    if prepared.status != 0:
        return Outcome(1, f"tests: Blender {job.blender} {job.group:<8} FAILED its environment is missing")
    wait([compiled])
    # what does not touch Blender runs again on all cores instead of its share: bakes of the command line then have several threads
    uses_all = job.blender != DEVELOPMENT_BLENDER and job.group in ("core", "plain")
    return run_group(job.group, ENVIRONMENTS[job.blender], job.for_pytest, 1 if uses_all else processes)


def lint() -> Outcome:
    """Runs the static checks and shows their output when they have ended."""
    done = subprocess.run(
        [sys.executable, "tools/lint.py"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    print(done.stdout, flush=True)
    return Outcome(int(done.returncode != 0), done.stdout.strip().splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=3, help="groups that run at the same time (default: 3)")
    processes = max(1, parser.parse_args().processes)
    began = time.monotonic()
    blenders = list(dict.fromkeys(job.blender for job in JOBS))
    # the first environment of each Python compiles for the others
    compilers: dict[str, str] = {}
    for blender in blenders:
        compilers.setdefault(ENVIRONMENTS[blender].python, blender)
    with ThreadPoolExecutor(1) as setup, ThreadPoolExecutor(processes) as pool:
        # one after another, in the order in which jobs need them; the later ones get ready beside the tests
        ready = {blender: setup.submit(prepare, blender) for blender in blenders}
        compiled = {python: pool.submit(compile_for, blender, ready[blender]) for python, blender in compilers.items()}
        running = [pool.submit(lint)]
        running += [pool.submit(run_job, job, ready[job.blender], compiled[ENVIRONMENTS[job.blender].python], processes) for job in JOBS]
        outcomes = [future.result() for future in (*ready.values(), *compiled.values(), *running)]
    print(f"\n== summary ({time.monotonic() - began:.0f} s) ==")
    for outcome in outcomes:
        print(outcome.line)
    is_well = not any(outcome.status for outcome in outcomes)
    print("ci: everything passed" if is_well else "ci: FAILED", flush=True)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
