"""Stochastic stability: where a rule spends its time as the temperature goes to 0.

As τ → 0 each transition probability goes like c·ε^r, ε = e^{-1/τ}; r is its *resistance* (Young 1993). The
stochastic potential of a state is the least total resistance of a tree that leads everybody to it; a state
is stochastically stable, that is, keeps a positive share of the long run, iff its stochastic potential is
least. (The paper's definition, lim Pr^ε = Pr, is a slip: it is lim Pr^ε > 0.)

Resistances here are exact: the least over all realisations of who wakes, what they try and who accepts. The
paper's resistance lemma (Eq. 12) leaves out players that wake, try and stay: with joint trials they change
what the others compare, which can make a transition cheaper than Eq. 12 says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph

from potentia.analysis.arborescence import Contraction, contraction
from potentia.analysis.chains import closed_forms, elimination, stationary
from potentia.analysis.chains.laws import terms, vanishing
from potentia.analysis.chains.transitions import Terms
from potentia.analysis.graphs import as_graph
from potentia.analysis.tables import at_places, move_prices, payoff_table, place_of, profile_at, profiles, tensor, words
from potentia.analysis.trees_law import tree_law
from potentia.analysis.units import Units, in_units, require_told
from potentia.errors import InvalidInput, NotConverged, TooLarge
from potentia.games import Game
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import OneOf
from potentia.kernel.registry import replaced
from potentia.rules import PSBLLL, Rule, Vanishing, rule_from

METHODS = ("auto", "closed-form", "contraction", "elimination")
_ELIMINATE_AT_MOST = 1500
_RESIDUAL = 1e-8


@dataclass(frozen=True)
class Resistances:
    """Every possible transition between different states."""

    sources: Ints
    targets: Ints
    exact: Floats
    lemma: Floats | None  # Eq. 12, for P-SBLLL
    differs: NDArray[np.bool_] | None


@dataclass(frozen=True)
class Tree:
    """A least-resistance tree: ``parent[s]`` is the next state of s on the way to the root."""

    root: int
    parent: Ints
    resistance: Floats  # of the edge that leaves s; 0 at the root

    @property
    def total(self) -> float:
        return float(self.resistance.sum())


class Stability:
    """The result of :func:`stability`."""

    def __init__(self, game: Game, rule: Rule, units: Units, entries: Terms, inside: Ints) -> None:
        self.game, self.rule = game, rule
        self._units, self._terms, self._inside = units, entries, inside
        self.method = ""
        self.residual = np.inf  # Σ |πP_0 - π|, P_0 the unperturbed chain: its limit law is one of its stationary laws
        self.stochastic_potential: Floats = np.full(game.num_profiles, np.inf)  # inf: transient
        self.limit: Floats = np.zeros(game.num_profiles)
        self.stable: NDArray[np.bool_] = np.zeros(game.num_profiles, bool)

    def __repr__(self) -> str:
        count = int(self.stable.sum())
        shown = ", ".join(f"{words(profile_at(self.game, k))} {self.limit[k]:.3g}" for k in self.by_share[:4])
        more = "" if count <= 4 else f" and {count - 4:,} more"
        return f"Stability({self.rule.name}, stable: {shown}{more}; by {self.method})"

    @cached_property
    def states(self) -> Ints:
        """(S, N), in C order."""
        return profiles(self.game)

    @property
    def by_share(self) -> Ints:
        """The numbers of the stable profiles, the largest share of the limit first."""
        stable = np.flatnonzero(self.stable)
        return stable[np.argsort(-self.limit[stable], kind="stable")]

    @property
    def stable_profiles(self) -> Ints:
        """The stochastically stable profiles, (k, N)."""
        return at_places(self.game, np.flatnonzero(self.stable))

    @property
    def exact(self) -> bool:
        """Whether payoffs have a common unit, so that ties are decided exactly; otherwise by ``tolerance``."""
        return self._units.exact

    @property
    def tolerance(self) -> float:
        """What two resistances may differ by and still count as equal."""
        return self._units.slack * self._units.unit

    @cached_property
    def classes(self) -> list[Ints]:
        """The recurrent classes of the unperturbed chain (τ = 0), as numbers of states."""
        free = self._terms.exponents <= self._units.tie
        rows = self._terms.rows()[free]
        graph = sparse.csr_array((np.ones(rows.size), (rows, self._terms.columns[free])), shape=(self._terms.size,) * 2)
        return [self._inside[part] for part in stationary.closed_classes(graph)]

    @cached_property
    def _contraction(self) -> Contraction:
        found = contraction(self._terms, self._units.tie)
        assert found is not None  # the terms are those of one closed class
        return found

    def tree(self, root: ArrayLike) -> Tree:
        """A least-resistance tree to a profile (paper, Fig. 1)."""
        place = place_of(self.game, root, "root")
        local = np.full(self.game.num_profiles, -1)
        local[self._inside] = np.arange(self._inside.size)
        if local[place] < 0:
            where = words(profile_at(self.game, place))
            raise InvalidInput(f"{where} is transient: no tree leads to it", "root", root)
        steps = self._contraction.tree(int(local[place]))
        parent = np.full(self.game.num_profiles, -1)
        resistance = np.zeros(self.game.num_profiles)
        moving = np.flatnonzero(steps >= 0)
        parent[self._inside[moving]] = self._inside[self._terms.columns[steps[moving]]]
        resistance[self._inside[moving]] = self._terms.exponents[steps[moving]] * self._units.unit
        return Tree(place, parent, resistance)

    def resistances(self) -> Resistances:
        """The resistance of every possible transition; for P-SBLLL with Eq. 12's value beside it."""
        rows, columns = self._terms.rows(), self._terms.columns
        moving = rows != columns
        sources, targets = self._inside[rows[moving]], self._inside[columns[moving]]
        exact = self._terms.exponents[moving]
        if not isinstance(self.rule, PSBLLL):
            return Resistances(sources, targets, exact * self._units.unit, None, None)
        lemma = np.zeros(exact.size)
        table, prices = payoff_table(self.game), move_prices(self.game)
        payoffs = (table - table.min(axis=1, keepdims=True)) / self._units.unit  # a large constant would cost digits
        for player in range(self.game.num_players):
            now, then = payoffs[player][sources], payoffs[player][targets]
            if prices.size:  # where moving has a price, the unit is 1
                then = then - prices[player][self.states[sources, player], self.states[targets, player]]
            deviates = self.states[sources, player] != self.states[targets, player]
            lemma += np.where(deviates, np.maximum(now, then) - then, 0.0)
        lemma += vanishing(self.rule) / self._units.unit * (self.states[sources] != self.states[targets]).sum(axis=1)
        differs = np.abs(lemma - exact) > self._units.slack
        unit = self._units.unit
        return Resistances(sources, targets, exact * unit, lemma * unit, differs)


