"""Gambit's and GameTracer's files: what is read, what is written comes back, and every defect is one sentence."""

from __future__ import annotations

import re
import tracemalloc
from contextlib import nullcontext
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from potentia.errors import InvalidGame, NotCarried, TooLarge
from potentia.games import NormalForm, path_moves, random_potential_game, read_game, write_game
from tests.fuzz.damage import damage
from tests.fuzz.game_readers import GAM, NFG
from tests.fuzz.words import damage_words
from tests.unit.bad import refuses

HEAD = 'NFG 1 R "Hunt" { "Ann" "Bob" } '
NAMES = '{ { "stag" "hare" } { "stag" "hare" } } '


def reading(tmp_path, content, suffix=".nfg"):
    path = tmp_path / f"game{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_game(path)


def test_the_first_players_action_varies_fastest(tmp_path):
    made = reading(tmp_path, 'NFG 1 R "" { "a" "b" } { 3 2 } 1 1 0 2 0 2 1 1 0 3 2 0')
    np.testing.assert_array_equal(made.payoffs, [[[1, 1], [0, 0], [0, 2]], [[1, 1], [2, 3], [2, 0]]])
    assert made.action_names is None
    assert made.player_names == ("a", "b")


def test_names_title_and_comment(tmp_path):
    text = f'{HEAD}\n{{ {{ "st\\"ag" "häre" }}\n{{ "x" "a\\b" }} }}\n"a comment\nof two lines"\n1 2 3 4 5 6 7 8'
    made = reading(tmp_path, text)
    assert (made.known_as, made.player_names) == ("Hunt", ("Ann", "Bob"))
    assert made.action_names == (('st"ag', "häre"), ("x", "a\\b"))


def test_outcomes_are_shared_and_0_gives_nothing(tmp_path):
    body = '{\n{ "first" 1, 1/2 }\n{ "" -2 3 }\n}\n1 2 0 1'
    made = reading(tmp_path, HEAD + NAMES + body)
    np.testing.assert_array_equal(made.payoffs, [[[1, 0], [-2, 1]], [[0.5, 0], [3, 0.5]]])
    assert made.payoff_unit == Fraction(1, 2)


def test_marks_and_line_ends_of_other_systems(tmp_path):
    plain = (HEAD + NAMES + "\n4 4\n3 0\n0 3\n3 3\n").encode()
    wanted = reading(tmp_path, plain).fingerprint()
    assert reading(tmp_path, b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n")).fingerprint() == wanted


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("1/3", Fraction(1, 3)),
        ("-2/6", Fraction(-1, 3)),
        (".5", Fraction(1, 2)),
        ("-5.", Fraction(-5)),
        ("+0.1", Fraction(1, 10)),
        ("2e3", Fraction(2000)),
        ("25E-2", Fraction(1, 4)),
        ("0e999999999", Fraction(0)),
        ("123456789012345678901234567890", Fraction(123456789012345678901234567890)),
    ],
)
def test_numbers_are_exact(word, value, tmp_path):
    made = reading(tmp_path, f"{HEAD}{{ 1 1 }} {word} 0")
    assert made.payoffs[0, 0, 0] == float(value)
    assert made.payoff_unit == (abs(value) or None)


def test_gam_has_a_players_payoffs_together(tmp_path):
    made = reading(tmp_path, "# a comment\n2\n3 2\n\n3 2 0 3 5 6 3 2 3 2 6 1", ".gam")
    np.testing.assert_array_equal(made.payoffs, [[[3, 3], [2, 5], [0, 6]], [[3, 2], [2, 6], [3, 1]]])


# There and back ---------------------------------------------------------------------------------------


def games():
    random = np.random.default_rng(3)
    yield NormalForm([[3.0, 1.0, 2.0]])
    yield NormalForm(random.normal(size=(3, 2, 1, 3)))
    yield NormalForm(np.reshape([0.1 + 0.2, -0.0, 5e-324, 1.7e308, -1e22, 1 / 3, 2.0**53 + 2, 1e-5], (2, 2, 2)))
    thirds = np.array([Fraction(k, 3) for k in range(8)]).reshape(2, 2, 2)
    yield NormalForm(thirds, players=["Ann", 'B"o"b'], actions=[["ä", " "], ["{", "x\\y"]], title='a "title"')


