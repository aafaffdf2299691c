"""A rubber boot stamps into a puddle of mud."""

import math
from collections.abc import Iterator, Sequence

from ..relief import lattice_value, noise, slab, spread
from ..solids import Point, Solid, ball, lofted, prism, together
from ..stages import Stage

LABEL = "Boot in Mud"
DESCRIPTION = "A rubber boot with a tread stamps into a puddle of mud and is pulled out of it"

_SOIL = ((0.028, 0.017, 0.010), (0.105, 0.066, 0.038))
_STONES = ((0.10, 0.095, 0.09), (0.30, 0.28, 0.25))
_GRASS, _RUBBER, _SOLE = (0.07, 0.14, 0.025), (0.035, 0.10, 0.035), (0.012, 0.012, 0.012)
# The puddle: half its length and width, its depth, its level, and the distance of the mud to its bed [m].
_LONG, _WIDE, _DEPTH, _LEVEL, _GAP = 0.30, 0.21, 0.075, -0.006, 0.004
_STEPS, _RINGS = 72, 14
# The upper of the boot: heights, and there the heel's and the toe's place and half the width [m].
_UPPER = (
    (0.016, -0.150, 0.150, 0.050),
    (0.045, -0.150, 0.149, 0.051),
    (0.065, -0.147, 0.142, 0.049),
    (0.083, -0.143, 0.120, 0.046),
    (0.100, -0.140, 0.086, 0.043),
    (0.122, -0.137, 0.044, 0.042),
    (0.150, -0.136, 0.008, 0.044),
    (0.185, -0.140, -0.006, 0.050),
    (0.240, -0.149, -0.002, 0.057),
    (0.300, -0.154, 0.006, 0.062),
    (0.380, -0.158, 0.012, 0.065),
)
_THICK, _LUG = 0.020, 0.011
# Frames, and there the height of the sole and how far the toe is up [m, degrees].
_STAMP = ((1, 0.10, 7.0), (5, -0.044, 0.0), (7, -0.046, 0.0), (10, 0.0, 16.0), (14, 0.09, 27.0), (30, 0.26, 12.0))


def build(stage: Stage) -> None:
    stage.frames(48)
    stage.cells(0.0105, full=0.0057)
    soil = spread(-3.0, 3.0, 0.014, growth=1.07), spread(-2.0, 4.0, 0.014, growth=1.07)
    ground = stage.natural("Ground", slab(*soil, _deep, ground_height), _SOIL, 0.06, relief=0.12)
    stage.collide(ground, surface="sticky")
    stage.natural("Stones", together(list(_stones())), _STONES, 0.02, relief=0.1)
    stage.seen("Grass", together(list(_grass())), (0.0, 0.0, 0.0), _GRASS, roughness=0.6)
    start = (0.0, 0.0, _STAMP[0][1])
    boot = stage.collider("Boot", _upper(), start, _RUBBER, roughness=0.28, surface="separate", friction=0.6)
    boot.data.shade_smooth()
    sole = stage.collider("Sole", _sole(), start, _SOLE, roughness=0.5, surface="sticky")
    for frame, height, toe in _STAMP:
        for item in (boot, sole):
            stage.key(item, frame, at=(0.0, 0.0, height), rotation=(0.0, -toe, 0.0))
    stage.emitter("Mud", _mud(), (0.0, 0.0, 0.0), "mud", color=(0.085, 0.046, 0.024))
    stage.outdoors((-0.25, -0.75, 0.55), 4.5, sky=(0.55, 0.68, 0.88), brightness=0.7)
    stage.camera((0.62, -0.72, 0.21), (0.01, 0.0, 0.07), lens=50.0, stop=2.8)


def _shore(turn: float) -> float:
    """How far the puddle reaches in a direction [m]."""
    even = _LONG * _WIDE / math.hypot(_WIDE * math.cos(turn), _LONG * math.sin(turn))
    return even * (1.0 + 0.13 * noise(math.cos(turn), math.sin(turn), size=0.8, octaves=2, seed=5))


