"""The rows of the particle table: which quantity is stored in which row. One column per slot (see `blocks`)."""

POSITION = 0  # 3, relative to the block's origin [cells]
VELOCITY = 3  # 3 [m/s]
VELOCITY_GRADIENT = 6  # 9, C of APIC [1/s]
STRESS = 15  # 6, Kirchhoff stress [Pa]
MASS = 21  # [kg]
VOLUME = 22  # rest volume [m^3]
STATE = 23  # 2, the law's state
DEFORMATION = 25  # 9, F; last, because a table with only fluids omits it
ROW_COUNT = 34
FLUID_ROW_COUNT = DEFORMATION
STATE_SIZE = 2
