"""What potentia cover says, writes and draws."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from potentia.cli.options.beliefs import belief_text
from potentia.cli.options.common import drawing, save_picture
from potentia.cli.options.rules import rule_text
from potentia.cli.terminal import print_table, say
from potentia.kernel.texts import value

_LONGEST_PATH = 2500  # steps; longer ways fill the picture
_MOST_ROWS = 20_000  # of the run that is drawn
_MOST_PLACES = 20  # robots whose cells are listed on the screen


def _in_files(rule: str) -> str:
    """A rule's name as part of a file name; it must not lead to another folder."""
    return re.sub(r"[\x00-\x1f\x7f/\\:]", "-", rule)


def _when(goal: int, covered: Any) -> str:
    return str(covered.arrivals[goal])


def _far(goal: int, covered: Any) -> str:
    distance = covered.arrivals[goal].distance
    return "–" if math.isnan(distance) else f"{distance:,.4g}"


@dataclass(frozen=True)
class Results:
    """The batches of a study, by rule."""

    game: Any
    rules: dict[str, Any]
    data: dict[str, Any]
    best: Any  # the optimum, or None
    steps: int
    asked: int  # runs
    belief: Any = None  # what robots have in the place of the map

    @cached_property
    def covered(self) -> dict[str, Any]:
        from potentia.studies.coverage import summarise

        bound = self.best.bound if self.best else None
        return {name: summarise(batch, bound, self.game.world.length) for name, batch in self.data.items()}

    @cached_property
    def shown(self) -> dict[str, int]:
        """The seed of each rule that is drawn: the one with the median worth."""
        from potentia.studies.coverage import typical

        return {name: typical(batch) for name, batch in self.data.items()}

    @cached_property
    def together(self) -> int:
        """The seed that all rules are replayed with, to be compared."""
        from potentia.studies.coverage import alike

        return alike(self.data)

    def places(self, name: str) -> list[list[int]]:
        """Where the robots of that run end, cells (x, y)."""
        batch = self.data[name]
        final = batch.final.sel(seed=self.shown[name]).values
        return [[int(x), int(y)] for x, y in self.game.positions(final)]

    def driven(self, name: str) -> list[float]:
        """How far each robot of that run drove, in the world's unit."""
        found = self.data[name].driven.sel(seed=self.shown[name]) * self.game.world.length[0]
        return [float(way) for way in found.values]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        rules = {
            name: {
                "rule": self.rules[name].spec(),
                **covered.to_dict(),
                "shown_seed": self.shown[name],
                "shown_positions": self.places(name),
                "shown_driven": self.driven(name),
            }
            for name, covered in self.covered.items()
        }
        optimum = self.best.to_dict() if self.best else None
        belief = self.belief.spec() if self.belief else None
        return {
            "game": self.game.describe(),
            "belief": belief,
            "steps": self.steps,
            "unit": self.game.world.length[1],
            "optimum": optimum,
            "rules": rules,
        }

    # On the screen ------------------------------------------------------------------------------------

    def print(self) -> None:
        """The table, and where the robots end."""
        world = self.game.world
        say(f"{self.game.describe()}; all cells together are worth {value(world.total)}")
        for name, chosen in self.rules.items():
            if name in self.covered:
                say(f"{name}: {rule_text(chosen.spec())}{self._in_numbers(chosen)}")
        if self.belief is not None:
            say(f"belief: {belief_text(self.belief)}")
        if self.best is not None:
            say(str(self.best), lines=True)
        names = list(self.covered)
        first = self.covered[names[0]]
        rows = [[label, *(text(self.covered[name]) for name in names)] for label, text in self._lines()]
        runs = f"{first.runs} runs" if first.runs > 1 else "1 run"
        runs += "" if first.runs == self.asked else f" of {self.asked} asked for,"
        caption = f"means over {runs} of {self.steps:,} steps, worth over the last {min(first.tail, self.steps):,}"
        print_table(["", *names], rows, caption + ("; in brackets 95 % intervals" if first.runs >= 5 else ""))
        for name in names:
            self._print_places(name)

    def _in_numbers(self, rule: Any) -> str:
        """What a temperature relative to the map is in units of worth."""
        tau = getattr(rule, "tau", None)
        if tau is None or tau.on(self.game) is tau:
            return ""
        first, last = (value(tau.on(self.game).at(step, self.steps)) for step in (0, self.steps))
        return f"; that is tau {first}" + ("" if first == last else f" to {last}")

    def _lines(self) -> list[tuple[str, Callable[[Any], str]]]:
        world = self.game.world
        proven = self.best is None or self.best.proven
        lines: list[tuple[str, Callable[[Any], str]]] = [
            ("covered worth, each cell once (union)", lambda c: str(c.worth_union)),
            ("covered worth, Σ C (once per robot)", lambda c: str(c.worth_sum)),
        ]
        if self.best is not None:
            label = "share of the optimum" if proven else "share of the bound on the optimum, so at least"
            lines.append((label, lambda c: str(c.share)))
        lines += [
            ("steps to 90 % of its final worth", lambda c: f"{c.steps_to_90.mean:,.0f}"),
            ("within 5 % of its final worth from step", lambda c: f"{c.settled.mean:,.0f}"),
            ("moves made, all robots", lambda c: f"{c.moves.mean:,.0f}"),
            *self._way_lines(),
        ]
        if (self.game.movement_cost > 0).any():
            lines.append(("energy spent on moving", lambda c: f"{c.energy.mean:,.4g}"))
        lines += [
            ("revisions that changed nothing", lambda c: f"{c.rejected:.1%}"),
            ("distinct cells seen", lambda c: f"{c.cells_seen.mean:,.0f} of {world.worth.size:,}"),
        ]
        if len(world.targets):
            lines.append((f"targets found, of {len(world.targets)}", lambda c: f"{c.targets_found.mean:.3g}"))
        return lines + self._belief_lines()

    def _way_lines(self) -> list[tuple[str, Callable[[Any], str]]]:
        """How far robots drove, and how long it took to cover so much of the optimum."""
        unit, arrivals = self.game.world.length[1], next(iter(self.covered.values())).arrivals
        lines: list[tuple[str, Callable[[Any], str]]] = [
            (f"distance driven, {unit}, all robots", lambda c: f"{c.distance.mean:,.4g}"),
            (f"by one robot, {unit}, least to most", lambda c: f"{min(c.driven):,.4g} to {max(c.driven):,.4g}"),
        ]
        what = "the optimum" if self.best is None or self.best.proven else "its bound"
        for k, goal in enumerate(arrivals):
            until = f"{goal.share:.0%} of {what}".replace("%", " %")
            lines.append((f"steps until {until} (median)", partial(_when, k)))
            lines.append((f"{unit} until {until}", partial(_far, k)))
        return lines

    def _belief_lines(self) -> list[tuple[str, Callable[[Any], str]]]:
        """About the belief at the end of the runs, as far as it was recorded."""
        first, cells = next(iter(self.covered.values())), self.game.world.worth.size
        targets = self.number
        lines: dict[str, tuple[str, Callable[[Any], str]]] = {
            "belief_error": ("error of the believed worth, Σ|f̂ - f| / Σf", lambda c: str(c.belief_error)),
            "components": (
                "components of a robot's mixture" + (f" (the map has {targets})" if targets else ""),
                lambda c: f"{c.components.mean:.3g}",
            ),
            "right_number": (f"share of robots whose mixture has {targets}", lambda c: f"{c.right_number.mean:.3g}"),
            "parameter_error": ("error of the mixture's parameters, 0 to 1", lambda c: str(c.parameter_error)),
            "cells_known": ("cells a robot knows", lambda c: f"{c.cells_known.mean:,.0f} of {cells:,}"),
            "contacts": ("exchanges between two robots", lambda c: f"{c.contacts.mean:,.0f}"),
            "data_sent": ("cells told in them", lambda c: f"{c.data_sent.mean:,.0f}"),
        }
        return [line for name, line in lines.items() if getattr(first, name) is not None]

    @property
    def number(self) -> int | None:
        """Of the components of the map's own mixture."""
        mixture = self.game.world.mixture
        return None if mixture is None else int(mixture.num_components)

    def _print_places(self, name: str) -> None:
        places = self.places(name)
        listed = ", ".join(f"({x}, {y})" for x, y in places[:_MOST_PLACES])
        more = f" and {len(places) - _MOST_PLACES:,} more" if len(places) > _MOST_PLACES else ""
        say(f"{name} ends at {listed}{more} (seed {self.shown[name]}, the median run)")

    def print_files(self, files: dict[str, Path]) -> None:
        """What was written."""
        for name, path in files.items():
            say(f"{name:>28}: {path}")

    # In files -----------------------------------------------------------------------------------------

    def write(self, out: Path, files: dict[str, Path]) -> None:
        """Records of all runs, and where the median run of each rule ends; ``files`` grows as they are done."""
        from potentia.kernel.files import whole_file
        from potentia.studies.summary import write_netcdf

        for name, batch in self.data.items():
            records, cells = out / f"records-{_in_files(name)}.nc", out / f"cells-{_in_files(name)}.csv"
            write_netcdf(batch, records)
            files[f"records, {name}"] = records
            with whole_file(cells) as temporary:
                ends = zip(self.places(name), self.driven(name), strict=True)
                rows = [f"{robot},{x},{y},{way:.6g}\n" for robot, ((x, y), way) in enumerate(ends)]
                header = f"robot,x,y,driven_{self.game.world.length[1]}\n"
                temporary.write_text(header + "".join(rows), encoding="utf-8")
            files[f"final cells, {name}"] = cells

    def draw(
        self,
        out: Path,
        files: dict[str, Path],
        say: Callable[[str], None],
        page: Path,
        beliefs_every: int | None,
        *,
        paper: bool,
        gif: bool,
        paths: bool | None,
    ) -> None:
        """Pictures, and the state of each run that is drawn; ``files`` grows as they are done."""
        from potentia import figures
        from potentia.games.world import published
        from potentia.studies.coverage import tail_steps
        from potentia.web.pages import MOST, replay

        game, steps = self.game, self.steps

        def draw(name: str, figure: Any) -> None:
            say(name)
            with drawing(out / f"{name}.png"):
                save_picture(figure, out / f"{name}.png", 140)
            files[name] = out / f"{name}.png"

        # states first: should a picture fail, they are there
        traces, watched = self._play(out, files, say, beliefs_every)
        panels = {f"{name}, seed {self.shown[name]}": trace.profiles for name, trace in traces.items()}
        say("replay")
        recordings = self._recordings(out, files, watched)
        if recordings:
            shown = dict(list(recordings.items())[:MOST])
            files["replay"] = replay(shown, page, title=f"{', '.join(shown)} on {game.describe()}")
        draw("field", figures.field_figure(game.world))
        measure = "worth_sum" if paper else "worth_union"
        played = {name.partition(":")[0] for name in self.rules}  # with whatever parameters
        known = {k: v for k, v in published()["worth"].items() if k in played} if paper else None
        smooth = None if paper else tail_steps(next(iter(self.data.values())))
        with_belief = f"\nwith the belief {self.belief.name}" if self.belief else ""
        title = f"Covered worth over time\n{game.describe()}{with_belief}"
        figure = figures.worth_figure(
            self.data, optimum=self.best, published=known, measure=measure, smooth=smooth, title=title
        )
        draw("worth", figure)
        walked = steps <= _LONGEST_PATH and None if paths is None else paths
        draw("configurations", figures.configuration_figure(game, panels, paths=walked, title=game.describe()))
        self._draw_beliefs(draw, traces)
        followed = [r.revision for r in self.rules.values() if hasattr(getattr(r, "revision", None), "a3")]
        if followed:
            draw("revision", figures.revision_figure(followed[0]))
        for name in recordings if gif else ():
            path = out / f"{_in_files(name)}.gif"
            say(path.name)
            title = f"{name}, seed {self.together}, on {game.world.name}"
            recordings[name].film(path, series=measure, title=title)
            files[f"film, {name}"] = path

    def _play(
        self, out: Path, files: dict[str, Path], say: Callable[[str], None], beliefs_every: int | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The run of each rule that is drawn, saved, and the one that is watched, with its keyframes."""
        from potentia.engine import begin
        from potentia.web.keyframes import Keyframes

        game, steps = self.game, self.steps
        traces, watched = {}, {}
        every = max(1, steps // _MOST_ROWS, steps * game.num_players // 5_000_000)
        options: dict[str, Any] = {"record": ("profile", "worth_sum", "worth_union"), "every": every, "horizon": steps}
        for name, seed in self.shown.items():
            say(f"playing {name} again")
            frames = Keyframes(begin(game, self.rules[name], seed, belief=self.belief, **options))
            run = frames.play(steps, beliefs_every if seed == self.together else 0)
            traces[name] = run.trace()
            watched[name] = traces[name], frames
            files[f"run, {name}"] = run.save(out / f"run-{_in_files(name)}.npz")
            if seed != self.together:  # side by side, rules are seen from one start
                frames = Keyframes(begin(game, self.rules[name], self.together, belief=self.belief, **options))
                watched[name] = frames.play(steps, beliefs_every).trace(), frames
        return traces, watched

    def _recordings(self, out: Path, files: dict[str, Path], watched: dict[str, Any]) -> dict[str, Any]:
        """Runs of all rules from one seed as recordings, each in a file; none of a map that is too large."""
        from potentia.errors import InvalidRun
        from potentia.web.making import record

        made = {}
        for name, (trace, frames) in watched.items():
            try:
                made[name] = record(trace, optimum=self.best, label=name, keyframes=frames)
            except InvalidRun as error:
                say(f"no replay: {error}", err=True)
                return {}
            files[f"recording, {name}"] = made[name].save(out / f"recording-{_in_files(name)}.recording")
        return made

    def _draw_beliefs(self, draw: Callable[[str, Any], None], traces: dict[str, Any]) -> None:
        """What robots believed at the end of the runs that are drawn, and how they came to it."""
        from potentia import figures

        if all("belief_error" in batch for batch in self.data.values()):
            draw("learning", figures.learning_figure(self.data, number=self.number))
        for name, trace in traces.items():
            which = f"-{_in_files(name)}" if len(traces) > 1 else ""
            of = f"{name}, seed {self.shown[name]}, on {self.game.world.name}"
            if trace.beliefs:
                title = f"{of}: what robots believe after {self.steps:,} steps"
                draw(
                    f"belief{which}", figures.belief_figure(self.game, trace.beliefs, profile=trace.final, title=title)
                )
            if trace.proposals:
                options = {"steps": self.steps, "robots": None if len(trace.beliefs) == 1 else self.game.num_players}
                title = f"{of}: number of components"
                figure = figures.proposals_figure(trace.proposals, number=self.number, title=title, **options)
                draw(f"proposals{which}", figure)
