"""Every way that a step can go: a key under which draws branch instead of being drawn.

A kernel that runs in plain Python is given :class:`Branches` for its key. A draw is then an object without a value.
What draws through a distribution (:mod:`potentia.rules.drawing`, ``below``) asks it for an outcome; the step is played
again until all outcomes of all draws were had. Each comes as a term c·ε^r, ε = e^{-1/τ}. What compares the draw itself
with a number has no distribution that could be known, and is told so with its line.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from potentia.errors import NoLaw
from potentia.kernel.mistakes import is_own, place_named

Term = tuple[float, float]
_UNIT = 2.0**-53
_MOST_DRAWS = 64  # of a step that end in more than one way each


def _here() -> str:
    """The innermost line of somebody's own code that is being executed."""
    frames = traceback.extract_stack()
    return next((place_named(f.filename, f.lineno or 0) for f in reversed(frames) if is_own(f.filename)), "its step")


class Cold(float):
    """A temperature on its way to 0: 0 times a factor that is kept."""

    factor: float

    def __new__(cls, factor: float = 1.0) -> Cold:
        made = super().__new__(cls, 0.0)
        made.factor = factor
        return made

    def __mul__(self, other: Any) -> Any:
        return Cold(self.factor * other) if other > 0 else float(other) * 0.0

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return Cold(self.factor / other)


class Draw:
    """A uniform draw that has no value."""

    __slots__ = ("_branches", "_counter")

    def __init__(self, branches: Branches, counter: Any) -> None:
        self._branches, self._counter = branches, counter

    def nth(self, k: int) -> Any:
        """The place of the counter for one of many draws."""
        return (self._counter, k)

    def among(self, terms: Sequence[Term], tau: float = 0.0) -> int:
        """The number of an outcome, each having its term at this temperature; without one, orders are 0."""
        found = tuple(self._branches.scaled(c, r, tau) for c, r in terms)
        if not all(c >= 0.0 for c, _ in found) or not math.isclose(self._branches.total(found), 1.0, rel_tol=1e-9):
            shown = ", ".join(f"{c:.4g}" for c, _ in found[:4])
            raise NoLaw(f"probabilities at {_here()} must not be negative and sum to 1, got {shown}")
        return self._branches.outcome(self._counter, found)

    @property
    def tie(self) -> float:
        """What utilities may differ by and still be equal, as τ → 0."""
        return self._branches.tie

    def __rshift__(self, bits: int) -> Draw:  # as a uniform number is made of bits
        return self

    def __mul__(self, factor: Any) -> Any:
        return self if factor == _UNIT else _Scaled(self, factor)

    __rmul__ = __mul__

    def _refuse(self, *_: Any) -> NoReturn:
        raise NoLaw(
            f"a draw is compared with a number at {_here()}, so that this step has no law; draw through extend.chance, "
            "choose, logit, best, accept, mistake, rarely or below"
        )

    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __rsub__ = __truediv__ = __neg__ = _refuse
    __float__ = __int__ = __bool__ = __floordiv__ = __mod__ = __pow__ = __eq__ = __index__ = _refuse
    __hash__ = None  # type: ignore[assignment]


class _Scaled(Draw):
    """A draw times a number: an integer below it, if it is made one."""

    __slots__ = ("_factor",)

    def __init__(self, draw: Draw, factor: Any) -> None:
        super().__init__(draw._branches, draw._counter)
        self._factor = factor

    def __int__(self) -> int:  # type: ignore[override]
        count = int(self._factor)
        if count != self._factor or count < 1:
            self._refuse()
        return self.among([(1.0 / count, 0.0)] * count)

    __mul__ = __rmul__ = Draw._refuse


class Branches:
    """A key whose draws take every outcome in turn."""

    def __init__(self, tau: float | None, tie: float = 0.0) -> None:
        self.tau, self.tie = tau, tie  # of the chain: None where it has no temperature, 0 for the limit
        self._path: list[tuple[int, tuple[Term, ...]]] = []
        self._met: dict[Any, tuple[tuple[Term, ...], int]] = {}
        self._depth = 0

    def scaled(self, c: float, r: float, given: float) -> Term:
        """c·e^{-r/given} as a term of the chain's own ε; a temperature that is not the chain's does not go to 0."""
        if r == 0.0:
            return c, 0.0
        if isinstance(given, Cold):
            return c, r / given.factor
        return (c, r * self.tau / given) if self.tau else (c * math.exp(-r / given), 0.0)

    def total(self, terms: Sequence[Term]) -> float:
        """What the terms sum to."""
        if self.tau:
            return math.fsum(c * math.exp(-r / self.tau) for c, r in terms)
        return math.fsum(c for c, r in terms if r == 0.0)

    def drawn(self, counter: Any) -> Draw:
        """What is drawn at this place of the counter."""
        return Draw(self, counter)

    def outcome(self, counter: Any, terms: tuple[Term, ...]) -> int:
        """The outcome of this draw on the present path; the same if it is asked for again."""
        if counter in self._met:
            before, index = self._met[counter]
            if before != terms:
                raise NoLaw(f"one draw is used for two different choices at {_here()}; use another purpose")
            return index
        possible = [k for k, (c, _) in enumerate(terms) if c > 0.0]
        if len(possible) == 1:
            index = possible[0]
        else:
            if self._depth == len(self._path):
                if self._depth == _MOST_DRAWS:
                    raise NoLaw(f"a step draws more than {_MOST_DRAWS} times: too many ways for it to go")
                self._path.append((possible[0], terms))
            index, _ = self._path[self._depth]
            self._depth += 1
        self._met[counter] = terms, index
        return index

    def ways(self, play: Callable[[], Any]) -> Iterator[tuple[Any, float, float]]:
        """What ``play`` gives on each path, with its term: c and r."""
        self._path = []
        while True:
            self._met, self._depth = {}, 0
            result = play()
            c, r = 1.0, 0.0
            for index, terms in self._path[: self._depth]:
                c, r = c * terms[index][0], r + terms[index][1]
            yield result, c, r
            del self._path[self._depth :]
            while self._path:
                index, terms = self._path.pop()
                later = [k for k in range(index + 1, len(terms)) if terms[k][0] > 0.0]
                if later:
                    self._path.append((later[0], terms))
                    break
            if not self._path:
                return
