"""Words in the place of pictures: those that cells of a page draw are called by the heading that they are under."""

from __future__ import annotations

from typing import Any

from docutils import nodes


def named(app: Any, page: nodes.document, name: str) -> None:
    """Pictures without words get some."""
    for picture in page.findall(nodes.image):
        above = picture.parent
        while above is not None and not isinstance(above, nodes.section):
            above = above.parent
        if above is not None and not picture.get("alt"):
            picture["alt"] = above[0].astext()
