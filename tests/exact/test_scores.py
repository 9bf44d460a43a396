"""Q-learning, SOQL and score dynamics equal a dense reference, step by step; a reference with one thing wrong does not.

Scores agree to 1e-12 of their scale. The engine decays lazily and in logarithms, the reference at every step. Worths
are multiples of 1/64, so that utilities, and with them ties, are exact on both sides.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import potentia as pt
from tests import games
from tests.coverage_cases import Case
from tests.score_oracle import LEARNERS, WRONG, CoverageField, Field

STEPS = 150
CLOSE = 1e-12


@functools.cache
def world():
    worth = np.random.default_rng(5).integers(0, 64, (5, 6)) / 64
    return pt.games.World(worth, blocked=np.eye(5, 6, 2, dtype=bool))


@functools.cache
def plot(flags=None, cost=(0.0, 0.0, 0.0), payoff="overlap"):
    """A world of 6 by 5 cells, four of them blocked, and three robots."""
    return Case(world(), (1.5, 2.0, 1.5), cost, "adjacent", flags, payoff)


COVERAGE = {
    "plain": plot(),
    "K": plot(cost=(0.2, 0.0, 0.1)),
    "flags": plot("cell"),
    "flags and K": plot("range", (0.2, 0.1, 0.0)),
    "marginal": plot(payoff="marginal"),
}

# One score for each action, no two of a player alike: equal ones that fade would tie, and rounding would decide.
DISTINCT = "distinct"
# Zones that short runs reach: all but the first cases of SOQL are perturbed often.
ZONE = {"zeta": 0.6, "xi": 0.5}
OPTIONS = {
    "ql": [
        {"tau": 0.4},
        {"tau": 0.4, "lag": False},
        {"tau": 0.4, "mu": "1/n", "count": "steps"},
        {"tau": 0.3, "mu": "n^-0.6", "noise": 0.3},
        {"tau": 0.3, "mu": {"power": 0.8, "scale": 2.0, "offset": 3.0}, "count": "steps", "lag": False},
        {"tau": 0.3, "mu": 0.3, "initial": 2.0},
        {"tau": 0.3, "mu": 1.0, "noise": 1.0},
        {"tau": 0.3, "mu": 0.2, "unplayed": "decay"},
        {"tau": 0.3, "mu": 0.2, "unplayed": "decay", "lag": False, "noise": 0.5, "initial": -1.0},
        {"tau": 0.3, "mu": 1.0, "unplayed": "decay", "initial": 1.0},
        {"tau": 0.3, "mu": "n^-0.6", "count": "steps", "unplayed": "decay"},
        {"tau": 0.3, "mu": "1/n", "count": "steps", "unplayed": "decay", "lag": False},
    ],
    "soql": [
        {},
        {"lag": False},
        {"mu": 0.3, "vartheta": 0.1, "initial": 1.0},
        {"mu": 0.6, "vartheta": 0.2, "form": "pair", **ZONE},
        {"mu": 0.6, "vartheta": 0.2, "noise": 0.5, **ZONE},
        {"mu": 0.6, "vartheta": 0.2, "alone": False, **ZONE},
        {"mu": 0.6, "vartheta": 0.2, "unplayed": "decay", **ZONE},
        {"mu": 0.6, "vartheta": 0.2, "unplayed": "decay", "form": "pair", "lag": False, "initial": DISTINCT, **ZONE},
        {"mu": 0.6, "vartheta": 0.2, "unplayed": "decay", "lag": False, "initial": DISTINCT, **ZONE},
        {"mu": "adaptive", **ZONE},
        {"mu": "adaptive", "form": "pair", "lag": False, "alone": False, **ZONE},
        {"mu": "1/n", "vartheta": 0.3, **ZONE},
        {"mu": "n^-0.7", "vartheta": 0.3, "form": "pair", "noise": 0.1, **ZONE},
        {"mu": 0.8, "best_response": "global", **ZONE},
        {"mu": 0.8, "best_response": "global", "unplayed": "decay", "lag": False, "noise": 0.2, **ZONE},
        {"mu": 0.8, "vartheta": 0.3, "zeta": 0.2, "xi": 0.9},
        {"mu": 0.8, "vartheta": 0.3, "xi": 0},
    ],
    "score": [
        {"tau": 0.4},
        {"tau": 0.4, "lag": False, "discount": 0.3},
        {"tau": 0.4, "mu": "n^-0.6", "order": 2, "noise": 0.4},
        {"tau": 0.4, "mu": 0.2, "order": 3, "discount": 0.5, "initial": 1.0},
        {"tau": 0.4, "mu": 0.2, "order": 2, "discount": 0.0},
        {"tau": 0.4, "choice": "burg", "mu": 1.0},
        {"tau": 0.4, "choice": {"kind": "tsallis", "q": 0.3}, "order": 2, "lag": False},
        {"tau": 0.4, "mu": {"power": 0.7, "scale": 2.0, "offset": 2.0}, "discount": 1.0, "order": 4},
    ],
}
CASES = [(rule, k) for rule, many in OPTIONS.items() for k in range(len(many))]


def as_given(rule, k, game):
    given = {"rule": rule, **OPTIONS[rule][k]}
    if given.get("initial") == DISTINCT:
        given["initial"] = [[0.3 + 0.1 * a - 0.2 * i for a in range(n)] for i, n in enumerate(game.num_actions)]
    return given


def reference(run, given, case=None, kind=None):
    """The reference of a run: the same draws, and these options."""
    options, start = dict(given), run.profile.tolist()
    learner = LEARNERS[options.pop("rule")]
    return (kind or learner)(Field(run.game) if case is None else CoverageField(case, start), run.key, start, **options)


def compare(game, given, seed=1, *, steps=STEPS, case=None, kind=None, otherwise=None, **options):
    """:func:`parted` of a run and its reference, which may do something otherwise."""
    run = pt.begin(game, given, seed, **{"compiled": False, **options})
    return parted(run, reference(run, {**given, **(otherwise or {})}, case, kind), steps)


def gap(found, expected):
    """By how much vectors differ, relative to the largest number, or to 1."""
    scale = max(1.0, *(float(np.abs(part).max()) for part in expected))
    return max(float(np.abs(a - b).max()) for a, b in zip(found, expected, strict=True)) / scale


def parted(run, learner, steps=STEPS):
    """The first step after which the two differ in a profile, a score or a strategy; None if they never do."""
    for _ in range(steps):
        run.advance(1)
        learner.step()
        if run.profile.tolist() != learner.profile:
            return run.step
        if not (gap(run.scores, learner.scores) < CLOSE and gap(run.strategies, learner.strategies) < CLOSE):
            return run.step
    return None


@pytest.mark.parametrize(("rule", "k"), CASES)
@pytest.mark.parametrize("offset", [0, 3, 6])
def test_every_option_on_three_games(rule, k, offset):
    """Others for the next option: each game meets each kind of option."""
    game = list(games.ALL.values())[(k + offset) % len(games.ALL)]()
    assert compare(game, as_given(rule, k, game), k, steps=40) is None


@pytest.mark.parametrize(("rule", "k"), CASES)
@pytest.mark.parametrize("make", [games.normal_form, games.constrained], ids=lambda f: f.__name__)
def test_every_option_compiled(make, rule, k):
    game = make()
    assert compare(game, as_given(rule, k, game), k, compiled=True) is None


@pytest.mark.parametrize(("rule", "k"), CASES)
@pytest.mark.parametrize("offset", [0, 2])
def test_every_option_on_two_maps(rule, k, offset):
    case = list(COVERAGE.values())[(k + offset) % len(COVERAGE)]
    assert compare(case.game, as_given(rule, k, case.game), k, steps=25, case=case) is None


@pytest.mark.parametrize(("rule", "k"), CASES)
def test_every_option_on_a_map_compiled(rule, k):
    case = COVERAGE["flags and K"]
    assert compare(case.game, as_given(rule, k, case.game), 9, case=case, compiled=True) is None


def test_initial_values_by_player_and_action():
    """For games of unequal sizes, in each form in which they may be given."""
    game = games.normal_form()
    strategies = {"initial_strategies": [[0.9, 0.1], [0.0, 0.25, 0.75], [0.5, 0.5]]}
    by_action = [[0.5, -1.0], [0.1, 0.2, 0.3], [2.0, 1.0]]
    for initial in (by_action, [0.3, -0.4, 1.0], [0.3, [1.0, 2.0, -1.0], 0.0]):
        for rule in ({"rule": "ql", "tau": 0.4, "mu": 0.3}, {"rule": "score", "tau": 0.4, "mu": 0.3}, {"rule": "soql"}):
            given = {**rule, "initial": initial, **(strategies if rule["rule"] == "soql" else {})}
            assert compare(game, given, steps=60) is None
            assert compare(game, given, steps=60, otherwise={"initial": 0.0}) == 1
    given = {"rule": "soql", **strategies}
    assert compare(game, given, steps=60, otherwise={"initial_strategies": None}) == 1


def test_nothing_in_reach_of_an_initial_strategy():
    """A robot whose whole strategy lies on cells out of reach draws evenly from those in reach."""
    case = COVERAGE["plain"]
    corner = [[0.0] * (case.game.num_actions[0] - 1) + [1.0]] * 3
    given = {"rule": "soql", "initial_strategies": corner, **ZONE}
    run = pt.begin(case.game, given, 2, start=[0, 1, 2], compiled=False)
    learner = reference(run, given, case)
    assert len(set(learner.restricted(0))) == 1
    assert parted(run, learner, 100) is None


def test_a_schedule_of_temperatures():
    schedule = pt.rules.Geometric(2.0, 0.05)
    for rule in ("ql", "score"):
        given = {"rule": rule, "tau": schedule, "initial": [[0.0, 1.0], [0.0, 1.0, 2.0], [0.0, 1.0]]}
        for ahead, first in ((0, None), (1, 1)):
            otherwise = {"tau": lambda n, ahead=ahead: schedule.at(n + ahead, horizon=200)}
            assert compare(games.normal_form(), given, steps=200, otherwise=otherwise, horizon=200) == first


# What must not agree: (game, rule, options of the run, what the reference does otherwise) ----------------

OTHERWISE = {
    "ql lag": ("normal_form", "ql", {"tau": 0.4}, {"lag": False}),
    "ql count": ("normal_form", "ql", {"tau": 0.4}, {"count": "steps"}),
    "ql unplayed": ("normal_form", "ql", {"tau": 0.4, "mu": 0.2}, {"unplayed": "decay"}),
    "ql power": ("normal_form", "ql", {"tau": 0.4, "mu": "n^-0.6"}, {"mu": "n^-0.61"}),
    "ql joint utility": ("normal_form", "ql", {"tau": 0.4}, "utility of the profile before"),
    "soql lag": ("normal_form", "soql", {}, {"lag": False}),
    "soql form": ("normal_form", "soql", {"mu": 0.6}, {"form": "pair"}),
    "soql unplayed": ("normal_form", "soql", {"mu": 0.6}, {"unplayed": "decay"}),
    "soql alone": ("normal_form", "soql", {"mu": 0.6, **ZONE}, {"alone": False}),
    "soql never alone": ("normal_form", "soql", {"mu": 0.6, "alone": False, **ZONE}, {"alone": True}),
    "soql zeta": ("normal_form", "soql", {"mu": 0.6, **ZONE}, {"zeta": 0.62}),
    "soql xi": ("normal_form", "soql", {"mu": "adaptive", **ZONE}, {"xi": 0.51}),
    "soql adaptive": ("normal_form", "soql", {"mu": "adaptive", **ZONE}, "the unperturbed strategy's step"),
    "soql ties": ("normal_form", "soql", {}, "ties to the first"),
    "soql position": ("constrained", "soql", {"mu": 0.6, "vartheta": 0.2, **ZONE}, "response from the old position"),
    "soql reach": ("constrained", "soql", {"mu": 0.6, **ZONE}, {"best_response": "global"}),
    "soql restriction": ("constrained", "soql", {"mu": 0.6, **ZONE}, "strategy not restricted"),
    "score lag": ("normal_form", "score", {"tau": 0.4}, {"lag": False}),
    "score order": ("normal_form", "score", {"tau": 0.4, "mu": 0.2}, {"order": 2}),
    "score stages": ("normal_form", "score", {"tau": 0.4, "mu": 0.2, "order": 2}, "stages fed at once"),
    "score discount": ("normal_form", "score", {"tau": 0.4, "mu": 0.2}, {"discount": 0.9}),
    "score choice": ("normal_form", "score", {"tau": 0.4, "choice": "burg"}, {"choice": "tsallis"}),
    "score noise": ("normal_form", "score", {"tau": 0.4, "noise": 1.0}, "the same noise for all"),
    "score reach": ("constrained", "score", {"tau": 0.4}, {"lag": False}),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_reference_with_one_thing_wrong_is_noticed(name):
    make, rule, options, wrong = OTHERWISE[name]
    given = {"rule": rule, **options}
    assert compare(games.ALL[make](), given) is None
    change = {"otherwise": wrong} if isinstance(wrong, dict) else {"kind": WRONG[wrong]}
    assert compare(games.ALL[make](), given, **change) is not None


def test_every_wrong_reference_is_used():
    assert {wrong for *_, wrong in OTHERWISE.values() if isinstance(wrong, str)} == set(WRONG)


@pytest.mark.parametrize("rule", OPTIONS)
def test_a_map_with_one_thing_wrong_is_noticed(rule):
    """Utilities that forget the cost of moving, or flags, lead elsewhere."""
    case = COVERAGE["flags and K"]
    for wrong in (plot("range"), plot(None, (0.2, 0.1, 0.0))):
        assert compare(case.game, as_given(rule, 0, case.game), case=wrong) is not None


def test_ties_of_scores_that_fade():
    """Eq. 28 has Q(2) from P(1) and Q(1): two actions of which neither was played at first tie, whatever was then."""
    game = pt.games.NormalForm(-np.ones((1, 3)))
    given = {"rule": "soql", "initial": 1.0, "form": "pair", "unplayed": "decay", "lag": False}
    for mu in (0.6, 0.7, 0.8, 0.9):
        for seed in range(5):
            run = pt.begin(game, {**given, "mu": mu}, seed, compiled=False).advance(1)
            others = [action for action in range(3) if action != run.profile[0]]
            (x,) = run.advance(1).strategies
            assert x[others[0]] == pytest.approx(x[others[1]], rel=1e-12)


@pytest.mark.parametrize("belief", [pt.beliefs.Constant(0.5), pt.beliefs.Constant(share=0.6)], ids=str)
@pytest.mark.parametrize("name", ["ql", "soql", "score"])
def test_what_is_received_is_true_whatever_is_believed(name, belief):
    """A score whose step is 1 is what the action paid; a belief is for actions that were not played."""
    game = pt.games.Coverage(pt.games.random_world(3, size=(6, 5)), robots=2, flags=False, K=0.01)
    options = {"ql": {"tau": 0.01, "mu": 1.0}, "score": {"tau": 0.01, "mu": 1.0}, "soql": {}}[name]
    run = pt.begin(game, pt.rule(name, **options), 1, compiled=False, belief=belief)
    moved = 0
    for _ in range(60):
        before, old = run.profile, run.scores
        run.advance(1)
        for player, action in enumerate(run.profile):
            paid = game.move_utility(player, np.where(np.arange(2) == player, before, run.profile), int(action))
            moved += before[player] != action
            expected = paid
            if name == "soql":
                if before[player] == action:
                    continue  # two steps of memory
                q = old[player][action]
                expected = q + 0.97**2 * (paid - q)
            assert run.scores[player][action] == pytest.approx(expected, abs=1e-12)
    assert moved > 5
