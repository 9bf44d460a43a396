"""The command that opens the studio in a browser: studio."""

from __future__ import annotations

import re
import webbrowser
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options import beliefs
from potentia.cli.options.common import Json, Parameters, game_from_options, one_of
from potentia.cli.options.maps import (
    Blocked,
    CellSize,
    Delta,
    LargestPart,
    Robots,
    Sight,
    game_from,
    lengths,
    world_from,
)
from potentia.cli.options.names import GAMES, RULES
from potentia.cli.options.rules import SCHEDULES, variant_from_options
from potentia.cli.terminal import completes, say
from potentia.errors import InvalidInput, did_you_mean

_STEPS = 20_000
_LINK = re.compile(r"(^|#)s\d+\.")


def studio(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[MAP | GAME | FILE | LINK]",
            help="A map as of: potentia cover; a game as of: potentia run; a specification (.toml, or one that the "
            "studio saved, .json), recordings (a file or a folder of them), or a link of the studio.",
            show_default="paper",
            autocompletion=completes("paper", "random:", *GAMES),
        ),
    ] = "paper",
    rule: Annotated[
        list[str] | None,
        one_of(
            *("p-sblll:guarded", "p-sblll:unilateral", *RULES),
            help="How players learn; up to four to play them side by side.",
            show_default="p-sblll:guarded on maps, else blll",
            metavar="NAME",
        ),
    ] = None,
    tau: Annotated[str | None, one_of(*SCHEDULES, help="Temperature.", show_default="auto on maps, else 0.1")] = None,
    revision: Annotated[
        str | None,
        typer.Option(help="p-sblll and slll: how often a player wakes.", show_default="0.9 on maps, else 0.3"),
    ] = None,
    robots: Robots = None,
    delta: Delta = None,
    flags: Annotated[
        bool | None,
        typer.Option("--flags/--no-flags", help="Robots leave flags that keep others off.", show_default="no"),
    ] = None,
    sight: Sight = False,
    belief: beliefs.CoverBelief = None,
    blocked: Blocked = None,
    largest_part: LargestPart = False,
    cell_size: CellSize = None,
    parameters: Parameters = None,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="The paper's case study, as of: potentia cover --paper; what you give yourself goes first.",
        ),
    ] = False,
    saved: Annotated[
        Path | None, typer.Option(help="Go on with a run of this game that was saved with run.save(path).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all runs.")] = 0,
    steps: Annotated[
        int | None,
        typer.Option(help="The planned length; one can play on.", show_default=f"{_STEPS:,}; 2,000 with --paper"),
    ] = None,
    port: Annotated[int, typer.Option(help="Where to listen.", show_default="any that is free")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in a browser.")] = True,
    json: Json = False,
) -> None:
    """Play, change and compare runs in the browser.

    Paint the map, lose a robot, turn the temperature, go back; edit a small game and see it solved.

    Prints its link and answers on this machine only, until Ctrl-C.

    Examples:

    \b
        potentia studio                                      # five robots on the paper's map
        potentia studio --paper                              # the paper's case study: BLLL beside P-SBLLL
        potentia studio --rule lll --rule slll --tau 0.01    # two other rules side by side
        potentia studio my-map.csv --robots 8 --belief constant
        potentia studio ring --rule blll --no-browser --port 8765
        potentia studio out/cover                            # look at recordings
    """
    from potentia.games.world import published
    from potentia.web.studio.answers import Studio
    from potentia.web.studio.server import Server

    if not 0 <= port < 65536:
        raise InvalidInput(f"must be from 0 to 65535, got {port}", "port", port)
    given = {"rule": rule, "tau": tau, "revision": revision, "belief": belief, "seed": seed}
    given["steps"] = (2_000 if paper else _STEPS) if steps is None else steps
    on_map = {"robots": robots, "delta": delta, "flags": flags, "sight": sight}
    if paper:
        given["rule"] = rule or ["blll", "p-sblll"]
        on_map |= {"K": published()["setup"]["K"], "flags": flags is not False}
    read = {"blocked": blocked, "largest_part": largest_part, "cell_size": cell_size}
    defaults = (str(published()["setup"]["tau"]), "signal") if paper else ("auto", "0.9")
    if paper and what != "paper":
        raise InvalidInput(f"is the experiment on the paper's own world, got {what[:60]!r} with it", "paper", what)
    session, shown = _opened(what, given, on_map, read, defaults, parameters, saved)
    server = Server(Studio(session, shown))
    bound = server.bind(port)

    def ready() -> None:
        link = server.link + (f"#step={session.edge}" if session.edge else "")  # of a link or a saved run: its step
        print_link(dumps({"link": link}) if json else link)
        if browser:
            webbrowser.open(link)

    server.serve(bound, ready)
    if not json:
        say("the studio is closed; the same command opens it again, and a link taken from it opens what was there")


