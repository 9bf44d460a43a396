"""Where SOQL ends: the convergence theorem, and the perturbation theorem under Assumptions 6 and 7.

The convergence theorem promises a neighbourhood of α_* with probability one, "for sufficiently large m, if the
conditions [of the second proposition] hold". They fix α_*, which is played at n and n + 1. If they are to hold at n,
what is shown is a probability above 0 of staying; if at every later step, Eq. 33 gives the limit, and nothing is left
to be shown. The corollary before it gives the same conditions a probability below one, which speaks for n. It asks for
no potential game, so that without one play need not settle anywhere.

The perturbation theorem promises that the estimated equilibrium converges to a Nash equilibrium almost surely. Its
proof follows the score of the action that a stray tries, not the scores of the others, whose utilities the stray
changes too: under Assumption 6 by little, μ = 1 - X̃ being about ξ, yet in proportion to what the stray costs them.
Strays never end, as ξ is constant. In :func:`costly_strays` one is enough. From every settled state, with a
probability that is bounded below, nobody strays until scores are as near to what the equilibrium pays as one likes
(Eq. 31); then player 1 strays once, and nobody for some hundred steps. Player 0's score falls far below that of its
other action, and it leaves. By Lévy's extension of the Borel-Cantelli lemma the favourites, whenever they return, leave
again: infinitely often, almost surely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from potentia.analysis import potential, pure_nash
from potentia.analysis.score_hypotheses import likeliest
from potentia.engine import begin, watch_on
from potentia.games import NormalForm, game
from potentia.kernel.arrays import Ints
from potentia.paper.claims import DEPENDS, NOT_SUPPORTED, SUPPORTED, UNDECIDED, Judged, claim
from potentia.paper.equilibrium_study import STEPS, played, random_games
from potentia.paper.scale import Scale
from potentia.paper.small_games import in_percent, in_words, number, plain, table_in_words
from potentia.paper.soql_claims import leaving_game, unperturbed
from potentia.rules import SOQL, Rule, rule
from potentia.statistics.estimates import share_of

PERTURBED: dict[str, dict[str, Any]] = {
    "Assumptions 6 and 7": {"mu": "adaptive"},
    "without Assumption 7": {"mu": "adaptive", "alone": False},
    "constant μ = 0.97 instead of Assumption 6": {},
    "constant μ = 0.97, scores by Eq. 28 with P and Q": {"form": "pair"},
    "constant μ = 0.97, responding to Q(n+1)": {"lag": False},
    "μ = 1/n instead of Assumption 6": {"mu": "1/n"},
    "μ = 1 − X̃ as in Assumption 6, but no perturbation": {"mu": "adaptive", "xi": 0.0},
}
_PURE = 1e-6
_LAST = 500  # steps of a run at which matching pennies is watched
_PENNIES = 8  # runs
_SETTLED = 1_000  # steps that are left out, for play to settle at first
_TIMES = {100: (1, 5, 20), 25: (1, 5), 0: (1, 2)}  # so many STEPS, from so many ``learners`` on


# The convergence theorem ---------------------------------------------------------------------------------


def last_change(found: NormalForm, seed: int) -> int:
    """The last step, of ``STEPS``, at which somebody's likeliest action changed; 0 if none of the last did."""
    run = begin(found, unperturbed(), seed, record=(), horizon=STEPS).advance(STEPS - _LAST)
    best = np.argmax(watch_on(run, _LAST).strategy.values, axis=2)
    changes = np.flatnonzero((best[1:] != best[:-1]).any(axis=1))
    return STEPS - _LAST + 1 + int(changes[-1]) if changes.size else 0


