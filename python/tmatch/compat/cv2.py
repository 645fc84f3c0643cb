# SPDX-License-Identifier: MIT
"""OpenCV's matchTemplate, as version 5 has it.

from tmatch.compat.cv2 import matchTemplate, TM_CCOEFF_NORMED
"""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _tmatch
from .._functions import score_map
from .._settings import Metric
from ._dense import dense

__all__ = [
    "TM_CCOEFF",
    "TM_CCOEFF_NORMED",
    "TM_CCORR",
    "TM_CCORR_NORMED",
    "TM_SQDIFF",
    "TM_SQDIFF_NORMED",
    "error",
    "matchTemplate",
]

TM_SQDIFF = 0
TM_SQDIFF_NORMED = 1
TM_CCORR = 2
TM_CCORR_NORMED = 3
TM_CCOEFF = 4
TM_CCOEFF_NORMED = 5

_METRICS: tuple[Metric, ...] = ("sqdiff", "sqdiff_normed", "ccorr", "ccorr_normed", "ccoeff", "lcc")
_Array: TypeAlias = npt.NDArray[Any]
_Map: TypeAlias = npt.NDArray[np.float32]


class error(Exception):
    """What matchTemplate raises where OpenCV's raises cv2.error, and for what tmatch refuses."""


def _picture(name: str, a: npt.ArrayLike) -> _Array:
    picture = dense(name, a, error)
    if picture.dtype not in (np.uint8, np.float32):
        raise error(f"{name} has samples of {picture.dtype}, not uint8 or float32")
    if picture.ndim == 2:
        picture = picture[..., None]
    if picture.ndim != 3 or not picture.size:
        raise error(f"{name} has shape {np.shape(picture)}, not (height, width) or (height, width, channels)")
    if picture.shape[2] > 4:
        raise error(f"{name} has {picture.shape[2]} channels; at most 4 are matched")
    return picture


def _binary(mask: npt.ArrayLike, templ: _Array) -> npt.NDArray[np.bool_]:
    """The mask as tmatch has it: one bit for each pixel."""
    weights = dense("mask", mask, error)
    if weights.dtype not in (np.uint8, np.float32):
        raise error(f"mask has samples of {weights.dtype}, not uint8 or float32")
    if weights.ndim == 2:
        weights = weights[..., None]
    if (
        weights.shape[:2] != templ.shape[:2]
        or weights.ndim != 3
        or weights.shape[2] not in (1, templ.shape[2])
    ):
        raise error(f"mask has shape {np.shape(mask)}, which does not fit templ's, {templ.shape}")
    counts: npt.NDArray[np.bool_] = weights != 0
    if weights.dtype == np.float32 and not np.array_equal(weights, counts):
        raise error("mask has weights other than 0 and 1; tmatch's masks are binary")
    if not np.array_equal(counts, np.broadcast_to(counts[..., :1], counts.shape)):
        raise error("mask has channels that differ; tmatch's masks are the same for all channels")
    if not counts.any():
        raise error("mask leaves no pixel of templ to compare")
    return counts[..., 0]


def _without_contrast(templ: _Array, counts: npt.NDArray[np.bool_] | slice) -> bool:
    pixels = templ[counts].reshape(-1, templ.shape[2])
    return bool((pixels == pixels[0]).all())


def _scores(image: _Array, templ: _Array, method: int, mask: npt.NDArray[np.bool_] | None) -> _Map:
    counts = slice(None) if mask is None else mask
    shape = image.shape[0] - templ.shape[0] + 1, image.shape[1] - templ.shape[1] + 1
    if method >= TM_CCOEFF and _without_contrast(templ, counts):
        value = method == TM_CCOEFF_NORMED and mask is None
        return np.full(shape, value, np.float32)
    if method == TM_SQDIFF_NORMED and not templ[counts].any():
        return np.full(shape, 1 if mask is None else np.inf, np.float32)
    scores = np.asarray(score_map(image, templ, mask=mask, metric=_METRICS[method])).astype(
        np.float32, copy=False
    )
    if method == TM_SQDIFF_NORMED:
        if mask is None:
            np.minimum(scores, 1, out=scores)
        else:
            seen = image.any(axis=2).astype(np.uint8)
            ones = np.ones(mask.shape, np.uint8)
            scores[np.asarray(score_map(seen, ones, mask=mask, metric="ccorr")) == 0] = np.inf
    return scores


def matchTemplate(
    image: npt.ArrayLike,
    templ: npt.ArrayLike,
    method: SupportsIndex,
    result: _Map | None = None,
    mask: npt.ArrayLike | None = None,
) -> _Map:
    """Compares the template with the image at every position, as cv2.matchTemplate does.

    image, templ  (height, width) or (height, width, channels), both of uint8 or both of float32,
                  with the same 1 to 4 channels. A template that is larger than the image, and
                  nowhere smaller, changes places with it.
    method        TM_SQDIFF, TM_SQDIFF_NORMED, TM_CCORR, TM_CCORR_NORMED, TM_CCOEFF or
                  TM_CCOEFF_NORMED; the first two are least where the match is best
    result        a float32 array of the result's shape, which is filled and returned
    mask          of the template's shape, with one channel or the template's: uint8, where
                  pixels that are not 0 count, or float32 of 0 and 1

    Returns float32 of (H - h + 1, W - w + 1). Where a normed value is 0/0 by its formula, it is
    what OpenCV gives without a mask: 0 for a flat window, 1 for TM_CCOEFF_NORMED of a flat
    template and for TM_SQDIFF_NORMED of a black template. With a mask, where OpenCV gives nan or
    infinities, correlations are 0, and TM_SQDIFF_NORMED is inf where templ or window are black.

    Raises error where OpenCV raises cv2.error, and for weights other than 0 and 1, channels with
    masks of their own, a mask of zeros only, and samples that are not finite.
    """
    try:
        number = operator.index(method)
    except TypeError:
        raise error(f"method must be an integer, not {type(method).__name__}") from None
    if not TM_SQDIFF <= number <= TM_CCOEFF_NORMED:
        raise error(f"method must be 0 (TM_SQDIFF) to 5 (TM_CCOEFF_NORMED), not {number}")
    if result is not None and not (isinstance(result, np.ndarray) and result.flags.writeable):
        raise error("result must be a NumPy array that may be written to")
    frame, template = _picture("image", image), _picture("templ", templ)
    if (frame.dtype, frame.shape[2]) != (template.dtype, template.shape[2]):
        raise error(
            f"image has {frame.shape[2]} channels of {frame.dtype}, "
            f"and templ {template.shape[2]} of {template.dtype}"
        )
    counts = None if mask is None or not np.size(mask) else _binary(mask, template)
    sizes = frame.shape[:2], template.shape[:2]
    if counts is None and sizes[0] != sizes[1] and all(a <= b for a, b in zip(*sizes)):
        frame, template = template, frame
    if frame.shape[0] < template.shape[0] or frame.shape[1] < template.shape[1]:
        raise error(f"templ, {np.shape(templ)[:2]}, is larger than image, {np.shape(image)[:2]}")
    try:
        scores = _scores(frame, template, number, counts)
    except _tmatch.InputError as refused:
        raise error(str(refused)) from refused
    if (
        result is not None
        and result.dtype == np.float32
        and result.shape in (scores.shape, (*scores.shape, 1))
    ):
        result[...] = scores.reshape(result.shape)
        return result
    return scores
