"""Writes locks/: every package of every environment, pinned with hashes, without the address of a registry.

The inputs are the dependencies and the dependency groups in pyproject.toml. Needs a network; uses uv, or fetches it
into a temporary environment. Existing pins are kept where they still fit; --upgrade renews them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from environments import ENVIRONMENTS, PEERS, ROOT, Environment, find_uv


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions that fit")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        uv = find_uv() or fetch_uv(Path(scratch))
        for environment in (*ENVIRONMENTS.values(), PEERS):
            write_lock(environment, uv, upgrade=arguments.upgrade)
    return 0


def fetch_uv(scratch: Path) -> str:
    """Installs uv into a temporary environment and returns its path."""
    print("lock: no uv here, fetching it for this once ...", flush=True)
    venv.create(scratch / "uv", with_pip=True)
    subprocess.run([scratch / "uv" / "bin" / "pip", "install", "--quiet", "uv"], check=True)
    return str(scratch / "uv" / "bin" / "uv")


def write_lock(environment: Environment, uv: str, *, upgrade: bool) -> None:
    """Resolves one environment for every platform at once and writes its lock."""
    print(f"lock: {environment.lock.relative_to(ROOT)} ...", flush=True)
    command = [uv, "pip", "compile", "--python-version", environment.python, "--universal", "--generate-hashes", "--quiet"]
    command += ["--no-header", "--no-annotate", "--no-emit-index-url", "--output-file", str(environment.lock)]
    # the benchmarks' programs need none of the project's dependencies
    command += ["pyproject.toml"] if environment.blender else []
    command += [part for group in environment.groups for part in ("--group", group)]
    subprocess.run([*command, *(["--upgrade"] if upgrade else [])], cwd=ROOT, check=True)
    if "://" in environment.lock.read_text(encoding="utf-8"):
        raise SystemExit(f"lock: {environment.lock.name} names an address; it must hold names, versions and hashes")


if __name__ == "__main__":
    sys.exit(main())
