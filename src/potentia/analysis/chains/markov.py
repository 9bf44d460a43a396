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

from potentia.analysis.chains import closed_forms, hitting, stationary, times
from potentia.analysis.chains.given import complete, given_terms
from potentia.analysis.chains.laws import solved, temperature
from potentia.analysis.chains.spaces import Listed, Space
from potentia.analysis.chains.stationary import Stationary
from potentia.analysis.chains.transitions import Terms
from potentia.analysis.tables import payoff_table
from potentia.errors import InvalidInput, NotConverged
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints, any_array
from potentia.kernel.checks import OneOf, Real
from potentia.rules import Rule, rule_from

METHODS = ("auto", "closed-form", "gth", "log-gth", "gmres")


def chain(game: Game, rule: Rule | dict[str, Any]) -> Chain:
    """The exact chain of a rule on a game.

    A rule of one's own has one if it says its ``law``, or if its memory is finite and small and it draws through
    ``extend.choose``, ``chance``, ``logit``, ...; then states are profiles with what is remembered.

    Parameters
    ----------
    game : Game
        One whose profiles can be listed.
    rule : Rule or dict
        How players revise.

    Returns
    -------
    Chain
        Its states are the profiles in C order, where the rule does not remember.

    Raises
    ------
    NoLaw
        If the law of the rule cannot be known.
    TooLarge
        If there are too many profiles.

    Examples
    --------
    >>> chain = pt.analysis.chain(pt.game("stag-hunt"), pt.rule("blll", tau=0.5))
    >>> chain.stationary().round(3).tolist()
    [0.018, 0.002, 0.002, 0.977]
    >>> chain.hitting_times([[1, 1]]).round(1).tolist()
    [17.8, 9.4, 9.4, 0.0]
    """
    chosen = rule_from(rule)
    tau = temperature(chosen)
    space, entries = solved(game, chosen, tau)
    result = Chain.__new__(Chain)
    result._set(space, entries, tau, chosen)
    return result


def laws_over_tau(game: Game, rule: Rule | dict[str, Any], taus: Sequence[float]) -> Floats:
    """The stationary law over profiles at each temperature, (T, S).

    Parameters
    ----------
    game : Game
        One whose profiles can be listed.
    rule : Rule or dict
        How players revise.
    taus : sequence of float
        The temperatures, in the place of the rule's own.

    Returns
    -------
    array
        (T, S), profiles in C order.

    Examples
    --------
    >>> pt.analysis.laws_over_tau(pt.game("stag-hunt"), pt.rule("lll", tau=1.0), [1.0, 0.3]).round(3).tolist()
    [[0.11, 0.04, 0.04, 0.81], [0.001, 0.0, 0.0, 0.999]]
    """
    chosen = rule_from(rule)
    if not hasattr(chosen, "tau"):
        raise InvalidInput(f"{chosen.name} has no temperature")
    if not isinstance(taus, Sequence | np.ndarray):
        raise InvalidInput(f"must be a sequence of temperatures, got {taus!r}", "taus", taus)
    return np.array([_law_at(chain(game, {**chosen.spec(), "tau": tau})) for tau in taus])


def _law_at(found: Chain) -> Floats:
    return found.over_profiles(found.stationary())


