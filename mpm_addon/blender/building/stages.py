"""Builds complete scenes: emitters, colliders, ground, camera, lights and render settings. Lengths in meters.

Shared by the ready scenes, the demo and the pictures of the documentation; each use has its own studio.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import bpy

from ...core.scene.settings import SIDES
from ...derived.settings import FILM
from ..host.blender_types import BlenderMaterial, BlenderMesh, BlenderObject, BlenderScene
from ..settings.emitter_look import show_as_wire
from .placement import add_object, from_meters, give, make_collider, make_emitter
from .solids import Point, Solid, box, sheet
from .surfaces import Rgb, Strand, glaze, natural, paint, weather, world_of

_SENSOR = 36.0
# As many faces of panes let light through.
_MOST_PANES = 32


@dataclass(frozen=True)
class Lamp:
    """A light, whose distance and power scale with the size of its target.

    Attributes:
        direction: from the center of the target, in reaches; a reach is the camera distance unless given.
        power: [W] at a reach of 1 m; the strength of a sun.
        size: in reaches; the angle of a sun [rad].
        kind: "AREA" or "SUN".
    """

    name: str
    direction: Point
    power: float
    size: float
    kind: Any = "AREA"


@dataclass(frozen=True)
class Studio:
    """Lighting and render settings shared by pictures of one kind.

    Attributes:
        sky, brightness: color and strength of the world.
        size: of the picture [pixels].
        samples, bounces, fog_bounces: settings of Cycles; light that is scattered in fog less often makes it gray.
        noise: how noisy a pixel may be that gets no further samples, before noise is removed.
        view: view transform and look; the scene's own if not given.
        is_clear: whether the picture is full of what light passes. A few samples of the colors and normals that show through it would
            guide the removal of noise astray, and its faces would look grained.
        is_full: whether particles are as small as declared for the full size, with fine surfaces and motion blur.
    """

    lamps: tuple[Lamp, ...]
    sky: Rgb
    brightness: float
    size: tuple[int, int] = (640, 360)
    samples: int = 12
    noise: float = 0.01
    bounces: int = 12
    fog_bounces: int = 4
    view: tuple[str, str] | None = None
    is_clear: bool = False
    is_full: bool = False


DRAFT = Studio(
    lamps=(Lamp("Key", (-0.75, -0.45, 0.9), 34.0, 0.6), Lamp("Rim", (0.75, 0.55, 0.7), 18.0, 0.5)),
    sky=(0.62, 0.70, 0.82),
    brightness=0.3,
    noise=0.05,
    view=("AgX", "AgX - Medium High Contrast"),
)
FULL = replace(DRAFT, size=(1920, 1080), samples=64, noise=0.01, is_full=True)


# what is given in meters
_DEBRIS_LENGTHS = ("chip_size", "dust_size")


class Stage:
    """A scene under construction, and the collection for all of its objects.

    Attributes:
        emitters: the emitters, in the order in which they were added.
        bodies: the rigid bodies, likewise.
        studio: lighting and render settings.
    """

    def __init__(self, scene: BlenderScene, collection: Any, studio: Studio = DRAFT) -> None:
        self.scene = scene
        self.studio = studio
        self.emitters: list[BlenderObject] = []
        self.bodies: list[BlenderObject] = []
        self._collection = collection
        self._unit = from_meters(scene, 1.0)

    def frames(self, count: int, *, time_scale: float = 1.0) -> None:
        """Set the number of frames, and the factor by which they are slower than real time."""
        self.scene.frame_start, self.scene.frame_end = 1, count
        self.scene.frame_set(1)
        self.scene.mpm.time_scale = time_scale

    def outdoors(self, sun: Point, power: float, *, sky: Rgb, brightness: float) -> None:
        """Light the scene by a sun in a direction and a sky instead of the studio's lamps."""
        self.studio = replace(self.studio, lamps=(Lamp("Sun", sun, power, 0.02, "SUN"),), sky=sky, brightness=brightness)

    def clear(self) -> None:
        """Say that the scene is mostly seen through, see `Studio`."""
        self.studio = replace(self.studio, is_clear=True)

    def cells(self, edge: float, *, full: float | None = None) -> None:
        """Set the cell size [m]; `full` is that in full size, if it differs."""
        self.scene.mpm.solver.spacing = "spacing"
        self.scene.mpm.solver.grid_spacing = self._unit * (full if full is not None and self.studio.is_full else edge)

    def heat(self, *, ambient: float, speed: float) -> None:
        """Simulate heat, with air of a temperature [degrees C]; it flows that many times as fast as in nature."""
        give(self.scene.mpm.solver, {"ambient_temperature": ambient, "heat_speed": speed})

    def emitter(
        self, name: str, solid: Solid, at: Point, preset: str, *, rotation: Point = (0.0, 0.0, 0.0), bevel: float = 0.0, **settings: Any
    ) -> BlenderObject:
        """Add an emitter of a named material. Velocities in m/s, angles in degrees.

        One with a `bevel` [m] has round edges.
        """
        if "velocity" in settings:
            settings["velocity"] = tuple(self._unit * part for part in settings["velocity"])
        if "color" in settings:
            settings["color"] = (*settings["color"], 1.0)
        item = self._object(name, solid, at, rotation)
        make_emitter(item, preset, **settings)
        if bevel > 0.0:
            self._round(item, bevel, segments=4)
            item.data.shade_smooth()
        self.emitters.append(item)
        return item

    def collider(
        self,
        name: str,
        solid: Solid,
        at: Point,
        color: Rgb,
        *,
        rotation: Point = (0.0, 0.0, 0.0),
        bevel: float = 0.0,
        roughness: float = 0.5,
        **settings: Any,
    ) -> BlenderObject:
        """Add a collider with its color; edges are rounded by `bevel` [m]."""
        item = self._object(name, solid, at, rotation)
        make_collider(item, **settings)
        paint(item, color, roughness=roughness)
        if bevel > 0.0:
            self._round(item, bevel, segments=3)
        return item

    def rigid_body(
        self,
        name: str,
        solid: Solid,
        at: Point,
        materials: Sequence[BlenderMaterial],
        *,
        rotation: Point = (0.0, 0.0, 0.0),
        velocity: Point = (0.0, 0.0, 0.0),
        fracture: Mapping[str, float] | None = None,
        **settings: Any,
    ) -> BlenderObject:
        """Add a rigid body with its Blender materials, which breaks if settings of fracture are given. Velocity in m/s, angles in degrees.

        Its faces inside have the second material.
        """
        item = self._object(name, solid, at, rotation)
        for material in materials:
            item.data.materials.append(material)
        moving = tuple(self._unit * part for part in velocity)
        make_collider(item, dynamic=True, velocity=moving, use_fracture=fracture is not None, **settings)
        if fracture is not None:
            lengths = {"crack_radius": self._unit * fracture["crack_radius"]} if "crack_radius" in fracture else {}
            give(item.mpm.collider.fracture, {**fracture, **lengths})
        self.bodies.append(item)
        return item

    def rough(self, name: str, colors: tuple[Rgb, Rgb], size: float, *, relief: float = 0.3) -> BlenderMaterial:
        """A new Blender material of two colors in patches, with bumps, of sizes up to `size` [m]."""
        return natural(name, colors, size * self._unit, relief=relief, roughness=0.9)

    def _round(self, item: BlenderObject, bevel: float, *, segments: int) -> None:
        """Round the edges of an object by `bevel` [m]."""
        modifier = item.modifiers.new("Bevel", "BEVEL")
        modifier.width, modifier.segments = bevel * self._unit, segments
        modifier.limit_method = "ANGLE"

    def glass(self, name: str, solid: Solid, at: Point = (0.0, 0.0, 0.0)) -> BlenderObject:
        """Add a glass object that is rendered but not simulated."""
        item = self._object(name, solid, at)
        glaze(item)
        return item

    def seen(
        self, name: str, solid: Solid, at: Point, color: Rgb, *, roughness: float = 0.5, metallic: float = 0.0, tile: float = 0.0
    ) -> BlenderObject:
        """Add an object that is rendered but not simulated; one with tiles if the edge of a `tile` [m] is given."""
        item = self._object(name, solid, at)
        paint(item, color, roughness=roughness, metallic=metallic, tile=tile * self._unit)
        return item

    def natural(
        self,
        name: str,
        solid: Solid,
        colors: tuple[Rgb, Rgb],
        size: float,
        *,
        at: Point = (0.0, 0.0, 0.0),
        relief: float = 0.3,
        wet: Strand | None = None,
    ) -> BlenderObject:
        """Add a rendered object of a natural material: two colors in patches, and bumps, of sizes up to `size` [m]; `wet` in m."""
        item = self._object(name, solid, at)
        strand = None if wet is None else Strand(*(length * self._unit for length in wet))
        weather(item, colors, size * self._unit, relief=relief, wet=strand)
        item.data.shade_smooth()
        return item

    @staticmethod
    def collide(item: BlenderObject, **settings: Any) -> None:
        """Make a rendered object a collider."""
        make_collider(item, **settings)

    def obstacle(self, name: str, solid: Solid, **settings: Any) -> BlenderObject:
        """Add a collider that is not rendered, the plainer shape of something that is."""
        item = self._object(name, solid, (0.0, 0.0, 0.0))
        make_collider(item, **settings)
        show_as_wire(item)
        return item

    def vary(self, item: BlenderObject, *, strength: float, size: float) -> None:
        """Let the strength of an emitter's material vary from place to place, over up to `size` [m]."""
        item.mpm.emitter.use_randomness = True
        item.mpm.emitter.randomness.strength, item.mpm.emitter.randomness.size = strength, size * self._unit

    def fog(self) -> None:
        """Make a volume of loose particles during the bake."""
        self.scene.mpm.volume.while_baking = True

    def foam(self) -> None:
        """Make spray, foam and bubbles during the bake."""
        self.scene.mpm.foam.while_baking = True

    def debris(self, **settings: Any) -> None:
        """Make chips and dust during the bake, with other settings than usual."""
        self.scene.mpm.debris.while_baking = True
        for name, value in settings.items():
            setattr(self.scene.mpm.debris, name, value * self._unit if name in _DEBRIS_LENGTHS else value)

    def ground(self, color: Rgb, *, half: float = 30.0, height: float = 0.0, roughness: float = 0.7, tile: float = 0.0) -> None:
        """Add a plane that is rendered but not simulated; one with tiles if the edge of a `tile` [m] is given."""
        self.seen("Ground", sheet([(-half, 0.0), (half, 0.0)], 2.0 * half), (0.0, 0.0, height), color, roughness=roughness, tile=tile)

    def floor(self, half: float, color: Rgb, *, tile: float = 0.0, **settings: Any) -> None:
        """Add the ground: a collider with its top at z = 0, and a rendered backdrop that curves up in the background.

        Both are at the same height: water reaches just into the collider, and a gap of air below it would mirror everything.
        """
        plate = self._object("Floor", box((2.0 * half, 2.0 * half, 0.2)), (0.0, 0.0, -0.1))
        make_collider(plate, **settings)
        show_as_wire(plate)
        self.backdrop(color, tile=tile)

    def backdrop(self, color: Rgb, *, height: float = 0.0, tile: float = 0.0) -> None:
        """Add a rendered ground that curves up in the background."""
        bend = [(3.0 + 2.0 * math.sin(turn), 2.0 - 2.0 * math.cos(turn)) for turn in (0.1 * math.pi / 2.0 * step for step in range(11))]
        solid = sheet([(-12.0, 0.0), *bend, (5.0, 12.0)], 60.0)
        self.seen("Backdrop", solid, (0.0, 0.0, height), color, roughness=0.8, tile=tile).data.shade_smooth()

    def domain(self, low: Point, high: Point, *, surface: str = "slip") -> BlenderObject:
        """Set the box domain; its sides are walls, or particles that leave are removed if `surface` is "open"."""
        size, middle = zip(*((b - a, 0.5 * (a + b)) for a, b in zip(low, high, strict=True)), strict=True)
        item = self._object("Domain", box(size), middle)
        show_as_wire(item)
        self.scene.mpm.domain.kind = "box"
        self.scene.mpm.domain.object = item
        for side in SIDES:
            getattr(self.scene.mpm.domain, side).surface = surface
        return item

    def key(self, item: BlenderObject, frame: int, *, at: Point, rotation: Point) -> None:
        """Keyframe location and rotation of an object."""
        item.location = tuple(self._unit * part for part in at)
        item.rotation_euler = tuple(math.radians(angle) for angle in rotation)
        item.keyframe_insert("location", frame=frame)
        item.keyframe_insert("rotation_euler", frame=frame)

    def camera(self, at: Point, target: Point, *, lens: float = 50.0, stop: float = 0.0) -> None:
        """Add the camera, the lights around its target, the world and the render settings.

        With an f-number `stop`, the camera is focused on its target, and what is nearer or farther is blurred.
        """
        self.view(at, target, lens=lens)
        if stop > 0.0:
            focus: Any = self.scene.camera.data.dof
            focus.use_dof, focus.aperture_fstop = True, stop / self._unit
            focus.focus_distance = self._unit * math.dist(at, target)
        self.light(target, math.dist(at, target))

    def view(self, at: Point, target: Point, *, lens: float = 50.0, width: float = 0.0) -> None:
        """Add only the camera; orthographic if a width [m] of the picture is given."""
        camera: Any = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        self._aim(camera, at, target)
        camera.data.lens, camera.data.sensor_width = lens, _SENSOR
        camera.data.clip_start, camera.data.clip_end = 0.01 * self._unit, 100.0 * self._unit
        if width:
            camera.data.type, camera.data.ortho_scale = "ORTHO", width * self._unit
        self.scene.camera = camera

    def light(self, middle: Point, reach: float) -> None:
        """Add the studio's lights around a point, its world and its render settings."""
        for lamp in self.studio.lamps:
            light: Any = bpy.data.lights.new(lamp.name, lamp.kind)
            x, y, z = (place + reach * part for place, part in zip(middle, lamp.direction, strict=True))
            self._aim(bpy.data.objects.new(lamp.name, light), (x, y, z), middle)
            if lamp.kind == "SUN":
                light.energy, light.angle = lamp.power, lamp.size
            else:
                light.energy, light.size = lamp.power * (reach * self._unit) ** 2, lamp.size * reach * self._unit
        self.scene.world = world_of("MPM World", self.studio.sky, self.studio.brightness, is_sky=self.studio.lamps[0].kind == "SUN")
        self._render()

    def _aim(self, item: BlenderObject, at: Point, target: Point) -> None:
        """Add an object that looks along -z to the scene, pointing at its target."""
        x, y, z = ((goal - start) / math.dist(at, target) for start, goal in zip(at, target, strict=True))
        item.location = tuple(self._unit * part for part in at)
        item.rotation_euler = (math.acos(-z), 0.0, math.atan2(-x, y))
        self._collection.objects.link(item)

    def _render(self) -> None:
        studio, render = self.studio, self.scene.render
        render.resolution_x, render.resolution_y = studio.size
        render.resolution_percentage = 100
        if studio.is_full:
            render.use_motion_blur = True
            self.scene.mpm.surface.quality = FILM
        if studio.view is not None:
            with suppress(TypeError):  # another color configuration has other views: keep its own
                self.scene.view_settings.view_transform, self.scene.view_settings.look = studio.view
        try:
            render.engine = "CYCLES"
        except TypeError:  # Cycles is an add-on, and disabled: keep the engine
            return
        cycles = self.scene.cycles
        cycles.samples, cycles.use_denoising, cycles.max_bounces = studio.samples, True, studio.bounces
        cycles.adaptive_threshold, cycles.volume_bounces = studio.noise, studio.fog_bounces
        cycles.denoising_input_passes = "RGB" if studio.is_clear else "RGB_ALBEDO_NORMAL"
        # light that is reflected inside drops and between panes also counts toward these, and goes dark at Blender's 4 and 8
        cycles.glossy_bounces, cycles.transparent_max_bounces = studio.bounces, _MOST_PANES

    def _object(self, name: str, solid: Solid, at: Point, rotation: Point = (0.0, 0.0, 0.0)) -> BlenderObject:
        unit = self._unit
        scaled = Solid(tuple((unit * x, unit * y, unit * z) for x, y, z in solid.vertices), solid.faces)
        turns = tuple(math.radians(angle) for angle in rotation)
        return add_object(self._collection, name, scaled, tuple(unit * part for part in at), rotation=turns)  # type: ignore[arg-type]


def make_monkey(mesh: BlenderMesh, size: float) -> None:
    """Replace a mesh by Suzanne, about twice as wide as its size."""
    import bmesh  # the interface needs it nowhere else

    shaped: Any = bmesh.new()
    bmesh.ops.create_monkey(shaped)
    bmesh.ops.scale(shaped, vec=(size, size, size), verts=shaped.verts)
    shaped.to_mesh(mesh)
    shaped.free()
    mesh.shade_smooth()
