"""What a person does to a run on its way: paint worth or walls, move, add, remove or fail a robot, change the rule.

Each is plain data, as messages, links and the log of a recording have it, and is applied to a run by making another
one from there (:func:`potentia.engine.grafting.graft`). The same interventions at the same steps give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from potentia.beliefs import Believing
from potentia.beliefs.base import belief_from
from potentia.engine import Run
from potentia.engine.grafting import graft
from potentia.errors import InvalidGame, InvalidRun
from potentia.games import Coverage, Game, World
from potentia.kernel.arrays import Ints
from potentia.rules import rule_from
from potentia.rules.words import rule_text

MOST_CELLS = 4_000_000  # of one stroke
LARGEST = 1e12  # worth of a cell
NO_BELIEF = "none"


class Strict(BaseModel):
    """Plain data of these fields and no others, with finite numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


Place = Annotated[list[Annotated[int, Field(ge=0, le=100_000)]], Field(min_length=2, max_length=2)]
Cells = Annotated[list[Place], Field(min_length=1, max_length=MOST_CELLS)]
Robot = Annotated[int, Field(ge=0, le=10_000_000)]
Table = dict[str, Any]


class Paint(Strict):
    """These cells are worth so much from now on."""

    kind: Literal["paint"] = "paint"
    cells: Cells
    worth: Annotated[float, Field(ge=0, le=LARGEST)]


class Wall(Strict):
    """Nobody can enter these cells from now on."""

    kind: Literal["wall"] = "wall"
    cells: Cells


class Erase(Strict):
    """These cells are again as the map had them in the beginning."""

    kind: Literal["erase"] = "erase"
    cells: Cells


class Move(Strict):
    """A robot stands on another cell, wherever it was."""

    kind: Literal["move"] = "move"
    robot: Robot
    cell: Place


class Add(Strict):
    """One more robot, with the next number."""

    kind: Literal["add"] = "add"
    cell: Place


class Remove(Strict):
    """A robot is taken off the map."""

    kind: Literal["remove"] = "remove"
    robot: Robot


class Fail(Strict):
    """A robot fails: it stays where it is, covers nothing and is counted by nobody."""

    kind: Literal["fail"] = "fail"
    robot: Robot


class Change(Strict):
    """Another temperature, revision probability, rule or belief.

    Rules and beliefs are what their ``spec()`` gives; the belief "none" is to know the game.
    """

    kind: Literal["change"] = "change"
    tau: Annotated[float, Field(gt=0, le=1e100)] | None = None
    revision: Annotated[float, Field(ge=0, le=1)] | None = None
    rule: Table | None = None
    belief: Table | None = None


Intervention = Annotated[Paint | Wall | Erase | Move | Add | Remove | Fail | Change, Field(discriminator="kind")]
_READ: TypeAdapter[Any] = TypeAdapter(Intervention)


class Logged(Strict):
    """What was done at a step, to all runs that stand side by side or to some of them, by their numbers."""

    step: Annotated[int, Field(ge=0, le=2**53)]
    lanes: Annotated[list[Annotated[int, Field(ge=0, le=3)]], Field(min_length=1)] | None = None
    did: Intervention

    def concerns(self, lane: int) -> bool:
        """Whether it was done to this one of the runs."""
        return self.lanes is None or lane in self.lanes


def plain(model: BaseModel) -> dict[str, Any]:
    """As plain data, without what was left out."""
    return model.model_dump(exclude_none=True)


def read_intervention(given: Any) -> Any:
    """An intervention from plain data, or one sentence about what is wrong with it."""
    if isinstance(given, Strict):
        return given
    try:
        return _READ.validate_python(given)
    except ValidationError as error:
        raise InvalidRun(sentence(error, "an intervention")) from None


def sentence(error: ValidationError, what: str, kinds: Sequence[str] = ()) -> str:
    """The first thing that is wrong, with its place; a message is what people typed, so that its field is enough."""
    first = error.errors(include_url=False)[0]
    place, kind, told_of = first["loc"], first["type"], first.get("ctx", {})
    tags = {k for k, part in enumerate(place) if (k == 0 and part in (*_KINDS, *kinds)) or place[k - 1 : k] == ("did",)}
    named = [str(part) for k, part in enumerate(place) if k not in tags]
    named += [str(told_of["discriminator"]).strip("'")] if kind == "union_tag_invalid" else []
    where = ".".join(named[1:] if named[0:1] == ["did"] and len(named) > 1 else named)
    told, got = _TOLD.get(kind, ""), f", got {first['input']!r:.60}"
    if kind == "union_tag_invalid":
        got = f", got {told_of['tag']!r:.60}"
    if kind in ("too_short", "too_long"):
        got = f", got {told_of['actual_length']}"
    if kind in ("missing", "extra_forbidden"):
        got = ""
    other = str(first["msg"]).replace("Input should be", "must be").removeprefix("Value error, ")
    said = told.format(**told_of) or other
    head = "" if what == "a message" and where else f"{what} cannot be read: "
    return f"{head}{where or 'it'} {said[:1].lower()}{said[1:]}{got}"


