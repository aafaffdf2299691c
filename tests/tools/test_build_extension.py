"""The stage of the extension: a manifest that names its wheels, and every module of the package."""

from __future__ import annotations

import dataclasses
import hashlib
import subprocess
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import build_extension
import environments
import pytest
import third_party

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


def test_a_zip_for_one_python_is_offered_to_the_blenders_that_have_it() -> None:
    """Blender does not install an extension from its `blender_version_max` on."""
    for blender, environment in environments.ENVIRONMENTS.items():
        offered = []
        for tag in build_extension.PYTHON_TAGS:
            manifest = build_extension.staged_manifest(MANIFEST, "linux-x64", ["a.whl"], build_extension.blender_versions(tag))
            staged = tomllib.loads(manifest)
            first, end = (_version(staged.get(f"blender_version_{name}", "99.0.0")) for name in ("min", "max"))
            offered += [tag] if first <= _version(f"{blender}.0") < end else []
        assert offered == [f"cp{environment.python.replace('.', '')}"]
    assert "blender_version_max" not in tomllib.loads(MANIFEST)
    with pytest.raises(build_extension.BuildError, match="cp399"):
        build_extension.blender_versions("cp399")


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def test_a_release_has_zips_for_every_platform_and_checksums(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without wheels from the network: what is built for which platform, with which kernels, and what is written beside it."""
    built: dict[str, list[str]] = {}

    def build(name: str, python_tags: list[str], levels: list[str], **_options: bool) -> Path:
        tag = python_tags[0] if len(python_tags) == 1 else ""
        archive = tmp_path / build_extension.archive_path(name, tag).name
        with zipfile.ZipFile(archive, "w") as content:
            content.writestr("name", name)
        built[archive.name] = levels
        return archive

    monkeypatch.setattr(build_extension, "build", build)
    monkeypatch.setattr(build_extension, "stage_package", lambda: None)
    monkeypatch.setattr(build_extension, "ROOT", tmp_path)
    monkeypatch.setattr(build_extension, "extension_version", lambda: "9.9.9")
    monkeypatch.setattr("sys.argv", ["build_extension.py", "--release"])
    assert build_extension.main() == 0
    platforms = ("linux_x64", "linux_arm64", "windows_x64", "macos_arm64")
    assert set(built) == {f"mpm_addon-9.9.9-{platform}.zip" for platform in platforms}
    here = f"mpm_addon-9.9.9-{build_extension.this_platform().replace('-', '_')}.zip"
    # whoever runs the tool finds the zip of this platform in its last line
    assert capsys.readouterr().out.splitlines()[-1] == f"build: {here} (0 MB)"
    assert built.pop(here) == build_extension.levels_to_compile(is_release=True)
    assert not any(built.values()), "kernels for a platform that cannot compile them"
    sums = (tmp_path / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    assert sorted(sums) == sorted(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in tmp_path.glob("*.zip"))
    monkeypatch.setattr("sys.argv", ["build_extension.py", "--release", "--split-by-python", "--without-kernels"])
    assert build_extension.main() == 0
    assert set(built) >= {f"mpm_addon-9.9.9-{platform}-{tag}.zip" for platform in platforms for tag in build_extension.PYTHON_TAGS}
    assert not any(built.values())


def _wheel(folder: Path, name: str, metadata: str, **texts: str) -> Path:
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as content:
        content.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{metadata}\n\nText.\n")
        for file, text in texts.items():
            content.writestr(f"{name}-1.0.dist-info/{file.replace('__', '/').replace('_dot_', '.')}", text)
    return path


def test_notices_have_the_license_of_all_that_is_in_the_zip(tmp_path: Path) -> None:
    bill = '{"components": [{"name": "tree", "version": "2.1", "licenses": [{"expression": "Apache-2.0"}]}]}'
    wheels = [
        _wheel(tmp_path, "one", "License-Expression: BSD-3-Clause", licenses__LICENSE="Copyright One", sboms__x_dot_json=bill),
        _wheel(tmp_path, "two", "License-Expression: MIT\nAuthor: Two and Others"),
        _wheel(tmp_path, "three", "Classifier: License :: OSI Approved :: Zlib License", COPYING="Copyright Three"),
    ]
    text = third_party.third_party_notices(wheels)
    for part in ("| one | 1.0 | BSD-3-Clause |", "Copyright One", "| tree | 2.1 | Apache-2.0 |", "| two | 1.0 | MIT |"):
        assert part in text
    for part in ("Copyright (c) Two and Others", "| three | 1.0 | Zlib License |", "Copyright Three"):
        assert part in text
    # the theme and the scripts of the manual
    assert all(f"\n## {name} " in text for name in ("Sphinx", "furo", "sphinx-basic-ng", "Pygments"))
    with pytest.raises(third_party.LicenseError, match=r"four 1\.0"):
        third_party.third_party_notices([_wheel(tmp_path, "four", "License-Expression: BSD-3-Clause")])


def test_a_wheel_that_was_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = _wheel(tmp_path, "one", "License-Expression: MIT")
    monkeypatch.setattr(build_extension, "ROOT", tmp_path)
    lock = f"one==1.0 --hash=sha256:{build_extension.checksum(wheel)}\n"
    monkeypatch.setattr(build_extension, "locked_requirements", lambda: lock)
    build_extension.check_wheels([wheel])
    wheel.write_bytes(wheel.read_bytes() + b"!")
    with pytest.raises(build_extension.BuildError, match="not the wheel that the lock pins"):
        build_extension.check_wheels([wheel])


def test_every_bundled_package_is_locked_with_hashes() -> None:
    requirements = build_extension.locked_requirements()
    assert {"numba", "llvmlite"} <= set(build_extension.bundled_packages())
    assert "numpy" not in build_extension.bundled_packages()
    for name in build_extension.bundled_packages():
        assert f"{name}==" in requirements
    assert requirements.count("--hash=sha256:") >= len(build_extension.bundled_packages())


def test_every_module_and_preset_is_staged_and_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make_site(folder: Path) -> subprocess.CompletedProcess[str]:
        (folder / ".doctrees").mkdir(parents=True)
        (folder / "index.html").touch()
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setattr(build_extension, "STAGE", tmp_path / "stage")
    monkeypatch.setattr(build_extension, "make_site", make_site)
    build_extension.stage_package()
    modules = {file.relative_to(environments.ROOT / "mpm_addon") for file in (environments.ROOT / "mpm_addon").rglob("*.py")}
    files = [file.relative_to(tmp_path / "stage") for file in (tmp_path / "stage").rglob("*.py")]
    # the manual offers the scripts of the features
    staged = {file for file in files if file.parts[0] != "manual"}
    assert staged == modules
    assert (tmp_path / "stage" / "presets" / "materials").is_dir()
    assert [file.name for file in (tmp_path / "stage" / "manual").iterdir()] == ["index.html"]
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
        for name in ("__init__.py", "manual/index.html", "LICENSE", "THIRD_PARTY.md", *wheels, *kernels):
            content.writestr(name, "")
    return path


def test_a_release_has_the_kernels_of_each_python(archive: Path) -> None:
    build_extension.check_archive(archive)
    build_extension.check_archive(archive, ["cp311"])
    level = build_extension.levels_to_compile(is_release=True)[-1]
    with pytest.raises(build_extension.BuildError, match=f"kernels of {level} for cp313"):
        build_extension.check_archive(archive, ["cp311", "cp313"])
    with pytest.raises(build_extension.BuildError, match="does not belong"):
        build_extension.check_archive(archive, has_kernels=False)


def test_a_build_says_for_which_blenders_there_are_kernels(archive: Path) -> None:
    with zipfile.ZipFile(archive, "a") as content:
        for tag in ("cp311", "cp313"):
            content.writestr(f"wheels/llvmlite-1.0-{tag}-{tag}-some.whl", "")
    levels = ", ".join(sorted(build_extension.levels_to_compile(is_release=True)))
    said = build_extension.kernels_inside(archive)
    assert f"has kernels of {levels} for Python 3.11 (Blender before 5.1); has none for Python 3.13 (Blender 5.1 and newer), which" in said
    with zipfile.ZipFile(archive, "a") as content:
        content.writestr("compiled_kernels/cp313-some-tag/x86-64-v3.zip", "")
    assert "none" not in build_extension.kernels_inside(archive)


def test_a_zip_that_is_too_large_is_refused(archive: Path) -> None:
    build_extension.check_archive(archive, limit=archive.stat().st_size)
    with pytest.raises(build_extension.BuildError, match="split-by-python"):
        build_extension.check_archive(archive, limit=archive.stat().st_size - 1)


def test_a_zip_for_one_python_has_a_name_of_its_own() -> None:
    whole = build_extension.archive_path("linux-x64")
    assert build_extension.archive_path("linux-x64", "cp311").stem == f"{whole.stem}-cp311"
    # a zip for a window of another Python does not replace the one of all supported Blenders
    pythons = list(build_extension.PYTHON_TAGS)
    told = [
        build_extension.told_tags(tags, is_split=split)
        for tags, split in ((pythons, False), ([*pythons, "cp314"], False), (["cp311"], True))
    ]
    assert told == ["", "cp314", "cp311"]


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
