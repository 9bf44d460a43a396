"""Bad rules, schedules and revision probabilities: clear errors before anything runs."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRule
from potentia.rules import Constant, Geometric, Groups, Logarithmic, Piecewise, rule, rule_from, schedule_from
from tests.unit.bad import (
    INF,
    NAN,
    begins_with,
    case,
    dilemma,
    nothing_plays,  # noqa: F401
    p_sblll,
    refuses,
    slll,
)

# Rules ------------------------------------------------------------------------------------------------

TAUS = [
    case("zero", lambda: rule("lll", tau=0), r"tau must be finite and > 0, got 0\.0; .*best-response"),
    case("negative", lambda: rule("blll", tau=-1.0), r"tau must be finite and > 0, got -1\.0; .*best-response"),
    case("nan", lambda: rule("lll", tau=NAN), r"tau must be finite and > 0, got nan"),
    case("inf", lambda: rule("lll", tau=INF), r"tau must be finite and > 0, got inf"),
    case("huge integer", lambda: rule("lll", tau=10**400), r"tau must be finite"),
    case("text", lambda: rule("lll", tau="0.1"), r"tau must be a number, a schedule or .auto., got '0\.1'"),
    case("bool", lambda: rule("lll", tau=True), r"tau must be a number, a schedule or .auto., got True"),
    case("none", lambda: rule("lll", tau=None), r"tau must be a number, a schedule or .auto., got None"),
    case("complex", lambda: rule("lll", tau=np.complex128(1)), r"tau must be a number"),
    case("list", lambda: rule("lll", tau=[0.1]), r"tau must be .*got \[0\.1\]"),
]


@pytest.mark.parametrize(("call", "message"), TAUS)
def test_bad_temperature(call, message):
    refuses(call, InvalidRule, message)


REVISIONS = [
    case("zero", lambda: p_sblll(0), r"revision must be a number in \(0, 1\], got 0"),
    case("negative", lambda: slll(-0.5), r"revision must be a number in \(0, 1\], got -0\.5"),
    case("above one", lambda: p_sblll(1.5), r"revision must be a number in \(0, 1\], got 1\.5"),
    case("nan", lambda: p_sblll(NAN), r"revision must be a number in \(0, 1\], got nan"),
    case("bool", lambda: p_sblll(True), r"revision must be a number in \(0, 1\], .*got True"),
    case("text", lambda: p_sblll("0.3"), r"revision must be a number .*got '0\.3'"),
    case("none", lambda: p_sblll(None), r"revision must be a number .*got None"),
    case("mapping", lambda: p_sblll({"a": 1}), r"revision must be a number .*got \{'a': 1\}"),
    case("empty", lambda: p_sblll([]), r"revision must have one entry per player, got none"),
    case("array of no axes", lambda: p_sblll(np.array(1.3)), r"revision .*1\.3"),
    case("player", lambda: p_sblll([0.5, 1.5]), r"revision of player 1 must be a number in \(0, 1\], got 1\.5"),
    case(
        "player zero",
        lambda: slll(np.array([0.0, 0.5])),
        r"revision of player 0 must be .*, got 0\.0",
    ),
    case("player bool", lambda: slll([0.5, True]), r"revision of player 1 must be a number .*got True"),
    case("action", lambda: p_sblll([[0.5, 0.5], [0.5, 0]]), r"revision of player 1, action 1 must be .*got 0"),
    case("action text", lambda: slll([["a", 0.5]]), r"revision of player 0, action 0 must be a number .*got 'a'"),
    case("mixed", lambda: slll([[0.5, 0.5], 0.5]), r"revision of player 1 must be a list .*got 0\.5"),
    case(
        "groups' sum",
        lambda: slll(Groups([((0,), 0.5), ((1,), 0.4)])),
        r"groups must .*sum to 1, got 0\.9",
    ),
    case("groups, none", lambda: Groups([]), r"groups must have probabilities that sum to 1, got 0"),
    case("group's share", lambda: Groups([((0,), 1.5), ((1,), -0.5)]), r"groups must .*\(0, 1\], got 1\.5 of \(0,\)"),
    case("group's nan", lambda: Groups([((0, 1), NAN)]), r"groups must .*, got nan of \(0, 1\)"),
    case("group negative", lambda: Groups([((-1, 0), 1.0)]), r"groups must name players from 0, got \(-1, 0\)"),
    case("group half a player", lambda: Groups([((0.5,), 1.0)]), r"0\.5"),
    case("group text", lambda: Groups([("01", 1.0)]), r"'01'"),
    case("groups number", lambda: Groups(5), r"groups must be pairs \(players, probability\), got 5"),
    case("vanishing text", lambda: slll({"vanishing": "2"}), r"m must be a finite number > 0, got '2'"),
    case("vanishing and more", lambda: slll({"vanishing": 2, "m": 1}), r"no other entry than 'vanishing', got"),
    case("groups for p-sblll", lambda: p_sblll(Groups([((0,), 1.0)])), r"groups is for slll"),
    case("plain groups for p-sblll", lambda: p_sblll({"groups": [[[0], 1.0]]}), r"groups is for slll"),
    case("plain groups number", lambda: slll({"groups": 3}), r"groups must be pairs .*3"),
    case("plain groups flat", lambda: slll({"groups": [[0, 1.0]]}), r"groups must be pairs"),
    case("plain groups triple", lambda: slll({"groups": [[[0], 0.5, 1]]}), r"groups must be pairs"),
    case("too few players", lambda: begins_with([0.5]), r"revision .*each of 2 players, got 1"),
    case("too many players", lambda: begins_with([0.5] * 3), r"revision .*each of 2 players, got 3"),
    case("too few rows", lambda: begins_with([[0.5, 0.5]]), r"revision .*each of 2 players, got 1"),
    case("actions", lambda: begins_with([[0.5, 0.5], [0.5]]), r"revision of player 1 .*each of 2 actions, got 1"),
    case("group of strangers", lambda: begins_with(Groups([((0, 2), 1.0)])), r"revision names player 2, .*has 2"),
]


@pytest.mark.parametrize(("call", "message"), REVISIONS)
def test_bad_revision(call, message):
    refuses(call, InvalidRule, message)


SCHEDULES = [
    case("rising", lambda: Geometric(0.1, 1.0), r"stop must not exceed start, got start 0\.1 and stop 1\.0"),
    case(
        "rising logarithmic",
        lambda: Logarithmic(0.1, stop=1.0),
        r"stop must not exceed start, got start 0\.1 and stop 1\.0",
    ),
    case("no length", lambda: Geometric(1.0, 0.1).at(0), r"geometric schedule needs steps="),
    case("no length in a run", lambda: pt.begin(dilemma(), rule("lll", tau=Geometric(1, 0.1))), r"needs steps="),
    case("late", lambda: Piecewise([(5, 1.0), (10, 0.1)]), r"points must begin at step 0 .*got steps \[5\.0, 10\.0\]"),
    case("not increasing", lambda: Piecewise([(0, 1.0), (9, 0.5), (9, 0.1)]), r"points .*increase, got .*9\.0, 9\.0"),
    case("nan step", lambda: Piecewise([(0, 1.0), (NAN, 0.5)]), r"points .*nan"),
    case("no points", lambda: Piecewise([]), r"points must begin at step 0"),
    case("tau in points", lambda: Piecewise([(0, 1.0), (9, 0.0)]), r"tau in points must be finite and > 0, got 0\.0"),
    case("points number", lambda: Piecewise(5), r"points must be pairs \(step, tau\), got 5"),
    case("points flat", lambda: Piecewise([0, 1.0]), r"points must be pairs \(step, tau\), got \[0, 1\.0\]"),
    case("constant", lambda: Constant(-1), r"tau must be finite and > 0, got -1"),
    case(
        "kind", lambda: schedule_from({"kind": "linear", "start": 1}), r"kind must be one of .*piecewise.*got 'linear'"
    ),
    case("no kind", lambda: schedule_from({"start": 1.0}), r"kind must be one of .*got None"),
    case("kind's type", lambda: schedule_from({"kind": ["geometric"]}), r"kind must be one of .*got \['geometric'\]"),
    case("missing", lambda: schedule_from({"kind": "geometric", "start": 1.0}), r"tau of kind geometric needs stop="),
    case(
        "unknown",
        lambda: schedule_from({"kind": "constant", "tau": 1, "x": 2}),
        r"tau of kind constant has no .*'x'",
    ),
]


@pytest.mark.parametrize(("call", "message"), SCHEDULES)
def test_bad_schedule(call, message):
    refuses(call, InvalidRule, message)


NAMED_RULES = [
    case("name", lambda: rule("p-sbll", tau=1), r"rule must be one of .*got 'p-sbll'; did you mean 'p-sblll'\?"),
    case("far name", lambda: rule("zzz"), r"rule must be one of adaptive-play, .*slll, soql, got 'zzz'$"),
    case("not a name", lambda: rule(["lll"]), r"rule must be one of .*got \['lll'\]"),
    case("in full", lambda: rule("qlearning", tau=1), r"got 'qlearning'; did you mean 'ql'\?"),
    case("longer", lambda: rule("Second-Order Q-Learning"), r"did you mean 'soql'\?"),
    case("words", lambda: rule("binary log-linear", tau=1), r"did you mean 'blll'\?"),
    case("parameter", lambda: rule("blll", tua=1), r"blll has no parameter 'tua'; did you mean 'tau'\?"),
    case("far parameter", lambda: rule("lll", tau=1, zzz=2), r"lll has no parameter 'zzz' \(it has tau\)"),
    case("missing tau", lambda: rule("lll"), r"lll needs tau="),
    case("missing revision", lambda: rule("slll", tau=1), r"slll needs revision="),
    case("trial", lambda: rule("p-sblll", tau=1, revision=1, trial="both"), r'trial must be "joint" .*got \'both\''),
    case("guard", lambda: rule("p-sblll", tau=1, revision=1, guard=1), r"guard must be True or False, got 1"),
    case("current", lambda: rule("blll", tau=1, include_current="no"), r"include_current must be .*got 'no'"),
    case("ties", lambda: rule("best-response", ties="first"), r'ties must be "uniform" or "stay", got \'first\''),
    case("not a rule", lambda: rule_from("lll"), r"expected a rule .*got 'lll'"),
    case("no rule in a mapping", lambda: rule_from({"tau": 1}), r"expected a rule .*got \{'tau': 1\}"),
    case("not a rule in a run", lambda: pt.run(dilemma(), "lll", 10), r"expected a rule .*got 'lll'"),
]


@pytest.mark.parametrize(("call", "message"), NAMED_RULES)
def test_bad_named_rule(call, message):
    refuses(call, InvalidRule, message)
