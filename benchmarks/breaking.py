"""What falls on the floor and breaks, frame by frame: a plate of glass, `python -m benchmarks.breaking plate FRAMES CELLS SHARE`, or a
rigid body, `python -m benchmarks.breaking brick FRAMES`.

CELLS is the thickness of the plate in cells, SHARE the `rigid_share` of the glass (0 keeps its pieces soft). Prints the substeps and the
CPU time of each frame, and the number of rigid bodies.
"""

import sys
import time
from dataclasses import replace
from typing import Any

from mpm_addon.core.processor import prepare_numba

THICKNESS = 0.036


def plate(frames: int, cells: float, share: float) -> Any:
    """A plate of glass that falls at 9 m/s."""
    from mpm_addon.core.geometry.shapes import Box, Plane
    from mpm_addon.core.laws.brittle import Brittle
    from mpm_addon.core.scene.description import Collider, Emitter, Material, Scene
    from mpm_addon.core.scene.settings import Solver, Time
    from mpm_addon.storage.presets import material_preset

    preset = material_preset("glass")
    assert isinstance(preset.law, Brittle)
    shape = Box(center=(0.0, 0.0, 0.14), size=(0.3, 0.2, THICKNESS), rotation=(12.0, 8.0, 0.0))
    return Scene(
        "plate",
        Solver(grid_spacing=THICKNESS / cells),
        {"glass": Material("glass", replace(preset.law, rigid_share=share))},
        (Emitter("plate", shape, "glass", velocity=(0.0, 0.0, -9.0), randomness=preset.randomness),),
        time=Time(frame_end=frames, time_scale=0.5),
        colliders=(Collider("floor", Plane(), friction=0.4),),
    )


def brick(frames: int) -> Any:
    """A rigid brick that breaks where it hits the floor at 9 m/s."""
    from mpm_addon.core.geometry.shapes import Box, Plane
    from mpm_addon.core.scene.description import Collider, Scene
    from mpm_addon.core.scene.fracture import Fracture
    from mpm_addon.core.scene.settings import Solver, Time

    shape = Box(center=(0.0, 0.0, 0.3), size=(0.24, 0.12, 0.06), rotation=(20.0, 30.0, 0.0))
    fracture = Fracture(strength=1e6, crack_radius=0.1)
    body = Collider("brick", shape, dynamic=True, density=2000.0, velocity=(0.0, 0.0, -9.0), fracture=fracture)
    floor = Collider("floor", Plane(), friction=0.5)
    return Scene("brick", Solver(grid_spacing=0.02), {}, (), time=Time(frame_end=frames), colliders=(body, floor))


def measure(scene: Any) -> None:
    """Run a scene, and print a line for each frame."""
    from mpm_addon.core.stepping.simulation import Simulation

    simulation, began = Simulation(scene), time.process_time()
    print("frame  particles  substeps  CPU, s  rigid bodies")
    for frame in simulation.frames():
        spent, began = time.process_time() - began, time.process_time()
        print(f"{frame.number:5}  {len(frame.id):9}  {frame.statistics.substeps:8}  {spent:6.2f}  {len(simulation.rigid_bodies):12}")


if __name__ == "__main__":
    prepare_numba(1)
    name, frame_count, *options = sys.argv[1:]
    measure(plate(int(frame_count), *(float(option) for option in options)) if name == "plate" else brick(int(frame_count)))
