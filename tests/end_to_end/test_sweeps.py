"""Sweeps that are killed, stopped, run in several ways and by two processes at once: the result is the same."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys

import numpy as np
import pytest
import xarray

from potentia.studies.store import open_study
from potentia.studies.sweeping import sweep
from tests.commands import POTENTIA, potentia
from tests.waiting import wait_for

pytestmark = pytest.mark.xdist_group("sweeps")  # one worker makes what they share

STUDY = {
    "steps": 100,  # some thousandths of a second in plain Python
    "seeds": 10,
    "chunk": 1,
    "record": ["potential", "profile"],
    "every": 5,
    "game": {"name": "ring", "players": [20, 30]},
    "rule": {"name": "p-sblll", "tau": [0.2, 0.3, 0.4, 0.5], "revision": 0.3},
}
CHUNKS = 80

# Everything is imported and compiled once; each sweep is then a process of its own, without threads at first.
SERVER = """
import os, signal, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import json
from potentia.errors import PotentiaError
from potentia.studies.sweeping import sweep

study, folder, log = json.loads(Path(sys.argv[1]).read_text()), sys.argv[2], sys.argv[3]
sweep(study | {"steps": 10, "seeds": 1}, folder + "-warm")

counting, left = False, 0

def kill(event, args):
    # at the n-th file or folder of the study that is made, opened or renamed
    global left
    if counting and event in ("open", "os.mkdir", "os.rename") and str(args[0]).startswith(folder):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

