# SPDX-License-Identifier: MIT
from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from . import _tmatch
from ._match import Match
from ._prepared import warn_of_peaks

# (x, y, score, rank, dx, dy): the greater the rank the better, also where scores would be rounded.
Position: TypeAlias = tuple[int, int, float, int, float, float]


@dataclass(frozen=True, slots=True)
class Part:
    """What some rows of a frame's score map have to say about the whole frame's matches.

    It holds numbers alone, few, and can be pickled; merge makes matches of a frame's parts.

    rows           rows [first, end) of the map
    map_height     how many rows the whole map has
    template_size  (width, height)
    metric         the number of the metric
    positions      those that may be matches of the whole frame, the best first
    best           the best position of these rows, or None where the frame's mask leaves none
    cut_off        there were more peaks than peaks allows, and worse positions are missing
    search         what was searched: (n, min_score, overlap, margin, subpixel, peaks)
    """

    rows: tuple[int, int]
    map_height: int
    template_size: tuple[int, int]
    metric: int
    positions: list[Position]
    best: Position | None
    cut_off: bool
    search: tuple[int, float | None, float, bool, bool, int]


def _check(parts: list[Part]) -> None:
    """Says which rows are missing or double."""
    if not parts:
        raise ValueError("there are no parts")
    first = parts[0]
    end = 0
    for part in sorted(parts, key=lambda p: p.rows):
        if (part.map_height, part.template_size, part.metric) != (
            first.map_height,
            first.template_size,
            first.metric,
        ):
            raise ValueError("the parts are not of one map: their frames, templates or metrics differ")
        if part.search != first.search:
            raise ValueError("the parts were not searched for the same")
        if part.rows[0] > end:
            raise ValueError(f"rows {end} to {part.rows[0] - 1} of the map are in no part")
        if part.rows[0] < end:
            raise ValueError(f"rows {part.rows[0]} to {end - 1} of the map are in two parts")
        end = part.rows[1]
    if end < first.map_height:
        raise ValueError(f"rows {end} to {first.map_height - 1} of the map are in no part")


def merge(parts: Iterable[Part]) -> list[Match]:
    """The matches of a frame by its parts: those that one call of match finds, in their order.

    The parts, of Matcher.match_part, come in any order, and have every row of the map once; else
    ValueError says which rows are missing or double.
    """
    known = list(parts)
    _check(known)
    n, min_score, overlap, margin, subpixel, peaks = known[0].search
    tuples = tuple(
        (p.metric, *p.template_size, p.map_height, *p.rows, p.cut_off, p.best, p.positions) for p in known
    )
    hits, cut_off = _tmatch.merge_parts(
        tuples, n, math.nan if min_score is None else min_score, overlap, margin, subpixel, peaks
    )
    if cut_off:
        warn_of_peaks(peaks, 2)
    return [Match(*hit) for hit in hits]
