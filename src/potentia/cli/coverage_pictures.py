"""What potentia cover draws: pictures, replay pages and films."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from potentia.cli.coverage_results import Results, in_files
from potentia.cli.coverage_tables import titled
from potentia.cli.options.common import drawing, save_picture
from potentia.cli.terminal import say

_LONGEST_PATH = 2500  # steps; longer ways fill the picture
_MOST_ROWS = 20_000  # of the run that is drawn


@dataclass(frozen=True)
class Pictured(Results):
    """The same, drawn."""

    def draw(
        self,
        out: Path,
        files: dict[str, Path],
        say: Callable[[str], None],
        page: Path | None,
        beliefs_every: int | None,
        *,
        gif: bool,
        paths: bool | None,
    ) -> None:
        """Pictures, and the state of each run that is drawn; ``files`` grows as they are done."""
        from potentia import figures
        from potentia.studies.coverage_ends import tail_steps
        from potentia.web.pages import MOST, replay

        game, steps = self.game, self.steps

        def draw(name: str, figure: Any) -> None:
            say(name)
            with drawing(out / f"{name}.png"):
                save_picture(figure, out / f"{name}.png", 140)
            files[name] = out / f"{name}.png"

        # states first: should a picture fail, they are there
        traces, watched = self._play(out, files, say, beliefs_every)
        panels = {f"{name}, seed {self.shown}": trace.profiles for name, trace in traces.items()}
        say("replay")
        recordings = {} if page is None else self._recordings(out, files, watched)
        if recordings and page is not None:
            shown = dict(list(recordings.items())[:MOST])
            files["replay"] = replay(shown, page, title=f"{', '.join(shown)}, seed {self.shown}, on {titled(game)}")
        draw("field", figures.field_figure(game.world))
        if game.drifts:
            draw("field-at-the-end", figures.field_figure(game.at(steps).world))
        measure = "worth_sum" if self.paper else "worth_union"
        # what changes within a window is not to be compared with a mean over that
        smooth = None if self.paper or game.drifts or game.events else tail_steps(next(iter(self.data.values())))
        with_belief = f"\nwith the belief {self.belief.name}" if self.belief else ""
        title = f"Covered worth over time\n{titled(game)}{with_belief}"
        look: dict[str, Any] = {"measure": measure, "smooth": smooth, "title": title, "events": game.events}
        figure = figures.worth_figure(self.data, optimum=self.best, published=self.published[0], **look)
        draw("worth", figure)
        walked = steps <= _LONGEST_PATH and None if paths is None else paths
        there = {panel: self.there(name) for panel, name in zip(panels, traces, strict=True)}
        options: dict[str, Any] = {"paths": walked, "title": titled(game), "there": there, "step": steps}
        draw("configurations", figures.configuration_figure(game, panels, **options))
        self._draw_beliefs(draw, traces)
        followed = [r.revision for r in self.rules.values() if hasattr(getattr(r, "revision", None), "a3")]
        if followed:
            draw("revision", figures.revision_figure(followed[0]))
        for name in recordings if gif else ():
            path = out / f"{in_files(name)}.gif"
            say(path.name)
            title = f"{name}, seed {self.shown}, on {game.world.name}"
            recordings[name].film(path, series=measure, title=title)
            files[f"film, {name}"] = path

    def _play(
        self, out: Path, files: dict[str, Path], say: Callable[[str], None], beliefs_every: int | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The run of each rule that is drawn, saved, and the same with its keyframes."""
        from potentia.engine import begin
        from potentia.web.keyframes import Keyframes

        game, steps = self.game, self.steps
        traces, watched = {}, {}
        every = max(1, steps // _MOST_ROWS, steps * game.num_players // 5_000_000)
        options: dict[str, Any] = {
            "record": ("profile", "worth_sum", "worth_union", "distance"),
            "every": every,
            "horizon": steps,
        }
        for name in self.data:
            say(f"playing {name} again")
            frames = Keyframes(begin(game, self.rules[name], self.shown, belief=self.belief, **options))
            run = frames.play(steps, beliefs_every)
            traces[name] = run.trace()
            watched[name] = traces[name], frames
            files[f"run, {name}"] = run.save(out / f"run-{in_files(name)}.npz")
        return traces, watched

    def _recordings(self, out: Path, files: dict[str, Path], watched: dict[str, Any]) -> dict[str, Any]:
        """Runs of all rules from one seed as recordings, each in a file; none of what no recording can hold."""
        from potentia.errors import InvalidRun
        from potentia.web.making import record

        made = {}
        for name, (trace, frames) in watched.items():
            try:
                made[name] = record(trace, optimum=self.best, label=name, keyframes=frames)
            except InvalidRun as error:
                say(f"no replay: {error}", err=True)
                return {}
            files[f"recording, {name}"] = made[name].save(out / f"recording-{in_files(name)}.recording")
        return made

    def _draw_beliefs(self, draw: Callable[[str, Any], None], traces: dict[str, Any]) -> None:
        """What robots believed at the end of the runs that are drawn, and how they came to it."""
        from potentia import figures

        if all("belief_error" in batch for batch in self.data.values()):
            draw("learning", figures.learning_figure(self.data, number=self.number))
        for name, trace in traces.items():
            which = f"-{in_files(name)}" if len(traces) > 1 else ""
            of = f"{name}, seed {self.shown}, on {self.game.world.name}"
            if trace.beliefs:
                title = f"{of}: what robots believe after {self.steps:,} steps"
                options = {"profile": trace.final, "step": self.steps, "there": self.there(name)}
                draw(f"belief{which}", figures.belief_figure(self.game, trace.beliefs, title=title, **options))
            if trace.proposals:
                options = {"steps": self.steps, "robots": None if len(trace.beliefs) == 1 else self.game.num_players}
                title = f"{of}: number of components"
                figure = figures.proposals_figure(trace.proposals, number=self.number, title=title, **options)
                draw(f"proposals{which}", figure)