@claim(
    "soql-convergence",
    "Under the proposition's conditions SOQL converges to a neighbourhood of α_* with probability one",
    "convergence theorem on SOQL, Eq. 42",
)
def convergence_theorem(scale: Scale) -> Judged:
    """To α_* with probability one? And does every run settle somewhere?"""
    example, chosen, exact = leaving_game()
    ends = []  # of runs that play α_* = (0) at n = 0 and n + 1: whether they end there, and never play anything else
    begun = 20 * scale.learners
    for seed in scale.seeds(begun):
        run = begin(example, chosen, seed, horizon=200).advance(200)
        actions = run.trace().profiles[1:]
        if (actions[:2] == 0).all():
            end = likeliest(run.strategies) == (0,) and float(run.strategies[0].max()) > 1 - _PURE
            ends.append((end, bool((actions == 0).all())))
    runs, at_start = len(ends), sum(end for end, _ in ends)
    persisted, at_last = sum(stays for _, stays in ends), sum(end and stays for end, stays in ends)
    games = random_games(scale.learners, scale.seed)
    settled = nash = 0
    for _, ended, there in played(games, unperturbed()):
        settled += all(float(x.max()) > 1 - _PURE for x in ended.strategies)
        nash += there
    pennies = game("matching-pennies")
    assert isinstance(pennies, NormalForm)
    changed = [last_change(pennies, seed) for seed in scale.seeds(_PENNIES)]
    moving = sum(step > 0 for step in changed)
    frequency = share_of(at_start, runs)
    broken = exact < 1.0 and frequency.high < 1.0
    missed = f"If they hold at n, {in_percent(frequency.mean)} of runs converge to α_* in the example"
    verdict, reason = SUPPORTED, f"All {runs:,} runs converge to α_*"
    if broken and 0 < persisted == at_last:
        verdict = f"{DEPENDS} whether the conditions hold at n or at every later step"
        reason = f"{missed}; if at every later step all do, as Eq. 33 then says"
    elif broken:
        verdict, reason = NOT_SUPPORTED, f"{missed}; if at every later step {at_last} of {persisted} do"
    said = (
        f"One player, utilities {table_in_words(example.payoffs[0])}, Q(n) = [0.1, 0], X(n) = [0.5, 0.5], "
        f"ϑ = {number(chosen.vartheta)}. Action 0 is the best response, its score rises, it is played at n and n + 1: "
        f"all that the proof asks for. It is kept for ever with probability {number(exact)}; else the player tries "
        f"action 1, which pays 1, and ends there. Of {begun:,} runs {runs:,} played it at n and n + 1, and "
        f"{at_start:,} of these converged to it."
    )
    plainly = f"SOQL with constant μ = {unperturbed().mu}, no perturbation"
    last = f"matching pennies: runs whose favourites change in the last {_LAST} of {STEPS:,} steps"
    return Judged(
        {
            "share of runs that converge to α_* in the example": frequency,
            "its exact probability": exact,
            "of runs that play α_* at every later step": share_of(at_last, max(persisted, 1)),
            f"random potential games in which X becomes pure, {plainly}": share_of(settled, len(games)),
            f"random potential games that end at a pure Nash equilibrium, {plainly}": share_of(nash, len(games)),
            last: share_of(moving, _PENNIES),
            "matching pennies: last change of the favourites, earliest of these runs": min(changed),
        },
        verdict,
        reason,
        [
            "The corollary gives the same conditions a probability below one, which speaks for n; that they hold at "
            "every later step supposes what is to be shown",
            f"To some profile, if not α_*: {settled} of {len(games)} random potential games settle, {nash} of them at "
            f"an equilibrium; but no potential game is asked for, and {moving} of {_PENNIES} runs of matching pennies "
            f"still change after {STEPS - _LAST:,} steps",
        ],
        said if broken else None,
        plain(example, rule=chosen.spec(), alpha=[0], exact=exact, runs=runs, converged=at_start)
        | {"pennies": plain(pennies, rule=unperturbed().spec(), last_changes=changed, steps=STEPS)},
    )


# The perturbation theorem --------------------------------------------------------------------------------


def costly_strays(cost: float = 1000.0) -> NormalForm:
    """A 2×2 potential game with one equilibrium, (0, 0), at which player 0 loses much whenever player 1 strays.

    Player 0 gets 1 at the equilibrium and a safe 0.5 from its other action; player 1's action 0 is dominant. With a
    cost of -1 a stray changes nothing for player 0, and the game is separable.
    """
    first = [[1.0, -cost], [0.5, 0.5]]
    second = [[cost + 2.0, 0.0], [1.0, 0.0]]
    return NormalForm([first, second])


def after_a_stray(found: NormalForm, xi: float) -> float:
    """The lowest score of player 0's settled action after one stray of player 1, by Eq. 44 with X̃ = 1 - ξ/2."""
    mu = xi / 2
    usual, struck = found.utility(0, [0, 0]), found.utility(0, [0, 1])
    before = now = lowest = usual
    for n in range(int(20 / mu)):
        received = struck if n == 0 else usual
        before, now = now, 2 * (1 - mu) * now - (1 - mu) ** 2 * before + mu**2 * received
        lowest = min(lowest, now)
    return lowest


