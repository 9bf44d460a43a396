"""What an estimator is: something that observes and predicts the utility of actions not played (the paper's û).

A belief is data, like a rule: a frozen class of parameters. For a game it makes a record that compiled code
reads, and a *mind*, the run's own arrays. What compiled code asks of it is here; a new kind of belief registers
``estimate`` and ``learn`` for the type of its record.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from potentia.errors import InvalidBelief
from potentia.games import Game
from potentia.kernel.cache import Compiled
from potentia.kernel.code import fingerprint, own_parts
from potentia.kernel.dispatch import generic
from potentia.kernel.registry import Checked, Registry, plain_parameters
from potentia.kernel.reprs import brief


class Belief(Checked, ABC):
    """What players think of actions they have not played. Subclasses are frozen classes of attrs.

    Examples
    --------
    A belief is plain data, which builds it again:

    >>> belief = pt.belief("running-mean", initial=5.0)
    >>> belief.spec()
    {'belief': 'running-mean', 'per': 'action', 'initial': 5.0}
    >>> pt.beliefs.belief_from(belief.spec()) == belief
    True
    """

    __repr__ = brief

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    invalid: ClassVar[type[InvalidBelief]] = InvalidBelief  # what its checks raise
    remembers: ClassVar[tuple[str, ...]] = ()  # fields of the mind that a saved run must keep, dotted where nested
    recorders: ClassVar[tuple[str, ...]] = ()

    def _repr_html_(self) -> str:
        from potentia.beliefs.showing import belief_card

        return belief_card(self)

    @abstractmethod
    def data(self, game: Game) -> Any:
        """The NamedTuple that compiled code reads, for this game; InvalidBelief where it does not fit.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        NamedTuple
            Of a type for which :func:`potentia.extend.estimate` is registered.
        """

    @abstractmethod
    def new_mind(self, game: Game) -> Any:
        """Fresh arrays for one run.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        NamedTuple
            Of arrays.
        """

    def mind_size(self, game: Game) -> int:
        """Bytes of :meth:`new_mind`, roughly.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        int
            For one run.
        """
        return 0

    def remembered(self, game: Game) -> tuple[str, ...]:
        """:attr:`remembers`, in this game.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        tuple of str
            Fields of the mind.
        """
        return self.remembers

    def check_mind(self, game: Game, mind: Any) -> None:
        """Raise ValueError for a mind, read from a file, that no run can have had and that would mislead kernels.

        Parameters
        ----------
        game : Game
            What is played.
        mind : NamedTuple
            What :meth:`new_mind` made.
        """

    def new_tools(self, game: Game, record: tuple[str, ...]) -> Any:
        """What :meth:`think` works with, in a run that records these; it keeps nothing there.

        Parameters
        ----------
        game : Game
            What is played.
        record : tuple of str
            What is recorded.

        Returns
        -------
        Any
            Whatever :meth:`think` takes.
        """
        return None

    def think(
        self, game: Game, mind: Any, tools: Any, key: Any, step: int, compiled: Compiled
    ) -> Sequence[tuple[float, ...]] | None:
        """What takes too long inside a step, where :func:`pending` says so; rows for people to read.

        Parameters
        ----------
        game : Game
            What is played.
        mind : NamedTuple
            What :meth:`new_mind` made.
        tools : Any
            What :meth:`new_tools` made.
        key : Any
            What draws are made from.
        step : int
            The step that was played.
        compiled : bool or str
            Whether machine code may be used.

        Returns
        -------
        sequence of tuples or None
            The rows.
        """
        return None

    def views(self, game: Game, mind: Any, compiled: Compiled) -> tuple[Any, ...]:
        """What players believe now, as arrays for people, where this belief can say it.

        Parameters
        ----------
        game : Game
            What is played.
        mind : NamedTuple
            What :meth:`new_mind` made.
        compiled : bool or str
            Whether machine code may be used.

        Returns
        -------
        tuple
            A :class:`View` for each mind.
        """
        return ()

    def spec(self) -> dict[str, Any]:
        """The belief as plain data."""
        return {"belief": self.name, **plain_parameters(self)}

    def spec_on(self, game: Game) -> dict[str, Any]:
        """The belief as plain data, with all that decides the bits of its runs on this game.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        dict
            Its name and parameters.
        """
        return self.spec()

    @staticmethod
    def from_spec(spec: dict[str, Any]) -> Belief:
        """The belief that :meth:`spec` described.

        Parameters
        ----------
        spec : dict
            Its name and parameters.

        Returns
        -------
        Belief
            The belief.
        """
        return belief_from(spec)

    def describe(self) -> str:
        """One line for people; no part of a run's key, so that runs with one seed differ by no draw."""
        return json.dumps(self.spec(), sort_keys=True)

    def code_fingerprint(self) -> str | None:
        """A hash of the code that somebody wrote for it: its class and kernels; None for a belief of the package."""
        return fingerprint(own_parts(self))


