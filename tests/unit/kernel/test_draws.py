"""Random draws: the generator against an independent one, its keys, and a coarse look at uniformity."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from potentia.kernel import cache, cache_folder
from potentia.kernel.draws import (
    CHOICE,
    NUM_PURPOSES,
    PRIORITY,
    START,
    TRIAL,
    WAKE,
    below,
    make_key,
    squares,
    uniform,
    uniform_array,
)

PURPOSES = (WAKE, TRIAL, CHOICE, PRIORITY, START)
ALPHA = 1e-6


def reference(counter, key):
    """Five rounds of squaring modulo 2^64 with the halves swapped in between (arXiv:2004.06278, section 4)."""
    modulus = 2**64
    y = counter * key % modulus
    z = (y + key) % modulus
    x, fourth = y, 0
    for number, addend in enumerate((y, z, y, z, y), start=1):
        square = (x * x + addend) % modulus
        high, low = divmod(square, 2**32)
        x = low * 2**32 + high
        if number == 4:
            fourth = square
    return fourth ^ high


# Those of a Rust implementation's documentation, for the key that the paper's own programs use.
PUBLISHED = {0: 0x36D88366CEE633A5, 1: 0x944716E00E60DFAA, 2: 0xC8A8F4E0678654BF}


@pytest.mark.parametrize("counter", PUBLISHED)
def test_published_values(counter):
    key = 0x548C9DECBCE65297
    assert reference(counter, key) == PUBLISHED[counter]
    assert squares(counter, key) == PUBLISHED[counter]


def test_squares_is_the_reference():
    keys = [int(make_key(seed, "test")) for seed in range(20)]
    counters = [*range(20), 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
    for key, counter in itertools.product(keys, counters):
        assert squares(counter, key) == reference(counter, key)


def test_squares_is_the_same_for_numpy_integers():
    key = make_key(3, "test")
    assert squares(np.int64(12345), key) == reference(12345, int(key))


CASES = [
    (players, step, player, purpose)
    for players in (1, 7, 10**6)
    for step in (0, 1, 12345, 2**40, 2**50)
    for player in (0, players - 1)
    for purpose in PURPOSES
]


def test_uniform_is_the_upper_53_bits_of_its_own_counter():
    key = make_key(5, "test")
    for players, step, player, purpose in CASES:
        bits = reference((step * players + player) * 16 + purpose, int(key))
        assert uniform(key, players, step, player, purpose) == (bits >> 11) / 2**53


def _draw(key, players, step, player, purpose):
    return uniform(key, players, step, player, purpose)


def test_compiled_draws_are_the_same(monkeypatch, tmp_path):
    # A directory of its own: machine code of a test must not outlive it.
    monkeypatch.setattr(cache_folder, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(cache, "entries", [])
    entry = cache.Entry(_draw)
    key = make_key(5, "test")
    for case in CASES:
        assert entry(key, *case) == uniform(key, *case)
    assert entry.cache_misses == 1


def test_array_of_draws_is_the_same():
    key = make_key(5, "test")
    for count in (0, 1, 2, 1000):
        expected = [uniform(key, count, 0, player, START) for player in range(count)]
        assert uniform_array(key, count, START).tolist() == expected


def test_no_two_draws_share_a_counter():
    assert len(set(PURPOSES)) == len(PURPOSES)
    assert all(0 <= purpose < NUM_PURPOSES for purpose in PURPOSES)
    key = make_key(0, "test")
    found = {uniform(key, 5, n, i, p) for n in range(50) for i in range(5) for p in range(NUM_PURPOSES)}
    assert len(found) == 50 * 5 * NUM_PURPOSES


def test_draws_are_below_one_and_not_below_zero(monkeypatch):
    key = make_key(0, "test")
    for bits, unit in ((0, 0.0), (2**11 - 1, 0.0), (2**11, 2.0**-53), (2**64 - 1, 1.0 - 2.0**-53)):
        monkeypatch.setattr("potentia.kernel.draws.squares", lambda counter, key, bits=bits: bits)
        assert uniform(key, 1, 0, 0, 0) == unit


@pytest.mark.parametrize("count", [1, 2, 3, 7, 10, 1000, 2**31 - 1, 2**40 + 1])
def test_below_reaches_both_ends_and_no_further(count):
    assert below(0.0, count) == 0
    assert below(1.0 - 2.0**-53, count) == count - 1


# Keys -------------------------------------------------------------------------------------------------


def test_keys_follow_the_recipe():
    digits = [f"{int(make_key(seed, 'recipe')):016x}" for seed in range(2000)]
    for text in digits:
        assert len(text) == 16
        assert "0" not in text
        assert len(set(text[:8])) == len(set(text[8:])) == 8
        assert int(text[-1], 16) % 2 == 1
    # and use the freedom it leaves: every digit in every place
    for place in range(16):
        allowed = "13579bdf" if place == 15 else "123456789abcdef"
        assert {text[place] for text in digits} == set(allowed)


def test_keys_of_different_seeds_differ():
    assert len({int(make_key(seed, "run")) for seed in range(20_000)}) == 20_000


def test_keys_depend_on_every_label_and_large_seeds():
    keys = [
        make_key(1),
        make_key(1, "a"),
        make_key(1, "b"),
        make_key(1, "a", "b"),
        make_key(1, "b", "a"),
        make_key(1, "ab"),
        make_key(2, "a"),
        make_key(1 + 2**32, "a"),
        make_key(1 + 2**64, "a"),
        make_key(1 + 2**200, "a"),
    ]
    assert len({int(key) for key in keys}) == len(keys)
    assert all(key.dtype == np.uint64 for key in keys)


def test_keys_never_change():
    """Worked out once; another value means other draws for every seed ever used."""
    assert make_key(0, "run", "a game", "a rule") == 0x27B1E4F97D3CFB85


# Uniformity -------------------------------------------------------------------------------------------

PLAYERS, STEPS = 7, 4000


@pytest.fixture(scope="module")
def table():
    """Draws by step, player and purpose: 140,000 of them."""
    key = make_key(2024, "uniformity")
    flat = [uniform(key, PLAYERS, n, i, p) for n in range(STEPS) for i in range(PLAYERS) for p in PURPOSES]
    return np.array(flat).reshape(STEPS, PLAYERS, len(PURPOSES))


def too_uneven(counts, comparisons=1):
    """Whether a chi-square test at ALPHA, split over the comparisons, rejects equal cells."""
    expected = counts.sum() / counts.size
    assert expected > 20
    statistic = ((counts - expected) ** 2 / expected).sum()
    return statistic > stats.chi2.isf(ALPHA / comparisons, counts.size - 1)


def cells(units, number=64):
    return np.bincount((np.ravel(units) * number).astype(int), minlength=number)


def pairs(first, second, number=8):
    return cells((np.floor(np.ravel(first) * number) + np.ravel(second)) / number, number**2)


def test_draws_are_uniform(table):
    assert not too_uneven(cells(table))


def test_draws_are_uniform_for_each_player_and_purpose(table):
    columns = [table[:, i, p] for i in range(PLAYERS) for p in range(len(PURPOSES))]
    assert not any(too_uneven(cells(column), len(columns)) for column in columns)


def test_draws_of_neighbours_are_independent(table):
    neighbours = {
        "steps": pairs(table[:-1], table[1:]),
        "players": pairs(table[:, :-1], table[:, 1:]),
        "purposes": pairs(table[:, :, :-1], table[:, :, 1:]),
    }
    assert [name for name, counts in neighbours.items() if too_uneven(counts, 3)] == []


def test_draws_of_neighbouring_seeds_are_independent(table):
    other = make_key(2025, "uniformity")
    beside = [uniform(other, PLAYERS, n, 0, WAKE) for n in range(STEPS)]
    assert not too_uneven(pairs(table[:, 0, 0], beside))


def test_low_bits_are_uniform(table):
    """The draw between the ticks of a coarse grid: bits that a coarse histogram does not see."""
    assert not too_uneven(cells(table * 2.0**30 % 1.0))


def test_negative_control_squared_draws_are_rejected(table):
    assert too_uneven(cells(table**2))


def test_negative_control_slightly_uneven_draws_are_rejected(table):
    """A density of 1.03 below one half and 0.97 above: what the test can still see."""
    assert too_uneven(cells(np.where(table < 0.515, table / 1.03, 0.5 + (table - 0.515) / 0.97)))


def test_negative_control_dependent_draws_are_rejected(table):
    assert too_uneven(pairs(table[:-1], 0.9 * table[:-1] + 0.1 * table[1:]), 3)
    mixed = table[1:].copy()
    mixed[::10] = table[:-1:10]  # every tenth step repeats the one before
    assert not too_uneven(cells(mixed))
    assert too_uneven(pairs(table[:-1], mixed), 3)


def test_negative_control_coarse_draws_are_rejected(table):
    assert too_uneven(cells(np.float32(table).astype(float) * 2.0**30 % 1.0))