class Logging(ThreadPoolExecutor):
    def submit(self, fn, task):
        global counting
        counting = True
        with open(log, "a") as file:
            file.write(f"{task.chunk.point}-{task.chunk.first}\\n")
        return super().submit(fn, task)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        code = 1
        when, left = line.split()[0], int(line.split()[1])
        counting = when == "making"
        sys.addaudithook(kill)
        try:
            pool = Logging(1)
            sweep(study, folder, executor=pool)
            code = 0
        except PotentiaError as error:
            print(error, file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    print(os.waitpid(child, 0)[1], flush=True)
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The same study without any trouble, by one thread."""
    return sweep(STUDY, tmp_path_factory.mktemp("whole") / "study")


@pytest.fixture(scope="module")
def whole(study):
    return study.dataset()


def saved(folder):
    """The chunks that are there, and what tells whether a file was written again."""
    return {p.name: (p.stat().st_ino, p.stat().st_mtime_ns) for p in folder.glob("chunks/*.npz")}


@pytest.mark.parametrize("kills", [8, pytest.param(40, marks=pytest.mark.long)])
def test_killed_again_and_again(tmp_path, study, whole, kills):
    """Kill -9 at random moments, also before anything is there; then it goes on. A moment is the n-th file touched."""
    draw = random.Random(7)
    called = {study.address(chunk).name: f"{chunk.point}-{chunk.first}" for chunk in study.chunks()}

    def place(name):
        return called[name.rpartition("-")[0]]

    folder, log = tmp_path / "study", tmp_path / "log"
    (tmp_path / "study.json").write_text(json.dumps(STUDY))
    command = [sys.executable, "-c", SERVER, tmp_path / "study.json", folder, log]
    statuses, in_the_middle, played_twice = [], 0, 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as server:

        def play(when="playing", until=0):
            server.stdin.write(f"{when} {until}\n")
            return int(server.stdout.readline())

        for number in range(kills):
            before = saved(folder)
            log.write_text("")
            statuses.append(play("making" if number < kills // 4 else "playing", draw.randint(1, 12)))
            after = saved(folder)
            assert {name: after[name] for name in before} == before  # nothing that was saved is written again
            played = log.read_text().split()
            assert not set(played) & set(map(place, before))  # nor played again
            in_the_middle += 0 < len(after) < CHUNKS
            played_twice += len(set(played) - set(map(place, after)))
        before = saved(folder)
        log.write_text("")
        assert play() == 0
        after, played = saved(folder), log.read_text().split()
        server.stdin.close()
    assert statuses == [signal.SIGKILL] * kills
    assert in_the_middle >= kills // 2
    assert played_twice > 0  # chunks under way were lost: the kills hit work
    assert len(after) == CHUNKS
    assert {name: after[name] for name in before} == before
    assert sorted(played) == sorted(set(map(place, after)) - set(map(place, before)))
    xarray.testing.assert_identical(open_study(folder).dataset(), whole)
    assert not list(folder.rglob(".*-*"))  # nothing half written is left


@pytest.mark.parametrize(("kind", "workers"), [("threads", 2), ("processes", 2)])
def test_however_it_is_run(tmp_path, whole, kind, workers):
    done = sweep(STUDY, tmp_path / "study", executor=kind, workers=workers)
    xarray.testing.assert_identical(done.dataset(), whole)
    for name in ("potential", "profile", "final"):
        assert done.dataset()[name].values.tobytes() == whole[name].values.tobytes()


def write_toml(path, **changes):
    plain = {**STUDY, **changes}
    game, rule = plain.pop("game"), plain.pop("rule")
    lines = [f"{name} = {json.dumps(entry)}" for name, entry in plain.items()]
    for section, table in (("game", game), ("rule", rule)):
        lines += [f"[{section}]", *(f"{name} = {json.dumps(entry)}" for name, entry in table.items())]
    path.write_text("\n".join(lines))
    return path


def start(*args):
    """The command in a process group of its own, as a terminal starts it."""
    return subprocess.Popen(
        [POTENTIA, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def first_chunk(process, folder):
    wait_for(lambda: saved(folder), "a chunk is saved", process)


@pytest.mark.parametrize(
    "how",
    [[], ["--processes"], pytest.param(["--dask", "local"], marks=pytest.mark.long)],
    ids=["threads", "processes", "dask"],
)
def test_ctrl_c(tmp_path, whole, how):
    """To the whole group, as a terminal sends it: workers hear it too."""
    if "--dask" in how:
        pytest.importorskip("distributed")
        pytest.importorskip("cryptography")
    toml, folder = write_toml(tmp_path / "study.toml", seeds=1000), tmp_path / "study.study"  # would take a minute
    with start("sweep", toml, "--workers", 2, *how) as process:
        first_chunk(process, folder)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130, (out, err)
    there = saved(folder)
    said = f"stopped by Ctrl-C; {len(there)} of 8,000 runs are saved; go on with: potentia sweep {folder}"
    assert [line for line in err.splitlines() if not line.startswith("waiting for ")] == [said]
    assert not list(folder.rglob(".*-*"))
    study = open_study(folder)
    assert study.damaged() == {}
    assert study.num_chunks - len(study.missing()) == len(there)
    found = study.dataset(partial=True).isel(seed=slice(10), players=0, tau=0).potential.values
    known = ~np.isnan(found)
    assert known[0].all()
    assert (found[known] == whole.isel(players=0, tau=0).potential.values[known]).all()


def test_two_at_once(tmp_path, whole):
    """While one sweeps, and is held up, the other is told; the first then ends well."""
    toml, folder = write_toml(tmp_path / "study.toml", seeds=40), tmp_path / "study.study"  # some seconds
    with start("sweep", toml, "--workers", 1) as process:
        first_chunk(process, folder)
        os.killpg(process.pid, signal.SIGSTOP)
        with start("sweep", toml) as other:
            out, err = other.communicate()
        assert other.returncode == 2
        assert err.splitlines() == [f"error: {folder} is in use: another process is sweeping it"], (out, err)
        partial = open_study(folder).dataset(partial=True)  # readers may look meanwhile
        os.killpg(process.pid, signal.SIGCONT)
        out, err = process.communicate()
    assert process.returncode == 0, (out, err)
    done = open_study(folder).dataset()
    for name in ("potential", "profile", "final"):
        assert done[name].isel(seed=slice(10)).values.tobytes() == whole[name].values.tobytes()
    seen = ~np.isnan(partial.potential.values)
    assert seen.any()
    assert (partial.potential.values[seen] == done.potential.values[seen]).all()


def test_two_that_start_together(tmp_path, whole):
    toml, folder = write_toml(tmp_path / "study.toml", chunk=None), tmp_path / "study.study"
    toml.write_text("\n".join(line for line in toml.read_text().splitlines() if "null" not in line))
    with start("sweep", toml) as one, start("sweep", toml) as two:
        ends = [(process.communicate()[1], process.returncode) for process in (one, two)]
    assert 0 in [code for _, code in ends], ends
    for err, code in ends:
        assert code == 0 or (code == 2 and "in use" in err and len(err.splitlines()) == 1), ends
    study = open_study(folder)
    assert study.damaged() == {}
    xarray.testing.assert_identical(study.dataset().drop_attrs(), whole.drop_attrs())


# Commands ---------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path):
    """A command as typed in an empty folder: exit code, output and errors."""

    def command(*args):
        done = potentia(*args, cwd=tmp_path)
        return done.returncode, done.stdout, done.stderr

    return command


def test_the_commands_from_beginning_to_end(tmp_path, run):
    assert run("new", "study.toml")[0] == 0
    small = ["--set", "steps=200", "--set", "seeds=2", "--set", "every=100", "--set", "chunk=1"]
    assert json.loads(run("sweep", "study.toml", *small, "--dry-run", "--json")[1])["runs"] == 12
    assert not (tmp_path / "study.study").exists()
    done = json.loads(run("sweep", "study.toml", *small, "--json")[1])
    assert done == {"study": "study.study", "runs": 12, "chunks": 12, "computed": 12}
    code, _, err = run("sweep", "study.study", "--set", "steps=5")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "potentia sweep SPECIFICATION.toml --set seeds=N --out study.study" in err
    victim = sorted((tmp_path / "study.study" / "chunks").iterdir())[3]
    victim.write_bytes(victim.read_bytes()[:-1])
    code, out, _ = run("show", "study.study", "--verify")
    assert code == 1
    assert victim.name in out
    assert "11 of 12 chunks are whole, 1 damaged, 0 missing" in out
    code, _, err = run("sweep", "study.study")
    assert code == 2
    assert victim.name in err
    assert "--repair" in err
    code, out, _ = run("sweep", "study.study", "--repair")
    assert "12 runs, complete (1 of them played now)" in out
    assert run("show", "study.study", "--verify")[0] == 0
    assert "nothing was missing" in run("sweep", "study.study")[1]
    assert json.loads(run("sweep", "study.study", "--dry-run", "--json")[1])["missing"] == 0
    more = [*small, "--set", "seeds=3", "--set", "rule.tau=[0.1,0.2,0.3,0.5]"]
    assert json.loads(run("sweep", "study.toml", *more, "--dry-run", "--json")[1])["there"] == 12
    code, out, _ = run("sweep", "study.toml", *more)
    assert code == 0
    assert "study.study grows from 12 to 24 runs\n" in out
    assert "study.study: 24 runs, complete (12 of them played now)\n" in out
    code, _, err = run("sweep", "study.toml", *small)
    assert (code, len(err.splitlines())) == (2, 1)
    assert "study.study holds more: it has seeds 2, which this specification does not ask for" in err
    assert err.endswith(
        "; go on with: potentia sweep study.study; to let it grow, ask for what it has too, in the file or with --set; "
        "give another folder with --out\n"
    )
    assert run("export", "study.study", "data.nc")[0] == 0
    with xarray.open_dataset(tmp_path / "data.nc") as data:
        np.testing.assert_array_equal(data.potential, open_study(tmp_path / "study.study").dataset().potential)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["seeds=1e9"], "this makes 8,000,000,000 runs"),
        (["steps=soon"], "steps must be a whole number, got 'soon'"),
        (["rule.tau=[]"], "rule.tau must have at least one value, got an empty list"),
    ],
)
def test_one_line_and_nothing_written(tmp_path, run, changes, message):
    toml = write_toml(tmp_path / "study.toml")
    code, _, err = run("sweep", toml, *(word for change in changes for word in ("--set", change)))
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]
