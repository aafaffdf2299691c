"""The rows of the particles' table: which number of a particle lies in which row. One column a slot (see `blocks`)."""

POSITION = 0  # 3, relative to the block's origin [cells]
VELOCITY = 3  # 3 [m/s]
VELOCITY_GRADIENT = 6  # 9, APIC's C [1/s]
DEFORMATION = 15  # 9, F
STATE = 24  # 2, the law's state
STRESS = 26  # 6, Kirchhoff stress [Pa]
MASS = 32  # [kg]
VOLUME = 33  # rest volume [m^3]
DENSITY = 34  # mass at the nodes around, by their weights, per cell [kg/m^3]
ROW_COUNT = 35
STATE_SIZE = 2
