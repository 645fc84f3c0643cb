# SPDX-License-Identifier: MIT
from __future__ import annotations

import math
import struct
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, TypeAlias, TypeVar, Union, cast, overload

from . import _tmatch
from ._arrays import ArrayLike, Picture, ScoreMap
from ._match import Match
from ._settings import METRICS, SUPPORTS, Algorithm, Domain, EngineKey, Metric, Search, Support, choose, engine_key

# One value, from and to, or from, to and step.
Axis: TypeAlias = Union[float, tuple[float, float], tuple[float, float, float]]
Region: TypeAlias = tuple[int, int, int, int]
Result = TypeVar("Result", list[Match], list[list[Match]])

_LARGEST_FLOAT: float = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def _axis(name: str, axis: Axis | None, default: float) -> tuple[float, float, float]:
    if axis is None:
        return (default, default, 0)
    if isinstance(axis, (int, float)):
        return (axis, axis, 0)
    values = tuple(axis)
    if len(values) not in (2, 3):
        raise ValueError(f"{name} must be one number, (from, to) or (from, to, step), not {axis!r}")
    return cast("tuple[float, float, float]", (values + (0,))[:3])


def _warn(cut_off: bool, warning: str, peaks: int) -> None:
    if warning:
        warnings.warn(warning, RuntimeWarning, stacklevel=4)
    if cut_off:
        warnings.warn(
            f"only the {peaks} best peaks were looked at, so there may be more matches; a better min_score leaves fewer",
            RuntimeWarning,
            stacklevel=4,
        )


class _Prepared:
    """An engine with its templates."""

    __slots__ = ("engine", "key", "templates", "several")

    def __init__(
        self,
        engine: _tmatch.Engine,
        key: EngineKey,
        template: ArrayLike | Sequence[ArrayLike],
        mask: ArrayLike | Sequence[ArrayLike | None] | None,
        angle: Axis | None,
        scale: Axis | None,
        support: str,
    ):
        self.engine = engine
        self.key = key
        self.several = isinstance(template, (list, tuple))
        poses: tuple[Any, ...] = ()
        if angle is not None or scale is not None:
            poses = (_axis("angle", angle, 0), _axis("scale", scale, 1), choose("support", support, SUPPORTS))
        if not self.several:
            self.templates: tuple[_tmatch.Template, ...] = (self._prepare(template, mask, "the template", poses),)
            return
        templates = cast("Sequence[ArrayLike]", template)
        masks = [None] * len(templates) if mask is None else cast("Sequence[ArrayLike | None]", mask)
        if not templates:
            raise ValueError("there are no templates: the list is empty")
        if not isinstance(masks, (list, tuple)) or len(masks) != len(templates):
            raise ValueError("mask must be a list with a mask, or None, for each template")
        self.templates = tuple(
            self._prepare(t, m, f"template {i}", poses) for i, (t, m) in enumerate(zip(templates, masks))
        )

    def _prepare(self, template: object, mask: object, name: str, poses: tuple[Any, ...]) -> _tmatch.Template:
        if mask is None and isinstance(template, Picture):
            mask = template.mask
        return _tmatch.template(self.engine, template, mask, name, *poses)

    def match(
        self,
        frame: ArrayLike,
        n: int | None,
        min_score: float | None,
        frame_mask: ArrayLike | None,
        region: Region | None,
        overlap: float,
        margin: bool,
        subpixel: bool,
        peaks: int,
    ) -> Any:
        if not n and min_score is None:
            raise ValueError("n=None asks for all matches: min_score must say which score makes a position a match")
        lists, cut_off, warning = _tmatch.match(
            self.engine,
            self.templates,
            frame,
            frame_mask,
            None if region is None else tuple(region),  # type: ignore[arg-type]
            n or 0,
            math.nan if min_score is None else min_score,
            overlap,
            peaks,
            margin,
            subpixel,
        )
        if cut_off or warning:
            _warn(cut_off, warning, peaks)
        if self.several:
            return [[Match(*hit) for hit in hits] for hits in lists]
        return [Match(*hit) for hit in lists[0]]

    def score_map(
        self, index: int, frame: ArrayLike, frame_mask: ArrayLike | None, region: Region | None
    ) -> ScoreMap:
        scores, best, warning = _tmatch.score_map(
            self.engine, self.templates[index], frame, frame_mask, region and tuple(region), ScoreMap  # type: ignore[arg-type]
        )
        if warning:
            _warn(False, warning, 0)
        x, y = (region[0], region[1]) if region else (0, 0)
        domain = self.key[1]
        width, height = best[2], best[3]
        if domain == 1:
            x, y = x - (width - 1) // 2, y - (height - 1) // 2
        elif domain == 2:
            x, y = x - (width - 1), y - (height - 1)
        worst = -1 if self.key[0] < METRICS["sqdiff"] else 1
        scores.origin = (x, y)
        scores.best = Match(*best)
        if scores.dtype == "float32":
            scores.skipped = worst * _LARGEST_FLOAT
        else:
            scores.skipped = -(2**63) if worst < 0 else 2**63 - 1
        return scores


