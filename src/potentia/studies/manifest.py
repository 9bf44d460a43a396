"""The manifest of a study: all that fixes its bits, written once and checked whole whenever it is read.

Its digest tells damage. Somebody may have changed it and the digest with it, so every field is checked as well: the
grid against the specification, the others for type and size. The games and rules are checked by their fingerprints when
a study is gone on with. Nothing of it is ever executed, and no file outside its folder is read.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, NoReturn

from pydantic import Field, ValidationError

from potentia.engine.code import Code
from potentia.errors import InvalidSpecification, StudyError
from potentia.kernel import memory
from potentia.kernel.files import read_plain
from potentia.studies.axes import shown_short
from potentia.studies.planning import Plan, with_files
from potentia.studies.points import DIMENSIONS, PER_RUN, Dimensions, grid
from potentia.studies.specification import Specification, Strict, at_least, specification_from
from potentia.version import __version__

FORMAT = 2
_WITHOUT_CODE = 1  # nothing of one's own is played, or it was begun when nobody looked
MOST_SEEDS = 10**9  # nine digits in a chunk's file name
MOST_CHUNKS = 10**6  # files in a folder
_MOST_BYTES = 1_000_000_000  # a hundred thousand points take 60 million
_AS_OBJECTS = 30  # bytes of Python's objects for one of JSON

_Text = Annotated[str, Field(max_length=100_000)]
_Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
_Count = Annotated[int, at_least(1)]


class _Point(Strict):
    labels: dict[str, str]
    values: dict[str, Any]
    game: _Text
    fingerprint: _Text
    players: _Count
    profiles: _Count | None
    rule: dict[str, Any]
    belief: dict[str, Any] | None


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
    code: Annotated[dict[_Text, _Text], Field(min_length=2)] | None = None
    identity: _Hash
    manifest: _Hash


def make_manifest(built: Plan, size: int, code: Code) -> dict[str, Any]:
    """What is written down of a study that is cut into chunks of so many seeds, and plays this code of one's own."""
    body: dict[str, Any] = {
        "format": FORMAT if code else _WITHOUT_CODE,
        "potentia": __version__,
        "specification": built.specification.spec(),
        "record": list(built.record),
        "every": built.specification.spacing,
        "chunk": size,
        "dimensions": _listed(built.dimensions),
        "names": built.names,
        "points": _points(built),
    }
    body |= {"code": code} if code else {}
    body["identity"] = _identity(body)
    return body | {"manifest": digest(body)}


def _listed(dimensions: Dimensions) -> list[list[str]] | None:
    return None if dimensions is None else [list(keys) for keys in dimensions]


def _points(built: Plan) -> list[dict[str, Any]]:
    return [
        {
            "labels": point.labels,
            "values": point.values,
            "game": point.game.describe(),
            "fingerprint": point.game.fingerprint(),
            "players": point.game.num_players,
            "profiles": point.game.num_profiles if "visits" in built.record else None,
            "rule": point.rule.spec(),
            "belief": None if point.belief is None else point.belief.spec_on(point.game),
        }
        for point in built.points
    ]


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


def check_size(points: int, seeds: int, size: int) -> None:
    """What file names and folders can hold."""
    if seeds > MOST_SEEDS:
        raise InvalidSpecification(f"a study has at most {MOST_SEEDS:,} seeds, got {seeds:,}")
    files = points * -(-seeds // size)
    if files > MOST_CHUNKS:
        raise InvalidSpecification(
            f"a study has at most {MOST_CHUNKS:,} chunks, got {files:,} with chunk = {size:,}: use fewer runs or a "
            "larger chunk"
        )


def _checked(plain: dict[str, Any]) -> Specification:
    """The specification, where every other field agrees with it."""
    _Manifest.model_validate(plain)
    if ("code" in plain) != (plain["format"] > _WITHOUT_CODE):
        raise ValueError("it must have code in format 2, and only then")
    if plain["identity"] != _identity(plain):
        raise ValueError("its identity is not that of its content")
    specification = specification_from(plain["specification"])
    check_size(len(plain["points"]), specification.num_seeds, plain["chunk"])
    record = plain["record"]
    if len(set(record)) != len(record) or {*DIMENSIONS, *PER_RUN} & set(record):
        raise ValueError(f"record must name different recorders, got {shown_short(record)}")
    if specification.record is not None and record != specification.record:
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
    return digest({name: entry for name, entry in body.items() if name not in ("chunk", "identity", "manifest")})


def digest(plain: Any) -> str:
    """Of plain data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:32]


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