def stability(game: Game, rule: Rule | dict[str, Any], *, method: str = "auto") -> Stability:
    """Which profiles a rule keeps as τ → 0, and in which shares.

    ``method`` is "auto", "closed-form" (LLL and BLLL on potential games), "contraction" (least trees to all
    roots at once) or "elimination" (GTH on leading terms, cubic; the independent check).
    """
    chosen = rule_from(rule)
    OneOf(*METHODS).of(method, "method", InvalidInput)
    payoffs = payoff_table(game)
    own_only = not (isinstance(chosen, PSBLLL) and chosen.trial == "joint")
    table = tensor(game, payoffs)
    units = in_units(table, own_only, vanishing(chosen), float(move_prices(game).max(initial=0.0)))
    require_told(units, table)
    scaled = chosen if vanishing(chosen) == 0.0 else _rescaled(chosen, units)
    entries = terms(game, scaled, 0.0, units.payoffs, units.tie)
    inside = stationary.one_class(entries.matrix(entries.coefficients), lambda s: words(profile_at(game, s)))
    if inside.size < entries.size:
        entries = _restricted(entries, inside)
    result = Stability(game, chosen, units, entries, inside)
    found = None
    if method in ("auto", "closed-form") and inside.size == game.num_profiles:
        found = _closed_form(result)
    if found is None and method == "closed-form":
        raise InvalidInput("no theorem gives the stable states of this rule on this game; use another method")
    if found is None:
        found = _by_elimination(result) if method == "elimination" else _by_contraction(result)
    excess, least, limit, result.method = found
    result.stochastic_potential[inside] = (excess + least) * units.unit
    result.stable[inside] = excess <= units.slack
    result.limit[inside] = limit
    result.residual = _residual(result, limit)
    for array in (result.stochastic_potential, result.stable, result.limit):
        array.setflags(write=False)
    return result


