"""The command line as a user types it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import xarray

from tests.commands import POTENTIA, potentia
from tests.waiting import PATIENCE, wait_for, watched


def test_help_teaches():
    done = potentia("--help")
    assert done.returncode == 0
    for word in ("games", "rules", "run", "--tau", "seed"):
        assert word in done.stdout
    assert "geometric:START:STOP" in potentia("run", "--help", COLUMNS="200").stdout


def test_help_loads_nothing_heavy():
    """Speed itself is measured in benchmarks; what makes it is that these are not imported."""
    code = (
        "import sys; import potentia.cli, potentia.cli.commands, potentia\n"
        "heavy = ('numpy', 'numba', 'scipy', 'xarray', 'matplotlib')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.parametrize("command", ["games", "rules"])
def test_lists(command):
    rows = json.loads(potentia(command, "--json").stdout)
    assert len(rows) >= 5
    first = rows[0][command[:-1]]
    assert first in potentia(command).stdout
    assert json.loads(potentia(command, first, "--json").stdout) == rows[:1]


def test_run_repeats_with_its_seed():
    def result(*args):
        out = json.loads(potentia("run", "stag-hunt", "--tau", "0.5", "--steps", "500", "--json", *args).stdout)
        return {k: v for k, v in out.items() if "second" not in k}

    once = result("--seed", "3", "--runs", "3")
    assert once == result("--seed", "3", "--runs", "3", "--workers", "2")
    assert once != result("--seed", "4", "--runs", "3")
    assert once["seeds"] == [3, 4, 5]
    assert once["rule"] == {"rule": "lll", "tau": 0.5}


def test_run_writes_what_it_was_asked_for(tmp_path):
    done = potentia(
        *("run", "ring", "--set", "players=12", "--rule", "p-sblll", "--guard", "--revision", "0.2", "--steps", "300"),
        *("--tau", "geometric:1:0.1", "--runs", "2", "--plot", tmp_path / "a.png", "--save", tmp_path / "a.nc"),
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    data = xarray.load_dataset(tmp_path / "a.nc", engine="scipy")
    assert data.potential.dims == ("seed", "time")
    assert "final profile" in done.stdout


BAD = {
    "unknown game": (["run", "rings"], "did you mean 'ring'"),
    "unknown rule": (["run", "ring", "--rule", "llll"], "did you mean 'lll'"),
    "tau": (["run", "ring", "--tau", "-1"], "--tau must be finite and > 0, got -1.0"),
    "tau not a number": (["run", "ring", "--tau", "warm"], "--tau must be a number"),
    "tau nan": (["run", "ring", "--tau", "nan"], "--tau must be finite"),
    "schedule": (["run", "ring", "--tau", "geometric:1"], "geometric:START:STOP"),
    "revision": (
        ["run", "ring", "--rule", "slll", "--revision", "1.5"],
        "--revision must be a number in (0, 1], got 1.5",
    ),
    "revision not for lll": (["run", "ring", "--revision", "0.5"], "--revision is not for lll"),
    "guard not for blll": (["run", "ring", "--rule", "blll", "--guard"], "--guard is not for blll"),
    "trial": (["run", "ring", "--rule", "p-sblll", "--trial", "both"], '--trial must be "joint" or "unilateral"'),
    "steps": (["run", "ring", "--steps", "-5"], "--steps must be an integer of at least 0, got -5"),
    "seed": (["run", "ring", "--seed", "-1"], "--seed must be an integer of at least 0, got -1"),
    "runs": (["run", "ring", "--runs", "0"], "--runs must be an integer of at least 1, got 0"),
    "too many runs": (["run", "ring", "--runs", "1000000000000000000"], "the machine has"),
    "workers": (["run", "ring", "--workers", "0"], "--workers must be an integer of at least 1, got 0"),
    "every": (["run", "ring", "--every", "0"], "--every must be an integer of at least 1, got 0"),
    "start": (["run", "stag-hunt", "--start", "0,7"], "--start must have player 1's action in 0..1, got 7"),
    "start not numbers": (["run", "stag-hunt", "--start", "a,b"], "--start must be integers"),
    "parameter": (["run", "ring", "--set", "player=5"], "did you mean 'players'"),
    "parameter value": (
        ["run", "ring", "--set", "players=many"],
        "--set players must be an integer of at least 3, got 'many'",
    ),
    "no assignment": (["run", "ring", "--set", "players"], "--set takes NAME=VALUE"),
    "too small": (["run", "ring", "--set", "players=2"], "--set players must be an integer of at least 3, got 2"),
    "too large": (["run", "random-potential", "--set", "players=60"], "the machine has"),
    "picture": (["run", "ring", "--plot", "a.foo"], "must end in one of"),
    "tau not for best response": (["run", "ring", "--rule", "best-response", "--tau", "1"], "--tau is not for"),
    "folder": (["run", "ring", "--plot", "nowhere/at/all.png"], "there is no folder"),
    "game name": (["games", "nothing"], "GAME must be one of"),
    "belief name": (["beliefs", "nothing"], "BELIEF must be one of"),
    "rule name": (["rules", "nothing"], "RULE must be one of"),
    "tau in the rule": (["run", "ring", "--rule", "lll:tau=warm"], "--rule lll: tau must be a number"),
    "revision not numbers": (["run", "ring", "--rule", "slll", "--revision", "x"], "--revision must be numbers"),
    "unknown option": (["run", "ring", "--stepz", "5"], "has no option --stepz; did you mean '--steps'?"),
    "unknown short option": (["run", "ring", "-x"], "has no option -x; see: potentia run --help"),
    "unknown option before": (["--foo"], "potentia has no option --foo; see: potentia --help"),
    "unknown command": (["rn", "ring"], "no command 'rn'; did you mean 'run'? See: potentia --help"),
    "beginning of a command": (["stab"], "did you mean 'stability'?"),
    "no command": (["--"], "Missing command"),
    "no game": (["run"], "GAME is missing; see: potentia run --help"),
    "no value": (["run", "ring", "--seed"], "--seed needs a value; see: potentia run --help"),
    "value of a flag": (["games", "--json=3"], "--json takes no value; see: potentia games --help"),
    "not a whole number": (["run", "ring", "--seed", "x"], "--seed must be a whole number, got 'x'"),
    "half a run": (["cover", "--runs", "1.5"], "--runs must be a whole number, got '1.5'"),
    "not a number": (["dynamics", "ring", "--tau", "x"], "--tau must be a number, got 'x'"),
    "steps not a number": (["run", "ring", "--steps", "abc"], "--steps must be a whole number, got 'abc'"),
    "too many steps": (["run", "ring", "--steps", "1e400"], "--steps must be a whole number, got '1e400'"),
    "two games": (["run", "ring", "torus"], "potentia run takes GAME, got also 'torus'"),
    "two rules": (["run", "ring", "--rule", "lll", "--rule", "blll"], "potentia cover and potentia sweep compare"),
    "two seeds": (["run", "ring", "--seed", "1", "--seed=2"], "--seed must be given once, got it 2 times"),
    "yes and no": (["cover", "--flags", "--no-flags"], "--flags or --no-flags must be given once"),
    "no file": (["run", "nowhere.json"], "nowhere.json: there is no such file"),
    "a name in no encoding": (["run", b"\xff.json"], "there is no such file"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_clear_line(case):
    args, message = BAD[case]
    done = potentia(*args)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert done.stdout == ""


def test_what_may_be_repeated_may_be():
    args = ("run", "random-potential", "--set", "players=2", "--set", "actions=2", "--steps", "5", "--json", "--json")
    done = potentia(*args)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["final_profile"]) == 2


def test_an_error_that_is_not_the_users_keeps_its_traceback():
    code = (
        "import sys; sys.argv = ['potentia', 'games']\n"
        "from potentia import cli\n"
        "from potentia.games import library\n"
        "library.registered_games = lambda: 1 / 0\n"
        "cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr


@pytest.mark.parametrize("args", ["games", "--help", "games --json"])  # what rich, typer and we ourselves print
def test_a_reader_that_leaves_early_is_no_error(args):
    """As in ``potentia games | head -1``; the other end is closed before anything is written."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([POTENTIA, *args.split()], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", ["games", "cite"])
