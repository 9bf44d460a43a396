"""The grid of a specification: what varies, at every point, before anything is built.

It follows from the specification alone, so a study's manifest can be checked against it without building a game.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from potentia.beliefs import registered
from potentia.engine.requests import RECORDERS
from potentia.errors import InvalidSpecification
from potentia.games import Coverage
from potentia.kernel.numbers import in_words
from potentia.kernel.recorders import TABLE
from potentia.rules.base import Axes
from potentia.studies.axes import Axis, as_plain, axis_from, expand, grouped, shown_short
from potentia.studies.specification import SECTIONS, Specification

MOST_POINTS = 100_000
Dimensions = tuple[tuple[str, ...], ...] | None  # of the grid, each one key or several side by side; None: ragged
# kept of every run, whatever is recorded, and what it has beside the seed
PER_RUN: dict[str, tuple[str, ...]] = {"final": ("player",), "steps_done": (), "revisions": (), "changes": ()}
LIVES = ("since", "until")  # of players that come or go
DIMENSIONS = ("seed", "time", "player", "state", "point", *SECTIONS)  # names that a dataset needs
_RESERVED = {*DIMENSIONS, *RECORDERS, *PER_RUN}


def dimensions_of(name: str) -> tuple[str, ...]:
    """What a variable of a study has beside the point and the seed."""
    return PER_RUN[name] if name in PER_RUN else TABLE[name].dims if name in TABLE else ("time",)


def catalogue() -> list[str]:
    """The recorders of all kinds of games and beliefs that are known."""
    return [*Coverage.recorders, *(name for kind in registered().values() for name in kind.recorders)]


@dataclass(frozen=True)
class Cell:
    """One point of the grid: the tables to build it from, and where it stands."""

    labels: dict[str, str]  # which game, belief and rule of several
    values: dict[str, Any]  # what varies, by key
    tables: dict[str, dict[str, Any]]  # by section


@dataclass(frozen=True)
class Grid:
    """All points, and their dimensions."""

    cells: list[Cell]
    dimensions: Dimensions

    def names(self, record: Sequence[str]) -> dict[str, str]:
        """What a key is called in a dataset: tau for rule.tau, unless that is taken."""
        last = {key: key.partition(".")[2].replace(".", "_") for cell in self.cells for key in cell.values}
        used, taken = Counter(last.values()), {*_RESERVED, *record}
        return {key: key.replace(".", "_") if name in taken or used[name] > 1 else name for key, name in last.items()}


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
    return _counted(specification, _combinations(specification))


def grid(specification: Specification) -> Grid:
    """The points of a specification, the last axis varying fastest."""
    combinations = _combinations(specification)
    _check_zip(specification, combinations)
    count, said = _counted(specification, combinations)
    if count > MOST_POINTS:
        raise InvalidSpecification(
            f"a study has at most {MOST_POINTS:,} points, got {in_words(count)}{f' ({said})' if said else ''}"
        )
    cells: list[Cell] = []
    shapes = []
    for variants in combinations:
        groups, rows = expand(_axes(variants), specification.zip)
        # as JSON: the text "0.1" is another value than the number
        shapes.append([(group, [json.dumps([row[key] for key in group]) for row in rows]) for group in groups])
        labels = {v.section: v.label for v in variants if len(getattr(specification, v.section)) > 1}
        cells += [Cell(labels, row, {v.section: v.at(row) for v in variants}) for row in rows]
    if all(shape == shapes[0] for shape in shapes):
        several = tuple((name,) for name in SECTIONS if len(getattr(specification, name)) > 1)
        return Grid(cells, (*several, *(group for group, _ in shapes[0])))
    return Grid(_with_fixed(cells), None)


def axes_of(specification: Specification) -> dict[str, list[Any]]:
    """What varies, with its values, by key; several games, beliefs or rules by their labels. Without the grid."""
    found: dict[str, dict[str, Any]] = {}
    for section in SECTIONS:
        tables = getattr(specification, section)
        labels = labels_of(section, tables) if tables else []
        if len(labels) > 1:
            found[section] = {label: label for label in labels}
        for label, table in zip(labels, tables, strict=True):
            for axis in _variant(section, label, table).axes:
                found.setdefault(axis.key, {}).update((json.dumps(value), value) for value in axis.values)
    return {key: list(values.values()) for key, values in found.items()}


def _axes(variants: tuple[_Variant, ...]) -> list[Axis]:
    return [axis for variant in variants for axis in variant.axes]


def _counted(specification: Specification, combinations: list[tuple[_Variant, ...]]) -> tuple[int, str]:
    total, said = 0, ""
    for variants in combinations:
        axes = _axes(variants)
        sizes = {axis.key: len(axis.values) for axis in axes}
        total += math.prod(sizes[keys[0]] for keys in grouped(axes, specification.zip))
        said = said or " × ".join(f"{len(axis.values):,} of {axis.key}" for axis in axes)
    several = [f"{len(getattr(specification, name)):,} of {name}" for name in SECTIONS]
    several = [text for text in several if not text.startswith(("0 ", "1 "))]
    return total, " × ".join(filter(None, [*several, said]))


def _combinations(specification: Specification) -> list[tuple[_Variant, ...]]:
    sections = []
    for section in SECTIONS:
        tables = getattr(specification, section)
        if tables:
            labels = labels_of(section, tables)
            sections.append([_variant(section, label, table) for label, table in zip(labels, tables, strict=True)])
    if (count := math.prod(len(variants) for variants in sections)) > MOST_POINTS:
        raise InvalidSpecification(f"a study has at most {MOST_POINTS:,} points, got {in_words(count)} or more")
    return list(itertools.product(*sections))


def labels_of(section: str, tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the tables of a section are called."""
    labels = []
    for table in tables:
        label = table.get("label", table.get("name"))
        if label is None and section == "rule":  # a composition, as far as its words are no axes
            words = [table[axis] for axis in Axes._fields if isinstance(table.get(axis), str)]
            label = " × ".join(words) or None
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


