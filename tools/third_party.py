"""The notices of third-party software in the extension's zip, made from the metadata of the wheels and of the manual's theme."""

import importlib.metadata
import json
import zipfile
from collections.abc import Iterable, Sequence
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import NamedTuple

NOTICES = "THIRD_PARTY.md"
# Their style sheets and scripts are part of the manual's pages.
MANUAL_PACKAGES = ("sphinx", "furo", "sphinx-basic-ng", "pygments")

_INTRODUCTION = """# Third-party software

This extension contains the wheels below, exactly as they are on PyPI, and the style sheets and scripts of the programs that made its
manual. Names, versions, licenses and texts are taken from their own metadata. The license of the extension itself is in `LICENSE`.
"""
# For packages that declare this license, but come without its text.
_MIT = """MIT License

Copyright (c) {holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR
ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""


class LicenseError(Exception):
    """A package comes without the text of its license; the message names it."""


class Notice(NamedTuple):
    """The license of one package: its name, version and home page, license texts by file name, and the components compiled into it."""

    name: str
    version: str
    license: str
    home: str
    texts: dict[str, str]
    components: tuple[tuple[str, str, str], ...] = ()


def third_party_notices(wheels: Sequence[Path]) -> str:
    """Returns the text of the file of notices for the wheels in a zip and the parts of its manual."""
    bundled = {(each.name, each.version): each for each in map(wheel_notice, wheels)}
    manual = [installed_notice(name) for name in MANUAL_PACKAGES]
    notices = [*sorted(bundled.values()), *manual]
    table = ["| package | version | license | home page |", "|---|---|---|---|"]
    table += [f"| {each.name} | {each.version} | {each.license} | {each.home} |" for each in notices]
    return "\n".join([_INTRODUCTION, *table, "", *(_section(each) for each in notices)])


def wheel_notice(wheel: Path) -> Notice:
    """Returns the notice of a wheel."""
    with zipfile.ZipFile(wheel) as content:
        files = {name.partition(".dist-info/")[2]: name for name in content.namelist() if ".dist-info/" in name and not name.endswith("/")}
        texts = {name: content.read(files[name]).decode("utf-8", "replace") for name in files if _is_license(name)}
        metadata = Parser().parsestr(content.read(files["METADATA"]).decode("utf-8"))
        bills = [json.loads(content.read(files[name])) for name in sorted(files) if name.startswith("sboms/")]
    components = {
        (each["name"], each.get("version", ""), _component_license(each)) for bill in bills for each in bill.get("components", [])
    }
    # the package itself is in its own bill of materials
    return _notice(metadata, texts, sorted(each for each in components if each[0] != metadata["Name"]))


def installed_notice(name: str) -> Notice:
    """Returns the notice of a package that is installed where the manual is made."""
    distribution = importlib.metadata.distribution(name)
    metadata = Parser().parsestr(distribution.read_text("METADATA") or "")
    files = [file for file in distribution.files or [] if _is_license(str(file))]
    return _notice(metadata, {file.name: Path(str(file.locate())).read_text(encoding="utf-8") for file in files}, [])


def _notice(metadata: Message, texts: dict[str, str], components: Iterable[tuple[str, str, str]]) -> Notice:
    name = str(metadata["Name"])
    license_name = _license_name(metadata)
    if not texts and license_name == "MIT":
        texts = {"MIT": _MIT.format(holder=metadata["Author"] or f"the authors of {name}")}
    if not texts:
        raise LicenseError(f"{name} {metadata['Version']} comes without the text of its license")
    links = dict(link.split(", ", 1) for link in metadata.get_all("Project-URL", []))
    home = metadata["Home-page"] or next((links[key] for key in ("Homepage", "Repository", "Source", "Source Code") if key in links), "")
    return Notice(
        name, str(metadata["Version"]), license_name or "see its text", home or next(iter(links.values()), ""), texts, tuple(components)
    )


def _license_name(metadata: Message) -> str:
    """Returns the license as an SPDX expression if the package has one, otherwise as its classifier says."""
    classified = [each.rpartition(" :: ")[2] for each in metadata.get_all("Classifier", []) if each.startswith("License ::")]
    return str(metadata["License-Expression"] or ", ".join(classified))


def _is_license(name: str) -> bool:
    return any(word in Path(name).name.upper() for word in ("LICENSE", "COPYING", "NOTICE", "AUTHORS"))


def _component_license(component: dict[str, object]) -> str:
    found = component.get("licenses")
    words = [each.get("expression") or each.get("license", {}).get("id", "") for each in found] if isinstance(found, list) else []
    return ", ".join(filter(None, words)) or "not stated"


def _section(notice: Notice) -> str:
    lines = [f"## {notice.name} {notice.version}", ""]
    for name, text in notice.texts.items():
        lines += [f"### {notice.name}: {Path(name).name}", "", "````text", text.strip(), "````", ""]
    if notice.components:
        lines += [f"### Components of {notice.name}", "", "| component | version | license |", "|---|---|---|"]
        lines += [f"| {' | '.join(each)} |" for each in notice.components] + [""]
    return "\n".join(lines)
