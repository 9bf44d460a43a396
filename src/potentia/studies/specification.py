"""A study in one file: which games, beliefs and rules, which parameters vary, how many seeds, what is recorded.

.. code-block:: toml

    name = "temperature on a ring"
    steps = 20_000
    seeds = 100
    record = ["potential", "welfare"]

    [game]
    name = "ring"                    # or file = "payoffs.json", or map = "paper" with robots, delta, ...
    players = [20, 50]

    [[rule]]
    name = "lll"
    tau = { from = 0.05, to = 0.4, count = 4 }

A specification and the version of potentia fix every bit of the result: draws depend on the seed, the game and the
rule, never on what else is in the study, on chunks or on workers.
"""

from __future__ import annotations

import os
import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from potentia.errors import InvalidSpecification, did_you_mean
from potentia.kernel.checks import MOST
from potentia.kernel.files import read_plain
from potentia.studies.axes import as_plain, shown_short
from potentia.studies.refusals import refused

SECTIONS = ("game", "belief", "rule")
_FILE_BYTES = 1_000_000  # nobody writes more by hand


def at_least(least: int) -> Any:
    """The field of a whole number that is at least so large."""
    return Field(ge=least, le=MOST)


def _whole(value: Any) -> Any:
    """1e6 is a whole number; true is not."""
    if isinstance(value, bool):
        raise ValueError("must be a whole number")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _listed(value: Any) -> Any:
    """One table, or several."""
    return value if isinstance(value, list) else [value]


