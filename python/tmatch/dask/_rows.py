# SPDX-License-Identifier: MIT
"""Some rows of one frame, wherever it is: what a task of match_frame needs."""

from __future__ import annotations

import importlib
import threading
from typing import Any

from .._parts import Part
from ._open import is_url, read_frame
from ._worker import Samples, Work


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


class FrameFile:
    """A frame in a file or an object store; a worker reads it once, whole unless it is a .npy file."""

    def __init__(self, path: str, color: bool, options: dict[str, Any]):
        self.path, self.color, self.options = path, color, options
        self.__setstate__({})

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "color": self.color, "options": self.options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
        self._array: Any = None

    def array(self) -> Any:
        with self._lock:
            if self._array is None:
                self._array = _map_npy(self.path, self.color)
            if self._array is None:
                self._array = read_frame(self.path, self.color, self.options)
            return self._array


def shape_of(file: FrameFile) -> tuple[int, ...]:
    return tuple(file.array().shape)


def match_rows(
    work: Work, rows: tuple[int, int], first: int, end: int, height: int, frame: Any, mask: Any
) -> list[Part]:
    """The parts of map rows `rows`, a part for each template.

    frame, mask: a FrameFile, or rows [first, end) of them, which have `height` rows.
    """

    def take(source: Any) -> Any:
        if isinstance(source, FrameFile):
            return slice_rows(source.array(), first, end)
        return Samples.array(source)

    device, matcher = work.take()
    try:
        return matcher.match_part(
            take(frame), rows, frame_height=height, first=first, frame_mask=take(mask), **work.search
        )
    finally:
        work.give_back(device, matcher)
