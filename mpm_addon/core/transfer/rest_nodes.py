"""The update of rest nodes in a substep; see `rest_grid`. Sums have the same order for any number of threads."""

import numpy as np

from ..compilation.team import parallel_kernel
from ..compilation.tickets import shared
from .blocks import NODE


@parallel_kernel
def push_nodes(tickets, accelerations, dt, velocity, motion):
    """Apply the forces for a substep.

    Args:
        accelerations: (node blocks, 4 * block nodes) [m/s^2], and masses.
        dt: [s].
        velocity: (node blocks, block nodes, 3) [m/s]; result.
        motion: (node blocks, 4 * block nodes) result: the velocity in the precision of particles.
    """
    for number in shared(tickets[0], velocity.shape[0], 16):
        for node in range(velocity.shape[1]):
            for axis in range(3):
                velocity[number, node, axis] += dt * accelerations[number, NODE * node + axis]
                motion[number, NODE * node + axis] = velocity[number, node, axis]


@parallel_kernel
def find_change(tickets, nodes, change, from_colliders, is_alone, sums):
    """Find the changes of velocity at the nodes of the world, and divide them into those that are lengthened and the others.

    Args:
        nodes: (node blocks, 4 * block nodes) velocity [m/s] and mass [kg].
        change: the same before; replaced by the changes of velocity that are lengthened [m/s]: all of them, or those from colliders.
        from_colliders: (node blocks, 4 * block nodes) the changes by colliders [m/s]; replaced by those that are not lengthened.
        is_alone: (node blocks,) whether all changes are lengthened.
        sums: (node blocks,) result: the sum of m v^2 of the lengthened changes in each [J].
    """
    for number in shared(tickets[0], change.shape[0], 16):
        total = 0.0
        for node in range(change.shape[1] // NODE):
            squared = 0.0
            for axis in range(3):
                at = NODE * node + axis
                difference = nodes[number, at] - change[number, at]
                lengthened = difference if is_alone[number] else from_colliders[number, at]
                change[number, at] = lengthened
                from_colliders[number, at] = difference - lengthened
                squared += np.float64(lengthened) * lengthened
            # not the mass in `nodes`, to which the space that colliders cover may have been added
            total += change[number, NODE * node + 3] * squared
        sums[number] = total


@parallel_kernel
def add_difference(tickets, nodes, before, result):
    """Add to a result how nodes differ from what they were before, all (node blocks, 4 * block nodes)."""
    for number in shared(tickets[0], result.shape[0], 16):
        for at in range(result.shape[1]):
            result[number, at] += nodes[number, at] - before[number, at]


@parallel_kernel
def sum_change(tickets, changes, mass, sums):
    """The sum of m v^2 of changes at the rest nodes [J], by node blocks.

    Args:
        changes: (node blocks, 4 * block nodes) changes of velocity [m/s], and the mass that they apply to [kg].
        mass: (node blocks, block nodes) of the nodes [kg].
        sums: (node blocks,) result.
    """
    for number in shared(tickets[0], mass.shape[0], 16):
        total = 0.0
        for node in range(mass.shape[1]):
            moving = changes[number, NODE * node + 3]
            if moving > 0.0:
                u, v, w = changes[number, NODE * node], changes[number, NODE * node + 1], changes[number, NODE * node + 2]
                total += moving * moving / mass[number, node] * (np.float64(u) * u + np.float64(v) * v + np.float64(w) * w)
        sums[number] = total


@parallel_kernel
def change_nodes(tickets, changes, factors, mass, velocity):
    """Add changes to the velocities of the rest nodes, times the factor of each node block; see `sum_change`."""
    for number in shared(tickets[0], mass.shape[0], 16):
        for node in range(mass.shape[1]):
            moving = changes[number, NODE * node + 3]
            if moving > 0.0:
                share = factors[number] * moving / mass[number, node]
                for axis in range(3):
                    velocity[number, node, axis] += share * changes[number, NODE * node + axis]


@parallel_kernel
def accelerate_nodes(tickets, impulse, mass, velocity):
    """Add a change (3,) [m/s] to the velocities of the rest nodes that have mass."""
    for number in shared(tickets[0], mass.shape[0], 16):
        for node in range(mass.shape[1]):
            if mass[number, node] > 0.0:
                for axis in range(3):
                    velocity[number, node, axis] += impulse[axis]


@parallel_kernel
def move_nodes(tickets, velocity, dt, mass, spacing, origins, displacement, moved, motion):
    """Move the rest nodes for a substep, and convert the result to the precision of particles.

    Args:
        velocity: (node blocks, block nodes, 3) [m/s].
        dt: [s].
        mass: (node blocks, block nodes) [kg].
        spacing: cell size [m].
        origins: (node blocks, 3) displacements relative to which `moved` is stored [cells].
        displacement: (node blocks, block nodes, 3) [m]; result.
        moved: (node blocks, 4 * block nodes) result: displacement [cells].
        motion: the same for velocity [m/s].
    """
    per_cell = 1.0 / spacing
    for number in shared(tickets[0], mass.shape[0], 16):
        for node in range(mass.shape[1]):
            if mass[number, node] > 0.0:
                for axis in range(3):
                    displacement[number, node, axis] += dt * velocity[number, node, axis]
                    moved[number, NODE * node + axis] = displacement[number, node, axis] * per_cell - origins[number, axis]
                    motion[number, NODE * node + axis] = velocity[number, node, axis]
