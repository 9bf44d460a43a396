"""Names of players and actions: for people everywhere, and for nothing that is computed."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidGame
from potentia.games import NormalForm
from potentia.games.names import players_words, profile_words
from potentia.web.studio.starts import game_of, payoffs_of
from tests.unit.bad import refuses

HUNT = [[[4.0, 0.0], [3.0, 3.0]], [[4.0, 3.0], [0.0, 3.0]]]
ACTIONS = ["stag", "hare"]


def named(**more):
    return NormalForm(HUNT, players=["Ann", "Bob"], actions=ACTIONS, title="Stag hunt", **more)


def test_a_title_is_told():
    assert named().title == "Stag hunt"


def test_one_list_of_names_serves_all_players():
    assert named().action_names == (("stag", "hare"), ("stag", "hare"))
    assert NormalForm(np.zeros((2, 2, 1)), actions=[["a", "b"], ["c"]]).action_names == (("a", "b"), ("c",))
    assert NormalForm(HUNT).action_names is None


def test_nothing_that_is_computed_goes_by_names():
    plain, called = NormalForm(HUNT), named()
    assert called.fingerprint() == plain.fingerprint()
    assert called.identity() == plain.identity()
    rule = pt.rule("lll", tau=0.5)
    one, other = (pt.run(game, rule, steps=50, seed=3, compiled=False) for game in (plain, called))
    assert (one.start.tolist(), one.final.tolist(), one.changes) == (
        other.start.tolist(),
        other.final.tolist(),
        other.changes,
    )


def test_names_are_pickled():
    again = pickle.loads(pickle.dumps(named(unit="1/2")))
    assert (again.player_names, again.action_names, again.known_as) == (
        ("Ann", "Bob"),
        named().action_names,
        "Stag hunt",
    )
    assert again.payoff_unit == Fraction(1, 2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"players": ["Ann"]}, r"players must be a name for each of 2 players, got 1$"),
        ({"players": "AB"}, r"players must be names, got 'AB'$"),
        ({"players": ["Ann", 3]}, r"players must be texts, got 3 for players$"),
        ({"players": ["Ann", "Ann"]}, r"players must tell players apart, got 'Ann' twice$"),
        ({"players": ["Ann", ""]}, r"players must not be empty, got one for players$"),
        ({"actions": 5}, r"actions must be one list of names per player, got 5$"),
        ({"actions": [ACTIONS]}, r"actions must be one list of names per player, 2, got 1$"),
        ({"actions": [ACTIONS, ["a"]]}, r"actions must be a name for each of 2 actions of player 1, got 1$"),
        (
            {"actions": ["a", "b", "c"]},
            r"actions as one list .*, got 3 names for players with 2, 2 actions$",
        ),
        ({"title": 3}, r"title must be text, got 3$"),
        ({"unit": "x"}, r'unit must be a fraction above 0, such as "1/3", got \'x\'$'),
        ({"unit": 0}, r"unit must be a fraction above 0"),
        ({"unit": "1/0"}, r"unit must be a fraction above 0"),
        ({"unit": "1e999999999"}, r"unit must be a fraction above 0"),
        ({"unit": 2}, r"unit must be one that all payoffs are whole multiples of, got 2 and a payoff 3\.0$"),
        ({"unit": "1e-300"}, r"unit must be at least the largest payoff / "),
    ],
)
def test_bad_names(options, said):
    refuses(lambda: NormalForm(HUNT, **options), InvalidGame, said)


# Where people see them --------------------------------------------------------------------------------


def test_profiles_and_players_in_words():
    assert profile_words((0, 1), named()) == "(stag, hare)"
    assert profile_words((0, 1)) == "(0, 1)"
    assert profile_words((0,) * 9) == "000000000"
    assert profile_words((0,), NormalForm([[1.0]], actions=[["a name of forty characters, or so it seems"]])) == (
        "(a name of forty charact…,)"
    )
    assert players_words((0, 1), named()) == "Ann and Bob"
    assert players_words((0, 1, 4)) == "players 0, 1 and 4"


def test_what_is_printed():
    game = named()
    assert repr(game) == "NormalForm(players=2 (Ann, Bob), actions=2)"
    card = game._repr_html_()
    assert all(word in card for word in ("Stag hunt", "Ann ↓ Bob →", "stag", "hare"))
    found = pt.analysis.stability(game, pt.rule("blll", tau=0.1))
    assert "stable: (hare, hare) 1" in repr(found)
    assert "(stag, hare)" in found._repr_html_()
    report = str(pt.analysis.audit(game, pt.rule("slll", tau=0.1, revision=0.3)))
    assert "Ann plays stag in both (stag, stag) and (stag, hare)" in report
    assert "stays in (hare, hare)" in report
    best = pt.analysis.optimum(game)
    assert "at profile (stag, stag)" in str(best)
    assert best.to_dict()["names"] == ["stag", "stag"]
    assert "names" not in pt.analysis.optimum(NormalForm(HUNT)).to_dict()
    with pytest.raises(pt.errors.NotPotentialGame, match=r"Ann and Bob in turn round \(stag, stag\) → \(hare, stag\)"):
        pt.analysis.potential(NormalForm([HUNT[0], -np.array(HUNT[0])], players=["Ann", "Bob"], actions=ACTIONS))


def test_recordings_and_the_studio_have_them():
    game = named()
    trace = pt.run(game, pt.rule("lll", tau=0.5), steps=5, seed=0, compiled=False)
    header = trace.recording().header
    assert header["game"]["names"] == ["Ann", "Bob"]
    assert header["game"]["actions"] == [ACTIONS, ACTIONS]
    assert header["title"] == "lll on Stag hunt"
    again = game_of(payoffs_of(game))
    assert (again.player_names, again.action_names, again.known_as) == (
        game.player_names,
        game.action_names,
        "Stag hunt",
    )


def test_many_players_share_their_actions_names_or_have_none_on_pages():
    for actions, wanted in ((ACTIONS, [ACTIONS] * 7), ([ACTIONS] * 6 + [["x", "y"]], None)):
        game = NormalForm(np.zeros((7, *[2] * 7)), actions=actions)
        trace = pt.run(game, pt.rule("lll", tau=0.5), steps=2, seed=0, compiled=False)
        header = trace.recording().header["game"]
        assert (header["kind"], header["actions"]) == ("players", wanted)


# Exact payoffs ----------------------------------------------------------------------------------------

A, B = Fraction(1, 1000003), Fraction(1, 999983)


def test_fractions_decide_ties_that_floats_cannot():
    """u = Φ: 3A, A + 2B and 2A + B + (A - B) are told apart, or not, exactly."""
    phi = [[3 * A, A + 2 * B], [2 * A + B, 2 * A + B + (A - B)]]
    exact = NormalForm([phi, phi])
    found = pt.analysis.stability(exact, pt.rule("lll", tau=0.1))
    assert found.exact
    assert found.stable.tolist() == [False, True, False, False]
    tied = NormalForm([[[A + B, 0], [0, B + A]]] * 2)
    assert pt.analysis.stability(tied, pt.rule("blll", tau=0.1)).limit.tolist() == [0.5, 0.0, 0.0, 0.5]


def test_a_unit_finer_than_floats_tell():
    counts = np.random.default_rng(1).integers(1, 10**6, size=(3, 3))
    phi = [[Fraction(int(count), 999983) for count in row] for row in counts]
    exact = NormalForm([phi, phi])
    found, without = (
        pt.analysis.stability(game, pt.rule("lll", tau=0.1)) for game in (exact, NormalForm(exact.payoffs))
    )
    assert (found.exact, without.exact) == (True, False)
    assert found.stable.tolist() == (counts == counts.max()).reshape(-1).tolist()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["lll", "blll", "p-sblll"])
def test_a_unit_that_is_known_is_the_one_that_is_found(name, seed):
    """Where floats tell the unit, too, nothing else comes out with it."""
    counts = np.random.default_rng(seed).integers(0, 9, size=(2, 3, 3))
    plain = NormalForm(counts / 3)
    known = NormalForm([[[Fraction(int(x), 3) for x in row] for row in table] for table in counts])
    np.testing.assert_array_equal(plain.payoffs, known.payoffs)
    rule = pt.rule(name, tau=0.1, **({"revision": 0.3} if name == "p-sblll" else {}))
    one, other = (pt.analysis.stability(game, rule) for game in (plain, known))
    assert (one.exact, other.exact) == (True, True)
    np.testing.assert_array_equal(one.stable, other.stable)
    np.testing.assert_allclose(one.limit, other.limit, rtol=1e-12)
    np.testing.assert_allclose(one.stochastic_potential, other.stochastic_potential, rtol=1e-12)


def test_units_that_no_float_tells_are_not_kept():
    assert NormalForm([[Fraction(1, 3**40), Fraction(1)]]).payoff_unit is None
    assert NormalForm([[Fraction(1, 3), 0.1]]).payoff_unit is None
    assert NormalForm([[Fraction(2), Fraction(4)]]).payoff_unit == 2
    assert NormalForm([[0, 0]], unit="1/7").payoff_unit == Fraction(1, 7)
    assert NormalForm([[1, 2]]).payoff_unit is None
    refuses(lambda: NormalForm([[Fraction(10) ** 400, Fraction(0)]]), InvalidGame, r"payoffs must be finite")
