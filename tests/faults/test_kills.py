"""Bakes killed at random moments lose nothing and produce the same bytes."""

import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_killed_at_any_moment_a_bake_resumes_to_the_same_bytes(request: pytest.FixtureRequest) -> None:
    kills = request.config.getoption("--kills", default=10)
    # a process of its own: only one without threads can be forked
    done = subprocess.run([sys.executable, "-m", "tests.faults.kills", str(kills)], check=False, timeout=600 + 10 * kills)
    assert done.returncode == 0
