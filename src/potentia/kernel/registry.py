"""Classes by name: how rules and beliefs, ours and others', are built from words and numbers."""

from __future__ import annotations

import dataclasses
from typing import Any, Generic, TypeVar

from potentia.errors import InvalidInput, did_you_mean, look_up

T = TypeVar("T")


class Registry(Generic[T]):
    """Frozen dataclasses with a ``name``, one field per parameter; ``what`` they are is said in messages."""

    def __init__(self, what: str, error: type[InvalidInput]) -> None:
        self.what, self._error = what, error
        self._known: dict[str, type[T]] = {}

    def register(self, cls: type[T]) -> type[T]:
        """Class decorator: make a class known under its name."""
        name = getattr(cls, "name", None)
        if not isinstance(name, str) or not name:
            raise self._error(f"{cls.__name__} needs a name, a text, got {name!r}")
        if self._known.get(name, cls).__qualname__ != cls.__qualname__:
            raise self._error(f"a {self.what} named {name!r} exists already")
        self._known[name] = cls
        return cls

    def registered(self) -> dict[str, type[T]]:
        """All of them by name."""
        return dict(self._known)

    def kind(self, name: Any) -> type[T]:
        """The class behind a name, or an error that suggests the nearest one."""
        return look_up(self._known, name, self.what, self._error)

    def make(self, name: str, parameters: dict[str, Any]) -> T:
        """Build one; an error names the parameter that it has not, or needs."""
        cls = self.kind(name)
        fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        for given in parameters:
            if given not in fields:
                hint = did_you_mean(given, fields)
                listed = f"it has {', '.join(fields)}" if fields else "it has none"
                raise self._error(f"{name} has no parameter {given!r}{hint} ({listed})")
        for field in fields.values():
            optional = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
            if not optional and field.name not in parameters:
                raise self._error(f"{name} needs {field.name}=")
        return cls(**parameters)
