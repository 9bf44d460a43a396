"""SIGTERM as an exception, and what is held back until a clean moment."""

from __future__ import annotations

import io
import signal
import sys
import threading

import pytest

import potentia as pt
from potentia.engine.interrupt import Flag, deferred_interrupt, obey
from potentia.kernel import signals
from potentia.kernel.files import whole_file
from tests.waiting import PATIENCE, wait_for


@pytest.fixture(autouse=True)
def as_at_a_terminal():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_sigterm_leaves_no_half_written_file(tmp_path):
    def write():
        with whole_file(tmp_path / "a.txt") as temporary:
            temporary.write_text("half")
            signal.raise_signal(signal.SIGTERM)

    with signals.listening(), pytest.raises(signals.Terminated):
        write()
    assert not list(tmp_path.iterdir())
    assert (signals.stopped(), signals.exit_code()) == ("stopped by SIGTERM", 143)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_sigterm_is_held_back_where_it_is_listened_to():
    with signals.listening():
        with deferred_interrupt() as flag:
            signal.raise_signal(signal.SIGTERM)
            assert flag.raised
        assert signal.getsignal(signal.SIGTERM) is signals.terminate
    with deferred_interrupt():
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL  # a library leaves it alone
    assert (signals.stopped(), signals.exit_code()) == ("stopped by SIGTERM", 143)


def test_who_ignores_sigterm_or_ctrl_c_goes_on_ignoring_it():
    """Worker processes do, and so does what a shell runs in the background."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    with signals.listening(), deferred_interrupt() as flag:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        assert not flag.raised


def test_sigterm_is_held_back_where_ctrl_c_is_ignored():
    """As in what a script starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with signals.listening(), deferred_interrupt() as flag:
        with deferred_interrupt() as inner:
            signal.raise_signal(signal.SIGTERM)
        assert inner is flag
        assert flag.raised
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_ctrl_c_after_sigterm_is_ctrl_c():
    with signals.listening(), pytest.raises(signals.Terminated):
        signal.raise_signal(signal.SIGTERM)
    with signals.listening(), deferred_interrupt():
        signal.raise_signal(signal.SIGINT)
    assert (signals.stopped(), signals.exit_code()) == ("stopped by Ctrl-C", 130)


def test_a_thread_hears_of_the_flag_that_it_obeys():
    flag, found = Flag(), []

    def work():
        obey(flag)
        with deferred_interrupt() as heard:
            found.append(heard)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(PATIENCE)
    assert found == [flag]


def test_a_thread_stops_when_it_is_told(recwarn):
    """Compiled or not, in the middle of a run, and without a word: who raises the flag says why."""
    flag, found, begun = Flag(), [], threading.Event()

    def utility(player, profile, data):
        begun.set()  # no compiler knows that: it runs in Python
        return float(profile[player])

    game = pt.games.custom(utility, num_actions=[2, 2])
    recwarn.clear()

    def play():
        obey(flag)
        found.append(pt.run_batch(game, pt.rule("lll", tau=0.5), 10**12, [0], record=(), every=1))

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    assert begun.wait(PATIENCE)
    flag.raised = flag.told = True
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert found[0].attrs["interrupted"]
    assert not [one for one in recwarn if issubclass(one.category, pt.errors.RunInterrupted)]


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="a signal cannot be sent to a thread there")
def test_ctrl_c_that_wakes_nobody_is_heard(monkeypatch):
    """One that comes to another thread, or just before the main one falls asleep, does not end its wait for threads."""
    monkeypatch.setattr(signals, "_asked", False)
    main, seen, sent, playing = threading.main_thread().ident, [], [], set()

    def asleep():
        frame = sys._current_frames()[main]
        seen.append((frame.f_code, frame.f_lasti))
        return frame.f_code is threading.Condition.wait.__code__ and seen[-2:-1] == seen[-1:]

    def progress(done, total):
        playing.add(threading.get_ident())
        if len(playing) == 2 and not sent:  # before, it may wait for one to begin
            wait_for(asleep, "the main thread waits for those that play")
            sent.append(signal.pthread_kill(threading.get_ident(), signal.SIGINT))
            wait_for(signals.asked, "Ctrl-C is heard")

    game, rule = pt.game("stag-hunt"), pt.rule("lll", tau=0.5)
    options = {"record": (), "workers": 2, "progress": progress, "compiled": False}
    with pytest.warns(pt.errors.RunInterrupted):
        data = pt.run_batch(game, rule, 10**9, range(2), **options)
    assert data.attrs["interrupted"]
    assert data.steps_done.values.max() < 10**9


def test_after_a_step_that_failed_nothing_is_counted_of_it_and_nothing_can_be_cut_off(recwarn):
    flag, calls = Flag(), []

    def utility(player, profile, data):
        calls.append(player)  # no compiler knows that: it runs in Python
        if len(calls) > 500:
            raise RuntimeError("no more")
        return float(profile[player])

    game = pt.games.custom(utility, num_actions=[2, 2])
    recwarn.clear()
    run = pt.begin(game, pt.rule("slll", tau=0.5, revision=1.0), 0, record=("profile", "visits"))
    with pytest.raises(pt.errors.InvalidGame, match="no more"):
        run.advance(10**6, flag=flag)
    assert not flag.breakable
    assert run.journal.counts[0] == 2 * run.step > 0
    assert run.journal.visits.sum() == run.step


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_after_ctrl_c_the_bar_says_what_is_done(monkeypatch):
    from potentia.cli.terminal import progress

    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(signals, "_asked", False)
    for name, value in (("TERM", "xterm"), ("COLUMNS", "120")):
        monkeypatch.setenv(name, value)
    with progress("my study", stopping="finishing") as tell:
        tell(1, 4)
    assert "my study" in shown.getvalue()
    assert "finishing" not in shown.getvalue()
    with progress("my study", stopping="finishing") as tell:
        signals.note(signal.SIGINT)
        tell(2, 4)
    assert "finishing" in shown.getvalue()
