"""Labels beside crowded points: pushed apart until none hides another or a point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from potentia.kernel.arrays import Floats

_HEIGHT = 12.0  # points, box included
_ROUNDS = 400


def apart(anchors: Floats, texts: Sequence[str], corners: Floats, size: float) -> Floats:
    """Offsets (n, 2) of the centres of labels from their ``anchors``, all in typographical points.

    A label starts outwards of the points around its own. Then overlapping boxes push each other, boxes move off
    the points, and a weak spring keeps each near its own; all stay between ``corners``. No randomness.
    """
    count = len(anchors)
    half = np.stack([np.array([0.3 * size * len(text) + 3.5 for text in texts]), np.full(count, _HEIGHT / 2)], axis=1)
    low, high = corners.min(axis=0) + half, corners.max(axis=0) - half
    high = np.maximum(low, high)
    crowd = np.exp(-(((anchors[:, None] - anchors[None]) / 40.0) ** 2).sum(axis=-1))
    away = anchors - (crowd @ anchors) / crowd.sum(axis=1, keepdims=True)
    angle = 2.399963 * np.arange(count)  # the golden angle, for points that lie alone or symmetrically
    away += 1e-3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    place = anchors + 14.0 * away / np.hypot(*away.T)[:, None]
    for _ in range(_ROUNDS):
        push = 0.03 * (anchors - place)
        push += _pushed(place[:, None] - place[None], half[:, None] + half[None] + 1.0)
        push += _pushed(place[:, None] - anchors[None], half[:, None] + 4.0)
        place = np.clip(place + push, low, high)
    return place - anchors


def _pushed(between: Floats, room: Floats) -> Floats:
    """How far each box moves: half of what it overlaps, along the axis on which it overlaps less."""
    overlap = np.maximum(room - np.abs(between), 0.0)
    overlap[~(overlap > 0).all(axis=-1)] = 0.0
    overlap[(between == 0).all(axis=-1)] = 0.0  # itself
    sideways = overlap[..., 0] <= overlap[..., 1]
    overlap[..., 0] *= sideways
    overlap[..., 1] *= ~sideways
    push: Floats = 0.5 * (overlap * np.where(between < 0, -1.0, 1.0)).sum(axis=1)
    return push
