"""Builds the extension's zip: stages manifest, package, presets and manual, adds the wheels, and calls Blender's own builder.

Blender wants the manifest beside an `__init__.py`. A root `__init__.py` in the repository would make test runners
import the package twice, so the extension is assembled in build/stage. There is one zip per platform, with the wheels of the
dependencies for each Python of the supported Blenders, because each llvmlite wheel alone is 60 MB.
"""

import argparse
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

from environments import DEVELOPMENT_BLENDER, ENVIRONMENTS, ROOT, Environment, extension_version
from site_pages import NOT_SHIPPED, make_site
from third_party import NOTICES, LicenseError, third_party_notices

from mpm_addon.core.processor import LEVELS, best_level

STAGE = ROOT / "build" / "stage"
WHEELS = ROOT / "build" / "wheels"
KERNELS = "compiled_kernels"
CHECKSUMS = "SHA256SUMS"
BLENDERS_OWN_PACKAGES = ("numpy",)
# [bytes] What extensions.blender.org accepts.
LARGEST_ARCHIVE = 200_000_000
# The first supported Blender with each Python, in ascending order.
FIRST_BLENDERS = {"cp311": "4.2.0", "cp313": "5.1.0"}
PYTHON_TAGS = tuple(sorted({"cp" + environment.python.replace(".", "") for environment in ENVIRONMENTS.values()}))

# Blender's name of a platform, and the platform tags of wheels that pip should accept.
WHEEL_PLATFORMS = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux2014_x86_64"),
    "linux-arm64": ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux2014_aarch64"),
    "windows-x64": ("win_amd64",),
    # pysplashsurf requires macOS 14; on older systems only surfaces are missing
    "macos-arm64": ("macosx_12_0_arm64", "macosx_11_0_arm64", "macosx_14_0_arm64"),
}
NOT_PACKAGED = ("__pycache__", "*.py[co]", "*.nb[ci]", ".*")
BAKED_BESIDE_A_SCENE = ("cache", "cache_*")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--platform", choices=sorted(WHEEL_PLATFORMS), help="another platform than this one, without kernels")
    parser.add_argument(
        "--release", action="store_true", help="zips for every platform, with kernels for every level and Python of this one"
    )
    parser.add_argument("--without-kernels", action="store_true", help="leave out compiled kernels, as extensions.blender.org asks")
    parser.add_argument("--split-by-python", action="store_true", help="build a zip for each Python")
    parser.add_argument("--python-tag", action="append", default=[], metavar="cpXY", help="bundle wheels for a further Python, as cp314")
    arguments = parser.parse_args()
    python_tags = list(dict.fromkeys([*PYTHON_TAGS, *arguments.python_tag]))
    groups = [[tag] for tag in python_tags] if arguments.split_by_python else [python_tags]
    try:
        stage_package()
        archives = [
            build(name, tags, levels_for(arguments, name), is_release=arguments.release, is_split=arguments.split_by_python)
            for name in platforms_to_build(arguments)
            for tags in groups
        ]
        if arguments.release:
            print(f"build: {write_checksums(archives).relative_to(ROOT)}")
    except (BuildError, LicenseError) as error:
        print(f"build: error: {error}", file=sys.stderr, flush=True)
        return 1
    for archive in archives:
        print(f"build: {archive.name} {kernels_inside(archive)}", flush=True)
    for archive in archives:
        print(f"build: {archive.relative_to(ROOT)} ({archive.stat().st_size / 1e6:.0f} MB)", flush=True)
    return 0


def platforms_to_build(arguments: argparse.Namespace) -> list[str]:
    """Returns the platform that was asked for, otherwise this one, and in a release all platforms, with this one last."""
    if arguments.platform:
        return [arguments.platform]
    others = [name for name in WHEEL_PLATFORMS if name != this_platform()] if arguments.release else []
    return [*others, this_platform()]


