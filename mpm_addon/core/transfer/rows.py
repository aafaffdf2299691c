"""The rows of the particle table: which quantity is stored in which row. One column per slot (see `blocks`).

A table with only fluids ends before F. If a law has more than two states, the rows of the others follow F.
"""

POSITION = 0  # 3, relative to the block's origin [cells]
VELOCITY = 3  # 3 [m/s]
VELOCITY_GRADIENT = 6  # 9, C of APIC [1/s]
STRESS = 15  # 6, Kirchhoff stress [Pa]
MASS = 21  # [kg]
VOLUME = 22  # rest volume [m^3]
STATE = 23  # 2, the law's first states
DEFORMATION = 25  # 9, F
ROW_COUNT = 34
FLUID_ROW_COUNT = DEFORMATION
_FIRST_STATES = 2


def state_rows(count: int) -> tuple[int, ...]:
    """The rows of the states of a law with `count` of them, in order."""
    return tuple(STATE + number if number < _FIRST_STATES else ROW_COUNT + number - _FIRST_STATES for number in range(count))


def row_count(state_count: int, *, is_fluid: bool) -> int:
    """The number of rows for laws with at most `state_count` states; `is_fluid`: whether all are fluids, which store no F."""
    return FLUID_ROW_COUNT if is_fluid else ROW_COUNT + max(state_count - _FIRST_STATES, 0)
