"""From the tables of a specification to games, beliefs and rules; messages name the key that is wrong."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from potentia.beliefs import Belief
from potentia.beliefs import belief as named_belief
from potentia.beliefs import registered as registered_beliefs
from potentia.errors import InvalidSpecification, Remedy, did_you_mean, look_up
from potentia.games import Coverage, Flow, Frames, Game, Shift, World, paper_world, random_world, read_game, read_world
from potentia.games.coordinates import in_cells, length_from
from potentia.games.drift_kinds import VELOCITY
from potentia.games.formats.map_frames import first_world, holds_frames, read_flow, read_maps
from potentia.games.given import finite_array
from potentia.games.library import game as named_game
from potentia.games.library import registered_games
from potentia.games.team import is_diagonal
from potentia.kernel.checks import Flag, Integer, OneOf
from potentia.kernel.numbers import as_float, is_real
from potentia.kernel.registry import parameters_of
from potentia.rules import Rule
from potentia.rules import registered as registered_rules
from potentia.rules import rule as named_rule
from potentia.rules.base import Axes
from potentia.studies.texts import WORDS

FILES = ("file", "map", "blocked", "drift")  # keys of a game that may name a file
NO_BELIEF = "none"
_SOURCES = ("name", "file", "map")
_COVERAGE = tuple(name for name in inspect.signature(Coverage).parameters if name != "world")
CHANGES = ("drift", "drift_edge", "frame_steps", "periodic")  # how the world of a map changes
_LENGTHS = {"delta": "", "reach": "adjacent, or "}  # in cells, or in the unit of the map; and other words
_READ = ("cell_size", "wall_colour", "band")  # how a map is read
_MAP_ONLY = ("blocked", "largest_part", "part", "start_at", *CHANGES[1:], *_READ)
_REGISTER = Remedy("register", "a game of your own must be registered first")


def game_from(table: Mapping[str, Any], folder: Path) -> Game:
    """A game by name, from a payoff file, or of robots on a map."""
    options = dict(table)
    given = [key for key in _SOURCES if key in options]
    if len(given) != 1:
        wanted = 'name = "ring", file = "payoffs.json" or map = "paper"'
        got = " and ".join(given) or (", ".join(options) or "nothing")
        raise InvalidSpecification(f"a game needs one of {wanted}, got {got}")
    source = options.pop(given[0])
    if not isinstance(source, str):
        raise InvalidSpecification(f"{given[0]} must be a text, got {source!r}")
    if given[0] == "name":
        games = registered_games()
        if source not in games and not did_you_mean(source, games):
            known = ", ".join(sorted(games))
            raise InvalidSpecification(f"must be one of {known}, got {source!r}", "name", source).advising(_REGISTER)
        look_up(games, source, "name", InvalidSpecification)
        return named_game(source, **options)
    if given[0] == "file":
        if options:
            raise InvalidSpecification(f"a game from a file has no parameters, got {', '.join(options)}")
        return read_game(folder / source)
    _check_keys(options, _COVERAGE, "a game on a map has no", _MAP_ONLY)
    blocked, largest = options.pop("blocked", None), options.pop("largest_part", False)
    if not isinstance(largest, bool) or not isinstance(blocked, str | None):
        raise InvalidSpecification("must be a file name and largest_part true or false", "blocked")
    part, start_at = options.pop("part", None), options.pop("start_at", None)
    if part is not None and largest:
        raise InvalidSpecification("and largest_part exclude each other: part 1 is the largest", "part", part)
    read = {key: options.pop(key) for key in _READ if key in options}
    world, frames = changing_world(source, folder, blocked, **read)
    options |= lengths_in_cells(options, world)
    changes = {key: options.pop(key) for key in CHANGES if key in options}
    options["drift"] = drift_from(changes, frames, source, folder)
    if start_at is not None:
        if "start" in options:
            raise InvalidSpecification("and start say the same thing: leave one out", "start_at", start_at)
        options["start"] = world.cells_at(start_at, "start_at").tolist()
    which = 1 if largest else part
    return Coverage(only_part(world, which, options), **{"robots": 5, **options})


def only_part(world: World, which: int | None, options: Mapping[str, Any]) -> World:
    """One of the parts into which walls cut a map for robots that move so far; None: all of it."""
    reach = options.get("reach")
    return world if which is None else world.part(which, not is_real(reach) or is_diagonal(as_float(reach)))


def lengths_in_cells(options: Mapping[str, Any], world: World) -> dict[str, Any]:
    """Those options of a game that are lengths, in cells; they may be texts in the unit of the map, as in "7.5m"."""
    given = {key: also for key, also in _LENGTHS.items() if key in options and options[key] != "adjacent"}
    return {key: in_cells(options[key], world.cell_size, world.unit, key, also) for key, also in given.items()}


def drift_from(table: Mapping[str, Any], frames: Any, source: str, folder: Path = Path()) -> Any:
    """How a world changes: by the ``frames`` of its map, by a flow in a file, or by what ``drift`` says."""
    drift: Any = table.get("drift")
    edge = table.get("drift_edge")
    if frames is None:
        for key in ("frame_steps", "periodic"):
            if table.get(key):
                told = "is for a map of several frames, a folder of images or an .npy file with three axes"
                raise InvalidSpecification(f"{told}, got {source!r}", key, table[key])
        if edge is not None and (drift is None or isinstance(drift, Mapping)):
            raise InvalidSpecification("is for a drift (vx, vy), or one from a file", "drift_edge", edge)
        if edge is not None:
            OneOf(*(Flow if isinstance(drift, str) else Shift).edges).of(edge, "drift_edge", InvalidSpecification)
        if isinstance(drift, str):
            return read_flow(folder / drift, *(() if edge is None else (edge,)))
        return drift if edge is None else Shift(finite_array(drift, "drift", (2,), told=f", {VELOCITY}"), edge)
    for key in ("drift", "drift_edge"):
        if table.get(key) is not None:
            raise InvalidSpecification(f"is not for a map of {len(frames)} frames, which say how it changes", key)
    if table.get("frame_steps") is None:
        told = f"must say how many steps lie between two of the {len(frames)} frames of {source}, got nothing"
        raise InvalidSpecification(told, "frame_steps")
    steps = Integer(least=1).of(table["frame_steps"], "frame_steps", InvalidSpecification)
    return Frames(frames, steps, Flag().of(table.get("periodic", False), "periodic", InvalidSpecification))


def changing_world(text: str, folder: Path = Path(), blocked: str | None = None, **read: Any) -> tuple[World, Any]:
    """The world of a map, and its frames where there are several of them; ``read`` says more about how it is read."""
    if not (is_file(text, folder) and holds_frames(folder / text)):
        return world_from(text, folder, blocked, **read), None
    if read.get("wall_colour") is not None:
        told = f"is for a map of one frame, got several in {text!r}"
        raise InvalidSpecification(told, "wall_colour", read["wall_colour"])
    maps = read_maps(folder / text, read.get("band"))
    mask = None if blocked is None else folder / blocked
    return first_world(maps, folder / text, mask, read.get("cell_size")), maps.frames


def _measured(world: World, cell_size: float | str | None) -> World:
    if cell_size is None:
        return world
    size, unit = length_from(cell_size)
    return world.like(cell_size=size, unit=unit)


def world_from(
    text: str,
    folder: Path = Path(),
    blocked: str | None = None,
    largest_part: bool = False,
    *,
    cell_size: float | str | None = None,
    wall_colour: str | None = None,
    band: int | None = None,
) -> World:
    """A world from "paper", "random:SEED", "random:SEED:TARGETS" or a file."""
    kind, _, rest = text.partition(":")
    if blocked is not None and not is_file(text):
        raise InvalidSpecification("is for maps from files", "blocked", blocked)
    for name, given in (("wall_colour", wall_colour), ("band", band)):
        if given is not None and not is_file(text):
            raise InvalidSpecification("is for maps from files", name, given)
    if text == "paper":
        world = paper_world()
    elif kind == "random":
        parts = rest.split(":") if rest else ["0"]
        if len(parts) > 2 or not all(part.isdecimal() and len(part) < 19 for part in parts):
            raise InvalidSpecification(
                f"a random map is random:SEED or random:SEED:TARGETS, whole numbers, got {text!r}"
            )
        world = random_world(int(parts[0]), int(parts[1]) if len(parts) > 1 else None)
    elif not is_file(text):
        raise InvalidSpecification(
            f'must be "paper", "random:SEED", a file such as map.csv or a folder of images, got {text!r}', "map", text
        )
    else:
        mask = None if blocked is None else folder / blocked
        world = read_world(folder / text, blocked=mask, cell_size=cell_size, wall_colour=wall_colour, band=band)
    if not is_file(text):
        world = _measured(world, cell_size)
    return world.largest_part() if largest_part else world


def is_file(text: str, folder: Path | None = None) -> bool:
    """Whether the text of a map is the name of a file, or of a folder that there is."""
    there = folder is not None and "\0" not in text and (folder / text).is_dir()
    return not is_named(text) and (bool(Path(text).suffix) or there)


def is_named(text: str) -> bool:
    """Whether it is "paper", "random" or "random:...", and not a file such as random-field.csv."""
    return text == "paper" or text.partition(":")[0] == "random"


def rule_from(table: Mapping[str, Any]) -> Rule:
    """A rule by name and parameters; temperatures, wakings and choice maps also as texts, as on the command line."""
    options = dict(table)
    composed = "name" not in options and any(axis in options for axis in Axes._fields)
    name = None if composed else _name(options, "rule")
    texts = {key: read(options[key]) for key, read in WORDS.items() if isinstance(options.get(key), str)}
    return named_rule(name, **options | texts)


def belief_from(table: Mapping[str, Any]) -> Belief | None:
    """A belief by name and parameters, or None for "none": players know the game."""
    options = dict(table)
    name = _name(options, "belief")
    if name == NO_BELIEF:
        if options:
            raise InvalidSpecification(f"belief none has no parameters, got {', '.join(options)}")
        return None
    beliefs = registered_beliefs()
    look_up(dict.fromkeys((*beliefs, NO_BELIEF)), name, "belief", InvalidSpecification)
    links = ["communication"] if "communication" in parameters_of(beliefs[name]) else []  # in full, or its radius
    _check_keys(options, belief_keys(beliefs[name]), f"{name} has no parameter", links)
    if links and "radius" in options:
        if "communication" in options:
            raise InvalidSpecification("and communication say the same thing: leave one out", "radius")
        options["communication"] = {"radius": options.pop("radius")}
    return named_belief(name, **options)


def belief_keys(kind: type[Belief]) -> dict[str, Any]:
    """The parameters of a belief as they are written, with their defaults: of a communication the radius alone."""
    known = parameters_of(kind)
    told = {"radius": known.pop("communication").radius} if "communication" in known else {}
    return dict(sorted((known | told).items()))


def all_registered(*sections: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the games, beliefs and rules that these tables name are known here: somebody's own may not be."""
    known = {*registered_games(), *registered_beliefs(), *registered_rules(), NO_BELIEF}
    named = (table.get("name") for tables in sections for table in tables)
    return all(name in known for name in named if isinstance(name, str))


def _check_keys(options: Iterable[str], known: Iterable[str], said: str, also: Sequence[str] = ()) -> None:
    for key in options:
        if key not in (*known, *also):
            hint = did_you_mean(key, (*known, *also))
            raise InvalidSpecification(f"{said} {key!r}{hint} (it has {', '.join(known)})")


def _name(options: dict[str, Any], section: str) -> str:
    name = options.pop("name", None)
    if not isinstance(name, str):
        raise InvalidSpecification(f"{section} needs name, a text, got {name!r}")
    return name