_TOLD = {  # where pydantic's words are for programmers
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "dict_type": "must be a table of names and values",
    "model_type": "must be a table of names and values",
    "model_attributes_type": "must be a table of names and values",
    "int_type": "must be a whole number",
    "union_tag_not_found": "must say which with {discriminator}",
    "union_tag_invalid": "must be one of {expected_tags}",
    "too_short": "must have at least {min_length}",
    "too_long": "must have at most {max_length}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "greater_than": "must be above {gt:g}",
    "less_than": "must be below {lt:g}",
}


_KINDS = {kind.__name__.lower() for kind in (Paint, Wall, Erase, Move, Add, Remove, Fail, Change)}


# To people --------------------------------------------------------------------------------------------


def in_words(did: Any) -> str:
    """What was done, in a few words."""
    if isinstance(did, Paint | Wall | Erase):
        many = f"{len(did.cells):,} cell{'s' if len(did.cells) > 1 else ''}"
        if isinstance(did, Paint):
            return f"{many} painted, worth {did.worth:g}"
        return f"{many} {'walled' if isinstance(did, Wall) else 'as in the beginning'}"
    if isinstance(did, Move):
        return f"robot {did.robot} put on ({did.cell[0]}, {did.cell[1]})"
    if isinstance(did, Add):
        return f"a robot added on ({did.cell[0]}, {did.cell[1]})"
    if isinstance(did, Remove | Fail):
        return f"robot {did.robot} {'removed' if isinstance(did, Remove) else 'fails'}"
    parts = [f"{name} {value:g}" for name in ("tau", "revision") if (value := getattr(did, name)) is not None]
    if did.rule is not None:
        parts.append(rule_text(rule_from(did.rule).spec()))
    if did.belief is not None:
        name = did.belief.get("belief")
        parts.append("robots know the map" if name == NO_BELIEF else f"belief {name}")
    return ", ".join(parts)


def called(did: Any) -> str:
    """What was done, as a thing that was there or is gone."""
    names = {"paint": "paint", "wall": "wall", "erase": "erasure", "move": "move", "add": "new robot"}
    names |= {"remove": "removal", "fail": "failure", "change": "change"}
    return names[did.kind] + (f" ({in_words(did)})" if isinstance(did, Change) else "")


