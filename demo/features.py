"""The feature scenes: each function adds the special part of a scene in scenes.toml. They run in Blender."""

import math
from typing import Any

import bpy
from parts import (
    GRAY,
    Solid,
    ball,
    box,
    custom,
    cylinder,
    give,
    keyed,
    make_collider,
    make_emitter,
    make_monkey,
    paint,
    particle_objects,
    placement,
    thin_water,
    turned,
)


def moving_bat(stage: Any) -> None:
    """A bat at 10 m/s drives a block of jelly in front of it."""
    stage.emitter("Jelly", box((0.4, 0.4, 0.3)), (-0.2, 0.0, 0.151), "jelly", color=(0.7, 0.02, 0.05))
    bat = stage.collider("Bat", box((0.12, 0.7, 0.4)), (-0.9, 0.0, 0.22), (0.55, 0.33, 0.12), bevel=0.01)
    # accelerates to 10 m/s, then stops
    keyed(bat, "location", {1: (-0.9, 0.0, 0.22), 2: (-0.7, 0.0, 0.22), 5: (0.55, 0.0, 0.22), 7: (0.75, 0.0, 0.22)})


DRUM_RADIUS, DRUM_DEPTH, DRUM_SIDES = 0.45, 0.24, 64


def drum(stage: Any) -> None:
    """A drum with four blades turns and mixes two sands that start side by side."""
    for side, color in ((-1.0, (0.75, 0.5, 0.18)), (1.0, (0.1, 0.22, 0.45))):
        name = f"Sand {'left' if side < 0 else 'right'}"
        stage.emitter(name, box((0.26, 0.9 * DRUM_DEPTH, 0.3)), (0.13 * side, 0.0, 0.3), "fine_sand", color=color)
    drum = stage.collider("Drum", drum_shell(), (0.0, 0.0, 0.5), (0.35, 0.36, 0.38), friction=0.5)
    keyed(drum, "rotation_euler", {1: (0.0, 0.0, 0.0), 97: (0.0, 3.0 * math.pi, 0.0)})


