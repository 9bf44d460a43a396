"""SIGTERM and kill -9: commands that are ended from outside leave neither processes nor half-written files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import psutil
import pytest

from potentia.engine import batch
from potentia.studies import executors
from potentia.studies.store import open_study
from tests.commands import POTENTIA, potentia
from tests.end_to_end.test_sweeps import first_chunk, saved
from tests.waiting import PATIENCE, wait_for

# A utility in plain Python, so that nothing is compiled: in a worker it may never end, elsewhere ask to stop.
GAME = """
import multiprocessing, os, signal
import potentia as pt

@pt.games.register_game("marked")
def marked(endless: int = 0, at: int = 0):
    def utility(player, profile, data):
        data["calls"] = data.get("calls", 0) + 1
        while data["endless"] and multiprocessing.current_process().name != "MainProcess":
            open("asked", "a").close()
        if data["calls"] == data["at"]:
            os.kill(os.getpid(), signal.SIGTERM)
        return float(profile[player])

    return pt.games.custom(utility, num_actions=[2, 2], data={"endless": endless, "at": at})
"""
STUDY = """
steps = 20
seeds = 100000
chunk = 1
record = "welfare"
game = {{ name = "marked", endless = {endless} }}
rule = {{ name = "lll", tau = 0.5 }}
"""
START = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.Handlers(int(sys.argv[1])))
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture
def start(tmp_path):
    """The command in a session of its own, with signals as a terminal leaves them; what is left of it is ended."""
    (tmp_path / "marked.py").write_text(GAME)
    started = []

    def begin(*args, heard=signal.SIG_DFL):
        process = subprocess.Popen(
            [sys.executable, "-c", START, str(int(heard)), POTENTIA, "--import", "marked.py", *map(str, args)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        for one in [*below(process.pid), *([process] if process.poll() is None else [])]:
            one.kill()
        process.communicate()


def below(pid):
    """The processes of a session but its first, zombies left out: nobody may be there to bury them."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != pid and os.getsid(process.pid) == pid and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="signals are not held back there")
