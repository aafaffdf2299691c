"""Stored kernels: used if they are intact and of these sources, compiled again otherwise; they never stop a bake."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.compilation.kernel_files import Archive, Store, packed, unpacked, write_archive

ROOT = Path(__file__).resolve().parents[3]
NAME = "grid.update_grid.0123456789abcdef.kernel"

# compiles three kernels, one of them parallel, in so many processes, and calls one
JOB = """
import json, sys
from numba.core.compiler import CompilerBase
compiled = []
before = CompilerBase._compile_core
def count(self):
    compiled.append(self.state.func_id.func_qualname)
    return before(self)
CompilerBase._compile_core = count
import numpy as np
from mpm_addon.core.stepping import compiling
from mpm_addon.core.stepping.kernel_list import Unit, Variant
from mpm_addon.core.compilation.kernel import store
from mpm_addon.core.transfer.sorting import count_arrivals
names = {"transfer.sorting.count_arrivals": "step", "transfer.sorting.find_goers": "step", "transfer.reach.mark_reached": "obstacles"}
units = [Unit(group, name, Variant()) for name, group in names.items()]
missing = len(compiling.missing_of(units))
compiling.make_ready(units, int(sys.argv[1]), lambda done, total: None)
moves = np.arange(27, dtype=np.int32).reshape(1, 1, 27)
arrivals = np.zeros((2, 1), np.int64)
count_arrivals(moves, np.full((2, 27), 0), arrivals)
print(json.dumps({"compiled": len(compiled), "missing": missing, "sum": int(arrivals.sum()), "folder": str(store().folder),
    "problems": [str(problem) for problem in compiling.kernel_problems()]}))
