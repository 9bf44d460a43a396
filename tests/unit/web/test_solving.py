"""What the game stage is told: equal to the library, small enough to send, and refused in one sentence."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import potentia as pt
from potentia.analysis.chains.ways import _Stage, cheapest_way
from potentia.web.solving import MOST_EDGES, answer, solve

JOINT = {"who": "independent", "considers": "joint-trial", "chooses": "logit"}
DOUBLE = {"payoffs": [[[0, 3], [2, 2]], [[2, 3], [2, 0]]], "rule": JOINT, "tau": 0.3, "revision": 0.5}


def some_games():
    rng = np.random.default_rng(5)
    yield pt.games.NormalForm(rng.integers(-2, 3, (3, 2, 3, 2)))
    yield pt.game("overlap", robots=2, cells=4)  # constrained moves
    yield pt.games.NormalForm(rng.standard_normal((2, 3, 3)))


def some_rules(players):
    yield pt.rule("lll", tau=0.4)
    yield pt.rule("slll", tau=0.4, revision=[0.2, 0.5, 0.9][:players])
    yield pt.rule("slll", tau=0.4, revision=pt.rules.Groups([((0, 1), 0.5), ((1,), 0.5)]))
    yield pt.rule("blll", tau=0.4, include_current=True)
    yield pt.rule("p-sblll", tau=0.4, revision=0.3)
    yield pt.rule("p-sblll", tau=0.4, revision=0.3, guard=True)
    yield pt.rule("p-sblll", tau=0.4, revision=0.3, trial="unilateral", include_current=True)
    yield pt.rule("p-sblll", tau=0.4, revision=pt.rules.Vanishing(2.0))
    yield pt.rule(who="all", considers="joint-trial", chooses="metropolis", tau=0.4)
    yield pt.rule(who="independent", considers="trial", chooses="mistakes", tau=0.4, revision=0.5)
    yield pt.rule("better-reply", inertia=0.2)


@pytest.mark.parametrize("game", [*some_games()], ids=["three players", "on a line", "three actions"])
def test_all_ways_of_a_step_are_its_law_and_the_cheapest_is_its_resistance(game):
    for rule in some_rules(game.num_players):
        chain = pt.analysis.chain(game, rule)
        matrix, axes = chain.matrix.toarray(), rule.point()
        noisy = hasattr(rule, "tau")
        table = pt.analysis.stability(game, rule).resistances() if noisy and len(chain.classes) == 1 else None
        costs = (
            {} if table is None else dict(zip(zip(table.sources, table.targets, strict=True), table.exact, strict=True))
        )
        rng = np.random.default_rng(1)
        for source in rng.choice(len(matrix), 3, replace=False).tolist():
            stage = _Stage(game, axes, source, chain.tau)
            for target in np.flatnonzero(matrix[source]).tolist():
                ways = list(stage.ways(target))
                assert np.isclose(sum(way.probability for way in ways), matrix[source, target], rtol=1e-11, atol=0)
                if (source, target) in costs:
                    found = cheapest_way(game, rule, source, target, chain.tau)
                    assert np.isclose(found.resistance, costs[source, target], atol=1e-9)
                    assert 0 < found.probability <= matrix[source, target] * (1 + 1e-12)


def test_the_answer_is_the_librarys():
    game = pt.game("random-potential", players=3, actions=3)
    rule = pt.rule("p-sblll", tau=0.5, revision=0.4)
    told = json.loads(json.dumps(solve(game, rule)))
    chain, found = pt.analysis.chain(game, rule), pt.analysis.stability(game, rule)
    assert np.allclose(told["law"], chain.stationary(), atol=1e-15)
    edges, matrix = told["edges"], chain.matrix.toarray()
    assert np.allclose(matrix[edges["from"], edges["to"]], edges["probability"])
    assert len(edges["from"]) + edges["left_off"] == np.count_nonzero(matrix) - np.count_nonzero(np.diag(matrix))
    assert told["stability"]["stable"] == np.flatnonzero(found.stable).tolist()
    assert np.allclose(told["stability"]["potentials"], found.stochastic_potential)
    assert np.allclose(told["potential"], pt.analysis.potential(game).reshape(-1))
    assert [tuple(row) for row in pt.analysis.pure_nash(game).tolist()] == [
        tuple(int(k) for k in np.unravel_index(place, game.num_actions)) for place in told["nash"]
    ]
    root = told["stability"]["stable"][0]
    tree = answer(
        {"ask": "tree", "game": {"name": "random-potential"}, "rule": JOINT, "revision": 0.4, "tau": 1, "root": root}
    )
    assert np.isclose(tree["total"], found.stochastic_potential[root])
    assert tree["parent"].count(-1) == 1


def test_the_broken_promise_is_one_joint_step_in_words():
    told = answer({"ask": "solve", **DOUBLE})
    assert told["promise"] == {"kept": False, "more": [1], "missed": [2]}
    assert round(told["law"][2], 2) == 0.08
    assert round(answer({"ask": "solve", **DOUBLE, "revision": 0.01})["law"][2], 2) == 0.76
    example = told["counterexamples"]["promise"]
    assert example["path"] == [2, 1]
    assert example["step"]["words"] == [
        "Players 0 and 1 wake at (1, 0).",
        "Together they try (0, 1).",
        "Player 0 compares 2 with 3 and takes it.",
        "Player 1 compares 2 with 3 and takes it.",
        "Play goes from (1, 0) to (0, 1) at resistance 0.",
    ]
    one = {**JOINT, "considers": "trial"}
    assert answer({"ask": "solve", **DOUBLE, "rule": one})["counterexamples"].get("promise") is None


def test_somebody_who_wakes_tries_and_stays_makes_it_cheap():
    pennies = {"ask": "solve", "game": {"name": "matching-pennies"}, "rule": JOINT, "tau": 0.1, "revision": 0.3}
    told = answer(pennies)["counterexamples"]
    assert told["cycle"]["path"][0] == told["cycle"]["path"][-1]
    step = told["lemma"]["step"]
    assert (step["resistance"], told["lemma"]["said"]) == (0, 2)
    assert len(step["awake"]) == 2
    assert len(step["took"]) == 1
    assert any(sentence.endswith("and stays.") for sentence in step["words"])


def test_where_rules_have_no_noise_or_fall_apart():
    told = answer(
        {"ask": "solve", "game": {"name": "stag-hunt"}, "rule": {"who": "one", "considers": "all", "chooses": "best"}}
    )
    assert told["law"] is None
    assert told["classes"] == [[0], [3]]
    assert told["stability"] is None
    assert "no noise" in told["trouble"]


def test_dynamics_are_the_librarys():
    game, start = pt.game("stag-hunt"), [[0.9, 0.1], [0.6, 0.4]]
    flow = {"payoffs": game.payoffs.tolist(), "tau": 0.5, "discount": 0.1, "order": 2}
    told = answer({"ask": "trajectory", **flow, "start": start, "horizon": 10, "points": 21})
    found = pt.analysis.dynamics(game, tau=0.5, discount=0.1, order=2, start=start, horizon=10, points=21)
    assert np.array_equal(told["strategies"][0], found.strategies[0])
    told = answer({"ask": "portrait", **flow, "order": 1, "grid": 4})
    assert len(told["field"]["dx"]) == 16
    assert len(told["equilibria"]) == 3
    assert answer({"ask": "portrait", **flow})["field"] is None


def test_large_chains_are_told_in_part():
    told = solve(pt.game("random-potential", players=4, actions=3), pt.rule("p-sblll", tau=1.0, revision=0.3))
    assert len(told["edges"]["from"]) == MOST_EDGES
    assert told["edges"]["left_off"] == 81 * 80 - MOST_EDGES


def test_a_number_of_profiles_is_no_row_of_digits():
    wanted = "got 100 players and more than 256 profiles"
    with pytest.raises(pt.errors.PotentiaError, match=wanted):
        answer({"ask": "state", "game": {"name": "ring"}, "rule": {"rule": "lll", "tau": 1.0}})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"ask": "guess"}, "ask must be one of"),
        ({"ask": ["solve"]}, "ask must be one of"),
        ({"payoffs": [[[1, 2], [3]], [[1, 2], [3, 4]]]}, "payoffs must be"),
        ({"payoffs": [[[np.nan, 2], [3, 4]]] * 2}, "payoffs must be finite"),
        ({"game": {"name": "stag-hunt"}}, "give payoffs or game"),
        ({"rule": None}, "rule must name who"),
        ({"rule": {**JOINT, "who": "nobody"}}, "nobody"),
        ({"rule": {"who": "one"}}, "considers is missing"),
        ({"tau": -1.0}, "tau must be"),
        ({"tau": "hot"}, "tau"),
        ({"revision": 1.5}, "revision must"),
        ({"ask": "tree", "root": 4}, "root must be"),
        ({"ask": "tree"}, "root must be"),
        ({"ask": "trajectory", "tau": 1.0, "discount": 0.0, "order": 3, "horizon": 1.0}, "order must be"),
        ({"ask": "trajectory", "tau": 1.0, "discount": 0.0, "order": 1, "horizon": 1e9}, "horizon must be"),
        ({"ask": "portrait", "order": 1}, "discount is missing"),
        (
            {"payoffs": np.zeros((9, *[2] * 9)).tolist()},
            "up to 8 players and 256 profiles, got 9 players and 512 profiles",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(more, said):
    with pytest.raises(pt.errors.PotentiaError) as error:
        answer({"ask": "solve", **DOUBLE, **more})
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_games_by_name_are_small():
    with pytest.raises(pt.errors.TooLarge, match="shows up to"):
        answer({"ask": "solve", "game": {"name": "ring"}, "rule": JOINT, "tau": 1.0, "revision": 0.5})


def test_eq_12_differs_for_unilateral_trials_where_own_changes_have_a_coarser_unit():
    game = pt.games.NormalForm([[[2, 1], [0, 1]], [[2, 0], [2, 0]]])
    table = pt.analysis.stability(game, pt.rule("p-sblll", tau=0.1, revision=0.3, trial="unilateral")).resistances()
    for source, target in itertools.product(range(4), repeat=2):
        (edge,) = np.flatnonzero((table.sources == source) & (table.targets == target)) if source != target else (None,)
        if edge is not None:
            assert table.differs[edge] == (abs(table.lemma[edge] - table.exact[edge]) > 1e-9)
    assert table.differs.any()
