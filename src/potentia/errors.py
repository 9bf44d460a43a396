"""Every exception and warning of the package, in one tree.

::

    PotentiaError
    ├── InvalidInput (ValueError)
    │   ├── InvalidGame         a game's data make no sense
    │   ├── InvalidRule         a rule's parameters make no sense
    │   │   └── NoLaw           the exact law of a rule, or its limit, cannot be known
    │   ├── InvalidBelief       a belief's parameters, or the data of a mixture fit, make no sense
    │   ├── InvalidRun          steps, seed, start, recorders or files of a run
    │   │   └── NotRecorded (AttributeError)    a trace is asked for what its run did not record
    │   └── InvalidSpecification    a study's description makes no sense
    ├── InvalidCode (TypeError)    somebody's own rule, game or belief does not compile, or fails; says its line
    ├── StudyError              a study's folder cannot be used: foreign, damaged, newer, in use, incomplete
    ├── SweepFailed             a sweep cannot go on: a run failed, a disk is full, a scheduler does not answer
    ├── DrawingFailed           a picture cannot be drawn; results are printed and saved before
    ├── NotPotentialGame        a claimed potential is none; carries the evidence
    ├── NotIrreducible          a chain falls apart into classes; carries them
    ├── NotConverged            a solver missed its own residual
    ├── TooLarge (MemoryError)  would need more memory than the machine has
    └── CheckFailed (AssertionError)   a third party's game or rule breaks the protocol

    UserWarning
    ├── AssumptionBroken        a rule's parameters break what the paper's results ask for
    ├── CacheNotKept            the kernel cache cannot be written to, so each program compiles again
    ├── CacheNotTrusted         others can write to the kernel cache, so it is not used
    ├── CompiledOtherwise       machine code of a utility gives other numbers than Python
    ├── InteractionsUnknown     a guard serialises a game that does not say who interacts
    ├── NotCarried              a file or another library's game does not hold all of a game
    ├── NotCompiled             a utility runs in Python, with the reason
    └── RunInterrupted          Ctrl-C: what was computed is kept
"""

from __future__ import annotations

import difflib
import pickle
import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any, NamedTuple, Self, TypeVar

T = TypeVar("T")


