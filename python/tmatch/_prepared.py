# SPDX-License-Identifier: MIT
"""What tmatch.match and a Matcher have in common."""

from __future__ import annotations

import math
import operator
import struct
import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias, Union, cast

from . import _tmatch
from ._arrays import ArrayLike, DeviceScoreMap, Picture, ScoreMap
from ._match import Match
from ._settings import METRICS, SUPPORTS, EngineKey, choose, whole

# One value, from and to, or from, to and step.
Axis: TypeAlias = Union[float, tuple[float, float], tuple[float, float, float]]
Region: TypeAlias = tuple[int, int, int, int]

_LARGEST_FLOAT: float = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def _axis(name: str, axis: Any, default: float) -> tuple[float, float, float]:
    if axis is None:
        return (default, default, 0)
    try:
        values = tuple(axis)
    except TypeError:
        return (axis, axis, 0)
    if len(values) not in (2, 3):
        raise ValueError(f"{name} must be one number, (from, to) or (from, to, step), not {axis!r}")
    return cast("tuple[float, float, float]", (values + (0,))[:3])


def _region(region: Region | None) -> Region | None:
    if region is None:
        return None
    try:
        x, y, width, height = (operator.index(length) for length in region)
    except (TypeError, ValueError):
        raise TypeError("region must be four integers: x, y, width, height") from None
    return x, y, width, height


def warn_of_peaks(peaks: int, level: int) -> None:
    warnings.warn(
        f"only the {peaks} best peaks were looked at, so there may be more matches; "
        "a stricter min_score leaves fewer peaks",
        RuntimeWarning,
        stacklevel=level + 1,
    )


def _warn(cut_off: bool, warning: str, peaks: int) -> None:
    if warning:
        warnings.warn(warning, RuntimeWarning, stacklevel=4)
    if cut_off:
        warn_of_peaks(peaks, 4)


def check_search_of_all(
    n: int | None, min_score: float | None, overlap: float, region: Region | None, metric: str
) -> None:
    """Raises what is wrong with these whatever the frame."""
    if n is not None and whole("n", n) < 0:
        raise ValueError(f"n must be 0 or more, not {n}")
    if not 0 <= overlap <= 1:
        raise ValueError(f"overlap must be from 0 to 1, not {overlap}")
    _threshold(n, min_score, choose("metric", metric, METRICS))
    _region(region)


def _threshold(n: int | None, min_score: float | None, metric: int) -> float:
    """min_score as the library takes it, nan for None."""
    if min_score is None:
        if not n:
            raise ValueError(
                f"n={n} asks for all matches: min_score must say which score makes a position a match"
            )
        return math.nan
    try:
        is_nan = math.isnan(min_score)
    except TypeError:
        raise TypeError(f"min_score must be a number, not {min_score!r}") from None
    if is_nan:
        raise ValueError("min_score must be a number, not nan")
    name = list(METRICS)[metric]
    if name in ("lcc", "ccorr_normed") and not -1 <= min_score <= 1:
        raise ValueError(f"min_score must be from -1 to 1, as scores of {name!r} are, not {min_score}")
    return min_score


class Prepared:
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
        number = choose("support", support, SUPPORTS)
        if angle is not None or scale is not None:
            poses = (_axis("angle", angle, 0), _axis("scale", scale, 1), number)
        if not self.several:
            self.templates: tuple[_tmatch.Template, ...] = (
                self._prepare(template, mask, "the template", poses),
            )
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
        threshold = _threshold(n, min_score, self.key[0])
        lists, cut_off, warning = _tmatch.match(
            self.engine,
            self.templates,
            frame,
            frame_mask,
            _region(region),
            whole("n", n or 0),
            threshold,
            overlap,
            whole("peaks", peaks),
            margin,
            subpixel,
        )
        if cut_off or warning:
            _warn(cut_off, warning, peaks)
        if self.several:
            return [[Match(*hit) for hit in hits] for hits in lists]
        return [Match(*hit) for hit in lists[0]]

    def match_async(
        self, frame: object, frame_mask: ArrayLike | None, region: Region | None
    ) -> _tmatch.Pending:
        return _tmatch.match_async(self.engine, self.templates, frame, frame_mask, _region(region))

    def match_part(
        self,
        frame: ArrayLike,
        rows: tuple[int, int],
        frame_height: int,
        first: int,
        n: int | None,
        min_score: float | None,
        frame_mask: ArrayLike | None,
        overlap: float,
        margin: bool,
        subpixel: bool,
        peaks: int,
    ) -> tuple[list[tuple[Any, ...]], str]:
        """What _tmatch.match_part returns."""
        threshold = _threshold(n, min_score, self.key[0])
        return _tmatch.match_part(
            self.engine,
            self.templates,
            frame,
            frame_mask,
            frame_height,
            first,
            *rows,
            whole("n", n or 0),
            threshold,
            overlap,
            whole("peaks", peaks),
            margin,
            subpixel,
        )

    def score_map(
        self, index: int, frame: ArrayLike, frame_mask: ArrayLike | None, region: Region | None
    ) -> Any:
        region = _region(region)
        scores, best, warning = _tmatch.score_map(
            self.engine, self.templates[index], frame, frame_mask, region, ScoreMap, DeviceScoreMap
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
