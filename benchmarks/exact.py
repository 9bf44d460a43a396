"""Exact long-run analysis: stochastic stability, and stationary laws without a closed form.

Games have two actions a player and random payoffs, independent for each player and profile, so that there is
no potential and no theorem shortens the work; that is checked. They come in two kinds that cost differently:
with a strict equilibrium the recurrent classes are single states, without one the only class is large, mostly
everything. Half of the games are of either kind, and the slowest game counts. Of each game the best repetition
does; the clock runs from the game, through its chain, to the stochastic potentials of all states, the stable
ones and the limit law. Payoffs are standard normal, or integers from 0 to 4, which are full of ties.

QuantEcon
    ``gth_solve`` is elimination on a full matrix. It gets the transition matrix at τ = 0.3 for nothing, and
    finds the law at that one temperature: what our chain solves, with the same result, which is checked.
    Stability is another question (the law as τ → 0), of the same chain; both stand beside it.
networkx
    ``minimum_spanning_arborescence``, given the graph, finds the least tree to one root, where ours finds them
    for all; its tree must cost what ours says. It is slow with a strict equilibrium and quick without.

A stationary law over 2^20 states stands for what fits into a small machine. Everything runs in fresh processes:
this module, run as a program.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import potentia
from benchmarks.report import Effort, Report, Row
from benchmarks.scaling import peak_bytes
from potentia.analysis import Stability, chain, stability
from potentia.analysis.chains import elimination
from potentia.errors import NotConverged
from potentia.games import NormalForm
from potentia.studies.timing import SEED, Contender, fastest, interleaved, timed

TAU = 0.3
PAYOFFS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], NDArray[Any]]] = {
    "normal": lambda random, shape: random.standard_normal(shape),
    "integer": lambda random, shape: random.integers(5, size=shape),
}


class Size(NamedTuple):
    """How many players, the seconds asked for, how many games of either kind and how often at most."""

    players: int
    most_seconds: float | None
    games: int = 4
    repetitions: int = 100


SIZES = (Size(8, 0.02), Size(10, 0.2), Size(12, 3.0), Size(16, None, games=2, repetitions=2))
TREE = 8  # players
TREE_REPETITIONS = 2
WARM = 12  # players of a game that is solved with machine code
# players, how many times the speed of dense elimination is asked for, and how often at most
ELIMINATIONS = ((10, None, 100), (12, 5, 1))
LARGE = 20
LARGE_CHILDREN = 2
LARGE_SECONDS, LARGE_BYTES, LARGE_RESIDUAL = 60.0, 4e9, 1e-10


# In a fresh process -----------------------------------------------------------------------------------


def measure_small(repetitions: int) -> dict[str, Any]:
    """Stability at every size, then its slowest games beside the contenders."""
    for payoffs in PAYOFFS:
        for game in _games(WARM, payoffs, 1).values():
            _stability(game)()  # compiles; a smaller one would be solved before
    found: list[dict[str, Any]] = []
    ranked: dict[int, list[NormalForm]] = {}  # with normal payoffs, the slowest first
    for size in SIZES:
        for payoffs in PAYOFFS:
            games = _games(size.players, payoffs, size.games)
            contenders = {str(seed): _stability(game) for seed, game in games.items()}
            times = interleaved(contenders, min(repetitions, size.repetitions))
            strict = {seed: _has_strict_equilibrium(game.payoffs) for seed, game in games.items()}
            found.append({"players": size.players, "payoffs": payoffs, "strict_equilibrium": strict, "times": times})
            if payoffs == "normal":
                slowest = sorted(games, key=lambda seed: -min(times[str(seed)]))
                ranked[size.players] = [games[seed] for seed in slowest]
    return {
        "stability": found,
        "eliminations": [_beside_elimination(ranked[n][0], min(repetitions, most)) for n, _, most in ELIMINATIONS],
        "trees": [
            _beside_networkx(
                next(game for game in ranked[TREE] if _has_strict_equilibrium(game.payoffs) is strict),
                min(repetitions, TREE_REPETITIONS),
            )
            for strict in (True, False)
        ],
    }


def measure_large() -> dict[str, Any]:
    """The stationary law of a large chain, once."""
    lll = potentia.rule("lll", tau=TAU)
    chain(_uniform_game(WARM), lll).solve(method="gmres")  # compiles
    game = _uniform_game(LARGE)
    laws: list[Any] = []
    try:
        seconds = timed(lambda: laws.append(chain(game, lll).solve(tolerance=LARGE_RESIDUAL)))
    except NotConverged as error:
        return {"failure": str(error)}
    _require_no_theorem(laws[0].method)
    return {"seconds": seconds, "residual": laws[0].residual, "method": laws[0].method, "peak": peak_bytes()}


def _games(players: int, payoffs: str, each: int) -> dict[int, NormalForm]:
    """Games by their seeds: the first ones with a strict equilibrium, and as many without."""
    games: dict[int, NormalForm] = {}
    wanted = {True: each, False: each}
    seed = SEED
    while any(wanted.values()):
        array = PAYOFFS[payoffs](np.random.default_rng(seed), (players, *[2] * players))
        kind = _has_strict_equilibrium(array)
        if wanted[kind]:
            wanted[kind] -= 1
            games[seed] = NormalForm(array)
        seed += 1
    return games


def _has_strict_equilibrium(payoffs: NDArray[Any]) -> bool:
    # with two actions, the payoffs of the other one are the mirror image
    return bool(np.all([mine > np.flip(mine, axis=i) for i, mine in enumerate(payoffs)], axis=0).any())


def _uniform_game(players: int) -> NormalForm:
    return NormalForm(np.random.default_rng(SEED).random((players, *[2] * players)))


def _stability(game: NormalForm) -> Contender:
    rule = potentia.rule("blll", tau=TAU)

    def once() -> float:
        found: list[Stability] = []
        seconds = timed(lambda: found.append(stability(game, rule)))
        _require_no_theorem(found[0].method)
        return seconds

    return once


def _require_no_theorem(method: str) -> None:
    if "closed form" in method:
        raise RuntimeError(f"a theorem shortened the work: {method}")


def _beside_elimination(game: NormalForm, repetitions: int) -> dict[str, Any]:
    """Stability and the law at TAU, beside elimination on the full matrix, which is made before the clock starts."""
    blll = potentia.rule("blll", tau=TAU)
    solved = chain(game, blll)
    law, full = solved.stationary(), solved.matrix.toarray()

    def solving() -> None:
        chain(game, blll).solve()

    contenders = {"stability": _stability(game), "law": lambda: timed(solving), "dense": _our_gth(full, law)}
    missing = None
    try:
        contenders["QuantEcon"] = _quantecon(full, law)
    except ImportError as error:
        missing = str(error)
    times = interleaved(contenders, repetitions)
    return {"players": game.num_players, "times": times, "missing": missing}


def _our_gth(full: NDArray[np.float64], law: NDArray[np.float64]) -> Contender:
    elimination.gth_entry(np.full((2, 2), 0.5), np.empty(2))  # compiles

    def once() -> float:
        copy, found = full.copy(), np.empty(law.size)
        seconds = timed(lambda: elimination.gth_entry(copy, found))
        _require_equal("our dense elimination", law, found / found.sum())
        return seconds

    return once


def _quantecon(full: NDArray[np.float64], law: NDArray[np.float64]) -> Contender:
    from quantecon.markov import gth_solve

    gth_solve(np.full((2, 2), 0.5), overwrite=True)  # compiles

    def once() -> float:
        copy = full.copy()
        found: list[NDArray[np.float64]] = []
        seconds = timed(lambda: found.append(gth_solve(copy, overwrite=True)))
        _require_equal("QuantEcon", law, found[0])
        return seconds

    return once


def _beside_networkx(game: NormalForm, repetitions: int) -> dict[str, Any]:
    """All least trees, beside networkx's one."""
    import networkx

    result = stability(game, potentia.rule("blll", tau=TAU))
    edges = result.resistances()
    root = int(result.stochastic_potential.argmin())
    # networkx's trees lead away from the root, and it finds the best root unless nothing leads to ours
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from(
        (int(target), int(source), float(r))
        for source, target, r in zip(edges.sources, edges.targets, edges.exact, strict=True)
        if source != root
    )

    def once() -> float:
        found: list[Any] = []
        seconds = timed(lambda: found.append(networkx.minimum_spanning_arborescence(graph)))
        _require_equal("networkx", result.stochastic_potential[root], found[0].size(weight="weight"))
        return seconds

    return {
        "players": game.num_players,
        "strict_equilibrium": _has_strict_equilibrium(game.payoffs),
        "times": interleaved({"stability": _stability(game), "networkx": once}, repetitions),
    }


