"""What ready scenes are built with: a stage with matter, colliders, a backdrop, camera and light. Lengths in metres."""

import math
from typing import Any

import bpy

from ....core.scene.settings import SIDES
from ...host.blender_types import BlenderObject, BlenderScene
from ..placing import add_object, from_metres, make_collider, make_emitter, show_as_wire
from ..solids import Point, Solid, box, sheet
from .looks import Rgb, glaze, paint, world_of

SIZE = (960, 540)
SAMPLES = 24
_SENSOR = 36.0


class Stage:
    """A scene that is being set up, and the collection that takes all of it.

    Attributes:
        matter: the emitters, in the order in which they came.
    """

    def __init__(self, scene: BlenderScene, collection: Any) -> None:
        self.scene = scene
        self.matter: list[BlenderObject] = []
        self._collection = collection
        self._unit = from_metres(scene, 1.0)

    def frames(self, count: int, *, time_scale: float = 1.0) -> None:
        """How many frames there are, and how much slower than nature they play."""
        self.scene.frame_start, self.scene.frame_end = 1, count
        self.scene.frame_set(1)
        self.scene.mpm.time_scale = time_scale

    def cells(self, edge: float) -> None:
        """The edge of a grid cell [m]."""
        self.scene.mpm.solver.spacing = "spacing"
        self.scene.mpm.solver.grid_spacing = edge * self._unit

    def emitter(
        self, name: str, solid: Solid, at: Point, preset: str, *, rotation: Point = (0.0, 0.0, 0.0), **settings: Any
    ) -> BlenderObject:
        """Matter of a named material. Velocities in m/s, angles in degrees."""
        if "velocity" in settings:
            settings["velocity"] = tuple(self._unit * part for part in settings["velocity"])
        if "color" in settings:
            settings["color"] = (*settings["color"], 1.0)
        item = self._object(name, solid, at, rotation)
        make_emitter(item, preset, **settings)
        self.matter.append(item)
        return item

    def collider(
        self, name: str, solid: Solid, at: Point, color: Rgb, *, rotation: Point = (0.0, 0.0, 0.0), bevel: float = 0.0,
        roughness: float = 0.5, **settings: Any,
    ) -> BlenderObject:  # fmt: skip
        """Something that matter cannot enter, with its colour; edges are rounded by `bevel` [m]."""
        item = self._object(name, solid, at, rotation)
        make_collider(item, **settings)
        paint(item, color, roughness=roughness)
        if bevel > 0.0:
            modifier = item.modifiers.new("Bevel", "BEVEL")
            modifier.width, modifier.segments = bevel * self._unit, 3
            modifier.limit_method = "ANGLE"
        return item

    def glass(self, name: str, solid: Solid, at: Point = (0.0, 0.0, 0.0)) -> BlenderObject:
        """Something of glass that is only seen."""
        item = self._object(name, solid, at)
        glaze(item)
        return item

    def seen(self, name: str, solid: Solid, at: Point, color: Rgb, *, roughness: float = 0.5, metallic: float = 0.0) -> BlenderObject:
        """Something that is only seen."""
        item = self._object(name, solid, at)
        paint(item, color, roughness=roughness, metallic=metallic)
        return item

    def floor(self, half: float, color: Rgb, **settings: Any) -> None:
        """The ground: a plate at z = 0 that matter meets, and a backdrop that is seen, which goes up behind."""
        plate = self._object("Floor", box((2.0 * half, 2.0 * half, 0.2)), (0.0, 0.0, -0.1))
        make_collider(plate, **settings)
        show_as_wire(plate)
        bend = [(3.0 + 2.0 * math.sin(turn), 2.0 - 2.0 * math.cos(turn)) for turn in (0.1 * math.pi / 2.0 * step for step in range(11))]
        backdrop = self.seen("Backdrop", sheet([(-12.0, 0.0), *bend, (5.0, 12.0)], 60.0), (0.0, 0.0, -0.001), color, roughness=0.8)
        backdrop.data.shade_smooth()

    def domain(self, low: Point, high: Point, *, surface: str = "slip") -> BlenderObject:
        """The box that the simulation has; its sides are walls, or what leaves through them is gone where `surface` is "open"."""
        size, middle = zip(*((b - a, 0.5 * (a + b)) for a, b in zip(low, high, strict=True)), strict=True)
        item = self._object("Domain", box(size), middle)
        show_as_wire(item)
        self.scene.mpm.domain.kind = "box"
        self.scene.mpm.domain.object = item
        for side in SIDES:
            getattr(self.scene.mpm.domain, side).surface = surface
        return item

    def key(self, item: BlenderObject, frame: int, *, at: Point, rotation: Point) -> None:
        """Keyframe where an object is and how it is turned."""
        item.location = tuple(self._unit * part for part in at)
        item.rotation_euler = tuple(math.radians(angle) for angle in rotation)
        item.keyframe_insert("location", frame=frame)
        item.keyframe_insert("rotation_euler", frame=frame)

    def camera(self, at: Point, target: Point, *, lens: float = 50.0) -> None:
        """The camera, the lamps around its target, and the world."""
        camera: Any = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        self._aim(camera, at, target)
        camera.data.lens, camera.data.sensor_width = lens, _SENSOR
        camera.data.clip_start, camera.data.clip_end = 0.01 * self._unit, 100.0 * self._unit
        self.scene.camera = camera
        reach = math.dist(at, target)
        self._lamp("Key", target, (-0.75, -0.45, 0.9), reach, watts=34.0, size=0.6)
        self._lamp("Rim", target, (0.75, 0.55, 0.7), reach, watts=18.0, size=0.5)
        self.scene.world = world_of("MPM World", (0.62, 0.70, 0.82), 0.45)
        self._render()

    def _lamp(self, name: str, target: Point, direction: Point, reach: float, *, watts: float, size: float) -> None:
        lamp: Any = bpy.data.objects.new(name, bpy.data.lights.new(name, "AREA"))
        x, y, z = (place + reach * part for place, part in zip(target, direction, strict=True))
        self._aim(lamp, (x, y, z), target)
        lamp.data.energy, lamp.data.size = watts * (reach * self._unit) ** 2, size * reach * self._unit

    def _aim(self, item: BlenderObject, at: Point, target: Point) -> None:
        """Put something that looks along -z into the scene, towards its target."""
        x, y, z = ((goal - start) / math.dist(at, target) for start, goal in zip(at, target, strict=True))
        item.location = tuple(self._unit * part for part in at)
        item.rotation_euler = (math.acos(-z), 0.0, math.atan2(-x, y))
        self._collection.objects.link(item)

    def _render(self) -> None:
        render = self.scene.render
        render.resolution_x, render.resolution_y = SIZE
        render.resolution_percentage = 100
        try:
            render.engine = "CYCLES"
        except TypeError:  # Cycles is an add-on, and switched off: the engine stays
            return
        cycles = self.scene.cycles
        cycles.samples, cycles.use_denoising, cycles.max_bounces = SAMPLES, True, 4

    def _object(self, name: str, solid: Solid, at: Point, rotation: Point = (0.0, 0.0, 0.0)) -> BlenderObject:
        unit = self._unit
        scaled = Solid(tuple((unit * x, unit * y, unit * z) for x, y, z in solid.vertices), solid.faces)
        turns = tuple(math.radians(angle) for angle in rotation)
        return add_object(self._collection, name, scaled, tuple(unit * part for part in at), rotation=turns)  # type: ignore[arg-type]
