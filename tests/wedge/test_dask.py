"""Wedges on a Dask cluster, which LocalCluster starts with workers in separate processes."""

import hashlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import distributed
import pytest

from mpm_addon.core.errors import MpmError
from mpm_addon.storage import open_cache
from mpm_addon.storage.installation import version
from mpm_addon.wedge.cluster import _check_workers, _slots_beside, dask_cluster, what_is_wrong
from tests.storage.stand_in import HALT_FRAME, write_small_scene
from tests.wedge.conftest import bake, environment, start, states
from tests.wedge.stand_in_wedge import SCRIPT, UNLUCKY
from tests.wedge.test_wedge import assert_whole, ends, running_bakes


@pytest.fixture(scope="module")
def halt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """While there is a file of this name, the cluster's bakes wait."""
    return tmp_path_factory.mktemp("cluster") / "halt"


@pytest.fixture(scope="module")
def scheduler(halt: Path) -> Iterator[str]:
    """The address of a cluster of two workers with a thread each, which bake with the stand-in."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, preload=str(SCRIPT), env=environment(halt)
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.slow
def test_the_workers_bake_and_one_that_fails_stops_no_other(scheduler: str, tmp_path: Path) -> None:
    scene, output = write_small_scene(tmp_path / "scene"), tmp_path / "wedge"
    arguments = (scene, "--vary", f"solver.seed=1,{UNLUCKY},3", "--output", output, "--scheduler", scheduler)
    status, events, complaints = bake(*arguments)
    assert status == 1
    # the library may complain of its own connections before
    assert any(line.startswith(f'mpm: seed_{UNLUCKY}: Material "jelly": unstable at frame 3') for line in complaints.splitlines())
    assert events[0]["jobs"] == 2
    assert states(output) == {"seed_1": "done", f"seed_{UNLUCKY}": "failed", "seed_3": "done"}
    assert_whole(output, "seed_3")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_interrupted_it_stops_the_workers_and_goes_on_later(scheduler: str, halt: Path, tmp_path: Path) -> None:
    scene, output = write_small_scene(tmp_path / "scene", frame_end=20), tmp_path / "wedge"
    arguments = (scene, "--vary", "solver.seed=1,2,3", "--output", output, "--scheduler", scheduler)
    halt.touch()
    with start(*arguments) as process:
        pids = running_bakes(process, output, 2)
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=120)
    assert (process.returncode, complaints.count("\n")) == (130, 1)
    assert all(ends(pid) for pid in pids)
    assert 0 < len(open_cache(output / "caches" / "seed_1").frames) <= HALT_FRAME
    halt.unlink()
    assert bake(*arguments)[0] == 0
    assert_whole(output, "seed_1")


@pytest.mark.parametrize("address", ["farm", "tcp://farm", "tcp://:8786", "tcp://farm:port"])
def test_an_odd_address_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(MpmError, match=f"^--scheduler {address} is not an address"), dask_cluster(address, tmp_path, None, None):
        pass


def test_without_dask_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MpmError, match="needs the package distributed"), dask_cluster("tcp://farm:8786", tmp_path, None, None):
        pass


def test_a_worker_says_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wedge.json").write_text(json.dumps({}))
    digest = hashlib.sha256(b"{}").hexdigest()
    assert what_is_wrong(str(tmp_path), digest, version()) == ()
    assert "has version" in what_is_wrong(str(tmp_path), digest, "0.0.1")[0]
    assert "cannot find" in what_is_wrong(str(tmp_path / "elsewhere"), digest, version())[0]
    assert "cannot find" in what_is_wrong(str(tmp_path), "another folder of that name", version())[0]
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert "lacks the package numba" in what_is_wrong(str(tmp_path), digest, version())[0]


def test_a_worker_that_cannot_bake_is_named(tmp_path: Path) -> None:
    class Client:
        def run(self, *_: Any, **__: Any) -> dict[str, Any]:
            return {"tcp://a:1": (), "tcp://b:2": ModuleNotFoundError("No module named 'mpm_addon'")}

    (tmp_path / "wedge.json").touch()
    with pytest.raises(MpmError, match=r"^worker tcp://b:2 cannot run mpm_addon \(ModuleNotFoundError: No module named 'mpm_addon'\)"):
        _check_workers(Client(), tmp_path)


def test_the_workers_of_a_computer_share_its_cores() -> None:
    slots = _slots_beside({"tcp://a:1": 2, "tcp://a:2": 1, "tcp://b:1": 4})
    assert slots == {"tcp://a:1": 3, "tcp://a:2": 3, "tcp://b:1": 4}
