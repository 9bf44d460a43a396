"""Does a step do what its law says? Runs against the exact chain."""

from __future__ import annotations

import numpy as np

from potentia.analysis import Chain, chain
from potentia.analysis.tables import words
from potentia.engine import run, run_batch
from potentia.errors import CheckFailed
from potentia.games import Game
from potentia.kernel.arrays import Floats, Ints, strides
from potentia.rules import Rule

_STEPS = 4
_RUNS = 800  # so many, and so long
_LONG = 20_000  # steps
_ALPHA = 1e-6  # of one rule on one game, over all that is compared
_FEW = 5.0  # expected; rarer outcomes are taken together


def check_law(rule: Rule, game: Game) -> None:
    """Compare how often each profile follows which with what the chain says."""
    solved = chain(game, rule)
    start = (np.random.default_rng(7).random(game.num_players) * game.sizes).astype(np.int64)
    laws = solved.over_profiles(solved.evolve(start, range(1, _STEPS + 1)))
    played = run_batch(game, rule, _STEPS, range(_RUNS), start=start, record="profile").profile.values
    places = _places(game, played)
    for step, law in enumerate(laws, 1):
        seen = np.bincount(places[:, step], minlength=game.num_profiles)
        after = f"{step} step{'s' * (step > 1)} after {words(start.tolist())}"
        _require(rule, game, seen, law, _ALPHA / (2 * _STEPS), after)
    if solved.memories is None:
        _check_transitions(solved, rule, game)


def _check_transitions(solved: Chain, rule: Rule, game: Game) -> None:
    """What follows each profile of a long run."""
    places = _places(game, run(game, rule, _LONG, seed=7).profiles)
    for place in np.unique(places[:-1]):
        seen = np.bincount(places[1:][places[:-1] == place], minlength=game.num_profiles)
        law = solved.matrix[[int(place)]].toarray()[0]
        _require(rule, game, seen, law, _ALPHA / (2 * game.num_profiles), f"a step after {solved.name(int(place))}")


def _places(game: Game, profiles: Ints) -> Ints:
    return (profiles.astype(np.int64) * strides(game.sizes)).sum(axis=-1)


def _require(rule: Rule, game: Game, seen: Ints, law: Floats, alpha: float, after: str) -> None:
    wrong = _disagreement(seen, law, alpha)
    if wrong is not None:
        there = words([int(a) for a in np.unravel_index(wrong, game.num_actions)])
        raise CheckFailed(
            f"the step of {rule.name} does not follow its law on {game.describe()}: {after}, {there} was played "
            f"{seen[wrong]:,} times of {seen.sum():,}, where {seen.sum() * law[wrong]:,.1f} are expected"
        )


def _disagreement(seen: Ints, law: Floats, alpha: float) -> int | None:
    """The outcome that is off most, if the counts do not fit a law; a chi-square test."""
    from scipy import stats

    expected = seen.sum() * law
    impossible = np.flatnonzero((seen > 0) & (law <= 0.0))
    if impossible.size:
        return int(impossible[0])
    many = expected >= _FEW
    observed = np.append(seen[many], seen[~many].sum())
    wanted = np.append(expected[many], expected[~many].sum())
    keep = wanted > 0.0
    squares = (observed[keep] - wanted[keep]) ** 2 / wanted[keep]
    if squares.size < 2 or stats.chi2.sf(squares.sum(), squares.size - 1) >= alpha:
        return None
    return int(np.argmax((seen - expected) ** 2 / np.maximum(expected, 1.0)))
