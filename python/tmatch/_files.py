# SPDX-License-Identifier: MIT
"""Drawings, devices, and many files one after the other."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, overload

from . import _tmatch
from ._arrays import ArrayLike, Picture
from ._match import Match
from ._matcher import Matcher
from ._pending import Result
from ._prepared import Axis, Region, check_search_of_all
from ._read import FilePicture, Path, find_pictures, open_sandbox, read, write
from ._settings import Algorithm, Domain, Metric, Search, Support, engine_key


def _label(score: float) -> str:
    if 0.9999 < abs(score) < 1:  # no copy
        return "0.9999" if score > 0 else "-0.9999"
    return f"{score:.4f}" if abs(score) <= 1 else f"{score:.4g}"


def draw(
    frame: ArrayLike,
    matches: Match | Sequence[Match] | Sequence[Sequence[Match]],
    path: Path | None = None,
    *,
    names: Sequence[str] = (),
) -> Picture:
    """Draws matches on a copy of the frame: a box around each, turned where it is, and its score.

    matches: one, a list, or a list for each template; these have colours of their own and, with
    names, a legend, for which the picture may become higher. Returns a Picture of
    (height, width, 3) uint8, red, green and blue, and writes it to the path, PNG or JPEG, if
    there is one.
    """
    groups: list[Sequence[Match]]
    if isinstance(matches, Match):
        groups = [[matches]]
    elif all(isinstance(m, Match) for m in matches):
        groups = [matches]  # type: ignore[list-item]
    else:
        groups = list(matches)  # type: ignore[arg-type]
    boxes = tuple(
        (
            m.x,
            m.y,
            m.width,
            m.height,
            color,
            False,
            _label(m.score),
            tuple(v for corner in m.corners for v in corner),
        )
        for color, group in enumerate(groups)
        for m in group
    )
    turned = any(m.angle for group in groups for m in group)
    picture = _tmatch.draw(frame, boxes, tuple(names), turned, Picture)
    picture.mask, picture.format = None, ""
    if path is not None:
        write(path, picture)
    return picture


@dataclass(frozen=True)
class Device:
    """Something to match on.

    kind     'cpu' or 'cuda'
    index    of the devices of its kind, from 0
    units    threads, or multiprocessors
    memory   bytes; 0 for the CPU
    name, detail  the processor's or GPU's name, and what it can do
    """

    kind: str
    index: int
    units: int
    memory: int
    name: str
    detail: str


def devices() -> list[Device]:
    """What there is to match on, the CPU first."""
    return [Device(*one) for one in _tmatch.devices()[0]]


def calibrate(device: str = "auto", *, cpu_features: str = "all") -> str:
    """Measures what the algorithms cost on these devices, for some tenths of a second each, while nothing else should run.

    The text is for Matcher's costs, in this process or a later one; a line of another device, driver or version counts for
    nothing there. It is what `tmatch --calibrate` keeps in ~/.cache/tmatch/costs, which the module neither reads nor writes.
    'auto' is the CPU and all GPUs. The results of a match stay the same, only which algorithm makes them may change.
    Error where a GPU took so long that others must have kept it busy.
    """
    return _tmatch.calibrate(_tmatch.engine(*engine_key("lcc", "valid", "auto", "auto", device, None, cpu_features)))


def cuda_backend() -> str | None:
    """The path of the CUDA backend's file, whether or not there is a GPU for it; None where it is not installed.

    Where devices() has no GPU all the same, `python -m tmatch --version` says why.
    """
    path = _tmatch.cuda_backend()
    return os.path.normpath(path) if path else None


@dataclass(frozen=True)
class FileResult(Generic[Result]):
    """What came of a file, or of a page: its matches as of tmatch.match, or an error and none.

    path   as it was given; of a page of a file that holds several 'scan.tif#1', 'scan.tif#2' and so
           on, as the program writes it
    error  the exception that reading or matching ended with, or None
    page   the number in the path, counted from 1; None for a file of one picture
    """

    path: str
    matches: Result
    error: Exception | None = None
    page: int | None = None


def list_files(frames: Path | Iterable[Path]) -> list[str]:
    if not isinstance(frames, (str, os.PathLike)):
        return [os.fspath(path) for path in frames]
    path = os.fspath(frames)
    if not os.path.isdir(path):
        return [path]
    names = sorted(name for name in os.listdir(path) if _tmatch.is_picture_name(name))
    return [file for file in (os.path.join(path, name) for name in names) if os.path.isfile(file)]


def make_bar(wanted: bool | None, total: int) -> Any:
    if wanted is None:
        wanted = sys.stderr is not None and sys.stderr.isatty()
    try:
        return importlib.import_module("tqdm").tqdm(total=total, unit="file") if wanted else None
    except ModuleNotFoundError:
        return None


def _in_order(work: Callable[[FilePicture], Any], paths: list[str], workers: int) -> Iterator[Any]:
    """Results in the order of the paths and of each file's pictures; at most two for each worker are begun and not taken."""
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Any]] = deque()
        try:
            for picture in chain.from_iterable(map(find_pictures, paths)):
                waiting.append(pool.submit(work, picture))
                if len(waiting) >= 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _workers(device: str) -> int:
    """A matcher for each core; fewer where each would hold memory of a GPU."""
    cores = len(os.sched_getaffinity(0))
    on_gpu = device.startswith("cuda") or (device == "auto" and len(devices()) > 1)
    return min(cores, 4) if on_gpu else cores