def joined(parts: Sequence[str], most: int = 4) -> str:
    """Some of a list as people say it."""
    shown = [*parts[:most], *([f"{len(parts) - most} more"] if len(parts) > most else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def merged(old: Change, new: Change) -> Change:
    """Two changes at one step as one; another rule brings its own temperature and waking."""
    kept = plain(old) if new.rule is None else {} if old.belief is None else {"belief": old.belief}
    return Change.model_validate(kept | plain(new))


# To a run ---------------------------------------------------------------------------------------------


class Occupied(InvalidRun):
    """A wall where somebody stands."""


def intervened(run: Run, did: Any, first: World | None) -> Run:
    """Another run from here, in which this was done; ``first`` is the map of the beginning."""
    if isinstance(did, Change):
        return _changed(run, did)
    game = _coverage(run)
    assert first is not None
    if isinstance(did, Paint | Wall | Erase):
        return _on_map(run, game, _edited(game, did, first))
    if isinstance(did, Move):
        return _moved(run, game, did)
    if isinstance(did, Add):
        return _added(run, game, did)
    return _failed(run, game, did.robot)


def coverage_of(game: Game) -> Coverage | None:
    """The map that is played on, whatever robots believe of it."""
    inner = game.game if isinstance(game, Believing) else game
    return inner if isinstance(inner, Coverage) else None


def _coverage(run: Run) -> Coverage:
    game = coverage_of(run.game)
    if game is None:
        raise InvalidRun(f"this is for robots on a map, and this is {run.game.describe()}")
    return game


def _again(run: Run, game: Coverage) -> Game:
    """The game as robots of this run see it."""
    return Believing(game, run.game.belief) if isinstance(run.game, Believing) else game


def _edited(game: Coverage, did: Paint | Wall | Erase, first: World) -> World:
    world = game.world
    x, y = world.check_cells(did.cells, "cells").T
    worth, blocked = world.worth.copy(), world.blocked.copy()
    if isinstance(did, Wall):
        blocked[y, x] = True
    elif isinstance(did, Erase):
        worth[y, x], blocked[y, x] = first.worth[y, x], first.blocked[y, x]
    else:
        worth[y, x] = did.worth
    if game.drifts and not np.array_equal(worth, world.worth):
        raise InvalidRun("worth cannot be painted on a field that drifts by itself; walls can")
    if game.sight and not np.array_equal(blocked, world.blocked):
        raise InvalidRun("walls cannot be drawn where they hide what robots see (sight); worth can be painted")
    if blocked.all():
        raise InvalidRun("a wall everywhere leaves no cell to stand on")
    return world.like(worth=worth, blocked=blocked)


def _on_map(run: Run, game: Coverage, world: World) -> Run:
    """The same robots on the same cells of another map."""
    walled = not np.array_equal(world.blocked, game.world.blocked)
    places = game.world.cells[run.profile]
    stuck = np.flatnonzero(world.blocked[places[:, 1], places[:, 0]])
    if stuck.size:
        raise Occupied(f"robot {stuck[0]} stands on a cell that would be a wall; move it first")
    try:
        other = game.like(world=world, start=None)
    except InvalidGame as error:
        if any(remedy.name == "largest_part" for remedy in error.remedies):
            told = "this wall would cut the map into parts, and robots could not get from one to another"
            raise InvalidRun(f"{told}; leave a gap") from None
        raise
    profile = other.profile(places) if walled else run.profile
    return graft(run, _again(run, other), profile=profile, renumbered=walled)


def _there(run: Run, game: Coverage, robot: int) -> None:
    if robot >= game.num_players:
        raise InvalidRun(f"there is no robot {robot}: they are 0 to {game.num_players - 1}")
    lives = run.game.lives(run.state)
    if lives is not None and not lives[0][robot] <= run.step < lives[1][robot]:
        raise InvalidRun(f"robot {robot} is not there at step {run.step:,}")


def _action(game: Coverage, cell: Sequence[int]) -> int:
    x, y = game.world.check_cells([cell], "cell")[0].tolist()
    if game.world.blocked[y, x]:
        raise InvalidRun(f"cell ({x}, {y}) is a wall, and no robot can stand there")
    return int(np.flatnonzero((game.world.cells == (x, y)).all(axis=1))[0])


def _moved(run: Run, game: Coverage, did: Move) -> Run:
    _there(run, game, did.robot)
    profile: Ints = run.profile
    profile[did.robot] = _action(game, did.cell)
    return graft(run, profile=profile)


def _added(run: Run, game: Coverage, did: Add) -> Run:
    action, events = _action(game, did.cell), game.happenings
    if events.arrivals and events.arrivals[-1] > run.step:
        told = f"a robot can be added once those that are to arrive have come, the last at step {events.arrivals[-1]:,}"
        raise InvalidRun(told)
    if game.num_players >= game.world.num_free:
        raise InvalidRun(f"there are as many robots as cells to stand on, {game.num_players:,}")
    each = {"delta": game.delta, "K": game.movement_cost}
    lists = {name: [*values.tolist(), float(values[-1])] for name, values in each.items()}
    other = game.like(events=events._replace(arrivals=(*events.arrivals, run.step)), start=None, **lists)
    return graft(run, _again(run, other), profile=np.append(run.profile, action))


def _failed(run: Run, game: Coverage, robot: int) -> Run:
    _there(run, game, robot)
    lives = run.game.lives(run.state)
    there = np.ones(game.num_players, bool) if lives is None else (lives[0] <= run.step) & (run.step < lives[1])
    if lives is not None and 0 < robot >= game.base_robots and lives[0][robot] == run.step:
        raise InvalidRun(f"robot {robot} came at this very step; undo that, or play on first")
    if there.sum() == 1:
        raise InvalidRun(f"robot {robot} is the last one there; add another one first")
    events = game.happenings
    failures = [row for row in events.failures if row[1] != robot] + [(run.step, robot)]
    return graft(run, _again(run, game.like(events=events._replace(failures=tuple(sorted(failures))), start=None)))


def _changed(run: Run, did: Change) -> Run:
    """Another rule, temperature or belief; where the rule is another one, it draws with the draws of the first."""
    given = {name: value for name in ("tau", "revision") if (value := getattr(did, name)) is not None}
    rule, game = run.rule, run.game
    if did.rule is not None:
        rule = rule_from(did.rule)
    if given:
        spec = rule.spec()
        for name in given:
            if name not in spec:
                raise InvalidRun(f"{rule.name} has no {name}", name)
        rule = type(rule).from_spec(spec | given)
    if did.belief is not None:
        inner = game.game if isinstance(game, Believing) else game
        game = inner if did.belief == {"belief": NO_BELIEF} else Believing(inner, belief_from(did.belief))
    if rule is run.rule and game is run.game:
        raise InvalidRun("nothing is changed: give tau, revision, rule or belief")
    return graft(run, game, rule)
