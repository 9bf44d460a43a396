"""Which profiles P-SBLLL keeps: the separable proposition and the general theorem.

The separable proposition says that exactly the potential maximisers are stable, the general theorem that only
maximisers are. Stable sets come from least-resistance trees, never from a closed form.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from potentia.analysis import Stability
from potentia.analysis.chains.ways import cheapest_way
from potentia.games import Game, NormalForm
from potentia.paper import readings
from potentia.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, Judged, claim, listed, whether
from potentia.paper.kept_shares import RULES, SEED, by_rule, exactly
from potentia.paper.resistance_claims import separable_games
from potentia.paper.scale import Scale
from potentia.paper.small_games import (
    JOINT,
    best_places,
    in_percent,
    in_words,
    number,
    plain,
    potentials_of,
    profiles_at,
    resistances,
    solved,
    stable_by,
    stable_places,
    table_in_words,
)
from potentia.rules import rule_from
from potentia.statistics.estimates import Estimate, share_of

_BLLL, _JOINT, *_OTHERS = RULES


@claim(
    "separable",
    "In separable potential games the stochastically stable states of P-SBLLL are the maximisers",
    "separable proposition, Eq. 19–22, under Assumptions 1–3",
)
def separable_proposition(scale: Scale) -> Judged:
    """Exactly the maximisers, in separable games with ties and constrained moves too."""
    games, rows = separable_games(scale.games, SEED + scale.seed), by_rule(scale)
    missed = [game for game in games if stable_places(game) != best_places(potentials_of(game))]
    kept, tables = len(games) - len(missed), exactly(rows, "separable", _JOINT)
    others = {rule: exactly(rows, "potential", rule) for rule in RULES}
    failures = len(missed) + round((1 - tables.mean) * scale.games)
    return Judged(
        {
            "separable games that keep it, with ties and constrained moves among them": share_of(kept, len(games)),
            "separable games that keep it, no ties, complete action sets": tables,
        }
        | {f"control, games that are not separable: {rule}": share for rule, share in others.items()},
        *whether(
            not failures,
            f"In all {len(games) + scale.games:,} separable games; of games that are not separable "
            f"{in_percent(others[_JOINT].mean)} keep exactly the maximisers",
            f"It fails in {failures} separable games",
        ),
        (),
        *(_missed(missed[0]) if missed else (None, {})),
    )


def _missed(game: Game) -> tuple[str, dict[str, Any]]:
    """In words and as data: a game whose stable states are not what was promised."""
    best, stable = best_places(potentials_of(game)), stable_places(game)
    data = plain(game, rule=JOINT, maximisers=profiles_at(sorted(best), game.num_actions))
    data |= {"stable": profiles_at(sorted(stable), game.num_actions)}
    said = (
        f"Φ is largest at {in_words(data['maximisers'])}, the stable states of P-SBLLL are {in_words(data['stable'])}"
    )
    return said, data


# The general theorem -------------------------------------------------------------------------------------


@claim(
    "general",
    "Under Assumptions 1–5 every stochastically stable state of P-SBLLL maximises the potential",
    "general theorem, Eq. 23–26",
)
def general_theorem(scale: Scale) -> Judged:
    """As printed, and under each reading of Assumptions 4 and 5."""
    rows = by_rule(scale)
    lists = {homogeneous: readings.pools(homogeneous) for homogeneous in readings.ASSUMPTION_4}
    every = itertools.product(readings.ASSUMPTION_4, readings.ASSUMPTION_5)
    found = [readings.read(four, five, scale, lists[four]) for four, five in every]
    literal = [one for one in found if one.homogeneous == "printed"]
    breaks = [one for one in literal if not one.holds]
    verdict, reason = _verdict(found), _divided(found)
    said: str | None = None
    details: dict[str, Any] = {}
    generic, tried, example = readings.without_ties(scale)
    if breaks:
        said, details = _general_counterexample(min(breaks, key=lambda one: one.games))  # the strongest asks for most
        said += "" if example is None else _also_without_ties(example)
    details["readings"] = [_row(one) for one in found]
    details["without_ties"] = None if example is None else _example(example)
    details["shares"] = rows
    stable, would = "only maximisers are stable", "only maximisers would be stable, if resistances were those of Eq. 12"
    return Judged(
        {
            f"readings of Assumption 5 that break it, Assumption 4 {readings.WORDS_4[four]}": (
                f"{sum(not one.holds for one in those)} of {len(those)}"
            )
            for four, those in _read(found).items()
        }
        | {f"{stable}; {_assumptions(one)}": _part(one, one.kept) for one in found if one.looked_at}
        | {f"{would}; {_assumptions(one)}": _part(one, one.by_eq_12) for one in literal if one.by_eq_12 is not None}
        | {
            f"{stable}; Assumption 4 as printed, Φ = 0 to 8 in random order, no two alike, two players, 3×3, moves "
            "along a line (the figure has three players and other Φ)": share_of(generic, tried)
        }
        | {
            f"control, without Assumptions 4 and 5, exactly the maximisers: {rule}": exactly(rows, "potential", rule)
            for rule in (_JOINT, *_OTHERS)
        },
        verdict,
        reason,
        [*map(_in_a_line, found), "Kept means in all games looked at, which are small: no proof"],
        said,
        details,
    )


def _verdict(found: Sequence[readings.Reading]) -> str:
    """Of the two assumptions, it depends on those along which alone the answer changes, as elsewhere."""
    read = [one for one in found if one.monotone != "nothing"] or found
    holds = {(one.homogeneous, one.monotone): one.holds for one in read}
    if len(set(holds.values())) == 1:
        return SUPPORTED if all(holds.values()) else NOT_SUPPORTED
    fours, fives = zip(*holds, strict=True)
    by_4 = any(len({so for (_, five), so in holds.items() if five == one}) > 1 for one in fives)
    by_5 = any(len({so for (four, _), so in holds.items() if four == one}) > 1 for one in fours)
    changing = listed([name for name, so in (("4", by_4), ("5", by_5)) if so])
    return f"{DEPENDS} the reading{'s' if by_4 and by_5 else ''} of Assumption{'s' if by_4 and by_5 else ''} {changing}"


def _read(found: Sequence[readings.Reading]) -> dict[str, list[readings.Reading]]:
    """The readings of Assumption 5 by that of Assumption 4; to leave it out is none."""
    return {
        four: [one for one in found if one.homogeneous == four and one.monotone != "nothing"]
        for four in dict.fromkeys(one.homogeneous for one in found)
    }


def _divided(found: Sequence[readings.Reading]) -> str:
    """How many readings of Assumption 5 break it, with the fourth as it is printed and as it is explained."""
    read = _read(found)
    broken = {four: [one for one in those if not one.holds] for four, those in read.items()}
    counts = sorted({len(those) for those in read.values()})
    told: list[str] = []
    for four, those in broken.items():
        verb, games = (
            ("", "") if told else (" breaks the theorem" if len(those) == 1 else " break the theorem", " games")
        )
        told.append(f"{len(those)}{verb} with 4 {readings.WORDS_4[four]}{_lost(those, games)}")
    return f"Assumption 5 has no single meaning: of {counts[-1]} readings {', '.join(told)}"


def _lost(broken: Sequence[readings.Reading], games: str) -> str:
    """In how many games these readings break it: a count where as many were looked at for each, else a share."""
    if not broken:
        return ""
    looked = {one.looked_at for one in broken}
    lost = sorted(broken, key=lambda one: (one.looked_at - one.kept) / one.looked_at)
    counts = [one.looked_at - one.kept for one in (lost[0], lost[-1])]
    if len(looked) == 1:
        ends, of = [f"{count:,}" for count in counts], f" of {looked.pop():,}{games}"
    else:
        shares = [count / one.looked_at for count, one in zip(counts, (lost[0], lost[-1]), strict=True)]
        ends, of = [in_percent(part) for part in shares], f" of{games}" if games else ""
    return f" ({' to '.join(dict.fromkeys(ends))}{of})"


def _in_a_line(one: readings.Reading) -> str:
    """A reading, how many games it leaves, and what became of the theorem there."""
    several = one.games - one.one_player
    matter = "one player alone matters in each" if several == 0 else f"several players matter in {several:,}"
    looked = "" if one.looked_at == one.games else f", {one.looked_at:,} looked at"
    kept = "kept in all" if one.holds else f"broken in {one.looked_at - one.kept:,}"
    return f"{_assumptions(one)}: {one.games:,} small games ({matter}){looked}, {kept}"


def _part(one: readings.Reading, count: int) -> Estimate | float:
    """A share; with an interval where the games are a sample of those that satisfy the reading."""
    return share_of(count, one.looked_at) if one.looked_at < one.games else count / one.looked_at


def _assumptions(one: readings.Reading) -> str:
    """Which readings these are, in words."""
    five = "left out" if one.monotone == "nothing" else f"as “{readings.WORDS_5[one.monotone]}”"
    return f"Assumption 4 {readings.WORDS_4[one.homogeneous]}, Assumption 5 {five}"


def _row(one: readings.Reading) -> dict[str, Any]:
    game = one.counterexample
    return vars(one) | {"counterexample": None if game is None else _example(game)}


def _example(game: NormalForm) -> dict[str, Any]:
    data = _missed(game)[1]
    table, lemma, _ = resistances(solved(game))
    by_eq_12 = profiles_at(sorted(stable_by(table, lemma, game.num_profiles)), game.num_actions)
    phi = potentials_of(game).reshape(game.num_actions)
    single = readings.Games(phi[None], np.array(data["payoffs"])[None], data["moves"] is not None)
    met = [name for name in readings.WORDS_5 if readings.satisfied(single, name).all()]
    return data | {"potential": phi.tolist(), "stable_by_eq_12": by_eq_12, "assumption_5": met}


def _general_counterexample(one: readings.Reading) -> tuple[str, dict[str, Any]]:
    game = one.counterexample
    assert game is not None
    data = _example(game)
    met = listed([f"“{readings.WORDS_5[name]}”" for name in data["assumption_5"] if name != "nothing"])
    read_as = f"as {met}" if met else "left out"
    return f"Assumption 4 as printed, Assumption 5 {read_as}: {_wrong_words(game, data)}", data


def _also_without_ties(game: NormalForm) -> str:
    return f" Without ties, Assumption 5 left out: {_wrong_words(game, _example(game))}"


def _wrong_words(game: NormalForm, data: dict[str, Any]) -> str:
    found = solved(game)
    shares = ", ".join(f"{found.limit[k]:.3g}" for k in np.flatnonzero(found.stable))
    moves = "complete action sets" if data["moves"] is None else "moves along a line"
    wrong = [p for p in data["stable"] if p not in data["maximisers"]]
    told = (
        f"all utilities are Φ = {table_in_words(np.array(data['potential']))}, {moves}. {_missed(game)[0]} (shares "
        f"{shares}): {in_words(wrong)} {'does' if len(wrong) == 1 else 'do'} not maximise."
    )
    return told + _way_out(game, found, data)


def _way_out(game: NormalForm, found: Stability, data: dict[str, Any]) -> str:
    """How play gets from a maximiser to what does not maximise in one step at no cost, if it does."""
    table = resistances(found)[0]
    best, stable = best_places(potentials_of(game)), stable_places(game)
    for k in np.flatnonzero(table.exact <= found.tolerance):
        source, target = int(table.sources[k]), int(table.targets[k])
        if source in best and target in stable - best:
            way = cheapest_way(game, rule_from(JOINT), source, target, 0.0)
            worth = number(float(potentials_of(game)[target]))
            return f" {' '.join(way.sentences(game))} There Φ is {worth}."
    return ""
