"""Names that completion offers, read from the sources: to import what registers them takes a second."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
AXES = ("who", "considers", "chooses")  # of compositions; their words are no rules
_NAME = re.compile(r'^    name: ClassVar\[str\] = "(.+)"$', re.MULTILINE)


def _of_classes(room: str) -> tuple[str, ...]:
    sources = [path for path in sorted((_PACKAGE / room).glob("*.py")) if path.stem not in AXES]
    return tuple(name for path in sources for name in _NAME.findall(path.read_text(encoding="utf-8")))


def _of_games() -> dict[str, tuple[str, ...]]:
    found = {}
    for node in ast.parse((_PACKAGE / "games" / "library.py").read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "register_game":
                found[ast.literal_eval(mark.args[0])] = tuple(each.arg for each in node.args.args)
    return found


GAMES, RULES, BELIEFS = _of_games(), _of_classes("rules"), _of_classes("beliefs")
