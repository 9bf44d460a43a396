"""The command that opens the studio: its link, what it opens, and what it refuses in one line."""

from __future__ import annotations

import json
import re
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

import numpy as np
import pytest
from websockets.sync.client import connect

import potentia as pt
from potentia.cli.options.rules import variant_from_options
from potentia.rules import rule_from
from potentia.studies.coverage import paper_game, paper_rules
from potentia.web.studio.exports import as_specification
from potentia.web.studio.links import written
from potentia.web.studio.server import Server
from tests.commands import potentia
from tests.waiting import PATIENCE


@contextmanager
def studio(*args, **options):
    """The command, and the address of its line; it is stopped as by Ctrl-C."""
    command = [Path(sys.executable).with_name("potentia"), "studio", "--no-browser", *map(str, args)]
    with Popen(command, stdout=PIPE, stderr=PIPE, text=True, **options) as process:
        try:
            link = process.stdout.readline()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{20,}\n", link), (link, process.stderr.read())
            yield process, link.strip()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
            process.said = process.stderr.read()


def told(link, *messages):
    """The header of the last answer."""
    with connect(link.replace("http://", "ws://").replace("/?", "/ws?"), max_size=None) as line:
        for message in messages:
            line.send(json.dumps(message))
            content = line.recv()
    if isinstance(content, str):
        return json.loads(content)
    return json.loads(content[16 : 16 + int.from_bytes(content[12:16], "little")])


HELLO = {"type": "hello"}


def test_it_prints_a_link_on_one_line_and_ends_with_ctrl_c(tmp_path):
    with studio("--rule", "blll", "--robots", 3, env=None, cwd=tmp_path) as (process, link):
        scene = told(link, HELLO)
        assert (scene["robots"], scene["seed"], [lane[0]["rule"] for lane in scene["lanes"]]) == (3, 0, ["blll"])
        again = potentia("studio", "--no-browser", "--port", re.search(r":(\d+)/", link)[1])
        assert again.returncode != 0
        assert "--port" in again.stderr
        assert "cannot be used" in again.stderr
        assert len(again.stderr.strip().splitlines()) == 1
    assert process.returncode in (0, 130)
    assert "the studio is closed; the same command opens it again" in process.said


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """What the command would show, without a server: a session, and recordings where there is nothing but these."""
    sessions = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Server, "__init__", lambda self, studio: sessions.append(studio) and None)
    monkeypatch.setattr(Server, "bind", lambda self, port: None)
    monkeypatch.setattr(Server, "serve", lambda self, bound, ready: None)

    def open_it(*args):
        done = potentia("studio", "--no-browser", *map(str, args), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return sessions[-1]

    return open_it


def test_it_opens_maps_games_specifications_recordings_saved_runs_and_links(opened, tmp_path):
    np.savetxt(tmp_path / "map.csv", np.random.default_rng(0).random((6, 8)), delimiter=",")
    game = pt.games.Coverage(pt.games.paper_world(), 5, 1.5, flags=False)
    saved = pt.begin(game, pt.rule("blll", tau=0.01), 2).advance(40)
    saved.save(tmp_path / "run.npz")
    pt.run(pt.game("ring"), pt.rule("lll", tau=0.1), 50).recording().save(tmp_path / "ring.recording")
    (tmp_path / "game.json").write_text('{"payoffs": [[[4, 0], [3, 3]], [[4, 3], [0, 3]]]}')
    assert potentia("new", str(tmp_path / "study.toml")).returncode == 0
    session = opened("map.csv", "--robots", 2).session
    assert session.lanes[0].world.size == (8, 6)
    again = opened(f"#{written(session.start, (), 0)}").session
    assert np.array_equal(again.lanes[0].profile, session.lanes[0].profile)
    (tmp_path / "studio.json").write_text(as_specification(session, 0))
    assert opened("studio.json").session.start == session.start
    assert not opened("ring", "--rule", "blll").session.on_map
    assert opened("game.json", "--rule", "ql").session.start.rules[0]["tau"] == 0.1
    assert opened("paper", "--rule", "ql").session.start.rules[0]["tau"] != 0.1
    assert opened("game.json").session.now.game.num_profiles == 4
    assert len(opened("study.toml").session.lanes) >= 2
    (shown,) = opened("ring.recording").shown
    assert shown.kind == "network"
    assert len(opened(tmp_path).shown) == 1
    going_on = opened("paper", "--saved", "run.npz").session
    assert going_on.edge == 40
    assert np.array_equal(going_on.lanes[0].profile, saved.profile)
    going_on.play(60, 60.0)
    assert np.array_equal(going_on.lanes[0].back_to(60).profile, saved.advance(20).profile)


def test_the_case_study_is_the_papers(opened):
    session = opened("--paper").session
    rules = {name: rule_from(table) for name, table in zip(paper_rules(), session.start.rules, strict=True)}
    assert rules == paper_rules()
    assert session.lanes[0].game.fingerprint() == paper_game().fingerprint()
    assert session.start.steps == 2000
    changed = opened("--paper", "--no-flags", "--robots", 3, "--rule", "lll", "--steps", 50).session
    assert changed.lanes[0].game.fingerprint() == paper_game(robots=3, flags=False).fingerprint()
    assert (len(changed.lanes), changed.start.steps) == (1, 50)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nowhere.csv"], "nowhere.csv"),
        (["ring", "--paper"], "--paper is the experiment on the paper's own world, got 'ring'"),
        (["s1.AAAA"], "link"),
        (
            ["http://127.0.0.1:1/?token=x#s9." + "A" * 300],
            "this link is of version 9, and this potentia reads version 1",
        ),
        (
            ["stag-hnt"],
            "a game (potentia games lists them), a file or a link of the studio, got 'stag-hnt'; did you mean",
        ),
        (["paper", "--port", "99999"], "--port must be from 0 to 65535"),
        (["paper", *["--rule", "blll"] * 5], "up to 4 rules"),
        (["paper", "--robots", "0"], "--robots"),
    ],
)
def test_what_cannot_be_opened_is_one_line(args, said, tmp_path):
    done = potentia("studio", "--no-browser", *args, cwd=tmp_path)
    assert done.returncode != 0
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_ql_has_a_tau_in_the_units_of_a_map_and_elsewhere_the_usual_one():
    on_map = [variant_from_options("ql", None, None, usual).spec()["tau"] for usual in (("auto", ""), ("0.0005", ""))]
    assert [tau["kind"] for tau in on_map] == ["relative", "relative"]
    assert variant_from_options("ql", None, None, ("0.1", "0.3"), on_map=False).spec()["tau"] == 0.1
