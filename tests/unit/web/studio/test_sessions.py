"""Sessions, messages and links without a network: what is played, what is refused, what comes back."""

from __future__ import annotations

import base64
import json
import random
import subprocess
import sys
import zlib

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun, InvalidSpecification
from potentia.games import World
from potentia.web.studio import exports, links
from potentia.web.studio.answers import Studio
from potentia.web.studio.interventions import Logged
from potentia.web.studio.messages import LARGEST, read_message
from potentia.web.studio.session import Session, news_of
from potentia.web.studio.starts import game_of, read_start, table_of

GAME = {"map": "random:2", "robots": 3, "delta": 1.5, "flags": False}
RULES = ({"rule": "blll", "tau": 0.001}, {"rule": "p-sblll", "tau": 0.001, "revision": 0.3})


def start_of(*rules, **changes):
    return read_start({"game": GAME, "rules": list(rules or RULES), "seed": 1, "steps": 200} | changes)


def played(session, step):
    while not session.play(step, 1.0):
        pass
    return session


def said(studio, **message):
    return studio.answer(read_message(json.dumps(message)))


def scene_header(studio):
    (scene,) = said(studio, type="hello")
    return json.loads(scene[16 : 16 + int.from_bytes(scene[12:16], "little")])


def test_runs_side_by_side_are_those_of_the_library():
    session = played(Session(start_of()), 60)
    for lane, rule in zip(session.lanes, RULES, strict=True):
        run = pt.begin(game_of(GAME), rule, 1, horizon=200).advance(60)
        assert np.array_equal(lane.back_to(60).profile, run.profile)


def test_a_change_at_the_start_is_another_start_and_later_an_intervention():
    session = Session(start_of())
    session.intervene({"kind": "change", "tau": 0.5}, 0, [0])
    assert session.start.rules[0]["tau"] == 0.5
    assert session.log == ()
    played(session, 10).intervene({"kind": "change", "tau": 0.1}, 10)
    assert session.start.rules[0]["tau"] == 0.5
    assert [entry.step for entry in session.log] == [10]


def test_other_pages_are_told_what_was_done():
    session = played(Session(start_of()), 30)
    was = session.now
    assert news_of(was, session.now) == ""
    session.intervene({"kind": "fail", "robot": 0}, 20)
    assert "tab, at step 20: robot 0 fails. Undo" in news_of(was, session.now)
    assert "no longer part of the run, at step 20: robot 0 fails" in news_of(session.now, was)
    session.set_rules([RULES[0]])
    assert "other rules" in news_of(was, session.now)
    session.begin(start_of(seed=5))
    assert "began something else" in news_of(was, session.now)


def test_what_is_done_to_one_run_leaves_the_other():
    session = played(Session(start_of()), 30)
    session.intervene({"kind": "change", "tau": 10.0}, 20, [1])
    played(session, 60)
    run = pt.begin(game_of(GAME), RULES[0], 1, horizon=200).advance(60)
    assert np.array_equal(session.lanes[0].back_to(60).profile, run.profile)
    assert [len(lane.log) for lane in session.lanes] == [0, 1]


def test_a_rule_that_is_added_gets_what_was_done_to_all():
    session = played(Session(start_of(RULES[0])), 30)
    session.intervene({"kind": "fail", "robot": 1}, 20)
    session.set_rules(list(RULES))
    played(session, 40)
    assert [entry.step for entry in session.lanes[1].log] == [20]
    log = [{"step": 20, "did": {"kind": "fail", "robot": 1}}]
    other = pt.live(game_of(GAME), RULES[1], 1, steps=40, interventions=log, horizon=200)
    assert np.array_equal(session.lanes[1].back_to(40).positions, other.positions)
    session.set_rules([RULES[1]])
    assert len(session.lanes) == 1
    assert session.lanes[0].first.rule.name == "p-sblll"


def test_undo_and_redo():
    session = played(Session(start_of()), 40)
    session.intervene({"kind": "fail", "robot": 0}, 10)
    assert session.edge == 10
    session.undo()
    assert session.edge == 40
    assert session.log == ()
    session.redo()
    assert [entry.step for entry in session.log] == [10]
    session.undo()
    with pytest.raises(InvalidRun, match="nothing to undo"):
        session.undo()


