"""Text, a curve, metaballs and instances of a collection are emitters and colliders like any mesh."""

from typing import Any

import bpy
import stage

VIEW = stage.View(camera=(0.0, -2.4, 1.0), target=(0.0, 0.0, 0.3), stills=(1, 12, 24, 48))


def build() -> None:
    stage.new_file(frame_end=48, grid_spacing=0.018)
    stage.table(friction=0.5)
    bpy.ops.object.text_add(location=(-0.42, 0.06, 0.62), rotation=(1.5708, 0.0, 0.0))
    text: Any = bpy.context.object
    text.data.body, text.data.size, text.data.extrude = "MPM", 0.4, 0.06
    stage.emitter(text, "jelly", color=(0.7, 0.02, 0.05))
    bpy.ops.object.metaball_add(type="BALL", radius=0.16, location=(0.55, 0.0, 0.75))
    stage.emitter(bpy.context.object, "fine_sand")
    _pegs()
    bpy.ops.curve.primitive_bezier_circle_add(radius=0.62, location=(0.0, 0.0, 0.03))
    rim: Any = bpy.context.object
    rim.data.bevel_depth = 0.03
    stage.collider(rim, color=(0.5, 0.3, 0.1))


def _pegs() -> None:
    """A post in a collection of its own, and an empty that instances the collection three times over."""
    post = stage.cylinder("Post", 0.05, 0.3, (0.0, 0.0, 0.15))
    stage.painted(post, (0.2, 0.35, 0.25))
    collection = bpy.data.collections.new("Posts")
    for owner in list(post.users_collection):
        owner.objects.unlink(post)
    collection.objects.link(post)
    for number, x in enumerate((-0.35, 0.0, 0.35)):
        empty: Any = bpy.data.objects.new(f"Post {number}", None)
        empty.instance_type, empty.instance_collection = "COLLECTION", collection
        empty.location = (x, 0.0, 0.0)
        stage.context.scene.collection.objects.link(empty)
        empty.mpm.type = "collider"
        empty.mpm.collider.friction = 0.4
