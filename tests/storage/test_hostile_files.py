"""Files from the internet are data: every known attack is refused in one line, at once and without allocating memory."""

import os
import struct
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from mpm_addon.core.errors import MpmError, SceneError
from mpm_addon.core.messages import LONGEST
from mpm_addon.storage import arrays, read_scene
from mpm_addon.storage.arrays import ArrayFileError, read_arrays
from mpm_addon.storage.meshes import read_mesh

SCENE = """
schema = 1
[solver]
grid_spacing = 0.1
[materials.jelly]
law = "corotated"
[[emitters]]
name = "Cube"
material = "jelly"
shape = { kind = "mesh", file = 'FILE' }
"""

posix = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes as Unix has them")


def refusal(folder: Path, file: str, scene: str = SCENE) -> str:
    """What a package says whose emitter names a file."""
    (folder / "scene.toml").write_text(scene.replace("FILE", file), encoding="utf-8")
    with pytest.raises(SceneError) as error:
        read_scene(folder)
    assert str(error.value).isprintable() and len(str(error.value)) <= LONGEST
    return str(error.value)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "package").mkdir()
    np.savez(tmp_path / "secret.npz", vertices=np.eye(3), triangles=[[0, 1, 2]])
    return tmp_path / "package"


@pytest.mark.parametrize(
    "name",
    [
        "../secret.npz", "/etc/passwd", "a/../../secret.npz", "..\\secret.npz", "C:\\secret.npz", "C:secret.npz", "\\secret.npz",
        "\\\\server\\share\\x.npz", "//server/share/x.npz", "\\\\.\\COM1", "\\\\?\\C:\\x.npz",
    ],
)  # fmt: skip
def test_no_path_leaves_the_package(package: Path, name: str) -> None:
    assert "is outside the scene's folder" in refusal(package, name)


@posix
def test_no_link_leaves_the_package(package: Path) -> None:
    (package / "x.npz").symlink_to(package.parent / "secret.npz")
    (package / "folder").symlink_to(package.parent)
    assert "is outside the scene's folder" in refusal(package, "x.npz")
    assert "is outside the scene's folder" in refusal(package, "folder/secret.npz")


@posix
def test_links_in_a_circle_and_names_that_are_too_long_are_refused(package: Path) -> None:
    (package / "x.npz").symlink_to(package / "x.npz")
    assert "check the path" in refusal(package, "x.npz")
    assert "cannot be found (File name too long)" in refusal(package, "x" * 300 + ".npz")


@posix
@pytest.mark.parametrize("name", ["cube.npz", "cube.ply", "cube.obj"])
def test_a_pipe_that_nobody_fills_does_not_block(package: Path, name: str) -> None:
    os.mkfifo(package / name)
    assert "does not exist" in refusal(package, name)
    (package / "scene.toml").unlink()
    os.mkfifo(package / "scene.toml")
    with pytest.raises(SceneError, match="it is not a regular file"):
        read_scene(package)


@posix
def test_a_scene_that_is_a_device_is_refused(package: Path) -> None:
    (package / "scene.toml").symlink_to("/dev/zero")
    with pytest.raises(SceneError, match="it is not a regular file"):
        read_scene(package)


@pytest.mark.parametrize(
    "line",
    [
        "description = " + "9" * 100_000,
        "description = 0x" + "f" * 100_000,
        "description = 1" + "0" * 400,
        "description = " + "[" * 100_000,
        "description = " + "[" * 40 + "]" * 40,
        "a." * 40_000 + "a = 1",
        "[" + "a." * 40_000 + "a]",
        "'a'.\"b\" . " * 40 + "a = 1",
        "name." + "a." * 30 + "b = 1",
        'name = "a\\u0000b"',
        'name = "\\u001b[2J"',
        'name = "\\u202egnp.exe"',
        "name = 1979-05-27T07:32:00Z",
        "\0",
        '"\\n' + "x" * 10_000 + '" = 1',
    ],
    ids=lambda line: line[:20],
)
def test_a_scene_file_that_is_a_trap_is_refused_at_once(package: Path, line: str) -> None:
    tracemalloc.start()
    try:
        refusal(package, "x.npz", f"{line}\n{SCENE}")
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


def test_a_scene_file_of_a_gigabyte_is_not_read(package: Path) -> None:
    with open(package / "scene.toml", "wb") as file:
        file.truncate(10**9)
    with pytest.raises(SceneError, match="more than 16 MB"):
        read_scene(package)


def npy(descr: str, shape: str) -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header


def test_an_archive_that_unpacks_to_more_than_its_size_allows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "ALWAYS_ALLOWED", 10**7)
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.npy", "w") as member:
        member.write(npy("'|u1'", f"({20 << 20},)"))
        for _ in range(20):
            member.write(bytes(1 << 20))
    with pytest.raises(ArrayFileError, match=r"its arrays need 0\.021 GB"):
        read_arrays(tmp_path / "x.npz")


