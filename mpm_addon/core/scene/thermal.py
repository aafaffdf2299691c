"""How a material takes up and conducts heat, when it melts, and how its parameters follow from its temperature. Plain numpy.

A particle's state is its enthalpy: the heat that it has taken up since 0 degrees C, per mass [J/kg]. Temperature and melted share follow
from it, so latent heat is exact:

    h(T) = c T below melting, + latent_heat * melted share and with c linear between both capacities while melting, + c_liquid above.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..laws.law import Law
from ..parameters import Parameter, parameter, parameters_of, suggestion, validate

Floats = NDArray[np.float64]
# parameter -> (temperature [degrees C], value) in ascending order of temperature
Curves = Mapping[str, tuple[tuple[float, float], ...]]

ABSOLUTE_ZERO = -273.15
# levels of temperature of a material with curves, if it has one set of factors
MOST_LEVELS = 16
# what is finer than this melts at one temperature [K]
_LEAST_RANGE = 1e-6


@dataclass(frozen=True)
class Thermal:
    """The thermal parameters of a material."""

    heat_capacity: float = parameter(
        1000.0, unit="J/(kg K)", above=0.0, help="Heat that warms a kilogram by a degree (rock 1000, wax 2100, ice 2100, water 4190)"
    )
    conductivity: float = parameter(
        1.0, unit="W/(m K)", minimum=0.0, help="How fast heat spreads (wax 0.25, water 0.6, lava 1.5, ice 2.2, steel 50)"
    )
    melting_temperature: float | None = parameter(
        None,
        unit="°C",
        minimum=ABSOLUTE_ZERO,
        maximum=1e5,
        example=0.0,
        help="Temperature at which melting begins; if not set, the material does not melt (ice 0, butter 20, wax 50, lava 900)",
    )
    melting_range: float = parameter(
        0.0,
        unit="K",
        minimum=0.0,
        maximum=1e5,
        help="Degrees from the beginning of melting to its end (ice 0, chocolate 6, wax 15, lava 250)",
    )
    latent_heat: float = parameter(
        0.0, unit="J/kg", minimum=0.0, help="Heat that melts a kilogram (butter 6e4, wax 2e5, ice 3.34e5, lava 4e5)"
    )
    liquid_heat_capacity: float | None = parameter(
        None, unit="J/(kg K)", above=0.0, example=4190.0, help="Heat capacity when melted; if not set, the same as before"
    )
    liquid_conductivity: float | None = parameter(
        None, unit="W/(m K)", minimum=0.0, example=0.6, help="Conductivity when melted; if not set, the same as before"
    )
    air_transfer: float = parameter(
        10.0, unit="W/(m^2 K)", minimum=0.0, maximum=1e6, help="Heat that the surface exchanges with air (still air 10, wind 50)"
    )
    emissivity: float = parameter(
        0.9, minimum=0.0, maximum=1.0, help="Share of the heat that a black surface would radiate (polished metal 0.1, most materials 0.9)"
    )

    def check(self, subject: str) -> None:
        """Check all parameters. Raises SceneError."""
        validate(self, f"{subject}, thermal")
        if self.melting_temperature is None and (self.latent_heat > 0.0 or self.melting_range > 0.0):
            raise SceneError(
                "`latent_heat` and `melting_range` need a `melting_temperature`", "set it, or remove them", subject=f"{subject}, thermal"
            )

    @property
    def _points(self) -> tuple[Floats, Floats]:
        """Ascending enthalpies [J/kg] and their temperatures [degrees C]: the ends of melting."""
        if self.melting_temperature is None:
            return np.zeros(1), np.zeros(1)
        start, liquid = self.melting_temperature, self._liquid_capacity
        begin = self.heat_capacity * start
        taken = 0.5 * (self.heat_capacity + liquid) * self.melting_range + self.latent_heat
        return np.array([begin, begin + taken]), np.array([start, start + self.melting_range])

    @property
    def _liquid_capacity(self) -> float:
        return self.heat_capacity if self.liquid_heat_capacity is None else self.liquid_heat_capacity

    def temperature(self, enthalpy: Floats) -> Floats:
        """The temperature [degrees C] of particles with an enthalpy [J/kg], (n,)."""
        heats, degrees = self._points
        below = degrees[0] + (enthalpy - heats[0]) / self.heat_capacity
        above = degrees[-1] + (enthalpy - heats[-1]) / self._liquid_capacity
        if heats[-1] <= heats[0]:
            return np.where(enthalpy < heats[0], below, above)
        melting = degrees[0] + (degrees[-1] - degrees[0]) * (enthalpy - heats[0]) / (heats[-1] - heats[0])
        return np.where(enthalpy < heats[0], below, np.where(enthalpy > heats[-1], above, melting))

    def enthalpy(self, temperature: float) -> float:
        """The enthalpy [J/kg] at a temperature [degrees C]; where melting takes no range, that of the solid."""
        heats, degrees = self._points
        if temperature <= degrees[0] or self.melting_temperature is None:
            return float(heats[0] + self.heat_capacity * (temperature - degrees[0]))
        if temperature >= degrees[-1]:
            return float(heats[-1] + self._liquid_capacity * (temperature - degrees[-1]))
        return float(heats[0] + (heats[-1] - heats[0]) * (temperature - degrees[0]) / (degrees[-1] - degrees[0]))

    def melted(self, enthalpy: Floats) -> Floats:
        """The melted share of particles with an enthalpy [J/kg], (n,)."""
        if self.melting_temperature is None:
            return np.zeros_like(enthalpy)
        heats, _ = self._points
        if heats[-1] - heats[0] <= _LEAST_RANGE:
            return np.where(enthalpy > heats[0], 1.0, 0.0)
        return np.clip((enthalpy - heats[0]) / (heats[-1] - heats[0]), 0.0, 1.0)

    def capacities(self, melted: Floats) -> Floats:
        """The heat capacity [J/(kg K)] without latent heat, (n,)."""
        return self.heat_capacity + melted * (self._liquid_capacity - self.heat_capacity)

    def conductivities(self, melted: Floats) -> Floats:
        """The conductivity [W/(m K)], (n,)."""
        liquid = self.conductivity if self.liquid_conductivity is None else self.liquid_conductivity
        return self.conductivity + melted * (liquid - self.conductivity)

    @property
    def greatest_diffusivity(self) -> float:
        """The greatest conductivity over the least heat capacity [W kg/(m J)]; divided by the density, in m^2/s."""
        liquid = self.conductivity if self.liquid_conductivity is None else self.liquid_conductivity
        return max(self.conductivity, liquid) / min(self.heat_capacity, self._liquid_capacity)


def curve_parameters(law: type[Law]) -> dict[str, Parameter]:
    """The parameters of a law that may follow from the temperature: name -> parameter. A particle's mass is fixed."""
    return {each.name: each for each in parameters_of(law) if each.kind == "number" and each.name not in ("density", "tear_stretch")}


