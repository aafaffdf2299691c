"""What to bake of a scene, and where to begin."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from ..core.advice.preview import preview_of
from ..core.scene.description import Scene
from ..storage.events import OnEvent, WarningEvent
from ..storage.scene_file import read_scene


@dataclass(frozen=True)
class Order:
    """What to bake of a scene, and where to begin.

    Attributes:
        frames: the first and last frame to store; None for all frames of the scene.
        restart: replace the frames of an earlier bake of any scene, as soon as there is a new one.
        from_frame: continue after this existing frame of any scene, in a new take that becomes current with its first frame.
            Existing later frames stay in their own take.
        variant: the name of a variant of the scene.
        preview: bake a preview with about this many particles, on a coarser grid, instead of the scene itself.
        size_limit: stop before the cache is larger than this [GB]; None for the scene's limit.
        time_limit: stop after this time [h]; None for the scene's limit.
    """

    frames: tuple[int, int] | None = None
    restart: bool = False
    from_frame: int | None = None
    variant: str | None = None
    preview: int | None = None
    size_limit: float | None = None
    time_limit: float | None = None

    def scene(self, path: str | Path, emit: OnEvent) -> Scene:
        """Read the scene to bake; emits the warnings of a preview. Raises SceneError."""
        scene = read_scene(path, self.variant)
        given = {"size_limit": self.size_limit, "time_limit": self.time_limit}
        changes = {name: value for name, value in given.items() if value is not None}
        if changes:
            scene = dataclasses.replace(scene, cache=dataclasses.replace(scene.cache, **changes))
        if self.preview is None:
            return scene
        made = preview_of(scene, self.preview)
        for warning in made.warnings:
            emit(WarningEvent(warning=warning))
        return made.scene
