"""Every Python snippet of the README and the docs runs as printed, in order; so do the tutorials."""

from __future__ import annotations

import re
import runpy
import sys
import warnings
from unittest.mock import patch

import pytest

from tests.commands import fresh, potentia
from tests.surroundings import ROOT

WRITTEN = ROOT / "docs" / "how", ROOT / "docs" / "reference"  # by the site's build
PAGES = [
    page
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    if not any(folder in page.parents for folder in WRITTEN)
]


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/tour.md",
        "docs/what-there-is.md",
        "docs/how-do-i.md",
        "docs/glossary.md",
        "docs/coming-from.md",
        "docs/guide.md",
        "docs/analysis.md",
        "docs/formats.md",
        "docs/laboratory.md",
        "docs/coverage.md",
        "docs/sites.md",
        "docs/dynamics.md",
        "docs/beliefs.md",
        "docs/mixtures.md",
        "docs/reinforcement.md",
        "docs/statistics.md",
        "docs/extending.md",
        "docs/studies.md",
        "docs/comparing.md",
        "docs/recordings.md",
        "docs/environments.md",
        "docs/studio.md",
        "docs/reproduction.md",
    ],
)
def test_snippets_run(name, tmp_path):
    scripts = _save_snippets(name, tmp_path)
    assert scripts
    for script in scripts:
        with fresh(tmp_path), patch("sys.path", [str(tmp_path), *sys.path]):
            warnings.simplefilter("error", UserWarning)
            runpy.run_path(script, run_name="__main__")


NOTEBOOKS = [page for page in PAGES if "{code-cell}" in page.read_text("utf-8")]


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda p: p.stem)
def test_tutorials_run(page, tmp_path):
    """As a notebook does: not as the main program. `make site` runs cells with the tag slow, too."""
    cells = re.findall(r"```\{code-cell\} python\n(?!:tags: \[slow\])(.*?)```", page.read_text("utf-8"), re.S)
    assert len(cells) >= 3
    (tmp_path / "cells.py").write_text("\n".join(cells), encoding="utf-8")
    with fresh(tmp_path):
        warnings.simplefilter("error", UserWarning)
        runpy.run_path(str(tmp_path / "cells.py"), run_name="notebook")


def _save_snippets(name, folder):
    """One script of all snippets; one that begins with the name of a file is that file, and comes first."""
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.S)
    scripts: dict[str, str] = {}
    for snippet in snippets:
        named = re.match(r"# (\w+\.py)\n", snippet)
        scripts.setdefault(named[1] if named else "snippets.py", "")
        scripts[named[1] if named else "snippets.py"] += snippet + "\n"
    for script, text in scripts.items():
        (folder / script).write_text(text, encoding="utf-8")
    return sorted(scripts, key=lambda script: script == "snippets.py")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere_and_tables_are_filled(page):
    text = page.read_text(encoding="utf-8")
    wrong = [f"{target}{anchor}" for target, anchor in links(text) if not leads(page, target, anchor)]
    assert wrong == []
    for mark, between in re.findall(r"<!-- (\w+):begin -->(.*?)<!-- \1:end -->", text, re.S):
        assert len(between.strip()) > 20, f"{mark} is empty"


def links(text):
    """File and anchor of each link within the docs; code is no link."""
    text = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.S)
    found = re.findall(r"\]\(([^)\s]+)\)|<(?:iframe|img|a)\b[^>]*?(?:src|href)=\"([^\"]+)\"", text)
    parts = [(written or inside).partition("#") for written, inside in found]
    return [(target, mark + anchor) for target, mark, anchor in parts if ":" not in target]


def leads(page, target, anchor):
    """Whether a file is there, and in it a heading that the anchor names; what the site's build writes is not yet."""
    path = (page.parent / target).resolve() if target else page
    if path == WRITTEN[1] / "index.rst":
        return True
    if path.parent == ROOT / "docs" / "played":
        return f'"{path.name}"' in (ROOT / "docs" / "_site" / "embedded.py").read_text(encoding="utf-8")
    if not path.exists() or not anchor:
        return path.exists()
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    marks = re.findall(r"^\((\S+)\)=$", text, re.M)
    return anchor[1:] in {*marks, *(slug(line) for line in re.findall(r"^#+ +(.+)$", text, re.M))}


def slug(heading):
    """What a file host and the site call a heading in an address."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("see [it](guide.md#games) and [that](speed.md)", True),
        ("see [it](guide.md#no-such-heading)", False),
        ("see [it](nothing.md)", False),
        ("no link: `[it](nothing.md)`", True),
    ],
)
def test_a_link_to_nowhere_is_found(text, right):
    page = ROOT / "docs" / "studies.md"
    assert all(leads(page, *link) for link in links(text)) is right


def test_the_readme_shows_rows_of_the_table_of_speeds():
    head, rows = (
        re.findall(r"^\|.*\|$", re.search(r"<!-- bench:begin -->(.*?)<!-- bench:end -->", text, re.S)[1], re.M)
        for text in ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/speed.md"))
    )
    assert len(head) == 7
    for row in head[2:]:
        assert any(line.startswith(row) for line in rows), row


def test_the_readme_is_two_screens():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def _shorter(line):
    """The same command for less: what it plays is not the subject."""
    line = line.split("#")[0]
    for option, fewer in (("--steps", 300), ("--runs", 2), ("--robots", 8)):
        line = re.sub(rf"{option} \d+", f"{option} {fewer}", line)
    if " cover " in line and "--steps" not in line:
        line += " --steps 300"
    if " sweep " in line:
        line += " --set steps=300 --set seeds=4"
    return line.split()


def test_the_commands_of_the_tour_run(tmp_path):
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/tour.md")]
    blocks = re.findall(r"```sh\n(potentia .*?)```", "\n".join(texts), re.S)
    lines = {" ".join(line.split("#")[0].split()): None for block in blocks for line in block.splitlines()}
    commands = [_shorter(line) for line in lines if line]
    assert len(commands) >= 12
    _save_snippets("docs/tour.md", tmp_path)  # my_game.py is among them
    for _, *args in commands:
        done = potentia(*args, cwd=tmp_path)
        assert done.returncode == 0, done.stderr


def test_what_to_cite_is_what_the_command_says():
    page = (ROOT / "docs" / "how-do-i.md").read_text(encoding="utf-8")
    assert re.search(r"```bibtex\n(.*?)```", page, re.S)[1] == potentia("cite", "--format", "bibtex").stdout