def ground_height(x: float, y: float) -> float:
    """The height of the soil, with the puddle's bed [m]."""
    share = math.hypot(x, y) / _shore(math.atan2(y, x))
    bed = _DEPTH * max(0.0, 1.0 - share * share) if share < 1.0 else -0.03 * (1.0 - math.exp(-2.5 * (share - 1.0)))
    rough = 0.016 * noise(x, y, size=0.16, octaves=5, seed=4) * min(1.0, abs(1.0 - share) * 3.0 + (0.25 if share > 1.0 else 0.0))
    return _LEVEL - bed + rough


def _deep(x: float, y: float) -> float:
    return -0.4


def _mud() -> Solid:
    """The mud between the bed and a level."""
    above, below = [], []
    for ring in range(_RINGS):
        share = (ring + 1.0) / _RINGS * 0.97
        places = [(share * _shore(turn) * math.cos(turn), share * _shore(turn) * math.sin(turn)) for turn in _turns(_STEPS)]
        below.append([(x, y, min(_LEVEL - 0.001, ground_height(x, y) + _GAP)) for x, y in places])
        above.append([(x, y, _LEVEL) for x, y in places])
    return lofted([*below, *reversed(above)], (0.0, 0.0, ground_height(0.0, 0.0) + _GAP), (0.0, 0.0, _LEVEL))


def _turns(steps: int) -> list[float]:
    return [2.0 * math.pi * step / steps for step in range(steps)]


def _foot(heel: float, toe: float, half: float, height: float, *, margin: float = 0.0) -> list[Point]:
    """The outline of a foot, or higher up of a leg: a long one is narrower in its waist."""
    middle, length = 0.5 * (heel + toe), 0.5 * (toe - heel) + margin
    waist = 0.16 * max(0.0, min(1.0, (length - 0.08) / 0.06))
    found = []
    for turn in _turns(56):
        along, across = _squared(math.cos(turn)), _squared(math.sin(turn))
        narrow = 1.0 - waist * math.exp(-(((along + 0.25) / 0.3) ** 2)) - 0.5 * waist * max(0.0, -along)
        found.append((middle + length * along, (half + margin) * across * narrow + 0.006 * along * waist, height))
    return found


def _squared(share: float) -> float:
    return math.copysign(abs(share) ** 0.86, share)


def _upper() -> Solid:
    rings = []
    for before, low, high, after in zip(_UPPER, _UPPER[1:], _UPPER[2:], _UPPER[3:], strict=False):
        rings += [_through(before, low, high, after, step / 4.0) for step in range(4)]
    stations = [_UPPER[0], *rings, *_UPPER[-2:]]
    last = stations[-1]
    band = [
        (last[0] + 0.001, last[1] - 0.003, last[2] + 0.003, last[3] + 0.003),
        (last[0] + 0.022, last[1] - 0.003, last[2] + 0.003, last[3] + 0.003),
    ]
    outlines = [_foot(heel, toe, half, height) for height, heel, toe, half in (*stations, *band)]
    middle = 0.5 * (last[1] + last[2])
    return lofted(outlines, (0.0, 0.0, _UPPER[0][0]), (middle, 0.0, last[0] + 0.022))


def _through(
    before: Sequence[float], low: Sequence[float], high: Sequence[float], after: Sequence[float], share: float
) -> tuple[float, ...]:
    """A smooth curve through four stations, between the inner two (Catmull-Rom)."""
    return tuple(
        b + 0.5 * share * (c - a + share * (2.0 * a - 5.0 * b + 4.0 * c - d + share * (3.0 * (b - c) + d - a)))
        for a, b, c, d in zip(before, low, high, after, strict=True)
    )


