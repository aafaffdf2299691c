"""Performs the manual's tutorials in a real window, and takes a picture of each step. `make tutorial-pictures` runs it.

Each step does what its part of the tutorial's script does, except that bakes and renders are started by mouse and key.
"""

import argparse
import re
import shutil
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from tools.environments import ROOT
from tools.gui import places
from tools.gui.blender import Window

PAGE = ROOT / "docs" / "manual" / "tutorials.md"
PICTURES = ROOT / "docs" / "manual" / "tutorials"
BLENDER = "5.2"
BAKING_SECONDS = 1800.0
# By its key code: not every screen finds a key by name.
_F12 = "96"
_QUALITY = 55
_SCALE = 0.7
# Of the whole window, and of the 3D viewport alone.
_BOXES = {True: (0, 0, 1600, 876), False: (0, 26, 1316, 876)}
# How far down its editor a panel is [pixels].
_DOWN = {"Initial Velocity": 330, "Emission": 330, "Material": 200, "Quality": 150}
# How far away the 3D viewport looks from [m], and its angle from the vertical [radians]; into the tank, from above.
_VIEWS = {"snow": (6.0, 1.1), "water": (4.0, 0.6)}
_VIEW = (4.0, 1.1)
_PREPARE = """
from mathutils import Euler
from bl_ext.user_default.mpm_addon.blender.baking import session
from bl_ext.user_default.mpm_addon.blender.baking.bake_facts import facts_of
from bl_ext.user_default.mpm_addon.blender.baking.bake_view import view_of
from bl_ext.user_default.mpm_addon.blender.interface.panels import all_panels
def is_baking():
    return session.current() is not None
def is_baked():
    return view_of(facts_of(CONTEXT.scene)).state.name == "DONE"
panels = [panel for panel in all_panels.CLASSES if issubclass(panel, bpy.types.Panel)] + [bpy.types.MPM_PT_export]
for panel in reversed(panels):
    bpy.utils.unregister_class(panel)
for panel in panels:
    if panel.bl_label in {opened!r}:
        panel.bl_options = set(getattr(panel, "bl_options", ())) - {{"DEFAULT_CLOSED"}}
    bpy.utils.register_class(panel)
bpy.ops.wm.save_as_mainfile(filepath={path!r})
view = area_of("VIEW_3D")[1].spaces.active.region_3d
view.view_location, view.view_distance = (0.1, 0.0, 0.5), {distance}
view.view_rotation = Euler(({tilt}, 0.0, 0.8)).to_quaternion()
rendered = []
bpy.app.handlers.render_complete.append(lambda *_: rendered.append(1))
CONTEXT.scene.render.resolution_percentage, CONTEXT.scene.eevee.taa_render_samples = 40, 8
"""


@dataclass(frozen=True)
class Step:
    """A step of a tutorial: its number, its text, and its part of the script."""

    number: int
    text: str
    code: str

    @property
    def is_bake(self) -> bool:
        """Whether it presses *Bake* or *Bake Again*."""
        return "bpy.ops.mpm.bake" in self.code

    @property
    def panels(self) -> list[tuple[str, str]]:
        """The tab, as "MPM" or "Physics", and the label of each panel that it names."""
        return [(tab, path.rpartition("> ")[2]) for tab, path in re.findall(r"\*(MPM|Physics) tab > ([^*]+)\*", self.text)]

    @property
    def is_in_physics_tab(self) -> bool:
        """Whether it names the Physics tab, which its picture then contains."""
        return any(tab == "Physics" for tab, _ in self.panels)


def tutorials() -> dict[str, list[Step]]:
    """Returns the steps of every tutorial by the first word of its heading."""
    sections = re.split(r"(?m)^## ", PAGE.read_text(encoding="utf-8"))[1:]
    return {section.partition(":")[0]: _steps(section) for section in sections}


def _steps(section: str) -> list[Step]:
    before, _, rest = section.partition("```python\n")
    texts = re.findall(r"(?ms)^(\d+)\. (.+?)(?=^\d+\. |^What to try|\Z)", before)
    parts = re.findall(r"(?ms)(.*?)  # (\d+)[^\n]*\n", rest.partition("```")[0])
    codes = {int(number): code for code, number in parts}
    return [Step(int(number), text, codes.get(int(number), "")) for number, text in texts]


