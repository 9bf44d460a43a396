"""What potentia cover says and writes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from potentia.cli.coverage_tables import length, print_comparisons, print_costs, print_recoveries
from potentia.cli.options.beliefs import belief_text
from potentia.cli.options.maps import in_column, places_csv, places_outside
from potentia.cli.options.rules import rule_text
from potentia.cli.terminal import print_table, say
from potentia.kernel.texts import value

_MOST_PLACES = 20  # robots whose cells are listed on the screen


def in_files(rule: str) -> str:
    """A rule's name as part of a file name; it must not lead to another folder."""
    return re.sub(r"[\x00-\x1f\x7f/\\:]", "-", rule)


def _count(mean: float) -> str:
    """A mean of counts: few are not rounded to whole ones."""
    return f"{mean:,.0f}" if mean >= 9.95 else f"{mean:.1f}".removesuffix(".0")


def _when(goal: int, covered: Any) -> str:
    return str(covered.arrivals[goal])


def _apart(covered: Any) -> str:
    ends = covered.driven_least, covered.driven_most
    return "–" if math.isnan(ends[0]) else " to ".join(map(length, ends))


def _far(goal: int, covered: Any) -> str:
    distance = covered.arrivals[goal].distance
    return "–" if math.isnan(distance) else length(distance)


def announce(game: Any, rules: dict[str, Any], belief: Any, steps: int) -> None:
    """What is going to be played: said before anything takes long."""
    from potentia.studies.coverage_measures import coverable

    when = " at the start" if game.drifts else ""
    say(f"{game.describe()}; all cells that can be covered are together worth {value(coverable(game))}{when}")
    for name, chosen in rules.items():
        say(f"{name}: {rule_text(chosen.spec())}{_in_numbers(chosen, game, steps)}")
    if belief is not None:
        say(f"belief: {belief_text(belief, game)}")


