"""What every public name says of itself: numpydoc's checks, for all of them.

    python -m tests.docstrings                  # what `make lint` runs
    python -m tests.docstrings --room games     # one room

Public are the names in ``__all__`` of the package and its rooms, every class of ``potentia.errors``, and of a public
class the methods and properties that are written in this package. One that overrides another and says nothing has the
docstring of the other. A class says what it is made from under Parameters, or its fields under Attributes if nobody
makes one by hand; an exception does not repeat what its base says. Examples are run by tests/unit/test_docstrings.py;
they find ``pt``, ``np`` and an empty folder.
"""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import attrs
from numpydoc import validate
from numpydoc.docscrape import get_doc_object

import potentia as pt

ROOT = Path(__file__).parents[1]
# A name that several rooms show belongs to the first of them.
FIRST = ("engine", "rules", "games", "beliefs", "extend", "errors", "analysis", "statistics", "studies", "figures")
ROOMS = [f"potentia.{room}" for room in dict.fromkeys((*FIRST, *pt._MODULES, "reports"))]
# Not asked for: a longer text, other names to see, and a verb as the first word (what a thing *is* reads better).
NEVER = {"ES01", "SA01", "SS05"}
# Examples of methods and properties are in their class; one without parameters says what it gives in its first line.
NOT_OF_MEMBERS = {"EX01"}
NOT_WITHOUT_PARAMETERS = {"RT01"}


class Public(NamedTuple):
    """A public name: where it is written, the room that shows it, and what it is."""

    name: str
    room: str
    value: Any
    member: bool


class Lack(NamedTuple):
    """What the docstring of a name lacks."""

    path: str
    line: int
    name: str
    told: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.name}: {'; '.join(self.told)}"


class Validator(validate.Validator):
    """Numpydoc's, with what is said of classes above."""

    @property
    def signature_parameters(self):
        kind = self.obj
        if inspect.isclass(kind):
            written = "__init__" in vars(kind) and not attrs.has(kind) and not is_dataclass(kind)
            if issubclass(kind, BaseException) and not written:
                return ()
            if written and self.doc["Attributes"] and not self.doc["Parameters"]:
                return ()
        return super().signature_parameters

    @property
    def doc_all_parameters(self):
        documented = super().doc_all_parameters
        if documented or not inspect.isclass(self.obj):
            return documented
        attributes = self._doc_parameters(["Attributes"])
        asked = [name for name in self.signature_parameters if name in attributes]
        return {name: attributes[name] for name in asked}  # more of them, and in another order, is no mistake


def names_of(room: str) -> list[str]:
    """The public names of a module."""
    module = import_module(room)
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == room]
    return list(getattr(module, "__all__", None) or [name for name in own if inspect.isclass(getattr(module, name))])


def function_of(value: Any) -> Any:
    """The function below a property and below decorators; a class is itself."""
    return inspect.unwrap(getattr(value, "fget", None) or getattr(value, "func", None) or value)


def own(value: Any) -> bool:
    """Whether a function, class or property is written in this package."""
    return (getattr(function_of(value), "__module__", None) or "").startswith("potentia")


def members(kind: type) -> Iterator[Any]:
    """The public methods and properties of a class, its bases' too, that do not leave the docstring to a base."""
    for base in kind.__mro__:
        if not base.__module__.startswith("potentia"):
            continue
        for name, held in vars(base).items():
            value = getattr(held, "__func__", held)  # of a method of the class, or of none
            described = inspect.isfunction(value) or hasattr(value, "fget") or hasattr(value, "attrname")
            if name.startswith("_") or not described or not own(value):
                continue
            above = (vars(parent)[name] for parent in base.__mro__[1:] if name in vars(parent))
            if value.__doc__ or not any(getattr(other, "__doc__", None) for other in above):
                yield value


def full_name(value: Any) -> str:
    """Where something is written: ``potentia.games.base.Game.describe``."""
    function = function_of(value)
    return f"{function.__module__}.{function.__qualname__}"


def public() -> list[Public]:
    """Every public name, once."""
    found: dict[str, Public] = {}
    for room in (*ROOMS, "potentia"):
        for name in names_of(room):
            value = getattr(import_module(room), name)
            if not (inspect.isclass(value) or inspect.isroutine(value)) or not own(value):
                continue  # a constant, a room
            found.setdefault(full_name(value), Public(full_name(value), room, value, False))
            for member in members(value) if inspect.isclass(value) else ():
                found.setdefault(full_name(member), Public(full_name(member), room, member, True))
    return list(found.values())


def lack(name: Public) -> Lack:
    """What is wrong with the docstring of a public name."""
    doc = Validator(get_doc_object(name.value, config={"show_class_members": False}))
    found = validate.validate(name.name, validator_cls=lambda obj_name: doc)
    ignored = NEVER | (NOT_OF_MEMBERS if name.member else set())
    if name.member and not doc.signature_parameters:
        ignored |= NOT_WITHOUT_PARAMETERS
    told = tuple(f"{text} ({code})" for code, text in found["errors"] if code not in ignored)
    return Lack(os.path.relpath(found["file"] or "", ROOT), found["file_line"] or 0, name.name, told)


def main() -> int:
    """Tell what is missing; 1 if anything is."""
    parser = argparse.ArgumentParser(prog="python -m tests.docstrings", description="checks the public docstrings")
    parser.add_argument("--room", choices=[room.partition(".")[2] for room in ROOMS], help="only this room")
    told = parser.parse_args()
    asked = [name for name in public() if told.room is None or name.room == f"potentia.{told.room}"]
    shown = sorted(found for found in map(lack, asked) if found.told)
    print("".join(f"{line}\n" for line in shown), end="")
    if not shown:
        print(f"{len(asked)} public names have docstrings as they should be")
    return bool(shown)


if __name__ == "__main__":
    sys.exit(main())
