"""potentia reproduce, with a case study that was not played; the real one is among the long tests."""

from __future__ import annotations

import json
import re
import signal

import pytest
from typer.testing import CliRunner

from potentia.cli.commands import app
from potentia.errors import DrawingFailed
from potentia.paper import case_claims, case_study, theory
from potentia.paper.report import sections
from potentia.paper.report.words import anchor
from potentia.studies.sweeping import Stopped
from tests import reproduction_fakes as fakes
from tests.commands import potentia
from tests.waiting import PATIENCE, wait_for, watched


@pytest.fixture
def faked(monkeypatch):
    """Everything but the playing and the drawing."""
    scales = []

    def play(kept, parts):
        scales.append((kept.scale.name, kept.scale.seed))
        return fakes.study()

    claims = fakes.claims()
    monkeypatch.setattr(case_study, "play", play)
    monkeypatch.setattr(case_claims, "claims", lambda study, names: [c for c in claims if c.kind == "experiment"])
    monkeypatch.setattr(case_claims, "tables", lambda study: fakes.tables())
    monkeypatch.setattr(theory, "check", lambda kept, names: [c for c in claims if c.kind == "theory"])
    monkeypatch.setattr(sections, "picture", fakes.undrawn)
    return scales


def run(*args):
    """With one worker: in a process of its own nothing would be faked."""
    return CliRunner().invoke(app, ["reproduce", "--workers", "1", *map(str, args)], env={"COLUMNS": "150"})


def test_a_table_and_last_the_path_of_the_report(faked, tmp_path):
    out = tmp_path / "new" / "folder"
    done = run("--quick", "--out", out)
    assert done.exit_code == 0, done.output
    lines = done.stdout.rstrip("\n").split("\n")
    assert lines[-1] == str(out / "report.html")
    assert lines[-2].startswith("Of 3 claims, 1 is supported")
    for words in ("✓ supported", "✗ not supported", "◐ depends on", "Not where utilities are coupled"):
        assert words in done.stdout
    assert "\x1b" not in done.stdout
    assert max(map(len, lines[:-1])) <= 150
    assert done.stderr == ""
    assert faked == [("quick", 0)]
    assert {path.name for path in out.iterdir()} == {"report.html", "claims.json", "figures", "data", "replays"}


def test_json_is_what_the_file_holds(faked, tmp_path):
    done = run("--out", tmp_path, "--json", "--seed", 7)
    assert done.exit_code == 0, done.output
    assert done.stdout == (tmp_path / "claims.json").read_text("utf-8")
    assert [claim["name"] for claim in json.loads(done.stdout)["claims"]] == [claim.name for claim in fakes.claims()]
    assert faked == [("full", 7)]


def test_a_figure_alone(faked, tmp_path):
    done = run("--quick", "--only", "fig. 2", "--seed", 3, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"fig-02-field.pdf", "fig-02-field.png"}
    assert json.loads((tmp_path / "claims.json").read_text("utf-8"))["only"] == "fig. 2"
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "potentia reproduce --quick --only &#39;fig. 2&#39;" in page  # the seed is that of what was played


@pytest.mark.parametrize("json_too", [False, True])
def test_pictures_that_fail_lose_neither_verdicts_nor_records(faked, tmp_path, monkeypatch, json_too):
    def undrawn(*_):
        raise ValueError("no ink")

    monkeypatch.setattr(sections, "picture", undrawn)
    done = run("--quick", "--out", tmp_path, *["--json"] * json_too)
    assert isinstance(done.exception, DrawingFailed)
    assert str(done.exception) == f"cannot draw {tmp_path / 'report.html'}: ValueError: no ink"
    if json_too:
        assert done.stdout == (tmp_path / "claims.json").read_text("utf-8")
    else:
        assert done.stdout.rstrip("\n").split("\n")[-1].startswith("Of 3 claims, 1 is supported")
    assert {path.name for path in tmp_path.iterdir()} == {"claims.json", "figures", "data"}
    assert {path.suffix for path in (tmp_path / "data").iterdir()} == {".nc", ".csv"}


