"""What can be recorded of a run: one table, which the engine, the store, datasets and figures read.

A row has a name, the dimensions beside the run's own, whether it holds whole numbers, whether NaN may stand in it, and
a label and a unit for people. Games and beliefs add rows of theirs (``recorders``); a user adds a function of
(profile, data) with :func:`register_recorder`, or passes ``recorder(function)`` in ``record=``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from potentia.errors import InvalidRun
from potentia.kernel.mistakes import at_place, place_of


class Recorder(str):
    """A row of the table: its name, and what is known of what is recorded under it.

    Parameters
    ----------
    name : str
        What it is asked for by.
    label : str
        What people read; left out, the name.
    unit : str
        Its unit, if it has one.
    dims : tuple of str
        The dimensions beside the run's own.
    whole : bool
        Whether it holds integers.
    nan : bool
        Whether NaN may stand in it.
    needs : tuple of str
        What it is worked out from, measured in the loop.
    function : callable, optional
        A function of (profile, data) that gives it.

    Examples
    --------
    >>> row = pt.extend.Recorder("energy", "energy spent", "J")
    >>> row.attributes
    {'long_name': 'energy spent', 'units': 'J'}
    """

    label: str
    unit: str
    dims: tuple[str, ...]
    needs: tuple[str, ...]
    function: Callable[..., float] | None
    whole: bool
    nan: bool

    def __new__(
        cls,
        name: str,
        label: str = "",
        unit: str = "",
        *,
        dims: tuple[str, ...] = ("time",),
        whole: bool = False,
        nan: bool = False,
        needs: tuple[str, ...] = (),
        function: Callable[..., float] | None = None,
    ) -> Recorder:
        """``whole``: integers; ``nan``: NaN may stand; ``needs``: what it is worked out from, measured in the loop."""
        if whole and dims == ("time",):
            raise InvalidRun("must be False: one number at each time is kept as a float", "whole", whole)
        self = super().__new__(cls, name)
        self.label, self.unit, self.dims, self.whole, self.nan = label or name.replace("_", " "), unit, dims, whole, nan
        self.needs, self.function = needs, function
        return self

    def without_function(self) -> Recorder:
        """The same for people to read: a function may be one that cannot be kept in a file."""
        if self.function is None:
            return self
        return Recorder(str(self), self.label, self.unit)

    @property
    def scalar(self) -> bool:
        """One number at each time."""
        return self.dims == ("time",)

    @property
    def attributes(self) -> dict[str, str]:
        """Label and unit as xarray and netCDF have them."""
        return {"long_name": self.label} | ({"units": self.unit} if self.unit else {})


COUNTS = ("revisions", "changes")  # what the loop counts, in a column each
OBJECTIVE = "objective"  # what stands for the game's own
TABLE = {
    str(row): row
    for row in (
        Recorder("profile", "action", dims=("time", "player"), whole=True),
        Recorder("potential", "potential Φ"),
        Recorder("welfare", "welfare Σu"),
        Recorder("acceptance", "accepted share of revisions", nan=True, needs=COUNTS),
        Recorder("taken", "revisions that changed an action", needs=COUNTS),
        Recorder("rejected", "revisions that changed nothing", needs=COUNTS),
        Recorder("num_revisions", "revisions so far", needs=COUNTS),
        Recorder("best", "best so far", needs=(OBJECTIVE,)),
        Recorder("best_time", "time of the best so far", "steps", needs=(OBJECTIVE,)),
        Recorder("visits", "time spent", "steps", dims=("state",), whole=True),
    )
}
_RESERVED = ("time", "player", "seed", "state", "final", "steps_done", "changes", "reached", OBJECTIVE)  # of datasets
_OTHER_WORDS = {"revisions": "num_revisions"}  # of runs, "revisions" is the number at their end
_own: dict[str, Recorder] = {}


def recorder(function: Callable[..., float], name: str = "", label: str = "", unit: str = "") -> Recorder:
    """A recorder of one's own: a function of (profile, data) that gives a number; quick if Numba can compile it.

    Parameters
    ----------
    function : callable
        ``data`` is the game's record, or what was passed as ``data=`` to ``games.custom``.
    name : str
        What it is called; left out, as the function is.
    label : str
        What people read.
    unit : str
        Its unit, if it has one.

    Returns
    -------
    Recorder
        What ``record=`` takes.

    Examples
    --------
    >>> def agreed(profile, data):
    ...     return float(profile[0] == profile[1])
    >>> trace = pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.1), 40, record=pt.recorder(agreed))
    >>> trace.agreed[-1].item()
    1.0
    """
    if not callable(function):
        raise InvalidRun(f"must be a function of (profile, data), got {function!r}", "function", function)
    signature = inspect.signature(function)
    try:
        signature.bind(None, None)
    except TypeError:
        said = at_place(f"must take (profile, data), got {signature}", place_of(function))
        raise InvalidRun(said, "function", function) from None
    called = name or getattr(function, "__name__", "")
    if not isinstance(called, str) or not called.isidentifier():
        raise InvalidRun(f"must be one word of letters, digits and underscores, got {called!r}", "name", called)
    if called in (*TABLE, *_OTHER_WORDS, *_RESERVED):
        raise InvalidRun(f"is taken: {called!r} means something else in a dataset", "name", called)
    for text, value in (("label", label), ("unit", unit)):
        if not isinstance(value, str):
            raise InvalidRun(f"must be a text, got {value!r}", text, value)
    return Recorder(called, label, unit, function=function)


def register_recorder(name: str = "", label: str = "", unit: str = "") -> Callable[[Any], Any]:
    """Decorator: make a function of (profile, data) known as a recorder, also to specifications and commands.

    Parameters
    ----------
    name : str
        What it is called; left out, as the function is.
    label : str
        What people read.
    unit : str
        Its unit, if it has one.

    Returns
    -------
    callable
        The decorator.

    Examples
    --------
    >>> from potentia.extend import register_recorder
    >>> @register_recorder(label="share of action 1")
    ... def ones(profile, data):
    ...     return profile.mean()
    >>> pt.run(pt.game("ring"), pt.rule("lll", tau=0.1), 5, record="ones").ones.shape
    (6,)
    """

    def keep(function: Callable[..., float]) -> Callable[..., float]:
        made = recorder(function, name, label, unit)
        before = _own.get(made, made).function
        if getattr(before, "__qualname__", "") != getattr(function, "__qualname__", ""):
            raise InvalidRun(f"is taken: a recorder named {str(made)!r} exists already", "name", str(made))
        _own[str(made)] = made
        return function

    return keep


def known_recorders(own: Iterable[str]) -> dict[str, Recorder]:
    """All recorders by name: those of every run, those of a game and those that users have registered."""
    rows = (row if isinstance(row, Recorder) else Recorder(row) for row in own)
    return TABLE | _own | {str(row): row for row in rows}


def by_its_name(name: str) -> str:
    """What a recorder is called in datasets, where it goes by another word too."""
    return _OTHER_WORDS.get(name, name)


def row_of(name: str, own: Iterable[str]) -> Recorder:
    """The row of a recorder that is known; ``own`` are the game's."""
    if isinstance(name, Recorder) and name.function is not None:
        return name
    return known_recorders(own)[by_its_name(name)]


def is_known(name: Any, own: Iterable[str]) -> bool:
    """Whether there is such a recorder."""
    if isinstance(name, Recorder) and name.function is not None:
        return True
    return isinstance(name, str) and _OTHER_WORDS.get(name, name) in known_recorders(own)
