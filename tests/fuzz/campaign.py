"""A campaign against one format: many malformed files through the public reader, within bounds of memory and time."""

import contextlib
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from mpm_addon.core.errors import CacheError, PresetError, SceneError

# What a reader may take beside what the process has, for files of some kilobytes [bytes].
MEMORY = 1_000_000_000
# A file that takes longer hangs [s].
PATIENCE = 20

Mutation = Callable[[bytes, Random, Sequence[bytes]], bytes]


@dataclass(frozen=True)
class Format:
    """A kind of file that may come from anywhere.

    Attributes:
        name: what it is called in reports.
        write: makes whole samples in an empty folder, and returns the files to be made wrong.
        read: the public reader, given the folder; whatever uses what it returns belongs here too.
        mutation: how a sample is made wrong.
    """

    name: str
    write: Callable[[Path], Sequence[Path]]
    read: Callable[[Path], Any]
    mutation: Mutation


def try_all(*looks: Callable[[], Any]) -> None:
    """Look at a cache in several ways, also after one was refused; raises the first refusal."""
    problems: list[CacheError] = []
    for look in looks:
        try:
            look()
        except CacheError as error:
            problems.append(error)
    if problems:
        raise problems[0]


@dataclass
class Report:
    """What became of the files of a campaign.

    Attributes:
        read: files that were read, since what is wrong with them does not matter.
        refused: class of the error -> files that were refused in one line.
        failures: what must not happen, each with the command that makes it happen again.
    """

    read: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def run(subject: Format, folder: Path, *, cases: int, seed: int, most_failures: int = 20) -> Report:
    """Read `cases` wrong files, that of case n made by the seed `seed` + n."""
    targets = list(subject.write(folder))
    samples = [target.read_bytes() for target in targets]
    subject.read(folder)  # whole samples are no errors
    report = Report()
    with bounded_memory():
        for case in range(seed, seed + cases):
            random = Random(case)
            number = random.randrange(len(targets))
            targets[number].write_bytes(subject.mutation(samples[number], random, samples))
            problem = _outcome(subject, folder, report)
            if problem:
                report.failures.append(f"{problem}\nagain: make fuzz FUZZ='--format {subject.name} --seed {case} --cases 1'")
                if len(report.failures) == most_failures:
                    break
            targets[number].write_bytes(samples[number])
    return report


def _outcome(subject: Format, folder: Path, report: Report) -> str:
    try:
        with _bounded_time():
            subject.read(folder)
    except (SceneError, CacheError, PresetError) as error:
        report.refused[type(error).__name__] += 1
        return "" if str(error).isprintable() and str(error) else f"{subject.name}: the message is no line of text: {str(error)!r}"
    except (Exception, MemoryError) as error:  # noqa: BLE001 - whatever it is, it is a failure to be reported
        place = traceback.extract_tb(error.__traceback__)[-1]
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if "mpm_addon" in frame.filename][-1:]
        places = ", ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in [*own, place])
        return f"{subject.name}: {type(error).__name__}: {str(error)[:200]} ({places})"
    report.read += 1
    return ""


@contextlib.contextmanager
def bounded_memory(size: int = MEMORY) -> Iterator[None]:
    """Let an allocation of more than `size` bytes fail with MemoryError; without effect outside Linux."""
    if not sys.platform.startswith("linux"):
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def _bounded_time() -> Iterator[None]:
    """Let what hangs fail with TimeoutError; without effect on Windows."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"not read after {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
