"""Runs every static check: style and format (ruff), types (pyright), direction of imports (import-linter)."""

import argparse
import subprocess
import sys
from pathlib import Path

from environments import ROOT

CHECKS = {
    "style": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "types": ["pyright"],
    "imports": ["lint-imports"],
}


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    scripts = Path(sys.executable).parent
    failed: list[str] = []
    for name, command in CHECKS.items():
        print(f"lint: {name} ({' '.join(command)}) ...", flush=True)
        if subprocess.run([str(scripts / command[0]), *command[1:]], cwd=ROOT, check=False).returncode != 0:
            failed.append(name)
    print(f"lint: failed: {', '.join(failed)}" if failed else "lint: no complaints", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
