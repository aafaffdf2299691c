"""Diagnosis of an instability that no shorter substep could fix: the particles at fault and what to change. Runs once, at the end."""

import numpy as np
from numpy.typing import NDArray

from ..failure import Kind, Trouble
from ..scene.description import Scene
from ..scene.settings import Solver
from ..transfer.advance import advance_material
from ..transfer.particle_store import ParticleStore
from ..transfer.rows import DEFORMATION, FLUID_ROW_COUNT, POSITION, VELOCITY, VELOCITY_GRADIENT
from .judgment import LARGEST_GRADIENT_STEP
from .material_instances import MaterialInstance
from .stepper import Stepper
from .time_step import StepControl

Mask = NDArray[np.bool_]
# what is wrong, the slots of the particles, ascending, and a slot whose material is to be named, if any
Blame = tuple[Kind, NDArray[np.int64], int | None]

# found when particles are sorted: some lie beyond the neighbors of their block
STRAYED = Trouble(Kind.RUNAWAY, "Material")


def examined(
    trouble: Trouble, stepper: Stepper, store: ParticleStore, instances: list[MaterialInstance], dt: float
) -> tuple[Trouble, NDArray[np.int32], NDArray[np.float32]]:
    """Find the particles at fault right after a substep of dt [s] that cannot be shortened, and restore the store's last sort.

    Returns:
        The trouble, with the material of one of the particles; the ids of the particles, ascending; and their positions at the sort
        [m], shape (n, 3).
    """
    kind, slots, worst = _strays(store) if trouble is STRAYED else _blamed(trouble, stepper, store, instances, dt)
    ids = np.sort(store.ids[slots])
    if worst is not None:
        instance = (int(np.searchsorted(store.layout.first, worst, side="right")) - 1) % store.instance_count
        trouble = Trouble(kind, f'Material "{instances[instance].name}"', instance)
    store.restore()
    now = store.ids[: store.layout.slot_count]
    slots = np.flatnonzero(np.isin(now, ids))
    slots = slots[np.argsort(now[slots])]
    return trouble, ids, store.positions(stepper.spacing)[slots].astype(np.float32)


def _blamed(trouble: Trouble, stepper: Stepper, store: ParticleStore, instances: list[MaterialInstance], dt: float) -> Blame:
    """The particles that caused a substep's trouble; the table is overwritten."""
    if trouble.kind is Kind.NOT_FINITE:
        its = _slots_of(store, trouble.instance)
        found = _not_finite(store, instances, its)
        if not found.any():
            stepper.gather()
            found = its & ~np.isfinite(_table(store)).all(axis=0)
        return _all_of(trouble.kind, found)
    if trouble.kind is Kind.INVERTED:
        found = _inverted(store, instances)
        if found.any():
            return _all_of(trouble.kind, found)
    # an instance that another one accelerates may have been checked first
    stepper.gather()
    table = _table(store)
    if trouble.kind is Kind.INVERTED:
        slope = np.linalg.norm(table[VELOCITY_GRADIENT : VELOCITY_GRADIENT + 9], axis=0)
        return _beyond(trouble.kind, slope, LARGEST_GRADIENT_STEP / dt, store.live)
    return _beyond(trouble.kind, np.linalg.norm(table[VELOCITY : VELOCITY + 3], axis=0), stepper.explained_speed, store.live)


def _table(store: ParticleStore) -> NDArray[np.float64]:
    return store.table[:, : store.layout.slot_count].astype(np.float64)


def _slots_of(store: ParticleStore, instance: int | None) -> Mask:
    """Whether each slot holds a particle of one instance, or of any if `instance` is None."""
    if instance is None:
        return store.live
    runs = np.arange(len(store.layout.first) - 1) % store.instance_count == instance
    return store.live & np.repeat(runs, np.diff(store.layout.first))