@pytest.mark.filterwarnings("ignore:pygambit takes")
@pytest.mark.parametrize("suffix", [".nfg", ".json", ".npz"])
@pytest.mark.parametrize("made", list(games()), ids=["one player", "normal", "extreme", "named"])
def test_round_trips_are_exact(made, suffix, tmp_path):
    again = read_game(write_game(made, tmp_path / f"g{suffix}"))
    assert again.fingerprint() == made.fingerprint()
    np.testing.assert_array_equal(again.payoffs, made.payoffs)
    told = [(one.player_names, one.action_names, one.known_as) for one in (made, again)]
    assert told[0] == told[1]
    assert made.payoff_unit in (None, again.payoff_unit)


def test_moves_stay_behind_with_a_warning_and_the_potential_without(tmp_path):
    made = NormalForm(np.zeros((2, 3, 3)), moves=path_moves(3), potential=np.zeros((3, 3)))
    with pytest.warns(NotCarried, match=r"an \.nfg file holds no constrained moves"):
        path = write_game(made, tmp_path / "g.nfg")
    assert not read_game(path).has_potential


@pytest.mark.parametrize(
    "name", ["ends \\", 'a \\" quote', "two \\\\ strokes", "a\\b\\\\c", '"', "\\\\", "{ }", "two\nlines"]
)
@pytest.mark.filterwarnings("ignore:pygambit takes")
def test_any_name_comes_back(name, tmp_path):
    made = NormalForm(np.zeros((1, 2)), actions=[name, "b"])
    for suffix in (".nfg", ".json", ".npz"):
        assert read_game(write_game(made, tmp_path / f"g{suffix}")).action_names == ((name, "b"),)


def test_names_that_pygambit_does_not_take_are_told(tmp_path):
    made = NormalForm(np.zeros((1, 2)), actions=["Ä", "b"])
    with pytest.warns(NotCarried, match="printable ASCII with single spaces inside only, and not 'Ä'"):
        write_game(made, tmp_path / "g.nfg")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["ends \\", "b"], "no backslash before another one, a quote or the end of a name in a file"),
        (['a \\" quote', "b"], "no backslash"),
        (["two \\\\ strokes", "b"], "no backslash"),
        (["a", "3", "b"], "no name in a file that is the number of a later one, and not '3'"),
        (["one \\ stroke", 'a " quote', "1"], None),
    ],
)
def test_names_that_pygambit_misreads_in_a_file_are_told(names, said, tmp_path):
    made = NormalForm(np.zeros((1, len(names))), actions=[names])
    with nullcontext() if said is None else pytest.warns(NotCarried, match=said):
        write_game(made, tmp_path / "g.nfg")


def test_what_is_no_name_gets_one_as_in_gambit(tmp_path):
    made = reading(tmp_path, 'NFG 1 R "" { "a" "a" } { { "x" "x" "x_1" "" } { "1" } } 1 2 3 4 5 6 7 8')
    assert made.player_names == ("a_1", "a_2")
    assert made.action_names == (("x_2", "x_3", "x_1", "_1"), ("1",))


def test_one_name_that_comes_twice_leaves_a_thousand_others_as_they_are(tmp_path):
    names = [f"n{k}" for k in range(1000)] + ["n7"]
    quoted = " ".join(f'"{name}"' for name in names)
    made = reading(tmp_path, f'NFG 1 R "" {{ "a" }} {{ {{ {quoted} }} }}' + " 1" * 1001)
    assert made.action_names is not None
    assert {name for name in made.action_names[0] if name not in names} == {"n7_1", "n7_2"}


