"""Links that work on a file host, made to work on the site, too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

# Files beside docs/ that are pages of the site, and which.
BESIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
_UP = re.compile(r"\]\((?:\.\./)+([A-Z]+\.md)(#[^)]*)?\)")
_DOWN = re.compile(r"\[([^]]*)\]\((?!https?:)([\w./-]+)(#[^)]*)?\)")


def inside(app: Any, name: str, source: list[str]) -> None:
    """A page of docs/ as it is read: files beside docs/ are on the site under another name."""
    up = "../" * name.count("/")
    source[0] = _UP.sub(lambda found: f"]({up}{BESIDE[found[1]]}{found[2] or ''})", source[0])


def beside(app: Any, path: Path, parent: str, content: list[str]) -> None:
    """A file beside docs/ as it is included; what is not on the site is no link there."""

    def moved(found: re.Match[str]) -> str:
        target = BESIDE.get(found[2], found[2].removeprefix("docs/"))
        there = found[2] in BESIDE or found[2].startswith("docs/")
        return f"[{found[1]}]({target}{found[3] or ''})" if there else found[1]

    content[0] = _DOWN.sub(moved, content[0])
