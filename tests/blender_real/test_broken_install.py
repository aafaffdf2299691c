"""An incomplete installation still starts, reports what is missing, and plays baked frames."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.blender.scenes import write_cache

from .conftest import RunInBlender, install, runner

pytestmark = pytest.mark.blender

LOOK = """
import addon_utils, json
MODULE = "bl_ext.user_default.mpm_addon"
addon_utils.enable(MODULE, default_set=True)
health = sys.modules[MODULE + ".blender.baking.health"]
particle_objects = sys.modules[MODULE + ".blender.playback.particle_objects"]
bpy.ops.wm.read_homefile(use_empty=True)
scene = bpy.context.scene
mesh = bpy.data.meshes.new("Points")
item = bpy.data.objects.new("Points", mesh)
scene.collection.objects.link(item)
item.mpm.cache = sys.argv[1]
scene.frame_set(2)
try:
    bpy.ops.mpm.bake()
    said = ""
except RuntimeError as error:
    said = str(error).strip()
print("ANSWER", json.dumps({
    "lines": health.lines(),
    "bake": said,
    "points": len(mesh.vertices),
    "status": particle_objects.status(item).text(),
    "numba": "numba" in sys.modules,
    "preferences": hasattr(bpy.context.preferences.addons[MODULE].preferences, "threads"),
}))
addon_utils.disable(MODULE)
"""


@pytest.fixture(scope="module")
def home(blender_packages: Path, extension_zip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user folder of a Blender in which the extension is installed."""
    folder = tmp_path_factory.mktemp("broken")
    install(runner(blender_packages, folder), extension_zip)
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cache(tmp_path_factory.mktemp("baked") / "cache", {1: 4, 2: 6})


def look(run: RunInBlender, cache: Path) -> dict[str, Any]:
    return json.loads(run(LOOK, str(cache)).partition("ANSWER ")[2].splitlines()[0])


def test_numba_of_another_platform_then_none_at_all(home: Path, blender_packages: Path, cache: Path) -> None:
    run = runner(blender_packages, home)
    whole = look(run, cache)
    assert (whole["lines"], whole["points"], whole["numba"], whole["preferences"]) == ([], 6, False, True)
    (packages,) = (home / "resources" / "extensions" / ".local" / "lib").glob("python3*/site-packages")
    for library in (packages / "numba").glob("_dispatcher*"):
        library.rename(library.with_name("_dispatcher.cp39-win_amd64.pyd"))
    other = look(run, cache)
    (line,) = other["lines"]
    assert line.startswith("numba is built for another Python or platform than this Blender's (Python 3.")
    assert other["bake"] == f"Error: {line}"
    assert (other["points"], other["status"]) == (6, "")
    for name in ("numba", "llvmlite"):
        shutil.rmtree(packages / name)
    none = look(run, cache)
    assert none["lines"] == ["numba is missing, so nothing can be baked; reinstall the extension's zip for this platform."]
    assert (none["points"], none["status"]) == (6, "")
    shutil.rmtree(packages / "zstandard")
    bare = look(run, cache)
    assert [line.partition(" ")[0] for line in bare["lines"]] == ["numba", "zstandard"]
    assert (bare["points"], bare["status"]) == (0, bare["lines"][1])


def test_a_user_folder_that_cannot_be_written(blender_packages: Path, cache: Path, tmp_path: Path) -> None:
    """No user may make a folder below /proc, whatever the rights of the test process."""
    if not Path("/proc/self").is_dir():
        pytest.skip("only Linux has /proc")
    stage = Path(__file__).parents[2]
    run = runner(
        blender_packages,
        tmp_path,
        BLENDER_USER_RESOURCES="/proc/none",
        HOME="/proc/none",
        XDG_CACHE_HOME="/proc/none",
        MPM_SOURCE=str(stage),
        MPM_PACKAGES=str(Path(__import__("zstandard").__file__).parents[1]),
    )
    paths = "sys.path += [os.environ['MPM_SOURCE'], os.environ['MPM_PACKAGES']]"
    script = LOOK
    for installed, plain in (
        ("import addon_utils, json", f"import json\n{paths}\nimport mpm_addon"),
        ('"bl_ext.user_default.mpm_addon"', '"mpm_addon"'),
        ("addon_utils.enable(MODULE, default_set=True)", "mpm_addon.register()"),
        ("addon_utils.disable(MODULE)", "mpm_addon.unregister()"),
        ('hasattr(bpy.context.preferences.addons[MODULE].preferences, "threads")', "True"),
    ):
        assert installed in script
        script = script.replace(installed, plain)
    found = json.loads(run(script, str(cache)).partition("ANSWER ")[2].splitlines()[0])
    assert (found["lines"], found["points"], found["status"]) == ([], 6, "")
    assert found["bake"].startswith("Error: Scene")  # the scene was read, and has no emitter
