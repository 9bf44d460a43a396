"""What a specification comes to: the points of its grid, each a game, a belief and a rule, and what is recorded."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from potentia.beliefs import Belief
from potentia.engine import Run, begin
from potentia.engine.code import Code, own_code
from potentia.engine.columns import num_rows, result_bytes
from potentia.engine.requests import eventful
from potentia.errors import InvalidBelief, InvalidGame, InvalidInput, InvalidRule, InvalidSpecification, PotentiaError
from potentia.games import Coverage, Game
from potentia.games.formats.map_frames import read_maps
from potentia.games.formats.maps import GRIDS, grid_fields
from potentia.kernel import memory
from potentia.kernel.arrays import Floats
from potentia.kernel.cache import Compiled
from potentia.kernel.numbers import in_words
from potentia.kernel.recorders import by_its_name
from potentia.rules import Rule
from potentia.studies import building
from potentia.studies.axes import text_of
from potentia.studies.kept import mark_of
from potentia.studies.points import Cell, Dimensions, grid, labels_of
from potentia.studies.refusals import refused
from potentia.studies.specification import Specification

_ERRORS = {"game": InvalidGame, "belief": InvalidBelief, "rule": InvalidRule}  # by the section that they are about


@dataclass(frozen=True)
class Point:
    """One batch of a sweep: what is played, and where it stands in the grid."""

    number: int
    game: Game
    rule: Rule
    belief: Belief | None
    labels: dict[str, str]  # which game, belief and rule of several
    values: dict[str, Any]  # what varies, by key

    def describe(self) -> str:
        """One line for people: the labels and what varies."""
        parts = [*self.labels.values(), *(f"{key.partition('.')[2]}={text_of(v)}" for key, v in self.values.items())]
        return ", ".join(parts) or self.rule.name


@dataclass(frozen=True)
class Plan:
    """A specification, built."""

    specification: Specification
    points: tuple[Point, ...]
    dimensions: Dimensions
    record: tuple[str, ...]
    names: dict[str, str]  # what a key is called in a dataset

    @property
    def num_runs(self) -> int:
        """Points times seeds."""
        return len(self.points) * len(self.specification.seed_numbers)

    @cached_property
    def code(self) -> Code:
        """The fingerprints of the code of one's own in it; refused where something has none."""
        try:
            return own_code(((point.game, point.rule, point.belief) for point in self.points), self.record)
        except InvalidInput as error:
            raise InvalidSpecification(error.message) from None