def _texts(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Whole = Annotated[int, BeforeValidator(_whole)]
Tables = Annotated[list[dict[str, Any]], BeforeValidator(_listed)]


class Strict(BaseModel):
    """Plain data of these fields and no others, each of its own type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Seeds(Strict):
    """Consecutive seeds."""

    first: Annotated[Whole, at_least(0)] = 0
    count: Annotated[Whole, at_least(1)]


def _ranged(value: Any) -> Any:
    """``range(100)`` from Python."""
    plain = isinstance(value, range) and value.step == 1
    return {"first": value.start, "count": value.stop - value.start} if plain else value


def _seeds(value: Any) -> Any:
    return {"count": value} if isinstance(value, int | float) else value


class Specification(Strict):
    """The description of a study, checked for its form; :func:`potentia.studies.planning.plan` builds it.

    Parameters
    ----------
    name : str
        What the study is called.
    about : str
        What people should know of it, in as many lines as they like.
    game : dict or list of dict
        The games: a name, a file or a map, and their parameters; a list of values is an axis.
    rule : dict or list of dict
        The rules: a name and parameters.
    belief : dict or list of dict
        What players believe of actions that they have not played; left out, they know the game.
    steps : int
        Of each run.
    seeds : int, dict or list of int
        How many, ``{"first": 100, "count": 50}``, or which.
    record : str or list of str, optional
        What is recorded; left out, what the games can serve.
    every : int, optional
        Steps between two records; left out, there are about 200 of them.
    start : list of int, optional
        The first profile; left out, each seed draws its own.
    events : str or list of str, optional
        What happens to robots, as in "fail 8@2500".
    zip : list of list of str
        Parameters that vary together, as in ``[["rule.tau", "rule.revision"]]``.
    chunk : int, optional
        Seeds in a file; left out, about half a second of work.

    Examples
    --------
    >>> found = pt.studies.Specification(game={"name": "ring"}, rule={"name": "lll", "tau": [0.1, 0.3]}, steps=1000)
    >>> found.num_seeds, found.spacing
    (10, 5)
    >>> pt.studies.Specification.from_spec(found.spec()) == found
    True
    """

    name: Annotated[str, Field(min_length=1, max_length=200)] = "study"
    about: str = ""
    game: Tables
    rule: Tables
    belief: Tables = Field(default_factory=list)
    steps: Annotated[Whole, at_least(1)]
    seeds: Annotated[Seeds | list[Annotated[Whole, at_least(0)]], BeforeValidator(_seeds)] = Seeds(count=10)
    record: Annotated[list[str], BeforeValidator(_texts)] | None = None  # left out: what the games can serve
    every: Annotated[Whole, at_least(1)] | None = None  # left out: about 200 records
    start: list[int] | None = None
    events: Annotated[list[str], BeforeValidator(_texts)] | None = None  # of robots, as in "fail 8@2500"
    zip: list[Annotated[list[str], Field(min_length=2)]] = Field(default_factory=list)
    chunk: Annotated[Whole, at_least(1)] | None = None  # seeds per file; left out: about half a second of work

    @property
    def seed_numbers(self) -> Sequence[int]:
        """The seeds, in order."""
        if isinstance(self.seeds, Seeds):
            return range(self.seeds.first, self.seeds.first + self.seeds.count)
        return self.seeds

    @property
    def num_seeds(self) -> int:
        """How many, also where a range is longer than ``len`` can say."""
        return self.seeds.count if isinstance(self.seeds, Seeds) else len(self.seeds)

    @property
    def spacing(self) -> int:
        """Steps between two records."""
        return max(1, self.steps // 200) if self.every is None else self.every

    def spec(self) -> dict[str, Any]:
        """Plain data; :meth:`from_spec` gives the same specification back."""
        return self.model_dump(mode="json", exclude_none=True)

    @classmethod
    def from_spec(cls, plain: Any) -> Specification:
        """The specification that plain data describe; see :func:`specification_from`.

        Parameters
        ----------
        plain : dict
            What :meth:`spec` returned.

        Returns
        -------
        Specification
            It, checked.
        """
        return specification_from(plain)

    def to_dict(self) -> dict[str, Any]:
        """Deprecated: :meth:`spec`."""
        text = "Specification.to_dict() is deprecated: use Specification.spec()"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return self.spec()


def read_specification(path: str | os.PathLike[str], changes: Sequence[str] = ()) -> tuple[Specification, Path]:
    r"""The specification in a TOML file, and the folder its files are in.

    Parameters
    ----------
    path : str or path
        The file.
    changes : sequence of str
        What is set in the place of what it says, as in ``rule.tau=1e-3``.

    Returns
    -------
    tuple of Specification and Path
        What is to be played, and where the files lie that it names.

    Examples
    --------
    >>> with open("ring.toml", "w") as file:
    ...     print('steps = 1000\ngame = {name = "ring"}\nrule = {name = "lll", tau = 0.1}', file=file)
    >>> found, folder = pt.studies.read_specification("ring.toml", ["rule.tau=0.2"])
    >>> found.steps, found.rule
    (1000, [{'name': 'lll', 'tau': 0.2}])
    """
    source = Path(path)
    with refused(InvalidSpecification, f"read {source}"):
        content = read_plain(source, _FILE_BYTES)
    try:
        plain = tomllib.loads(content.decode("utf-8-sig"))  # some editors begin with a mark
    except UnicodeDecodeError:
        raise InvalidSpecification(f"{source}: expected TOML in UTF-8, got other bytes") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise InvalidSpecification(f"{source}: not TOML: {error}") from None
    for change in changes:
        plain = with_change(plain, change)
    try:
        return specification_from(plain), source.parent
    except InvalidSpecification as error:
        raise InvalidSpecification(f"{source}: {error}") from None


def specification_from(plain: Any) -> Specification:
    """A specification from plain data, or one line that names the key, what was expected and what arrived.

    Parameters
    ----------
    plain : dict or Specification
        The same keys as in a file.

    Returns
    -------
    Specification
        It, checked for its form.

    Examples
    --------
    >>> plain = {"game": {"name": "stag-hunt"}, "rule": {"name": "lll", "tau": [0.1, 0.3]}, "steps": 20}
    >>> pt.studies.specification_from(plain | {"seeds": range(5, 8)}).seed_numbers
    range(5, 8)
    """
    if isinstance(plain, Specification):
        found = plain
    elif not isinstance(plain, Mapping):
        raise InvalidSpecification(f"a specification is a table, got {shown_short(plain)}")
    else:
        # as many lines as people like
        about = {name: part for name, part in plain.items() if name == "about" and isinstance(part, str)}
        rest = {name: _ranged(part) if name == "seeds" else part for name, part in plain.items() if name not in about}
        try:
            found = Specification.model_validate(as_plain(rest) | about)
        except ValidationError as error:
            raise InvalidSpecification(_told(error)) from None
    for section in ("game", "rule"):
        if not getattr(found, section):
            raise InvalidSpecification(f"a study needs at least one {section}, got none")
    numbers = found.seed_numbers
    if not isinstance(numbers, range):
        if not numbers:
            raise InvalidSpecification("must name at least one run, got none", "seeds")
        if len(set(numbers)) != len(numbers):
            raise InvalidSpecification("must differ: two runs with one seed are the same run", "seeds")
    elif numbers.stop > MOST:
        raise InvalidSpecification(
            f"must be below 2^62, got {numbers.start} and {len(numbers)} more", "seeds", numbers.start
        )
    return found


_KINDS = {
    "int_type": "be a whole number",
    "int_from_float": "be a whole number",
    "string_type": "be a text",
    "list_type": "be a list",
    "dict_type": "be a table",
    "model_type": "be a number, a list of numbers or {{ first, count }}",
    "value_error": "be a whole number",
    "greater_than_equal": "be at least {ge}",
    "less_than_equal": "be below 2^62",
    "too_short": "not be that short",
    "string_too_short": "not be that short",
}


def _unknown(key: str, name: str, known: Iterable[str]) -> str:
    return f"unknown key {shown_short(key)}{did_you_mean(name, known)} (known: {', '.join(known)})"


def _told(error: ValidationError) -> str:
    """The first complaint, in one line."""
    complaints = error.errors(include_url=False)
    # of alternatives (seeds as a table or a list) the one that came furthest says most
    first = min(complaints, key=lambda one: one["type"] != "extra_forbidden")  # a misspelt key is also missing
    if first["loc"][:1] == ("seeds",):
        first = max(complaints, key=lambda one: (one["type"] == "extra_forbidden", len(one["loc"])))
    places = [str(part) for part in first["loc"] if part not in ("Seeds",) and not str(part).startswith("list[")]
    key, kind, given = ".".join(places), first["type"], first["input"]
    if kind == "extra_forbidden":
        known = tuple(Specification.model_fields) if len(places) == 1 else tuple(Seeds.model_fields)
        return _unknown(key, places[-1], known)
    if kind == "missing":
        return f"{key} is missing"
    wanted = f" must {_KINDS[kind].format(**first.get('ctx', {}))}" if kind in _KINDS else f": {first['msg']}"
    return f"{key}{wanted}, got {shown_short(given)}"


# Changes from the command line --------------------------------------------------------------------------


def with_change(plain: dict[str, Any], change: str) -> dict[str, Any]:
    """The same with ``steps=1000``, ``game.players=50``, ``rule.tau=[0.1, 0.2]`` or ``rule.blll.tau=0.1`` set.

    ``rule.tau`` is set in every rule table that has it; in the only one there is also where it has not. A rule among
    several goes by its label, its name or its number from 0.
    """
    key, equals, text = change.partition("=")
    parts = [part.strip() for part in key.split(".")]
    key = ".".join(parts)
    if not equals or not all(parts):
        raise InvalidSpecification(
            f"a change is KEY=VALUE, as in rule.tau=1e-3 or steps=5000, got {shown_short(change)}"
        )
    entry = _value(text.strip())
    if parts[0] not in Specification.model_fields:
        raise InvalidSpecification(_unknown(key, parts[0], Specification.model_fields))
    section, *inner = parts
    if section not in SECTIONS:
        if not inner:
            return {**plain, key: entry}
        if section == "seeds" and len(inner) == 1 and isinstance(plain.get("seeds", {}), dict):
            return {**plain, "seeds": {**plain.get("seeds", {}), inner[0]: entry}}
        raise InvalidSpecification(f"{section} has no parts, got {shown_short(change)}")
    if not inner:
        raise InvalidSpecification(
            f"a change to {section} names what to set, as in {section}.name=..., got {shown_short(change)}"
        )
    there = _listed(plain.get(section) or {})
    if not all(isinstance(table, Mapping) for table in there):
        raise InvalidSpecification(f"{section} must be a table, got {shown_short(plain[section])}")
    tables, name = [dict(table) for table in there], inner.pop()
    chosen = _named(tables, ".".join(inner), section) if inner else tables
    if len(chosen) > 1:
        chosen = [table for table in chosen if name in table]
        if not chosen:
            raise InvalidSpecification(
                f"none of the {len(tables)} {section} tables has {shown_short(name)}, got {shown_short(change)}"
            )
    for table in chosen:
        table[name] = entry
    return {**plain, section: tables}


def _named(tables: list[dict[str, Any]], which: str, section: str) -> list[dict[str, Any]]:
    if which.isdecimal() and len(which) < 10 and int(which) < len(tables):
        return [tables[int(which)]]
    for field in ("label", "name"):
        found = [table for table in tables if table.get(field) == which]
        if found:
            return found
    known = [str(table.get("label", table.get("name"))) for table in tables]
    hint = did_you_mean(which, known)
    raise InvalidSpecification(f"there is no {section} {shown_short(which)}{hint} (there is {', '.join(known)})")


def _value(text: str) -> Any:
    """A TOML value; anything else is a text."""
    try:
        return tomllib.loads(f"x = {text}")["x"] if "\n" not in text else text
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return text
