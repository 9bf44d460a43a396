"""Tables of a report: rows of named cells, and how they are laid out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from potentia.paper.report import words

_FEW, _SHORT = 4, 14  # columns, and letters in a cell


@frozen
class Table:
    """Rows of named cells: numbers, estimates with intervals, text or nothing."""

    caption: str
    rows: Sequence[Mapping[str, Any]]
    name: str = ""  # of its file, without an ending

    @property
    def columns(self) -> list[str]:
        """All names that have a cell in some row, in order."""
        return list(dict.fromkeys(name for row in self.rows for name, cell in row.items() if cell is not None))

    @property
    def small(self) -> bool:
        """Whether it has room on a phone as it is."""
        cells = [words.told(cell) for row in self.rows for cell in row.values()]
        return len(self.columns) <= _FEW and max(map(len, cells), default=0) <= _SHORT

    def is_number(self, column: str) -> bool:
        """Whether a column belongs flush right: most of its cells are numbers, or are written as one."""
        cells = [row[column] for row in self.rows if row.get(column) is not None]
        return 2 * sum(words.NUMBER.match(words.told(cell)) is not None for cell in cells) > len(cells)
