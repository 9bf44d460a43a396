"""Mistakes in code of one's own: one line, with the file and line to mend, whichever way it arrives."""

from __future__ import annotations

import inspect
import re
import warnings
from collections import namedtuple
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import potentia as pt
from potentia import extend
from potentia.errors import CheckFailed, InvalidCode, InvalidGame, InvalidRun, NotCompiled
from potentia.extend import learn, move, portable, step, uniform, utility
from potentia.kernel import background, mistakes
from potentia.kernel.cache import Entry
from potentia.kernel.numbers import in_words

GAME = pt.games.consensus([[0, 1], [1, 2]])
SCALES = [1.0, 2.0]
_data = {}


def one_line(said, function):
    """The message, if it is one short line that ends with the marked line of the function."""
    lines, first = inspect.getsourcelines(function)
    number = first + next((k for k, line in enumerate(lines) if "# here" in line), 0)
    told = str(said).removesuffix(" (POTENTIA_DETAILS=1 tells all)")
    assert told.endswith(f": test_mistakes.py:{number}"), said
    assert len(str(said)) <= 200
    assert len(str(said).splitlines()) == 1
    return told


def a_rule(function):
    """Register a step for data of its own, and return the function."""
    kind = namedtuple(function.__name__, ["noise", "table"])
    _data[function] = kind(0.1, np.zeros(2))
    return step.register(kind)(function)


class Own(extend.Rule):
    """A rule by one of the steps below."""

    name = "own-mistake"

    def __init__(self, function):
        self.data_of = _data[function]

    def data(self, game, horizon):
        return self.data_of

    def spec(self):
        return {"rule": self.name}

    def describe(self):
        return self.name


def one_step(rule, memory, game, state, journal, key, n):
    step(rule, memory, game, state, journal, key, n)


def compiled(function, game=GAME):
    """What is said when a step is compiled, by itself: the loop around it would take a second each time."""
    run = pt.begin(GAME, pt.rule("lll", tau=0.1), compiled=False)
    args = (_data[function], run.memory, game.data, run.state, run.journal, run.key, 0)
    with pytest.raises(InvalidCode) as caught:
        Entry(one_step).compile(args)
    return caught.value


@a_rule
def allocates(rule, memory, game, state, journal, key, n):
    room = np.zeros(3)  # here
    move(journal, game, state, 0, int(room[0]), n)


@a_rule
def makes_a_list(rule, memory, game, state, journal, key, n):
    best = [n, 0]  # here
    move(journal, game, state, 0, best[1], n)


@portable
def copies(state):
    return state.profile.copy()[0]  # here


@a_rule
def calls_what_allocates(rule, memory, game, state, journal, key, n):
    move(journal, game, state, 0, copies(state), n)


def halved(x):
    return x / 2


@a_rule
def calls_a_plain_helper(rule, memory, game, state, journal, key, n):
    if halved(n) > 3:  # here
        move(journal, game, state, 0, 0, n)


@a_rule
def uses_a_dict(rule, memory, game, state, journal, key, n):
    known = {}
    known[0] = n  # here
    move(journal, game, state, 0, known[0], n)


@a_rule
def misspells(rule, memory, game, state, journal, key, n):
    if uniform(key, 3, n, 0, 0) < rule.niose:  # here
        move(journal, game, state, 0, 0, n)


@a_rule
def takes_two_types(rule, memory, game, state, journal, key, n):
    best = (0, 1)
    if n > 3:
        best = 1.0  # here
    move(journal, game, state, 0, 0, n)
    if best == 1.0:
        move(journal, game, state, 0, 1, n)


@a_rule
def forgets_an_argument(rule, memory, game, state, journal, key, n):
    move(journal, game, state, 0, 0)  # here


@a_rule
def uses_a_global_list(rule, memory, game, state, journal, key, n):
    if SCALES[0] > n:  # here
        move(journal, game, state, 0, 0, n)


