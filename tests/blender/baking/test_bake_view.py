"""The panel of a bake: every state, its text, and its buttons."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import mpm_addon
from mpm_addon.blender.baking.bake_view import LIVE, BakeView, Facts, Progress, State, view_of
from mpm_addon.blender.host.wording import ARGUMENTS, BUTTONS, duration, in_blender, problem_and_remedy, size
from mpm_addon.blender.reading.freshness import Freshness
from mpm_addon.command_line.printing import countdown
from mpm_addon.core.messages import COMMANDS, NOTHING, Action, Message, SceneWarning, Topic
from mpm_addon.storage.overview import Overview, TakeOverview
from mpm_addon.storage.status import BakeStatus

NUMBERS = {"frame": 12, "substeps": 87, "particles": 500_000, "done": 12, "total": 48, "seconds_per_frame": 0.82, "eta_seconds": 31.2}


def overview(*frames: int, others: tuple[int, ...] = (), is_read: bool = True) -> Overview:
    takes = [TakeOverview(number, None, None, "test", (1, 2), number == 1, None, len(frames), 100) for number in (1, *others)]
    rows = {frame: {"frame": frame, "bytes": 25_000_000, "seconds": 2.0} for frame in frames}
    return Overview(1, tuple(takes), rows, (1, 4), 25_000_000 * len(frames), is_read)


def status(state: str, message: Message = NOTHING, **told: Any) -> BakeStatus:
    return BakeStatus(state, message, 2, 4, 3, 0.5, {"take": 1, **told})


def running(state: State, **options: Any) -> BakeView:
    numbers = {"frame": 1, "compiled": 7, "kernels": 40} if state is State.COMPILING else NUMBERS
    return view_of(Facts((1, 48), progress=Progress(state, 0.26, numbers, **options)))


def buttons(view: BakeView) -> list[tuple[str, str]]:
    return [(button.operator.removeprefix("mpm."), button.text) for row in view.buttons for button in row]


def facts(**options: Any) -> Facts:
    return Facts((1, 4), **options)


SITUATIONS = {
    State.UNAVAILABLE: facts(unavailable=Message("numba is missing, so nothing can be baked", ("install the zip again",))),
    State.EMPTY: facts(),
    State.RESUMABLE: facts(overview=overview(1, 2)),
    State.OUTDATED: facts(overview=overview(1, 2, 3, 4), freshness=Freshness.OUTDATED, frame=3),
    State.UNKNOWN: facts(overview=overview(1, 2, 3, 4), freshness=Freshness.UNKNOWN),
    State.NOT_SHOWN: facts(overview=overview(1, 2, 3, 4), is_shown=False),
    State.LIMITED: facts(overview=overview(1, 2), status=status("stopped", Message("stopped after 2 h, its time_limit", (Action.RESUME,)))),
    State.FAILED: facts(overview=overview(1, 2), status=status("error", Message("too small", ("use a larger one",), 'Emitter "Cube"'))),
    State.DONE: facts(overview=overview(1, 2, 3, 4), status=status("done")),
}


@pytest.mark.parametrize("state", SITUATIONS)
def test_every_state_of_rest_has_a_way_out(state: State) -> None:
    view = view_of(SITUATIONS[state])
    assert view.state is state
    assert view.headline and view.fraction is None
    assert view.buttons and view.buttons[0]


def test_these_are_all_states() -> None:
    assert {*SITUATIONS, *LIVE} == set(State)


@pytest.mark.parametrize(
    ("state", "headline", "found"),
    [
        (State.READING, "Preparing 26%", [("bake_cancel", "Cancel")]),
        (State.PREPARING, "Preparing", [("bake_pause", "Pause"), ("bake_cancel", "Cancel")]),
        (State.COMPILING, "Compiling 7 of 40 kernels", [("bake_pause", "Pause"), ("bake_cancel", "Cancel")]),
        (State.BAKING, "Baking 26%", [("bake_pause", "Pause"), ("bake_cancel", "Cancel")]),
        (State.CANCELLING, "Canceling: safe to quit", []),
        (State.PAUSED, "Paused at 26%", [("bake_pause", "Pause"), ("bake_cancel", "Cancel")]),
    ],
)
def test_a_bake_that_runs_says_how_far_it_is(state: State, headline: str, found: list[tuple[str, str]]) -> None:
    view = running(state)
    assert (view.state, view.headline, view.fraction) == (state, headline, 0.26)
    assert buttons(view) == found


def test_a_bake_tells_its_numbers_where_it_runs_and_what_follows() -> None:
    assert running(State.BAKING).details == ("Frame 12, 87 substeps", "500,000 particles, 0.82 s/frame", "12 of 48 frames, 0:31 left")
    assert buttons(running(State.PAUSED, is_asked_to_pause=True))[0] == ("bake_pause", "Resume")
    view = view_of(Facts((1, 2), progress=Progress(State.BAKING, 0.0, {}, "On farm7, process 3"), queue='Scene 2 of 3: "B"'))
    assert view.details == ('Scene 2 of 3: "B"', "On farm7, process 3")


LOST = {"emitted": 40_000, "deleted": 18_800}


@pytest.mark.parametrize("state", [State.RESUMABLE, State.LIMITED, State.FAILED, State.DONE])
def test_particles_that_left_the_domain_are_counted(state: State) -> None:
    """As snow that flies out of an open side within the picture."""
    known = SITUATIONS[state]
    assert known.overview is not None
    last = max(known.overview.rows)
    rows = {**known.overview.rows, last: {**known.overview.rows[last], **LOST}}
    view = view_of(known._replace(overview=known.overview._replace(rows=rows)))
    assert view.details[-1] == "18,800 left the domain (47%)"
    assert view_of(known._replace(overview=known.overview._replace(rows=rows), has_outflow=True)).details[-1] == "18,800 removed (47%)"


@pytest.mark.parametrize("gone", [39_900, 40_000])
def test_a_scene_that_loses_everything_says_so_in_percent(gone: int) -> None:
    known = overview(1, 2, 3, 4)
    rows = {**known.rows, 4: {**known.rows[4], "emitted": 40_000, "deleted": gone}}
    assert view_of(facts(overview=known._replace(rows=rows))).details[-1] == f"{gone:,d} left the domain (100%)"


def test_a_running_bake_counts_them_and_a_few_are_not_worth_a_line() -> None:
    rows = {1: {"frame": 1, "emitted": 40_000, "deleted": 400}, 2: {"frame": 2, **LOST}}
    known = overview(1, 2)
    progress = Progress(State.BAKING, 0.26, NUMBERS)
    assert view_of(Facts((1, 48), progress=progress, overview=known._replace(rows=rows))).details[-1].startswith("18,800 left")
    few = view_of(Facts((1, 48), progress=progress, overview=known._replace(rows={1: rows[1]})))
    assert few.details[-1] == "12 of 48 frames, 0:31 left"


def test_what_is_missing_is_resumed_and_what_is_lost_is_another_button() -> None:
    view = view_of(facts(overview=overview(1, 2), object_name="Cube"))
    assert view.headline == "2 of 4 frames cached"
    assert buttons(view) == [("bake", "Resume from Frame 3"), ("bake_again", "Bake Again"), ("bake_free", "Free")]
    assert {button.options["object"] for row in view.buttons for button in row} == {"Cube"}
    # a bake resumes at a gap
    assert buttons(view_of(facts(overview=overview(1, 3, 4))))[0] == ("bake", "Resume from Frame 2")
    # frames outside the range do not count
    assert view_of(Facts((1, 2), overview=overview(1, 2, 3))).state is State.DONE


def test_a_bake_that_is_done_tells_frames_size_and_time() -> None:
    view = view_of(SITUATIONS[State.DONE])
    assert (view.headline, view.details) == ("Baked: 4 frames", ("100 MB, 8 s",))
    assert buttons(view) == [("bake_again", "Bake Again"), ("bake", "From Frame 1"), ("bake_free", "")]
    assert view.buttons[0][1].options["from_frame"] == 1
    # nothing to resume after the last frame
    assert buttons(view_of(SITUATIONS[State.DONE]._replace(frame=9))) == [("bake_again", "Bake Again"), ("bake_free", "")]
    assert view_of(facts(overview=overview(1, 2, is_read=False))).headline == "Reading the cache: 2 frames"


def test_an_outdated_bake_is_baked_again_or_from_a_frame() -> None:
    view = view_of(SITUATIONS[State.OUTDATED])
    assert buttons(view) == [("bake_again", "Bake Again"), ("bake", "From Frame 3"), ("bake_free", "")]
    # a bake cannot resume after a frame that was not baked
    view = view_of(facts(overview=overview(2, 3), freshness=Freshness.OUTDATED, frame=1))
    assert buttons(view) == [("bake_again", "Bake Again"), ("bake_free", "")]


def test_a_bake_that_is_refused_has_not_failed() -> None:
    """Nothing was baked: the frames are those of the scene as it was."""
    refused = Message("it contains frames that were baked before this scene changed", (Action.REPLACE,), "/cache")
    known = facts(overview=overview(1, 2, 3, 4), status=status("done"), trouble=refused)
    view = view_of(known._replace(freshness=Freshness.OUTDATED))
    assert (view.state, view.headline, view.details[0], view.message) == (
        State.OUTDATED,
        "Outdated",
        "The scene has changed since the bake",
        "",
    )
    # a comparison of frames that were baked elsewhere has told
    view = view_of(known._replace(freshness=Freshness.UNKNOWN))
    assert (view.state, view.message) == (State.OUTDATED, "/cache contains frames that were baked before this scene changed")
    assert view.remedy.startswith("Choose Bake Again")
    # and the change was taken back
    assert view_of(known).state is State.DONE


def test_frames_of_unknown_settings_are_compared_before_they_are_called_baked() -> None:
    view = view_of(SITUATIONS[State.UNKNOWN])
    assert (view.headline, view.icon) == ("4 frames, possibly outdated", "QUESTION")
    assert buttons(view) == [("bake", "Compare with Scene"), ("bake_again", "Bake Again"), ("bake", "From Frame 1"), ("bake_free", "")]
    # a bake compares the scene before it resumes
    assert "baked elsewhere" in view_of(SITUATIONS[State.RESUMABLE]._replace(freshness=Freshness.UNKNOWN)).message


def test_frames_that_no_object_shows_are_shown_again_first() -> None:
    view = view_of(SITUATIONS[State.NOT_SHOWN]._replace(object_name="Cube"))
    assert view.headline == "4 frames baked, not shown"
    assert buttons(view) == [("show", "Show Frames"), ("bake_again", "Bake Again"), ("bake_free", "Free")]
    assert view.buttons[0][0].options == {"object": "Cube"}
    # missing frames can still be resumed
    assert buttons(view_of(facts(overview=overview(1, 2), is_shown=False)))[:2] == [
        ("show", "Show Frames"),
        ("bake", "Resume from Frame 3"),
    ]
    for state in (State.FAILED, State.LIMITED):
        view = view_of(SITUATIONS[state]._replace(is_shown=False))
        assert view.state is state
        assert ("show", "Show Frames") in buttons(view)
    assert ("show", "Show Frames") not in buttons(view_of(facts(is_shown=False)))


def test_what_a_bake_warned_of_is_said_as_long_as_its_frames_are_shown() -> None:
    warned = status(
        "done",
        warnings=[SceneWarning(Topic.OPEN_MESH, Message("its mesh has a hole", ("close it",), 'Emitter "Cube"')).fields(), "damaged"],
    )
    view = view_of(SITUATIONS[State.DONE]._replace(status=warned))
    assert view.warnings == ('Emitter "Cube": its mesh has a hole; close it',)
    assert view.text.endswith(view.warnings[0])
    progress = Progress(State.BAKING, 0.5, NUMBERS)
    assert view_of(SITUATIONS[State.DONE]._replace(status=warned, progress=progress)).warnings == view.warnings
    # not warnings of an earlier bake, of another take, or of a deleted one
    reading = progress._replace(state=State.READING)
    others = status("done", warnings=warned.told["warnings"], take=2)
    for situation in (
        SITUATIONS[State.DONE]._replace(status=warned, progress=reading),
        SITUATIONS[State.DONE]._replace(status=others, overview=overview(1, 2, 3, 4, others=(2,))),
        facts(status=warned),
    ):
        assert view_of(situation).warnings == ()


def test_an_error_keeps_its_remedy_and_can_be_copied() -> None:
    view = view_of(SITUATIONS[State.FAILED])
    assert (view.message, view.remedy) == ('Emitter "Cube": too small', "Use a larger one")
    assert buttons(view)[0] == ("bake", "Resume from Frame 3")
    assert ("copy_message", "Copy Message") in buttons(view)
    assert view.text == 'The bake failed\n2 frames cached (50 MB)\nEmitter "Cube": too small. Use a larger one'
    view = view_of(facts(trouble=Message("unstable at frame 3", ("use a smaller cfl",)), has_unstable=True))
    assert ("select_unstable", "Select Unstable Particles") in buttons(view)
    # a bake does not resume from outdated frames
    assert buttons(view_of(SITUATIONS[State.FAILED]._replace(freshness=Freshness.OUTDATED)))[0] == ("bake_again", "Bake Again")
    view = view_of(facts(overview=overview(1), status=status("interrupted")))
    assert view.headline == "The bake was interrupted at frame 3"
    assert view.remedy == "Choose Resume"


def test_the_end_of_another_take_is_not_told() -> None:
    failed = status("error", Message("unstable", ("use a smaller cfl",)), take=2)
    assert view_of(facts(overview=overview(1, 2, 3, 4, others=(2,)), status=failed)).state is State.DONE
    # a take that failed before its first frame does not exist, so its outcome is shown
    assert view_of(facts(overview=overview(1, 2, 3, 4), status=failed)).state is State.FAILED


# Texts.


def test_options_of_the_command_line_become_buttons() -> None:
    assert set(BUTTONS) == set(ARGUMENTS) == set(Action)
    assert not any("--" in words for words in BUTTONS.values())
    damaged = Message("it is damaged", (Action.SHOW_OTHER_TAKE,), "/--from/c")
    assert damaged.text() == "/--from/c is damaged; show another take, or bake again with --restart."
    # a name that looks like an option stays a name
    assert in_blender(damaged) == "/--from/c is damaged; show another take, or choose Bake Again."
    full = Message("the disk is full", ("make room", Action.RESUME))
    assert problem_and_remedy(full) == ("The disk is full", "Make room, then choose Resume")


def test_no_message_of_storage_and_bake_keeps_an_option() -> None:
    package = Path(mpm_addon.__file__).parent
    texts = [
        text
        for part in ("storage", "bake", "core")
        for path in (package / part).rglob("*.py")
        for text in re.findall(r'f?"([^"\n`]*--[a-z][^"\n]*)"', path.read_text())
    ]
    # used only on the command line: the actions' own texts, files of many frames, variants of a wedge
    told = {text for text in texts if text not in COMMANDS.values()}
    assert {text for text in told if "--frames" not in text and "--vary" not in text} == set()


def test_numbers_for_people() -> None:
    assert [size(count) for count in (12, 3.4e4, 1.25e6, 2.5e9)] == ["12 bytes", "34 kB", "1.25 MB", "2.5 GB"]
    assert [duration(seconds) for seconds in (0.42, 3.4, 89.0, 130.0, 7500.0)] == ["0.42 s", "3 s", "89 s", "2 min", "2 h 5 min"]
    assert [countdown(seconds) for seconds in (31.2, 3730.0)] == ["0:31", "1:02:10"]


def test_messages_name_parameters_as_the_panels_do() -> None:
    error = Message("`grid_spacing` 1 m is larger than the object", ("use a smaller `grid_spacing`",), subject='Emitter "grid_spacing"')
    assert in_blender(error) == 'Emitter "grid_spacing": Cell Size 1 m is larger than the object; use a smaller Cell Size.'
    assert problem_and_remedy(error) == ('Emitter "grid_spacing": Cell Size 1 m is larger than the object', "Use a smaller Cell Size")
    law = Message("`young_modulus` 0 Pa is not allowed", ("set `particles_per_cell`",))
    assert in_blender(law) == "Young's Modulus 0 Pa is not allowed; set Particles per Cell."


@pytest.mark.parametrize("path", ["/home/grid_spacing/x.blend", "C:\\grid_spacing\\a", "grid_spacing.blend", "my_grid_spacing"])
def test_messages_quote_paths_as_they_are(path: str) -> None:
    assert in_blender(Message("it cannot be written", ("choose another",), path)) == f"{path} cannot be written; choose another."
