"""Stochastic stability: three independent methods on a thousand games, and the theorems about maximisers."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest

import potentia as pt
from potentia.analysis import chain, stability
from potentia.errors import InvalidInput, NotIrreducible
from potentia.games import NormalForm, Separable, path_moves
from potentia.rules import Groups, Vanishing
from tests import games, oracle
from tests.exact.test_stationary import symmetric_moves
from tests.statistical.test_one_step import neighbours

GAMES = 1000
LARGEST = 36  # profiles
COLD = 0.03  # e^{-1/τ} = 3e-15: what a resistance of 1 more leaves

OPTIONS = [
    {"trial": trial, "guard": guard, "include_current": current}
    for trial, guard, current in itertools.product(("joint", "unilateral"), (False, True), (False, True))
]


def per_action(sizes):
    return tuple(tuple(0.2 + 0.2 * ((i + a) % 4) for a in range(n)) for i, n in enumerate(sizes))


def groups(sizes):
    """Pairs of neighbours and everybody alone."""
    players = range(len(sizes))
    sets = [(i, i + 1) for i in players[:-1]] + [(i,) for i in players]
    return Groups([(members, 1 / len(sets)) for members in sets])


REVISIONS = {
    "same": lambda sizes: 0.3,
    "per action": per_action,
    "vanishing": lambda sizes: Vanishing(1.0),
    "vanishing slower": lambda sizes: Vanishing(2.5),
}
# name, options, revision: every rule with every option
RULES = [
    ("lll", {}, None),
    ("blll", {}, None),
    ("blll", {"include_current": True}, None),
    ("slll", {}, groups),
    *(("slll", {}, revision) for revision in REVISIONS.values()),
    *(("p-sblll", options, revision) for options in OPTIONS for revision in REVISIONS.values()),
]


def make_rule(place, sizes, tau=1.0):
    name, options, revision = RULES[place]
    wake = {} if revision is None else {"revision": revision(sizes)}
    return pt.rule(name, tau=tau, **options, **wake)


def random_sizes(random, largest=LARGEST):
    while True:
        sizes = tuple(int(n) for n in random.integers(2, 5, size=random.integers(2, 5)))
        if math.prod(sizes) <= largest:
            return sizes


def integer_payoffs(random, sizes, has_potential):
    """Integers from 0 to 4; with a potential, half of each payoff is a term of the others' actions only."""
    if not has_potential:
        return random.integers(0, 5, size=(len(sizes), *sizes)).astype(float)
    phi = random.integers(0, 3, size=sizes)
    others = [tuple(1 if k == i else n for k, n in enumerate(sizes)) for i in range(len(sizes))]
    return np.array([phi + random.integers(0, 3, size=shape) for shape in others]).astype(float)


def random_moves(random, sizes):
    """For each player a path, a one-way circle or a random connected graph."""
    kinds = (
        path_moves,
        lambda n: np.roll(np.eye(n, dtype=bool), 1, axis=1),
        lambda n: symmetric_moves(random, n),
    )
    return [kinds[random.integers(3)](n) for n in sizes]


def integer_games():
    """(place of the rule, payoffs, moves): every rule plays games with and without potential, complete and not."""
    random = np.random.default_rng(30)
    for k in range(GAMES):
        sizes = random_sizes(random)
        payoffs = integer_payoffs(random, sizes, has_potential=k % 2 == 0)
        moves = random_moves(random, sizes) if k // (2 * len(RULES)) % 3 == 2 else None
        yield k // 2 % len(RULES), payoffs, moves


def assert_agree(one, other, within=1e-10):
    np.testing.assert_array_equal(one.stable, other.stable)
    np.testing.assert_allclose(one.limit, other.limit, rtol=0, atol=within)
    np.testing.assert_allclose(one.stochastic_potential, other.stochastic_potential, rtol=1e-12, atol=1e-9)


def cold_law(game, place):
    return chain(game, make_rule(place, game.num_actions, COLD)).solve("log-gth").law


def test_three_methods_agree_on_a_thousand_games():
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


def test_best_response_is_its_own_limit():
    """No temperature: the limit is the stationary law where that is unique, and several classes are an error."""
    unique = total = 0
    for _, payoffs, moves in itertools.islice(integer_games(), 100):
        game = NormalForm(payoffs, moves=moves)
        total += 1
        if len(chain(game, pt.rule("best-response")).classes) > 1:
            with pytest.raises(NotIrreducible):
                stability(game, pt.rule("best-response"))
            continue
        unique += 1
        found = stability(game, pt.rule("best-response"), method="contraction")
        np.testing.assert_allclose(found.limit, chain(game, pt.rule("best-response")).stationary(), atol=1e-10)
        assert np.isinf(found.stochastic_potential[found.limit == 0]).all()
    assert total / 4 < unique < total


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


