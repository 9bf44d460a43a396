"""Does SOQL end in a pure Nash equilibrium? Random potential games, and why a constant step does not stay there.

The score of an action that was idle, or whose score is steady, has Q(n-1) = Q(n). One play then moves it by μ² of the
way to what was received: 2(1-μ)Q - (1-μ)²Q + μ²u = Q + μ²(u - Q). So

- with μ = 0.97 one play replaces 94 % of it. When one player tries an action, the *others* still play theirs, and
  their scores fall or rise to what that one step paid; a player whose score falls below that of another of its
  actions leaves the equilibrium, although nobody who knew the game would;
- with μ = 1/n an action tried now and then has moves that sum to a finite number: late ones change next to nothing;
- with Assumption 6, μ = 1 - X̃, it is replaced for the action tried (X̃ small) and all but kept for the one that is
  the player's settled choice (X̃ near 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from potentia.analysis import pure_nash
from potentia.analysis.score_hypotheses import likeliest
from potentia.engine import Run, begin, watch_on
from potentia.games import NormalForm, random_potential_game
from potentia.kernel.arrays import Ints
from potentia.rules import Rule, rule
from potentia.statistics.estimates import Estimate, share_of

GAMES = 100
STEPS = 20_000
WATCHED = 500  # last steps, looked at one by one

RULES: dict[str, dict[str, Any]] = {
    "Assumption 6 (μ = 1 − X̃)": {"mu": "adaptive"},
    "constant μ = 0.97": {},
    "constant μ, pair form": {"form": "pair"},
    "constant μ, lag=False": {"lag": False},
    "μ = 1/n": {"mu": "1/n"},
}
ADAPTIVE, CONSTANT, *_, DIMINISHING = RULES


def random_games(count: int = GAMES, seed: int = 0) -> list[NormalForm]:
    """Random exact potential games of 2 to 4 players with 2 to 4 actions each."""
    out = []
    for k in range(seed, seed + count):
        random = np.random.default_rng(k)
        out.append(random_potential_game(random.integers(2, 5, size=random.integers(2, 5)).tolist(), k))
    return out


def equilibria(game: NormalForm) -> set[tuple[int, ...]]:
    """The pure Nash equilibria."""
    return {tuple(profile) for profile in pure_nash(game).tolist()}


def played(
    games: Sequence[NormalForm], chosen: Rule, steps: int = STEPS, record: Sequence[str] = ()
) -> Iterator[tuple[NormalForm, Run, bool]]:
    """Each game once, its place being the seed; with the run, and whether everybody's likeliest action is one."""
    for seed, game in enumerate(games):
        run = begin(game, chosen, seed, record=record, horizon=steps).advance(steps)
        yield game, run, likeliest(run.strategies) in equilibria(game)


# Where runs end ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ended:
    """Runs of one rule, one on each game: argmax X at the end, and what was played in the second half."""

    name: str
    at_nash: Estimate  # share of runs whose argmax X is a pure Nash equilibrium
    time_at_nash: float  # share of the second half's steps, in the mean over runs
    failed: int  # runs whose argmax X is none
    passing: int  # of those, runs that played an equilibrium most of all profiles in the second half
    stuck: int  # of those, runs that played one other profile in over half of it


