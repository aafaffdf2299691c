"""The locks: complete, verifiable, and without the address of a registry."""

from __future__ import annotations

import re
import tomllib

import environments
import pytest

PROJECT = tomllib.loads((environments.ROOT / "pyproject.toml").read_text(encoding="utf-8"))


ENVIRONMENTS = {**environments.ENVIRONMENTS, "peers": environments.PEERS}


@pytest.fixture(params=sorted(ENVIRONMENTS))
def environment(request: pytest.FixtureRequest) -> environments.Environment:
    return ENVIRONMENTS[request.param]


def pins(environment: environments.Environment) -> dict[str, str]:
    return dict(re.findall(r"(?m)^([a-z0-9-]+)==([^\s;]+)", environment.lock.read_text(encoding="utf-8")))


def test_no_lock_names_an_address(environment: environments.Environment) -> None:
    text = environment.lock.read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"(?m)^\s*-(-index|-extra|f|i)", text)


def test_every_pin_has_a_hash(environment: environments.Environment) -> None:
    blocks = re.split(r"(?m)^(?=[a-z0-9])", environment.lock.read_text(encoding="utf-8"))
    assert [block.partition(" ")[0] for block in blocks if block and "--hash=sha256:" not in block] == []


def test_a_lock_holds_what_pyproject_asks_for(environment: environments.Environment) -> None:
    pinned = pins(environment)
    wanted = [line for group in environment.groups for line in PROJECT["dependency-groups"][group]]
    if environment.blender:
        wanted += PROJECT["project"]["dependencies"]
    names = [re.match(r"[A-Za-z0-9._-]+", line) for line in wanted]
    assert [name.group() for name in names if name and name.group().replace(".", "-").lower() not in pinned] == []
    exact = dict(line.split("==") for line in wanted if "==" in line)
    assert {name: pinned[name] for name in exact} == exact
