"""Games in files: what is written comes back the same, and every bad file is refused by name and field."""

from __future__ import annotations

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from potentia.errors import InvalidGame, NotPotentialGame, TooLarge
from potentia.games import NormalForm, Separable, game, path_moves, read_game, read_potential, write_game
from tests import games
from tests.unit.bad import DILEMMA, DILEMMA_POTENTIAL, NAN, dilemma, refuses

PAYOFFS = DILEMMA.tolist()
POTENTIAL = DILEMMA_POTENTIAL.tolist()
SWAP = [[1], [0]]


def extreme():
    """Floats whose text is long, tiny, huge or signed zero."""
    values = [0.1 + 0.2, -0.0, 5e-324, 1.7e308, -1e22, 1 / 3, 2.0**53 + 2, np.nextafter(1.0, 2.0)]
    return NormalForm(np.reshape(values, (2, 2, 2)))


def one_way(*moves):
    return NormalForm(np.arange(18.0).reshape(2, 3, 3), moves=moves)


CIRCLE = [[1], [2], [0]]
GAMES = {
    "three players": games.normal_form,
    "constrained": games.constrained,
    "potential": dilemma,
    "extreme": extreme,
    "shared moves": lambda: game("overlap"),
    "shared moves, one player": lambda: game("overlap", robots=1),
    "shared moves, one action": lambda: game("overlap", cells=1),
    "equal moves": lambda: one_way(CIRCLE, CIRCLE),
    "one free": lambda: one_way(None, CIRCLE),
    "all free": lambda: one_way(None, None),
    "potential and moves": lambda: NormalForm(DILEMMA, potential=DILEMMA_POTENTIAL, moves=path_moves(2)),
    "one player": lambda: NormalForm([[3.0, 1.0, 2.0]], potential=[0.0, -2.0, -1.0], moves=[CIRCLE]),
    "lone action": lambda: NormalForm([[3.0]]),
}


@pytest.mark.parametrize("suffix", [".json", ".npz", ".JSON"])
@pytest.mark.parametrize("make", GAMES.values(), ids=GAMES)
def test_round_trip(make, suffix, tmp_path):
    made = make()
    path = write_game(made, tmp_path / f"game{suffix}", name="Größe")
    again = read_game(str(path))
    assert again.fingerprint() == made.fingerprint()
    assert again.payoffs.tobytes() == made.payoffs.tobytes()
    assert again.has_potential == made.has_potential
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    twice = write_game(again, tmp_path / f"again{suffix}", name="Größe")
    assert twice.read_bytes() == path.read_bytes()


def test_equal_moves_and_shared_moves_are_told_apart(tmp_path):
    """They are laid out differently, and a saved run is resumed on the layout it was played on."""
    shared = NormalForm(np.zeros((2, 3, 3)), moves=path_moves(3))
    each = NormalForm(np.zeros((2, 3, 3)), moves=[path_moves(3)] * 2)
    assert shared.fingerprint() != each.fingerprint()
    for suffix in (".json", ".npz"):
        back = [read_game(write_game(made, tmp_path / f"g{suffix}")).fingerprint() for made in (shared, each)]
        assert back == [shared.fingerprint(), each.fingerprint()]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=8, max_size=8))
def test_any_float_comes_back(values, tmp_path_factory):
    made = NormalForm(np.reshape(values, (2, 2, 2)))
    path = write_game(made, tmp_path_factory.getbasetemp() / "any.json")
    assert read_game(path).fingerprint() == made.fingerprint()


# A game written by hand -------------------------------------------------------------------------------


