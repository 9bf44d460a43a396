"""Films of recordings: animated pictures, drawn without matplotlib."""

from __future__ import annotations

from potentia.web.films.files import ENDINGS
from potentia.web.films.filming import film

__all__ = ["ENDINGS", "film"]
