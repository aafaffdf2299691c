"""Hidden data of a file: the form of its settings, the folders of its objects' frames, and the look of objects that became emitters."""

from typing import Any

from bpy.props import BoolProperty, IntProperty, StringProperty

# 0 in files without a form; `migrations` upgrades them.
VERSION: dict[str, Any] = {
    "version": IntProperty(name="Version", description="Number of the form in which the settings are saved", options={"HIDDEN"}),
}

REMEMBERED: dict[str, Any] = {
    "folder": StringProperty(
        name="Folder",
        description="Folder of the displayed frames when the file was last saved; used if there are none next to the file",
        options={"HIDDEN"},
    ),
    "home": StringProperty(
        name="Home",
        description="Folder for new bakes of this object, if it shows frames from before the file was saved in another folder",
        options={"HIDDEN"},
    ),
    "display_before": StringProperty(
        name="Display Before", description="How the object was drawn before it became an emitter; empty if it is none", options={"HIDDEN"}
    ),
    "hidden_before": BoolProperty(
        name="Hidden Before", description="Whether the object was hidden in renders before it became an emitter", options={"HIDDEN"}
    ),
}
