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
from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any, NamedTuple, Self, TypeVar

T = TypeVar("T")


def did_you_mean(given: Any, known: Iterable[str], also: Mapping[str, str] | None = None) -> str:
    """The end of a message about an unknown name: the nearest known one, if any is near.

    ``also`` has other words that people may use, and the name that each means.
    """
    also, given = also or {}, str(given)
    words = [*known, *also]
    near = difflib.get_close_matches(given, words, 1) or difflib.get_close_matches(given.lower(), words, 1)
    return f"; did you mean {also.get(near[0], near[0])!r}?" if near else ""


class Remedy(NamedTuple):
    """What to do about an error. Front-ends know it by its name, and say it in words of their own.

    Parameters
    ----------
    name : str
        What it is: an argument, ``"many"``, or what is to be done, ``"repair"``.
    words : str
        How it is said in Python: ``"pass many=True if you mean it"``.
    path : str
        The file or folder to do it with, if any.

    Examples
    --------
    >>> remedy = pt.errors.Remedy("many", "pass many=True if you mean it")
    >>> str(pt.errors.InvalidSpecification("9,000,000 runs are asked for").advising(remedy))
    '9,000,000 runs are asked for; pass many=True if you mean it'
    """

    name: str
    words: str
    path: str = ""


class PotentiaError(Exception):
    """The root: catch this to catch everything the package raises on purpose.

    ``message`` says what is wrong, ``remedies`` what to do about it; the text of the error says both.

    Examples
    --------
    >>> try:
    ...     pt.rule("lll", tau=-1)
    ... except pt.errors.PotentiaError as error:
    ...     print(error.message)
    tau must be finite and > 0, got -1.0; for best response use rule("best-response")
    """

    remedies: tuple[Remedy, ...] = ()

    @property
    def message(self) -> str:
        """What is wrong."""
        return super().__str__()

    def advising(self, *remedies: Remedy) -> Self:
        """The same error, with something to do about it.

        Parameters
        ----------
        *remedies : Remedy
            What may be done.

        Returns
        -------
        PotentiaError
            The same.
        """
        self.remedies += remedies
        return self

    def __str__(self) -> str:
        return "; ".join([self.message, *(remedy.words for remedy in self.remedies)])


