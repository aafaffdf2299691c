"""Laws at points, in float64: energy and stress for a given F, and the return mapping. They call the functions that the solver uses."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba.extending import overload
from numba.np.unsafe import ndarray
from numpy.typing import ArrayLike, NDArray

from ..arithmetic.linalg import determinant, principal_values, symmetric_recomposed
from ..compilation.kernel import kernel
from ..errors import SceneError
from ..parameters import parameters_of, suggestion
from . import LAWS, FluidLaw, Law, PrincipalLaw
from .dispatch import law_kernel, law_of, projected

Floats = NDArray[np.float64]
# in kernels: the first elements of an array as a tuple of constant length
_to_tuple: Any = ndarray.to_fixed_tuple


def evaluate_law(
    name: str | Law,
    F: ArrayLike,
    parameters: Mapping[str, Any] | None = None,
    state: Mapping[str, ArrayLike] | None = None,
    velocity_gradient: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Energy density and Kirchhoff stress of a law at deformation gradients, without plastic flow.

    Args:
        name: a law's name, or a law with its parameters.
        F: deformation gradients, shape (..., 3, 3), or (..., 2, 2) for plane strain.
        parameters: the law's parameters by name; omitted ones have their defaults.
        state: the law's state by name, each of shape (...); by default that of undeformed material. A fluid's J is always det F.
        velocity_gradient: L [1/s], shape of F, for viscous laws; zero by default.

    Returns:
        Psi per rest volume [J/m^3], shape (...), and tau = P F^T [Pa], shape of F.

    Raises:
        SceneError: for an unknown law, parameter or state, or a value out of its range.
    """
    law = make_law(name, parameters)
    deformations, shape, dimension = _as_matrices(F, "F")
    states = _states(law, state, shape)
    gradients = np.zeros_like(deformations)
    if velocity_gradient is not None:
        gradients, *given = _as_matrices(velocity_gradient, "velocity_gradient", depth=0.0)
        if given != [shape, dimension]:
            raise SceneError(f"velocity_gradient: shape {np.shape(velocity_gradient)} is not that of F {np.shape(F)}", "use one for each F")
    if isinstance(law, FluidLaw) and (np.linalg.det(deformations.reshape(-1, 3, 3)) <= 0.0).any():
        raise SceneError(f'law "{law.name}": det F is not positive', "use F with det F above 0, because fluids cannot be inverted")
    energies = np.empty(len(deformations))
    stresses = np.empty((len(deformations), 6))
    _evaluate(law.constants(dimension=dimension), dimension, deformations, states, gradients, energies, stresses)
    return energies.reshape(shape), _of_dimension(stresses[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]], shape, dimension)


def return_map(
    name: str | Law,
    F_trial: ArrayLike,
    state: Mapping[str, ArrayLike] | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    time_step: float = 1e-3,
) -> tuple[Floats, dict[str, Floats]]:
    """The return mapping of a law: from a trial deformation gradient to an admissible one.

    Args:
        name: a law's name, or a law with its parameters.
        F_trial: trial deformation gradients, shape (..., 3, 3), or (..., 2, 2) for plane strain.
        state: the law's state by name, each of shape (...); by default that of undeformed material.
        parameters: the law's parameters by name.
        time_step: [s], for laws whose flow takes time.

    Returns:
        F, of the same shape, unchanged bit for bit where the trial is elastic; and the new state by name.

    Raises:
        SceneError: as `evaluate_law`.
    """
    law = make_law(name, parameters)
    deformations, shape, dimension = _as_matrices(F_trial, "F_trial")
    states = _states(law, state, shape)
    results = deformations.copy()
    if isinstance(law, PrincipalLaw):
        _project(law.constants(dimension=dimension), dimension, deformations, states, time_step, results)
    elif isinstance(law, FluidLaw):
        states[:, 0] = np.linalg.det(deformations.reshape(-1, 3, 3))
    named = {key: states[:, column].reshape(shape) for column, key in enumerate(law.state_names)}
    return _of_dimension(results, shape, dimension), named


def make_law(name: str | Law, parameters: Mapping[str, Any] | None = None) -> Law:
    """A law, checked, from its name and parameters."""
    if isinstance(name, Law):
        law = name
    elif name not in LAWS:
        raise SceneError(f'law "{name}" is unknown{suggestion(name, LAWS)}', f"use one of {', '.join(LAWS)}")
    else:
        known = [declared.name for declared in parameters_of(LAWS[name])]
        for key in parameters or {}:
            if key not in known:
                raise SceneError(f'law "{name}": parameter "{key}" is unknown{suggestion(key, known)}', f"use one of {', '.join(known)}")
        law = LAWS[name](**(parameters or {}))
    law.check(f'law "{law.name}"')
    return law