def _in_numbers(rule: Any, game: Any, steps: int) -> str:
    """What a temperature relative to the map is in units of worth."""
    tau = getattr(rule, "tau", None)
    if tau is None or tau.on(game) is tau:
        return ""
    first, last = (value(tau.on(game).at(step, steps)) for step in (0, steps))
    return f"; that is tau {first}" + ("" if first == last else f" to {last}")


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
    without: dict[str, Any] = field(default_factory=dict)  # the same batches without events
    paper: bool = False  # whether it began as the paper's experiment

    @cached_property
    def covered(self) -> dict[str, Any]:
        from potentia.studies.coverage import summarise

        bound = getattr(self.best, "bound", self.best)  # over time, all of them
        return {name: summarise(batch, bound, self.game.world.length) for name, batch in self.data.items()}

    @cached_property
    def shown(self) -> int:
        """The seed that all rules are drawn and replayed with, from one start: the one nearest to all medians."""
        from potentia.studies.coverage_ends import typical

        return typical(*self.data.values())

    @cached_property
    def costs(self) -> dict[str, Any]:
        """What events cost, by rule, as far as runs without them were played."""
        from potentia.studies.coverage_pairs import cost_of_events

        pairs = {name: (self.data[name], batch) for name, batch in self.without.items()}
        most = getattr(self.best, "bound", math.inf)  # as for the worth; over time there are several
        found = {name: cost_of_events(*both, self.game.happenings, most) for name, both in pairs.items()}
        return {name: cost for name, cost in found.items() if cost is not None}

    @cached_property
    def comparisons(self) -> list[Any]:
        """Every rule less the first, run by run."""
        from potentia.studies.coverage_pairs import compared

        return compared(self.data)

    @cached_property
    def published(self) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """What was published of these rules, and why it does not belong beside the others."""
        from potentia.paper.beside import published_beside

        played = {name: self.rules[name] for name in self.data}
        return published_beside(self.game, played, self.steps, self.belief) if self.paper else ({}, {})

    def places(self, name: str) -> list[list[int]]:
        """Where the robots of that run end, cells (x, y)."""
        batch = self.data[name]
        final = batch.final.sel(seed=self.shown).values
        return [[int(x), int(y)] for x, y in self.game.positions(final)]

    def driven(self, name: str) -> list[float]:
        """How far each robot of that run drove, in the world's unit."""
        found = self.data[name].driven.sel(seed=self.shown) * self.game.world.length[0]
        return [float(way) for way in found.values]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        rules = {
            name: {
                "rule": self.rules[name].spec(),
                **covered.to_dict(),
                "shown_seed": self.shown,
                "shown_positions": self.places(name),
                **self._events_of(name),
                **({} if (bound := self._bound_by_most(name)) is None else {"runs_bound_by_most": bound}),
                **self._outside(name),
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
            "shown_seed": self.shown,
            "rules": rules,
            **({"comparisons": [one.to_dict() for one in self.comparisons]} if len(rules) > 1 else {}),
            **({"published": self.published[0]} if self.paper else {}),
        }

    def recoveries(self, name: str) -> list[Any]:
        """What each event did to the runs of a rule."""
        from potentia.studies.coverage import recoveries

        return recoveries(self.data[name], self.game.happenings)

    def _events_of(self, name: str) -> dict[str, Any]:
        if not self.game.events:
            return {}
        there = self.there(name)
        told = {"shown_there": there.tolist(), "robots_left": self._robots_left(name)}
        cost = {"cost_of_events": self.costs[name].to_dict()} if name in self.costs else {}
        return {"recovery": [one.to_dict() for one in self.recoveries(name)], **cost, **told}

    def there(self, name: str) -> Any:
        """Which robots are there at the end of the run that is drawn."""
        if "until" not in self.data[name]:
            return self.game.there_at(self.steps)
        run = self.data[name].sel(seed=self.shown)
        return (run.since.values <= self.steps) & (self.steps < run.until.values)

    def _robots_left(self, name: str) -> float:
        """At the end, in the mean over runs."""
        until, since = (self.data[name][part].values for part in ("until", "since"))
        return float(((since <= self.steps) & (self.steps < until)).sum(axis=1).mean())

    def _outside(self, name: str) -> dict[str, Any]:
        world = self.game.world
        return {} if world.outside is None else {"shown_coordinates": places_outside(world, self.places(name))}

    # On the screen ------------------------------------------------------------------------------------

    def print(self) -> None:
        """The table, and where the robots end."""
        names = list(self.covered)
        first = self.covered[names[0]]
        rows = [[label, *(text(self.covered[name]) for name in names)] for label, text in self._lines()]
        runs = f"{first.runs} runs" if first.runs > 1 else "1 run"
        runs += "" if first.runs == self.asked else f" of {self.asked} asked for,"
        caption = f"means over {runs} of {self.steps:,} steps, worth over the last {min(first.tail, self.steps):,}"
        if self.costs and self.steps - max(self.game.happenings.times, default=0) < first.tail:
            caption += " (with those before the last event, unlike what events cost)"
        print_table(["", *names], rows, caption + ("; in brackets 95 % intervals" if first.runs >= 5 else ""))
        print_comparisons(self.comparisons)
        self._print_events(names)
        self._print_published()
        self._print_bound()
        for name in names:
            self._print_places(name)

    def _print_events(self, names: list[str]) -> None:
        """What each event did, and what all of them cost."""
        if not self.game.events:
            return
        from potentia.studies.coverage_ends import stretch_steps

        stretch = min(stretch_steps(self.data[names[0]]), self.steps)
        print_recoveries({name: self.recoveries(name) for name in names}, stretch)
        print_costs(self.costs, self.game.events, min(self.covered[names[0]].tail, self.steps))
        if self.game.happenings.hazard:
            left = ", ".join(f"{self._robots_left(name):.3g} ({name})" for name in names)
            say(f"robots left at the end, of {self.game.num_players}, in the mean over runs: {left}")

    def _print_published(self) -> None:
        """The paper's numbers, beside the paper's setting only."""
        from potentia.figures.coverage_time import told

        entries, others = self.published
        if entries:
            say(f"published Σ C: {', '.join(f'{name} {told(entry, runs=True)}' for name, entry in entries.items())}")
        for name, why in others.items():
            say(f"{name}: not as published ({', '.join(why)}), so no published number is beside it")

    def _bound_by_most(self, name: str) -> int | None:
        """In how many runs all mixtures end with as many components as they may have; None where none learns it."""
        most = getattr(self.belief, "most", None)
        return None if most is None else int((self.data[name].components.isel(time=-1) >= most).sum())

    def _print_bound(self) -> None:
        for name in self.covered:
            bound, runs = self._bound_by_most(name), self.covered[name].runs
            if bound:
                who = f"{name}: " * (len(self.covered) > 1) + f"in {bound} of {runs} runs " * (runs > 1)
                left = "" if self.game.happenings.hazard else f" {self.there(name).sum()}"
                there = " that are there" * bool(self.game.events)
                told = f"end with {self.belief.most} components, the most that --most allows"
                say(f"{who}all{left} robots{there} {told}")

    def _lines(self) -> list[tuple[str, Callable[[Any], str]]]:
        world = self.game.world
        proven = self.best is None or self.best.proven
        lines: list[tuple[str, Callable[[Any], str]]] = [
            ("covered worth, each cell once (union)", lambda c: str(c.worth_union)),
            ("covered worth, Σ C (once per robot)", lambda c: str(c.worth_sum)),
        ]
        if self.best is not None:
            label = "share of the optimum" if proven else "share of the bound on the optimum"
            label += ", as if none failed by chance" if self.game.happenings.hazard else ""
            if hasattr(self.best, "times"):  # as the world changes, or robots come and go
                between = "" if self.best.everywhere else " (interpolated)"
                lines.append((f"{label}, at the end{between}", lambda c: str(c.share_end)))
                lines.append((f"{label}, mean over all steps{between}", lambda c: str(c.share_over_run)))
            else:
                lines.append((label, lambda c: str(c.share)))
        lines += [
            *self._goal_lines(),
            ("first at 90 % of what it ends with, at step", lambda c: _count(c.steps_to_90.mean)),
            ("settled, no more below 90 % of what it ends with, from step", lambda c: _count(c.settled.mean)),
            ("moves made, all robots", lambda c: _count(c.moves.mean)),
            *self._way_lines(),
        ]
        if (self.game.movement_cost > 0).any():
            lines.append(("energy spent on moving", lambda c: str(c.energy)))
        lines += [
            ("revisions that changed nothing", lambda c: f"{c.rejected:.1%}"),
            ("distinct cells seen", lambda c: f"{_count(c.cells_seen.mean)} of {world.worth.size:,}"),
        ]
        if len(world.targets):
            lines.append((f"targets found, of {len(world.targets)}", lambda c: f"{c.targets_found.mean:.3g}"))
        return lines + self._belief_lines()

    def _way_lines(self) -> list[tuple[str, Callable[[Any], str]]]:
        """How far robots drove."""
        unit = self.game.world.length[1]
        throughout = ", of those there throughout" if self.game.events else ""
        return [
            (f"distance driven, {unit}, all robots", lambda c: str(c.distance)),
            (f"by one robot in any run, {unit}, least to most{throughout}", _apart),
        ]

    def _goal_lines(self) -> list[tuple[str, Callable[[Any], str]]]:
        """How long it took to cover so much of the optimum, in steps and on the way."""
        unit, arrivals = self.game.world.length[1], next(iter(self.covered.values())).arrivals
        lines: list[tuple[str, Callable[[Any], str]]] = []
        what = "the optimum" if self.best is None or self.best.proven else "its bound"
        if not getattr(self.best, "everywhere", True):
            what += " (interpolated)"
        for k, goal in enumerate(arrivals):
            until = f"{goal.share:.0%} of {what}".replace("%", " %")
            lines.append((f"how long: steps until {until} (median)", partial(_when, k)))
            lines.append((f"how far: {unit} until {until} (median)", partial(_far, k)))
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
            "cells_known": ("cells a robot knows", lambda c: f"{_count(c.cells_known.mean)} of {cells:,}"),
            "contacts": ("exchanges between two robots", lambda c: _count(c.contacts.mean)),
            "data_sent": ("cells told in them", lambda c: _count(c.data_sent.mean)),
        }
        return [line for name, line in lines.items() if getattr(first, name) is not None]

    @property
    def number(self) -> int | None:
        """Of the components of the map's own mixture."""
        mixture = self.game.world.mixture
        return None if mixture is None else int(mixture.num_components)

    def _print_places(self, name: str) -> None:
        places = self.places(name)
        there = self.there(name)
        shown = zip(places[:_MOST_PLACES], there.tolist(), strict=False)
        listed = ", ".join(f"({x}, {y})" + ("" if here else " failed") for (x, y), here in shown)
        more = f" and {len(places) - _MOST_PLACES:,} more" if len(places) > _MOST_PLACES else ""
        which = "the median run" if len(self.data) == 1 else "of all the one nearest to the median of every rule"
        say(f"{name} ends at {listed}{more} (seed {self.shown}, {which})")
        world = self.game.world
        if world.outside is not None:
            outside = places_outside(world, places[:_MOST_PLACES])
            listed = ", ".join(f"({x:.12g}, {y:.12g})" for x, y in outside)
            say(f"that is, {' and '.join(world.axes_names())}: {listed}{more}")

    def print_files(self, files: dict[str, Path]) -> None:
        """What was written."""
        for name, path in files.items():
            say(f"{name:>28}: {path}")

    # In files -----------------------------------------------------------------------------------------

    def write(self, out: Path, files: dict[str, Path]) -> None:
        """Records of all runs, and where those end that are drawn; ``files`` grows as they are done."""
        from potentia.kernel.files import whole_file
        from potentia.studies.summary import write_netcdf

        for name, batch in self.data.items():
            records, cells = out / f"records-{in_files(name)}.nc", out / f"cells-{in_files(name)}.csv"
            write_netcdf(batch, records)
            files[f"records, {name}"] = records
            with whole_file(cells) as temporary:
                temporary.write_text(self._cells_csv(name), encoding="utf-8")
            files[f"final cells, {name}"] = cells
        for name in self.costs:
            records = out / f"records-{in_files(name)}-without-events.nc"
            write_netcdf(self.without[name], records)
            files[f"without events, {name}"] = records

    def _cells_csv(self, name: str) -> str:
        """Final cells, with coordinates where the map has any, ways, and with events whether robots are there."""
        columns = {in_column("driven", self.game.world.length[1]): [f"{way:.6g}" for way in self.driven(name)]}
        if self.game.events:  # a robot that has failed lies where it was, and covers nothing
            columns["there"] = [str(int(here)) for here in self.there(name)]
        return places_csv(self.game.world, self.places(name), columns)
