"""The fingerprint of code: what changes it, what does not, and what has none."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
from itertools import count
from types import ModuleType

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidInput
from potentia.kernel.code import fingerprint, own_parts
from tests.regression.test_identities import _beliefs, _games, _rules
from tests.surroundings import ROOT

SOURCE = '''
import enum
import functools
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import attrs
import numba
import numpy as np
from potentia.extend import Rule, generic, portable, step

import beside

LEAST = 0.25
WORTHS = np.array([1.0, 2.0])
KNOWN = {"e", "f", "g", "h", "i", "j", "k", "l", "a", "b", "c", "d"}
FEW = functools.partial(math.pow, 2.0)


class Mood(enum.Enum):
    GOOD = 1


def halved(value):
    return value / 2


class Base:
    def least(self):
        return halved(LEAST)


@dataclass(frozen=True)
class Settings:
    share: float = 0.5
    names: list = field(default_factory=lambda: [7])


SETTINGS = Settings()


@numba.njit
def quick(value):
    return value + 1


@functools.lru_cache
def kept(value):
    return value - 1


@generic
def own(record, value):
    return 0


class Data(NamedTuple):
    noise: float

    def twice(self):
        return 2 * self.noise


@own.register(Data)
def _own(record, value):
    return value * 3


@portable
def better(gain, least=0.5):
    """Words."""
    try:
        return gain > least * WORTHS[0]
    except ValueError:
        return False


@attrs.frozen
class Mine(Rule, Base):
    name = "mine"
    summary = "words"
    noise: float = attrs.field(default=0.01, converter=lambda value: float(value))

    def data(self, game, horizon):
        import colorsys  # which nobody has loaded before

        import beside.late

        try:
            import nowhere_at_all
        except ImportError:
            nowhere_at_all = colorsys

        def inner(value):
            return value * 5 + quick(value) + kept(value) + SETTINGS.share + FEW(2) + beside.late.later(value)

        return Data(inner(self.noise))

    @property
    def mood(self):
        return Mood.GOOD, KNOWN


@step.register(Data)
def _step(rule, memory, game, state, journal, key, n):
    if better(beside.same(n), own(rule, n)):
        again(n)


def again(n):
    return again(n - 1)  # it calls itself
'''
BESIDE = "TWO = 2\n\n\ndef same(value):\n    return value * TWO\n\n\ndef unused(value):\n    return 1\n"
LATE = "def later(value):\n    return value + 4\n"
_numbers = count()


def of(source=SOURCE, beside=BESIDE, late=LATE, part="Mine"):
    """The fingerprint of the class in a source that is a module of its own, in a place of its own."""
    number = next(_numbers)
    modules = {}
    for name, text in (("beside", beside), ("beside.late", late), (f"script_{number}", source)):
        modules[name] = module = sys.modules[name] = ModuleType(name)
        if name == "beside.late":
            modules["beside"].late = module
        exec(compile(text, f"/place{number}/{name}.py", "exec"), vars(module))
    try:
        return fingerprint([vars(module)[part]])
    finally:
        for name in modules:
            del sys.modules[name]


WHOLE = of()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("gain > least", "gain >= least"),  # in a helper of the kernel
        ("/ 2\n", "/ 3\n"),  # in a helper of a method of a base
        ("LEAST = 0.25", "LEAST = 0.26"),
        ("[1.0, 2.0]", "[1.0, 2.5]"),
        ('"c", "d"}', '"c", "e"}'),
        ("math.pow, 2.0", "math.pow, 3.0"),
        ("math.pow", "math.fmod"),  # of a library, by its name
        ("GOOD = 1", "GOOD = 2"),
        ("share: float = 0.5", "share: float = 0.6"),
        ("lambda: [7]", "lambda: [8]"),
        ("float(value)", "abs(value)"),  # a converter
        ("value + 1", "value + 2"),  # compiled by Numba
        ("@numba.njit", "@numba.njit(fastmath=True)"),
        ("value - 1", "value - 2"),  # behind a cache
        ("value * 3", "value * 4"),  # registered in a generic function of one's own
        ("2 * self.noise", "3 * self.noise"),  # a method of a record
        ("least=0.5", "least=0.4"),
        ("value * 5", "value * 6"),  # a function inside a method
        ("except ValueError", "except TypeError"),
        ("noise: float\n", "noise: float\n    more: float = 0.0\n"),
        ("return again(n - 1)", "return again(n - 2)"),
        ("        return gain > least * WORTHS[0]\n", "        gain = gain > least * WORTHS[0]\n        return gain\n"),
    ],
)
def test_an_edit_is_seen(old, new):
    assert old in SOURCE
    assert of(SOURCE.replace(old, new)) != WHOLE


def test_an_edit_in_another_module_of_ones_own_is_seen():
    assert of(beside=BESIDE.replace("value * TWO", "value + TWO")) != WHOLE
    assert of(beside=BESIDE.replace("TWO = 2", "TWO = 3")) != WHOLE
    assert of(late=LATE.replace("+ 4", "+ 5")) != WHOLE  # imported only when it is called
    assert of(beside=BESIDE.replace("return 1", "return 2")) == WHOLE  # which nothing uses


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),  # another file, in another place
        ("\n\n\n", "\n\n\n\n# a comment\n"),
        ('    """Words."""\n', ""),
        ('"words"', '"other words"'),
        ("    @property\n    def mood", "    def _repr_html_(self):\n        return 1\n\n    @property\n    def mood"),
        ("return gain > least * WORTHS[0]", "return (\n            gain\n            > least * WORTHS[0]\n        )"),
        ("    try:\n        return gain", "    try:\n        pass\n        return gain"),
        ('"a", "b"', '"b", "a"'),
        ("LEAST = 0.25", "OTHER = 1\nLEAST = 0.25"),
        ("value / 2\n", "value / 2\n\n\ndef unused():\n    return better(1)\n"),
    ],
)
def test_words_lines_and_places_are_not(old, new):
    assert old in SOURCE
    assert of(SOURCE.replace(old, new)) == WHOLE


TWICE = """
import pathlib, sys
from potentia.kernel.code import fingerprint

