"""Shared by all tests."""

from __future__ import annotations

import pytest

from tests import games


@pytest.fixture(params=games.COMPILED, ids=str)
def game(request):
    """A small game of each kind that compiles."""
    return games.COMPILED[request.param]()


@pytest.fixture(params=games.RULES, ids=str)
def rule(request):
    """Each rule with its options."""
    import potentia as pt

    return pt.rules.rule_from(games.RULES[request.param])
