"""What the command line's arguments about recordings and replay pages mean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options.common import check_folder, written
from potentia.cli.terminal import progress, say
from potentia.errors import InvalidInput, InvalidRun

BeliefsEvery = Annotated[
    int | None,
    typer.Option(
        help="Steps between the moments at which a recording tells beliefs, scores and strategies; 0 for none.",
        show_default="some dozens of moments; scores of small games up to 2,000, every step if that is enough",
    ),
]


def check_page(path: Path | None, name: str) -> None:
    """Fail early where a page cannot be written."""
    if path is None:
        return
    check_folder(path, name)
    if path.suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(f"{name}: {path.name} must end in .html")


def check_beliefs_every(steps: int | None) -> None:
    """An integer of at least 0, told now and not after the runs."""
    if steps is not None and steps < 0:
        raise InvalidInput(f"must be an integer of at least 0, got {steps}", "beliefs_every", steps)


def page_for(folder: Path, page: Path | None, beliefs_every: int | None) -> Path:
    """Where the page of a study goes, if it can: in its folder unless told otherwise."""
    check_page(page, "--replay")
    check_beliefs_every(beliefs_every)
    return folder / "replay.html" if page is None else page


def check_replay(page: Path | None, recording: Path | None, beliefs_every: int | None) -> None:
    """The same for both, and an option that is for them."""
    check_page(page, "--replay")
    if recording is not None:
        check_folder(recording, "--recording")
        if page is not None and page.resolve() == recording.resolve():
            raise InvalidInput(f"--replay and --recording must be two files, got {page} for both")
    check_beliefs_every(beliefs_every)
    if beliefs_every is not None and page is None and recording is None:
        raise InvalidInput("is for --replay and --recording", "beliefs_every", beliefs_every)


def write_replay(
    page: Path | None, recording: Path | None, summary: dict[str, Any], json: bool, make: Callable[[Any], Any]
) -> None:
    """Make a recording if one of the two was asked for, and write them; not of a run that was stopped."""
    if (page is None and recording is None) or summary["interrupted"]:
        return
    try:
        with progress("recording", quiet=json) as tell:
            made = make(tell)
    except KeyboardInterrupt:
        summary["interrupted"] = True
        raise
    if recording is not None:
        written(summary, "recording", made.save(recording), json)
    if page is not None:
        written(summary, "replay", made.replay(page), json)


def files_in(path: Path) -> list[Path]:
    """The file itself, or the recordings in a folder."""
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.recording"))
    if not found:
        raise InvalidInput(f"{path} has no *.recording in it", "recordings", path)
    return found


def read_from(path: Path) -> list[tuple[Path, Any]]:
    """The same, read; what cannot be read in a folder is told and left out, unless it is all there is."""
    from potentia.web import read_recording

    read, wrong = [], []
    for file in files_in(path):
        try:
            read.append((file, read_recording(file)))
        except InvalidRun as error:
            wrong.append(error)
    if not read:
        raise wrong[0]
    for why in wrong:
        say(f"warning: {why}; it is left out", err=True)
    return read


def check_film(path: Path | None, name: str) -> None:
    """Fail early where a film cannot be written."""
    if path is None:
        return
    from potentia.web.films import ENDINGS

    check_folder(path, name)
    if path.suffix.lower() not in ENDINGS:
        raise InvalidInput(f"{name}: {path.name} must end in one of {', '.join(ENDINGS)}")


def recorded(game: Any, rule: Any, steps: int, seed: int, **options: Any) -> Any:
    """The recording of one run, played for it: every step where that is not too many, else evenly spaced ones."""
    from potentia.engine import begin
    from potentia.web.keyframes import Keyframes
    from potentia.web.making import record

    beliefs_every, label, title, tell = (options.pop(name) for name in ("beliefs_every", "label", "title", "progress"))
    spacing = max(1, steps // 200_000)
    names = ("potential", "welfare") if game.has_potential else ("welfare",)
    chosen = ("worth_union", "worth_sum") if hasattr(game, "world") else names
    run = begin(game, rule, seed, record=("profile", *chosen), every=spacing, horizon=steps, **options)
    frames = Keyframes(run)
    return record(frames.play(steps, beliefs_every, tell).trace(), label=label, title=title, keyframes=frames)