def test_an_outcome_that_nothing_leads_to_does_not_make_payoffs_finer(tmp_path):
    made = reading(tmp_path, HEAD + NAMES + '{ { "" 1/3, 2/3 } { "" 1/1000000007 1e-300 } } 1 0 0 1')
    assert made.payoff_unit == Fraction(1, 3)
    assert read_game(write_game(made, tmp_path / "again.nfg")).payoff_unit == Fraction(1, 3)


def test_a_quote_that_is_never_closed_takes_no_memory(tmp_path):
    content = HEAD + '"' + "x" * 10**6
    tracemalloc.start()
    try:
        refuses(lambda: reading(tmp_path, content), InvalidGame, "a quote that is never closed")
        assert tracemalloc.get_traced_memory()[1] < 10 * len(content)
    finally:
        tracemalloc.stop()


# Defects ----------------------------------------------------------------------------------------------

START = HEAD + NAMES
BAD = {
    "empty": ("", r"line 1 column 1: expected NFG.*got the end of the file$"),
    "another version": ("NFG 2 R", r"line 1 column 5: expected 1.*got '2'$"),
    "a tree": ('EFG 2 R "x" { "a" }', r"line 1 column 1: expected NFG: .*extensive form, which pygambit converts"),
    "no title": ("NFG 1 R { }", r"line 1 column 9: expected a title in quotes, got '\{'$"),
    "open quote": ('NFG 1 R "x', r"line 1 column 9: a quote that is never closed$"),
    "no players": ('NFG 1 R "x" { } { } 1', r"line 1 column 15: expected 1 to 63 players, got 0$"),
    "no brace": (HEAD + "{ 2 2 \n1 2 3 4 5 6 7 8", r"line 2 column 1: expected \} after the actions .*got '1'$"),
    "few counts": (HEAD + "{ 2 } 1 2", r"column 36: expected the actions of player 2 of 2, .*got '\}'$"),
    "no actions": (HEAD + "{ 2 0 } 1 2", r"expected 1 to 2,147,483,647 actions for player 2, got '0'$"),
    "no names": (HEAD + '{ { "a" } { } } 1 2', r"expected 1 to 2,147,483,647 actions for player 2, got '\{'$"),
    "few": (START + "1 2 3 4 5\n6 7", r"line 2 column 4: expected 8 payoffs, 2 for each of 4 profiles, got 7$"),
    "many": (START + "\n1 2 3 4 5 6 7 8 9", r"line 2 column 17: expected 8 payoffs, .*got 9$"),
    "zero": (
        HEAD + NAMES + "\n1 2 3 4 5 6 1/0 8",
        r"line 2 column 13: expected a number, got 1/0, which divides by 0$",
    ),
    "nan": (START + "\n1 2 3 4 5 6 nan 8", r"line 2 column 13: expected a number, got 'nan'$"),
    "huge": (START + "\n1e99999999 2 3 4 5 6 7 8", r"line 2 column 1: .*fits into a float, got 1e99999999$"),
    "tiny": (START + "\n1e-399 2 3 4 5 6 7 8", r"line 2 column 1: .*fits into a float, got 1e-399$"),
    "long": (
        HEAD + NAMES + f"\n{'9' * 5000} 2 3 4 5 6 7 8",
        r"line 2 column 1: .*at most 1000 characters, got .* 5,000$",
    ),
    "comma": (START + "\n1, 2 3 4 5 6 7 8", r"line 2 column 2: expected a number, one of 8 payoffs.*got ','$"),
    "10^9 profiles": (
        HEAD + "{ 31623 31623 } 1 2",
        r"expected about 10\^9 payoffs, 2 for each of about 10\^9 .*got 2$",
    ),
    "few of an outcome": (
        HEAD + NAMES + '{ { "x" 1 } } 1 1 1 1',
        r"expected 2 payoffs of outcome 1, got 1: .*got '\}'$",
    ),
    "many of an outcome": (START + '{ { "x" 1 2 3 } }', r"expected \} after 2 payoffs of outcome 1, got '3'$"),
    "unknown outcome": (
        HEAD + NAMES + '{ { "x" 1 2 } }\n1 1 2 1',
        r"line 2 column 5: expected the number of an outcome, 1 to 1, or 0 for none, got '2'$",
    ),
    "few outcomes": (
        HEAD + NAMES + '{ { "x" 1 2 } }\n1 1',
        r"line 2 column 4: expected 4 numbers of .*got 2$",
    ),
    "latin-1": (
        'NFG 1 R "x" { "\xe4" "b" }'.encode("latin-1"),
        r"line 1 column 16: expected text in UTF-8, got byte 0xe4; was it saved in Latin-1\?$",
    ),
    "utf-16": (
        f"\ufeff{HEAD}".encode("utf-16-le"),
        r"line 1 column 1: expected text in UTF-8, got byte 0xff; was it saved in UTF-16\?$",
    ),
}

