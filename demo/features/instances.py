"""Text, a curve, metaballs and instances of a collection are emitters and colliders like any mesh."""

from typing import Any

import bpy
from parts import cylinder, make_collider, make_emitter, paint, table

STILLS = (1, 12, 24, 48)


def build(stage: Any) -> None:
    stage.frames(48)
    stage.cells(0.018)
    table(stage, friction=0.5)
    bpy.ops.object.text_add(location=(-0.42, 0.06, 0.62), rotation=(1.5708, 0.0, 0.0))
    text: Any = bpy.context.object
    text.data.body, text.data.size, text.data.extrude = "MPM", 0.4, 0.06
    make_emitter(text, "jelly", color=(0.7, 0.02, 0.05, 1.0))
    bpy.ops.object.metaball_add(type="BALL", radius=0.16, location=(0.55, 0.0, 0.75))
    make_emitter(bpy.context.object, "fine_sand")
    add_pegs(stage)
    bpy.ops.curve.primitive_bezier_circle_add(radius=0.62, location=(0.0, 0.0, 0.03))
    rim: Any = bpy.context.object
    rim.data.bevel_depth = 0.03
    make_collider(rim)
    paint(rim, (0.5, 0.3, 0.1))
    stage.camera((0.0, -2.4, 1.0), (0.0, 0.0, 0.3))


def add_pegs(stage: Any) -> None:
    """A post in a collection of its own, and empties that instance the collection three times over."""
    post = stage.seen("Post", cylinder(0.05, 0.3), (0.0, 0.0, 0.15), (0.2, 0.35, 0.25))
    collection = bpy.data.collections.new("Posts")
    stage.scene.collection.objects.unlink(post)
    collection.objects.link(post)
    for number, x in enumerate((-0.35, 0.0, 0.35)):
        empty: Any = bpy.data.objects.new(f"Post {number}", None)
        empty.instance_type, empty.instance_collection = "COLLECTION", collection
        empty.location = (x, 0.0, 0.0)
        stage.scene.collection.objects.link(empty)
        make_collider(empty, friction=0.4)
