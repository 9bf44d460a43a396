"""The faults of ``make mutants`` can be planted, and the machinery tells a caught one from a harmless one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import potentia as pt

ROOT = Path(pt.__file__).parents[2]
if not (ROOT / "benchmarks" / "mutants").is_dir():
    pytest.skip("installed, not the sources", allow_module_level=True)

from benchmarks.mutants.faults import SOURCES, Fault, NotPlanted, Place, declared, lines_of, plant  # noqa: E402 - once it is known to be there

FAULTS = declared()
ROOMS = ("kernel", "rules", "engine", "analysis", "beliefs", "study", "statistics", "web")


def test_every_fault_can_be_planted_and_still_compiles():
    for fault in FAULTS:
        planted = plant(fault, ROOT / SOURCES)
        assert planted.after != planted.before, fault.id
        compile(planted.after, planted.file, "exec")
        assert lines_of(planted), fault.id


def test_faults_have_names_of_their_own_and_are_well_spread():
    assert max(Counter(fault.id for fault in FAULTS).values()) == 1
    rooms = Counter(fault.room for fault in FAULTS if not fault.control)
    assert set(rooms) == set(ROOMS)
    assert min(rooms.values()) >= 5
    assert sum(rooms.values()) >= 70
    assert sum(fault.control for fault in FAULTS) >= 1


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "old.py").write_text("def f(x):\n    y = (\n        x\n        + 1\n    )\n    return y\n")
    (tmp_path / "twice.py").write_text("a = 1\nb = 1\n")
    return tmp_path


def fault(*places):
    return Fault("some-fault", "wrong", tuple(Place(*place) for place in places))


def test_a_fault_is_found_by_its_text_also_where_the_file_has_moved(sources):
    planted = plant(fault(("gone.py", "+ 1", "- 1")), sources)
    assert planted.file == "old.py"
    assert "- 1" in planted.after
    assert lines_of(planted) == {2, 3, 4, 5}  # a statement is reached as a whole
    rewritten = fault(("old.py", "x - 2", "x"), ("old.py", "return y", "return -y"))
    assert lines_of(plant(rewritten, sources)) == {6}


@pytest.mark.parametrize("text", ["= 1", "no such text"])
def test_a_text_that_is_there_twice_or_never_is_refused(sources, text):
    with pytest.raises(NotPlanted, match="must occur once"):
        plant(fault(("twice.py", text, "")), sources)
