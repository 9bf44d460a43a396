"""SOQL under repeated play: Eq. 30-33 and 40 as printed, played by the engine, and where its two forms part.

Eq. 30 to 33 hold as printed for Eq. 28 (``form="pair"``). Eq. 40 does too, also where utilities change; for the
pseudo-code's form its last term is u(n+m+1), one step later. Two misprints of the proof are held to what is right:
Σ_{c≥1} (1-ϑ)^c is (1-ϑ)/ϑ, not 1/ϑ, and in lim ∏_{c=1}^m (1 - (1-ϑ)^m), which is 1 for every ϑ, (1-ϑ)^c is meant.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import potentia as pt
from potentia.analysis import lock_in, soql_strategy, soql_values
from potentia.errors import InvalidInput

CLOSE = 1e-12
numbers = st.floats(-10, 10)
shares = st.floats(0.01, 0.99)


def single(u):
    """One player with one action, which it plays for ever."""
    return pt.games.NormalForm(np.array([[u]]))


def q_values(form, mu, initial, u, steps):
    """Q(0), Q(1), ... of the engine for an action that is never left."""
    rule = pt.rule("soql", mu=mu, vartheta=mu / 2, form=form, initial=initial)
    run = pt.begin(single(u), rule, 1, compiled=False)
    return np.array([float(run.advance(min(n, 1)).scores[0][0]) for n in range(steps + 1)])


def eq_31(mu, m, now, then, u):
    """Q(n+m) from Q(n) and Q(n+1), letter by letter."""
    k = 1 - mu
    return m * k ** (m - 1) * then - (m - 1) * k**m * now + ((m - 1) * k**m - m * k ** (m - 1) + 1) * u


def eq_32(mu, m, now, then, u):
    """Q(n+m+1) from Q(n) and Q(n+1)."""
    k = 1 - mu
    return (m + 1) * k**m * then - m * k ** (m + 1) * now + (m * k ** (m + 1) - (m + 1) * k**m + 1) * u


@settings(max_examples=40, deadline=None)
@given(shares, numbers, numbers, st.sampled_from(["pair", "two-step"]))
def test_eq_30_to_32(mu, initial, u, form):
    """From every n, for every m; Q of either form, and P as the pair has it."""
    q = q_values(form, mu, initial, u, 12)
    scale = CLOSE * max(1.0, abs(initial), abs(u))
    for n in range(12):
        p = q[n] + (q[n + 1] - q[n]) / mu
        for m in range(1, 13 - n):
            assert q[n + m] == pytest.approx(eq_31(mu, m, q[n], q[n + 1], u), abs=scale)
            assert q[n + m] == pytest.approx(eq_32(mu, m - 1, q[n], q[n + 1], u), abs=scale)
            assert q[n + m] == pytest.approx(soql_values(mu, m, p, q[n], u)[1], abs=10 * scale / mu)


@settings(max_examples=30, deadline=None)
@given(shares, st.integers(0, 400), numbers, numbers, numbers)
def test_values_are_the_recursion_of_eq_28(mu, m, p, q, u):
    found = soql_values(mu, m, p, q, u)
    scale = CLOSE * max(1.0, abs(p), abs(q), abs(u))
    assert found[0] == pytest.approx((1 - mu) ** m * p + (1 - (1 - mu) ** m) * u, abs=scale), "Eq. 30"
    for _ in range(m):
        p, q = p + mu * (u - p), q + mu * (p - q)
    assert found == pytest.approx((p, q), abs=scale)


def test_the_engine_holds_p_of_eq_30():
    rule = pt.rule("soql", mu=0.3, vartheta=0.1, form="pair", initial=[[2.0]])
    run = pt.begin(single(-1.5), rule, 1, compiled=False).advance(7)
    assert run.memory.stage[0, 0] == pytest.approx(0.7**7 * 2.0 + (1 - 0.7**7) * -1.5, abs=CLOSE)
    assert run.memory.stage[0, 0] != pytest.approx(0.7**8 * 2.0 + (1 - 0.7**8) * -1.5, abs=1e-6)


def held(form="pair", mu=0.6, vartheta=0.2, **more):
    """Two players whose strategies and scores favour one action, which pays more than any score: they never leave.

    The other utilities are such that other profiles would give other values.
    """
    game = pt.games.NormalForm(np.array([[[5.0, -3.0], [1.0, 0.0]], [[4.0, 2.0], [-1.0, 0.5]]]))
    options = {"initial": [[1.0, 0.3], [2.0, -1.0]], "initial_strategies": [[1.0, 0.0], [1.0, 0.0]], "xi": 0, **more}
    rule = pt.rule("soql", mu=mu, vartheta=vartheta, form=form, **options)
    return pt.begin(game, rule, 3, start=[1, 1], compiled=False)


@pytest.mark.parametrize("form", ["pair", "two-step"])
def test_two_players_that_stay(form):
    """Eq. 32 for both at once; actions that are not played keep their scores."""
    run = held(form)
    first = [float(q[0]) for q in run.scores]
    second = [float(q[0]) for q in run.advance(1).scores]
    for m in range(1, 30):
        run.advance(1)
        for player, u in enumerate((5.0, 4.0)):
            found = run.scores[player]
            assert found[0] == pytest.approx(eq_32(0.6, m, first[player], second[player], u), abs=CLOSE)
            assert found[0] != pytest.approx(eq_32(0.6, m + 1, first[player], second[player], u), abs=1e-13)
        assert [run.scores[0][1], run.scores[1][1]] == [0.3, -1.0]


def test_eq_33():
    """X of a player whose best response stays the same, from any X(n), whatever it plays meanwhile."""
    start = [[0.2, 0.5, 0.3]]
    game = pt.games.NormalForm(np.array([[0.5, 3.0, -1.0]]))
    rule = pt.rule("soql", mu=0.6, vartheta=0.2, xi=0, initial=[[0.0, 2.0, 1.0]], initial_strategies=start)
    run = pt.begin(game, rule, 3, compiled=False)
    for m in range(60):
        expected = 0.8**m * np.array(start[0]) + (1 - 0.8**m) * np.array([0.0, 1.0, 0.0])
        np.testing.assert_allclose(run.strategies[0], expected, atol=CLOSE)
        np.testing.assert_allclose(soql_strategy(0.2, m, start[0], best=1), expected, atol=CLOSE)
        assert soql_strategy(0.2, m, 0.5) == pytest.approx(expected[1], abs=CLOSE)
        run.advance(1)


def noisy(form):
    """Q of a single action, and the utilities received, which change at every step."""
    from potentia.kernel.draws import REWARD, normal_nth

    run = pt.begin(single(1.0), pt.rule("soql", mu=0.4, vartheta=0.1, form=form, noise=2.0), 5, compiled=False)
    q, u = [float(run.scores[0][0])], []
    for n in range(40):
        u.append(1.0 + 2.0 * normal_nth(run.key, 1, n, 0, REWARD, 0))
        q.append(float(run.advance(1).scores[0][0]))
    return np.array(q), np.array(u)


def eq_40(q, u, shift):
    """Q(n+2) - [2κ Q(n+1) - κ² Q(n) + μ² u(n+shift)] over all n."""
    last = len(q) - 2
    return q[2:] - (2 * 0.6 * q[1:-1] - 0.36 * q[:-2] + 0.16 * u[shift : shift + last])


def test_eq_40_and_its_shift():
    """As printed for the pair; the pseudo-code's form takes the utility one step later."""
    q, u = noisy("pair")
    assert np.abs(eq_40(q, u, 0)).max() < CLOSE
    assert np.abs(eq_40(q, u, 1)).min() > 1e-6
    q, u = noisy("two-step")
    assert np.abs(eq_40(q, u, 1)).max() < CLOSE
    assert np.abs(eq_40(q, u, 0)).min() > 1e-6


