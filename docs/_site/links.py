"""Links that work on a file host, made to work on the site, too."""

from __future__ import annotations

import re

# Pages beside docs/ that are part of the site, and where.
BESIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
_LINK = re.compile(r"\]\((?:\.\./)+([A-Z]+\.md)(#[^)]*)?\)")


def inside(app: object, name: str, source: list[str]) -> None:
    """A page as it is read: what it links to outside of docs/ is on the site under another name."""
    up = "../" * name.count("/")
    source[0] = _LINK.sub(lambda found: f"]({up}{BESIDE[found[1]]}{found[2] or ''})", source[0])
