"""Damage to what a JSON or TOML file says: mostly well formed, but an entry is not what it should be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any


class Raw(str):
    """Text that goes into a file as it is."""


class Table(list):
    """An object as pairs of key and entry, so that a key can be there twice."""


_NUMBERS = (0, 1, -1, 2, 3, 7, 100, 2**31, 2**53 + 1, 2**62, 2**63, 2**64, 10**12, 10**30, -(2**63), -(10**12), 10**400)
_FLOATS = (0.0, -0.0, 0.5, -0.5, 1e-320, 1e15, 1e300, -1e300, 1.5)
_TEXTS = (
    "",
    "a",
    "x" * 100_000,
    "\x00",
    "\x1b[2J",
    "\u202e",
    "\u2028",
    "\ud800",
    "é",
    "1",
    "nan",
    "../../x",
    "/",
    ".",
    "\n",
)
_WORDS = (
    "ring",
    "lll",
    "potential",
    "profile",
    "visits",
    "welfare",
    "rule.tau",
    "tau",
    "game",
    "seed",
    "time",
    "label",
)
_JSON = (
    "1e400",
    "-1e400",
    "NaN",
    "Infinity",
    "-Infinity",
    "9" * 5000,
    "[" * 400 + "]" * 400,
    "[" * 90_000 + "]" * 90_000,
)
_TOML = (
    "inf",
    "-inf",
    "nan",
    "1e400",
    "9" * 5000,
    "0x" + "f" * 5000,
    "[" * 400 + "]" * 400,
    "[" * 50_000 + "]" * 50_000,
    "2024-01-01",
    "2024-01-01T12:00:00Z",
    "12:00:00",
    "'''\n'''",
    "1_000",
    "{}",
    "{from = 0, to = 1, count = 3}",
    "{from = 0, to = 1, step = 1e-12}",
    "{first = 0, count = 1000000000000}",
)


def tree_from(plain: Any) -> Any:
    """A tree that can be damaged."""
    if isinstance(plain, dict):
        return Table([name, tree_from(entry)] for name, entry in plain.items())
    return [tree_from(entry) for entry in plain] if isinstance(plain, list | tuple) else plain


def parsed(text: str | bytes) -> Any:
    """The tree of a JSON text."""
    return tree_from(json.loads(text))


def as_json(tree: Any) -> str:
    """The tree as JSON."""
    if isinstance(tree, Table):
        return "{" + ", ".join(f"{as_json(str(name))}: {as_json(entry)}" for name, entry in tree) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(as_json, tree)) + "]"
    return tree if isinstance(tree, Raw) else json.dumps(tree)


def as_toml(tree: Any, top: bool = True) -> str:
    """The tree as TOML: a line for every key, what is inside it inline."""
    if isinstance(tree, Table):
        parts = [f"{as_toml(str(name), False)} = {as_toml(entry, False)}" for name, entry in tree]
        return "\n".join([*parts, ""]) if top else "{" + ", ".join(parts) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(as_toml(entry, False) for entry in tree) + "]"
    if isinstance(tree, Raw):
        return tree
    return '""' if tree is None else json.dumps(tree).replace("\x7f", "\\u007f")


def _places(tree: Any, above: tuple[int, ...] = ()) -> Iterator[tuple[list[Any], int]]:
    """Every entry as the list that holds it and its index there; of an object's, that of the pair."""
    for index, entry in enumerate(tree):
        yield tree, index
        inside = entry[1] if isinstance(tree, Table) else entry
        if isinstance(inside, list) and len(above) < 8:
            yield from _places(inside, (*above, index))


def _nasty(random: Random, form: str) -> Any:
    kind = random.randrange(9)
    if kind < 2:
        return random.choice(_NUMBERS)
    if kind == 2:
        return random.choice(_FLOATS)
    if kind == 3:
        return random.choice(_TEXTS)
    if kind == 4:
        return random.choice(_WORDS)
    if kind == 5:
        return Raw(random.choice(_TOML if form == "toml" else _JSON))
    if kind == 6:
        return random.choice((True, False, None))
    if kind == 7:
        return random.choice(([], [[]], [0], [None], ["a", "a"], [0.1, "a"], [-1], [1e300, 1], [0] * 1000))
    return Table(random.choice(([], [["", 0]], [["a", 1], ["a", 2]], [["name", "ring"]], [["shared", [[1], [0]]]])))


def _told(entry: Any) -> str:
    text = as_json(entry)
    return ascii(text[:60]) + (f" of {len(text)} characters" if len(text) > 60 else "")


def damage_tree(random: Random, tree: Any, form: str) -> str:
    """Change one to three entries in place; what was done, in words."""
    return "; ".join(_damage_one(random, tree, form) for _ in range(random.choice((1, 1, 1, 2, 3))))


def _damage_one(random: Random, tree: Any, form: str) -> str:
    # one level after the other, so that a long list does not take all the attempts
    places = list(_places(tree)) if isinstance(tree, list) else []
    if not places:
        return "nothing to change"
    above = tree
    while True:
        held = [(above, index) for index in range(len(above))]
        holder, index = random.choice(held)
        pair = isinstance(holder, Table)
        entry = holder[index][1] if pair else holder[index]
        if not isinstance(entry, list) or not entry or random.random() < 0.3:
            break
        above = entry
    where = f"{holder[index][0]!a:.40}" if pair else f"entry {index}"

    def put(value: Any) -> None:
        if pair:
            holder[index] = [holder[index][0], value]
        else:
            holder[index] = value

    how = random.randrange(14)
    if how < 7:
        value = _nasty(random, form)
        put(value)
        return f"{where} = {_told(value)}"
    if how == 7:
        del holder[index]
        return f"{where} dropped"
    if how == 8:
        holder.insert(random.randrange(len(holder) + 1), list(holder[index]) if pair else entry)
        return f"{where} twice"
    if how == 9 and pair:
        name = random.choice((*_TEXTS, *_WORDS))
        holder[index] = [name, entry]
        return f"{where} renamed {name!a:.40}"
    if how == 10 and pair:
        name, value = random.choice((*_TEXTS, *_WORDS)), _nasty(random, form)
        holder.append([name, value])
        return f"beside {where}: {name!a:.40} = {_told(value)}"
    if how == 11:
        put([entry])
        return f"{where} in a list"
    if how == 12 and isinstance(entry, int | float) and abs(entry) < 1e300:
        value = random.choice((-entry, entry + 1, entry - 1, entry * 1e6, entry / 7, float(entry), str(entry)))
        put(value)
        return f"{where} = {_told(value)}"
    other, there = random.choice(places)
    value = other[there][1] if isinstance(other, Table) else other[there]
    value = parsed(as_json(value)) if _is_clean(value) else 0
    put(value)
    return f"{where} = {_told(value)}, from elsewhere"


def _is_clean(tree: Any) -> bool:
    if isinstance(tree, Raw):
        return False
    if isinstance(tree, Table):
        return all(_is_clean(entry) for _, entry in tree)
    return not isinstance(tree, list) or all(map(_is_clean, tree))
