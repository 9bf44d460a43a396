"""A batch, or an exact analysis, in a few lines and as plain data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.engine import evaluate
from potentia.errors import NotPotentialGame, PotentiaError
from potentia.games import Coverage, Game
from potentia.kernel import memory
from potentia.kernel.files import whole_file
from potentia.rules import Rule

if TYPE_CHECKING:
    import xarray

    from potentia.engine.batch import Batch

_SHOWN = 20

# What the names mean, for people.
LABELS = {
    "potential_start": "potential at the start",
    "potential_end": "potential at the end",
    "potential_end_sd": "  standard deviation over seeds",
    "welfare_start": "welfare at the start",
    "welfare_end": "welfare at the end",
    "welfare_end_sd": "  standard deviation over seeds",
    "interrupted": "interrupted",
    "acceptance": "share of revisions that changed an action",
    "final_profile": "final profile",
    "commonest_final_profile": "commonest final profile",
    "commonest_share": "  its share of the runs",
    "final_action_shares": "final share of actions 0, 1, ...",
    "steps_per_second": "steps per second",
}


def summarise(game: Game, label: str, rule: Rule, data: Batch, seconds: float) -> dict[str, Any]:
    """Plain data for a table or for JSON, about the runs that were begun."""
    begun = data.final[:, 0] >= 0
    finals = data.final[begun].astype(np.int64)
    done = data.steps_done[begun].tolist()
    runs, steps = len(done), sum(done)
    seeds = [seed for seed, one in zip(data.seeds, begun, strict=True) if one]
    out: dict[str, Any] = {
        "game": label,
        "rule": rule.spec(),
        "seeds": seeds if runs <= _SHOWN else f"{seeds[0]}..{seeds[-1]}",
        "steps": max(done),
    }
    ends = _ends(game, data, begun)
    for name in ("potential", "welfare"):
        if name in data.scalars:
            last = np.array([end[name] for end in ends])
            out[f"{name}_start"] = float(data.scalars[name][begun, 0].mean())
            out[f"{name}_end"] = float(last.mean())
            if runs > 1:
                out[f"{name}_end_sd"] = float(last.std(ddof=1))
    revisions = int(data.revisions[begun].sum())
    out["acceptance"] = int(data.changes[begun].sum()) / revisions if revisions else float("nan")
    if game.num_players <= _SHOWN:
        profiles, counts = np.unique(finals, axis=0, return_counts=True)
        common = int(counts.argmax())
        out["final_profile" if runs == 1 else "commonest_final_profile"] = profiles[common].tolist()
        if runs > 1:
            out["commonest_share"] = float(counts[common] / runs)
    else:
        shares = np.bincount(finals.ravel(), minlength=int(game.sizes.max())) / finals.size
        out["final_action_shares"] = [round(float(s), 4) for s in shares[:_SHOWN]]
    out["seconds"] = round(seconds, 3)
    out["steps_per_second"] = float(steps / seconds) if seconds > 0 else float("nan")
    out["interrupted"] = data.interrupted
    return out


def _ends(game: Game, data: Batch, begun: Any) -> list[dict[str, float]]:
    """What the last profiles are worth: fields may have drifted, robots may be gone."""
    done, finals = data.steps_done[begun].tolist(), data.final[begun].astype(np.int64)
    if not isinstance(game, Coverage):
        return [evaluate(game, final) for final in finals]
    if data.until is None:
        then = {n: game.at(n) for n in set(done)}
        return [evaluate(then[n], final) for n, final in zip(done, finals, strict=True)]
    ends = []
    for n, final, until in zip(done, finals, data.until[begun], strict=True):
        there = (data.since <= n) & (n < until)
        ends.append(evaluate(game.at(n, there), final[there]) if there.any() else dict.fromkeys(data.scalars, 0.0))
    return ends


def write_netcdf(data: xarray.Dataset, path: Path) -> None:
    """Write a dataset whole or not at all, in the netCDF dialect that needs nothing but SciPy.

    That dialect has no 64-bit integers: they are written with 32 bits where they fit, else as doubles, which are exact
    up to 2^53. Bytes of a file name that are no text are written out.
    """
    # 64-bit integers are copied, then everything in the file's byte order, then one variable at a time as bytes
    sizes = [array.nbytes * (2 if array.dtype == np.int64 else 1) for array in data.variables.values()]
    memory.require(sum(sizes) + max(sizes, default=0), f"writing {path}", "record less, or use a larger every")
    wide = {name: _narrow(array) for name, array in data.variables.items() if array.dtype == np.int64}
    texts = {
        name: entry.encode("utf-8", "backslashreplace").decode("utf-8")
        for name, entry in data.attrs.items()
        if isinstance(entry, str)
    }
    with whole_file(path) as temporary:
        data.assign(wide).assign_attrs(texts).to_netcdf(temporary, engine="scipy")


def _narrow(array: Any) -> Any:
    most = np.iinfo(np.int32)
    fits = array.size == 0 or (array.min() >= most.min and array.max() <= most.max)
    return array.astype(np.int32 if fits else np.float64)


def summarise_stability(game: Any, label: str, rule: Any, result: Any) -> dict[str, Any]:
    """What the exact analysis found, as plain data: profiles by stochastic potential, the most visited first."""
    from potentia.analysis import chain, potential, pure_nash
    from potentia.analysis.tables import at_places

    by_profile = result.by_profile
    trouble, law, method = None, np.full(by_profile.limit.size, np.nan), None
    try:
        solved = chain(game, rule)
        at_tau = solved.solve()
        law, method = solved.over_profiles(at_tau.law), at_tau.method
    except PotentiaError as error:
        trouble = str(error)
    try:
        phi = potential(game).reshape(-1)
        if game.has_potential:  # on the game's own scale; by itself Φ is 0 at the first profile
            phi = phi + game.potential(np.zeros(game.num_players, np.int64))
    except NotPotentialGame:
        phi = None
    nash = {tuple(p) for p in pure_nash(game).tolist()}
    table = result.resistances()
    rows = []
    every = at_places(game, np.arange(by_profile.limit.size))
    for state in np.lexsort((-by_profile.limit, by_profile.stochastic_potential)):
        profile = every[state].tolist()
        rows.append(
            {
                "profile": profile,
                "stable": bool(by_profile.stable[state]),
                "limit": float(by_profile.limit[state]),
                "law": float(law[state]),
                "stochastic_potential": float(by_profile.stochastic_potential[state]),
                "potential": None if phi is None else float(phi[state]),
                "nash": tuple(profile) in nash,
            }
        )
    return {
        "game": label,
        "rule": rule.spec(),
        "method": result.method,
        "law_method": method,
        "law_trouble": trouble,
        "exact": result.exact,
        "tolerance": result.tolerance,
        "num_profiles": int(by_profile.limit.size),
        "num_states": int(result.limit.size),
        "num_stable": int(by_profile.stable.sum()),
        "num_recurrent_classes": len(result.classes),
        "num_transitions": int(table.exact.size),
        "num_differing_from_eq_12": None if table.differs is None else int(table.differs.sum()),
        "profiles": rows,
    }