class Chain:
    """A finite Markov chain; this wraps a transition matrix of your own.

    Parameters
    ----------
    states : array_like
        (S, N), the profile of each state, or whatever tells them apart.
    matrix : array_like or sparse array
        (S, S), rows that sum to 1.

    Examples
    --------
    >>> weather = pt.analysis.Chain([[0], [1]], [[0.9, 0.1], [0.5, 0.5]])
    >>> weather.stationary().round(3).tolist(), weather.mixing_time()
    ([0.833, 0.167], 2)
    """

    _given: Terms | None = None  # what was given as terms, before it is made complete

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
        self._set(Listed(rows), entries, 1.0, None)

    @classmethod
    def from_terms(cls, states: ArrayLike, terms: Any, tau: float | None = None) -> Chain:
        """A perturbed chain of your own, with probabilities c·ε^r, ε = e^{-1/τ}.

        The entry of staying may be left out: it is what the others leave. ``analysis.stability`` of it needs no
        temperature; all else does.

        Parameters
        ----------
        states : array_like
            (S, N).
        terms : array_like or dict
            (from, to, c, r) for each transition, by the numbers of the states, or {(from, to): (c, r)}.
        tau : float, optional
            The temperature.

        Returns
        -------
        Chain
            The chain.

        Examples
        --------
        >>> chain = pt.analysis.Chain.from_terms([[0], [1]], {(0, 1): (1.0, 1.0), (1, 0): (1.0, 2.0)}, tau=0.2)
        >>> pt.analysis.stability(chain).stable.tolist()
        [False, True]
        """
        rows = np.array(any_array(states))
        if rows.ndim != 2 or not rows.size:
            raise InvalidInput(f"must have shape (S, N), got {rows.shape}", "states", states)
        at = 0.0 if tau is None else Real(above=0.0).of(tau, "tau", InvalidInput)
        return cls._of_terms(Listed(rows), given_terms(rows.shape[0], terms), at)

    @classmethod
    def _of_terms(cls, space: Space, given: Terms, tau: float) -> Chain:
        result = cls.__new__(cls)
        result._given = given
        result._set(space, complete(given, tau), tau, None)
        return result

    def _set(self, space: Space, entries: Terms, tau: float, rule: Rule | None) -> None:
        self.space, self._terms, self.tau, self.game, self.rule = space, entries, tau, space.game, rule
        self._solved: dict[tuple[str, float], Stationary] = {}

    def __repr__(self) -> str:
        what = "" if self.rule is None else f" of {self.rule.called}"
        return f"Chain{what}(states={self.size:,}, transitions={self._terms.coefficients.size:,})"

    def _repr_html_(self) -> str:
        from potentia.analysis.showing import chain_card

        return chain_card(self)

    def at(self, tau: float) -> Chain:
        """The same chain at another temperature.

        Parameters
        ----------
        tau : float
            The temperature.

        Returns
        -------
        Chain
            The other chain.
        """
        if self._given is not None:
            return Chain._of_terms(self.space, self._given, Real(above=0.0).of(tau, "tau", InvalidInput))
        if self.game is None or self.rule is None or not hasattr(self.rule, "tau"):
            raise InvalidInput(f"{self!r} has no temperature")
        return chain(self.game, {**self.rule.spec(), "tau": tau})

    # What it is ---------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """How many states there are, S."""
        return self._terms.size

    @property
    def states(self) -> Ints:
        """The profile of each state, (S, N); in C order, where states are profiles."""
        return self.space.states

    @property
    def memories(self) -> Any:
        """What is remembered in each state, a dict of arrays; None where states are profiles."""
        return self.space.memories

    def over_profiles(self, law: Floats) -> Floats:
        """A law over states as one over profiles, (..., profiles) in C order.

        Parameters
        ----------
        law : array
            (..., S).

        Returns
        -------
        array
            (..., profiles).
        """
        return self.space.over_profiles(law)

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """The transition matrix, (S, S): a row is where to go from there."""
        self._require_tau()
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
        self._require_tau()
        values = np.log(self._terms.coefficients)
        if self.tau > 0:
            with np.errstate(over="ignore"):
                values -= self._terms.exponents / self.tau
        return self._terms.matrix(values)

    def _require_tau(self) -> None:
        if self._given is not None and self.tau == 0.0:
            raise InvalidInput("needs a temperature here, as in Chain.from_terms(states, terms, tau=0.1)", "tau")

    def place(self, profile: ArrayLike) -> int:
        """The number of a state; where a rule remembers, of that in which a run begins at this profile.

        Parameters
        ----------
        profile : array_like
            One action per player.

        Returns
        -------
        int
            The number.
        """
        return self.space.place(profile)

    def places(self, profile: ArrayLike) -> Ints:
        """The numbers of all states with this profile.

        Parameters
        ----------
        profile : array_like
            One action per player.

        Returns
        -------
        array
            The numbers.
        """
        return self.space.places(profile)

    def name(self, place: int) -> str:
        """A state as people read it.

        Parameters
        ----------
        place : int
            The number of the state.

        Returns
        -------
        str
            Its name.
        """
        return self.space.name(place)

    @cached_property
    def classes(self) -> list[Ints]:
        """The closed classes: sets of states that the chain cannot leave. One, if its long run is unique."""
        return stationary.closed_classes(self._terms.matrix(self._terms.coefficients))

    reversible = times.reversible

    # The long run -------------------------------------------------------------------------------------

    def stationary(self, method: str = "auto") -> Floats:
        """The stationary law, (S,). :meth:`solve` also tells the method and the residual.

        Parameters
        ----------
        method : str
            As of :meth:`solve`.

        Returns
        -------
        array
            The probability of each state in the long run.

        Raises
        ------
        NotIrreducible
            If it depends on the start.
        """
        return self.solve(method).law

    def solve(self, method: str = "auto", *, tolerance: float = 1e-10) -> Stationary:
        """The stationary law with its logarithms, the method used and the residual that was checked.

        Parameters
        ----------
        method : {"auto", "closed-form", "gth", "log-gth", "gmres"}
            How.
        tolerance : float
            The largest residual that will do.

        Returns
        -------
        Stationary
            The law.
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
        if self.game is None or self.rule is None or self.rule.point() is None or len(self.classes) > 1:
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
    hit_probability = hitting.hit_probability
    hitting_quantiles = hitting.hitting_quantiles
    absorption = times.absorption
    spectral_gap = times.spectral_gap
    mixing_time = times.mixing_time
