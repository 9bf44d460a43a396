"""What a run recorded: a start, the changes and when they came, and one array per scalar recorder."""

from __future__ import annotations

import json
import os
import warnings
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from potentia.engine.columns import MAX_ROWS, Events, fill_rows
from potentia.engine.labels import label_all
from potentia.errors import InvalidRun, NotRecorded
from potentia.games import Game
from potentia.kernel import memory
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.reprs import brief
from potentia.rules import Rule
from potentia.version import __version__

if TYPE_CHECKING:
    import xarray


class Played(NamedTuple):
    """What a run was played with: enough to play it again."""

    game: Game
    rule: Rule
    horizon: int | None


@dataclass(frozen=True, repr=False)
class Trace:
    """The record of one run.

    Rows are the times 0, every, 2·every, ...; row 0 is the start. A run in which little moves stays
    small however long it is: profiles are kept as changes, and :attr:`profiles` is a dense view of them.
    What was recorded is an attribute under the name of its recorder: ``trace.potential``.

    Attributes
    ----------
    game : str
        The game in words.
    rule : dict
        The rule's name and parameters.
    seed : int
        What the draws were made from.
    steps : int
        The steps that were played.
    every : int
        Steps between two rows.
    complete : bool
        Whether the run came to its end, or to its goal.
    start : array
        The first profile.
    final : array
        The last profile.
    times : array
        The time of each row.
    revisions : int
        How often a player revised.
    changes : int
        How often a player changed its action.
    scalars : dict
        One number per row for each recorder.
    visits : array or None
        How often each profile was there, in C order.
    events : tuple of arrays or None
        Time, player and action of each change of the profile.
    reached : bool or None
        Whether it came to the goal that it was given.
    about : dict or None
        What the game was, for datasets.
    recordable : tuple of str
        What could have been recorded.
    beliefs : tuple
        What players believed at the end.
    proposals : tuple
        To change the number of a mixture's components.
    lives : array or None
        Since and until when each player is there; None: always.
    totals : dict
        What the game tells of each player at the end.
    played : tuple or None
        The game, the rule and the horizon, in the process that played.

    Examples
    --------
    >>> trace = pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), 100, record=("profile", "potential"), every=50)
    >>> trace.times.tolist(), trace.profiles.shape, trace.potential.shape
    ([0, 50, 100], (3, 2), (3,))
    """

    __repr__ = brief

    game: str
    rule: dict[str, Any]
    seed: int
    steps: int
    every: int
    complete: bool
    start: Ints
    final: Ints
    times: Ints
    revisions: int
    changes: int
    scalars: dict[str, Floats]
    visits: Ints | None
    events: Events | None = field(repr=False)
    reached: bool | None = None  # whether it came to the goal that it was given
    about: dict[str, Any] | None = field(default=None, repr=False)  # what the game was, for datasets
    recordable: tuple[str, ...] = field(default=(), repr=False)
    beliefs: tuple[Any, ...] = field(default=(), repr=False)  # what players believed at the end
    proposals: tuple[Any, ...] = field(default=(), repr=False)  # to change the number of a mixture's components
    lives: Ints | None = field(default=None, repr=False)  # (2, N) since and until when each is there; None: always
    totals: dict[str, Floats] = field(default_factory=dict, repr=False)  # what the game tells of each player at the end
    played: Played | None = field(default=None, repr=False, compare=False)  # what it was played with, in this process

    def __getattr__(self, name: str) -> Any:
        for known in (self.__dict__.get("scalars", {}), self.__dict__.get("totals", {})):
            if name in known:
                return known[name]
        if name in self.__dict__.get("recordable", ()):
            raise NotRecorded(f'{name} was not recorded; pass record=("{name}", ...)')
        raise AttributeError(name)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"played": None}  # a game of one's own may not be fit to travel

    def __copy__(self) -> Trace:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Trace:
        parts = {part.name: getattr(self, part.name) for part in fields(self) if part.name != "played"}
        return replace(self, **deepcopy(parts, memo))  # games are immutable

    @cached_property
    def profiles(self) -> Ints:
        """The profile at each row, (rows, N)."""
        rows, players = self.times.size, self.start.size
        memory.require(
            8.0 * rows * players, f"a dense view of {rows} profiles of {players} players", "use a larger every"
        )
        dense = np.empty((rows, players), np.int64)
        self.fill(dense)
        dense.setflags(write=False)
        return dense

    def fill(self, dense: NDArray[Any]) -> None:
        """Write the profile of each row into ``dense``.

        Parameters
        ----------
        dense : array
            What is written to, (rows, N).
        """
        if self.events is None:
            raise InvalidRun('profiles were not recorded; pass record=("profile", ...)')
        when, players, actions = self.events
        before, begin = self.start, 0
        for first in range(0, self.times.size, MAX_ROWS):  # some rows at a time, so that little is held beside them
            times = self.times[first : first + MAX_ROWS]
            rows = dense[first : first + times.size]
            end = int(np.searchsorted(when, times[-1], "right"))
            fill_rows(rows, before, times, (when[begin:end], players[begin:end], actions[begin:end]))
            before, begin = rows[-1], end

    def to_dataset(self) -> xarray.Dataset:
        """Deprecated: :meth:`dataset`."""
        warnings.warn("Trace.to_dataset() is deprecated: use Trace.dataset()", DeprecationWarning, stacklevel=2)
        return self.dataset()

    def dataset(self) -> xarray.Dataset:
        """The trace as an ``xarray.Dataset`` with dimensions ``time`` and ``player``."""
        import xarray

        variables: dict[str, Any] = {name: ("time", values) for name, values in self.scalars.items()}
        if self.events is not None:
            variables["profile"] = (("time", "player"), self.profiles)
        if self.visits is not None:
            variables["visits"] = ("state", self.visits)
        variables["final"] = ("player", self.final)
        variables |= {name: ("player", values) for name, values in self.totals.items()}
        if self.lives is not None:
            variables |= {"since": ("player", self.lives[0]), "until": ("player", self.lives[1])}
        attributes = (self.about or {}) | {
            "game": self.game,
            "rule": json.dumps(self.rule),
            "potentia": __version__,
            "interrupted": int(not self.complete),
            "seed": self.seed,
            "steps": self.steps,
        }
        coordinates = {"time": self.times, "player": np.arange(self.start.size)}
        return label_all(xarray.Dataset(variables, coordinates, attributes), self.recordable)

    # What people see move -----------------------------------------------------------------------------

    def recording(self, **options: Any) -> Any:
        """The run as a recording, for replay pages and films; it needs ``profile`` among what was recorded.

        Parameters
        ----------
        **options : Any
            ``beliefs_every``: steps between keyframes, at which the recording says what players believe, or how they
            score their actions. Left out, some dozens where there is anything to say; of scores that are few
            numbers up to 2,000, every step if that is enough; 0 for none. The run is played again for them.
            ``optimum``: the best there is, a number or what ``analysis.optimum`` returns, for a line beside the curve.
            ``title``, ``label``: for people; the label is short.
            ``game``: what was played, for a trace that came from another process.

        Returns
        -------
        potentia.web.Recording
            What :func:`potentia.replay` and :func:`potentia.web.film` take.

        Examples
        --------
        >>> trace = pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), 100)
        >>> trace.recording().profile(100).tolist() == trace.final.tolist()
        True
        """
        return _of_the_web("making").record(self, **options)

    def replay(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write a page that replays the run in any browser, offline.

        Parameters
        ----------
        path : str or path
            The page.
        **options : Any
            As of :meth:`recording`.

        Returns
        -------
        Path
            The page that was written.
        """
        return _of_the_web("pages").replay(self, path, **options)

    def _repr_html_(self) -> str:
        return _of_the_web("pages").in_frame(self)


def _of_the_web(module: str) -> Any:
    """A module of the room that draws traces: by name, since traces know nothing of it."""
    return import_module(f"potentia.web.{module}")
