"""A steel ball flies through a wall of bricks, in slow motion."""

from ..relief import lattice_value
from ..solids import Point, ball, box
from ..stages import Stage
from ..surfaces import Rgb, plain

LABEL = "Brick Wall"
DESCRIPTION = "A steel ball flies through a wall of bricks and breaks them, in slow motion"

# A brick, and the gap between two in a row [m].
_BRICK, _GAP = (0.24, 0.115, 0.071), 0.006
_ROWS, _ACROSS = 8, 3
_COLORS: tuple[Rgb, ...] = ((0.33, 0.085, 0.045), (0.25, 0.060, 0.036), (0.39, 0.125, 0.065), (0.29, 0.090, 0.060))
_INSIDE = ((0.36, 0.13, 0.07), (0.52, 0.22, 0.13))
# In chunks with few faces, which rest on each other at little cost.
_FRACTURE = {"strength": 1.7e6, "crack_radius": 0.1, "smallest_piece": 0.08, "piece_limit": 4, "refinement": False}
_TETRAHEDRA, _FULL_TETRAHEDRA = 100, 250


def build(stage: Stage) -> None:
    stage.frames(48, time_scale=0.3)
    stage.cells(0.04)
    stage.floor(4.0, (0.17, 0.165, 0.155), tile=0.4, friction=0.7)
    inside = stage.rough("Brick Inside", _INSIDE, 0.02)
    outside = [plain(f"Brick {number + 1}", color, roughness=0.85) for number, color in enumerate(_COLORS)]
    for number, (size, at, turn) in enumerate(_bricks()):
        color = outside[int(0.5 * len(outside) * (1.0 + lattice_value(number, 5))) % len(outside)]
        settings = {**_FRACTURE, "tetrahedra": _FULL_TETRAHEDRA if stage.studio.is_full else _TETRAHEDRA, "seed": number + 1}
        stage.rigid_body(
            "Brick", box(size), at, (color, inside), rotation=(0.0, 0.0, turn), density=1900.0, friction=0.7, fracture=settings
        )
    steel = plain("Steel", (0.02, 0.022, 0.025), roughness=0.3, metallic=0.6)
    shot = stage.rigid_body("Ball", ball(0.1), (0.06, -0.75, 0.28), (steel,), velocity=(0.0, 12.0, 0.6), density=7800.0, friction=0.4)
    shot.data.shade_smooth()
    # grains of a millimeter that are gone before the wall has come to rest: larger ones hang in the air like confetti
    stage.debris(chips=4.0, dust=12.0, use_dust_size=True, dust_size=0.0015, dust_life=0.2)
    stage.camera((-1.0, -1.75, 0.72), (0.03, 0.1, 0.24), lens=45.0, stop=4.0)


def _bricks() -> list[tuple[Point, Point, float]]:
    """Size, place and rotation [degrees] of each brick: every other row begins and ends with half a brick."""
    long, deep, high = _BRICK
    found: list[tuple[Point, Point, float]] = []
    for row in range(_ROWS):
        lengths = [long] * _ACROSS if row % 2 == 0 else [0.5 * (long - _GAP), *[long] * (_ACROSS - 1), 0.5 * (long - _GAP)]
        x = -0.5 * (sum(lengths) + _GAP * (len(lengths) - 1))
        for number, length in enumerate(lengths):
            place = (x + 0.5 * length, 0.002 * lattice_value(row, number, 1), (row + 0.5) * high)
            found.append(((length, deep, high), place, 0.7 * lattice_value(row, number, 2)))
            x += length + _GAP
    return found
