"""Classes by name: how rules and beliefs, ours and others', are built from words and numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from inspect import cleandoc
from typing import Any, Generic, TypeVar

import attrs
import numpy as np

from potentia.errors import InvalidInput, did_you_mean, look_up
from potentia.kernel.texts import prose

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


REQUIRED = attrs.NOTHING


def parameters_of(cls: type) -> dict[str, Any]:
    """The fields of a class of attrs, or of a dataclass, in their order, with their defaults or ``REQUIRED``."""
    if attrs.has(cls) and not _is_later_dataclass(cls):
        return {field.name: field.default for field in attrs.fields(cls)}
    found = {}
    for field in dataclasses.fields(cls):
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        found[field.name] = REQUIRED if default is dataclasses.MISSING else default
    return found


# Rules and beliefs were dataclasses, and those that extend one of them may still be -----------------------


def _tell_dataclasses(cls: type) -> None:
    """Let ``dataclasses`` know the fields of a class of attrs: to extend it, to replace a parameter, to list them."""
    told = []
    for one in attrs.fields(cls):
        default = {} if one.default is REQUIRED else {"default": one.default}
        told.append((one.name, Any, dataclasses.field(kw_only=one.kw_only, **default)))
    twin: Any = dataclasses.make_dataclass(cls.__name__, told, frozen=True)
    for name in ("__dataclass_fields__", "__dataclass_params__"):
        setattr(cls, name, getattr(twin, name))


def _is_later_dataclass(cls: type) -> bool:
    return "__dataclass_fields__" in vars(cls) and "__attrs_attrs__" not in vars(cls)


class Checked:
    """A class of attrs that ``dataclasses`` knows, and that dataclasses may extend: they check what they are given."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__attrs_attrs__" in vars(cls):
            _tell_dataclasses(cls)

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for one in attrs.fields(kind) if attrs.has(kind) else ():
            value = getattr(self, one.name)
            object.__setattr__(self, one.name, value if one.converter is None else one.converter(value))
            if one.validator is not None:
                one.validator(self, one, getattr(self, one.name))
        getattr(self, "__attrs_post_init__", lambda: None)()


def replaced(thing: T, **changes: Any) -> T:
    """The same object with other parameters."""
    kind = type(thing)
    return kind(**{name: getattr(thing, name) for name in parameters_of(kind)} | changes)


def plain_parameters(thing: Any) -> dict[str, Any]:
    """The parameters of an object, those with a ``spec()`` as plain data."""
    return {name: plain(getattr(thing, name)) for name in parameters_of(type(thing))}


def plain(value: Any) -> Any:
    """A parameter as plain data: lists for tuples and arrays, and what has a ``spec()`` by it."""
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "spec"):
        return plain_parameters(value)
    return value.spec() if hasattr(value, "spec") else value


def built(
    cls: type[T], parameters: Mapping[str, Any], called: str, error: type[InvalidInput], within: str | None = None
) -> T:
    """An object from its parameters by name; an error names the one that it has not, or needs.

    Where it is the value of another parameter, ``within``, errors are about that one.
    """
    known = parameters_of(cls)
    for given in parameters:
        if given not in known:
            hint, listed = did_you_mean(given, known), ", ".join(known) or "none"
            raise error(f"{called} has no parameter {given!r}{hint} (it has {listed})", within)
    for name, default in known.items():
        if default is REQUIRED and name not in parameters:
            raise error(f"{called} needs {name}=", within)
    try:
        return cls(**parameters)
    except InvalidInput as found:
        if within is None:
            raise
        raise error(f"{called}: {found}", within, parameters) from None


def _signature(cls: type) -> str:
    told = parameters_of(cls).items()
    return ", ".join(name if default is REQUIRED else f"{name}={default!r}" for name, default in told)


class Registry(Generic[T]):
    """Classes with a ``name`` and one field per parameter; ``what`` they are is said in messages.

    ``also`` has other words for some of them, which messages then name.
    """

    def __init__(self, what: str, error: type[InvalidInput], also: Mapping[str, str] | None = None) -> None:
        self.what, self._error, self._also = what, error, also
        self._known: dict[str, type[T]] = {}
        self._maker: Any = None

    def register(self, kind: C) -> C:
        """Class decorator: make a class known under its name.

        Parameters
        ----------
        kind : type
            A class with a ``name``, and a field for each parameter.

        Returns
        -------
        type
            The same class.

        Examples
        --------
        >>> import attrs
        >>> from potentia.rules import One, Who, rule
        >>> from potentia.extend import register_who
        >>> @register_who
        ... @attrs.frozen
        ... class First(Who):
        ...     name = "first"
        ...     def revision_on(self, game):
        ...         return (1.0,) + (1e-6,) * (game.num_players - 1)
        >>> rule(who="first", considers="all", chooses="best").called
        'first × all × best'
        """
        name = getattr(kind, "name", None)
        if not isinstance(name, str) or not name:
            raise self._error(f"{kind.__name__} needs a name, a text, got {name!r}")
        if self._known.get(name, kind).__qualname__ != kind.__qualname__:
            raise self._error(f"a {self.what} named {name!r} exists already")
        self._known[name] = kind
        self._list()
        return kind

    def makes(self, maker: F) -> F:
        """Decorator: the function that builds one by name; ``help()`` of it lists the names and their parameters."""
        self._maker, self._about = maker, cleandoc(maker.__doc__ or "")
        self._list()
        return maker

    def _list(self) -> None:
        if self._maker is None:
            return
        lines = [f"{name}({_signature(cls)})\n    {getattr(cls, 'summary', '')}" for name, cls in self._known.items()]
        about = prose(self._about)
        listed = "\n".join([about, "", "Known by name:", "", *lines])
        self._maker.__doc__ = f"{listed}{self._about.removeprefix(about)}\n"

    def registered(self) -> dict[str, type[T]]:
        """All of them by name.

        Returns
        -------
        dict
            The classes.

        Examples
        --------
        >>> pt.rules.registered()["lll"].__name__
        'LLL'
        """
        return dict(self._known)

    def kind(self, name: Any) -> type[T]:
        """The class behind a name, or an error that suggests the nearest one."""
        return look_up(self._known, name, self.what, self._error, self._also)

    def read(self, value: Any) -> T | Any:
        """One from the plain data of one, as its ``spec()`` gives it; anything else as it is."""
        if not isinstance(value, dict) or self.what not in value:
            return value
        options = dict(value)
        return self.make(options.pop(self.what), options)

    def make(self, name: str, parameters: dict[str, Any]) -> T:
        """Build one; an error names the parameter that it has not, or needs."""
        kind: Any = self.kind(name)
        if hasattr(kind, "from_parameters"):
            made: T = kind.from_parameters(parameters)
            return made
        return built(kind, parameters, name, self._error)
