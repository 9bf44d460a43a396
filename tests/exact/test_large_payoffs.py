"""A constant added to a player's payoffs, or a power of two times all of them, changes no answer.

What floating-point numbers cannot hold is told.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import potentia as pt
from potentia.analysis import audit, chain, check_claim, dominated, finite_improvement, potential, pure_nash, stability
from potentia.analysis.units import in_units, maximisers
from potentia.errors import InvalidGame, InvalidRun, NotConverged, NotIrreducible, NotPotentialGame, PotentiaError
from potentia.games import NormalForm

HUNT = np.array([[[4.0, 1.0], [3.0, 3.0]], [[4.0, 3.0], [1.0, 3.0]]])
PENNIES = np.array([[[1.0, -1.0], [-1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]]])
RULES = {
    "lll": {"rule": "lll", "tau": 1.0},
    "blll": {"rule": "blll", "tau": 1.0},
    "slll": {"rule": "slll", "tau": 1.0, "revision": 0.5},
    "joint": {"rule": "p-sblll", "tau": 1.0, "revision": 0.5, "trial": "joint"},
    "unilateral": {"rule": "p-sblll", "tau": 1.0, "revision": 0.5, "trial": "unilateral"},
    "guarded": {"rule": "p-sblll", "tau": 1.0, "revision": 0.5, "guard": True},
    "metropolis": {"rule": "metropolis", "tau": 1.0},
    "mistakes": {"rule": "mistakes", "tau": 1.0},
}
OFFSETS = [[1e6, 1e6], [1e12, 1e12], [1e15, 1e15], [2e15, 2e15], [-1e15, 3.0], [2.0**52, -1e6], [0.0, 4e15]]


def answer(payoffs, rule):
    """The limit law, the stochastic potential and the unit of the ties, or the classes a chain falls apart into."""
    try:
        found = stability(NormalForm(payoffs), rule)
    except NotIrreducible as error:
        return [part.tolist() for part in error.classes]
    return found.stable.tolist(), found.limit.tolist(), found.stochastic_potential.tolist(), found.exact


def shifted(payoffs, offsets):
    return payoffs + np.reshape(offsets, (-1, *[1] * (payoffs.ndim - 1)))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("offsets", OFFSETS, ids=str)
def test_the_stable_set_of_the_stag_hunt(rule, offsets):
    assert answer(shifted(HUNT, offsets), rule) == answer(HUNT, rule)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_floats_are_taken_as_they_are(rule):
    """1e16 + 1 is 1e16 in floating point, and 1e16 + 3 is 1e16 + 4: another game, and its own answer."""
    assert answer(HUNT + 1e16, rule) == answer((HUNT + 1e16) - 1e16, rule)


@pytest.mark.parametrize("exponent", [-1070, -500, 500, 990])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_powers_of_two(rule, exponent):
    plain, scaled = answer(HUNT, rule), answer(HUNT * 2.0**exponent, rule)
    if isinstance(plain, tuple) and rule["rule"] != "mistakes":  # which are counted, whatever they cost
        plain = (*plain[:2], [value * 2.0**exponent for value in plain[2]], plain[3])
    assert scaled == plain


@st.composite
def shifts(draw):
    """Small whole payoffs, and a constant per player with which every float is still exact."""
    sizes = draw(st.sampled_from([(2, 2), (2, 3), (2, 2, 2)]))
    count = len(sizes) * math.prod(sizes)
    values = draw(st.lists(st.integers(-9, 9), min_size=count, max_size=count))
    payoffs = np.reshape(np.array(values, float), (len(sizes), *sizes))
    offsets = [draw(st.sampled_from([-1.0, 1.0])) * 2.0 ** draw(st.integers(0, 52)) for _ in sizes]
    return payoffs, shifted(payoffs, offsets), draw(st.sampled_from(list(RULES)))


@given(shifts())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_constants_change_no_answer(case):
    payoffs, moved, name = case
    assert answer(moved, RULES[name]) == answer(payoffs, RULES[name])


def test_what_is_no_constant_does_change_it():
    """The same amount for one profile only: the test above can tell."""
    other = HUNT.copy()
    other[:, 0, 0] += 2.0
    assert answer(other, RULES["lll"]) != answer(HUNT, RULES["lll"])
    assert answer(other + 1e15, RULES["lll"]) == answer(other, RULES["lll"])


def test_a_tenth_beside_a_large_constant():
    """One player counts in ones far from 0, the other in tenths: both in tenths."""
    payoffs = np.array([HUNT[0] + 1e15, HUNT[1] / 10])
    found = in_units(payoffs, False, 0.0)
    assert (found.exact, found.unit) == (True, 0.1)
    np.testing.assert_array_equal(found.payoffs, [10 * (HUNT[0] - 1).ravel(), (HUNT[1] - 1).ravel()])


@pytest.mark.parametrize("gap", [1e-12, 1e-11, 1e-8])
@pytest.mark.parametrize("rule", ["lll", "blll", "slll", "joint"])
def test_maxima_that_hardly_differ_are_not_tied(gap, rule):
    """What sums may be off by is far less; and nobody calls it exact where nothing was counted."""
    phi = np.array([[1.0, 0.0], [0.0, 1.0 + gap]])
    found = stability(NormalForm([phi, phi]), RULES[rule])
    assert not found.exact
    assert 0 < found.tolerance < gap
    assert found.stable.tolist() == [False, False, False, True]


def test_maxima_that_differ_by_rounding_are_tied():
    phi = np.array([[0.1 + 0.2, 0.0], [0.0, 0.3]])
    assert phi[0, 0] != phi[1, 1]
    assert stability(NormalForm([phi, phi]), RULES["lll"]).stable.tolist() == [True, False, False, True]


def test_differences_that_floats_hold_are_counted():
    """2^-30 beside 1 and far from 0: whole numbers of 2^-30."""
    phi = np.array([[1.0, 0.0], [0.0, 1.0 + 2.0**-30]]) + 2.0**19
    found = stability(NormalForm([phi, phi]), RULES["lll"])
    assert found.exact
    assert found.stable.tolist() == [False, False, False, True]
    assert maximisers(phi).tolist() == [3]


def test_multiples_that_only_look_like_it():
    """180 and 361 beside 9e15, where floats are 1 apart, and scaled down: 361 is not twice 180."""
    for scale in (1.0, 2.0**-20, 2.0**20):
        found = in_units((np.array([[0.0, 180.0, 361.0]]) + 8e15) * scale, False, 0.0)
        assert (found.exact, found.unit) == (True, scale)
        np.testing.assert_array_equal(found.payoffs, [[0, 180, 361]])


def test_a_tolerance_as_large_as_the_payoffs_of_a_player():
    """Draws up to 1e14 have no unit; what another player gets is lost beside them, and nothing is made up."""
    payoffs = np.random.default_rng(1).normal(size=(2, 2, 2))
    payoffs[0] *= 1e14
    game = NormalForm(payoffs)
    with pytest.raises(NotConverged, match=r"tie tolerance of .* reaches the spread of payoffs of player 1 by "):
        stability(game, RULES["lll"])
    assert "reaches the spread" in str(audit(game, RULES["lll"]))


@pytest.mark.parametrize("offset", [1e15, 1e12])
def test_equilibria_and_potentials(offset):
    """Two equilibria, not four; a potential that is none is still none, and the evidence is right."""
    hunt, pennies = NormalForm(HUNT + offset), NormalForm(shifted(PENNIES, [offset, 0.0]))
    assert pure_nash(hunt).tolist() == [[0, 0], [1, 1]]
    assert pure_nash(pennies).tolist() == []
    assert not finite_improvement(pennies)
    np.testing.assert_array_equal(potential(hunt), potential(NormalForm(HUNT)))
    with pytest.raises(NotPotentialGame) as caught:
        potential(pennies)
    assert caught.value.evidence.imbalance == -8.0
    assert not check_claim(pennies, np.zeros((2, 2)))
    assert not check_claim(hunt, "welfare")
    with pytest.raises(NotPotentialGame, match="potential is not exact"):
        NormalForm(shifted(PENNIES, [offset, 0.0]), potential=np.zeros((2, 2)))
    dilemma = NormalForm(np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]]) + offset)
    assert [(one.player, one.action) for one in dominated(dilemma)] == [(0, 0), (1, 0)]


def test_an_audit_keeps_its_words():
    """The same verdicts, whatever constant; the lemma's resistances too."""
    rule = RULES["joint"]
    plain, far = (audit(NormalForm(HUNT + offset), rule) for offset in (0.0, 1e15))
    assert [row.holds for row in far.rows] == [row.holds for row in plain.rows]
    assert [(one.applies, one.kept, one.found) for one in far.findings] == [
        (one.applies, one.kept, one.found) for one in plain.findings
    ]
    assert far.summary == plain.summary


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value")  # in plain Python only
def test_temperatures_too_low_for_the_payoffs():
    """Differences over τ that overflow: one error, which says what to do."""
    for tau in (1e-310, 5e-324):
        law = chain(pt.game("stag-hunt"), RULES["slll"] | {"tau": tau})
        for method in ("auto", "log-gth"):
            with pytest.raises(NotConverged, match=r"differences of payoffs over τ are too large"):
                law.solve(method)
        with pytest.raises(NotConverged, match=r"differences of payoffs over τ are too large"):
            law.hitting_times([[0, 0]])
    assert "differences of payoffs over τ" in str(audit(pt.game("stag-hunt"), RULES["slll"] | {"tau": 1e-310}))


