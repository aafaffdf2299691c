"""Every declared setting is in the fingerprint of a bake, unless its declaration says that it does not affect frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import pytest

from mpm_addon.blender.host.file_record import silent
from mpm_addon.blender.reading.extract import extract_scene
from mpm_addon.blender.reading.fingerprint import fingerprint
from mpm_addon.blender.settings import declarations
from mpm_addon.blender.settings.declarations import deciding_names
from mpm_addon.blender.settings.properties import OBJECT_GROUP, SCENE_GROUP
from mpm_addon.core.laws import LAWS
from mpm_addon.storage.scene_writer import scene_hash
from tests.blender.scenes import add_collider, add_emitter, add_field, add_mesh, add_outflow


class Setting(NamedTuple):
    """A property of `Scene.mpm`, `Object.mpm` or a nested group, and whether it is declared to affect a bake."""

    path: tuple[str, ...]
    declared: Any
    decides: bool

    @property
    def kind(self) -> str:
        """The function of bpy.props that declared it."""
        function = self.declared.function
        return getattr(function, "__name__", function)


def settings_of(bpy: Any, group: Any, path: tuple[str, ...] = (), *, decides: bool = True) -> Iterator[Setting]:
    for name, declared in group.__annotations__.items():
        kind, counts = declared.keywords.get("type"), decides and name in group.deciding
        if kind is not None and issubclass(kind, bpy.types.PropertyGroup):
            yield from settings_of(bpy, kind, (*path, name), decides=counts)
        else:
            yield Setting((*path, name), declared, counts)


def holder(owner: Any, path: tuple[str, ...]) -> Any:
    """The group with the property; for a list of groups, the first one."""
    group = owner.mpm
    for name in path[:-1]:
        group = getattr(group, name)
        group = group[0] if hasattr(group, "add") else group
    return group


def another(bpy: Any, setting: Setting, value: Any) -> Any:
    """A different valid value of the property."""
    keywords = setting.declared.keywords
    if setting.kind == "BoolProperty":
        return not value
    if setting.kind == "StringProperty":
        return f"{value}x"
    if setting.kind == "EnumProperty":
        return next(item[0] for item in keywords["items"] if item[0] != value)
    if setting.kind == "PointerProperty":
        types, data = bpy.types, bpy.data
        made = {types.Collection: data.collections, types.Material: data.materials, types.Mesh: data.meshes}
        return data.objects["Box"] if keywords["type"] is types.Object else made[keywords["type"]].new("Another")
    if setting.kind == "FloatVectorProperty":
        return (_other_number(keywords, value[0]), *value[1:])
    return _other_number(keywords, value)


def _other_number(keywords: dict[str, Any], value: Any) -> Any:
    low, high = keywords.get("min", -1e30), keywords.get("max", 1e30)
    # a large number in single precision does not change by 1
    step = max(1, abs(value) // 1000)
    others = (value + step, value - step, 0.5 * value, 0.5 * (low + high))
    return next(number for number in others if low <= number <= high and number != value)


@contextmanager
def changed(bpy: Any, owner: Any, setting: Setting) -> Iterator[None]:
    """A property with another value inside the block."""
    group, name = holder(owner, setting.path), setting.path[-1]
    before = getattr(group, name)
    before = tuple(before) if setting.kind == "FloatVectorProperty" else before
    with silent():
        setattr(group, name, another(bpy, setting, before))
        yield
        setattr(group, name, before)


def settle(bpy: Any) -> list[Any]:
    """A scene in which every setting has an effect somewhere. Returns an object of each role, and an emitter of each law."""
    scene = bpy.context.scene
    add_mesh(bpy, "Box")
    items = [add_emitter(bpy, "Preset"), add_collider(bpy), add_outflow(bpy), add_field(bpy, "WIND")]
    for law in LAWS:
        items.append(add_emitter(bpy, f"Of {law}"))
        items[-1].mpm.material.source, items[-1].mpm.material.law = "custom", law
    scene.frame_start = 7
    with silent():
        for owner, group in ((scene, SCENE_GROUP), *((item, OBJECT_GROUP) for item in items)):
            if owner is not scene:
                owner.mpm.display.parts.add()
            for setting in settings_of(bpy, group):
                if setting.path[-1].startswith("use_"):
                    setattr(holder(owner, setting.path), setting.path[-1], True)
    bpy.context.view_layer.update()
    return items


def owners_of(scene: Any, items: list[Any], settings: list[Setting], group: Any) -> Iterator[tuple[Setting, list[Any]]]:
    """Each property with the objects in which it may have an effect."""
    for setting in settings:
        laws = [item for item in items if len(setting.path) > 2 and item.name == f"Of {setting.path[1]}"]
        yield setting, [scene] if group is SCENE_GROUP else laws or items[:5]


@pytest.mark.parametrize(("group", "least"), [(SCENE_GROUP, 69), (OBJECT_GROUP, 123)], ids=["Scene.mpm", "Object.mpm"])
def test_every_setting_is_in_the_fingerprint_or_is_said_to_decide_nothing(bpy: Any, group: Any, least: int) -> None:
    scene, items = bpy.context.scene, settle(bpy)
    settings = list(settings_of(bpy, group))
    untouched = fingerprint(scene)
    wrong = []
    for setting, owners in owners_of(scene, items, settings, group):
        # of all objects at once, because reading a scene is what takes time
        with ExitStack() as everywhere:
            for owner in owners:
                everywhere.enter_context(changed(bpy, owner, setting))
            is_seen = fingerprint(scene) != untouched
        if is_seen != setting.decides:
            wrong.append(".".join(setting.path))
    # each has its own value again
    assert fingerprint(scene) == untouched
    assert not wrong, "these neither count nor are said to be aside, or both"
    assert len(settings) >= least


@pytest.mark.blender
@pytest.mark.slow
@pytest.mark.parametrize("group", [SCENE_GROUP, OBJECT_GROUP], ids=["Scene.mpm", "Object.mpm"])
def test_what_is_said_to_decide_nothing_changes_no_scene_that_is_baked(bpy: Any, group: Any) -> None:
    scene, items = bpy.context.scene, settle(bpy)
    scene.mpm.domain.kind, scene.mpm.frame_end = "unbounded", 3
    for item in items:
        for settings in [item.mpm.emitter, *(getattr(item.mpm.material, law) for law in LAWS)]:
            for name in type(settings).deciding:
                if hasattr(settings, f"use_{name}"):
                    setattr(settings, f"use_{name}", False)
    untouched = scene_hash(extract_scene(bpy.context))
    for setting, owners in owners_of(scene, items, [each for each in settings_of(bpy, group) if not each.decides], group):
        with ExitStack() as everywhere:
            for owner in owners:
                everywhere.enter_context(changed(bpy, owner, setting))
            assert scene_hash(extract_scene(bpy.context)) == untouched, setting.path


@pytest.mark.blender
def test_a_keyed_setting_leaves_the_others_of_its_group_in_the_fingerprint(bpy: Any) -> None:
    scene = bpy.context.scene
    for frame, value in ((1, 1.0), (9, 5.0)):
        scene.mpm.solver.use_max_speed, scene.mpm.solver.max_speed = True, value
        scene.mpm.solver.keyframe_insert("max_speed", frame=frame)
    scene.frame_set(1)
    first = fingerprint(scene)
    scene.frame_set(9)
    assert fingerprint(scene) == first
    scene.mpm.solver.cfl = 0.2
    assert fingerprint(scene) != first


def test_roles_that_an_object_does_not_have_do_not_count(bpy: Any) -> None:
    scene, item = bpy.context.scene, add_emitter(bpy)
    before = fingerprint(scene)
    item.mpm.collider.friction = 0.5
    item.mpm.material.snow.hardening = 3.0
    item.mpm.emitter.color = (0.1, 0.2, 0.3, 1.0)
    assert fingerprint(scene) == before
    item.mpm.emitter.use_color = True
    assert fingerprint(scene) != before


def test_friction_counts_if_it_is_given_or_animated(bpy: Any, monkeypatch: Any) -> None:
    scene = bpy.context.scene
    add_emitter(bpy)
    collider = add_collider(bpy).mpm.collider
    before = fingerprint(scene)
    collider.friction = 0.3
    assert fingerprint(scene) == before
    assert extract_scene(bpy.context).colliders[0].friction is None
    collider.use_friction = True
    assert fingerprint(scene) != before
    assert extract_scene(bpy.context).colliders[0].friction == 0.3
    collider.use_friction = False
    monkeypatch.setattr(declarations, "animated_paths", lambda _block: {"mpm.collider.friction"})
    assert fingerprint(scene) != before
    assert extract_scene(bpy.context).colliders[0].friction == 0.3


def test_the_names_of_the_settings_are_known_with_those_of_the_groups_in_them() -> None:
    scene, item = deciding_names(SCENE_GROUP), deciding_names(OBJECT_GROUP)
    assert scene["domain"]["x_min"] == {"surface": None, "use_friction": None, "friction": None}
    assert item["material"]["sand"]["cohesion"] is None
    assert "cache" not in scene and "display" not in item


def test_names_do_not_count(bpy: Any) -> None:
    scene = bpy.context.scene
    settle(bpy)
    before = fingerprint(scene)
    scene.name = "Take A"
    for number, item in enumerate(list(scene.objects)):
        item.name = f"Renamed {number}"
    assert fingerprint(scene) == before