def by_step(found: NormalForm, chosen: SOQL, played: Ints) -> Ints:
    """Everybody's likeliest action X(n) at each of the steps at which these profiles were played, (steps, N).

    Scores and strategies follow from what was played (Eq. 28-29 as in Fig. 7, Eq. 43, Assumption 6), one player apart
    from the other; so a run is played at full speed, and looked at step by step afterwards.
    """
    assert chosen.form == "two-step"
    assert chosen.lag
    keep, share_of_best = 1 - chosen.vartheta, chosen.vartheta
    zeta, xi, step = chosen.zeta, chosen.xi, chosen.mu
    out = np.empty(played.shape, np.int64)
    for i, size in enumerate(found.num_actions):
        gains = found.payoffs[i][tuple(played.T)].tolist()
        x, q = [1.0 / size] * size, [0.0] * size
        last, older, favourites = -1, 0.0, []
        for action, gain in zip(played[:, i].tolist(), gains, strict=True):
            largest, best = max(x), max(q)
            favourites.append(x.index(largest))
            s = min(max(largest - zeta, 0.0) / (1 - zeta), 1.0)
            rho = xi * s * s * (3 - 2 * s)
            mu = step if isinstance(step, float) else 1 - (1 - rho) * x[action] - rho / size
            part = share_of_best / q.count(best)
            x = [keep * weight + (part if score == best else 0.0) for weight, score in zip(x, q, strict=True)]
            now = q[action]
            before = older if action == last else now
            q[action] = 2 * (1 - mu) * now - (1 - mu) ** 2 * before + mu * mu * gain
            last, older = action, now
        out[:, i] = favourites
    return out


@dataclass(frozen=True)
class Stay:
    """Runs of one game, some steps of them: how long the favourites are the equilibrium, how often they leave it."""

    first: int
    until: int
    steps: int  # of all runs
    at: int
    departures: int
    least: int  # departures of the run that has fewest

    @property
    def share(self) -> float:
        return self.at / self.steps

    @property
    def rate(self) -> float:
        """Departures per 100,000 steps."""
        return 1e5 * self.departures / self.steps

    @property
    def words(self) -> str:
        return f"{100 * self.share:.3g} % of steps, {self.rate:,.0f} departures per 100,000"


def stays(cost: float, xi: float, seeds: Sequence[int], ends: Sequence[int]) -> list[Stay]:
    """Of :func:`costly_strays` under Assumptions 6 and 7, between one of ``ends`` and the next."""
    found, chosen = costly_strays(cost), rule("soql", mu="adaptive", xi=xi)
    assert isinstance(chosen, SOQL)
    at = []
    for seed in seeds:
        trace = begin(found, chosen, seed, record=("profile",), horizon=ends[-1]).advance(ends[-1]).trace()
        at.append((by_step(found, chosen, trace.profiles[1:]) == 0).all(axis=1))
    out = []
    for first, until in zip((_SETTLED, *ends[:-1]), ends, strict=True):
        parts = [one[first:until] for one in at]
        left = [int((part[:-1] & ~part[1:]).sum()) for part in parts]
        steps, inside = sum(part.size for part in parts), sum(int(part.sum()) for part in parts)
        out.append(Stay(first, until, steps, inside, sum(left), min(left)))
    return out


def _ended(games: Sequence[NormalForm], chosen: Rule) -> int:
    return sum(there for *_, there in played(games, chosen))


# cost of a stray, ξ, and what the case shows
_CASES = (
    (1.0, 0.2, "mild"),
    (1.0, 0.5, "mild"),
    (1.0, 0.9, "mild"),
    (-1.0, 0.5, "control, separable"),
    (10.0, 0.01, "little at stake"),
)


