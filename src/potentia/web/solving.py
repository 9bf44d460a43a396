"""What the game stage asks about a small game and a rule, answered by the exact analysis as plain data.

A message is a dict with ``ask``: "solve", "tree", "portrait", "trajectory", "several" of these, or "state". The
laboratory's page answers the same messages about 2×2 games in JavaScript (``web/game/solver``); the tests compare the
two. Profiles are numbers in C order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from potentia.analysis import audit, chain, dynamics, pure_nash, stability
from potentia.analysis.auditing import Audit, maximisers
from potentia.analysis.chains.markov import Chain
from potentia.analysis.chains.ways import cheapest_way
from potentia.analysis.portraits import direction_field, nash_shares
from potentia.analysis.potentials import worst_cycle
from potentia.analysis.stochastic_stability import Resistances, Stability
from potentia.analysis.tables import payoff_tensor, place_of, profile_at
from potentia.errors import InvalidInput, NotConverged, NotIrreducible, TooLarge
from potentia.games import Game, NormalForm
from potentia.games import game as game_by_name
from potentia.kernel.arrays import Floats
from potentia.kernel.checks import Integer, OneOf, Real
from potentia.rules import Rule, rule, rule_from
from potentia.rules.base import Axes
from potentia.rules.composed import parameters_at
from potentia.rules.words import rule_text
from potentia.web.starting import game_state, is_free, rule_state

MOST_PROFILES = 256
_TOLD = 1_000_000  # profiles, beyond which their number is a row of digits
MOST_PLAYERS = 8
MOST_EDGES = 2000  # transitions, the likeliest
_MOST_POINTS = 2001
_MOST_QUESTIONS = 20  # of one message
_ORDER = Integer(1, 2)


def answer(message: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a message of the game stage, ready for JSON; errors say which field is wrong."""
    OneOf(*_ANSWERS).of(message.get("ask"), "ask", InvalidInput)
    return _ANSWERS[message["ask"]](message)


def game_of(message: Mapping[str, Any]) -> Game:
    """The game of a message: ``payoffs`` of shape (N, A_1, ..., A_N), or ``game`` with a name or payoffs."""
    if ("payoffs" in message) == ("game" in message):
        raise InvalidInput("give payoffs or game, one of them", "payoffs")
    if "payoffs" in message:
        return _small(NormalForm(message["payoffs"]))
    given = message["game"]
    if isinstance(given, Mapping) and "payoffs" in given:
        return _small(NormalForm(given["payoffs"], moves=given.get("moves")))
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise InvalidInput(f"must have a name and parameters, or payoffs, got {given!r:.60}", "game", given)
    return _small(game_by_name(given["name"], **{name: value for name, value in given.items() if name != "name"}))


def rule_of(message: Mapping[str, Any]) -> Rule:
    """The rule of a message: ``rule``, words and parameters of the three axes; ``tau`` and ``revision`` beside it."""
    given = message.get("rule")
    if not isinstance(given, Mapping):
        raise InvalidInput(f"must name who, considers and chooses, got {given!r:.60}", "rule", given)
    words = {axis: given[axis] for axis in Axes._fields if isinstance(given.get(axis), str)}
    known = parameters_at(words)  # a control that the rule has no use for may be left as it is
    beside = {name: message[name] for name in ("tau", "revision") if name in message and name in known}
    return rule(**{name: value for name, value in given.items() if name in known}, **beside)


def _small(game: Game) -> Game:
    if game.num_profiles > MOST_PROFILES or game.num_players > MOST_PLAYERS:
        many = f"{game.num_profiles:,}" if game.num_profiles <= _TOLD else f"more than {_TOLD:,}"
        size = f"{game.num_players:,} players and {many} profiles"
        most = f"the game stage shows up to {MOST_PLAYERS} players and {MOST_PROFILES} profiles"
        raise TooLarge(f"{most}, got {size}; potentia stability and potentia audit take larger games")
    return game


# Law, stable set, audit ----------------------------------------------------------------------------------


