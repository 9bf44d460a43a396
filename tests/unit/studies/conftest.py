"""Shared by the tests of studies."""

from __future__ import annotations

import shutil

import pytest

from potentia.studies.store import open_study
from potentia.studies.sweeping import sweep
from tests.studies import STUDY


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return sweep(STUDY, tmp_path_factory.mktemp("whole") / "study")


@pytest.fixture
def study(finished, tmp_path):
    """A copy of a complete study, to do harm to."""
    return open_study(shutil.copytree(finished.folder, tmp_path / "study"))
