"""SOQL under repeated play: the closed forms (Eq. 30-33, 40) and the probability of staying (Eq. 32-33, 41).

The second proposition supposes that α_* is played at n and n+1 and that everybody's best response to Q(n) is its part
of α_*. Its proof takes more for granted: u(α_*) > Q_{β*}(n) and Q_{β*}(n+1) > Q_{β*}(n). Scores start at 0, so where
utilities are negative an action that was never tried looks best, until it is played.

With these two it is true for every m. While α_* is played, Eq. 31 gives u - Q(n+m) = m k^{m-1} e_1 - (m-1) k^m e_0 with
k = 1 - μ, e_0 = u - Q(n) > e_1 = u - Q(n+1), hence at most f(m) e_0, where f(m) = k^{m-1} (1 + (m-1) μ). f(1) = 1 and
f falls, so that Q(n+m) ≥ Q(n), more than the score of any other action: the best response stays, X goes on by Eq. 33,
and the next play is α_* with probability at least (1 - (1-ϑ)^c)^N. The product is a lower bound: what is on α_*
already at n adds to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from potentia.analysis import lock_in, soql_strategy, soql_values
from potentia.engine import begin, watch
from potentia.games import NormalForm
from potentia.kernel.arrays import Floats, Ints
from potentia.paper.claims import NOT_SUPPORTED, SUPPORTED, Judged, claim, share, whether
from potentia.paper.equilibrium_study import random_games
from potentia.paper.scale import Scale
from potentia.paper.small_games import generator, number, plain, table_in_words
from potentia.rules import SOQL, rule
from potentia.statistics.estimates import share_of

CLOSE = 1e-12
_LENGTH = 12  # repetitions
_WATCHED = 60  # steps of each game
_LATER = (1, 2, 4, 8, 16)  # m of Eq. 33
_CHANCE = 1e-6  # of a frequency that a true probability would be rejected for
_STAYS = ((0.5, 2), (0.3, 1))  # ϑ and players
_STAY_STEPS = 30


# Closed forms --------------------------------------------------------------------------------------------


def eq_31(mu: float, m: int, now: float, then: float, u: float) -> float:
    """Q(n+m) from Q(n) and Q(n+1), letter by letter; Eq. 32 is the same for m + 1."""
    k = 1 - mu
    return m * k ** (m - 1) * then - (m - 1) * k**m * now + ((m - 1) * k**m - m * k ** (m - 1) + 1) * u


def _by_recursion(mu: float, p: float, q: float, u: float) -> tuple[list[float], list[float]]:
    """Eq. 28, step by step."""
    ps, qs = [p], [q]
    for _ in range(_LENGTH):
        ps.append(ps[-1] + mu * (u - ps[-1]))
        qs.append(qs[-1] + mu * (ps[-2] - qs[-1]))
    return ps, qs


def _value_errors(mu: float, p: float, q: float, u: float) -> dict[str, float]:
    """How far each equation is from the recursion, at the worst m."""
    ps, qs = _by_recursion(mu, p, q, u)
    k, each = 1 - mu, range(1, _LENGTH + 1)
    closed = [soql_values(mu, m, p, q, u) for m in each]
    return {
        "Eq. 30": max(abs(k**m * p + (1 - k**m) * u - ps[m]) for m in each),
        "Eq. 31": max(abs(eq_31(mu, m, qs[0], qs[1], u) - qs[m]) for m in each),
        "Eq. 40": max(abs(2 * k * qs[m - 1] - k**2 * qs[m - 2] + mu**2 * u - qs[m]) for m in each[1:]),
        "closed form": max(max(abs(at - ps[m]), abs(also - qs[m])) for m, (at, also) in zip(each, closed, strict=True)),
    }


def _played_errors(mu: float, q: float, u: float, form: str) -> float:
    """Eq. 31 against the scores of a run of the engine, of a player with a single action."""
    chosen = rule("soql", mu=mu, vartheta=mu / 2, form=form, initial=q)
    run = begin(NormalForm([[u]]), chosen, 0, compiled=False)
    seen = [float(run.scores[0][0])] + [float(run.advance(1).scores[0][0]) for _ in range(_LENGTH)]
    return max(abs(eq_31(mu, m, seen[0], seen[1], u) - seen[m]) for m in range(1, _LENGTH + 1))


def _strategy_errors(vartheta: float, x: float) -> float:
    """Eq. 33 against a run whose best response never changes."""
    start = [[1 - x, x]]
    chosen = rule("soql", mu=0.97, vartheta=vartheta, xi=0.0, initial=[[0.0, 1.0]], initial_strategies=start)
    run = begin(NormalForm([[0.5, 1.0]]), chosen, 0, compiled=False)
    worst = []
    for m in range(1, _LENGTH + 1):
        printed = (1 - vartheta) ** m * np.array(start[0]) + (1 - (1 - vartheta) ** m) * np.array([0.0, 1.0])
        both = (run.advance(1).strategies[0], soql_strategy(vartheta, m, start[0], best=1))
        worst += [float(np.abs(seen - printed).max()) for seen in both]
    return max(worst)


@claim(
    "closed-forms",
    "Scores and strategies of SOQL after m repetitions of a profile, and their limits",
    "first proposition and corollary on SOQL, Eq. 30–33 and 40",
)
def closed_forms(scale: Scale) -> Judged:
    """Eq. 30, 31, 33 and 40, and the limit of the first corollary."""
    random, found = generator(7 + scale.seed), []
    for _ in range(scale.learners):
        mu, x = random.uniform(0.05, 0.95, 2).tolist()
        p, q, u = random.uniform(-1, 1, 3).tolist()
        found.append(
            _value_errors(mu, p, q, u)
            | {
                "Eq. 31, played": max(_played_errors(mu, q, u, form) for form in ("pair", "two-step")),
                "Eq. 33": _strategy_errors(mu * 0.9, x),
                "limit of Q less u": abs(soql_values(mu, 2000, p, q, u)[1] - u),
            }
        )
    errors = {name: max(one[name] for one in found) for name in found[0]}
    broken = [name for name, error in errors.items() if not error <= CLOSE]
    return Judged(
        {f"largest error, {name}": error for name, error in errors.items()},
        *whether(
            not broken,
            f"Every equation agrees with step-by-step recursion and with play, to within {max(errors.values()):.1g}",
            f"Off by more than {CLOSE:g}: {', '.join(broken)}",
        ),
    )


# Staying -------------------------------------------------------------------------------------------------


def unperturbed(**options: Any) -> SOQL:
    """SOQL as the propositions speak of it: without perturbation."""
    made = rule("soql", xi=0.0, **options)
    assert isinstance(made, SOQL)
    return made


def _favourites(scores: Floats) -> Ints:
    """Each player's best response to its scores, -1 where there are several; scores (..., players, actions)."""
    top = np.nanmax(scores, axis=-1, keepdims=True)
    return np.where((scores == top).sum(axis=-1) == 1, np.nanargmax(scores, axis=-1), -1)


