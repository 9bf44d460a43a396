"""Rules that the tests themselves keep."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import potentia as pt
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


# The package ------------------------------------------------------------------------------------------

PACKAGE = Path(pt.__file__).parent
PUBLIC = (
    "analysis",
    "beliefs",
    "engine",
    "envs",
    "extend",
    "figures",
    "games",
    "learners",
    "rules",
    "statistics",
    "studies",
    "testing",
)


def modules():
    return sorted(".".join(p.relative_to(PACKAGE.parent).with_suffix("").parts) for p in PACKAGE.rglob("*.py"))


def test_no_module_is_named_like_what_it_defines():
    """Or ``import potentia.analysis.stability`` gives a function."""
    names = modules()
    assert len(names) > 150
    for name in names:
        path = PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py")
        defined = {getattr(node, "name", None) for node in ast.parse(path.read_text("utf-8")).body}
        assert name.rpartition(".")[2] not in defined, name


@pytest.mark.parametrize("name", PUBLIC)
def test_only_public_names_are_shown(name):
    room = importlib.import_module(f"potentia.{name}")
    assert dir(room) == sorted(room.__all__)
    for shown in room.__all__:
        assert not inspect.ismodule(getattr(room, shown)), shown
    assert name in pt.__all__
    inside = {part.stem for part in (PACKAGE / name).glob("*")} if (PACKAGE / name).is_dir() else set()
    assert not inside & set(room.__all__)


def test_names_that_have_moved_say_where():
    with pytest.warns(DeprecationWarning, match=r"experiments.compare has moved: use potentia.statistics.compare"):
        assert pt.experiments.compare is pt.statistics.compare
    with pytest.warns(DeprecationWarning, match=r"experiments.Study has moved: use potentia.studies.Study"):
        assert pt.experiments.Study is pt.studies.Study
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pt.experiments.nothing  # noqa: B018
    assert "experiments" not in dir(pt)


def test_what_extends_comes_from_one_place():
    """The guide imports from nowhere else."""
    text = (ROOT / "docs" / "extending.md").read_text("utf-8")
    assert set(re.findall(r"(?:from|import) (potentia[\w.]*)", text)) == {"potentia", "potentia.extend"}
