"""Our analysis and that of pygambit and QuantEcon on the same random games; where they are installed."""

from __future__ import annotations

import doctest
import io
import itertools
from fractions import Fraction

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidGame, NotCarried
from potentia.games import NormalForm, convert, path_moves, read_game, write_game
from tests.peers.gambit import BY_HAND, ours, reading, shapes, written
from tests.unit.bad import refuses

SHAPES = [(3,), (2, 2), (3, 4), (2, 3, 2), (2, 2, 2, 2)]


def drawn(shape, seed, most=4):
    """Few different payoffs, so that there are ties and dominated actions."""
    random = np.random.default_rng(seed)
    return NormalForm(random.integers(0, most, size=(len(shape), *shape)).astype(float))


def cases(count=8):
    return [drawn(shape, seed) for shape in SHAPES for seed in range(count)]


# pygambit ---------------------------------------------------------------------------------------------


def as_read(path):
    import pygambit

    return reading(pygambit.read_nfg(io.BytesIO(path.read_bytes())))


def there_and_back(made, tmp_path):
    """Theirs in our hands and ours in theirs, by file and in memory: exactly, or as floats where no unit holds all."""
    path = tmp_path / "g.nfg"
    path.write_text(made.to_nfg(), encoding="utf-8")
    mine, again = read_game(path), convert(made)
    told = told_of(reading(made), mine.payoff_unit)
    assert again.payoff_unit == mine.payoff_unit
    for found in (ours(mine), ours(again), as_read(write_game(mine, path)), reading(mine.to_gambit())):
        assert told_of(found, mine.payoff_unit) == told
    return mine.payoff_unit is not None


