"""Instructions of Python as they were compiled, without what comes from lines, files and the order of constants."""

from __future__ import annotations

import bisect
import dis
from types import CodeType
from typing import Any, NamedTuple

from potentia.kernel.hashing import codes

WORDS = ("__doc__", "__module__", "__qualname__", "__firstlineno__", "__static_attributes__")  # of a class
_FLAGS = 0x3AC  # of a code object: what its arguments are, whether it is a generator or a coroutine
_LAYOUT = ("NOP", "RESUME", "CACHE", "EXTENDED_ARG")  # instructions that come and go with lines and sizes
_JUMPS = {*dis.hasjrel, *dis.hasjabs}
_GLOBAL, _ATTRIBUTE = ("LOAD_GLOBAL", "LOAD_NAME"), ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM")


class Names(NamedTuple):
    """What a function, and the functions inside it, take from outside by a name."""

    globals: set[str]
    attributes: set[str]
    imports: set[str]  # with a dot before them for each level of a relative one


def names_in(function: Any) -> Names:
    """The names that a function uses."""
    found = Names(set(), set(), set())
    for code in codes(function.__code__):
        before: list[Any] = [0, 0]
        for one in dis.get_instructions(code):
            if one.opname in _GLOBAL:
                found.globals.add(one.argval)
            elif one.opname in _ATTRIBUTE:
                found.attributes.add(one.argval)
            elif one.opname == "IMPORT_NAME":
                found.imports.add("." * before[-2] + one.argval)
            before += [one.argval] * (one.opname != "EXTENDED_ARG")
    return found


def steps_of(code: CodeType) -> tuple[Any, list[tuple[str, Any]], list[Any]]:
    """The arguments of a code object, its steps with the values and names that they mean, and who handles errors."""
    kept = [one for one in dis.get_instructions(code) if one.opname not in _LAYOUT]
    offsets = [one.offset for one in kept]
    steps: list[tuple[str, Any]] = []
    for one in kept:
        if one.opname == "STORE_NAME" and one.argval in WORDS:  # which were loaded just now
            steps.pop()
            continue
        steps.append((one.opname, bisect.bisect_left(offsets, one.argval) if one.opcode in _JUMPS else one.argval))
    handlers = [
        (*(bisect.bisect_left(offsets, place) for place in (entry.start, entry.end, entry.target)), entry.depth)
        for entry in dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
    ]
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & _FLAGS
    return (counts, named), steps, handlers
