"""The package type-checks for its users: mypy and pyright, both strict, on what a user writes and on mistakes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TYPES = ROOT / "tests" / "types"
MISTAKES = [5, 6, 7]  # lines of wrong.py

pytestmark = pytest.mark.xdist_group("types")


def lines_of(errors):
    """Lines that are complained about, by file."""
    found = {}
    for name, line in errors:
        found.setdefault(Path(name).name, set()).add(int(line))
    return {name: sorted(lines) for name, lines in found.items()}


def test_mypy():
    # with the project's own cache, in which the package has been checked already
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "tests/types"]  # strict by pyproject.toml
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert lines_of(re.findall(r"^(.+?):(\d+): error", done.stdout, re.M)) == {"wrong.py": MISTAKES}


def test_pyright(tmp_path):
    config = tmp_path / "pyrightconfig.json"
    config.write_text(json.dumps({"typeCheckingMode": "strict", "include": [str(TYPES)]}))
    command = [sys.executable, "-m", "basedpyright", "-p", str(config), "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    errors = [(one["file"], one["range"]["start"]["line"] + 1) for one in found if one["severity"] == "error"]
    assert lines_of(errors) == {"wrong.py": MISTAKES}