def _require_equal(name: str, expected: Any, found: Any) -> None:
    if not np.allclose(expected, found, rtol=1e-6, atol=1e-9):
        raise RuntimeError(f"{name} does not find the same: expected {expected}, got {found}")


# The report -------------------------------------------------------------------------------------------


def compare(effort: Effort, report: Report) -> None:
    """Add the lines of this comparison to the report."""
    small = _in_a_fresh_process("small", effort.repetitions)
    report.rows += [_stability_row(found) for found in small["stability"]]
    for (_, target, _), found in zip(ELIMINATIONS, small["eliminations"], strict=True):
        report.rows += _elimination_rows(found, target)
    missing = {found["missing"] for found in small["eliminations"]} - {None}
    report.notes += [f"QuantEcon's elimination skipped ({why})" for why in missing]
    report.rows += [_tree_row(found) for found in small["trees"]]
    large = [_in_a_fresh_process("large", 1) for _ in range(min(effort.children, LARGE_CHILDREN))]
    report.rows += _large_rows(large)


def _stability_row(found: dict[str, Any]) -> Row:
    best = fastest(found["times"])
    worst = max(best.values())
    most = next(size.most_seconds for size in SIZES if size.players == found["players"])
    return Row(
        f"stability, BLLL, {_states(found)}, {found['payoffs']} payoffs, slowest of {len(best)} games",
        _seconds(worst),
        "–",
        target="–" if most is None else f"≤ {most:g} s",
        met=None if most is None else worst <= most,
        numbers=found | {"seconds": worst},
    )