def test_a_link_holds_all_of_it():
    session = played(Session(start_of()), 40)
    session.intervene({"kind": "wall", "cells": [[0, 0]]}, 25)
    played(session, 50)
    state = links.read("http://127.0.0.1:1/?token=x#" + links.written(session.start, session.log, 50))
    again = Session(state.start, None, tuple(state.log), state.step)
    assert [lane.back_to(50).positions.tolist() for lane in again.lanes] == [
        lane.back_to(50).positions.tolist() for lane in session.lanes
    ]


def test_what_lies_beyond_the_planned_length_comes_back():
    session = played(Session(start_of(steps=30)), 30)
    session.extend()
    played(session, 50)
    session.intervene({"kind": "move", "robot": 0, "cell": [3, 3]}, 40)
    played(session, 50)
    state = links.read(links.written(session.start, session.log, 50))
    again = Session(state.start, None, tuple(state.log), state.step)
    assert (again.edge, again.log) == (50, session.log)
    assert [lane.positions.tolist() for lane in again.lanes] == [lane.positions.tolist() for lane in session.lanes]
    assert Session(state.start, None, (), 50).edge == 50


def test_a_link_that_takes_long_is_open_at_once_and_does_what_was_done_on_the_way():
    done = Session(start_of(), None, (), 9)
    done.intervene({"kind": "fail", "robot": 0}, 4)
    played(done, 9).intervene({"kind": "fail", "robot": 1}, 9)
    studio = Studio(Session(start_of(RULES[0])))
    far = Logged(step=9_000_000, did={"kind": "fail", "robot": 2}, lanes=None)
    studio.session.open(start_of(), [*done.log, far], 9_000_000)
    assert (studio.session.edge, studio.session.log) == (0, ())
    told = links.read(scene_header(studio)["link"])
    assert told.log == [*done.log, far]  # nothing is lost where the studio goes away meanwhile
    while studio.session.edge < 9:
        known = [lane.step for lane in studio.session.lanes]
        said(studio, type="more", version=studio.session.version, known=known, until=9)
    assert studio.session.log == done.log
    assert scene_header(studio)["log"][-1]["text"] == "robot 1 fails"
    studio.session.set_rules([dict(RULES[1])])
    assert [entry.step for entry in studio.session.now.ahead] == [9_000_000]
    studio.session.intervene({"kind": "fail", "robot": 0}, 2)
    assert studio.session.now.ahead == ()


def test_what_a_link_says_and_cannot_be_done_is_told_once_and_left_out():
    studio = Studio(Session(start_of(RULES[0])))
    fail = [{"step": step, "did": {"kind": "fail", "robot": robot}} for step, robot in ((3, 0), (5, 99), (9, 1))]
    said(studio, type="open", link=forged({"start": {"game": GAME, "rules": [RULES[0]]}, "log": fail, "step": 20}))

    def more():
        known = [lane.step for lane in studio.session.lanes]
        return said(studio, type="more", version=studio.session.version, known=known, until=20)[0]

    assert "at step 5 cannot be done: there is no robot 99" in json.loads(more())["text"]
    for _ in range(2):
        assert isinstance(more(), bytes)
    assert (studio.session.edge, [entry.step for entry in studio.session.log]) == (20, [3])


def test_a_link_that_plans_beyond_the_longest_run_is_a_sentence():
    late = {"step": 2**52, "did": {"kind": "fail", "robot": 0}}
    link = forged({"start": {"game": GAME, "rules": [RULES[0]]}, "log": [late], "step": 5})
    with pytest.raises(InvalidRun, match="done at a step up to 10,000,000"):
        links.read(link)


def test_a_saved_run_is_not_begun_anew_by_a_change_before_it(tmp_path):
    game = game_of(GAME)
    saved = pt.begin(game, pt.rule(**{"name": "blll", "tau": 0.001}), 1).advance(20)
    session = Session(start_of(RULES[0]), game, saved=saved)
    with pytest.raises(InvalidRun, match="20"):
        session.intervene({"kind": "change", "tau": 0.5}, 0)


