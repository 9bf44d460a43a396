"""What a studio begins with, as plain data: a game, one to four rules, a belief, a seed and a planned length.

A map that comes from a file is held as it is, so that a link and a specification of the studio need no file. What comes
from a link may name games, rules and beliefs that are known, and neither files nor code.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from potentia.analysis.tables import payoff_table
from potentia.beliefs import Belief
from potentia.beliefs.base import belief_from
from potentia.errors import InvalidSpecification, PotentiaError
from potentia.games import Coverage, Game, NormalForm, World
from potentia.games.coordinates import Coordinates
from potentia.rules import Rule, rule_from
from potentia.studies.building import FILES, game_from, is_file, is_named
from potentia.studies.planning import plan
from potentia.studies.points import grid
from potentia.studies.specification import read_specification
from potentia.web.studio.interventions import Strict, Table, sentence
from potentia.web.validity import MOST_CELLS

MOST_LANES = 4
LONGEST = 10_000_000  # steps that can be planned
NAMES = ("players", "actions", "title")  # of a game of payoffs
PLAIN = ("robots", "delta", "reach", "K", "flags", "flag", "payoff", "sight", "blocked_worth", "start", "events")


class Start(Strict):
    """The beginning of a session."""

    game: Table
    rules: Annotated[list[Table], Field(min_length=1, max_length=MOST_LANES)]
    belief: Table | None = None
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    steps: Annotated[int, Field(ge=1, le=LONGEST)] = 20_000

    def with_rules(self, rules: list[Table]) -> Start:
        """The same with other rules."""
        return read_start(self.model_dump() | {"rules": rules})

    def made_rules(self) -> list[Rule]:
        """The rules."""
        return [rule_from(table) for table in self.rules]

    def made_belief(self) -> Belief | None:
        """What robots believe, or None where they know the map."""
        return None if self.belief is None else belief_from(self.belief)


def read_start(given: Any) -> Start:
    """A start from plain data, or one sentence about what is wrong with it."""
    try:
        return Start.model_validate(given)
    except ValidationError as error:
        raise InvalidSpecification(sentence(error, "the start")) from None


# Games --------------------------------------------------------------------------------------------------


def game_of(table: Mapping[str, Any]) -> Game:
    """The game of a start: by name, of payoffs, or of robots on a map; nothing of it is a file."""
    try:
        return _game_of(dict(table))
    except PotentiaError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidSpecification(f"the game cannot be made: {str(error)[:200]}") from None


def _game_of(options: Table) -> Game:
    if "payoffs" in options:
        return NormalForm(np.array(options["payoffs"], np.float64), **{k: options[k] for k in NAMES if k in options})
    named = options.get("map")
    if isinstance(named, str) and not is_named(named):
        told = 'must be "paper" or "random:SEED" here; maps from files are opened by: potentia studio FILE'
        raise InvalidSpecification(f"{told}, got {named!r:.60}", "map", named)
    if key := names_file(options):
        told = "names a file, which a link or a studio's start must not do"
        raise InvalidSpecification(f"{told}, got {options[key]!r:.60}", key, options[key])
    if "import" in options:
        raise InvalidSpecification("names code, which a link or a studio's start must not do", "import")
    if isinstance(options.get("map"), dict):
        world = _world(options.pop("map"))
        return Coverage(world, **{"robots": 5, **options})
    return game_from(options, Path())


def names_file(table: Mapping[str, Any]) -> str:
    """The first key of a game that names a file; none where it is empty."""
    given = [key for key in FILES if isinstance(table.get(key), str)]
    return next((key for key in given if key != "map" or is_file(table[key])), "")


def check_size(world: World) -> None:
    """One sentence for a map that no page shows."""
    if world.worth.size > MOST_CELLS:
        columns, rows = world.size
        told = f"the studio shows maps of up to {MOST_CELLS:,} cells, and this one has {columns:,}×{rows:,}"
        raise InvalidSpecification(f"{told}; make it coarser first")


def table_of(game: Coverage) -> Table:
    """A game on a map from a file, as plain data that holds the map."""
    given = {name: part for name in PLAIN if (part := _plain(game._given[name])) is not None}
    if game.drifts:
        raise InvalidSpecification("a map that drifts by itself can be held in a link only where it has a name")
    return {"map": _map(game.world), **given, "robots": game.base_robots, "events": list(game.events)}


def start_of_study(path: Path) -> tuple[Start, Game]:
    """The first point of a study: its first game and belief with up to four rules, and its first seed."""
    specification, folder = read_specification(path)
    first, *others = plan(specification, folder).points
    alike = [point for point in others if point.game is first.game and point.belief is first.belief]
    rules = list({point.rule.describe(): point.rule.spec() for point in (first, *alike)}.values())
    table = dict(grid(specification).cells[0].tables["game"])
    if names_file(table) or specification.events:
        table = table_of(first.game) if isinstance(first.game, Coverage) else payoffs_of(first.game)
    told: Table = {"game": table, "rules": rules[:MOST_LANES], "steps": specification.steps}
    told |= {} if first.belief is None else {"belief": first.belief.spec()}
    if isinstance(first.game, Coverage):
        check_size(first.game.world)
    return read_start(told | {"seed": specification.seed_numbers[0]}), first.game


def payoffs_of(game: Game) -> Table:
    """A game as plain data: its payoffs, and what it and its players and actions are called."""
    table: Table = {"payoffs": payoff_table(game).reshape(game.num_players, *game.sizes).tolist()}
    table |= {"players": list(game.player_names)} if game.player_names else {}
    table |= {"actions": [list(names) for names in game.action_names]} if game.action_names else {}
    return table | ({"title": game.known_as} if game.known_as else {})


def _plain(part: Any) -> Any:
    return part.tolist() if isinstance(part, np.ndarray) else part


def _map(world: World) -> Table:
    """A world as plain data."""
    table: Table = {"columns": world.size[0], "rows": world.size[1], "worth": _text(world.worth)}
    if world.blocked.any():
        table["blocked"] = _text(np.packbits(world.blocked))
    table |= {"targets": world.targets.tolist(), "origin": world.origin, "name": world.name}
    if world.cell_size is not None:
        table |= {"cell_size": world.cell_size, "unit": world.unit}
    if world.coordinates is not None:
        given = world.coordinates
        table["coordinates"] = {"transform": list(given.transform), "system": given.system, "unit": given.unit}
    return table


class _Places(Strict):
    transform: Annotated[list[float], Field(min_length=6, max_length=6)]
    system: str = ""
    unit: str = ""


class _Map(Strict):
    columns: Annotated[int, Field(ge=1, le=MOST_CELLS)]
    rows: Annotated[int, Field(ge=1, le=MOST_CELLS)]
    worth: str
    blocked: str | None = None
    targets: list[Annotated[list[int], Field(min_length=2, max_length=2)]] = Field(default_factory=list)
    origin: str = "upper"
    name: Annotated[str, Field(max_length=200)] = "map"
    cell_size: float | None = None
    unit: Annotated[str, Field(max_length=40)] = "m"
    coordinates: _Places | None = None


def _world(table: Table) -> World:
    """A world from plain data that anybody may have written."""
    try:
        given = _Map.model_validate(table)
    except ValidationError as error:
        raise InvalidSpecification(sentence(error, "the map")) from None
    cells = given.columns * given.rows
    if cells > MOST_CELLS:
        told = f"the studio shows maps of up to {MOST_CELLS:,} cells"
        raise InvalidSpecification(f"{told}, and this one has {given.columns:,}×{given.rows:,}; make it coarser first")
    worth = _array(given.worth, 8 * cells, "worth").view("<f8").astype(np.float64)
    blocked = None
    if given.blocked is not None:
        bits = _array(given.blocked, -(-cells // 8), "blocked")
        blocked = np.unpackbits(bits, count=cells).astype(bool).reshape(given.rows, given.columns)
    more: dict[str, Any] = {"coordinates": given.coordinates and Coordinates(**given.coordinates.model_dump())}
    more |= {name: getattr(given, name) for name in ("targets", "origin", "name", "cell_size", "unit")}
    return World(worth.reshape(given.rows, given.columns), blocked=blocked, **more)


def _text(array: NDArray[Any]) -> str:
    raw = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    return base64.b64encode(zlib.compress(raw, 9)).decode("ascii")


def _array(text: str, size: int, name: str) -> NDArray[np.uint8]:
    """Exactly so many bytes, or a sentence; never more are unpacked."""
    try:
        inflate = zlib.decompressobj()
        raw = inflate.decompress(base64.b64decode(text, validate=True), size + 1)
    except (binascii.Error, ValueError, zlib.error):
        raw = b""
    if len(raw) != size:
        raise InvalidSpecification(f"of the map cannot be read: it must hold {size:,} bytes, got {len(raw):,}", name)
    return np.frombuffer(raw, np.uint8).copy()
