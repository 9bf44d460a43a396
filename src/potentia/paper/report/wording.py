"""What the page says: texts.toml has the words of pictures and tables, story.toml how it is told."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def texts() -> dict[str, Any]:
    """All of it; lines that are indented for the eye are joined."""

    def joined(entry: Any) -> Any:
        if isinstance(entry, dict):
            return {name: joined(part) for name, part in entry.items()}
        return [part.strip() for part in entry] if isinstance(entry, list) else entry.strip()

    whole: dict[str, Any] = {}
    for name in ("texts", "story"):
        whole |= joined(tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text("utf-8")))
    return whole