def test_no_optimum_is_drawn_that_is_none():
    for more in ({"events": ["arrive 10"]}, {"map": "paper", "drift": {"kind": "shift", "velocity": [0.01, 0]}}):
        studio = Studio(Session(start_of(RULES[0], game=GAME | more)))
        with pytest.raises(InvalidRun, match="where the map changes or robots arrive"):
            studio.find_optimum()


def test_the_optimum_is_of_the_map_and_the_robots_of_the_step():
    studio = Studio(played(Session(start_of(RULES[0], game=GAME | {"robots": 2})), 60))
    studio.session.intervene({"kind": "fail", "robot": 0}, 20)
    played(studio.session, 60).intervene({"kind": "paint", "cells": [[3, 3]], "worth": 50}, 40)
    played(studio.session, 60)
    for step, since, until in ((10, 0, 20), (30, 20, 40), (40, 40, None)):
        told = json.loads(said(studio, type="optimum", step=step)[0])["text"]
        line = studio.recordings()[0].header["optimum"]
        game = studio.session.lanes[0].at_step(step).game.at(step)
        assert game.num_players == (2 if step == 10 else 1)
        assert line["value"] == pytest.approx(pt.analysis.optimum(game).value)
        assert (line["since"], line["until"]) == (since, until)
        assert f"{line['value']:.6g}" in told
    studio.session.intervene({"kind": "change", "tau": 0.1}, 50)
    assert studio.recordings()[0].header["optimum"] == line
    studio.session.undo()
    studio.session.undo()
    assert studio.recordings()[0].header["optimum"] is None


def test_every_scene_tells_a_link_to_which_a_page_adds_its_step():
    studio = Studio(played(Session(start_of()), 40))
    studio.session.intervene({"kind": "fail", "robot": 0}, 25)
    told = links.read(scene_header(studio)["link"] + "&step=47")
    assert (told.log, told.step) == (list(studio.session.log), 47)
    assert links.read(scene_header(studio)["link"]).step == 25
    for step in ("", "4.5", "-1", "9" * 30):
        with pytest.raises(InvalidRun, match="there must be a step" if step else "link"):
            links.read(("" if not step else links.written(start_of(), (), 10)) + "&step=" + step)


def test_a_map_of_ones_own_is_held_in_the_link():
    worth = np.random.default_rng(0).random((6, 7))
    world = pt.games.World(worth, blocked=worth > 0.97, cell_size=0.5, targets=[(1, 1)], name="yard")
    game = pt.games.Coverage(world, 3, [1.0, 1.5, 2.0], reach=2.0, K=0.1, flags=False)
    again = game_of(table_of(game))
    assert again.describe() == game.describe()
    assert np.array_equal(again.world.worth, world.worth)
    assert np.array_equal(again.world.blocked, world.blocked)
    assert again.world.cell_size == 0.5
    a, b = (pt.run(one, RULES[0], 50, 2, compiled=False).final for one in (game, again))
    assert np.array_equal(a, b)


@pytest.mark.parametrize("cut", [1, 3, 20, 60])
def test_a_link_that_was_cut_or_changed_is_a_sentence(cut):
    link = links.written(start_of(), (), 10)
    for broken in (link[:-cut], link[:cut] + link[cut + 1 :], link.replace(link[30], "A" if link[30] != "A" else "B")):
        with pytest.raises(InvalidRun, match=r"this (link|is no link)"):
            links.read(broken)


def forged(table):
    content = zlib.compress(json.dumps(table).encode())
    return links.PREFIX + base64.urlsafe_b64encode(links._sum(content) + content).decode().rstrip("=")


@pytest.mark.parametrize(
    "table",
    [
        {"map": "/etc/passwd.csv"},
        {"file": "payoffs.json"},
        {"map": "paper", "blocked": "walls.png"},
        {"map": "paper", "drift": "flow.npy"},
        {"name": "os.system"},
        {"import": "evil.py"},
        {"map": {"columns": 10_000, "rows": 10_000, "worth": ""}},
        {"map": {"columns": 3, "rows": 3, "worth": "AAAA"}},
        {"payoffs": "x"},
    ],
)
def test_a_link_names_no_file_and_no_code(table):
    link = forged({"start": {"game": table, "rules": [RULES[0]]}, "step": 5})
    studio = Studio(Session(start_of()))
    before = studio.session.now
    (answer,) = said(studio, type="open", link=link)
    assert json.loads(answer)["type"] == "problem"
    assert studio.session.now is before


