"""What the package says about itself: how to cite it, how fast it is, what the shell completes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

import potentia as pt
from potentia.cli.options.names import BELIEFS, GAMES, RULES
from potentia.games.library import game_parameters, registered_games
from potentia.rules import registered
from tests.commands import potentia

ROOT = Path(__file__).parents[2]


def test_cite_says_what_the_citation_file_says():
    file = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert potentia("cite", "--format", "cff").stdout == file
    assert f"\nversion: {pt.__version__}\n" in file
    plain = json.loads(potentia("cite", "--json").stdout)
    assert plain == json.loads(potentia("cite", "--format", "json").stdout)
    assert f'title: "{plain["software"]["title"]}"' in file
    for name in plain["software"]["authors"]:
        assert f"- name: {name}\n" in file
    assert f"title: {plain['paper']['title']}\n" in file
    for author in plain["paper"]["authors"]:
        assert f"- family-names: {author['family']}\n        given-names: {author['given']}\n" in file


def test_bibtex_is_well_formed_and_has_both():
    text = potentia("cite", "--format", "bibtex").stdout
    plain = json.loads(potentia("cite", "--json").stdout)
    entries = re.findall(r"^@(\w+)\{(\w+),$", text, re.M)
    assert [kind for kind, _ in entries] == ["misc", "article"]
    assert len({key for _, key in entries}) == 2
    depth = 0
    for letter in text:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0
    for part in plain.values():
        assert f"title = {{{{{part['title']}}}}}," in text
    assert "author = {Hasanbeig, Mohammadhosein and Pavel, Lacra}," in text
    assert plain["software"]["version"] in text


def test_cite_as_text_names_both():
    text = potentia("cite").stdout
    for part in json.loads(potentia("cite", "--json").stdout).values():
        assert part["title"] in text


def test_cite_needs_no_repository(tmp_path):
    done = potentia("cite", cwd=tmp_path)
    assert done.returncode == 0
    assert pt.__version__ in done.stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("cite", "--format", "bibtx"), "did you mean 'bibtex'?"),
        (("cite", "--json", "--format", "cff"), "give --json or --format, not both"),
        (("bench", "--seconds", "0"), "--seconds must be a finite number > 0, got 0.0"),
        (("bench", "--seconds", "nan"), "--seconds must be a finite number > 0, got nan"),
    ],
)
def test_bad_input_is_one_line(args, said):
    done = potentia(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_bench_measures_each_kernel(monkeypatch):
    from potentia.studies import speed

    some = ["LLL, ring of 1,000 players", "LLL, 2×2 (stag hunt)"]
    monkeypatch.setattr(speed, "KERNELS", {name: speed.KERNELS[name] for name in some})
    done = potentia("bench", "--seconds", "0.01", "--json")
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    assert [row["what"] for row in plain["kernels"]] == some
    for row in plain["kernels"]:
        assert row["steps_per_second"] == pytest.approx(row["steps"] / row["seconds"])
        assert row["steps"] >= 1
    assert plain["machine"]["versions"]["potentia"] == pt.__version__
    cores = plain["machine"]["cores"]
    assert (plain["two_workers"] is None) == (cores < 2)


def test_steps_are_chosen_to_take_the_time_asked_for():
    """With a clock of our own: one microsecond a step."""
    from potentia.studies.timing import steps_in

    played = []

    def timed(steps):
        played.append(steps)
        return steps * 1e-6

    assert steps_in(timed, 0.5) == pytest.approx(500_000, rel=1e-3)
    assert sum(played) < 3 * 500_000


def test_bench_as_a_table(monkeypatch, capsys):
    from potentia.cli.about import bench
    from potentia.studies import speed

    ring = "LLL, ring of 1,000 players"
    monkeypatch.setattr(speed, "KERNELS", {ring: speed.KERNELS[ring]})
    for cores, said in ((2, "16 runs of"), (1, "may use one core only")):
        monkeypatch.setattr(speed, "cores", lambda cores=cores: cores)
        bench(seconds=0.002)
        out = capsys.readouterr().out
        assert "million steps per second" in out
        assert ring in out
        assert f"potentia {pt.__version__}" in out
        assert said in out


def test_names_that_completion_offers_are_those_that_exist():
    assert {name: tuple(game_parameters(name)) for name in registered_games()} == GAMES
    ours = {
        name for name, cls in registered().items() if cls.__module__.startswith("potentia.")
    }  # other tests add some
    assert ours == set(RULES)
    assert set(pt.beliefs.registered()) == set(BELIEFS)
    assert all(attrs.has(cls) for cls in registered().values())


def offered(words):
    """What bash would offer for the last word."""
    environment = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_POTENTIA_COMPLETE": "complete_bash"}
    done = potentia(**environment)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("potentia sta", {"stability"}),
        ("potentia run st", {"stag-hunt"}),
        ("potentia run ring --rule p", {"p-sblll", "payoff-based"}),
        ("potentia run ring --seed 3 --rule l", {"lll"}),
        ("potentia run ring --belief", {"--belief", "--beliefs-every"}),
        ("potentia run ring --belief r", {"running-mean"}),
        ("potentia run ring --set pl", {"players="}),
        ("potentia run stag-hunt --set ", {"stag=", "hare="}),
        ("potentia cover --belief s", {"split-merge"}),
        ("potentia cover --rule blll --rule p-", {"p-sblll", "p-sblll:guarded", "p-sblll:unilateral"}),
        ("potentia audit ring --claimed w", {"welfare"}),
        ("potentia dynamics stag-hunt --choice ", {"gibbs", "burg", "tsallis:"}),
        ("potentia games ris", set()),
        ("potentia beliefs s", {"split-merge"}),
        ("potentia cite --format b", {"bibtex"}),
    ],
)
def test_the_shell_completes(words, expected):
    assert set(offered(words)) == expected


def test_completion_loads_nothing_heavy():
    """Speed itself is not asserted; what makes it is that these are not imported."""
    code = (
        "import atexit, sys\n"
        "heavy = ('numpy', 'numba', 'scipy', 'xarray', 'matplotlib')\n"
        "atexit.register(lambda: print([name for name in heavy if name in sys.modules], file=sys.stderr))\n"
        "sys.argv = ['potentia']\n"
        "from potentia.cli import main\n"
        "main()"
    )
    environment = {"COMP_WORDS": "potentia run ring --rule p", "COMP_CWORD": "4", "_POTENTIA_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    assert done.stdout.split() == ["p-sblll", "payoff-based"]
    assert done.stderr.strip() == "[]"
