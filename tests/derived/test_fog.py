"""Foam and dust as a fog of voxels: how dense it is, how fast it moves, and that it is exported."""

from pathlib import Path

import numpy as np
import pytest

from mpm_addon.command_line.main import main
from mpm_addon.derived.fog import Fog, fog_of
from tests.derived.caches import derived, write_cache
from tests.derived.test_debris import burst

VOXEL = 0.05


def some(count: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    return {
        "position": random.random((count, 3)).astype(np.float32),
        "velocity": np.tile(np.float32((1.0, -2.0, 0.5)), (count, 1)),
        "kind": (np.arange(count) % 2).astype(np.int32),
        "life": np.ones(count, np.float32),
        "size": np.full(count, 0.01, np.float32),
    }


def test_the_fog_blocks_as_much_light_as_its_particles_and_moves_with_them() -> None:
    """The integral of the density is the sum of the cross sections, pi/4 d^2."""
    arrays = some(500)
    for kinds, share in (((0, 1), 1.0), ((1,), 0.5)):
        density, velocity = fog_of(arrays, Fog(kinds, VOXEL))
        area = density.values.astype(np.float64).sum() * VOXEL**3
        assert area == pytest.approx(share * 500 * 0.25 * np.pi * 0.01**2, rel=1e-4)
        full = density.values > 1e-4 * density.values.max()
        np.testing.assert_allclose(velocity.values[full], np.tile((1.0, -2.0, 0.5), (int(full.sum()), 1)), rtol=1e-3)
    assert fog_of(arrays, Fog((0, 1), VOXEL, 2.0))[0].values.sum() == pytest.approx(
        4.0 * fog_of(arrays, Fog((0, 1), VOXEL))[0].values.sum()
    )


def test_particles_fade_at_the_end_of_their_life() -> None:
    arrays = some(10)
    whole = fog_of(arrays, Fog((0, 1), VOXEL))[0].values.sum()
    arrays["life"][:] = 0.125
    assert fog_of(arrays, Fog((0, 1), VOXEL))[0].values.sum() == pytest.approx(0.25 * whole)
    arrays["life"][:] = 0.0
    assert not fog_of(arrays, Fog((0, 1), VOXEL))[0].values.any()


def test_any_number_of_particles_is_a_finite_density() -> None:
    arrays = some(5)
    arrays["size"][:] = 50.0
    density, velocity = fog_of(arrays, Fog((0, 1), VOXEL))
    assert np.isfinite(density.values.astype(np.float16)).all()
    assert np.abs(velocity.values).max() == pytest.approx(2.0, rel=1e-3)


def test_no_particles_are_no_fog() -> None:
    arrays = {name: values[:0] for name, values in some(1).items()}
    assert all(len(grid.leaves) == 0 for grid in fog_of(arrays, Fog((0, 1), VOXEL)))


def test_the_dust_of_debris_is_exported_as_volumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cache(tmp_path / "cache", burst(0), burst(1))
    export = ["export", str(tmp_path / "cache"), "--debris", "--format", "vdb", "--output"]
    assert main([*export, str(tmp_path / "out")]) == 1
    assert "frame 1 has no debris; derive it first." in capsys.readouterr().err
    assert derived(capsys, tmp_path / "cache", "debris")[0] == 0
    assert main([*export, str(tmp_path / "out")]) == 0
    sizes = [(tmp_path / "out" / f"frame_00000{number}.vdb").stat().st_size for number in (1, 2)]
    assert sizes[1] > 10 * sizes[0] > 0
    assert main([*export, str(tmp_path / "one.vdb"), "--frames", "2-2"]) == 0
    assert (tmp_path / "one.vdb").read_bytes() == (tmp_path / "out" / "frame_000002.vdb").read_bytes()
    assert main([*export, str(tmp_path / "two.vdb")]) == 1
    assert "one file cannot hold 2 frames" in capsys.readouterr().err
    assert main([*export[:2], "--format", "vdb", "--output", str(tmp_path / "out")]) == 1
    assert "--format vdb does not go with particles" in capsys.readouterr().err
