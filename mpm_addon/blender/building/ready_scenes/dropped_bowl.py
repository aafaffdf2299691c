"""A bowl of earthenware falls onto a tiled floor and breaks, in slow motion."""

from ..solids import turned
from ..stages import Stage

LABEL = "Dropped Bowl"
DESCRIPTION = "A bowl falls onto the floor and breaks into pieces, in slow motion"

# The bowl's profile (radius, height) [m]: from the center of its underside over the rim to the center of its inside.
_OUTSIDE = [(0.0, 0.0), (0.055, 0.0), (0.06, 0.006), (0.09, 0.02), (0.118, 0.045), (0.138, 0.078), (0.15, 0.118), (0.153, 0.14)]
_RIM = [(0.149, 0.146), (0.141, 0.148), (0.133, 0.146)]
_INSIDE = [(0.129, 0.14), (0.126, 0.118), (0.114, 0.084), (0.096, 0.056), (0.07, 0.035), (0.035, 0.025), (0.0, 0.024)]


def build(stage: Stage) -> None:
    stage.frames(48, time_scale=0.12)
    stage.cells(0.0085, full=0.004)
    stage.floor(1.4, (0.13, 0.085, 0.06), friction=0.5, tile=0.12)
    bowl = stage.emitter(
        "Bowl",
        turned([*_OUTSIDE, *_RIM, *_INSIDE], steps=96),
        (0.0, 0.0, 0.035),
        "ceramic",
        rotation=(-14.0, 6.0, 0.0),
        velocity=(0.0, 0.0, -4.4),
        angular_velocity=(40.0, 0.0, 30.0),
        color=(0.80, 0.66, 0.46),
    )
    bowl.data.shade_smooth()
    stage.camera((0.42, -0.92, 0.5), (0.0, 0.0, 0.05), lens=48.0, stop=4.0)
