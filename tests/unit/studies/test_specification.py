"""From a file or plain data to a checked specification and a plan; changes from the command line."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidSpecification, TooLarge
from potentia.studies.building import belief_from
from potentia.studies.planning import gather, plan
from potentia.studies.specification import Specification, read_specification, specification_from, with_change
from potentia.studies.sweeping import check_number
from potentia.studies.templates import TEMPLATES, write_template

STUDY = {"steps": 100, "seeds": 3, "game": {"name": "ring", "players": 5}, "rule": {"name": "lll", "tau": 0.3}}
TWO_RULES = [{"name": "lll", "tau": 0.1}, {"name": "slll", "label": "all", "tau": 0.2, "revision": 0.5}]


def planned(**changes):
    return plan(specification_from(STUDY | changes))


# Form -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TEMPLATES)
def test_templates_are_valid(kind, tmp_path):
    path = write_template(tmp_path / "study.toml", kind)
    (tmp_path / "payoffs.json").write_text('{"payoffs": [[[4, 0], [3, 3]], [[4, 3], [0, 3]]]}')
    specification, folder = read_specification(path)
    assert plan(specification, folder).points
    with pytest.raises(InvalidSpecification, match=r"study.toml exists"):
        write_template(path, kind)


def test_a_mark_at_the_beginning_is_no_part_of_it(tmp_path):
    """Some editors write one."""
    path = tmp_path / "study.toml"
    path.write_bytes(b'\xef\xbb\xbfsteps = 5\ngame = { name = "ring" }\nrule = { name = "lll" }\n')
    assert read_specification(path)[0].steps == 5


def test_plain_data_and_back():
    found = specification_from(STUDY | {"about": "two\nlines", "every": 1e1, "zip": [], "start": [0] * 5})
    assert specification_from(found.spec()) == found
    assert Specification.from_spec(json.loads(json.dumps(found.spec()))) == found
    with pytest.warns(DeprecationWarning, match=r"use Specification.spec\(\)"):
        assert found.to_dict() == found.spec()
    assert found.every == 10
    assert specification_from(found) is found


@pytest.mark.parametrize(
    ("seeds", "wanted"),
    [
        (3, [0, 1, 2]),
        ({"first": 5, "count": 2}, [5, 6]),
        ([7, 2], [7, 2]),
        (range(4, 6), [4, 5]),
        (np.arange(2), [0, 1]),
    ],
    ids=str,
)
def test_seeds(seeds, wanted):
    assert list(specification_from(STUDY | {"seeds": seeds}).seed_numbers) == wanted


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": "many"}, "steps must be a whole number, got 'many'"),
        ({"steps": True}, "steps must be a whole number, got True"),
        ({"steps": 1.5}, "steps must be a whole number, got 1.5"),
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"steps": 2**70}, r"steps must be below 2\^62"),
        ({"steps": float("nan")}, "steps must be a finite number"),
        ({"stepps": 5}, "unknown key 'stepps'; did you mean 'steps'"),
        ({"seeds": {"cuont": 5}}, "unknown key 'seeds.cuont'; did you mean 'count'"),
        ({"seeds": []}, "at least one run"),
        ({"seeds": [1, 1]}, "seeds must differ"),
        ({"seeds": {"first": 2**62 - 2, "count": 5}}, r"below 2\^62"),
        ({"seeds": "all"}, "seeds must be a number, a list of numbers"),
        ({"seeds": -1}, "seeds.count must be at least 1, got -1"),
        ({"seeds": [0, -1]}, "must be at least 0, got -1"),
        ({"game": []}, "at least one game"),
        ({"rule": 5}, "rule.0 must be a table, got 5"),
        ({"game": "ring"}, "game.0 must be a table, got 'ring'"),
        ({"record": 5}, "record must be a list, got 5"),
        ({"name": ""}, "name must not be that short"),
        ({"name": "two\nlines"}, "name must be a text on one line"),
        ({"zip": [["rule.tau"]]}, "must not be that short"),
        ({"start": [0.5]}, "start.0 must be a whole number"),
    ],
)
def test_wrong_form(changes, message):
    with pytest.raises(InvalidSpecification, match=message):
        specification_from(STUDY | changes)


@pytest.mark.parametrize("key", ["steps", "game", "rule"])
def test_what_is_missing_is_named(key):
    with pytest.raises(InvalidSpecification, match=f"^{key} is missing"):
        specification_from({name: part for name, part in STUDY.items() if name != key})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"steps = ", "not TOML"),
        (b"\xff\xfe", "expected TOML in UTF-8"),
        (b"steps = 5\nsteps = 6", "not TOML"),
        (b"x = " + b"[" * 100_000, "not TOML"),
        (b"# " + b"x" * 2_000_000, "at most 1,000,000 bytes"),
        (b"steps = 2024-01-01\n[game]\n[rule]\n", "steps must be a finite number, a text, true or false"),
        (b'steps = 5\n[game]\nname = "ring"\n"play\\ners" = 3\n[rule]\n', "on one line"),
    ],
)
def test_files_that_are_wrong(tmp_path, content, message):
    path = tmp_path / "study.toml"
    path.write_bytes(content)
    with pytest.raises(InvalidSpecification, match=message) as caught:
        read_specification(path)
    assert str(path) in str(caught.value)


def test_files_that_are_none(tmp_path):
    with pytest.raises(InvalidSpecification, match=r"cannot read .*: No such file"):
        read_specification(tmp_path / "none.toml")
    with pytest.raises(InvalidSpecification, match=r"cannot read .*: Is a directory"):
        read_specification(tmp_path)


# Changes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "key", "wanted"),
    [
        ("steps=5", "steps", 5),
        (" steps = 1_000 ", "steps", 1000),
        ("seeds=[4, 5]", "seeds", [4, 5]),
        ("seeds.count=7", "seeds", {"first": 2, "count": 7}),
        ("name=a b", "name", "a b"),
        ("record=welfare", "record", "welfare"),
        ("game.players=[5, 6]", "game", [{"name": "ring", "players": [5, 6]}]),
        ("game.ring.actions=3", "game", [{"name": "ring", "players": 5, "actions": 3}]),
        ("rule.tau=geometric:1:0.1", "rule", [{**table, "tau": "geometric:1:0.1"} for table in TWO_RULES]),
        ("rule.revision=signal", "rule", [TWO_RULES[0], {**TWO_RULES[1], "revision": "signal"}]),
        ("rule.lll.tau={from=1, to=2, count=2}", "rule", [{"name": "lll", "tau": {"from": 1, "to": 2, "count": 2}},
                                                          TWO_RULES[1]]),
        ("rule.all.guard=true", "rule", [TWO_RULES[0], {**TWO_RULES[1], "guard": True}]),
        ("rule.slll.tau=1", "rule", [TWO_RULES[0], {**TWO_RULES[1], "tau": 1}]),
        ("rule.1.tau=1e-3", "rule", [TWO_RULES[0], {**TWO_RULES[1], "tau": 1e-3}]),
        ("belief.name=none", "belief", [{"name": "none"}]),
        ("zip=[[\"rule.tau\", \"rule.revision\"]]", "zip", [["rule.tau", "rule.revision"]]),
    ],
)  # fmt: skip
def test_changes(change, key, wanted):
    before = STUDY | {"rule": TWO_RULES, "seeds": {"first": 2, "count": 3}}
    kept = json.dumps(before)
    assert with_change(before, change)[key] == wanted
    assert json.dumps(before) == kept


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("steps", "a change is KEY=VALUE"),
        ("=5", "a change is KEY=VALUE"),
        ("rule..tau=5", "a change is KEY=VALUE"),
        ("stepps=5", "unknown key 'stepps'; did you mean 'steps'"),
        ("rule=5", "names what to set"),
        ("steps.first=5", "steps has no parts"),
        ("rule.bll.tau=5", "there is no rule 'bll'; did you mean 'lll'"),
        ("rule.7.tau=5", "there is no rule '7'"),
        ("rule.².tau=5", "there is no rule '²'"),
        ("rule.guard=true", "none of the 2 rule tables has 'guard'"),
    ],
)
def test_changes_that_make_no_sense(change, message):
    with pytest.raises(InvalidSpecification, match=message):
        with_change(STUDY | {"rule": TWO_RULES}, change)


def test_changes_of_what_is_no_table():
    with pytest.raises(InvalidSpecification, match="rule must be a table, got 'lll'"):
        with_change(STUDY | {"rule": "lll"}, "rule.tau=5")


# Plans ------------------------------------------------------------------------------------------------


def test_points_are_what_a_user_would_build():
    built = planned(
        game=[{"name": "stag-hunt"}, {"name": "ring", "players": 6}],
        rule=[{"name": "lll", "tau": [0.1, 0.5]}, {"name": "slll", "label": "all", "tau": [0.1, 0.5], "revision": 1.0}],
    )
    assert built.dimensions == (("game",), ("rule",), ("rule.tau",))
    assert [tuple(p.labels.values()) + tuple(p.values.values()) for p in built.points] == [
        (game, rule, tau) for game in ("stag-hunt", "ring") for rule in ("lll", "all") for tau in (0.1, 0.5)
    ]
    assert built.points[5].game.fingerprint() == pt.game("ring", players=6).fingerprint()
    assert built.points[7].rule.spec() == pt.rule("slll", tau=0.5, revision=1.0).spec()
    assert built.names == {"rule.tau": "tau"}


def test_parameters_as_texts_lists_and_tables():
    built = planned(
        game={"name": "stag-hunt"},
        rule=[
            {"name": "slll", "tau": ["geometric:1:0.1", 0.2], "revision": [[0.1, 0.2]]},
            {"name": "p-sblll", "tau": {"kind": "geometric", "start": 1, "stop": 0.1}, "revision": 0.5},
        ],
    )
    assert built.dimensions is None  # the rules vary in different things
    assert built.points[0].rule.spec()["tau"] == built.points[2].rule.spec()["tau"]
    assert built.points[1].rule.spec() == pt.rule("slll", tau=0.2, revision=[0.1, 0.2]).spec()


def test_compositions_are_rules_and_their_words_axes():
    words = {"considers": "joint-trial", "chooses": "metropolis"}
    built = planned(
        game={"name": "stag-hunt"},
        rule=[
            {"who": ["one", "all"], **words, "tau": 0.2},
            {"who": "groups", "groups": "0=0.5;0+1=0.5", "considers": "trial", "chooses": "best"},
            {"name": "mistakes", "who": "all", "tau": 0.2},
        ],
    )
    assert [point.labels["rule"] for point in built.points] == [
        *["joint-trial × metropolis"] * 2,
        "groups × trial × best",
        "mistakes",
    ]
    groups = [((0,), 0.5), ((0, 1), 0.5)]
    assert [point.rule for point in built.points] == [
        pt.rule("metropolis", tau=0.2),
        pt.rule(who="all", **words, tau=0.2),
        pt.rule(who="groups", groups=groups, considers="trial", chooses="best"),
        pt.rule("mistakes", who="all", tau=0.2),
    ]
    with pytest.raises(InvalidSpecification, match=r"rule\.groups must be PLAYER\+PLAYER=PROBABILITY"):
        planned(game={"name": "ring"}, rule={"who": "groups", "groups": "0;1", "considers": "all", "chooses": "best"})


def test_a_revision_by_the_signal():
    built = planned(game={"map": "random:1", "robots": 2}, rule={"name": "p-sblll", "tau": 0.1, "revision": "signal"})
    assert built.points[0].rule.spec() == pt.rule("p-sblll", tau=0.1, revision={"signal": {}}).spec()


def test_texts_are_other_values_than_numbers():
    """The labels look alike; a grid needs the same values."""
    rules = [{"name": "lll", "tau": [0.1, 0.2]}, {"name": "blll", "tau": ["0.1", "0.2"]}]
    assert planned(rule=rules).dimensions is None
    assert planned(rule=[rules[0], {"name": "blll", "tau": [0.1, 0.2]}]).dimensions == (("rule",), ("rule.tau",))


def test_zip_where_one_rule_has_only_one_of_the_two():
    built = planned(
        rule=[{"name": "lll", "tau": [0.1, 0.2]}, {"name": "slll", "tau": [0.3, 0.4], "revision": [0.5, 0.6]}],
        zip=[["rule.tau", "rule.revision"]],
    )
    assert [list(point.values.values()) for point in built.points] == [[0.1], [0.2], [0.3, 0.5], [0.4, 0.6]]


def test_names_that_are_taken():
    built = planned(game={"name": "random-potential", "seed": [1, 2], "players": [2, 3]})
    assert built.names == {"game.seed": "game_seed", "game.players": "players"}


def test_several_maps_are_an_axis():
    built = planned(game={"map": ["random:1", "random:2"], "robots": 2})
    assert [point.values for point in built.points] == [{"game.map": "random:1"}, {"game.map": "random:2"}]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rule": {"name": "lll", "tau": -1}}, "rule.tau must be "),
        ({"rule": {"name": "lll", "tau": [0.1, -1]}}, "rule.tau must be "),
        ({"rule": {"name": "lll", "taw": 1}}, "'taw'; did you mean 'tau'"),
        ({"rule": {"name": "lll", "tau": "warm"}}, "rule.tau must be a number, geometric"),
        ({"rule": {"name": "ll", "tau": 1}}, "did you mean 'lll'"),
        ({"rule": {"tau": 1}}, "rule needs name"),
        ({"rule": [{"name": "lll", "tau": 1}] * 2}, "two rule tables are called 'lll'"),
        ({"rule": {"name": ["lll", "blll"], "tau": 1}}, r"one table \[\[rule\]\] for each"),
        ({"game": {"name": "rng"}}, "did you mean 'ring'"),
        ({"game": {"name": "ring", "players": "five"}}, "players must be an integer of at least 3, got 'five'"),
        ({"game": {"name": "ring", "map": "paper"}}, "got name and map"),
        ({"game": {"players": 5}}, "a game needs one of"),
        ({"game": {"file": "none.json"}}, "there is no such file"),
        ({"game": {"map": "papr"}}, 'map must be "paper"'),
        ({"game": {"map": "random:" + "9" * 5, "robos": 3}}, "did you mean 'robots'"),
        ({"game": {"map": "random:x"}}, "whole numbers"),
        ({"belief": {"name": "mixtur"}}, "did you mean 'mixture'"),
        ({"belief": {"name": "none", "radius": 3}}, "belief none has no parameters"),
        ({"belief": {"name": "mixture", "radius": 3, "communication": {"radius": 3}}}, "communication say the same"),
        ({"belief": {"name": "constant", "comunication": {"radius": 3}}}, "constant has no parameter 'comunication'"),
        ({"record": ["potental"]}, "did you mean 'potential'"),
        ({"record": ["welfare", "welfare"]}, "each recorder once"),
        ({"start": [0, 1]}, "start must be 5 integers"),
        ({"zip": [["rule.tau", "game.players"]]}, "'rule.tau', which does not vary"),
        ({"rule": {"name": "lll", "tau": [0.1, 0.2]}, "game": {"name": "ring", "players": [5, 6, 7]},
          "zip": [["rule.tau", "game.players"]]}, "as many values each: "
          "rule.tau has 2, game.players has 3"),
        ({"rule": {"name": "lll", "tau": 0.1, "label": "a\nb"}}, "on one line"),
        ({"rule": {"name": "lll", "tau": "relative:" * 1000}}, "at most 1,000 characters"),
        ({"rule": {"name": "lll", "tau": 0.1, "x": [[[[[[[[[1]]]]]]]]]}}, "nested too deeply"),
    ],
)  # fmt: skip
def test_plans_that_make_no_sense(changes, message):
    with pytest.raises(InvalidSpecification, match=message) as caught:
        planned(**changes)
    assert len(str(caught.value).splitlines()) == 1


def test_a_belief_names_who_hears_whom_by_a_radius_or_in_full():
    whole = belief_from({"name": "mixture", "communication": {"radius": 5, "novice": 1.5, "news": 2}})
    assert whole.communication == pt.beliefs.Communication(5, 1.5, 2)
    assert belief_from({"name": "mixture", "radius": 5}).communication == pt.beliefs.Communication(5)


def test_a_point_that_does_not_fit_is_named():
    with pytest.raises(InvalidSpecification, match=r"one entry for each of 6 players, got 2 \(players=6, rev"):
        planned(game={"name": "ring", "players": [6, 7]}, rule={"name": "slll", "tau": 0.1, "revision": [[0.1, 0.2]]})


# Sizes ------------------------------------------------------------------------------------------------


def test_more_runs_than_anybody_means():
    many = specification_from(
        STUDY | {"seeds": 10**6, "rule": {"name": "lll", "tau": {"from": 1, "to": 1000, "step": 1}}}
    )
    with pytest.raises(
        InvalidSpecification, match=r"1,000,000,000 runs: 1,000 points \(1,000 of rule.tau\) × 1,000,000"
    ):
        check_number(many, many=False)
    check_number(many, many=True)


def test_many_points_of_few_seeds_are_many_runs_too():
    specification = specification_from(
        STUDY | {"seeds": 101, "rule": {"name": "lll", "tau": [k / 1e3 for k in range(1, 1001)]}}
    )
    with pytest.raises(InvalidSpecification, match=r"this makes 101,000 runs: 1,000 points"):
        check_number(specification, many=False)


def test_games_of_one_name_are_told_apart_by_their_parameters():
    games = [{"name": "ring", "label": str(k), "players": k} for k in (4, 6)]
    assert [point.game.num_players for point in planned(game=games).points] == [4, 6]


def test_more_points_than_there_may_be():
    wide = {"from": 0.001, "to": 1, "count": 1000}
    with pytest.raises(InvalidSpecification, match=r"at most 100,000 points, got 1,000,000 \(1,000 of rule.tau × "):
        planned(rule={"name": "slll", "tau": wide, "revision": wide})


def test_more_tables_than_there_may_be():
    """Not even listed: there would be a thousand million pairs."""
    rules = [{"name": "lll", "label": f"r{k}", "tau": 0.1} for k in range(30_000)]
    games = [{"name": "ring", "label": f"g{k}"} for k in range(30_000)]
    specification = specification_from(STUDY | {"rule": rules, "game": games})
    with pytest.raises(InvalidSpecification, match="at most 100,000 points, got 900,000,000 or more"):
        check_number(specification, many=False)


def test_a_run_that_cannot_fit():
    with pytest.raises(TooLarge, match=r"one run with about 10.* records needs"):
        planned(steps=10**15, every=1)


# Files ------------------------------------------------------------------------------------------------


def test_files_are_gathered_by_content(tmp_path):
    payoffs = b'{"payoffs": [[[4, 0], [3, 3]], [[4, 3], [0, 3]]]}'
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(payoffs)
    long = tmp_path / ("x" * 240 + ".json")
    long.write_bytes(payoffs + b" ")
    specification = specification_from(STUDY | {"game": [{"file": "a.json"}, {"file": "b.json"}, {"file": long.name}]})
    kept, contents = gather(specification, tmp_path)
    assert [table["label"] for table in kept.game] == ["a.json", "b.json", long.name]
    assert sorted(contents.values()) == sorted([payoffs, payoffs, payoffs + b" "])
    assert all(len(name) < 100 for name in contents)
    for table in kept.game:
        (tmp_path / table["file"]).write_bytes(contents[table["file"]])
    assert [p.labels for p in plan(kept, tmp_path).points] == [p.labels for p in plan(specification, tmp_path).points]


def test_files_that_cannot_be_gathered(tmp_path):
    for name, message in (("none.json", "No such file"), (".", "is not a file"), ("/dev/zero", "is not a file")):
        with pytest.raises(InvalidSpecification, match=message):
            gather(specification_from(STUDY | {"game": {"file": name}}), tmp_path)


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "study.toml")
    with pytest.raises(InvalidSpecification, match="is not a regular file"):
        read_specification(tmp_path / "study.toml")


def test_the_runs_of_a_plan_are_its_points_times_its_seeds():
    assert planned(rule={"name": "lll", "tau": [0.1, 0.2]}, seeds=[4, 1, 7, 9]).num_runs == 8