"""


def job(folder: Path, processes: int = 1, **environment: str) -> dict:
    """The report of a process that needs three kernels."""
    given = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run([sys.executable, "-c", JOB, str(processes)], cwd=ROOT, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    folder = tmp_path_factory.mktemp("kernels")
    return folder, job(folder)


@pytest.fixture
def copied(compiled: tuple[Path, dict], tmp_path: Path) -> tuple[Path, list[Path]]:
    """A copy of the stored kernels, and two of the files."""
    shutil.copytree(compiled[0], tmp_path / "kernels")
    files = sorted((tmp_path / "kernels").rglob("*.kernel"))
    return tmp_path / "kernels", [file for file in files if file.name.startswith(("sorting.count_arrivals", "reach.mark_reached"))]


def test_a_second_process_loads_what_the_first_compiled_and_no_compiler_runs(compiled: tuple[Path, dict]) -> None:
    folder, first = compiled
    assert first["missing"] == 3
    assert first["compiled"] > 0
    second = job(folder)
    assert (second["missing"], second["compiled"]) == (0, 0)
    assert second["sum"] == first["sum"] == np.arange(27).sum()


def test_several_processes_compile_and_this_one_only_loads(tmp_path: Path) -> None:
    found = job(tmp_path, processes=2)
    assert (found["missing"], found["compiled"]) == (3, 0)
    assert found["sum"] == np.arange(27).sum()


@pytest.mark.parametrize(
    "damage",
    ["cut off", "one bit", "foreign", *(pytest.param(each, marks=pytest.mark.long) for each in ("empty", "no code", "unreadable"))],
)
def test_a_damaged_kernel_is_compiled_again_with_one_line(copied: tuple[Path, list[Path]], damage: str) -> None:
    folder, files = copied
    assert len(files) == 2
    for file in files:
        content = bytearray(file.read_bytes())
        if damage == "empty":
            file.write_bytes(b"")
        elif damage == "cut off":
            file.write_bytes(content[: len(content) // 2])
        elif damage == "one bit":
            content[len(content) // 2] ^= 1
            file.write_bytes(content)
        elif damage == "foreign":
            # whole, but of a package that is not there: as a kernel would be that another copy of the extension had kept
            file.write_bytes(packed_foreign())
        elif damage == "no code":
            file.write_bytes(packed({"of": "another program"}))
        else:
            file.unlink()
            file.mkdir()
    told = job(folder)
    assert told["sum"] == 351
    assert told["compiled"] > 0
    if damage == "unreadable":
        # where a folder has its name, the kernel cannot be kept either
        (line,) = told["problems"]
        assert "cannot be stored" in line
        return
    assert len(told["problems"]) == 2
    assert all("compiled again" in line and "\n" not in line for line in told["problems"])
    again = job(folder)
    assert (again["compiled"], again["problems"]) == (0, [])


def packed_foreign() -> bytes:
    """A pickle that names a module that does not exist."""
    import hashlib

    import zstandard

    body = zstandard.compress(b"cbl_ext.user_default.mpm_addon.core.laws.water\nWaterConstants\n.")
    return hashlib.sha256(body).digest() + body


def test_kernels_of_other_sources_are_in_another_folder(compiled: tuple[Path, dict], tmp_path: Path) -> None:
    copy = tmp_path / "source" / "mpm_addon"
    shutil.copytree(ROOT / "mpm_addon", copy, ignore=shutil.ignore_patterns("__pycache__"))
    law = copy / "core" / "laws" / "water.py"
    law.write_text(law.read_text() + "\n# changed\n")
    given = {**os.environ, "NUMBA_CACHE_DIR": str(compiled[0]), "PYTHONPATH": str(copy.parent)}
    done = subprocess.run([sys.executable, "-c", JOB, "1"], cwd=copy.parent, env=given, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["missing"] == 3
    assert told["folder"] != compiled[1]["folder"]


def test_a_folder_that_cannot_be_written_costs_compiling_and_one_line(tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    told = job(blocked)
    assert told["sum"] == 351
    (line,) = told["problems"]
    assert "cannot be stored" in line
    assert "NUMBA_CACHE_DIR" in line


def test_a_full_disk_is_one_line_for_all_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(Archive(tmp_path / "none.zip", "key"), tmp_path / "kernels")

    def full(*arguments: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mpm_addon.core.compilation.kernel_files.tempfile.NamedTemporaryFile", full)
    store.save(NAME, [1])
    store.save("another.kernel", [2])
    assert len(store.problems) == 1
    assert "No space left on device" in str(store.problems[0])
    assert store.load(NAME) is None


def test_what_is_packed_is_unpacked() -> None:
    assert unpacked(packed({"a": (1, b"2")})) == {"a": (1, b"2")}
    with pytest.raises(ValueError, match="checksum"):
        unpacked(packed([1])[:-1])


class TestArchive:
    """Kernels that are shipped."""

    def write(self, folder: Path, key: str = "key") -> Path:
        path = folder / "x86-64-v3.zip"
        write_archive(path, key, {NAME: packed([1, 2])})
        return path

    def test_is_read(self, tmp_path: Path) -> None:
        store = Store(Archive(self.write(tmp_path), "key"), tmp_path / "kernels")
        assert store.has(NAME)
        assert store.load(NAME) == [1, 2]
        assert not store.has("another.kernel")
        assert store.problems == []

    def test_has_the_same_bytes_for_the_same_kernels(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        assert self.write(tmp_path / "a").read_bytes() == self.write(tmp_path / "b").read_bytes()

    def test_of_other_sources_is_not_used(self, tmp_path: Path) -> None:
        store = Store(Archive(self.write(tmp_path, "older"), "key"), tmp_path / "kernels")
        assert not store.has(NAME)
        assert store.load(NAME) is None
        assert "belongs to another version" in str(store.problems[0])

    @pytest.mark.parametrize("length", [0, 10, 200])
    def test_that_is_cut_off_is_not_used(self, tmp_path: Path, length: int) -> None:
        path = self.write(tmp_path)
        path.write_bytes(path.read_bytes()[:length])
        store = Store(Archive(path, "key"), tmp_path / "kernels")
        assert store.load(NAME) is None
        assert "cannot be read" in str(store.problems[0])

    def test_that_was_tampered_with_is_compiled_again(self, tmp_path: Path) -> None:
        path = self.write(tmp_path)
        content = bytearray(path.read_bytes())
        content[content.index(NAME.encode()) + len(NAME) + 40] ^= 1
        path.write_bytes(content)
        store = Store(Archive(path, "key"), tmp_path / "kernels")
        assert store.load(NAME) is None
        assert "compiled again" in str(store.problems[0])
        assert not store.has(NAME)
        # what was made anew is found from then on, also by the next process
        store.save(NAME, [1, 2])
        assert Store(Archive(path, "key"), tmp_path / "kernels").load(NAME) == [1, 2]
