"""Which profiles are stochastically stable: the separable proposition, the general theorem, and two quoted theorems.

The separable proposition and the BLLL theorem say that exactly the potential maximisers are stable, the general
theorem that only maximisers are. Stable sets come from least-resistance trees, never from a closed form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from potentia.analysis import finite_improvement, stability
from potentia.games import NormalForm, random_potential_game
from potentia.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, Claim, Measurement
from potentia.paper.kept_shares import RULES, random_games, shares
from potentia.paper.readings import (
    ASSUMPTION_4,
    ASSUMPTION_5,
    EXPLAINED,
    WORDS_4,
    WORDS_5,
    Games,
    Reading,
    pools,
    read,
    satisfied,
    without_ties,
)
from potentia.paper.resistance_claims import separable_games
from potentia.paper.scale import Scale
from potentia.paper.small_games import (
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
from potentia.statistics.estimates import Estimate, share_of

KINDS = {
    "potential": "any potential game",
    "separable": "separable",
    "identical": "identical utilities",
    "constrained": "identical utilities, moves along a line",
}
_SEED = 1000


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
            Measurement(
                f"games in which exactly the maximisers are stable: {KINDS[kind]}", share_of(count, scale.games)
            )
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
            Measurement("random potential games without a cycle of better replies", share_of(kept, scale.games)),
            Measurement("control, random games of any kind without such a cycle", share_of(control, scale.games)),
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
        Measurement(f"control, games that are not separable: {r}", share_of(_count(rows, "potential", r), scale.games))
        for r in RULES
    ]
    return Claim(
        name="separable",
        kind="theory",
        title="In separable potential games the stochastically stable states of P-SBLLL are the maximisers",
        where="separable proposition, Eq. 19–22, under Assumptions 1–3",
        measured=(
            Measurement(
                "separable games that keep it, with ties and constrained moves among them", share_of(kept, len(games))
            ),
            Measurement("separable games that keep it, no ties, complete action sets", share_of(tables, scale.games)),
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


def general_theorem(scale: Scale, rows: list[dict[str, Any]]) -> Claim:
    """As printed, and under each reading of Assumptions 4 and 5."""
    found = {}
    for homogeneous in ASSUMPTION_4:
        lists = pools(homogeneous)
        for monotone in ASSUMPTION_5:
            found[homogeneous, monotone] = read(homogeneous, monotone, scale, lists)
    # Assumption 4 as printed is clear enough; Assumption 5 is what has to be read
    literal = [found["printed", monotone] for monotone in ASSUMPTION_5]
    breaks = [one for one in literal if not one.holds]
    verdict, reason = SUPPORTED, "In every game looked at, under every reading of Assumption 5"
    if len(breaks) == len(literal):
        verdict = NOT_SUPPORTED
        reason = "With Assumption 4 as printed some game breaks it under every reading of Assumption 5"
    elif breaks:
        verdict, reason = f"{DEPENDS} the reading of Assumption 5", _divided(literal)
    said: str | None = None
    details: dict[str, Any] = {}
    generic, tried, example = without_ties(scale)
    if breaks:
        said, details = _general_counterexample(min(breaks, key=lambda one: one.games))  # the strongest asks for most
        said += "" if example is None else _also_without_ties(example)
    details["readings"] = [_row(one) for one in found.values()]
    details["without_ties"] = None if example is None else _example(example)
    details["shares"] = rows
    measured = [
        Measurement(f"only maximisers are stable; {_assumptions(one)}", _part(one, one.kept))
        for one in found.values()
        if one.looked_at
    ]
    measured += [
        Measurement(
            f"only maximisers would be stable, if resistances were those of Eq. 12; {_assumptions(one)}",
            _part(one, one.by_eq_12),
        )
        for one in literal
        if one.by_eq_12 is not None
    ]
    measured.append(
        Measurement(
            "only maximisers are stable; Assumption 4 as printed, no two profiles of equal Φ, 3×3, moves along a line",
            share_of(generic, tried),
        )
    )
    measured += [
        Measurement(
            f"control, without Assumptions 4 and 5, exactly the maximisers: {rule}",
            share_of(_count(rows, "potential", rule), scale.games),
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
        evidence=tuple(
            _in_a_line(one) for (_, read_as), one in found.items() if one in literal or read_as == EXPLAINED
        ),
        counterexample=said,
        details=details,
    )


def _divided(literal: list[Reading]) -> str:
    """What became of the sentence that the authors print, and of the other readings."""
    broken = [one for one in literal if not one.holds]
    some = f"{len(broken)} of {len(literal)} readings break it"
    explained = next((one for one in literal if one.monotone == EXPLAINED), None)
    if explained is None:
        return f"With Assumption 4 as printed {len(broken)} of {len(literal)} readings of Assumption 5 break it"
    kept = "it is kept" if explained.holds else "it breaks"
    return f"With Assumption 4 as printed {kept} as the authors explain Assumption 5 ({WORDS_5[EXPLAINED]}); {some}"


def _in_a_line(one: Reading) -> str:
    """A reading, how many games it leaves, and what became of the theorem there."""
    several = one.games - one.one_player
    matter = "one player alone matters in each" if several == 0 else f"several players matter in {several:,}"
    looked = "" if one.looked_at == one.games else f", {one.looked_at:,} looked at"
    kept = "kept in all" if one.holds else f"broken in {one.looked_at - one.kept:,}"
    return f"{_assumptions(one)}: {one.games:,} small games ({matter}){looked}, {kept}"


def _part(one: Reading, count: int) -> Estimate | float:
    """A share; with an interval where the games are a sample of those that satisfy the reading."""
    return share_of(count, one.looked_at) if one.looked_at < one.games else count / one.looked_at


def _assumptions(one: Reading) -> str:
    """Which readings these are, in words."""
    said = WORDS_5[one.monotone]
    return f"Assumption 4 {WORDS_4[one.homogeneous]}, Assumption 5 " + (
        "left out" if one.monotone == "nothing" else f"as “{said}”"
    )


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
    phi = phi.reshape(game.num_actions)
    single = Games(phi[None], np.array(data["payoffs"])[None], data["moves"] is not None)
    met = [name for name in WORDS_5 if satisfied(single, name).all()]
    return data | {"potential": phi.tolist(), "stable_by_eq_12": by_eq_12, "assumption_5": met}


def _general_counterexample(one: Reading) -> tuple[str, dict[str, Any]]:
    game = one.counterexample
    assert game is not None
    data = _example(game)
    met = [f"“{WORDS_5[name]}”" for name in data["assumption_5"] if name != "nothing"]
    words = met[0] if len(met) == 1 else " and ".join([", ".join(met[:-1]), *met[-1:]]) if met else ""
    said = f"Assumption 4 as printed, Assumption 5 {f'as {words}' if words else 'left out'}: {_wrong_words(game, data)}"
    return said, data


def _also_without_ties(game: NormalForm) -> str:
    return f" Without ties, Assumption 5 left out: {_wrong_words(game, _example(game))}"


def _wrong_words(game: NormalForm, data: dict[str, Any]) -> str:
    phi = np.array(data["potential"])
    found = stability(game, JOINT, method="contraction")
    shares_of = ", ".join(f"{found.limit[k]:.3g}" for k in np.flatnonzero(found.stable))
    moves = "complete action sets" if data["moves"] is None else "moves along a line"
    wrong = [p for p in data["stable"] if p not in data["maximisers"]]
    return (
        f"all utilities are Φ = {table_in_words(phi)}, {moves}. "
        f"{_missed(game, stable_places(game), best_places(phi))[0]} (shares {shares_of}): "
        f"{in_words(wrong)} {'does' if len(wrong) == 1 else 'do'} not maximise."
    )