@overload
def files(
    frames: Path | Iterable[Path],
    template: ArrayLike | Path,
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
    sandbox: bool = False,
    workers: int | None = None,
    progress: bool | None = None,
) -> Iterator[FileResult[list[Match]]]: ...
@overload
def files(
    frames: Path | Iterable[Path],
    template: list[Any] | tuple[Any, ...],
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
    sandbox: bool = False,
    workers: int | None = None,
    progress: bool | None = None,
) -> Iterator[FileResult[list[list[Match]]]]: ...
def files(
    frames: Path | Iterable[Path],
    template: Any,
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
    sandbox: bool = False,
    workers: int | None = None,
    progress: bool | None = None,
) -> Iterator[Any]:
    """Matches many files, several at a time, and yields a FileResult for each, in their order.

    A file that holds several pictures, as TIFF, Y4M and PNM may, has a FileResult for each page.
    Its path is 'scan.tif#1' for the first, as the program writes it; tmatch.read counts pages from 0.

    frames: a folder, whose pictures are taken in the order of their names, or paths. template:
    an array, a path, or a list of these. The other arguments are tmatch.match's, and

    color     match red, green and blue, not gray
    sandbox   decode frames and templates as tmatch.read(..., sandbox=True) does
    workers   threads, each with a matcher and a file at a time; None: as many as there are
              cores, at most 4 where a GPU is used
    progress  show a bar, if tqdm is installed; None: if standard error is a terminal

    A file, or a page, that cannot be read or matched is a result with an error. What is wrong with the
    template, or with an argument whatever the frame, is raised at once.
    """
    check_search_of_all(n, min_score, overlap, region, metric)
    if sandbox:
        open_sandbox()

    def load(one: Any) -> Any:
        return read(one, color=color, sandbox=sandbox) if isinstance(one, (str, os.PathLike)) else one

    several = isinstance(template, (list, tuple))
    templates: Any = [load(one) for one in template] if several else load(template)

    def make() -> Matcher[Any]:
        return Matcher(
            templates, mask=mask, angle=angle, scale=scale, support=support, metric=metric, domain=domain,
            algorithm=algorithm, search=search, device=device, threads=1,
        )  # fmt: skip

    paths = list_files(frames)
    first = make()
    own = threading.local()
    spare = [first]

    def work(picture: FilePicture) -> FileResult[Any]:
        if not hasattr(own, "matcher"):
            try:
                own.matcher = spare.pop()
            except IndexError:
                own.matcher = make()
        try:
            found = own.matcher.match(
                picture.read(color, sandbox), n=n, min_score=min_score, region=region,
                overlap=overlap, margin=margin, subpixel=subpixel,
            )  # fmt: skip
            return FileResult(picture.name, found, None, picture.number)
        except (OSError, TypeError, _tmatch.Error, ValueError) as error:
            return FileResult(picture.name, [[] for _ in templates] if several else [], error, picture.number)

    def results() -> Iterator[Any]:
        bar = make_bar(progress, len(paths))
        try:
            for result in _in_order(work, paths, workers or _workers(device)):
                yield result
                if bar is not None and result.page in (None, 1):
                    bar.update()
        finally:
            if bar is not None:
                bar.close()

    return results()
