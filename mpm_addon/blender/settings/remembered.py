"""Hidden data of a file: the form of its settings, and the folders of its objects' frames."""

from typing import Any

from bpy.props import IntProperty, StringProperty

# 0 in files without a form; `migrations` upgrades them.
VERSION: dict[str, Any] = {
    "version": IntProperty(name="Version", description="Number of the form in which the settings are saved", options={"HIDDEN"}),
}

REMEMBERED: dict[str, Any] = {
    "folder": StringProperty(
        name="Folder",
        description="Where the shown frames were when the file was last saved; they are shown from there where none are beside the file",
        options={"HIDDEN"},
    ),
    "home": StringProperty(
        name="Home",
        description="Cache that a bake fills for this object, where it shows frames from before the file was saved into another folder",
        options={"HIDDEN"},
    ),
}
