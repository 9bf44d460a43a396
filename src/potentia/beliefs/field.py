"""Beliefs about the worth field of a coverage game: what a robot expects of cells that it has not seen.

Everything else a robot knows: where the others are, what their ranges cover, which flags it sees and what moving
costs. So û^i is Eq. 45 with the believed worth in the place of the true one.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.beliefs.base import Belief, estimate, judge, learn, register
from potentia.beliefs.communication import (
    CONTACTS,
    SENT,
    Communication,
    Contacts,
    Link,
    communication_from,
    link_data,
    look_around,
    new_contacts,
)
from potentia.beliefs.forgetting import (
    REMEMBERED,
    Ages,
    HalfLife,
    Lasting,
    Window,
    check_one,
    half_life_from,
    new_ages,
    standing,
)
from potentia.beliefs.observations import KNOWN, Sensing, Store, check_store, new_store, store_size
from potentia.errors import InvalidBelief, Remedy
from potentia.games import Coverage, Game
from potentia.games.coverage_kernel import CoverageData, CoverageState, cell_of, reward, share_of
from potentia.games.sight import owns, sees
from potentia.kernel.arrays import any_array, frozen
from potentia.kernel.cache import Compiled
from potentia.kernel.checks import OneOf, Real, number
from potentia.kernel.dispatch import at, generic, portable, separate
from potentia.kernel.protocol import plays
from potentia.kernel.recorders import Recorder

RECORDERS = (  # of every belief about a field
    Recorder("belief_error", "mean error of the believed worth", nan=True),
    Recorder("cells_known", "cells known, mean over robots", "cells"),
    Recorder("contacts", "contacts between robots"),
    Recorder("data_sent", "readings sent"),
)
BELIEF_ERROR, CELLS_KNOWN, MET, DATA_SENT = range(len(RECORDERS))
STORE_REMEMBERS = (
    *(f"store.{name}" for name in Store._fields if name != "ages"),
    "contacts.known",
    "contacts.tally",
)
LATER = {
    "half_life": "auto",
    "window": None,
    "background": False,
}  # parameters that came later, and what was done before they did


def _survey_from(value: str | ArrayLike | None) -> str | tuple[tuple[bool, ...], ...] | None:
    if value is None or (isinstance(value, str) and value == "all"):
        return value
    mask = any_array(value)
    if mask.dtype != np.bool_ or mask.ndim != 2:
        raise InvalidBelief(f'must be None, "all" or a mask (rows, columns), got {value!r:.60}', "survey", value)
    return tuple(map(tuple, mask.tolist()))


@attrs.frozen(repr=False)
class FieldBelief(Belief):
    """What beliefs about a worth field have in common: what is read, who hears of it, and when it is forgotten."""

    sense: str = attrs.field(default="range", kw_only=True, validator=OneOf("range", "cell"))
    noise: float = attrs.field(default=0.0, kw_only=True, converter=number, validator=Real(least=0.0, most=1e100))
    communication: Communication = attrs.field(default=Communication(), kw_only=True, converter=communication_from)
    survey: str | tuple[tuple[bool, ...], ...] | None = attrs.field(default=None, kw_only=True, converter=_survey_from)

    half_life: float | str | None = attrs.field(
        default="auto", kw_only=True, converter=half_life_from, validator=HalfLife()
    )
    window: int | None = attrs.field(default=None, kw_only=True, validator=Window())

    def __attrs_post_init__(self) -> None:
        check_one(self.half_life, self.window)

    def spec(self) -> dict[str, Any]:
        # without what came later, where it is not used: runs saved before are told by their belief
        return {key: part for key, part in super().spec().items() if key not in LATER or part != LATER[key]}

    def spec_on(self, game: Game) -> dict[str, Any]:
        assert isinstance(game, Coverage)
        # where readings last, as they did before there were half-lives, it is the belief that it was then
        aged = self.window is None and isinstance(self.ages(game, 0), Ages)
        told = {key: part for key, part in self.spec().items() if key != "half_life"}
        return told | ({"half_life": self.half_life} if aged else {})

    def remembered(self, game: Game) -> tuple[str, ...]:
        assert isinstance(game, Coverage)
        lasting = isinstance(self.ages(game, 0), Lasting)
        return self.remembers if lasting else (*self.remembers, *(f"store.ages.{name}" for name in REMEMBERED))

    def ages(self, game: Coverage, minds: int) -> Ages | Lasting:
        """Fresh ages of readings, where they are forgotten.

        Parameters
        ----------
        game : Coverage
            What is played.
        minds : int
            How many.

        Returns
        -------
        Ages or Lasting
            Arrays, or nothing.
        """
        return new_ages(game, self.half_life, self.window, minds)

    def minds(self, game: Coverage) -> int:
        """How many different minds there are.

        Parameters
        ----------
        game : Coverage
            What is played.

        Returns
        -------
        int
            One, where everybody always knows the same.
        """
        return 1 if self.communication.shared(game) else game.num_players

    def sensing(self, game: Game) -> Sensing:
        """For compiled code, and the check that the game has a field.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        Sensing
            A NamedTuple.
        """
        if not isinstance(game, Coverage):
            raise InvalidBelief(
                f"{self.name} is a belief about a worth field and needs a Coverage game, got {game.describe()}"
            ).advising(Remedy("any_game", "RunningMean() serves any game"))
        self.surveyed(game)
        players = game.num_players
        minds = np.zeros(players) if self.minds(game) == 1 else np.arange(players)
        return Sensing(self.sense == "range", self.noise, frozen(minds, np.int64))

    def surveyed(self, game: Coverage) -> NDArray[np.bool_] | None:
        """The mask of cells known beforehand.

        Parameters
        ----------
        game : Coverage
            What is played.

        Returns
        -------
        array or None
            (rows, columns).
        """
        if self.survey is None:
            return None
        shape = game.world.worth.shape
        if isinstance(self.survey, str):
            return np.ones(shape, np.bool_)
        mask = np.array(self.survey)
        if mask.shape != shape:
            raise InvalidBelief(f"must have the shape of the worth, {shape}, got {mask.shape}", "survey", mask.shape)
        return mask

    def views(self, game: Game, mind: Any, compiled: Compiled) -> tuple[Any, ...]:
        from potentia.beliefs.view import views

        assert isinstance(game, Coverage)
        return views(game, self.data(game), mind, compiled)

    def check_mind(self, game: Game, mind: Any) -> None:
        assert isinstance(game, Coverage)
        check_store(game, mind.store)
        known, ages = mind.contacts.known, mind.store.ages
        learnt = ages.heard if isinstance(ages, Ages) else mind.store.tally[:, KNOWN]
        if not ((known >= 0) & (known <= learnt[:, None])).all():
            raise ValueError("more was told than is known")

    def store(self, game: Coverage) -> Store:
        """Fresh observations.

        Parameters
        ----------
        game : Coverage
            What is played.

        Returns
        -------
        Store
            A NamedTuple of arrays.
        """
        minds = self.minds(game)
        return new_store(game, minds, self.surveyed(game), self.ages(game, minds))

    def store_size(self, game: Coverage) -> int:
        """Bytes of it.

        Parameters
        ----------
        game : Coverage
            What is played.

        Returns
        -------
        int
            For one run.
        """
        minds = self.minds(game)
        lasting = isinstance(self.ages(game, 0), Lasting)
        return store_size(game, minds) + (0 if lasting else 32 * minds * game.world.worth.size)


# What compiled code shares ----------------------------------------------------------------------------


@generic
def believed_worth(belief: Any, mind: Any, game: CoverageData, which: int, cell: int) -> float:
    """What mind ``which`` expects a framed cell to be worth, outside the area 0."""
    raise NotImplementedError("this belief has no worth")


@generic
def hoped_worth(belief: Any, mind: Any, game: CoverageData, which: int, cell: int) -> float:
    """The same with whatever draws robots to cells that they have not seen."""
    return believed_worth(belief, mind, game, which, cell)


@separate
def believed_reward(
    belief: Any, mind: Any, game: CoverageData, state: CoverageState, player: int, action: int
) -> float:
    """Eq. 45 with the believed worth; nothing for a robot that is not there, as with the true one."""
    if not plays(game, state, player):
        return 0.0
    current = state.profile[at(player)]
    dx = np.int64(game.place[at(action), 0]) - np.int64(game.place[at(current), 0])
    dy = np.int64(game.place[at(action), 1]) - np.int64(game.place[at(current), 1])
    which, kind, cell = belief.sensing.mind[at(player)], game.kind[at(player)], cell_of(game, action)
    reach, behind = np.int64(game.reach[at(kind)]), cell_of(game, current)
    total = 0.0
    for k in range(game.ptr[at(kind)], game.ptr[at(kind + 1)]):
        if not sees(game.vision, cell, k):
            continue
        covered = cell + game.offset[at(k)]
        x, y = game.dx[at(k)] + dx, game.dy[at(k)] + dy
        others = np.int64(state.counts[at(covered)]) - owns(game.vision, behind, x, y, reach)
        total += share_of(game, hoped_worth(belief, mind, game, which, covered), others)
    return reward(game, state, player, action, total)


@portable
def recalled(store: Store, which: int, place: int, guess: float) -> float:
    """What a mind makes of the reading at a place: the older that is, the more of what it would guess without."""
    weight, reading = standing(store.ages, which, place), store.reading[which, at(place)]
    return reading if weight == 1.0 else weight * reading + (1.0 - weight) * guess


@portable
def believed_field(belief: Any, mind: Any, game: CoverageData, which: int, out: NDArray[np.float64]) -> None:
    """Write what a mind believes of each framed cell."""
    for cell in range(out.shape[0]):
        out[cell] = believed_worth(belief, mind, game, which, cell)


@portable
def believed_utility(
    belief: Any, mind: Any, game: CoverageData, state: CoverageState, player: int, action: int
) -> float:
    """What beliefs about a field register as their estimate: a call, so that kernels hold the reward once."""
    return believed_reward(belief, mind, game, state, player, action)


@portable
def has_owner(game: CoverageData, state: CoverageState, minds: int, which: int) -> bool:
    """Whether a mind is shared, or that of a robot that is there."""
    return minds == 1 or plays(game, state, which)


@portable
def num_owned(game: CoverageData, state: CoverageState, minds: int) -> int:
    """How many minds that is: means are over them."""
    count = 0
    for which in range(minds):
        count += int(has_owner(game, state, minds, which))
    return count


@separate
def mean_error(belief: Any, mind: Any, game: CoverageData, state: CoverageState) -> float:
    """Σ |f̂ - f| / Σ f over the area, in the mean over minds."""
    minds = mind.store.peak.shape[0]
    missed, total = 0.0, 0.0
    for cell in range(state.worth.shape[0]):
        worth = state.worth[cell]
        total += worth
        for which in range(minds):
            if not has_owner(game, state, minds, which):
                continue
            missed += abs(believed_worth(belief, mind, game, which, cell) - worth)
    return missed / (total * max(num_owned(game, state, minds), 1)) if total > 0.0 else 0.0


@portable
def mean_known(store: Store, game: CoverageData, state: CoverageState) -> float:
    """Distinct cells known, in the mean over minds."""
    total, minds = 0.0, store.peak.shape[0]
    for which in range(minds):
        if has_owner(game, state, minds, which):
            total += store.tally[which, KNOWN]
    return total / max(num_owned(game, state, minds), 1)


@portable
def judged_field(belief: Any, mind: Any, game: CoverageData, state: CoverageState, which: int) -> float:
    """The value of one of :data:`RECORDERS`."""
    if which == BELIEF_ERROR:
        return mean_error(belief, mind, game, state)
    if which == CELLS_KNOWN:
        return mean_known(mind.store, game, state)
    return float(mind.contacts.tally[CONTACTS if which == MET else SENT])


# A constant -------------------------------------------------------------------------------------------


class ConstantData(NamedTuple):
    """What compiled code reads."""

    sensing: Sensing
    link: Link
    value: float
    share: float


class ConstantMind(NamedTuple):
    """What was seen."""

    store: Store
    contacts: Contacts


@register
@attrs.frozen(repr=False)
class Constant(FieldBelief):
    """Every unseen cell is worth the same: ``value``, and ``share`` of the largest worth seen so far.

    High is optimistic: robots explore until they have seen what there is. 0 is to have no model at all.

    Parameters
    ----------
    value : float
        What an unseen cell is worth.
    share : float
        This share of the largest worth seen is added.
    sense : {"range", "cell"}
        "range": a robot reads every cell that it covers; "cell": only its own.
    noise : float
        Standard deviation of an error added to each reading; a cell then counts with the mean of its readings.
    communication : Communication or dict
        Who hears whom.
    survey : "all" or array_like, optional
        What is known beforehand: everything, or a mask of cells.
    half_life : float, "auto" or None
        Steps in which a reading comes to count half; None: readings last. "auto": they do where nothing drifts;
        where the field does, the time in which Σ|f - f(0)| grows to a quarter of Σf or Σf(0), the larger.
    window : int, optional
        Instead: steps after which a reading is forgotten.

    Examples
    --------
    >>> world = pt.games.World([[0, 1, 0], [2, 0, 3]])
    >>> game = pt.games.Coverage(world, robots=1, delta=1.0)
    >>> trace = pt.run(game, pt.rule("blll", tau=0.05), 20, belief=pt.beliefs.Constant(0.5), record="cells_known")
    >>> trace.cells_known[-1].item()
    6.0
    """

    name: ClassVar[str] = "constant"
    summary: ClassVar[str] = "every unseen cell is worth the same"
    remembers: ClassVar[tuple[str, ...]] = STORE_REMEMBERS
    recorders: ClassVar[tuple[str, ...]] = RECORDERS
    value: float = attrs.field(default=0.0, converter=number, validator=Real(least=-1e100, most=1e100))
    share: float = attrs.field(default=0.0, converter=number, validator=Real(least=0.0, most=1e6))

    def data(self, game: Game) -> ConstantData:
        return ConstantData(self.sensing(game), link_data(self.communication), self.value, self.share)

    def new_mind(self, game: Game) -> ConstantMind:
        assert isinstance(game, Coverage)
        return ConstantMind(self.store(game), new_contacts(self.minds(game)))

    def mind_size(self, game: Game) -> int:
        assert isinstance(game, Coverage)
        return self.store_size(game)


@believed_worth.register(ConstantData)
def _constant_worth(belief: ConstantData, mind: ConstantMind, game: CoverageData, which: int, cell: int) -> float:
    slot: Any = np.int64(mind.store.slot[which, at(cell)])
    if slot < 0:
        return 0.0
    guess = belief.value + belief.share * mind.store.peak[which]
    return recalled(mind.store, which, slot - 1, guess) if slot > 0 else guess


estimate.register(ConstantData)(believed_utility)
learn.register(ConstantData)(look_around)
judge.register(ConstantData)(judged_field)
