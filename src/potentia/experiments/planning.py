"""What a specification comes to: the points of its grid, each a game, a belief and a rule, and what is recorded."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from potentia.beliefs import Belief
from potentia.engine import begin
from potentia.engine.requests import RECORDERS
from potentia.errors import InvalidSpecification, PotentiaError
from potentia.experiments import building
from potentia.experiments.axes import Axis, as_plain, axis_from, expand, text_of
from potentia.experiments.specification import SECTIONS, Specification
from potentia.games import Coverage, Game
from potentia.kernel import memory
from potentia.kernel.numbers import in_words
from potentia.rules import Rule

MOST_POINTS = 100_000
PER_RUN = ("final", "steps_done", "revisions", "changes")  # kept of every run, whatever is recorded
_RESERVED = {"seed", "time", "player", "state", "point", *SECTIONS, *RECORDERS, *PER_RUN}


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
    dimensions: tuple[tuple[str, ...], ...] | None  # of the grid, each one key or several side by side; None: ragged
    record: tuple[str, ...]

    @property
    def num_runs(self) -> int:
        """Points times seeds."""
        return len(self.points) * len(self.specification.seed_numbers)

    @property
    def names(self) -> dict[str, str]:
        """What a key is called in a dataset: tau for rule.tau, unless that is taken."""
        return _short_names([name for point in self.points for name in point.values], self.record)


@dataclass(frozen=True)
class _Variant:
    """One table of a section, with its axes apart."""

    section: str
    label: str
    table: dict[str, Any]
    axes: list[Axis]

    def at(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: values.get(f"{self.section}.{name}", entry) for name, entry in self.table.items()}


def count_points(specification: Specification) -> tuple[int, str]:
    """How many points the grid has and what makes them, without building any."""
    total, said = 0, ""
    for variants in _combinations(specification):
        axes = [axis for variant in variants for axis in variant.axes]
        zipped = [tuple(names) for names in specification.zip]
        sizes: dict[tuple[str, ...], int] = {}
        for axis in axes:
            sizes.setdefault(next((g for g in zipped if axis.key in g), (axis.key,)), len(axis.values))
        total += math.prod(sizes.values())
        said = said or " × ".join(f"{len(axis.values):,} of {axis.key}" for axis in axes)
    several = [f"{len(getattr(specification, name)):,} of {name}" for name in SECTIONS]
    several = [text for text in several if not text.startswith(("0 ", "1 "))]
    return total, " × ".join(filter(None, [*several, said]))


def plan(specification: Specification, folder: Path = Path()) -> Plan:
    """Build every point, so that nothing that can be known to be wrong waits for the middle of a sweep."""
    _check_zip(specification)
    count, said = count_points(specification)
    if count > MOST_POINTS:
        raise InvalidSpecification(
            f"a study has at most {MOST_POINTS:,} points, got {in_words(count)}{f' ({said})' if said else ''}"
        )
    games: dict[str, Game] = {}
    points: list[Point] = []
    built_from: list[dict[str, dict[str, Any]]] = []
    shapes = []
    for variants in _combinations(specification):
        axes = [axis for variant in variants for axis in variant.axes]
        groups, rows = expand(axes, [tuple(names) for names in specification.zip])
        # as JSON: the text "0.1" is another value than the number
        shapes.append([(group, [json.dumps([row[key] for key in group]) for row in rows]) for group in groups])
        labels = {v.section: v.label for v in variants if len(getattr(specification, v.section)) > 1}
        for values in rows:
            tables = {variant.section: variant.at(values) for variant in variants}
            game = _game(tables["game"], folder, games)
            belief = _built("belief", building.belief_from, tables["belief"]) if "belief" in tables else None
            rule = _built("rule", building.rule_from, tables["rule"])
            points.append(Point(len(points), game, rule, belief, labels, dict(values)))
            built_from.append(tables)
    several = tuple((name,) for name in SECTIONS if len(getattr(specification, name)) > 1)
    same = all(shape == shapes[0] for shape in shapes)
    dimensions = (*several, *(group for group, _ in shapes[0])) if same else None
    if not same:
        points = _with_fixed(points, built_from)
    built = Plan(specification, tuple(points), dimensions, _record(specification, points))
    for point in points:
        _check_point(built, point)
        records = in_words(specification.steps // specification.spacing + 1)
        memory.require(bytes_of_run(built, point), f"one run with {records} records", "use a larger every")
    return built


def _with_fixed(points: list[Point], tables: list[dict[str, dict[str, Any]]]) -> list[Point]:
    """What varies for one rule and is fixed for another is told of both."""
    keys = list(dict.fromkeys(key for point in points for key in point.values))
    out = []
    for point, parts in zip(points, tables, strict=True):
        places = [(key, *key.split(".", 1)) for key in keys]
        values = {key: parts[part][name] for key, part, name in places if name in parts.get(part, {})}
        out.append(replace(point, values=values))
    return out


def bytes_of_run(built: Plan, point: Point) -> int:
    """What is kept of one run."""
    wanted, players = built.specification, point.game.num_players
    rows = wanted.steps // wanted.spacing + 1
    size = 8 * (rows * (len(built.record) + players * ("profile" in built.record)) + players + 3)
    return size + (8 * point.game.num_profiles if "visits" in built.record else 0)


def _combinations(specification: Specification) -> list[tuple[_Variant, ...]]:
    sections = []
    for section in SECTIONS:
        tables = getattr(specification, section)
        if tables:
            labels = _labels(section, tables)
            sections.append([_variant(section, label, table) for label, table in zip(labels, tables, strict=True)])
    if (count := math.prod(len(variants) for variants in sections)) > MOST_POINTS:
        raise InvalidSpecification(f"a study has at most {MOST_POINTS:,} points, got {in_words(count)} or more")
    return list(itertools.product(*sections))


def _labels(section: str, tables: Sequence[Mapping[str, Any]]) -> list[str]:
    labels = []
    for table in tables:
        label = table.get("label", table.get("name"))
        if label is None:  # several files or maps are an axis
            label = next((table[key] for key in ("file", "map") if isinstance(table.get(key), str)), section)
        if not isinstance(label, str) or not label:
            raise InvalidSpecification(
                f"name and label of a {section} must be texts, one table [[{section}]] for each, got {label!r}"
            )
        labels.append(label)
    label, count = Counter(labels).most_common(1)[0]
    if count > 1:
        raise InvalidSpecification(
            f'two {section} tables are called {label!r}: give each a label of its own, label = "..."'
        )
    return labels


def _variant(section: str, label: str, table: Mapping[str, Any]) -> _Variant:
    axes = []
    for name, entry in table.items():
        key = f"{section}.{name}"
        axis = axis_from(key, as_plain(entry, key))
        if axis is not None and name not in ("label", "name"):
            axes.append(axis)
    return _Variant(section, label, dict(table), axes)


def _check_zip(specification: Specification) -> None:
    lengths: dict[str, int] = {}
    for variants in _combinations(specification):
        lengths |= {axis.key: len(axis.values) for variant in variants for axis in variant.axes}
    seen: set[str] = set()
    for names in specification.zip:
        for key in names:
            if key not in lengths:
                listed = ", ".join(lengths) or "nothing"
                raise InvalidSpecification(f"zip names {key!r}, which does not vary ({listed} does)")
            if key in seen:
                raise InvalidSpecification(f"zip names {key!r} twice")
            seen.add(key)
    for variants in _combinations(specification):
        here = {axis.key: len(axis.values) for variant in variants for axis in variant.axes}
        for names in specification.zip:
            sizes = {key: here[key] for key in names if key in here}
            if len(set(sizes.values())) > 1:
                listed = ", ".join(f"{key} has {size}" for key, size in sizes.items())
                raise InvalidSpecification(f"what is zipped must have as many values each: {listed}")


def _built(section: str, build: Any, table: Mapping[str, Any]) -> Any:
    try:
        return build(table)
    except (PotentiaError, OSError) as error:
        name = table.get("label", table.get("name", ""))
        raise InvalidSpecification(f"{section} {name}: {error}" if name else f"{section}: {error}") from None


def _game(table: dict[str, Any], folder: Path, known: dict[str, Game]) -> Game:
    key = text_of({name: entry for name, entry in table.items() if name != "label"})
    if key not in known:
        known[key] = _built("game", lambda found: building.game_from(found, folder), table)
    return known[key]


def _record(specification: Specification, points: Sequence[Point]) -> tuple[str, ...]:
    if specification.record is not None:
        if len(set(specification.record)) != len(specification.record):
            raise InvalidSpecification("record must name each recorder once")
        return tuple(specification.record)
    names = ["welfare"]
    if all(point.game.has_potential for point in points):
        names.insert(0, "potential")
    if all(isinstance(point.game, Coverage) for point in points):
        names += ["worth_sum", "worth_union"]
    return tuple(names)


def _check_point(built: Plan, point: Point) -> None:
    wanted = built.specification
    try:
        begin(
            point.game,
            point.rule,
            wanted.seed_numbers[0],
            start=wanted.start,
            record=built.record,
            every=wanted.spacing,
            horizon=wanted.steps,
            belief=point.belief,
        )
    except PotentiaError as error:
        where = f" ({point.describe()})" if len(built.points) > 1 else ""
        raise InvalidSpecification(f"{error}{where}") from None


def _short_names(keys: Sequence[str], record: Sequence[str]) -> dict[str, str]:
    last = {key: key.partition(".")[2].replace(".", "_") for key in dict.fromkeys(keys)}
    used, taken = Counter(last.values()), {*_RESERVED, *record}
    return {key: key.replace(".", "_") if name in taken or used[name] > 1 else name for key, name in last.items()}


# Files that a specification names -----------------------------------------------------------------------


def gather(specification: Specification, folder: Path) -> tuple[Specification, dict[str, bytes]]:
    """The same with files named after their content, and those contents: a study keeps its own copies."""
    contents: dict[str, bytes] = {}

    def kept(name: Any, key: str) -> Any:
        if isinstance(name, list):
            return [kept(part, key) for part in name]
        if not isinstance(name, str) or (key == "map" and not building.is_file(name)):
            return name
        path = folder / name
        try:
            if path.exists() and not path.is_file():
                raise InvalidSpecification(f"game.{key}: {path} is not a file")
            content = path.read_bytes()
        except InvalidSpecification:
            raise
        except OSError as error:
            raise InvalidSpecification(f"game.{key}: cannot read {path}: {error.strerror or error}") from None
        except ValueError:  # a zero byte in the name
            raise InvalidSpecification(f"game.{key}: no file can be called {name!r}") from None
        # never hidden: such files of a study are taken for half-written ones
        known = f"{path.stem[:60].lstrip('.')}-{hashlib.sha256(content).hexdigest()[:12]}{path.suffix}"
        contents[known] = content
        return known

    games = [
        {name: kept(entry, name) if name in building.FILES else entry for name, entry in table.items()}
        for table in specification.game
    ]
    if not contents:
        return specification, contents
    labels = _labels("game", specification.game)
    games = [{"label": label, **table} for label, table in zip(labels, games, strict=True)]
    return specification.model_copy(update={"game": games}), contents