def solve(game: Game, rule: Rule) -> dict[str, Any]:
    """The long run of a rule on a small game, its limit as τ → 0, and the audit with counterexamples.

    Returns
    -------
    dict
        ``law`` over profiles (None where the chain falls apart into several ``classes``), ``edges`` of its graph with
        probability and resistance, ``stability`` (None with ``trouble`` in words), ``potential``, ``maximisers``,
        ``nash``, ``promise`` (are exactly the maximisers stable?), ``audit``, and ``counterexamples``, each a ``path``
        of profiles and a ``step`` that says who woke, tried and stayed.
    """
    _small(game)
    solved = chain(game, rule)
    report = audit(game, rule)
    found, phi = report.stability, report.potential
    best = None if phi is None else maximisers(phi).tolist()
    table = None if found is None else found.resistances()
    payoffs = payoff_tensor(game)
    return {
        "players": game.num_players,
        "actions": list(game.num_actions),
        "payoffs": payoffs.reshape(game.num_players, -1).tolist(),
        "free": is_free(game),
        "rule": {"name": rule.name, "noise": hasattr(rule, "tau"), "text": rule_text(rule.spec())},
        "law": _law(solved),
        "classes": [part.tolist() for part in solved.classes],
        "edges": _edges(solved, table),
        "stability": None if found is None else _stable(found),
        "trouble": "" if found is not None else report.summary[0].removeprefix("Stable states: "),
        "potential": None if phi is None else phi.reshape(-1).tolist(),
        "maximisers": best,
        "nash": [place_of(game, row) for row in pure_nash(game)],
        "promise": _promise(found, best),
        "audit": _audit(report),
        "counterexamples": _counterexamples(report, best, table, payoffs, solved.tau),
    }


def _law(solved: Chain) -> list[float] | None:
    try:
        return solved.over_profiles(solved.stationary()).tolist()
    except (NotIrreducible, NotConverged):
        return None


def _stable(found: Stability) -> dict[str, Any]:
    costs = found.stochastic_potential
    return {
        "stable": np.flatnonzero(found.stable).tolist(),
        "limit": found.limit.tolist(),
        "potentials": [float(cost) if np.isfinite(cost) else None for cost in costs],
    }


def _edges(solved: Chain, table: Resistances | None) -> dict[str, Any]:
    """The likeliest transitions between different profiles."""
    entries = solved.matrix.tocoo()
    rows, columns = entries.coords
    moving = np.flatnonzero(rows != columns)
    kept = moving[np.argsort(-entries.data[moving], kind="stable")[:MOST_EDGES]]
    kept = kept[np.lexsort((columns[kept], rows[kept]))]
    costs = {}
    if table is not None:
        costs = dict(
            zip(zip(table.sources.tolist(), table.targets.tolist(), strict=True), table.exact.tolist(), strict=True)
        )
    pairs = list(zip(rows[kept].tolist(), columns[kept].tolist(), strict=True))
    return {
        "from": [a for a, _ in pairs],
        "to": [b for _, b in pairs],
        "probability": entries.data[kept].tolist(),
        "resistance": [costs.get(pair) for pair in pairs],
        "left_off": int(moving.size - kept.size),
    }


def _promise(found: Stability | None, best: list[int] | None) -> dict[str, Any] | None:
    """Whether exactly the potential maximisers are stable, whatever a theorem says about it."""
    if found is None or best is None:
        return None
    stable = np.flatnonzero(found.stable).tolist()
    more, missed = [k for k in stable if k not in best], [k for k in best if k not in stable]
    return {"kept": not more and not missed, "more": more, "missed": missed}


def _audit(report: Audit) -> dict[str, Any]:
    told = report.to_dict()
    findings = [one.to_dict() | {"verdict": one.verdict} for one in report.findings]
    rows = [row for row in told["hypotheses"] if row["holds"] is not None]
    return {"rows": rows, "findings": findings, "summary": told["summary"]}


# Counterexamples -----------------------------------------------------------------------------------------


def _counterexamples(
    report: Audit, best: list[int] | None, table: Resistances | None, payoffs: Floats, tau: float
) -> dict[str, Any]:
    game, rule, found = report.game, report.rule, report.stability
    out: dict[str, Any] = {}

    def step(source: int, target: int) -> dict[str, Any]:
        way = cheapest_way(game, rule, source, target, tau)
        told = way._asdict()
        return {"from": told.pop("source"), "to": told.pop("target"), **told, "words": way.sentences(game)}

    promise = _promise(found, best)
    if promise and found and best and table and not promise["kept"] and rule.point() is not None:
        start = (promise["missed"] or best)[0]
        goals = promise["more"] or np.flatnonzero(found.stable).tolist()
        goal = goals[0]
        for other in goals:
            goal = other if found.limit[other] > found.limit[goal] + 1e-9 else goal
        path = _cheapest_path(table, game.num_profiles, start, goal, found.tolerance)
        steps = [step(a, b) for a, b in itertools.pairwise(path)]
        together = [one for one in steps if len(one["awake"]) > 1]
        if steps:
            out["promise"] = {"path": path, "step": (together or steps)[0]}
    if table is not None and table.lemma is not None and table.differs is not None and table.differs.any():
        off = np.flatnonzero(table.differs)
        worst = off[int(np.argmax(table.lemma[off] - table.exact[off]))]
        ends = int(table.sources[worst]), int(table.targets[worst])
        out["lemma"] = {"path": list(ends), "step": step(*ends), "said": float(table.lemma[worst])}
    if report.potential is None:
        corners = [place_of(game, profile) for profile in worst_cycle(payoffs).profiles]
        out["cycle"] = {"path": [*corners, corners[0]], "step": None}
    return out