def _sole() -> Solid:
    """A thick sole with a heel and lugs."""
    heel, toe, half = _UPPER[0][1:]
    plate = lofted(
        [
            _foot(heel, toe, half, height, margin=margin)
            for height, margin in ((0.0, 0.002), (0.004, 0.006), (_THICK - 0.003, 0.006), (_THICK, 0.003))
        ],
        (0.0, 0.0, 0.0),
        (0.0, 0.0, _THICK),
    )
    return together([plate, *_lugs()])


def _lugs() -> Iterator[Solid]:
    """Chevrons under the ball of the foot, and bars under the heel."""
    for number in range(6):
        x = 0.005 + 0.024 * number
        side = 0.040 - 0.0025 * max(0, number - 3) ** 2
        for way in (-1.0, 1.0):
            outline = [(x, 0.003 * way), (x + 0.012, 0.003 * way), (x + 0.004, side * way), (x - 0.008, side * way)]
            yield prism(outline if way > 0.0 else outline[::-1], 2.0 * _LUG).moved((0.0, 0.0, 0.001))
    for number in range(3):
        x = -0.135 + 0.024 * number
        yield prism([(x, -0.035), (x + 0.013, -0.035), (x + 0.013, 0.035), (x, 0.035)], 2.0 * _LUG).moved((0.0, 0.0, 0.001))


def _stones() -> Iterator[Solid]:
    """Stones of all sizes around the puddle."""
    for number in range(90):
        turn = math.pi * (1.0 + lattice_value(number, 0))
        away = _shore(turn) * (1.08 + 1.3 * (0.5 + 0.5 * lattice_value(number, 1)) ** 1.5)
        size = 0.004 + 0.020 * (0.5 + 0.5 * lattice_value(number, 2)) ** 4
        x, y = away * math.cos(turn), away * math.sin(turn)
        rough = ball(1.0, steps=12)
        wide, deep, high = (1.0 + 0.35 * lattice_value(number, 3 + axis) for axis in range(3))
        bent = [1.0 + 0.18 * noise(px + 2.0 * pz, py - pz, size=0.9, octaves=2, seed=number) for px, py, pz in rough.vertices]
        shaped = tuple(
            (size * wide * bend * px, size * deep * bend * py, 0.7 * size * high * bend * pz)
            for bend, (px, py, pz) in zip(bent, rough.vertices, strict=True)
        )
        yield Solid(shaped, rough.faces).moved((x, y, ground_height(x, y) + 0.2 * size))


def _grass() -> Iterator[Solid]:
    """Tufts of bent blades behind and beside the puddle."""
    for tuft in range(34):
        turn = math.pi * (0.42 + 0.62 * lattice_value(tuft, 7))
        away = _shore(turn) * (1.25 + 0.8 * (1.0 + lattice_value(tuft, 8)))
        for blade in range(12):
            x = away * math.cos(turn) + 0.03 * lattice_value(tuft, blade, 9)
            y = away * math.sin(turn) + 0.03 * lattice_value(tuft, blade, 10)
            yield _blade(x, y, tuft * 12 + blade)


def _blade(x: float, y: float, number: int) -> Solid:
    """A blade of grass: a narrow strip that leans over."""
    way = math.pi * lattice_value(number, 11)
    length, lean = 0.07 + 0.035 * lattice_value(number, 12), 0.5 + 0.4 * lattice_value(number, 13)
    base, points = ground_height(x, y) - 0.003, []
    for step in range(6):
        share = step / 5.0
        half, out = 0.0022 * (1.0 - share**2) + 0.0001, length * lean * share * share
        at_x, at_y = x + out * math.cos(way), y + out * math.sin(way)
        points += [
            (at_x - half * math.sin(way), at_y + half * math.cos(way), base + length * share * (1.0 - 0.35 * lean * share)),
            (at_x + half * math.sin(way), at_y - half * math.cos(way), base + length * share * (1.0 - 0.35 * lean * share)),
        ]
    return Solid(tuple(points), tuple((2 * step, 2 * step + 1, 2 * step + 3, 2 * step + 2) for step in range(5)))
