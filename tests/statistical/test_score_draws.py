"""What players of ql, soql and score draw follows the strategies that they show; wrong strategies are caught.

One step is drawn under 3,000 seeds and compared with the law by hand; within a run, each action is drawn as often
as the strategies of its steps add up to.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import potentia as pt
from tests import games
from tests.statistical.laws import ALPHA, p_of_counts

SEEDS = 3000
SCORES = [[0.8, -0.3], [0.0, 1.2, 0.4], [-0.4, 0.5]]


def first_draws(game, rule, start=(0, 0, 0)):
    """How often each profile comes first, over the seeds."""
    drawn = pt.run_batch(game, rule, 1, range(SEEDS), start=list(start)).profile.values[:, 1]
    places = np.ravel_multi_index(tuple(drawn.T.astype(int)), game.num_actions)
    return np.bincount(places, minlength=game.num_profiles)


def joint(laws):
    """The law of profiles whose players draw by themselves, in C order."""
    return np.array([math.prod(p) for p in itertools.product(*laws)])


def shown(game, rule, start=(0, 0, 0)):
    return pt.begin(game, rule, 0, start=list(start), compiled=False).strategies


def boltzmann(scores, tau):
    weights = np.exp(np.array(scores) / tau)
    return weights / weights.sum()


def burg(scores, tau):
    """x_b = τ/(λ - p_b), with λ such that they sum to 1, by bisection."""
    scores = np.array(scores)
    low, high = scores.max() + tau / len(scores) / 2, scores.max() + tau * len(scores) * 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if (tau / (middle - scores)).sum() > 1 else (low, middle)
    return tau / (low - scores)


CHOICES = {
    "ql": ({"rule": "ql", "tau": 0.5}, boltzmann),
    "score": ({"rule": "score", "tau": 0.5}, boltzmann),
    "score-burg": ({"rule": "score", "tau": 0.5, "choice": "burg"}, burg),
}


@pytest.mark.parametrize("name", CHOICES)
def test_smoothed_best_responses(name):
    given, law = CHOICES[name]
    game, rule = games.normal_form(), {**given, "initial": SCORES}
    right = [law(q, 0.5) for q in SCORES]
    for x, expected in zip(shown(game, rule), right, strict=True):
        np.testing.assert_allclose(x, expected, atol=1e-12)
    counts = first_draws(game, rule)
    assert p_of_counts(counts, joint(right)) > ALPHA
    assert p_of_counts(counts, joint([law(q, 0.8) for q in SCORES])) < ALPHA
    other = {boltzmann: burg, burg: boltzmann}[law]
    assert p_of_counts(counts, joint([other(q, 0.5) for q in SCORES])) < ALPHA


def test_constrained_players_draw_from_their_reach():
    """A player at action 0 of a path reaches 0 and 1 only; the law over all three is rejected."""
    game = games.path()
    for given in ({"rule": "ql", "tau": 0.5}, {"rule": "score", "tau": 0.5}):
        rule = {**given, "initial": [[0.4, 0.1, 0.9]] * 3}
        counts = first_draws(game, rule)
        near = np.append(boltzmann([0.4, 0.1], 0.5), 0.0)
        np.testing.assert_allclose(shown(game, rule)[0], near, atol=1e-12)
        assert p_of_counts(counts, joint([near] * 3)) > ALPHA
        assert p_of_counts(counts, joint([boltzmann([0.4, 0.1, 0.9], 0.5)] * 3)) < ALPHA


# SOQL ---------------------------------------------------------------------------------------------------

LOOSE = [[0.7, 0.3], [0.2, 0.5, 0.3], [0.4, 0.6]]
SETTLED = [[0.92, 0.08], [0.01, 0.98, 0.01], [0.08, 0.92]]
ZONE = {"rule": "soql", "zeta": 0.9, "xi": 0.8}


def smoothstep(s):
    return s * s * (3 - 2 * s)


def perturbed(x, zeta=0.9, xi=0.8, shape=smoothstep):
    """Eq. 43 by hand."""
    x = np.array(x)
    rho = xi * shape((x.max() - zeta) / (1 - zeta)) if x.max() > zeta else 0.0
    return (1 - rho) * x + rho / len(x)


def alone(laws, favourites):
    """Assumption 7: of several that stray one is chosen evenly, and the others play their favourite."""
    sizes = [len(law) for law in laws]
    out = np.zeros(sizes)
    for profile in itertools.product(*map(range, sizes)):
        p = math.prod(law[a] for law, a in zip(laws, profile, strict=True))
        strays = [i for i, a in enumerate(profile) if a != favourites[i]]
        for i in strays or [0]:
            after = tuple(profile[j] if j == i else favourites[j] for j in range(len(laws)))
            out[after] += p / max(1, len(strays))
    return out.ravel()


def test_strategies_outside_the_zone():
    game, rule = games.normal_form(), {**ZONE, "initial_strategies": LOOSE}
    for x, expected in zip(shown(game, rule), LOOSE, strict=True):
        np.testing.assert_allclose(x, expected, atol=1e-15)
    counts = first_draws(game, rule)
    assert p_of_counts(counts, joint(LOOSE)) > ALPHA
    assert p_of_counts(counts, joint([[0.6, 0.4], *LOOSE[1:]])) < ALPHA


def test_perturbed_strategies():
    game, rule = games.normal_form(), {**ZONE, "alone": False, "initial_strategies": SETTLED}
    counts = first_draws(game, rule)
    assert p_of_counts(counts, joint([perturbed(x) for x in SETTLED])) > ALPHA
    wrong = {
        "not perturbed": SETTLED,
        "linear": [perturbed(x, shape=lambda s: s) for x in SETTLED],
        "zeta": [perturbed(x, zeta=0.88) for x in SETTLED],
        "xi": [perturbed(x, xi=0.6) for x in SETTLED],
    }
    for what, laws in wrong.items():
        assert p_of_counts(counts, joint(laws)) < ALPHA, what
    assert p_of_counts(counts, alone([perturbed(x) for x in SETTLED], (0, 1, 1))) < ALPHA, "Assumption 7"


def test_one_player_at_a_time_once_all_are_settled():
    """Never two that stray; who does is drawn evenly among those that would."""
    game, rule = games.normal_form(), {**ZONE, "initial_strategies": SETTLED}
    counts, laws, favourites = first_draws(game, rule), [perturbed(x) for x in SETTLED], (0, 1, 1)
    for place in np.flatnonzero(counts):
        profile = np.unravel_index(place, game.num_actions)
        assert sum(a != f for a, f in zip(profile, favourites, strict=True)) <= 1
    assert p_of_counts(counts, alone(laws, favourites)) > ALPHA
    assert p_of_counts(counts, joint(laws)) < ALPHA
    # wrong: whoever strays together with others goes back
    none = joint(laws).reshape(game.num_actions)
    sole = alone(laws, favourites).reshape(game.num_actions)
    back = np.where(sole > 0, none, 0.0)
    back[favourites] += 1.0 - back.sum()
    assert p_of_counts(counts, back.ravel()) < ALPHA
    # wrong: the first of them goes ahead
    first = np.zeros(game.num_actions)
    for profile in itertools.product(*map(range, game.num_actions)):
        strays = [i for i, a in enumerate(profile) if a != favourites[i]]
        first[tuple(profile[j] if strays[:1] == [j] else favourites[j] for j in range(3))] += none[profile]
    assert p_of_counts(counts, first.ravel()) < ALPHA


def test_one_player_that_has_not_settled_frees_all():
    given = [*SETTLED[:2], [0.2, 0.8]]
    game, laws = games.normal_form(), [perturbed(x) for x in given]
    counts = first_draws(game, {**ZONE, "initial_strategies": given})
    assert p_of_counts(counts, joint(laws)) > ALPHA
    assert p_of_counts(counts, alone(laws, (0, 1, 1))) < ALPHA


def test_soql_draws_from_its_reach():
    """X restricted to the two actions in reach and renormalised, and ρ by the restricted strategy."""
    game, x = games.path(), [0.38, 0.02, 0.6]
    counts = first_draws(game, {**ZONE, "alone": False, "initial_strategies": [x] * 3})
    near = np.append(perturbed(np.array(x[:2]) / 0.4), 0.0)
    assert p_of_counts(counts, joint([near] * 3)) > ALPHA
    assert p_of_counts(counts, joint([[0.95, 0.05, 0.0]] * 3)) < ALPHA


# Within a run -------------------------------------------------------------------------------------------


def p_of_run(run, steps, late=False):
    """Draws against the strategies shown before each: Σ (x of what was drawn - Σ x²) over its deviation.

    ``late`` takes the strategies shown after the step, which are wrong: what is drawn is then less like them.
    """
    excess = variance = 0.0
    for _ in range(steps):
        before = run.strategies
        run.advance(1)
        for x, action in zip(run.strategies if late else before, run.profile, strict=True):
            excess += x[action] - (x**2).sum()
            variance += (x**3).sum() - (x**2).sum() ** 2
    return 2 * float(stats.norm.sf(abs(excess) / math.sqrt(variance)))


@pytest.mark.parametrize(
    "rule",
    [
        {"rule": "ql", "tau": 0.3, "mu": 0.8},
        {"rule": "ql", "tau": 0.3, "mu": 0.8, "lag": False, "unplayed": "decay"},
        {"rule": "score", "tau": 0.5, "mu": 0.8, "order": 2, "choice": "burg"},
        {"rule": "soql", "mu": 0.9, "vartheta": 0.8, "noise": 3.0, "xi": 0},
    ],
    ids=lambda rule: rule["rule"],
)
def test_draws_within_a_run(rule):
    assert p_of_run(pt.begin(games.normal_form(), rule, 1, compiled=False), 2000) > ALPHA
    assert p_of_run(pt.begin(games.normal_form(), rule, 1, compiled=False), 2000, late=True) < ALPHA


def test_noise_of_received_utilities():
    """With μ = 1 a value is what was received last: normal, with the utility as mean and the noise as deviation."""
    rule = {"rule": "ql", "tau": 1.0, "mu": 1.0, "noise": 1.5}
    run = pt.begin(pt.games.NormalForm(np.array([[[2.0]], [[-1.0]]])), rule, 3, compiled=False)
    values = np.array([[float(q[0]) for q in run.advance(1).scores] for _ in range(3000)])
    for column, mean in zip(values.T, (2.0, -1.0), strict=True):
        for law, fits in (((mean, 1.5), True), ((mean + 0.45, 1.5), False), ((mean, 2.0), False)):
            assert (stats.kstest(column, stats.norm(*law).cdf).pvalue > ALPHA) == fits
        assert abs(column.mean() - mean) < 5 * 1.5 / math.sqrt(len(column))
        spread = ((column - mean) ** 2).sum()
        assert stats.chi2.sf(spread / 1.5**2, len(column)) > ALPHA
        assert stats.chi2.sf(spread / 1.3**2, len(column)) < ALPHA
    assert stats.pearsonr(*values.T).pvalue > ALPHA, "players' noises are independent"
    assert stats.pearsonr(values[1:, 0], values[:-1, 0]).pvalue > ALPHA, "and so are those of steps"
    assert stats.pearsonr(values[:, 0], values[:, 0] + 10 * values[:, 1]).pvalue < ALPHA, "a tenth would be seen"
