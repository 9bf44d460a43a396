"""The page of the laboratory: one file, a strict policy, opened as told, refused in one sentence."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

import potentia as pt


def state_of(path):
    return json.loads(re.search(r'id="state">(.*?)</script>', path.read_text("utf-8"))[1])


def test_one_file_with_a_policy_that_lets_its_own_script_run_and_nothing_else(tmp_path):
    text = pt.web.laboratory(tmp_path / "lab.html", title="<b>Mine</b>").read_text("utf-8")
    assert "<title>&lt;b&gt;Mine&lt;/b&gt;</title>" in text
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    for tag, kind in (('script type="module"', "script"), ("style", "style")):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{kind}>", text, re.S)
        assert base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode() in policy
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert not re.search(r"^(import|export) ", text, re.M)
    names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", text, re.M)
    assert len(names) == len(set(names))  # modules are one script: a name twice is a mistake


def test_it_opens_with_the_game_and_the_rule(tmp_path):
    rule = pt.rule("p-sblll", tau=0.2, revision=0.7, guard=True)
    state = state_of(pt.web.laboratory(tmp_path / "lab.html", "matching-pennies", rule))
    assert state["payoffs"] == pt.game("matching-pennies").payoffs.tolist()
    assert (state["tau"], state["revision"]) == (0.2, 0.7)
    axes = {"who": "independent", "considers": "joint-trial", "chooses": "logit"}
    assert state["rule"] == {**axes, "guard": True, "include_current": False}
    state = state_of(pt.web.laboratory(tmp_path / "lab.html", rule={"rule": "better-reply", "inertia": 0.25}))
    assert state == {"rule": {"who": "one", "considers": "all", "chooses": "better", "guard": False,
                              "include_current": False, "inertia": 0.25}}  # fmt: skip
    assert state_of(pt.web.laboratory(tmp_path / "lab.html")) == {}


@pytest.mark.parametrize(
    ("game", "rule", "said"),
    [
        ("overlap", None, "game must be of two players with two actions each, got 4 × 4"),
        (pt.games.NormalForm([[[0, 2e9], [0, 0]]] * 2), None, "payoffs of at most 1e.09 in size"),
        (pt.games.NormalForm([[[0, 1], [0, 0]]] * 2, moves=pt.games.path_moves(2)), None, "complete action sets"),
        (7, None, "game must be of two players with two actions each, got 7"),
        (None, pt.rule("soql"), "rule must be a point of who × considers × chooses that the page has, got soql"),
        (None, pt.rule("slll", tau=0.1, revision=pt.rules.Groups([((0,), 1.0)])), "got slll"),
        (None, pt.rule("slll", tau=0.1, revision=pt.rules.Vanishing(2.0)), "revision must be one number here"),
        (None, pt.rule("slll", tau=0.1, revision=[0.1, 0.2]), "revision must be one number here"),
        (None, pt.rule("lll", tau=pt.rules.Geometric(1.0, 0.1)), "tau must be a number here, got Geometric"),
    ],
)
def test_what_it_cannot_show_is_refused(tmp_path, game, rule, said):
    with pytest.raises(pt.errors.PotentiaError, match=said):
        pt.web.laboratory(tmp_path / "lab.html", game, rule)
    assert list(tmp_path.iterdir()) == []


def test_a_page_ends_in_html(tmp_path):
    with pytest.raises(pt.errors.InvalidRun, match=r"path must end in \.html"):
        pt.web.laboratory(tmp_path / "lab.pdf")