@a_rule
def adds_none(rule, memory, game, state, journal, key, n):
    last = None
    move(journal, game, state, 0, last + n, n)  # here


@a_rule
def tries(rule, memory, game, state, journal, key, n):
    try:
        action = 1 // n
    except ZeroDivisionError:  # here
        action = 0
    move(journal, game, state, 0, action, n)


@a_rule
def makes_a_text(rule, memory, game, state, journal, key, n):
    name = f"step {n}"  # here
    move(journal, game, state, 0, len(name) % 2, n)


@a_rule
def opens(rule, memory, game, state, journal, key, n):
    with open("log") as log:  # here
        log.write("x")


@portable
def misses(x):
    return x * undefined  # noqa: F821  # here


@a_rule
def calls_what_misses_a_name(rule, memory, game, state, journal, key, n):
    if misses(n) > 0:
        move(journal, game, state, 0, 0, n)


@a_rule
def changes_the_game(rule, memory, game, state, journal, key, n):
    game.tables[0] = 1.0  # here


@a_rule
def odd(rule, memory, game, state, journal, key, n):
    del rule  # here


@pytest.mark.parametrize(
    ("function", "where", "said"),
    [
        (allocates, None, "kernels must not allocate; make it once in the state, memory or mind record"),
        (makes_a_list, None, "kernels must not allocate; make it once in the state, memory or mind record"),
        (calls_what_allocates, copies, "kernels must not allocate; make it once in the state, memory or mind record"),
        (calls_a_plain_helper, None, "compiled code does not know halved; decorate it with extend.portable"),
        (uses_a_dict, None, "use an array, not a dict"),
        (misspells, None, "misspells has no field 'niose'; did you mean 'noise'?"),
        (takes_two_types, None, "best is tuple on one way and float on the other; keep to one type"),
        (forgets_an_argument, None, "move: missing a required argument: 'step'"),
        (uses_a_global_list, None, "SCALES is a global that may change; pass it as data"),
        (adds_none, None, "compiled code has no add(None, int); there is None where numbers are expected"),
        (tries, None, "only a bare except compiles; test for the case with if"),
        (makes_a_text, None, "kernels must not make texts; use numbers"),
        (opens, None, "with does not compile; leave it out"),
        (calls_what_misses_a_name, misses, "undefined is not defined; write or import it"),
        (changes_the_game, None, "the game's data are read-only; what varies belongs into the state"),
        (odd, None, "Illegal IR, del found at: del rule"),  # in Numba's words
    ],
)
def test_a_step_that_does_not_compile_is_told_in_one_line(function, where, said):
    error = compiled(function)
    assert one_line(error, where or function).startswith(f"{said}: test")
    assert error.__suppress_context__, "what Numba says is not printed above it"


def test_all_that_numba_says_is_told_where_asked_for(monkeypatch):
    monkeypatch.setenv(mistakes.DETAILS, "1")
    first, *more = str(compiled(allocates)).splitlines()
    assert re.fullmatch(r"kernels must not allocate; .*: test_mistakes.py:\d+", first)
    assert len(more) > 50
    assert "Only accept returning of array" in "".join(more)


def test_a_record_that_holds_an_object_is_named_with_its_field():
    class Holds(NamedTuple):
        noise: float
        table: dict

    run = pt.begin(GAME, pt.rule("lll", tau=0.1), compiled=False)
    rest = (run.memory, GAME.data, run.state, run.journal, run.key, 0)
    with pytest.raises(InvalidCode, match=r"Holds.table is a dict; use numbers, .*: test_mistakes.py:\d+ ") as caught:
        Entry(one_step).compile((Holds(0.1, {}), *rest))
    one_line(caught.value, Holds)


class Lists(NamedTuple):
    noise: float
    table: list


@step.register(Lists)
def _reads_a_list(rule, memory, game, state, journal, key, n):
    move(journal, game, state, 0, rule.table[n], n)


