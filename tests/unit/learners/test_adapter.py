"""A learner from elsewhere plays as a player among ours, who draw what they always draw."""

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun
from potentia.learners.seats import SeatedData
from tests import games
from tests.unit.envs.games_here import ALL, flagged


class Scripted:
    """It does what a list says."""

    def __init__(self, actions):
        self.actions, self.told = list(actions), []

    def act(self, observation):
        return self.actions[len(self.told)]

    def learn(self, *what):
        self.told.append(what)


class Still:
    """It plays the same action for ever."""

    def __init__(self, action=0):
        self.action = action

    def act(self, observation):
        return self.action


def adapted(learner, **options):
    return pt.learners.adapter(learner, **options)


def test_an_adapter_says_what_it_is():
    assert repr(adapted(Still)) == repr(adapted(Still(), player=0)) == "<adapter of Still as player 0>"


# Those that remember nothing and in which nobody takes the trials of others into account.
APART = ("lll", "slll", "blll", "blll-current", "p-sblll-unilateral", "best-response", "metropolis", "mistakes")


@pytest.mark.parametrize(
    ("name", "rules"),
    [("constrained", APART), ("flagged", APART[-1:]), ("congestion", APART[:1]), ("uncompiled", APART[1:2])],
)
def test_the_others_draw_what_they_always_draw(name, rules):
    """A learner that does what the rule did changes nothing."""
    game = ALL[name]()
    for rule in (pt.rules.rule_from((games.RULES | games.ADDED)[rule]) for rule in rules):
        alone = pt.begin(game, rule, 2, compiled=False).advance(30).trace()
        together = adapted(Scripted(alone.profiles[1:, 1]), player=1).run(game, rule, 30, 2, compiled=False)
        np.testing.assert_array_equal(together.profiles, alone.profiles)
        assert together.rule == alone.rule | {"learner": "Scripted", "learner_is_player": 1}


@pytest.mark.parametrize("spec", [*games.RULES.values(), *games.ADDED.values()], ids=str)
def test_the_rule_does_not_move_the_learner(spec):
    game = ALL["constrained"]()
    if "groups" in spec:
        spec = {"rule": "slll", "tau": 0.4, "revision": 0.5}
    gains = {a: max(game.utility(0, [b, 2]) - game.utility(0, [a, 2]) for b in game.reachable(0, a)) for a in range(3)}
    worst = max(gains, key=gains.get)
    trace = adapted(Still(2), player=1).run(game, spec, 60, 0, start=[worst, 2], compiled=False)
    assert (trace.profiles[:, 1] == 2).all()
    assert (trace.profiles[:, 0] != worst).any()


def test_what_a_learner_is_told():
    game = ALL["constrained"]()
    learner = Scripted([1, 3, 2])  # from 0 to 1; 3 is out of reach; then to 2
    adapter = adapted(learner, player=1, observation="full")
    trace = adapter.run(game, pt.rule("lll", tau=0.3), 3, 1, start=[0, 0], compiled=False)
    assert trace.profiles[:, 1].tolist() == [0, 1, 1, 2]
    for step, (seen, action, reward, then) in enumerate(learner.told):
        before, after = trace.profiles[step], trace.profiles[step + 1]
        assert seen["observation"].tolist() == before[::-1].tolist()
        assert then["observation"].tolist() == after[::-1].tolist()
        assert np.flatnonzero(seen["action_mask"]).tolist() == sorted([*game.reachable(1, before[1]), before[1]])
        assert action == learner.actions[step]
        assert reward == game.utility(1, after)


def test_a_robot_pays_for_its_way():
    game = pt.games.Coverage(pt.games.World(np.ones((1, 8))), 2, 1.0, K=0.25, flags=False)
    seat = pt.learners.Seat(game, pt.rule("lll", tau=1e-6), 0, start=[2, 6], compiled=False)
    assert seat.step(1) == 3.0 - 0.25
    assert seat.step(1) == 3.0
    assert (seat.step(5), seat.illegal) == (3.0, True)
    assert (seat.step(0), seat.illegal) == (2.0 - 0.25, False)
    marginal = pt.learners.Seat(game, pt.rule("lll", tau=1e-6), 0, reward="marginal", start=[2, 6])
    assert marginal.step(2) == 0.0
    strict = pt.learners.Seat(game, pt.rule("lll", tau=1e-6), 0, strict=True, start=[2, 6], compiled=False)
    with pytest.raises(InvalidRun, match="player 0 may not play 5 now"):
        strict.step(5)


