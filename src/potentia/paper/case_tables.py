"""The case study as rows of tables: what each algorithm came to, and what was published for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from potentia.games.world import published
from potentia.paper.case_study import CaseStudy, covered
from potentia.paper.reinforcement_study import ql, targets_held
from potentia.statistics.estimates import estimate, share_of
from potentia.studies.coverage_ends import settled

if TYPE_CHECKING:
    import xarray

PUBLISHED: dict[str, dict[str, str]] = {  # every part of the study, and what was published for whom in it
    "model": {"BLLL": "blll", "P-SBLLL": "p-sblll"},
    "known": {},
    "lasting": {},
    "heard": {},
    "heard_long": {},
    "literal": {},
    "mixtures": {"EM_N": "em_known_components", "EM_SM": "em_split_merge"},
    "learners": {"SOQL": "soql", "QL": "ql"},
    "four": {"BLLL": "blll", "P-SBLLL": "p-sblll", "SOQL": "soql", "QL": "ql"},
}


def tables(study: CaseStudy) -> dict[str, list[dict[str, Any]]]:
    """Rows by part of the study, one for each algorithm, and ``temperatures``: QL on the seeds for tuning.

    Means over runs are :class:`Estimate`; ``first`` is the mean over as many runs as were published; published entries
    are None where nothing was. ``settles`` is the step from which a run has settled. A part that was not played, as
    nothing else was asked for, has no table.
    """
    played = vars(study)
    out = {part: _rows(study, played[part], names) for part, names in PUBLISHED.items() if part in played}
    if "tuning" not in played:
        return out
    out["temperatures"] = [
        {"tau": tau, "worth": worth, "best": tau == study.best_tau, "nearest": tau == study.nearest_tau}
        for tau, worth in study.tuning.items()
    ]
    return out


def _rows(study: CaseStudy, batches: Mapping[str, xarray.Dataset], names: Mapping[str, str]) -> list[dict[str, Any]]:
    number, rows = len(study.game.world.targets), []
    for name, data in batches.items():
        # Q-learning was published once, at a temperature that was not
        printed = published()["worth"].get(names.get("QL" if name.startswith("QL") else name, ""), {})
        worth, held = covered(data), targets_held(study.game, data)
        first = min(int(printed.get("runs", study.scale.as_printed)), worth.size)
        rows.append(
            {
                "algorithm": name,
                "runs": int(worth.size),
                "steps": int(data.time.values[-1]),
                "worth": estimate(worth),
                "first": float(worth[:first].mean()),
                "first_runs": first,
                "low": float(worth.min()),
                "high": float(worth.max()),
                **{f"published_{end}": printed.get(end) for end in ("mean", "low", "high")},
                "settles": estimate(settled(data)),
                "published_settles": printed.get("settles"),
                "union": estimate(covered(data, "worth_union")),
                "share": estimate(covered(data, "worth_union") / study.optimum.bound),
                "targets_found": estimate(data.targets_found.values[:, -1]),
                "targets_held": estimate(held),
                "all_held": share_of(int((held == number).sum()), held.size),
            }
        )
    return _beside_one(rows, study.nearest_tau if "tuning" in vars(study) else None)


def _beside_one(rows: list[dict[str, Any]], tau: float | None) -> list[dict[str, Any]]:
    """Published numbers of Q-learning beside one temperature each: the worth beside ``tau``, which is nearest to it on
    the seeds for tuning, the step beside the temperature that is nearest to it here."""
    those = [row for row in rows if row["algorithm"].startswith("QL") and row["published_mean"] is not None]
    if not those:
        return rows
    settles = min(those, key=lambda row: abs(row["settles"].mean - row["published_settles"]))
    nearest = min(those, key=lambda row: abs(row["worth"].mean - row["published_mean"]))
    worth = next((row for row in those if tau is not None and row["algorithm"] == ql(tau)), nearest)
    for row in those:
        if row is not worth:
            row.update(dict.fromkeys(("published_mean", "published_low", "published_high")))
        if row is not settles:
            row["published_settles"] = None
    return rows
