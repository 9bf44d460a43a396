"""Which profiles are stochastically stable: the separable proposition, the general theorem, and two quoted theorems.

The separable proposition and the BLLL theorem say that exactly the potential maximisers are stable, the general
theorem that only maximisers are. Stable sets come from least-resistance trees, never from a closed form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from potentia.analysis import finite_improvement, stability
from potentia.experiments.equilibrium_study import share
from potentia.experiments.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, Claim, Measurement
from potentia.experiments.paper.readings import (
    ASSUMPTION_4,
    ASSUMPTION_5,
    CLIMBS,
    WORDS_4,
    WORDS_5,
    Games,
    one_player_matters,
    pools,
    satisfied,
)
from potentia.experiments.paper.resistance_claims import separable_games
from potentia.experiments.paper.scale import Scale
from potentia.experiments.paper.small_games import (
    JOINT,
    SHAPE,
    best_places,
    in_percent,
    in_words,
    plain,
    profiles_at,
    stable_by,
    stable_places,
    table_in_words,
)
from potentia.experiments.shares import RULES, random_games, shares
from potentia.experiments.statistics import Estimate
from potentia.games import NormalForm, path_moves, random_potential_game

KINDS = {
    "potential": "any potential game",
    "separable": "separable",
    "identical": "identical utilities",
    "constrained": "identical utilities, moves along a line",
}
_SEED = 1000
_SMALLEST = 100  # games tried, smallest first, for the smallest counterexample


def by_rule(scale: Scale) -> list[dict[str, Any]]:
    """How often each rule keeps the maximisers, on random games of each kind: a row for each kind and rule."""
    rows = []
    for kind, words in KINDS.items():
        for found in shares(random_games(kind, scale.games, SHAPE, _SEED)):
            counts = {"exactly": found.exactly, "kept": found.kept, "mode": found.mode}
            rows.append({"kind": kind, "games": words, "rule": found.rule, "count": found.games, **counts})
    return rows


def _count(rows: list[dict[str, Any]], kind: str, rule: str) -> int:
    return next(int(row["exactly"]) for row in rows if row["kind"] == kind and row["rule"] == rule)


_BLLL, _JOINT, _UNILATERAL, _GUARDED = RULES


# Quoted theorems, as controls ----------------------------------------------------------------------------


def blll(scale: Scale, rows: list[dict[str, Any]]) -> Claim:
    """The BLLL theorem, which the others build upon."""
    kept = {kind: _count(rows, kind, _BLLL) for kind in KINDS}
    tried, total = len(kept) * scale.games, sum(kept.values())
    broken = total < tried
    return Claim(
        name="blll",
        kind="theory",
        title="Under BLLL the stochastically stable states are the potential maximisers",
        where="theorem quoted in section 2.2, under Assumptions 1 and 2",
        measured=tuple(
            Measurement(f"games in which exactly the maximisers are stable: {KINDS[kind]}", share(count, scale.games))
            for kind, count in kept.items()
        ),
        verdict=NOT_SUPPORTED if broken else SUPPORTED,
        reason=f"It fails in {tried - total} of {tried:,} random games"
        if broken
        else f"In all {tried:,} random games exactly the maximisers are stable, also with constrained moves",
    )


def finite_improvement_theorem(scale: Scale) -> Claim:
    """Every improvement path of a finite potential game is finite; without a potential there are cycles."""
    kept = sum(bool(finite_improvement(random_potential_game(SHAPE, _SEED + k))) for k in range(scale.games))
    control = 0
    for k in range(scale.games):
        random = np.random.Generator(np.random.PCG64(_SEED + k))
        control += bool(finite_improvement(NormalForm(random.standard_normal((len(SHAPE), *SHAPE)))))
    return Claim(
        name="finite-improvement",
        kind="theory",
        title="Every improvement path in a finite potential game is finite",
        where="theorem quoted in section 2.1 (Monderer & Shapley)",
        measured=(
            Measurement("random potential games without a cycle of better replies", share(kept, scale.games)),
            Measurement("control, random games of any kind without such a cycle", share(control, scale.games)),
        ),
        verdict=SUPPORTED if kept == scale.games else NOT_SUPPORTED,
        reason=f"No cycle of better replies in any of {scale.games:,} random potential games"
        if kept == scale.games
        else f"{scale.games - kept:,} of {scale.games:,} random potential games have a cycle of better replies",
    )


# The separable proposition -------------------------------------------------------------------------------


def separable_proposition(scale: Scale, rows: list[dict[str, Any]]) -> Claim:
    """Exactly the maximisers, in separable games with ties and constrained moves too."""
    games = separable_games(scale.games, _SEED)
    failed = None
    kept = 0
    for game in games:
        phi = np.array([game.potential(p) for p in np.ndindex(*game.num_actions)])
        stable, best = stable_places(game), best_places(phi)
        kept += stable == best
        if stable != best and failed is None:
            failed = _missed(game, stable, best)
    tables = _count(rows, "separable", _JOINT)
    broken = kept < len(games) or tables < scale.games
    without = [
        Measurement(f"control, games that are not separable: {r}", share(_count(rows, "potential", r), scale.games))
        for r in RULES
    ]
    return Claim(
        name="separable",
        kind="theory",
        title="In separable potential games the stochastically stable states of P-SBLLL are the maximisers",
        where="separable proposition, Eq. 19–22, under Assumptions 1–3",
        measured=(
            Measurement(
                "separable games that keep it, with ties and constrained moves among them", share(kept, len(games))
            ),
            Measurement("separable games that keep it, no ties, complete action sets", share(tables, scale.games)),
            *without,
        ),
        verdict=NOT_SUPPORTED if broken else SUPPORTED,
        reason=f"It fails in {len(games) - kept + scale.games - tables} separable games"
        if broken
        else f"In all {kept + tables:,} separable games; of games that are not separable "
        f"{in_percent(_count(rows, 'potential', _JOINT) / scale.games)} keep exactly the maximisers",
        counterexample=None if failed is None else failed[0],
        details={} if failed is None else failed[1],
    )


def _missed(game: Any, stable: set[int], best: set[int]) -> tuple[str, dict[str, Any]]:
    """In words and as data: a game whose stable states are not what was promised."""
    data = plain(game, rule=JOINT, maximisers=profiles_at(sorted(best), game.num_actions))
    data |= {"stable": profiles_at(sorted(stable), game.num_actions)}
    said = (
        f"Φ is largest at {in_words(data['maximisers'])}, the stable states of P-SBLLL are {in_words(data['stable'])}"
    )
    return said, data


# The general theorem -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """One reading of Assumptions 4 and 5: how many small games satisfy it, and whether the theorem is kept."""

    homogeneous: str
    monotone: str
    games: int  # that satisfy it, of all that were listed
    looked_at: int
    kept: int
    by_eq_12: int  # kept if resistances were those of Eq. 12
    one_player: int  # games of ``games`` in which Φ depends on one player's action only
    counterexample: NormalForm | None  # the smallest


def only_maximisers(game: NormalForm, phi: np.ndarray[Any, Any]) -> bool:
    """What the general theorem promises."""
    return stable_places(game) <= best_places(phi)


def read(homogeneous: str, monotone: str, scale: Scale, lists: list[Games]) -> Reading:
    """Look at ``scale.games`` of the small games that satisfy both readings, or at all of them."""
    fitting = [games.chosen(satisfied(games, monotone)) for games in lists]
    places = [(pool, k) for pool, games in enumerate(fitting) for k in range(len(games))]
    # smallest first: number of profiles, largest utility, sum
    places.sort(key=lambda at: _size(fitting[at[0]], at[1]))
    random = np.random.Generator(np.random.PCG64(_SEED))
    chosen = list(range(len(places)))
    if len(places) > scale.games:
        chosen = sorted(random.choice(len(places), scale.games, replace=False).tolist())
    kept = by_eq_12 = 0
    failing = []
    for place in chosen:
        pool, k = places[place]
        game, best = fitting[pool].game(k), best_places(fitting[pool].phi[k])
        found = stability(game, JOINT, method="contraction")
        table = found.resistances()
        assert table.lemma is not None
        by_eq_12 += stable_by(table, table.lemma, game.num_profiles) <= best
        good = set(np.flatnonzero(found.stable).tolist()) <= best
        kept += good
        if not good:
            failing.append(place)
    first = None
    if failing:
        ahead = [*places[: min(_SMALLEST, failing[0])], places[failing[0]]]
        first = next(
            fitting[pool].game(k)
            for pool, k in ahead
            if not only_maximisers(fitting[pool].game(k), fitting[pool].phi[k])
        )
    alone = sum(int(one_player_matters(games).sum()) for games in fitting)
    return Reading(homogeneous, monotone, len(places), len(chosen), kept, by_eq_12, alone, first)


def without_ties(scale: Scale) -> tuple[int, int, NormalForm | None]:
    """Identical utilities, no two profiles of equal Φ, 3×3 with moves along a line: kept, looked at, the first to fail.

    Most of the small counterexamples live on ties; these do not.
    """
    kept, first = 0, None
    for k in range(scale.games):
        phi = np.random.Generator(np.random.PCG64(_SEED + k)).permutation(9).astype(float).reshape(3, 3)
        game = NormalForm([phi, phi], potential=phi, moves=[path_moves(3)] * 2)
        good = only_maximisers(game, phi)
        kept += good
        if not good and first is None:
            first = game
    return kept, scale.games, first


def _size(games: Games, k: int) -> tuple[float, ...]:
    payoffs = games.payoffs[k]
    return (payoffs[0].size, games.line, float(np.ptp(payoffs)), float(np.abs(payoffs).sum()), k)


def general_theorem(scale: Scale, rows: list[dict[str, Any]]) -> Claim:
    """As printed, and under each reading of Assumptions 4 and 5."""
    found = {}
    for homogeneous in ASSUMPTION_4:
        lists = pools(homogeneous)
        for monotone in ASSUMPTION_5:
            found[homogeneous, monotone] = read(homogeneous, monotone, scale, lists)
    # Assumption 4 as printed is clear enough; Assumption 5 is what has to be read
    literal = [found["printed", monotone] for monotone in ASSUMPTION_5]
    breaks = [one.monotone for one in literal if one.kept < one.looked_at]
    keeps = [one for one in literal if one.kept == one.looked_at]
    verdict, reason = SUPPORTED, "In every game looked at, under every reading of Assumption 5"
    if breaks and keeps:
        verdict = f"{DEPENDS} the reading of Assumption 5"
        kept = " or ".join(WORDS_5[one.monotone].removeprefix(CLIMBS) + _left(one) for one in keeps)
        climbs = f"that {CLIMBS}" if all(WORDS_5[one.monotone].startswith(CLIMBS) for one in keeps) else ""
        reason = f"With Assumption 4 as printed only if Assumption 5 means {climbs}{kept}"
    elif breaks:
        verdict, reason = (
            NOT_SUPPORTED,
            "With Assumption 4 as printed some game breaks it under every reading of Assumption 5",
        )
    said: str | None = None
    details: dict[str, Any] = {}
    if breaks:
        said, details = _general_counterexample(found["printed", breaks[0]])
    details["readings"] = [_row(one) for one in found.values()]
    generic, tried, example = without_ties(scale)
    details["without_ties"] = None if example is None else _example(example)
    details["shares"] = rows
    measured = [
        Measurement(
            f"only maximisers are stable; {_assumptions(one)}",
            _part(one, one.kept),
        )
        for one in found.values()
        if one.looked_at
    ]
    weakest = literal[0]
    measured.append(
        Measurement(
            f"only maximisers would be stable, if resistances were those of Eq. 12; {_assumptions(weakest)}",
            _part(weakest, weakest.by_eq_12),
        )
    )
    measured.append(
        Measurement(
            "only maximisers are stable; Assumption 4 as printed, no two profiles of equal Φ, 3×3, moves along a line",
            share(generic, tried),
        )
    )
    measured += [
        Measurement(
            f"control, without Assumptions 4 and 5, exactly the maximisers: {rule}",
            share(_count(rows, "potential", rule), scale.games),
        )
        for rule in (_JOINT, _UNILATERAL, _GUARDED)
    ]
    return Claim(
        name="general",
        kind="theory",
        title="Under Assumptions 1–5 every stochastically stable state of P-SBLLL maximises the potential",
        where="general theorem, Eq. 23–26",
        measured=tuple(measured),
        verdict=verdict,
        reason=reason,
        counterexample=said,
        details=details,
    )


def _part(one: Reading, count: int) -> Estimate | float:
    """A share; with an interval where the games are a sample of those that satisfy the reading."""
    return share(count, one.looked_at) if one.looked_at < one.games else count / one.looked_at


def _assumptions(one: Reading) -> str:
    """Which readings these are, in words."""
    said = WORDS_5[one.monotone]
    return f"Assumption 4 {WORDS_4[one.homogeneous]}, Assumption 5 " + (
        "left out" if one.monotone == "nothing" else f"as “{said}”"
    )


def _left(one: Reading) -> str:
    """What a reading leaves, where that is hardly a game."""
    return " (one player alone then matters)" if one.one_player == one.games else ""


def _row(one: Reading) -> dict[str, Any]:
    out = dict(vars(one))
    game = out.pop("counterexample")
    return out | {"counterexample": None if game is None else _example(game)}


def _example(game: NormalForm) -> dict[str, Any]:
    phi = np.array([game.potential(p) for p in np.ndindex(*game.num_actions)])
    data = _missed(game, stable_places(game), best_places(phi))[1]
    table = stability(game, JOINT, method="contraction").resistances()
    assert table.lemma is not None
    by_eq_12 = profiles_at(sorted(stable_by(table, table.lemma, game.num_profiles)), game.num_actions)
    return data | {"potential": phi.reshape(game.num_actions).tolist(), "stable_by_eq_12": by_eq_12}


def _general_counterexample(one: Reading) -> tuple[str, dict[str, Any]]:
    game = one.counterexample
    assert game is not None
    data = _example(game)
    phi = np.array(data["potential"])
    found = stability(game, JOINT, method="contraction")
    shares_of = ", ".join(f"{found.limit[k]:.3g}" for k in np.flatnonzero(found.stable))
    moves = "complete action sets" if data["moves"] is None else "moves along a line"
    wrong = [p for p in data["stable"] if p not in data["maximisers"]]
    said = (
        f"{_assumptions(one)}: all utilities are Φ = {table_in_words(phi)}, "
        f"{moves}. {_missed(game, stable_places(game), best_places(phi))[0]} (shares {shares_of}): "
        f"{in_words(wrong)} {'does' if len(wrong) == 1 else 'do'} not maximise."
    )
    return said, data | {"assumption_4": one.homogeneous, "assumption_5": one.monotone}
