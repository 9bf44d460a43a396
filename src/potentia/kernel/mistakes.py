"""What Numba, or Python, says about somebody's own code, in one line with the file and the line to mend.

Numba tells what it tried from the inside out, in thousands of characters: the first place in them that is not in a
library is the line that it fails at, and what stands before that place is about it. Where it names no place, the frames
of the compiler hold one. With ``POTENTIA_DETAILS=1`` in the environment all that Numba says follows the line.
"""

from __future__ import annotations

import contextlib
import dis
import inspect
import linecache
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from potentia.errors import InvalidCode, PotentiaError, did_you_mean

DETAILS = "POTENTIA_DETAILS"
_LONGEST = 90  # characters of a sentence of Numba's
_LIBRARIES = ("potentia", "numba", "llvmlite", "numpy", "scipy", "attr")
_ROOM = "make it once in the state, memory or mind record"
_PLACE = re.compile(
    r'File "(?P<file>[^"\n]+)", line (?P<line>\d+)|'
    r'\b(?:at|from) (?P<path>(?:(?! at | from )[^"\n])+) \((?P<number>\d+)\)'
)
_TYPES = {"int64": "int", "uint64": "int", "float64": "float", "unicode_type": "str", "none": "None"}
_TYPES |= {"UniTuple": "tuple", "Tuple": "tuple", "DictType": "dict", "OptionalType": "None or a number"}

