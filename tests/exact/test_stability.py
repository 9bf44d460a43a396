"""Stochastic stability: three independent methods on hundreds of games."""

from __future__ import annotations

import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest

import potentia as pt
from potentia.analysis import chain, stability
from potentia.analysis.chains import elimination
from potentia.errors import InvalidInput
from potentia.games import NormalForm, path_moves
from potentia.rules import Groups, Vanishing
from tests import games, oracle
from tests.exact.random_games import (
    GAMES,
    REVISIONS,
    RULES,
    assert_agree,
    cold_law,
    integer_games,
    integer_payoffs,
    make_rule,
    random_moves,
    random_sizes,
)
from tests.statistical.test_one_step import neighbours


def test_three_methods_agree_on_hundreds_of_games():
    """Least trees to all roots, elimination on leading terms, and the stationary law at a low temperature."""
    seen, several, transient = Counter(), 0, 0
    for k, (place, payoffs, moves) in enumerate(integer_games()):
        game = NormalForm(payoffs, moves=moves)
        rule = make_rule(place, game.num_actions)
        trees = stability(game, rule, method="contraction")
        assert trees.method == "least trees to all roots"
        assert_agree(trees, stability(game, rule, method="elimination"))
        assert_agree(trees, stability(game, rule))
        np.testing.assert_array_equal(trees.stable, trees.limit > 0)
        assert abs(trees.limit.sum() - 1.0) < 1e-12
        assert np.abs(cold_law(game, place) - trees.limit).max() < 1e-3
        seen[place, k % 2 == 0, moves is None] += 1
        several += trees.stable.sum() > 1
        transient += not trees.stable.all()
    assert set(seen) == set(itertools.product(range(len(RULES)), (True, False), (True, False)))
    assert min(several, transient) > GAMES / 4, "ties and unstable states must both be common"


def test_a_payoff_off_by_one_is_noticed():
    """The comparison above has power: with one payoff of one player changed by 1, it fails for a third of the games."""
    random = np.random.default_rng(31)
    caught = total = 0
    for place, payoffs, moves in itertools.islice(integer_games(), 0, None, 5):
        game = NormalForm(payoffs, moves=moves)
        changed = payoffs.copy()
        changed.flat[random.integers(changed.size)] += 1
        wrong = stability(NormalForm(changed, moves=moves), make_rule(place, game.num_actions), method="contraction")
        total += 1
        caught += np.abs(cold_law(game, place) - wrong.limit).max() > 1e-3
    assert caught > total / 3


# Trees ------------------------------------------------------------------------------------------------


def revising_sets(game, place):
    """Every set of players that may revise, with what it costs for it to come about."""
    _, options, revision = RULES[place]
    players = range(game.num_players)
    if revision is None:
        return [((i,), 0.0) for i in players]
    given = revision(game.num_actions)
    if isinstance(given, Groups):
        return [(members, 0.0) for members, _ in given.groups]
    m = given.m if isinstance(given, Vanishing) else 0.0
    awake = [set_ for size in range(game.num_players + 1) for set_ in itertools.combinations(players, size)]
    if not options.get("guard"):
        return [(set_, m * len(set_)) for set_ in awake]
    near = neighbours(game)
    return [(left, m * len(set_)) for set_ in awake for left, _ in oracle.guarded_sets(set_, near)]


