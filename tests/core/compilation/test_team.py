"""Teams of threads: every piece runs exactly once, even if threads are late or fail."""

import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from mpm_addon.core.compilation import team as teams
from mpm_addon.core.compilation.team import Team, parallel_kernel
from mpm_addon.core.compilation.tickets import ROW, shared, wait_for


@parallel_kernel
def count_visits(tickets, visits, grain):
    for number in shared(tickets[0], visits.size, grain):
        visits[number] += 1


@parallel_kernel(loops=lambda *arguments: 2)
def sum_twice(tickets, values, sums):
    """The sums of each half into the first row, then their total into the second by each piece."""
    half = values.size // 2
    for part in shared(tickets[0], 2, 1):
        for index in range(part * half, (part + 1) * half):
            sums[0, part] += values[index]
    wait_for(tickets[0])
    for part in shared(tickets[1], 2, 1):
        sums[1, part] = sums[0, 0] + sums[0, 1]


@pytest.fixture(params=[1, 2, 5])
def team(request: pytest.FixtureRequest) -> Iterator[Team]:
    team = Team(request.param)
    yield team
    team.close()


def run(team: Team, kernel: teams.ParallelKernel, loops: int, *arguments: object) -> None:
    team.run(kernel.dispatcher, np.zeros((loops, ROW), np.int64), arguments)


def test_a_call_keeps_nothing_that_it_was_given() -> None:
    """A bake of a hundred thousand substeps takes no more memory than one of ten."""
    team = Team(1)
    tickets, visits = np.zeros((1, ROW), np.int64), np.zeros(100, np.int64)
    before = sys.getrefcount(tickets), sys.getrefcount(visits)
    for _ in range(10):
        tickets[:] = 0
        team.run(count_visits.dispatcher, tickets, (visits, 4))
    assert (visits == 10).all()
    assert (sys.getrefcount(tickets), sys.getrefcount(visits)) == before


@pytest.mark.parametrize("count", [0, 1, 7, 1000])
@pytest.mark.parametrize("grain", [1, 16])
def test_every_piece_is_handed_out_once(team: Team, count: int, grain: int) -> None:
    for _ in range(20):
        visits = np.zeros(count, np.int64)
        run(team, count_visits, 1, visits, grain)
        assert (visits == 1).all()


def test_a_loop_sees_what_the_loop_before_it_wrote(team: Team) -> None:
    values = np.arange(200_000.0)
    for _ in range(20):
        sums = np.zeros((2, 2))
        run(team, sum_twice, 2, values, sums)
        assert (sums[1] == values.sum()).all()


def test_a_thread_that_comes_late_does_nothing_even_where_the_arrays_say_more_by_then() -> None:
    """Its arguments are those of a call that is over; an array that has grown must not give it a piece."""
    tickets, visits = np.zeros((1, ROW), np.int64), np.zeros(8, np.int64)
    count_visits.dispatcher(tickets, visits[:4], 1)
    count_visits.dispatcher(tickets, visits, 1)
    assert visits.tolist() == [1, 1, 1, 1, 0, 0, 0, 0]


def test_a_thread_that_never_runs_is_not_waited_for() -> None:
    team = Team(2)
    entered, may_leave = threading.Event(), threading.Event()

    def busy(tickets: object) -> None:
        if threading.current_thread().name.startswith("kernels"):
            entered.set()
            may_leave.wait()

    team.run(busy, np.zeros((1, ROW), np.int64), ())
    # the helping thread holds no piece of this call, and none of the next
    visits = np.zeros(100, np.int64)
    run(team, count_visits, 1, visits, 1)
    assert (visits == 1).all()
    may_leave.set()
    team.close()


def test_what_fails_in_another_thread_fails_the_call() -> None:
    team = Team(2)

    def failing(tickets: np.ndarray) -> None:
        if threading.current_thread().name.startswith("kernels"):
            raise MemoryError("no room")
        count_visits.dispatcher(tickets, np.zeros(1, np.int64), 1)
        tickets[0, 8] = 0  # as if the piece were in the other thread's hands
        time.sleep(0.2)

    with pytest.raises(MemoryError, match="no room"):
        team.run(failing, np.zeros((1, ROW), np.int64), ())
    team.close()


def test_two_callers_at_once_both_get_all_their_pieces() -> None:
    team = Team(3)
    results = [np.zeros(2000, np.int64) for _ in range(4)]

    def call(visits: np.ndarray) -> None:
        for _ in range(200):
            run(team, count_visits, 1, visits, 1)

    callers = [threading.Thread(target=call, args=(visits,)) for visits in results]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((visits == 200).all() for visits in results)
    team.close()


def test_closed_teams_leave_no_threads() -> None:
    team = Team(4)
    run(team, count_visits, 1, np.zeros(10, np.int64), 1)
    team.close()
    deadline = time.monotonic() + 120.0
    while any(thread.name.startswith("kernels") for thread in team.threads if thread.is_alive()):
        assert time.monotonic() < deadline
