"""What stands on the page of a study, but for what is played or solved again: what was played, levels, who is best."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from potentia.errors import PotentiaError
from potentia.kernel.texts import counted
from potentia.reports.looking import MOST_MEASURES, MOST_ROWS, Looked
from potentia.reports.pages import Code, Facts, Part, Picture, Section, Table, Text, picture
from potentia.reports.toml import as_toml
from potentia.rules import registered
from potentia.rules.words import rule_text
from potentia.statistics.choosing import equals
from potentia.statistics.comparison import Comparison
from potentia.statistics.curves import Curves, short
from potentia.statistics.estimates import FEW, bootstrap_mean
from potentia.studies.building import FILES
from potentia.studies.kept import plain, told_apart
from potentia.studies.lines import incomplete
from potentia.studies.results import COMPARED, compared_rows
from potentia.studies.views import against, best_view

_TOO_SMALL = "p-values are too small where {} was chosen on the same seeds: to be sure, play the best again on new ones"
_CLEAR = 0.05  # of the corrected p-value, below which a difference is none by chance


def drawn(figure: Any, caption: str, alt: str) -> Picture:
    """A figure, its layout settled once."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine(None)
    return picture(figure, caption, alt)


# In short ---------------------------------------------------------------------------------------------


def in_short(seen: Looked) -> Section:
    """The answer, in sentences."""
    return Section("In short", "short", [Text(text, "lead" if k == 0 else "") for k, text in enumerate(_short(seen))])


def _short(seen: Looked) -> Iterator[str]:
    """For each game who is best, who is behind, and who is not told apart."""
    if missing := incomplete(seen.study, seen.curves):
        yield f"The study is {missing}."
    optima, word = seen.optimum[0], "lowest" if seen.lowest else "highest"
    known = [one for one in seen.curves if np.isfinite(one.level)]
    if not known:
        yield f"No level of {seen.curves[0].measured} is known at the end of any run."
    for game in dict.fromkeys(one.game for one in known):
        mine = [one for one in (seen.at_best or known) if one.game == game and np.isfinite(one.level)]
        ranked = sorted(mine, key=lambda one: one.level, reverse=not seen.lowest)
        top, same = ranked[0], [ranked[place] for place in equals(ranked, 0)]
        level, best = bootstrap_mean(top.levels), (optima or {}).get(game, np.nan)
        where = f"On {game}, " if game else ""
        bound = "" if np.isnan(best) else f"; no profile has more than {best:.6g}"
        if len(known) == 1:
            yield sentence(f"{where}{top.measured} ends at {level}{bound}")
        else:
            who = some([_called(seen, one) for one in same], 6) + (" has the" if len(same) == 1 else " have the same,")
            yield f"{where}{who} {word} {top.measured} at the end: {level}{bound}."
            yield from _cost_of(seen, top)
        others = {one.number for one in mine} - {one.number for one in same}
        behind = [(one, told) for one, told in seen.behind if one.game == game and one.number in others]
        yield from _behind(behind, len(seen.behind))
        tops = [] if seen.best is None else [one for one in seen.best.chosen if one.best is top]
        if tops and tops[0].edge and len(same) == 1:
            yield f"Its {seen.best.axis} is at the edge of what was tried: the best may lie beyond."  # type: ignore[union-attr]
    if seen.behind and seen.is_chosen:
        yield sentence(_TOO_SMALL.format(seen.best.axis))  # type: ignore[union-attr]


def _cost_of(seen: Looked, top: Curves) -> Iterator[str]:
    """What the best setting takes that is no part of its level, and whether so many seeds can tell it from others."""
    if "distance" in seen.measures and seen.measure != "distance":
        found = [one for one in seen.of("distance") if one.game == top.game]
        ways = {one.number: float(one.curves[:, -1].mean()) for one in found}
        unit, own = found[0].unit, ways.pop(top.number, np.nan)
        others = sorted(ways.values())
        if others and np.isfinite([own, *others]).all():
            range_ = f"{others[0]:,.4g}" + f" to {others[-1]:,.4g}" * (len(others) > 1)
            which = "the other setting" if len(others) == 1 else f"the {len(others):,} other settings"
            yield f"For that its robots drive {own:,.4g} {unit}; in {which} {range_}."
    least = 2.0 ** (1 - top.seeds.size)
    if least >= _CLEAR:
        yield (
            f"{counted(top.seeds.size, 'seed')} cannot tell two settings apart: however clear a difference is, its p "
            f"is at least {least:.4g}. Play more seeds before you choose."
        )


