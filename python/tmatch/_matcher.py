# SPDX-License-Identifier: MIT
from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, cast, overload

from . import _tmatch
from ._arrays import ArrayLike, DeviceArrayLike, DeviceScoreMap, HostArrayLike, ScoreMap
from ._match import Match
from ._parts import Part
from ._pending import PendingMatch, Result
from ._prepared import Axis, Prepared, Region
from ._settings import SUPPORTS, Algorithm, Domain, Metric, Search, Support, engine_key

@dataclass(frozen=True)
class Report:
    """What the last match of a Matcher ran on.

    device        'cpu', 'cuda:0', 'cuda:0,2'
    algorithm     'direct', 'fft', 'reference'
    search        'exhaustive', 'certified' or 'pyramid'
    plan          a sentence: what was chosen, and why
    scored        how many exact scores were made, as a share of the positions, 0 to 1
    milliseconds  how long it took
    """

    device: str
    algorithm: str
    search: str
    plan: str
    scored: float
    milliseconds: float


class Matcher(Generic[Result]):
    """A template, or a list of templates, prepared to be found in many frames.

    It keeps what tmatch.match makes anew for each call: the template in all its poses, the
    device's memory, the plans. The arguments are tmatch.match's, and

    cpu_features   instruction sets that may be used: 'all', 'none', or names with commas
                   between, such as 'avx2'
    device_memory  bytes of each CUDA device that may be used; 0: no limit
    host_memory    bytes of the host's memory that FFT and planes may take; 0: no limit
    device_timeout seconds after which a CUDA device that has not answered, more than the longest
                   match takes, counts as failed: a RuntimeWarning names it, others or the CPU
                   take over, and it is not used again; 0: it is waited for
    costs          what tmatch.calibrate returned on this machine, by which 'auto' chooses then

    Threads that share a matcher wait for each other, threads with a matcher each do not.
    `with tmatch.Matcher(...) as matcher` closes it at the end.
    """

    @overload
    def __init__(
        self: Matcher[list[Match]],
        template: ArrayLike,
        *,
        mask: ArrayLike | None = None,
        angle: Axis | None = None,
        scale: Axis | None = None,
        support: Support = "auto",
        metric: Metric = "lcc",
        domain: Domain = "valid",
        algorithm: Algorithm = "auto",
        search: Search = "auto",
        device: str = "auto",
        threads: int | None = None,
        cpu_features: str = "all",
        device_memory: int = 0,
        host_memory: int = 0,
        device_timeout: float = 0,
        costs: str = "",
    ) -> None: ...
    @overload
    def __init__(
        self: Matcher[list[list[Match]]],
        template: Sequence[ArrayLike],
        *,
        mask: Sequence[ArrayLike | None] | None = None,
        angle: Axis | None = None,
        scale: Axis | None = None,
        support: Support = "auto",
        metric: Metric = "lcc",
        domain: Domain = "valid",
        algorithm: Algorithm = "auto",
        search: Search = "auto",
        device: str = "auto",
        threads: int | None = None,
        cpu_features: str = "all",
        device_memory: int = 0,
        host_memory: int = 0,
        device_timeout: float = 0,
        costs: str = "",
    ) -> None: ...
    def __init__(
        self,
        template: Any,
        *,
        mask: Any = None,
        angle: Axis | None = None,
        scale: Axis | None = None,
        support: Support = "auto",
        metric: Metric = "lcc",
        domain: Domain = "valid",
        algorithm: Algorithm = "auto",
        search: Search = "auto",
        device: str = "auto",
        threads: int | None = None,
        cpu_features: str = "all",
        device_memory: int = 0,
        host_memory: int = 0,
        device_timeout: float = 0,
        costs: str = "",
    ) -> None:
        key = engine_key(
            metric, domain, algorithm, search, device, threads, cpu_features, device_memory, host_memory,
            device_timeout, costs,
        )  # fmt: skip
        self._prepared: Prepared | None = Prepared(
            _tmatch.engine(*key), key, template, mask, angle, scale, support
        )

    def _open(self) -> Prepared:
        if self._prepared is None:
            raise ValueError("the matcher is closed")
        return self._prepared

    def match(
        self,
        frame: ArrayLike,
        *,
        n: int | None = 1,
        min_score: float | None = None,
        frame_mask: ArrayLike | None = None,
        region: Region | None = None,
        overlap: float = 0.3,
        margin: bool = False,
        subpixel: bool = False,
        peaks: int = 1 << 20,
    ) -> Result:
        """Finds the template, or each template of the list, in the frame: see tmatch.match.

        peaks: how many peaks are held at a time while matches that overlap are left out; each
        takes 16 to 80 bytes.
        """
        prepared = self._open()
        return cast(
            Result,
            prepared.match(frame, n, min_score, frame_mask, region, overlap, margin, subpixel, peaks),
        )

    def match_async(
        self, frame: DeviceArrayLike, *, frame_mask: ArrayLike | None = None, region: Region | None = None
    ) -> PendingMatch[Result]:
        """Begins to find the best match in a frame on a GPU, and returns without waiting for the GPU.

        PendingMatch.result() has what match returns. The frame's stream goes on after the match, which has
        read the frame then. All windows are scored: search='certified' is for match. The first frames of a
        size wait, as memory is allocated. Raises what match raises, as far as it is known at once, and TypeError for
        a frame on the host.
        """
        prepared = self._open()
        return PendingMatch(prepared.match_async(frame, frame_mask, region), prepared.several)

    def part_rows(self, rows: tuple[int, int], frame_height: int) -> tuple[int, int]:
        """Which rows of a frame, (first, end), match_part needs for these rows of its score map."""
        prepared = self._open()
        needed = [_tmatch.part_rows(prepared.engine, t, frame_height, *rows) for t in prepared.templates]
        return min(first for first, _ in needed), max(end for _, end in needed)

    def match_part(
        self,
        frame: ArrayLike,
        rows: tuple[int, int],
        *,
        frame_height: int,
        first: int,
        n: int | None = 1,
        min_score: float | None = None,
        frame_mask: ArrayLike | None = None,
        overlap: float = 0.3,
        margin: bool = False,
        subpixel: bool = False,
        peaks: int = 1 << 20,
    ) -> list[Part]:
        """Matches some rows of a frame's score map, for tmatch.merge, which makes matches of all parts.

        frame         rows of the frame, at least those that part_rows says
        rows          (first, end): the rows of the map that this part has
        frame_height  of the whole frame
        first         which row of the whole frame the array begins with
        frame_mask    as high as the array

        The other arguments are those of match, the same for all parts. Returns a Part for each
        template, of which merge takes those of one template. Templates in poses and frames of
        floats raise ValueError.
        """
        first_row, end = rows
        parts, warning = self._open().match_part(
            frame, (first_row, end), frame_height, first, n, min_score, frame_mask, overlap, margin, subpixel, peaks
        )
        if warning:
            warnings.warn(warning, RuntimeWarning, stacklevel=2)
        search = (n or 0, min_score, overlap, margin, subpixel, peaks)
        return [
            Part((a, b), map_height, (width, height), number, positions, best, cut_off, search)
            for number, width, height, map_height, a, b, cut_off, best, positions in parts
        ]

    @overload
    def score_map(
        self,
        frame: DeviceArrayLike,
        *,
        index: int = 0,
        frame_mask: ArrayLike | None = None,
        region: Region | None = None,
    ) -> DeviceScoreMap: ...
    @overload
    def score_map(
        self,
        frame: HostArrayLike,
        *,
        index: int = 0,
        frame_mask: ArrayLike | None = None,
        region: Region | None = None,
    ) -> ScoreMap: ...
    def score_map(
        self,
        frame: ArrayLike,
        *,
        index: int = 0,
        frame_mask: ArrayLike | None = None,
        region: Region | None = None,
    ) -> Any:
        """The score of every position of the template, or of the list's number index: see tmatch.score_map."""
        return self._open().score_map(index, frame, frame_mask, region)

    @property
    def poses(self) -> tuple[tuple[float, float, float], tuple[float, float, float], str, int] | None:
        """The poses of the first template, or None where none are searched.

        Angles and scales as (from, to, step), the support, and how many poses there are.
        """
        prepared = self._open()
        try:
            angles, scales, support, count = _tmatch.grid(prepared.templates[0])
        except _tmatch.InputError:
            return None
        return angles, scales, list(SUPPORTS)[support], count

    @property
    def report(self) -> Report:
        """What the last match ran on."""
        return Report(*_tmatch.report(self._open().engine))

    def close(self) -> None:
        """Frees the device's memory. A closed matcher raises ValueError."""
        self._prepared = None

    def __enter__(self) -> Matcher[Result]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
