"""The documents: pages that Sphinx accepts, links that resolve, and messages that exist in the source."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
from pathlib import Path

import document_messages
import pytest
from site_pages import make_site

import mpm_addon.core
import mpm_addon.derived
from mpm_addon.core.advice import preflight, preview
from mpm_addon.core.emission import references
from mpm_addon.core.forecast import estimate
from mpm_addon.core.geometry import thickness
from mpm_addon.core.geometry.shapes import mesh
from mpm_addon.core.messages import Action, Topic
from mpm_addon.core.parameters import parameters_of
from mpm_addon.core.particles import ATTRIBUTES
from mpm_addon.core.scene import settings
from mpm_addon.core.scene.emitter import PARTICLES_PER_CELL
from mpm_addon.core.stepping import steering
from mpm_addon.derived import binding
from mpm_addon.storage import plain_files, user_presets, wedge_variants
from tests.words import BANNED, BANNED_ON_PAGES, BRITISH

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Statements with a figure that the code declares.
FIGURES = [
    ("docs/manual/speed.md", f"up to {estimate.BYTES_PER_PARTICLE['float32']} bytes per particle"),
    ("docs/manual/speed.md", f"take another {estimate.BYTES_PER_REST_STATE['float32']} bytes"),
    ("docs/manual/speed.md", f"{estimate.BYTES_PER_BLOCK['float32'] // 1000} kB for each block"),
    ("docs/manual/speed.md", f"the program itself {estimate.BYTES_OF_PROGRAM / 1e9:g} GB"),
    ("docs/manual/preview.md", f"{preview.PARTICLES:,} by default"),
    ("docs/manual/preview.md", f"at most {steering.LONGEST_MOVE:g} cells per frame"),
    ("docs/manual/objects.md", f"solids have a friction of {settings.DEFAULT_FRICTION:g}"),
    ("docs/manual/objects.md", {3.0: "closer than three cells at rest are joined"}[references.LEAST_GAP]),
    ("docs/manual/presets.md", f"At most {user_presets.MOST} presets"),
    ("docs/manual/surfaces.md", f"a fixed sum of the {binding.NEIGHBORS} particles"),
    ("docs/farm.md", f"at most {wedge_variants.MOST_VARIATIONS} variants"),
    ("docs/formats.md", f"particles_per_cell = {PARTICLES_PER_CELL:g}"),
    ("docs/formats.md", f"more than {preflight.LARGEST_SHARE_OF_MEMORY:.0%} of the available memory"),
    ("docs/formats.md", f"more than {preflight.LARGEST_SHARE_OF_DISK:.0%} of the free space"),
    ("docs/formats.md", f"a hole of more than {preflight.LARGEST_HOLE:.0%} of the surface"),
    ("docs/meshes.md", f"up to {mesh.LARGEST_OPENING:.0%} of its own surface"),
    ("docs/meshes.md", f"up to {thickness.LARGEST_CAPPED_OPENING:.0%}: capped"),
    ("docs/security.md", f"{plain_files.LARGEST_TEXT / 1e6:g} MB"),
    ("docs/security.md", f"tables nested {plain_files.DEEPEST} deep"),
]


@pytest.mark.slow
def test_the_site_is_made_without_a_complaint(tmp_path: Path) -> None:
    finished = make_site(tmp_path / "site")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert (tmp_path / "site" / "manual" / "start.html").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    lost = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        if "://" in path:
            continue
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in _anchors(file)):
            lost.append(target)
    assert lost == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_module_that_is_named_exists(page: Path) -> None:
    folders = ("mpm_addon", "tests", "tools", "benchmarks", "demo")
    known = {f"/{path.relative_to(ROOT).as_posix()}" for folder in folders for path in (ROOT / folder).rglob("*.py")}
    named = re.findall(r"`([\w/]+\.py)`", page.read_text(encoding="utf-8"))
    assert [name for name in named if "NAME" not in name and not any(path.endswith(f"/{name}") for path in known)] == []


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's titles, as GitHub and MyST make them."""
    titles = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_list_of_messages_is_that_of_the_source() -> None:
    assert document_messages.PAGE.read_text(encoding="utf-8") == document_messages.page(), "make docs"