def _cheapest_path(table: Resistances, size: int, start: int, goal: int, tie: float) -> list[int]:
    """The path of least resistance; of several the shortest, then the first. None leads out of a transient profile."""
    paths: list[tuple[float, list[int]] | None] = [None] * size
    paths[start] = (0.0, [start])
    edges = list(zip(table.sources.tolist(), table.targets.tolist(), table.exact.tolist(), strict=True))
    changed = True
    while changed:
        changed = False
        for source, target, cost in edges:
            known, have = paths[source], paths[target]
            if known is None or target in known[1]:
                continue
            new = known[0] + cost, [*known[1], target]
            if (
                have is None
                or new[0] < have[0] - tie
                or (new[0] <= have[0] + tie and (len(new[1]), new[1]) < (len(have[1]), have[1]))
            ):
                paths[target], changed = new, True
    found = paths[goal]
    return [] if found is None else found[1]


# Trees and flows -----------------------------------------------------------------------------------------


def tree(game: Game, rule: Rule, root: int) -> dict[str, Any]:
    """A least-resistance tree to the profile with this number: the next profile of each, -1 at the root."""
    _small(game)
    Integer(0, game.num_profiles - 1).of(root, "root", InvalidInput)
    found = stability(game, rule).tree(profile_at(game, root))
    return {
        "root": found.root,
        "parent": found.parent.tolist(),
        "resistance": found.resistance.tolist(),
        "total": found.total,
    }


def portrait(game: Game, *, tau: float, discount: float, order: int, grid: int = 12) -> dict[str, Any]:
    """The direction field (order 1) and the equilibria of a 2×2 game, as shares of first actions."""
    equilibria = nash_shares(game).tolist()
    if _ORDER.of(order, "order", InvalidInput) > 1:
        return {"field": None, "equilibria": equilibria}
    found = direction_field(game, tau=tau, discount=discount, grid=grid)
    return {
        "field": {name: getattr(found, name).reshape(-1).tolist() for name in found._fields},
        "equilibria": equilibria,
    }


def trajectory(
    game: Game, start: Any, *, tau: float, discount: float, order: int, horizon: float, points: int = 301
) -> dict[str, Any]:
    """The strategies of all players over time, from a start inside their simplices."""
    _small(game)
    _ORDER.of(order, "order", InvalidInput)
    Integer(2, _MOST_POINTS).of(points, "points", InvalidInput)
    options: dict[str, Any] = {"tau": tau, "discount": discount, "order": order, "horizon": horizon, "points": points}
    found = dynamics(game, start=start, **options)
    return {"times": found.times.tolist(), "strategies": [shares.tolist() for shares in found.strategies]}


def _flow(message: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """These of the parameters of the dynamics."""
    known = {"tau": Real(above=0.0), "discount": Real(least=0.0), "horizon": Real(above=0.0, most=1e4)}
    for name in ("order", *known):
        if name in names and name not in message:
            raise InvalidInput("is missing", name)
    for name, check in known.items():
        if name in names:
            check.of(message[name], name, InvalidInput)
    return {name: message[name] for name in names if name in message}


def _several(message: Mapping[str, Any]) -> dict[str, Any]:
    given = message.get("questions")
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        raise InvalidInput(f"must be a list of messages, got {given!r:.60}", "questions", given)
    if len(given) > _MOST_QUESTIONS or any(one.get("ask") == "several" for one in given):
        raise InvalidInput(f"must be at most {_MOST_QUESTIONS} messages, none of them several", "questions", len(given))
    return {"answers": [answer(one) for one in given]}


def _state(message: Mapping[str, Any]) -> dict[str, Any]:
    """How the stage opens with a game and a rule, such as ``{"rule": "lll", "tau": 0.1}``."""
    game = game_of(message)
    first = game_state(game) if is_free(game) else {"game": dict(message["game"])}
    return first | rule_state(rule_from(message.get("rule")))


_FLOW = ("tau", "discount", "order")
_ANSWERS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "solve": lambda message: solve(game_of(message), rule_of(message)),
    "tree": lambda message: tree(game_of(message), rule_of(message), message.get("root")),  # type: ignore[arg-type]
    "portrait": lambda message: portrait(game_of(message), **_flow(message, *_FLOW, "grid")),
    "trajectory": lambda message: trajectory(
        game_of(message), message.get("start"), **_flow(message, *_FLOW, "horizon", "points")
    ),
    "several": _several,
    "state": _state,
}
