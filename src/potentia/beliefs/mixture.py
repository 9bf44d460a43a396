"""A Gaussian mixture as a belief about the worth field (paper, section 5): EM, split and merge, communication.

After a step in which a mind learnt something new it goes on fitting, from its last fit. With split and merge, the
number of components is reconsidered every ``aic_every`` steps: one more or one fewer is proposed, and accepted by
a binary logit on -AIC at temperature 2, so that the odds are Akaike weights (Eq. 48-49).

A fitted mixture is a density over what was visited, and no worth. Predictions are scaled by the least-squares
factor between the density and the readings; ``calibrated=False`` leaves that out.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np

from potentia.beliefs.base import estimate, judge, learn, pending, register
from potentia.beliefs.communication import Contacts, Link, link_data, look_around, new_contacts
from potentia.beliefs.field import RECORDERS as FIELD_RECORDERS
from potentia.beliefs.field import (
    STORE_REMEMBERS,
    FieldBelief,
    believed_utility,
    believed_worth,
    has_owner,
    hoped_worth,
    judged_field,
    num_owned,
    recalled,
)
from potentia.beliefs.forgetting import is_due, standing
from potentia.beliefs.learning import (
    ERROR,
    NUMBER_OF,
    PENDING,
    WHITEN,
    WIDTH,
    Learner,
    Model,
    Proposal,
    Room,
    new_model,
    new_room,
    parameter_error,
    predicted,
)
from potentia.beliefs.observations import FRESH, KNOWN, Sensing, Store
from potentia.games import Coverage, Game
from potentia.games.coverage_kernel import CoverageData, CoverageState
from potentia.games.drift import mixture_at
from potentia.kernel.cache import Compiled
from potentia.kernel.checks import Flag, Integer, OneOf, Real, number, whole
from potentia.kernel.dispatch import at, portable, separate
from potentia.kernel.protocol import num_drawn
from potentia.kernel.recorders import Recorder

RECORDERS = (
    FIELD_RECORDERS[0],
    Recorder("parameter_error", "mean error of the mixture's parameters", nan=True),
    Recorder("right_number", "share of robots with the right number of components", nan=True),
    Recorder("components", "components, mean over robots", nan=True),
    *FIELD_RECORDERS[1:],
)
PARAMETER_ERROR, RIGHT_NUMBER, COMPONENTS = 1, 2, 3  # between the first of a field's own and the others
NEAR = 3  # cells


class Numbers(NamedTuple):
    """The number of components of a mixture: how many there may be, and when it is decided upon."""

    largest: int
    fixed: int = 0  # if it is known
    period: int = 0  # steps between two decisions; 0: there are none


class MixtureData(NamedTuple):
    """What compiled code reads."""

    sensing: Sensing
    link: Link
    aic_every: int  # 0: the number of components is fixed
    growth: float
    recall: bool
    optimism: float
    targets: int  # the world's own number of components; 0 where it has no mixture


class MixtureMind(NamedTuple):
    """What was seen, told and made of it."""

    store: Store
    contacts: Contacts
    model: Model


@attrs.frozen(repr=False)
class MixtureBelief(FieldBelief):
    """What the two mixtures have in common; :class:`Mixture` says what the parameters are."""

    weighting: str = attrs.field(default="worth", kw_only=True, validator=OneOf("worth", "repeat"))
    V: float = attrs.field(default=0.1, kw_only=True, converter=number, validator=Real(least=0.0, most=1e100))
    f_mode: float = attrs.field(default=1e-5, kw_only=True, converter=number, validator=Real(above=0.0, most=1e100))
    sample: str = attrs.field(default="effective", kw_only=True, validator=OneOf("effective", "cells"))
    floor: float = attrs.field(default=0.25, kw_only=True, converter=number, validator=Real(above=0.0, most=1e100))
    growth: float = attrs.field(default=0.15, kw_only=True, converter=number, validator=Real(least=0.0, most=1.0))
    em_steps: int = attrs.field(default=2, kw_only=True, converter=whole, validator=Integer(1))
    settle_steps: int = attrs.field(default=8, kw_only=True, converter=whole, validator=Integer(1))
    tolerance: float = attrs.field(default=3e-3, kw_only=True, converter=number, validator=Real(least=0.0, most=1e100))
    calibrated: bool = attrs.field(default=True, kw_only=True, validator=Flag())
    recall: bool = attrs.field(default=True, kw_only=True, validator=Flag())
    optimism: float = attrs.field(default=0.7, kw_only=True, converter=number, validator=Real(least=0.0, most=1e6))

    background: bool = attrs.field(default=False, kw_only=True, validator=Flag())

    remembers: ClassVar[tuple[str, ...]] = (
        *STORE_REMEMBERS,
        *(f"model.{name}" for name in Model._fields if name != "flat"),
    )
    recorders: ClassVar[tuple[str, ...]] = RECORDERS

    @property
    @abstractmethod
    def numbers(self) -> Numbers:
        """What is known of the number of components."""

    def remembered(self, game: Game) -> tuple[str, ...]:
        return (*super().remembered(game), *(("model.flat",) if self.background else ()))

    def data(self, game: Game) -> MixtureData:
        sensing = self.sensing(game)
        assert isinstance(game, Coverage)
        return MixtureData(
            sensing,
            link_data(self.communication),
            self.numbers.period,
            self.growth,
            self.recall,
            self.optimism,
            0 if game.world.mixture is None else game.world.mixture.num_components,
        )

    def new_mind(self, game: Game) -> MixtureMind:
        assert isinstance(game, Coverage)
        minds = self.minds(game)
        model = new_model(minds, self.numbers.largest + 1, game.data.worth.size)
        return MixtureMind(self.store(game), new_contacts(minds), model)

    def check_mind(self, game: Game, mind: MixtureMind) -> None:
        super().check_mind(game, mind)
        number = mind.model.mark[:, NUMBER_OF]
        if not ((number >= 0) & (number <= self.numbers.largest)).all() or mind.model.mark[:, PENDING].any():
            raise ValueError("no mixture has so many components")
        for packed, count in zip(mind.model.component, number.tolist(), strict=True):
            if not np.isfinite(packed[:count, :WHITEN]).all():
                raise ValueError("a component is not finite")
        if not ((mind.model.flat >= 0.0) & (mind.model.flat <= 1.0)).all():
            raise ValueError("the weight of a background is none")

    def new_tools(self, game: Game, record: tuple[str, ...]) -> Room:
        assert isinstance(game, Coverage)
        return new_room(game.world.worth.size, self.numbers.largest + 1, "parameter_error" in record)

    def mind_size(self, game: Game) -> int:
        assert isinstance(game, Coverage)
        minds, room = self.minds(game), self.numbers.largest + 1
        per_cell = 8 * minds * game.data.worth.size + 8 * (room + 6) * game.world.worth.size
        return self.store_size(game) + per_cell + 8 * room * (WIDTH * minds + 30)

    def think(
        self, game: Game, mind: MixtureMind, tools: Room, key: Any, step: int, compiled: Compiled
    ) -> Sequence[Proposal] | None:
        model = mind.model
        if not model.mark[0, PENDING]:
            return None
        assert isinstance(game, Coverage)
        deciding = self.numbers.period > 0 and step >= 0 and (step + 1) % self.numbers.period == 0
        proposals: list[Proposal] = []
        truth = mixture_at(game.world, game.drift, step + 1) if tools.judging else None

        def fitted(which: int, other: int | None = None, share: float = 1.0) -> None:
            learner = Learner(self, game.data, mind.store, model, tools, which, compiled)
            if other is not None:
                learner.average_with(other, share)
            if deciding and other is None:
                proposals.extend(learner.decide(num_drawn(game.data), key, step))
            else:
                learner.fit(self.em_steps if other is None else self.settle_steps)
            for one in (which,) if other is None else (which, other):
                learner.put_back(one)
                if truth is not None:
                    model.value[one, ERROR] = parameter_error(truth, tools.mixture, learner.number)

        agenda = mind.contacts.agenda
        for k in range(int(agenda[0])):
            expert, other, knew, other_knew = agenda[1 + 4 * k : 5 + 4 * k].tolist()
            fitted(expert, other, knew / (knew + other_knew))
        for which in range(model.mark.shape[0]):
            if deciding or is_due(mind.store.ages) or has_news(mind.store, self.growth, which):
                fitted(which)
        model.mark[0, PENDING] = agenda[0] = 0
        return proposals


@portable
def has_news(store: Store, growth: float, mind: int) -> bool:
    """Whether enough changed since the last fit."""
    return store.tally[mind, FRESH] > 0 and store.tally[mind, FRESH] >= growth * store.tally[mind, KNOWN]


@register
@attrs.frozen(repr=False)
class Mixture(MixtureBelief):
    """A Gaussian mixture with a known number of targets (the paper's EM_N).

    Parameters
    ----------
    components : int
        How many.
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
    weighting : {"worth", "repeat"}
        "worth": a cell counts in proportion to its worth. "repeat": the paper's m = 1 + V·round(f / f_mode)
        where f ≥ f_mode, else 1, for each visit.
    V : float
        Of "repeat".
    f_mode : float
        Of "repeat".
    sample : {"effective", "cells"}
        How many observations AIC takes the cells for: "effective", (Σw)² / Σw², or "cells", their number, with
        which components are added until they trace the border of what was seen.
    floor : float
        The least variance of a component in any direction, in cells².
    growth : float
        The share of the cells seen that must be new before the next fit; 0 fits after every move that brought any.
    em_steps : int
        EM steps of such a fit, which goes on from the last one.
    settle_steps : int
        At most so many before and after a change of the number of components.
    tolerance : float
        They end when the mean log-likelihood gains less than this.
    calibrated : bool
        Whether predictions are scaled to the readings; if not, the density itself is taken for the worth.
    recall : bool
        Whether a cell that was seen is worth what was read there; if not, what the model says.
    optimism : float
        A bonus where little was seen: this share of the largest worth seen, times the share of cells not seen
        among those within three columns and rows.
    background : bool
        Whether there is worth everywhere: the mixture has a component of constant density over the cells seen, of
        which the weight is fitted, one parameter more in AIC. It is neither split nor merged.

    Examples
    --------
    >>> world = pt.games.gaussian_world((10, 6), [1.0], [(7, 2)], [np.eye(2)])
    >>> game = pt.games.Coverage(world, robots=2)
    >>> belief = pt.beliefs.Mixture(components=1)
    >>> trace = pt.run(game, pt.rule("blll", tau=1e-3), 30, seed=1, belief=belief, record="belief_error")
    >>> trace.belief_error[[0, -1]].round(2).tolist()
    [0.92, 0.04]
    """

    name: ClassVar[str] = "mixture"
    summary: ClassVar[str] = "a Gaussian mixture with a known number of components (EM_N)"
    components: int = attrs.field(default=3, converter=whole, validator=Integer(1))

    @property
    def numbers(self) -> Numbers:
        return Numbers(self.components, fixed=self.components)


@register
@attrs.frozen(repr=False)
class SplitMerge(MixtureBelief):
    """A Gaussian mixture whose number of components is learnt too, by splits and merges (the paper's EM_SM).

    Parameters
    ----------
    aic_every : int
        Steps between two decisions on the number.
    most : int
        Components, at most.
    repeats : int
        How often a decision may go on in the same direction.
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
    weighting : {"worth", "repeat"}
        "worth": a cell counts in proportion to its worth. "repeat": the paper's m = 1 + V·round(f / f_mode)
        where f ≥ f_mode, else 1, for each visit.
    V : float
        Of "repeat".
    f_mode : float
        Of "repeat".
    sample : {"effective", "cells"}
        How many observations AIC takes the cells for: "effective", (Σw)² / Σw², or "cells", their number, with
        which components are added until they trace the border of what was seen.
    floor : float
        The least variance of a component in any direction, in cells².
    growth : float
        The share of the cells seen that must be new before the next fit; 0 fits after every move that brought any.
    em_steps : int
        EM steps of such a fit, which goes on from the last one.
    settle_steps : int
        At most so many before and after a change of the number of components.
    tolerance : float
        They end when the mean log-likelihood gains less than this.
    calibrated : bool
        Whether predictions are scaled to the readings; if not, the density itself is taken for the worth.
    recall : bool
        Whether a cell that was seen is worth what was read there; if not, what the model says.
    optimism : float
        A bonus where little was seen: this share of the largest worth seen, times the share of cells not seen
        among those within three columns and rows.
    background : bool
        Whether there is worth everywhere: the mixture has a component of constant density over the cells seen, of
        which the weight is fitted, one parameter more in AIC. It is neither split nor merged.

    Examples
    --------
    >>> world = pt.games.gaussian_world((10, 6), [1.0], [(7, 2)], [np.eye(2)])
    >>> game, rule = pt.games.Coverage(world, robots=2), pt.rule("blll", tau=1e-3)
    >>> trace = pt.run(game, rule, 30, seed=1, belief=pt.beliefs.SplitMerge(aic_every=10))
    >>> [(proposal.time, proposal.after, proposal.accepted) for proposal in trace.proposals]
    [(10, 2, False), (20, 2, False), (30, 2, False)]
    """

    name: ClassVar[str] = "split-merge"
    summary: ClassVar[str] = "a Gaussian mixture that splits and merges its components (EM_SM)"
    aic_every: int = attrs.field(default=100, converter=whole, validator=Integer(1))
    most: int = attrs.field(default=8, converter=whole, validator=Integer(1))
    repeats: int = attrs.field(default=2, converter=whole, validator=Integer(1))

    @property
    def numbers(self) -> Numbers:
        return Numbers(self.most, period=self.aic_every)


# What compiled code does ------------------------------------------------------------------------------


@believed_worth.register(MixtureData)
def _believed_worth(belief: MixtureData, mind: MixtureMind, game: CoverageData, which: int, cell: int) -> float:
    slot: Any = np.int64(mind.store.slot[which, at(cell)])
    if slot < 0:
        return 0.0
    if slot > 0 and belief.recall:
        if standing(mind.store.ages, which, slot - 1) == 1.0:
            return mind.store.reading[which, at(slot - 1)]
        return recalled(mind.store, which, slot - 1, predicted(mind.model, game, which, cell))
    return predicted(mind.model, game, which, cell)


@portable
def _unseen(store: Store, which: int, slot: Any) -> float:
    """1 of a cell that the mind has not seen, 0 of one that it has just seen, or of one outside."""
    if slot > 0:
        return 1.0 - standing(store.ages, which, slot - 1)
    return 1.0 if slot == 0 else 0.0


@separate
def _unseen_around(store: Store, game: CoverageData, which: int, cell: int) -> float:
    """The share of cells near this one that the mind has not seen; what was seen long ago counts in part."""
    x, y = cell % game.width, cell // game.width
    height = store.slot.shape[1] // game.width
    inside: Any = 0
    unseen = 0.0
    for row in range(max(y - NEAR, 0), min(y + NEAR + 1, height)):
        for column in range(max(x - NEAR, 0), min(x + NEAR + 1, game.width)):
            slot = np.int64(store.slot[which, row * game.width + column])
            inside += slot >= 0
            unseen += _unseen(store, which, slot)
    return unseen / inside


@hoped_worth.register(MixtureData)
def _hoped_worth(belief: MixtureData, mind: MixtureMind, game: CoverageData, which: int, cell: int) -> float:
    worth = believed_worth(belief, mind, game, which, cell)
    unseen = _unseen(mind.store, which, np.int64(mind.store.slot[which, at(cell)]))
    if unseen > 0.0:
        bonus = belief.optimism * mind.store.peak[which] * _unseen_around(mind.store, game, which, cell)
        worth += bonus if unseen == 1.0 else unseen * bonus
    return worth


estimate.register(MixtureData)(believed_utility)


@learn.register(MixtureData)
def _learn(belief: MixtureData, mind: MixtureMind, game: Any, state: Any, moved: Any, key: Any, step: int) -> None:
    look_around(belief, mind, game, state, moved, key, step)
    think = mind.contacts.agenda[0] > 0 or is_due(mind.store.ages)
    for which in range(mind.store.peak.shape[0]):
        think = think or has_news(mind.store, belief.growth, which)
    if think or (belief.aic_every and step >= 0 and (step + 1) % belief.aic_every == 0):
        mind.model.mark[0, PENDING] = 1


@pending.register(MixtureData)
def _pending(belief: MixtureData, mind: MixtureMind) -> bool:
    return mind.model.mark[0, PENDING] != 0


@judge.register(MixtureData)
def _judge(belief: MixtureData, mind: MixtureMind, game: CoverageData, state: CoverageState, which: int) -> float:
    if which < PARAMETER_ERROR or which > COMPONENTS:
        return judged_field(belief, mind, game, state, max(which - COMPONENTS, 0))
    if which != COMPONENTS and belief.targets == 0:
        return np.nan
    total, minds = 0.0, mind.model.mark.shape[0]
    for m in range(minds):
        if not has_owner(game, state, minds, m):
            continue
        number = mind.model.mark[m, NUMBER_OF]
        if which == PARAMETER_ERROR:
            total += mind.model.value[m, ERROR]
        elif which == RIGHT_NUMBER:
            total += number == belief.targets
        else:
            total += number
    return total / max(num_owned(game, state, minds), 1)