class InvalidInput(PotentiaError, ValueError):
    r"""An argument is wrong: what was expected of it, and what arrived.

    Parameters
    ----------
    problem : str
        The sentence, without the name of the argument if there is one: ``"must be finite and > 0, got -1.0"``.
    parameter : str, optional
        The argument, by its name in Python. Front-ends say the problem of it in their own words: ``--tau must be ...``
        on the command line, ``rule.tau must be ...`` in a specification.
    value : Any
        What arrived.

    Examples
    --------
    >>> try:
    ...     pt.rule("lll", tau=-1)
    ... except pt.errors.InvalidInput as error:
    ...     print(error.parameter, error.value, error.said_of("--tau"), sep="\n")
    tau
    -1.0
    --tau must be finite and > 0, got -1.0; for best response use rule("best-response")
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
        """The same problem, of an argument that goes by another name.

        Parameters
        ----------
        name : str
            The other name.

        Returns
        -------
        str
            The sentence.
        """
        return f"{name} {self.problem}" if self.parameter else f"{name}: {self.problem}"


class InvalidGame(InvalidInput):
    """A game's data make no sense.

    Examples
    --------
    >>> pt.games.Separable([[0.0, float("inf")]])
    Traceback (most recent call last):
    potentia.errors.InvalidGame: ...
    """


class InvalidRule(InvalidInput):
    """A rule's parameters make no sense, alone or for this game.

    Examples
    --------
    >>> pt.rule("blll", tau=0.1, revision=0.3)
    Traceback (most recent call last):
    potentia.errors.InvalidRule: blll has no parameter 'revision'...
    """


class NoLaw(InvalidRule):
    """The exact law of a rule, or its limit as τ → 0, cannot be known.

    Examples
    --------
    >>> pt.analysis.chain(pt.game("stag-hunt"), pt.rule("ql", tau=0.1))
    Traceback (most recent call last):
    potentia.errors.NoLaw: ...
    """


class InvalidBelief(InvalidInput):
    """A belief's parameters make no sense, alone or for this game, or no mixture can be fitted to the data.

    Examples
    --------
    >>> pt.belief("constant", value="high")
    Traceback (most recent call last):
    potentia.errors.InvalidBelief: value must be ...
    """


class InvalidRun(InvalidInput):
    """Steps, seed, start, recorders or the saved state of a run make no sense.

    Examples
    --------
    >>> pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.1), steps=-1)
    Traceback (most recent call last):
    potentia.errors.InvalidRun: steps must be an integer of at least 0, got -1
    """


class NotRecorded(InvalidRun, AttributeError):
    """A trace is asked for what its run did not record.

    Examples
    --------
    >>> pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.1), 5).welfare
    Traceback (most recent call last):
    potentia.errors.NotRecorded: welfare was not recorded; pass record=("welfare", ...)
    """


class InvalidSpecification(InvalidInput):
    """A study's description makes no sense; the message names the key.

    Examples
    --------
    >>> pt.studies.specification_from({"game": "ring"})
    Traceback (most recent call last):
    potentia.errors.InvalidSpecification: ...
    """


class InvalidCode(PotentiaError, TypeError):
    """A rule, game, belief or recorder of somebody's own does not compile, or fails; the message ends with its line.

    What Numba says in full is in the message where ``POTENTIA_DETAILS=1`` is in the environment.

    Examples
    --------
    >>> @pt.extend.utility.register(tuple)
    ... def _(game, player):
    ...     return 0.0
    Traceback (most recent call last):
    potentia.errors.InvalidCode: utility for tuple takes (game, state, player, action), got (game, player)...
    """


class StudyError(PotentiaError):
    """A study's folder cannot be used: foreign, damaged, newer than this version, in use or incomplete.

    Examples
    --------
    >>> pt.open_study("nothing.study")
    Traceback (most recent call last):
    potentia.errors.StudyError: ...
    """


class SweepFailed(PotentiaError):
    """A sweep cannot go on. What was saved is kept, and the message says how to go on.

    Examples
    --------
    >>> try:
    ...     raise pt.errors.SweepFailed("the disk is full")
    ... except pt.errors.PotentiaError as error:
    ...     print(error)
    the disk is full
    """


class DrawingFailed(PotentiaError):
    """The command line could not draw a picture; what it would show was printed and saved before.

    Examples
    --------
    >>> try:
    ...     raise pt.errors.DrawingFailed("matplotlib has no font")
    ... except pt.errors.PotentiaError as error:
    ...     print(error)
    matplotlib has no font
    """


class NotPotentialGame(PotentiaError):
    """A potential was asked for or claimed where there is none; ``evidence`` holds the numbers.

    Parameters
    ----------
    message : str
        What is wrong.
    evidence : Any
        The numbers: four profiles around which utilities do not add up to 0, for example.

    Examples
    --------
    >>> try:
    ...     pt.analysis.potential(pt.game("matching-pennies"))
    ... except pt.errors.NotPotentialGame as error:
    ...     print(type(error.evidence).__name__)
    Cycle
    """

    def __init__(self, message: str, evidence: Any = None) -> None:
        super().__init__(message)
        self.evidence = evidence


class NotIrreducible(PotentiaError):
    """A long-run law was asked of a chain with several closed classes; ``classes`` holds their states.

    Parameters
    ----------
    message : str
        What is wrong.
    classes : Any
        The states of each closed class.

    Examples
    --------
    >>> try:
    ...     pt.analysis.chain(pt.game("stag-hunt"), pt.rule("best-response")).stationary()
    ... except pt.errors.NotIrreducible as error:
    ...     print([states.tolist() for states in error.classes])
    [[0], [3]]
    """

    def __init__(self, message: str, classes: Any = None) -> None:
        super().__init__(message)
        self.classes = classes


class NotConverged(PotentiaError):
    """A solver checked its result and it was not good enough; ``residual`` says by how much.

    Parameters
    ----------
    message : str
        What is wrong.
    residual : float
        By how much.

    Examples
    --------
    >>> pt.errors.NotConverged("the stationary law is not good enough", 1e-3).residual
    0.001
    """

    def __init__(self, message: str, residual: float = float("nan")) -> None:
        super().__init__(message)
        self.residual = residual


class TooLarge(PotentiaError, MemoryError):
    """The work would need more memory than the machine has.

    Examples
    --------
    >>> pt.analysis.chain(pt.game("ring", players=60), pt.rule("lll", tau=0.1))
    Traceback (most recent call last):
    potentia.errors.TooLarge: ...
    """


class CheckFailed(PotentiaError, AssertionError):
    """A game or rule handed to ``potentia.testing`` breaks the protocol.

    Examples
    --------
    >>> def utility(player, profile, data):
    ...     return float(profile[player])
    >>> game = pt.games.custom(utility, [2, 2], potential=lambda profile, data: float(profile[0]))
    >>> pt.testing.check_game(game)
    Traceback (most recent call last):
    potentia.errors.CheckFailed: ...
    """


class AssumptionBroken(UserWarning):
    """A rule plays, but its parameters break an assumption of the paper's results about it.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     rule = pt.rule("soql", mu=0.3)
    >>> print(caught[0].message)
    the paper's results on SOQL ask for vartheta < mu < 1, got vartheta 0.5 and mu 0.3
    """


class CacheNotKept(UserWarning):
    """The kernel cache cannot be written to; what is compiled is compiled again by the next program.

    Examples
    --------
    To hear nothing of it:

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", pt.errors.CacheNotKept)
    ...     trace = pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.1), 10)
    """


class CacheNotTrusted(UserWarning):
    """Others can write to the kernel cache, or could; what is in it is not used, for it would be run.

    Examples
    --------
    To be stopped by it:

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", pt.errors.CacheNotTrusted)
    ...     trace = pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.1), 10)
    """


class CompiledOtherwise(UserWarning):
    """Machine code of a utility, which was asked for, gives other numbers than Python: an overflow, for example.

    Examples
    --------
    To be stopped by it:

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", pt.errors.CompiledOtherwise)
    ...     trace = pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.1), 10)
    """


class InteractionsUnknown(UserWarning):
    """A guard lets one player revise at a time, because a game of the user's does not say who interacts.

    Examples
    --------
    >>> import warnings
    >>> game = pt.games.custom(lambda player, profile, data: float(profile.sum()), [2, 2, 2])
    >>> rule = pt.rule("p-sblll", tau=0.1, revision=0.5, guard=True)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     trace = pt.run(game, rule, 5, compiled=False)
    >>> [warning.category.__name__ for warning in caught]
    ['InteractionsUnknown']
    """


class NotCarried(UserWarning):
    """A file, or a game of another library, does not hold all of a game: no constrained moves, for example.

    Examples
    --------
    >>> import warnings
    >>> game = pt.games.Separable([[0.0, 1.0, 2.0]], moves=pt.games.path_moves(3))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     path = pt.games.write_game(game.to_normal_form(), "line.nfg")
    >>> [warning.category.__name__ for warning in caught]
    ['NotCarried']
    """


class NotCompiled(UserWarning):
    """A utility that Numba could not compile runs in Python, slowly.

    Examples
    --------
    To be stopped by it:

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", pt.errors.NotCompiled)
    ...     trace = pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.1), 10)
    """


class RunInterrupted(UserWarning):
    """A run was stopped with Ctrl-C; what was computed until then is returned.

    Examples
    --------
    To hear nothing of it:

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", pt.errors.RunInterrupted)
    ...     trace = pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.1), 10)
    """


def look_up(
    registry: dict[str, T], name: Any, what: str, error: type[InvalidInput], also: Mapping[str, str] | None = None
) -> T:
    """What is registered under a name, or an error that lists the names and suggests the nearest."""
    if not isinstance(name, str) or name not in registry:
        known = ", ".join(sorted(registry))
        raise error(f"must be one of {known}, got {name!r}{did_you_mean(name, registry, also)}", what, name)
    return registry[name]


def frames_to_caller() -> int:
    """The stacklevel that makes a warning point at the user's line, not at this package's or its compiler's."""
    level = 2
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(("potentia.", "functools", "numba.")):
        frame = frame.f_back
        level += 1
    return level - 1
