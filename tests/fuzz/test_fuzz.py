"""A short run over all readers, what once went wrong, and proof that what goes wrong is noticed.

``make fuzz`` is the long run.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from tests.fuzz.__main__ import main, report
from tests.fuzz.broken import BROKEN
from tests.fuzz.readers import READERS
from tests.fuzz.runner import Runner

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="limits, pipes and signals of Unix"),
    pytest.mark.xdist_group("fuzz"),
]

CORPUS = Path(__file__).parent / "corpus"
CASES = tomllib.loads((CORPUS / "corpus.toml").read_text("utf-8"))["case"]
EACH = 36


def test_files_are_read_or_refused(tmp_path, capsys):
    tallies = Runner(1, tmp_path).run(list(READERS), EACH * len(READERS))
    assert report(tallies) == 0, capsys.readouterr().out
    assert all(tally.inputs == EACH and tally.accepted and tally.refused for tally in tallies.values())


def test_what_once_went_wrong(tmp_path):
    jobs = []
    for case in CASES:
        job = {name: case[name] for name in ("reader", "set") if name in case}
        jobs.append(job | ({"file": str(CORPUS / case["file"])} if "file" in case else {}))
    wrong = []
    for job, found in zip(jobs, Runner(0, tmp_path).ask(*jobs), strict=True):
        kind, where, said = found.get("verdict") or (found["kind"], found["where"], found["said"])
        if kind not in ("accepted", "refused"):
            wrong.append(f"{job}: {kind} at {where}: {said[:100]}")
    assert not wrong, "\n".join(wrong)


def test_every_file_of_the_corpus_is_read():
    named = {case["file"] for case in CASES if "file" in case}
    assert {path.name for path in CORPUS.iterdir()} - {"corpus.toml"} == named
    assert all(case["wrong"] for case in CASES)


def test_broken_readers_are_noticed(tmp_path, capsys):
    hanging = ["sleeps", "spins"]
    others = [name for name in BROKEN if name not in hanging]
    tallies = Runner(0, tmp_path, seconds=2).run(hanging, 2 * len(hanging))
    tallies |= Runner(0, tmp_path, seconds=120).run(others, 2 * len(others))  # taking memory can take long
    wrong = {name: [failure["kind"] for failure in tally.failures] for name, tally in tallies.items()}
    assert wrong == {
        "raises": ["IndexError"],
        "sleeps": ["hang"],
        "spins": ["hang"],
        "eats": ["memory"],
        "dies": ["ended with code -6"],
        "refuses": ["a valid file refused"],
    }
    assert [tally.inputs for tally in tallies.values()] == [2] * len(BROKEN)
    assert report(tallies) == 1
    assert f"--reader raises --file {tmp_path / 'raises-1.txt'}" in capsys.readouterr().out
    assert (tmp_path / "raises-1.txt").read_bytes() == b""


def test_inputs_depend_on_the_seed_alone(tmp_path):
    def kept(folder, *seeds):
        jobs = [
            {"reader": reader, "seed": seed, "save": number, "out": str(tmp_path / folder / str(seed))}
            for seed in seeds
            for reader in ("saved-ring", "map-image")
            for number in (30, 40, 50)
        ]
        Runner(0, tmp_path).ask(*jobs)
        return [[path.read_bytes() for path in sorted((tmp_path / folder / str(s)).iterdir())] for s in seeds]

    first, other = kept("a", 0, 1)
    assert kept("b", 0) == [first]
    assert all(one != two for one, two in zip(first, other, strict=True))


def test_the_command(tmp_path, capsys):
    path = tmp_path / "g.json"
    path.write_text("{}")
    assert main(["--reader", "game-json", "--file", str(path)]) == 0
    assert capsys.readouterr().out.startswith("refused")
