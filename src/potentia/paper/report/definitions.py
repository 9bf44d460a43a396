"""The words that a reader needs, with examples that are computed: a game, two profiles, a run of QL and of SOQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from potentia.analysis import chain
from potentia.analysis.chains.ways import cheapest_way
from potentia.analysis.stochastic_stability import Stability
from potentia.analysis.tables import profile_at
from potentia.games import Game, NormalForm
from potentia.paper.report.page import Definition
from potentia.paper.report.tables import Table
from potentia.paper.report.wording import texts
from potentia.paper.report.words import told
from potentia.paper.small_games import all_profiles, in_words, resistances
from potentia.rules import Rule, rule

TWO = (1.0, 0.8)  # potentials of the smallest example
TAUS = (1.0, 0.3, 0.1, 0.03, 0.01)


def definition(name: str, facts: Mapping[str, Any], game: Game) -> Definition:
    """One of story.toml; those that have an example compute it."""
    words = texts()["definitions"][name]
    if name in _FACTS:
        facts = {**facts, **_FACTS[name](game, words)}
    paragraphs = [text for text in (part.format(**facts) for part in words["text"]) if text]
    if name == "stable":
        bars = dict(zip("AB", TWO, strict=True))
        return Definition(words["term"], paragraphs, [two_profiles()], "two-profiles", bars)
    return Definition(words["term"], paragraphs, [payoffs(game)] if name == "potential-game" else [])


# A potential game -------------------------------------------------------------------------------------


def payoffs(game: Game) -> Table:
    """What everybody gets in every profile, and Φ."""
    rows = []
    for profile in all_profiles(game.num_actions):
        utilities = {f"utility of player {i}": game.utility(i, profile) for i in range(game.num_players)}
        rows.append({"profile": in_words([profile]), **utilities, "potential Φ": game.potential(profile)})
    return Table(f"The game {game.known_as or 'in full'}", rows)


def _move(game: Game, words: Mapping[str, Any]) -> dict[str, Any]:
    """A deviation that raises the potential, in words."""
    before = next(iter(all_profiles(game.num_actions)))
    after = (1, *before[1:])
    low, high = (game.potential(profile) for profile in (before, after))
    change = game.utility(0, after) - game.utility(0, before)
    facts = {"player": 0, "before": in_words([before]), "after": in_words([after])}
    return {"move": words["move"].format(**facts, change=change, low=low, high=high)}


# Stochastically stable --------------------------------------------------------------------------------


def shares(tau: float) -> list[float]:
    """How much of the time one player that learns by BLLL spends at each of two actions."""
    share: list[float] = chain(NormalForm([TWO]), rule("blll", tau=tau)).stationary().tolist()
    return share


def two_profiles() -> Table:
    """The same at several temperatures."""
    head = [f"share of {name} (Φ = {value:g})" for name, value in zip("AB", TWO, strict=True)]
    rows = [{"temperature τ": tau} | dict(zip(head, map(_percent, shares(tau)), strict=True)) for tau in TAUS]
    return Table("Shares of the time of two profiles", rows)


def _percent(share: float) -> str:
    """Neither all nor nothing of what is not quite that."""
    if min(share, 1.0 - share) < 0.0005:
        return "over 99.9 %" if share > 0.5 else "under 0.1 %"
    return f"{100 * share:.1f} %"


def _two(_: Game, __: Mapping[str, Any]) -> dict[str, Any]:
    hot, cold = TAUS[0], TAUS[3]
    first, second = TWO
    told_shares = {"hot_share": _percent(shares(hot)[0]), "cold_share": _percent(shares(cold)[0])}
    return {"first": first, "second": second, "gap": first - second, "hot": hot, "cold": cold, **told_shares}


# Trees ------------------------------------------------------------------------------------------------


def unlike_eq_12(found: Stability, chosen: Rule) -> Table:
    """Every transition whose resistance is not that of Eq. 12: who woke, tried and stayed."""
    game, (table, lemma, differs) = found.game, resistances(found)
    assert game is not None
    rows = []
    for k in np.flatnonzero(differs).tolist():
        source, target = int(table.sources[k]), int(table.targets[k])
        way = cheapest_way(game, chosen, source, target, 0.0)
        ends = [in_words([profile_at(game, place)]) for place in (source, target)]
        costs = {"by Eq. 12": told(float(lemma[k])), "in fact": told(float(table.exact[k]))}
        rows.append({"transition": " to ".join(ends), **costs, "who woke, tried and stayed": _way(way.sentences(game))})
    of = f"{len(rows)} of {differs.size}"
    return Table(f"Transitions whose resistance is not what Eq. 12 says: {of}", rows)


def _way(sentences: list[str]) -> str:
    return " ".join(sentences[:-1])  # the last one says what the row says


def story(found: Stability, root: tuple[int, ...], chosen: Rule) -> list[str]:
    """A tree in two sentences: what it costs, and how the first step out of the other end comes about."""
    game = found.game
    assert game is not None
    phi = {profile: game.potential(profile) for profile in all_profiles(game.num_actions)}
    best, stable = max(phi, key=lambda profile: phi[profile]), tuple(int(a) for a in found.stable_profiles[0])
    tree = found.tree(root)
    where = (
        "has the largest potential"
        if phi[root] == phi[best]
        else f"has Φ = {phi[root]:g}, and {phi[best]:g} is the largest"
    )
    is_stable = "It is stable" if root == stable else "It is not stable: another profile has a cheaper tree"
    first = f"{in_words([root])} {where}; all others lead there at a total resistance of {tree.total:g}. {is_stable}."
    other = best if root == stable else stable
    if other == root:
        return [first]
    place = [int(np.ravel_multi_index(profile, game.num_actions)) for profile in (other, root)]
    path = [place[0]]
    while path[-1] != place[1]:
        path.append(int(tree.parent[path[-1]]))
    dear = max(range(len(path) - 1), key=lambda k: float(tree.resistance[path[k]]))
    way = cheapest_way(game, chosen, path[dear], path[dear + 1], 0.0)
    return [first, f"On the way from {in_words([other])}: {_way(way.sentences(game))} This costs {way.resistance:g}."]


_FACTS: dict[str, Callable[[Game, Mapping[str, Any]], dict[str, Any]]] = {"potential-game": _move, "stable": _two}