@pytest.mark.parametrize("name", ["other.csv", "/etc/passwd", "nowhere"])
def test_a_map_that_is_typed_is_no_file_and_the_way_to_open_one_is_told(name):
    (told,) = said(Studio(Session(start_of())), type="begin", game={"map": name})
    wanted = (
        f'map must be "paper" or "random:SEED" here; maps from files are opened by: potentia studio FILE, got {name!r}'
    )
    assert json.loads(told)["text"] == wanted


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"type": "begin", "seed": 1.5}, "seed must be a whole number, got 1.5"),
        ({"type": "begin", "game": [1]}, "game must be a table of names and values, got [1]"),
        (
            {"type": "intervene", "step": 1, "did": {"kind": "change", "revision": 7}},
            "revision must be at most 1, got 7",
        ),
        ({"type": "rules", "rules": []}, "rules must have at least 1, got 0"),
        ([], "a message cannot be read: it must be a table of names and values, got []"),
    ],
)
def test_what_is_wrong_with_a_message_is_in_peoples_words(message, said):
    with pytest.raises(InvalidRun) as caught:
        read_message(json.dumps(message))
    assert str(caught.value) == said


@pytest.mark.parametrize("link", ["", "#step=4", "s2.AAAA", "s1.", "s1.###", "s1." + "A" * 50])
def test_what_is_no_link(link):
    with pytest.raises(InvalidRun, match=r"link"):
        links.read(link)


def test_a_map_that_no_page_shows_is_a_sentence():
    big = pt.games.Coverage(pt.games.World(np.ones((10, 10))), 2)
    assert table_of(big)
    with pytest.raises(InvalidSpecification, match="up to 4,000,000 cells, and this one has"):
        game_of({"map": {"columns": 10_000, "rows": 10_000, "worth": ""}, "robots": 2})


def test_a_command_where_nothing_was_done_and_a_link_where_something_was():
    session = played(Session(start_of(RULES[0])), 200)
    wanted = "potentia cover random:2 --rule blll --tau 0.001 --robots 3 --delta 1.5 --no-flags --steps 200 --seed 1"
    assert exports.as_command(session, 200) == f"{wanted} --runs 1"
    session.intervene({"kind": "fail", "robot": 0}, 10)
    assert exports.as_command(session, 10).startswith("potentia studio '#s1.")
    unsaid = Session(start_of(RULES[0], game={"map": "paper", "robots": 3}), None, (), 200)
    assert " --flags " in exports.as_command(unsaid, 200)  # of Coverage, and not of the command
    rough = World(np.random.default_rng(0).random((200, 200)))
    large = Session(start_of(RULES[0], game=table_of(pt.games.Coverage(rough, 2))))
    with pytest.raises(InvalidRun, match="a command has up to 120,000 letters"):
        exports.as_command(large, 0)


@pytest.mark.parametrize("table", [{"map": "paper"}, {"map": "paper", "robots": 2}])
def test_python_plays_as_many_robots_as_were_played(table):
    session = Session(start_of(RULES[0], game=table))
    space = {}
    exec(exports.as_python(session, 0), space)
    assert space["runs"]["blll"].positions.tolist() == session.lanes[0].positions.tolist()


@pytest.mark.parametrize(
    "table",
    [
        {"payoffs": [[[0, 3.5], [2, 2]], [[2, 3], [2, 0]]], "players": ["Ann", "Bob"], "title": "meeting"},
        table_of(pt.games.Coverage(World(np.ones((5, 6)), blocked=np.arange(30).reshape(5, 6) == 7), 2)),
    ],
    ids=["payoffs", "a map that is held"],
)
def test_python_that_was_copied_runs_in_a_fresh_interpreter(table):
    session = played(Session(start_of(RULES[0], game=table)), 30)
    program = [sys.executable, "-c", exports.as_python(session, 30)]
    done = subprocess.run(program, check=False, capture_output=True, text=True)
    lane = session.lanes[0]
    shown = lane.positions if session.on_map else lane.profile
    assert (done.stdout, done.stderr) == (f"blll 30 {shown.tolist()}\n", "")