class Performance:
    """One tutorial in a window of its own."""

    def __init__(self, title: str, window: Window) -> None:
        self._title = title.lower()
        self._window = window

    def perform(self, steps: list[Step]) -> None:
        """Do every step and take its picture."""
        window = self._window
        files = window.folder / "files" / self._title
        shutil.rmtree(files, ignore_errors=True)
        files.mkdir(parents=True)
        path = window.inside(files / f"{self._title}.blend")
        opened = [panel for step in steps for _, panel in step.panels]
        distance, tilt = _VIEWS.get(self._title, _VIEW)
        window.run(_PREPARE.format(path=path, distance=distance, tilt=tilt, opened=opened))
        window.run('result = show_sidebar("MPM")')
        for step in steps:
            print(f"{self._title} {step.number}", flush=True)
            self._show(step)
            if step.is_bake:
                self._bake(step)
            elif step.code:
                # the first argument makes a step of undo, as a click does
                code = re.sub(r"bpy\.ops\.([\w.]+)\(", r"bpy.ops.\1(True, ", step.code)
                window.run('with within("VIEW_3D"):\n' + textwrap.indent(code, "    "))
            if not step.text.startswith("Press F12"):
                self._picture(step)
            if "F12" in step.text:
                self._render()

    def _show(self, step: Step) -> None:
        """Show the panel that a step names, or the top of the sidebar."""
        self._window.run('with within("VIEW_3D", "UI"): bpy.ops.view2d.reset()')
        if step.is_in_physics_tab:
            self._window.run('result = show_properties("PHYSICS")')
        for editor, panel in step.panels:
            places = '"PROPERTIES"' if editor == "Physics" else '"VIEW_3D", "UI"'
            down = _DOWN.get(panel, 0)
            self._window.run(f"with within({places}):\n  bpy.ops.view2d.reset()\n  bpy.ops.view2d.pan(deltay=-{down})")

    def _bake(self, step: Step) -> None:
        window = self._window
        call = "mpm.bake_again(" if "bake_again" in step.code else "mpm.bake("
        window.press(call)
        if "again" in call:
            time.sleep(1.0)
            window.key("Return")
        window.wait_until("is_baking()", limit=30)
        window.wait_until("not is_baking()", limit=BAKING_SECONDS)
        window.wait_until("is_baked()", limit=10)

    def _render(self) -> None:
        window = self._window
        window.run('with within("VIEW_3D"): bpy.ops.view3d.camera_to_view()')
        self._rest()
        window.run("rendered.clear()")
        window.key(_F12)
        window.wait_until("rendered", limit=BAKING_SECONDS)
        path = window.folder / "rendered.png"
        window.run(f"bpy.data.images['Render Result'].save_render({window.inside(path)!r}, scene=CONTEXT.scene)")
        window.key("Escape")
        with Image.open(path) as picture:
            _save(picture.convert("RGB"), PICTURES / f"{self._title}_render.jpg")

    def _rest(self) -> None:
        """Move the mouse where nothing lights up below it, and let Blender draw."""
        left, top, width, height = self._window.run('result = box("VIEW_3D")')
        self._window.move(left + width // 3, top + height - 40)
        self._window.run("[area.tag_redraw() for area in CONTEXT.window_manager.windows[0].screen.areas]")
        self._window.run("result = (None for _ in range(10))")

    def _picture(self, step: Step) -> None:
        self._rest()
        time.sleep(1.0)
        picture = self._window.picture().crop(_BOXES[step.is_in_physics_tab])
        width, height = (round(_SCALE * side) for side in picture.size)
        _save(picture.resize((width, height), Image.Resampling.LANCZOS), PICTURES / f"{self._title}_{step.number}.jpg")


def _save(picture: Image.Image, path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    picture.save(path, quality=_QUALITY, optimize=True, progressive=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, help="the extension's zip, built for this Blender (default: what is installed)")
    parser.add_argument("titles", nargs="*", metavar="TITLE", help="the tutorials (default: all)")
    options = parser.parse_args()
    place = places.find(BLENDER)
    if place is None:
        raise SystemExit(places.how_to_get(BLENDER))
    if options.archive is not None:
        Window(place, "tutorials").install(options.archive)
    for title, steps in tutorials().items():
        if not options.titles or title in options.titles:
            window = Window(place, "tutorials")
            try:
                window.start()
                Performance(title, window).perform(steps)
            finally:
                window.stop()


if __name__ == "__main__":
    main()