# Theorems ---------------------------------------------------------------------------------------------


def maximisers(phi):
    """Which profiles, flat in C order, maximise a potential."""
    flat = phi.reshape(-1)
    return flat >= flat.max() - 1e-9


def potential_games(count, seed):
    """(payoffs, potential, random): normal and integer ones in turn."""
    random = np.random.default_rng(seed)
    for k in range(count):
        sizes = random_sizes(random)
        draw = random.standard_normal if k % 2 else lambda shape: random.integers(0, 5, size=shape).astype(float)
        phi = draw(sizes)
        others = [tuple(1 if axis == i else n for axis, n in enumerate(sizes)) for i in range(len(sizes))]
        yield np.array([phi + draw(shape) for shape in others]), phi, random


@pytest.mark.parametrize("constrained", [False, True])
def test_stable_under_blll_are_the_maximisers(constrained):
    """In every potential game with moves that connect and can be undone (Assumptions 1 and 2)."""
    for k, (payoffs, phi, random) in enumerate(potential_games(200, seed=33)):
        moves = [symmetric_moves(random, n) for n in phi.shape] if constrained else None
        rule = pt.rule("blll", tau=1.0, include_current=k % 4 < 2)
        found = stability(NormalForm(payoffs, moves=moves), rule, method="contraction")
        assert found.method == "least trees to all roots"
        np.testing.assert_array_equal(found.stable, maximisers(phi))


def test_without_assumption_2_blll_may_leave_the_maximisers():
    """One-way streets: the theorem's assumption is not idle."""
    missed = 0
    for payoffs, phi, _ in potential_games(200, seed=34):
        moves = [np.roll(np.eye(n, dtype=bool), 1, axis=1) for n in phi.shape]
        found = stability(NormalForm(payoffs, moves=moves), pt.rule("blll", tau=1.0))
        assert (found.method == "least trees to all roots") == (max(phi.shape) > 2)
        missed += not np.array_equal(found.stable, maximisers(phi))
    assert missed > 10


def test_stable_under_lll_are_the_maximisers():
    for payoffs, phi, _ in potential_games(200, seed=35):
        found = stability(NormalForm(payoffs), pt.rule("lll", tau=1.0), method="contraction")
        np.testing.assert_array_equal(found.stable, maximisers(phi))


def test_limits_of_closed_forms():
    """Among the maximisers, BLLL prefers actions with many trial actions in the same proportion at every τ."""
    payoff = np.zeros((3, 3))
    game = NormalForm([payoff, payoff], moves=[path_moves(3)] * 2)
    expected = np.outer([1, 2, 1], [1, 2, 1]).reshape(-1) / 16
    for method, name in (("auto", "closed form"), ("contraction", "least trees"), ("elimination", "elimination")):
        found = stability(game, pt.rule("blll", tau=1.0), method=method)
        assert name in found.method
        np.testing.assert_allclose(found.limit, expected, rtol=1e-12)


SYNCHRONOUS = [options for options in OPTIONS if not options["include_current"]]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(str(v) for v in o.values()))
def test_stable_under_p_sblll_in_separable_games_are_the_maximisers(options):
    """Joint, unilateral and guarded trials, with and without constrained moves (Assumptions 1 to 3)."""
    random = np.random.default_rng(36)
    for k in range(60):
        sizes = random_sizes(random)
        rows = [random.standard_normal(n) if k % 2 else random.integers(0, 3, size=n).astype(float) for n in sizes]
        moves = [symmetric_moves(random, n) for n in sizes] if k % 3 == 0 else None
        game = Separable(rows, moves=moves)
        phi = np.array([game.potential(s) for s in oracle.profiles(game)])
        revision = per_action(sizes) if k % 4 < 2 else 0.3
        found = stability(game, pt.rule("p-sblll", tau=1.0, revision=revision, **options), method="contraction")
        np.testing.assert_array_equal(found.stable, maximisers(phi))


@pytest.mark.parametrize("options", SYNCHRONOUS, ids=lambda o: "-".join(str(v) for v in o.values()))
def test_beyond_separable_games_only_the_guard_keeps_the_maximisers(options):
    missed = 0
    for payoffs, phi, _ in potential_games(100, seed=37):
        found = stability(NormalForm(payoffs), pt.rule("p-sblll", tau=1.0, revision=0.3, **options))
        missed += not np.array_equal(found.stable, maximisers(phi))
    assert (missed == 0) if options["guard"] else (missed > 10)


