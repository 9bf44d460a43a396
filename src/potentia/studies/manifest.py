"""The manifest of a study: all that fixes its bits, replaced as a whole when it grows, checked whenever it is read.

Its digest tells damage. Somebody may have changed it and the digest with it, so every field is checked as well: the
grid against the specification, the others for type and size. The games and rules are checked by their fingerprints when
a study is gone on with. Nothing of it is ever executed, and no file outside its folder is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import numpy as np
from pydantic import Field, ValidationError

from potentia.engine.code import Code
from potentia.errors import InvalidSpecification, StudyError
from potentia.games import Coverage, Game
from potentia.kernel import memory
from potentia.kernel.files import read_plain
from potentia.kernel.recorders import by_its_name
from potentia.studies.axes import shown_short
from potentia.studies.planning import Plan, with_files
from potentia.studies.points import DIMENSIONS, LIVES, PER_RUN, Dimensions, grid
from potentia.studies.seeds import intervals, plain_seeds, seeds_from
from potentia.studies.specification import Seeds, Specification, Strict, at_least, specification_from
from potentia.version import __version__

FORMAT = 3
PLACED = 2  # up to this one chunks went by their place in the grid
_WITHOUT_CODE = 1  # nothing of one's own is played, or it was begun when nobody looked
MOST_SEEDS = 10**9  # nine digits in a chunk's file name
MOST_CHUNKS = 10**6  # files in a folder
_MOST_BYTES = 1_000_000_000  # a hundred thousand points take 60 million
_AS_OBJECTS = 30  # bytes of Python's objects for one of JSON

_ASIDE = ("chunk", "parts", "identity", "manifest")  # of the identity: how it is cut, and hashes
_Text = Annotated[str, Field(max_length=100_000)]
_Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
_Count = Annotated[int, at_least(1)]


class _Length(Strict):
    """How long the side of a cell is."""

    side: Annotated[float, Field(gt=0)]
    unit: _Text


class _Point(Strict):
    labels: dict[str, str]
    values: dict[str, Any]
    game: _Text
    fingerprint: _Text
    players: _Count
    profiles: _Count | None
    rule: dict[str, Any]
    belief: dict[str, Any] | None
    code: _Hash | None = None  # of the game, where it is somebody's own
    length: _Length | None = None
    totals: list[_Text] = Field(default_factory=list)  # what it tells of each player at the end


class _Manifest(Strict):
    format: int
    potentia: Annotated[str, Field(max_length=100)]
    specification: dict[str, Any]
    record: list[Annotated[str, Field(min_length=1, max_length=200)]]
    every: _Count
    chunk: _Count
    dimensions: list[Annotated[list[str], Field(min_length=1)]] | None
    names: dict[str, str]
    points: Annotated[list[_Point], Field(min_length=1)]
    parts: Annotated[list[Seeds | list[Annotated[int, at_least(0)]]], Field(min_length=1)] | None = None
    code: Annotated[dict[_Text, _Text], Field(min_length=2)] | None = None
    identity: _Hash
    manifest: _Hash


def make_manifest(built: Plan, size: int, code: Code, parts: Sequence[Sequence[int]] = ()) -> dict[str, Any]:
    """What is written down of a study that is cut into chunks of so many seeds, and plays this code of one's own.

    ``parts`` are its seeds in the order in which they were asked for, where it has grown.
    """
    body: dict[str, Any] = {
        "format": FORMAT,
        "potentia": __version__,
        "specification": built.specification.spec(),
        "record": list(built.record),
        "every": built.specification.spacing,
        "chunk": size,
        "dimensions": _listed(built.dimensions),
        "names": built.names,
        "points": _points(built, bool(code)),
    }
    body |= {"code": code} if code else {}
    listed = [plain_seeds(part) for part in parts]
    body |= {"parts": listed} if listed and listed != [plain_seeds(built.specification.seed_numbers)] else {}
    body["identity"] = _identity(body)
    return body | {"manifest": digest(body)}


def _listed(dimensions: Dimensions) -> list[list[str]] | None:
    return None if dimensions is None else [list(keys) for keys in dimensions]


def _points(built: Plan, own: bool) -> list[dict[str, Any]]:
    games = {id(point.game): point.game for point in built.points}
    told = {number: _game(game, "visits" in built.record, own) for number, game in games.items()}
    return [
        {
            "labels": point.labels,
            "values": point.values,
            **told[id(point.game)],
            "rule": point.rule.spec(),
            "belief": None if point.belief is None else point.belief.spec_on(point.game),
        }
        for point in built.points
    ]


def _game(game: Game, visited: bool, own: bool) -> dict[str, Any]:
    lives = game.lives(game.new_state(np.zeros(game.num_players, np.int64)))
    totals = [*map(str, game.totals), *(LIVES if lives is not None else ())]
    side, unit = game.world.length if isinstance(game, Coverage) else (1.0, "cells")
    found = {
        "game": game.describe(),
        "fingerprint": game.fingerprint(),
        "players": game.num_players,
        "profiles": game.num_profiles if visited else None,
    }
    more = {
        "code": game.code_fingerprint() if own else None,
        "length": {"side": side, "unit": unit} if unit != "cells" else None,
        "totals": totals,
    }
    return found | {name: part for name, part in more.items() if part}


def run_keys(manifest: dict[str, Any]) -> list[str]:
    """Of each point, what its runs are found by: a hash of all that fixes them but the seed.

    It does not depend on what else is in the study, nor on where the point stands in it.
    """
    same: dict[str, Any] = {name: manifest[name] for name in ("potentia", "record", "every")}
    same |= {name: manifest["specification"].get(name) for name in ("steps", "start")}
    names = ("game", "fingerprint", "code", "rule", "belief")
    return [digest(same | {name: point.get(name) for name in names}) for point in manifest["points"]]


def read_manifest(path: Path) -> tuple[dict[str, Any], Specification]:
    """A manifest and its specification, if it is whole, of a format that this version knows, and makes sense."""
    try:
        content = read_plain(path, _MOST_BYTES)
        memory.require(_AS_OBJECTS * len(content), f"reading {path}")
        plain = json.loads(content, parse_constant=_refuse)
    except FileNotFoundError:
        raise StudyError(f"there is no study in {path.parent}: it has no {path.name}") from None
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError):  # json's own error is a ValueError
        raise StudyError(f"{path} is damaged: it is not JSON") from None
    if not isinstance(plain, dict) or type(plain.get("format")) is not int or plain["format"] < 1:
        raise StudyError(f"{path} is damaged: it names no format")
    if plain["format"] > FORMAT:
        by = f"potentia {shown_short(plain.get('potentia'))}, format {shown_short(plain['format'])}"
        raise StudyError(f"{path.parent} was written by a newer version ({by}): this is {__version__}, format {FORMAT}")
    try:
        if plain.get("manifest") != digest({name: entry for name, entry in plain.items() if name != "manifest"}):
            raise ValueError("its content is not what was saved")
        return plain, _checked(plain)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])[:80]
        raise StudyError(f"{path} is damaged: {place}: {first['msg']}, got {shown_short(first['input'])}") from None
    except (InvalidSpecification, ValueError, RecursionError) as error:
        raise StudyError(f"{path} is damaged: {error}") from None


def check_size(points: int, seeds: Sequence[int], size: int) -> None:
    """What file names and folders can hold; ``seeds`` says how many there are in each part."""
    if sum(seeds) > MOST_SEEDS:
        raise InvalidSpecification(f"a study has at most {MOST_SEEDS:,} seeds, got {sum(seeds):,}")
    files = points * sum(-(-count // size) for count in seeds)
    if files > MOST_CHUNKS:
        raise InvalidSpecification(
            f"a study has at most {MOST_CHUNKS:,} chunks, got {files:,} with chunk = {size:,}: use fewer runs or a "
            "larger chunk"
        )


def _checked(plain: dict[str, Any]) -> Specification:
    """The specification, where every other field agrees with it."""
    _Manifest.model_validate(plain)
    if plain["format"] <= PLACED and ("code" in plain) != (plain["format"] > _WITHOUT_CODE):
        raise ValueError("it must have code in format 2, and not in format 1")
    if plain["identity"] != _identity(plain):
        raise ValueError("its identity is not that of its content")
    specification = specification_from(plain["specification"])
    parts = [seeds_from(part) for part in plain.get("parts") or [plain_seeds(specification.seed_numbers)]]
    check_size(len(plain["points"]), [len(part) for part in parts], plain["chunk"])
    if intervals(parts) != intervals([specification.seed_numbers]):
        raise ValueError("its parts must have the seeds of its specification")
    record = plain["record"]
    if len(set(record)) != len(record) or {*DIMENSIONS, *PER_RUN} & set(record):
        raise ValueError(f"record must name different recorders, got {shown_short(record)}")
    if specification.record is not None and record != list(map(by_its_name, specification.record)):
        raise ValueError(f"record must be the specification's, got {shown_short(record)}")
    with_files(specification, _inside)
    found = grid(specification)
    if len(found.cells) != len(plain["points"]):
        raise ValueError(
            f"it must have {len(found.cells):,} points, as its specification, got {len(plain['points']):,}"
        )
    for number, (cell, point) in enumerate(zip(found.cells, plain["points"], strict=True)):
        if point["labels"] != cell.labels or point["values"] != cell.values:
            raise ValueError(f"point {number} is not that of its specification")
        totals = point.get("totals", [])
        if len(set(totals)) != len(totals) or {*DIMENSIONS, *PER_RUN, *record} & set(totals):
            raise ValueError(f"point {number} must have totals of names of their own, got {shown_short(totals)}")
        if (point["profiles"] is None) == ("visits" in record):
            raise ValueError(
                f"point {number} must tell its number of profiles where visits are recorded, and only then"
            )
    fixed = {"every": specification.spacing, "dimensions": _listed(found.dimensions), "names": found.names(record)}
    for name, entry in fixed.items():
        if plain[name] != entry:
            shown, got = shown_short(entry), shown_short(plain[name])
            raise ValueError(f"{name} must be {shown}, as the specification has it, got {got}")
    return specification


def _inside(key: str, name: str) -> str:
    if Path(name).name != name:
        raise ValueError(f"it names a file that is not in inputs, {shown_short(name)}")
    return name


def _identity(body: dict[str, Any]) -> str:
    """Of what fixes the bits of the results; how it is cut into chunks does not."""
    return digest({name: entry for name, entry in body.items() if name not in _ASIDE})


def digest(plain: Any) -> str:
    """Of plain data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:32]


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
