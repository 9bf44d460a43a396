"""Where exact answers are easily lost: tiny and huge payoffs, chains that hardly move, almost empty games."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.analysis import audit, chain, potential, stability
from potentia.errors import InvalidGame, InvalidRule, NotConverged, NotPotentialGame, TooLarge

JOINT = {"rule": "p-sblll", "tau": 0.1, "revision": 0.3}


def two_stars(leaves, leaf, advantage, tau):
    """Two hubs that meet in one state, each with many leaves: between the hubs the chain hardly moves."""
    one, two = range(3, 3 + leaves), range(3 + leaves, 3 + 2 * leaves)
    moves = [[1, 2], [0, *one], [0, *two], *[[1]] * leaves, *[[2]] * leaves]
    payoffs = np.full(3 + 2 * leaves, leaf)
    payoffs[:3] = 0.0, 1.0, 1.0 + advantage
    return chain(pt.games.NormalForm(payoffs[None], moves=[moves]), {**JOINT, "tau": tau})


@pytest.mark.parametrize(("leaf", "advantage", "tau"), [(0.0, 0.001, 0.05), (0.5, 0.02, 0.023207944168063883)])
def test_the_sparse_solver_never_answers_wrong(leaf, advantage, tau):
    """Residuals of any mixture of the hubs are below rounding; once both starts fell onto one hub."""
    found = two_stars(500, leaf, advantage, tau)
    assert found.size > 1000  # so that auto tries the sparse solver
    right = found.solve("log-gth").law
    np.testing.assert_allclose(found.stationary(), right, atol=1e-9)


def test_the_sparse_solver_is_right_or_refuses():
    refused = 0
    for leaf in (0.0, 0.3, 0.5, 0.8):
        for tau in np.geomspace(0.015, 0.3, 12):
            found = two_stars(20, leaf, 0.02, float(tau))
            try:
                law = found.solve("gmres").law
            except NotConverged:
                refused += 1
                continue
            np.testing.assert_allclose(law, found.solve("log-gth").law, atol=1e-6)
    assert 0 < refused < 48


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e-9, 1.0, 1e9, 1e250])
@pytest.mark.parametrize("rule", [{"rule": "blll", "tau": 1.0}, JOINT, {**JOINT, "trial": "unilateral"}], ids=str)
def test_the_scale_of_payoffs_changes_nothing(scale, rule):
    for seed in range(5):
        payoffs = pt.games.random_potential_game((2, 3), seed=seed).payoffs
        for table in (payoffs, np.rint(2 * payoffs)):
            here, there = (stability(pt.games.NormalForm(s * table), rule) for s in (1.0, scale))
            assert (here.stable == there.stable).all()
            np.testing.assert_allclose(here.limit, there.limit, atol=1e-9)
            np.testing.assert_allclose(
                scale * here.stochastic_potential, there.stochastic_potential, rtol=1e-9, atol=1e-9 * scale
            )


def test_findings_do_not_depend_on_the_scale():
    payoffs = pt.game("double-step").payoffs
    for scale in (1e-9, 1.0, 1e9):
        report = audit(pt.games.NormalForm(scale * payoffs), JOINT)
        assert [f.kept for f in report.findings] == [False] * 4


def test_what_others_decide_does_not_hide_a_game():
    """A bonus of 1e10 for what the *other* does changes no decision, so it must not count as the scale of payoffs."""
    pennies = pt.game("matching-pennies").payoffs.copy()
    pennies[0][:, 1] += 1e10
    with pytest.raises(NotPotentialGame):
        potential(pt.games.NormalForm(pennies))
    dilemma = pt.game("prisoners-dilemma").payoffs.copy()
    dilemma[0][:, 1] += 1e10
    report = audit(pt.games.NormalForm(dilemma), pt.rule("blll", tau=0.1))
    assert [f.verdict for f in report.findings] == ["kept"]
    assert report.stability.stable_profiles.tolist() == [[1, 1]]


def test_a_potential_must_be_exact_compared_with_the_temperature():
    """Off by 8e-10, it is a potential game to the tolerance, but not at a temperature of 1e-10."""
    payoffs = np.array([np.eye(2), np.eye(2)])
    payoffs[0][1, 1] += 8e-10
    game = pt.games.NormalForm(payoffs)
    found = chain(game, pt.rule("lll", tau=1e-10)).solve()
    assert not found.method.startswith("closed form")
    np.testing.assert_allclose(found.law[[0, 3]].sum(), 1.0)
    assert found.law[3] > 1.5 * found.law[0]
    assert chain(game, pt.rule("lll", tau=1e4)).solve().method.startswith("closed form")


def test_a_large_m_keeps_the_payoffs_or_is_refused():
    game = pt.games.random_potential_game((2, 3), seed=1)
    best = stability(game, pt.rule("blll", tau=1.0)).stable_profiles.tolist()
    for m in (20.0, 1e3, 1e5):
        rule = pt.rule("p-sblll", tau=0.1, revision=pt.rules.Vanishing(m))
        assert stability(game, rule).stable_profiles.tolist() == best
    with pytest.raises(InvalidRule, match="must be between"):
        stability(game, pt.rule("p-sblll", tau=0.1, revision=pt.rules.Vanishing(1e8)))
    flat = stability(
        pt.games.NormalForm(np.zeros((2, 2, 2))), pt.rule("slll", tau=1.0, revision=pt.rules.Vanishing(1.0))
    )
    np.testing.assert_allclose(flat.limit, 0.25)


def test_games_that_are_almost_nothing():
    for rule in ({"rule": "lll", "tau": 1.0}, {"rule": "blll", "tau": 1.0}, JOINT, {**JOINT, "guard": True}):
        single = pt.games.NormalForm(np.zeros((3, 1, 1, 1)))
        assert stability(single, rule).limit.tolist() == [1.0]
        found = chain(single, rule)
        assert (found.mixing_time(), found.spectral_gap(), found.stationary().tolist()) == (0, 1.0, [1.0])
        assert audit(single, rule).summary
        alone = stability(pt.games.NormalForm([[1.0, 2.0, 2.0]]), rule)
        np.testing.assert_allclose(alone.limit, [0.0, 0.5, 0.5])


def test_too_many_players_and_too_large_payoffs_are_refused():
    many = pt.games.Separable([[0.0]] * 63 + [[0.0, 1.0], [0.0, 2.0]])
    with pytest.raises(TooLarge, match="up to 32 players, got 65"):
        chain(many, JOINT)
    with pytest.raises(InvalidGame, match=r"player 0 at profile \[0, 0\] must be finite and at most 1e\+300"):
        stability(pt.games.NormalForm(1.7e308 * pt.game("matching-pennies").payoffs), JOINT)
    with pytest.raises(TooLarge, match=r"joint trials over .* ways to end"):
        stability(pt.game("ring", players=15), JOINT)


def test_reversibility_needs_no_law():
    """A product of reversible chains, with more states than elimination takes."""
    values = np.random.default_rng(0).normal(size=36)
    assert chain(pt.games.Separable([values] * 2), {**JOINT, "tau": 0.2}).reversible()
    assert not chain(pt.game("matching-pennies"), {"rule": "lll", "tau": 0.5}).reversible()


TRAP = pt.games.NormalForm([[10.0, 0.0, 1.0, 1.0, 1.0, 1.0]], moves=[[[1], [0, 2, 3], [4], [5], [2], [3]]])


def test_absorption():
    ends = chain(pt.game("stag-hunt"), pt.rule("best-response"))
    assert [c.tolist() for c in ends.classes] == [[0], [3]]
    np.testing.assert_allclose(ends.absorption(), [[1, 0], [0.5, 0.5], [0.5, 0.5], [0, 1]])
    np.testing.assert_allclose(chain(TRAP, pt.rule("blll", tau=0.5)).absorption()[:2], 0.5, atol=1e-12)


def test_absorption_that_is_lost_in_rounding():
    with pytest.raises(NotConverged, match="absorption"), np.errstate(invalid="ignore", divide="ignore"):
        chain(TRAP, pt.rule("blll", tau=0.001)).absorption()


def test_a_gap_below_rounding_is_an_error():
    with pytest.raises(NotConverged, match="gap is below"):
        chain(pt.game("stag-hunt"), pt.rule("blll", tau=0.02)).spectral_gap()
    assert chain(pt.game("stag-hunt"), pt.rule("best-response")).spectral_gap() == 0.0  # two closed classes


def test_disproofs_use_moves_that_can_be_made():
    game = pt.game("overlap", robots=2, cells=6, seed=3)
    claim = pt.analysis.check_claim(game, "welfare")
    assert claim.second[claim.player] in game.reachable(claim.player, claim.first[claim.player])
    assert abs(claim.utility_change - claim.claimed_change) > 0.05


def test_the_reversal_lemma_fails_by_one_unit():
    game = pt.games.NormalForm([[[3, 4], [4, 3]], [[3, 4], [3, 2]]])
    (found,) = [f for f in audit(game, JOINT).findings if f.result.startswith("reversal")]
    assert found.kept is False


def test_closed_forms_are_for_potentials_as_exact_as_the_units():
    """Off by one in a billion: no potential game, and counted in units that shows."""
    game = pt.games.NormalForm([[[1000000003, 2], [1, 1000000001]], [[1000000002, 2], [0, 1000000002]]])
    for rule in ("lll", "blll"):
        found = [stability(game, {"rule": rule, "tau": 1.0}, method=m) for m in ("auto", "contraction", "elimination")]
        assert found[0].exact
        assert len({f.stable.tobytes() for f in found}) == 1


def test_rounding_of_the_payoffs_is_no_unit():
    """Tenths plus what the others decide: the subtraction leaves noise of the size of the payoffs' last digit."""
    random = np.random.default_rng(0)
    for offset in (1e3, 3e5, 1e6, 1e8):
        for _ in range(40):
            phi = random.integers(0, 4, size=(2, 2)) / 10
            bonus = [random.normal(size=(1, 2)), random.normal(size=(2, 1))]
            game = pt.games.NormalForm([phi + offset * b for b in bonus])
            plain = stability(pt.games.NormalForm([phi, phi]), {"rule": "blll", "tau": 1.0})
            for method in ("auto", "contraction", "elimination"):
                found = stability(game, {"rule": "blll", "tau": 1.0}, method=method)
                assert (found.stable == plain.stable).all()
                np.testing.assert_allclose(found.limit, plain.limit, atol=1e-9)