def put(path, content):
    """Write text, bytes, or anything else as JSON."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_json_by_hand(tmp_path):
    text = """{
      "name": "prisoner's dilemma", "payoffs": [[[3, 0], [5, 1]], [[3, 5], [0, 1.0]]],
      "potential": [[-2, 0], [0, 1]], "moves": [null, [[1], [0, 1]]]
    }"""
    made = read_game(put(tmp_path / "dilemma.json", text))
    expected = NormalForm(DILEMMA, potential=DILEMMA_POTENTIAL, moves=[None, SWAP])
    assert made.fingerprint() == expected.fingerprint()


def test_null_is_the_same_as_nothing_and_a_byte_order_mark_is_fine(tmp_path):
    text = json.dumps({"payoffs": PAYOFFS, "potential": None, "moves": None, "name": None})
    made = read_game(put(tmp_path / "g.json", b"\xef\xbb\xbf" + text.encode()))
    assert made.fingerprint() == NormalForm(DILEMMA).fingerprint()


def test_lists_alone_are_payoffs(tmp_path):
    made = read_game(put(tmp_path / "g.json", PAYOFFS))
    assert made.fingerprint() == NormalForm(DILEMMA).fingerprint()


def test_shared_moves_by_hand(tmp_path):
    path = put(tmp_path / "g.json", {"payoffs": np.zeros((2, 3, 3)).tolist(), "moves": {"shared": [[1], [0, 2], [1]]}})
    assert read_game(path).fingerprint() == NormalForm(np.zeros((2, 3, 3)), moves=path_moves(3)).fingerprint()


def test_npz_by_hand(tmp_path):
    numbers = {"payoffs": DILEMMA.astype(np.int8), "potential": DILEMMA_POTENTIAL.astype(">f4")}
    swap = ~np.eye(2, dtype=bool)
    for moves in ({}, {"moves": swap}, {"moves_0": swap, "moves_1": np.ones((2, 2), bool)}):
        np.savez_compressed(tmp_path / "g.npz", **numbers, **moves)
        made = read_game(tmp_path / "g.npz")
        given = moves.get("moves", [swap, swap] if moves else None)
        assert made.fingerprint() == NormalForm(DILEMMA, potential=DILEMMA_POTENTIAL, moves=given).fingerprint()


# Bad files --------------------------------------------------------------------------------------------

LONG = "9" * 5000
DEEP = "[" * 100_000
FIELDS = r"\(known are payoffs, potential, moves, name, players, actions, unit\)"

JSON = {
    "empty": ("", r"not JSON: Expecting value, line 1 column 1$"),
    "not json": ('{"payoffs":\n [1, 2', r"not JSON: .*delimiter, line 2 column \d+$"),
    "comment": ("// mine\n{}", r"not JSON: .*line 1 column 1$"),
    "not text": (b"\xff\xfe{", r"not JSON: expected UTF-8 text, got byte 0xff$"),
    "list": ([1, 2], r"payoffs must have shape \(N, A_1, \.\.\., A_N\), got \(2,\)$"),
    "number": (5, r'expected \{"payoffs": \[\.\.\.\]\} or the lists alone, of shape .*, got 5$'),
    "null": ("null", r"expected .* got null$"),
    "no payoffs": ({"name": "x"}, r"expected payoffs of shape \(N, A_1, \.\.\., A_N\), got 'name'$"),
    "nothing": ({}, r"expected payoffs .*got nothing$"),
    "null payoffs": ({"payoffs": None}, r"payoffs must be nested lists of numbers, got null$"),
    "object payoffs": ({"payoffs": {}}, r"payoffs must be nested lists of numbers, got an object$"),
    "near key": ({"payoff": PAYOFFS}, rf"unknown key 'payoff'; did you mean 'payoffs'\? {FIELDS}$"),
    "far key": ({"payoffs": PAYOFFS, "zzz": 1}, rf"unknown key 'zzz' {FIELDS}$"),
    "twice": ('{"payoffs": [[1]], "payoffs": [[2]]}', r"key 'payoffs' is there twice$"),
    "twice inside": ('{"payoffs": [[1]], "moves": {"shared": [], "shared": []}}', r"key 'shared' is there twice$"),
    "ragged": (
        {"payoffs": [[[1, 2], [3]], PAYOFFS[1]]},
        r"payoffs must be rectangular: expected 2 entries at index \(0, 1\), got 1$",
    ),
    "ragged depth": (
        {"payoffs": [[[1, 2], 3], PAYOFFS[1]]},
        r"payoffs must be rectangular: expected 2 entries at index \(0, 1\), got 3$",
    ),
    "deeper": ({"payoffs": [[1, [2]]]}, r"payoffs must hold numbers: expected one at index \(0, 1\), got a list$"),
    "text": (
        {"payoffs": [[1, "2"]]},
        r"payoffs must hold numbers: expected one at index \(0, 1\), got \"2\"; leave out the quotes$",
    ),
    "all text": ({"payoffs": [["1", "2"]]}, r"payoffs .*index \(0, 0\), got \"1\"; leave out the quotes$"),
    "boolean": ({"payoffs": [[1.5, True]]}, r"payoffs .*index \(0, 1\), got true$"),
    "null inside": ({"payoffs": [[1.5, None]]}, r"payoffs .*index \(0, 1\), got null$"),
    "nan": ('{"payoffs": [[1, NaN]]}', r"payoffs must be finite, got nan at index \(0, 1\)$"),
    "overflow": ('{"payoffs": [[1, -1e999]]}', r"payoffs must be finite, got -inf at index \(0, 1\)$"),
    "huge integer": (f'{{"payoffs": [[1, 1{400 * "0"}]]}}', r"payoffs must be finite, got an integer too large"),
    "endless integer": (f'{{"payoffs": [[1, {LONG}]]}}', r"not a game: .*digits"),
    "deep": (f'{{"payoffs": {DEEP}', r"not a game: lists nested too deeply$|not JSON"),
    "many axes": (f'{{"payoffs": {"[" * 70}1{"]" * 70}}}', r"payoffs must be lists at most 64 deep, got 70$"),
    "shape": ({"payoffs": [1, 2]}, r"payoffs must have shape \(N, A_1, \.\.\., A_N\), got \(2,\)$"),
    "players": (
        {"payoffs": [[[1, 2]]]},
        r"payoffs must have shape .*got shape \(1, 1, 2\); with the players last, use .*$",
    ),
    "no actions": ({"payoffs": [[]]}, r"player 0 must have at least one action, got 0$"),
    "potential's shape": ({"payoffs": PAYOFFS, "potential": [1, 2]}, r"potential must have shape \(2, 2\), got \(2,\)"),
    "potential text": ({"payoffs": PAYOFFS, "potential": "sum"}, r"potential must be nested lists .*got \"sum\"$"),
    "potential nan": (
        {"payoffs": PAYOFFS, "potential": [[0, NAN], [0, 0]]},
        r"potential must be finite, got nan at index \(0, 1\)$",
    ),
    "name": ({"payoffs": PAYOFFS, "name": 3}, r"name must be text, got 3$"),
    "moves long text": ({"payoffs": PAYOFFS, "moves": "x" * 99}, r"moves must be a list .*, got \"x{56}\.\.\.$"),
    "moves number": ({"payoffs": PAYOFFS, "moves": 1}, r"moves must be a list with one entry per player, got 1$"),
    "moves of a player": (
        {"payoffs": PAYOFFS, "moves": [None, {"0": [1]}]},
        r"moves of player 1 must be one list of reachable actions for each action, got an object$",
    ),
    "moves of an action": (
        {"payoffs": PAYOFFS, "moves": [[1, 0], None]},
        r"moves of player 0, action 0: expected a list of reachable actions, got 1$",
    ),
    "moves range": ({"payoffs": PAYOFFS, "moves": [None, [[1], [2]]]}, r"moves of player 1, action 1: .*0\.\.1, got 2"),
    "moves float": ({"payoffs": PAYOFFS, "moves": [[[1.0], [0]], None]}, r"moves of player 0, action 0: .*got 1\.0"),
    "moves nowhere": ({"payoffs": PAYOFFS, "moves": [[[1], []], None]}, r"player 0, action 1 leads nowhere"),
    "moves players": ({"payoffs": PAYOFFS, "moves": [None]}, r"moves must have one entry for each of 2 players, got 1"),
    "moves object": ({"payoffs": PAYOFFS, "moves": {"0": SWAP}}, r"moves .* the one key 'shared', got '0'$"),
    "shared number": ({"payoffs": PAYOFFS, "moves": {"shared": [1, 0]}}, r"shared moves, action 0: .*got 1$"),
    "shared size": (
        {"payoffs": PAYOFFS, "moves": {"shared": CIRCLE}},
        r"moves must have shape \(2, 2\), got \(3, 3\)$",
    ),
    "shared range": ({"payoffs": PAYOFFS, "moves": {"shared": [[1], [5]]}}, r"action 1: .*0\.\.1, got 5$"),
}


@pytest.mark.parametrize(("content", "message"), JSON.values(), ids=JSON)
def test_bad_json(content, message, tmp_path):
    path = put(tmp_path / "bad.json", content)
    error = refuses(lambda: read_game(path), InvalidGame, message)
    assert str(error).startswith(f"{path}: ")
    assert "\n" not in str(error)


def archive(**arrays):
    """An ``.npz`` in memory."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def zipped(*members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        for name, content in members:
            out.writestr(name, content)
    return file.getvalue()