def drum_shell() -> Any:
    """A ring along y, thick outward, with blades on its inside; both ends are open."""
    inner = [DRUM_RADIUS - (0.09 if number % (DRUM_SIDES // 4) == 0 else 0.0) for number in range(DRUM_SIDES)]
    vertices = [
        (radius * math.cos(2.0 * math.pi * number / DRUM_SIDES), y * DRUM_DEPTH, radius * math.sin(2.0 * math.pi * number / DRUM_SIDES))
        for radii in (inner, [DRUM_RADIUS + 0.08] * DRUM_SIDES)
        for y in (-0.5, 0.5)
        for number, radius in enumerate(radii)
    ]
    # inside front, inside back, outside front, outside back
    pairs = ((0, 1), (1, 3), (3, 2), (2, 0))
    faces = []
    for number in range(DRUM_SIDES):
        after = (number + 1) % DRUM_SIDES
        faces += [
            (one * DRUM_SIDES + number, one * DRUM_SIDES + after, other * DRUM_SIDES + after, other * DRUM_SIDES + number)
            for one, other in pairs
        ]
    return Solid(tuple(vertices), tuple(faces))


ARM_LENGTH, ARM_RADIUS, ARM_RINGS = 0.9, 0.07, 24


def arm_in_snow(stage: Any) -> None:
    """An arm bent by an armature sweeps through a bank of snow."""
    stage.emitter("Snow", box((0.8, 0.5, 0.24)), (0.1, 0.25, 0.122), "powder_snow", particles_per_cell=6)
    arm = add_arm(stage)
    armature = add_bones()
    arm.parent = armature
    arm.modifiers.new("Armature", "ARMATURE").object = armature
    armature.location = (-0.55, 0.0, 0.2)
    bones = armature.pose.bones["Upper"], armature.pose.bones["Lower"]
    for frame, *angles in ((1, -55.0, 0.0), (24, 10.0, 20.0), (36, 35.0, 95.0), (48, 20.0, 30.0)):
        for bone, angle in zip(bones, angles, strict=True):
            bone.rotation_mode, bone.rotation_euler = "XYZ", (0.0, 0.0, math.radians(angle))
            bone.keyframe_insert("rotation_euler", frame=frame)


def add_arm(stage: Any) -> Any:
    """A rounded tube along x whose two halves belong to two bones, softly at the elbow."""
    outline = [(0.0, 0.0)]
    for along in (ring / ARM_RINGS for ring in range(ARM_RINGS + 1)):
        end = min(along, 1.0 - along) * ARM_LENGTH
        outline.append((ARM_RADIUS * math.sqrt(max(0.02, 1.0 - max(0.0, 1.0 - end / ARM_RADIUS) ** 2)), along * ARM_LENGTH))
    upright = turned([*outline, (0.0, ARM_LENGTH)], steps=20)
    along_x = Solid(tuple((z, x, y) for x, y, z in upright.vertices), upright.faces)
    arm = stage.collider("Arm", along_x, (0.0, 0.0, 0.0), (0.65, 0.42, 0.32), friction=0.3)
    upper, lower = arm.vertex_groups.new(name="Upper"), arm.vertex_groups.new(name="Lower")
    for number, (x, _, _) in enumerate(along_x.vertices):
        share = min(1.0, max(0.0, (x - 0.4 * ARM_LENGTH) / (0.2 * ARM_LENGTH)))
        upper.add([number], 1.0 - share, "REPLACE")
        lower.add([number], share, "REPLACE")
    arm.data.shade_smooth()
    return arm


def add_bones() -> Any:
    """Two bones along x. Their own x axis points along y of the world, so that z bends the elbow in the plane."""
    bpy.ops.object.armature_add(enter_editmode=True)
    armature: Any = bpy.context.object
    upper = armature.data.edit_bones[0]
    upper.name, upper.head, upper.tail = "Upper", (0.0, 0.0, 0.0), (0.5 * ARM_LENGTH, 0.0, 0.0)
    lower = armature.data.edit_bones.new("Lower")
    lower.head, lower.tail, lower.parent = upper.tail, (ARM_LENGTH, 0.0, 0.0), upper
    upper.align_roll((0.0, 0.0, 1.0))
    lower.align_roll((0.0, 0.0, 1.0))
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def floating_cubes(stage: Any) -> None:
    """Cubes of 0.15, 0.3 and 0.5 of water's density fall into a tank and float at the right depth; iron sinks."""
    thin_water(stage.emitter("Water", box((1.598, 0.498, 0.35)), (0.0, 0.0, 0.176), "water", particles_per_cell=4), viscosity=0.5)
    for number, density in enumerate((150.0, 300.0, 500.0, 7800.0)):
        at, turn, color = (-0.6 + 0.4 * number, 0.0, 0.55 + 0.05 * number), (11.5, 5.7 * number, 0.0), (0.8, 0.75 - 0.2 * number, 0.1)
        moving = {"dynamic": True, "density": density, "friction": 0.1}
        stage.collider(f"Cube {density:g}", box((0.17, 0.17, 0.17)), at, color, rotation=turn, **moving)


PROFILE = ((-0.7, 0.0), (0.84, 0.0), (0.84, 0.07), (0.49, 0.07), (-0.7, 0.63))


def ball_on_sand(stage: Any) -> None:
    """A ball rolls down a slope of sand and leaves a track."""
    for side in ("x_min", "x_max", "z_min"):
        give(getattr(stage.scene.mpm.domain, side), {"surface": "separate", "friction": 0.6})
    stage.emitter("Sand", sand_slope(), (0.0, 0.0, 0.0), "dry_sand", particles_per_cell=6)
    motion = {"dynamic": True, "velocity": (0.8, 0.0, 0.0), "angular_velocity": (0.0, 360.0, 0.0), "density": 2000.0}
    rolling = stage.collider("Ball", ball(0.112), (-0.49, 0.0, 0.742), (0.05, 0.2, 0.5), roughness=0.2, friction=0.5, **motion)
    rolling.data.shade_smooth()


def sand_slope() -> Any:
    """The profile (x, z), extruded along y."""
    count = len(PROFILE)
    sides = ((n, n + count, (n + 1) % count + count, (n + 1) % count) for n in range(count))
    return Solid(
        tuple((x, y, z) for y in (-0.28, 0.28) for x, z in PROFILE),
        (tuple(range(count)), tuple(range(2 * count - 1, count - 1, -1)), *sides),
    )


def fountain(stage: Any) -> None:
    """A disk spouts water along its normals at a keyframed rate, from its surface; a drain takes the water away."""
    flow = {"mode": "inflow", "velocity": (0.0, 0.0, 3.4), "flow_rate": 0.02, "particles_per_cell": 6}
    nozzle = thin_water(stage.emitter("Nozzle", cylinder(0.06, 0.1), (0.0, 0.0, 0.06), "water", **flow))
    keyed(nozzle, "mpm.emitter.flow_rate", {1: 0.0, 8: 0.03, 40: 0.03, 44: 0.004})
    drain = stage.seen("Drain", box((3.0, 3.0, 0.1)), (0.0, 0.0, -0.35), (0.3, 0.3, 0.3))
    drain.mpm.type = "outflow"
    placement.show_as_wire(drain)


def force_fields(stage: Any) -> None:
    """Sand in Blender's own force fields: a vortex turns it, wind carries it, an empty attracts it and drag slows it there."""
    stage.scene.gravity = (0.0, 0.0, -2.0)
    stage.emitter("Powder", cylinder(0.2, 0.3), (-0.4, 0.0, 0.152), "fine_sand", color=(0.85, 0.6, 0.3), particles_per_cell=6)
    add_field("VORTEX", (-0.4, 0.0, 0.1), strength=6.0, distance_max=0.6, use_max_distance=True)
    add_field("WIND", (-0.4, 0.0, 0.3), strength=3.0).rotation_euler = (0.0, 1.1, 0.0)
    add_field("FORCE", (0.9, 0.0, 0.8), strength=-6.0, falloff_power=1.0)
    add_field("DRAG", (0.9, 0.0, 0.8), quadratic_drag=2.0, distance_max=0.5, use_max_distance=True)
    add_field("TURBULENCE", (0.0, 0.0, 0.5), strength=3.0, size=0.3)


def add_field(kind: Any, at: tuple[float, float, float], **settings: Any) -> Any:
    bpy.ops.object.effector_add(type=kind, location=at)
    item: Any = bpy.context.object
    for name, value in settings.items():
        setattr(item.field, name, value)
    return item


def hanging_jelly(stage: Any) -> None:
    """A jelly hangs from a swinging handle: its painted top is pinned, the rest follows."""
    jelly = stage.emitter("Jelly", box((0.22, 0.22, 0.5)), (0.0, 0.0, 0.75), "jelly", color=(0.1, 0.6, 0.25), goal=1.0)
    cut = jelly.modifiers.new("Cut", "SUBSURF")
    cut.subdivision_type, cut.levels, cut.render_levels = "SIMPLE", 3, 3
    held = jelly.vertex_groups.new(name="Held")
    held.add([vertex.index for vertex in jelly.data.vertices if vertex.co.z > 0.0], 1.0, "REPLACE")
    jelly.mpm.emitter.goal_attribute = "Held"
    swing = {1: 0.0, 8: 0.35, 20: -0.35, 32: 0.35, 44: 0.0}
    keyed(jelly, "location", {frame: (x, 0.0, 0.75) for frame, x in swing.items()})
    keyed(jelly, "rotation_euler", {frame: (0.0, -0.8 * x, math.radians(2.0 * frame)) for frame, x in swing.items()})


def painted_jelly(stage: Any) -> None:
    """A vertex group makes one end of a beam seventeen times stiffer than the other; a color attribute shows it."""
    stage.collider("Bar", cylinder(0.06, 0.8), (0.0, 0.0, 0.28), GRAY, rotation=(90.0, 0.0, 0.0), friction=0.8)
    beam = stage.emitter("Beam", box((0.9, 0.3, 0.14)), (0.0, 0.0, 0.42), "jelly")
    cut = beam.modifiers.new("Cut", "SUBSURF")
    cut.subdivision_type, cut.levels, cut.render_levels = "SIMPLE", 4, 4
    soft_end = [vertex.index for vertex in beam.data.vertices if vertex.co.x < 0.0]
    stiff = beam.vertex_groups.new(name="Stiffness")
    # weights are 0 to 1, so the material's stiffness is that of the stiff end
    stiff.add([vertex.index for vertex in beam.data.vertices], 1.0, "REPLACE")
    stiff.add(soft_end, 0.01, "REPLACE")
    color = beam.data.attributes.new("color", "FLOAT_COLOR", "POINT")
    for number, value in enumerate(color.data):
        value.color = (0.9, 0.35, 0.05, 1.0) if number in soft_end else (0.1, 0.15, 0.5, 1.0)
    beam.mpm.emitter.stiffness_attribute = "Stiffness"
    beam.mpm.emitter.carried_attributes = "color"
    custom(beam, "damped_elastic", density=1050.0, young_modulus=1e6, poisson_ratio=0.4)


def melting(stage: Any) -> None:
    """A statue's yield stress is keyframed down: it melts."""
    turn, color = (math.degrees(-0.3), 0.0, math.degrees(0.3)), (0.85, 0.55, 0.1)
    statue = stage.emitter("Suzanne", ball(0.25), (0.0, 0.0, 0.26), "jelly", rotation=turn, color=color, particles_per_cell=6)
    make_monkey(statue.data, 0.25)
    custom(statue, "viscoplastic", density=1000.0, young_modulus=8e4, poisson_ratio=0.4, yield_stress=6000.0)
    keyed(statue, "mpm.material.viscoplastic.yield_stress", {1: 6000.0, 20: 6000.0, 44: 60.0})


def instances(stage: Any) -> None:
    """Text, a curve, metaballs and instances of a collection are emitters and colliders like any mesh."""
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


def add_pegs(stage: Any) -> None:
    """A post in its own collection, and three empties that instance the collection."""
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


def slow_motion(stage: Any) -> None:
    """A drop splashes; the baked frames are played at a quarter of their speed, cubic between them, and rendered with motion blur."""
    thin_water(stage.emitter("Pool", box((0.598, 0.598, 0.09)), (0.0, 0.0, 0.046), "water", particles_per_cell=6))
    thin_water(stage.emitter("Drop", ball(0.07), (0.0, 0.0, 0.3), "water", velocity=(0.0, 0.0, -3.0), particles_per_cell=6))


def slow_motion_baked(scene: Any) -> None:
    """Play the baked frames at a quarter of their speed, with motion blur."""
    for item in particle_objects(scene):
        item.mpm.use_retime, item.mpm.playback_speed = True, 0.25
    scene.frame_end = 61
    scene.render.use_motion_blur = True