# Engines that the functions below used, with their devices and plans: a call takes one and gives it back.
_idle: dict[EngineKey, list[_tmatch.Engine]] = {}
_MOST_IDLE = 16


def _borrow(key: EngineKey) -> _tmatch.Engine:
    try:
        return _idle[key].pop()
    except (KeyError, IndexError):
        return _tmatch.engine(*key)


def _give_back(key: EngineKey, engine: _tmatch.Engine) -> None:
    if sum(map(len, _idle.values())) >= _MOST_IDLE:
        _idle.clear()
    _idle.setdefault(key, []).append(engine)


@overload
def match(
    frame: ArrayLike,
    template: ArrayLike,
    *,
    n: int | None = 1,
    min_score: float | None = None,
    angle: Axis | None = None,
    scale: Axis | None = None,
    support: Support = "auto",
    mask: ArrayLike | None = None,
    frame_mask: ArrayLike | None = None,
    region: Region | None = None,
    overlap: float = 0.3,
    margin: bool = False,
    subpixel: bool = False,
    metric: Metric = "lcc",
    domain: Domain = "valid",
    algorithm: Algorithm = "auto",
    search: Search = "auto",
    device: str = "auto",
    threads: int | None = None,
) -> list[Match]: ...
@overload
def match(
    frame: ArrayLike,
    template: Sequence[ArrayLike],
    *,
    n: int | None = 1,
    min_score: float | None = None,
    angle: Axis | None = None,
    scale: Axis | None = None,
    support: Support = "auto",
    mask: Sequence[ArrayLike | None] | None = None,
    frame_mask: ArrayLike | None = None,
    region: Region | None = None,
    overlap: float = 0.3,
    margin: bool = False,
    subpixel: bool = False,
    metric: Metric = "lcc",
    domain: Domain = "valid",
    algorithm: Algorithm = "auto",
    search: Search = "auto",
    device: str = "auto",
    threads: int | None = None,
) -> list[list[Match]]: ...
def match(
    frame: Any,
    template: Any,
    *,
    n: int | None = 1,
    min_score: float | None = None,
    angle: Axis | None = None,
    scale: Axis | None = None,
    support: Support = "auto",
    mask: Any = None,
    frame_mask: ArrayLike | None = None,
    region: Region | None = None,
    overlap: float = 0.3,
    margin: bool = False,
    subpixel: bool = False,
    metric: Metric = "lcc",
    domain: Domain = "valid",
    algorithm: Algorithm = "auto",
    search: Search = "auto",
    device: str = "auto",
    threads: int | None = None,
) -> Any:
    """Finds the template in the frame. Returns the matches, the best first.

    frame, template: arrays of shape (height, width) or (height, width, channels), of uint8, uint16 or float32, both
    of the same type and number of channels: NumPy, Pillow, PyTorch on the CPU, and all that has the buffer protocol,
    DLPack or an `__array_interface__`. Any strides; they are read only. A list of templates gives a list of lists.

    n          at most so many matches; None: all that reach min_score
    min_score  only matches that score that or better; without it the best is a match whatever it scores
    angle      also turned, by degrees counter-clockwise: one angle, (from, to) or (from, to, step)
    scale      also resized: likewise, 1 is the template's own size
    support    which pixels of turned templates count: 'auto', 'disc' or 'full'
    mask       of bool or uint8, the template's shape: its pixels that are 0 do not count
    frame_mask the same for the frame: where the template would cover a 0 there is no match
    region     (x, y, width, height): only there; positions stay those of the frame
    overlap    boxes whose intersection is more than this part of their union are one match, 0 to 1
    margin     find Match.margin, too
    subpixel   find Match.dx and dy, too, and fit the poses
    metric     'lcc', the local correlation coefficient, -1 to 1 (OpenCV's TM_CCOEFF_NORMED); 'ccorr',
               'ccorr_normed', 'ccoeff', 'sqdiff', 'sqdiff_normed'
    domain     'valid': the template lies inside of the frame; 'same', 'full': it may hang over its edges
    algorithm  'auto', 'direct', 'fft', 'cufft', 'reference', and
    search     'auto', 'exhaustive', 'certified': how, never what comes of it
    device     'auto', 'cpu', 'cuda', 'cuda:0', 'cuda:0,2'
    threads    of the CPU at most; None: all

    Raises TypeError and ValueError for arrays that cannot be matched, and tmatch.Error.
    """
    key = engine_key(metric, domain, algorithm, search, device, threads, "all", 0, 0)
    engine = _borrow(key)
    try:
        prepared = _Prepared(engine, key, template, mask, angle, scale, support)
        return prepared.match(frame, n, min_score, frame_mask, region, overlap, margin, subpixel, 1 << 20)
    finally:
        _give_back(key, engine)


