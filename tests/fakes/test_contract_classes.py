"""What the add-on expects of Blender's properties, operators and panels, checked on the fake and on the real bpy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.fakes import layout as layouts


@pytest.fixture
def registered(bpy: Any) -> Iterator[Any]:
    """Register classes for one test: `registered(cls, ...)`."""
    classes: list[type] = []

    def register(*added: type) -> None:
        for cls in added:
            bpy.utils.register_class(cls)
            classes.append(cls)

    yield register
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)


def group(bpy: Any, **declared: Any) -> type:
    return type("CONTRACT_PG_group", (bpy.types.PropertyGroup,), {"__annotations__": declared})


@pytest.fixture
def settings(bpy: Any, registered: Any) -> Iterator[Any]:
    """A PropertyGroup on an object, with one property of each kind."""
    props = bpy.props
    cls = group(
        bpy,
        ratio=props.FloatProperty(default=0.1, min=0.0, max=1.0),
        count=props.IntProperty(default=3, min=0, max=5),
        is_on=props.BoolProperty(),
        label=props.StringProperty(default="x", maxlen=4),
        law=props.EnumProperty(items=[("SAND", "Sand", ""), ("SNOW", "Snow", "")], default="SNOW"),
        vector=props.FloatVectorProperty(size=3),
        target=props.PointerProperty(type=bpy.types.Object),
    )
    registered(cls)
    bpy.types.Object.contract = props.PointerProperty(type=cls)
    yield bpy.data.objects.new("Holder", None).contract
    del bpy.types.Object.contract


def finish(_operator: Any, _context: Any) -> set[str]:
    return {"FINISHED"}


def operator(bpy: Any, execute: Any, **members: Any) -> type:
    base = {"bl_idname": "mpm.contract", "bl_label": "Contract", "execute": execute, "__module__": __name__}
    return type("MPM_OT_contract", (bpy.types.Operator,), {**base, **members})


# Names.


@pytest.mark.parametrize("name", ["types.Nope", "nope", "app.handlers.nope", "utils.nope", "path.nope", "props.Nope"])
def test_unknown_names_raise_attribute_error(bpy: Any, name: str) -> None:
    module: Any = bpy
    *outer, last = name.split(".")
    for part in outer:
        module = getattr(module, part)
    with pytest.raises(AttributeError):
        getattr(module, last)


def test_unknown_attributes_of_data_raise(bpy: Any) -> None:
    block = bpy.data.objects.new("Block", None)
    with pytest.raises(AttributeError, match="nothing"):
        block.nothing  # noqa: B018 - reading is the test
    with pytest.raises(AttributeError, match="nothing"):
        block.nothing = 1
    with pytest.raises(AttributeError):
        bpy.context.nothing  # noqa: B018 - reading is the test


# Property groups.


def test_defaults_are_single_precision(settings: Any) -> None:
    assert settings.ratio == np.float32(0.1)
    assert settings.ratio != 0.1
    assert (settings.count, settings.is_on, settings.label, settings.law) == (3, False, "x", "SNOW")
    assert tuple(settings.vector) == (0.0, 0.0, 0.0)
    assert settings.target is None


def test_numbers_are_clamped_and_texts_are_cut(settings: Any) -> None:
    settings.ratio, settings.count, settings.label = 5.0, 99, "toolong"
    assert (settings.ratio, settings.count, settings.label) == (1.0, 5, "tool")


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("ratio", "x", TypeError),
        ("ratio", None, TypeError),
        ("count", 1.5, TypeError),
        ("is_on", 2, TypeError),
        ("is_on", 1.0, TypeError),
        ("label", 1, TypeError),
        ("law", "WATER", TypeError),
        ("law", 1, TypeError),
        ("vector", (1.0, 2.0), ValueError),
        ("vector", 3.0, (TypeError, ValueError)),
        ("target", 3, TypeError),
    ],
)
def test_values_of_the_wrong_type_are_refused(settings: Any, name: str, value: Any, error: Any) -> None:
    with pytest.raises(error):
        setattr(settings, name, value)


def test_a_pointer_to_a_group_is_read_only(bpy: Any, settings: Any) -> None:
    with pytest.raises(AttributeError, match="read-only"):
        settings.id_data.contract = None


def test_a_group_knows_the_data_block_that_holds_it(settings: Any) -> None:
    assert settings.id_data.name == "Holder"


def test_a_property_of_a_class_disappears_with_del(bpy: Any) -> None:
    bpy.types.Scene.contract_number = bpy.props.IntProperty(default=4)
    assert bpy.context.scene.contract_number == 4
    del bpy.types.Scene.contract_number
    assert not hasattr(bpy.context.scene, "contract_number")


def test_an_update_callback_sees_the_new_value(bpy: Any, registered: Any) -> None:
    seen: list[int] = []

    def changed(self: Any, context: Any) -> None:
        assert context.scene is not None
        seen.append(self.number)

    cls = group(bpy, number=bpy.props.IntProperty(update=changed))
    registered(cls)
    bpy.types.Scene.contract = bpy.props.PointerProperty(type=cls)
    bpy.context.scene.contract.number = 7
    del bpy.types.Scene.contract
    assert seen == [7]


def test_a_collection_property_adds_moves_and_removes(bpy: Any, registered: Any) -> None:
    item = group(bpy, number=bpy.props.IntProperty())
    registered(item)
    bpy.types.Scene.contract = bpy.props.CollectionProperty(type=item)
    items = bpy.context.scene.contract
    for number in range(3):
        items.add().number = number
    items.move(0, 2)
    items.remove(0)
    assert [entry.number for entry in items] == [2, 0]
    items.clear()
    assert len(items) == 0
    del bpy.types.Scene.contract


@pytest.mark.parametrize(
    ("function", "keywords"),
    [
        ("FloatProperty", {"defualt": 1.0}),
        ("FloatProperty", {"subtype": "NOPE"}),
        ("FloatProperty", {"unit": "NOPE"}),
        ("EnumProperty", {"items": [("A", "A", "")], "default": "B"}),
    ],
)
def test_a_wrong_declaration_fails_when_its_class_is_registered(bpy: Any, function: str, keywords: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="could not register"):
        bpy.utils.register_class(group(bpy, wrong=getattr(bpy.props, function)(**keywords)))


# Registration.


def test_registering_twice_and_unregistering_the_unknown_raise(bpy: Any, registered: Any) -> None:
    cls = group(bpy)
    with pytest.raises(RuntimeError):
        bpy.utils.unregister_class(cls)
    registered(cls)
    with pytest.raises(ValueError, match="already registered"):
        bpy.utils.register_class(cls)


def test_an_operator_needs_a_label_and_a_lower_case_name(bpy: Any) -> None:
    with pytest.raises(RuntimeError, match="bl_idname"):
        bpy.utils.register_class(operator(bpy, finish, bl_idname="Mpm.Contract"))
    unlabeled = type("MPM_OT_x", (bpy.types.Operator,), {"bl_idname": "mpm.x", "__module__": __name__})
    with pytest.raises(AttributeError, match="bl_label"):
        bpy.utils.register_class(unlabeled)


def test_a_panel_in_an_unknown_space_is_refused(bpy: Any) -> None:
    members = {"bl_label": "x", "bl_space_type": "NOPE", "bl_region_type": "UI", "draw": lambda self, context: None}
    with pytest.raises(TypeError):
        bpy.utils.register_class(type("MPM_PT_x", (bpy.types.Panel,), members))


def test_a_panel_needs_its_parent_first(bpy: Any) -> None:
    members = {
        "bl_label": "x",
        "bl_space_type": "PROPERTIES",
        "bl_region_type": "WINDOW",
        "bl_parent_id": "MPM_PT_missing",
        "draw": lambda self, context: None,
    }
    with pytest.raises(RuntimeError, match="MPM_PT_missing"):
        bpy.utils.register_class(type("MPM_PT_x", (bpy.types.Panel,), members))


# Operators.


@pytest.mark.parametrize("level", ["ERROR", "ERROR_INVALID_INPUT"])
@pytest.mark.parametrize("result", ["FINISHED", "CANCELLED"])
def test_a_reported_error_reaches_the_script(bpy: Any, registered: Any, level: str, result: str) -> None:
    def execute(self: Any, context: Any) -> set[str]:
        self.report({level}, "no emitter")
        return {result}

    registered(operator(bpy, execute))
    with pytest.raises(RuntimeError, match="no emitter"):
        bpy.ops.mpm.contract()


def test_a_warning_does_not(bpy: Any, registered: Any) -> None:
    def execute(self: Any, context: Any) -> set[str]:
        self.report({"WARNING"}, "hm")
        return {"FINISHED"}

    registered(operator(bpy, execute))
    assert bpy.ops.mpm.contract() == {"FINISHED"}


@pytest.mark.parametrize("returned", ["FINISHED", None, {"NOPE"}])
def test_an_operator_returns_a_set_of_known_words(bpy: Any, registered: Any, returned: Any) -> None:
    registered(operator(bpy, lambda self, context: returned))
    with pytest.raises(RuntimeError, match="incompatible return value"):
        bpy.ops.mpm.contract()


def test_an_exception_in_an_operator_arrives_as_runtime_error(bpy: Any, registered: Any) -> None:
    def execute(self: Any, context: Any) -> set[str]:
        raise KeyError("boom")

    registered(operator(bpy, execute))
    with pytest.raises(RuntimeError, match="boom"):
        bpy.ops.mpm.contract()


def test_an_operator_takes_its_properties_and_no_others(bpy: Any, registered: Any) -> None:
    seen: list[int] = []

    def execute(self: Any, context: Any) -> set[str]:
        seen.append(self.number)
        return {"FINISHED"}

    registered(operator(bpy, execute, __annotations__={"number": bpy.props.IntProperty(default=2)}))
    bpy.ops.mpm.contract()
    bpy.ops.mpm.contract("INVOKE_DEFAULT", number=5)
    assert seen == [2, 5]
    with pytest.raises(TypeError, match="unrecognized"):
        bpy.ops.mpm.contract(nothing=1)
    with pytest.raises(TypeError, match="expected an int type"):
        bpy.ops.mpm.contract(number="x")


def test_poll_refuses_with_its_message(bpy: Any, registered: Any) -> None:
    def poll(cls: Any, context: Any) -> bool:
        cls.poll_message_set("nothing to bake")
        return False

    registered(operator(bpy, finish, poll=classmethod(poll)))
    assert bpy.ops.mpm.contract.poll() is False
    with pytest.raises(RuntimeError, match="nothing to bake"):
        bpy.ops.mpm.contract()


def test_a_missing_operator_fails_when_called(bpy: Any) -> None:
    missing = bpy.ops.mpm.never_registered
    with pytest.raises(AttributeError, match="could not be found"):
        missing()


# Panels.


def panel(bpy: Any, draw_function: Any) -> type:
    members = {"bl_label": "x", "bl_space_type": "PROPERTIES", "bl_region_type": "WINDOW", "draw": draw_function}
    return type("MPM_PT_contract", (bpy.types.Panel,), members)


def test_a_layout_records_what_is_drawn(bpy: Any, draw: Any, settings: Any, registered: Any) -> None:
    def draw_panel(self: Any, context: Any) -> None:
        self.layout.use_property_split = True
        column = self.layout.column(align=True)
        column.prop(settings, "ratio", text="Ratio", icon="NONE")
        self.layout.label(text="Ready", icon="CHECKMARK")
        header, body = self.layout.panel("more", default_closed=True)
        header.label(text="More")
        body.operator("mpm.contract", text="Go").number = 3

    registered(operator(bpy, finish, __annotations__={"number": bpy.props.IntProperty()}))
    layout = draw(panel(bpy, draw_panel))
    assert layout.texts() == ["Ratio", "Ready", "More", "Go"]
    assert layout.find("operator", "mpm.contract")[0].arguments["settings"] == {"number": 3}
    assert layout.find("prop", "ratio")[0].arguments["data"] == settings


@pytest.mark.parametrize(
    "wrong",
    [
        lambda layout, settings: layout.label(text="x", icon="NO_SUCH_ICON"),
        lambda layout, settings: layout.label("positional text"),
        lambda layout, settings: layout.label(text=3),
        lambda layout, settings: layout.lable(text="x"),
        lambda layout, settings: layout.prop(settings, "rato"),
        lambda layout, settings: layout.prop(None, "ratio"),
        lambda layout, settings: layout.operator("mpm.never_registered"),
        lambda layout, settings: setattr(layout, "use_property_spilt", True),
        lambda layout, settings: setattr(layout, "alignment", "MIDDLE"),
        lambda layout, settings: layout.template_list("MPM_UL_none", "", settings, "ratio", settings, "count"),
        lambda layout, settings: layout.menu("MPM_MT_none"),
    ],
)
def test_a_layout_refuses_what_blender_would(bpy: Any, draw: Any, settings: Any, wrong: Any) -> None:
    with pytest.raises(layouts.LayoutError):
        draw(panel(bpy, lambda self, context: wrong(self.layout, settings)))


def test_a_hidden_panel_is_not_drawn(bpy: Any, draw: Any) -> None:
    cls = panel(bpy, lambda self, context: pytest.fail("drawn although hidden"))
    cls.poll = classmethod(lambda cls, context: False)
    assert draw(cls) is None
