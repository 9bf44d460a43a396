"""What potentia cover looks at before it plays: whether there is something to cover, what moving costs, the optimum."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from potentia.cli.terminal import say, status
from potentia.errors import InvalidInput, InvalidRun

_EFFORT = 20.0  # work on the optimum, in units of about a second
_LOOKS = 4  # stretches of a run, at the ends of which moving in a world that changes is looked at
_CLOCK = 600.0  # seconds: so many that work stops it also where others are busy, and two runs find the same


def require_worth(game: Any, map: str, rules: Mapping[str, Any]) -> None:
    """Refuse a map on which there is nothing to cover, and temperatures that it has no scale for."""
    if not game.drifts and not game.scale:
        raise InvalidInput(f"{map}: this map has no worth: all cells that robots can cover are worth 0")
    for rule in rules.values():
        if (tau := getattr(rule, "tau", None)) is not None:
            tau.on(game)


def replayed(game: Any, page: Path) -> Path | None:
    """The page, or None and a line where the map is too large for one: said now and not after the runs."""
    from potentia.web.scenes import require_small

    try:
        require_small(game)
    except InvalidRun as error:
        say(f"no replay: {error}", err=True)
        return None
    return page


def warn_of(game: Any, steps: int) -> None:
    """Say so if no step of a robot by itself can gain what it costs, hardly a robot is left, or one fails too late."""
    if (game.movement_cost > 0).any():
        import numpy as np

        from potentia.studies.coverage_measures import moving_cost

        everybody, times = np.ones(game.num_players, np.bool_), {steps * k // _LOOKS for k in range(_LOOKS + 1)}
        # a world that changes may begin with nothing
        games = [game.at(time, everybody) for time in sorted(times)] if game.drifts else [game]
        found = max(map(moving_cost, games), key=lambda cost: cost.steepest)
        if found.hinders:
            say(f"warning: --cost: {found}", err=True)
    events = game.happenings
    left = game.num_players * (1.0 - events.hazard) ** steps
    if left < 0.5:
        mean = f"in the mean {left:.2g} of {game.num_players} robots"
        say(f"warning: --hazard: {events.hazard:g} in each of {steps:,} steps leaves {mean}", err=True)
    if events.times and events.times[-1] == steps:
        told = ", ".join(text for text in events.texts if text.endswith((f"@{steps}", f" {steps}")))
        say(f"warning: {told} comes after the last of {steps:,} steps, where nothing is played any more", err=True)


def certified(game: Any, steps: int, quiet: bool) -> Any:
    """The optimum; of a world that changes, or of robots that come and go, at some steps."""
    from potentia.analysis import optimum as find
    from potentia.analysis import optimum_over_time
    from potentia.analysis.placement_over_time import moments, num_changes

    times = moments(game, steps) if game.drifts or any(game.happenings.times) else []
    when = f" at {num_changes(game, times)} steps" if times else ""
    if not quiet:
        work = f"up to some {_EFFORT:g} s of work, {_CLOCK / 60:g} minutes at most where others are busy"
        say(f"computing the optimum{when}: {work}")
    with status("computing the optimum", quiet=quiet):
        options: Any = {"time_limit": _CLOCK, "effort": _EFFORT}
        best = optimum_over_time(game, times, **options) if times else find(game.at(steps), **options)
    if not quiet:
        say(str(best), lines=True)
    return best