def test_ctrl_c_in_a_batch_writes_nothing(faked, tmp_path, monkeypatch):
    def play(kept, parts):
        raise Stopped("stopped by Ctrl-C")

    monkeypatch.setattr(case_study, "play", play)
    done = run("--quick", "--out", tmp_path)
    assert done.exit_code == 130
    assert done.stderr == "stopped by Ctrl-C: nothing was written\n"
    assert not list(tmp_path.iterdir())


def test_sigterm_writes_nothing(faked, tmp_path, monkeypatch):
    def play(kept, parts):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(case_study, "play", play)
    done = potentia("reproduce", "--workers", 1, "--out", tmp_path / "out")
    assert (done.returncode, done.stderr) == (143, "stopped by SIGTERM: nothing was written\n")
    assert not list(tmp_path.iterdir())


def test_places_are_checked_before_any_work(tmp_path):
    """Without the fakes: playing would take minutes."""
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        done = potentia("reproduce", "--quick", "--out", out)
        assert done.returncode == 2
        assert done.stderr.startswith("error: --out: cannot create")
    (tmp_path / "taken" / "report.html").mkdir(parents=True)
    done = potentia("reproduce", "--quick", "--out", tmp_path / "taken")
    assert done.stderr.startswith("error: --out:")
    (tmp_path / "other").mkdir()
    for folder in ("data", "replays"):
        (tmp_path / "other" / folder).touch()
        done = potentia("reproduce", "--quick", "--out", tmp_path / "other")
        assert done.stderr.startswith("error: --out:")
        (tmp_path / "other" / folder).unlink()
    done = potentia("reproduce", "--quick", "--workers", 0, "--out", tmp_path / "x")
    assert done.stderr == "error: --workers must be an integer of at least 1, got 0\n"
    done = potentia("reproduce", "--quick", "--only", "Fig. 4", "--out", tmp_path / "x")
    assert done.stderr.startswith("error: --only must be a figure (Fig. 1, Fig. 2, ")
    assert done.stderr.endswith("got 'Fig. 4'; did you mean 'Fig. 9'?\n")
    done = potentia("reproduce", "--quick", "--seed", -1, "--out", tmp_path / "x")
    assert done.stderr.startswith("error: --seed must be an integer")
    assert not (tmp_path / "x").exists()


def test_a_real_ctrl_c_says_what_is_kept(tmp_path):
    out = tmp_path / "out"
    with watched(tmp_path / "told", "reproduce", "--quick", "--out", out) as (process, told):
        wait_for(lambda: list(out.glob("studies/*/manifest.json")), "the first batch has begun", process)
        process.send_signal(signal.SIGINT)
        said, complained = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert said == ""
    # a lock that was just being made is one that loky's tracker may look for in vain, and it says so
    tracker = re.compile(r".*loky/backend/resource_tracker\.py:\d+: UserWarning: .*\n +warnings\.warn\(.*\n")
    late = re.compile(r"waiting for chunks under way, \d+ at most; .*\n")  # which a busy machine takes its time over
    told = f"what was played is kept in {out / 'studies'}, and the same command goes on from there"
    assert late.sub("", tracker.sub("", complained)) == f"stopped by Ctrl-C: {told}\n"
    assert {path.name for path in out.iterdir()} == {"studies"}


@pytest.mark.long
def test_the_real_report(tmp_path):
    done = potentia("reproduce", "--quick", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().split("\n")[-1] == str(tmp_path / "report.html")
    found = json.loads((tmp_path / "claims.json").read_text("utf-8"))
    assert {claim["kind"] for claim in found["claims"]} == {"experiment", "theory"}
    page = (tmp_path / "report.html").read_text("utf-8")
    assert len(page) < 6e6
    for claim in found["claims"]:
        assert f'id="claim-{anchor(claim["name"])}"' in page
    for path in (tmp_path / "replays").iterdir():
        assert f'href="replays/{path.name}"' in page
        assert path.stat().st_size < 1e6
