"""A scale of the theory claims that is small enough for tests."""

from __future__ import annotations

from potentia.paper.scale import Scale

TINY = Scale("tiny", runs=0, as_printed=0, tuning=0, games=8, learners=4, long=0)
