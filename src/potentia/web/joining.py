"""Pages in one file: modules and styles inside, which ask nobody for anything.

JavaScript modules become one script, whose hash is all that the page's Content-Security-Policy lets run.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Callable
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path

from potentia.errors import InvalidRun
from potentia.kernel.texts import visible
from potentia.web.coding import write_whole

_IMPORT = re.compile(r'^import\s*\{([^}]*)\}\s*from\s*"([^"]+)";\n?', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)


def write_page(path: str | os.PathLike[str], text: Callable[[], str]) -> Path:
    """Write a page, whole or not at all."""
    goal = Path(path)
    if goal.suffix.lower() not in (".html", ".htm"):
        raise InvalidRun(f"must end in .html, got {goal.name!r}", "path", goal.name)
    return write_whole(goal, text().encode())


def assemble(entry: str, styles: tuple[str, ...], title: str, blocks: str) -> str:
    """A page with the script of a module and all that it imports, these styles, and blocks of data."""
    script, style = joined(entry), "\n".join(asset(name) for name in styles)
    allowed = f"script-src '{digest_of(script)}'; style-src '{digest_of(style)}'"
    parts = {
        "title": escape(visible(title)),
        "policy": f"default-src 'none'; {allowed}; img-src blob: data:; base-uri 'none'; form-action 'none'",
        "style": style,
        "blocks": blocks,
        "script": script,
    }
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: parts[found[1]], asset("viewer/page.html"))


def digest_of(text: str) -> str:
    """How a Content-Security-Policy names a script or a style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


def asset(name: str) -> str:
    """The text of a file of this room."""
    return resources.files("potentia.web").joinpath(*name.split("/")).read_text("utf-8")


@cache
def joined(entry: str) -> str:
    """All modules that one imports, those that others need first, without what only modules understand."""
    order: list[str] = []
    texts: dict[str, str] = {}

    def visit(name: str) -> None:
        if name in texts:
            return
        texts[name] = source = asset(name)
        for found in _IMPORT.finditer(source):
            visit(_beside(name, found[2]))
        order.append(name)

    visit(entry)
    parts = [_EXPORT.sub("", _IMPORT.sub("", texts[name])).strip() for name in order]
    whole = "\n".join(f"// {name}\n{part}" for name, part in zip(order, parts, strict=True))
    assert "</script" not in whole.lower()
    assert not re.search(r"^(import|export)\b", whole, re.MULTILINE)
    return f"\n{whole}\n"


def _beside(name: str, imported: str) -> str:
    """The module that another imports: "viewer/stages/map.js" and "../clock.js" give "viewer/clock.js"."""
    parts = name.split("/")[:-1]
    for part in imported.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
