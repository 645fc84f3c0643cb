# SPDX-License-Identifier: MIT
"""Many frames over the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from .._arrays import ArrayLike
from .._files import FileResult, make_bar
from .._match import Match
from .._prepared import Axis, Region
from .._read import Path
from .._settings import Algorithm, Domain, Metric, Search, Support
from ._client import prepare
from ._flow import Flow
from ._open import list_frames

if TYPE_CHECKING:
    from distributed import Client  # type: ignore[import-not-found, unused-ignore]


@overload
def match_files(
    client: Client,
    template: ArrayLike | Path,
    frames: Path | Iterable[Path],
    *,
    color: bool = False,
    n: int | None = 1,
    min_score: float | None = None,
    angle: Axis | None = None,
    scale: Axis | None = None,
    support: Support = "auto",
    mask: ArrayLike | None = None,
    region: Region | None = None,
    overlap: float = 0.3,
    margin: bool = False,
    subpixel: bool = False,
    metric: Metric = "lcc",
    domain: Domain = "valid",
    algorithm: Algorithm = "auto",
    search: Search = "auto",
    device: str = "auto",
    ordered: bool = False,
    storage_options: dict[str, Any] | None = None,
    sandbox: bool = False,
    batch: int | None = None,
    ahead: int = 2,
    progress: bool | None = None,
) -> Iterator[FileResult[list[Match]]]: ...
@overload
def match_files(
    client: Client,
    template: list[Any] | tuple[Any, ...],
    frames: Path | Iterable[Path],
    *,
    color: bool = False,
    n: int | None = 1,
    min_score: float | None = None,
    angle: Axis | None = None,
    scale: Axis | None = None,
    support: Support = "auto",
    mask: Sequence[ArrayLike | None] | None = None,
    region: Region | None = None,
    overlap: float = 0.3,
    margin: bool = False,
    subpixel: bool = False,
    metric: Metric = "lcc",
    domain: Domain = "valid",
    algorithm: Algorithm = "auto",
    search: Search = "auto",
    device: str = "auto",
    ordered: bool = False,
    storage_options: dict[str, Any] | None = None,
    sandbox: bool = False,
    batch: int | None = None,
    ahead: int = 2,
    progress: bool | None = None,
) -> Iterator[FileResult[list[list[Match]]]]: ...
def match_files(
    client: Client,
    template: Any,
    frames: Path | Iterable[Path],
    *,
    color: bool = False,
    n: int | None = 1,
    min_score: float | None = None,
    angle: Axis | None = None,
    scale: Axis | None = None,
    support: Support = "auto",
    mask: Any = None,
    region: Region | None = None,
    overlap: float = 0.3,
    margin: bool = False,
    subpixel: bool = False,
    metric: Metric = "lcc",
    domain: Domain = "valid",
    algorithm: Algorithm = "auto",
    search: Search = "auto",
    device: str = "auto",
    ordered: bool = False,
    storage_options: dict[str, Any] | None = None,
    sandbox: bool = False,
    batch: int | None = None,
    ahead: int = 2,
    progress: bool | None = None,
) -> Iterator[Any]:
    """Matches many files on the workers of a Dask cluster, and yields a FileResult for each as it comes.

    client: a distributed.Client that is not asynchronous. template: an array, a path or URL that
    the client reads, or a list of these. frames: a folder that the client lists, or paths, all of
    which the workers open by the same absolute path; or URLs such as s3://bucket/frame.png, which
    the workers open by fsspec. One URL may be a pattern, s3://bucket/*.png, or end with / and be
    a folder. The other arguments, their units and the results are those of tmatch.files, and

    ordered          yield in the order of the frames; those that wait for an earlier one are held
                     back, and while they are many, no others are begun
    storage_options  fsspec's, for URLs: keys, endpoints
    sandbox          each worker decodes in its own; where one has none, that is raised
    batch            frames in a task; None: as many as take half a second, fewer towards
                     the end
    ahead            tasks that are begun or wait for each thread of the workers, 1 or more
    device           'auto': a worker that sees a GPU uses it where the work is worth it, with at
                     most 4 of its threads, or as many as its resource GPU says; the others, and
                     other workers, match on the CPU. 'cuda', 'cuda:0': only workers with the
                     resource GPU are used, each as often as it has it, or where no worker has
                     it, all are, and must have the device

    A thread of a worker keeps a matcher and has a frame at a time. Workers may come and go: the
    frames of one that dies are given to others. A file that cannot be read or matched is a result
    with an error, and so is one with which several workers died. What is wrong with the template
    or an argument is raised at once; what is wrong with a worker, such as another version of
    tmatch, when its frames come back. Closing the iterator cancels what has not begun.
    """
    work, matcher = prepare(
        client, template, mask, color,
        {"angle": angle, "scale": scale, "support": support, "metric": metric, "domain": domain,
         "algorithm": algorithm, "search": search, "device": device},
        {"n": n, "min_score": min_score, "region": region, "overlap": overlap, "margin": margin,
         "subpixel": subpixel},
        storage_options, sandbox, batch=batch, ahead=ahead,
    )  # fmt: skip
    matcher.close()
    paths = list_frames(frames, work.options)

    def results() -> Iterator[Any]:
        flow = Flow(client, work, paths, batch, ahead, ordered)
        bar = make_bar(progress, len(paths))
        try:
            for result in flow.results():
                yield result
                if bar is not None:
                    bar.update()
        finally:
            flow.close()
            if bar is not None:
                bar.close()

    return results()
