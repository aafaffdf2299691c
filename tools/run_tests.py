"""Runs the tests, each group in its own process, two at a time, and prints a summary of the groups.

plain    without Blender: core, storage, command line
physics  without Blender: results of the solver, presets, faults and malformed files
fake     the Blender layer on the strict fake
bpy      the Blender layer on the real bpy
install  the extension's zip, built and installed in an isolated Blender
gui      a walk through real windows of desktop Blenders; only on demand
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from environments import DEVELOPMENT_BLENDER, ENVIRONMENTS, ROOT, Environment

PHYSICS_FOLDERS = ("everyday", "faults", "fuzz", "presets", "verification")
BLENDER_FOLDERS = ("blender", "blender_real", "fakes", "gui")
# A Blender that hangs must not block everything; the plain tests bake for minutes, so this is generous.
LIMIT_SECONDS = 75 * 60


@dataclass(frozen=True)
class Group:
    """Tests that share one pytest process."""

    folders: tuple[str, ...]
    variables: dict[str, str] = field(default_factory=dict)
    is_on_demand: bool = False


def groups() -> dict[str, Group]:
    """Returns every group; folders in tests/ that need no Blender are found automatically."""
    plain = sorted(
        folder.name
        for folder in (ROOT / "tests").iterdir()
        if folder.name not in (*BLENDER_FOLDERS, *PHYSICS_FOLDERS) and any(folder.glob("**/test_*.py"))
    )
    return {
        "plain": Group(tuple(plain)),
        "physics": Group(PHYSICS_FOLDERS),
        "fake": Group(("fakes", "blender"), {"MPM_TEST_HOST": "fake"}),
        "bpy": Group(("fakes", "blender"), {"MPM_TEST_HOST": "bpy"}),
        "install": Group(("blender_real",)),
        "gui": Group(("gui",), {"MPM_TEST_GUI": "1"}, is_on_demand=True),
    }


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
    usual = [name for name, group in groups().items() if not group.is_on_demand]
    names = arguments.group or usual
    with ThreadPoolExecutor(max(1, arguments.processes)) as pool:
        # in this order: the longest come first
        running = {name: pool.submit(run_group, name, environment, for_pytest) for name in names}
        outcomes = {name: future.result() for name, future in running.items()}
    print()
    for name, (status, summary) in outcomes.items():
        print(f"tests: Blender {environment.blender} {name:<8} {'ok' if status == 0 else 'FAILED':<6} {summary}", flush=True)
    return 1 if any(status for status, _ in outcomes.values()) else 0


def run_group(name: str, environment: Environment, for_pytest: list[str]) -> tuple[int, str]:
    """Runs one group, shows its output when it has ended, and returns pytest's exit status and summary line."""
    group = groups()[name]
    # pytest collects explicitly named folders even if they are ignored
    named = [f"tests/{folder}" for folder in group.folders if (ROOT / "tests" / folder).is_dir()]
    folders = [folder for folder in named if f"--ignore={folder}" not in for_pytest]
    print(f"\ntests: {name}: {' '.join(folders)} (Blender {environment.blender}) ...", flush=True)
    command = [str(environment.interpreter), "-m", "pytest", *folders, *for_pytest]
    with tempfile.TemporaryFile() as output:
        try:
            variables = {**os.environ, **group.variables}
            status = subprocess.run(
                command, cwd=ROOT, env=variables, stdout=output, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            status = 1
        output.seek(0)
        printed = output.read().decode(errors="replace")
    print(f"\ntests: {name}: its output\n{printed}", flush=True)
    return status, summary_line(printed[-4000:]) or f"ended with status {status} and no summary"


def summary_line(output: str) -> str:
    """Returns pytest's last line of counts, such as "214 passed in 72.89s"; empty where there is none."""
    found = re.findall(r"(?m)^=* ?(\d+ \w+.* in [\d.]+s.*?) ?=*$", output)
    return found[-1] if found else ""


if __name__ == "__main__":
    sys.exit(main())
