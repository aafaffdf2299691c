"""Runs the tests, each group in its own process, two at a time, and prints a summary of the groups.

core      without Blender: the parts of the solver
everyday  without Blender: results of the solver in typical scenes
physics   without Blender: results of the solver against formulas and experiments, presets, faults and malformed files
plain     without Blender: storage, command line, everything else
install   the extension's zip, built and installed in an isolated Blender
bpy       the Blender layer on the real bpy
fake      the Blender layer on the strict fake
gui       a walk through real windows of desktop Blenders; only on demand
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from environments import DEVELOPMENT_BLENDER, ENVIRONMENTS, ROOT, Environment

# A Blender that hangs must not block everything; the physics bakes for minutes, so this is generous.
LIMIT_SECONDS = 75 * 60


@dataclass(frozen=True)
class Group:
    """Tests that share one pytest process.

    Attributes:
        folders: in tests/.
        variables: of its environment.
        shares_cores: whether its simulations leave a core to each group that runs at the same time. More threads than cores wait for
            each other, which costs a quarter of the time. Tests of what threads could change set their number themselves.
        is_on_demand: whether it runs only if it is named.
    """

    folders: tuple[str, ...]
    variables: dict[str, str] = field(default_factory=dict)
    shares_cores: bool = False
    is_on_demand: bool = False


def groups() -> dict[str, Group]:
    """Returns every group, the longest first; folders in tests/ that are in no other group are in `plain`."""
    named = {
        "everyday": Group(("everyday",), shares_cores=True),
        "physics": Group(("faults", "fuzz", "presets", "verification"), shares_cores=True),
        "core": Group(("core",), shares_cores=True),
        "plain": Group((), shares_cores=True),
        "install": Group(("blender_real",)),
        "bpy": Group(("fakes", "blender"), {"MPM_TEST_HOST": "bpy"}, shares_cores=True),
        "fake": Group(("fakes", "blender"), {"MPM_TEST_HOST": "fake"}, shares_cores=True),
        "gui": Group(("gui",), {"MPM_TEST_GUI": "1"}, is_on_demand=True),
    }
    taken = {folder for group in named.values() for folder in group.folders}
    left = [folder.name for folder in (ROOT / "tests").iterdir() if folder.name not in taken and any(folder.glob("**/test_*.py"))]
    return {**named, "plain": replace(named["plain"], folders=tuple(sorted(left)))}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, epilog="The rest goes to pytest."
    )
    parser.add_argument("--blender", choices=sorted(ENVIRONMENTS), default=DEVELOPMENT_BLENDER)
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1), help="groups that run at the same time (default: 2)")
    parser.add_argument("--group", action="append", choices=list(groups()), help="only this one (may be repeated)")
    arguments, for_pytest = parser.parse_known_args()
    environment = ENVIRONMENTS[arguments.blender]
    if not environment.interpreter.exists():
        print(f"tests: error: {environment.folder.name} is missing; run tools/setup.py --blender {arguments.blender}")
        return 1
    names = arguments.group or [name for name, group in groups().items() if not group.is_on_demand]
    if len(names) > 1:
        compile_kernels(environment)
    with ThreadPoolExecutor(max(1, arguments.processes)) as pool:
        # in this order, whenever one has ended: the longest come first
        running = [pool.submit(run_group, name, environment, for_pytest, arguments.processes) for name in names]
        outcomes = [future.result() for future in running]
    print()
    for outcome in outcomes:
        print(outcome.line, flush=True)
    return max(outcome.status for outcome in outcomes)


@dataclass(frozen=True)
class Outcome:
    """How a group ended: 0 or 1, and the line that says so."""

    status: int
    line: str


def compile_kernels(environment: Environment, processes: int | None = None) -> int:
    """Compiles and stores what groups that begin together would each compile; returns the exit status. A failure shows in the tests."""
    threads = [] if processes is None else ["--threads", str(processes)]
    command = [str(environment.interpreter), "-m", "mpm_addon", "kernels", *threads]
    return subprocess.run(command, cwd=ROOT, env=usual_variables(), check=False).returncode


def usual_variables() -> dict[str, str]:
    """Returns the environment of a process that tests.

    Python keeps the bytecode of modules even if the caller's does not: otherwise each of the hundreds of processes that tests start would
    compile every module that it imports, which takes a quarter of the time of a small bake.
    """
    given = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
    return {name: value for name, value in given.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run_group(name: str, environment: Environment, for_pytest: Iterable[str], processes: int = 1) -> Outcome:
    """Runs one group and shows its output when it has ended; `processes` is how many groups run at the same time."""
    group, for_pytest = groups()[name], list(for_pytest)
    # pytest collects explicitly named folders even if they are ignored
    named = [f"tests/{folder}" for folder in group.folders if (ROOT / "tests" / folder).is_dir()]
    folders = [folder for folder in named if f"--ignore={folder}" not in for_pytest]
    print(f"\ntests: {name}: {' '.join(folders)} (Blender {environment.blender}) ...", flush=True)
    command = [str(environment.interpreter), "-m", "pytest", *folders, *for_pytest]
    variables = {**usual_variables(), **group.variables}
    if group.shares_cores:
        variables.setdefault("NUMBA_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // max(1, processes))))
    with tempfile.TemporaryFile() as output:
        try:
            status = subprocess.run(
                command, cwd=ROOT, env=variables, stdout=output, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            status = 1
        output.seek(0)
        printed = output.read().decode(errors="replace")
    print(f"\ntests: {name} (Blender {environment.blender}): its output\n{printed}", flush=True)
    summary = summary_line(printed[-4000:]) or f"ended with status {status} and no summary"
    line = f"tests: Blender {environment.blender} {name:<8} {'ok' if status == 0 else 'FAILED':<6} {summary}"
    return Outcome(int(status != 0), line)


def summary_line(output: str) -> str:
    """Returns pytest's last line of counts, such as "214 passed in 72.89s"; empty where there is none."""
    found = re.findall(r"(?m)^=* ?(\d+ \w+.* in [\d.]+s.*?) ?=*$", output)
    return found[-1] if found else ""


if __name__ == "__main__":
    sys.exit(main())
