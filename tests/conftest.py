"""Shared by all tests."""

from __future__ import annotations

import gc
import os
from types import SimpleNamespace

import pytest

import potentia as pt
from potentia.kernel import background, tiers
from tests import games
from tests.surroundings import settle

# Tests that play P-SBLLL with a mixture, compiled: one after the other, so that one compiles for all.
_BELIEVING = (
    "test_belief_commands",
    "test_snippets_run[docs/tour",
    "test_snippets_run[docs/beliefs",
    "test_the_commands_of_the_tour_run",
    "test_belief_runs.py::test_compiled",
    "test_a_mind_and_its_game_switch_together",
)
# And those that play compositions and rules with a memory, which have kernels of their own.
_COMPOSED = ("test_compositions_and_rules_that_remember_keep", "statistical/test_compositions.py")


def pytest_addoption(parser):
    """Plain Python is asked for by name: what the environment says about it is not for the tests."""
    parser.addoption("--plain", action="store_true", help="compile nothing")


def pytest_configure(config):
    """Before any test is imported, in every worker."""
    settle(config.getoption("--plain"))
    tiers._WORTH = tiers._WORTH_HERE = 4.0  # what a compiler takes: a user plays such a run again, a test does not
    background.ask = _compile_here


def _compile_here(entry, make, path, shape):
    """Have a kernel compiled and wait for it: what is played meanwhile would take the time of another test."""
    job = background.Thread(entry, make)
    kernel = entry._kernels.get(shape, SimpleNamespace())
    kernel._loading = os.getpid()  # so that other threads wait for it, too
    try:
        job.thread.join()
    finally:
        kernel._loading = 0
    return job


@pytest.hookimpl(tryfirst=True)  # before those with a mark are left out
def pytest_collection_modifyitems(items):
    """Keep tests of one kind of game on one worker, so that each kernel is compiled once, and most pairs for later."""
    for item in items:
        parameters = getattr(item, "callspec", None)
        told = parameters.params if parameters else {}
        rule = told.get("rule", told.get("name"))
        if told.get("game") in games.ALL and rule in games.RULES and games.is_far_fetched(told["game"], rule):
            item.add_marker(pytest.mark.long)
        name = parameters.id.split("-")[0] if parameters else item.nodeid
        if name in games.ALL or "test_every_rule_passes" in item.nodeid:  # variants of a rule share its kernels
            item.add_marker(pytest.mark.xdist_group(name))
        elif any(word in item.nodeid for word in _BELIEVING):
            item.add_marker(pytest.mark.xdist_group("beliefs"))
        elif any(word in item.nodeid for word in _COMPOSED):
            item.add_marker(pytest.mark.xdist_group("composed"))


def pytest_collection_finish():
    """The collector need not look through thousands of tests again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(params=games.COMPILED, ids=str)
def game(request):
    """A small game of each kind that compiles."""
    return games.COMPILED[request.param]()


@pytest.fixture(params=games.RULES, ids=str)
def rule(request):
    """Each rule with its options."""
    return pt.rules.rule_from(games.RULES[request.param])
