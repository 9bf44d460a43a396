"""What "cover --compare" plays, prints and draws."""

from __future__ import annotations

import math
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from potentia.cli.coverage_files import add
from potentia.cli.coverage_tables import length, titled
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
    left_out: tuple[str, ...] = ()  # for whom there was no time
    more: str = ""  # that would have been enough

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
        from potentia.studies.comparing import candidates, enough, num_runs, typed, within

        chosen = wanted = rules or candidates()
        missing, longer = tuple[str, ...](), ""
        words = {name: {"rule": name} for name in rules} or typed()
        num_runs(game, chosen, steps, most)
        if seconds is not None:
            try:
                with status("looking how fast this machine is", quiet=json):
                    chosen, most = within(seconds, game, chosen, steps, belief=belief, workers=workers)
            except KeyboardInterrupt:
                raise _stopped() from None
            assert most is not None
            if missing := tuple(name for name in words if name not in chosen):
                longer = f"--budget {math.ceil(1.2 * seconds * enough(game, wanted, steps) / most / 60)}m"
                told = f"no time in {seconds:g} s for {', '.join(missing)}: {longer} may be enough for all"
                say(f"{told}, or fewer --steps", err=True)
        assert most is not None
        return cls(game, chosen, words, belief, steps, most, workers, json, missing, longer)

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
            title = f"Worth against distance driven\n{titled(self.game)}"
            save_picture(comparison_figure(advice, optimum=bound, title=title), picture, 140)
            add(out, [picture])
        # those who chose it are not asked again how good it is; and the picture that says why stays where it is
        fresh = {"seed": str(advice.judging_seeds.stop), "out": str(out / "taken")}
        typed = command_for(self.words[advice.taken] | fresh)
        if self.json:
            told = {"game": self.game.describe(), "optimum": best.to_dict() if best else None, **advice.to_dict()}
            told["left_out"] = list(self.left_out)
            print_json({**told, "command": typed, "files": {"compare": str(picture)}})
            return
        _print(advice, bound)
        _print_costs(advice, self.game.movement_cost)
        say(str(advice))
        if self.left_out:
            of = f"{len(self.rules)} of {len(self.rules) + len(self.left_out)} candidates"
            say(f"only {of} were played, for want of time: {self.more} may be enough for all, or give fewer --steps")
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
        far = str(estimate(played.distance)) if played else length(looked.distance.mean())
        runs = str(shown.worth.size) + ("" if played else ", looked at")
        rows.append([name, runs, worth, *share, far, behind])
    share = ["of the bound"] if bound else []
    several = len(advice.margins)
    together = f" that hold for all {several} together" if several > 1 else ""
    caption = (
        f"runs of {advice.steps:,} steps; all candidates are looked at on {len(advice.looking_seeds)} seeds, the best "
        f"{len(advice.judged)} play {len(advice.judging_seeds)} fresh ones; in brackets 95 % intervals, of "
        f"differences those{together}: a tie where one holds 0"
    )
    head = ["rule and tau", "runs", "covered worth", *share, f"{advice.unit} driven", "the one taken less it, paired"]
    print_table(head, rows, caption)


def _print_costs(advice: Any, own: Any) -> None:
    """The one that is taken as it was asked for, and at other costs of moving, on the same seeds."""
    from potentia.statistics.estimates import estimate, paired_difference

    if not advice.costs:
        return
    asked, rows = advice.as_asked, []
    costs = dict.fromkeys(map(value, own.tolist()))
    for name, played in ((f"{' '.join(costs)}, as asked", asked), *((value(K), p) for K, p in advice.costs.items())):
        rows.append([name, str(estimate(played.worth)), str(estimate(played.distance)), "", ""])
    for row, (K, played) in zip(rows[1:], advice.costs.items(), strict=True):
        less = paired_difference(played.distance, asked.distance, len(advice.costs))
        row[-2:] = str(advice.cost_margins[K]), str(less)
    seeds = advice.judging_seeds[: asked.worth.size]
    told = "so few seeds do not tell whether that helps: give a larger --budget"
    if estimate(asked.worth).enough:
        together = ", which hold for all of a column together" if len(advice.costs) > 1 else ""
        told = f"in brackets 95 % intervals{together}: where one holds 0, these runs do not tell"
    caption = f"{advice.taken} on {len(seeds)} seeds, {seeds[0]} to {seeds[-1]}, the same in all rows; {told}"
    head = ["--cost", "covered worth", f"{advice.unit} driven", "more worth, paired", "more driven, paired"]
    print_table(head, rows, caption, title="what a cost of moving does")