@claim(
    "perturbation",
    "Under Assumptions 6 and 7 the estimated equilibrium converges to a Nash equilibrium almost surely",
    "perturbation theorem, Eq. 43–44",
)
def perturbation_theorem(scale: Scale) -> Judged:
    """A game where strays cost much, milder ones, and random potential games with the assumptions and without each."""
    games = random_games(scale.learners, scale.seed)
    ended = {name: _ended(games, rule("soql", **options)) for name, options in PERTURBED.items()}
    full = rule("soql", **PERTURBED["Assumptions 6 and 7"])
    assert isinstance(full, SOQL)
    costly = costly_strays()
    seeds = scale.seeds(max(2, scale.learners // 25))
    times = next(times for learners, times in _TIMES.items() if scale.learners >= learners)
    long = stays(1000.0, full.xi, seeds, [k * STEPS for k in times])
    short = STEPS if len(times) > 2 else STEPS // 2
    others = {case: stays(*case[:2], seeds, (short,))[0] for case in _CASES}
    only = pure_nash(costly, strict=True).tolist() == pure_nash(costly).tolist() == [[0, 0]]
    # it must go on in every run; that it goes on for ever follows where a single stray is enough
    enough = after_a_stray(costly, full.xi) < costly.utility(0, [1, 0])
    broken = only and enough and long[-1].least > 0
    kept = f"{ended['Assumptions 6 and 7']} of {len(games)} random games end at an equilibrium"
    verdict, reason = SUPPORTED, f"{kept}, and where strays cost much nobody leaves it"
    if broken:
        leaving = "Where ξ times a stray's cost is not small, favourites keep leaving the only equilibrium"
        often = f"{long[-1].rate:,.0f} times per 100,000 steps, {len(seeds)} runs"
        verdict, reason = NOT_SUPPORTED, f"{leaving} ({often}); {kept.replace('an equilibrium', 'one')}"
    elif ended["Assumptions 6 and 7"] < len(games):  # at a finite horizon this shows nothing about the limit
        verdict, reason = UNDECIDED, f"{kept} within {STEPS:,} steps, and no game is known that keeps leaving"
    measured: dict[str, Any] = {}
    made = f"{len(seeds)} runs"
    every = [("costly strays", 1000.0, full.xi, one) for one in reversed(long)]  # the window that decides is first
    for name, cost, xi, one in [*every, *((name, cost, xi, one) for (cost, xi, name), one in others.items())]:
        where = f"{name} (a stray costs {_price(cost)}, ξ = {number(xi)}), {made}, steps {one.first:,} to {one.until:,}"
        measured[f"{where}: departures per 100,000 steps"] = one.rate
        measured[f"{where}: share of steps at the equilibrium"] = one.share
    for name, count in ended.items():
        label = f"random potential games that end in a pure Nash equilibrium, {name}"
        measured[label] = share_of(count, len(games))
    return Judged(
        measured,
        verdict,
        reason,
        [*_lines(long, others), *_reasons(costly, full, enough, others[_CASES[-1]])],
        _costly_words(costly, full, long) if broken else None,
        plain(
            costly,
            rule=full.spec(),
            potential=potential(costly).tolist(),
            equilibria=pure_nash(costly).tolist(),
            seeds=len(seeds),
            lowest_score=after_a_stray(costly, full.xi),
            windows=[vars(one) for one in long],
            others=[{"cost": cost, "xi": xi, **vars(one)} for (cost, xi, _), one in others.items()],
        ),
    )


def _price(cost: float) -> str:
    """What a stray costs player 0 beside what it gets otherwise; at -1 it gets the same."""
    return "nothing" if cost == -1.0 else number(cost)


def _lines(long: Sequence[Stay], others: dict[tuple[float, float, str], Stay]) -> list[str]:
    """What was found in each game."""
    costly = "; ".join(f"steps {one.first:,} to {one.until:,}: {one.words}" for one in long)
    out = [f"Strays that cost 1,000, at the equilibrium — {costly}"]
    for kind in dict.fromkeys(case[2] for case in others):
        cases = {case: one for case, one in others.items() if case[2] == kind}
        cost = next(iter(cases))[0]
        told = "; ".join(f"ξ = {case[1]:g}: {one.words}" for case, one in cases.items())
        out.append(f"Strays that cost {_price(cost)} ({kind}) — {told}")
    return out


def _reasons(costly: NormalForm, chosen: SOQL, enough: bool, little: Stay) -> list[str]:
    """Why it goes on, and what the text says of ξ and μ."""
    mu, lost = chosen.xi / 2, costly.utility(0, [0, 0]) - after_a_stray(costly, chosen.xi)
    said = {
        f"While all are settled a stray has a probability of about ξ/2 = {number(mu)} at every step and one is "
        "enough to make player 0 leave, so that departures recur infinitely often, almost surely": enough,
        f"The proof never updates the bystander's score, which one stray lowers by {number(lost)}"
        + (
            "" if little.departures else "; where ξ times a stray's cost to others is small it is kept in practice"
        ): True,
        f"Assumption 6 contradicts ϑ < μ: once settled μ = ξ/2 = {number(mu)}, ϑ = {number(chosen.vartheta)}; the "
        "text asks for ξ sufficiently close to one, and calls ρ, which tends to ξ, small": mu <= chosen.vartheta,
    }
    return [line for line, so in said.items() if so]


def _costly_words(found: NormalForm, chosen: SOQL, long: Sequence[Stay]) -> str:
    first, second = (table_in_words(table) for table in found.payoffs)
    usual, safe = (number(found.utility(0, profile)) for profile in ([0, 0], [1, 0]))
    return (
        f"u^0 = {first}, u^1 = {second}, a potential game whose only equilibrium is "
        f"{in_words(pure_nash(found).tolist())}. There player 1 strays with probability {number(chosen.xi / 2)} at a "
        f"step (ξ = {number(chosen.xi)}), for ever. One stray lets player 0's score of action 0 fall from {usual} to "
        f"{number(after_a_stray(found, chosen.xi))}, below the {safe} of its action 1, and it leaves. From step "
        f"{long[-1].first:,} to {long[-1].until:,} the favourites are the equilibrium at {long[-1].words}."
    )
