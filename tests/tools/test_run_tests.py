"""The tests of each group."""

from __future__ import annotations

import subprocess
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
import run_everything
import run_tests
from environments import DEVELOPMENT_BLENDER, ENVIRONMENTS


def test_every_folder_of_tests_is_in_a_group() -> None:
    there = {file.relative_to(run_tests.ROOT / "tests").parts[0] for file in (run_tests.ROOT / "tests").rglob("test_*.py")}
    assert there == {folder for group in run_tests.groups().values() for folder in group.folders}


def clone(folder: Path, **tests: str) -> Path:
    """A repository with one test in each of these folders of tests/."""
    for name, body in tests.items():
        (folder / "tests" / name).mkdir(parents=True)
        (folder / "tests" / name / f"test_{name}.py").write_text(f"import os\n\ndef test_{name}():\n    {body}\n", encoding="utf-8")
    return folder


def counts(outcome: run_tests.Outcome) -> str:
    return outcome.line.partition(" in ")[0].removeprefix(f"tests: Blender {DEVELOPMENT_BLENDER} ")


def test_a_folder_that_is_ignored_is_left_out_of_its_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tests, "ROOT", clone(tmp_path, storage="pass", cli="pass"))
    run = [run_tests.run_group("plain", ENVIRONMENTS[DEVELOPMENT_BLENDER], more) for more in ([], ["--ignore=tests/cli"])]
    assert [counts(outcome) for outcome in run] == ["plain    ok     2 passed", "plain    ok     1 passed"]


def test_groups_leave_cores_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The installed extension uses all of them, as it does for a user."""
    monkeypatch.setattr(
        run_tests,
        "ROOT",
        clone(
            tmp_path,
            everyday="assert os.environ['NUMBA_NUM_THREADS'] == '3'",
            cli="assert os.environ['NUMBA_NUM_THREADS'] == '3'",
            blender_real="assert 'NUMBA_NUM_THREADS' not in os.environ",
        ),
    )
    monkeypatch.setattr(run_tests.os, "cpu_count", lambda: 6)
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    environment = ENVIRONMENTS[DEVELOPMENT_BLENDER]
    run = [run_tests.run_group(name, environment, [], processes=2) for name in ("everyday", "plain", "install")]
    assert [counts(outcome) for outcome in run] == ["everyday ok     1 passed", "plain    ok     1 passed", "install  ok     1 passed"]
    assert run_tests.run_group("everyday", environment, [], processes=1).status == 1


def test_bytecode_is_kept_even_if_the_caller_keeps_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tests, "ROOT", clone(tmp_path, cli="import sys; assert not sys.dont_write_bytecode"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert run_tests.run_group("plain", ENVIRONMENTS[DEVELOPMENT_BLENDER], []).status == 0


def test_everything_runs_every_group_and_the_blender_layer_everywhere() -> None:
    usual = {name for name, group in run_tests.groups().items() if not group.is_on_demand}
    whole = {(job.group, job.blender) for job in run_everything.JOBS if job == run_everything.Job(job.blender, job.group)}
    # what needs no Blender runs whole here, the Blender layer in the newest one, and the installed extension in the oldest, too
    assert whole == {
        *((group, DEVELOPMENT_BLENDER) for group in usual - {"bpy", "install"}),
        *((group, "5.2") for group in ("bpy", "install")),
        ("install", "4.2"),
    }
    assert {job.blender for job in run_everything.JOBS if job.group == "bpy"} == set(ENVIRONMENTS)
    assert {ENVIRONMENTS[job.blender].python for job in run_everything.JOBS} == {each.python for each in ENVIRONMENTS.values()}
    assert len(set(run_everything.JOBS)) == len(run_everything.JOBS)


def ended(status: int) -> Future[run_tests.Outcome]:
    """What has ended with a status."""
    future: Future[run_tests.Outcome] = Future()
    future.set_result(run_tests.Outcome(status, ""))
    return future


def test_a_job_without_its_environment_fails_and_says_so() -> None:
    outcome = run_everything.run_job(run_everything.Job("4.2", "fake"), ended(1), ended(0), 1)
    assert outcome == run_tests.Outcome(1, "tests: Blender 4.2 fake     FAILED its environment is missing")


def test_kernels_without_their_environment_fail_and_say_so() -> None:
    assert run_everything.compile_for("4.2", ended(1)) == run_tests.Outcome(1, "kernels: Blender 4.2 FAILED its environment is missing")


@pytest.mark.parametrize(("status", "line"), [(0, "kernels: Python 3.13 ok"), (1, "kernels: Python 3.13 FAILED")])
def test_kernels_are_compiled_by_one_process(monkeypatch: pytest.MonkeyPatch, status: int, line: str) -> None:
    commands = []

    def run(command: list[str], **_options: object) -> subprocess.CompletedProcess[str]:
        commands.append(command[1:])
        return subprocess.CompletedProcess(command, status)

    monkeypatch.setattr(run_tests.subprocess, "run", run)
    assert run_everything.compile_for("5.2", ended(0)) == run_tests.Outcome(status, line)
    assert commands == [["-m", "mpm_addon", "kernels", "--threads", "1"]]


def test_a_job_waits_for_its_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()
    monkeypatch.setattr(run_everything, "run_group", lambda *_: begun.set())
    compiled: Future[run_tests.Outcome] = Future()
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(run_everything.run_job, run_everything.Job("4.5", "core"), ended(0), compiled, 2)
        assert not begun.wait(0.2)
        compiled.set_result(run_tests.Outcome(0, ""))
        job.result()
    assert begun.is_set()


@pytest.mark.parametrize(
    ("blender", "group", "processes"),
    [(DEVELOPMENT_BLENDER, "core", 2), ("5.2", "core", 1), ("5.2", "plain", 1), ("5.2", "bpy", 2), ("4.2", "bpy", 2)],
)
def test_what_is_repeated_without_blender_runs_on_all_cores(
    monkeypatch: pytest.MonkeyPatch, blender: str, group: str, processes: int
) -> None:
    given = []
    monkeypatch.setattr(run_everything, "run_group", lambda *arguments: given.append(arguments[-1]))
    run_everything.run_job(run_everything.Job(blender, group), ended(0), ended(0), 2)
    assert given == [processes]