@dataclass(frozen=True)
class Occasion:
    """A time at which the proposition's hypotheses hold."""

    n: int
    proof: bool  # whether what its proof takes for granted holds too
    kept: dict[int, bool]  # whether Eq. 33 holds at n + m + 1, for each m during which α_* was played


def occasions(game: NormalForm, seed: int, steps: int = _WATCHED) -> list[Occasion]:
    """Every such time in a run."""
    chosen = unperturbed()
    data = watch(game, chosen, steps, seed)
    scores, x, played = data.score.values, data.strategy.values, data.profile.values[1:]  # α(n) is what X(n) drew
    best = _favourites(scores)
    out = []
    for n in range(steps - 2):
        now = played[n]
        if not (best[n] == now).all() or not (played[n + 1] == now).all():
            continue
        each = range(game.num_players)
        received = [game.utility(i, now) for i in each]
        proof = all(scores[n, i, now[i]] < min(scores[n + 1, i, now[i]], received[i]) for i in each)
        pure = np.array([np.where(np.isnan(x[n, i]), np.nan, np.arange(x.shape[2]) == now[i]) for i in each])
        kept = {}
        for m in _LATER:
            if n + m + 1 > steps or not (played[n : n + m + 1] == now).all():
                break
            keep = (1 - chosen.vartheta) ** (m + 1)
            kept[m] = bool(np.nanmax(np.abs(keep * x[n] + (1 - keep) * pure - x[n + m + 1])) < 1e-9)
        out.append(Occasion(n, proof, kept))
    return out


@cache
def smallest_stay() -> tuple[NormalForm, int, int] | None:
    """A player with two actions, a seed and a time at which the hypotheses hold and Eq. 33 does not."""
    game = NormalForm([[-1.0, -2.0]])
    for steps in range(3, 10):  # the shortest run first
        for seed in range(20):
            for one in occasions(game, seed, steps):
                if not one.kept[1]:
                    return game, seed, one.n
    return None


def least_advance(mu: float, m: int) -> float:
    """f(m): the largest part of u - Q(n) that may be left after m plays, with the proof's conditions."""
    return (1 - mu) ** (m - 1) * (1 + (m - 1) * mu)