@settings(max_examples=30, deadline=None)
@given(shares, numbers, numbers)
def test_the_two_forms_are_one_sequence_shifted(mu, initial, u):
    pair, two = (q_values(form, mu, initial, u, 15) for form in ("pair", "two-step"))
    np.testing.assert_allclose(pair[1:], two[:-1], atol=CLOSE * max(1.0, abs(initial), abs(u)))
    if abs(u - initial) > 0.1:
        assert abs(pair[2] - two[2]) > 1e-6, "without the shift they differ"


def test_where_the_two_forms_part():
    """After a pause the two-step form makes a first-order step of μ² (it has forgotten P); the pair goes on with P."""
    mu, u = 0.6, (1.0, -2.0)
    game, seen = pt.games.NormalForm(np.array([u])), {"first": 0, "running": 0, "resumed": 0}
    run = pt.begin(game, pt.rule("soql", mu=mu, vartheta=0.01, initial=0.5), 2, compiled=False)
    p, q = [0.5, 0.5], [0.5, 0.5]  # Eq. 28 along the same actions
    past = []
    for _ in range(60):
        before = run.scores[0]
        action = int(run.advance(1).profile[0])
        after = run.scores[0][action]
        p[action], q[action] = p[action] + mu * (u[action] - p[action]), q[action] + mu * (p[action] - q[action])
        ahead = q[action] + mu * (p[action] - q[action])  # the pair's next value
        kind = "first" if action not in past else "running" if past[-1] == action else "resumed"
        if kind == "resumed":
            assert after == pytest.approx(before[action] + mu**2 * (u[action] - before[action]), abs=CLOSE)
        elif not seen["resumed"]:
            assert after == pytest.approx(ahead, abs=CLOSE)
        if kind == "resumed" and seen["resumed"] == 0:
            assert abs(after - ahead) > 1e-3
        seen[kind] += 1
        past.append(action)
    assert min(seen.values()) >= 2