def levels_for(arguments: argparse.Namespace, platform_name: str) -> list[str]:
    """Returns the processor levels that kernels are compiled for. Only the platform that they are for can compile them."""
    if arguments.without_kernels or platform_name != this_platform():
        return []
    return levels_to_compile(is_release=arguments.release)


class BuildError(Exception):
    """The extension cannot be built; the message says why."""


def build(name: str, python_tags: list[str], levels: list[str], *, is_release: bool, is_split: bool) -> Path:
    """Builds the zip for a platform, around a package that is already staged, and returns its path."""
    started = time.monotonic()
    found = [wheel for tag in python_tags for wheel in fetch_wheels(name, tag)]
    # A wheel in pure Python is the same for every Python.
    wheels = list({wheel.name: wheel for wheel in found}.values())
    check_wheels(wheels)
    print(f"build: staging {len(wheels)} wheels for {name} in {STAGE.relative_to(ROOT)} ...", flush=True)
    stage_wheels(name, wheels, blender_versions(python_tags[0]) if is_split else {})
    if levels:
        stage_kernels(kernel_compilers(python_tags, is_release=is_release), levels)
    print(f"build: zipping for {name} ...", flush=True)
    archive = archive_path(name, told_tags(python_tags, is_split=is_split))
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="zips_") as folder:
        run_blender_builder("build", "--source-dir", str(STAGE), "--output-dir", folder, "--split-platforms")
        made = Path(folder) / archive_path(name).name
        # a zip with a further Python is for a computer of one's own, which has no limit
        limit = LARGEST_ARCHIVE if set(python_tags) <= set(PYTHON_TAGS) else sys.maxsize
        check_archive(made, python_tags if is_release and levels else [], has_kernels=bool(levels), limit=limit)
        run_blender_builder("validate", str(made))
        # those of an earlier release are not of this zip
        (archive.parent / CHECKSUMS).unlink(missing_ok=True)
        made.replace(archive)
    print(f"build: done after {time.monotonic() - started:.0f} s", flush=True)
    return archive


def this_platform() -> str:
    """Returns Blender's name of this platform."""
    system = {"darwin": "macos"}.get(platform.system().lower(), platform.system().lower())
    machine = platform.machine().lower()
    name = f"{system}-{ {'x86_64': 'x64', 'amd64': 'x64', 'aarch64': 'arm64'}.get(machine, machine) }"
    if name not in WHEEL_PLATFORMS:
        raise SystemExit(f"build: no wheels of numba exist for {name}; choose --platform {'|'.join(WHEEL_PLATFORMS)}")
    return name


def told_tags(python_tags: list[str], *, is_split: bool) -> str:
    """Returns what the name of a zip says of its Pythons: the only one, or those that it has beside those of supported Blenders."""
    return "-".join(python_tags if is_split else [tag for tag in python_tags if tag not in PYTHON_TAGS])


def archive_path(platform_name: str, python_tag: str = "") -> Path:
    """Returns the path of a platform's zip, as Blender's builder names it, or of one that tells its Pythons (see `told_tags`)."""
    name = f"mpm_addon-{extension_version()}-{platform_name.replace('-', '_')}"
    return ROOT / "build" / f"{name}{'-' if python_tag else ''}{python_tag}.zip"


