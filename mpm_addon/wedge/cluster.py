"""Runs the bakes of a wedge in processes on this computer, or on the workers of an existing Dask cluster.

Dask is imported only when a scheduler is given; see docs/farm.md for what its workers need.
"""

import contextlib
import dataclasses
import hashlib
import importlib.util
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..core.errors import MpmError
from ..storage.installation import require, version
from .index import INDEX
from .process import Order, Outcome, run

_CONNECT_SECONDS = 10


@dataclass(frozen=True)
class Cluster:
    """An executor of bakes.

    Attributes:
        jobs: number of bakes at a time.
        submit: starts the bake of an order.
    """

    jobs: int
    submit: Callable[[Order], "Future[Outcome]"]


def core_count() -> int:
    """The number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def local_cluster(jobs: int, threads: int) -> Iterator[Cluster]:
    """Bake in processes on this computer.

    Args:
        jobs: number of bakes at a time.
        threads: threads of all bakes together; any remainder goes to the first bakes.
    """
    shares = [max(1, threads // jobs + (slot < threads % jobs)) for slot in reversed(range(jobs))]

    def bake(order: Order) -> Outcome:
        share = shares.pop()
        try:
            return run(dataclasses.replace(order, threads=share))
        finally:
            shares.append(share)

    with ThreadPoolExecutor(jobs) as executor:
        yield Cluster(jobs, lambda order: executor.submit(bake, order))


@contextlib.contextmanager
def dask_cluster(address: str, output: Path, jobs: int | None, threads: int | None) -> Iterator[Cluster]:
    """Bake on the workers of a Dask cluster.

    Args:
        address: address of its scheduler, such as tcp://farm:8786.
        output: the folder of the wedge, with its index; every worker must see it under this path.
        jobs: maximum number of bakes at a time; by default the number of the workers' threads.
        threads: threads of each bake; by default a computer's cores divided by the bakes that its workers may run at a time.

    Raises:
        MpmError: Dask is missing, no scheduler answers, there is no worker, or one cannot bake.
    """
    distributed = require("distributed", "distributed", f"baking with --scheduler {address}")
    _check_address(address)
    try:
        client = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise MpmError(f"no scheduler responds ({_first_line(error)})", "check the address", subject=f"--scheduler {address}") from error
    with client:
        slots = _slots_beside(client.nthreads())
        if not slots:
            raise MpmError("the cluster has no workers", f"start some with: dask worker {address}", subject=f"--scheduler {address}")
        _check_workers(client, output)
        executor: Executor = client.get_executor(pure=False)
        width = sum(client.nthreads().values())
        yield Cluster(min(jobs or width, width), lambda order: executor.submit(run_on_worker, order, threads, slots))


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        is_address = bool(parts.hostname and parts.port)
    except ValueError:
        is_address = False
    if not is_address:
        raise MpmError("it is not an address", "use an address such as tcp://farm:8786", subject=f"--scheduler {address}")


def run_on_worker(order: Order, threads: int | None, slots: dict[str, int]) -> Outcome:
    """On a worker of a cluster: bake with a fair share of the computer's cores."""
    distributed = require("distributed", "distributed", "a worker")
    share = core_count() // slots.get(distributed.get_worker().address, 1)
    return run(dataclasses.replace(order, threads=threads or max(1, share)))


def what_is_wrong(output: str, digest: str, wanted_version: str) -> tuple[str, ...]:
    """On a worker of a cluster: what keeps it from baking into the folder, without a subject, and the remedy; empty if nothing does."""
    if version() != wanted_version:
        return f"has version {version()} of mpm_addon, not {wanted_version}", "install the same version on all computers"
    if importlib.util.find_spec("numba") is None:
        return "lacks the package numba", "install mpm_addon with its dependencies in the worker's environment"
    try:
        found = hashlib.sha256((Path(output) / INDEX).read_bytes()).hexdigest()
    except OSError:
        found = ""
    if found != digest or not os.access(output, os.W_OK):
        return f"cannot find {output} or write to it", "use an --output on a shared disk, with the same path on all computers"
    return ()


def _check_workers(client: Any, output: Path) -> None:
    digest = hashlib.sha256((output / INDEX).read_bytes()).hexdigest()
    answers = client.run(what_is_wrong, str(output), digest, version(), on_error="return")
    for worker, answer in answers.items():
        if isinstance(answer, BaseException):
            answer = f"cannot run mpm_addon ({_first_line(answer)})", "install the same version in the worker's environment"
        if answer:
            problem, *remedies = answer
            raise MpmError(f"it {problem}", *remedies, subject=f"worker {worker}")


def _slots_beside(threads: dict[str, int]) -> dict[str, int]:
    """Address of a worker -> number of bakes that may run at a time on its computer, on all of its workers."""
    hosts: dict[str | None, int] = {}
    for address, count in threads.items():
        host = urlsplit(address).hostname
        hosts[host] = hosts.get(host, 0) + count
    return {address: hosts[urlsplit(address).hostname] for address in threads}


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