def did_you_mean(given: Any, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest known one, if any is near."""
    near = difflib.get_close_matches(str(given), list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


class Remedy(NamedTuple):
    """What to do about an error. Front-ends know it by its name, and say it in words of their own.

    Parameters
    ----------
    name
        What it is: an argument, ``"many"``, or what is to be done, ``"repair"``.
    words
        How it is said in Python: ``"pass many=True if you mean it"``.
    path
        The file or folder to do it with, if any.
    """

    name: str
    words: str
    path: str = ""


class PotentiaError(Exception):
    """The root: catch this to catch everything the package raises on purpose.

    ``message`` says what is wrong, ``remedies`` what to do about it; the text of the error says both.
    """

    remedies: tuple[Remedy, ...] = ()

    @property
    def message(self) -> str:
        """What is wrong."""
        return super().__str__()

    def advising(self, *remedies: Remedy) -> Self:
        """The same error, with something to do about it."""
        self.remedies += remedies
        return self

    def __str__(self) -> str:
        return "; ".join([self.message, *(remedy.words for remedy in self.remedies)])


class InvalidInput(PotentiaError, ValueError):
    """An argument is wrong: what was expected of it, and what arrived.

    Parameters
    ----------
    problem
        The sentence, without the name of the argument if there is one: ``"must be finite and > 0, got -1.0"``.
    parameter
        The argument, by its name in Python. Front-ends say the problem of it in their own words: ``--tau must be ...``
        on the command line, ``rule.tau must be ...`` in a specification.
    value
        What arrived.
    """

    def __init__(self, problem: str, parameter: str | None = None, value: Any = None) -> None:
        super().__init__(f"{parameter} {problem}" if parameter else problem)
        self.problem, self.parameter, self.value = problem, parameter, value

    def __reduce__(self) -> tuple[Any, ...]:
        kept = dict(self.__dict__)
        try:
            pickle.dumps(self.value)
        except Exception:  # it may be anything, and the error must reach another process all the same
            kept["value"] = repr(self.value)
        return type(self), self.args, kept

    def said_of(self, name: str) -> str:
        """The same problem, of an argument that goes by another name."""
        return f"{name} {self.problem}" if self.parameter else f"{name}: {self.problem}"


class InvalidGame(InvalidInput):
    """A game's data make no sense."""


class InvalidRule(InvalidInput):
    """A rule's parameters make no sense, alone or for this game."""


class NoLaw(InvalidRule):
    """The exact law of a rule, or its limit as τ → 0, cannot be known."""


class InvalidBelief(InvalidInput):
    """A belief's parameters make no sense, alone or for this game, or no mixture can be fitted to the data."""


class InvalidRun(InvalidInput):
    """Steps, seed, start, recorders or the saved state of a run make no sense."""


class NotRecorded(InvalidRun, AttributeError):
    """A trace is asked for what its run did not record."""


class InvalidSpecification(InvalidInput):
    """A study's description makes no sense; the message names the key."""


class InvalidCode(PotentiaError, TypeError):
    """A rule, game, belief or recorder of somebody's own does not compile, or fails; the message ends with its line.

    What Numba says in full is in the message where ``POTENTIA_DETAILS=1`` is in the environment.
    """


class StudyError(PotentiaError):
    """A study's folder cannot be used: foreign, damaged, newer than this version, in use or incomplete."""


class SweepFailed(PotentiaError):
    """A sweep cannot go on. What was saved is kept, and the message says how to go on."""


class DrawingFailed(PotentiaError):
    """The command line could not draw a picture; what it would show was printed and saved before."""


class NotPotentialGame(PotentiaError):
    """A potential was asked for or claimed where there is none; ``evidence`` holds the numbers."""

    def __init__(self, message: str, evidence: Any = None) -> None:
        super().__init__(message)
        self.evidence = evidence


class NotIrreducible(PotentiaError):
    """A long-run law was asked of a chain with several closed classes; ``classes`` holds their states."""

    def __init__(self, message: str, classes: Any = None) -> None:
        super().__init__(message)
        self.classes = classes


class NotConverged(PotentiaError):
    """A solver checked its result and it was not good enough; ``residual`` says by how much."""

    def __init__(self, message: str, residual: float = float("nan")) -> None:
        super().__init__(message)
        self.residual = residual


class TooLarge(PotentiaError, MemoryError):
    """The work would need more memory than the machine has."""


class CheckFailed(PotentiaError, AssertionError):
    """A game or rule handed to ``potentia.testing`` breaks the protocol."""


class AssumptionBroken(UserWarning):
    """A rule plays, but its parameters break an assumption of the paper's results about it."""


class CacheNotKept(UserWarning):
    """The kernel cache cannot be written to; what is compiled is compiled again by the next program."""


class CacheNotTrusted(UserWarning):
    """Others can write to the kernel cache, or could; what is in it is not used, for it would be run."""


class CompiledOtherwise(UserWarning):
    """Machine code of a utility, which was asked for, gives other numbers than Python: an overflow, for example."""


class InteractionsUnknown(UserWarning):
    """A guard lets one player revise at a time, because a game of the user's does not say who interacts."""


class NotCarried(UserWarning):
    """A file, or a game of another library, does not hold all of a game: no constrained moves, for example."""


class NotCompiled(UserWarning):
    """A utility that Numba could not compile runs in Python, slowly."""


class RunInterrupted(UserWarning):
    """A run was stopped with Ctrl-C; what was computed until then is returned."""


def look_up(registry: dict[str, T], name: Any, what: str, error: type[InvalidInput]) -> T:
    """What is registered under a name, or an error that lists the names and suggests the nearest."""
    if not isinstance(name, str) or name not in registry:
        known = ", ".join(sorted(registry))
        raise error(f"must be one of {known}, got {name!r}{did_you_mean(name, registry)}", what, name)
    return registry[name]


def frames_to_caller() -> int:
    """The stacklevel that makes a warning point at the user's line, not at this package's or its compiler's."""
    level = 2
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(("potentia.", "functools", "numba.")):
        frame = frame.f_back
        level += 1
    return level - 1