def _elimination_rows(found: dict[str, Any], target: int | None) -> list[Row]:
    best = fastest(found["times"])
    once = ", once" if len(found["times"]["dense"]) == 1 else ""
    rows = []
    for ours, peer in (("stability", "QuantEcon"), ("stability", "dense"), ("law", "QuantEcon")):
        what = f"{'stability' if ours == 'stability' else f'law at τ = {TAU}'}, BLLL, {_states(found)}"
        label = "our dense GTH" if peer == "dense" else "QuantEcon GTH"
        if peer not in best:
            rows.append(Row(what, _seconds(best[ours]), f"{label}: not measured", numbers=found))
            continue
        ratio = best[peer] / best[ours]
        asked = target is not None and peer == "QuantEcon"
        rows.append(
            Row(
                what,
                _seconds(best[ours]),
                f"{label}, given P{once}: {_seconds(best[peer])}",
                _times(ratio),
                f"≥ {target}×" if asked else "–",
                ratio >= target if asked else None,
                found | {"ratio": ratio},
            )
        )
    return rows


def _tree_row(found: dict[str, Any]) -> Row:
    best = fastest(found["times"])
    ratio = best["networkx"] / best["stability"]
    return Row(
        f"stability, BLLL, {_states(found)}, {'a' if found['strict_equilibrium'] else 'no'} strict equilibrium",
        _seconds(best["stability"]),
        f"networkx, the tree to one root: {_seconds(best['networkx'])}",
        _times(ratio),
        numbers=found | {"ratio": ratio},
    )


def _large_rows(children: list[dict[str, Any]]) -> list[Row]:
    what = f"law at τ = {TAU}, LLL, {2**LARGE:,} states"
    failures = [child["failure"] for child in children if "failure" in child]
    if failures:
        return [Row(what, "not solved", "–", "–", "solved", False, {"failures": failures})]
    seconds = min(child["seconds"] for child in children)
    residual = max(child["residual"] for child in children)
    peak = max(child["peak"] for child in children)
    return [
        Row(
            what,
            _seconds(seconds),
            "–",
            target=f"< {LARGE_SECONDS:g} s",
            met=seconds < LARGE_SECONDS,
            numbers={"seconds": seconds, "children": children},
        ),
        Row(
            f"residual, {what}",
            f"{residual:.1e}",
            "–",
            target=f"≤ {LARGE_RESIDUAL:.0e}",
            met=residual <= LARGE_RESIDUAL,
            numbers={"residual": residual},
        ),
        Row(
            f"peak memory, {what}",
            f"{peak / 1e9:.2f} GB",
            "–",
            target=f"< {LARGE_BYTES / 1e9:g} GB",
            met=peak < LARGE_BYTES,
            numbers={"bytes": int(peak)},
        ),
    ]


def _states(found: dict[str, Any]) -> str:
    return f"{2 ** found['players']:,} states"


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 10 else f"{value:.2g} s"


def _times(ratio: float) -> str:
    return f"{ratio:.0f}×" if ratio >= 10 else f"{ratio:.1f}×"


def _in_a_fresh_process(kind: str, repetitions: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.exact", kind, str(repetitions)],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.exact", description="Print the numbers; python -m benchmarks --only exact reports."
    )
    parser.add_argument("kind", choices=("small", "large"))
    parser.add_argument("repetitions", type=int, nargs="?", default=Effort().repetitions)
    arguments = parser.parse_args()
    print(json.dumps(measure_small(arguments.repetitions) if arguments.kind == "small" else measure_large()))
