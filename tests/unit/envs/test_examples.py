"""The examples in docstrings run as printed."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("module", ["envs.making", "learners.adapting", "learners.seats"])
def test_examples_of(module):
    found = doctest.testmod(importlib.import_module(f"potentia.{module}"))
    assert found.attempted > 3
    assert not found.failed