def fetch_wheels(platform_name: str, python_tag: str) -> list[Path]:
    """Returns the bundled wheels for one platform and Python, downloading those missing from build/wheels."""
    folder = WHEELS / platform_name / python_tag
    requirements = locked_requirements()
    names = bundled_packages()
    present = find_wheels(folder, requirements, python_tag)
    if len(present) == len(names):
        return present
    print(f"build: downloading {', '.join(names)} for {platform_name}, {python_tag} ...", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    list_file = folder / "requirements.txt"
    list_file.write_text(requirements, encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement", str(list_file)]
    command += ["--implementation", "cp", "--python-version", python_tag.removeprefix("cp"), "--dest", str(folder)]
    for wheel_platform in WHEEL_PLATFORMS[platform_name]:
        command += ["--platform", wheel_platform]
    if subprocess.run(command, check=False).returncode != 0:
        raise BuildError(f"pip found no wheels of {', '.join(names)} for {platform_name} and {python_tag}")
    return find_wheels(folder, requirements, python_tag)


def find_wheels(folder: Path, requirements: str, python_tag: str) -> list[Path]:
    """Returns the pinned wheels in a folder: for this Python, for this and later ones (abi3), or for any."""
    pins = re.findall(r"(?m)^([a-z0-9-]+)==(\S+)", requirements)
    stems = [f"{name.replace('-', '_')}-{version}" for name, version in pins]
    return [wheel for stem in stems for tag in (python_tag, "cp3*-abi3", "py3") for wheel in sorted(folder.glob(f"{stem}-{tag}-*.whl"))]


def bundled_packages() -> list[str]:
    """Returns the names of the dependencies that Blender does not ship itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.match(r"[A-Za-z0-9._-]+", dependency) for dependency in project["dependencies"]]
    return [name.group() for name in names if name and name.group() not in BLENDERS_OWN_PACKAGES]


def locked_requirements() -> str:
    """Returns the lines of the lock, with their hashes, that pin the bundled packages."""
    lock = ENVIRONMENTS[DEVELOPMENT_BLENDER].lock.read_text(encoding="utf-8")
    pins: list[str] = []
    for name in bundled_packages():
        pin = re.search(rf"(?m)^{name}==\S+ \\\n(?:    --hash=.*\n)+", lock)
        if pin is None:
            raise BuildError(f"the lock of Blender {DEVELOPMENT_BLENDER} does not pin {name} with hashes: make lock")
        pins.append(pin.group())
    return "".join(pins)


def stage_package() -> None:
    """Assembles all that is the same for every platform in Blender's layout, with the package's files next to the manifest."""
    shutil.rmtree(STAGE, ignore_errors=True)
    shutil.copytree(ROOT / "mpm_addon", STAGE, ignore=shutil.ignore_patterns(*NOT_PACKAGED))
    if (ROOT / "presets").is_dir():
        ignored = shutil.ignore_patterns(*NOT_PACKAGED, *BAKED_BESIDE_A_SCENE)
        shutil.copytree(ROOT / "presets", STAGE / "presets", ignore=ignored)
    stage_manual()
    shutil.copy2(ROOT / "LICENSE", STAGE)


def stage_wheels(platform_name: str, wheels: list[Path], versions: dict[str, str]) -> None:
    """Adds a platform's wheels, their notices and the manifest to the stage, in place of those of the platform before."""
    for folder in ("wheels", KERNELS):
        shutil.rmtree(STAGE / folder, ignore_errors=True)
    (STAGE / "wheels").mkdir()
    for wheel in wheels:
        shutil.copy2(wheel, STAGE / "wheels")
    (STAGE / NOTICES).write_text(third_party_notices(wheels), encoding="utf-8")
    manifest = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    staged = staged_manifest(manifest, platform_name, [wheel.name for wheel in wheels], versions)
    (STAGE / "blender_manifest.toml").write_text(staged, encoding="utf-8")


def kernel_compilers(python_tags: list[str], *, is_release: bool) -> list[Path]:
    """Returns the Pythons that kernels are compiled for: this one, and in a release each one that has wheels in the zip."""
    if not is_release:
        return [Path(sys.executable)]
    chosen = [compiling_environment(tag) for tag in python_tags]
    for environment in chosen:
        # kernels depend on the numba version, so they must be compiled with the bundled one
        command = [sys.executable, str(ROOT / "tools" / "setup.py"), "--blender", environment.blender]
        if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            raise BuildError(f"{environment.folder.name}, which compiles kernels for its Python, could not be set up")
    return [environment.interpreter for environment in chosen]


def compiling_environment(python_tag: str) -> Environment:
    """Returns the environment that compiles kernels for a Python: the development environment if possible, otherwise an existing one."""
    development = ENVIRONMENTS[DEVELOPMENT_BLENDER]
    found = [each for each in (development, *ENVIRONMENTS.values()) if "cp" + each.python.replace(".", "") == python_tag]
    if not found:
        raise BuildError(f"no supported Blender has the Python of {python_tag}, so no environment compiles kernels for it; leave it out")
    return next((each for each in found if each.interpreter.exists()), found[0])


def levels_to_compile(*, is_release: bool) -> list[str]:
    """Returns the processor levels that kernels are compiled for: this machine's, or all levels of its architecture."""
    return [name for name, level in LEVELS.items() if platform.machine().lower() in level.machine] if is_release else [best_level()]


def stage_kernels(interpreters: list[Path], levels: list[str]) -> None:
    """Adds compiled kernels to the stage; only kernels that changed since the last build are compiled."""
    for interpreter in interpreters:
        for level in levels:
            print(f"build: kernels for {level}, {interpreter} ...", flush=True)
            command = [str(interpreter), "-m", "mpm_addon", "kernels", "--processor", level, "--package", str(STAGE)]
            if subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False).returncode != 0:
                raise BuildError(f"the kernels for {level} could not be compiled; see above")


def stage_manual() -> None:
    """Builds the manual's pages and adds them to the package, without Sphinx's own files."""
    with tempfile.TemporaryDirectory() as scratch:
        if make_site(Path(scratch) / "site").returncode != 0:
            raise BuildError("the manual could not be made; see above")
        shutil.copytree(Path(scratch) / "site", STAGE / "manual", ignore=shutil.ignore_patterns(*NOT_SHIPPED))


def staged_manifest(manifest: str, platform_name: str, wheel_names: list[str], versions: dict[str, str] | None = None) -> str:
    """Returns the manifest with the platform, the bundled wheels and the Blender versions, if these are fewer than all."""
    wheels = "\n".join(["wheels = [", *(f'    "./wheels/{name}",' for name in wheel_names), "]"])
    staged, count = re.subn(r"(?m)^platforms = .*$", lambda _: f'platforms = ["{platform_name}"]\n\n{wheels}', manifest)
    if count != 1 or len(tomllib.loads(staged)["wheels"]) != len(wheel_names):
        raise BuildError("blender_manifest.toml: expected one line of the form: platforms = [...]")
    if versions:
        lines = "\n".join(f'{key} = "{value}"' for key, value in versions.items())
        staged, count = re.subn(r"(?m)^blender_version_min = .*$", lambda _: lines, staged)
        if count != 1:
            raise BuildError("blender_manifest.toml: expected one line of the form: blender_version_min = ...")
    return staged


def blender_versions(python_tag: str) -> dict[str, str]:
    """Returns the lines of a manifest that limit a zip for one Python to the Blenders that have it; the maximum is excluded."""
    if python_tag not in FIRST_BLENDERS:
        raise BuildError(f"no supported Blender is known to have the Python of {python_tag}; build one zip for all Pythons")
    first = list(FIRST_BLENDERS)
    following = first[first.index(python_tag) + 1 :]
    limit = {"blender_version_max": FIRST_BLENDERS[following[0]]} if following else {}
    return {"blender_version_min": FIRST_BLENDERS[python_tag], **limit}


def run_blender_builder(*arguments: str) -> None:
    """Runs Blender's extension tool, which comes with bpy, in a separate process."""
    command = [sys.executable, str(blender_builder()), *arguments]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise BuildError(f"Blender's extension tool refused to {arguments[0]}:\n{finished.stdout}{finished.stderr}")


def blender_builder() -> Path:
    """Returns the path of blender_ext.py inside this environment's bpy, whatever its version."""
    bpy = importlib.util.find_spec("bpy")
    if bpy is None or bpy.origin is None:
        raise BuildError("this Python has no bpy; run make setup and use .venv/bin/python")
    found = sorted(Path(bpy.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))
    if not found:
        raise BuildError(f"{Path(bpy.origin).parent} holds no blender_ext.py")
    return found[-1]


def check_wheels(wheels: Sequence[Path]) -> None:
    """Checks that wheels are as they were published, by the hashes in the lock."""
    published = set(re.findall(r"--hash=sha256:([0-9a-f]{64})", locked_requirements()))
    for wheel in wheels:
        if checksum(wheel) not in published:
            raise BuildError(f"{wheel.relative_to(ROOT)} is not the wheel that the lock pins; delete it to download it again")


def check_archive(archive: Path, python_tags: Sequence[str] = (), *, has_kernels: bool = True, limit: int = LARGEST_ARCHIVE) -> None:
    """Checks that the zip contains the package, wheels and kernels of every level, and nothing else from the repository."""
    if not archive.is_file():
        raise BuildError(f"Blender's extension tool wrote no {archive.name}")
    if archive.stat().st_size > limit:
        raise BuildError(f"{archive.name} has {archive.stat().st_size / 1e6:.0f} MB; at most {limit / 1e6:.0f}: --split-by-python")
    with zipfile.ZipFile(archive) as content:
        names = content.namelist()
    strange = [name for name in names if "__pycache__" in name or name.startswith(("tests/", ".")) or "/." in name]
    strange += [name for name in names if name.startswith(f"{KERNELS}/") and not has_kernels]
    if strange:
        raise BuildError(f"{archive.name} holds what does not belong there: {', '.join(strange[:5])}")
    bundled = {name.removeprefix("wheels/").partition("-")[0] for name in names if name.endswith(".whl")}
    missing = [name for name in bundled_packages() if name.replace("-", "_") not in bundled]
    missing += [name for name in ("__init__.py", "manual/index.html", "LICENSE", NOTICES) if name not in names]
    stored = stored_kernels(names)
    wanted = [(tag, level) for tag in python_tags for level in levels_to_compile(is_release=True)]
    missing += [f"kernels of {level} for {tag}" for tag, level in wanted if (tag, level) not in stored]
    if missing:
        raise BuildError(f"{archive.name} is incomplete: no {', '.join(missing)}")


def stored_kernels(names: Sequence[str]) -> list[tuple[str, str]]:
    """Returns for which Python tags and processor levels kernels are among the files of a zip."""
    parts = [name.split("/") for name in names if name.startswith(f"{KERNELS}/")]
    return sorted((folder.partition("-")[0], Path(file).stem) for _, folder, file in parts)


def kernels_inside(archive: Path) -> str:
    """Returns a line about for which Blenders a zip has kernels, and which have to compile them first."""
    with zipfile.ZipFile(archive) as content:
        names = content.namelist()
    levels: dict[str, list[str]] = {}
    for tag, level in stored_kernels(names):
        levels.setdefault(tag, []).append(level)
    # other wheels are for several Pythons
    tags = sorted({name.split("-")[2] for name in names if name.startswith("wheels/llvmlite-") and "-cp" in name})
    has = [f"has kernels of {', '.join(levels[tag])} for {blenders_of(tag)}" for tag in tags if tag in levels]
    lacks = [f"has none for {blenders_of(tag)}, which compiles them once, in about 40 s on two cores" for tag in tags if tag not in levels]
    return "; ".join([*has, *lacks])


def blenders_of(python_tag: str) -> str:
    """Returns the Python of a tag and the supported Blenders that have it, in words."""
    python = f"Python {python_tag[2]}.{python_tag[3:]}"
    if python_tag not in FIRST_BLENDERS:
        return python
    first, end = (blender_versions(python_tag).get(f"blender_version_{name}", "").removesuffix(".0") for name in ("min", "max"))
    return f"{python} (Blender before {end})" if end else f"{python} (Blender {first} and newer)"


def write_checksums(archives: Sequence[Path]) -> Path:
    """Writes the SHA-256 checksums of zips beside them, as `sha256sum --check` reads them, and returns the path."""
    path = archives[0].parent / CHECKSUMS
    path.write_text("".join(f"{checksum(each)}  {each.name}\n" for each in archives), encoding="utf-8")
    return path


def checksum(file: Path) -> str:
    """Returns the SHA-256 checksum of a file in hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main())
