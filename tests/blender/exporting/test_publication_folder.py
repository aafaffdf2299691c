"""A publication that fails, or is killed, leaves the earlier one as it was."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from mpm_addon.blender.exporting import publication_folder
from mpm_addon.blender.exporting.publication_folder import MANIFEST, replacing, write_manifest
from mpm_addon.core.errors import MpmError

pytestmark = pytest.mark.usefixtures("bpy")


class Killed(BaseException):
    """Ends a process without any handler."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "out"


FULL = OSError("No space left on device")


def write(folder: Path, name: str, error: BaseException | None = None) -> None:
    """Publish a file of points and a .blend, or end with an error before the manifest."""
    with replacing(folder, folder / f"{name}.blend"):
        (folder / "points").mkdir()
        (folder / "points" / f"{name}.usdc").write_text(name)
        (folder / f"{name}.blend").write_text(name)
        if error is not None:
            raise error
        write_manifest(folder, {"blend": f"{name}.blend"})


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def whole(name: str) -> set[str]:
    return {f"{name}.blend", MANIFEST, str(Path("points") / f"{name}.usdc")}


def test_a_new_publication_replaces_an_earlier_one_with_its_files_alone(folder: Path) -> None:
    write(folder, "first")
    assert files(folder) == whole("first")
    write(folder, "second")
    assert files(folder) == whole("second")


def test_a_publication_that_fails_leaves_the_earlier_one(folder: Path) -> None:
    write(folder, "first")
    for name in ("second", "first"):
        with pytest.raises(OSError, match="No space left"):
            write(folder, name, FULL)
        assert files(folder) == whole("first")
        assert (folder / "points" / "first.usdc").read_text() == "first"


def test_a_first_publication_that_fails_leaves_a_folder_that_can_be_used_again(folder: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        write(folder, "first", FULL)
    assert files(folder) == set()
    write(folder, "first")
    assert files(folder) == whole("first")


@pytest.mark.parametrize(
    ("moves", "error", "expected"),
    [(0, None, "first"), (1, None, "first"), (2, None, "first"), (3, Killed(), "first"), (3, None, "second"), (4, None, "second")],
    ids=["at the .blend", "at the points", "at the manifest", "before the new manifest", "at the end", "later"],
)
def test_whenever_it_is_killed_a_whole_publication_is_left(
    folder: Path, monkeypatch: pytest.MonkeyPatch, moves: int, error: BaseException | None, expected: str
) -> None:
    """Killed at each move of a file in turn, or in between: the next publication, which fails too, begins with what was whole."""
    write(folder, "first")
    left = moves

    def rename(path: Path, target: Path, original: Callable[[Path, Path], Path] = Path.rename) -> Path:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return original(path, target)

    with monkeypatch.context() as patch, suppress(Killed):
        patch.setattr(Path, "rename", rename)
        # a killed process handles nothing
        patch.setattr(publication_folder, "_recover", lambda *_: None)
        write(folder, "second", error)
    with pytest.raises(OSError, match="No space left"):
        write(folder, "second", FULL)
    assert files(folder) == whole(expected)


def test_a_folder_of_other_files_is_refused_and_stays(folder: Path) -> None:
    (folder / "earlier").mkdir(parents=True)
    (folder / "earlier" / "thesis.txt").write_text("mine")
    with pytest.raises(MpmError, match="contains other files; choose a new or empty folder"):
        write(folder, "first")
    assert files(folder) == {str(Path("earlier") / "thesis.txt")}


def test_a_manifest_names_no_file_outside_its_folder(folder: Path) -> None:
    write(folder, "first")
    (folder.parent / "mine.blend").write_text("mine")
    (folder / MANIFEST).write_text(f'{{"kind": "{publication_folder.KIND}", "blend": "../mine.blend"}}')
    write(folder, "second")
    assert (folder.parent / "mine.blend").read_text() == "mine"
