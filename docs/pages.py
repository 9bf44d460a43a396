"""Writing into the pages of the docs: tables between their marks."""

from __future__ import annotations

from pathlib import Path

from potentia.paper.kept import Kept
from potentia.paper.scale import Scale

HERE = Path(__file__).parent
STUDIES = HERE.parent / "out" / "reproduce" / "studies"  # as potentia reproduce keeps them: each reads the other's


def kept(scale: Scale) -> Kept:
    """What the list of all that is played comes to at a scale; what is missing is played."""
    return Kept(STUDIES, scale, workers=2)


def write(page: str, mark: str, text: str) -> None:
    """Put a table between its marks."""
    begin, end = f"<!-- {mark}:begin -->", f"<!-- {mark}:end -->"
    path = HERE / page
    head, rest = path.read_text(encoding="utf-8").split(begin)
    _, tail = rest.split(end)
    path.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
