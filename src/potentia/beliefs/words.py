"""A belief in one line, for people."""

from __future__ import annotations

from typing import Any

from potentia.beliefs.forgetting import drift_half_life
from potentia.kernel.texts import value

_MIXTURES = ("split-merge", "mixture")
_FIELDS = (*_MIXTURES, "constant")


def belief_text(belief: Any, game: Any = None) -> str:
    """A belief in one line: split-merge, optimism 0.7, robots read the cells in range, ...

    With a game that drifts also the half-life that an automatic one takes there.
    """
    spec = belief.spec()
    name = spec["belief"]
    parts = [name]
    if name == "mixture":
        parts.append(f"{spec['components']} component{'s' * (spec['components'] > 1)}")
    if name == "split-merge":
        parts.append(f"number of components reconsidered every {spec['aic_every']:,} steps")
    if name in _MIXTURES:
        parts.append(f"optimism {spec['optimism']:g}")
        parts += ["a background"] * spec.get("background", False)
    if name == "constant":
        share = f"{spec['share']:g} of the largest worth seen" if spec["share"] else ""
        fixed = f"{spec['value']:g}" if spec["value"] or not share else ""
        parts.append(f"an unseen cell is worth {' + '.join(filter(None, (fixed, share)))}")
    if name in _FIELDS:
        noise = f" with noise {spec['noise']:g}" if spec["noise"] else ""
        parts.append(f"robots read {'the cells in range' if spec['sense'] == 'range' else 'their own cell'}{noise}")
        if spec.get("window") is not None:
            parts.append(f"readings are forgotten after {spec['window']:,} steps")
        elif "half_life" in spec:
            half = spec["half_life"]
            parts.append("readings last" if half is None else f"readings count half after {half:,g} steps")
        elif getattr(game, "drifts", False):
            half = drift_half_life(game)
            never = "the field changes so slowly that readings last"
            found = f"readings count half after {half or 0:,g} steps, the time in which a quarter of the field changes"
            parts.append(never if half is None else found)
        radius = spec["communication"]["radius"]  # None: infinite
        within = "everybody hears everybody" if radius is None else f"robots within {radius:g} cells hear each other"
        parts.append(within if radius != 0 else "nobody hears anybody")
    if name == "running-mean":
        parts.append(f"per {spec['per']}, at first {spec['initial']:g}")
    if len(parts) == 1:  # one without a sentence of its own
        parts += [f"{key} {value(entry)}" for key, entry in spec.items() if key != "belief"]
    return ", ".join(parts)
