"""Any scene that can be described reads back equal; hashes are equal only for equivalent scenes."""

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mpm_addon.core.errors import SceneError
from mpm_addon.core.geometry.shapes import SHAPES, Box, Mesh, Plane, Points, Sphere
from mpm_addon.core.laws import LAWS
from mpm_addon.core.parameters import Parameter, parameters_of
from mpm_addon.core.scene.animation import Animation, Motion
from mpm_addon.core.scene.description import Collider, Emitter, Material, Outflow, Scene
from mpm_addon.core.scene.force import Force
from mpm_addon.core.scene.painting import Painting
from mpm_addon.core.scene.settings import SIDES, Domain, Side, Solver, Time
from mpm_addon.storage import read_scene, scene_hash, write_scene

TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])

names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=12)


def numbers(declared: Parameter) -> st.SearchStrategy[float]:
    """Numbers that a declared parameter allows, moderate in size."""
    low, high = declared.minimum, declared.maximum
    low = declared.above if low is None else low
    high = declared.below if high is None else high
    return st.floats(
        -1e3 if low is None else low,
        max(1e3, 2 * (low or 0.0)) if high is None else high,
        exclude_min=declared.above is not None and low is not None,
        exclude_max=declared.below is not None and high is not None,
        allow_subnormal=False,
    )


def values(declared: Parameter) -> st.SearchStrategy[Any]:
    """Values that a declared parameter allows."""
    if declared.choices:
        strategy: st.SearchStrategy[Any] = st.sampled_from(declared.choices)
    elif declared.kind == "text":
        strategy = st.just("") | names
    elif declared.kind == "flag":
        strategy = st.booleans()
    elif declared.kind == "integer":
        strategy = st.integers(int(declared.minimum or 1), int(min(declared.maximum or 1000, 1000)))
    elif declared.kind == "vector":
        strategy = st.tuples(*[numbers(declared)] * declared.size)
    else:
        strategy = numbers(declared)
    return st.none() | strategy if declared.optional else strategy


def instances(owner: type, **fixed: Any) -> st.SearchStrategy[Any]:
    """Valid instances of a dataclass with declared parameters; those that contradict themselves are left out."""

    def make(arguments: dict[str, Any]) -> Any:
        try:
            instance = owner(**arguments, **fixed)
            if hasattr(instance, "check"):
                instance.check("test")
        except SceneError:
            return None
        return instance

    declared = [parameter for parameter in parameters_of(owner) if parameter.name not in fixed]
    chosen = st.fixed_dictionaries({parameter.name: values(parameter) for parameter in declared})
    return chosen.map(make).filter(lambda instance: instance is not None)


shapes = st.one_of(
    *(instances(shape) for kind, shape in SHAPES.items() if kind not in ("mesh", "points")),
    st.floats(0.5, 2).map(lambda scale: Mesh(TETRAHEDRON * scale, FACES)),
)
emitter_shapes = st.one_of(
    st.just(Box(size=(3.0, 3.0, 3.0))),
    st.just(Sphere(radius=2.0)),
    st.just(Mesh(TETRAHEDRON * 100.0, FACES)),
    st.builds(
        Points,
        position=st.just(np.eye(3)),
        velocity=st.sampled_from([None, np.ones((3, 3))]),
        volume=st.sampled_from([None, np.full(3, 0.5)]),
    ),
)
motions = st.sampled_from(
    [
        None,
        Motion(np.array([0.0, 1.5]), matrices=np.tile(np.eye(4), (2, 1, 1))),
        Motion(np.array([2.0]), vertices=TETRAHEDRON[None] + 0.25),
    ]
)
domains = st.one_of(
    st.just(Domain()),
    st.builds(
        Domain,
        kind=st.just("box"),
        min=st.tuples(*[st.floats(-9, -1)] * 3),
        max=st.tuples(*[st.floats(1, 9)] * 3),
        sides=st.dictionaries(st.sampled_from(SIDES), instances(Side)),
    ),
)
rigid_motions = motions.filter(lambda motion: motion is None or motion.matrices is not None)


def animations(**values: Any) -> st.SearchStrategy[Any]:
    """None, or values of some parameters at two frames."""
    arrays = {name: np.asarray(value, np.float64) for name, value in values.items()}
    return st.sampled_from([None, Animation(np.array([1.0, 4.5]), arrays)])


forces = st.builds(
    lambda name, motion, animation, other: dataclasses.replace(other, name=name, motion=motion, animation=animation),
    names,
    rigid_motions,
    animations(strength=[1.0, -2.0], enabled=[0.0, 1.0]),
    instances(Force, name="x"),
)
outflows = st.builds(
    Outflow,
    name=names,
    shape=st.just(Sphere(radius=0.5)),
    enabled=st.booleans(),
    motion=rigid_motions,
    animation=animations(enabled=[1.0, 0.0]),
)
paintings = st.sampled_from(
    [
        None,
        Painting({"density": np.array([1.0, 2.0, 3.0, 4.0]), "UVMap": np.linspace(0.0, 1.0, 24).reshape(4, 3, 2)}),
        Painting({"warmth": np.arange(8.0).reshape(4, 2)}),
    ]
)


def _painted(shape: Any, painting: Painting | None) -> Painting | None:
    return painting if shape.kind == "mesh" else None


def _fitting(shape: Any, motion: Motion | None) -> Motion | None:
    return motion if motion is None or motion.vertices is None or shape.kind == "mesh" else None