def decisions(game, place, profile, awake):
    """Every outcome of these players' revision, with what they lose by it."""
    name, options, _ = RULES[place]
    now = [game.utility(i, profile) for i in range(game.num_players)]
    if name in ("lll", "slll"):
        values = [
            {a: game.utility(i, oracle.with_action(profile, i, a)) for a in oracle.options(game, profile, i)}
            for i in awake
        ]
        for acts in itertools.product(*values):
            cost = sum(max(v.values()) - v[a] for v, a in zip(values, acts, strict=True))
            yield acts, cost
        return
    menus = [oracle.trials(game, profile, i, options.get("include_current", False)) for i in awake]
    for trial in itertools.product(*menus):
        joint = profile
        for i, a in zip(awake, trial, strict=True):
            joint = oracle.with_action(joint, i, a)
        then = [
            game.utility(i, joint if options.get("trial") == "joint" else oracle.with_action(profile, i, a))
            for i, a in zip(awake, trial, strict=True)
        ]
        for yes in itertools.product((True, False), repeat=len(awake)):
            acts = tuple(a if y else profile[i] for i, a, y in zip(awake, trial, yes, strict=True))
            gains = [t - now[i] if y else now[i] - t for i, t, y in zip(awake, then, yes, strict=True)]
            yield acts, sum(max(0.0, -gain) for gain in gains)


def enumerated_resistances(game, place):
    """The least cost of each transition over all who revise, what they try and how they decide; inf if impossible."""
    states = oracle.profiles(game)
    number = {s: k for k, s in enumerate(states)}
    out = np.full((len(states), len(states)), np.inf)
    for source in states:
        for awake, cost in revising_sets(game, place):
            for acts, loss in decisions(game, place, source, awake):
                target = source
                for i, a in zip(awake, acts, strict=True):
                    target = oracle.with_action(target, i, a)
                pair = number[source], number[target]
                out[pair] = min(out[pair], cost + loss)
    return out


def least_tree(resistance, root):
    """The resistance of the least tree to a root, by networkx: its edges point away from the root, ours to it."""
    graph = nx.DiGraph()
    for i, j in np.argwhere(np.isfinite(resistance)):
        if i not in (j, root):
            graph.add_edge(int(j), int(i), weight=float(resistance[i, j]))
    tree = nx.minimum_spanning_arborescence(graph)
    assert tree.in_degree(root) == 0
    return tree.size(weight="weight")


@pytest.mark.parametrize("place", range(len(RULES)))
def test_resistances_and_trees_against_enumeration_and_networkx(place):
    """Every state is a root once. Resistances come from enumeration, trees from networkx."""
    random = np.random.default_rng(100 + place)
    for sizes, constrained in (((2, 2, 2), False), ((3, 2), True), ((2, 2, 2), True)):
        payoffs = integer_payoffs(random, sizes, has_potential=False)
        game = NormalForm(payoffs, moves=random_moves(random, sizes) if constrained else None)
        expected = enumerated_resistances(game, place)
        found = stability(game, make_rule(place, sizes), method="contraction")
        listed = found.resistances()
        off_diagonal = np.where(np.eye(len(expected)) == 1, np.inf, expected)
        table = np.full(expected.shape, np.inf)
        table[listed.sources, listed.targets] = listed.exact
        np.testing.assert_array_equal(table, off_diagonal)
        for root, profile in enumerate(oracle.profiles(game)):
            least = least_tree(expected, root)
            assert found.stochastic_potential[root] == least
            tree = found.tree(profile)
            assert tree.root == root
            assert tree.parent[root] == -1
            assert tree.total == least
            for state in range(len(expected)):
                if state != root:
                    assert tree.resistance[state] == expected[state, tree.parent[state]]
                walk, steps = state, 0
                while walk != root:
                    walk, steps = tree.parent[walk], steps + 1
                    assert steps < len(expected), "the tree does not lead to its root"


def test_classes_of_the_unperturbed_chain():
    """Two strict equilibria and nothing else attract best replies."""
    game = NormalForm([[[2.0, 0.0], [0.0, 1.0]]] * 2)
    found = stability(game, pt.rule("lll", tau=1.0))
    assert sorted(c.tolist() for c in found.classes) == [[0], [3]]
    assert found.stable_profiles.tolist() == [[0, 0]]
    cycle = stability(pt.game("matching-pennies"), pt.rule("lll", tau=1.0))
    assert [c.tolist() for c in cycle.classes] == [[0, 1, 2, 3]]
    np.testing.assert_allclose(cycle.limit, 0.25, rtol=1e-12)


