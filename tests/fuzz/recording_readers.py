"""Recordings, read and looked at: as files, and as what is inside their compression, beyond its checksum."""

from __future__ import annotations

import zlib
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.fuzz.reader import Reader, Seeds


class Recordings(Reader):
    """Files as they are written."""

    def made(self) -> list[bytes]:
        """Of runs of several kinds."""
        from tests.recordings import case

        return [case(number).trace().recording(beliefs_every=10).to_bytes() for number in (4, 6, 7, 9, 12, 21)]

    @cached_property
    def seeds(self) -> Seeds:
        return [(".recording", content) for content in self.made()]

    def read(self, path: Path) -> None:
        import potentia as pt

        look_at(pt.read_recording(path))


class Inside(Recordings):
    """The same without compression, which is put around them before they are read."""

    special = False

    @cached_property
    def seeds(self) -> Seeds:
        return [(".inside", zlib.decompress(content, 31)) for content in self.made()]

    def read(self, path: Path) -> None:
        squeeze = zlib.compressobj(1, zlib.DEFLATED, 31)
        whole = path.with_suffix(".recording")
        whole.write_bytes(squeeze.compress(path.read_bytes()) + squeeze.flush())
        super().read(whole)


def look_at(made: Any) -> None:
    """Everything that a page or a film would ask for."""
    from potentia.web.pages import page

    for step in {0, made.steps // 2, made.steps}:
        profile = made.profile(step)
        if made.kind == "map":
            made.worth(step), made.flags(step), made.counts(profile), made.positions(profile)
        for row in made.header["series"]:
            made.value(row["name"], step)
        if (frame := made.keyframe(step)) >= 0:
            made.belief(frame), made.thoughts(frame)
    repr(made), page({"it": made}, "")