def test_flags_energy_and_distance_of_a_learner_are_kept():
    trace = adapted(Scripted([1, 2, 1]), player=0).run(
        flagged(),
        pt.rule("lll", tau=0.1),
        3,
        0,
        start=[0, 20, 40],
        record=("profile", "energy", "moves"),
        compiled=False,
    )
    others = np.abs(np.diff(trace.profiles[:, 1:], axis=0)).astype(bool).sum()
    assert trace.moves[-1] == 3 + others
    assert trace.driven[0] == 3.0


def test_batches_are_those_of_run_batch():
    game, rule = ALL["path"](), pt.rule("lll", tau=0.3)
    found = adapted(Still, player=1).run_batch(game, rule, 20, [0, 1], record=("potential", "profile"), compiled=False)
    ours = pt.run_batch(game, rule, 20, [0, 1], record=("potential", "profile"), compiled=False)
    assert set(found.variables) == set(ours.variables)
    assert found.sizes == ours.sizes
    np.testing.assert_array_equal(found.profile[:, 0], ours.profile[:, 0])  # from the same starts
    single = adapted(Still(1), player=1).run(game, rule, 20, 1, record=("potential", "profile"), compiled=False)
    assert '"learner": "Still", "learner_is_player": 1' in found.attrs["rule"]
    given = adapted(Still(2)).run_batch(game, rule, 5, [0, 1], start=[[2, 0, 0], [2, 1, 1]], compiled=False)
    assert given.profile[:, 0].values.tolist() == [[2, 0, 0], [2, 1, 1]]
    assert (given.profile[:, :, 0] == 2).all()
    # as a class it was given the seed: in the second run it plays action 1
    np.testing.assert_array_equal(found.profile[1], single.profiles)


def test_a_recording_of_it_has_no_theory_of_the_rule():
    game = ALL["constrained"]()
    trace = adapted(Still(), player=0).run(game, {"rule": "ql", "tau": 0.4}, 20, 0, compiled=False)
    made = trace.recording()
    assert made.header["table"] == {"law": False}
    assert made.header["keyframes"] is None
    np.testing.assert_array_equal(made.profiles(range(21)), trace.profiles)


def test_what_rules_ask_of_a_game_is_passed_on():
    """All that a kind of game may register, but what happens outside of a rule's step."""
    from potentia.kernel import protocol

    outside = {"open_run", "tick", "waiting", "settle", "potential", "welfare", "measure"}
    on_moves = {"num_reachable", "reachable"}
    asked = {name for name, part in vars(protocol).items() if hasattr(part, "table")}
    passed = {name for name in asked if SeatedData in getattr(protocol, name).table}
    assert passed == asked - outside - on_moves


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: adapted(3), r"learner must have act\(observation\), or be a function of a seed .* got 3"),
        (lambda: adapted(Still(), player=-1), "player must be"),
        (lambda: pt.learners.Seat(ALL["constrained"](), pt.rule("lll", tau=1.0), player=2), "player must be"),
        (lambda: pt.learners.Seat(ALL["path"](), pt.rule("lll", tau=1.0), observation="all"), "observation must"),
        (lambda: adapted(Still(4)).run(ALL["path"](), pt.rule("lll", tau=1.0), 5), "from 0 to 2 for player 0, got 4"),
        (lambda: adapted(Still(0.5)).run(ALL["path"](), pt.rule("lll", tau=1.0), 5), "for player 0, got 0.5"),
        (lambda: adapted(lambda seed: seed).run(ALL["path"](), pt.rule("lll", tau=1.0), 5), "learner must make"),
        (lambda: adapted(Still()).run(ALL["path"](), "lll", 5), "expected a rule such as"),
    ],
)
def test_bad_input(call, said):
    with pytest.raises(pt.errors.InvalidInput, match=said):
        call()


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_compiled_and_plain_are_the_same_bits(name):
    game = ALL[name]()
    for spec in ({"rule": "p-sblll", "tau": 0.4, "revision": 0.5}, {"rule": "soql"}):
        traces = []
        for compiled in (game.uncompilable is None, False):
            learner = Scripted(np.random.default_rng(0).integers(game.sizes[1], size=40))
            trace = adapted(learner, player=1, observation="local").run(game, spec, 40, 3, compiled=compiled)
            traces.append((trace.profiles, [told[2] for told in learner.told]))
        np.testing.assert_array_equal(traces[0][0], traces[1][0])
        assert traces[0][1] == traces[1][1]