# Ties -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.1, 1 / 3, 1e-12, 1e9])
def test_ties_do_not_depend_on_the_unit_of_payoffs(scale):
    """Sums of multiples of 0.1 differ in floating point from other sums of the same value; they tie nonetheless."""
    rounded = 0
    for place, payoffs, moves in itertools.islice(integer_games(), 0, None, 9):
        name, options, _ = RULES[place]
        game, scaled = NormalForm(payoffs, moves=moves), NormalForm(scale * payoffs, moves=moves)
        rule = make_rule(place, game.num_actions)
        other = rule
        if isinstance(getattr(rule, "revision", None), Vanishing):
            other = pt.rule(name, tau=1.0, **options, revision=Vanishing(scale * rule.revision.m))
        expected = stability(game, rule, method="contraction")
        assert expected.exact
        for method in ("contraction", "elimination", "auto"):
            found = stability(scaled, other, method=method)
            assert found.exact
            np.testing.assert_array_equal(found.stable, expected.stable)
            np.testing.assert_allclose(found.limit, expected.limit, rtol=0, atol=1e-12)
            np.testing.assert_allclose(
                found.stochastic_potential, scale * expected.stochastic_potential, rtol=1e-12, atol=1e-12 * scale
            )
        flat = np.unique(scaled.payoffs)
        gains = np.unique(flat[:, None] - flat)
        rounded += len(gains) > len(np.unique(np.rint(gains / scale)))
    if scale in (0.1, 1 / 3):
        assert rounded > 20, "rounding must matter in many of these games"


@pytest.mark.parametrize("place", range(len(RULES)))
def test_constant_payoffs(place):
    """Nothing to choose: with equal trial sets every profile has the same share."""
    found = stability(NormalForm(np.full((2, 3, 2), 7.0)), make_rule(place, (3, 2)), method="contraction")
    assert found.exact
    assert found.stable.all()
    if RULES[place][2] is not REVISIONS["per action"]:
        np.testing.assert_allclose(found.limit, 1 / 6, rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e200])
def test_payoffs_without_a_common_unit(scale):
    """Normal payoffs: the two methods agree, and with a chain so cold that hardly any gap is small."""
    random = np.random.default_rng(32)
    compared = single = 0
    for k in range(200):
        sizes = random_sizes(random)
        moves = random_moves(random, sizes) if k % 3 == 0 else None
        game = NormalForm(scale * random.normal(size=(len(sizes), *sizes)), moves=moves)
        place = k % len(RULES)
        rule = make_rule(place, sizes)
        if isinstance(getattr(rule, "revision", None), Vanishing):
            rule = pt.rule(rule.name, tau=1.0, **RULES[place][1], revision=Vanishing(scale * rule.revision.m))
        trees = stability(game, rule, method="contraction")
        other = stability(game, rule, method="elimination")
        assert not trees.exact
        np.testing.assert_array_equal(trees.stable, other.stable)
        np.testing.assert_array_equal(trees.stable, trees.limit > 0)
        np.testing.assert_allclose(trees.limit, other.limit, rtol=0, atol=1e-9)
        np.testing.assert_allclose(trees.stochastic_potential / scale, other.stochastic_potential / scale, atol=1e-8)
        single += trees.stable.sum() == 1
        gaps = np.sort(trees.stochastic_potential[~trees.stable]) / scale - trees.stochastic_potential.min() / scale
        if scale == 1.0 and (gaps.size == 0 or gaps[0] > 1e-3):
            compared += 1
            law = chain(game, make_rule(place, sizes, 1e-6)).solve("log-gth").law
            assert np.abs(law - trees.limit).max() < 1e-3
    assert single > 50
    assert scale != 1.0 or compared > 150


