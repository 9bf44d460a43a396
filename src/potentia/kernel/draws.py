"""Random draws as a pure function of (run key, step, player, purpose).

The generator is Squares (Widynski, "Squares: a fast counter-based RNG", arXiv:2004.06278), the
five-round version with 64-bit output. There is no state to carry, so a result cannot depend on
chunking, on the number of workers or on the order in which players are visited.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

from potentia.kernel.arrays import Floats
from potentia.kernel.dispatch import portable, twin

# Purposes. The counter is mixed-radix in (step, player, purpose), so no two draws of a run share one.
WAKE = 0
TRIAL = 1
CHOICE = 2
PRIORITY = 3
START = 4
NUMBER = 5  # of components: one more or one fewer
PROPOSAL = 6
DIRECTION = 7
NOISE = 8
REWARD = 9  # noise on a received utility
NUM_PURPOSES = 16
FREE_PURPOSES = range(10, NUM_PURPOSES)  # for rules of others

_MASK = 0xFFFFFFFFFFFFFFFF
_UPPER = -(2**63)  # where the upper half of the counter's range begins, as a signed number
_LATER = 2**20  # players that may come later


def squares(counter: int, key: Any) -> int:
    """64 random bits for this counter under this key."""
    try:
        k = int(key)
    except TypeError:  # every draw in turn, for whoever solves exactly (kernel/branching.py)
        drawn: Any = key.drawn(counter)
        return drawn
    y = int(counter) * k & _MASK
    z = y + k & _MASK
    x = y * y + y & _MASK
    x = (x >> 32) | (x << 32 & _MASK)
    x = x * x + z & _MASK
    x = (x >> 32) | (x << 32 & _MASK)
    x = x * x + y & _MASK
    x = (x >> 32) | (x << 32 & _MASK)
    t = x * x + z & _MASK
    x = (t >> 32) | (t << 32 & _MASK)
    return t ^ ((x * x + y & _MASK) >> 32)


@twin(squares)
def _squares_compiled(counter: Any, key: Any) -> Any:
    half = np.uint64(32)
    y = np.uint64(counter) * key
    z = y + key
    x = y * y + y
    x = (x >> half) | (x << half)
    x = x * x + z
    x = (x >> half) | (x << half)
    x = x * x + y
    x = (x >> half) | (x << half)
    t = x * x + z
    x = (t >> half) | (t << half)
    return t ^ ((x * x + y) >> half)


def _to_unit(bits: int) -> float:
    """The upper 53 bits as a double in [0, 1)."""
    return (bits >> 11) * 2.0**-53


@twin(_to_unit)
def _to_unit_compiled(bits: Any) -> Any:
    # int64 on purpose: 53 bits fit, and the signed conversion is one instruction.
    return np.int64(bits >> np.uint64(11)) * 2.0**-53


def _after(place: Any, k: int) -> Any:
    """The k-th counter after a place."""
    return place + int(k) & _MASK if isinstance(place, int) else place.nth(int(k))


@twin(_after)
def _after_compiled(place: Any, k: Any) -> Any:
    return place + np.uint64(k)


@portable
def _counter(num_players: int, step: int, player: int, purpose: int) -> int:
    """The place of a draw. Players beyond the number given, who came later, draw from the upper half of the range."""
    if player < num_players:
        return (step * num_players + player) * NUM_PURPOSES + purpose
    return (step * _LATER + player - num_players) * NUM_PURPOSES + purpose + _UPPER


@portable
def uniform(key: Any, num_players: int, step: int, player: int, purpose: int) -> float:
    """A double in [0, 1) for this step, player and purpose.

    Parameters
    ----------
    key : Any
        What the draws of the run are made from.
    num_players : int
        :func:`num_drawn` of the game.
    step : int
        The steps that were played.
    player : int
        Its number.
    purpose : int
        What for: ``WAKE``, ``TRIAL``, ``CHOICE``, ``PRIORITY`` or one of ``FREE_PURPOSES``.

    Returns
    -------
    float
        The same for the same arguments.

    Examples
    --------
    >>> from potentia.extend import CHOICE, uniform
    >>> run = pt.begin(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), seed=1)
    >>> 0.0 <= uniform(run.key, 2, 7, 0, CHOICE) < 1.0
    True
    >>> uniform(run.key, 2, 7, 0, CHOICE) == uniform(run.key, 2, 7, 0, CHOICE)
    True
    """
    return _to_unit(squares(_counter(num_players, step, player, purpose), key))


@portable
def uniform_nth(key: Any, num_players: int, step: int, player: int, purpose: int, k: int) -> float:
    """The k-th of many doubles for this step, player and purpose: those at a random place of the counter's range."""
    place = squares(_counter(num_players, step, player, purpose), key)
    return _to_unit(squares(_after(place, k), key))


@portable
def normal_nth(key: Any, num_players: int, step: int, player: int, purpose: int, k: int) -> float:
    """The k-th of many standard normal deviates, by Box and Muller."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform_nth(key, num_players, step, player, purpose, 2 * k)))
    return radius * math.cos(2.0 * math.pi * uniform_nth(key, num_players, step, player, purpose, 2 * k + 1))


@portable
def below(unit: float, count: int) -> int:
    """An integer in 0..count-1 from a uniform double; the bias is at most count / 2**53.

    Parameters
    ----------
    unit : float
        A draw of :func:`potentia.extend.uniform`.
    count : int
        How many integers.

    Returns
    -------
    int
        One of them.

    Examples
    --------
    >>> [pt.extend.below(unit, 3) for unit in (0.0, 0.5, 0.99)]
    [0, 1, 2]
    """
    return int(unit * count)


def make_key(seed: int, *labels: str) -> np.uint64:
    """The key of a run, from its seed and the text that describes it.

    Follows the key recipe of the Squares paper: eight distinct non-zero hexadecimal digits in either
    half, the last one odd. The digits come from ``SeedSequence``, whose output NumPy keeps stable.
    """
    digest = hashlib.sha256("\0".join(labels).encode()).digest()
    entropy = [int(seed), *np.frombuffer(digest, dtype="<u4").tolist()]
    words = iter(np.random.SeedSequence(entropy).generate_state(16, np.uint64).tolist())
    last = 2 * (next(words) % 8) + 1
    key = 0
    for digits, count in ((list(range(1, 16)), 8), ([d for d in range(1, 16) if d != last], 7)):
        for _ in range(count):
            key = key << 4 | digits.pop(next(words) % len(digits))
    return np.uint64(key << 4 | last)


def uniform_array(key: np.uint64, count: int, purpose: int) -> Floats:
    """The draws of players 0..count-1 at step 0, all at once."""
    return squares_of_many(np.arange(count, dtype=np.uint64) * np.uint64(NUM_PURPOSES) + np.uint64(purpose), key)


def squares_of_many(counters: Any, keys: Any) -> Floats:
    """The doubles in [0, 1) of arrays of counters and keys, broadcast against each other."""
    squares_of: Any = _squares_compiled
    return _to_unit_compiled(squares_of(counters, keys))  # type: ignore[return-value]
