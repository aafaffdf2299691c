"""What particles exchange heat with: colliders, air, and force fields.

Each exchange follows the exact solution for a constant temperature of the other side, so that none can overshoot:
T += (T_other - T) (1 - e^(-dt r)), with the rate r = conductance / (m c).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contact.obstacles import ObstacleGroup
from ..scene.animation import value_at
from ..scene.description import Scene
from ..scene.thermal import ABSOLUTE_ZERO, Thermal
from ..transfer.blocks import BLOCK
from ..transfer.particle_store import ParticleStore
from .force_fields import field_row
from .forces import FIELD_SIZE, shares_at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# radiated power of a black surface over T^4 [W/(m^2 K^4)] (Stefan 1879, Boltzmann 1884)
STEFAN_BOLTZMANN = 5.670374419e-8
# particles within this distance of a collider exchange heat with it [cells], the nearest as if they were at NEAREST
LAYER, NEAREST = 1.0, 0.01


@dataclass(frozen=True)
class Contents:
    """What particles hold, arrays of shape (n,).

    Attributes:
        mass: [kg]; volume: at rest [m^3].
        temperature: [degrees C].
        capacity: without latent heat [J/(kg K)].
        conductivity: [W/(m K)]; air_transfer: [W/(m^2 K)]; emissivity: of a surface.
        holds: whether they keep their temperature, because their material has no thermal values.
    """

    mass: Floats
    volume: Floats
    temperature: Floats
    capacity: Floats
    conductivity: Floats
    air_transfer: Floats
    emissivity: Floats
    holds: NDArray[np.bool_]

    @classmethod
    def empty(cls, mass: Floats, volume: Floats) -> "Contents":
        """Of particles that hold no heat yet."""
        count = len(mass)
        temperature, conductivity, air_transfer, emissivity = np.zeros((4, count))
        return cls(mass, volume, temperature, np.ones(count), conductivity, air_transfer, emissivity, np.zeros(count, np.bool_))

    def fill(self, its: Ints, thermal: Thermal | None, enthalpy: Floats) -> None:
        """Set the contents of some particles, of one material, from their enthalpies [J/kg]."""
        if thermal is None:
            self.temperature[its], self.holds[its] = enthalpy, True
            return
        melted = thermal.melted(enthalpy)
        self.temperature[its] = thermal.temperature(enthalpy)
        self.capacity[its] = thermal.capacities(melted)
        self.conductivity[its] = thermal.conductivities(melted)
        self.air_transfer[its], self.emissivity[its] = thermal.air_transfer, thermal.emissivity

    def taken_up(self, other: Floats | float, conductance: Floats, dt: float) -> Floats:
        """The heat per mass [J/kg] that comes in a step [s] from what has another temperature, through conductances [W/K], (n,)."""
        share = -np.expm1(-dt * conductance / (self.mass * self.capacity))
        return np.where(self.holds, 0.0, self.capacity * (other - self.temperature) * share)


class Touching(NamedTuple):
    """The particles in the layer next to a collider with a temperature.

    Attributes:
        its: their numbers, (k,); distance: from its surface [m], (k,).
        temperature: of the collider [degrees C]; transfer: [W/(m^2 K)], None for perfect contact.
    """

    its: Ints
    distance: Floats
    temperature: float
    transfer: float | None


def touching(
    scene: Scene, store: ParticleStore, slots: Ints, obstacles: Sequence[ObstacleGroup], frame: float, *, has_air: bool
) -> tuple[list[Touching], NDArray[np.bool_]]:
    """The particles that touch colliders with a temperature, and which of the particles (n,) a collider covers from the air.

    Args:
        slots: of the particles, (n,).
        obstacles: in their poses at the moment `frame`.
        has_air: whether it matters what covers particles.
    """
    found, is_covered = [], np.zeros(len(slots), np.bool_)
    spacing, layout = scene.solver.grid_spacing, store.layout
    block = (np.searchsorted(layout.first, slots, side="right") - 1) // store.instance_count
    middle = (BLOCK * layout.coordinates + 0.5 * (BLOCK + 1)) * spacing
    if store.dimension == 2:
        middle[:, 1] = 0.0
    reach = (0.5 * np.sqrt(3.0) * BLOCK + LAYER) * spacing
    positions: Floats | None = None
    for obstacle in (each for group in obstacles for each in group.obstacles):
        temperature = value_at(obstacle.collider, "temperature", frame)
        if not obstacle.is_present or (temperature is None and not has_air):
            continue
        near = np.flatnonzero((obstacle.distance(middle)[0] < reach)[block])
        if not len(near):
            continue
        positions = store.positions(spacing)[slots] if positions is None else positions
        distance = obstacle.distance(np.ascontiguousarray(positions[near]))[0]
        inside = np.flatnonzero(distance < LAYER * spacing)
        its = near[inside]
        is_covered[its] = True
        if temperature is not None:
            found.append(Touching(its, np.maximum(distance[inside], NEAREST * spacing), temperature, obstacle.collider.heat_transfer))
    return found, is_covered


def exchange_with_colliders(touched: Sequence[Touching], contents: Contents, dt: float, spacing: float) -> Floats:
    """The heat per mass [J/kg] that particles take up from colliders in a step [s], (n,).

    The layer within a cell of a surface has the volume A h, so each particle in it stands for the area V / h, behind the thickness of
    material between. In a linear profile of temperature that is exactly the heat that flows through the surface.
    """
    heat = np.zeros(len(contents.mass))
    for its, distance, temperature, transfer in touched:
        part = Contents(*(getattr(contents, name)[its] for name in Contents.__dataclass_fields__))
        with np.errstate(divide="ignore"):
            resistance = distance / part.conductivity + (0.0 if transfer is None else 1.0 / np.float64(transfer))
            heat[its] += part.taken_up(temperature, part.volume / (LAYER * spacing) / resistance, dt)
    return heat


def exchange_with_air(contents: Contents, exposure: Floats, ambient: float, dt: float) -> Floats:
    """The heat per mass [J/kg] that particles take up from the air in a step [s], by convection and radiation, (n,).

    Args:
        exposure: free surface per volume [1/m], (n,).
        ambient: temperature of the air and of what is around [degrees C].
    """
    warm, cold = contents.temperature - ABSOLUTE_ZERO, ambient - ABSOLUTE_ZERO
    # e s (T^4 - T_a^4) = e s (T^2 + T_a^2) (T + T_a) (T - T_a)
    radiated = contents.emissivity * STEFAN_BOLTZMANN * (warm**2 + cold**2) * (warm + cold)
    return contents.taken_up(ambient, exposure * contents.volume * (contents.air_transfer + radiated), dt)


class HeatField(NamedTuple):
    """A force field that heats: the power at each particle [W/kg], (n,), and the temperature that it does not pass, or None."""

    power: Floats
    limit: float | None


def fields_at(scene: Scene, store: ParticleStore, slots: Ints, frame: float) -> list[HeatField]:
    """The fields that heat particles in some slots (n,) at a moment, in frames."""
    heating = [force for force in scene.forces if force.heating is not None and value_at(force, "enabled", frame)]
    if not heating:
        return []
    is_plane = store.dimension == 2
    rows = np.array([field_row(force, frame, is_plane=is_plane) for force in heating]).reshape(-1, FIELD_SIZE)
    shares = np.empty((len(heating), len(slots)))
    shares_at(rows, np.ascontiguousarray(store.positions(scene.solver.grid_spacing)[slots]), is_plane, shares)
    powers = [value_at(force, "heating", frame) for force in heating]
    return [
        HeatField(power * share, value_at(force, "temperature", frame)) for force, power, share in zip(heating, powers, shares, strict=True)
    ]


def heat_in_fields(fields: Sequence[HeatField], contents: Contents, dt: float) -> Floats:
    """The heat per mass [J/kg] that particles take up in force fields in a step [s], (n,)."""
    heat = np.zeros(len(contents.mass))
    for power, limit in fields:
        is_open = ~contents.holds
        if limit is not None:
            is_open &= np.where(power > 0.0, contents.temperature < limit, contents.temperature > limit)
        heat += np.where(is_open, power * dt, 0.0)
    return heat