def crowd():
    payoffs = np.zeros((5, 2, 2, 2, 2, 2))
    payoffs[:, 0] = 4e307
    return NormalForm(payoffs)


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_welfare_that_no_float_holds():
    """Five players of 4e307 each: told where it is asked for, and nowhere else."""
    game, rule = crowd(), {"rule": "lll", "tau": 1.0}
    assert game.welfare([1, 0, 0, 0, 0]) == 0.0
    with pytest.raises(InvalidGame, match=r"welfare at profile \[0, 1, 0, 0, 0\] must be finite, got inf"):
        game.welfare([0, 1, 0, 0, 0])
    for start, step in (([0, 1, 0, 0, 0], 0), ([1, 1, 0, 0, 0], None)):
        with pytest.raises(InvalidRun, match=rf"welfare at step {'[1-9]' if step is None else step}.* must be finite"):
            pt.run(game, rule, 60, start=start, record="welfare")
    assert pt.run(game, rule, 60, record="profile").steps == 60
    with pytest.raises(PotentiaError, match="welfare"):
        pt.engine.evaluate(game, [0] * 5)


@pytest.mark.parametrize("size", [1e9, 1e10, 1e12, 1e15, 4e15])
def test_what_only_the_others_decide_changes_no_equilibrium(size):
    """The stag hunt, with a large bonus or malus for what the other does: no deviation gains more or less."""
    payoffs = np.array([[[4.0, 0.0], [3.0, 3.0]], [[4.0, 3.0], [0.0, 3.0]]])
    payoffs[0] += [[size, -size], [size, -size]]
    payoffs[1] += [[-size, -size], [size, size]]
    game = NormalForm(payoffs)
    assert pure_nash(game).tolist() == [[0, 0], [1, 1]]
    assert stability(game, RULES["blll"]).stable.tolist() == [False, False, False, True]
    if size > 1e12:  # joint trials compare across what the others do: differences of 1 are lost there
        with pytest.raises(NotConverged, match="ties cannot be told"):
            stability(game, RULES["joint"])