def score_map(
    frame: ArrayLike,
    template: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    frame_mask: ArrayLike | None = None,
    region: Region | None = None,
    metric: Metric = "lcc",
    domain: Domain = "valid",
    algorithm: Algorithm = "auto",
    device: str = "auto",
    threads: int | None = None,
) -> ScoreMap:
    """The score of every position of the template in the frame; the arguments are those of tmatch.match.

    The map's shape is (H - h + 1, W - w + 1) for a frame of H x W and a template of h x w; (H, W) for the domain
    'same', (H + h - 1, W + w - 1) for 'full', where the frame is taken to be 0 around its edges.
    numpy.asarray(map) makes an array of it without a copy.
    """
    key = engine_key(metric, domain, algorithm, "auto", device, threads, "all", 0, 0)
    engine = _borrow(key)
    try:
        return _Prepared(engine, key, template, mask, None, None, "auto").score_map(0, frame, frame_mask, region)
    finally:
        _give_back(key, engine)


@dataclass(frozen=True)
class Report:
    """What the last match of a Matcher ran on.

    device        'cpu', 'cuda:0', 'cuda:0,2'
    algorithm     'direct', 'fft', 'reference'
    search        'exhaustive' or 'certified'
    plan          a sentence: what was chosen, and why
    scored        the part of the positions that was scored exactly, 0 to 1
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

    It keeps what tmatch.match makes anew for each call: the prepared template, in all its poses, the device's memory,
    the plans. The arguments are those of tmatch.match, and

    cpu_features   instruction sets that may be used: 'all', 'none', or names such as 'avx2' with commas between
    device_memory  bytes that may be used of each CUDA device; 0: no limit
    host_memory    bytes of the host's that FFT and planes may use; 0: no limit

    Calls from several threads wait for each other; threads with a matcher each run beside each other. `with` closes it.
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
    ) -> None:
        key = engine_key(
            metric, domain, algorithm, search, device, threads, cpu_features, device_memory, host_memory
        )
        self._prepared: _Prepared | None = _Prepared(
            _tmatch.engine(*key), key, template, mask, angle, scale, support
        )

    def _open(self) -> _Prepared:
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

        peaks: how many peaks are held at a time while matches that overlap are left out, 16 to 80 bytes each.
        """
        prepared = self._open()
        return cast(
            Result,
            prepared.match(frame, n, min_score, frame_mask, region, overlap, margin, subpixel, peaks),
        )

    def score_map(
        self,
        frame: ArrayLike,
        *,
        index: int = 0,
        frame_mask: ArrayLike | None = None,
        region: Region | None = None,
    ) -> ScoreMap:
        """The score of every position of the template, or of template number index of the list: see tmatch.score_map."""
        return self._open().score_map(index, frame, frame_mask, region)

    @property
    def poses(self) -> tuple[tuple[float, float, float], tuple[float, float, float], str, int] | None:
        """The first template's poses: angles and scales (from, to, step), the support, and how many there are. None
        where no poses are searched."""
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