@pytest.mark.parametrize(("name", "options"), [("slll", {}), *(("p-sblll", options) for options in OPTIONS)], ids=str)
def test_rare_revisions_bring_the_maximisers_back(name, options):
    """ε^m with m above twice the largest change of a utility by one's own action (Marden & Shamma 2012)."""
    missed = 0
    for payoffs, phi, _ in potential_games(60, seed=38):
        game = NormalForm(payoffs)
        largest = max(float(np.ptp(payoffs[i], axis=i).max()) for i in range(len(payoffs)))
        if largest == 0:
            continue
        rare = pt.rule(name, tau=1.0, revision=Vanishing(2.01 * largest), **options)
        np.testing.assert_array_equal(stability(game, rare, method="contraction").stable, maximisers(phi))
        often = pt.rule(name, tau=1.0, revision=Vanishing(0.01 * largest), **options)
        missed += not np.array_equal(stability(game, often, method="contraction").stable, maximisers(phi))
    assert (missed == 0) if options.get("guard") else (missed > 0)


# The paper's lemmas -----------------------------------------------------------------------------------


def eq_12(game, source, target, m=0.0):
    """The resistance lemma: each deviator pays what it loses at the new profile."""
    movers = [i for i in range(game.num_players) if source[i] != target[i]]
    losses = [max(0.0, game.utility(i, source) - game.utility(i, target)) for i in movers]
    return sum(losses) + m * len(movers)


@pytest.mark.parametrize("guard", [False, True])
@pytest.mark.parametrize("revision", [0.3, Vanishing(1.0)], ids=["constant", "vanishing"])
def test_exact_resistances_are_at_most_those_of_eq_12(revision, guard):
    """The realisation in which exactly the deviators wake is one of many; others can be cheaper."""
    lower = equal = 0
    m = revision.m if isinstance(revision, Vanishing) else 0.0
    random = np.random.default_rng(39)
    for k in range(40):
        sizes = random_sizes(random, largest=16)
        game = NormalForm(integer_payoffs(random, sizes, has_potential=k % 2 == 0))
        found = stability(game, pt.rule("p-sblll", tau=1.0, revision=revision, guard=guard))
        listed = found.resistances()
        expected = [
            eq_12(game, found.states[i], found.states[j], m)
            for i, j in zip(listed.sources, listed.targets, strict=True)
        ]
        np.testing.assert_allclose(listed.lemma, expected, atol=1e-12)
        assert (listed.exact <= listed.lemma + 1e-12).all()
        np.testing.assert_array_equal(listed.differs, listed.lemma - listed.exact > 0.5)
        lower, equal = lower + listed.differs.sum(), equal + (~listed.differs).sum()
    assert equal > 100
    assert (lower == 0) if guard else (lower > 100)  # one mover among neighbours: nobody to mislead it


def test_eq_12_is_exact_in_separable_games_and_reverses():
    """r(α → β) - r(β → α) = Φ(α) - Φ(β) (Eq. 19-20): nobody's comparison depends on the others."""
    random = np.random.default_rng(40)
    for k in range(30):
        sizes = random_sizes(random)
        game = Separable([random.standard_normal(n) if k % 2 else random.integers(0, 5, size=n) for n in sizes])
        phi = np.array([game.potential(s) for s in oracle.profiles(game)])
        found = stability(game, pt.rule("p-sblll", tau=1.0, revision=0.3, trial=("joint", "unilateral")[k % 3 % 2]))
        listed = found.resistances()
        assert not listed.differs.any()
        table = np.full((len(phi), len(phi)), np.nan)
        table[listed.sources, listed.targets] = listed.exact
        assert np.isnan(table).sum() == len(phi)  # all but the diagonal
        off = (table - table.T) - (phi[:, None] - phi[None, :])
        np.testing.assert_allclose(off[~np.isnan(off)], 0.0, atol=1e-9)


def test_eq_12_does_not_reverse_in_general():
    game = NormalForm(integer_payoffs(np.random.default_rng(41), (2, 3), has_potential=True))
    phi = pt.analysis.potential(game).reshape(-1)
    listed = stability(game, pt.rule("p-sblll", tau=1.0, revision=0.3)).resistances()
    table = np.zeros((6, 6))
    table[listed.sources, listed.targets] = listed.exact
    assert np.abs((table - table.T) - (phi[:, None] - phi[None, :])).max() > 0.5


def test_other_rules_have_no_lemma():
    listed = stability(games.normal_form(), pt.rule("blll", tau=1.0)).resistances()
    assert listed.lemma is None
    assert listed.differs is None


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