def test_adaptive_steps_by_hand():
    """Eq. 44 of a settled player: μ = 1 - X̃, X̃ the perturbed strategy; with X in place of X̃ it fails."""
    game = pt.games.NormalForm(np.array([[1.0, 3.0]]))
    options = {"mu": "adaptive", "vartheta": 0.1, "zeta": 0.5, "xi": 0.4, "initial": [[2.0, 0.0]]}
    rule = pt.rule("soql", **options, initial_strategies=[[0.9, 0.1]])
    s = (0.9 - 0.5) / 0.5
    rho = 0.4 * (3 * s**2 - 2 * s**3)
    drawn = set()
    for seed in range(40):
        run = pt.begin(game, rule, seed, compiled=False).advance(1)
        action = int(run.profile[0])
        drawn.add(action)
        q, u = (2.0, 1.0) if action == 0 else (0.0, 3.0)
        for x, fits in (((1 - rho) * (0.9, 0.1)[action] + rho / 2, True), ((0.9, 0.1)[action], False)):
            expected = 2 * x * q - x**2 * q + (1 - x) ** 2 * u
            assert (abs(run.scores[0][action] - expected) < CLOSE) == fits
    assert drawn == {0, 1}


# Limits and products ------------------------------------------------------------------------------------


def test_limits():
    """The corollaries: Q and P tend to u, X to the best response."""
    assert soql_values(0.05, 5000, 9.0, -9.0, 2.5) == pytest.approx((2.5, 2.5), abs=1e-12)
    assert soql_strategy(0.05, 5000, [0.5, 0.0, 0.5], best=1).tolist() == pytest.approx([0.0, 1.0, 0.0], abs=1e-12)
    run = held().advance(200)
    assert [float(q[0]) for q in run.scores] == pytest.approx([5.0, 4.0], abs=1e-12)
    many = soql_values(0.5, 3, np.array([1.0, 2.0]), np.zeros(2), 1.0)
    assert many[0].tolist() == [1.0, 1.125]


