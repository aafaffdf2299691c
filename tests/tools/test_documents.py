"""The documents: pages that Sphinx accepts, links that resolve, and messages that exist in the source."""

from __future__ import annotations

import re
from pathlib import Path

import document_messages
import pytest
from site_pages import make_site

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


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


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's titles, as GitHub and MyST make them."""
    titles = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_list_of_messages_is_that_of_the_source() -> None:
    assert document_messages.PAGE.read_text(encoding="utf-8") == document_messages.page(), "make docs"


def test_what_troubleshooting_quotes_is_said_by_the_source() -> None:
    page = (ROOT / "docs" / "manual" / "troubleshooting.md").read_text(encoding="utf-8")
    quoted = re.findall(r"(?m)^> (.+)$", page)
    said = document_messages.page()
    assert len(quoted) > 15
    assert [line for line in quoted if f"`{line}`" not in said] == []
