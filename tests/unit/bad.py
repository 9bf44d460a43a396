"""Shared by the tests of bad input: small games, calls that must be refused, and a loop that must not be reached."""

from __future__ import annotations

import math

import numpy as np
import pytest

import potentia as pt
from potentia.errors import PotentiaError
from potentia.games import NormalForm, Separable, game, own
from potentia.rules import rule

NAN, INF = math.nan, math.inf
EYE = np.eye(2)
OWN = np.array([[3.0, 0.0], [5.0, 1.0]])
DILEMMA = np.array([OWN, OWN.T])
DILEMMA_POTENTIAL = np.array([[-2.0, 0.0], [0.0, 1.0]])


@pytest.fixture(autouse=True)
def nothing_plays(monkeypatch):
    """No case may compile anything or reach the loop."""

    def play(*args, **options):
        pytest.fail("the loop was reached")

    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
    monkeypatch.setattr(own, "jit_disabled", lambda: True)
    monkeypatch.setattr("potentia.engine.runs.play_entry", play)


def case(name, call, message):
    return pytest.param(call, message, id=name)


def refuses(call, error, message):
    """``call`` raises ``error``, of our tree, with this message."""
    with pytest.raises(error, match=message) as caught:
        call()
    assert isinstance(caught.value, PotentiaError)
    return caught.value


def dilemma():
    return NormalForm(DILEMMA, potential=DILEMMA_POTENTIAL)


def pennies():
    """A game without a potential."""
    return game("matching-pennies")


def two_by_two(**options):
    return Separable([[0.0, 1.0], [0.0, 1.0]], **options)


def zero(player, profile, data):
    return 0.0


def play(on=dilemma, **options):
    return pt.run(on(), rule("lll", tau=0.1), **{"steps": 10, **options})


def batch(on=dilemma, **options):
    return pt.run_batch(on(), rule("lll", tau=0.1), **{"steps": 10, "seeds": range(2), **options})


def slll(revision):
    return rule("slll", tau=0.1, revision=revision)


def p_sblll(revision):
    return rule("p-sblll", tau=0.1, revision=revision)


def begins_with(revision):
    """A revision probability that only a game can show to be wrong."""
    return pt.begin(dilemma(), slll(revision))
