"""What people see move: recordings of runs, the page that replays them, films, the 2×2 laboratory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from potentia.kernel.loading import lazy

if TYPE_CHECKING:
    from potentia.web.films import film
    from potentia.web.laboratories import laboratory
    from potentia.web.pages import replay
    from potentia.web.recordings import Believed, Recording, read_recording

__all__ = ["Believed", "Recording", "film", "laboratory", "read_recording", "replay"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "films": ("film",),
        "laboratories": ("laboratory",),
        "pages": ("replay",),
        "recordings": ("Believed", "Recording", "read_recording"),
    },
)