_LISTS = (  # what is itself a list, and would be taken for an axis of its parts
    ("events", str, 'must be a list of lists, [["fail 1@30", "arrive 40"]], or stand above [game] as events = [...]'),
    ("drift", int | float, "must be a list of velocities (vx, vy), as in [[0.1, 0]]: a list holds what varies"),
)


def _variant(section: str, label: str, table: Mapping[str, Any]) -> _Variant:
    keys = {name: f"{section}.{name}" for name in table}
    for name, kind, told in _LISTS if section == "game" else ():
        entry = table.get(name)
        if isinstance(entry, list | tuple) and any(isinstance(part, kind) for part in entry):
            raise InvalidSpecification(f"{told}, got {shown_short(entry)}", keys[name], entry)
    found = {name: axis_from(key, as_plain(table[name], key)) for name, key in keys.items()}
    axes = [axis for name, axis in found.items() if axis is not None and name not in ("label", "name", "groups")]
    return _Variant(section, label, dict(table), axes)


def _check_zip(specification: Specification, combinations: list[tuple[_Variant, ...]]) -> None:
    varied = list(dict.fromkeys(axis.key for variants in combinations for axis in _axes(variants)))
    for key, count in Counter(key for names in specification.zip for key in names).items():
        if key not in varied:
            listed = ", ".join(varied) or "nothing"
            raise InvalidSpecification(f"zip names {key!r}, which does not vary ({listed} does)")
        if count > 1:
            raise InvalidSpecification(f"zip names {key!r} twice")
    for variants in combinations:
        here = {axis.key: len(axis.values) for axis in _axes(variants)}
        for names in specification.zip:
            sizes = {key: here[key] for key in names if key in here}
            if len(set(sizes.values())) > 1:
                listed = ", ".join(f"{key} has {size}" for key, size in sizes.items())
                raise InvalidSpecification(f"what is zipped must have as many values each: {listed}")


def _with_fixed(cells: list[Cell]) -> list[Cell]:
    """What varies for one rule and is fixed for another is told of both."""
    places = [(key, *key.split(".", 1)) for key in dict.fromkeys(key for cell in cells for key in cell.values)]
    return [
        replace(
            cell,
            values={key: cell.tables[part][name] for key, part, name in places if name in cell.tables.get(part, {})},
        )
        for cell in cells
    ]
