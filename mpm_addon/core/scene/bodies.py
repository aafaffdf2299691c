"""Bodies: which particles share a velocity field.

A *body* is the particles of one or more emitters that share a velocity field; different bodies touch each other by contact. A body that
breaks has several fields, which its fragments share.
"""

from .description import Scene

# Velocity fields of a body that breaks: neighboring fragments have different ones. On a plane, four would do.
FRAGMENT_FIELDS = 6


def body_of(scene: Scene, index: int) -> str | int:
    """The body of an emitter's particles: the one that it names, else "" if its material mixes, else the emitter's number."""
    emitter = scene.emitters[index]
    return emitter.body or ("" if scene.materials[emitter.material].law.mixes else index)


def melted_body_of(scene: Scene, index: int) -> str:
    """The body of an emitter's particles while they are the fluid that they have melted into: all fluids mix."""
    return scene.emitters[index].body


def field_count(scene: Scene, body: str | int) -> int:
    """The number of velocity fields of a body."""
    emitters = (emitter for index, emitter in enumerate(scene.emitters) if body_of(scene, index) == body)
    return FRAGMENT_FIELDS if any(scene.materials[emitter.material].law.breaks for emitter in emitters) else 1