@claim(
    "lock-in",
    "A best response played twice is kept for m steps with probability ∏(1−(1−ϑ)^c)^N at least",
    "second proposition on SOQL, Eq. 32–33",
)
def lock_in_proposition(scale: Scale) -> Judged:
    """Eq. 33 at m = 1 and later, wherever the hypotheses hold in runs on random potential games."""
    every = [one for seed, game in enumerate(random_games(scale.learners, scale.seed)) for one in occasions(game, seed)]
    times, failed = len(every), sum(not one.kept[1] for one in every)
    proven = {m: [one.kept[m] for one in every if one.proof and m in one.kept] for m in _LATER}
    left = max(least_advance(mu, m) for mu in np.linspace(0.01, 0.99, 99) for m in range(1, 200))
    found = smallest_stay()
    also = left <= 1.0 and all(kept and all(kept) for kept in proven.values())
    return Judged(
        {
            "times in runs on random games at which its hypotheses hold": times,
            "at how many of these Eq. 33 fails one step later": failed,
        }
        | {
            f"with u > Q(n), Q(n+1) > Q(n) and α_* played until n + {m}, Eq. 33 holds": share(kept)
            for m, kept in proven.items()
            if kept
        }
        | {"largest f(m) = (1−μ)^(m−1) (1+(m−1)μ), m < 200": left},
        *whether(
            found is None and not failed,
            f"At all {times:,} times at which its hypotheses hold",
            f"It fails at {failed:,} of {times:,} times, as its proof takes u > Q(n) and Q(n+1) > Q(n) for granted"
            + ("; with these it holds for every m" if also else ""),
        ),
        [
            f"With u > Q(n) and Q(n+1) > Q(n), Eq. 33 held for m = {', '.join(map(str, _LATER))} whenever α_* was "
            "played so long; for every m as u − Q(n+m) ≤ f(m) (u − Q(n)) with f(m) ≤ 1, so that no other score "
            "overtakes"
        ]
        * also,
        *((None, {}) if found is None else _stay_words(*found)),
    )


def _stay_words(game: NormalForm, seed: int, n: int) -> tuple[str, dict[str, Any]]:
    data = watch(game, unperturbed(), n + 2, seed)
    scores, x = data.score.values[:, 0], data.strategy.values[:, 0]
    actions = data.profile.values[1:, 0].tolist()
    action = actions[n]
    bound = lock_in(unperturbed().vartheta, 1, 1)
    keep = (1 - unperturbed().vartheta) ** 2
    printed = keep * x[n, action] + 1 - keep
    utilities, now, then = (table_in_words(row) for row in (game.payoffs[0], scores[n], scores[n + 1]))
    said = (
        f"One player, utilities {utilities}, scores from 0. It plays {', '.join(str(a) for a in actions)}. At n = {n} "
        f"its scores are {now}: action {action} is the best response, and it is played at n and n + 1. But it pays "
        f"{number(game.utility(0, [action]))}: Q(n+1) is {then}, the best response changes, and X(n+2) has "
        f"{number(float(x[n + 2, action]))} on action {action}, not {number(float(printed))}. Eq. 33 fails for "
        f"certain, where it is promised with probability {number(bound)}."
    )
    kept = {"actions": actions, "scores": scores.tolist(), "strategies": x.tolist(), "n": n, "seed": seed}
    return said, plain(game, rule=unperturbed().spec(), printed=float(printed), **kept)


def stayed(vartheta: float, players: int, seeds: Iterable[int]) -> int:
    """Runs of the engine in which players that had no weight on a profile one step before all stay there."""
    game = NormalForm(_own(players))
    first = [[1 - vartheta, vartheta]] * players
    chosen = unperturbed(vartheta=vartheta, initial=[[0.0, 0.1]] * players, initial_strategies=first)
    count = 0
    for seed in seeds:
        run = begin(game, chosen, seed, horizon=_STAY_STEPS).advance(_STAY_STEPS)
        count += bool((run.trace().profiles[1:] == 1).all())
    return count


def _own(players: int) -> Floats:
    """Everybody gets 1 for action 1 and 0 for action 0."""
    return np.indices((2,) * players).astype(float)


