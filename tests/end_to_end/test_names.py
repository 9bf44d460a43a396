"""Names on the command line are text, and a picture that fails loses nothing."""

from __future__ import annotations

import json

import pytest
import xarray
from matplotlib.figure import Figure

from potentia import cli
from tests.commands import potentia

PAYOFFS = '{"payoffs": [[[3, 0], [2, 2]], [[3, 2], [0, 2]]]}'
NAME = "a$^$_{x}%\x1b[31m[red]\u202e.json"
SHOWN = r"a$^$_{x}%\x1b[31m[red]\u202e.json"
MAP = "1,2,3,1\n1,2,9,1\n0,0,3,1\n"


@pytest.fixture
def call(tmp_path):
    """A command typed in a folder: exit code, and what is printed."""
    (tmp_path / NAME).write_text(PAYOFFS)
    (tmp_path / "study.toml").write_text(
        'name = "s$^$"\nabout = "one\\ntwo \\u001b[31m"\nsteps = 20\nseeds = 2\n'
        'game = { name = "stag-hunt", label = "g$^$" }\nrule = { name = "lll", tau = [0.1, 0.2], label = "r$_$" }\n'
    )

    def typed(*args):
        done = potentia(*args, cwd=tmp_path)
        return done.returncode, done.stdout, done.stderr

    return typed


def unable(*_, **__):
    raise ValueError("no\nink \x1b")


COMMANDS = {
    "run": ("run", NAME, "--steps", 20, "--save", "kept.nc"),
    "stability": ("stability", NAME),
    "dynamics": ("dynamics", NAME, "--time", 1),
    "optimum": ("optimum", "random:1", "--robots", 1, "--method", "greedy"),
    "show": ("show", "study.study"),
}


@pytest.fixture(params=COMMANDS.values(), ids=COMMANDS)
def command(request, call):
    if request.param[0] == "show":
        assert call("sweep", "study.toml")[0] == 0
    return request.param


def test_names_are_drawn_and_told_as_they_are(call, command, tmp_path):
    code, out, err = call(*command, "--plot", "p.png")
    assert (code, err) == (0, "")
    assert (tmp_path / "p.png").stat().st_size > 1000
    assert "p.png" in out.splitlines()[-1]
    assert "\x1b" not in out
    assert "\u202e" not in out
    if command[0] != "optimum":
        assert SHOWN in out or "s$^$" in out
    if command[0] == "show":
        assert "one\ntwo \\x1b[31m\n" in out


def test_a_picture_that_fails_loses_nothing(call, command, tmp_path, monkeypatch):
    whole = call(*command)[1].splitlines()
    (tmp_path / "kept.nc").unlink(missing_ok=True)
    monkeypatch.setattr(Figure, "savefig", unable)
    code, out, err = call(*command, "--plot", "p.png")
    assert (code, err) == (2, "error: cannot draw p.png: ValueError: no ink \\x1b\n")
    assert len(out.splitlines()) == len(whole)
    (tmp_path / "kept.nc").rename(tmp_path / "first.nc") if command[0] == "run" else None
    code, out, err = call(*command, "--plot", "p.png", "--json")
    assert (code, err) == (2, "error: cannot draw p.png: ValueError: no ink \\x1b\n")
    found = json.loads(out)
    assert "plot" not in found
    if command[0] == "run":
        assert found["saved"] == "kept.nc"
        for name in ("first.nc", "kept.nc"):
            with xarray.open_dataset(tmp_path / name) as data:
                assert data.attrs["game"] == NAME
    assert not (tmp_path / "p.png").exists()


def test_a_file_name_that_is_no_text_loses_no_record(call, tmp_path):
    name = "a\udcff.json"
    try:
        (tmp_path / name).write_text(PAYOFFS)
    except OSError:
        pytest.skip("this file system takes no such name")
    code, out, err = call("run", name, "--steps", 20, "--save", "kept.nc", "--plot", "p.svg")
    assert (code, err) == (0, "")
    assert r"a\udcff.json" in out
    with xarray.open_dataset(tmp_path / "kept.nc") as data:
        assert data.attrs["game"] == r"a\udcff.json"


def test_errors_cannot_steer_the_terminal(call):
    code, out, err = call("run", "no\x1b[2J\nsuch.json")
    assert (code, out, err) == (2, "", "error: no\\x1b[2J such.json: there is no such file\n")


def test_a_warning_is_one_line(capsys, monkeypatch):
    monkeypatch.setattr(cli, "_warned", set())
    cli._warn(UserWarning("x\x1b[2J\ny"), UserWarning)
    assert capsys.readouterr().err == "warning: x\\x1b[2J y\n"


# A rule with the name of another folder.
RULE = """
from attrs import frozen
from typing import ClassVar
import potentia as pt
from potentia.rules.base import register

@register
@frozen(repr=False)
class Mine(type(pt.rule("lll", tau=0.1))):
    "Mine."
    name: ClassVar[str] = "../r$^$"
"""


def test_cover_keeps_its_records_and_its_folder(tmp_path, monkeypatch):
    (tmp_path / "m$^$.csv").write_text(MAP)
    (tmp_path / "own.py").write_text(RULE)
    play = ("cover", tmp_path / "m$^$.csv", "--robots", 1, "--delta", 1, "--steps", 20, "--runs", 2, "--no-optimum")
    play = ("--import", tmp_path / "own.py", *play, "--rule", "../r$^$", "--out", tmp_path / "out")
    records = {"records-..-r$^$.nc", "cells-..-r$^$.csv", "run-..-r$^$.npz"}
    records |= {"recording-..-r$^$.recording", "replay.html"}
    with monkeypatch.context() as broken:
        broken.setattr(Figure, "savefig", unable)
        done = potentia(*play, "--json", NUMBA_DISABLE_JIT="1")
    assert done.returncode == 2
    assert done.stderr == f"error: cannot draw {tmp_path / 'out' / 'field.png'}: ValueError: no ink \\x1b\n"
    assert {path.name for path in (tmp_path / "out").iterdir()} == records
    assert {path.rpartition("/")[2] for path in json.loads(done.stdout)["files"].values()} == records
    done = potentia(*play, "--gif", NUMBA_DISABLE_JIT="1")
    assert (done.returncode, done.stderr) == (0, "")
    pictures = {"field.png", "worth.png", "configurations.png", "..-r$^$.gif"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == records | pictures | {".potentia-cover.json"}
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == {"m$^$.csv", "own.py", "out"}
