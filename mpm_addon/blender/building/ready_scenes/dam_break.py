"""A column of water collapses in a tank and splashes against posts."""

from ..solids import box, cylinder
from ..stages import Stage

LABEL = "Dam Break"
DESCRIPTION = "A column of water collapses in a glass tank and splashes against posts"

_LENGTH, _WIDTH, _HEIGHT = 1.4, 0.56, 1.2
_COLUMN = (0.42, 0.5)  # length, height
_PANE = 0.012


def build(stage: Stage) -> None:
    stage.frames(72)
    stage.cells(0.0226, full=0.0138)
    stage.floor(1.2, (0.20, 0.23, 0.26), tile=0.2)
    half = 0.5 * _LENGTH, 0.5 * _WIDTH
    stage.domain((-half[0], -half[1], 0.0), (half[0], half[1], _HEIGHT))
    for name, y in (("Front Post", -0.12), ("Back Post", 0.12)):
        stage.collider(name, cylinder(0.06, 0.42), (0.26, y, 0.205), (0.85, 0.42, 0.08), roughness=0.35)
    stage.emitter("Water", box((_COLUMN[0], _WIDTH, _COLUMN[1])), (-half[0] + 0.5 * _COLUMN[0], 0.0, 0.5 * _COLUMN[1]), "water")
    for name, size, at in (
        ("Left", (_PANE, _WIDTH + 2.0 * _PANE, _HEIGHT), (-half[0] - 0.5 * _PANE, 0.0)),
        ("Right", (_PANE, _WIDTH + 2.0 * _PANE, _HEIGHT), (half[0] + 0.5 * _PANE, 0.0)),
        ("Front", (_LENGTH, _PANE, _HEIGHT), (0.0, -half[1] - 0.5 * _PANE)),
        ("Back", (_LENGTH, _PANE, _HEIGHT), (0.0, half[1] + 0.5 * _PANE)),
    ):
        stage.glass(f"{name} Pane", box(size), (*at, 0.5 * _HEIGHT))
    stage.foam()
    stage.camera((-0.9, -2.6, 1.15), (0.0, 0.0, 0.26), lens=50.0, stop=4.0)
