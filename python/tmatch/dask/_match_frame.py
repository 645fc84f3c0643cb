# SPDX-License-Identifier: MIT
"""One frame over the workers of a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from .._arrays import ArrayLike
from .._match import Match
from .._matcher import Matcher
from .._parts import Part, merge
from .._read import Path
from .._settings import Algorithm, Domain, Metric, Search
from ._client import Crew, end, fail, prepare, submit
from ._open import for_workers
from ._packages import distributed
from ._rows import FrameFile, match_rows, shape_of, slice_rows
from ._worker import Samples, Work

if TYPE_CHECKING:
    from distributed import Client  # type: ignore[import-not-found, unused-ignore]

ALL_ROWS = 1 << 40  # an end beyond every map's
AHEAD = 2  # parts that are matched or wait for each thread
PARTS_PER_THREAD = 4
ROWS_PER_TEMPLATE = 4  # a part's rows, of which it needs a template's more of the frame


class Rows:
    """A frame, or its mask: what a task gets of it."""

    def __init__(self, client: Any, source: Any, color: bool, work: Work):
        self.client = client
        self.shared: FrameFile | None = None
        self.is_lazy = hasattr(source, "__dask_graph__")
        if isinstance(source, (str, os.PathLike)):
            self.shared = FrameFile(for_workers(os.fspath(source)), color)
            self.shape = submit(client, shape_of, work, self.shared).result()
        else:
            try:
                self.shape = source.shape if hasattr(source, "shape") else memoryview(source).shape
            except TypeError:
                kind = type(source).__name__
                raise TypeError(
                    f"a frame is a path or an array with rows, not {kind}; try numpy.asarray"
                ) from None
            self.source = source

    def send(self, first: int, end: int) -> Any:
        if self.shared is not None:
            return self.shared
        rows = slice_rows(self.source, first, end)
        return self.client.compute(rows) if self.is_lazy else Samples.of(rows)


def _seams(
    matcher: Matcher[Any], domain: str, height: int, parts: int | None, threads: int
) -> list[tuple[int, int]]:
    """Rows of the map for each part; those below the smallest template's map go to the last."""
    row = 0 if domain == "valid" else height // 2
    first, end = matcher.part_rows((row, row + 1), height)
    tall = end - first
    within = max(1, height - tall)
    count = parts or max(1, min(PARTS_PER_THREAD * threads, within // (ROWS_PER_TEMPLATE * tall)))
    count = min(count, within)
    seams = [i * within // count for i in range(count)] + [ALL_ROWS]
    return list(zip(seams, seams[1:]))


def _find(
    client: Any, matcher: Matcher[Any], work: Work, whole: Rows, masked: Rows | None, parts: int | None
) -> list[list[Part]]:
    """What the parts found, each a Part for each template."""
    crew = Crew(client, work.prepared["device"])
    height = whole.shape[0]
    wanted = _seams(matcher, work.prepared["domain"], height, parts, crew.threads())
    running: set[Any] = set()
    found: list[list[Part]] = []
    done = distributed.as_completed(loop=client.loop, with_results=True, raise_errors=False)
    while wanted or running:
        while wanted and len(running) < AHEAD * crew.threads():
            rows = wanted.pop()
            first, end = matcher.part_rows(rows, height)
            mask_rows = masked and masked.send(first, end)
            future = submit(
                client, match_rows, work, rows, first, end, height, whole.send(first, end), mask_rows,
                resources=crew.resources,
            )  # fmt: skip
            running.add(future)
            done.add(future)
        future, result = next(done)
        if future.status != "finished":
            fail(future)  # those that wait are forgotten with their futures
        running.remove(future)
        found.append(result)
    return found


@overload
def match_frame(
    client: Client,
    template: ArrayLike | Path,
    frame: Any,
    *,
    color: bool = False,
    n: int | None = 1,
    min_score: float | None = None,
    mask: ArrayLike | None = None,
    frame_mask: Any = None,
    overlap: float = 0.3,
    margin: bool = False,
    subpixel: bool = False,
    metric: Metric = "lcc",
    domain: Domain = "valid",
    algorithm: Algorithm = "auto",
    search: Search = "auto",
    device: str = "auto",
    storage_options: dict[str, Any] | None = None,
    parts: int | None = None,
) -> list[Match]: ...
@overload
def match_frame(
    client: Client,
    template: list[Any] | tuple[Any, ...],
    frame: Any,
    *,
    color: bool = False,
    n: int | None = 1,
    min_score: float | None = None,
    mask: Sequence[ArrayLike | None] | None = None,
    frame_mask: Any = None,
    overlap: float = 0.3,
    margin: bool = False,
    subpixel: bool = False,
    metric: Metric = "lcc",
    domain: Domain = "valid",
    algorithm: Algorithm = "auto",
    search: Search = "auto",
    device: str = "auto",
    storage_options: dict[str, Any] | None = None,
    parts: int | None = None,
) -> list[list[Match]]: ...
def match_frame(
    client: Client,
    template: Any,
    frame: Any,
    *,
    color: bool = False,
    n: int | None = 1,
    min_score: float | None = None,
    mask: Any = None,
    frame_mask: Any = None,
    overlap: float = 0.3,
    margin: bool = False,
    subpixel: bool = False,
    metric: Metric = "lcc",
    domain: Domain = "valid",
    algorithm: Algorithm = "auto",
    search: Search = "auto",
    device: str = "auto",
    storage_options: dict[str, Any] | None = None,
    parts: int | None = None,
) -> Any:
    """Finds the template in one large frame, whose rows are shared out over the workers of a Dask cluster.

    Returns what tmatch.match returns for the whole frame, bit by bit. template: an array, a path
    or URL that the client reads, or a list of these. frame: one of

    - a path or URL that the workers open. Of a TIFF, PNM, BMP or .npy of 8 bits, and of a .npy of
      uint16 in C order where NumPy is, each reads only the rows that it matches; other files, and
      all that have URLs, each worker reads whole, once.
    - a dask.array, of which each worker gets the rows that it matches
    - any other array of shape (height, width) or (height, width, channels), uint8 or uint16,
      whose rows the client sends

    frame_mask is a path or an array of the frame's kinds, too. The other arguments are those of
    tmatch.match and tmatch.dask.match_files, and

    parts  into how many parts the map's rows are divided; None: four for each thread, fewer where
           they would be less high than four templates

    Templates in poses, regions and frames of floats are not searched in parts. What is wrong with
    the template, the frame or a worker is raised. A worker that dies costs the time of its parts.
    """
    work, matcher = prepare(
        client, template, mask, color,
        {"metric": metric, "domain": domain, "algorithm": algorithm, "search": search, "device": device},
        {"n": n, "min_score": min_score, "overlap": overlap, "margin": margin, "subpixel": subpixel},
        storage_options, parts=parts,
    )  # fmt: skip
    try:
        whole = Rows(client, frame, color, work)
        masked = None if frame_mask is None else Rows(client, frame_mask, False, work)
        if masked and masked.shape[0] != whole.shape[0]:
            raise ValueError(f"frame_mask has {masked.shape[0]} rows, the frame {whole.shape[0]}")
        found = _find(client, matcher, work, whole, masked, parts)
    finally:
        end(client, work)
        matcher.close()
    matches = [merge(of_one) for of_one in zip(*found)]
    return matches if isinstance(template, (list, tuple)) else matches[0]