def end(name: str, games: Sequence[NormalForm], steps: int = STEPS) -> Ended:
    """Play each game once; the game's place is the seed."""
    time_at_nash, kinds = [], []
    for game, run, there in played(games, rule("soql", **RULES[name]), steps, ("profile",)):
        nash = equilibria(game)
        profiles, counts = np.unique(run.trace().profiles[-(steps // 2) :], axis=0, return_counts=True)
        weights = counts / counts.sum()
        at = np.array([tuple(profile) in nash for profile in profiles.tolist()])
        time_at_nash.append(float(weights[at].sum()))
        if not there:
            most = int(weights.argmax())
            kinds.append((at[most], not at[most] and weights[most] > 0.5))
    failed = len(kinds)
    passing, stuck = np.array(kinds, int).reshape(-1, 2).sum(axis=0).tolist()
    at_nash = share_of(len(games) - failed, len(games))
    return Ended(name, at_nash, float(np.mean(time_at_nash)), failed, passing, stuck)


def table(games: Sequence[NormalForm] | None = None, steps: int = STEPS) -> list[Ended]:
    """Every rule on the same games."""
    return [end(name, random_games() if games is None else games, steps) for name in RULES]


# Why a constant step does not stay --------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """One player tries an action at a settled equilibrium, and another's score of its own action falls below."""

    game: int
    step: int
    equilibrium: tuple[int, ...]
    trier: int
    tried: int
    bystander: int
    before: tuple[float, ...]  # the bystander's scores
    after: tuple[float, ...]
    received: float  # what the bystander got at that step
    worths: tuple[float, ...]  # what its actions pay at the equilibrium


@dataclass(frozen=True)
class Trials:
    """Steps at which everybody's choice is a settled equilibrium and exactly one player plays something else."""

    name: str
    count: int
    by_trier: int  # after which the one that tried has another highest score
    by_others: int  # after which one of the others has
    elsewhere: int  # after which the favourites are another profile 50 steps later
    shaken: tuple[Trial, ...]  # those of ``by_others`` after which they are elsewhere for good, or 40 steps at least


def trials(name: str, games: Sequence[NormalForm], steps: int = STEPS, watched: int = WATCHED) -> Trials:
    """Look at the last steps of each run one by one."""
    chosen = rule("soql", **RULES[name])
    total = np.zeros(4, np.int64)
    shaken: list[Trial] = []
    for seed, game in enumerate(games):
        run = begin(game, chosen, seed, record=(), horizon=steps)
        run.advance(steps - watched)
        counts, found = _in_one(game, seed, watch_on(run, watched), chosen)
        total += counts
        shaken += found
    count, by_trier, by_others, elsewhere = total.tolist()
    return Trials(name, count, by_trier, by_others, elsewhere, tuple(shaken))


LATER, _SOON = 50, 10  # steps


def _in_one(game: NormalForm, number: int, data: Any, chosen: Rule) -> tuple[Ints, list[Trial]]:
    scores, strategies, played = data.score.values, data.strategy.values, data.profile.values
    top, best = np.nanargmax(strategies, axis=2), np.nanargmax(scores, axis=2)
    calm = (np.nanmax(strategies, axis=2) > chosen.zeta).all(axis=1) & (top == best).all(axis=1)  # type: ignore[attr-defined]
    nash = equilibria(game)
    counts, found = np.zeros(4, np.int64), []
    for n in range(len(top) - LATER):
        off = np.flatnonzero(played[n + 1] != top[n])
        if not calm[n] or off.size != 1 or tuple(top[n].tolist()) not in nash:
            continue
        changed = best[n + 1] != top[n]
        others = np.flatnonzero(changed & (np.arange(len(changed)) != off[0]))
        gone = bool((top[n + LATER] != top[n]).any())
        counts += [1, bool(changed[off[0]]), len(others) > 0, gone]
        if len(others) and (top[n + _SOON : n + LATER + 1] != top[n]).any(axis=1).all():
            found.append(_trial(game, number, data, n, int(off[0]), int(others[0])))
    return counts, found


def _trial(game: NormalForm, number: int, data: Any, n: int, trier: int, bystander: int) -> Trial:
    settled = tuple(np.nanargmax(data.strategy.values[n], axis=1).tolist())
    size = game.num_actions[bystander]
    before, after = (data.score.values[k, bystander, :size] for k in (n, n + 1))
    return Trial(
        game=number,
        step=int(data.time.values[n]),
        equilibrium=settled,
        trier=trier,
        tried=int(data.profile.values[n + 1, trier]),
        bystander=bystander,
        before=tuple(before.tolist()),
        after=tuple(after.tolist()),
        received=game.utility(bystander, data.profile.values[n + 1]),
        worths=tuple(game.move_utility(bystander, settled, action) for action in range(size)),
    )


def example(found: Trials, games: Sequence[NormalForm]) -> Trial:
    """A trial to show: in the smallest game of those that there are."""
    return min(found.shaken, key=lambda trial: (games[trial.game].num_players, games[trial.game].num_profiles))
