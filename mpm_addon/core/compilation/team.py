"""Teams: the threads that share a kernel's work. A free thread takes the next piece, and no thread waits for one that holds no piece.

A parallel kernel iterates over its pieces with `for piece in shared(tickets[0], count, grain)`. Every thread of the team runs the
same kernel with the same arguments, and each piece goes to one of them. The call returns when all pieces are done, without waiting
for threads that the system has not yet run because other programs occupy the processors. Such a thread later finds no piece left and
touches nothing else. So outside such a loop a parallel kernel may only write to its own variables.

The result of a kernel does not depend on which thread takes a piece: pieces are the same for any number of threads.
"""

import functools
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from .kernel import kernel
from .tickets import COUNT, DONE, ROW, fresh, let_others_run

# how often a waiting thread polls before it sleeps, yielding each time: some tens of microseconds
_POLLS = 60
_SLEEP_SECONDS = 50e-6


@kernel
def is_done(tickets, polls):
    """Whether all pieces of all loops are done within `polls` polls."""
    for row in range(tickets.shape[0]):
        for _ in range(polls):
            if fresh(tickets[row], DONE) >= tickets[row, COUNT] - 1:
                break
            let_others_run()
        if fresh(tickets[row], DONE) < tickets[row, COUNT] - 1:
            return False
    return True


@kernel
def is_called(calls, seen, polls):
    """Whether the number of calls differs from `seen` within `polls` polls."""
    for _ in range(polls):
        if fresh(calls, 0) != seen:
            return True
        let_others_run()
    return False


class Team:
    """Threads that run one kernel at a time together with the calling thread.

    Args:
        size: number of threads, including the caller.

    Attributes:
        threads: all threads but the caller.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._calls = np.zeros(1, np.int64)
        self._job: tuple[Callable[..., Any], tuple[Any, ...]] | None = None
        self._failure: BaseException | None = None
        self._is_over = False
        self._is_busy = threading.Lock()
        self._sleepers: list[Any] = []
        self.threads = [threading.Thread(target=self._serve, name=f"kernels {number}", daemon=True) for number in range(1, size)]
        for thread in self.threads:
            thread.start()

    def run(self, function: Callable[..., Any], tickets: NDArray[np.int64], arguments: tuple[Any, ...]) -> Any:
        """Run a kernel whose first argument is its tickets, (loops, ROW); returns its result when all pieces are done."""
        if self.size == 1 or not self._is_busy.acquire(blocking=False):
            return function(tickets, *arguments)
        try:
            self._job = function, (tickets, *arguments)
            self._calls[0] += 1
            while self._sleepers:
                self._sleepers.pop().release()
            result = function(tickets, *arguments)
            while not is_done(tickets, _POLLS):
                if self._failure is not None:
                    raise self._failure
                time.sleep(_SLEEP_SECONDS)
            return result
        finally:
            self._job = self._failure = None
            self._is_busy.release()

    def close(self) -> None:
        """End the threads."""
        self._is_over = True
        self._calls[0] += 1
        while self._sleepers:
            self._sleepers.pop().release()

    def _serve(self) -> None:
        """The loop of a thread: wait for a call and share in its work."""
        seen, wake = 0, threading.Lock()
        wake.acquire()
        while not self._is_over:
            if not is_called(self._calls, seen, _POLLS):
                self._sleep(wake, seen)
                continue
            seen, job = int(self._calls[0]), self._job
            if job is not None:
                self._run_job(*job)
                del job

    def _sleep(self, wake: Any, seen: int) -> None:
        """Sleep until the next call. A call made after `wake` joins the sleepers releases it; an earlier one is noticed here."""
        self._sleepers.append(wake)
        if self._calls[0] != seen:
            try:
                self._sleepers.remove(wake)
            except ValueError:
                wake.acquire()
            return
        wake.acquire()

    def _run_job(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        try:
            function(*arguments)
        except BaseException as error:  # noqa: BLE001 - the caller raises it
            self._failure = error


_team: Team | None = None


def team() -> Team:
    """The team of this process, with numba's number of threads."""
    if _team is None:
        set_team_size(numba.config.NUMBA_NUM_THREADS)
    assert _team is not None
    return _team


def team_size() -> int:
    """The number of threads, without starting them."""
    return numba.config.NUMBA_NUM_THREADS if _team is None else _team.size


def set_team_size(size: int) -> None:
    """Set the number of threads that run kernels from now on."""
    global _team
    if _team is not None:
        _team.close()
    _team = Team(size)


def _forget_team() -> None:
    global _team
    _team = None


# threads do not survive a fork
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_team)


class ParallelKernel:
    """A kernel that a team runs. Its first parameter is its tickets, which the caller does not pass.

    Args:
        function: the kernel.
        loops: the number of rows of tickets that it needs for given arguments.
        is_stored, allocates: see `kernel`.
    """

    def __init__(self, function: Callable[..., Any], loops: Callable[..., int], *, is_stored: bool = True, allocates: bool = False) -> None:
        self.dispatcher = kernel(function, is_stored=is_stored, allocates=allocates)
        self._loops = loops
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        return team().run(self.dispatcher, np.zeros((self._loops(*arguments), ROW), np.int64), arguments)


def one_loop(*arguments: Any) -> int:
    """The rows of tickets for a kernel with one loop over pieces."""
    return 1


def parallel_kernel(function: Callable[..., Any] | None = None, *, loops: Callable[..., int] = one_loop, allocates: bool = False) -> Any:
    """Compile a module-level function of tickets, arrays and scalars that all threads of the team run together.

    Args: see `ParallelKernel` and `kernel`.
    """
    if function is None:
        return lambda function: ParallelKernel(function, loops, allocates=allocates)
    return ParallelKernel(function, loops, allocates=allocates)
