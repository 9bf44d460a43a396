"""A claim is declared in one place, and found there."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from potentia.paper import claims
from potentia.paper.claims import NOT_SUPPORTED, SUPPORTED, Judged, claim, declared_in, experiment, listed, whether
from potentia.paper.report.wording import texts
from potentia.paper.scale import Scale
from potentia.paper.theory import MODULES

TINY = Scale("tiny", 0, 0, 0, games=2, learners=1, long=0)


@pytest.fixture
def module(monkeypatch):
    """A module of claims that somebody adds."""
    made = ModuleType(f"{claims.__package__}.new_claims")
    source = """
from potentia.paper.claims import Judged, claim, experiment, whether
from potentia.paper.quoted_claims import blll

@claim("second letter", "It is b", "section 9")
def zebra(scale):
    return Judged({"games": scale.games}, *whether(scale.games == 2, "Two", "Not two"))

@experiment("first letter", "It is a", "section 10")
def ant(scale):
    return Judged((), *whether(False, "yes", "no"), evidence=["a line"])
"""
    exec(source, made.__dict__)
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def test_a_declared_claim_is_found_in_its_order_and_only_in_its_own_module(module):
    found = declared_in("new_claims")
    assert [one.name for one in found] == ["second letter", "first letter"]  # as they stand, and none that is imported
    second, first = (one(TINY) for one in found)
    assert (second.kind, second.verdict, second.reason, second.where) == ("theory", SUPPORTED, "Two", "section 9")
    assert (first.kind, first.verdict, first.reason, first.evidence) == ("experiment", NOT_SUPPORTED, "no", ("a line",))
    assert second.to_dict()["measured"] == [{"label": "games", "unit": "", "published": None, "value": 2}]


def test_no_two_claims_have_one_name():
    names = [one.name for one in declared_in("case_claims", "case_learner_claims", *MODULES)]
    assert len(names) == len(set(names)) >= 28


def test_details_are_not_shared():
    made = [claim("x", "y", "z")(lambda _: Judged((), SUPPORTED, "r"))(TINY) for _ in range(2)]
    made[0].details["more"] = 1
    assert made[1].details == {}
    assert experiment("x", "y", "z")(lambda _: Judged((), *whether(True, "r", "s")))(TINY).kind == "experiment"


def test_words_are_listed():
    assert [listed(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


def test_the_words_of_the_page_are_whole():
    """No line break or indentation of the file is in them, and every picture has what it needs."""

    def strings(entry):
        if isinstance(entry, str):
            return [entry]
        return [text for part in (entry.values() if isinstance(entry, dict) else entry) for text in strings(part)]

    assert not [text for text in strings(texts()) if "\n" in text or "  " in text or text != text.strip()]
    assert all({"caption", "alt"} <= set(words) for words in texts()["pictures"].values())
