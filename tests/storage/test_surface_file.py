"""Surface files: meshes are read back within the documented error, and malformed files are refused."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mpm_addon.core.particles import Moment
from mpm_addon.storage import mesh_encoding
from mpm_addon.storage.arrays import ArrayFileError
from mpm_addon.storage.container import write_container
from mpm_addon.storage.derived import Origin, read_origin
from mpm_addon.storage.encoding import Encoded
from mpm_addon.storage.surface_file import Surface, SurfacePiece, read_surface, write_surface
from mpm_addon.storage.take import SURFACE

VOXEL = 0.02
ORIGIN = Origin(Moment(12), "abc", "def", (0, 2))


def decoded_triangles(encoded: Encoded, vertices: int) -> np.ndarray:
    return mesh_encoding.decode_triangles(encoded.table, len(encoded.data), lambda _size: encoded.data, vertices)


def decoded_steps(encoded: Encoded) -> np.ndarray:
    return mesh_encoding.decode_steps(encoded.table, len(encoded.data), lambda _size: encoded.data)


@given(hnp.arrays(np.int64, st.tuples(st.integers(0, 60), st.just(3)), elements=st.integers(0, 5000)))
def test_triangles_come_back(triangles: np.ndarray) -> None:
    ordered, used = mesh_encoding.in_order_of_use(triangles)
    np.testing.assert_array_equal(used[ordered] if len(used) else ordered, triangles)
    np.testing.assert_array_equal(decoded_triangles(mesh_encoding.triangles(ordered), len(used)), ordered)


@given(hnp.arrays(np.float32, st.tuples(st.integers(0, 50), st.just(3)), elements=st.floats(-100, 100, width=32)))
def test_vertices_come_back_within_half_a_thousandth_of_a_voxel(position: np.ndarray) -> None:
    encoded = mesh_encoding.steps(position, VOXEL / mesh_encoding.STEPS_PER_VOXEL)
    assert encoded.table["encoding"] == "steps"
    again = decoded_steps(encoded)
    error = np.abs(again.astype(np.float64) - position)
    assert error.max(initial=0.0) <= 0.5 * VOXEL / 1024 + np.spacing(np.float32(np.abs(position).max(initial=0.0)))


@pytest.mark.parametrize("position", [[[np.nan, 0, 0]], [[0, 0, 0], [1e9, 0, 0]], [[1e30, 0, 0]]])
def test_vertices_that_cannot_be_rounded_are_stored_exactly(position: list[list[float]]) -> None:
    assert mesh_encoding.steps(np.array(position, np.float32), 1e-5).table["encoding"] == "exact"


@settings(deadline=None)
@given(st.binary(max_size=60), st.integers(0, 8), st.integers(0, 12))
def test_any_bytes_are_triangles_of_existing_vertices_or_refused(data: bytes, count: int, vertices: int) -> None:
    table = {"encoding": "triangles", "shape": [count, 3]}
    try:
        found = decoded_triangles(Encoded(table, data), vertices)
    except ArrayFileError:
        return
    assert found.shape == (count, 3)
    assert count == 0 or 0 <= found.min() <= found.max() < vertices


def test_triangles_have_as_many_vertices_as_they_use_and_no_fewer() -> None:
    encoded = mesh_encoding.triangles(np.arange(9).reshape(3, 3))
    assert decoded_triangles(encoded, 9).max() == 8
    with pytest.raises(ArrayFileError, match="vertices that do not exist"):
        decoded_triangles(encoded, 8)


def tetrahedron(name: str = "water") -> SurfacePiece:
    position = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    values = {"velocity": 2.0 * position, "age": position[:, 0], "emitter_index": np.array([0, 2, 2, 0], np.int32)}
    triangles, used = mesh_encoding.in_order_of_use(np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    return SurfacePiece(name, triangles.astype(np.int32), {key: array[used] for key, array in {"position": position, **values}.items()})


def test_a_surface_comes_back(tmp_path: Path) -> None:
    path, surface = tmp_path / "a.mpm", Surface(ORIGIN, (tetrahedron(), tetrahedron("honey")))
    write_surface(path, surface, VOXEL)
    again = read_surface(path)
    assert again.origin == ORIGIN == read_origin(path, SURFACE)
    assert [piece.name for piece in again.pieces] == ["water", "honey"]
    for piece, before in zip(again.pieces, surface.pieces, strict=True):
        np.testing.assert_array_equal(piece.triangles, before.triangles)
        assert piece.edges is not None
        # six edges, each of which joins the corners that it is between in both of its triangles
        assert sorted(sorted(ends) for ends in piece.edges.ends.tolist()) == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
        corners = np.sort(np.stack([piece.triangles, np.roll(piece.triangles, -1, axis=1)], axis=-1), axis=-1)
        np.testing.assert_array_equal(np.sort(piece.edges.ends, axis=1)[piece.edges.of_corners], corners)
        for name, array in before.arrays.items():
            assert piece.arrays[name].dtype == array.dtype
            np.testing.assert_allclose(piece.arrays[name], array, atol=1e-3)


@pytest.mark.parametrize("change", ["other", "fewer"])
def test_edges_that_do_not_fit_the_triangles_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """As are edges in which a mesh of Blender would be broken."""
    wrong = {"other": np.zeros((4, 3), np.int64), "fewer": np.arange(9).reshape(3, 3)}[change]
    monkeypatch.setattr(mesh_encoding, "edges_of", lambda _triangles: wrong)
    write_surface(tmp_path / "a.mpm", Surface(ORIGIN, (tetrahedron(),)), VOXEL)
    with pytest.raises(ArrayFileError, match="has edges"):
        read_surface(tmp_path / "a.mpm")


def test_the_bytes_depend_on_the_surface_alone(tmp_path: Path) -> None:
    written = [write_surface(tmp_path / name, Surface(ORIGIN, (tetrahedron(),)), VOXEL) for name in ("a.mpm", "b.mpm")]
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("name", "array"),
    [
        (".corner_vert", np.zeros(4, np.int32)),
        ("velocity", np.zeros(4, np.float32)),
        ("color", np.zeros((4, 5), np.float32)),
        ("emitter_index", np.zeros(4, np.int64)),
        ("emitter_index", np.zeros(4, np.float32)),
        ("_birth", np.zeros(4, np.int64)),
    ],
)
def test_attributes_that_frames_do_not_have_are_refused(tmp_path: Path, name: str, array: np.ndarray) -> None:
    piece = tetrahedron()
    wrong = SurfacePiece("water", piece.triangles, {**piece.arrays, name: array})
    write_surface(tmp_path / "a.mpm", Surface(ORIGIN, (wrong,)), VOXEL)
    with pytest.raises(ArrayFileError, match="which frames do not have"):
        read_surface(tmp_path / "a.mpm")


def test_pieces_with_different_components_of_a_name_are_refused(tmp_path: Path) -> None:
    pieces = [
        SurfacePiece("water", tetrahedron().triangles, {**tetrahedron().arrays, "color": np.zeros((4, count), np.float32)})
        for count in (3, 4)
    ]
    write_surface(tmp_path / "a.mpm", Surface(ORIGIN, tuple(pieces)), VOXEL)
    with pytest.raises(ArrayFileError, match="values of color with different numbers of components"):
        read_surface(tmp_path / "a.mpm")


def test_a_surface_may_be_empty(tmp_path: Path) -> None:
    write_surface(tmp_path / "a.mpm", Surface(ORIGIN, ()), VOXEL)
    assert read_surface(tmp_path / "a.mpm").pieces == ()


def test_every_truncated_or_changed_file_is_refused_or_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.mpm"
    write_surface(path, Surface(ORIGIN, (tetrahedron(),)), VOXEL)
    data, generator = path.read_bytes(), random.Random(1)
    for _ in range(300):
        end, place = generator.randrange(len(data)), generator.randrange(len(data))
        for wrong in (data[:end], data[:place] + bytes([data[place] ^ (1 << generator.randrange(8))]) + data[place + 1 :]):
            path.write_bytes(wrong)
            try:
                assert len(read_surface(path).pieces[0].position) == 4
                assert len(wrong) == len(data)  # one of the few bits that zstandard does not use
            except ArrayFileError:
                continue


def test_a_cut_file_is_noticed_by_its_header_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.mpm"
    write_surface(path, Surface(ORIGIN, (tetrahedron(),)), VOXEL)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ArrayFileError, match="is damaged: it has"):
        read_origin(path, SURFACE)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"pieces": 3}, "invalid header"),
        ({"pieces": [{}]}, "invalid header"),
        ({"emitters": ["x"]}, "invalid header"),
        ({"number": "one"}, "invalid header"),
        ({"part": 3, "parts": 2}, "invalid header"),
    ],
)
def test_a_header_of_nonsense_is_refused(tmp_path: Path, change: dict[str, object], problem: str) -> None:
    header = {"number": 1, "part": 0, "parts": 1, "settings": "", "source": "", "emitters": [], "pieces": []}
    write_container(tmp_path / "a.mpm", "surface", {**header, **change}, [])
    with pytest.raises(ArrayFileError, match=problem):
        read_surface(tmp_path / "a.mpm")


def test_a_frame_is_not_a_surface(tmp_path: Path) -> None:
    write_container(tmp_path / "a.mpm", "frame", {}, [])
    with pytest.raises(ArrayFileError, match="not a surface"):
        read_surface(tmp_path / "a.mpm")
