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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph

from potentia.analysis.arborescence import Contraction, contraction
from potentia.analysis.chains import closed_forms, elimination, stationary
from potentia.analysis.chains.given import complete
from potentia.analysis.chains.laws import Counting, solved, terms, vanishing, without_law
from potentia.analysis.chains.markov import Chain
from potentia.analysis.chains.spaces import Profiles, Space
from potentia.analysis.chains.transitions import Terms
from potentia.analysis.graphs import as_graph
from potentia.analysis.tables import at_places, move_prices, payoff_table, tensor
from potentia.analysis.trees_law import tree_law
from potentia.analysis.units import Units, in_mistakes, in_units, require_told
from potentia.errors import InvalidInput, NoLaw, NotConverged, TooLarge
from potentia.games import Game
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import OneOf
from potentia.rules import PSBLLL, Rule, rule_from
from potentia.rules.chooses import ChoosesData, Mistakes
from potentia.rules.considers import JOINT

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


class ByProfile(NamedTuple):
    """A result over the profiles of a game, in C order, whatever is remembered beside them."""

    stable: NDArray[np.bool_]
    limit: Floats
    stochastic_potential: Floats  # the least of a profile's states


class Stability:
    """The result of :func:`stability`.

    Attributes
    ----------
    stable : array
        Whether each state is stochastically stable, (S,).
    limit : array
        The share of each state as τ → 0, (S,).
    stochastic_potential : array
        The resistance of the least tree to each state, (S,); inf where it is transient.
    method : str
        How it was found.
    residual : float
        How far the limit is from a stationary law of the unperturbed chain.

    Examples
    --------
    >>> found = pt.analysis.stability(pt.game("stag-hunt"), pt.rule("lll", tau=0.1))
    >>> found.stochastic_potential.tolist(), found.limit.tolist()
    ([3.0, 4.0, 4.0, 1.0], [0.0, 0.0, 0.0, 1.0])
    """

    def __init__(self, space: Space, rule: Rule | None, units: Units, entries: Terms, inside: Ints) -> None:
        self.space, self.game, self.rule = space, space.game, rule
        self._units, self._terms, self._inside = units, entries, inside
        self.method = ""
        self.residual = np.inf  # Σ |πP_0 - π|, P_0 the unperturbed chain: its limit law is one of its stationary laws
        self.stochastic_potential: Floats = np.full(space.size, np.inf)  # inf: transient
        self.limit: Floats = np.zeros(space.size)
        self.stable: NDArray[np.bool_] = np.zeros(space.size, bool)

    def __repr__(self) -> str:
        count = int(self.stable.sum())
        shown = ", ".join(f"{self.name(k)} {self.limit[k]:.3g}" for k in self.by_share[:4])
        more = "" if count <= 4 else f" and {count - 4:,} more"
        what = "" if self.rule is None else f"{self.rule.called}, "
        return f"Stability({what}stable: {shown}{more}; by {self.method})"

    def _repr_html_(self) -> str:
        from potentia.analysis.showing import stability_card

        return stability_card(self)

    @property
    def states(self) -> Ints:
        """The profile of each state, (S, N); in C order, where states are profiles."""
        return self.space.states

    @property
    def memories(self) -> Any:
        """What is remembered in each state, a dict of arrays; None where states are profiles."""
        return self.space.memories

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
        return self.space.name(int(place))

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
    def by_profile(self) -> ByProfile:
        """The same over the profiles of the game, (profiles,) each."""
        if isinstance(self.space, Profiles) or self.game is None:
            return ByProfile(self.stable, self.limit, self.stochastic_potential)
        numbers = self.space.numbers
        least = np.full(self.game.num_profiles, np.inf)
        np.minimum.at(least, numbers, self.stochastic_potential)
        stable = np.zeros(self.game.num_profiles, bool)
        stable[numbers[self.stable]] = True
        return ByProfile(stable, self.over_profiles(self.limit), least)

    @property
    def by_share(self) -> Ints:
        """The numbers of the stable states, the largest share of the limit first."""
        stable = np.flatnonzero(self.stable)
        return stable[np.argsort(-self.limit[stable], kind="stable")]

    @property
    def stable_profiles(self) -> Ints:
        """The stochastically stable profiles, each once, (k, N)."""
        if isinstance(self.space, Profiles) and self.game is not None:
            return at_places(self.game, np.flatnonzero(self.stable))
        return np.unique(self.states[self.stable], axis=0)

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
        """A least-resistance tree to a profile (paper, Fig. 1); of several states with it, to the likeliest.

        Parameters
        ----------
        root : array_like
            The profile.

        Returns
        -------
        Tree
            The state after each, and the resistance of going there.
        """
        places = self.space.places(root, "root")
        place = int(places[np.lexsort((-self.limit[places], self.stochastic_potential[places]))[0]])
        local = np.full(self.space.size, -1)
        local[self._inside] = np.arange(self._inside.size)
        if local[place] < 0:
            raise InvalidInput(f"{self.name(place)} is transient: no tree leads to it", "root", root)
        steps = self._contraction.tree(int(local[place]))
        parent = np.full(self.space.size, -1)
        resistance = np.zeros(self.space.size)
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
        if not isinstance(self.rule, PSBLLL) or self.game is None:
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
        unit = self._units.unit
        moved = (self.states[sources] != self.states[targets]).sum(axis=1)
        lemma += vanishing(self.game, self.rule) / unit * moved
        slack = self._units.slack
        if (
            self.exact and self.rule.trial != "joint"
        ):  # in units of own changes, of which Eq. 12's value may be no multiple
            slack = 1e-9 * max(1.0, float(lemma.max(initial=0.0)))
        differs = np.abs(lemma - exact) > slack
        return Resistances(sources, targets, exact * unit, lemma * unit, differs)


