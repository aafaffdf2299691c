"""A drum with four blades turns and mixes two sands that lay side by side."""

import math

import stage

VIEW = stage.View(camera=(0.0, -2.7, 0.8), target=(0.0, 0.0, 0.5), stills=(1, 30, 60, 96))
RADIUS, DEPTH, SIDES = 0.45, 0.24, 64


def build() -> None:
    scene = stage.new_file(frame_end=96, grid_spacing=0.02)
    scene.mpm.domain.kind = "box"
    scene.mpm.domain.min, scene.mpm.domain.max = (-0.6, -0.5 * DEPTH, -0.1), (0.6, 0.5 * DEPTH, 1.1)
    for side, color in ((-1.0, (0.75, 0.5, 0.18)), (1.0, (0.1, 0.22, 0.45))):
        block = stage.box(f"Sand {'left' if side < 0 else 'right'}", (0.26, 0.9 * DEPTH, 0.3), (0.13 * side, 0.0, 0.3))
        stage.emitter(block, "fine_sand", color=color)
    drum = stage.mesh("Drum", *_drum(), at=(0.0, 0.0, 0.5))
    stage.collider(drum, color=(0.35, 0.36, 0.38), friction=0.5)
    stage.keyed(drum, "rotation_euler", {1: (0.0, 0.0, 0.0), 97: (0.0, 3.0 * math.pi, 0.0)})


def _drum() -> tuple[list[stage.Vector3], list[tuple[int, ...]]]:
    """A ring along y, thick outward, with blades on its inside; both ends are open."""
    vertices: list[stage.Vector3] = []
    inner = [RADIUS - (0.09 if number % (SIDES // 4) == 0 else 0.0) for number in range(SIDES)]
    for radii in (inner, [RADIUS + 0.08] * SIDES):
        for y in (-0.5, 0.5):
            for number, radius in enumerate(radii):
                turn = 2.0 * math.pi * number / SIDES
                vertices.append((radius * math.cos(turn), y * DEPTH, radius * math.sin(turn)))
    faces = []
    for number in range(SIDES):
        after = (number + 1) % SIDES
        corners = [[ring * SIDES + place for place in (number, after)] for ring in range(4)]
        # inside front, inside back, outside front, outside back
        for first, second in ((0, 1), (1, 3), (3, 2), (2, 0)):
            faces.append((corners[first][0], corners[first][1], corners[second][1], corners[second][0]))
    return vertices, faces