def test_a_closed_form_that_rounding_spoils_gives_way():
    random = np.random.default_rng(3)
    phi = random.integers(0, 4, size=(3, 3, 2)) / 10
    shapes = [(1, 3, 2), (3, 1, 2), (3, 3, 1)]
    game = pt.games.NormalForm([phi + 1e3 * random.normal(size=shape) for shape in shapes])
    for tau in (1e-5, 1e-2):
        found = chain(game, pt.rule("lll", tau=tau))
        np.testing.assert_allclose(found.stationary(), found.solve("log-gth").law, atol=1e-9)


def test_one_action_players_cost_nothing():
    game = pt.games.Separable([[0.0, 1.0], [0.0, 0.5]] + [[0.0]] * 30)
    assert stability(game, JOINT).stable_profiles[:, :2].tolist() == [[1, 1]]


def test_gaps_of_periodic_chains():
    ring = pt.analysis.Chain(np.arange(4)[:, None], np.roll(np.eye(4), 1, axis=1))
    assert ring.spectral_gap() == 0.0
    triangles = np.kron(np.eye(2), (np.ones((3, 3)) - np.eye(3)) / 2)
    triangles[0] *= 1 - 1e-14
    triangles[3] *= 1 - 1e-14
    triangles[0, 3] = triangles[3, 0] = 1e-14
    with pytest.raises(NotConverged, match="gap"):
        pt.analysis.Chain(np.arange(6)[:, None], triangles).spectral_gap()


def test_an_m_too_small_to_be_seen_is_refused():
    with pytest.raises(InvalidRule, match=r"must be between .*; got 1e-12"):
        stability(pt.game("double-step"), pt.rule("p-sblll", tau=0.1, revision=pt.rules.Vanishing(1e-12)))