def test_a_list_in_a_record_is_not_said_to_be_made_where_it_is_read():
    run = pt.begin(GAME, pt.rule("lll", tau=0.1), compiled=False)
    rest = (run.memory, GAME.data, run.state, run.journal, run.key, 0)
    with pytest.raises(InvalidCode, match=r"^Lists.table is a list; use numbers, arrays") as caught:
        Entry(one_step).compile((Lists(0.1, [0, 1]), *rest))
    one_line(caught.value, Lists)


def test_a_mistake_of_the_package_itself_is_told_as_numba_does():
    """Nobody can mend it in code of her own, and who reports it needs all of it."""
    with pytest.raises(Exception, match="f-strings not supported") as caught:
        Entry(in_words).compile((1,))
    assert not isinstance(caught.value, InvalidCode)


# The ways it arrives ----------------------------------------------------------------------------------


def test_a_run_that_waits_for_the_compiler_fails_in_one_line():
    with pytest.raises(InvalidCode) as caught:
        pt.run(GAME, Own(allocates), 5, compiled=True)
    one_line(caught.value, allocates)


def test_a_run_that_stays_in_python_says_why_once(monkeypatch):
    game = pt.games.consensus([[0, 1]])
    run = pt.begin(game, Own(allocates))
    kernel = run._tier.begun()
    job = background.Thread(kernel.entry, kernel._make)
    job.thread.join()
    kernel._job = job
    monkeypatch.setattr("potentia.kernel.tiers._IMPORTING", 0.0)
    monkeypatch.setattr("potentia.kernel.tiers._LOADING", 0.0)
    with pytest.warns(NotCompiled) as caught:
        run.advance(3)
    assert one_line(caught[0].message, allocates).startswith(f"{game.describe()} runs in Python, much slower: kernels")
    assert len(caught) == 1


class OddData(NamedTuple):
    sizes: np.ndarray
    moves: tuple


class OddGame(extend.Game):
    """A game whose kernel allocates."""

    def __init__(self):
        super().__init__(extend.frozen(np.full(2, 2), np.int64), None)
        self._seal()

    def utility(self, player, profile):
        return float(np.sum(profile))

    def _build(self):
        return OddData(self.sizes, self.moves)

    def new_state(self, profile):
        return SimpleState(profile)


class SimpleState(NamedTuple):
    profile: np.ndarray


@utility.register(OddData)
def _utility(game, state, player, action):
    others = np.delete(state.profile, player)  # here
    return float(others.sum() + action)


def test_check_game_names_the_line_that_allocates():
    with pytest.raises(CheckFailed) as caught:
        pt.testing.check_game(OddGame(), num_profiles=1)
    assert one_line(caught.value, _utility).startswith("kernels must not allocate")


def _asks(player, profile, data):
    return halved(profile[player])  # here


def test_a_utility_that_does_not_compile_is_told_in_one_line():
    with pytest.warns(NotCompiled) as caught:
        assert not pt.games.custom(_asks, [2, 2]).compiled
    said = "_asks runs in Python, much slower: compiled code does not know halved; decorate it with numba.njit"
    assert one_line(caught[0].message, _asks).startswith(said)


def _two(player, profile):
    return 0.0


def test_wrong_arguments_are_told_with_the_place_of_the_function():
    class Data(NamedTuple):
        sizes: np.ndarray

    def payoff(game, state, action):
        return 0.0

    def yields(game, state, player, action):
        yield 0.0

    with pytest.raises(InvalidCode) as caught:
        utility.register(Data)(payoff)
    said = "utility for Data takes (game, state, player, action), got (game, state, action)"
    assert one_line(caught.value, payoff).startswith(said)
    with pytest.raises(InvalidCode, match="must not yield") as caught:
        utility.register(Data)(yields)
    one_line(caught.value, yields)
    with pytest.raises(InvalidGame, match=r"must take \(player, profile, data\), got \(player, profile\)") as caught:
        pt.games.custom(_two, [2])
    one_line(caught.value, _two)
    with pytest.raises(InvalidRun, match=r"must take \(profile, data\), got \(player, profile, data\)") as caught:
        pt.recorder(_asks)
    assert re.search(r": test_mistakes.py:\d+$", str(caught.value))