def test_workers_hear_nothing_from_the_beginning():
    """Ctrl-C reaches the whole group, also those that are still loading."""
    with executors.local("processes", 1) as (pool, _):
        assert {signal.SIGINT, signal.SIGTERM} <= pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, []).result()
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_sigterm_ends_a_sweep_of_processes_like_ctrl_c(tmp_path, start):
    """To everybody, as batch systems send it: workers finish their chunks all the same."""
    (tmp_path / "study.toml").write_text(STUDY.format(endless=0))
    folder = tmp_path / "study.study"
    process = start("sweep", "study.toml", "--processes", "--workers", 1)
    first_chunk(process, folder)
    assert below(process.pid)
    os.killpg(process.pid, signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143, err
    number = len(saved(folder))
    hint = "go on with: potentia --import marked.py sweep study.study"
    assert err.splitlines()[-1] == f"stopped by SIGTERM; {number:,} of 100,000 runs are saved; {hint}"
    assert "Traceback" not in err
    assert open_study(folder).damaged() == {}
    wait_for(lambda: not below(process.pid), "the workers have left")


def test_workers_of_a_killed_sweep_leave_in_the_middle_of_a_chunk(tmp_path, start):
    (tmp_path / "study.toml").write_text(STUDY.format(endless=1))
    process = start("sweep", "study.toml", "--processes", "--workers", 1)
    wait_for((tmp_path / "asked").exists, "a worker is in the middle of a chunk", process)
    assert below(process.pid)
    process.kill()
    process.wait()
    wait_for(lambda: not below(process.pid), "the workers have left")


def test_sigterm_in_a_run(tmp_path, start):
    """What was computed is told and written, as with Ctrl-C."""
    process = start("run", "marked", "--set", "at=100", "--steps", 10**9, "--save", "a.nc", "--json")
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143, err
    assert "stopped by SIGTERM after" in err.splitlines()[-1]
    assert '"interrupted": true' in out
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == {"a.nc", "marked.py"}


@pytest.fixture
def stopped_on(monkeypatch):
    """SIGTERM as soon as the so-and-so-many-th run begins, or later ones."""

    def from_run(number):
        begun, begin = [], batch.begin

        def stopping(*args, **options):
            begun.append(1)
            if len(begun) == number:
                os.kill(os.getpid(), signal.SIGTERM)
            return begin(*args, **options)

        monkeypatch.setattr(batch, "begin", stopping)

    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield from_run
    signal.signal(signal.SIGTERM, before)


COMPARE = ("cover", "random:1", "--robots", 2, "--compare", "--rule", "blll", "--rule", "lll", "--workers", 1)


@pytest.mark.parametrize(("budget", "run"), [("1h", 1), ("1200", 5)])
def test_sigterm_ends_a_comparison_also_where_it_looks_how_fast_this_machine_is(budget, run, tmp_path, stopped_on):
    stopped_on(run)
    done = potentia(*COMPARE, "--steps", 20, "--budget", budget, "--no-optimum", "--out", tmp_path)
    said = "stopped by SIGTERM before the comparison was complete: nothing was written\n"
    assert (done.returncode, done.stderr) == (143, said)
    assert not list(tmp_path.iterdir())


def test_a_picture_of_a_part_of_a_run_is_none(tmp_path, stopped_on, monkeypatch):
    """What plays once more for a picture has no use for a part of that."""
    from potentia.engine.runs import Run

    _, advance = stopped_on(0), Run.advance

    def stopping(self, steps, *more, **options):
        if self.record == ():
            os.kill(os.getpid(), signal.SIGTERM)
        return advance(self, steps, *more, **options)

    monkeypatch.setattr(Run, "advance", stopping)
    done = potentia("run", "stag-hunt", "--rule", "soql", "--steps", 10, "--scores", tmp_path / "scores.png")
    assert done.returncode == 143, done.stderr
    assert done.stderr == "stopped\n"
    assert not list(tmp_path.iterdir())


TOLD = "Ctrl-C is ignored here, because this was started in the background or by a script; kill {} stops it as cleanly"


def test_what_ignores_ctrl_c_says_how_to_stop_it(tmp_path, start):
    process = start("run", "marked", "--set", "at=100", "--steps", 10**9, "--json", heard=signal.SIG_IGN)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143, err
    assert TOLD.format(process.pid) in err.splitlines()
    assert json.loads(out)["interrupted"]


@pytest.fixture
def in_the_background():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


PLAY = {
    "run": ("run", "stag-hunt", "--steps", 10),
    "sweep": ("sweep", "study.toml"),
    "cover": ("cover", "random:1", "--robots", 1, "--steps", 10, "--runs", 1, "--no-optimum", "--out", "out"),
    "reproduce": ("reproduce", "--workers", 1, "--out", "out"),
}


@pytest.mark.parametrize("name", PLAY)
def test_all_that_plays_says_so_but_only_where_it_plays(name, tmp_path, monkeypatch, in_the_background):
    def play(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("potentia.paper.case_study.play", play)
    monkeypatch.setattr("potentia.studies.coverage.cover", play)
    assert potentia("new", "study.toml", cwd=tmp_path).stderr == ""
    small = ("--set", "steps=10", "--set", "seeds=1") if name == "sweep" else ()
    done = potentia(*PLAY[name], *small, cwd=tmp_path, NUMBA_DISABLE_JIT="1")
    assert done.stderr.splitlines()[0] == TOLD.format(os.getpid())
    assert "Ctrl-C is ignored" not in done.stdout
    wrong = potentia(name, "--nonsense", cwd=tmp_path)
    assert wrong.stderr.count("\n") == 1


def test_sigterm_while_loading():
    code = (
        "import os, signal, sys; sys.argv = ['potentia', 'games']\n"
        "signal.signal(signal.SIGTERM, signal.SIG_DFL)\n"
        "class Press:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'numpy': os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.meta_path.insert(0, Press())\n"
        "from potentia.cli import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "stopped\n")
