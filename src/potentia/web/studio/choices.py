"""What a page offers to choose from: rules, temperatures, beliefs, maps."""

from __future__ import annotations

from typing import Any

from potentia.beliefs import Believing
from potentia.beliefs import registered as registered_beliefs
from potentia.engine import Run
from potentia.games import Game
from potentia.kernel.registry import REQUIRED, parameters_of
from potentia.rules import rule
from potentia.rules.base import registered as registered_rules
from potentia.rules.words import rule_text
from potentia.web.studio.interventions import NO_BELIEF, coverage_of
from potentia.web.studio.living import LiveRun

_USUAL = {"tau": 0.1, "revision": 0.3, "memory": 5, "sample": 3}  # where a rule names no value of its own
_VARIANTS: dict[str, dict[str, Any]] = {
    "p-sblll:guarded": {"guard": True, "revision": 0.9},
    "p-sblll:unilateral": {"trial": "unilateral"},
}


def choices_of(game: Game) -> dict[str, Any]:
    """Rules and beliefs that go with a game, as plain data by their names."""
    robots = coverage_of(game) is not None
    tau: Any = "auto" if robots else _USUAL["tau"]
    rules = {}
    for name, kind in registered_rules().items():
        known = parameters_of(kind)
        given = {key: _USUAL[key] for key, default in known.items() if default is REQUIRED and key in _USUAL}
        given |= {"tau": tau} if "tau" in given else {}
        try:
            rules[name] = rule(name, **given).spec()
        except ValueError:  # one that must be told more
            continue
        for variant, more in _VARIANTS.items():
            if variant.startswith(f"{name}:"):
                rules[variant] = rule(name, **{**given, **more}).spec()
    beliefs: dict[str, Any] = {NO_BELIEF: {"belief": NO_BELIEF}}
    for name, belief in registered_beliefs().items():
        try:
            made = belief()
            made.data(game)
        except (ValueError, TypeError, AssertionError):  # for other games, or it must be told more
            continue
        beliefs[name] = made.spec()
    if robots and "constant" in beliefs:
        beliefs["constant"] = registered_beliefs()["constant"](share=0.5).spec()  # type: ignore[call-arg]
    return {"rules": dict(sorted(rules.items())), "beliefs": beliefs, "scale": _scale(game)}


def _scale(game: Game) -> dict[str, float] | None:
    """What a brush and a temperature are measured by."""
    found = coverage_of(game)
    if found is None:
        return None
    return {"worth": float(found.world.worth.max()), "tau": float(found.scale)}


def told_of_lane(lane: LiveRun) -> list[dict[str, Any]]:
    """How a run is played, from which step on."""
    told: list[dict[str, Any]] = []
    for stretch, _ in lane.spans():
        now = _told_of(stretch.run)
        if not told or any(told[-1][name] != value for name, value in now.items()):
            told.append({"since": stretch.since, **now})
    return told


def _told_of(run: Run) -> dict[str, Any]:
    spec = run.rule.spec()
    belief = run.game.belief.spec() if isinstance(run.game, Believing) else {"belief": NO_BELIEF}
    has = [name for name in ("tau", "revision") if name in spec]
    revision = spec.get("revision") if isinstance(spec.get("revision"), int | float) else None
    told = {"rule": run.rule.name, "text": rule_text(spec), "belief": belief["belief"], "has": has, "spec": spec}
    return told | {"revision": revision, "tau": _temperature(run)}


def _temperature(run: Run) -> dict[str, Any] | None:
    """What the temperature of any step follows from."""
    schedule = getattr(run.rule, "tau", None)
    if schedule is None:
        return None
    data = schedule.on(run.game).data(run.horizon)
    return {name: part.tolist() if hasattr(part, "tolist") else part for name, part in data._asdict().items()}
