"""The seeds of a study that has grown: in which order they were asked for, and which are new.

A range may have a billion of them, so ranges are never listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from potentia.studies.specification import Seeds

Interval = tuple[int, int]  # first, and the one after the last


def plain_seeds(seeds: Sequence[int]) -> dict[str, int] | list[int]:
    """As a specification has them."""
    return {"first": seeds.start, "count": len(seeds)} if isinstance(seeds, range) else list(seeds)


def seeds_from(plain: Any) -> Sequence[int]:
    """The same from plain data."""
    found = Seeds.model_validate(plain) if isinstance(plain, dict) else None
    return list(plain) if found is None else range(found.first, found.first + found.count)


def intervals(parts: Iterable[Sequence[int]]) -> list[Interval]:
    """All that these have, ascending, neighbours joined; ValueError where one is there twice."""
    found: list[Interval] = []
    for part in parts:
        found += [(part.start, part.stop)] if isinstance(part, range) else [(seed, seed + 1) for seed in part]
    joined: list[Interval] = []
    for first, stop in sorted(found):
        if joined and first < joined[-1][1]:
            raise ValueError(f"seed {first} is there twice")
        if joined and first == joined[-1][1]:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((first, stop))
    return joined


def without(ours: list[Interval], others: list[Interval]) -> list[range]:
    """What the first have and the second have not, ascending."""
    left: list[range] = []
    for first, stop in ours:
        at = first
        for begin, end in others:
            if at < end and begin < stop:
                left += [range(at, begin)] if at < begin else []
                at = end
        left += [range(at, stop)] if at < stop else []
    return left


def new_parts(wanted: Sequence[int], parts: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """What is wanted and in none of the parts, in the order in which it is wanted."""
    if isinstance(wanted, range):
        return list(without(intervals([wanted]), intervals(parts)))
    known = [part if isinstance(part, range) else set(part) for part in parts]
    left = [seed for seed in wanted if not any(seed in part for part in known)]
    return [left] if left else []