def test_a_specification_comes_back(tmp_path):
    session = played(Session(start_of()), 30)
    session.intervene({"kind": "fail", "robot": 0}, 12)
    path = tmp_path / "studio.json"
    path.write_text(exports.as_specification(session, 12))
    state = links.read_file(path)
    assert (state.start, state.log, state.step) == (session.start, list(session.log), 12)


def test_what_is_no_longer_part_of_the_run_is_told_to_who_did_it():
    studio = Studio(played(Session(start_of()), 40))
    for kind, more, step in (("wall", {"cells": [[0, 0]]}, 20), ("fail", {"robot": 1}, 30)):
        assert "text" not in json.loads(said(studio, type="intervene", did={"kind": kind, **more}, step=step)[0])
        played(studio.session, 40)
    told = "The wall at step 20 and the failure at step 30 are no longer part of the run; undo brings them back."
    for step in (10, 0):
        (answer,) = said(studio, type="intervene", did={"kind": "change", "tau": 0.5}, step=step)
        assert json.loads(answer)["text"] == told
        studio.session.undo()
    assert len(studio.session.log) == 2


def test_a_wall_goes_round_robots_of_all_runs_and_says_so():
    session = played(Session(start_of()), 30)
    (first, *_), (second, *_) = (lane.positions.tolist() for lane in session.lanes)
    free = next([x, 0] for x in range(40) if not any([x, 0] in lane.positions.tolist() for lane in session.lanes))
    told = session.intervene({"kind": "wall", "cells": [free, second]}, 30)
    assert told == f"The wall leaves out ({second[0]}, {second[1]}), where robot 0 of p-sblll is."
    assert session.log[-1].did.cells == [free]
    with pytest.raises(InvalidRun, match="robot 0 of blll stands on a cell that would be a wall"):
        session.intervene({"kind": "wall", "cells": [first]}, 30)
    with pytest.raises(InvalidRun, match="no wall was drawn: these cells are walls already"):
        session.intervene({"kind": "wall", "cells": [free]}, 30)
    with pytest.raises(InvalidRun, match="nothing was erased"):
        session.intervene({"kind": "erase", "cells": [[1, 1]]}, 30)
    with pytest.raises(InvalidRun, match=r"^in blll: there is no robot 9"):
        session.intervene({"kind": "fail", "robot": 9}, 30)
    assert len(session.log) == 1


def test_a_wall_right_across_is_refused_in_peoples_words():
    blank = World(np.ones((5, 7)))
    start = table_of(pt.games.Coverage(blank, 2, start=[(0, 0), (6, 4)]))
    session = Session(start_of(RULES[0], game=start))
    with pytest.raises(InvalidRun, match=r"would cut the map into parts, and robots could not .*; leave a gap$"):
        session.intervene({"kind": "wall", "cells": [[3, y] for y in range(5)]}, 0)


def test_changes_at_one_step_are_one():
    session = played(Session(start_of()), 40)
    for more in ({"tau": 0.3}, {"revision": 0.5}, {"tau": 0.2}):
        session.intervene({"kind": "change"} | more, 20, [1])
    (entry,) = session.log
    assert (entry.did.tau, entry.did.revision) == (0.2, 0.5)
    again = pt.live(game_of(GAME), RULES[1], 1, steps=40, interventions=session.log, horizon=200)
    assert np.array_equal(played(session, 40).lanes[1].profile, again.profile)
    session.intervene({"kind": "change", "rule": {"rule": "lll", "tau": 0.1}}, 20, [1])
    assert session.log[0].did.tau is None
    session.intervene({"kind": "change", "tau": 0.1}, 20, [0])
    assert len(session.log) == 2
    session.undo()
    session.undo()
    assert (session.log, session.edge) == ((), 40)


