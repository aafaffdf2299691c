"""Reads many malformed files of every format: `python -m tests.fuzz [--format NAME] [--cases N] [--seed S]`."""

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path

from .campaign import run
from .formats import FORMATS


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--format", action="append", choices=sorted(FORMATS), help="only this one (may be repeated)")
    parser.add_argument("--cases", type=int, default=10_000, help="files of each format (default: 10000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first file")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    is_failed = False
    for name in arguments.format or FORMATS:
        started = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="mpm_fuzz_") as folder:
            report = run(FORMATS[name], Path(folder), cases=arguments.cases, seed=arguments.seed)
        refused = ", ".join(f"{count} {error}" for error, count in sorted(report.refused.items()))
        words = f"{report.read} read, refused: {refused or 'none'}, {len(report.failures)} failures"
        print(f"{name:<18} seed {arguments.seed}, {arguments.cases} files: {words}, {time.perf_counter() - started:.0f} s", flush=True)
        for failure in report.failures:
            print(failure, flush=True)
        is_failed = is_failed or bool(report.failures)
    return 1 if is_failed else 0


if __name__ == "__main__":
    sys.exit(main())
