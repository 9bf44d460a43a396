"""The command that follows scores in continuous time: dynamics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options.common import GameName, Json, Parameters, check_pictures, game_from_options, one_of, picture
from potentia.cli.terminal import print_table, printed_last, say, status
from potentia.errors import InvalidGame, NotConverged
from potentia.kernel.texts import value

_MOST_ACTIONS = 6  # shares printed for a player; of more actions so many:
_LARGEST = 3
_MOST_TRIANGLES = 4
_MOST_POINTS = 12  # rest points printed
_BELOW = 1e-6
_STABLE = {True: "yes", False: "no", None: "degenerate"}


def dynamics(
    game: GameName,
    choice: Annotated[
        str,
        one_of(
            *("gibbs", "burg", "tsallis:"),
            help="How scores become strategies: gibbs (logit), burg or tsallis:Q, 0 < Q <= 1.",
        ),
    ] = "gibbs",
    tau: Annotated[float, typer.Option(help="Weight of the penalty in the choice.")] = 1.0,
    discount: Annotated[float, typer.Option(help="Rate T at which the past is forgotten; 0 never forgets.")] = 0.0,
    order: Annotated[int, typer.Option(help="How many times payoffs are aggregated, 1 to 8.")] = 1,
    start: Annotated[
        str | None,
        typer.Option(help='First strategies, players separated by ";", as in "0.2,0.8;0.5,0.5"; uniform if left out.'),
    ] = None,
    horizon: Annotated[float, typer.Option("--time", help="How long to follow the dynamics.")] = 50.0,
    parameters: Parameters = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw a phase portrait (2×2 games), paths in triangles (up to four players with three actions each), "
            "or scores and shares over time."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Follow reinforcement learning in continuous time.

    Scores obey p' = u - T p, or pass through several such stages (--order), and each player plays the smoothed best
    response to its scores. Prints the strategies at the end, how much a player would gain by deviating, which
    actions died, and with a discount where the dynamics can rest.

    Examples:

    \b
        potentia dynamics prisoners-dilemma --order 2 --time 10
        potentia dynamics stag-hunt --discount 0.2 --choice tsallis:0.5 --start "0.9,0.1;0.8,0.2" --plot hunt.png
    """
    from potentia.analysis import dynamics as follow
    from potentia.studies.texts import choice_map, numbers

    check_pictures(plot=plot)
    played, label = game_from_options(game, parameters)
    options: dict[str, Any] = {
        "choice": choice_map(choice),
        "tau": tau,
        "discount": discount,
        "order": order,
        "horizon": horizon,
    }
    first = None if start is None else [numbers(part, float, "start") for part in start.split(";")]
    with status("solving", quiet=json):
        found = follow(played, start=first, **options)
        summary = _summary(played, label, found, options)
    if not json:
        _print(summary, played)

    def figure() -> Any:
        with status("drawing", quiet=json):
            return _figure(played, found, options, f"{label}: {_how(summary)}")

    with printed_last(summary, json):
        picture(plot, figure, 130, summary, json)


