# SPDX-License-Identifier: MIT
"""Some rows of one frame, wherever it is: what a task of match_frame needs."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from .._arrays import Picture
from .._parts import Part
from .._read import picture_size, read_rows
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


class PictureFile:
    """A picture in a file as an array, of which only the rows that are asked for are read."""

    def __init__(self, path: str, color: bool, width: int, height: int):
        self.path = path
        self.color = color
        self.shape = (height, width, 3) if color else (height, width)

    def __getitem__(self, rows: slice) -> Picture:
        return read_rows(self.path, (rows.start, rows.stop), self.color)


def _open_picture(path: str, color: bool) -> PictureFile | None:
    """None where the format has its rows only one after the other, or all at once."""
    if is_url(path):
        return None
    width, height, seeks = picture_size(path)
    return PictureFile(path, color, width, height) if seeks else None


@dataclass(frozen=True)
class FrameFile:
    """A frame in a file or an object store. Where it cannot be read by rows, a worker reads it whole, once."""

    path: str
    color: bool

    def array(self, work: Work) -> Any:
        with work.reading:
            if self not in work.arrays:
                array = _map_npy(self.path, self.color)
                if array is None:
                    array = _open_picture(self.path, self.color)
                if array is None:
                    array = read_frame(self.path, self.color, work.options)
                work.arrays[self] = array
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