def _called(seen: Looked, one: Curves) -> str:
    """A setting, with all values at which its rule is as good."""
    if seen.best is not None:
        axis = seen.best.axis
        for rule in seen.best.chosen:
            if rule.best is one and len(rule.equal) > 1:
                return one.setting.replace(f"{axis}={short(rule.value)}", f"{axis}={rule.told}")
    return one.setting


def _behind(found: list[tuple[Curves, Comparison]], count: int) -> Iterator[str]:
    """Who is behind, and who may be as good, of so many comparisons on the page."""
    told = [(f"{one.setting} ({compared.difference})", compared.adjusted < _CLEAR) for one, compared in found]
    clear, tied = ([text for text, is_clear in told if is_clear == wanted] for wanted in (True, False))
    if clear:
        how = f"with p < {_CLEAR} corrected for {counted(count, 'comparison')}"
        yield f"Behind it, seed by seed, {how}: {some(clear, 6)}."
    if tied:
        yield f"Not told apart from it by so many seeds: {some(tied, 6)}."


# What was played --------------------------------------------------------------------------------------


def played(seen: Looked) -> Section:
    """The specification, in words and as a file."""
    study, wanted = seen.study, seen.study.specification
    games, tables = told_apart(point["game"] for point in study.points), list(map(_told, wanted.game))
    rules = list(dict.fromkeys(point["rule"]["rule"] for point in study.points))
    axes: dict[str, list[Any]] = {name: [] for name in study.manifest["names"].values()}
    for one in seen.curves:
        for name, value in one.values.items():
            if value not in axes[name]:
                axes[name].append(value)
    settings = counted(len(study.points), "setting")
    runs = sum(one.seeds.size for one in seen.curves)
    facts = {
        "Games" if len(games) > 1 else "Game": f"{some(tables)} ({some(games, 4)})",
        "Rules" if len(rules) > 1 else "Rule": "; ".join(rules),
    }
    if wanted.belief:
        facts["Belief"] = some(list(map(_told, wanted.belief)))
    varies = {name: entries for name, entries in axes.items() if len(entries) > 1}
    if varies:
        facts["What varies"] = "; ".join(f"{name}: {some(list(map(short, e)))}" for name, e in varies.items())
    facts |= {
        "Runs": f"{runs:,} of {study.num_runs:,}: {settings} × {counted(len(study.seeds), 'seed')}",
        "Each run": f"{wanted.steps:,} steps, recorded every {study.manifest['every']:,}",
        "Recorded": ", ".join(study.record),
    }
    if wanted.start is not None:
        facts["Start"] = f"profile {some(list(map(str, wanted.start)))}"
    if wanted.events:
        facts["Events"] = "; ".join(wanted.events)
    known = registered()
    said = [[name, known[name].summary] for name in rules if name in known]
    parts: list[Part] = [Facts(facts)]
    if said:
        parts.append(Table("What the rules do", ["rule", "one step"], said))
    listed = [[one.name, rule_text(study.points[one.number]["rule"])] for one in seen.curves]
    if len(listed) > 1:
        cut = f"{len(listed) - MOST_ROWS:,} more are in the file below." if len(listed) > MOST_ROWS else ""
        parts.append(Table("Every setting", ["setting", "its rule"], listed[:MOST_ROWS], cut))
    parts.append(Code("The specification as a file, to play it again", as_toml(wanted.spec())))
    return Section("What was played", "played", parts)


def _told(table: dict[str, Any]) -> str:
    """A table of a specification in a line: ring, players 12."""
    first = [str(table[name]) for name in ("label", "name") if name in table]
    others = ((key, plain(e) if key in FILES and isinstance(e, str) else e) for key, e in table.items())
    return ", ".join([*first, *(f"{key} {short(e)}" for key, e in others if key not in ("label", "name"))])


def some(texts: list[str], most: int = 12) -> str:
    """The first of them, and how many more there are."""
    cut = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return "; ".join(texts[:most]) + cut


# Levels -----------------------------------------------------------------------------------------------


