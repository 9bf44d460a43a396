"""What an argument must be, declared once: the words, the check, and samples of what it refuses.

A check is the validator of a field, ``m: float = field(converter=number, validator=Real(above=0.0))``, in a class that
says in ``invalid`` what it raises; or a function, ``Integer(least=1).of(steps, "steps", InvalidRun)``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from potentia.errors import InvalidInput, did_you_mean
from potentia.kernel.numbers import as_float, in_words, is_integer, is_real

MOST = 2**62 - 1  # integers and their sums stay within 64 bits


def number(value: float) -> float:
    """A real number as a float; anything else as it is, for the check to refuse.

    Parameters
    ----------
    value : float
        What arrived.

    Returns
    -------
    float
        The number.

    Examples
    --------
    >>> pt.extend.number(np.float32(0.5)), pt.extend.number("half")
    (0.5, 'half')
    """
    return as_float(value) if is_real(value) else value


def whole(value: int) -> int:
    """An integer as Python's own; anything else as it is, for the check to refuse.

    Parameters
    ----------
    value : int
        What arrived.

    Returns
    -------
    int
        The integer.

    Examples
    --------
    >>> pt.extend.whole(np.int8(3)), pt.extend.whole(3.0)
    (3, 3.0)
    """
    return int(value) if is_integer(value) else value


class Check(ABC):
    """What an argument must be."""

    wanted: str  # after "must be"

    @abstractmethod
    def holds(self, value: Any) -> bool:
        """Whether this value will do.

        Parameters
        ----------
        value : Any
            What arrived.

        Returns
        -------
        bool
            Whether it does.
        """

    @abstractmethod
    def refused(self) -> list[Any]:
        """Samples of what will not do, for tests."""

    def made(self, value: Any) -> Any:
        """A value that will do, as it is kept.

        Parameters
        ----------
        value : Any
            What arrived.

        Returns
        -------
        Any
            The same, perhaps of another type.
        """
        return value

    def of(self, value: Any, name: str, error: type[InvalidInput]) -> Any:
        """The value, or an error that names the argument.

        Parameters
        ----------
        value : Any
            What arrived.
        name : str
            The argument.
        error : type
            What is raised.

        Returns
        -------
        Any
            The value, as it is kept.
        """
        if not self.holds(value):
            raise error(f"must be {self.wanted}, got {self._shown(value)}", name, value)
        return self.made(value)

    def __call__(self, instance: Any, attribute: Any, value: Any) -> None:
        self.of(value, attribute.alias, instance.invalid)

    def _shown(self, value: Any) -> str:
        if is_integer(value) and abs(int(value)) > MOST:
            return in_words(int(value))
        return f"{value.item() if isinstance(value, np.generic) else value!r:.60}"


class Real(Check):
    """A number, above or at least one bound, below or at most another; finite, if it need not be.

    Parameters
    ----------
    above : float, optional
        A lower bound that is excluded.
    least : float, optional
        A lower bound that is included.
    below : float
        An upper bound that is excluded.
    most : float
        An upper bound that is included.
    finite : bool
        Whether infinity is refused.

    Examples
    --------
    As the validator of a field of a rule:

    >>> import attrs
    >>> from potentia.extend import Real, Rule, number
    >>> @attrs.frozen
    ... class Noisy(Rule):
    ...     noise: float = attrs.field(converter=number, validator=Real(least=0.0))
    ...     def data(self, game, horizon):
    ...         return None
    >>> Noisy(-1)
    Traceback (most recent call last):
    potentia.errors.InvalidRule: noise must be a finite number of at least 0, got -1.0
    """

    def __init__(
        self,
        *,
        above: float | None = None,
        least: float | None = None,
        below: float = math.inf,
        most: float = math.inf,
        finite: bool = True,
    ) -> None:
        low, opening = (above, "(") if above is not None else (least, "[")
        high, closing = (below, ")") if below < math.inf else (most, "]")
        if low is not None and high < 1e300:
            self.wanted = f"a number in {opening}{low:g}, {high:g}{closing}"
        else:
            said = "" if low is None else f" > {low:g}" if opening == "(" else f" of at least {low:g}"
            self.wanted = f"a {'finite ' * finite}number{said}"
        self._open, self._low = opening == "(", -math.inf if low is None else low
        self._below, self._most, self._finite = below, most, finite

    def holds(self, value: Any) -> bool:
        given = as_float(value) if is_real(value) else math.nan
        if math.isinf(given):
            return given > 0.0 and not self._finite
        return (given > self._low if self._open else given >= self._low) and given <= self._most and given < self._below

    def made(self, value: Any) -> float:
        return as_float(value)

    def refused(self) -> list[Any]:
        out = ["0.5", None, True, 1j, [0.5], math.nan, -math.inf, *([math.inf, 10**400] if self._finite else [])]
        out += [] if self._low == -math.inf else [self._low if self._open else math.nextafter(self._low, -math.inf)]
        out += [self._below] if self._below < math.inf else []
        return out + ([math.nextafter(self._most, math.inf)] if self._most < math.inf else [])


class Integer(Check):
    """An integer between two bounds, both included.

    Parameters
    ----------
    least : int
        The lower bound.
    most : int
        The upper bound.

    Examples
    --------
    >>> from potentia.errors import InvalidRun
    >>> pt.extend.Integer(1, 6).of(7, "eyes", InvalidRun)
    Traceback (most recent call last):
    potentia.errors.InvalidRun: eyes must be an integer from 1 to 6, got 7
    """

    def __init__(self, least: int = 0, most: int = MOST) -> None:
        self._least, self._most = least, most
        self.wanted = f"an integer of at least {least}" if most >= MOST else f"an integer from {least} to {most}"

    def holds(self, value: Any) -> bool:
        return is_integer(value) and self._least <= value <= self._most

    def made(self, value: Any) -> int:
        return int(value)

    def of(self, value: Any, name: str, error: type[InvalidInput]) -> int:
        if is_integer(value) and value > self._most >= MOST:
            raise error(f"must be below 2^{self._most.bit_length()}, got {self._shown(value)}", name, value)
        return super().of(value, name, error)

    def refused(self) -> list[Any]:
        return ["1", None, True, 1.5, 2.0, [1], self._least - 1, self._most + 1, 10**400]


class Flag(Check):
    """True or False.

    Examples
    --------
    >>> from potentia.errors import InvalidRun
    >>> pt.extend.Flag().of("yes", "loud", InvalidRun)
    Traceback (most recent call last):
    potentia.errors.InvalidRun: loud must be True or False, got 'yes'
    """

    wanted = "True or False"

    def holds(self, value: Any) -> bool:
        return isinstance(value, bool)

    def refused(self) -> list[Any]:
        return [0, 1, "yes", None]


class OneOf(Check):
    """One of some words.

    Parameters
    ----------
    *words : str
        The words.

    Examples
    --------
    >>> from potentia.errors import InvalidRun
    >>> pt.extend.OneOf("left", "right").of("lift", "side", InvalidRun)
    Traceback (most recent call last):
    potentia.errors.InvalidRun: side must be "left" or "right", got 'lift'; did you mean 'left'?
    """

    def __init__(self, *words: str) -> None:
        self._words = words
        self.wanted = f"one of {', '.join(words)}" if len(words) > 2 else " or ".join(f'"{word}"' for word in words)

    def holds(self, value: Any) -> bool:
        return isinstance(value, str) and value in self._words

    def refused(self) -> list[Any]:
        return ["nonsense", self._words[0].upper() + "?", 3, None, list(self._words)]

    def _shown(self, value: Any) -> str:
        return f"{value!r:.60}{did_you_mean(value, self._words) if isinstance(value, str) else ''}"
