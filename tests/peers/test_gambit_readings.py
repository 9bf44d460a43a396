"""What we read in Gambit's files is what pygambit reads in them, to the last digit; without pygambit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from potentia.games import read_game, write_game
from tests.peers.gambit import BY_HAND, ours

FILES = {file["name"]: file for file in json.loads(Path(__file__).with_name("gambit.json").read_text("utf-8"))["files"]}


def test_the_files_are_those_of_the_script():
    assert {name: FILES[name]["text"] for name in BY_HAND} == BY_HAND


@pytest.mark.parametrize("name", FILES)
def test_ours_is_pygambits(name, tmp_path):
    path = tmp_path / "g.nfg"
    path.write_bytes(FILES[name]["text"].encode())
    made = read_game(path)
    reads = FILES[name]["reads"]
    if name == "more numbers":  # beside 10^30 no float holds 1: payoffs are rounded once, and not exact
        assert made.payoff_unit is None
        wanted = [[float_of(value) for value in row] for row in reads["payoffs"]]
        assert made.payoffs.reshape(2, -1).tolist() == wanted
        return
    assert ours(made) == reads
    assert ours(read_game(write_game(made, path))) == reads


def float_of(text):
    from fractions import Fraction

    return float(Fraction(text))
