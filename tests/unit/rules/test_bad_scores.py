"""Bad parameters of ql, soql and score, and saved runs of theirs that no run can have written."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import potentia as pt
from potentia.errors import AssumptionBroken, InvalidRule, InvalidRun
from potentia.rules import rule, rule_from
from tests import games
from tests.unit.bad import INF, NAN, case, dilemma, nothing_plays, refuses  # noqa: F401


def ql(**options):
    return rule("ql", **{"tau": 0.1, **options})


def soql(**options):
    return rule("soql", **options)


def score(**options):
    return rule("score", **{"tau": 0.1, **options})


def begun(make, **options):
    """What only a game can show to be wrong."""
    return pt.begin(dilemma(), make(**options))


ANY = [ql, soql, score]
SHARED = {
    "initial nan": (NAN, r"initial must be finite, got nan"),
    "initial inf": (-INF, r"initial must be finite, got -inf"),
    "initial huge": (1e301, r"initial must be at most 1e\+300 in size, got 1e\+301"),
    "initial text": ("0", r"initial must be a number, or lists .*got '0'"),
    "initial none": (None, r"initial must be a number, or lists .*got None"),
    "initial empty": ([], r"initial must be a number, or lists .*got \[\]"),
    "initial of a player": ([0.0, NAN], r"initial\[1\] must be finite, got nan"),
    "initial of an action": ([[0.0, 1.0], [INF, 0.0]], r"initial\[1\]\[0\] must be finite, got inf"),
    "initial of an action, text": ([[0.0, "a"]], r"initial\[0\]\[1\] must be a number"),
}


@pytest.mark.parametrize("make", ANY)
@pytest.mark.parametrize("name", SHARED)
def test_what_all_three_refuse(make, name):
    value, message = SHARED[name]
    refuses(lambda: make(**{name.split()[0]: value}), InvalidRule, message)


SHAPES = {
    "players": ([0.0], r"initial must have one entry for each of 2 players, got 1"),
    "more players": ([0.0] * 3, r"initial must have one entry for each of 2 players, got 3"),
    "actions": ([[0.0, 1.0], [0.0]], r"initial of player 1 must be a number or 2 numbers, one per action, got 1 entr"),
    "deeper": ([[[0.0], [1.0]], 0.0], r"initial of player 0 must be a number or 2 numbers, one per action"),
    "an array": (np.zeros((2, 3)), r"initial of player 0 must be a number or 2 numbers, one per action, got 3"),
}


@pytest.mark.parametrize("make", ANY)
@pytest.mark.parametrize("name", SHAPES)
def test_initial_values_of_another_shape(make, name):
    value, message = SHAPES[name]
    refuses(lambda: begun(make, initial=value), InvalidRule, message)


CASES = [
    case("ql mu", lambda: ql(mu=0.0), r"mu must be a number in \(0, 1\], got 0\.0"),
    case("ql mu above", lambda: ql(mu=1.1), r"mu must be a number in \(0, 1\], got 1\.1"),
    case("ql mu adaptive", lambda: ql(mu="adaptive"), r"mu must be a number, .*got 'adaptive'"),
    case("ql decay by visits", lambda: ql(unplayed="decay"), r'mu must count steps: give count="steps"'),
    case("ql tau", lambda: ql(tau=0), r"tau must be finite and > 0, got 0"),
    case("ql no tau", lambda: rule("ql"), r"ql needs tau="),
    case("ql name", lambda: ql(noize=1.0), r"ql has no parameter 'noize'; did you mean 'noise'\?"),
    case("soql mu 0", lambda: soql(mu=0.0), r"mu must be a number in \(0, 1\), got 0\.0"),
    case("soql mu 1", lambda: soql(mu=1.0), r"mu must be a number in \(0, 1\), got 1\.0"),
    case("soql mu 1 as text", lambda: soql(mu="1.0"), r"mu must be a number in \(0, 1\), got 1\.0"),
    case("soql mu none", lambda: soql(mu=None), r"mu must be a number in \(0, 1\), got None"),
    case("soql mu name", lambda: soql(mu="adaptiv"), r"mu must be a number, .*got 'adaptiv'"),
    case("soql mu array", lambda: soql(mu=np.array([0.5, 0.6])), r"mu must be a number in \(0, 1\)"),
    case("soql xi array", lambda: soql(xi=np.array([0.1, 0.2])), r"xi must be a number in \[0, 1\), got array"),
    case("soql decay adaptive", lambda: soql(mu="adaptive", unplayed="decay"), r'"decay" is for a constant mu, got'),
    case("soql decay 1/n", lambda: soql(mu="1/n", unplayed="decay"), r'"decay" is for a constant mu, got'),
    case("soql name", lambda: soql(varteta=0.5), r"soql has no parameter 'varteta'; did you mean 'vartheta'\?"),
    case("soql tau", lambda: soql(tau=0.5), r"soql has no parameter 'tau'"),
    case("strategies text", lambda: soql(initial_strategies="uniform"), r"initial_strategies must be a number, or"),
    case("strategies nan", lambda: soql(initial_strategies=[[NAN, 1.0]]), r"initial_strategies\[0\]\[0\] must be fin"),
    case(
        "strategies negative",
        lambda: begun(soql, initial_strategies=[[0.5, 0.5], [1.5, -0.5]]),
        r"initial_strategies of player 1 must be probabilities that sum to 1, got \[1\.5, -0\.5\]",
    ),
    case(
        "strategies' sum",
        lambda: begun(soql, initial_strategies=[[0.5, 0.4], [0.5, 0.5]]),
        r"initial_strategies of player 0 must be probabilities that sum to 1",
    ),
    case(
        "strategies' shape",
        lambda: begun(soql, initial_strategies=[[0.5, 0.5]]),
        r"initial_strategies must have one entry for each of 2 players, got 1",
    ),
    case("score discount above", lambda: score(discount=1.5), r"from 0 to 1, one over the largest step, got 1\.5"),
    case("score discount 4", lambda: score(mu=0.25, discount=4.5), r"from 0 to 4, one over the largest .*got 4\.5"),
    case("score discount bool", lambda: score(discount=True), r"discount must be a finite number .*got True"),
    case("score choice", lambda: score(choice="gibs"), r"choice must be one of .*got 'gibs'; did you mean 'gibbs'\?"),
    case("score q", lambda: score(choice={"kind": "tsallis", "q": 0}), r"q must be a number in \(0, 1\]"),
    case("score q of gibbs", lambda: score(choice={"kind": "gibbs", "q": 0.5}), r"gibbs penalty has no parameter 'q'"),
    case("score mu", lambda: score(mu="2/n"), r"a step must lie between 0 and 1"),
    case("name", lambda: rule("sooql"), r"rule must be one of .*got 'sooql'; did you mean 'soql'\?"),
    case(
        "scores of others",
        lambda: pt.begin(dilemma(), rule("lll", tau=1)).scores,
        r"lll keeps no scores; ql and score and soql",
    ),
    case("strategies of others", lambda: pt.begin(dilemma(), rule("lll", tau=1)).strategies, r"lll keeps no strategie"),
]


@pytest.mark.parametrize(("call", "message"), CASES)
def test_bad_parameters(call, message):
    refuses(call, InvalidRule, message)


def test_vartheta_below_mu_is_asked_for():
    with pytest.warns(AssumptionBroken, match="ask for vartheta < mu < 1, got vartheta 0.5 and mu 0.3"):
        soql(mu=0.3)
    with pytest.warns(AssumptionBroken, match="vartheta 0.5 and mu 0.5"):
        soql(mu=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        soql(mu=0.51)
        soql(mu="adaptive")
        soql(mu="1/n")


def test_what_is_allowed_at_the_ends():
    assert ql(mu=1).mu == 1.0
    assert soql(xi=0).xi == 0.0
    assert score(mu=0.25, discount=4).discount == 4.0
    assert score(discount=0).discount == 0.0
    for one in (
        ql(initial=[[0, 1], 2]),
        soql(initial_strategies=[[0.5, 0.5], [1, 0]], mu="n^-0.6"),
        score(choice="burg"),
    ):
        assert rule_from(json.loads(one.describe())) == one


# Saved runs ---------------------------------------------------------------------------------------------

SAVED = {
    "ql": {"tau": 0.4},
    "ql decay": {"tau": 0.4, "mu": 0.2, "unplayed": "decay"},
    "soql": {},
    "soql decay": {"unplayed": "decay"},
    "score": {"tau": 0.4, "order": 2},
}
TAMPERED = [
    ("ql", "score", NAN),
    ("ql", "score", INF),
    ("ql", "older", NAN),
    ("ql", "visits", -1),
    ("ql", "visits", 41),
    ("ql decay", "fade", NAN),
    ("ql decay", "fade", 0.5),
    ("ql decay", "fade", -1e6),  # before the clock by so much that values overflow
    ("ql decay", "clock", NAN),
    ("ql decay", "clock", 1e4),
    ("soql", "score", -INF),
    ("soql", "score", 1.7e308),  # beyond what sums of scores can hold
    ("soql", "weight", NAN),
    ("soql", "weight", -0.1),
    ("soql", "weight", 1.7e308),
    ("soql", "since", 41),
    ("soql", "since", -1),
    ("soql decay", "visits", -1),
    ("soql decay", "visits", 41),
    ("soql decay", "stage", NAN),
    ("score", "stage", NAN),
    ("score", "older", INF),
    ("score", "since", 41),
]


@pytest.mark.parametrize(
    ("name", "array", "value"),
    TAMPERED,
)
def test_tampered_memories_are_refused(tmp_path, monkeypatch, name, array, value):
    monkeypatch.undo()  # these do play
    run = pt.begin(games.normal_form(), rule(name.split()[0], **SAVED[name]), 1, compiled=False).advance(40)
    path = run.save(tmp_path / "run.npz")
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    arrays[f"memory.{array}"].flat[0] = value
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(InvalidRun):
        pt.load(path, games.normal_form())


@pytest.mark.parametrize("name", SAVED)
def test_memories_of_another_size_or_type_are_refused(tmp_path, monkeypatch, name):
    monkeypatch.undo()
    run = pt.begin(games.normal_form(), rule(name.split()[0], **SAVED[name]), 1, compiled=False).advance(40)
    path = run.save(tmp_path / "run.npz")
    pt.load(path, games.normal_form())
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    for change in (arrays["memory.score"][:-1], arrays["memory.score"].astype(str), None):
        changed = {key: value for key, value in {**arrays, "memory.score": change}.items() if value is not None}
        with path.open("wb") as file:
            np.savez(file, **changed)
        with pytest.raises(InvalidRun):
            pt.load(path, games.normal_form())


def test_a_strategy_must_sum_to_1_in_a_saved_run(tmp_path, monkeypatch):
    monkeypatch.undo()
    path = pt.begin(games.normal_form(), rule("soql"), 1, compiled=False).advance(5).save(tmp_path / "run.npz")
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    arrays["memory.weight"][0] += 0.01
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(InvalidRun, match="a strategy does not sum to 1"):
        pt.load(path, games.normal_form())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0.5, "initial_strategies must have a list of numbers, one per action, for each player, got 0.5"),
        ([0.9, 0.1, 0.2], "initial_strategies of player 0 must be 2 numbers, one per action, got 0.9"),
    ],
)
def test_strategies_are_given_per_action(given, message):
    with pytest.raises(InvalidRule, match=message):
        pt.begin(games.normal_form(), rule("soql", initial_strategies=given), 1)


def test_a_name_where_a_rule_is_wanted():
    with pytest.raises(InvalidRule, match=r'expected a rule such as rule\("soql"\), got .soql.'):
        pt.run(games.normal_form(), "soql", 10)
