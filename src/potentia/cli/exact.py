"""The commands that solve instead of sample: audit, stability and laboratory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options.common import GameName, Json, Parameters, check_pictures, game_from_options, one_of, picture
from potentia.cli.options.replays import check_page
from potentia.cli.options.rules import (
    Guard,
    OneTau,
    Revision,
    RuleName,
    Trial,
    one_temperature,
    rule_from_options,
    rule_text,
)
from potentia.cli.terminal import print_json, print_table, printed_last, say, status
from potentia.errors import InvalidInput, PotentiaError
from potentia.kernel.texts import value


def audit(
    game: GameName,
    rule: RuleName = "lll",
    tau: OneTau = None,
    revision: Revision = None,
    trial: Trial = None,
    guard: Guard = False,
    parameters: Parameters = None,
    claimed: Annotated[
        str | None,
        one_of("welfare", help='A potential to test: "welfare" (the sum of utilities) or a file, .json, .npy or .npz.'),
    ] = None,
    against: Annotated[
        str | None,
        one_of("revision", help='"revision": what the revision probability does to the long run, in a table.'),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw what --against tells: .png, .svg or .pdf.")] = None,
    json: Json = False,
) -> None:
    """Check whether the theorems about a rule hold on a game.

    Each hypothesis is checked; one that fails comes with a counterexample. Then each result: does it apply, what does
    it promise, and what does the exact analysis find. Of small games a failure is told step by step: who wakes, what
    they try, who takes it and who stays.

    With --against revision the rule is solved at revision probabilities from 0.01 to 0.9: the share of the long run
    that the potential's maximisers have at tau, and where the rule stays as tau goes to 0. The two may be far apart.

    Examples:

    \b
        potentia audit overlap --rule p-sblll --claimed welfare
        potentia audit random-potential --rule blll
        potentia audit double-step --rule p-sblll --tau 0.3 --against revision --plot waking.png
        potentia audit my-payoffs.json --rule slll --revision vanishing:4
    """
    from potentia.analysis import audit as examine
    from potentia.analysis import over_revision
    from potentia.games import read_potential
    from potentia.kernel.checks import OneOf

    solved, label = game_from_options(game, parameters)
    chosen = rule_from_options(rule, one_temperature(tau), revision, trial, guard)
    claim: Any = claimed
    if claimed not in (None, "welfare"):
        if not Path(str(claimed)).suffix:
            raise InvalidInput(f'must be "welfare" or a file, .json, .npy or .npz, got {claimed!r}', "claimed", claimed)
        claim = read_potential(str(claimed), solved)
    if plot is not None and against is None:
        raise InvalidInput("draws what --against tells, which is missing", "plot")
    if against is not None:
        OneOf("revision").of(against, "against", InvalidInput)
    check_pictures(plot=plot)
    with status("solving; the first time, compiling", quiet=json):
        result = examine(solved, chosen, claim)
        over = None if against is None else over_revision(solved, chosen)
    summary = {**result.to_dict(), "game": label} | ({} if over is None else {"against": over.to_dict()})
    if not json:
        _print_audit(result, f"{rule_text(chosen.spec())}, on {label}")
    with printed_last(summary, json):
        if over is not None:
            if not json:
                _print_over(over)
            title = f"{rule_text({k: v for k, v in chosen.spec().items() if k not in ('tau', 'revision')})}, on {label}"
            from potentia.figures import waking_figure

            picture(plot, lambda: waking_figure(over, title=title), 130, summary, json)


def _print_audit(result: Any, title: str) -> None:
    print_table(
        ["hypothesis", "verdict", "evidence"],
        [[row.hypothesis, row.verdict, row.evidence] for row in result.rows],
        title=title,
    )
    for finding in result.findings:
        say("\n".join(finding.lines()) + "\n", lines=True)
    for shown in result.counterexamples:
        say("\n".join(shown.lines()) + "\n", lines=True)
    for line in result.summary:
        say(line)


def _print_over(over: Any) -> None:
    """A row for each revision probability."""
    from potentia.analysis.tables import words

    told, known = over.to_dict(), over.maximisers is not None
    rows = [
        [
            f"{row['revision']:g}",
            *([f"{row['share']:.1%}", f"{row['limit']:.1%}"] if known else []),
            f"{words(row['most_visited'], over.game)}, {row['most_visited_share']:.1%}",
            ", ".join(words(profile, over.game) for profile in row["stable"][:4])
            + (" …" if len(row["stable"]) > 4 else ""),
        ]
        for row in told["rows"]
    ]
    at = f"at τ = {over.tau:g}"
    header = ["revision", *([f"maximisers {at}", "as τ → 0"] if known else []), f"most visited {at}", "stable as τ → 0"]
    note = "shares of the long run, solved at each revision probability"
    print_table(header, rows, note, title="against the revision probability")


def laboratory(
    game: GameName = "double-step",
    rule: RuleName = "p-sblll",
    tau: OneTau = None,
    revision: Revision = None,
    trial: Trial = None,
    guard: Guard = False,
    parameters: Parameters = None,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("laboratory.html"),
    title: Annotated[str, typer.Option(help="What stands above the page.")] = "",
    json: Json = False,
) -> None:
    """Make a page that solves 2×2 games in any browser.

    Edit payoffs, the rule, its temperature and revision, and see the long run, the stable set, trees, the audit with
    its counterexamples, and score dynamics. One file, which works offline; five lessons are in it.

    Examples:

    \b
        potentia laboratory
        potentia laboratory stag-hunt --rule lll --tau 0.5 --out stag.html
        potentia laboratory my-payoffs.json --rule who=all,considers=joint-trial,chooses=metropolis
    """
    from potentia.web import laboratory as write

    check_page(out, "--out")
    chosen = rule_from_options(rule, one_temperature(tau), revision, trial, guard, ("0.3", "0.3"))
    page = write(out, game_from_options(game, parameters)[0], chosen, title=title)
    if json:
        print_json({"page": str(page)})
        return
    say(f"page: {page}")


def stability(
    game: GameName,
    rule: RuleName = "lll",
    tau: OneTau = None,
    revision: Revision = None,
    trial: Trial = None,
    guard: Guard = False,
    parameters: Parameters = None,
    show: Annotated[int, typer.Option(help="How many profiles to list.")] = 10,
    root: Annotated[
        str | None, typer.Option(help="Root of the tree to draw, as in 0,1,0; the most visited profile if left out.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the least-resistance tree, and the stationary law against tau.")
    ] = None,
    json: Json = False,
) -> None:
    """Find where a rule stays as the temperature goes to 0, exactly.

    Lists the profiles by stochastic potential, with their share of the long run in the limit and at tau.

    Examples:

    \b
        potentia stability stag-hunt --rule blll
        potentia stability random-potential --rule p-sblll --revision 0.3 --plot tree.png
        potentia stability my-payoffs.json --rule lll --tau 0.05 --json
    """
    from potentia.analysis import stability as solve
    from potentia.kernel.checks import Integer
    from potentia.studies.summary import summarise_stability
    from potentia.studies.texts import numbers

    Integer(1).of(show, "show", InvalidInput)
    if root is not None and plot is None:
        raise InvalidInput("--root is the root of the tree that --plot draws; give --plot too")
    check_pictures(plot=plot)
    solved, label = game_from_options(game, parameters)
    chosen = rule_from_options(rule, one_temperature(tau), revision, trial, guard)
    top = None if root is None else solved.check_profile(numbers(root, int, "root"), "root")
    with status("solving; the first time, compiling", quiet=json):
        result = solve(solved, chosen)
        summary = summarise_stability(solved, label, chosen, result)
    if not json:
        _print_stability(summary, chosen, show, solved)
    with printed_last(summary, json):
        spec = {name: entry for name, entry in chosen.spec().items() if name != "tau"}
        title = f"{rule_text(spec)}, on {label}"
        picture(plot, lambda: _figure(solved, chosen, result, top, title, json), 130, summary, json)


def _print_stability(summary: dict[str, Any], rule: Any, show: int, game: Any) -> None:
    from potentia.analysis.tables import words

    rows = summary["profiles"][:show]
    tau = getattr(rule, "tau", None)
    print_table(
        [
            "profile",
            "stable",
            "τ → 0",
            "law" if tau is None else f"at τ = {value(summary['rule']['tau'])}",
            "stochastic potential",
            "potential",
            "Nash",
        ],
        [
            [
                " ".join(str(a) for a in r["profile"]) if game.action_names is None else words(r["profile"], game),
                "yes" if r["stable"] else "",
                f"{r['limit']:.4g}" if r["stable"] else "",
                "-" if summary["law_trouble"] else f"{r['law']:.4g}",
                value(r["stochastic_potential"]),
                "" if r["potential"] is None else value(r["potential"]),
                "yes" if r["nash"] else "",
            ]
            for r in rows
        ],
        title=f"{rule_text(summary['rule'])}, on {summary['game']}",
    )
    count = summary["num_profiles"]
    if count > show:
        say(f"{count - show:,} more profiles; --show N lists more, --json all")
    classes = summary["num_recurrent_classes"]
    say(
        f"{summary['num_stable']:,} of {count:,} profiles stable, {classes:,} recurrent "
        f"class{'' if classes == 1 else 'es'} at τ = 0; by {summary['method']}"
    )
    if summary["num_states"] != count:
        say(f"{rule.name} remembers: {summary['num_states']:,} states, taken together for each profile")
    say(f"the law at this temperature: {summary['law_trouble'] or 'by ' + summary['law_method']}")
    if not summary["exact"]:
        say(f"the payoffs have no common unit: differences up to {summary['tolerance']:.2g} count as ties")
    if rows[0]["potential"] is None:
        say("there is no exact potential; potentia audit shows why")
    if summary["num_differing_from_eq_12"]:
        say(
            f"{summary['num_differing_from_eq_12']:,} of {summary['num_transitions']:,} resistances differ from the "
            "paper's Eq. 12"
        )


def _figure(game: Any, rule: Any, result: Any, root: Any, title: str, quiet: bool) -> Any:
    import numpy as np

    from potentia.analysis import chain
    from potentia.figures import stability_figure
    from potentia.figures.stability import MOST_DRAWN

    if root is not None and result.limit.size > MOST_DRAWN:
        raise InvalidInput(f"--root: {result.limit.size:,} profiles are too many for a tree, at most {MOST_DRAWN}")
    kept, laws, mark = [], [], None
    costs = result.resistances().exact
    if hasattr(rule, "tau") and costs.size:
        # from where payoffs hardly matter down to where little but the limit is left
        span = float(np.ptp(costs)) or 1.0
        mark = rule.spec()["tau"]
        with status("the law at each temperature", quiet=quiet) as tell:
            taus = np.geomspace(0.01 * span, 2.0 * span, 40 if result.limit.size <= 2000 else 12)
            taus = np.union1d(taus, mark) if 0.01 * span < mark < 2.0 * span else taus
            for k, tau in enumerate(taus.tolist()):
                tell(f"{k + 1} of {taus.size}")
                try:
                    solved = chain(game, {**rule.spec(), "tau": tau})
                    laws.append(solved.over_profiles(solved.stationary()))
                    kept.append(tau)
                except PotentiaError:  # too cold for this many states; the limit is drawn anyway
                    continue
    return stability_figure(result, root=root, taus=kept, laws=np.array(laws), title=title, mark=mark)
