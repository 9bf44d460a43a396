"""Laws of rules of one's own: given, found by playing every way, and what is told where there is none."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import attrs
import numpy as np
import pytest

import potentia as pt
from potentia import extend
from potentia.analysis import Chain, chain, stability
from potentia.errors import CheckFailed, InvalidInput, InvalidRule, NoLaw, TooLarge
from potentia.extend import CHOICE, TRIAL, WAKE, below, move, num_players, step, uniform
from potentia.testing.following import check_steps
from potentia.testing.sampled import check_law
from tests.unit.bad import refuses

GAME = pt.games.NormalForm([[[4, 0], [3, 3]], [[4, 3], [0, 3]]])


class OwnData(NamedTuple):
    kind: int
    schedule: tuple


class OwnMemory(NamedTuple):
    count: np.ndarray


@attrs.frozen(repr=False)
class Own(extend.Rule):
    """Steps of several kinds, none of them registered under a name of its own."""

    name: ClassVar[str] = "own"
    remembers: ClassVar[tuple[str, ...]] = ("count",)
    kind: int = 0
    tau: extend.Schedule = attrs.field(default=1.0, converter=extend.schedule_from)

    def data(self, game, horizon):
        return OwnData(self.kind, self.tau.data(horizon))

    def new_memory(self, game):
        return OwnMemory(np.zeros(1, np.int64))


RAW, TWICE, TIMED, GROWING, DIVIDING, CYCLE, SCALED, MANY = range(8)


@step.register(OwnData)
def _step(rule, memory, game, state, journal, key, n):
    players = num_players(game)
    unit = uniform(key, players, n, 0, CHOICE)
    tau = extend.temperature(rule.schedule, n)
    action = 0
    if rule.kind == RAW:
        action = int(unit < 0.3)
    elif rule.kind == TWICE:
        action = below(unit, 2) + below(unit, 3)
    elif rule.kind == TIMED:
        action = n % 2
    elif rule.kind == GROWING:
        memory.count[0] += below(unit, 2)
    elif rule.kind == DIVIDING:
        action = int(extend.chance(math.exp(-1.0 / tau), unit))
    elif rule.kind == CYCLE:  # a mistake lets the count go on to 0, 1, 2 in turn
        if extend.mistake(tau, unit):
            memory.count[0] = (memory.count[0] + 1) % 3
        action = int(memory.count[0] == 2)
    elif rule.kind == SCALED:
        action = below(unit, 2.5)
    elif rule.kind == MANY:
        for purpose in (CHOICE, WAKE, TRIAL):
            for player in range(players):
                for later in range(12):
                    below(uniform(key, players, n + later, player, purpose), 2)
    move(journal, game, state, 0, action, n)


def line_of(text):
    """The line of this file that ends like this."""
    with open(__file__, encoding="utf-8") as file:
        return next(k for k, line in enumerate(file, 1) if line.rstrip().endswith(text))


def test_what_has_no_law_says_so_with_its_line():
    here = "test_own_laws.py:"
    refuses(lambda: chain(GAME, Own(RAW)), NoLaw, f"compared with a number at {here}{line_of('int(unit < 0.3)')}, so")
    refuses(lambda: chain(GAME, Own(SCALED)), NoLaw, f"at {here}{line_of('below(unit, 2.5)')}, so")
    where = f"two different choices at {here}{line_of('below(unit, 3)')}; use another purpose"
    refuses(lambda: chain(GAME, Own(TWICE)), NoLaw, where)
    refuses(lambda: chain(GAME, Own(TIMED)), NoLaw, "depends on the time n")
    refuses(lambda: chain(GAME, Own(MANY)), NoLaw, "more than 64 times")
    where = f"do not divide by tau: ZeroDivisionError.*: {here}{line_of('math.exp(-1.0 / tau), unit))')}$"
    refuses(lambda: stability(GAME, Own(DIVIDING)), NoLaw, where)
    said = str(pt.analysis.audit(GAME, Own(RAW)))
    assert f"{here}{line_of('int(unit < 0.3)')}" in said
    assert said.count("not known: own does not say who revises") == 2


def test_a_memory_that_has_no_end(monkeypatch):
    monkeypatch.setattr("potentia.analysis.chains.found.MOST_STATES", 50)
    refuses(lambda: chain(GAME, Own(GROWING)), TooLarge, "own met 51 states.*at most 50 and 1,000,000")
    long = pt.rule("adaptive-play", tau=1.0, memory=9, sample=3)
    refuses(lambda: chain(GAME, long), TooLarge, "has 262,148 states here.*at most 50 are played through")


def test_a_mistake_has_order_one_and_memory_is_part_of_a_state():
    """Three counts in turn, each left by a mistake: a third of the time each, and two of the three play action 0."""
    alone = pt.games.NormalForm([[[4], [3]], [[0], [0]]])
    found = stability(alone, Own(CYCLE))
    assert sorted(set(found.resistances().exact)) == [1.0]
    np.testing.assert_allclose(found.by_profile.limit, [2 / 3, 1 / 3])
    assert found.stable_profiles.tolist() == [[0, 0], [1, 0]]
    at = chain(alone, Own(CYCLE, tau=0.5))
    assert sorted({int(memory["count"][0]) for memory in at.memories}) == [0, 1, 2]
    np.testing.assert_allclose(at.over_profiles(at.evolve([0, 0], 1)), [1.0, 0.0])
    np.testing.assert_allclose(at.over_profiles(at.evolve([0, 0], 2))[1], math.exp(-4.0), rtol=1e-12)


# A law that is given -------------------------------------------------------------------------------------------


def with_law(law, **fields):
    """A rule with this law, and a step that does nothing."""

    class Given(Own):
        pass

    Given.law = lambda self, game, profile: law(profile)
    return Given(CYCLE, **fields)


def stay(profile):
    return [(profile, 1.0)]


def test_terms_are_probabilities_and_orders():
    """A chain between two profiles: leaving the first costs 2, the second 1."""

    def law(profile):
        if profile == (0, 0):
            return {(1, 1): (0.5, 2.0)}
        return [((0, 0), 0.25, 1.0)] if profile == (1, 1) else [((0, 0), 1.0, 0.0)]

    at = chain(GAME, with_law(law, tau=0.7))
    a, b = 0.5 * math.exp(-2 / 0.7), 0.25 * math.exp(-1 / 0.7)
    np.testing.assert_allclose(at.stationary(), [b / (a + b), 0.0, 0.0, a / (a + b)], rtol=1e-12)
    found = stability(GAME, with_law(law))
    assert found.stable_profiles.tolist() == [[0, 0]]
    terms = [(0, 3, 0.5, 2.0), (3, 0, 0.25, 1.0), (1, 0, 1.0, 0.0), (2, 0, 1.0, 0.0)]
    same = Chain.from_terms(at.states, terms)
    np.testing.assert_allclose(same.at(0.7).stationary(), at.stationary(), rtol=1e-12)
    np.testing.assert_array_equal(stability(same).stochastic_potential, found.stochastic_potential)


LAWS = {
    "sum": (lambda p: [(p, 0.5)], InvalidRule, r"law of own at \(0, 0\) must sum to 1, got 0.5"),
    "negative": (lambda p: [(p, -1.0)], InvalidRule, "finite and not negative, got -1.0"),
    "order": (lambda p: [(p, 1.0, -1.0)], InvalidRule, "orders that are finite and not negative, got -1.0"),
    "nowhere": (lambda p: [((0, 7), 1.0)], InvalidRule, "leads to no profile of the game"),
    "shape": (lambda p: [3], InvalidRule, r"must give \(profile, probability\) or \(profile, c, r\), got 3"),
    "stays": (lambda p: [(p, 1.0, 0.0), ((0, 0), 0.5, 1.0)], InvalidRule, "staying may be left out"),
}


@pytest.mark.parametrize("name", LAWS)
def test_bad_laws(name):
    law, error, said = LAWS[name]
    refuses(lambda: chain(GAME, with_law(law, tau=0.7)), error, said)


def test_probabilities_have_no_limit_and_a_wrong_law_is_found_out():
    refuses(lambda: stability(GAME, with_law(stay)), NoLaw, "limit as τ → 0 is not known")
    check_law(with_law(lambda profile: [((0, profile[1]), 1.0)], tau=0.01), GAME)
    with pytest.raises(CheckFailed, match=r"does not follow its law.*\(1, 1\) was played 0 times of 800"):
        check_law(with_law(lambda profile: [((1, profile[1]), 0.4), ((0, profile[1]), 0.6)], tau=50.0), GAME)


TERMS = {
    "none": (3, "must be a list of"),
    "short": ([(0, 1, 1.0)], r"must have \(from, to, c, r\)"),
    "outside": ([(0, 5, 1.0, 0.0)], r"between states 0..1, got \(0, 5\)"),
    "negative": ([(0, 1, -1.0, 0.0)], "coefficients that are finite and not negative, got -1.0"),
    "order": ([(0, 1, 1.0, math.inf)], "orders that are finite and not negative, got inf"),
    "twice": ([(0, 1, 0.1, 0.0), (0, 1, 0.2, 1.0)], "one term for each transition, got two from state 0"),
    "too much": ([(0, 1, 1.5, 0.0)], "at most in each row, got 1.5 from state 0"),
    "stays": ([(0, 0, 0.5, 0.0)], "must sum to 1 in each row, got 0.5 from state 0 as"),
}


@pytest.mark.parametrize("name", TERMS)
def test_bad_terms(name):
    terms, said = TERMS[name]
    refuses(lambda: Chain.from_terms([[0], [1]], terms), InvalidInput, said)


def test_a_chain_of_terms_needs_a_temperature_for_all_but_its_limit():
    perturbed = Chain.from_terms([[0], [1]], {(0, 1): (1.0, 1.0), (1, 0): (1.0, 2.0)})
    refuses(perturbed.stationary, InvalidInput, "tau needs a temperature here")
    refuses(lambda: stability(perturbed, pt.rule("lll", tau=1.0)), InvalidInput, "rule must be left out beside a chain")
    refuses(lambda: stability(Chain([[0]], [[1.0]])), InvalidInput, "a chain of Chain.from_terms")
    assert stability(perturbed).stable.tolist() == [False, True]


# Compositions without meaning ----------------------------------------------------------------------------------

BASE = {"who": "one", "considers": "trial", "chooses": "best"}
BAD = {
    "groups": ({**BASE, "who": "groups"}, 'who="groups" needs groups='),
    "word": ({**BASE, "who": "two"}, "who must be one of .*got 'two'"),
    "nothing": ({"who": "one", "considers": "all"}, "chooses is missing: give"),
    "object": ({**BASE, "chooses": 3}, "chooses must be .*an object of one, got 3"),
    "axis": ({**BASE, "who": pt.rules.Trial()}, "who must be .*got Trial"),
    "parameter": (
        {**BASE, "tau": 0.1},
        "tau is no parameter of one × trial × best, which has k,",
    ),
    "guard": ({**BASE, "guard": True}, "guard is no parameter of one × trial"),
    "k": ({**BASE, "k": 0}, "k must be an integer of at least 1"),
    "inertia": ({**BASE, "chooses": "better", "inertia": 1.0}, "inertia must be"),
    "metropolis": ({**BASE, "k": 2, "chooses": "metropolis", "tau": 1.0}, "considers must be .* with k=2"),
    "vanishing": (
        {**BASE, "who": "independent", "revision": {"vanishing": 1.0}},
        "revision cannot vanish with the temperature: best has none",
    ),
    "sum": ({**BASE, "who": "groups", "groups": [((0,), 0.5)]}, "groups must have probabilities that sum to 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_compositions_without_meaning(name):
    parts, said = BAD[name]
    refuses(lambda: pt.rule(**parts), InvalidRule, said)


def test_what_does_not_fit_a_game():
    few = pt.rule(who="one", considers="trial", chooses="best", k=2)
    refuses(lambda: chain(GAME, few), InvalidRule, "k must be at most .*player 0 has 1 to try at action 0, got 2")
    refuses(lambda: pt.rule("ql", who="all", tau=0.1), InvalidRule, "who cannot be given beside ql, which is no point")
    refuses(pt.rule, InvalidRule, "expected the name of a rule, or who=")


# What a reviewer would try ---------------------------------------------------------------------------------------


class ToolData(NamedTuple):
    kind: int
    tau: float


@attrs.frozen(repr=False)
class Tool(extend.Rule):
    """One random player, several ways to draw; ``tau`` is a number, and ``noise`` no temperature at all."""

    name: ClassVar[str] = "tool"
    kind: int = 0
    tau: float = 0.5

    def data(self, game, horizon):
        return ToolData(self.kind, self.tau)


HOTTER, FIXED, SAME_DRAW, ORDERS, ROUND_ROBIN, BURN_IN, WIDE = range(7)


@step.register(ToolData)
def _tool(rule, memory, game, state, journal, key, n):
    players = num_players(game)
    player = extend.wake_one(key, players, n)
    unit = uniform(key, players, n, player, CHOICE)
    action = state.profile[player]
    if rule.kind in (HOTTER, FIXED):
        count = extend.survey(game.moves, memory, game, state, player)
        tau = rule.tau * (4.0 if player == 1 else 1.0) if rule.kind == HOTTER else 0.25
        action = extend.logit(memory.values[:count], tau, unit)
    elif rule.kind == SAME_DRAW:
        player, action = below(unit, 2), int(extend.chance(0.5, unit))
    elif rule.kind == ORDERS:
        other = uniform(key, players, n, player, TRIAL)
        rare = extend.rarely(2.0, rule.tau, unit) or extend.rarely(2.2, rule.tau, other)
        action = 1 - action if rare else action
    elif rule.kind == ROUND_ROBIN:
        player, action = n % players, 1
    elif rule.kind == BURN_IN and n > 100:
        action = 1
    elif rule.kind == WIDE:
        for other in range(players):
            below(uniform(key, players, n, other, TRIAL), 2)
    move(journal, game, state, player, action, n)


def by_hand(payoffs, temperatures):
    """The stationary law of log-linear learning with a temperature each."""
    matrix = np.zeros((4, 4))
    for a, b in np.ndindex(2, 2):
        for k in range(2):
            for place, values, tau, chosen in (
                (2 * k + b, payoffs[0][:, b], temperatures[0], k),
                (2 * a + k, payoffs[1][a, :], temperatures[1], k),
            ):
                weights = np.exp((values - values.max()) / tau)
                matrix[2 * a + b, place] += 0.5 * weights[chosen] / weights.sum()
    return np.linalg.matrix_power(matrix, 2**20)[0]


def test_temperatures_of_ones_own():
    """A player that is four times as hot, and a noise that does not go away."""
    payoffs = np.array([[[6.0, 0.0], [0.0, 3.0]], [[2.0, 0.0], [0.0, 6.0]]])
    game = pt.games.NormalForm(payoffs)
    hot = chain(game, Tool(HOTTER, 0.5)).stationary()
    np.testing.assert_allclose(hot, by_hand(payoffs, (0.5, 2.0)), rtol=1e-6)
    found = stability(game, Tool(HOTTER))
    assert found.stable_profiles.tolist() == [[1, 1]]
    assert sorted(set(found.resistances().exact)) == [0.0, 0.5, 1.5, 3.0, 6.0]
    np.testing.assert_allclose(chain(game, Tool(FIXED)).stationary(), by_hand(payoffs, (0.25, 0.25)), rtol=1e-6)
    limit = stability(game, Tool(FIXED)).limit
    np.testing.assert_allclose(limit, chain(game, Tool(FIXED)).stationary(), rtol=1e-9)


def test_draws_and_orders():
    row = chain(GAME, Tool(SAME_DRAW)).matrix[[0]].toarray()[0]
    np.testing.assert_allclose(row, [0.5, 0.0, 0.5, 0.0])  # player 0 where chance says yes, player 1 where not
    assert set(stability(GAME, Tool(ORDERS)).resistances().exact) == {2.0}
    for kind in (ROUND_ROBIN, BURN_IN):
        refuses(lambda kind=kind: chain(GAME, Tool(kind)), NoLaw, "depends on the time n")


def test_ways_are_counted_while_they_are_played(monkeypatch):
    monkeypatch.setattr("potentia.analysis.chains.found.MOST_WAYS", 500)
    wide = pt.games.consensus(pt.games.ring_edges(9))
    refuses(lambda: chain(wide, Tool(WIDE)), TooLarge, "501 ways to go, and there are more")


@pytest.mark.parametrize("factor", [0.01, 7.3, 1000.0])
def test_what_payoffs_are_counted_in_changes_no_mistakes(factor):
    """Mistakes cost 1 beside payoffs in cents or in thousands."""
    game = pt.games.NormalForm(factor * np.array([[[4, 0], [3, 3]], [[4, 3], [0, 3]]]))
    rule = pt.rule("adaptive-play", tau=0.5, memory=2, sample=1)
    np.testing.assert_array_equal(stability(game, rule).by_profile.stochastic_potential, [1, 2, 2, 1])
    late = pt.rule("mistakes", who="independent", revision=pt.rules.Vanishing(0.5), tau=0.5)
    np.testing.assert_array_equal(stability(game, late).stochastic_potential, [2.5, 3.5, 3.5, 2.5])


def test_a_vanishing_revision_beside_mistakes_has_its_bounds():
    late = pt.rule("mistakes", who="independent", revision=pt.rules.Vanishing(1e16), tau=0.5)
    refuses(lambda: stability(GAME, late), InvalidRule, "m of a vanishing revision must be between 1e-08 and 100000")


def test_a_subclass_with_another_step_is_not_solved_as_its_parent():
    class Uniformly(pt.rules.LLL):
        name: ClassVar[str] = "uniformly"

        def data(self, game, horizon):
            return OwnData(RAW, self.tau.data(horizon))

    refuses(lambda: chain(GAME, Uniformly(0.5)), NoLaw, "compared with a number")

    class Lawful(Uniformly):
        def law(self, game, profile):
            return [(then, 0.25) for then in np.ndindex(2, 2)]

    np.testing.assert_allclose(chain(GAME, Lawful(0.5)).stationary(), 0.25)
    assert pt.rule(who="one", considers="all", chooses="logit", tau=0.5) == pt.rules.LLL(0.5)


class LooseData(NamedTuple):
    kind: int


class LooseMemory(NamedTuple):
    count: np.ndarray


@attrs.frozen(repr=False)
class Loose(extend.Rule):
    """What a step must not do."""

    name: ClassVar[str] = "loose"
    remembers: ClassVar[tuple[str, ...]] = ()
    kind: int = 0

    def data(self, game, horizon):
        return LooseData(self.kind)

    def new_memory(self, game):
        return LooseMemory(np.zeros(1, np.int64))


@attrs.frozen(repr=False)
class Misspelt(Loose):
    remembers: ClassVar[tuple[str, ...]] = ("cuont",)


CALLS = [0]


@step.register(LooseData)
def _loose(rule, memory, game, state, journal, key, n):
    action = 0
    if rule.kind == 0:  # it counts, and does not say so
        memory.count[0] = (memory.count[0] + 1) % 2
        action = int(memory.count[0])
    elif rule.kind == 1:
        action = int(state.profile[0]) - 1
    else:
        CALLS[0] += 1
        action = CALLS[0] % 2
    move(journal, game, state, 0, action, n)


def test_what_a_step_must_not_do():
    refuses(lambda: chain(GAME, Loose(0)), InvalidRule, "remembers must name what the step keeps in its memory, count")
    refuses(lambda: chain(GAME, Misspelt(0)), InvalidRule, r"must name fields of its memory \(count\), got 'cu")
    refuses(lambda: chain(GAME, Loose(1)), InvalidRule, "lets player 0 play action -1, which has actions 0..1: ")
    refuses(lambda: chain(GAME, Loose(2)), NoLaw, "does otherwise when it is played again")
    with pytest.raises(CheckFailed, match="reads what it left in its memory, count: name it in remembers"):
        check_steps(Loose(0), GAME, 5)
    with pytest.raises(CheckFailed, match="lets player 0 go from 0 to -1, which is not reachable"):
        check_steps(Loose(1), GAME, 5)
