"""Games of other libraries, and arrays: the same payoffs and names there and back, and no layout is guessed."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest

from potentia.errors import InvalidGame, NotCarried, TooLarge
from potentia.games import (
    Congestion,
    Coverage,
    NormalForm,
    Separable,
    World,
    consensus,
    convert,
    game,
    path_moves,
    ring_edges,
    write_game,
)
from tests.unit.bad import DILEMMA, refuses

SHAPES = [(3,), (1,), (2, 2), (2, 3), (1, 1), (4, 1), (2, 2, 2), (3, 1, 2), (2, 3, 2, 2)]


def drawn(shape):
    return NormalForm(np.random.default_rng(sum(shape)).normal(size=(len(shape), *shape)))


def same(one, other):
    np.testing.assert_array_equal(one.payoffs, other.payoffs)
    assert one.fingerprint() == other.fingerprint()


# Tables -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "made",
    [
        consensus(ring_edges(4), 3),
        Separable([[0.0, 1.0], [2.0, 0.5, 3.0]]),
        Congestion([[[0], [1]], [[0], [0, 1]]], [[1.0, 2.0], [1.0, 3.0]]),
        Coverage(World([[0.0, 1.0, 2.0], [3.0, 1.0, 0.0]]), robots=2, delta=1.0, flags=False),
        game("overlap"),
        game("stag-hunt"),
    ],
    ids=lambda made: type(made).__name__,
)
def test_a_table_has_the_utilities_the_moves_and_the_potential(made):
    table = made.to_normal_form()
    assert type(table) is NormalForm
    assert table.known_as == made.known_as
    assert table.has_potential == made.has_potential
    for profile in np.ndindex(made.num_actions):
        assert [table.utility(i, profile) for i in range(made.num_players)] == [
            made.utility(i, profile) for i in range(made.num_players)
        ]
        if made.has_potential:
            np.testing.assert_allclose(table.potential(profile), made.potential(profile), rtol=1e-12)
        for player, action in enumerate(profile):
            assert table.reachable(player, action) == made.reachable(player, action)


def test_a_table_that_does_not_fit_is_refused_before_it_is_made():
    refuses(lambda: consensus(ring_edges(200)).to_normal_form(), TooLarge, r"needs all of its about 10\^60 profiles")


@pytest.mark.parametrize(
    ("options", "said"), [({}, "keeps flags beside the profile"), ({"flags": False, "K": 0.5}, "charges")]
)
def test_what_is_more_than_a_table_is_refused(options, said):
    made = Coverage(World([[0.0, 1.0, 2.0]]), robots=2, delta=1.0, **options)
    refuses(made.to_normal_form, InvalidGame, said)


# Arrays -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 4), (1,), (2, 4, 5), (5,)])
def test_arrays_that_fit_one_layout(shape):
    made = drawn(shape)
    same(convert(made.payoffs), made)
    same(convert(np.moveaxis(made.payoffs, 0, -1)), made)


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2, 3)])
def test_arrays_that_fit_both_are_refused_until_it_is_said(shape):
    made = drawn(shape)
    last = np.moveaxis(made.payoffs, 0, -1)
    said = r'^game of shape \(.*\) can be read in two ways; say players="first" or "last": '
    for array in (last, last.tolist()):
        refuses(lambda array=array: convert(array), InvalidGame, said)
    same(convert(made.payoffs, players="first"), made)
    same(convert(last, players="last"), made)
    same(convert(list(made.payoffs)), made)  # an array for each player
    same(convert(tuple(made.payoffs)), made)
    same(NormalForm(made.payoffs), made)  # as its documentation says


def test_own_action_first_is_told():
    said = r"^game must be arrays of one shape .*, got \(2, 3\), \(3, 2\); each has its player's own action first"
    refuses(lambda: convert([np.zeros((2, 3)), np.zeros((3, 2))]), InvalidGame, said)
    refuses(lambda: convert([np.zeros((2, 3)), np.zeros((2, 2))]), InvalidGame, r"got \(2, 3\), \(2, 2\)$")


def test_arrays_whose_readings_are_the_same_game():
    assert convert(np.zeros((2, 2, 2))).num_actions == (2, 2)


def test_a_normal_form_tells_of_the_other_layout():
    refuses(lambda: NormalForm(np.zeros((3, 4, 2))), InvalidGame, r'with the players last, use .*players="last"\)$')


@pytest.mark.parametrize("wrong", [5, None, object(), [[1, 2], [3]], np.zeros((3, 4)), [["a"]], np.zeros(3), {}])
def test_what_is_no_game(wrong):
    refuses(lambda: convert(wrong), InvalidGame, r"^game (must be a game|of shape \(3, 4\))")


def test_an_array_is_told_in_one_line():
    with pytest.raises(InvalidGame) as caught:
        convert(np.ones((2, 2, 2), complex))
    assert "\n" not in str(caught.value)


def test_no_such_layout():
    refuses(
        lambda: convert(DILEMMA, players="middle"), InvalidGame, r'players must be "first" or "last", got \'middle\'$'
    )


def test_games_files_and_fractions(tmp_path):
    made = NormalForm(DILEMMA)
    assert convert(made) is made
    same(convert(str(write_game(made, tmp_path / "g.nfg"))), made)
    thirds = np.array([[Fraction(1, 3), Fraction(2, 3)]], object)
    assert convert(thirds).payoff_unit == Fraction(1, 3)


# Libraries --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gambit", "quantecon", "nashpy", "open_spiel"])
def test_a_library_that_is_missing(name, monkeypatch):
    for module in ("pygambit", "quantecon", "quantecon.game_theory", "nashpy", "pyspiel"):
        monkeypatch.setitem(sys.modules, module, None)
    package = "pygambit" if name == "gambit" else name
    refuses(
        getattr(NormalForm(DILEMMA), f"to_{name}"), InvalidGame, rf"to_{name} needs {package}: pip install {package}"
    )


@pytest.mark.parametrize("name", ["gambit", "quantecon", "nashpy", "open_spiel"])
def test_what_is_no_game_of_a_library(name):
    from potentia import games

    refuses(lambda: getattr(games, f"from_{name}")([[1, 2]]), InvalidGame, r"^game must be a .*, got \[\[1, 2\]\]$")


@pytest.mark.parametrize("shape", SHAPES)
def test_quantecon_there_and_back(shape):
    pytest.importorskip("quantecon")
    made = drawn(shape)
    theirs = made.to_quantecon()
    assert theirs.nums_actions == shape
    profile = tuple(size - 1 for size in shape)
    np.testing.assert_array_equal(theirs.payoff_profile_array[profile], made.payoffs[(slice(None), *profile)])
    same(convert(theirs), made)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if len(shape) == 2])
def test_nashpy_there_and_back(shape):
    pytest.importorskip("nashpy")
    same(convert(drawn(shape).to_nashpy()), drawn(shape))


def test_nashpy_has_two_players():
    pytest.importorskip("nashpy")
    refuses(drawn((2, 2, 2)).to_nashpy, InvalidGame, r"nashpy has games of two players, got 3$")


@pytest.mark.parametrize("shape", SHAPES)
def test_open_spiel_there_and_back(shape):
    pytest.importorskip("pyspiel")
    names = [[f"{player}{action}" for action in range(size)] for player, size in enumerate(shape)]
    made = NormalForm(drawn(shape).payoffs, actions=names, title="A game")
    again = convert(made.to_open_spiel())
    same(again, made)
    assert (again.action_names, again.known_as) == (made.action_names, "A game")


def test_moves_stay_behind_with_a_warning():
    pytest.importorskip("quantecon")
    made = NormalForm(np.zeros((2, 3, 3)), moves=path_moves(3))
    with pytest.warns(NotCarried, match="a game of QuantEcon holds no constrained moves"):
        made.to_quantecon()
