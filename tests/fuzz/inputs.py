"""Input number so and so of a reader: the same for the same seed, whichever process makes it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.fuzz.archives import bombed, damage_npy, damage_npz, unpacked
from tests.fuzz.damage import TOKENS, damage
from tests.fuzz.pictures import damage_image, damage_table
from tests.fuzz.places import SPECIAL, clear
from tests.fuzz.reader import Reader
from tests.fuzz.trees import as_json, as_toml, damage_tree, parsed, tree_from
from tests.fuzz.words import damage_words


class Input(NamedTuple):
    """A file to read: its content, or the name of what is there instead of a file."""

    suffix: str
    content: bytes | None
    how: str  # what was done to it; the name of something special


def make_input(reader: Reader, seed: int, number: int) -> Input:
    """First whatever is no file, then valid ones, an empty one, an archive that fills the memory, then damaged ones."""
    seeds = reader.seeds
    special = list(SPECIAL) if reader.special else []
    if number < len(special):
        return Input(seeds[0][0], None, special[number])
    number -= len(special)
    if number < len(seeds):
        return Input(*seeds[number], "valid")
    number -= len(seeds)
    if number == 0:
        return Input(seeds[0][0], b"", "empty")
    if number == 1 and reader.form == "npz":
        return Input(seeds[0][0], *bombed(unpacked(seeds[0][1])[0][0], 2500))
    random = Random(f"{seed} {reader.name} {number}")
    suffix, content = random.choice(seeds)
    other = random.choice(seeds)[1]
    changed, how = _damaged(random, reader, content, other)
    return Input(suffix, changed, how)


def changed(reader: Reader, changes: dict[str, str]) -> Input:
    """A valid JSON file with entries set to texts of JSON, or dropped where there is none."""
    suffix, content = reader.seeds[0]
    plain = json.loads(content)
    for place, text in changes.items():
        *above, last = (int(part) if part.isdecimal() else part for part in place.split("/"))
        inside = plain
        for part in above:
            inside = inside[part]
        if text:
            inside[last] = json.loads(text)
        else:
            del inside[last]
    return Input(suffix, as_json(reader.sealed(tree_from(plain), False)).encode(), str(changes))


def _damaged(random: Random, reader: Reader, content: bytes, other: bytes) -> tuple[bytes, str]:
    if reader.form == "bytes" or random.random() < 0.25:
        return damage(random, content, other)
    if reader.form == "json":
        tree = parsed(content)
        how = damage_tree(random, tree, "json")
        return as_json(reader.sealed(tree, random.random() < 0.3)).encode(), how
    if reader.form == "toml":
        import tomllib

        tree = tree_from(tomllib.loads(content.decode()))
        how = damage_tree(random, tree, "toml")
        return as_toml(tree).encode("utf-8", "surrogatepass"), how
    if reader.form == "lines":
        key, _, value = content.decode().partition("=")
        token = random.choice(TOKENS).decode("utf-8", "replace")
        parts = [key, value]
        place = random.randrange(2)
        parts[place] = random.choice((token, parts[place] + token, token + parts[place]))
        return "=".join(parts).encode("utf-8", "surrogatepass"), f"{token[:20]!a} of {len(token)} characters"
    kinds = {"npz": damage_npz, "npy": damage_npy, "image": damage_image, "table": damage_table, "words": damage_words}
    return kinds[reader.form](random, content, other)


def put(reader: Reader, one: Input) -> Path:
    """The input in its place."""
    path = reader.place(one.suffix, one.content)
    if path.is_symlink() or not path.is_file() or one.content is None:
        clear(path)
    if one.content is None:
        SPECIAL[one.how](path)
    else:
        path.write_bytes(one.content)
    return path
