"""Files in Gambit's format, and what pygambit makes of them."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

HEAD = 'NFG 1 R "a title" { "Ann" "Bob" } '
NAMES = '{ { "stag" "hare" } { "stag" "hare" } } '

BY_HAND = {
    "payoffs": HEAD + NAMES + "4 4 3 0 0 3 3 3",
    "counts": 'NFG 1 R "t" { "1" "2" } { 2 3 } 1 2 3 4 5 6 7 8 9 10 11 12',
    "one player": 'NFG 1 D "t" { "alone" } { { "a" "b" "c" } } 1 2 3',
    "numbers": HEAD + NAMES + "1/3 -2/6 0.1 -.5 2.50 1e2 25e-1 -0",
    "more numbers": HEAD + NAMES + "1 1/2 1.e2 3. 00012 25E1 -1.5e-3 123456789012345678901234567890",
    "comment": HEAD + NAMES + '"a comment with { braces } and \\"quotes\\""\n1 2 3 4 5 6 7 8',
    "lines": (HEAD + "\n\t" + NAMES + "\n\n1 2\n3 4\n\n5 6 7\n8\n").replace("\n", "\r\n"),
    "quotes": 'NFG 1 R "\\"t\\"" { "\\"A\\"" "a\\b" } { { "\\"" "{" } { "1" "}" } } 1 2 3 4 5 6 7 8',
    "marks": 'NFG 1 R "it\'s" { "#1" "//" } { { "a,b" ";" } { "()" "[x]" } } 1 2 3 4 5 6 7 8',
    "outcomes": HEAD + NAMES + '{ { "o1" 1, 1/2 } { "o2" -2 3 } }\n1 2 2 1',
    "no outcome": HEAD + NAMES + '{ { "o1" 1, 1/2 } { "" -2 3 } }\n1 0 2 1',
    "unused outcome": HEAD + NAMES + '"c"\n{\n{ "o1" 1, 2 }\n{ "o2" 3, 4 }\n{ "o3" 5, 6 }\n}\n3 3 0 1',
    "twice": 'NFG 1 R "t" { "a" "a" } { { "x" "x" "y" } { "" "y" } } 1 2 3 4 5 6 7 8 9 10 11 12',
    "some numbers": 'NFG 1 R "t" { "1" "x" } { { "1" "2" } { "x" "1" } } 1 2 3 4 5 6 7 8',
    "close": HEAD + '{{"a""b"}{"c""d"}}1 2 3 4 5 6 7 8',
}
_LETTERS = "abcXYZ 0123456789\"{}'.,;:-+#/"


def shapes(most_players: int, most_actions: int) -> list[tuple[int, ...]]:
    """All numbers of actions of up to so many players."""
    counts = range(1, most_actions + 1)
    return [shape for k in range(1, most_players + 1) for shape in itertools.product(counts, repeat=k)]


def payoff(random: Random) -> Any:
    """An integer, a decimal or a fraction."""
    kind = random.randrange(3)
    if kind == 0:
        return random.randrange(-9, 10)
    return Fraction(random.randrange(-99, 100), 10 ** random.randrange(1, 4) if kind == 1 else random.randrange(1, 30))


def name(random: Random, taken: set[str]) -> str:
    """A name as pygambit allows it."""
    while True:
        found = " ".join("".join(random.choices(_LETTERS, k=random.randrange(1, 9))).split())
        if found and found not in taken:
            taken.add(found)
            return found


def written(pygambit: Any, shape: tuple[int, ...], seed: int) -> Any:
    """A game of pygambit: payoffs of all kinds, and names for most."""
    random = Random(f"{shape} {seed}")
    made = pygambit.Game.new_table(list(shape), title=" ".join(map(str, shape)))
    for those in (made.players, *(player.strategies for player in made.players)):
        if random.random() < 0.7:
            taken = {one.label for one in those}
            for one in those:
                one.label = name(random, taken)
    for profile in itertools.product(*map(range, shape)):
        for player in made.players:
            value = Fraction(payoff(random))
            made[list(profile)][player] = pygambit.Rational(value.numerator, value.denominator)
    return made


def corpus(pygambit: Any) -> Iterator[tuple[str, str]]:
    """Files by name: those by hand, and those that pygambit writes."""
    yield from BY_HAND.items()
    for shape in [*shapes(3, 3), *(shape for shape in shapes(5, 2) if len(shape) > 3)]:
        yield "x".join(map(str, shape)), written(pygambit, shape, 0).to_nfg()


def read(pygambit: Any, text: str) -> dict[str, Any]:
    """What pygambit reads in a file."""
    return reading(pygambit.read_nfg(io.BytesIO(text.encode())))


def reading(game: Any) -> dict[str, Any]:
    """A game of pygambit as plain data; payoffs player by player, profiles in C order, as texts."""
    names = [[strategy.label for strategy in player.strategies] for player in game.players]
    profiles = [game[list(profile)] for profile in itertools.product(*(range(len(own)) for own in names))]
    payoffs = [[0 if outcome is None else outcome[player] for outcome in profiles] for player in game.players]
    return {
        "title": game.title,
        "players": [player.label for player in game.players],
        "actions": names,
        "payoffs": [[str(Fraction(value)) for value in row] for row in payoffs],
    }


def ours(game: Any) -> dict[str, Any]:
    """The same of a game of ours; where it has no names, those that Gambit gives."""
    from potentia.games.exact import fractions_of

    numbers = [[str(k + 1) for k in range(size)] for size in game.num_actions]
    return {
        "title": game.known_as,
        "players": list(game.player_names or [str(k + 1) for k in range(game.num_players)]),
        "actions": [list(own) for own in game.action_names or numbers],
        "payoffs": [[str(value) for value in fractions_of(row, game.payoff_unit)] for row in game.payoffs],
    }