def checked_curves(curves: Any, law: Law, subject: str) -> dict[str, tuple[tuple[float, float], ...]]:
    """Curves with canonical values. Raises SceneError: a parameter is unknown, or a point is wrong."""
    known, place = curve_parameters(type(law)), f"{subject}, curves"
    checked = {}
    for name, points in curves.items():
        if name not in known:
            raise SceneError(f'"{name}" cannot have a curve{suggestion(name, known)}', f"use one of {', '.join(known)}", subject=place)
        try:
            pairs = tuple((float(degrees), float(value)) for degrees, value in points)
        except (TypeError, ValueError):
            pairs = ()
        if len(pairs) < 2 or not all(math.isfinite(degrees) and degrees >= ABSOLUTE_ZERO for degrees, _ in pairs):
            raise SceneError(
                f"{name} {points!r} is not a curve", "use at least two pairs of a temperature in °C and a value", subject=place
            )
        if any(after <= before for (before, _), (after, _) in itertools.pairwise(pairs)):
            raise SceneError(f"the temperatures of {name} do not ascend", "sort them, each once", subject=place)
        checked[name] = tuple((degrees, known[name].check(value, place)) for degrees, value in pairs)
    for degrees in sorted({degrees for points in checked.values() for degrees, _ in points}):
        law_at_temperature(law, checked, degrees).check(f"{subject}, {degrees:g} °C")
    return checked


def law_at_temperature(law: Law, curves: Curves, temperature: float) -> Law:
    """A law with its parameters at a temperature [degrees C]."""
    return replace(law, **{name: _value_at(points, temperature) for name, points in curves.items()}) if curves else law


def _value_at(points: tuple[tuple[float, float], ...], temperature: float) -> float:
    """A curve's value: between two positive values by ratio, else linear; constant beyond the ends."""
    degrees, values = (np.array(each) for each in zip(*points, strict=True))
    last = int(np.clip(np.searchsorted(degrees, temperature), 1, len(degrees) - 1))
    low, high = float(values[last - 1]), float(values[last])
    share = float(np.clip((temperature - degrees[last - 1]) / (degrees[last] - degrees[last - 1]), 0.0, 1.0))
    return low * (high / low) ** share if low > 0.0 and high > 0.0 else low + share * (high - low)


def levels_of_temperature(curves: Curves, combinations: int, most_instances: int) -> tuple[float, ...]:
    """The temperatures at which the parameters of a material are evaluated, ascending [degrees C]; one at most without curves.

    From one to the next, parameters change about equally: by ratio where they are positive.

    Args:
        combinations: the number of sets of factors, each of which has all levels.
        most_instances: of the material.
    """
    if not curves:
        return ()
    ends = sorted({degrees for points in curves.values() for degrees, _ in points})
    grid = np.unique(np.concatenate([np.linspace(low, high, 65) for low, high in itertools.pairwise(ends)]))
    change = np.zeros(len(grid) - 1)
    for points in curves.values():
        values = np.array([_value_at(points, degrees) for degrees in grid])
        steps = np.abs(np.diff(np.log(values))) if (values > 0.0).all() else np.abs(np.diff(values)) / max(np.ptp(values), 1e-300)
        change += steps / max(steps.sum(), 1e-300)
    way = np.concatenate([[0.0], np.cumsum(change)])
    count = max(2, min(MOST_LEVELS, most_instances // combinations))
    if way[-1] == 0.0:
        return (float(grid[0]),)
    # plateaus are crossed in no time, so that levels stay distinct
    way += 1e-9 * np.arange(len(way))
    return tuple(float(degrees) for degrees in np.interp(np.linspace(0.0, way[-1], count), way, grid))
