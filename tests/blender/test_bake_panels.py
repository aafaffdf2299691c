"""The panels of the bake: each state as it is drawn, takes, statistics, the queue."""

from __future__ import annotations


def test_a_running_bake_shows_its_progress_and_can_be_stopped(bpy: Any, draw: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert draw(bake_panels.MPM_PT_bake).find("operator", "mpm.bake") != []

    class Running:
        text, fraction = "Baking 25 % (12/48)", 0.25
        folder = tmp_path

    monkeypatch.setattr(session, "current", Running)
    layout = draw(bake_panels.MPM_PT_bake)
    assert layout.find("progress")[0].arguments["factor"] == 0.25
    assert layout.find("operator", "mpm.bake_cancel") != []
    assert layout.find("operator", "mpm.bake_pause")[0].arguments["text"] == "Pause"
    (tmp_path / "pause").touch()
    assert draw(bake_panels.MPM_PT_bake).find("operator", "mpm.bake_pause")[0].arguments["text"] == "Go On"
    assert layout.find("operator", "mpm.bake") == []


def test_a_changed_scene_is_shown_as_out_of_date(bpy: Any, draw: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    emitter = add_emitter(bpy)
    write_cache(tmp_path / "cache", {1: 3})
    scene.mpm.cache = str(tmp_path / "cache")
    item = playback.result_object(scene, scene.mpm.cache)
    item.mpm.fingerprint = fingerprint(scene)
    note = "Out of date: the scene has changed since the bake"
    layout = draw(bake_panels.MPM_PT_bake)
    assert note not in layout.texts()
    assert layout.find("operator", "mpm.bake")[0].arguments["settings"]["restart"] is False
    emitter.mpm.material.preset = "snow"
    layout = draw(bake_panels.MPM_PT_bake)
    assert note in layout.texts()
    assert layout.find("operator", "mpm.bake")[0].arguments["settings"]["restart"] is True
    emitter.mpm.material.preset = "water"
    assert note not in draw(bake_panels.MPM_PT_bake).texts()


def test_the_panel_says_what_made_the_bake_stop(bpy: Any, draw: Any, host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if host == "fake":
        # the fake has no node trees
        monkeypatch.setattr(unstable.nodes, "dress", lambda _item, _looks: None)
    scene = bpy.context.scene
    scene.mpm.cache = str(write_cache(tmp_path / "cache", {1: 3}))
    assert draw(bake_panels.MPM_PT_bake).find("operator", "mpm.select_unstable") == []
    write_failure(tmp_path / "cache", failure(2))
    unstable.refresh(scene, scene.mpm.cache)
    layout = draw(bake_panels.MPM_PT_bake)
    assert layout.find("operator", "mpm.select_unstable") != []
    assert failure(2).message in " ".join(layout.texts())