_registry: Registry[Belief] = Registry("belief", InvalidBelief)
register, registered = _registry.register, _registry.registered


@_registry.makes
def belief(name: str, **parameters: Any) -> Belief:
    """Build a belief by name.

    Parameters
    ----------
    name : str
        One of those above.
    **parameters : Any
        Its parameters.

    Returns
    -------
    Belief
        The belief.

    Examples
    --------
    >>> pt.belief("constant", value=0.1).value
    0.1
    """
    return _registry.make(name, parameters)


def belief_from(value: Any) -> Belief:
    """A belief from a belief, or from the plain data of one (:meth:`Belief.spec`).

    Parameters
    ----------
    value : Belief or dict
        One of them.

    Returns
    -------
    Belief
        The belief.

    Examples
    --------
    >>> pt.beliefs.belief_from({"belief": "known"})
    Known()
    """
    if isinstance(found := _registry.read(value), Belief):
        return found
    raise InvalidBelief(f"must be a belief such as SplitMerge() or Constant(0.002), got {value!r:.60}", "belief", value)


# What compiled code asks ------------------------------------------------------------------------------


@generic
def estimate(belief: Any, mind: Any, game: Any, state: Any, player: int, action: int) -> float:
    """The utility û^i(action, α^{-i}) that the player expects if it alone switched to ``action``.

    A belief of one's own registers its function for the type of its ``data``: compiled code asks it.

    Parameters
    ----------
    belief : NamedTuple
        What :meth:`Belief.data` gives.
    mind : NamedTuple
        What :meth:`Belief.new_mind` made.
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    player : int
        Its number.
    action : int
        What it would play.

    Returns
    -------
    float
        The estimate.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from potentia.extend import estimate
    >>> class HopeData(NamedTuple):
    ...     most: float
    >>> @estimate.register(HopeData)
    ... def hope(belief, mind, game, state, player, action):
    ...     return belief.most
    >>> estimate(HopeData(3.0), None, None, None, 0, 1)
    3.0
    """
    raise NotImplementedError("this belief has no estimate")


@generic
def learn(belief: Any, mind: Any, game: Any, state: Any, moved: NDArray[np.uint8], key: Any, step: int) -> None:
    """Take note that a step is over; at step -1 a run begins, and everybody changed.

    Parameters
    ----------
    belief : NamedTuple
        What :meth:`Belief.data` gives.
    mind : NamedTuple
        What :meth:`Belief.new_mind` made; it is written to.
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    moved : array
        Who changed its action in this step.
    key : Any
        What draws are made from.
    step : int
        The step that is over.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from potentia.extend import learn
    >>> class CountData(NamedTuple):
    ...     weight: float
    >>> class CountMind(NamedTuple):
    ...     changes: np.ndarray
    >>> @learn.register(CountData)
    ... def count(belief, mind, game, state, moved, key, step):
    ...     mind.changes[0] += belief.weight * moved.sum()
    >>> mind = CountMind(np.zeros(1))
    >>> learn(CountData(1.0), mind, None, None, np.array([0, 1, 1], np.uint8), None, 4)
    >>> mind.changes.tolist()
    [2.0]
    """


@generic
def judge(belief: Any, mind: Any, game: Any, state: Any, which: int) -> float:
    """The value of the belief's own recorder with this number.

    Parameters
    ----------
    belief : NamedTuple
        What :meth:`Belief.data` gives.
    mind : NamedTuple
        What :meth:`Belief.new_mind` made.
    game : NamedTuple
        The game's data.
    state : NamedTuple
        The state of the run.
    which : int
        Its place in ``recorders``.

    Returns
    -------
    float
        The value; NaN where there is none.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from potentia.extend import judge
    >>> class SureData(NamedTuple):
    ...     doubt: float
    >>> @judge.register(SureData)
    ... def doubt(belief, mind, game, state, which):
    ...     return belief.doubt
    >>> judge(SureData(0.2), None, None, None, 0)
    0.2
    """
    return np.nan


@generic
def pending(belief: Any, mind: Any) -> bool:
    """Whether :meth:`Belief.think` has something to do."""
    return False