def _all_of(kind: Kind, found: Mask) -> Blame:
    slots = np.flatnonzero(found)
    return kind, slots, int(slots[0]) if len(slots) else None


def _beyond(kind: Kind, values: NDArray[np.float64], limit: float, its: Mask) -> Blame:
    """The particles with values beyond a limit, or the one with the greatest value if rounding hides them."""
    values = np.where(its, values, -np.inf)
    found, worst = np.flatnonzero(values > limit), int(np.argmax(values)) if its.any() else None
    return kind, found if len(found) or worst is None else np.array([worst]), worst


def _not_finite(store: ParticleStore, instances: list[MaterialInstance], its: Mask) -> Mask:
    """Whether each particle has values that are not finite, or gets them when its stress is computed."""
    found = its & ~np.isfinite(_table(store)).all(axis=0)
    if found.any():
        return found
    for number, instance in enumerate(instances):
        slots = _slots_of(store, number)
        # runs are whole vectors, padded with copies
        run = np.repeat(np.arange(len(store.layout.first) - 1) % store.instance_count == number, np.diff(store.layout.first))
        table, extremes = np.ascontiguousarray(store.table[:, np.flatnonzero(run)]), np.zeros(3)
        advance_material(instance.constants, instance.dimension, table, 0.0, np.ones_like(table[:2]), extremes)
        bad = np.zeros(len(run), np.bool_)
        bad[run] = ~np.isfinite(table).all(axis=0)
        found |= its & slots & bad
    return found


def _inverted(store: ParticleStore, instances: list[MaterialInstance]) -> Mask:
    """Whether each particle has a J for which its law is undefined."""
    found = np.zeros(store.layout.slot_count, np.bool_)
    if store.row_count == FLUID_ROW_COUNT:
        return found
    ratio = np.linalg.det(_table(store)[DEFORMATION : DEFORMATION + 9].T.reshape(-1, 3, 3))
    for number, instance in enumerate(instances):
        if not instance.is_fluid:
            found |= _slots_of(store, number) & (ratio <= instance.law.least_volume_ratio)
    return found


def _strays(store: ParticleStore) -> Blame:
    """The particles that prevent a sort: their positions are not finite, or too far from their blocks."""
    position = _table(store)[POSITION : POSITION + 3]
    is_nowhere = store.live & ~np.isfinite(position).all(axis=0)
    if is_nowhere.any():
        return _all_of(Kind.NOT_FINITE, is_nowhere)
    # positions are relative to their blocks, which are four cells wide: between 0.5 and 4.5 after a sort
    return _beyond(Kind.RUNAWAY, np.abs(position - 2.5).max(axis=0), 6.0, store.live)


def advice(trouble: Trouble, scene: Scene, instances: list[MaterialInstance], control: StepControl) -> str:
    """Advice on what to change, as a clause."""
    solver = scene.solver
    wave = control.base.wave
    law = instances[trouble.instance].law if trouble.instance is not None else None
    if solver.time_step is not None:
        return f'use `time_step` = "auto" instead of {solver.time_step:g} s'
    if control.obstacle_speed > max(wave, control.base.particle):
        return f"use slower colliders: they move at {control.obstacle_speed:.3g} m/s, and waves in the material at {wave:.3g} m/s"
    if control.stiffening > 1.5:
        return f"keyframe the material to change more slowly: its waves become {control.stiffening:.3g} times as fast within a frame"
    default = Solver(grid_spacing=solver.grid_spacing)
    for name in ("cfl", "max_displacement"):
        if getattr(solver, name) > getattr(default, name):
            return f"use a smaller {name} than {getattr(solver, name):g}, such as {getattr(default, name):g}"
    if trouble.kind is Kind.INVERTED and law is not None and law.least_volume_ratio > 0.0:
        return 'use a greater stiffness, leave more room between colliders, or use the law "corotated", which can be inverted'
    return "use a smaller `cfl`, a smaller stiffness, or a larger `grid_spacing`"
