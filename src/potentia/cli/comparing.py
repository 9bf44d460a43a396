"""What "cover --compare" plays, prints and draws."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from potentia.cli.coverage_files import add
from potentia.cli.coverage_tables import length
from potentia.cli.options.common import drawing, save_picture
from potentia.cli.options.rules import rule_text
from potentia.cli.terminal import print_json, print_table, progress, say, status
from potentia.errors import InvalidInput
from potentia.kernel import signals
from potentia.kernel.texts import value

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def budget_from(text: str) -> tuple[float | None, int | None]:
    """60s, 2m or 1h as seconds, or a number of steps."""
    found = re.fullmatch(r"([0-9][0-9_,]*(?:\.[0-9]+)?(?:e[0-9]+)?)\s*([smh]?)", text.strip())
    number = float(re.sub("[_,]", "", found[1])) if found else 0.0
    if found is None or not 0 < number < 1e15:
        raise InvalidInput(f"must be a time such as 60s, 5m or 1h, or a number of steps, got {text!r}", "budget", text)
    return (number * _UNITS[found[2]], None) if found[2] else (None, int(number))


@dataclass(frozen=True)
class Contest:
    """Who is played within a budget, and on what."""

    game: Any
    rules: dict[str, Any]
    words: dict[str, dict[str, str]]  # the same as they are typed
    belief: Any
    steps: int
    most: int  # steps, in all runs together
    workers: int
    json: bool

    @classmethod
    def within(
        cls,
        seconds: float | None,
        most: int | None,
        game: Any,
        rules: dict[str, Any],
        belief: Any,
        steps: int,
        workers: int,
        json: bool,
    ) -> Contest:
        """Those of the rules, or else of the usual candidates, that there is time for; an error where that is short."""
        from potentia.studies.comparing import candidates, num_runs, typed, within

        chosen = rules or candidates()
        words = {name: {"rule": name} for name in rules} or typed()
        num_runs(game, chosen, steps, most)
        if seconds is not None:
            try:
                with status("looking how fast this machine is", quiet=json):
                    chosen, most = within(seconds, game, chosen, steps, belief=belief, workers=workers)
            except KeyboardInterrupt:
                raise _stopped() from None
            if missing := [name for name in words if name not in chosen]:
                told = f"no time in {seconds:g} s for {', '.join(missing)}: give a longer --budget, or fewer --steps"
                say(told, err=True)
        assert most is not None
        return cls(game, chosen, words, belief, steps, most, workers, json)

    def play(self, best: Any, seed: int, out: Path) -> None:
        """Play the candidates, print what came out and draw it; ``best`` is the optimum, if it is known."""
        from potentia.figures import comparison_figure
        from potentia.statistics.estimates import tail_mean
        from potentia.studies.comparing import compare
        from potentia.studies.coverage import spacing
        from potentia.studies.coverage_ends import tail_of

        steps = self.steps
        try:
            with progress("comparing", quiet=self.json) as tell:
                options: Any = {"belief": self.belief, "workers": self.workers, "seed": seed, "progress": tell}
                advice = compare(self.game, self.rules, steps=steps, budget=self.most, **options)
        except KeyboardInterrupt:
            raise _stopped() from None
        bound = getattr(best, "bound", None)  # of a world that changes there are several
        if getattr(best, "events", ()) and best.every is None:  # of robots that come and go, that of the last steps
            times = range(0, steps + 1, spacing(steps))
            bound = float(tail_mean(best.at(times), times, tail_of(steps, spacing(steps))))
        picture = out / "compare.png"
        with drawing(picture):
            title = f"Worth against distance driven\n{self.game.describe()}"
            save_picture(comparison_figure(advice, optimum=bound, title=title), picture, 140)
            add(out, [picture])
        # those who chose it are not asked again how good it is; and the picture that says why stays where it is
        fresh = {"seed": str(advice.judging_seeds.stop), "out": str(out / "taken")}
        typed = command_for(self.words[advice.taken] | fresh)
        if self.json:
            told = {"game": self.game.describe(), "optimum": best.to_dict() if best else None, **advice.to_dict()}
            print_json({**told, "command": typed, "files": {"compare": str(picture)}})
            return
        _print(advice, bound)
        say(str(advice))
        say(f"{advice.taken}: {rule_text(advice.rules[advice.taken].spec())}")
        say(f"picture: {picture}")
        say("to play it, on seeds that nobody has looked at:")
        say(typed)


def _stopped() -> typer.Exit:
    say(f"{signals.stopped()} before the comparison was complete: nothing was written", err=True)
    return typer.Exit(130)


def command_for(words: dict[str, str]) -> str:
    """What was typed, with these words for the options that they name, and as a run instead of a comparison."""
    kept, value_follows = ["potentia"], False
    dropped = {"--budget", *(f"--{name}" for name in words)}
    for word in sys.argv[1:]:
        if value_follows:
            value_follows = False
        elif word in dropped:
            value_follows = True
        elif word not in ("--compare", "--json") and word.partition("=")[0] not in dropped:
            kept.append(word)
    return shlex.join(kept + [part for name, word in words.items() if word for part in (f"--{name}", word)])


def _print(advice: Any, bound: float | None) -> None:
    from potentia.statistics.estimates import estimate

    rows = []
    for name, looked in advice.looked.items():
        played = advice.judged.get(name)
        shown = played or looked
        share = [f"{shown.worth.mean() / bound:.3f}"] if bound else []
        behind = "taken" if name == advice.taken else ""
        if name in advice.margins:
            rival = advice.margins[name]
            behind = f"{rival.difference}{', a tie' if rival.tie else ''}"
        worth = str(estimate(played.worth)) if played else f"{looked.worth.mean():.4g}"
        runs = str(shown.worth.size) + ("" if played else ", looked at")
        rows.append([name, runs, worth, *share, length(shown.distance.mean()), behind])
    for K, played in advice.costs.items():
        name, runs = f"{advice.taken}, --cost {value(K)}", f"{played.worth.size}, looked at"
        share = [f"{played.worth.mean() / bound:.3f}"] if bound else []
        rows.append([name, runs, f"{played.worth.mean():.4g}", *share, length(played.distance.mean()), ""])
    share = ["of the bound"] if bound else []
    several = len(advice.margins)
    together = f" that hold for all {several} together" if several > 1 else ""
    caption = (
        f"runs of {advice.steps:,} steps; all candidates are looked at on {len(advice.looking_seeds)} seeds, the best "
        f"{len(advice.judged)} play {len(advice.judging_seeds)} fresh ones; in brackets 95 % intervals, of "
        f"differences those{together}: a tie where one holds 0"
    )
    if advice.costs:
        caption += "; with --cost, moving costs so much: where that does better, compare with that cost"
    head = ["rule and tau", "runs", "covered worth", *share, f"{advice.unit} driven", "the one taken less it, paired"]
    print_table(head, rows, caption)
