# SPDX-License-Identifier: MIT
"""Frames to the workers as they become free, results back as they come."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from .._files import FileResult
from ._client import Crew, end, fail, submit
from ._open import for_workers
from ._packages import distributed
from ._worker import Work, match_frames

TASK_SECONDS = 0.5  # a task's own cost is some milliseconds
TASKS_PER_SECOND = 500  # that a scheduler hands out with ease, at the end twice as many
PROBES = 64  # tasks of one frame from which the first times are learnt
MOST_FRAMES = 1000  # of a task
HELD_BACK = 16  # results that wait for an earlier one, as a multiple of the frames under way


class Pace:
    """How many frames a task gets: few enough to share out the last ones evenly."""

    def __init__(self, batch: int | None):
        self.batch = batch
        self.frames = 0.0
        self.seconds = 0.0
        self.learnt = 0

    def learn(self, frames: int, seconds: float) -> None:
        self.frames = self.frames * 0.9 + frames
        self.seconds = self.seconds * 0.9 + seconds
        self.learnt += 1

    def is_known(self, threads: int) -> bool:
        """Whether half of the probes have come back: the first are those of quick frames."""
        return self.learnt >= min(threads, PROBES) / 2

    def size(self, left: int, threads: int) -> int:
        if self.batch:
            return self.batch
        if not self.is_known(threads):
            return 1
        frame = max(self.seconds / self.frames, 1e-6)
        wanted = int(max(TASK_SECONDS, threads / TASKS_PER_SECOND) / frame)
        least = int(threads / (2 * TASKS_PER_SECOND) / frame)
        return max(1, least, min(wanted, left // (4 * threads), MOST_FRAMES))

    def tasks(self, ahead: int, threads: int) -> int:
        """How many may be begun or wait."""
        return ahead * threads if self.batch or self.is_known(threads) else min(threads, PROBES)


class Flow:
    """Tasks of frames, of which at most `ahead` for each thread of the workers are under way."""

    def __init__(
        self, client: Any, work: Work, paths: list[str], batch: int | None, ahead: int, ordered: bool
    ):
        self.client = client
        self.ordered = ordered
        self.nothing = work.nothing()
        self.paths = paths
        self.pace = Pace(batch)
        self.ahead = ahead
        self.crew = Crew(client, work.prepared["device"])
        self.work = work
        self.begun = self.tasks = 0
        self.suspects: deque[int] = deque()  # frames of tasks with which workers died
        self.alone: Any = None
        self.running: dict[Any, range] = {}
        self.done: Any = distributed.as_completed(loop=client.loop, with_results=True, raise_errors=False)

    def _begin(self, indices: range, again: bool = False) -> Any:
        """A task, which carries the work where the worker may not have it.

        It is no data on the workers that tasks depend on: these are lost with the workers that hold them.
        """
        frames = [(self.paths[i], for_workers(self.paths[i])) for i in indices]
        work = self.work if again or self.tasks < self.crew.threads() else None
        key = f"tmatch-{self.work.token}-{self.tasks}"
        future = submit(
            self.client, match_frames, self.work.token, work, frames, key=key, resources=self.crew.resources
        )
        self.tasks += 1
        self.running[future] = indices
        self.done.add(future)
        return future

    def submit(self) -> None:
        """Begins what may be begun.

        Suspects are tried alone, so that it is they who kill: after all other frames, or, where the
        results of these would wait for theirs, as soon as what is under way has ended.
        """
        threads = self.crew.threads()
        most = 0 if self._waits_for_suspects() else self.pace.tasks(self.ahead, threads)
        while self.begun < len(self.paths) and len(self.running) < most:
            left = len(self.paths) - self.begun
            first, self.begun = self.begun, self.begun + min(self.pace.size(left, threads), left)
            self._begin(range(first, self.begun))
        if self.suspects and not self.running:
            first = self.suspects.popleft()
            self.alone = self._begin(range(first, first + 1), again=True)

    def _waits_for_suspects(self) -> bool:
        return self.ordered and (bool(self.suspects) or self.alone in self.running)

    def _bury(self, future: Any, indices: range) -> Iterator[tuple[int, FileResult[Any]]]:
        """Raises the error of a task, unless workers died of it."""
        error = None if future.cancelled() else future.exception()
        if not isinstance(error, distributed.KilledWorker):
            fail(future)
        if future is self.alone:
            yield indices[0], FileResult(self.paths[indices[0]], self.nothing, error)
        else:
            self.suspects.extend(indices)

    def collect(self) -> list[tuple[int, FileResult[Any]]]:
        """The results of the tasks that have ended, of one at least, by the indices of their paths."""
        collected: list[tuple[int, FileResult[Any]]] = []
        for future, result in self.done.next_batch(block=True):
            indices = self.running.pop(future)
            if future.status == "finished" and result is None:
                self._begin(indices, again=True)
            elif future.status == "finished":
                results, seconds = result
                self.pace.learn(len(results), seconds)
                collected.extend(zip(indices, results))
            else:
                collected.extend(self._bury(future, indices))
        return collected

    def close(self) -> None:
        if self.running and self.client.status == "running":
            self.client.cancel(list(self.running))
        end(self.client, self.work)

    def results(self) -> Iterator[FileResult[Any]]:
        return self._in_order() if self.ordered else self._as_they_come()

    def _as_they_come(self) -> Iterator[FileResult[Any]]:
        self.submit()
        while self.running:
            collected = self.collect()
            self.submit()
            for _, result in collected:
                yield result

    def _in_order(self) -> Iterator[FileResult[Any]]:
        """In the order of the paths. Others are held back; while these are many, no frames are begun."""
        held: dict[int, FileResult[Any]] = {}
        wanted = most = 0
        self.submit()
        while self.running:
            most = max(most, sum(map(len, self.running.values())))
            held.update(self.collect())
            if not self.running or len(held) < HELD_BACK * most:
                self.submit()
            while wanted in held:
                yield held.pop(wanted)
                wanted += 1