def levels(seen: Looked) -> Section:
    """Each measure over time, with the optimum where it is known, and where runs end."""
    from potentia.figures import study_figure

    parts: list[Part] = []
    remarks: list[str] = []  # each is made once
    for measure in seen.measures[:MOST_MEASURES]:
        curves, (optima, said) = seen.few(seen.of(measure)), seen.optima(measure)
        told = seen.overview(measure)
        line = "" if optima is None else " Dashes and dots: the optimum."
        cut = len(curves) < len(told.curves)
        which = "" if not cut else f", {_leading(seen)} of {len(told.curves):,} settings"
        caption = f"{sentence(told.label)[:-1]} over time{which}.{line}"
        alt = f"{told.label} of {counted(len(curves), 'setting')} over time; the table below has where all end."
        try:
            parts.append(drawn(study_figure(curves, measure, optimum=optima, events=seen.events), caption, alt))
        except PotentiaError as error:
            parts.append(Text(f"No figure of {told.label}: {error}.", "note"))
        parts.append(Table(told.title, ["setting", *told.header[1:]], told.rows, told.note))
        parts += [Text(sentence(remark), "note") for remark in said if remark not in remarks]
        remarks += said
    left = seen.measures[MOST_MEASURES:]
    if left:
        parts.append(Text(f"Also recorded: {', '.join(left)}. potentia show --measure tells of each.", "note"))
    return Section("Levels over time", "levels", parts)


def _leading(seen: Looked) -> str:
    """Which settings stand for all."""
    return f"each rule at its best {seen.best.axis} (see below), out" if seen.best else "the best"


def sentence(text: str) -> str:
    """A text as a sentence begins and ends."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


# Parameters and comparisons ---------------------------------------------------------------------------


def parameters(seen: Looked) -> Section | None:
    """Levels against the parameter that varies most, and the best value of it for each rule."""
    from potentia.figures import level_figure

    if seen.best is None:
        return None
    axis, optima = seen.best.axis, seen.optimum[0]
    table, best = against(seen.curves, axis, lowest=seen.lowest, optima=optima), best_view(seen.best, optima)
    figure = level_figure(seen.curves, axis, optimum=optima, lowest=seen.lowest)
    enough = any(one.seeds.size >= FEW for one in seen.curves)
    bars = "with 95 % intervals" if enough else f"without intervals, which take {FEW} seeds"
    caption = f"Where runs end against {axis}, {bars}; a ring is the best of a line."
    parts: list[Part] = [
        drawn(figure, caption, f"Levels at the end against {axis}; the tables below have the numbers."),
        Table(f"Each rule at its best {axis}", best.header, best.rows, sentence(best.note)),
        Table(f"Levels against {axis}", table.header, table.rows[:MOST_ROWS], sentence(table.note)),
    ]
    return Section(f"Which {axis} is best", "best", parts)


def comparisons(seen: Looked) -> Section | None:
    """Paired differences: of rules at their best, and of rules at the same setting."""
    parts: list[Part] = []
    if seen.behind:
        rows = compared_rows([told for _, told in seen.behind])
        note = f"on the same seeds; p by flipping signs, corrected for the {len(rows):,} listed"
        if seen.is_chosen:
            note += f"; {_TOO_SMALL.format(seen.best.axis)}"  # type: ignore[union-attr]
        who = "Each rule at its best" if seen.best else "Each setting"
        parts.append(Table(f"{who}, against the best of the game", COMPARED, rows, sentence(note)))
    told = seen.overview(seen.measure)
    if told.compared and seen.best:  # else the same pairs stand above already
        parts.append(Table("Against the first", COMPARED, told.compared, sentence(told.compared_note)))
    return Section("Compared seed by seed", "compared", parts) if parts else None


# How it was made --------------------------------------------------------------------------------------


def made(seen: Looked, command: str) -> Section:
    """Enough to make it again."""
    study = seen.study
    facts = {
        "Made with": f"potentia {study.manifest['potentia']}",
        "Study": f"{study.folder.name}, identity {study.manifest['identity']}",
        "By": command,
        "A level": "is the mean over the last tenth of a run.",
        "An interval": f"is of the mean over seeds at 95 %, by bootstrap; with fewer than {FEW} there is none.",
        "A comparison": "takes the same seeds in both settings and flips the signs of their differences; p-values are "
        "corrected by Holm's method for all that are listed together.",
    }
    return Section("How it was made", "made", [Facts(facts)])
