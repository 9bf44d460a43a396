"""Shared by the tests of the theory claims, which take a while to check."""

from __future__ import annotations

import pytest

from potentia.paper import kept_shares, theory
from potentia.paper.kept import Kept
from potentia.paper.scale import Scale
from tests.exact.theory_scale import TINY


@pytest.fixture(scope="session")
def heard():
    return []


@pytest.fixture(scope="session")
def claims(heard, tmp_path_factory):
    kept = Kept(tmp_path_factory.mktemp("studies"), TINY, tell=heard.append)
    return {claim.name: claim for claim in theory.check(kept)}


@pytest.fixture(scope="session")
def rows():
    return kept_shares.by_rule(Scale("tiny", 0, 0, 0, games=2, learners=1, long=0))