# What the text before the place holds, and what to say of it, the words that were found in the place of numbers. The
# first that fits is said.
_UNTYPED = r"Untyped \w+ name '(\w+)':.*<class '"
_KINDS = (
    (_UNTYPED + r"function'>", "compiled code does not know {0}; decorate it with {helper}"),
    (_UNTYPED + r"(?:builtin\w+|module)'>", "compiled code does not know {0}; write what you need under {helper}"),
    (_UNTYPED + r"(?:list|dict|set)'>", "{0} is a global that may change; pass it as data"),
    (r"assigned to variable '(\w+)' in globals", "{0} is a global that may change; pass it as data"),
    (_UNTYPED + r"type'>", "{0} is a class; use numbers, arrays and NamedTuples of them"),
    (_UNTYPED + r"([\w.]+)'>", "{0} is a {1}; use numbers, arrays and NamedTuples of them"),
    (r"NameError: name '(\w+)' is not defined", "{0} is not defined; write or import it"),
    (
        r"Unknown attribute '(\w+)' of type Module\(<module 'numpy\.random'",
        "draw with extend.uniform, not numpy.random",
    ),
    (r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'", "compiled code has no {1}.{0}"),
    (r"Unknown attribute '(\w+)' of type (.+)", "{1} has no field {0!r}{near}"),
    (r"unsupported NumPy function '([\w.]+)'", "compiled code has no {0}, or not like this; write a loop"),
    (r"Cannot modify readonly", "the game's data are read-only; what varies belongs into the state"),
    (r"Cannot unify (.+) and (.+) for '([a-z_A-Z]\w*)", "{2} is {0} on one way and {1} on the other; keep to one type"),
    (r"Can't unify return type from the following types: (.+)", "it returns {0}; return one type"),
    (r"due to \"TypeError: ([^\"]+)\"", "{callee}: {0}"),
    (r"dictobject\.py|DictType", "use an array, not a dict"),
    (r"<class 'str'>|unicode\.py", "kernels must not make texts; use numbers"),
    (r"NRT required but not enabled|Only accept returning of array", f"kernels must not allocate; {_ROOM}"),
    (r"Exception matching is limited", "only a bare except compiles; test for the case with if"),
    (r"format spec in f-strings", "kernels must not make texts; use numbers"),
    (r"with \(context manager\)|Unsupported context manager", "with does not compile; leave it out"),
    (r"IMPORT_NAME|IMPORT_FROM", "import at the top of the file, not inside"),
    (r"yield in a closure", "sum(... for ...) does not compile; write a loop"),
    (r"use of yield|GET_ITER|generator", "yield does not compile; write a loop"),
    (
        r"No definition for lowering (\w+).*\.(\w+) =",
        "{0}.{1} cannot be set: records are fixed, arrays in them are not",
    ),
)

called_by_kernels: list[Any] = []  # functions that were registered


def at_place(said: str, place: str) -> str:
    """What is wrong, and where that is known."""
    return f"{said}: {place}" if place else said


def place_of(thing: Callable[..., Any] | type) -> str:
    """Where a function or a class is defined, as ``my_rule.py:31``; empty where that is not known."""
    with contextlib.suppress(OSError, TypeError):
        code = getattr(inspect.unwrap(thing), "__code__", None)
        if code is not None:
            return place_named(code.co_filename, code.co_firstlineno)
        return place_named(inspect.getsourcefile(thing) or "?", inspect.getsourcelines(thing)[1])
    return ""


def line_of(error: BaseException) -> str:
    """The innermost line of somebody's own code that an error of Python's came through, or empty."""
    return next((place_named(f.filename, f.lineno or 0) for f in reversed(_frames(error)) if is_own(f.filename)), "")


def failed(error: BaseException) -> str:
    """What Python raised in somebody's own code, with its line where that is known."""
    said = " ".join(str(error).split())
    if isinstance(error, ValueError) and "read-only" in said:
        said += ", what varies belongs into the state or memory record"
    return at_place(f"{type(error).__name__}: {said}" if said else type(error).__name__, line_of(error))


@contextlib.contextmanager
def compiling(arguments: tuple[Any, ...] = ()) -> Iterator[None]:
    """What is compiled in this block for such arguments fails in one line, if it is somebody's own mistake."""
    try:
        yield
    except Exception as error:
        said = compiler_said(error, arguments)
        if said is None:
            raise
        raise InvalidCode(said) from None


def compiler_said(error: Exception, arguments: tuple[Any, ...] = (), helper: str = "extend.portable") -> str | None:
    """One line about what does not compile; None where the error is not the compiler's, or not about own code.

    ``arguments`` are what it was to compile for, ``helper`` decorates functions that it may call.
    """
    if isinstance(error, PotentiaError | Warning | MemoryError) or not _is_compilers(error):
        return None
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    found = next((one for one in _PLACE.finditer(text) if is_own(one["file"] or one["path"])), None)
    unknown = re.search(r"NameError: name '(\w+)'", text)  # of which the place is not told
    odd = next((said for one in arguments if (said := odd_record(one)) is not None), None)
    if unknown is not None:
        place, before = next(chain(_uses(unknown[1]), _places(error)), ""), unknown[0] + " is not defined"
    elif found is not None:
        path, line, before = found["file"] or found["path"], int(found["line"] or found["number"]), text[: found.end()]
        place = place_named(path, _assigned(path, line, before))
        if odd is not None and _ROOM in _in_words(before, helper, arguments):  # a list is there, and none is made
            return _with_details(odd, text)
    elif odd is not None:
        return _with_details(odd, text)
    else:
        place, before = next(_places(error), ""), text
    if not place:
        return None
    return _with_details(at_place(_in_words(before, helper, arguments), place), text)


def is_own(path: str) -> bool:
    """Whether a file is somebody's own: not of this package, the libraries it stands on, or Python's."""
    if path.startswith("<"):
        return not path.startswith(("<frozen", "<attrs", "<__array", "<unknown"))
    full = os.path.abspath(path)
    for name in _LIBRARIES:
        home = getattr(sys.modules.get(name), "__file__", None)
        if home is not None and full.startswith(os.path.dirname(home) + os.sep):
            return False
    return not full.startswith(os.path.dirname(os.__file__) + os.sep) or "site-packages" in full


def odd_part(value: Any) -> str | None:
    """The type of the first part of a record that kernels, which own no memory, cannot take."""
    if isinstance(value, tuple):
        return next((odd for odd in map(odd_part, value) if odd is not None), None)
    if value is None or isinstance(value, bool | int | float | complex | np.generic):
        return None
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return None
    return f"{value.dtype} array" if isinstance(value, np.ndarray) else type(value).__name__


def odd_record(value: Any) -> str | None:
    """What a record holds that it must not, with the field and where the record is defined."""
    for name, part in zip(getattr(value, "_fields", ()), value if isinstance(value, tuple) else (), strict=False):
        inner = odd_record(part)
        if inner is not None:
            return inner
        odd = None if callable(part) else odd_part(part)
        if odd is not None:
            said = f"{type(value).__name__}.{name} is a {odd}; use numbers, arrays and NamedTuples of them"
            return at_place(said, place_of(type(value)))
    return None


def _with_details(said: str, text: str) -> str:
    return f"{said}\n{text}" if os.environ.get(DETAILS) else f"{said} ({DETAILS}=1 tells all)"


def place_named(path: str, line: int) -> str:
    """A line of a file, for a message."""
    return f"{os.path.basename(path)}:{line}"


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    return list(traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__), lookup_lines=False))


