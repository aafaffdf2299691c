"""Setup installs what is missing, or says in one line what to do."""

from __future__ import annotations

import sys

import pytest
import setup


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that setup would run; bpy lacks one library, which apt-get is taken to bring."""
    ran: list[list[str]] = []

    def record(command: list[str], _variables: dict[str, str] | None = None) -> None:
        ran.append(command)
        if "install" in command:
            present.add("libneeded.so.1")

    present: set[str] = set()
    monkeypatch.setattr(setup.sys, "platform", "linux")
    monkeypatch.setattr(setup, "LIBRARY_PACKAGES", {"libneeded.so.1": ("libneeded1",)})
    monkeypatch.setattr(setup, "is_loadable", lambda name: name in present)
    monkeypatch.setattr(setup, "run", record)
    return ran


def test_root_on_debian_installs_what_is_missing(commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup.shutil, "which", lambda _name: "/usr/bin/apt-get")
    monkeypatch.setattr(setup.os, "geteuid", lambda: 0)
    setup.install_system_libraries()
    assert [command[:2] for command in commands] == [["apt-get", "update"], ["apt-get", "install"]]
    assert commands[1][-1] == "libneeded1"
    setup.install_system_libraries()
    assert len(commands) == 2


def test_anyone_else_is_told_the_command(commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup.shutil, "which", lambda _name: "/usr/bin/apt-get")
    monkeypatch.setattr(setup.os, "geteuid", lambda: 1000)
    with pytest.raises(setup.SetupError, match="sudo apt-get install -y libneeded1"):
        setup.install_system_libraries()
    assert commands == []


def test_other_systems_are_told_the_packages(commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup.shutil, "which", lambda _name: None)
    with pytest.raises(setup.SetupError, match="libneeded1"):
        setup.install_system_libraries()
    assert commands == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="setup installs libraries on Linux alone")
def test_a_library_that_no_linker_knows_is_missing() -> None:
    assert setup.is_loadable("libc.so.6")
    assert not setup.is_loadable("libno-such-library.so.9")
