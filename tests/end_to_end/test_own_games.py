"""Games of the user's own on the command line: ``potentia --import my_game.py ...``."""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings

import pytest

import potentia as pt
from potentia.studies.store import open_study
from tests import commands

GAME = '''
import helper
import potentia as pt


@pt.games.register_game("guess")
def guess(players: int = 2, prize: float = 1.0):
    """Play what the others do."""

    def utility(player, profile, data):
        worths = {0: data, 1: 2.0 * data}  # a dictionary: it runs in Python
        return helper.same(profile) * worths[int(profile[player])]

    return pt.games.custom(utility, num_actions=[2] * players, data=prize)
'''
HELPER = "def same(profile):\n    return float(profile.min() == profile.max())\n"
STUDY = """
steps = 30
seeds = 4
chunk = 2
record = "welfare"
game = { name = "guess", prize = [1.0, 3.0] }
rule = { name = "lll", tau = 0.5 }
"""


@pytest.fixture
def place(tmp_path):
    (tmp_path / "my_game.py").write_text(GAME)
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def potentia(place, *args):
    return commands.potentia(*args, cwd=place)


def test_every_command_knows_it(place):
    assert "guess" in potentia(place, "--import", "my_game.py", "games").stdout
    done = potentia(place, "--import", "my_game.py", "run", "guess", "--steps", "50", "--set", "prize=2")
    assert done.returncode == 0, done.stderr
    assert "guess(players=2, prize=2)" in done.stdout
    assert done.stderr == ""  # it ended before anybody thought of compiling it


def test_one_command_leaves_nothing_to_the_next(place, monkeypatch):
    """Though the tests call them in one process: games, modules, warnings, the folder and the environment."""
    monkeypatch.setenv("COLUMNS", "77")
    before = (
        warnings.showwarning,
        list(warnings.filters),
        os.getcwd(),
        list(sys.path),
        signal.getsignal(signal.SIGTERM),
    )
    for _ in range(2):
        done = commands.potentia("--import", "my_game.py", "run", "guess", "--steps", 5, cwd=place, COLUMNS="88")
        assert (done.returncode, done.stderr) == (0, "")
    assert "guess" not in pt.games.registered_games()
    assert not [name for name in sys.modules if name == "helper" or name.startswith("_imported_")]
    after = (
        warnings.showwarning,
        list(warnings.filters),
        os.getcwd(),
        list(sys.path),
        signal.getsignal(signal.SIGTERM),
    )
    assert after == before
    assert os.environ["COLUMNS"] == "77"
    assert commands.potentia("run", "guess").returncode == 2


def test_a_sweep_of_it_on_threads_and_processes(place):
    done = potentia(place, "--import", "my_game.py", "sweep", "study.toml", "--out", "one")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    again = potentia(place, "--import", "my_game.py", "sweep", "study.toml", "--processes", "--out", "two")
    assert again.returncode == 0, again.stderr
    assert again.stderr == ""
    one, two = (open_study(place / name).dataset() for name in ("one", "two"))
    assert one.identical(two)
    assert dict(one.sizes) == {"prize": 2, "seed": 4, "time": 31, "player": 2}
    # without the file the study can be read, but not gone on with
    next((place / "one" / "chunks").glob("*.npz")).unlink()
    refused = potentia(place, "sweep", "one")
    assert refused.returncode == 2
    assert "potentia --import FILE.py" in refused.stderr
    shown = potentia(place, "--import", "my_game.py", "sweep", "one")
    assert shown.returncode == 0, shown.stderr
    assert open_study(place / "one").dataset().identical(two)


@pytest.mark.parametrize(
    ("text", "args", "said"),
    [
        (None, ["run", "guess", "--import", "my_game.py"], "--import goes before the command"),
        (None, ["--import", "absent.py", "games"], "--import: there is no file absent.py"),
        (None, ["--import", "study.toml", "games"], "--import takes a Python file, got 'study.toml'"),
        ("def f(:\n", ["--import", "bad.py", "games"], "--import bad.py, line 1: SyntaxError"),
        ("1 / 0\n", ["--import", "bad.py", "games"], "--import bad.py: ZeroDivisionError: division by zero"),
        (
            "import potentia as pt\n@pt.games.register_game('f')\ndef f(n): return None\n",
            ["--import", "bad.py", "games"],
            "game f: every parameter needs a default, n has none",
        ),
        (
            "import potentia as pt\n@pt.games.register_game('f')\ndef f(n=1): return pt.gams.custom()\n",
            ["--import", "bad.py", "run", "f"],
            "building the game f failed: AttributeError",
        ),
        ("", ["--import", "json.py", "games"], "--import json.py: there is a library called json; rename the file"),
        ("", ["--import", "numba.py", "run", "ring"], "there is a library called numba; rename the file"),
        ("import sys\nsys.exit(0)\n", ["--import", "bad.py", "games"], "the file ended the program, with sys.exit(0)"),
        ("raise BaseException('a\x1b[2J\\nb')\n", ["--import", "bad.py", "games"], r"BaseException: a\x1b[2J b"),
    ],
)
def test_mistakes_are_one_line(place, text, args, said):
    if text is not None:
        (place / args[1]).write_text(text)
    done = potentia(place, *args)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert said in line


def test_ctrl_c_in_a_file_is_one_line(place):
    (place / "slow.py").write_text("raise KeyboardInterrupt\n")
    done = potentia(place, "--import", "slow.py", "games")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")


def test_files_need_no_names_of_modules(place):
    """Nor different ones: each is a module with a name of its own."""
    for folder in ("one", "two"):
        (place / folder).mkdir()
        text = GAME.replace("import helper\n", "").replace('"guess"', f'"{folder}"')
        (place / folder / "my-game.v2.py").write_text(text + "\nassert __name__ != 'my-game.v2'\n")
    done = potentia(place, "--import", "one/my-game.v2.py", "--import", "two/my-game.v2.py", "games", "--json")
    assert done.returncode == 0, done.stderr
    assert [row["game"] for row in json.loads(done.stdout)][-2:] == ["one", "two"]
