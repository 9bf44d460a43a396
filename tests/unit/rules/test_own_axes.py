"""Kinds of one's own on the axes: played, solved and told apart as those of the package are."""

from __future__ import annotations

import math
import pickle
from typing import ClassVar, NamedTuple

import attrs
import numpy as np
import pytest

import potentia as pt
from potentia import extend
from potentia.analysis import chain, stability
from potentia.errors import InvalidRule

GAME = pt.games.NormalForm(0.37 * np.random.default_rng(2).integers(0, 5, size=(3, 2, 3, 2)))


class SlipData(NamedTuple):
    order: float


@extend.register_chooses
@attrs.frozen
class Slip(extend.Chooses):
    """Mistakes, written anew."""

    name: ClassVar[str] = "slip"
    tau: extend.Schedule = attrs.field(converter=extend.schedule_from)

    def data(self):
        return SlipData(1.0)


@extend.option_terms.register(SlipData)
def _terms(chooses, values, count, current, tau, tie, coefficients, exponents):
    top, best = values[0], 0
    for k in range(count):
        top = max(top, values[k])
    for k in range(count):
        best += int(values[k] >= top - tie)
    slip = math.exp(-chooses.order / tau) if tau > 0.0 else 0.0
    for k in range(count):
        chosen = values[k] >= top - tie
        coefficients[k] = slip / count + (1.0 - slip) / best if chosen else 1.0 / count
        exponents[k] = 0.0 if chosen else chooses.order


@extend.register_who
@attrs.frozen
class Neighbours(extend.Who):
    """Two that are next to each other, and sleep as it gets colder on request."""

    name: ClassVar[str] = "neighbours"
    m: float = attrs.field(default=0.0, converter=extend.number)

    def revision_on(self, game):
        if self.m:
            return pt.rules.Vanishing(self.m)
        players = game.num_players
        return pt.rules.Groups([((i, (i + 1) % players), 1 / players) for i in range(players)])


@extend.register_considers
@attrs.frozen
class Upwards(extend.Considers):
    """The next action only, round and round."""

    name: ClassVar[str] = "upwards"

    def moves_on(self, game):
        return pt.games.NormalForm(
            np.zeros((game.num_players, *game.num_actions)),
            moves=[[[(a + 1) % n] for a in range(n)] for n in game.num_actions],
        ).moves


@pytest.mark.parametrize("considers", ["all", "trial", "joint-trial"])
def test_a_choice_of_ones_own_is_solved_as_ours_are(considers):
    """Also with orders that are no differences of utilities, whatever those are counted in."""
    own, ours = (pt.rule(who="all", considers=considers, chooses=chooses, tau=0.4) for chooses in ("slip", "mistakes"))
    assert abs(chain(GAME, own).matrix - chain(GAME, ours).matrix).max() < 1e-14
    found, wanted = stability(GAME, own), stability(GAME, ours)
    np.testing.assert_array_equal(found.stochastic_potential, wanted.stochastic_potential)
    np.testing.assert_allclose(found.limit, wanted.limit, atol=1e-12)
    assert pt.rules.rule_from(own.spec()) == pickle.loads(pickle.dumps(own)) == own
    assert own.code_fingerprint() is not None
    assert ours.code_fingerprint() is None


def test_who_of_ones_own():
    pairs = [((0, 1), 1 / 3), ((1, 2), 1 / 3), ((0, 2), 1 / 3)]
    own = pt.rule(who="neighbours", considers="all", chooses="logit", tau=0.5)
    ours = pt.rule(who="groups", groups=pairs, considers="all", chooses="logit", tau=0.5)
    assert abs(chain(GAME, own).matrix - chain(GAME, ours).matrix).max() < 1e-15
    late = stability(GAME, pt.rule(who="neighbours", m=2.0, considers="all", chooses="logit", tau=0.5))
    wanted = stability(GAME, pt.rule("slll", tau=0.5, revision=pt.rules.Vanishing(2.0)))
    np.testing.assert_allclose(late.stochastic_potential, wanted.stochastic_potential, rtol=1e-12)
    with pytest.raises(InvalidRule, match="cannot vanish with the temperature"):
        pt.rule(who="neighbours", m=2.0, considers="all", chooses="best").data(GAME, None)


def test_what_is_considered_of_ones_own():
    """Nobody goes back, in play or in the chain."""
    rule = pt.rule(who="all", considers="upwards", chooses="logit", tau=5.0)
    solved = chain(GAME, rule)
    matrix = solved.matrix.tocoo()
    assert set(((solved.states[matrix.col] - solved.states[matrix.row]) % [2, 3, 2]).ravel()) == {0, 1}
    profiles = pt.run(GAME, rule, 50, compiled=False).profiles
    assert set((np.diff(profiles, axis=0) % [2, 3, 2]).ravel()) == {0, 1}


def test_more_is_considered_than_the_game_lets_move():
    """Room is made for what is considered, and no theorem is taken for granted."""

    @attrs.frozen
    class Anything(extend.Considers):
        name: ClassVar[str] = "anything"

        def moves_on(self, game):
            return pt.games.NormalForm(np.zeros((2, 5, 5))).moves

    line = pt.games.path_moves(5)
    game = pt.games.NormalForm(np.random.default_rng(1).integers(0, 3, size=(2, 5, 5)), moves=[line, line])
    rule = pt.rule(who="one", considers=Anything(), chooses="logit", tau=1.0)
    free = pt.games.NormalForm(game.payoffs)
    assert abs(chain(game, rule).matrix - chain(free, pt.rule("lll", tau=1.0)).matrix).max() < 1e-15
    assert rule.new_memory(game).values.size == 5
    assert pt.run(game, rule, 300, compiled=False).final.max() < 5
    assert "closed form" not in stability(game, rule).method


def test_what_is_wrong_with_an_axis_of_ones_own():
    @attrs.frozen
    class Odd(extend.Chooses):
        name: ClassVar[str] = "odd"

        def data(self):
            return SlipData(1.0)

    class LooseData(NamedTuple):
        weight: float

    @attrs.frozen
    class Loose(extend.Chooses):
        name: ClassVar[str] = "loose"
        k: int = 1

        def data(self):
            return LooseData(2.0)

    @attrs.frozen
    class Often(extend.Who):
        name: ClassVar[str] = "often"

        def revision_on(self, game):
            return 1.5

    with pytest.raises(InvalidRule, match="loose needs option_terms, registered for LooseData"):
        pt.rule(who="one", considers="all", chooses=Loose())

    @extend.option_terms.register(LooseData)
    def terms(chooses, values, count, current, tau, tie, coefficients, exponents):
        for k in range(count):
            coefficients[k], exponents[k] = chooses.weight, 0.0

    with pytest.raises(InvalidRule, match=r"option_terms of loose must have terms that sum to 1, got \d"):
        chain(GAME, pt.rule(who="one", considers="all", chooses=Loose()))
    with pytest.raises(InvalidRule, match="k is a parameter of two axes"):
        pt.rule(who="one", considers="trial", chooses=Loose())
    with pytest.raises(InvalidRule, match=r"revision must be a number in \(0, 1\], got 1.5"):
        chain(GAME, pt.rule(who=Often(), considers="all", chooses="best"))
    with pytest.raises(InvalidRule, match=r"revision stands beside who=Independent.*give it inside"):
        pt.rule(who=pt.rules.Independent(0.3), considers="all", chooses="best", revision=0.4)
