"""potentia: learning in potential games, from log-linear learning to reinforcement learning."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from potentia.version import __version__

if TYPE_CHECKING:
    from potentia import (
        analysis,
        beliefs,
        engine,
        envs,
        errors,
        extend,
        figures,
        games,
        learners,
        paper,
        rules,
        statistics,
        studies,
        testing,
        web,
    )
    from potentia.beliefs import belief
    from potentia.engine import Run, Trace, advance, begin, load, run, run_batch, watch
    from potentia.games.library import game
    from potentia.kernel.recorders import recorder
    from potentia.rules import rule
    from potentia.studies import open_study, sweep
    from potentia.web import read_recording, replay
    from potentia.web.studio import live

_MODULES = (
    "analysis",
    "beliefs",
    "engine",
    "envs",
    "errors",
    "extend",
    "figures",
    "games",
    "learners",
    "paper",
    "rules",
    "statistics",
    "studies",
    "testing",
    "web",
)
_MOVED = ("experiments",)
_NAMES = {
    "Run": "engine",
    "Trace": "engine",
    "advance": "engine",
    "begin": "engine",
    "belief": "beliefs",
    "game": "games.library",
    "live": "web.studio",
    "load": "engine",
    "open_study": "studies",
    "read_recording": "web",
    "recorder": "kernel.recorders",
    "replay": "web",
    "rule": "rules",
    "run": "engine",
    "run_batch": "engine",
    "sweep": "studies",
    "watch": "engine",
}

__all__ = [
    "Run",
    "Trace",
    "__version__",
    "advance",
    "analysis",
    "begin",
    "belief",
    "beliefs",
    "engine",
    "envs",
    "errors",
    "extend",
    "figures",
    "game",
    "games",
    "learners",
    "live",
    "load",
    "open_study",
    "paper",
    "read_recording",
    "recorder",
    "replay",
    "rule",
    "rules",
    "run",
    "run_batch",
    "statistics",
    "studies",
    "sweep",
    "testing",
    "watch",
    "web",
]


def __getattr__(name: str) -> Any:
    # Loaded on first use: ``potentia --help`` must not pay for numpy and numba.
    if name in _MODULES or name in _MOVED:
        return import_module(f"potentia.{name}")
    if name in _NAMES:
        value = getattr(import_module(f"potentia.{_NAMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'potentia' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
