"""A specification as the file that says the same, for whoever wants to play it again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SECTIONS = ("game", "belief", "rule")


def as_toml(spec: Mapping[str, Any]) -> str:
    """The TOML of plain data, as of ``Specification.spec()``: reading it gives the same data back."""
    lines = [f"{_key(name)} = {_value(entry)}" for name, entry in spec.items() if name not in _SECTIONS]
    for section in _SECTIONS:
        for table in spec.get(section, []):
            lines += ["", f"[[{section}]]"]
            lines += [f"{_key(name)} = {_value(entry)}" for name, entry in table.items() if entry is not None]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(entry: Any) -> str:
    if isinstance(entry, Mapping):
        inside = ", ".join(f"{_key(name)} = {_value(part)}" for name, part in entry.items() if part is not None)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(entry, list | tuple):
        return f"[{', '.join(map(_value, entry))}]"
    if isinstance(entry, str):
        return json.dumps(entry, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(entry)  # numbers, true and false
