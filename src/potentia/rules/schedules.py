"""Temperature over a run: constant, or a schedule. All are plain data and serialise.

``steps`` of a schedule is the time over which it falls; left out, it is the planned length of the run.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np

from potentia.errors import InvalidInput, InvalidRule
from potentia.games import Game
from potentia.kernel.arrays import Floats, frozen
from potentia.kernel.branching import Cold
from potentia.kernel.checks import Integer, Real, number, whole
from potentia.kernel.dispatch import generic
from potentia.kernel.numbers import as_float, is_real
from potentia.kernel.registry import Checked, built, plain_parameters

_FASTEST = 1e100  # of a logarithmic schedule: rate times any step stays finite
_GEOMETRIC, _LOGARITHMIC, _PIECEWISE = range(3)


class ConstantData(NamedTuple):
    """A type of its own: with a constant temperature no step asks for the time."""

    tau: float


class VaryingData(NamedTuple):
    """What compiled code reads of a temperature that changes."""

    kind: int
    start: float
    stop: float
    rate: float
    times: Floats
    values: Floats


ScheduleData = ConstantData | VaryingData


@generic
def temperature(schedule: Any, step: int) -> float:
    """The temperature τ at this step.

    Parameters
    ----------
    schedule : NamedTuple
        What ``tau.data(horizon)`` gives, in the data of a rule.
    step : int
        The steps that were played.

    Returns
    -------
    float
        The temperature.

    Examples
    --------
    >>> data = pt.rules.Geometric(1.0, 0.01).data(horizon=100)
    >>> round(pt.extend.temperature(data, 50), 3)
    0.098
    """
    return schedule.tau


@temperature.register(VaryingData)
def _temperature(schedule: VaryingData, step: int) -> float:
    if schedule.kind == _GEOMETRIC:
        # the factor in two halves: one alone may underflow on the way from 1e300 to 1e-300
        half = math.exp(-0.5 * schedule.rate * step)
        return max(schedule.stop, schedule.start * half * half)
    if schedule.kind == _LOGARITHMIC:
        return max(schedule.stop, schedule.start / math.log(math.e + schedule.rate * step))
    last = schedule.times.shape[0] - 1
    if step >= schedule.times[last]:
        return schedule.values[last]
    k = 0
    while step >= schedule.times[k + 1]:
        k += 1
    share = (step - schedule.times[k]) / (schedule.times[k + 1] - schedule.times[k])
    return schedule.values[k] + share * (schedule.values[k + 1] - schedule.values[k])


class _Tau(Real):
    """A finite number > 0, with what to use instead where it is none."""

    def of(self, value: Any, name: str, error: type[InvalidInput]) -> float:
        if not is_real(value):
            raise error(f'must be a number, a schedule or "auto", got {value!r}', name, value)
        if not self.holds(value):
            wanted = f'must be finite and > 0, got {as_float(value)}; for best response use rule("best-response")'
            raise error(wanted, name, value)
        return as_float(value)


TEMPERATURE = _Tau(above=0.0)


class Schedule(Checked, ABC):
    """A temperature that changes over the run.

    Examples
    --------
    >>> schedule = pt.rules.Geometric(1.0, 0.01)
    >>> [round(schedule.at(step, horizon=100), 3) for step in (0, 50, 100)]
    [1.0, 0.098, 0.01]
    """

    kind: ClassVar[str]
    invalid: ClassVar[type[InvalidRule]] = InvalidRule

    @abstractmethod
    def data(self, horizon: int | None) -> ScheduleData:
        """What compiled code reads, for a run of planned length ``horizon``.

        Parameters
        ----------
        horizon : int or None
            The planned length of the run.

        Returns
        -------
        NamedTuple
            What :func:`potentia.extend.temperature` takes.
        """

    def on(self, game: Game) -> Schedule:
        """The schedule in the units of this game; the same unless it is relative.

        Parameters
        ----------
        game : Game
            What is played.

        Returns
        -------
        Schedule
            One that is not relative.
        """
        return self

    def at(self, step: int, horizon: int | None = None) -> float:
        """The temperature at this step of a run planned for ``horizon`` steps.

        Parameters
        ----------
        step : int
            The steps that were played.
        horizon : int, optional
            The planned length of the run.

        Returns
        -------
        float
            The temperature.
        """
        return float(temperature(self.data(horizon), step))

    def spec(self) -> dict[str, Any]:
        """The schedule as plain data; :func:`schedule_from` reads it back."""
        return {"kind": self.kind, **plain_parameters(self)}


ScheduleLike = float | str | Schedule | Mapping[str, Any]  # str: "auto"


def _record(
    kind: int, start: float, stop: float = 0.0, rate: float = 0.0, points: Sequence[tuple[float, float]] = ()
) -> VaryingData:
    times = frozen([t for t, _ in points], np.float64)
    values = frozen([v for _, v in points], np.float64)
    return VaryingData(kind, start, stop, rate, times, values)


@attrs.frozen
class Constant(Schedule):
    """The same tau at every step.

    Parameters
    ----------
    tau : float
        The temperature, > 0.

    Examples
    --------
    >>> pt.rules.Constant(0.1).at(1000)
    0.1
    """

    kind: ClassVar[str] = "constant"
    tau: float = attrs.field(converter=number, validator=TEMPERATURE)

    def data(self, horizon: int | None) -> ScheduleData:
        return ConstantData(self.tau)


@attrs.frozen
class Limit(Schedule):
    """τ → 0, for whoever solves exactly: draws through a distribution then have leading terms; nobody plays it."""

    kind: ClassVar[str] = "limit"
    tau: ClassVar[float] = Cold()

    def data(self, horizon: int | None) -> ScheduleData:
        return ConstantData(self.tau)


@attrs.frozen
class Geometric(Schedule):
    """From ``start`` down to ``stop`` by a constant factor a step, then ``stop``.

    Parameters
    ----------
    start : float
        The temperature at step 0.
    stop : float
        The last temperature.
    steps : int, optional
        The time over which it falls; left out, the planned length of the run.

    Examples
    --------
    >>> schedule = pt.rules.Geometric(1.0, 0.01, steps=100)
    >>> [round(schedule.at(step), 3) for step in (0, 50, 100, 200)]
    [1.0, 0.098, 0.01, 0.01]
    """

    kind: ClassVar[str] = "geometric"
    start: float = attrs.field(converter=number, validator=TEMPERATURE)
    stop: float = attrs.field(converter=number, validator=TEMPERATURE)
    steps: int | None = attrs.field(
        default=None, converter=attrs.converters.optional(whole), validator=attrs.validators.optional(Integer(1))
    )

    def __attrs_post_init__(self) -> None:
        if self.stop > self.start:
            raise InvalidRule(f"must not exceed start, got start {self.start} and stop {self.stop}", "stop", self.stop)

    def data(self, horizon: int | None) -> ScheduleData:
        length = self.steps or horizon
        if length is None:
            raise InvalidRule("a geometric schedule needs steps=, or a run of planned length: begin(..., horizon=)")
        # stop is reached at the last step
        rate = (math.log(self.start) - math.log(self.stop)) / max(length - 1, 1)
        return _record(_GEOMETRIC, self.start, self.stop, rate)


@attrs.frozen
class Logarithmic(Schedule):
    """``start`` / log(e + rate·n): the classical annealing law, slow enough for the guarantee; not below ``stop``.

    Parameters
    ----------
    start : float
        The temperature at step 0.
    stop : float
        The lowest temperature.
    rate : float
        How fast n grows.

    Examples
    --------
    >>> schedule = pt.rules.Logarithmic(1.0)
    >>> [round(schedule.at(step), 3) for step in (0, 100, 10_000)]
    [1.0, 0.216, 0.109]
    """

    kind: ClassVar[str] = "logarithmic"
    start: float = attrs.field(converter=number, validator=TEMPERATURE)
    stop: float = attrs.field(default=0.0, converter=number, validator=Real(least=0.0))
    rate: float = attrs.field(default=1.0, converter=number, validator=Real(least=0.0, most=_FASTEST))

    def __attrs_post_init__(self) -> None:
        if self.stop > self.start:
            raise InvalidRule(f"must not exceed start, got start {self.start} and stop {self.stop}", "stop", self.stop)

    def data(self, horizon: int | None) -> ScheduleData:
        # never zero, however small ``start`` is
        return _record(_LOGARITHMIC, self.start, max(self.stop, math.ulp(0.0)), self.rate)


def _points_from(value: Iterable[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    try:
        points = tuple((float(t), TEMPERATURE.of(v, "tau in points", InvalidRule)) for t, v in value)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidRule):
            raise
        raise InvalidRule(f"must be pairs (step, tau), got {value!r}", "points", value) from None
    times = [t for t, _ in points]
    rising = all(b > a for a, b in itertools.pairwise(times))
    if not points or times[0] != 0 or not math.isfinite(times[-1]) or not rising:
        raise InvalidRule(f"must begin at step 0 and increase, got steps {times}", "points", value)
    return points


@attrs.frozen
class Piecewise(Schedule):
    """Linear between ``points``, a list of (step, tau) that begins at step 0; the last tau stays.

    Parameters
    ----------
    points : iterable of pairs
        Step and temperature, the steps rising.

    Examples
    --------
    >>> pt.rules.Piecewise([(0, 1.0), (10, 0.2)]).at(5)
    0.6
    """

    kind: ClassVar[str] = "piecewise"
    points: tuple[tuple[float, float], ...] = attrs.field(converter=_points_from)

    def data(self, horizon: int | None) -> ScheduleData:
        return _record(_PIECEWISE, self.points[0][1], points=self.points)


def _not_relative(value: ScheduleLike) -> Schedule:
    inner = schedule_from(value)
    if isinstance(inner, Relative):
        raise InvalidRule("a relative schedule cannot hold another relative schedule")
    return inner


@attrs.frozen
class Relative(Schedule):
    """A schedule in units of the game's own scale: the largest worth C that a robot of a coverage game can cover.

    ``Relative(Geometric(0.3, 0.01))`` works on any map without tuning; ``tau="auto"`` is short for it.

    Parameters
    ----------
    schedule : float, dict or Schedule
        One in shares of that scale.

    Examples
    --------
    >>> world = pt.games.World(np.array([[0.0, 2.0, 0.0]]))
    >>> game = pt.games.Coverage(world=world, robots=1, delta=0.5)
    >>> pt.rules.Relative(0.1).on(game).at(0)
    0.2
    """

    kind: ClassVar[str] = "relative"
    schedule: Schedule = attrs.field(converter=_not_relative)

    def on(self, game: Game) -> Schedule:
        if game.scale is None or not game.scale > 0.0:
            raise InvalidRule(
                f'tau="auto" and relative schedules are for games with a scale, such as Coverage with some worth; '
                f"{game.describe()} has none: give tau as a number or another schedule"
            )
        return _scaled(self.schedule, game.scale)

    def data(self, horizon: int | None) -> ScheduleData:
        raise InvalidRule("a relative schedule has no temperature without a game: use schedule.on(game)")


def _scaled(schedule: Schedule, factor: float) -> Schedule:
    if isinstance(schedule, Piecewise):
        return Piecewise(tuple((t, v * factor) for t, v in schedule.points))
    scaled = {name: getattr(schedule, name) * factor for name in ("tau", "start", "stop") if hasattr(schedule, name)}
    return attrs.evolve(schedule, **scaled)  # type: ignore[misc]


_KINDS: dict[str, type[Schedule]] = {c.kind: c for c in (Constant, Geometric, Logarithmic, Piecewise, Relative)}


def schedule_from(value: ScheduleLike) -> Schedule:
    """A schedule from a number, a schedule or the plain data of one.

    Parameters
    ----------
    value : float, str, Schedule or mapping
        One of them; ``"auto"`` is relative to the game.

    Returns
    -------
    Schedule
        The schedule.

    Examples
    --------
    >>> pt.rules.schedule_from(0.1)
    Constant(tau=0.1)
    >>> pt.rules.schedule_from({"kind": "geometric", "start": 1.0, "stop": 0.1})
    Geometric(start=1.0, stop=0.1, steps=None)
    """
    if isinstance(value, Schedule):
        return value
    if isinstance(value, str) and value == "auto":
        return AUTO
    if isinstance(value, Mapping):
        options = dict(value)
        kind = options.pop("kind", None)
        if not isinstance(kind, str) or kind not in _KINDS:
            raise InvalidRule(f"tau's kind must be one of {sorted(_KINDS)}, got {kind!r}")
        return built(_KINDS[kind], options, f"of kind {kind}", InvalidRule, "tau")
    return Constant(value)  # type: ignore[arg-type]


AUTO = Relative(Geometric(0.3, 0.01))
