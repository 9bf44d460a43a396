"""Beliefs as notebooks show them: their parameters, what robots believe at a moment, and fitted mixtures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from potentia.kernel.html import ROWS, Html, beside, card, facts, listed, parameters, table
from potentia.kernel.pictures import picture

if TYPE_CHECKING:
    from potentia.beliefs.base import Belief
    from potentia.beliefs.fitted import Fitted
    from potentia.beliefs.view import View

MEANINGS = {  # of the parameters of the package's own beliefs, by name
    "aic_every": "steps between two decisions on the number of components",
    "background": "whether there is a component of constant density",
    "calibrated": "whether predictions are scaled to the readings",
    "communication": "who hears whom",
    "components": "how many, known beforehand",
    "em_steps": "EM steps of a fit, which goes on from the last one",
    "f_mode": "the worth from which a cell counts more than once, with weighting by repeat",
    "floor": "the least variance of a component, in cells²",
    "growth": "share of the cells seen that must be new before the next fit",
    "half_life": "steps in which a reading comes to count half",
    "initial": "what is expected of what was never played",
    "most": "components, at most",
    "noise": "standard deviation of an error added to each reading",
    "optimism": "bonus where little was seen, as a share of the largest worth seen",
    "per": "whether means are kept by the own action, or by the whole profile",
    "recall": "whether a cell that was seen is worth what was read there",
    "repeats": "how often a decision may go on in the same direction",
    "sample": "how many observations AIC takes the cells for",
    "sense": "whether a robot reads all that it covers, or its own cell",
    "settle_steps": "EM steps, at most, around a change of the number of components",
    "share": "of the largest worth seen, expected of a cell not seen",
    "survey": "what is known beforehand",
    "tolerance": "gain of the mean log-likelihood at which EM stops",
    "V": "how much more a cell counts for its worth, with weighting by repeat",
    "value": "what a cell not seen is expected to be worth",
    "weighting": "whether a cell counts by its worth, or by the paper's repetitions",
    "window": "steps after which a reading is forgotten",
}


def belief_card(belief: Belief) -> str:
    """A belief."""
    return card(belief.name, belief.summary, parameters([belief], MEANINGS))


def view_card(view: View) -> str:
    """What one robot, or all of them, believe at a moment."""
    who = f"robot {view.robots[0]}" if len(view.robots) == 1 else f"{len(view.robots):,} robots"
    told: dict[str, Any] = {
        "seen": f"{int(view.seen.sum()):,} of {view.seen.size:,} cells",
        "components": view.num_components or None,
    }
    told["background"] = view.background or None
    image = picture(view.worth, "believed worth", upwards=view.origin == "lower")
    return card(
        "View", f"what {who} believe{'s' * (len(view.robots) == 1)}", beside(facts(told), image, _mixture(view))
    )


def fitted_card(fitted: Fitted) -> str:
    """A mixture that was fitted to points."""
    told = {
        "components": fitted.num_components,
        "dimensions": fitted.dimensions,
        "log-likelihood": fitted.log_likelihood,
        "AIC": fitted.aic,
        "BIC": fitted.bic,
        "number by": fitted.criterion.upper(),
    }
    return card("Fitted", "a mixture of Gaussians", beside(facts(told), _mixture(fitted)))


def _mixture(found: Any) -> Html:
    """The components, with the standard deviation along each axis."""
    if not len(found.weights):
        return Html("")
    rows = [
        [float(weight), f"({listed(mean)})", f"({listed(covariance.diagonal() ** 0.5)})"]
        for weight, mean, covariance in zip(
            found.weights[:ROWS], found.means[:ROWS], found.covariances[:ROWS], strict=True
        )
    ]
    return table(rows, ["weight", "mean", "standard deviations"], count=len(found.weights))
