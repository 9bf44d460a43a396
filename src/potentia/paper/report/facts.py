"""What the paragraphs of story.toml tell: computed from what was played, and nothing where that was not played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.analysis import potential
from potentia.games import NormalForm, game
from potentia.games.world import published
from potentia.paper import readings
from potentia.paper.case_claims import AS_PUBLISHED, LEARNT
from potentia.paper.case_study import BLLL, HEARD, LEARNING, SHORT
from potentia.paper.case_words import signed
from potentia.paper.claims import Claim, listed
from potentia.paper.report import choosing, scores
from potentia.paper.report.wording import texts
from potentia.statistics.estimates import Estimate

if TYPE_CHECKING:
    from potentia.paper.case_study import CaseStudy

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


def all_facts(study: CaseStudy, claims: Sequence[Claim], rows: Rows) -> dict[str, Any]:
    """All of them by the names that the words have in braces."""
    best, setup, words = study.optimum, published()["setup"], texts()["facts"]
    return {
        "robots": study.game.num_players,
        "best": best,
        "proven": "the largest" if best.proven else f"at most {best.bound:.4g}",
        "near": setup["R_com_blll"],
        "far": setup["R_com_psblll"],
        **choosing.advice(study, claims),
        "ends": texts()["definitions"]["ql"]["ends"].format(**scores.facts()),
        "levels": levels(rows),
        "letter": _letter(rows),
        "farther": _farther(claims, words["farther"]),
        "longer": _longer(rows, words["longer"]),
        "match": _match(rows, words["match"]),
        "double": _assumption_4(words["double"]),
    }


def levels(rows: Rows) -> str:
    """Where the worths of the published set-up are outside the published bounds."""
    found = [
        row for part in ("model", "learners") for row in rows.get(part, ()) if row.get("published_mean") is not None
    ]
    beside = [
        f"{row['algorithm']} covers {row['worth'].mean:.3f} where {row['published_mean']:.3f} was published "
        f"({row['published_low']:.3f} to {row['published_high']:.3f})"
        for row in found
        if not row["algorithm"].startswith("QL")  # whose temperature was not published
        and not row["published_low"] <= row["worth"].mean <= row["published_high"]
    ]
    return str(texts()["facts"]["levels"].format(levels=listed(beside))) if beside else ""


def _letter(rows: Rows) -> str:
    """What robots cover that learn the field with the recipe as printed, and what part of our values that is."""
    ours = {row["algorithm"]: row["worth"].mean for row in rows.get("model", ())}
    found = {row["algorithm"]: row["worth"].mean for row in (rows.get("literal", ()) if ours else ())}
    if not found:
        return ""
    said = " and ".join(f"{name} covers {worth:.3f} instead of {ours[name]:.3f}" for name, worth in found.items())
    parts = [100 * worth / ours[name] for name, worth in found.items()]
    return str(texts()["letter"].format(said=said, least=f"{min(parts):.0f}", most=f"{max(parts):.0f} %"))


def _farther(claims: Sequence[Claim], words: str) -> str:
    """How much of what P-SBLLL is ahead by comes from who hears whom; the intervals are those of the claim."""
    found = {one.label: one.value for claim in claims if claim.name == "higher" for one in claim.measured}
    ahead = f"P-SBLLL higher by, {LEARNT}, {SHORT:,} steps, "
    labels = {"gap": AS_PUBLISHED, "equal": HEARD, "once": f"{HEARD}, each cell once"}
    shown = {name: found.get(ahead + label) for name, label in labels.items()}
    told = {name: signed(value) for name, value in shown.items() if isinstance(value, Estimate)}
    return words.format(steps=SHORT, **told) if len(told) == len(labels) else ""


def _longer(rows: Rows, words: str) -> str:
    """What the horizon does to the step at which BLLL settles."""
    steps = {
        part: row["settles"].mean
        for part in ("model", "four")
        for row in rows.get(part, ())
        if row["algorithm"] == BLLL and "settles" in row
    }
    if len(steps) < 2 or steps["four"] <= steps["model"]:
        return ""
    told = {"later": f"{steps['four']:,.0f}", "sooner": f"{steps['model']:,.0f}"}
    return words.format(long=LEARNING, short=SHORT, **told)


def _match(rows: Rows, words: str) -> str:
    """Which temperature is nearest to QL's published worth, on the seeds for tuning, and which to its step."""
    printed = published()["worth"]["ql"]
    found = {
        float(row["algorithm"].rsplit("= ", 1)[1]): row
        for row in rows.get("learners", ())
        if row["algorithm"].startswith("QL") and "settles" in row
    }
    if not found:
        return ""
    tuned = [row["tau"] for row in rows.get("temperatures", ()) if row["nearest"]]
    worth = tuned[0] if tuned else min(found, key=lambda tau: abs(found[tau]["worth"].mean - printed["mean"]))
    step = min(found, key=lambda tau: abs(found[tau]["settles"].mean - printed["settles"]))
    both = "" if worth == step else ". No temperature is nearest to both; the table has each number beside its own"
    return words.format(worth=worth, step=step, both=both)


def _assumption_4(words: str) -> str:
    """Which readings of Assumption 4 the game of the trees violates."""
    chosen = game("double-step")
    assert isinstance(chosen, NormalForm)
    payoffs = np.asarray(chosen.payoffs)
    one = readings.Games(potential(chosen)[None], payoffs[None], line=False)
    kept = {"printed": bool(np.ptp(payoffs, axis=0).max() == 0), "increase": bool(readings.increase(one)[0])}
    broken = [said for name, said in readings.WORDS_4.items() if not kept[name]]
    return words.format(broken=" and ".join(broken)) if broken else ""
