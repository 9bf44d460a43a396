"""A recording: one run as data, from which pages, films and notebooks draw (docs/recordings.md).

A start and what changed rebuild the profile of any step; on a map also flags and the field of worths. What players
believed, or how they scored their actions, is there at keyframes.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidRun
from potentia.games.drift import field_at
from potentia.games.drift_kernel import Moving, Still
from potentia.games.grid import SLACK, disc
from potentia.games.moving_targets import MovingTargets, carried_targets, cells_at
from potentia.games.sight import Sight, bits_of, read, seen_parts
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.checks import Integer
from potentia.kernel.files import open_plain
from potentia.web.changing import drift_of
from potentia.web.coding import Changes, decode_changes, packed, unchained, unpacked, write_whole
from potentia.web.editing import as_edited
from potentia.web.validity import require_changes, require_valid

SHARED = -1  # a flag of more than one robot
_AT_ONCE = 2_000_000  # cells in ranges


@dataclass(frozen=True)
class Believed:
    """What one robot, or all of them, believed at a keyframe.

    Attributes
    ----------
    robots : tuple of int
        Who believes it.
    worth : array of float32
        The worth that is expected of each cell, (rows, columns).
    seen : array of bool
        Which cells they have seen, (rows, columns).
    components : array of float
        One row for each: weight, mean x, mean y, and the variances xx, xy, yy.
    error : float
        How far off it is: Σ|f̂ - f| / Σf.
    background : float
        The worth that is expected everywhere, beside the components.

    Examples
    --------
    >>> game = pt.games.Coverage(pt.games.World([[0, 1, 0], [2, 0, 3]]), robots=2, delta=1.0)
    >>> trace = pt.run(game, pt.rule("blll", tau=0.05), 20, seed=1, belief=pt.belief("constant", share=0.5))
    >>> believed = trace.recording(beliefs_every=10).belief(0)
    >>> [mind.robots for mind in believed], believed[0].worth.shape
    ([(0, 1)], (2, 3))
    """

    robots: tuple[int, ...]
    worth: NDArray[np.float32]  # (rows, columns)
    seen: NDArray[np.bool_]  # (rows, columns)
    components: Floats  # (M, 6): weight, mean x, mean y, variances xx, xy, yy
    error: float  # Σ|f̂ - f| / Σf
    background: float = 0.0  # the worth that is expected everywhere, beside the components


class Recording:
    """One run as data. Make it with :meth:`potentia.Trace.recording`, read it with :func:`read_recording`.

    Attributes
    ----------
    header : dict
        What is told in words and numbers: the game, the rule, the seed, the steps.
    arrays : dict
        The arrays by name: the start, what changed, the curves. docs/recordings.md has all of them.

    Examples
    --------
    >>> trace = pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), 100, record=("profile", "potential"))
    >>> recording = trace.recording()
    >>> recording.steps, recording.kind, recording.objective
    (100, 'table', 'potential')
    >>> recording.profiles([0, 50, 100]).tolist() == trace.profiles[[0, 50, 100]].tolist()
    True
    >>> recording.value("potential", 100) == float(trace.potential[-1])
    True
    """

    def __init__(self, header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.header, self.arrays = header, dict(arrays)

    def __repr__(self) -> str:
        rule, steps, changes = self.header["rule"]["name"], self.header["steps"], self.header["changes"]
        return f"<Recording of {rule} on {self.header['game']['text']}: {steps:,} steps, {changes:,} changes>"

    @property
    def steps(self) -> int:
        """How long the run was."""
        return int(self.header["steps"])

    @property
    def kind(self) -> str:
        """How it is drawn: map, network, loads, table or players."""
        return str(self.header["game"]["kind"])

    @property
    def objective(self) -> str | None:
        """The series that is shown first."""
        return str(self.header["series"][0]["name"]) if self.header["series"] else None

    # Any moment ---------------------------------------------------------------------------------------

    @cached_property
    def changes(self) -> Changes:
        """Steps, players and what they then play, by step and player."""
        offsets = self.header["map"]["offsets"] if self.kind == "map" else []
        escape = len(offsets) if self.kind == "map" else None
        steps, players, codes, actions = decode_changes(self.arrays["changes"], self.header["changes"], escape)
        if escape is None:
            return steps, players, codes
        now = self.arrays["start"].astype(np.int64).tolist()
        columns, rows = self.header["map"]["columns"], self.header["map"]["rows"]
        number, cells = self._number.tolist(), self._cells.tolist()
        for k, (player, code) in enumerate(zip(players.tolist(), codes.tolist(), strict=True)):
            if code != escape:
                (x, y), (dx, dy) = cells[now[player]], offsets[code]
                if not (0 <= x + dx < columns and 0 <= y + dy < rows) or number[y + dy][x + dx] < 0:
                    raise InvalidRun(f"the recording moves robot {player} off the map at step {steps[k]}")
                actions[k] = number[y + dy][x + dx]
            now[player] = int(actions[k])
        return steps, players, actions

    @cached_property
    def _cells(self) -> Ints:
        """The cell (x, y) of each action: of the free cells, or of all where the map was edited."""
        y, x = np.nonzero(self.arrays["blocked"] <= int("edits" in self.header["map"]))
        return np.stack([x, y], axis=1)

    @cached_property
    def _number(self) -> Ints:
        """The action that is each cell; -1 where blocked."""
        number = np.full(self.arrays["blocked"].shape, -1, np.int64)
        number[self._cells[:, 1], self._cells[:, 0]] = np.arange(len(self._cells))
        return number

    def profile(self, step: int) -> Ints:
        """The profile after so many steps.

        Parameters
        ----------
        step : int
            How many steps have been played, from 0 to those of the run.

        Returns
        -------
        array of int
            One action per player.
        """
        return self.profiles([step])[0]

    def profiles(self, steps: Sequence[int] | Ints) -> Ints:
        """The profiles after each of these numbers of steps, which increase.

        Parameters
        ----------
        steps : sequence of int
            Numbers of steps, none of them less than the one before.

        Returns
        -------
        array of int
            One row for each of them: (steps, players).
        """
        when, players, actions = self.changes
        wanted = [self._checked(step) for step in steps]
        if any(later < step for step, later in itertools.pairwise(wanted)):
            raise InvalidRun("must not fall", "steps", steps)
        out = np.empty((len(wanted), self.arrays["start"].size), np.int64)
        now, done = self.arrays["start"].astype(np.int64), 0
        for row, end in enumerate(np.searchsorted(when, wanted, "right").tolist()):
            now[players[done:end]] = actions[done:end]  # of a player that moved twice the last holds
            out[row], done = now, max(done, end)
        return out

    def _checked(self, step: Any) -> int:
        return Integer(0, self.steps).of(step, "step", InvalidRun)

    def series(self, name: str) -> tuple[Floats, Floats]:
        """Times and values of a series.

        Parameters
        ----------
        name : str
            One that was recorded, such as "potential".

        Returns
        -------
        tuple of array
            The times and the values, of one length.
        """
        names = [row["name"] for row in self.header["series"]]
        if name not in names:
            raise InvalidRun(f"must be one of {', '.join(names) or 'no series'}, got {name!r}", "name", name)
        return self.arrays["times"], self.arrays["series"][names.index(name)]

    def value(self, name: str, step: int) -> float:
        """A series at its last row up to this step.

        Parameters
        ----------
        name : str
            One that was recorded, such as "potential".
        step : int
            How many steps have been played, from 0 to those of the run.

        Returns
        -------
        float
            The value; NaN where there is no row yet.
        """
        times, values = self.series(name)
        row = int(np.searchsorted(times, self._checked(step), "right")) - 1
        return float(values[row]) if row >= 0 else float("nan")

    # On a map -----------------------------------------------------------------------------------------

    def positions(self, profile: Ints) -> Ints:
        """The cells (x, y) of actions.

        Parameters
        ----------
        profile : array of int
            Actions.

        Returns
        -------
        array of int
            The column and the row of each: (actions, 2).
        """
        self._require("map")
        return self._cells[profile]

    @property
    def delta(self) -> Floats:
        """The covering range of each robot."""
        return np.broadcast_to(self.arrays["delta"], self.arrays["start"].shape)

    @cached_property
    def lives(self) -> Floats:
        """Since when and until when each robot is there, (2, N)."""
        size = self.arrays["start"].size
        if "until" not in self.arrays:
            return np.stack([np.zeros(size), np.full(size, np.inf)])
        return np.stack([self.arrays["since"], self.arrays["until"]])

    def there(self, step: int) -> NDArray[np.bool_]:
        """Which robots are there at this step: have come, and have not failed.

        Parameters
        ----------
        step : int
            How many steps have been played, from 0 to those of the run.

        Returns
        -------
        array of bool
            One per robot.
        """
        since, until = self.lives
        return (since <= self._checked(step)) & (step < until)

    def lost(self, step: int) -> NDArray[np.bool_]:
        """Which robots have failed by this step; those that were taken off the map are not among them.

        Parameters
        ----------
        step : int
            How many steps have been played, from 0 to those of the run.

        Returns
        -------
        array of bool
            One per robot.
        """
        gone = self.lives[1] <= self._checked(step)
        gone[self.header["map"].get("removed", [])] = False
        return gone

    def worth(self, step: int) -> Floats:
        """The field of worths at this step, (rows, columns).

        Parameters
        ----------
        step : int
            How many steps have been played, from 0 to those of the run.

        Returns
        -------
        array of float
            The worth of each cell.
        """
        self._require("map")
        if isinstance(self._drift, Still):
            return as_edited(self.header["map"], self.arrays, "worth", self._checked(step)).astype(np.float64)
        return field_at(self._drift, self._checked(step))

    def walls(self, step: int) -> NDArray[np.bool_]:
        """Which cells nobody can enter at this step, (rows, columns).

        Parameters
        ----------
        step : int
            How many steps have been played, from 0 to those of the run.

        Returns
        -------
        array of bool
            True at walls.
        """
        self._require("map")
        return as_edited(self.header["map"], self.arrays, "blocked", self._checked(step)).astype(bool)

    def targets(self, step: int) -> Ints:
        """The cells (x, y) of the targets at this step: those of means, or on a field that is shifted, move along.

        Parameters
        ----------
        step : int
            How many steps have been played, from 0 to those of the run.

        Returns
        -------
        array of int
            One row for each target that is on the map: (targets, 2).
        """
        cells = self.target_cells(step)
        return cells[(cells >= 0).all(axis=1)]

    def target_cells(self, step: int) -> Ints:
        """The same by the numbers of targets, with (-1, -1) for one that has left the map.

        Parameters
        ----------
        step : int
            How many steps have been played, from 0 to those of the run.

        Returns
        -------
        array of int
            One row for each target: (targets, 2).
        """
        now, stay = self._checked(step), np.array(self.header["map"]["targets"], np.int64).reshape(-1, 2)
        return cells_at(self.moving_targets, now) if len(self.moving_targets.places) else stay

    @cached_property
    def moving_targets(self) -> MovingTargets:
        """Those that move along with the field: all of them, or none."""
        self._require("map")
        area = self.header["map"]
        return carried_targets(self._drift, area["targets"], (area["drift"] or {}).get("components"))

    @cached_property
    def _drift(self) -> Moving | Still:
        return drift_of(self.header["map"], self.arrays)

    @cached_property
    def _vision(self) -> Sight | None:
        """What walls hide, where they do."""
        if "sight_row" not in self.arrays:
            return None
        row = self.arrays["sight_row"]
        return read(row, self.arrays["sight_mask"], min(float(self.delta.max()), float(np.hypot(*row.shape))))

    def _framed(self, cells: Ints) -> Ints:
        assert self._vision is not None
        reach = self._vision.reach
        return (cells[:, 1] + reach) * (self.arrays["blocked"].shape[1] + 2 * reach) + cells[:, 0] + reach

    @cached_property
    def visits(self) -> Changes:
        """When each robot was first at each of its actions: steps, robots, actions, by step."""
        when, players, actions = self.changes
        start = self.arrays["start"].astype(np.int64)
        since, until = self.lives
        robots, places = np.append(np.arange(start.size), players), np.append(start, actions)
        times = np.append(since.astype(np.int64), when)
        arriving = np.append(since > 0, np.zeros(when.size, np.bool_))  # after those who move at that step
        order = np.lexsort((arriving, times))
        lays = np.append((since <= self.steps) & (since < until), np.ones(when.size, np.bool_))
        order = order[lays[order]]
        robots, places, times = robots[order], places[order], times[order]
        _, first = np.unique(robots * (len(self._cells) + 1) + places, return_index=True)
        first.sort()
        return times[first], robots[first], places[first]

    @cached_property
    def _marks(self) -> tuple[Ints, Ints, Ints]:
        """By cell: the step of its first flag, whose that is, and the step of the first one of another robot."""
        times, robots, places = self.visits
        shape, never = self.arrays["blocked"].shape, self.steps + 1
        first, whose, second = (np.full(shape[0] * shape[1], value) for value in (never, -1, never))
        for which, cell in self._in_reach(robots, places, self.header["map"]["flags"] == "range"):
            step, owner = times[which], robots[which]
            bare = np.flatnonzero(first[cell] == never)
            found, at = np.unique(cell[bare], return_index=True)
            first[found], whose[found] = step[bare[at]], owner[bare[at]]
            another = np.flatnonzero((owner != whose[cell]) & (second[cell] == never))
            found, at = np.unique(cell[another], return_index=True)
            second[found] = step[another[at]]
        return first.reshape(shape), whose.reshape(shape), second.reshape(shape)

    def _in_reach(self, robots: Ints, places: Ints, near: bool = True) -> Iterator[tuple[Ints, Ints]]:
        """The cells that robots cover from actions, or only those of the actions, in their order and in blocks.

        Which of the robots, and the number of the cell, row by row.
        """
        rows, columns = self.arrays["blocked"].shape
        ranges = np.minimum(self.delta, float(np.hypot(rows, columns))) if near else np.zeros(self.delta.size)
        discs = {float(reach): disc(float(reach)) for reach in np.unique(ranges[robots])}
        block = max(1, _AT_ONCE // max(map(len, discs.values()), default=1))
        for begin in range(0, robots.size, block):
            part = np.arange(begin, min(begin + block, robots.size))
            found = []
            for reach, offsets in discs.items():
                mine = part[ranges[robots[part]] == reach]
                spots = self._cells[places[mine]][:, None] + offsets
                inside = ((spots >= 0) & (spots < (columns, rows))).all(axis=2)
                if self._vision is not None:
                    here = self._framed(self._cells[places[mine]])
                    inside &= seen_parts(self._vision, here, bits_of(self._vision, offsets))
                which = np.broadcast_to(mine[:, None], inside.shape)[inside]
                found.append((which, (spots[..., 1] * columns + spots[..., 0])[inside]))
            which, cell = (np.concatenate(column) for column in zip(*found, strict=True))
            order = np.argsort(which, kind="stable")
            yield which[order], cell[order]

    def flags(self, step: int) -> Ints:
        """Whose flag lies on each cell at this step: 0 for nobody's, robot + 1, or -1 for those of several.

        Parameters
        ----------
        step : int
            How many steps have been played, from 0 to those of the run.

        Returns
        -------
        array of int
            One number per cell, (rows, columns).
        """
        self._require("map")
        if self.header["map"]["flags"] is None:
            return np.zeros(self.arrays["blocked"].shape, np.int64)
        (first, whose, second), now = self._marks, self._checked(step)
        return np.where(now < first, 0, np.where(now < second, whose + 1, SHARED))

    def counts(self, profile: Ints, step: int | None = None) -> Ints:
        """How many robots cover each cell, (rows, columns); at a step, of those that are there.

        Parameters
        ----------
        profile : array of int
            One action per player.
        step : int, optional
            When; left out, all robots are counted.

        Returns
        -------
        array of int
            One number per cell.
        """
        robots = np.arange(profile.size) if step is None else np.flatnonzero(self.there(step))
        return self.covering(robots, profile[robots])

    def covering(self, robots: Ints, places: Ints) -> Ints:
        """How many of these robots, at these actions, cover each cell, (rows, columns).

        Parameters
        ----------
        robots : array of int
            Numbers of robots.
        places : array of int
            The action of each of them.

        Returns
        -------
        array of int
            One number per cell.
        """
        self._require("map")
        rows, columns = self.arrays["blocked"].shape
        total = np.zeros(rows * columns, np.int64)
        for _, cell in self._in_reach(robots, places):
            total += np.bincount(cell, minlength=total.size)
        return total.reshape(rows, columns)

    def covers(self, robots: Ints, places: Ints, cell: Ints) -> NDArray[np.bool_]:
        """Whether each of these robots, at each of these actions, covers a cell.

        Parameters
        ----------
        robots : array of int
            Numbers of robots.
        places : array of int
            The action of each of them.
        cell : array of int
            The column and the row of the cell.

        Returns
        -------
        array of bool
            One per robot.
        """
        near = ((self._cells[places] - cell) ** 2).sum(axis=1) <= self.delta[robots] ** 2 * SLACK
        if self._vision is not None:
            there = np.flatnonzero(near)
            for k, place in zip(there.tolist(), self._cells[places[there]], strict=True):
                bit = bits_of(self._vision, (np.asarray(cell) - place)[None])
                near[k] = seen_parts(self._vision, self._framed(place[None]), bit)[0, 0]
        return near

    # At keyframes -------------------------------------------------------------------------------------

    @property
    def keyframes(self) -> Ints:
        """The steps at which players were asked what they think."""
        return np.array(self.header["keyframes"]["steps"] if self.header["keyframes"] else [], np.int64)

    def keyframe(self, step: int) -> int:
        """The number of the last keyframe up to this step; -1 where there is none, as without beliefs and scores.

        Parameters
        ----------
        step : int
            How many steps have been played, from 0 to those of the run.

        Returns
        -------
        int
            What :meth:`belief` and :meth:`thoughts` take.
        """
        return int(np.searchsorted(self.keyframes, self._checked(step), "right")) - 1

    @cached_property
    def _believed(self) -> NDArray[np.float32]:
        return unchained(self.arrays["belief_worth"])

    def _which(self, keyframe: Any) -> int:
        known = Integer(0, self.keyframes.size - 1)
        if known.holds(keyframe):
            return known.made(keyframe)
        told = f"must be {known.wanted}, got {keyframe!r:.60}; that of a step is recording.keyframe(step)"
        raise InvalidRun(told, "keyframe", keyframe)

    def belief(self, keyframe: int) -> list[Believed]:
        """What was believed at a keyframe: one entry per mind; none where players know the game.

        Parameters
        ----------
        keyframe : int
            Which of the :attr:`keyframes`, from 0; that of a step is ``keyframe(step)``.

        Returns
        -------
        list of Believed
            What each mind believed: one for each robot, or one that they share. Without beliefs it is empty.
        """
        if not self.header["keyframes"] or not self.header["keyframes"]["belief"]:
            return []
        which = self._which(keyframe)
        fields = self._believed[which]
        seen = np.unpackbits(self.arrays["belief_seen"][which], axis=1, bitorder="little")
        ptr, errors = self.arrays["belief_ptr"], self.arrays["belief_error"]
        levels = self.arrays.get("belief_background", np.zeros_like(errors))
        out = []
        for mind, robots in enumerate(self.header["keyframes"]["belief"]["robots"]):
            first, last = ptr[which * len(fields) + mind : which * len(fields) + mind + 2]
            mask = seen[mind, : fields[mind].size].reshape(fields[mind].shape).astype(bool)
            components, two = self.arrays["belief_components"][first:last], (errors[which, mind], levels[which, mind])
            out.append(Believed(tuple(robots), fields[mind], mask, components, *map(float, two)))
        return out

    def thoughts(self, keyframe: int) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Scores and strategies at a keyframe, an array per player; none where the rule keeps none.

        Parameters
        ----------
        keyframe : int
            Which of the :attr:`keyframes`, from 0; that of a step is ``keyframe(step)``.

        Returns
        -------
        tuple of list
            The scores and the strategies, each with one array of numbers per player.
        """
        if not self.header["keyframes"] or not self.header["keyframes"]["scores"]:
            return [], []
        which = self._which(keyframe)
        sizes = np.broadcast_to(self.arrays["sizes"], self.arrays["start"].shape)
        ends = np.cumsum(sizes)[:-1]
        return np.split(self._scores[which], ends), np.split(self._strategies[which], ends)

    @cached_property
    def _scores(self) -> NDArray[np.float32]:
        return unchained(self.arrays["score"])

    @cached_property
    def _strategies(self) -> NDArray[np.float32]:
        return unchained(self.arrays["strategy"])

    def _require(self, kind: str) -> None:
        if self.kind != kind:
            raise InvalidRun(f"only a recording on a {kind} has this, and this is one of {self.header['game']['text']}")

    # Files --------------------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """The recording as a file holds it."""
        return packed(self.header, self.arrays)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file, whole or not at all.

        Parameters
        ----------
        path : str or path
            The file; by custom it ends in ``.recording``.

        Returns
        -------
        Path
            The file that was written.
        """
        return write_whole(Path(path), self.to_bytes())

    def replay(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write a page that replays it.

        Parameters
        ----------
        path : str or path
            The page.
        **options : Any
            ``title``, as of :func:`potentia.replay`.

        Returns
        -------
        Path
            The page that was written.
        """
        from potentia.web.pages import replay

        return replay(self, path, **options)

    def film(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write it as an animated picture.

        Parameters
        ----------
        path : str or path
            The file, which ends in ``.gif``, ``.png``, ``.apng`` or ``.webp``.
        **options : Any
            As of :func:`potentia.web.film`.

        Returns
        -------
        Path
            The file that was written.
        """
        from potentia.web.films import film

        return film(self, path, **options)

    def _repr_html_(self) -> str:
        from potentia.web.pages import in_frame

        return in_frame(self)


def read_recording(path: str | os.PathLike[str]) -> Recording:
    """Read a recording from a file that anybody may have written: nothing in it is executed.

    Parameters
    ----------
    path : str or path
        What :meth:`Recording.save` or ``potentia run --recording`` wrote.

    Returns
    -------
    Recording
        It, checked: whatever a run cannot have done is refused.

    Examples
    --------
    >>> trace = pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), 100)
    >>> path = trace.recording().save("hunt.recording")
    >>> pt.read_recording(path)
    <Recording of lll on NormalForm(players=2): 100 steps, 4 changes>
    """
    name = str(path)
    try:
        with open_plain(path) as file:
            memory.require(3 * os.fstat(file.fileno()).st_size, f"reading {name}")
            content = file.read()
    except OSError as error:
        raise InvalidRun(f"cannot read {name}: {error.strerror or error}") from error
    header, arrays = unpacked(content, name)
    found = Recording(header, arrays)
    try:
        require_valid(header, arrays)
        require_changes(found.changes, arrays, found.steps)
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise InvalidRun(f"{name} is damaged: {getattr(error, 'message', error)}") from None
    return found