def _as_matrices(value: ArrayLike, subject: str, *, depth: float = 1.0) -> tuple[Floats, tuple[int, ...], int]:
    """The matrices as rows of nine, the shape before the last two axes, and the dimension; `depth` is yy of 2D matrices."""
    matrices = np.asarray(value, dtype=np.float64)
    if matrices.shape[-2:] not in ((2, 2), (3, 3)):
        raise SceneError(
            f"shape {matrices.shape} does not end in (3, 3) or (2, 2)", "use 3 by 3 matrices, or 2 by 2 for x-z", subject=subject
        )
    if not np.isfinite(matrices).all():
        raise SceneError("it has values that are not finite", "use finite numbers", subject=subject)
    shape, dimension = matrices.shape[:-2], matrices.shape[-1]
    if dimension == 2:
        whole = np.zeros((*shape, 3, 3))
        whole[..., ::2, ::2] = matrices
        whole[..., 1, 1] = depth
        matrices = whole
    return np.array(matrices.reshape(-1, 9), order="C"), shape, dimension


def _of_dimension(rows: Floats, shape: tuple[int, ...], dimension: int) -> Floats:
    """Rows of nine as 3 by 3 matrices, or as their x-z part in 2D."""
    matrices = rows.reshape(*shape, 3, 3)
    return matrices if dimension == 3 else np.ascontiguousarray(matrices[..., ::2, ::2])


def _states(law: Law, state: Mapping[str, ArrayLike] | None, shape: tuple[int, ...]) -> Floats:
    states = np.empty((int(np.prod(shape)), max(1, len(law.state_names))))
    for key in state or {}:
        if key not in law.state_names:
            known = ", ".join(law.state_names) or "none"
            raise SceneError(f'law "{law.name}": state "{key}" is unknown{suggestion(key, law.state_names)}', f"use one of: {known}")
    for column, (key, virgin) in enumerate(zip(law.state_names, law.virgin_state, strict=True)):
        values = np.asarray((state or {}).get(key, virgin), dtype=np.float64)
        if values.shape not in ((), shape):
            raise SceneError(f'law "{law.name}": state "{key}" has shape {values.shape}', f"use one value for each F, shape {shape}")
        states[:, column] = np.broadcast_to(values, shape).reshape(-1)
    return states


def _energy_and_stress(constants: Any, dimension: Any, deformation: Any, state: Any, velocity_gradient: Any) -> Any:
    raise TypeError("_energy_and_stress is for kernels")


@overload(_energy_and_stress)
def _overload_energy_and_stress(constants, dimension, deformation, state, velocity_gradient):
    law = law_of(constants)
    if issubclass(law, FluidLaw):
        fluid_energy, fluid_stress = law.fluid_energy, law.fluid_stress

        def of_fluid(constants, dimension, deformation, state, velocity_gradient):
            volume_ratio = determinant(deformation)
            return fluid_energy(constants, volume_ratio), fluid_stress(constants, volume_ratio, velocity_gradient)

        return of_fluid
    if issubclass(law, PrincipalLaw):
        principal_energy, principal_stress = law.principal_energy, law.principal_stress

        def of_principal(constants, dimension, deformation, state, velocity_gradient):
            left, s, _ = principal_values(deformation, dimension)
            return principal_energy(constants, s, state), symmetric_recomposed(left, principal_stress(constants, s, state))

        return of_principal
    energy, stress = law.energy, law.stress

    def of_tensor(constants, dimension, deformation, state, velocity_gradient):
        return energy(constants, deformation), stress(constants, deformation, velocity_gradient)

    return of_tensor


def _state_tuple(constants: Any, states: Any, index: Any) -> Any:
    raise TypeError("_state_tuple is for kernels")


@overload(_state_tuple)
def _overload_state_tuple(constants, states, index):
    count = len(law_of(constants).state_names)
    if count == 0:
        return lambda constants, states, index: ()
    return lambda constants, states, index: _to_tuple(states[index], count)


def _store_state(states: Any, index: Any, state: Any) -> None:
    raise TypeError("_store_state is for kernels")


@overload(_store_state)
def _overload_store_state(states, index, state):
    if len(state) == 0:
        return lambda states, index, state: None

    def store(states, index, state):
        for place in range(len(state)):
            states[index, place] = state[place]

    return store


@kernel
def _nine(values, index):
    v = values[index]
    return v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]


@law_kernel
def _evaluate(constants, dimension, deformations, states, gradients, energies, stresses):
    for index in range(deformations.shape[0]):
        state = _state_tuple(constants, states, index)
        energy, stress = _energy_and_stress(constants, dimension, _nine(deformations, index), state, _nine(gradients, index))
        energies[index] = energy
        for place in range(6):
            stresses[index, place] = stress[place]


def _project_state(constants: Any, dimension: Any, deformation: Any, state: Any, dt: Any) -> Any:
    raise TypeError("_project_state is for kernels")


@overload(_project_state)
def _overload_project_state(constants, dimension, deformation, state, dt):
    project = law_of(constants).project

    def through_project(constants, dimension, deformation, state, dt):
        result, new_state, _, _ = projected(project, constants, dimension, deformation, state, dt)
        return result, new_state

    return through_project


@law_kernel
def _project(constants, dimension, deformations, states, dt, results):
    for index in range(deformations.shape[0]):
        state = _state_tuple(constants, states, index)
        result, state = _project_state(constants, dimension, _nine(deformations, index), state, dt)
        for place in range(9):
            results[index, place] = result[place]
        _store_state(states, index, state)