@pytest.mark.parametrize("vartheta", [0.003, 0.05, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("players", [1, 3])
def test_lock_in_is_the_product(vartheta, players):
    for steps in (0, 1, 2, 7, 100):
        product = math.prod((1 - (1 - vartheta) ** c) ** players for c in range(1, steps + 1))
        assert lock_in(vartheta, players, steps) == pytest.approx(product, rel=1e-10, abs=1e-300)
    ever = lock_in(vartheta, players)
    assert lock_in(vartheta, players, 10**15) == ever
    assert ever <= lock_in(vartheta, players, 5)


def test_lock_in_for_ever_against_eulers_function():
    """∏ (1 - q^c) = Σ (-1)^k q^{k(3k-1)/2} (Euler's pentagonal numbers), and 0.2887880950866024 at q = 1/2."""
    assert lock_in(0.5, 1) == pytest.approx(0.28878809508660242128, rel=1e-15)
    for q in (0.1, 0.5, 0.8, 0.9):
        euler = math.fsum((-1) ** k * q ** (k * (3 * k - 1) // 2) for k in range(-60, 61))
        assert lock_in(1 - q, 1) == pytest.approx(euler, rel=1e-10)
    assert lock_in(0.5, 4) == pytest.approx(lock_in(0.5, 1) ** 4, rel=1e-14)
    assert lock_in(1e-12, 1) == 0.0
    assert lock_in(1e-12, 1, 1) == pytest.approx(1e-12, rel=1e-12)
    assert lock_in(1e-12, 1, 10**15) == 0.0
    assert 0.0 < lock_in(0.0025, 1) < 1e-270


def test_misprints_of_the_proof():
    """Σ_{c≥1} (1-ϑ)^c = (1-ϑ)/ϑ; as printed, 1/ϑ, it would start at c = 0. And the product has c where m is printed."""
    assert math.prod([1 - 0.5**60] * 60) == pytest.approx(1.0, abs=1e-12)
    assert lock_in(0.5, 1, 60) == pytest.approx(0.2888, abs=1e-4)
    total = math.fsum(0.7**c for c in range(1, 500))
    assert total == pytest.approx(0.7 / 0.3, rel=1e-14)
    assert total != pytest.approx(1 / 0.3, rel=0.1)


BAD = {
    "mu 1": (lambda: soql_values(1.0, 1, 0, 0, 0), r"mu must be a number in \(0, 1\), got 1\.0"),
    "mu text": (lambda: soql_values("x", 1, 0, 0, 0), r"mu must be a number in .*got 'x'"),
    "m": (lambda: soql_values(0.5, -1, 0, 0, 0), r"m must be .*got -1"),
    "m float": (lambda: soql_values(0.5, 2.0, 0, 0, 0), r"m must be an integer.*got 2\.0"),
    "p": (lambda: soql_values(0.5, 1, math.nan, 0, 0), r"p must be a finite number .*got nan"),
    "q": (lambda: soql_values(0.5, 1, 0, "a", 0), r"q must be a finite number .*got 'a'"),
    "u": (lambda: soql_values(0.5, 1, 0, 0, [[1], [1, 2]]), r"u must be a finite number"),
    "vartheta 0": (lambda: lock_in(0, 1), r"vartheta must be a number in \(0, 1\), got 0"),
    "vartheta nan": (lambda: soql_strategy(math.nan, 1, 0.5), r"vartheta must be a number in .*got nan"),
    "players": (lambda: lock_in(0.5, 0), r"num_players must be .*got 0"),
    "players bool": (lambda: lock_in(0.5, True), r"num_players must be an integer.*got True"),
    "steps": (lambda: lock_in(0.5, 1, -1), r"steps must be .*got -1"),
    "x": (lambda: soql_strategy(0.5, 1, 1.5), r"x must be a share between 0 and 1.*got 1\.5"),
    "no best": (lambda: soql_strategy(0.5, 1, [0.5, 0.5]), r"best must be one of the 2 actions of x, got None"),
    "best": (lambda: soql_strategy(0.5, 1, [0.5, 0.5], best=2), r"best must be one of the 2 actions of x, got 2"),
    "best of a number": (lambda: soql_strategy(0.5, 1, 0.5, best=0), r"best is for x with a share for each"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, message = BAD[name]
    with pytest.raises(InvalidInput, match=message):
        call()
