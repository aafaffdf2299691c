"""The listing on extensions.blender.org: pictures of the sizes that are asked for, and facts that agree with the source."""

import re
import tomllib

import environments
import pytest
from PIL import Image

LISTING = (environments.ROOT / "docs" / "listing.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "size"), [("icon.png", (256, 256)), ("featured.jpg", (1920, 1080))])
def test_pictures_have_the_sizes_of_the_platform(name: str, size: tuple[int, int]) -> None:
    assert f"`docs/listing/{name}`" in LISTING
    with Image.open(environments.ROOT / "docs" / "listing" / name) as picture:
        assert picture.size == size


def test_the_listing_says_what_the_manifest_says() -> None:
    manifest = tomllib.loads((environments.ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    rows = re.findall(r"(?m)^\| (\w+) \| (.+?) \|.*\|$", LISTING.partition("## Permissions")[2].partition("## Description")[0])
    stated = dict(rows[1:])
    assert stated == manifest["permissions"]
    for tested in environments.ENVIRONMENTS:
        assert tested in LISTING


def test_the_listing_and_the_changelog_count_the_material_presets() -> None:
    count = len(list((environments.ROOT / "presets" / "materials").glob("*.toml")))
    for name in ("docs/listing.md", "CHANGELOG.md"):
        assert re.findall(r"(\d+) (?:material )?presets", (environments.ROOT / name).read_text(encoding="utf-8")) == [str(count)], name