# By hand ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["closed-form", "contraction", "elimination"])
def test_trial_sets_count_the_current_action_where_it_may_be_tried(method):
    game = NormalForm([[1.0, 0.0, 1.0, 0.0]], moves=[path_moves(4)])  # two summits, with one neighbour and with two
    for current, shares in ((False, [1 / 3, 0, 2 / 3, 0]), (True, [2 / 5, 0, 3 / 5, 0])):
        found = stability(game, pt.rule("blll", tau=1.0, include_current=current), method=method)
        np.testing.assert_allclose(found.limit, shares, atol=1e-12)


@pytest.mark.parametrize("method", ["closed-form", "contraction", "elimination"])
def test_shares_of_summits_in_valleys_within_valleys(method):
    """Along the path 0, 3, 2, 4, 1: two summits with a shallow valley between them, and a third behind a deep one."""
    game = NormalForm([[1.0, 1.0, 1.0, 0.5, -1.0]], moves=[[[3], [4], [3, 4], [0, 2], [2, 1]]])
    found = stability(game, pt.rule("blll", tau=1.0), method=method)
    np.testing.assert_allclose(found.limit, [1 / 4, 1 / 4, 1 / 2, 0, 0], atol=1e-12)


def test_moves_of_no_return_have_no_closed_form():
    game = NormalForm([[1.0, 0.0, 1.0]], moves=[[[1], [2], [0]]])  # from the last summit to the first for nothing
    found = stability(game, pt.rule("blll", tau=1.0))
    assert found.stable.tolist() == [True, False, False]


@pytest.mark.parametrize("method", ["closed-form", "contraction", "elimination"])
def test_without_a_unit_ties_up_to_rounding_are_ties(method):
    values = np.random.default_rng(3).normal(size=7)
    values[[1, 4]] = 3.0 + np.pi * np.array([1.0, 1.0 + 1e-14])
    found = stability(NormalForm([values]), pt.rule("lll", tau=1.0), method=method)
    assert not found.exact
    assert np.flatnonzero(found.stable).tolist() == [1, 4]
    np.testing.assert_allclose(found.limit[[1, 4]], 0.5)


def test_elimination_on_leading_terms_is_the_limit_of_elimination():
    """Small whole exponents, so that several ways often have one resistance."""
    random, small = np.random.default_rng(0), 1e-7
    for _ in range(20):
        a, x = random.integers(1, 4, (4, 4)).astype(float), random.integers(0, 3, (4, 4)).astype(float)
        np.fill_diagonal(a, 0.0)
        near, law, exponents = np.empty((3, 4))
        elimination.gth_entry(a * small**x, near)
        elimination.leading_entry(a, x, law, exponents, 0.0)
        limit = np.where(exponents <= exponents.min(), law, 0.0)
        np.testing.assert_allclose(limit / limit.sum(), near / near.sum(), atol=1e-5)


# Bad input --------------------------------------------------------------------------------------------


def test_bad_input():
    game = games.normal_form()
    with pytest.raises(InvalidInput, match=r"method must be one of auto, closed-form, .*, got 'trees'"):
        stability(game, pt.rule("lll", tau=1.0), method="trees")
    with pytest.raises(InvalidInput, match="no theorem gives the stable states"):
        stability(game, pt.rule("lll", tau=1.0), method="closed-form")
    one_way = NormalForm(np.zeros((2, 3, 2)), moves=[[[1], [2], [1]], None])
    found = stability(one_way, pt.rule("blll", tau=1.0))
    assert np.isinf(found.stochastic_potential[:2]).all()
    with pytest.raises(InvalidInput, match=r"root \(0, 1\) is transient"):
        found.tree([0, 1])
    with pytest.raises(InvalidInput, match="root"):
        found.tree([0, 2])
    for array in (found.stable, found.limit, found.stochastic_potential):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    cooling = pt.rule("blll", tau=pt.rules.Geometric(1.0, 0.1))
    assert_agree(found, stability(one_way, cooling))  # the limit does not depend on how one gets there