def stability(game: Game | Chain, rule: Rule | dict[str, Any] | None = None, *, method: str = "auto") -> Stability:
    """Which profiles a rule keeps as τ → 0, and in which shares.

    Parameters
    ----------
    game : Game or Chain
        One whose profiles can be listed, or a chain of :meth:`Chain.from_terms`.
    rule : Rule or dict, optional
        How players revise, on a game.
    method : {"auto", "closed-form", "contraction", "elimination"}
        "closed-form" (one at a time on potential games), "contraction" (least trees to all roots at once) or
        "elimination" (GTH on leading terms, cubic; the independent check).

    Returns
    -------
    Stability
        Per state: whether it is stable, its stochastic potential, its share of the limit.

    Raises
    ------
    NoLaw
        If the limit of the rule cannot be known.

    Examples
    --------
    >>> found = pt.analysis.stability(pt.game("stag-hunt"), pt.rule("blll", tau=0.1))
    >>> found.states[found.stable].tolist()
    [[1, 1]]
    """
    OneOf(*METHODS).of(method, "method", InvalidInput)
    space, chosen, units, entries = _perturbed(game, rule)
    inside = stationary.one_class(entries.matrix(entries.coefficients), space.name)
    if inside.size < entries.size:
        entries = _restricted(entries, inside)
    result = Stability(space, chosen, units, entries, inside)
    found = None
    if method in ("auto", "closed-form") and inside.size == space.size:
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


def _perturbed(game: Game | Chain, rule: Any) -> tuple[Space, Rule | None, Units, Terms]:
    """The states, the rule, what resistances are counted in, and the leading terms in those units."""
    if isinstance(game, Chain):
        if rule is not None:
            raise InvalidInput("must be left out beside a chain", "rule", rule)
        if game._given is None and (game.game is None or game.rule is None):
            raise InvalidInput("must be a game, or a chain of Chain.from_terms(states, terms)", "game", game)
        if game._given is not None:
            return game.space, None, *counted(complete(game._given, 0.0))
        assert game.game is not None
        return _of_rule(game.game, game.rule)
    return _of_rule(game, rule)


def _of_rule(game: Game, rule: Any) -> tuple[Space, Rule, Units, Terms]:
    chosen = rule_from(rule)
    payoffs = payoff_table(game)
    require_noise(chosen)
    if not counts_payoffs(chosen):
        space, entries = solved(game, chosen, 0.0)
        return space, chosen, *counted(entries)
    table = tensor(game, payoffs)
    units = _units(game, chosen, table)
    require_told(units, table)
    counting = Counting(units.tie, units.tie, 1.0 / units.unit, units.shrink)
    return Profiles(game), chosen, units, terms(game, chosen, 0.0, units.payoffs, counting)


def counted(entries: Terms) -> tuple[Units, Terms]:
    """Terms with exponents in units of their own, where they have a common one."""
    units = in_units(entries.exponents.reshape(1, -1), False, 0.0)
    return units, entries._replace(exponents=units.payoffs[0])


def _residual(result: Stability, limit: Floats) -> float:
    entries = result._terms
    free = entries.matrix(np.where(entries.exponents <= result._units.tie, entries.coefficients, 0.0))
    off = stationary.residual(free, limit)
    return stationary.require_small(off, _RESIDUAL, "in the unperturbed chain the limit law")


def require_noise(rule: Rule) -> None:
    """Refuse a rule that does not get colder, or has no chain at all."""
    if rule.keeps_scores:
        raise NoLaw(without_law(rule))
    axes = rule.point()
    if not hasattr(rule if axes is None else axes.chooses, "tau"):
        ends = "; ask chain(game, rule) for its classes and absorption()"
        raise NoLaw(
            f"{rule.called} has no noise that goes to 0 with tau, so no state is stochastically stable"
            + (ends if axes is not None else "")
        )


def counts_payoffs(rule: Rule) -> bool:
    """Whether utilities may be counted in other units: not where a choice of somebody's own may know their scale."""
    axes = rule.point()
    return axes is not None and isinstance(axes.chooses.data(), ChoosesData)


def _units(game: Game, rule: Rule, table: Floats) -> Units:
    """What resistances are counted in: units of the payoffs, or mistakes."""
    axes, m, price = rule.point(), vanishing(game, rule), float(move_prices(game).max(initial=0.0))
    own_only = axes is None or axes.considers.kind != JOINT
    if axes is None or not isinstance(axes.chooses, Mistakes):
        return in_units(table, own_only, m, price, game.payoff_unit)
    return in_mistakes(in_units(table, own_only, 0.0, price, game.payoff_unit), m)


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
    if result.game is None or result.rule is None or result.rule.point() is None:
        return None
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
