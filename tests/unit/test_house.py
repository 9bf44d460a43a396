"""Rules that the tests themselves keep."""

from __future__ import annotations

import ast
import re

import pytest

from tests.surroundings import ROOT

TESTS = ROOT / "tests"
_CALL = re.compile(r"\bsleep\(")
# Who may wait for time to pass, and why.
ALLOWED = {
    "waiting.py": "between two looks at what is waited for",
    "fuzz/broken.py": "a reader that hangs on purpose",
    "fuzz/child.py": "a thread that looks now and then whether its parent is still there",
    "unit/test_house.py": "the controls below",
}


def sleeps(source):
    """The lines with a call of ``sleep``, whatever it is called on, also in scripts that are texts."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name == "sleep":
                found.add(node.lineno)
        elif isinstance(node, ast.alias) and node.name.endswith("sleep"):
            found.add(node.lineno)  # under whichever name it is called then
        elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            found |= {node.lineno + text[: match.start()].count("\n") for match in _CALL.finditer(text)}
    return sorted(found)


def test_nobody_waits_for_time_to_pass():
    """Wait for what happens instead: tests/waiting.py."""
    found = {str(path.relative_to(TESTS)): sleeps(path.read_text("utf-8")) for path in TESTS.rglob("*.py")}
    assert len(found) > 100
    assert {name: lines for name, lines in found.items() if lines and name not in ALLOWED} == {}
    assert {name for name, lines in found.items() if lines} == set(ALLOWED)  # no more than are needed


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import time\ntime.sleep(6)", [2]),
        ("from time import sleep as rest\n\n\nrest(6)", [1]),
        ("code = '''\nimport time\ntime.sleep(6)\n'''", [3]),
        ("code = b'import time; time.sleep(1)'", [1]),
        ("# time.sleep(6)\nasleep(6)\nname = 'sleep'", []),
    ],
)
def test_a_sleep_is_found(source, lines):
    assert sleeps(source) == lines


@pytest.mark.xdist_group("house")
def test_tests_of_a_group_are_known_to_be_so(request):
    """Some pairs of pytest and pytest-xdist forget it, and then workers make again what others have."""
    if request.config.getoption("loadgroup", False):  # where xdist's workers are told to keep groups
        assert request.node.nodeid.endswith("@house")
