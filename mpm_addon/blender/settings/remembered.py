"""What a file remembers of itself and no panel shows: the form of its settings, and where the frames of its objects are."""

from typing import Any

from bpy.props import IntProperty, StringProperty

# Its number is 0 in files that know none; `migrations` brings them to today's.
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
