"""The stage of the extension: a manifest that names its wheels, and every module of the package."""

from __future__ import annotations

import dataclasses
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import build_extension
import environments
import pytest

from tests.blender_real.conftest import built_zip

MANIFEST = (environments.ROOT / "blender_manifest.toml").read_text(encoding="utf-8")


def test_the_manifest_keeps_to_blenders_rules() -> None:
    manifest = tomllib.loads(MANIFEST)
    assert manifest["id"] == "mpm_addon"
    assert len(manifest["tagline"]) <= 64
    assert not manifest["tagline"].endswith(".")
    assert set(manifest["platforms"]) == set(build_extension.WHEEL_PLATFORMS)
    assert environments.extension_version() == manifest["version"]


def test_the_staged_manifest_names_platforms_and_wheels() -> None:
    staged = tomllib.loads(build_extension.staged_manifest(MANIFEST, "linux-x64", ["a.whl", "b.whl"]))
    assert staged["platforms"] == ["linux-x64"]
    assert staged["wheels"] == ["./wheels/a.whl", "./wheels/b.whl"]
    assert staged["permissions"] == tomllib.loads(MANIFEST)["permissions"]


def test_a_manifest_without_platforms_is_an_error() -> None:
    with pytest.raises(build_extension.BuildError, match="platforms"):
        build_extension.staged_manifest('id = "x"', "linux-x64", [])


def test_every_bundled_package_is_locked_with_hashes() -> None:
    requirements = build_extension.locked_requirements()
    assert {"numba", "llvmlite"} <= set(build_extension.bundled_packages())
    assert "numpy" not in build_extension.bundled_packages()
    for name in build_extension.bundled_packages():
        assert f"{name}==" in requirements
    assert requirements.count("--hash=sha256:") >= len(build_extension.bundled_packages())


def test_every_module_and_preset_is_staged_and_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_extension, "STAGE", tmp_path / "stage")
    build_extension.stage("linux-x64", [])
    modules = {file.relative_to(environments.ROOT / "mpm_addon") for file in (environments.ROOT / "mpm_addon").rglob("*.py")}
    files = [file.relative_to(tmp_path / "stage") for file in (tmp_path / "stage").rglob("*.py")]
    # the manual offers the scripts of the features
    staged = {file for file in files if file.parts[0] != "manual"}
    assert staged == modules
    assert (tmp_path / "stage" / "presets" / "materials").is_dir()
    assert (tmp_path / "stage" / "manual" / "index.html").is_file()
    assert list((tmp_path / "stage").rglob("__pycache__")) == []


def test_wheels_of_other_versions_do_not_count(tmp_path: Path) -> None:
    for name in ("numba-0.1.0-cp311-cp311-x.whl", "numba-0.2.0-cp311-cp311-x.whl", "tomli_w-1.0-py3-none-any.whl"):
        (tmp_path / name).touch()
    found = build_extension.find_wheels(tmp_path, "numba==0.2.0 \\\ntomli-w==1.0 \\\n", "cp311")
    assert [wheel.name for wheel in found] == ["numba-0.2.0-cp311-cp311-x.whl", "tomli_w-1.0-py3-none-any.whl"]
    assert build_extension.find_wheels(tmp_path, "numba==0.2.0 \\\n", "cp313") == []


def test_one_wheel_may_be_for_this_python_and_later_ones(tmp_path: Path) -> None:
    (tmp_path / "pysplashsurf-0.14.1.0-cp310-abi3-x.whl").touch()
    for tag in ("cp311", "cp313"):
        assert len(build_extension.find_wheels(tmp_path, "pysplashsurf==0.14.1.0 \\\n", tag)) == 1


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A zip with kernels of one Python, for every level of this machine's kind."""
    path = tmp_path / "made.zip"
    wheels = [f"wheels/{name.replace('-', '_')}-1.0-py3-none-any.whl" for name in build_extension.bundled_packages()]
    kernels = [f"compiled_kernels/cp311-some-tag/{level}.zip" for level in build_extension.levels_to_compile(is_release=True)]
    with zipfile.ZipFile(path, "w") as content:
        for name in ("__init__.py", "manual/index.html", *wheels, *kernels):
            content.writestr(name, "")
    return path


def test_a_release_has_the_kernels_of_each_python(archive: Path) -> None:
    build_extension.check_archive(archive)
    build_extension.check_archive(archive, ["cp311"])
    level = build_extension.levels_to_compile(is_release=True)[-1]
    with pytest.raises(build_extension.BuildError, match=f"kernels of {level} for cp313"):
        build_extension.check_archive(archive, ["cp311", "cp313"])


def test_a_zip_for_one_python_has_a_name_of_its_own() -> None:
    whole = build_extension.archive_path("linux-x64")
    assert build_extension.archive_path("linux-x64", "cp311").stem == f"{whole.stem}-cp311"


def test_kernels_are_compiled_by_an_environment_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = {}
    for blender, environment in environments.ENVIRONMENTS.items():
        there[blender] = dataclasses.replace(environment, python="3.11", folder=tmp_path / blender)
    monkeypatch.setattr(build_extension, "ENVIRONMENTS", there)
    assert build_extension.compiling_environment("cp311").blender == environments.DEVELOPMENT_BLENDER
    interpreter = there["4.2"].interpreter
    interpreter.parent.mkdir(parents=True)
    interpreter.touch()
    assert build_extension.compiling_environment("cp311").blender == "4.2"
    with pytest.raises(build_extension.BuildError, match="cp399"):
        build_extension.compiling_environment("cp399")


def test_tests_of_two_blenders_that_build_at_once_get_their_own_zips(tmp_path: Path) -> None:
    """The build of each writes, waits and renames in the same place."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "build_extension.py").write_text(
        "import os, pathlib, time\n"
        "part = pathlib.Path(__file__).parents[1] / 'build' / 'stage'\n"
        "part.write_text(str(os.getpid()))\n"
        "time.sleep(0.1)\n"
        "archive = part.rename(part.with_name('linux.zip'))\n"
        "archive.write_text('mine' if archive.read_text() == str(os.getpid()) else 'another')\n"
        "print('build: build/linux.zip (1 MB)')\n",
        encoding="utf-8",
    )
    folders = [tmp_path / name for name in ("one", "other", "third")]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(len(folders)) as pool:
        zips = list(pool.map(lambda folder: built_zip(tmp_path, folder), folders))
    assert [path.parent for path in zips] == folders
    assert [path.read_text(encoding="utf-8") for path in zips] == ["mine"] * len(folders)
