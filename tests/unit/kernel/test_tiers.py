"""When a kernel is loaded, asked for and given up; and the processes and threads that compile it."""

from __future__ import annotations

import contextlib
import gc
import inspect
import os
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import potentia as pt
from potentia.engine import loop, tier
from potentia.engine.batch import play_batch
from potentia.engine.tier import Tier
from potentia.errors import NotCompiled
from potentia.kernel import background, cache, cache_folder, garbage, tiers
from potentia.kernel.shapes import filled, shape_of, shape_of_type
from tests import games
from tests.waiting import wait_for


def twice(values):
    for k in range(values.shape[0]):
        values[k] *= 2.0


class Job:
    """A compiler that says what it is told to."""

    def __init__(self, state):
        self.process, self.said, self._state = os.getpid(), "it was killed", state

    def state(self):
        return self._state


@pytest.fixture
def kernel(monkeypatch, tmp_path):
    """Of a function of ours, with a cache of its own and a compiler that does nothing."""
    monkeypatch.setattr(cache, "entries", [])
    monkeypatch.setattr(cache_folder, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(cache, "may_keep", lambda function, shape: True)
    monkeypatch.setattr(tiers, "may_keep", lambda function, shape: True)
    asked = []

    def ask(entry, make, path, shape):
        asked.append(shape)
        return Job(kernel.next)

    monkeypatch.setattr(background, "ask", ask)
    monkeypatch.setattr(background, "cores", lambda: 2)
    monkeypatch.setattr(tiers, "_WORTH", 1.0)
    kernel = cache.Entry(twice).kernel((np.ones(3),))
    kernel.asked, kernel.next = asked, background.RUNNING
    return kernel


def test_machine_code_that_somebody_has_waited_for_is_there_for_all(kernel):
    kernel.entry(np.ones(3), compiled=True)
    assert kernel.is_ready()
    kernel.entry.ready.clear()
    kernel.loaded = False
    assert not kernel.is_ready(), "or this test shows nothing"


def test_a_thread_is_asked_for_more_than_a_process_is(kernel, monkeypatch):
    """It has the interpreter from those who play."""
    monkeypatch.setattr(tiers, "_WORTH_HERE", 3.0)
    monkeypatch.setattr(tiers, "is_kept", lambda: False)
    for played, asked in ((2.9, 0), (3.1, 1)):
        kernel.played = played
        assert not kernel.is_ready()
        assert len(kernel.asked) == asked


def test_a_run_gives_way_to_a_thread_that_compiles_for_it(kernel, monkeypatch):
    monkeypatch.setattr(tiers, "_WORTH_HERE", 3.0)
    kernel._job = object.__new__(background.Thread)
    assert kernel.gives_way(left=3.1)
    assert not kernel.gives_way(left=2.9), "the run may end before the compiler does"
    kernel._job = Job(background.RUNNING)
    assert not kernel.gives_way(left=100.0), "a process has an interpreter of its own"
    slept = []
    monkeypatch.setattr(tier, "time", SimpleNamespace(sleep=slept.append))
    monkeypatch.setattr(tiers.Kernel, "is_ready", lambda kernel, left: False)
    monkeypatch.setattr(tiers.Kernel, "gives_way", lambda kernel, left: True)
    pt.begin(games.custom(), pt.rule("lll", tau=0.5)).advance(20)
    assert max(slept) > 0.0
    assert max(slept) <= 0.05


@pytest.mark.parametrize("beside", [True, False])
def test_a_thread_leaves_the_warnings_of_others_alone(beside, monkeypatch):
    """Numba takes them all while it infers types; a thread that compiles beside a run must not."""
    from numba.extending import overload

    monkeypatch.setattr(cache, "entries", [])
    usual, during = warnings.filters, []

    def look():
        pass

    @overload(look)
    def choose():
        during.append(warnings.filters)
        return lambda: None

    entry = cache.Entry(lambda number: look())
    if beside:
        job = background.Thread(entry, lambda: (1,))
        job.thread.join()
        assert (job.state(), job.said) == (background.DONE, "")
    else:
        entry.compile((1,))
    assert during
    assert all(filters is usual for filters in during) == beside


@pytest.mark.parametrize(("played", "left", "asked"), [(0.3, 0.6, 0), (0.3, 0.8, 1), (0.03, 5.0, 1), (1.1, 0.0, 1)])
def test_nothing_is_asked_for_a_short_run(kernel, played, left, asked):
    kernel.played = played
    assert not kernel.is_ready(left)
    assert len(kernel.asked) == asked


def test_on_one_core_half_a_second_is_played_first(kernel, monkeypatch):
    monkeypatch.setattr(background, "cores", lambda: 1)
    kernel.played = 0.4
    assert not kernel.is_ready(left=100.0)
    assert not kernel.asked
    kernel.played = 0.6
    assert not kernel.is_ready(left=100.0)
    assert kernel.asked


def test_a_kernel_is_not_loaded_for_a_moment(kernel):
    path = cache.kernel_file(twice, kernel.shape)
    cache.Entry(twice).compile(filled(kernel.shape))  # somebody else
    assert path.exists()
    assert not kernel.is_ready(left=0.01)
    assert kernel.is_ready(left=10.0)
    values = np.ones(3)
    kernel.call((values,))
    assert values.tolist() == [2.0] * 3


def test_a_busy_compiler_is_asked_again_later(kernel, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(tiers.time, "monotonic", lambda: now[0])
    kernel.played, kernel.next = 1.0, background.BUSY
    for _ in range(4):
        assert not kernel.is_ready()
    assert len(kernel.asked) == 1
    now[0] += 1.0
    assert not kernel.is_ready(left=5.0)
    assert len(kernel.asked) == 2
    now[0] += 1.0
    wait_for(lambda: kernel.is_ready(left=20.0), "a thread to compile it: that takes less than to play it")


def test_a_compiler_that_works_for_this_process_is_asked_at_once_when_it_is_free(kernel):
    kernel.played, kernel.next = 1.0, background.LATER
    for _ in range(4):
        assert not kernel.is_ready(left=100.0)
    assert len(kernel.asked) == 4


def test_a_compiler_that_dies_costs_one_warning_and_time(kernel):
    kernel.played, kernel.next = 1.0, background.FAILED
    with pytest.warns(NotCompiled, match="a kernel is compiled here and now: it was killed") as caught:
        assert kernel.is_ready()
    assert len(caught) == 1
    assert kernel.is_ready()


def test_a_fork_does_not_wait_for_the_compiler_of_its_parent(kernel, monkeypatch):
    kernel.played = 1.0
    assert not kernel.is_ready()
    parent = os.getpid()
    monkeypatch.setattr(tiers.os, "getpid", lambda: parent + 1)
    assert not kernel.is_ready()
    assert len(kernel.asked) == 2


@pytest.mark.parametrize("name", games.RULES)
def test_numba_sees_the_shapes_that_are_told_without_it(game, name):
    import numba

    run = pt.begin(game, games.RULES[name], 1, record=("profile", "welfare", "visits"))
    args = (
        run._data,
        run.state,
        run._rule_data,
        run.memory,
        run.journal,
        run._emptied_sink(5),
        run.key,
        0,
        5,
        1,
        False,
    )
    told = shape_of(args)
    for made in (args, filled(told)):
        kinds = [numba.typeof(part) for part in made[1:]]
        assert [shape_of_type(kind) for kind in kinds] == [shape_of(part) for part in args[1:]]
    if not game.runs_user_code:
        assert shape_of_type(numba.typeof(args[0])) == shape_of(args[0])
        assert cache.may_keep(loop.play, told)


@pytest.mark.parametrize(
    "array", [np.zeros((2, 3), order="F"), np.zeros((4, 4))[::2, ::2], np.zeros(()), np.zeros((0, 2))]
)
def test_arrays_of_every_layout(array):
    import numba

    assert shape_of_type(numba.typeof(array)) == shape_of(array) == shape_of(filled(shape_of(array)))


SWITCHING = """
import os, sys
import potentia as pt
from potentia.kernel import background
game, rule = pt.games.ising(pt.games.ring_edges(20)), pt.rule("lll", tau=0.5)
class Done(Exception): pass
def progress(done, total):
    print(done, flush=True)
    if run.compiled: raise Done
def own(player, profile, data):
    return float((profile == profile[player]).sum())
if sys.argv[1] == "own":
    game = pt.games.custom(own, [2] * 5)
run = pt.begin(game, rule, 1)
try:
    run.advance(10**12, progress)
except Done:
    pass
print("switched", run.compiled, flush=True)
"""


def process(script, *args, **environment):
    return subprocess.Popen(
        [sys.executable, "-W", environment.pop("PYTHONWARNINGS", "error"), "-c", script, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    ("what", "place"), [("ours", ""), pytest.param("ours", "nowhere", marks=pytest.mark.long), ("own", "")]
)
def test_a_long_run_goes_on_with_machine_code(what, place, tmp_path):
    """By a process that fills the cache, by a thread where there is none, and by one for somebody's own function."""
    folder = "/dev/null/nothing" if place else str(tmp_path)
    with process(SWITCHING, what, POTENTIA_CACHE_DIR=folder, PYTHONWARNINGS="default") as running:
        out, err = running.communicate(timeout=300)
    assert running.returncode == 0
    assert err.count("CacheNotKept") == bool(place)
    assert place or not err
    assert out.splitlines()[-1] == "switched True"
    kept = [path for path in tmp_path.rglob("*.nbc") if path.name.startswith("play")]
    assert len(kept) == (what == "ours" and not place)


FORKING = SWITCHING.replace(
    "run = pt.begin",
    """
def forked():
    child = os.fork()
    if not child:
        pt.begin(pt.games.ising(pt.games.ring_edges(5)), rule, 1, compiled=True).advance(10)
        run.advance(10)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
run = pt.begin""",
).replace(
    "if run.compiled: raise Done",
    """if background._threads:
        forked()
        raise Done""",
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_while_a_thread_compiles(tmp_path):
    with process(FORKING, "own", POTENTIA_CACHE_DIR=str(tmp_path), PYTHONWARNINGS="default") as running:
        out, err = running.communicate(timeout=300)
    assert running.returncode == 0, (out, err)
    assert err.count("so it compiles nothing and runs in plain Python") == 1


def test_a_batch_is_played_the_same_way_with_and_without_labels():
    labelled, plain = (dict(inspect.signature(play).parameters) for play in (pt.run_batch, play_batch))
    plain.pop("after")
    assert labelled == plain


def test_a_batch_counts_the_runs_that_follow(monkeypatch):
    seen = set()
    monkeypatch.setattr(Tier, "climb", lambda tier, stop, flag: seen.add(tier.after))
    pt.run_batch(games.normal_form(), pt.rule("lll", tau=0.5), 7, range(3))
    assert seen == {0, 7, 14}


def test_many_short_runs_are_prepared_with_machine_code_too(monkeypatch):
    """Settling a thousand players in plain Python takes as long as a short run."""
    seen, call = [], tiers.Kernel.call
    monkeypatch.setattr(tiers.Kernel, "call", lambda kernel, args: seen.append(kernel.entry) or call(kernel, args))
    pt.begin(games.normal_form(), pt.rule("lll", tau=0.5))
    assert seen == [loop.prepare_entry]
    seen.clear()
    pt.begin(games.normal_form(), pt.rule("lll", tau=0.5), compiled=False)
    pt.begin(games.custom(), pt.rule("lll", tau=0.5))  # whose function may mean something else there
    assert seen == []


AHEAD = """
import psutil
import potentia as pt
from potentia.engine.tier import compile_ahead
from potentia.kernel import background
game = pt.games.ising(pt.games.ring_edges(20))
rules = [pt.rule("lll", tau=0.5), pt.rule("blll", tau=0.5)]
most = 0
with compile_ahead(pt.begin(game, rule) for rule in [*rules, *rules]):
    assert len(background.ahead) == 2
    for rule in rules:
        run = pt.begin(game, rule)
        while not run.compiled:
            run.advance(1000)
            most = max(most, len(psutil.Process().children()))
with compile_ahead([pt.begin(pt.games.ising(pt.games.ring_edges(20)), pt.rule("slll", tau=0.5, revision=0.5))]):
    assert len(background.ahead) == 1
print(most, len(background.ahead))
"""


def test_one_process_at_a_time_compiles_what_is_told_ahead(tmp_path):
    pytest.importorskip("psutil")
    with process(AHEAD, POTENTIA_CACHE_DIR=str(tmp_path)) as running:
        out, err = running.communicate(timeout=300)
    assert (running.returncode, out.split(), err) == (0, ["1", "0"], "")


def test_a_process_that_has_done_its_job_is_given_the_next(monkeypatch, tmp_path):
    given = []
    free = SimpleNamespace(is_alive=lambda: True, is_idle=lambda: True, path=tmp_path / "done")
    free.begin = lambda *job: given.append(job) or Job(background.RUNNING)
    monkeypatch.setattr(background, "_helpers", [free])
    monkeypatch.setattr(background, "_Helper", lambda: pytest.fail("one is there"))
    monkeypatch.setattr(background, "_refused", [-10.0])
    monkeypatch.setattr(background, "ahead", [])
    jobs = [(loop.play_entry, tmp_path / name, ()) for name in ("one", "two")]
    with background.told(jobs):
        background.feed()
        background.feed()
        assert (given, background.ahead) == (jobs, [])


def test_what_was_told_ends_with_a_compiler_that_was_killed(monkeypatch, tmp_path):
    dead = SimpleNamespace(popen=SimpleNamespace(returncode=-9), is_alive=lambda: False, forget=lambda: None)
    monkeypatch.setattr(background, "_helpers", [dead])
    monkeypatch.setattr(background, "_Helper", lambda: pytest.fail("another one would not get further"))
    monkeypatch.setattr(background, "ahead", [])
    jobs = [(loop.play_entry, tmp_path / name, ()) for name in ("one", "two")]
    with background.told(jobs):
        background.feed()
        assert background.ahead == background._helpers == []


def test_who_tells_takes_back_what_is_his(monkeypatch, tmp_path):
    monkeypatch.setattr(background, "ahead", [])
    first, second = ([(loop.play_entry, tmp_path / "kernel", ())] for _ in range(2))
    with background.told(first):
        with background.told(second):
            assert background.ahead == first + second
        assert background.ahead == first
    assert background.ahead == []


PRINTING = """
from potentia.kernel.cache import Entry
from potentia.kernel.dispatch import portable
@portable
def shout(number):
    print(number)
    return number + 1
def loud(number):
    return shout(number)
print(Entry(loud)(41, compiled=True))
"""


def test_a_function_inside_a_kernel_may_print(tmp_path):
    (tmp_path / "loud.py").write_text(PRINTING)
    with process("import runpy, sys; runpy.run_path(sys.argv[1])", str(tmp_path / "loud.py")) as running:
        assert running.communicate(timeout=300) == ("41\n42\n", "")


def test_the_collector_rests_and_works_again():
    with contextlib.suppress(KeyError), garbage.no_collection():
        with garbage.no_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()
    with garbage.no_collection():
        garbage._after_fork()  # nobody else is there to end it
        assert gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with garbage.no_collection():
            pass
        assert not gc.isenabled(), "somebody wants it so"
    finally:
        gc.enable()


def test_only_an_interpreter_is_started(monkeypatch):
    assert background._has_interpreter()
    for name, value in (("executable", "/opt/game/robots"), ("executable", ""), ("frozen", True)):
        with monkeypatch.context() as patch:
            patch.setattr(sys, name, value, raising=False)
            assert not background._has_interpreter()
    monkeypatch.setenv("POTENTIA_COMPILING", "1")
    assert not background._has_interpreter()


def compilers(folder):
    psutil = pytest.importorskip("psutil")
    for one in psutil.process_iter(["cmdline"]):
        if "potentia.kernel.compiling" in (one.info["cmdline"] or ()):
            try:
                if one.environ().get("POTENTIA_CACHE_DIR") == folder:
                    yield one
            except psutil.Error:
                continue


def leave(what, folder, after):
    """Leave a program after so many steps, whatever is being compiled then; its exit code and complaints."""
    script = SWITCHING.replace("if run.compiled: raise Done", f"if done >= {after}: raise Done")
    with process(script, what, POTENTIA_CACHE_DIR=folder) as running:
        _, err = running.communicate(timeout=300)
    return running.returncode, err


@pytest.mark.parametrize("what", ["ours", "own"])
def test_leaving_while_something_is_compiled(what, tmp_path):
    assert leave(what, str(tmp_path), 20_000) == (0, "")
    wait_for(lambda: not list(compilers(str(tmp_path))), "compilers that are left to end")


@pytest.mark.long
def test_leaving_at_a_hundred_moments(tmp_path):
    random = np.random.default_rng(1)
    for number in range(100):
        folder = str(tmp_path / str(number))
        after = int(10 ** random.uniform(2, 5.2))
        assert leave(("ours", "own")[number % 2], folder, after) == (0, ""), after
    wait_for(lambda: not any(list(compilers(str(tmp_path / str(n)))) for n in range(100)), "compilers to end")