def test_a_full_disk_is_one_line(command):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([POTENTIA, command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: No space left on device\n"


@pytest.mark.parametrize(
    ("args", "code"),
    [(["games", "ring"], 0), (["run", "τ"], 2), (["run", "--help"], 0), (["stability", "stag-hunt"], 0)],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_the_installed_command_says_what_the_tests_see(args, code):
    """The other tests call it in their own process."""
    there = subprocess.run([POTENTIA, *args], capture_output=True, text=True, check=False)
    here = potentia(*args)
    assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)
    assert there.returncode == code


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_terminals_without_greek(encoding):
    done = potentia("stability", "stag-hunt", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("τ → 0" if encoding == "utf-8" else "tau -> 0") in done.stdout
    said = potentia("run", "τ", PYTHONIOENCODING=encoding).stderr
    assert said.startswith("error: ")
    assert said.endswith("got 'τ'\n" if encoding == "utf-8" else "got 'tau'\n")


def test_ctrl_c_while_loading():
    code = (
        "import os, signal, sys; sys.argv = ['potentia', 'games']\n"
        "class Press:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == LATE: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Press())\n"
        "from potentia.cli import main\n"
        "main()"
    )
    for late in ("typer", "numpy"):  # the command line itself; what a command needs
        done = subprocess.run(
            [sys.executable, "-c", f"LATE = {late!r}\n{code}"], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")


def test_every_command_is_listed_and_explained_alike():
    from potentia.cli.commands import SECTIONS, app

    placed = [function.__name__ for functions in SECTIONS.values() for function in functions]
    commands = [command.callback.__name__ for command in app.registered_commands]
    assert len(set(placed)) == len(placed)
    assert commands == placed
    whole = potentia().stdout
    assert whole == potentia("--help").stdout
    listed = [line.split()[0] for line in whole.partition("Play:")[2].splitlines() if line.startswith("  ")]
    assert listed == placed
    assert "..." not in whole.partition("Play:")[2], "a summary is too long for its line"
    for command in commands:
        shown = potentia(command, "--help").stdout
        assert "\n  Examples:\n\n" in shown, command
        assert f"\n      potentia {command}" in shown, command
        assert "--json" in shown, command


def test_a_second_process_compiles_nothing(tmp_path):
    """The first run fills the cache; the second finds everything there."""
    code = (
        "import sys; import potentia as pt\n"
        "pt.run(pt.game('stag-hunt'), pt.rule('lll', tau=0.5), 50, compiled=True)\n"
        "from potentia.kernel.cache import entries\n"
        "print(sum(e.cache_misses for e in entries), sum(e.cache_hits for e in entries), file=sys.stderr)"
    )

    def misses_and_hits():
        environment = {**os.environ, "POTENTIA_CACHE_DIR": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
        return tuple(int(n) for n in done.stderr.split())

    first, second = misses_and_hits(), misses_and_hits()
    assert first[0] > 0
    assert second == (0, first[0])


def test_ctrl_c_keeps_what_was_computed(tmp_path):
    """A run far too long to finish, stopped like a user would: a result, a note and no traceback."""
    code = """
import os, signal, warnings
import potentia as pt
game, rule = pt.game("ring"), pt.rule("lll", tau=0.3)
warnings.simplefilter("always")
def press(done, total):
    if done >= 3000:
        os.kill(os.getpid(), signal.SIGINT)
trace = pt.run(game, rule, 10**12, seed=5, every=1000, record=("potential", "profile"), progress=press)
assert not trace.complete and trace.steps >= 3000, trace
assert len(trace.potential) == len(trace.times) == trace.steps // 1000 + 1
again = pt.run(game, rule, trace.steps, seed=5, record=())
assert (again.final == trace.final).all()
batch = pt.run_batch(game, rule, 10**9, range(4), every=10**7, record="potential", workers=2, progress=press)
assert batch.attrs["interrupted"] == 1 and int(batch.steps_done.max()) >= 3000
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print("kept")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "kept", done.stderr
    assert "stopped by Ctrl-C" in done.stderr


def test_an_impatient_second_ctrl_c_leaves_a_consistent_run():
    """In plain Python it breaks into a step; the run then stands where its last whole step ended."""
    code = """
import os, signal, warnings
import potentia as pt
warnings.simplefilter("ignore")
calls, presses = [], []
def utility(player, profile, data):
    calls.append(player)
    if len(calls) in presses:
        os.kill(os.getpid(), signal.SIGINT)
    return float(profile[player])
game, rule = pt.games.custom(utility, [2, 2]), pt.rule("slll", tau=1.0, revision=1.0)
assert not game.compiled
def played(steps):
    calls.clear()
    return pt.run(game, rule, steps, seed=1), len(calls)
first, one = played(1)
assert played(2)[1] > one + 2
presses += [one + 1, one + 2]  # both in the second step
trace, asked = played(10_000)
assert asked == one + 2, asked  # the second press broke into it
assert trace.steps == 1 and not trace.complete, trace
assert trace.profiles[-1].tolist() == trace.final.tolist() == first.final.tolist()
print("consistent")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "consistent", done.stderr


def test_ctrl_c_on_the_command_line(tmp_path):
    """The table, the files and one line, with numbers of the profile that was reached; exit code 130."""
    args = ("run", "ring", "--steps", 10**13, "--every", 10**11, "--runs", 3, "--workers", 2, "--json")
    with watched(tmp_path / "told", *args, "--save", tmp_path / "a.nc") as (process, told):
        wait_for(lambda: [done for done, _ in told() if int(done) > 1000], "it has played", process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert err.strip().startswith("stopped by Ctrl-C after")
    assert "\n" not in err.strip()
    summary = json.loads(out)
    assert summary["interrupted"] is True
    assert summary["potential_end"] > summary["potential_start"]
    assert 0 < summary["acceptance"] < 1
    assert xarray.load_dataset(tmp_path / "a.nc", engine="scipy").attrs["interrupted"] == 1


def test_an_edited_utility_takes_effect_in_the_next_process(tmp_path):
    """The stale-cache trap: same file, same function name, same types, other numbers."""
    script = tmp_path / "mine.py"
    body = """
import potentia as pt

def utility(player, profile, data):
    return {gain} if profile[player] == {favourite} else 0.0

game = pt.games.custom(utility, [3, 3])
assert game.compiled
print(pt.run(game, pt.rule("lll", tau=0.01), 200, record=()).final.tolist())
"""
    environment = {**os.environ, "POTENTIA_CACHE_DIR": str(tmp_path / "cache")}

    def run_it(favourite, gain="1.0"):
        script.write_text(body.format(favourite=favourite, gain=gain))
        os.utime(script, (1, 1))  # not even the time of the file changes
        return subprocess.check_output([sys.executable, script], text=True, env=environment).strip()

    assert run_it(0) == "[0, 0]"
    assert run_it(2) == "[2, 2]"
    kernels = list((tmp_path / "cache").rglob("*.nbc"))
    assert kernels == [], "a kernel with a user's function in it was written to disk"


def test_sources_are_part_of_the_cache_key(tmp_path, monkeypatch):
    """An edit wherever kernels come from names another cache directory; one to the command line does not."""
    from potentia.kernel import cache_folder

    (tmp_path / "games").mkdir()
    monkeypatch.setattr(cache_folder, "_PACKAGE", tmp_path)
    names = []
    for place, text in (("games/a.py", "x = 1\n"), ("games/a.py", "x = 2\n"), ("cli.py", "x = 3\n")):
        (tmp_path / place).write_text(text)
        names.append(cache_folder.source_hash.__wrapped__())
    assert names[0] != names[1] == names[2]


def test_every_kernel_comes_from_hashed_sources():
    """Compiled functions and records elsewhere would run as they were before an edit."""
    import potentia
    from potentia.kernel import cache_folder

    root = Path(potentia.__file__).parent
    marks = ("@portable", "@generic", "Entry(", ".register(")
    for path in root.rglob("*.py"):
        if path.relative_to(root).parts[0] not in cache_folder._COMPILED:
            lines = path.read_text(encoding="utf-8").splitlines()
            code = [line for line in lines if not line.lstrip().startswith((">>>", "..."))]
            assert not any(mark in line for mark in marks for line in code), path


def test_a_damaged_or_unwritable_cache_only_costs_time(tmp_path):
    """With the smallest kernel that there is."""
    code = """
import numpy as np
from potentia.analysis.chains.elimination import gth_entry
law = np.empty(2)
gth_entry(np.array([[0.5, 0.5], [0.25, 0.75]]), law, compiled=True)
print(law.tolist(), gth_entry.cache_hits)
"""

    def law_and_hits(folder):
        environment = {**os.environ, "POTENTIA_CACHE_DIR": str(folder)}
        return subprocess.check_output([sys.executable, "-c", code], text=True, env=environment).rsplit(maxsplit=1)

    good, hits = law_and_hits(tmp_path)
    assert hits == "0"
    assert law_and_hits(tmp_path) == [good, "1"]
    (file,) = tmp_path.rglob("*.nbc")
    file.write_bytes(file.read_bytes()[:100])
    assert law_and_hits(tmp_path) == [good, "0"]
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    assert law_and_hits(occupied) == [good, "0"]
