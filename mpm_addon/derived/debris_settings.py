"""The settings of debris. Knows neither files nor how it is made."""

import hashlib
import json
from dataclasses import dataclass

from ..core.parameters import parameter, parameters_of, validate

# Part of the hash; increase it when the same settings produce different data.
_VERSION = 2


@dataclass(frozen=True)
class DebrisSettings:
    """How chips and dust are made from cached frames."""

    emitters: str = parameter(
        "",
        help="Emitters and breaking colliders that throw off debris, separated by commas; if empty, all that tear or break, or of snow, "
        "sand or clay",
    )
    chips: float = parameter(
        2.0,
        minimum=0.0,
        maximum=1000.0,
        help="New chips of each particle that breaks completely; higher values look coarser and take more disk space (snow 2, rock 5)",
    )
    dust: float = parameter(
        20.0,
        minimum=0.0,
        maximum=1000.0,
        help="New particles of dust of each particle that breaks completely; higher values look denser and take more disk space (wet clay "
        "0, snow 20, concrete 50)",
    )
    speed: float | None = parameter(
        None,
        unit="m/s",
        above=0.0,
        example=0.2,
        help="Speed at which material has to come apart to throw off debris, reached in full at five times this speed; lower values "
        "give debris in slower motion (a fiftieth of the material's mean speed)",
    )
    spread: float = parameter(
        1.0,
        minimum=0.0,
        maximum=20.0,
        help="Random velocities, relative to how fast material comes apart; higher values scatter debris wider (0.2 to 1)",
    )
    chip_size: float | None = parameter(None, unit="m", above=0.0, example=0.004, help="Mean diameter of chips (a fifth of a grid cell)")
    chip_life: float = parameter(
        10.0, unit="s", minimum=0.01, maximum=60.0, help="Mean lifetime of chips; higher values leave them on the ground for longer"
    )
    chip_drag: float = parameter(
        0.1, unit="1/s", minimum=0.0, maximum=100.0, help="Air drag of chips; higher values slow them down (stone 0.1, snow 0.5, paper 5)"
    )
    bounce: float = parameter(
        0.3, minimum=0.0, maximum=1.0, help="Part of the speed that chips keep when they hit something (snow 0, stone 0.4)"
    )
    friction: float = parameter(
        0.6,
        minimum=0.0,
        maximum=10.0,
        help="Friction of chips; with higher values, they come to rest sooner and on steeper slopes (ice 0.1)",
    )
    dust_size: float | None = parameter(
        None, unit="m", above=0.0, example=0.002, help="Mean diameter of particles of dust (a tenth of a grid cell)"
    )
    dust_life: float = parameter(
        3.0,
        unit="s",
        minimum=0.01,
        maximum=60.0,
        help="Mean lifetime of dust; higher values leave it in the air for longer (powder 3, smoke 10)",
    )
    dust_drag: float = parameter(
        3.0, unit="1/s", minimum=0.0, maximum=100.0, help="Air drag of dust; higher values stop it sooner (grit 1, powder 3, smoke 10)"
    )
    fall_speed: float = parameter(
        0.15,
        unit="m/s",
        minimum=0.0,
        maximum=20.0,
        help="How fast dust falls in still air; lower values make it hang (smoke 0, powder 0.15, grit 2)",
    )

    def __post_init__(self) -> None:
        validate(self, "Debris")

    @property
    def hash(self) -> str:
        """A hash that is equal for all settings that produce the same debris."""
        values = [getattr(self, each.name) for each in parameters_of(DebrisSettings)]
        decided = [f"{value:.6g}" if isinstance(value, float) else value for value in values]
        return hashlib.sha256(json.dumps(["debris", _VERSION, *decided]).encode()).hexdigest()[:16]
