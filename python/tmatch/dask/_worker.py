# SPDX-License-Identifier: MIT
"""What runs on the workers."""

from __future__ import annotations

import pickle
import threading
import time
import uuid
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from .. import _tmatch
from .._arrays import Picture
from .._files import FileResult, devices
from .._matcher import Matcher
from .._read import open_sandbox
from ._open import read_frame
from ._packages import distributed

GPU_THREADS = 4  # of a worker, unless its resource GPU says how many


@dataclass(frozen=True)
class Samples:
    """An array on its way to the workers, which need not have the package that made it."""

    shape: tuple[int, ...]
    format: str
    data: bytes = field(repr=False)

    @staticmethod
    def of(array: Any) -> Any:
        """Samples of whatever has the buffer protocol; other arrays are pickled as they are."""
        try:
            view = memoryview(array)
        except TypeError:
            return array
        is_native = len(view.format) == 1
        return Samples(tuple(view.shape or ()), view.format, view.tobytes()) if is_native else array

    @staticmethod
    def array(sent: Any) -> Any:
        if not isinstance(sent, Samples):
            return sent
        cast: Any = memoryview(sent.data).cast
        return cast(sent.format, sent.shape)


def _is_list(one: Any) -> bool:
    return isinstance(one, (list, tuple))


def _own_mask(template: Any) -> Any:
    return template.mask if isinstance(template, Picture) else None


def _send(one: Any) -> Any:
    return [Samples.of(array) for array in one] if _is_list(one) else Samples.of(one)


def _receive(sent: Any) -> Any:
    return [Samples.array(one) for one in sent] if _is_list(sent) else Samples.array(sent)


OWN = ("reading", "arrays")  # of a worker's Work, and of no other


class Work:
    """What all tasks of a call have in common. Each worker keeps one, with its matchers.

    template, mask  an array or a list, as a Matcher takes them
    prepared        the Matcher's other arguments
    search          the arguments of Matcher.match
    options         fsspec's storage options; they may be secret, and are in no message
    sandbox         whether frames are decoded in it
    """

    def __init__(
        self,
        template: Any,
        mask: Any,
        prepared: dict[str, Any],
        search: dict[str, Any],
        color: bool = False,
        options: dict[str, Any] | None = None,
        sandbox: bool = False,
    ):
        if mask is None:  # a picture's own mask does not travel with its samples
            mask = [_own_mask(one) for one in template] if _is_list(template) else _own_mask(template)
        self.token = uuid.uuid4().hex
        self.version = _tmatch.version
        self.template = _send(template)
        self.mask = _send(mask)
        self.prepared = prepared
        self.search = search
        self.color = color
        self.options = options or {}
        self.sandbox = sandbox
        self._begin()

    def nothing(self) -> list[Any]:
        """The matches of a frame that could not be matched."""
        return [[] for _ in self.template] if _is_list(self.template) else []

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[str, list[Matcher[Any]]] = {}
        self._made: dict[str, int] = {}
        self.reading = threading.Lock()
        self.arrays: dict[Any, Any] = {}  # frames of match_frame

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name[0] != "_" and name not in OWN}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def _choose(self) -> str:
        """The device of the next matcher: no more of a worker's threads than it has places share its GPU."""
        device: str = self.prepared["device"]
        if device != "auto" or len(devices()) == 1:
            return device
        most = distributed.get_worker().state.total_resources.get("GPU", GPU_THREADS)
        idle = len(self._idle.get(device, ()))
        return device if idle or self._made.get(device, 0) < most else "cpu"

    def take(self) -> tuple[str, Matcher[Any]]:
        """A matcher that no other thread uses, and its device, to be given back."""
        if self.version != _tmatch.version:
            raise RuntimeError(
                f"the worker {distributed.get_worker().address} has tmatch {_tmatch.version}, "
                f"the client {self.version}: both need the same"
            )
        with self._lock:
            device = self._choose()
            idle = self._idle.setdefault(device, [])
            if idle:
                return device, idle.pop()
            self._made[device] = self._made.get(device, 0) + 1
        prepared = {**self.prepared, "device": device}
        return device, Matcher(_receive(self.template), mask=_receive(self.mask), threads=1, **prepared)

    def give_back(self, device: str, matcher: Matcher[Any]) -> None:
        with self._lock:
            self._idle[device].append(matcher)


def can_travel(error: Exception) -> Exception:
    """The error, or one that says the same where it cannot be pickled."""
    try:
        if isinstance(pickle.loads(pickle.dumps(error)), type(error)):
            return error
    except Exception:
        pass
    return OSError(f"{type(error).__name__}: {error}")


_kept: OrderedDict[str, Work] = OrderedDict()
_keeping = threading.Lock()
MOST_KEPT = 2  # of calls; those before hold no memory any more


def keep(token: str, work: Work | None) -> Work | None:
    """The work that this worker has by this token, now if not before; or None."""
    with _keeping:
        if token not in _kept:
            if work is None:
                return None
            _kept[token] = work
        _kept.move_to_end(token)
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
        return _kept[token]


async def forget(token: str) -> None:
    """The call has ended; asynchronous, so that nobody waits for it."""
    with _keeping:
        _kept.pop(token, None)


def match_frames(
    token: str, sent: Work | None, frames: list[tuple[str, str]]
) -> tuple[list[FileResult[Any]], float] | None:
    """None where this worker has not got the work yet, which has to be sent, else:

    Results of frames, and the seconds that they took. A frame is the caller's name and that to open.

    What is wrong with a frame is its result. What is wrong with the worker, such as a package or
    a device that is missing, is raised.
    """
    work = keep(token, sent)
    if work is None:
        return None
    if work.sandbox:
        open_sandbox()
    start = time.perf_counter()
    device, matcher = work.take()
    results = []
    for name, path in frames:
        try:
            frame = read_frame(path, work.color, work.options, work.sandbox)
            results.append(FileResult(name, matcher.match(frame, **work.search)))
        except ImportError:
            raise
        except Exception as error:
            results.append(FileResult(name, work.nothing(), can_travel(error)))
    work.give_back(device, matcher)
    return results, time.perf_counter() - start
