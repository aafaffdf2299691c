"""Files of sections: every bit is checked, no stated size is trusted, and the bytes depend only on the content."""

import hashlib
import random
from pathlib import Path

import pytest
import zstandard

from mpm_addon.storage import container
from mpm_addon.storage.arrays import ArrayFileError
from mpm_addon.storage.container import read_container, write_container

SECTIONS = [b"", bytes(1000), random.Random(0).randbytes(500)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_container(tmp_path / "x.mpm", "frame", {"number": 3}, SECTIONS)
    return tmp_path / "x.mpm"


def contents(path: Path) -> list[bytes]:
    read = read_container(path, "frame")
    return [read.section(number, len(section)) for number, section in enumerate(SECTIONS)]


def test_what_was_written_is_read(path: Path, tmp_path: Path) -> None:
    assert read_container(path, "frame").header["number"] == 3
    assert contents(path) == SECTIONS
    written = write_container(tmp_path / "y.mpm", "frame", {"number": 3}, SECTIONS)
    assert (tmp_path / "y.mpm").read_bytes() == path.read_bytes()
    assert (written.size, written.sha256) == (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())


def test_every_flipped_bit_is_found_or_means_nothing(path: Path) -> None:
    whole, unnoticed = path.read_bytes(), 0
    for place in range(8 * len(whole)):
        changed = bytearray(whole)
        changed[place // 8] ^= 1 << place % 8
        path.write_bytes(changed)
        try:
            assert contents(path) == SECTIONS
            unnoticed += 1
        except ArrayFileError:
            continue
    # zstandard has a few bits that are not used
    assert unnoticed < 0.02 * 8 * len(whole)


def test_what_is_cut_off_or_appended_is_found(path: Path) -> None:
    whole = path.read_bytes()
    for changed in (*(whole[:length] for length in range(len(whole))), whole + b"x"):
        path.write_bytes(changed)
        with pytest.raises(ArrayFileError):
            contents(path)


def test_another_kind_is_named(path: Path) -> None:
    with pytest.raises(ArrayFileError, match="is 'frame', schema 2, not a births that this version supports"):
        read_container(path, "births")


def test_more_than_the_memory_is_refused_before_it_is_allocated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "_ALWAYS_FITS", 1000)
    monkeypatch.setattr(container, "available_memory", lambda: 1200)
    with pytest.raises(ArrayFileError, match="GB is available"):
        read_container(path, "frame")


def test_a_section_that_unpacks_to_more_than_it_says_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packer = zstandard.ZstdCompressor(write_checksum=True)
    bomb = packer.compress(bytes(10**7))

    class Packer:
        def __init__(self, **_: object) -> None:
            pass

        def compress(self, data: bytes) -> bytes:
            return bomb if data == SECTIONS[1] else packer.compress(data)

    with monkeypatch.context() as patch:
        patch.setattr(container.zstandard, "ZstdCompressor", Packer)
        write_container(path, "frame", {}, SECTIONS)
    with pytest.raises(ArrayFileError, match="does not have the length that it states"):
        contents(path)
