"""Messages as data: the wording of each front end, and reading from untrusted JSON."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpm_addon.core.errors import CacheError, MpmError, UnstableError
from mpm_addon.core.messages import COMMANDS, NOTHING, Action, Message, SceneWarning, Topic, Wording, message_of

DAMAGED = Message("it is damaged", ("delete this file", Action.FILL_GAP), "/cache")
BUTTONS = Wording({action: f"press {action.name}" for action in Action}, str.upper)


def test_each_front_end_has_words_of_its_own_for_actions() -> None:
    assert DAMAGED.text() == "/cache is damaged; delete this file, then bake again to fill the gap."
    assert DAMAGED.text(BUTTONS) == "/cache is damaged; delete this file, then press FILL_GAP."


def test_each_front_end_has_names_of_its_own_for_parameters() -> None:
    message = Message("`grid_spacing` 1 m is too large", ("use a smaller `grid_spacing`",), "Emitter `cube`")
    assert message.text() == "Emitter `cube`: grid_spacing 1 m is too large; use a smaller grid_spacing."
    assert message.text(BUTTONS) == "Emitter `cube`: GRID_SPACING 1 m is too large; use a smaller GRID_SPACING."


def test_only_marked_names_are_replaced_and_none_in_quotes() -> None:
    message = Message('the folder "`size`" and size differ')
    assert message.text(BUTTONS) == message.problem


def test_commands_have_words_for_every_action() -> None:
    assert set(COMMANDS) == set(Action)


def test_every_topic_of_warnings_is_documented() -> None:
    formats = Path(__file__).parents[2] / "docs" / "formats.md"
    section = formats.read_text(encoding="utf-8").partition("\n## Warnings\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
    assert set(rows) - {"topic"} == {topic.value for topic in Topic}


def test_what_looks_like_a_remedy_in_a_name_stays_a_name() -> None:
    message = Message('it has no take "a; use --restart"', (Action.RESTART,), "/x; --from")
    assert message.text(BUTTONS) == '/x; --from has no take "a; use --restart"; press RESTART.'


def test_an_error_keeps_its_message_and_says_it_on_one_line() -> None:
    error = CacheError("it is\ndamaged", Action.RESTART, subject="/cache")
    assert str(error) == "/cache is damaged; bake again with --restart."
    assert error.message.remedies == (Action.RESTART,)
    again = UnstableError.of(error.message.within('Variant "wet"'))
    assert isinstance(again, UnstableError) and str(again).startswith('Variant "wet": /cache is damaged')


def test_a_subject_takes_the_place_of_it() -> None:
    message = Message("it is disabled", ("enable it",), 'Emitter "Cube"')
    assert message.text() == 'Emitter "Cube" is disabled; enable it.'
    assert message.within('Variant "wet"').text() == 'Variant "wet": Emitter "Cube" is disabled; enable it.'
    assert message._replace(subject="").text() == "it is disabled; enable it."
    assert Message("items are missing", (), "Scene").text() == "Scene: items are missing"


def test_a_message_without_a_remedy_is_its_problem() -> None:
    assert str(MpmError("cancelled.")) == "cancelled."
    assert not NOTHING and Message("x")


def test_a_warning_names_its_subject_apart() -> None:
    warning = SceneWarning(Topic.OPEN_MESH, Message("its mesh has a hole", ("close it",), 'Emitter "Cube"'))
    assert str(warning) == 'Emitter "Cube": its mesh has a hole; close it.'
    fields = warning.fields()
    assert (fields["topic"], fields["subject"], fields["message"]) == ("open_mesh", 'Emitter "Cube"', "its mesh has a hole; close it.")


@given(st.text(max_size=40), st.lists(st.one_of(st.text(max_size=20), st.sampled_from(Action)), max_size=3), st.text(max_size=20))
def test_json_gives_back_what_was_told(problem: str, remedies: list[str | Action], subject: str) -> None:
    message = Message(problem, tuple(remedies), subject)
    again = message_of(json.loads(json.dumps(message.fields())))
    if problem.isprintable() and subject.isprintable() and problem:
        assert again == message


@pytest.mark.parametrize("told", [{}, {"problem": 3, "remedies": "x"}, {"remedies": [{"action": "explode"}, 7, None]}, {"message": ["a"]}])
def test_json_of_anything_else_is_no_message(told: dict[str, object]) -> None:
    assert message_of(told) == NOTHING


def test_json_of_a_message_alone_is_its_problem() -> None:
    assert message_of({"message": "it failed; try again."}) == Message("it failed; try again.")
