"""What the revision probability does to the long run: at a temperature, and in the limit τ → 0.

A stable set is about the limit. At a temperature, players that seldom wake together hardly move together, whatever the
limit says: on ``double-step`` the maximiser is not stable under joint P-SBLLL, and yet has three quarters of the long
run at revision 0.01 and τ = 0.3. The smaller the revision probability, the colder it must be for the limit to tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from potentia.analysis.chains.laws import temperature
from potentia.analysis.chains.markov import chain
from potentia.analysis.potentials import potential_of
from potentia.analysis.stochastic_stability import require_noise, stability
from potentia.analysis.tables import at_places, payoff_tensor
from potentia.analysis.units import maximisers
from potentia.errors import InvalidInput, InvalidRule, NotPotentialGame
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints, frozen
from potentia.kernel.checks import Real
from potentia.kernel.reprs import brief
from potentia.rules import Rule, rule_from

REVISIONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
_CHECK = Real(above=0.0, most=1.0)


@dataclass(frozen=True, repr=False, eq=False)
class OverRevision:
    """The long run of a rule at several revision probabilities; profiles are in C order.

    Attributes
    ----------
    game : Game
        What is played.
    rule : Rule
        How players revise.
    tau : float
        The temperature.
    revisions : array
        (R,).
    laws : array
        At tau, (R, S).
    limits : array
        As τ → 0, (R, S).
    maximisers : array or None
        Numbers of the profiles that maximise the potential; None where there is none.

    Examples
    --------
    >>> rule = pt.rule("slll", tau=0.3, revision=0.3)
    >>> pt.analysis.over_revision(pt.game("stag-hunt"), rule, [0.01, 0.5]).laws.round(2).tolist()
    [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]]
    """

    __repr__ = brief

    game: Game
    rule: Rule
    tau: float
    revisions: Floats  # (R,)
    laws: Floats  # at tau, (R, S)
    limits: Floats  # as τ → 0, (R, S)
    maximisers: Ints | None  # numbers of the profiles that maximise the potential; None where there is none

    @property
    def shares(self) -> Floats | None:
        """The share of the maximisers in the long run at tau, (R,); None without a potential."""
        return None if self.maximisers is None else self.laws[:, self.maximisers].sum(axis=1)

    @property
    def limit_shares(self) -> Floats | None:
        """The same as τ → 0."""
        return None if self.maximisers is None else self.limits[:, self.maximisers].sum(axis=1)

    @property
    def stable(self) -> list[Ints]:
        """The stable profiles at each revision probability, (k, N)."""
        return [at_places(self.game, np.flatnonzero(row > 0.0)) for row in self.limits]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        shares, limits = self.shares, self.limit_shares
        rows = [
            {
                "revision": revision,
                "share": None if shares is None else float(shares[k]),
                "limit": None if limits is None else float(limits[k]),
                "most_visited": at_places(self.game, self.laws[k].argmax(keepdims=True))[0].tolist(),
                "most_visited_share": float(self.laws[k].max()),
                "stable": self.stable[k].tolist(),
            }
            for k, revision in enumerate(self.revisions.tolist())
        ]
        best = None if self.maximisers is None else at_places(self.game, self.maximisers).tolist()
        return {"tau": self.tau, "maximisers": best, "rows": rows}


def over_revision(game: Game, rule: Rule | dict[str, Any], revisions: Sequence[float] = REVISIONS) -> OverRevision:
    """Solve a rule at several revision probabilities.

    Parameters
    ----------
    game : Game
        Small enough for the exact analysis.
    rule : Rule or dict
        One whose players wake with a probability of their own, such as ``p-sblll`` and ``slll``, at a constant
        temperature. Its own revision probability is replaced.
    revisions : sequence of float
        Probabilities, above 0 and at most 1.

    Returns
    -------
    OverRevision
        The law and its limit at each.

    Examples
    --------
    >>> rule = pt.rule("p-sblll", tau=0.3, revision=0.3)
    >>> found = pt.analysis.over_revision(pt.game("double-step"), rule, [0.01, 0.5])
    >>> found.shares.round(2).tolist(), found.limit_shares.tolist()
    ([0.76, 0.08], [0.0, 0.0])
    """
    chosen = rule_from(rule)
    spec = chosen.spec()
    if "revision" not in spec:
        said = "must be a rule whose players wake with a probability of their own, such as p-sblll or slll"
        raise InvalidRule(f"{said}, got {chosen.called}", "rule", chosen.called)
    require_noise(chosen)
    if not isinstance(revisions, Sequence | np.ndarray) or len(revisions) == 0:
        raise InvalidInput(f"must be probabilities such as [0.01, 0.5], got {revisions!r}", "revisions", revisions)
    wanted = [_CHECK.of(revision, "revisions", InvalidInput) for revision in revisions]
    try:
        best = maximisers(potential_of(payoff_tensor(game)))
    except NotPotentialGame:
        best = None
    laws, limits = [], []
    for revision in wanted:
        at = rule_from({**spec, "revision": revision})
        solved = chain(game, at)
        laws.append(solved.over_profiles(solved.stationary()))
        limits.append(stability(game, at).by_profile.limit)
    at_tau, at_zero = frozen(np.array(laws)), frozen(np.array(limits))
    return OverRevision(game, chosen, temperature(chosen), frozen(np.array(wanted)), at_tau, at_zero, best)
