"""The script in the documentation works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import document_scripting
import pytest

from mpm_addon.blender.baking import preflight, session
from mpm_addon.blender.reading.extract import extract_scene

from .scenes import add_mesh

PAGE = Path(__file__).resolve().parents[2] / "docs" / "manual" / "scripting.md"


@pytest.mark.blender
def test_the_script_of_the_page_runs(bpy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Cube", "Suzanne", "Plane", "Box"):
        add_mesh(bpy, name)
    add_mesh(bpy, "MPM Particles")
    bakes: list[dict[str, Any]] = []
    checks: list[dict[str, Any]] = []

    def check(_context: Any, **options: Any) -> dict[str, Any]:
        checks.append(options)
        return {"warnings": []}

    monkeypatch.setattr(preflight, "check", check)
    monkeypatch.setattr(session, "bake", lambda _context, on_news=None, **options: bakes.append(options) or [])
    script = PAGE.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
    exec(compile(script, str(PAGE), "exec"), {})
    assert bakes == [{"object_name": "", "cache": "//cache_test", "restart": True, "from_frame": None}]
    assert checks == [{"object_name": "", "probe": True}]
    scene = extract_scene(bpy.context)
    assert (scene.time.time_scale, scene.time.subframes) == (0.5, 1)
    assert bpy.data.objects["MPM Particles"].animation_data.action is not None
    assert [emitter.material for emitter in scene.emitters] == ["powder_snow", "Suzanne (custom)"]
    assert scene.colliders[0].surface == "sticky"
    assert scene.domain.sides["z_max"].surface == "open"
    assert scene.solver.grid_spacing == 0.05
    jelly = scene.emitters[1]
    assert jelly.painting is not None and jelly.painting.values["stiffness"][:3] == pytest.approx([0.525, 0.525, 0.05])
    assert (bpy.context.scene.mpm.motion_samples, bpy.context.scene.mpm.forces.wind) == (2, 0.5)


@pytest.mark.blender
def test_the_scripting_reference_is_that_of_the_declarations(bpy: Any) -> None:
    written = document_scripting.PAGE.read_text(encoding="utf-8")
    assert written == document_scripting.page(bpy), "make docs"
    assert "### `bpy.ops.mpm.bake`" in written
    assert "| `grid_spacing` | 0.1 |" in written
