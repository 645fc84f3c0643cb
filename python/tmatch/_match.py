# SPDX-License-Identifier: MIT
from __future__ import annotations

import struct
from dataclasses import dataclass, fields

Point = tuple[float, float]


def _short(score: float) -> str:
    """The fewest digits that tell a score, a binary32 value or an integer, from others."""
    if score == int(score):
        return str(int(score))
    as_float = struct.pack("f", score)
    texts = (f"{score:.{digits}g}" for digits in range(4, 18))
    return next(text for text in texts if struct.pack("f", float(text)) == as_float)


@dataclass(frozen=True, slots=True, repr=False)
class Match:
    """Where a template was found, and how well it fits there.

    Lengths are pixels of the frame, x to the right and y downwards, counted from 0.

    x, y           the top-left corner of the match's box
    width, height  of the box: the template's size, or the least box around the turned template
    score          1 is a copy by the metric 'lcc'
    margin         the best score of a place that overlaps neither this match nor a better one;
                   None without margin=True, where there is no such place and, in poses, where
                   none comes near
    margin_below   then what no other place scores, in poses; else None
    dx, dy         from the position to where the match lies between the pixels, at most half a
                   pixel, in poses two; None without subpixel=True
    angle, scale   degrees counter-clockwise, and 1 for the template's own size; fitted with
                   subpixel=True, None where no poses were searched
    center         of the template in the frame; the middle of a pixel is a whole number, and the
                   centre is fitted with subpixel=True
    corners        of the template in the frame: top left, top right, bottom right, bottom left
    """

    x: int
    y: int
    width: int
    height: int
    score: float
    margin: float | None = None
    dx: float | None = None
    dy: float | None = None
    angle: float | None = None
    scale: float | None = None
    _center: Point | None = None
    _corners: tuple[Point, Point, Point, Point] | None = None
    margin_below: float | None = None

    @property
    def center(self) -> Point:
        if self._center is not None:
            return self._center
        return (self.x + (self.width - 1) / 2 + (self.dx or 0), self.y + (self.height - 1) / 2 + (self.dy or 0))

    @property
    def corners(self) -> tuple[Point, Point, Point, Point]:
        if self._corners is not None:
            return self._corners
        left, top = self.x - 0.5 + (self.dx or 0), self.y - 0.5 + (self.dy or 0)
        right, bottom = left + self.width, top + self.height
        return ((left, top), (right, top), (right, bottom), (left, bottom))

    @property
    def box(self) -> tuple[int, int, int, int]:
        """(x, y, width, height), as region takes it."""
        return (self.x, self.y, self.width, self.height)

    @property
    def slices(self) -> tuple[slice, slice]:
        """frame[match.slices] is what lies in the box, as far as the frame goes."""
        return (
            slice(max(self.y, 0), max(self.y + self.height, 0)),
            slice(max(self.x, 0), max(self.x + self.width, 0)),
        )

    def __repr__(self) -> str:
        known = [(f.name, getattr(self, f.name)) for f in fields(self) if not f.name.startswith("_")]
        texts = (
            f"{name}={_short(value) if name in ('score', 'margin', 'margin_below') else repr(value)}"
            for name, value in known
            if value is not None
        )
        return f"Match({', '.join(texts)})"