def told_of(found, unit):
    if unit is not None:
        return found
    return found | {"payoffs": [[float(Fraction(value)) for value in row] for row in found["payoffs"]]}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_games_go_there_and_back(shape, tmp_path):
    pygambit = pytest.importorskip("pygambit")
    assert there_and_back(written(pygambit, shape, 1), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("players", range(1, 6))
def test_all_shapes_go_there_and_back(players, tmp_path):
    pygambit = pytest.importorskip("pygambit")
    for shape in shapes(5, 3):
        if len(shape) == players:
            there_and_back(written(pygambit, shape, 2), tmp_path)


def test_floats_go_there_and_back_to_the_bit():
    pytest.importorskip("pygambit")
    values = [0.1 + 0.2, 5e-324, 1.7e308, -1e22, 1 / 3, 2.0**53 + 2, 1e-5, 0.0]
    made = NormalForm(np.reshape(values, (2, 2, 2)))
    np.testing.assert_array_equal(convert(made.to_gambit()).payoffs, made.payoffs)


def test_what_is_not_carried_is_told():
    pytest.importorskip("pygambit")
    with pytest.warns(NotCarried, match="printable ASCII .*, and not 'ä'"):
        made = NormalForm(np.zeros((2, 2, 2)), players=["ä", "b"], actions=["2", "1"]).to_gambit()
    assert [[strategy.label for strategy in player.strategies] for player in made.players] == [["2", "1"]] * 2
    with pytest.warns(NotCarried, match=r"a game of pygambit holds no constrained moves"):
        NormalForm(np.zeros((2, 3, 3)), moves=path_moves(3)).to_gambit()


def test_trees_and_chance():
    pygambit = pytest.importorskip("pygambit")
    tree = pygambit.Game.new_tree(players=["A", "B"], title="A tree")
    tree.append_move(tree.root, "A", ["left", "right"])
    left, right = tree.root.children
    tree.append_move(left, "B", ["up", "down"])
    tree.set_outcome(right, tree.add_outcome("w", [1, Fraction(1, 3)]))
    made = convert(tree)
    np.testing.assert_array_equal(made.payoffs[0], [[0, 0], [1, 1]])
    assert made.payoff_unit == Fraction(1, 3)
    tree.append_move(right, tree.players.chance, ["a", "b"])
    refuses(lambda: convert(tree), InvalidGame, r"^game must have no moves of chance")


def test_pure_equilibria_are_those_of_pygambit():
    pygambit = pytest.importorskip("pygambit")
    for made in cases():
        theirs = made.to_gambit()
        found = [
            tuple(int(np.argmax([float(one[strategy]) for strategy in player.strategies])) for player in theirs.players)
            for one in pygambit.nash.enumpure_solve(theirs).equilibria
        ]
        assert sorted(found) == sorted(map(tuple, pt.analysis.pure_nash(made).tolist()))


def test_actions_that_another_dominates_are_those_of_pygambit():
    pytest.importorskip("pygambit")
    for made in cases():
        theirs = made.to_gambit()
        everything = theirs.strategy_support_profile()
        for strict in (True, False):
            found = {
                (i, a)
                for i, player in enumerate(theirs.players)
                for a, strategy in enumerate(player.strategies)
                if everything.is_dominated(strategy, strict=strict)
            }
            mine = pt.analysis.dominated(made, weakly=not strict, mixed=False)
            assert {(one.player, one.action) for one in mine} == found


def test_logit_equilibria_rest_as_pygambits():
    pygambit = pytest.importorskip("pygambit")
    for made, rationality in itertools.product([drawn(shape, 3) for shape in ((2, 2), (3, 2), (2, 2, 2))], (0.5, 2.0)):
        theirs = made.to_gambit()
        (found,) = pygambit.qre.logit_solve_lambda(theirs, lam=[rationality])
        wanted = np.concatenate([[found.profile[one] for one in player.strategies] for player in theirs.players])
        mine = [np.concatenate(one.strategies) for one in pt.analysis.rest_points(made, tau=1 / rationality)]
        assert min(np.abs(one - wanted).max() for one in mine) < 1e-4  # what pygambit's path following stops at


# QuantEcon --------------------------------------------------------------------------------------------


def test_pure_equilibria_are_those_of_quantecon():
    theory = pytest.importorskip("quantecon.game_theory")
    for made in cases():
        found = theory.pure_nash_brute(made.to_quantecon())
        assert sorted(found) == sorted(map(tuple, pt.analysis.pure_nash(made).tolist()))


def test_actions_that_a_mixture_dominates_are_those_of_quantecon():
    pytest.importorskip("quantecon")
    for made in cases(4):
        theirs = [player.dominated_actions() for player in made.to_quantecon().players]
        mine = {(one.player, one.action) for one in pt.analysis.dominated(made)}
        assert mine == {(i, int(a)) for i, actions in enumerate(theirs) for a in actions}


def test_log_linear_learning_chooses_as_quantecons_logit_dynamics():
    """From each profile, the chance of each action of the one player that revises."""
    theory = pytest.importorskip("quantecon.game_theory")
    for made in cases(2):
        if made.num_players == 1:
            continue
        tau, players = 0.7, made.num_players
        theirs = theory.LogitDynamics(made.to_quantecon(), beta=1 / tau)
        solved = pt.analysis.chain(made, pt.rule("lll", tau=tau))
        matrix = solved.matrix.toarray()
        for place, profile in enumerate(solved.states.tolist()):
            for i in range(players):
                others = tuple(profile[i + 1 :] + profile[:i])  # in QuantEcon's order
                steps = np.diff(theirs.players[i].logit_choice_cdfs[others], prepend=0.0)
                for action in np.flatnonzero(np.arange(made.num_actions[i]) != profile[i]).tolist():
                    then = [*profile[:i], action, *profile[i + 1 :]]
                    share = matrix[place, np.ravel_multi_index(then, made.num_actions)]
                    np.testing.assert_allclose(share, steps[action] / steps.sum() / players, rtol=1e-9)


# OpenSpiel --------------------------------------------------------------------------------------------


def test_games_of_open_spiel_are_read():
    pyspiel = pytest.importorskip("pyspiel")
    made = convert(pyspiel.load_matrix_game("matrix_sh"))
    assert made.action_names == (("Stag", "Hare"), ("Stag", "Hare"))
    np.testing.assert_array_equal(made.payoffs, [[[2, 0], [1, 1]], [[2, 1], [0, 1]]])
    refuses(lambda: convert(pyspiel.load_game("kuhn_poker")), InvalidGame, r"extensive_to_tensor_game\(game\)")


@pytest.mark.parametrize("name", [name for name in BY_HAND if name != "more numbers"])
def test_games_that_pygambit_has_read_are_converted(name):
    pygambit = pytest.importorskip("pygambit")
    theirs = pygambit.read_nfg(io.BytesIO(BY_HAND[name].encode()))
    assert ours(convert(theirs)) == reading(theirs)


# Docstrings -------------------------------------------------------------------------------------------

MODULES = {"gambit": "pygambit", "quantecon": "quantecon", "nashpy": "nashpy", "open_spiel": "pyspiel"}


@pytest.mark.parametrize("library", MODULES)
def test_examples_that_need_a_library_run(library):
    """Elsewhere they are left out."""
    pytest.importorskip(MODULES[library])
    for said in (getattr(pt.games, f"from_{library}"), getattr(pt.games.Game, f"to_{library}")):
        (found,) = doctest.DocTestFinder(recurse=False).find(said, globs={"pt": pt})
        for example in found.examples:
            example.options.pop(doctest.SKIP, None)
        told: list[str] = []
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        assert runner.run(found, out=told.append).failed == 0, "".join(told)