# Messages -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x", "JSON"),
        ("[" * 100_000, "JSON|deep"),
        ('{"type": "more"}', "known|version"),
        ('{"type": "intervene", "step": 1, "did": {"kind": "change", "tau": NaN}}', "finite, got NaN"),
        ('{"type": "intervene", "step": 1, "did": {"kind": "change", "tau": 1e999}}', "finite"),
        ('{"type": "intervene", "step": 1.5, "did": {"kind": "fail", "robot": 1}}', "step"),
        ('{"type": "intervene", "step": true, "did": {"kind": "fail", "robot": 1}}', "step"),
        ('{"type": "eval", "code": "1"}', "type"),
        ('{"type": "undo", "more": 1}', "more"),
        (" " * (LARGEST + 1), "at most 4,000,000 bytes"),
    ],
)
def test_messages_that_are_none(text, told):
    with pytest.raises(InvalidRun, match=told):
        read_message(text)


def test_a_thousand_fuzzed_messages_leave_the_run_as_it_was():
    studio = Studio(played(Session(start_of(RULES[0])), 20))
    before = studio.session.now.lanes[0].back_to(20).positions.tolist()
    draw = random.Random(4)
    good = [
        {"type": "hello"},
        {"type": "more", "version": 0, "known": [20], "until": 21},
        {"type": "intervene", "step": 5, "did": {"kind": "paint", "cells": [[1, 1]], "worth": 0.5}},
        {"type": "intervene", "step": 5, "did": {"kind": "change", "rule": {"rule": "lll", "tau": 0.1}}},
        {"type": "rules", "rules": [{"rule": "lll", "tau": 0.1}]},
        {"type": "take", "what": "link", "step": 9},
        {"type": "open", "link": links.written(start_of(), (), 3)},
        {"type": "begin", "seed": 4},
        {"type": "solve", "question": {}},
    ]
    odd = [None, True, -1, 1e300, 2**70, "", "x" * 50, [], {}, [[[]]], {"rule": "x"}, "\u0000", 0.5]
    answered = 0
    for _ in range(1000):
        message = json.loads(json.dumps(draw.choice(good)))
        _bend(message, draw, odd)
        text = json.dumps(message)
        if draw.random() < 0.2:
            at = draw.randrange(len(text))
            text = text[:at] + draw.choice('{}[]",:0') + text[at + 1 :]
        try:
            read = read_message(text)
        except InvalidRun:
            continue
        version = studio.session.version
        for answer in studio.answer(read):
            if isinstance(answer, str) and json.loads(answer)["type"] == "problem":
                answered += 1
                assert studio.session.version == version
    assert answered > 20
    while studio.session.can["undo"]:
        studio.session.undo()
    assert studio.session.lanes[0].back_to(20).positions.tolist() == before


def _bend(value, draw, odd):
    """Put something odd somewhere into a message."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = draw.choice(keys)
        if isinstance(value[key], dict | list) and value[key] and draw.random() < 0.7:
            value = value[key]
            continue
        value[key] = draw.choice(odd)
        return


# Questions ----------------------------------------------------------------------------------------------


def test_a_law_is_that_of_the_analysis():
    start = read_start({"game": {"name": "stag-hunt"}, "rules": [{"rule": "lll", "tau": 0.5}], "steps": 100})
    studio = Studio(Session(start))
    (answer,) = said(studio, type="solve", id=7, question={"what": "law"})
    told = json.loads(answer)
    chain = pt.analysis.chain(pt.game("stag-hunt"), pt.rule("lll", tau=0.5))
    assert (told["type"], told["id"]) == ("solved", 7)
    np.testing.assert_array_equal(told["answer"]["law"], chain.stationary())
    (answer,) = said(studio, type="solve", question={"what": "law", "rule": {"rule": "blll", "tau": 0.2}})
    other = pt.analysis.chain(pt.game("stag-hunt"), pt.rule("blll", tau=0.2)).stationary()
    np.testing.assert_array_equal(json.loads(answer)["answer"]["law"], other)


@pytest.mark.parametrize(
    "question", [{}, {"what": "nothing"}, {"what": "law", "lane": 9}, {"what": "law"}, {"what": "law", "rule": {}}]
)
def test_what_cannot_be_solved_is_a_sentence(question):
    (answer,) = said(Studio(Session(start_of())), type="solve", question=question)
    assert json.loads(answer)["problem"]
