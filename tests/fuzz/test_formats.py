"""Malformed files of every format are read or refused in one line, within bounds of memory. `make fuzz` reads 10,000 of each."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpm_addon.core.errors import SceneError
from mpm_addon.storage.plain_files import parse_json

from .campaign import MEMORY, Format, bounded_memory, run
from .formats import FORMATS, check_scene, write_scene

CASES = 100
# An accepted checkpoint goes on for some substeps, which takes as long as reading a hundred files.
CHECKPOINTS = 20

# Of these, what is wrong is as if it were not there: the bake or the derivation makes it again.
PASSED_OVER = ("journal.jsonl", "checkpoint.mpm", "status.json", "fog.vdb")


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
@pytest.mark.parametrize("subject", FORMATS.values(), ids=FORMATS)
def test_wrong_files_are_read_or_refused_in_one_line(subject: Format, tmp_path: Path) -> None:
    cases = CHECKPOINTS if subject.name.startswith("state_of_") else CASES
    report = run(subject, tmp_path, cases=cases, seed=0)
    assert not report.failures, "\n".join(report.failures)
    # or nothing was tried
    assert sum(report.refused.values()) > cases // 10 or subject.name in PASSED_OVER


def test_a_reader_that_fails_is_seen(tmp_path: Path) -> None:
    def read(folder: Path) -> None:
        (folder / "scene.toml").read_text()  # a UnicodeDecodeError is no refusal

    report = run(Format("scene.toml", write_scene, read, lambda data, _random, _others: b"\xff" + data), tmp_path, cases=3, seed=0)
    assert len(report.failures) == 3 and "UnicodeDecodeError" in report.failures[0]
    assert "--seed 2 --cases 1" in report.failures[2]


def test_a_reader_that_takes_what_a_file_announces_is_seen(tmp_path: Path) -> None:
    def read(folder: Path) -> None:
        if b"!" in (folder / "scene.toml").read_bytes():
            bytearray(3 * MEMORY)

    report = run(Format("scene.toml", write_scene, read, lambda data, _random, _others: data + b"!"), tmp_path, cases=1, seed=0)
    assert "MemoryError" in report.failures[0]


toml_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@given(
    section=st.sampled_from(["time", "solver", "domain", "materials", "emitters", "colliders", "forces", "outflows", "variants", "name"]),
    key=st.none() | st.sampled_from(["fps", "grid_spacing", "kind", "sides", "jelly", "dense", "shape"]) | st.text(max_size=8),
    value=toml_values,
)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_value_anywhere_in_a_scene_is_read_or_refused(tmp_path: Path, section: str, key: str | None, value: object) -> None:
    import tomllib

    import tomli_w

    write_scene(tmp_path)
    table = tomllib.loads((tmp_path / "scene.toml").read_text())
    holder = table[section][0] if isinstance(table.get(section), list) else table.get(section)
    if key is not None and isinstance(holder, dict):
        holder[key] = value
    else:
        table[section] = value
    try:
        (tmp_path / "scene.toml").write_bytes(tomli_w.dumps(table).encode())
    except (TypeError, AttributeError, UnicodeEncodeError):  # None and half surrogates cannot be written
        return
    with bounded_memory():
        try:
            check_scene(tmp_path)
        except SceneError as error:
            assert str(error).isprintable()


@given(st.text() | toml_values.map(repr))
@settings(max_examples=200, deadline=None)
def test_any_text_is_json_or_a_value_error(text: str) -> None:
    try:
        parse_json(text)
    except ValueError:
        return


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", "1e400", "9" * 30, "9" * 5000, "[" * 40 + "]" * 40, "[" * 100_000, '"\\ud800"', '{"\\udfff": 1}']
)
def test_json_that_only_python_reads_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(text)
