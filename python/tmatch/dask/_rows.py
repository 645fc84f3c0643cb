# SPDX-License-Identifier: MIT
"""Some rows of one frame, wherever it is: what a task of match_frame needs."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from .._parts import Part
from ._open import is_url, read_frame
from ._worker import Samples, Work, keep


def slice_rows(array: Any, first: int, end: int) -> Any:
    """Rows [first, end) of an array, without a copy where it has the buffer protocol."""
    try:
        view = memoryview(array)
    except TypeError:
        return array[first:end]
    if not view.c_contiguous or len(view.format) != 1:
        return array[first:end]
    shape = view.shape or ()
    size = view.nbytes // shape[0]
    cast: Any = view.cast("B")[first * size : end * size].cast
    return cast(view.format, (end - first, *shape[1:]))


def _map_npy(path: str, color: bool) -> Any:
    """A memory map of a .npy file, of which only the rows that are asked for are read; or None."""
    if is_url(path) or not path.endswith(".npy"):
        return None
    try:
        array = importlib.import_module("numpy").load(path, mmap_mode="r")
    except (ImportError, ValueError):
        return None
    is_taken = array.dtype.str in ("|u1", "<u2") and array.flags.c_contiguous
    return array if is_taken and array.shape[2:] == ((3,) if color else ()) and array.ndim > 1 else None


@dataclass(frozen=True)
class FrameFile:
    """A frame in a file or an object store; a worker reads it once, whole unless it is a .npy file."""

    path: str
    color: bool

    def array(self, work: Work) -> Any:
        with work.reading:
            if self not in work.arrays:
                array = _map_npy(self.path, self.color)
                work.arrays[self] = (
                    read_frame(self.path, self.color, work.options) if array is None else array
                )
            return work.arrays[self]


def shape_of(sent: Work, file: FrameFile) -> tuple[int, ...]:
    return tuple(file.array(received(sent)).shape)


def received(sent: Work) -> Work:
    """The worker's own, which came with the first task of the call."""
    return keep(sent.token, sent) or sent


def match_rows(
    sent: Work, rows: tuple[int, int], first: int, end: int, height: int, frame: Any, mask: Any
) -> list[Part]:
    """The parts of map rows `rows`, a part for each template.

    frame, mask: a FrameFile, or rows [first, end) of them, which have `height` rows.
    """

    def take(source: Any) -> Any:
        if isinstance(source, FrameFile):
            return slice_rows(source.array(work), first, end)
        return Samples.array(source)

    work = received(sent)
    device, matcher = work.take()
    try:
        return matcher.match_part(
            take(frame), rows, frame_height=height, first=first, frame_mask=take(mask), **work.search
        )
    finally:
        work.give_back(device, matcher)