def one_array(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def flipped(content):
    """The same with one bit changed in the middle of the payoffs."""
    at = content.index(DILEMMA.tobytes()) + 8
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


class Trap:
    """Unpickling this fails the test."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


OBJECTS = np.array([[Trap(), 1]], dtype=object)
GOOD = archive(payoffs=DILEMMA)
TRUE = np.ones((2, 2), bool)

NPZ = {
    "empty": (b"", r"not an \.npz file, or damaged$"),
    "foreign": (b"PK or not PK", r"not an \.npz file, or damaged$"),
    "pickle": (pickle.dumps(Trap()), r"not an \.npz file, or damaged$"),
    "truncated": (GOOD[:-30], r"not an \.npz file, or damaged$"),
    "half": (GOOD[: len(GOOD) // 2], r"not an \.npz file, or damaged$"),
    "one array": (one_array(DILEMMA), r"not an \.npz file, or damaged$"),
    "flipped bit": (flipped(GOOD), r"payoffs is damaged or holds Python objects, which are never loaded$"),
    "objects": (archive(payoffs=OBJECTS), r"payoffs is damaged or holds Python objects, which are never loaded$"),
    "no array": (zipped(("payoffs", "1, 2")), r"payoffs is damaged or holds Python objects"),
    "twice": (
        zipped(("payoffs.npy", one_array(DILEMMA)), ("payoffs", one_array(DILEMMA))),
        r"payoffs is there twice$",
    ),
    "nothing": (archive(), r"expected payoffs of shape .*got nothing$"),
    "no payoffs": (archive(potential=DILEMMA_POTENTIAL), r"expected payoffs of shape .*got 'potential'$"),
    "near name": (archive(payoff=DILEMMA), r"unknown array 'payoff'; did you mean 'payoffs'\? \(known are payoffs, "),
    "far name": (
        archive(payoffs=DILEMMA, zzz=1),
        r"unknown array 'zzz' \(known are .* and moves_0, moves_1, \.\.\.\)$",
    ),
    "text": (
        archive(payoffs=np.array([["1", "2"]])),
        r"payoffs must be an array of real numbers, got shape .* of <U1$",
    ),
    "booleans": (archive(payoffs=TRUE), r"payoffs must be an array of real numbers, got shape .* of bool$"),
    "complex": (
        archive(payoffs=1j * DILEMMA),
        r"payoffs must be an array of real numbers, got shape .* of complex128$",
    ),
    "nan": (archive(payoffs=NAN * DILEMMA), r"payoffs must be finite, got nan at index \(0, 0, 0\)$"),
    "shape": (
        archive(payoffs=np.zeros((3, 2, 2))),
        r"payoffs must have shape .*got shape \(3, 2, 2\); with the players last, use .*$",
    ),
    "number": (archive(payoffs=np.array(5.0)), r"payoffs must have shape .*got \(\)$"),
    "potential's shape": (
        archive(payoffs=DILEMMA, potential=[1.0]),
        r"potential must have shape \(2, 2\), got \(1,\)$",
    ),
    "name": (archive(payoffs=DILEMMA, name=3), r"name must be text, got shape \(\) of int64$"),
    "moves 0/1": (
        archive(payoffs=DILEMMA, moves=np.eye(2)),
        r"moves must be a boolean matrix, got shape \(2, 2\) of float64$",
    ),
    "moves stacked": (archive(payoffs=DILEMMA, moves=[TRUE, TRUE]), r"moves must be .*got shape \(2, 2, 2\) of bool$"),
    "moves shape": (archive(payoffs=DILEMMA, moves=np.ones((3, 3), bool)), r"moves must have shape \(2, 2\), got"),
    "moves row": (
        archive(payoffs=DILEMMA, moves_0=TRUE, moves_1=TRUE[0]),
        r"moves_1 must be a boolean matrix, got shape \(2,\)",
    ),
    "moves gap": (
        archive(payoffs=DILEMMA, moves_0=TRUE, moves_2=TRUE),
        r"moves_1 is missing: expected one matrix per player, got 'payoffs', 'moves_0', 'moves_2'$",
    ),
    "moves too few": (
        archive(payoffs=DILEMMA, moves_0=TRUE),
        r"moves must have one entry for each of 2 players, got 1$",
    ),
    "moves both": (archive(payoffs=DILEMMA, moves_0=TRUE, moves=TRUE), r"expected moves, shared .*, got both$"),
    "moves name": (archive(payoffs=DILEMMA, moves_00=TRUE), r"unknown array 'moves_00'; did you mean 'moves_0'\?"),
}


@pytest.mark.parametrize(("content", "message"), NPZ.values(), ids=NPZ)
def test_bad_npz(content, message, tmp_path):
    path = put(tmp_path / "bad.npz", content)
    error = refuses(lambda: read_game(path), InvalidGame, message)
    assert str(error).startswith(f"{path}: ")
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.json", r"missing\.json: there is no such file$"),
        ("missing.npz", r"missing\.npz: there is no such file$"),
        (
            "folder.json",
            r"folder\.json: expected a file, got a folder; games are read from \.json, \.npz, \.nfg and \.gam files$",
        ),
        ("game.txt", r"game\.txt: games are read from \.json, \.npz, \.nfg and \.gam files, got \.txt$"),
        ("game", r"game: games are read from \.json, \.npz, \.nfg and \.gam files, got no suffix$"),
        ("game.npy", r"games are read from \.json, \.npz, \.nfg and \.gam files, got \.npy$"),
        ("file.txt/game.json", r"there is no such file$|cannot be read"),
        ("x" * 300 + ".json", r"cannot be read: File name too long$"),
        ("nul\0.json", r"there is no such file$"),
    ],
)
def test_bad_path(name, message, tmp_path):
    (tmp_path / "folder.json").mkdir()
    put(tmp_path / "file.txt", "")
    refuses(lambda: read_game(tmp_path / name), InvalidGame, message)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_a_file_that_cannot_be_read(suffix, tmp_path, monkeypatch):
    path = write_game(dilemma(), tmp_path / f"g{suffix}")

    def denied(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", denied)
    monkeypatch.setattr("pathlib.Path.read_bytes", denied)
    refuses(lambda: read_game(path), InvalidGame, rf"g\{suffix}: cannot be read: Permission denied$")


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_a_file_that_does_not_fit(suffix, tmp_path, monkeypatch):
    path = write_game(dilemma(), tmp_path / f"g{suffix}")
    monkeypatch.setattr("potentia.kernel.memory._SMALL", 0)
    monkeypatch.setattr("potentia.kernel.memory.available", lambda: 100)
    refuses(lambda: read_game(path), TooLarge, rf"reading .*g\{suffix} needs")


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_wrong_potential_keeps_its_evidence(suffix, tmp_path):
    wrong = DILEMMA_POTENTIAL + np.diag([0.0, 0.25])
    path = tmp_path / f"wrong{suffix}"
    if suffix == ".json":
        put(path, {"payoffs": PAYOFFS, "potential": wrong.tolist()})
    else:
        np.savez(path, payoffs=DILEMMA, potential=wrong)
    error = refuses(
        lambda: read_game(path), NotPotentialGame, r"wrong\..*: potential is not exact: .* by 1\.25; leave it out"
    )
    direct = refuses(lambda: NormalForm(DILEMMA, potential=wrong), NotPotentialGame, "not exact")
    assert error.evidence == direct.evidence is not None


# Writing ----------------------------------------------------------------------------------------------


def test_other_kinds_of_games_are_not_written(tmp_path):
    class Mine(NormalForm):
        pass

    for made in (Separable([[0.0, 1.0]]), Mine(DILEMMA), None):
        refuses(
            lambda made=made: write_game(made, tmp_path / "g.json"), InvalidGame, r"a file holds a NormalForm, got "
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("g.txt", r"g\.txt: games are written to \.json, \.npz and \.nfg files, got \.txt$"),
        ("nowhere/g.json", r"g\.json: cannot be written: No such file or directory$"),
        ("folder.npz", r"folder\.npz: cannot be written: Is a directory$"),
    ],
)
def test_bad_targets(name, message, tmp_path):
    (tmp_path / "folder.npz").mkdir()
    refuses(lambda: write_game(dilemma(), tmp_path / name), InvalidGame, message)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.npz"]


def test_bad_name(tmp_path):
    refuses(lambda: write_game(dilemma(), tmp_path / "g.json", name=3), InvalidGame, r"name must be text, got 3$")


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_a_failed_write_leaves_the_old_file(suffix, tmp_path, monkeypatch):
    path = write_game(dilemma(), tmp_path / f"g{suffix}")
    before = path.read_bytes()

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("potentia.games.formats.files.json_text", full)
    monkeypatch.setattr(np, "savez", full)
    refuses(lambda: write_game(extreme(), path), InvalidGame, r"cannot be written: No space left on device$")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# Claimed potentials -----------------------------------------------------------------------------------


def potential_files(folder):
    np.save(folder / "a.npy", DILEMMA_POTENTIAL)
    np.savez(folder / "b.npz", potential=DILEMMA_POTENTIAL, steps=[1, 2])
    return [
        folder / "a.npy",
        folder / "b.npz",
        put(folder / "c.json", POTENTIAL),
        put(folder / "d.json", {"potential": POTENTIAL, "about": "by hand"}),
        write_game(dilemma(), folder / "e.json"),
        write_game(dilemma(), folder / "f.npz"),
    ]


def test_read_potential(tmp_path):
    for path in potential_files(tmp_path):
        phi = read_potential(path, NormalForm(DILEMMA))
        assert phi.dtype == np.float64
        assert (phi == DILEMMA_POTENTIAL).all()


def test_a_claim_need_not_be_right_and_fits_any_kind_of_game(tmp_path):
    path = put(tmp_path / "claim.json", [[0, 1, 2], [3, 4, 5]])
    assert read_potential(path, Separable([[0.0, 1.0], [0.0, 1.0, 2.0]])).shape == (2, 3)


POTENTIALS = {
    "shape": (".json", [[1, 2, 3], [4, 5, 6]], r"potential must have shape \(2, 2\), got \(2, 3\)$"),
    "axes": (".json", [1, 2], r"potential must have one axis for each of 2 players, got 1$"),
    "number": (".json", 5, r"potential must be nested lists of numbers, got 5$"),
    "ragged": (".json", [[1, 2], [3]], r"potential must be rectangular: expected 2 entries at index \(1,\), got 1$"),
    "no key": (".json", {"potental": POTENTIAL}, r"expected potential of shape \(A_1, .*, got 'potental'$"),
    "null": (".json", {"potential": None}, r"potential must be nested lists of numbers, got null$"),
    "nan": (".json", [[0, NAN], [0, 0]], r"potential must be finite, got nan at index \(0, 1\)$"),
    "not json": (".json", "[[1,\n2", r"not JSON: .*line 2 column"),
    "npy shape": (".npy", one_array(np.zeros(3)), r"potential must have one axis for each of 2 players, got 1$"),
    "npy text": (
        ".npy",
        one_array(np.array([["a"]])),
        r"potential must be an array of real numbers, got shape .* of <U1$",
    ),
    "npy nan": (".npy", one_array(NAN * DILEMMA_POTENTIAL), r"potential must be finite, got nan at index \(0, 0\)$"),
    "npy objects": (".npy", one_array(OBJECTS), r"not an \.npy file of numbers, or damaged$"),
    "npy pickle": (".npy", pickle.dumps(Trap()), r"not an \.npy file of numbers, or damaged$"),
    "npy truncated": (".npy", one_array(DILEMMA_POTENTIAL)[:-5], r"not an \.npy file of numbers, or damaged$"),
    "npy empty": (".npy", b"", r"not an \.npy file of numbers, or damaged$"),
    "npy archive": (".npy", GOOD, r"not an \.npy file of numbers, or damaged$"),
    "npz without": (".npz", GOOD, r"expected potential of shape \(A_1, .*, got 'payoffs'$"),
    "npz objects": (".npz", archive(potential=OBJECTS), r"potential is damaged or holds Python objects"),
    "npz text": (".npz", archive(potential="a"), r"potential must be an array of real numbers, got shape .* of <U1$"),
    "npz truncated": (".npz", GOOD[:-30], r"not an \.npz file, or damaged$"),
    "suffix": (".csv", "1,2", r"potentials are read from \.json, \.npy and \.npz files, got \.csv$"),
}


@pytest.mark.parametrize(("suffix", "content", "message"), POTENTIALS.values(), ids=POTENTIALS)
def test_bad_potential(suffix, content, message, tmp_path):
    path = put(tmp_path / f"claim{suffix}", content)
    error = refuses(lambda: read_potential(path, dilemma()), InvalidGame, message)
    assert str(error).startswith(f"{path}: ")


def test_missing_potential_file(tmp_path):
    refuses(lambda: read_potential(tmp_path / "a.npy", dilemma()), InvalidGame, r"a\.npy: there is no such file$")
    refuses(lambda: read_potential(tmp_path, dilemma()), InvalidGame, r"expected a file, got a folder; potentials are")