BAD_GAM = {
    "empty": ("# nothing\n", r"line 1 column \d+: expected the number of players, got the end of the file$"),
    "players": ("0\n", r"line 1 column 1: expected the number of players, an integer from 1 to 63, got '0'$"),
    "actions": ("2\n2 x\n", r"line 2 column 3: expected how many actions player 2 of 2 has, .*got 'x'$"),
    "few": ("2\n2 1\n\n1 2 3", r"line 4 column 6: expected 4 payoffs, 2 for each of 2 profiles, got 3$"),
    "many": ("2\n2 1\n\n1 2 3 4 5", r"line 4 column 9: expected 4 payoffs, .*got 5$"),
    "number": ("1\n2\n1 2/0", r"line 3 column 3: expected a number, got 2/0, which divides by 0$"),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_bad_nfg(content, message, tmp_path):
    refuses(lambda: reading(tmp_path, content), InvalidGame, r"game\.nfg: " + f".*{message}")


@pytest.mark.parametrize(("content", "message"), BAD_GAM.values(), ids=BAD_GAM)
def test_bad_gam(content, message, tmp_path):
    refuses(lambda: reading(tmp_path, content, ".gam"), InvalidGame, r"game\.gam: " + message)


@pytest.mark.parametrize(("suffix", "said"), [(".efg", "an extensive form; pygambit.read_efg"), (".agg", "an action")])
def test_what_pygambit_converts(suffix, said, tmp_path):
    refuses(lambda: reading(tmp_path, "", suffix), InvalidGame, rf"got {said}.*\.to_nfg\(\)")


def test_outcomes_for_more_payoffs_than_there_is_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("potentia.kernel.memory.available", lambda: 10**6)
    players = " ".join(f'"{k}"' for k in range(60))
    counts = " ".join(["2"] * 14 + ["1"] * 46)
    content = f'NFG 1 R "x" {{ {players} }} {{ {counts} }} {{ }}\n' + "0 " * 2**14
    refuses(lambda: reading(tmp_path, content), TooLarge, r"a game of 16,384 profiles needs")


def test_2000_damaged_files_are_read_or_refused_in_one_line(tmp_path):
    random, verdicts = Random(5), [0, 0]
    kinds = [(".nfg", content) for content in NFG] + [(".gam", content) for content in GAM]
    for _ in range(2000):
        suffix, content = random.choice(kinds)
        other = random.choice(kinds)[1]
        change = damage_words if random.random() < 0.8 else damage
        content, how = change(random, content, other)
        try:
            reading(tmp_path, content, suffix)
            verdicts[0] += 1
        except InvalidGame as error:
            said = str(error)
            assert len(said) < 400, how
            assert "\n" not in said, how
            assert re.search(r"line \d+ column \d+: ", said), (how, said)
            verdicts[1] += 1
    assert min(verdicts) > 100


def test_a_file_of_many_payoffs_is_read_as_a_potential_game(tmp_path):
    made = random_potential_game([4, 3, 5], seed=1)
    again = read_game(write_game(made, tmp_path / "g.nfg"))
    np.testing.assert_array_equal(again.payoffs, made.payoffs)