class Thing:
    """Not a number."""


def things(profile, data):
    return float(len([Thing() for _ in profile]))  # here


def test_a_recorder_that_does_not_compile_is_told_once_and_recorded():
    with pytest.warns(NotCompiled) as caught:
        trace = pt.run(GAME, pt.rule("lll", tau=0.1), 0, record=pt.recorder(things), compiled=True)
    assert one_line(caught[0].message, things).startswith("things is recorded in Python, slower: Thing is a class")
    assert trace.scalars["things"].tolist() == [3.0]
    pt.run(GAME, pt.rule("lll", tau=0.1), 0, record=pt.recorder(things), compiled=True)  # warnings are errors here


class Mind(NamedTuple):
    last: np.ndarray


class LastData(NamedTuple):
    first: np.ndarray


@learn.register(LastData)
def _learn(belief, mind, game, state, moved, key, step):
    seen = [player for player in range(3) if moved[player]]  # here
    mind.last[len(seen)] = 1.0


def one_lesson(belief, mind, game, state, moved, key, step):
    learn(belief, mind, game, state, moved, key, step)


def test_a_belief_that_allocates_is_told_in_one_line():
    run = pt.begin(GAME, pt.rule("lll", tau=0.1), compiled=False)
    mind = Mind(np.zeros(2))
    args = (LastData(np.zeros(3)), mind, GAME.data, run.state, np.zeros(3, np.uint8), run.key, 0)
    with pytest.raises(InvalidCode, match="kernels must not allocate") as caught:
        Entry(one_lesson).compile(args)
    one_line(caught.value, _learn)


# Plain Python -----------------------------------------------------------------------------------------


@a_rule
def reads_beyond(rule, memory, game, state, journal, key, n):
    move(journal, game, state, 0, int(rule.table[n]), n)  # here


@a_rule
def moves_nobody(rule, memory, game, state, journal, key, n):
    move(journal, game, state, 7, 0, n)  # here


@pytest.mark.parametrize("function", [reads_beyond, moves_nobody])
def test_a_step_that_fails_in_python_is_told_with_its_line(function):
    with pytest.raises(InvalidCode, match=r"^IndexError: index .* out of bounds") as caught:
        pt.begin(GAME, Own(function), compiled=False).advance(5)
    one_line(caught.value, function)
    assert isinstance(caught.value.__cause__, IndexError)


def test_a_mistake_of_the_package_in_python_is_raised_as_it_is(monkeypatch):
    run = pt.begin(GAME, pt.rule("lll", tau=0.1), compiled=False)
    monkeypatch.setattr(run, "memory", SimpleNamespace())
    with pytest.raises(AttributeError):
        run.advance(1)


def _divides(player, profile, data):
    return 1.0 / (profile.sum() - data)  # here


def _reads(profile, data):
    return data[int(profile.sum())]  # here


def test_functions_that_fail_in_python_are_told_with_their_lines():
    with warnings.catch_warnings(), np.errstate(all="raise"), pytest.raises(InvalidGame) as caught:
        pt.games.custom(_divides, [2, 2], data=0)
    assert "utility of player 0 at profile [0, 0] failed: " in one_line(caught.value, _divides)
    game = pt.games.custom(lambda player, profile, data: 0.0, [2, 2], data=(1.0,))
    with pytest.raises(InvalidRun, match=r"_reads failed at profile \[1, 1\]: IndexError: ") as caught:
        pt.run(game, pt.rule("lll", tau=0.1), 1, record=pt.recorder(_reads), start=[1, 1], compiled=False)
    one_line(caught.value, _reads)