def plan(specification: Specification, folder: Path = Path()) -> Plan:
    """Build every point, so that nothing that can be known to be wrong waits for the middle of a sweep."""
    found = grid(specification)
    build: dict[str, Any] = {"belief": building.belief_from, "rule": building.rule_from}
    build["game"] = partial(_eventful_game, specification.events, folder)
    known: dict[str, Any] = {}
    points: list[Point] = []
    for cell in found.cells:
        parts = {section: _built(section, build[section], cell, known) for section in cell.tables}
        points.append(Point(len(points), parts["game"], parts["rule"], parts.get("belief"), cell.labels, cell.values))
    record = _record(specification, points)
    built = Plan(specification, tuple(points), found.dimensions, record, found.names(record))
    _check_points(built)
    records = in_words(specification.steps // specification.spacing + 1)
    memory.require(bytes_of_run(built), f"one run with {records} records", "use a larger every")
    return built


def begun(built: Plan, point: Point, compiled: Compiled = "auto") -> Run:
    """The first run of a point."""
    wanted = built.specification
    options: dict[str, Any] = {"record": built.record, "every": wanted.spacing, "start": wanted.start}
    options |= {"horizon": wanted.steps, "belief": point.belief, "compiled": compiled}
    return begin(point.game, point.rule, wanted.seed_numbers[0], **options)


def bytes_of_run(built: Plan, numbers: Iterable[int] | None = None) -> int:
    """What is kept of the largest run, of all points or of those with these numbers."""
    rows = num_rows(built.record, built.specification.steps, built.specification.spacing)
    points = built.points if numbers is None else [built.points[number] for number in numbers]
    return max(result_bytes(game, built.record, rows) for game in {id(p.game): p.game for p in points}.values())


def _eventful_game(events: list[str] | None, folder: Path, table: dict[str, Any]) -> Game:
    game: Game = eventful(building.game_from(table, folder), events)
    return game


def _built(section: str, build: Callable[[dict[str, Any]], Any], cell: Cell, known: dict[str, Any]) -> Any:
    """What is built from a table, the same object for the same table."""
    table = cell.tables[section]
    options = {name: entry for name, entry in table.items() if name != "label"}
    key = f"{section} {text_of(options)}"
    try:
        if key not in known:
            known[key] = build(options)
        return known[key]
    except (OSError, PotentiaError) as error:
        if getattr(error, "parameter", None) == "events" and "events" not in table:
            raise _keyed(error, None) from None  # of the study
        if getattr(error, "parameter", None) in (*table, section):
            where = f" ({cell.labels[section]})" if section in cell.labels else ""
            raise _keyed(error, section, where) from None
        name = f"{section} {table.get('label', table.get('name', ''))}".strip()
        raise _keyed(error, None, before=f"{name}: ") from None


def _keyed(error: Exception, section: str | None, where: str = "", before: str = "") -> InvalidSpecification:
    """The same error, of a key of the specification where it is about one: ``rule.tau must be ...``."""
    said, remedies = (error.message, error.remedies) if isinstance(error, PotentiaError) else (str(error), ())
    if section is not None and isinstance(error, InvalidInput) and error.parameter is not None:
        said = error.said_of(f"{section}.{'name' if error.parameter == section else error.parameter}")
    return InvalidSpecification(f"{before}{said}{where}").advising(*remedies)


def _record(specification: Specification, points: Sequence[Point]) -> tuple[str, ...]:
    if specification.record is not None:
        record = tuple(map(by_its_name, specification.record))
        if len(set(record)) != len(record):
            raise InvalidSpecification("must name each recorder once", "record")
        return record
    names = ["welfare"]
    if all(point.game.has_potential for point in points):
        names.insert(0, "potential")
    if all(isinstance(point.game, Coverage) for point in points):
        names += ["worth_sum", "worth_union"]
    return tuple(names)


def _check_points(built: Plan) -> None:
    """Begin a run of every game with every belief and rule; of what else varies a rule checks its own parameters."""
    wanted = built.specification
    games: dict[tuple[int, int, str], Game] = {}
    for point in built.points:
        kind = (id(point.game), id(point.belief), point.rule.name)
        try:
            if kind in games:
                point.rule.data(games[kind], wanted.steps)
                continue
            games[kind] = begun(built, point).game
        except PotentiaError as error:
            section = next((name for name, kind in _ERRORS.items() if isinstance(error, kind)), None)
            raise _keyed(error, section, f" ({point.describe()})" if len(built.points) > 1 else "") from None


# Files that a specification names -----------------------------------------------------------------------


def with_files(
    specification: Specification, renamed: Callable[[str, str], str], folder: Path | None = None
) -> list[dict[str, Any]]:
    """The tables of games with every file called otherwise: what ``renamed`` gives for its key and its name."""

    def entry_with(key: str, entry: Any) -> Any:
        if isinstance(entry, list):
            return [entry_with(key, part) for part in entry]
        is_name = isinstance(entry, str) and (key != "map" or building.is_file(entry, folder))
        return renamed(key, entry) if is_name else entry

    return [
        {key: entry_with(key, entry) if key in building.FILES else entry for key, entry in table.items()}
        for table in specification.game
    ]


def gather(specification: Specification, folder: Path) -> tuple[Specification, dict[str, bytes]]:
    """The same with files named after their content, and those contents: a study keeps its own copies."""
    contents: dict[str, bytes] = {}

    def named(stem: str, content: bytes, suffix: str) -> str:
        known = f"{stem[:60].lstrip('.')}{mark_of(content)}{suffix}"  # never hidden
        contents[known] = content
        return known

    def kept(key: str, name: str) -> str:
        path = folder / name
        if "\0" in name:
            raise InvalidSpecification(f"game.{key}: no file can be called {name!r}")
        with refused(InvalidSpecification, f"read {path}", f"game.{key}: "):
            if key == "map" and path.is_dir():  # images, kept as the frames that they are
                maps = read_maps(path)
                if maps.coordinates is not None:
                    told = "a study keeps frames as bare numbers, and would lose where these lie"
                    raise InvalidSpecification(f'{told}; "potentia cover" plays them, or give an .npy file')
                return named(path.name, _as_file(np.save, maps.frames, allow_pickle=False), ".npy")
            if key == "map" and path.suffix.lower() in GRIDS and path.with_suffix(".prj").is_file():
                return named(path.stem, _as_file(np.savez, **grid_fields(path)), ".npz")
            if path.exists() and not path.is_file():
                raise InvalidSpecification(f"game.{key}: {path} is not a file")
            if path.exists():
                memory.require(2 * path.stat().st_size, f"reading {path}")
            return named(path.stem, path.read_bytes(), path.suffix)

    games = with_files(specification, kept, folder)
    if not contents:
        return specification, contents
    labels = labels_of("game", specification.game)
    games = [{"label": label, **table} for label, table in zip(labels, games, strict=True)]
    return specification.model_copy(update={"game": games}), contents


def _as_file(save: Callable[..., None], *arrays: Floats, **options: Any) -> bytes:
    """What NumPy would write."""
    file = io.BytesIO()
    save(file, *arrays, **options)
    return file.getvalue()
