"""The scene whose files are made wrong: it has words of every kind."""

SCENE = """
schema = 1
name = "everything"
description = "A scene with a word of every kind."
[time]
fps = 24
frame_start = 1
frame_end = 12
time_scale = 0.5
subframes = 1
[solver]
grid_spacing = 0.25
gravity = [0.0, 0.0, -9.81]
time_step = "auto"
ambient_temperature = 10
heat_speed = 5.0
[domain]
kind = "box"
min = [-4.0, -4.0, -4.0]
max = [4.0, 4.0, 4.0]
surface = "separate"
[domain.sides.z_max]
surface = "open"
[materials.jelly]
law = "corotated"
young_modulus = 2e4
reference = "rest"
[materials.biscuit]
preset = "biscuit"
rigid_share = 0.5
[materials.ice]
law = "viscoplastic"
melts_into = { law = "water", viscosity = 0.01 }
[materials.ice.thermal]
conductivity = 2.2
melting_temperature = 0
latent_heat = 3e5
[materials.ice.curves]
yield_stress = [[-2, 1e4], [0, 1]]
[materials.snow]
preset = "powder_snow"
density = 180
[[emitters]]
name = "Cube"
material = "jelly"
shape = { kind = "mesh", file = "MESH" }
velocity = [0.0, 0.0, -1.0]
[[emitters]]
name = "Jet"
material = "snow"
mode = "inflow"
shape = { kind = "box", center = [0, 0, 2], size = [1.0, 1.0, 1.0] }
velocity = [0.0, 0.0, -1.0]
flow_rate = 0.5
[[emitters]]
name = "Crumbs"
material = "biscuit"
shape = { kind = "box", center = [2, 0, 2], size = [0.5, 0.5, 0.5] }
[[emitters]]
name = "Cold"
material = "ice"
temperature = -5
shape = { kind = "box", center = [-2, 0, 2], size = [0.5, 0.5, 0.5] }
[[colliders]]
name = "Floor"
surface = "sticky"
friction = 0.4
temperature = 40
heat_transfer = 500
shape = { kind = "plane", point = [0, 0, -2], normal = [0, 0, 1] }
[[colliders]]
name = "Ball"
dynamic = true
shape = { kind = "sphere", center = [0, 0, -1], radius = 0.5 }
fracture = { strength = 3e5, tetrahedra = 100, piece_limit = 6 }
[[forces]]
name = "Wind"
kind = "wind"
strength = 5.0
heating = 100
[[outflows]]
name = "Drain"
shape = { kind = "capsule", start = [0, 0, -2], end = [1, 0, -2], radius = 0.3 }
[variants.dense]
description = "On a finer grid."
[variants.dense.solver]
grid_spacing = 0.2
[variants.dense.materials.snow]
preset = "wet_snow"
[variants.bare]
leave_out = ["Ball", "Wind"]
[variants.bare.emitters.Extra]
material = "jelly"
shape = { kind = "sphere", center = [2, 2, 2], radius = 0.5 }
"""

POINTS = SCENE.replace('kind = "mesh", file = "MESH"', 'kind = "points", file = "points.npz"')
