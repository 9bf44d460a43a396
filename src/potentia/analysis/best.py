"""The best there is: the profile of the largest potential or welfare, with a bound that says how sure that is.

Each kind of game has its way, by which ``method`` of the result goes:

=============== ================================================================================================
``separable``   each player takes its best action
``elimination`` games on graphs, and those that say who interacts (:mod:`~potentia.analysis.neighbourhoods`): bucket
                elimination (:mod:`~potentia.analysis.graphical`)
``search``      the same, where the tables would be too large: a bound by mini-buckets, and a search below it
``uniform``     coordination games in which it is best on every edge that all play the same
``flow``        congestion games of single resources whose costs rise: a flow of least cost
``milp``        what is left of both: HiGHS
``enumeration`` all other games: every profile
=============== ================================================================================================

Coverage games have their own (:mod:`~potentia.analysis.placement`).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from potentia.analysis import placement
from potentia.analysis.enumeration import best_listed, can_be_listed
from potentia.analysis.graphical import Found, edge_functions, maximise, total, uniform_profile
from potentia.analysis.loads import best_loads, worth
from potentia.analysis.neighbourhoods import Local, says_who_interacts, some_actions
from potentia.analysis.placement import Optimum
from potentia.analysis.tables import require_game
from potentia.errors import InvalidGame, InvalidInput, TooLarge
from potentia.games import Congestion, Coordination, Coverage, Game, NormalForm, Separable
from potentia.kernel.arrays import Ints, frozen
from potentia.kernel.checks import OneOf, Real
from potentia.kernel.reprs import brief

OBJECTIVES = ("potential", "welfare")
_FEW = 2**12  # profiles that are all looked at, whoever interacts

HOW = {
    "separable": "each player's best action",
    "elimination": "bucket elimination",
    "search": "mini-buckets and search",
    "uniform": "a bound that is reached",
    "flow": "a flow of least cost",
    "milp": "HiGHS",
    "enumeration": "looking at every profile",
}


@dataclass(frozen=True, eq=False, repr=False)
class Best:
    """The result of :func:`optimum` for games other than coverage.

    By all methods but ``milp`` and ``search`` a proven gap is 0, and ``bound`` is ``value``; HiGHS proves up to its own
    tolerance, a relative 1e-6, which counts as 0.

    Attributes
    ----------
    objective : str
        "potential" or "welfare".
    value : float
        That of the profile.
    bound : float
        No profile has more.
    profile : array
        The best profile found, (N,).
    method : str
        How it was found.
    proven : bool
        Whether the gap is at most the one that was asked for.
    stopped : bool
        Whether the time limit struck.
    seconds : float
        How long it took.
    names : tuple of str or None
        Those of the actions in the profile, where they have some.

    Examples
    --------
    >>> best = pt.analysis.optimum(pt.game("ring", players=6))
    >>> best.objective, best.value, best.gap
    ('potential', 6.0, 0.0)
    """

    __repr__ = brief

    objective: str  # "potential" or "welfare"
    value: float  # of the profile
    bound: float  # no profile has more
    profile: Ints  # (N,)
    method: str
    proven: bool
    stopped: bool  # whether the time limit struck
    seconds: float
    names: tuple[str, ...] | None = None  # of the actions in the profile, where they have some

    @property
    def gap(self) -> float:
        """How far the bound is off: ``(bound - value) / max(|value|, 1)``."""
        return _gap(self.value, self.bound)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        told = {**vars(self), "gap": self.gap, "profile": self.profile.tolist()}
        return told | {"names": list(self.names)} if self.names else {k: v for k, v in told.items() if k != "names"}

    def _repr_html_(self) -> str:
        from potentia.analysis.showing import best_card

        return best_card(self)

    def __str__(self) -> str:
        number = "optimum" if self.proven else "best profile known"
        proof = "proven" if self.proven else f"no profile has more than {self.bound:.6g}, gap {self.gap:.2g}"
        if self.proven and self.gap:
            proof += f", gap {self.gap:.1g}"
        struck = "; the time limit struck" if self.stopped else ""
        return (
            f"{number}: {self.objective} {self.value:.6g} ({proof}; by {HOW[self.method]} in {self.seconds:.2g} s"
            f"{struck})\n  at profile {some_actions(self.profile, self.names)}"
        )


def _gap(value: float, bound: float) -> float:
    return max(0.0, bound - value) / max(abs(value), 1.0)


@overload
def optimum(  # type: ignore[overload-overlap]
    game: Coverage,
    *,
    objective: Literal["worth_union"] | None = None,
    method: str = "auto",
    time_limit: float = 60.0,
    gap: float = 1e-6,
    effort: float = math.inf,
) -> Optimum: ...


@overload
def optimum(
    game: Game,
    *,
    objective: str | None = None,
    method: str = "auto",
    time_limit: float = 60.0,
    gap: float = 1e-6,
    effort: float = math.inf,
) -> Best: ...


def optimum(
    game: Game,
    *,
    objective: str | None = None,
    method: str = "auto",
    time_limit: float = 60.0,
    gap: float = 1e-6,
    effort: float = math.inf,
) -> Best | Optimum:
    """The profile that is best, and how good it surely is.

    Separable games are solved at any size, coordination games where the graph is like a tree or small, congestion
    games as a flow or by HiGHS. A game of one's own is solved by looking at every profile, or, where it says who
    interacts, like a game on a graph: a proof then rests on that, which is tried at profiles that are drawn. Moves that
    a game restricts play no part: every profile counts.

    Parameters
    ----------
    game : Game
        Any game. Of a coverage game see :class:`Optimum`: its gap is relative to the value.
    objective : str, optional
        ``"potential"`` or ``"welfare"``, the sum of utilities; of coverage also ``"worth_union"``, the covered worth,
        each cell once. Left out, it is covered worth for coverage; else ``game.objective``, what runs record as
        ``best``: the potential where the game knows one, and welfare where it does not. A potential that the game
        does not know is computed, and is 0 at the first profile, as that of :func:`potential`.
    method : {"auto", "greedy", "milp"}
        For covered worth: ``"greedy"``: greedy, moves of single robots, and a bound by prices; ``"milp"``: HiGHS as
        well; ``"auto"``: HiGHS unless solved already, or more than 100,000 positions times cells in range are left
        after pruning. Other games take ``"auto"`` only.
    time_limit : float
        Seconds for HiGHS; a large program may overrun. Other work has no clock. Where it strikes, ``stopped`` says so,
        and value and bound may differ from run to run.
    gap : float
        The relative gap at which to stop, from 1e-9 to 1.
    effort : float
        For covered worth: how much work to do at most, counted without a clock, so that the same call gives the same
        answer; one is about a second.

    Returns
    -------
    Best or Optimum
        ``value``, ``bound``, ``gap``, ``profile``, ``proven``, ``method``, ``seconds``.

    Raises
    ------
    InvalidGame
        A utility depends on a player with whom, as the game says, there is no interaction.
    NotPotentialGame
        The potential is asked for, and there is none.
    TooLarge
        There are too many profiles to look at; the message says what works.

    Examples
    --------
    >>> best = pt.analysis.optimum(pt.game("prisoners-dilemma"), objective="welfare")
    >>> best.value, best.profile.tolist(), best.proven
    (6.0, [0, 0], True)
    """
    if not isinstance(game, Game):
        raise InvalidGame(f"optimum takes a game such as NormalForm(payoffs), got {game!r:.60}")
    known = (*OBJECTIVES, game.worth_most) if isinstance(game, Coverage) else OBJECTIVES
    usual = game.worth_most if isinstance(game, Coverage) else game.objective
    wanted = usual if objective is None else OneOf(*known).of(objective, "objective", InvalidInput)
    if wanted not in OBJECTIVES:
        return placement.optimum(game, method=method, time_limit=time_limit, gap=gap, effort=effort)  # type: ignore[arg-type]
    require_game(game)
    if method != "auto":
        raise InvalidInput(f'must be "auto" for {type(game).__name__} and {wanted}, got {method!r}', "method", method)
    if effort != math.inf:
        raise InvalidInput(f"is for covered worth, got {effort!r}", "effort", effort)
    time_limit = Real(least=0.0, finite=False).of(time_limit, "time_limit", InvalidInput)
    gap = Real(least=1e-9, most=1.0).of(gap, "gap", InvalidInput)
    begun = time.perf_counter()
    found, value = _solved(game, wanted, time_limit, gap)
    bound = max(value, found.bound)
    proven = _gap(value, bound) <= gap
    taken = time.perf_counter() - begun
    profile = frozen(found.profile, np.int64)
    called = game.action_names
    names = None if called is None else tuple(own[a] for own, a in zip(called, profile.tolist(), strict=True))
    return Best(wanted, value, bound, profile, found.method, proven, found.stopped, taken, names)


def _solved(game: Game, objective: str, time_limit: float, gap: float) -> tuple[Found, float]:
    """What is found, its bound one on the objective, and the value of its profile."""
    known = objective == "welfare" or game.has_potential
    if isinstance(game, Separable):
        profile = np.array([int(table.argmax()) for table in game.tables])
        return Found(profile, -np.inf, "separable"), game.welfare(profile)
    if isinstance(game, Congestion):
        found = best_loads(game, objective, time_limit, gap)
        return found, worth(game, objective, game.loads(found.profile))
    if isinstance(game, Coordination) and known:
        same = uniform_profile(game, objective)
        functions = edge_functions(game, objective)
        found = Found(same, -np.inf, "uniform") if same is not None else _maximise(game, functions, time_limit, gap)
        return found, total(functions, found.profile)
    if known and game.num_profiles > _FEW and not isinstance(game, NormalForm) and says_who_interacts(game):
        try:
            local = Local(game, objective)
        except TooLarge:
            if not can_be_listed(game, objective):
                raise
        else:
            found = _maximise(game, local.functions, time_limit, gap)
            return found._replace(bound=found.bound + local.constant), local.value(found.profile)
    profile, listed = best_listed(game, objective)
    if listed is None:
        listed = game.potential(profile) if objective == "potential" else game.welfare(profile)
    return Found(profile, -np.inf, "enumeration"), listed


def _maximise(game: Game, functions: Any, time_limit: float, gap: float) -> Found:
    """The same as :func:`maximise`, with no bound where the profile is the best: rounding could lift it."""
    found = maximise(game.num_actions, functions, time_limit, gap)
    return found._replace(bound=-np.inf) if found.bound <= total(functions, found.profile) else found