def test_many_members_that_share_their_bytes_are_refused_by_their_sum(tmp_path: Path) -> None:
    content = npy("'|u1'", f"({1 << 20},)") + bytes(1 << 20)
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", content)
        first = archive.infolist()[0]
        for number in range(900):
            other = zipfile.ZipInfo(f"{number}.npy")
            for name in ("compress_type", "CRC", "compress_size", "file_size", "header_offset"):
                setattr(other, name, getattr(first, name))
            archive.filelist.append(other)
    with pytest.raises(ArrayFileError, match="its arrays need"):
        read_arrays(tmp_path / "x.npz")


def test_a_false_length_takes_no_memory(tmp_path: Path) -> None:
    content = npy("'|u1'", f"({200 << 20},)")
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("a.npy", content)
        archive.infolist()[0].file_size = len(content) + (200 << 20)
    tracemalloc.start()
    try:
        with pytest.raises(ArrayFileError):
            read_arrays(tmp_path / "x.npz")
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("descr", "shape"),
    [("'|S3'", "(1,)"), ("'<U3'", "(1,)"), ("'<c16'", "(1,)"), ("'<M8[s]'", "(1,)"), ("[('a', '<f8')]", "(1,)"), ("'|O'", "(1,)"),
     ("'|V8'", "(1,)"), ("'<f8'", "(-1, -2)"), ("'<f8'", "(0, 10**9)"), ("'<f8'", "(0, 1000000000000000000000)"),
     ("'<f8'", "(" + "-" * 5000 + "1,)"), ("__import__('os')", "(1,)"), ("'(9,9)f8'", "(1,)")],
)  # fmt: skip
def test_anything_but_arrays_of_numbers_is_refused(tmp_path: Path, descr: str, shape: str) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("a.npy", npy(descr, shape) + bytes(24))
    with pytest.raises(ArrayFileError):
        read_arrays(tmp_path / "x.npz")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_that_numpy_does_not_write_are_refused(tmp_path: Path) -> None:
    def read(**members: bytes) -> None:
        read_arrays(tmp_path / "x.npz")

    content = npy("'|u1'", "(1,)") + b"\1"
    for names, method, words in (
        (["a.npy"] * 2, zipfile.ZIP_STORED, "the same name"),
        (["a.npy"], zipfile.ZIP_LZMA, "compressed by a method"),
    ):
        with zipfile.ZipFile(tmp_path / "x.npz", "w", method) as archive:
            for name in names:
                archive.writestr(name, content)
        with pytest.raises(ArrayFileError, match=words):
            read()
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        for number in range(1001):
            archive.writestr(f"{number}.npy", content)
    with pytest.raises(ArrayFileError, match="at most 1000 are read"):
        read()


PLY = (
    "ply\nformat {}\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n"
    "element face {}\nproperty list {} {} vertex_indices\nend_header\n"
)


@pytest.mark.parametrize(
    ("form", "vertices", "faces", "count_type", "index_type", "body"),
    [
        ("ascii 1.0", 10**12, 0, "uchar", "int", b""),
        ("binary_little_endian 1.0", 10**12, 0, "uchar", "int", b""),
        ("binary_little_endian 1.0", 0, 10**12, "uchar", "int", b""),
        ("binary_little_endian 1.0", 1, 1, "uint", "double", bytes(12) + b"\xff\xff\xff\xff"),
        ("ascii 1.0", 3, 1, "uchar", "float", b"0 0 0\n1 0 0\n0 1 0\n3 nan 1 2\n"),
        ("ascii 1.0", 3, 1, "uchar", "int", b"0 0 0\n1 0 0\n0 1 0\n99999999999999999999 0 1 2\n"),
        ("ascii 1.0\ncomment end_header", 10**12, 0, "uchar", "int", b""),
        ("ascii 1.0\ncomment " + "x" * 200_000, 10**12, 0, "uchar", "int", b""),
    ],
)
def test_sizes_stated_by_a_ply_file_are_not_trusted(
    tmp_path: Path, form: str, vertices: int, faces: int, count_type: str, index_type: str, body: bytes
) -> None:
    (tmp_path / "x.ply").write_bytes(PLY.format(form, vertices, faces, count_type, index_type).encode() + body)
    tracemalloc.start()
    try:
        with pytest.raises(ArrayFileError):
            read_mesh(tmp_path / "x.ply")
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        "v 1 2\nv 1 2\nv 1 2\n",
        "v 1 2 1e400x\n",
        "v 0 0 1e300\nf 1 1 1\n",
        "v 0 0 0\nf 1 1 " + "9" * 30 + "\n",
        "v 0 0 0\nf 1 1 " + "9" * 9999 + "\n",
    ],
)
def test_an_obj_file_with_impossible_lines_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.obj").write_text(text)
    with pytest.raises(ArrayFileError):
        read_mesh(tmp_path / "x.obj")


def test_messages_are_one_line_whatever_a_file_says() -> None:
    text = str(MpmError("a\nb\x1b[2J\u202e\ud800" + "x" * 10_000))
    assert text.startswith("a b\\x1b[2J\\u202e\\ud800x")
    assert text.isprintable() and len(text) <= LONGEST
