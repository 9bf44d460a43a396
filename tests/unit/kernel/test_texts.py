"""Docstrings for those who do not write Python."""

from __future__ import annotations

import inspect

import pytest

import potentia as pt
from potentia.kernel.texts import explained, prose

SAID = """What it is.

    More of it.

    Parameters
    ----------
    tau : float or Schedule
        The temperature: 0.1, say.
    ties : {"uniform", "stay"}
        Which of several.

    Examples
    --------
    >>> 1 + 1
    2
    """


def test_prose_ends_at_the_first_section():
    assert prose(SAID) == "What it is.\n\nMore of it."
    assert prose("One line.") == "One line."
    assert prose(None) == prose("") == ""


def test_parameters_are_explained_without_types():
    told = "tau\n    The temperature: 0.1, say.\nties (uniform, stay)\n    Which of several."
    assert explained(SAID) == f"{prose(SAID)}\n\n{told}"
    assert explained("One line.") == "One line."


@pytest.mark.parametrize("make", [pt.rule, pt.belief])
def test_names_stand_before_the_sections(make):
    said = inspect.getdoc(make)
    assert said.index("Known by name:") < said.index("Parameters\n----------") < said.index("Examples\n--------")
    assert said.count("Known by name:") == 1