@claim(
    "lock-in-probability",
    "Under the proposition's conditions SOQL goes to its limits with probability ∏(1−(1−ϑ)^c)^N, or at least with that",
    "second corollary on SOQL, Eq. 41–42",
)
def lock_in_probability(scale: Scale) -> Judged:
    """∏ (1 - (1-ϑ)^c)^N against exact fractions and against how often runs stay."""
    from scipy.stats import binomtest

    runs, errors, seen = 20 * scale.learners, [], []
    measured: dict[str, Any] = {}
    cases: list[dict[str, Any]] = []
    for vartheta, players in _STAYS:
        step = Fraction(str(vartheta))
        exact = math.prod((1 - (1 - step) ** c) ** players for c in range(1, _STAY_STEPS + 1))
        product, count = lock_in(vartheta, players, _STAY_STEPS), stayed(vartheta, players, scale.seeds(runs))
        cases.append({"vartheta": vartheta, "players": players, "stayed": count, "runs": runs, "product": product})
        errors.append(abs(product / float(exact) - 1.0))
        measured[f"share of runs that stay, ϑ = {vartheta:g}, N = {players}"] = often = share_of(count, runs)
        measured[f"the product ∏(1−(1−ϑ)^c)^N, ϑ = {vartheta:g}, N = {players}"] = product
        seen.append(f"{100 * often.mean:.1f} % [{100 * often.low:.1f} %, {100 * often.high:.1f} %]")
    said = [f"{100 * case['product']:.1f} %" for case in cases]
    fewer, exactly = (  # the chances of so few runs that stay; of so few or so many
        [float(binomtest(one["stayed"], runs, one["product"], alternative=side).pvalue) for one in cases]
        for side in ("less", "two-sided")
    )
    forever = lock_in(0.5, 1)
    series = math.fsum(0.5**c for c in range(1, 60))
    bound = max(errors) < CLOSE and min(fewer) > _CHANCE / len(fewer) and forever > 0.0
    attained = bound and min(exactly) > _CHANCE / len(exactly)
    game, chosen, exact_stay = leaving_game()
    equal, never = abs(exact_stay - forever) < CLOSE, smallest_stay() is not None
    verdict, reason = SUPPORTED, "The product is the probability in every case"
    if not equal or never:
        verdict, reason = NOT_SUPPORTED, _as_printed(exact_stay, forever, never, bound)
    elif not bound:
        verdict, reason = NOT_SUPPORTED, f"Off: {seen[0]} of {runs:,} runs stay where the product is {said[0]}"
    return Judged(
        {
            "the probability itself in the example, ϑ = 0.5, N = 1": exact_stay,
            "the product for ever, ϑ = 0.5, N = 1": forever,
        }
        | measured
        | {
            "relative error of the product against exact fractions": max(errors),
            "a slip in the proof: Σ (1−ϑ)^c from c = 1 on, ϑ = 0.5, said to be 1/ϑ = 2": series,
        },
        verdict,
        reason,
        [
            f"With the proof's conditions and no weight on α_* before n, {seen[0]} of {runs:,} runs stay where the "
            f"product is {said[0]} (by chance with probability {exactly[0]:.2g}), and {seen[1]} where it is {said[1]} "
            f"({exactly[1]:.2g}); equality is rejected below {_CHANCE / len(exactly):g}"
            + ("; weight that is there already adds to it" if attained else ", which is not the product itself")
        ],
        None if equal else _more_than_the_product(game, chosen, exact_stay, forever),
        {"steps": _STAY_STEPS, "cases": cases, "p_values": exactly}
        | plain(game, rule=chosen.spec(), exact=exact_stay, product=forever),
    )


def leaving_game() -> tuple[NormalForm, SOQL, float]:
    """A player that responds to what it plays and learns better only if it happens to try the other action.

    The last is the probability of action 0 at every n + 2, n + 3, ..., having been played at n and n + 1.
    """
    options = {"initial": [[0.1, 0.0]], "initial_strategies": [[0.5, 0.5]]}
    chosen = unperturbed(**options)
    return NormalForm([[0.5, 1.0]]), chosen, staying_probability(chosen.vartheta, 0.5)


def staying_probability(vartheta: float, weight: float) -> float:
    """That action 0 is played at every n + 2, n + 3, ...: its share then is 1 - (1-ϑ)^k (1 - weight), weight at n."""
    return math.prod(1 - (1 - vartheta) ** k * (1 - weight) for k in range(2, 400))


def _as_printed(exact: float, product: float, never: bool, bound: bool) -> str:
    """An equality, a lower bound, or neither."""
    nor = "; nor a bound: 0 in the second proposition's counterexample" if never else ""
    return (
        f"Not an equality: {100 * exact:.1f} % where the product is {100 * product:.1f} %{nor}; with the proof's "
        f"conditions {'a lower bound' if bound else 'no bound either'}"
    )


def _more_than_the_product(game: NormalForm, chosen: SOQL, exact: float, product: float) -> str:
    return (
        f"One player, utilities {table_in_words(game.payoffs[0])}, Q(n) = [0.1, 0], X(n) = [0.5, 0.5], "
        f"ϑ = {number(chosen.vartheta)}; action 0 is the best response, its score rises, and it is played at n and "
        f"n + 1. It is kept for ever with probability ∏_(c≥3) (1−(1−ϑ)^c) = {number(exact)}, not {number(product)}."
    )
