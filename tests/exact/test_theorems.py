"""Which profiles are stable: the theorems about maximisers, and the paper's lemmas about resistances."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import stability
from potentia.games import NormalForm, Separable, path_moves
from potentia.rules import Vanishing
from tests import games, oracle
from tests.exact.random_games import OPTIONS, integer_payoffs, per_action, random_sizes
from tests.exact.test_stationary import symmetric_moves

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