def _is_compilers(error: Exception) -> bool:
    """Whether it came through Numba: machine code itself has no frames of it."""
    home = getattr(sys.modules.get("numba"), "__file__", None)
    return home is not None and any(
        frame.filename.startswith(os.path.dirname(home) + os.sep) for frame in _frames(error)
    )


def _places(error: Exception) -> Iterator[str]:
    """Own lines that the compiler was at, the innermost first, from the variables of its frames."""
    from numba.core.bytecode import ByteCodeInst
    from numba.core.ir import Loc

    number = 0  # of an instruction, which knows its line and not its file
    for frame in reversed([frame for frame, _ in traceback.walk_tb(error.__traceback__)]):
        for value in list(frame.f_locals.values()):
            if isinstance(value, ByteCodeInst):
                number = number or value.lineno
            with contextlib.suppress(Exception):
                place = value if isinstance(value, Loc) else value.loc
                if isinstance(place, Loc) and is_own(place.filename):
                    yield place_named(place.filename, number or place.line)


def _assigned(path: str, line: int, text: str) -> int:
    """The line in which a variable that takes two types gets the second; Numba tells where the two ways meet."""
    found = re.search(r"Cannot unify .* for '([a-zA-Z_]\w*)", text)
    given = re.compile(rf"\b{found[1]}\s*=[^=]") if found else None
    lines = (k for k in range(line, 0, -1) if given is not None and given.search(linecache.getline(path, k)))
    return next(lines, line)


def _uses(name: str) -> Iterator[str]:
    """Where functions that kernels call use a global name that has no value."""
    for function in reversed(called_by_kernels):
        if name not in function.__globals__ and is_own(function.__code__.co_filename):
            for one in dis.get_instructions(function):
                if one.opname == "LOAD_GLOBAL" and one.argval == name and one.positions is not None:
                    yield place_named(function.__code__.co_filename, one.positions.lineno or 0)


def _in_words(text: str, helper: str, arguments: tuple[Any, ...]) -> str:
    called = re.findall(r"resolving callee type: Function\(<(?:built-in )?\w+ '?([\w.]+)", text)
    words = {"callee": (called or ["it"])[-1], "helper": helper, "near": ""}
    for pattern, said in _KINDS:
        found = list(re.finditer(pattern, text))
        if found:
            parts = [_short(part) for part in found[-1].groups()]
            if said.endswith("{near}"):
                words["near"] = did_you_mean(parts[0], chain(*(_fields(one, parts[1]) for one in arguments)))
            return said.format(*parts, **words)
    return _sentence(text)


def _sentence(text: str) -> str:
    """What Numba says of the innermost part, cut."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    begun = [k for k, line in enumerate(lines) if "Failed in nopython mode" in line and k + 1 < len(lines)]
    first = (lines or ["it does not compile"])[begun[-1] + 1 if begun else 0]
    operations = re.findall(r">>> (\w+)\((.*)\)", text)
    if first.startswith(("No implementation", "- Resolution")) and operations:
        name, given = operations[-1][0], _short(operations[-1][1])
        wrong = next((word for word in ("None", "str", "dict") if word in given), None)
        advice = f"; there is {wrong} where numbers are expected" if wrong else ""
        return f"compiled code has no {name}({given}){advice}"
    return _cut(re.split(r"(?<=\w)\.\s", first)[0])


def _fields(record: Any, name: str) -> Iterator[str]:
    """The fields of the records of this name in another."""
    if isinstance(record, tuple):
        yield from getattr(record, "_fields", ()) if type(record).__name__ == name else ()
        for part in record:
            yield from _fields(part, name)


def _short(types: str) -> str:
    """Types of Numba's without what is in them, in Python's words."""
    types = re.sub(r"Literal\[(\w+)\]\([^)]*\)", r"\1", types)
    while (less := re.sub(r"\([^()]*\)|\[[^\[\]]*\]|<iv=\w+>", "", types)) != types:
        types = less
    types = types.replace("readonly ", "").replace("reflected ", "")
    words = re.sub(r"\w+", lambda word: _TYPES.get(word[0], word[0]), types)
    return _cut(words)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."