def _summary(game: Any, label: str, found: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Everything that is printed, as plain data."""
    from potentia.analysis import extinct, fates, rest_points

    try:
        dominated = fates(found, _BELOW)
    except InvalidGame:  # payoffs of very different sizes: about mixtures nothing can be said
        dominated = fates(found, _BELOW, mixed=False)
    summary: dict[str, Any] = {
        "game": label,
        **{name: entry for name, entry in found.parameters.items() if name != "horizon"},
        "time": found.parameters["horizon"],
        "strategies": [x.tolist() for x in found.final],
        "regret": found.nash_distance,
        "regret_at_start": float(found.regrets[0]),
        "below": _BELOW,
        "extinct": extinct(found, _BELOW),
        "dominated": [
            {
                "player": row.dominated.player,
                "action": row.dominated.action,
                "strict": row.dominated.strict,
                "share": row.share,
                "died": row.died,
            }
            for row in dominated
        ],
    }
    if options["discount"] > 0:
        try:
            points = rest_points(game, options["choice"], options["tau"], options["discount"], options["order"])
        except NotConverged as error:  # the rest of the summary stands
            points = []
            summary["rest_points_missed"] = str(error)
        summary["rest_points"] = [
            {
                "strategies": [x.tolist() for x in point.strategies],
                "regret": point.regret,
                "growth": point.growth,
                "tolerance": point.tolerance,
                "stable": point.stable,
            }
            for point in points
        ]
    return summary


def _how(summary: dict[str, Any]) -> str:
    choice = " ".join(value(entry) for entry in summary["choice"].values())
    return f"{choice}, tau {summary['tau']:g}, discount {summary['discount']:g}, order {summary['order']}"


def _died(actions: list[int], game: Any, player: int) -> str:
    from potentia.games.names import action_name

    return " ".join(action_name(game, player, a) for a in actions) or "-"


def _shares(shares: list[float], game: Any = None, player: int = 0) -> str:
    """All shares of few actions in order; of many the largest, each with its action."""
    from potentia.games.names import action_name

    if len(shares) <= _MOST_ACTIONS and game is not None and game.action_names is not None:
        return ", ".join(f"{action_name(game, player, a)} {share:.4g}" for a, share in enumerate(shares))
    if len(shares) <= _MOST_ACTIONS:
        return " ".join(f"{share:.4g}" for share in shares)
    order = sorted(range(len(shares)), key=lambda action: -shares[action])[:_LARGEST]
    return ", ".join(f"{action_name(game, player, action)}: {shares[action]:.4g}" for action in order) + ", …"


def _print(summary: dict[str, Any], game: Any) -> None:
    from potentia.games.names import action_name, player_name

    say(f"{_how(summary)}, on {summary['game']}")  # a title would be folded to the width of a small table
    rows = [
        [player_name(game, player, ""), _shares(shares, game, player), _died(died, game, player)]
        for player, (shares, died) in enumerate(zip(summary["strategies"], summary["extinct"], strict=True))
    ]
    print_table(
        ["player", f"strategy at time {summary['time']:g}", f"died (below {summary['below']:g})"],
        rows,
    )
    say(f"most a player gains by deviating: {summary['regret']:.4g} (at the start {summary['regret_at_start']:.4g})")
    for row in summary["dominated"]:
        kind = "strictly" if row["strict"] else "weakly"
        end = "died" if row["died"] else f"has a share of {row['share']:.4g} at the end"
        action, player = action_name(game, row["player"], row["action"], "action "), player_name(game, row["player"])
        say(f"{action} of {player}, {kind} dominated, {end}")
    if "rest_points_missed" in summary:
        say(f"rest points: {summary['rest_points_missed']}")
    elif "rest_points" in summary:
        print_table(
            ["strategies", "gain by deviating", "growth of a disturbance", "stable"],
            [
                [
                    " | ".join(_shares(x) for x in point["strategies"]),
                    f"{point['regret']:.4g}",
                    f"{point['growth']:+.4g}",
                    _STABLE[point["stable"]],
                ]
                for point in summary["rest_points"][:_MOST_POINTS]
            ],
            title=f"rest points found: {len(summary['rest_points'])}",
        )
        if any(point["stable"] is None for point in summary["rest_points"]):
            say("degenerate: the growth is 0 as far as it is known, and the linear flow does not tell")
        if len(summary["rest_points"]) > _MOST_POINTS:
            say(f"{len(summary['rest_points']) - _MOST_POINTS} more; --json lists all")


def _figure(game: Any, found: Any, options: dict[str, Any], title: str) -> Any:
    from potentia.analysis import dynamics as follow
    from potentia.analysis import portrait
    from potentia.figures import portrait_figure, scores_figure, simplex_figure

    if game.num_actions == (2, 2):
        whole = portrait(game, **options)
        return portrait_figure([*whole.trajectories, found], *whole[1:], title=title)
    players = game.num_players
    if set(game.num_actions) == {3} and players <= _MOST_TRIANGLES:
        near = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
        more = [follow(game, start=[near[(k + i) % 3] for i in range(players)], **options) for k in range(3)]
        return simplex_figure([found, *more], range(players), title=title)
    return scores_figure(found, title)
