"""The command that shows runs again: replay."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from potentia.cli.options.common import Json
from potentia.cli.options.replays import check_film, check_page, files_in, read_from
from potentia.cli.terminal import print_json, progress, say
from potentia.errors import InvalidInput


def replay(
    recordings: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORDING...", help="One to four files of potentia run --recording, or folders of: potentia cover."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="The page to write.", show_default="the first file's name")] = None,
    film: Annotated[
        Path | None,
        typer.Option(
            help="Draw the first one, a run on a map, as a .gif, .png or .webp that moves; with --out the page, too."
        ),
    ] = None,
    robot: Annotated[
        int | None, typer.Option(help="--film: show what this robot believed beside the truth.", show_default="none")
    ] = None,
    frames: Annotated[int, typer.Option(help="--film: how many pictures at most.")] = 100,
    fps: Annotated[float, typer.Option(help="--film: pictures a second.")] = 12.0,
    title: Annotated[str, typer.Option(help="What stands above the page.")] = "",
    json: Json = False,
) -> None:
    """Make a page that replays runs in any browser, or a film.

    Examples:

    \b
        potentia run ring --rule blll --recording ring.recording
        potentia replay ring.recording
        potentia cover --paper --out out/cover
        potentia replay out/cover --out both.html
        potentia replay out/cover/recording-blll.recording --film blll.gif
    """
    from potentia.web import replay as write
    from potentia.web.pages import MOST

    first = recordings[0]
    page = out or (first / "replay.html" if first.is_dir() else first.with_suffix(".html"))
    check_page(page, "--out")
    check_film(film, "--film")
    if robot is not None and film is None:
        raise InvalidInput("is for --film", "robot", robot)
    count = sum(len(files_in(path)) for path in recordings)
    if count > MOST:
        raise InvalidInput(f"takes one to {MOST} recordings, got {count}", "recordings")
    both = [one for path in recordings for one in read_from(path)]
    found, read = [path for path, _ in both], [made for _, made in both]
    labels = [made.header["label"] for made in read]
    if len(set(labels)) < len(labels):
        labels = [path.stem for path in found]
    if len(set(labels)) < len(labels):
        labels = [str(path) for path in found]
    if len(set(labels)) < len(labels):
        raise InvalidInput("names a file twice", "recordings")
    _check_film(read[0], film, robot)
    written: dict[str, Any] = {}
    if film is not None:  # first: it may be refused, and then nothing is written
        with progress("drawing", quiet=json) as tell:
            read[0].film(film, frames=frames, fps=fps, belief=robot, progress=tell)
        written["film"] = str(film)
    if film is None or out is not None:
        written = {"page": str(write(dict(zip(labels, read, strict=True)), page, title=title))} | written
    if json:
        print_json(written)
        return
    for name, path in written.items():
        say(f"{name}: {path}")


def _check_film(made: Any, film: Path | None, robot: int | None) -> None:
    if film is None:
        return
    if made.kind != "map":
        raise InvalidInput(f"is for runs on a map, got one of {made.header['game']['text']}", "film", film)
    robots = made.header["game"]["players"]
    if robot is not None and not 0 <= robot < robots:
        raise InvalidInput(f"must be from 0 to {robots - 1}, got {robot}", "robot", robot)