def print_link(link: str) -> None:
    """On one line, at once, however wide the terminal is."""
    import sys

    sys.stdout.write(f"{link}\n")
    sys.stdout.flush()


def _opened(
    what: str,
    given: dict[str, Any],
    on_map: dict[str, Any],
    read: dict[str, Any],
    defaults: tuple[str, str],
    parameters: list[str] | None,
    saved: Path | None,
) -> tuple[Any, Any]:
    """The session, and recordings where there is nothing but these to look at."""
    from potentia.games.library import registered_games
    from potentia.studies.building import is_file, is_named
    from potentia.web.studio import links
    from potentia.web.studio.session import Session
    from potentia.web.studio.starts import start_of_study

    path = Path(what)
    if _LINK.search(what):
        state = links.read(what)
        return Session(state.start, None, tuple(state.log), state.step), None
    if path.suffix == ".recording" or (path.is_dir() and any(path.glob("*.recording"))):
        return _recordings(path)
    if path.suffix == ".toml":
        return Session(*start_of_study(path)), None
    if path.suffix == ".json" and (kept := links.read_file(path)) is not None:
        return Session(kept.start, None, tuple(kept.log), kept.step), None
    if what in registered_games() or path.suffix.lower() in (".json", ".nfg", ".gam"):
        game, table = _game(what, parameters), _table(what, parameters)
        start = _start(game, table, given, ("0.1", "0.3"), "blll")
        return Session(start, game, saved=_loaded(saved, game)), None
    if not is_file(what, Path()) and not is_named(what):
        near = did_you_mean(what, ["paper", *registered_games()])
        known = "must be a map, a game (potentia games lists them), a file or a link of the studio"
        raise InvalidInput(f"{known}, got {what[:60]!r}{near}", "what", what)
    game, table = _map(what, on_map, read)
    start = _start(game, table, given, defaults, "p-sblll:guarded")
    return Session(start, game, saved=_loaded(saved, game)), None


def _start(game: Any, table: dict[str, Any], given: dict[str, Any], defaults: tuple[str, str], usual: str) -> Any:
    from potentia.web.studio.starts import MOST_LANES, read_start

    names = given["rule"] or [usual]
    if len(names) > MOST_LANES:
        raise InvalidInput(f"takes up to {MOST_LANES} rules side by side, got {len(names)}", "rule")
    world = getattr(game, "world", None)
    options = given["tau"], given["revision"], defaults, world is not None
    rules = [variant_from_options(name, *options).spec() for name in names]
    belief = beliefs.belief_from_options(given["belief"], {}, world)
    told = {"game": table, "rules": rules, "seed": given["seed"], "steps": given["steps"]}
    return read_start(told | ({} if belief is None else {"belief": belief.spec()}))


def _map(what: str, on_map: dict[str, Any], read: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Robots on a map, and the same as plain data: by the map's name, or with all of the map."""
    from potentia.errors import InvalidSpecification
    from potentia.studies.building import is_file
    from potentia.web.studio.starts import check_size, table_of

    options = {name: part for name, part in on_map.items() if part is not None}
    options = {"robots": 5, "delta": 1.5, "flags": False} | options
    if isinstance(options["delta"], str):
        options["delta"] = lengths(options["delta"])
    more = {"cell_size": read["cell_size"]} if read["cell_size"] else {}
    if is_file(what, Path()):
        check_size(world_from(what, read["blocked"], **more))
    game = game_from(what, read["blocked"], read["largest_part"], dict(options), **more)
    check_size(game.world)
    if not is_file(what, Path()):
        delta = game.delta.tolist()
        plain = options | {"delta": delta[0] if len(set(delta)) == 1 else delta}
        return game, {"map": what, **plain, **more}
    try:
        return game, table_of(game)
    except InvalidSpecification:
        return game, {"map": what}


def _game(what: str, parameters: list[str] | None) -> Any:
    return game_from_options(what, parameters)[0]


def _table(what: str, parameters: list[str] | None) -> dict[str, Any]:
    from potentia.cli.options.common import assignments
    from potentia.web.studio.starts import payoffs_of

    if not Path(what).suffix:
        return {"name": what, **assignments(parameters or [])}
    return payoffs_of(_game(what, None))


def _loaded(saved: Path | None, game: Any) -> Any:
    if saved is None:
        return None
    from potentia.engine import load

    return load(saved, game)


def _recordings(path: Path) -> tuple[Any, Any]:
    from potentia.web import read_recording
    from potentia.web.pages import MOST
    from potentia.web.studio.session import Session
    from potentia.web.studio.starts import Start

    found = sorted(path.glob("*.recording")) if path.is_dir() else [path]
    if len(found) > MOST:
        raise InvalidInput(f"takes one to {MOST} recordings, got {len(found)}", "what")
    start = Start(game={"map": "paper"}, rules=[{"rule": "blll", "tau": 0.1}])
    return Session(start), [read_recording(one) for one in found]
