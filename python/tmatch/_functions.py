# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from . import _tmatch
from ._arrays import ArrayLike, DeviceArrayLike, DeviceScoreMap, HostArrayLike, ScoreMap
from ._match import Match
from ._prepared import Axis, Prepared, Region
from ._settings import Algorithm, Domain, EngineKey, Metric, Search, Support, engine_key

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


def _place(frame: Any, device: str) -> str:
    """A frame that lies on another CUDA device than the first is matched by that one."""
    if device != "auto" or not hasattr(frame, "__dlpack_device__"):
        return device
    place = frame.__dlpack_device__()
    on_device = isinstance(place, tuple) and len(place) == 2 and place[0] == 2 and place[1]
    return f"cuda:{place[1]}" if on_device else device


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

    frame, template: arrays of shape (height, width) or (height, width, channels), of uint8,
    uint16 or float32, both of one type and with as many channels: NumPy's, Pillow's, PyTorch's
    on the CPU, and all others with the buffer protocol, DLPack or an `__array_interface__`. They
    may have any strides and be read-only. A list of templates gives a list of lists. Frames may
    also lie on a GPU, as CuPy's and PyTorch's do: they are matched there, in the order of their
    streams, with the device 'auto' or a CUDA device.

    n           at most so many matches; None: all that reach min_score
    min_score   only matches that score that or better; without it the best is a match whatever
                it scores
    angle       search turned templates too, in degrees counter-clockwise: one angle, (from, to)
                or (from, to, step)
    scale       and resized ones, likewise; 1 is the template's own size
    support     which pixels of turned templates count: 'auto', 'disc' or 'full'
    mask        of bool or uint8 and the template's shape: pixels that are 0 there do not count
    frame_mask  of the frame's shape: no match covers a pixel that is 0 there
    region      (x, y, width, height): search only there; positions stay the frame's
    overlap     of boxes whose intersection is more than this part of their union, 0 to 1, only
                the best is a match
    margin      find Match.margin too
    subpixel    find Match.dx and Match.dy too, and fit the poses
    metric      'lcc', the local correlation coefficient, -1 to 1, OpenCV's TM_CCOEFF_NORMED;
                'ccorr', 'ccorr_normed', 'ccoeff', 'sqdiff' or 'sqdiff_normed'
    domain      'valid': the template lies inside the frame; 'same' or 'full': it may hang over
                its edges
    algorithm   'auto', 'direct', 'fft', 'cufft' or 'reference', and
    search      'auto', 'exhaustive' or 'certified': how it is done, not what is found; 'pyramid', for a template in
                poses, is quick for large ones and may miss matches
    device      'auto', 'cpu', 'cuda', or CUDA devices by number: 'cuda:0', 'cuda:0,2'
    threads     of the CPU, at most; None: as many as there are cores

    Raises TypeError and ValueError for arguments that cannot be matched, tmatch.InputError, a
    ValueError, for what the library refuses, and tmatch.Error where a device fails.
    """
    key = engine_key(metric, domain, algorithm, search, _place(frame, device), threads)
    engine = _borrow(key)
    try:
        prepared = Prepared(engine, key, template, mask, angle, scale, support)
        return prepared.match(frame, n, min_score, frame_mask, region, overlap, margin, subpixel, 1 << 20)
    finally:
        _give_back(key, engine)


@overload
def score_map(
    frame: DeviceArrayLike,
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
) -> DeviceScoreMap: ...
@overload
def score_map(
    frame: HostArrayLike,
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
) -> ScoreMap: ...
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
) -> Any:
    """The score of every position of the template in the frame. The arguments are tmatch.match's.

    The map of a frame of (H, W) and a template of (h, w) has the shape (H - h + 1, W - w + 1);
    (H, W) for the domain 'same', and (H + h - 1, W + w - 1) for 'full', where the frame counts
    as 0 beyond its edges. numpy.asarray(map) makes an array of it without a copy. The map of a frame
    on a GPU stays there: a DeviceScoreMap.
    """
    if isinstance(template, (list, tuple)):
        raise TypeError("a score map is one template's, not a list's")
    key = engine_key(metric, domain, algorithm, "auto", _place(frame, device), threads)
    engine = _borrow(key)
    try:
        return Prepared(engine, key, template, mask, None, None, "auto").score_map(0, frame, frame_mask, region)
    finally:
        _give_back(key, engine)
