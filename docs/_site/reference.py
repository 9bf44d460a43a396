"""The reference: a page for each room, and one for each public name, from its docstring."""

from __future__ import annotations

import inspect
import re
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

# A name that several rooms have gets its page from the first of them; the others lead there.
ROOMS = {
    "potentia": "potentia: run, rule, game, sweep and what else is at the top",
    "potentia.games": "potentia.games: what is played",
    "potentia.rules": "potentia.rules: how players revise",
    "potentia.beliefs": "potentia.beliefs: what players expect",
    "potentia.engine": "potentia.engine: runs, batches and traces",
    "potentia.analysis": "potentia.analysis: potentials, equilibria, stable states, audits",
    "potentia.statistics": "potentia.statistics: intervals and comparisons",
    "potentia.studies": "potentia.studies: sweeps and what they keep",
    "potentia.figures": "potentia.figures: plots",
    "potentia.web": "potentia.web: replays, films and the laboratory",
    "potentia.envs": "potentia.envs: PettingZoo environments",
    "potentia.learners": "potentia.learners: learners from elsewhere",
    "potentia.testing": "potentia.testing: checkers for your own games and rules",
    "potentia.extend": "potentia.extend: what your own games, rules and beliefs are made of",
    "potentia.errors": "potentia.errors: what can go wrong",
}


def write(folder: Path) -> None:
    """All pages; those of an earlier build are removed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    top = import_module("potentia").__all__
    pages: dict[int, str] = {}
    rooms = [room for room in ROOMS if room == "potentia" or room.partition(".")[2] in top]
    for room in rooms:
        _room(folder, room, pages)
    names = "\n".join(f"   {room}" for room in rooms)
    head = _titled("API reference: every public name")
    (folder / "index.rst").write_text(f"{head}\n.. toctree::\n   :maxdepth: 1\n\n{names}\n", encoding="utf-8")


def _room(folder: Path, room: str, pages: dict[int, str]) -> None:
    owner = import_module(room)
    found = {name: getattr(owner, name) for name in sorted(_public(owner), key=str.lower)}
    found = {name: thing for name, thing in found.items() if not inspect.ismodule(thing)}
    classes = [name for name, thing in found.items() if inspect.isclass(thing)]
    functions = [name for name, thing in found.items() if callable(thing) and name not in classes]
    values = [name for name in found if name not in classes and name not in functions]
    text = _titled(ROOMS[room])
    if room != "potentia":
        text += f".. automodule:: {room}\n   :no-members:\n\n"
    for heading, kind, names in (("Functions", "function", functions), ("Classes", "class", classes)):
        if not names:
            continue
        for name in names:
            if id(found[name]) not in pages:
                pages[id(found[name])] = f"{room}.{name}"
                (folder / f"{room}.{name}.rst").write_text(_one(room, name, kind), encoding="utf-8")
        there = [pages[id(found[name])] for name in names]
        text += f"{heading}\n{'-' * len(heading)}\n\n.. autosummary::\n   :signatures: none\n\n"
        text += "".join(f"   ~{page}\n" for page in there)
        text += "\n.. toctree::\n   :hidden:\n\n"
        text += "".join(f"   {page}\n" for page in there if page.rpartition(".")[0] == room) + "\n"
    if values:
        text += "Values\n------\n\n" + ", ".join(f"``{name}``" for name in values) + "\n"
    (folder / f"{room}.rst").write_text(text, encoding="utf-8")


def _public(owner: Any) -> list[str]:
    shown = getattr(owner, "__all__", None)
    if shown is None:
        shown = [name for name, value in vars(owner).items() if getattr(value, "__module__", None) == owner.__name__]
    return [name for name in shown if not name.startswith("_")]


def _titled(title: str) -> str:
    return f"{title}\n{'=' * len(title)}\n\n"


def _one(room: str, name: str, kind: str) -> str:
    members = "   :members:\n" if kind == "class" else ""
    return f"{_titled(f'{room}.{name}')}.. currentmodule:: {room}\n\n.. auto{kind}:: {name}\n{members}"


_PIPES = re.compile(r"(``.*?``|`[^`]*`)|\|")


def plain_bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """A bar in a docstring is one: |x| is a size, not the name of a substitution."""
    lines[:] = [_PIPES.sub(lambda found: found[1] or r"\|", line) for line in lines]
