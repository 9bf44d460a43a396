"""The Markov chain of a rule on a game, solved instead of sampled.

States are the profiles in C order. The transition probabilities come from the choice functions that the
engine plays (see :mod:`potentia.analysis.chains.transitions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from potentia.analysis.chains import closed_forms, stationary, times
from potentia.analysis.chains.laws import temperature, terms
from potentia.analysis.chains.stationary import Stationary
from potentia.analysis.chains.transitions import Terms
from potentia.analysis.tables import payoff_table, place_of, profiles, words
from potentia.errors import InvalidInput, NotConverged
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints, any_array
from potentia.kernel.checks import OneOf, Real
from potentia.kernel.registry import replaced
from potentia.rules import Rule, rule_from

METHODS = ("auto", "closed-form", "gth", "log-gth", "gmres")


def chain(game: Game, rule: Rule | dict[str, Any]) -> Chain:
    """The exact chain of a rule on a game: ``chain(game, rule("blll", tau=0.1)).stationary()``."""
    chosen = rule_from(rule)
    tau = temperature(chosen)
    payoffs = payoff_table(game)
    entries = terms(game, chosen, tau, payoffs)
    result = Chain.__new__(Chain)
    result._set(None, entries, tau, game, chosen)
    return result


def laws_over_tau(game: Game, rule: Rule | dict[str, Any], taus: Sequence[float]) -> Floats:
    """The stationary law at each temperature, (T, S)."""
    chosen = rule_from(rule)
    if not hasattr(chosen, "tau"):
        raise InvalidInput(f"{chosen.name} has no temperature")
    if not isinstance(taus, Sequence | np.ndarray):
        raise InvalidInput(f"must be a sequence of temperatures, got {taus!r}", "taus", taus)
    return np.array([chain(game, replaced(chosen, tau=tau)).stationary() for tau in taus])


class Chain:
    """A finite Markov chain. ``Chain(states, matrix)`` wraps a transition matrix of your own."""

    def __init__(self, states: ArrayLike, matrix: Any) -> None:
        rows = np.array(any_array(states))
        try:
            given = sparse.csr_array(matrix, dtype=np.float64, copy=True)
        except (TypeError, ValueError):
            wanted = "must be a square matrix of probabilities"
            raise InvalidInput(f"{wanted}, got {matrix!r:.60}", "matrix", matrix) from None
        if rows.ndim != 2 or given.shape != (rows.shape[0], rows.shape[0]) or not rows.size:
            wanted = "must have shape (S, N) and matrix (S, S)"
            raise InvalidInput(f"{wanted}, got {rows.shape} and {given.shape}", "states", states)
        given.sum_duplicates()
        given.eliminate_zeros()
        if not (np.isfinite(given.data).all() and (given.data > 0).all()):
            raise InvalidInput("must hold probabilities: finite and not negative", "matrix", matrix)
        off = np.abs(given.sum(axis=1) - 1.0)
        if off.max() > 1e-9:
            raise InvalidInput(f"of matrix must sum to 1, row {int(off.argmax())} is off by {off.max():.2g}", "rows")
        entries = Terms(given.indptr.astype(np.int64), given.indices, given.data, np.zeros(given.nnz))
        self._set(rows, entries, 1.0, None, None)

    def _set(self, states: Any, entries: Terms, tau: float, game: Game | None, rule: Rule | None) -> None:
        self._states, self._terms, self.tau, self.game, self.rule = states, entries, tau, game, rule
        self._solved: dict[tuple[str, float], Stationary] = {}

    def __repr__(self) -> str:
        what = "" if self.rule is None else f" of {self.rule.name}"
        return f"Chain{what}(states={self.size:,}, transitions={self._terms.coefficients.size:,})"

    # What it is ---------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        return self._terms.size

    @cached_property
    def states(self) -> Ints:
        """(S, N), in C order."""
        return self._states if self.game is None else profiles(self.game)

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """The transition matrix, (S, S): a row is where to go from there."""
        values = self._terms.coefficients
        if self.tau > 0 and self._terms.exponents.any():
            with np.errstate(over="ignore"):
                values = values * np.exp(-self._terms.exponents / self.tau)
        matrix = self._terms.matrix(values)
        off = float(np.abs(matrix.sum(axis=1) - 1.0).max())
        if not off <= 1e-9:
            raise NotConverged(f"the rows of the transition matrix sum to 1 but for {off:.1e}, wanted 1e-9", off)
        return matrix

    @cached_property
    def log_matrix(self) -> sparse.csr_array:
        """Natural logarithms of the probabilities, right where the probabilities themselves underflow."""
        values = np.log(self._terms.coefficients)
        if self.tau > 0:
            with np.errstate(over="ignore"):
                values -= self._terms.exponents / self.tau
        return self._terms.matrix(values)

    def place(self, profile: ArrayLike) -> int:
        """The number of a state."""
        wanted = any_array(profile)
        if self.game is not None and wanted.shape == (self.game.num_players,) and wanted.dtype.kind in "iu":
            return place_of(self.game, wanted)
        if wanted.shape == self.states.shape[1:]:
            found = np.flatnonzero((self.states == wanted).all(axis=1))
            if found.size:
                return int(found[0])
        raise InvalidInput(f"{wanted.tolist()} is not a state of this chain", value=profile)

    def name(self, place: int) -> str:
        """A state as people read it."""
        return words(self.states[place])

    @cached_property
    def classes(self) -> list[Ints]:
        """The closed classes: sets of states that the chain cannot leave. One, if its long run is unique."""
        return stationary.closed_classes(self._terms.matrix(self._terms.coefficients))

    reversible = times.reversible

    # The long run -------------------------------------------------------------------------------------

    def stationary(self, method: str = "auto") -> Floats:
        """The stationary law, (S,). :meth:`solve` also tells the method and the residual."""
        return self.solve(method).law

    def solve(self, method: str = "auto", *, tolerance: float = 1e-10) -> Stationary:
        """The stationary law with its logarithms, the method used and the residual that was checked.

        ``method`` is "auto", "closed-form", "gth", "log-gth" or "gmres".
        """
        OneOf(*METHODS).of(method, "method", InvalidInput)
        Real(above=0.0, below=1.0).of(tolerance, "tolerance", InvalidInput)
        key = (method, float(tolerance))
        if key not in self._solved:
            self._solved[key] = self._solve(*key)
        return self._solved[key]

    def _solve(self, method: str, tolerance: float) -> Stationary:
        if method in ("auto", "closed-form"):
            found = self._closed_form(tolerance)
            if found is not None:
                return found
            if method == "closed-form":
                raise InvalidInput("no theorem gives the law of this rule on this game; use another method")
        pattern = self._terms.matrix(self._terms.coefficients)
        states = stationary.one_class(pattern, self.name)
        return stationary.solve(self.matrix, lambda: self.log_matrix, states, method, tolerance)

    def _closed_form(self, tolerance: float) -> Stationary | None:
        if self.game is None or self.rule is None or len(self.classes) > 1:
            return None
        found = closed_forms.weights(self.game, self.rule, payoff_table(self.game), 1e-11 * self.tau)
        if found is None:
            return None
        phi, beside, name = found
        with np.errstate(over="ignore"):
            logs = (phi - phi.max()) / self.tau + beside
        logs -= logs.max()
        logs -= np.log(np.exp(logs).sum())
        law = np.exp(logs)
        off = stationary.residual(self.matrix, law)
        return Stationary(law, logs, name, off) if off <= tolerance else None

    # Time ---------------------------------------------------------------------------------------------

    evolve = times.evolve
    hitting_times = times.hitting_times
    absorption = times.absorption
    spectral_gap = times.spectral_gap
    mixing_time = times.mixing_time
