# SPDX-License-Identifier: MIT
from __future__ import annotations

import threading
from typing import Any, Generic, TypeVar, cast

from . import _tmatch
from ._match import Match

Result = TypeVar("Result", list[Match], list[list[Match]])


class PendingMatch(Generic[Result]):
    """A match on a GPU that Matcher.match_async has begun.

    It holds the frame until the match is done. Dropped before, it waits. Any thread may ask.
    """

    def __init__(self, pending: _tmatch.Pending, several: bool) -> None:
        self._pending: _tmatch.Pending | None = pending
        self._several = several
        self._lock = threading.Lock()
        self._result: Any = None
        self._error: Exception | None = None

    def _finish(self, wait: bool) -> None:
        if self._pending is None:
            return
        try:
            bests = _tmatch.finished(self._pending, wait)
        except _tmatch.Error as error:
            self._error, bests = error, []
        if bests is not None:
            self._pending = None
            if self._error is None:
                lists = [[Match(*best)] for best in bests]
                self._result = lists if self._several else lists[0]

    def ready(self) -> bool:
        """Whether result() would not wait."""
        if self._pending is not None and self._lock.acquire(blocking=False):  # else a thread waits for it
            try:
                self._finish(wait=False)
            finally:
                self._lock.release()
        return self._pending is None

    def result(self) -> Result:
        """Waits for the match and returns what Matcher.match returns.

        Raises what the GPU failed with, and tmatch.InputError where the frame's mask leaves no position or a
        sample is not finite, each time that it is called.
        """
        with self._lock:
            self._finish(wait=True)
        if self._error is not None:
            raise self._error
        return cast(Result, self._result)
