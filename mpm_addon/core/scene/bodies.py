"""Bodies: which particles share a velocity field.

A *body* is the particles of one or more emitters that share a velocity field; different bodies touch each other by contact.
"""

from .description import Scene


def body_of(scene: Scene, index: int) -> str | int:
    """The body of an emitter's particles: the one that it names, else "" if its material mixes, else the emitter's number."""
    emitter = scene.emitters[index]
    return emitter.body or ("" if scene.materials[emitter.material].law.mixes else index)
