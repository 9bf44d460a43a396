"""The examples in docstrings run, and what checks docstrings finds what they lack."""

from __future__ import annotations

import ast
import doctest
from pathlib import Path

import numpy as np
import pytest

import potentia as pt
from potentia.games import library
from potentia.kernel import cache, recorders
from potentia.rules import chooses, considers, who

PACKAGE = Path(pt.__file__).parent
SAID = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def examples():
    """Every docstring with an example, as a test: the sources are read, so that nothing is left out."""
    parser = doctest.DocTestParser()
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        if ">>> " not in text:
            continue
        place = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.walk(ast.parse(text)):
            said = ast.get_docstring(node, clean=False) if isinstance(node, SAID) else None
            if said and ">>> " in said:
                name = f"{place}.{node.name}" if hasattr(node, "name") else place
                yield parser.get_doctest(said, {}, name, str(path), node.body[0].lineno - 1)


EXAMPLES = list(examples())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run(example, tmp_path, monkeypatch):
    """Each in an empty folder, with ``pt`` and ``np``; nothing is compiled, and what it registers is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cache, "_plain", True)
    for room, name in [(library, "_registry"), (library, "_checks"), (recorders, "_own")]:
        monkeypatch.setattr(room, name, getattr(room, name).copy())
    for room in (pt.rules.base, who, considers, chooses, pt.beliefs.base):
        monkeypatch.setattr(room._registry, "_known", room._registry.registered())
    example.globs = {"pt": pt, "np": np, "__name__": "__main__"}
    said = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    runner.run(example, out=said.append)
    assert runner.failures == 0, "".join(said)


def test_there_are_examples():
    assert len(EXAMPLES) > 5


class Rounds:
    """What is said in one line."""

    def complete(self, number, digits=0):
        """A number, rounded.

        Parameters
        ----------
        number : float
            What is rounded.
        digits : int
            The places that are kept.

        Returns
        -------
        float
            It.
        """
        return round(number, digits)

    def lacking(self, number):
        """a number, rounded

        Parameters
        ----------
        numbr
            What is rounded.
        """
        return round(number)

    def silent(self):
        return 1


class Quiet(Rounds):
    """One that says nothing of what it overrides."""

    def complete(self, number, digits=0):
        return number


@pytest.mark.parametrize(
    ("value", "member", "codes"),
    [
        (Rounds.complete, True, []),
        (Rounds.complete, False, ["EX01"]),
        (Rounds.lacking, True, ["SS02", "SS03", "PR01", "PR02", "PR04", "RT01"]),
        (Rounds.silent, True, ["GL08"]),
        (Rounds, False, ["EX01"]),
    ],
)
def test_what_is_missing_is_told(value, member, codes):
    docstrings = checker()
    told = docstrings.lack(docstrings.Public("here", "potentia.games", value, member))
    assert [text.rpartition("(")[2].rstrip(")") for text in told.told] == codes
    assert Path(docstrings.ROOT, told.path) == Path(__file__)
    assert str(told).startswith(f"tests/unit/test_docstrings.py:{told.line}: here: ")


def test_what_overrides_has_the_docstring_of_the_other(monkeypatch):
    docstrings = checker()
    monkeypatch.setattr(docstrings, "own", lambda value: True)
    monkeypatch.setattr(Rounds, "__module__", "potentia.here")
    monkeypatch.setattr(Quiet, "__module__", "potentia.here")
    assert {value.__qualname__ for value in docstrings.members(Quiet)} == {
        "Rounds.complete",
        "Rounds.lacking",
        "Rounds.silent",
    }


def checker():
    pytest.importorskip("numpydoc")  # among what `make lint` needs, not what the tests need
    from tests import docstrings

    return docstrings
