"""Settings that choose emitters by name still choose the same ones after a rename, and what was made with them remains up to date."""

from typing import Any

import pytest

from mpm_addon.core.errors import SceneError
from mpm_addon.derived.debris_settings import DebrisSettings
from mpm_addon.derived.emitter_names import hash_in, named, settings_in
from mpm_addon.derived.settings import FoamSettings, SkinSettings, VolumeSettings

PLAIN: dict[str, Any] = {
    "emitters": ["Jel", "Cube, old"],
    "colliders": [{"name": "Vase", "dynamic": True}, {"name": "Floor", "dynamic": False}],
}
RENAMED: dict[str, Any] = {
    "emitters": ["Hero", "Cube, old"],
    "colliders": [{"name": "Pot", "dynamic": True}, {"name": "Boden", "dynamic": False}],
    "first_names": {"emitters": ["Jel", "Cube, old"], "colliders": ["Vase"]},
}
SETTINGS = (SkinSettings, VolumeSettings, FoamSettings, DebrisSettings)


@pytest.mark.parametrize("kind", SETTINGS)
def test_the_hash_is_that_of_the_first_names(kind: Any) -> None:
    before = kind(emitters="Jel, Cube, old")
    assert hash_in(PLAIN, before) == before.hash
    for text in ("Hero, Cube, old", "Jel, Cube, old"):
        assert hash_in(RENAMED, kind(emitters=text)) == before.hash
        assert settings_in(RENAMED, kind(emitters=text)).emitters == "Hero, Cube, old"
    assert hash_in(RENAMED, kind(emitters="Hero")) != before.hash
    # all emitters
    assert (hash_in(RENAMED, kind()), settings_in(RENAMED, kind())) == (kind().hash, kind())


def test_a_body_that_breaks_is_chosen_in_the_same_way() -> None:
    assert settings_in(RENAMED, DebrisSettings(emitters="Vase")).emitters == "Pot"
    assert hash_in(RENAMED, DebrisSettings(emitters="Pot")) == DebrisSettings(emitters="Vase").hash


def test_names_that_have_changed_places_are_those_of_now() -> None:
    swapped = {"emitters": ["A", "B"], "first_names": {"emitters": ["B", "A"], "colliders": []}}
    assert settings_in(swapped, SkinSettings(emitters="A")).emitters == "A"
    assert hash_in(swapped, SkinSettings(emitters="A")) == SkinSettings(emitters="B").hash


def test_a_name_that_nothing_ever_had_is_refused_where_it_is_used() -> None:
    settings = settings_in(RENAMED, SkinSettings(emitters="Jelly"))
    assert settings.emitters == "Jelly"
    with pytest.raises(SceneError, match='Skin: emitter "Jelly" does not exist'):
        named(settings.emitters, RENAMED["emitters"], "Skin")


@pytest.mark.parametrize("first", [None, 3, {}, {"emitters": ["Jel"]}, {"emitters": [1, 2], "colliders": "x"}])
def test_first_names_that_are_damaged_are_left_out(first: Any) -> None:
    damaged = {**RENAMED, "first_names": first}
    assert hash_in(damaged, SkinSettings(emitters="Hero")) == SkinSettings(emitters="Hero").hash