def _flowing(emitter: Emitter, shape: Any) -> dict[str, Any]:
    """What an emitter needs so that it can be an inflow: an inside, a velocity and no turn across it."""
    if shape.kind == "points":
        return {"mode": "once", "source": "volume", "normal_velocity": 0.0}
    if emitter.mode != "inflow":
        return {}
    return {"velocity": (1.5, 0.0, -0.5), "angular_velocity": (0.0, 0.0, 0.0)}


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    materials = draw(st.dictionaries(names, st.sampled_from(list(LAWS.values())).flatmap(instances), min_size=1, max_size=3))
    time = draw(instances(Time))
    # an emitter must emit within the scene's frames
    frames = st.lists(st.integers(time.frame_start, time.frame_end), min_size=2, max_size=2).map(sorted)
    emitters = st.builds(
        lambda name, material, shape, frames, other, motion, animation, painting: dataclasses.replace(
            other,
            motion=_fitting(shape, motion),
            animation=animation,
            painting=_painted(shape, painting),
            name=name,
            material=material,
            shape=shape,
            frame_start=None if other.frame_start is None else frames[0],
            frame_end=None if other.frame_end is None else frames[1],
            **_flowing(other, shape),
        ),
        names,
        st.sampled_from(list(materials)),
        emitter_shapes,
        frames,
        instances(Emitter, name="x", material="x", shape=Sphere(radius=1.0)),
        motions,
        animations(velocity=[[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]], enabled=[1.0, 0.0]),
        paintings,
    )
    colliders = st.builds(
        lambda name, shape, motion, other: dataclasses.replace(
            other, name=name, shape=shape, motion=None if other.dynamic else _fitting(shape, motion)
        ),
        names,
        shapes.filter(lambda shape: shape.can_collide),
        motions,
        instances(Collider, name="x", shape=Plane()),
    )
    return Scene(
        name=draw(names),
        time=time,
        solver=dataclasses.replace(
            draw(instances(Solver)),
            grid_spacing=draw(st.floats(0.01, 1.0)),
            animation=draw(animations(gravity=[[0.0, 0.0, -9.81], [0.0, 0.0, 0.0]])),
        ),
        domain=draw(domains),
        materials={name: Material(name, law) for name, law in materials.items()},
        emitters=tuple(draw(st.lists(emitters, max_size=3))),
        colliders=tuple(draw(st.lists(colliders, max_size=3))),
        forces=tuple(draw(st.lists(forces, max_size=2))),
        outflows=tuple(draw(st.lists(outflows, max_size=2))),
    )


@settings(max_examples=60, deadline=None)
@given(scenes())
def test_a_written_scene_reads_back_equal(scene: Scene) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_scene(scene, folder)
        again = read_scene(path)
        assert again == scene
        assert list(again.materials) == list(scene.materials)
        assert scene_hash(again) == scene_hash(scene)
        # writing what was read changes no byte
        before = path.read_bytes()
        write_scene(again, folder)
        assert path.read_bytes() == before


def small_scene(**changes: Any) -> Scene:
    scene = Scene(
        name="small",
        solver=Solver(grid_spacing=0.1),
        materials={"jelly": Material("jelly", LAWS["corotated"]()), "water": Material("water", LAWS["water"]())},
        emitters=(Emitter("a", Mesh(TETRAHEDRON, FACES), "jelly"),),
        colliders=(Collider("b", Plane(), motion=Motion(np.array([1.0]), matrices=np.eye(4)[None])),),
    )
    return dataclasses.replace(scene, **changes)


def test_a_longer_scene_is_the_same_scene() -> None:
    assert scene_hash(small_scene()) == scene_hash(small_scene(time=Time(frame_end=99)))


def test_every_change_that_matters_changes_the_hash() -> None:
    scene = small_scene()
    moved = TETRAHEDRON.copy()
    moved[3, 2] = np.nextafter(1.0, 2.0)
    pose = np.eye(4)
    pose[0, 3] = 1e-9
    changed = [
        small_scene(time=Time(fps=25)),
        small_scene(solver=Solver(grid_spacing=0.1, seed=1)),
        small_scene(materials=dict(reversed(scene.materials.items()))),
        small_scene(emitters=(Emitter("a", Mesh(moved, FACES), "jelly"),)),
        small_scene(emitters=(Emitter("a", Mesh(TETRAHEDRON, FACES), "water"),)),
        small_scene(colliders=(Collider("b", Plane(), motion=Motion(np.array([1.0]), matrices=pose[None])),)),
        small_scene(domain=Domain(kind="box", min=(-1, -1, -1), max=(1, 1, 1))),
    ]
    hashes = {scene_hash(other) for other in [scene, *changed]}
    assert len(hashes) == len(changed) + 1


def test_where_a_mesh_came_from_does_not_matter() -> None:
    assert scene_hash(small_scene()) == scene_hash(
        small_scene(emitters=(Emitter("a", Mesh(TETRAHEDRON, FACES, source="elsewhere.ply"), "jelly"),))
    )


def test_a_scene_is_never_half_overwritten(tmp_path: Path) -> None:
    """Array files are named by their content, so what the old scene.toml names is there until the new one is."""
    write_scene(small_scene(), tmp_path)
    before = (tmp_path / "scene.toml").read_bytes()
    larger = small_scene(emitters=(Emitter("a", Mesh(2 * TETRAHEDRON, FACES), "jelly"),))
    write_scene(larger, tmp_path)
    assert read_scene(tmp_path) == larger
    (tmp_path / "scene.toml").write_bytes(before)
    assert read_scene(tmp_path) == small_scene()