for _ in range(2):
    import script
    print(fingerprint([script.Mine]))
    for name in ("script", "beside", "beside.late"):
        del sys.modules[name]
print(len(list(pathlib.Path().rglob("*.pyc"))))
"""


def test_another_process_tells_the_same(tmp_path):
    """With other hashes of texts, other addresses, and from a file of compiled code the second time."""
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "__init__.py").write_text(BESIDE)
    (tmp_path / "beside" / "late.py").write_text(LATE)
    (tmp_path / "script.py").write_text(SOURCE)
    (tmp_path / "twice.py").write_text(TWICE)
    around = os.environ | {"PYTHONHASHSEED": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "twice.py"], cwd=tmp_path, env=around, capture_output=True, check=False)
    assert done.stdout.decode().split() == [WHOLE, WHOLE, "3"], done.stderr


OPEN = threading.Lock()
DRAWS = np.random.default_rng(0)
ITERATOR = (k for k in range(3))
VECTORISED = np.frompyfunc(lambda value: value, 1, 1)


def _locks(profile, data):
    return OPEN.locked()


def _draws(profile, data):
    return DRAWS.random()


def _iterates(profile, data):
    return _next()


def _next():
    return next(ITERATOR)


def _vectorised(profile, data):
    return VECTORISED(profile)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (_locks, r"OPEN, used by _locks, is a _thread\.lock, whose content cannot be told"),
        (_draws, r"DRAWS, used by _draws, is a numpy\.random\._generator\.Generator, whose next draws nobody knows"),
        (_iterates, r"ITERATOR, used by _iterates → _next, is a generator"),
        (_vectorised, r"VECTORISED, used by _vectorised, is a numpy\.ufunc"),
    ],
)
def test_what_has_no_content_is_refused(function, said):
    with pytest.raises(InvalidInput, match=said):
        fingerprint([function])


def _sums(profile, data):
    return math.fsum(profile) + SUM(profile)


SUM = math.fsum


def test_a_function_of_a_compiled_module_of_ones_own_is_refused(monkeypatch):
    """It has no instructions that could be read; here a library's, as if that were one's own."""
    assert fingerprint([_sums])
    monkeypatch.setattr(SUM, "__module__", "mine")
    with pytest.raises(InvalidInput, match="SUM, used by _sums, is a builtin_function_or_method, which was compiled"):
        fingerprint([_sums])


def test_what_comes_with_the_package_has_none():
    things = [*_games().values(), *_rules().values(), *_beliefs().values()]
    assert len(things) > 40
    assert {thing.code_fingerprint() for thing in things} == {None}


def _utility(player, profile, data):
    return float(profile[player])


def test_functions_in_what_comes_with_the_package_are_found():
    game = pt.games.custom(_utility, [2, 2])
    assert own_parts(game, game.plain_data) == [_utility]
    assert game.code_fingerprint() == fingerprint([_utility])
    assert pt.games.custom(_utility, [3, 3], data=5.0).code_fingerprint() == game.code_fingerprint()  # code, not data


def test_nobody_takes_the_place_of_a_kernel_of_the_package():
    """A function of the same name in another module: what comes with the package would play other code."""
    scope = {"__name__": "mine"}
    exec("def _utility(game, state, player, action):\n    return 0.0", scope)
    with pytest.raises(TypeError, match="utility for CustomData is registered already"):
        pt.extend.utility.register(type(pt.games.custom(_utility, [2, 2]).plain_data))(scope["_utility"])
