"""Small coverage games, solved: which potential is exact, and which rules keep its maximisers."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import audit, chain, check_claim, potential, stability
from potentia.games import Coverage, World
from potentia.rules import SignalRevision

WORLD_SIGNAL = SignalRevision(0.9, 0.5, 0.1, normalise="world")
RULES = {
    "blll": {"rule": "blll", "tau": 1.0},
    "joint": {"rule": "p-sblll", "tau": 1.0, "revision": 0.3},
    "unilateral": {"rule": "p-sblll", "tau": 1.0, "revision": 0.3, "trial": "unilateral"},
    "guarded": {"rule": "p-sblll", "tau": 1.0, "revision": 0.3, "guard": True},
    "guarded unilateral": {"rule": "p-sblll", "tau": 1.0, "revision": 0.3, "trial": "unilateral", "guard": True},
    "guarded Eq. 53": {"rule": "p-sblll", "tau": 1.0, "revision": WORLD_SIGNAL, "guard": True},
}


def wall(shape, cells):
    blocked = np.zeros(shape, bool)
    for x, y in cells:
        blocked[y, x] = True
    return blocked


# (shape, blocked cells, robots, ranges): strips, open grids, walls to walk around, unequal ranges
PLACES = [
    ((1, 6), [], 2, 1.0),
    ((1, 12), [], 2, 1.0),
    ((1, 5), [], 3, 1.0),
    ((2, 3), [], 2, 1.5),
    ((3, 3), [(1, 1)], 2, 1.0),
    ((2, 5), [(2, 0)], 2, [1.0, 0.0]),
    ((1, 7), [], 2, [0.0, 2.0]),
]


def games(count, **options):
    for seed in range(count):
        shape, cells, robots, delta = PLACES[seed % len(PLACES)]
        random = np.random.default_rng(seed)
        worth = random.integers(0, 10, shape) / 10 if seed % 2 else random.random(shape)
        yield Coverage(World(worth, blocked=wall(shape, cells)), robots, delta, flags=False, **options)


def maximisers(game):
    values = np.array([game.corrected_potential(p) for p in np.ndindex(*game.num_actions)])
    return values >= values.max() - 1e-9


def overlapping(game):
    """Whether two robots can cover a common cell of some worth."""
    for profile in np.ndindex(*game.num_actions):
        if (game.world.worth[game.cover_counts(profile) > 1] > 0).any():
            return True
    return False


@pytest.mark.parametrize("payoff", ["overlap", "marginal"])
def test_the_corrected_potential_is_exact_and_the_claimed_one_is_not(payoff):
    for game in games(14, payoff=payoff):
        assert check_claim(game, game.corrected_potential).holds
        own = np.array([game.potential(p) for p in np.ndindex(*game.num_actions)])
        np.testing.assert_allclose(potential(game).reshape(-1) - own, -own[0], atol=1e-12)
        claim = check_claim(game, game.claimed_potential)
        assert claim.holds != overlapping(game)
        if payoff == "marginal":
            union = [game.worth_union(p) for p in np.ndindex(*game.num_actions)]
            np.testing.assert_allclose(own, union, atol=1e-12)


def test_the_claimed_potential_is_exact_where_ranges_cannot_meet():
    """One robot, or a range of nothing but worthless cells: then Eq. 46 is right, so the check above can pass."""
    alone = Coverage(World(np.arange(6.0).reshape(2, 3)), 1, 1.0, flags=False)
    assert check_claim(alone, alone.claimed_potential).holds
    assert check_claim(alone, "welfare").holds


def test_which_rules_keep_the_maximisers():
    kept = {name: [] for name in RULES}
    for game in games(14):
        best = maximisers(game)
        for name, rule in RULES.items():
            kept[name].append(np.array_equal(stability(game, rule, method="contraction").stable, best))
    for name in ("blll", "guarded", "guarded unilateral", "guarded Eq. 53"):
        assert all(kept[name]), name
    assert sum(kept["joint"]) < 7
    assert not all(kept["unilateral"])


def test_marginal_payoffs_keep_the_best_covered_worth():
    for game in games(14, payoff="marginal"):
        union = np.array([game.worth_union(p) for p in np.ndindex(*game.num_actions)])
        for name in ("blll", "guarded"):
            np.testing.assert_array_equal(stability(game, RULES[name]).stable, union >= union.max() - 1e-9)


def test_joint_trials_keep_robots_that_overlap():
    """The smallest case found: both robots share one best cell and jump off and back together."""
    found = 0
    for game in games(28):
        result = stability(game, RULES["joint"])
        extra = result.stable & ~maximisers(game)
        found += bool(extra.any())
    assert found > 14


# A cost of moving -------------------------------------------------------------------------------------


def strip(**options):
    return Coverage(World([[0.5, 0.7, 0.9, 0.0, 0.1, 0.8]]), 1, 0.0, flags=False, **options)


def test_with_a_cost_of_moving_a_lesser_summit_is_kept_as_well():
    """From the lesser summit 0.8 the way down and up costs as much as from 0.9, once each step costs K."""
    np.testing.assert_array_equal(np.flatnonzero(stability(strip(), RULES["blll"]).stable), [2])
    for K in (0.1, 0.2, 0.4):
        for name in ("blll", "guarded"):
            found = stability(strip(K=K), RULES[name])
            np.testing.assert_array_equal(np.flatnonzero(found.stable), [2, 5])
            assert found.method == "least trees to all roots"


def test_the_price_of_a_move_enters_the_chain():
    game, tau, K = strip(K=0.1), 0.3, 0.1
    matrix = chain(game, dict(RULES["blll"], tau=tau)).matrix.toarray()
    worth = [0.5, 0.7, 0.9, 0.0, 0.1, 0.8]
    for a, b in ((0, 1), (1, 0), (1, 2), (3, 2), (4, 5)):
        accept = 1 / (1 + np.exp(-(worth[b] - K - worth[a]) / tau))
        ways = 1 if a in (0, 5) else 2
        assert matrix[a, b] == pytest.approx(accept / ways, rel=1e-12)


def test_stability_agrees_with_the_law_at_a_low_temperature_where_moving_costs():
    for seed, game in enumerate(games(14, K=0.07)):
        for name in ("blll", "joint", "guarded"):
            result = stability(game, RULES[name])
            by_elimination = stability(game, RULES[name], method="elimination")
            np.testing.assert_array_equal(result.stable, by_elimination.stable, str(seed))
            np.testing.assert_allclose(result.limit, by_elimination.limit, atol=1e-9)


@pytest.mark.parametrize("rule", [RULES["blll"], RULES["joint"]])
def test_the_audit_reports_the_cost_of_moving_with_a_counterexample(rule):
    report = audit(strip(K=0.1), rule)
    assert report.holds("K = 0") is False
    row = next(r for r in report.rows if r.hypothesis.startswith("K = 0"))
    assert "from action 0 to action 1 and back" in row.evidence
    assert "sum to -0.2" in row.evidence
    assert all(not finding.applies for finding in report.findings)
    assert "for a fixed previous profile" in report.rows[0].evidence
    free = audit(strip(), rule)
    assert free.holds("K = 0") is True


def test_the_audit_shows_which_potential_is_exact():
    game = Coverage(World([[0.3, 0.9, 0.5, 0.2]]), 2, 1.0, flags=False)
    wrong = audit(game, RULES["joint"], claimed=game.claimed_potential)
    right = audit(game, RULES["joint"], claimed=game.corrected_potential)
    assert wrong.holds("the claimed potential") is False
    assert right.holds("the claimed potential") is True
    assert wrong.holds("separable") is False


def test_equation_53_breaks_assumption_3_where_there_is_nothing_to_sense():
    flat = Coverage(World([[0.0, 0.0, 0.0, 0.0, 0.6, 0.9]]), 2, 1.0, flags=False)
    literal = dict(RULES["guarded"], revision=SignalRevision(normalise="world"))
    report = audit(flat, literal)
    assert report.holds("Assumption 3") is False
    assert "action 0" in next(r.evidence for r in report.rows if r.hypothesis.startswith("Assumption 3"))
    assert audit(flat, RULES["guarded Eq. 53"]).holds("Assumption 3") is True


def test_history_has_no_chain():
    game = next(games(1))
    with pytest.raises(pt.errors.InvalidRule, match='normalise="world"'):
        chain(game, dict(RULES["guarded"], revision=SignalRevision()))
    with pytest.raises(pt.errors.InvalidGame, match="flags=False"):
        stability(Coverage(game.world, 2, 1.0), RULES["blll"])


def test_the_audit_of_a_robot_that_cannot_move():
    alone = Coverage(World([[1.0]]), 1, 1.0, K=0.1, flags=False)
    assert audit(alone, RULES["blll"]).holds("K = 0") is True
