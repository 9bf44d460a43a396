"""What stands on the page of a study, but for what is played or solved again: what was played, levels, who is best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from potentia.errors import PotentiaError
from potentia.reports.looking import MOST_MEASURES, Looked
from potentia.reports.pages import Code, Facts, Part, Picture, Section, Table, Text, picture
from potentia.reports.toml import as_toml
from potentia.rules import registered
from potentia.rules.words import rule_text
from potentia.statistics.comparison import Comparison
from potentia.statistics.curves import short
from potentia.statistics.estimates import Estimate
from potentia.studies.results import COMPARED, SHOWN, Overview, compared_rows, overview
from potentia.studies.views import against, best_view

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
    first = seen.curves[0]
    optima, _ = seen.optimum
    word = "lowest" if seen.lowest else "highest"
    if seen.best is not None and seen.best.chosen:
        for game in dict.fromkeys(one.game for one in seen.best.chosen):
            mine = [one for one in seen.best.chosen if one.game == game]
            top = sorted(mine, key=lambda one: one.level.mean, reverse=not seen.lowest)[0]
            name = top.best.setting
            yield _leads(game, name, first.measured, top.level, word, _of_optimum(top.level.mean, optima, game))
            yield from _rivals([one for one in seen.best.comparisons if one.second in (top.best.name, name)], name)
            if top.edge:
                yield f"Its {seen.best.axis} is the first or the last that was tried: the best may lie beyond."
        return
    known = [one for one in seen.curves if np.isfinite(one.level)]
    if not known:
        yield f"No level of {first.measured} is known at the end of any run."
    for game in dict.fromkeys(one.game for one in known):
        mine = sorted((one for one in known if one.game == game), key=lambda one: one.level, reverse=not seen.lowest)
        level = next(row.end for row in _overview(seen).levels if row.name == mine[0].name)
        said = _of_optimum(level.mean, optima, game)
        if len(mine) > 1:
            yield _leads(game, mine[0].setting, first.measured, level, word, said)
        else:
            where = f"on {game}, " if game else ""
            yield f"{where}{first.measured} ends at {level}{said}.".capitalize()
    yield from _rivals(_overview(seen).comparisons, "")


def _leads(game: str, name: str, measured: str, level: Estimate, word: str, said: str) -> str:
    where = f"On {game}, " if game else ""
    return f"{where}{name} has the {word} {measured} at the end: {level}{said}."


def _of_optimum(level: float, optima: Mapping[str, float] | None, game: str) -> str:
    best = (optima or {}).get(game, np.nan)
    if np.isnan(best):
        return ""
    return f", where no profile has more than {best:.6g}"


def _rivals(comparisons: list[Comparison], name: str) -> Iterator[str]:
    """Who is surely behind, and who is not."""
    sure = [one for one in comparisons if one.adjusted < _CLEAR]
    tied = [one for one in comparisons if not one.adjusted < _CLEAR]
    if sure:
        told = "; ".join(_difference(one, name) for one in sure[:6])
        more = f"; and {len(sure) - 6} more" if len(sure) > 6 else ""
        yield f"No chance, as far as these seeds tell (p < {_CLEAR:g}, corrected for all that are compared): {told}{more}."
    if tied:
        told = "; ".join(_difference(one, name) for one in tied[:6])
        more = f"; and {len(tied) - 6} more" if len(tied) > 6 else ""
        yield f"May be chance: {told}{more}."


def _difference(one: Comparison, name: str) -> str:
    behind = "" if name else f" against {one.second}"
    return f"{one.first} ends {one.difference} apart{behind}"


# What was played --------------------------------------------------------------------------------------


def played(seen: Looked) -> Section:
    """The specification, in words and as a file."""
    study, wanted = seen.study, seen.study.specification
    games = list(dict.fromkeys(point["game"] for point in study.points))
    rules = list(dict.fromkeys(point["rule"]["rule"] for point in study.points))
    axes = {name: [] for key in study.manifest["names"] for name in [study.manifest["names"][key]]}
    for one in seen.curves:
        for name, value in one.values.items():
            if value not in axes[name]:
                axes[name].append(value)
    runs = sum(one.seeds.size for one in seen.curves)
    facts = {
        "Games" if len(games) > 1 else "Game": _some(games),
        "Rules" if len(rules) > 1 else "Rule": "; ".join(rules),
    }
    if wanted.belief:
        facts["Belief"] = _some([", ".join(f"{k} {short(v)}" for k, v in table.items()) for table in wanted.belief])
    varies = {name: entries for name, entries in axes.items() if len(entries) > 1}
    if varies:
        facts["What varies"] = "; ".join(f"{name}: {_some(list(map(short, e)))}" for name, e in varies.items())
    facts |= {
        "Runs": f"{runs:,} of {study.num_runs:,}: {len(study.points):,} settings × {len(study.seeds):,} seeds",
        "Each run": f"{wanted.steps:,} steps, recorded every {study.manifest['every']:,}",
        "Recorded": ", ".join(study.record),
    }
    if wanted.start is not None:
        facts["Start"] = f"profile {_some(list(map(str, wanted.start)))}"
    if wanted.events:
        facts["Events"] = "; ".join(wanted.events)
    known = registered()
    said = [[name, known[name].summary] for name in rules if name in known]
    parts: list[Part] = [Facts(facts)]
    if said:
        parts.append(Table("What the rules do", ["rule", "one step"], said))
    settings = list(dict.fromkeys((point["game"], rule_text(point["rule"])) for point in study.points))
    if len(settings) > 1:
        listed = [list(row) for row in settings[:SHOWN]]
        cut = f"{len(settings) - SHOWN:,} more are in the file below" if len(settings) > SHOWN else ""
        parts.append(Table("Every setting", ["game", "rule"], listed, cut))
    parts.append(Code("The specification as a file, to play it again", as_toml(wanted.spec())))
    return Section("What was played", "played", parts)


def _some(texts: list[str], most: int = 12) -> str:
    cut = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return "; ".join(texts[:most]) + cut


# Levels -----------------------------------------------------------------------------------------------


def _overview(seen: Looked, measure: str | None = None) -> Overview:
    wanted = measure or seen.measure
    return overview(seen.study, wanted, most=SHOWN, whole="potentia show --json", curves=seen.of(wanted))


def levels(seen: Looked) -> Section:
    """Each measure over time, with the optimum where it is known, and where runs end."""
    from potentia.figures import study_figure

    parts: list[Part] = []
    for measure in seen.measures[:MOST_MEASURES]:
        curves, (optima, said) = seen.of(measure), seen.optima(measure)
        told = _overview(seen, measure)
        line = "" if optima is None or np.isnan(list(optima.values())).all() else " The dashed line is the optimum."
        caption = f"{told.label} over time.{line}"
        alt = f"{told.label} of {len(curves):,} settings over time; the table below has where they end."
        try:
            parts.append(drawn(study_figure(curves, measure, optimum=optima), caption, alt))
        except PotentiaError as error:
            parts.append(Text(f"No figure of {told.label}: {error}.", "note"))
        parts.append(Table(told.title, ["setting", *told.header[1:]], told.rows, told.note))
        parts += [Text(_sentence(remark), "note") for remark in said]
    left = seen.measures[MOST_MEASURES:]
    if left:
        parts.append(Text(f"Also recorded: {', '.join(left)}. potentia show --measure tells of each.", "note"))
    return Section("Levels over time", "levels", parts)


def _sentence(text: str) -> str:
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
    caption = f"Where runs end against {axis}, with 95 % intervals; a ring is the best of a line."
    parts: list[Part] = [
        drawn(figure, caption, f"Levels at the end against {axis}; the tables below have the numbers."),
        Table(f"Each rule at its best {axis}", best.header, best.rows, _sentence(best.note)),
        Table(f"Levels against {axis}", table.header, table.rows[:SHOWN], _sentence(table.note)),
    ]
    return Section(f"Which {axis} is best", "best", parts)


def compared(seen: Looked) -> Section | None:
    """Paired differences: of rules at their best, and of all settings with the first."""
    parts: list[Part] = []
    if seen.best is not None and seen.best.comparisons:
        rows = compared_rows(seen.best.comparisons)
        note = f"On the same seeds; p by flipping signs, corrected for the {len(rows):,} listed."
        parts.append(Table("Each rule at its best, against the best rule of the game", COMPARED, rows, note))
    told = _overview(seen)
    if told.compared:
        parts.append(Table("Against the first", COMPARED, told.compared, _sentence(told.compared_note)))
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
        "An interval": "is of the mean over seeds at 95 %, by bootstrap.",
        "A comparison": "takes the same seeds in both settings and flips the signs of their differences; p-values are "
        "corrected by Holm's method for all that are listed together.",
    }
    return Section("How it was made", "made", [Facts(facts)])