def test_every_package_with_messages_has_a_heading() -> None:
    package = document_messages.PACKAGE
    listed = set(document_messages.PARTS.values())
    speaking = {path.relative_to(package).parts[0] for path in package.glob("*/**/*.py") if any(document_messages.messages_of(path))}
    assert len(speaking) > 5
    assert speaking - listed == set()


def test_a_problem_about_its_subject_continues_it() -> None:
    """Such a problem begins with "it", which becomes "/cache is damaged" instead of "/cache: is damaged"."""
    predicate = re.compile(r"(?m)^- `([^:`]*: (?:is|was|has|does|cannot|contains|needs|belongs|lacks|overlaps|continues)\b.+)`$")
    assert predicate.findall("- `…: is damaged; delete it.`") == ["…: is damaged; delete it."]
    assert predicate.findall(document_messages.page()) == []


def test_messages_are_american_and_plain() -> None:
    messages = re.findall(r"(?m)^- `(.+)`$", document_messages.page())
    assert len(messages) > 400
    assert [(found.group(), text) for text in messages for words in (BRITISH, BANNED) for found in words.finditer(text)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_are_american_and_plain(page: Path) -> None:
    """Without code and the first cells of tables, which have names such as `cancelled`."""
    text = re.sub(r"(?s)```.*?```|`[^`]*`|\(https?:[^)]*\)|(?m:^\| [a-z_, ]+ \|)", "", page.read_text(encoding="utf-8"))
    faults = [found.group() for words in (BRITISH, BANNED_ON_PAGES) for found in words.finditer(text)]
    assert faults == []


@pytest.mark.parametrize(("page", "told"), FIGURES)
def test_figures_are_those_of_the_code(page: str, told: str) -> None:
    assert told in " ".join((ROOT / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    ("page", "heading", "names"),
    [
        ("docs/formats.md", "Warnings", {topic.value for topic in Topic}),
        ("docs/manual/scripting.md", "Attributes", set(ATTRIBUTES)),
    ],
)
def test_tables_have_a_row_for_each_name(page: str, heading: str, names: set[str]) -> None:
    section = re.split(r"(?m)^#+ ", (ROOT / page).read_text(encoding="utf-8").partition(f"# {heading}\n")[2])[0]
    listed = re.findall(r"(?m)^\| `?([^|`]+?)`? \|", section)[1:]
    assert set(listed) == names


def test_the_actions_of_messages_are_listed() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    listed = page.partition('`{"action": NAME}`')[2].partition("(")[2].partition(")")[0]
    assert re.findall(r"`(\w+)`", listed) == [action.value for action in Action]


def test_what_troubleshooting_quotes_is_said_by_the_source() -> None:
    page = (ROOT / "docs" / "manual" / "troubleshooting.md").read_text(encoding="utf-8")
    quoted = re.findall(r"(?m)^> (.+)$", page)
    said = document_messages.page()
    assert len(quoted) > 15
    assert [line for line in quoted if f"`{line}`" not in said] == []


def declared_names() -> set[str]:
    """The names of all parameters that are not plain words."""
    found = set()
    for package in (mpm_addon.core, mpm_addon.derived):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for owner in vars(importlib.import_module(module.name)).values():
                if isinstance(owner, type) and dataclasses.is_dataclass(owner):
                    found |= {declared.name for declared in parameters_of(owner) if "_" in declared.name}
    return found


def test_names_of_parameters_in_messages_are_marked_so_that_blender_shows_their_labels() -> None:
    names = declared_names()
    assert {"grid_spacing", "min_distance", "young_modulus", "max_fullness"} <= names
    texts = [text for path in document_messages.PACKAGE.rglob("*.py") for text in document_messages.messages_of(path)]
    assert any("`grid_spacing`" in text for text in texts)
    bare = [text for text in texts if names & set(re.findall(r"(?<!`)\b\w+\b(?!`)", text))]
    assert bare == []
