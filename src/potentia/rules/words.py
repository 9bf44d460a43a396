"""A rule in one line, for people."""

from __future__ import annotations

from typing import Any

from potentia.kernel.texts import value
from potentia.rules.base import Axes
from potentia.rules.steps import Diminishing


def rule_text(spec: dict[str, Any]) -> str:
    """A rule in one line: p-sblll, tau geometric 1 to 0.05, revision 0.3, ..."""
    parts = [" × ".join(spec[axis] for axis in Axes._fields) if spec["rule"] == "composed" else spec["rule"]]
    for name, entry in spec.items():
        if spec["rule"] == "composed" and (name in Axes._fields or _COMPOSED.get(name) == entry):
            continue
        if name in _UNSAID and entry == _UNSAID[name]:
            continue
        if name == "choice":
            parts.append("choice " + " ".join(value(part) for part in entry.values()))
        elif name == "mu" and isinstance(entry, dict):
            parts.append(f"mu {_step_text(entry)}")
        elif name == "tau" and isinstance(entry, dict):
            parts.append(f"tau {_schedule_text(entry)}")
        elif name == "revision" and isinstance(entry, dict) and "signal" in entry:
            parts.append("revision by Eq. 53 ({a1:g}, {a2:g}, {a3:g}; {normalise})".format(**entry["signal"]))
        elif name != "rule" and entry is not False:
            parts.append(name if entry is True else f"{name} {value(entry)}")
    return ", ".join(parts)


_COMPOSED = {"k": 1, "ties": "uniform", "inertia": 0.0}  # the same of compositions
_UNSAID = {  # parameters that are not worth a word where they have these values
    "unplayed": "keep",
    "lag": True,
    "best_response": "reachable",
    "noise": 0.0,
    "initial": 0.0,
    "initial_strategies": None,
    "form": "two-step",
    "choice": {"kind": "gibbs"},
    "order": 1,
}


def _step_text(entry: dict[str, float]) -> str:
    return str(Diminishing(**entry))


def _schedule_text(entry: dict[str, Any]) -> str:
    if entry["kind"] == "relative":
        return f"{_schedule_text(entry['schedule'])}, times the most a robot can cover"
    if entry["kind"] == "constant":
        return value(entry["tau"])
    span = [value(v) for k, v in entry.items() if k in ("start", "stop") and v]
    points = [f"{value(v)} at step {value(t)}" for t, v in entry.get("points", [])]
    return f"{entry['kind']} {' to '.join(span or points)}"
