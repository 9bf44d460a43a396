"""A claim of the paper, what was measured, and the verdict that follows from it.

A verdict is computed from the measurements, never written down beforehand: with other seeds, other games or another
number of runs it may be another one.

A claim is declared where it is judged: ``@claim(...)``, or ``@experiment(...)`` in the case study, says what the paper
says, the function below it what became of that. The claims of a module are those that it declares, in the order in
which they stand there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import attrs
import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from potentia.errors import InvalidInput
from potentia.kernel.checks import Check, OneOf
from potentia.statistics.estimates import Estimate, share_of

KINDS = {"experiment": "In the case study", "theory": "In theory"}
SUPPORTED = "supported"
NOT_SUPPORTED = "not supported"  # contradicted by what was measured
DEPENDS = "depends on"  # the verdict goes on with what it depends on
UNDECIDED = "undecided"  # so many runs do not tell
VERDICTS = (SUPPORTED, NOT_SUPPORTED, DEPENDS, UNDECIDED)

Given = TypeVar("Given")


class _Verdict(Check):
    """One of the four."""

    wanted = f"one of {', '.join(repr(kind) for kind in VERDICTS if kind != DEPENDS)} or begin with {DEPENDS!r}"

    def holds(self, value: Any) -> bool:
        return value in VERDICTS or (isinstance(value, str) and value.startswith(DEPENDS))

    def refused(self) -> list[Any]:
        return ["perhaps", "supported by some", "", None]


IS_VERDICT = _Verdict()


@frozen
class Measurement:
    """One number of the evidence, with its interval where it is a mean over runs or a share of games."""

    label: str  # what it is, in a few words
    value: Estimate | float | int | str
    published: float | None = None  # the number printed for the same thing
    unit: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        out: dict[str, Any] = {"label": self.label, "unit": self.unit, "published": self.published}
        if isinstance(self.value, Estimate):
            found = self.value
            return out | {"value": found.mean, "low": found.low, "high": found.high, "count": found.count}
        return out | {"value": self.value}


Measured = Iterable[Measurement] | Mapping[str, Any]


def _measurements(given: Measured) -> tuple[Measurement, ...]:
    """Where nothing was published and nothing has a unit, values by their labels will do."""
    return tuple(Measurement(*entry) for entry in given.items()) if isinstance(given, Mapping) else tuple(given)


def _lines(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(given)


MISPRINT = "Misprint: "  # how the title of such a claim begins


@frozen
class _Statement:
    """What the paper says, and where."""

    invalid: ClassVar[type[InvalidInput]] = InvalidInput

    name: str  # short and unique, as in "faster"
    kind: str = field(validator=OneOf(*KINDS))
    title: str  # the claim in one sentence
    where: str  # in the paper


@frozen
class Claim(_Statement):
    """One claim of the paper and what became of it."""

    measured: tuple[Measurement, ...] = field(converter=_measurements)
    verdict: str = field(validator=IS_VERDICT)  # SUPPORTED, NOT_SUPPORTED, UNDECIDED, or DEPENDS and on what
    reason: str  # one sentence, with the numbers that decide
    evidence: tuple[str, ...] = field(converter=_lines, default=())  # of several comparisons, a line for each
    counterexample: str | None = None  # where a statement fails: the numbers that show it, in words
    details: dict[str, Any] = field(converter=dict, factory=dict)  # plain data for those who want to check

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        out = attrs.asdict(self, recurse=False)
        return out | {"evidence": list(self.evidence), "measured": [entry.to_dict() for entry in self.measured]}

    @property
    def misprint(self) -> bool:
        """Whether what fails is a slip of the pen and no result."""
        return self.title.startswith(MISPRINT)

    def to_json(self) -> str:
        """All of it, for :meth:`from_json`."""
        return json.dumps(attrs.asdict(self, recurse=False), default=_as_table)

    @classmethod
    def from_json(cls, text: str) -> Claim:
        """The same claim; what was a tuple or an array in its details is a list."""
        return cls(**json.loads(text, object_hook=_from_table))


_TABLES = {"an estimate": Estimate, "a measurement": Measurement}


def _as_table(value: Any) -> Any:
    """What JSON has no word for."""
    for word, kind in _TABLES.items():
        if isinstance(value, kind):
            return {word: [getattr(value, name) for name in kind.__annotations__]}
    if hasattr(value, "tolist"):  # NumPy's
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not plain")


def _from_table(table: dict[str, Any]) -> Any:
    word = next(iter(table), "")
    return _TABLES[word](*table[word]) if len(table) == 1 and word in _TABLES else table


class Judged(NamedTuple):
    """What became of a claim: the fields of :class:`Claim` that are not in the paper."""

    measured: Measured
    verdict: str
    reason: str
    evidence: Iterable[str] = ()
    counterexample: str | None = None
    details: Mapping[str, Any] = {}


def whether(holds: bool, yes: str, no: str) -> tuple[str, str]:
    """The verdict and the reason of a statement that is true or not."""
    return (SUPPORTED, yes) if holds else (NOT_SUPPORTED, no)


@frozen
class Declared(_Statement, Generic[Given]):
    """A claim to be judged: of a scale, if it is one of theory, else of a study that was played."""

    judge: Callable[[Given], Judged]

    def __call__(self, given: Given) -> Claim:
        """The claim with its verdict."""
        return Claim(self.name, self.kind, self.title, self.where, *self.judge(given))


Declare = Callable[[Callable[[Given], Judged]], Declared[Given]]


def claim(name: str, title: str, where: str, kind: str = "theory") -> Declare[Given]:
    """Declare a claim; the function below judges it."""
    return lambda judge: Declared(name, kind, title, where, judge)


def experiment(name: str, title: str, where: str) -> Declare[Given]:
    """Declare a claim about what was played."""
    return claim(name, title, where, "experiment")


def declared_in(*modules: str) -> list[Declared[Any]]:
    """The claims that these modules of this package declare, in order."""
    out = []
    for module in (import_module(f"{__package__}.{name}") for name in modules):
        found = [one for one in vars(module).values() if isinstance(one, Declared)]
        out += [one for one in found if one.judge.__module__ == module.__name__]
    return out


def share(answers: Sequence[bool] | NDArray[np.bool_]) -> Estimate:
    """Of how many the answer is yes."""
    return share_of(int(np.sum(answers)), len(answers))


def listed(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
