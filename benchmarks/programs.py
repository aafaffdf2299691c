"""Programs that take turns: each is a process that lives as long as its group, and only one runs at a time."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from .scenes import Block

ROOT = Path(__file__).resolve().parent.parent
OURS = Path(sys.executable)
PEERS = ROOT / ".venv-bench" / "bin" / "python"
# written by tools/setup.py when the peers are installed whole
PEERS_STAMP = ROOT / ".venv-bench" / "installed-lock.sha256"
QUIET = {"TI_LOG_LEVEL": "warn", "ENABLE_TAICHI_HEADER_PRINT": "0"}


class BenchmarkError(Exception):
    """A measurement cannot proceed; the message says what to do."""


@dataclass(frozen=True)
class Program:
    """A program that can take turns: its name in results, its command, and environment variables in addition to those of this process."""

    name: str
    interpreter: Path
    module: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def solver(name: str, block: Block, threads: int) -> Program:
    """The solver on a block."""
    return Program(name, OURS, "benchmarks.our_block", (json.dumps(asdict(block)), str(threads)))


def taichi_example(example: str, material: str, particles: int, threads: int) -> Program:
    """One of Taichi's examples on a block."""
    description = {"example": example, "material": material, "particles": particles}
    return Program(f"{example} {material}", PEERS, "benchmarks.peers.taichi_examples", (json.dumps(description), str(threads)))


def lean_reference(name: str, block: Block, threads: int) -> Program:
    """The lean reference on a block."""
    arguments = json.dumps({"law": block.law, "particles": block.particles}), str(threads)
    # numba reads its number of threads when it is imported
    return Program(name, OURS, "benchmarks.reference", arguments, {"NUMBA_NUM_THREADS": str(threads)})


class Worker:
    """A running program, warmed up and waiting."""

    def __init__(self, program: Program, complaints: IO[str]) -> None:
        """Start the program; its stderr goes to the open file `complaints`."""
        self._name, self._complaints = program.name, complaints
        command = [str(program.interpreter), "-m", program.module, *program.arguments]
        variables, pipe = os.environ | QUIET | dict(program.environment), subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=ROOT, env=variables, stdin=pipe, stdout=pipe, stderr=complaints, text=True)
        self.facts = self._answer()

    def run_round(self, seconds: float) -> dict[str, float]:
        assert self._process.stdin is not None
        print(json.dumps({"seconds": seconds}), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        self._process.wait()
        self._complaints.seek(0)
        words = [line for line in self._complaints.read().splitlines() if line.strip()]
        raise BenchmarkError(f"{self._name} ended early: {words[-1] if words else 'it printed nothing'}")

    def close(self) -> None:
        """Let the program end."""
        self._process.communicate()


def alternate(programs: Sequence[Program], rounds: int, seconds: float) -> list[dict[str, Any]]:
    """Let programs take turns, round after round; returns name, facts and rounds of each. Raises BenchmarkError if one ends early."""
    with ExitStack() as stack:
        workers: list[Worker] = []
        for program in programs:
            workers.append(Worker(program, stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))))
            stack.callback(workers[-1].close)
        done = [[worker.run_round(seconds) for worker in workers] for _ in range(rounds)]
    results = zip(programs, workers, zip(*done, strict=True), strict=True)
    return [{"name": program.name, "facts": worker.facts, "rounds": turns} for program, worker, turns in results]


def rounds_of(group: Mapping[str, Any]) -> dict[str, list[dict[str, float]]]:
    """The rounds of a group's programs by name, in the order in which they took turns."""
    return {program["name"]: program["rounds"] for program in group["programs"]}


def ask(module: str, *arguments: str) -> Any:
    """Run one of our modules to its end and return the JSON that it prints. Raises BenchmarkError if it fails."""
    answer = subprocess.run([str(OURS), "-m", module, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        words = answer.stderr.strip().splitlines()
        raise BenchmarkError(f"{module} {' '.join(arguments)} failed: {words[-1] if words else answer.returncode}")
    return json.loads(answer.stdout)