def _residual(result: Stability, limit: Floats) -> float:
    entries = result._terms
    free = entries.matrix(np.where(entries.exponents <= result._units.tie, entries.coefficients, 0.0))
    off = stationary.residual(free, limit)
    return stationary.require_small(off, _RESIDUAL, "in the unperturbed chain the limit law")


def _rescaled(rule: Any, units: Units) -> Rule:
    """The rule with its m counted in units of the payoffs."""
    m = rule.revision.m / units.unit
    return replaced(rule, revision=Vanishing(round(m) if units.exact else m))


def _restricted(entries: Terms, inside: Ints) -> Terms:
    """The terms among the states of a closed class."""
    local = np.full(entries.size, -1)
    local[inside] = np.arange(inside.size)
    rows = local[entries.rows()]
    keep = rows >= 0  # a closed class: what starts inside ends inside
    ptr = np.concatenate([[0], np.cumsum(np.bincount(rows[keep], minlength=inside.size))])
    return Terms(ptr, local[entries.columns[keep]], entries.coefficients[keep], entries.exponents[keep])


Found = tuple[Floats, float, Floats, str]  # excess, least, limit, method


def _by_contraction(result: Stability) -> Found:
    found = result._contraction
    root = int(found.excess.argmin())
    steps = found.tree(root)
    total = float(found.terms.exponents[steps[steps >= 0]].sum())
    # the tree costs what the prices say is the least: each proves the other right
    if not abs(total - found.least) <= result._units.slack * max(1, found.size):
        raise NotConverged(f"a tree costs {total:g}, the prices say {found.least:g}", abs(total - found.least))
    return found.excess, found.least, tree_law(found), "least trees to all roots"


def _by_elimination(result: Stability) -> Found:
    entries, size = result._terms, result._terms.size
    if size > _ELIMINATE_AT_MOST:
        raise TooLarge(f"elimination takes up to {_ELIMINATE_AT_MOST:,} states, got {size:,}; use contraction")
    memory.require(16 * size**2, f"full matrices of {size:,} states")
    a, x = np.zeros((size, size)), np.zeros((size, size))
    rows = entries.rows()
    a[rows, entries.columns], x[rows, entries.columns] = entries.coefficients, entries.exponents
    law, exponents = np.empty(size), np.empty(size)
    tree = elimination.leading_entry(a, x, law, exponents, result._units.tie)
    least = float(exponents.min())
    limit = np.where(exponents <= least + result._units.slack, law, 0.0)
    return exponents - least, tree + least, limit / limit.sum(), "elimination on leading terms"


def _closed_form(result: Stability) -> Found | None:
    """Of a reversible law e^{Φ/τ}: the maximisers, and one least spanning tree for all roots.

    r_ij - Φ_i is the same in both directions, so a tree to x costs Σ over its edges of that, plus ΣΦ - Φ_x.
    """
    units, entries = result._units, result._terms
    found = closed_forms.weights(result.game, result.rule, units.payoffs, 0.5 * units.slack)
    if found is None:
        return None
    phi, beside, name = found
    if units.exact:
        phi = np.rint(phi)
    if phi.size == 1:
        return np.zeros(1), 0.0, np.ones(1), name
    rows = entries.rows()
    up = rows < entries.columns
    cost = entries.exponents[up] - phi[rows[up]]
    # scipy takes an edge of weight 0 for none, so shift, by no more than costs are large
    shift = max(float(np.ptp(cost)), float(np.abs(cost).max())) - float(cost.min()) or 1.0
    graph = sparse.csr_array((cost + shift, (rows[up], entries.columns[up])), shape=(phi.size,) * 2)
    spanning = float(csgraph.minimum_spanning_tree(as_graph(graph)).sum()) - shift * (phi.size - 1)
    excess = phi.max() - phi
    limit = np.where(excess <= units.slack, np.exp(beside - beside.max()), 0.0)
    return excess, spanning + float(phi.sum()) - float(phi.max()), limit / limit.sum(), name
