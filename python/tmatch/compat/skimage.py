# SPDX-License-Identifier: MIT
"""scikit-image's match_template, for pictures of two dimensions.

from tmatch.compat.skimage import match_template
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._functions import score_map

__all__ = ["match_template"]

_Array: TypeAlias = npt.NDArray[Any]
_UNITS = (1, 255, 65535)  # of float64: whole numbers, and what img_as_float makes of 8 and 16 bits


def _real(name: str, a: object) -> _Array:
    array = np.asarray(a)
    if array.dtype.kind == "c":
        raise ValueError("complex valued input is not supported")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"the {name} has samples of {array.dtype}, which are no real numbers")
    if not array.size:
        raise ValueError(f"The parameter `{name}` cannot be an empty array")
    if array.dtype == np.longdouble:
        array = array.astype(np.float64)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"the {name} has samples that are not finite")
    return array


def _whole(a: _Array) -> _Array | None:
    """uint8 or uint16 that correlate as the picture does, which an offset and a unit do not change."""
    if a.dtype in (np.uint8, np.uint16):
        return a
    if a.dtype.kind == "f":
        if a.dtype.itemsize < 8:
            return None
        if np.abs(a).max() > 2**36:
            return None
        for unit in _UNITS:
            steps = np.rint(a * unit)
            if (np.abs(a * unit - steps) <= np.abs(steps) * 2.0**-52).all():
                break
        else:
            return None
        a = steps.astype(np.int64)
    low, high = int(a.min()), int(a.max())
    if high - low > 65535:
        return None
    if a.dtype != np.uint64:
        a = a.astype(np.int64)
    whole: _Array = (a - a.dtype.type(low)).astype(np.uint8 if high - low < 256 else np.uint16)
    return whole


def _float32(a: _Array) -> npt.NDArray[np.float32]:
    """Types that are wider lose their offset first, so that contrast is rounded, and are scaled to at most 1."""
    if a.dtype.itemsize > (4 if a.dtype.kind == "f" else 2):
        a = a.astype(np.float64)
        _, exponent = np.frexp(np.abs(a).max())
        a = np.ldexp(a, -int(exponent))
        a = a - a.mean()
        _, exponent = np.frexp(np.abs(a).max())
        a = np.ldexp(a, -int(exponent))
    return a.astype(np.float32)


def _window_sums(a: npt.NDArray[np.int64], shape: tuple[int, int]) -> npt.NDArray[np.int64]:
    sums: npt.NDArray[np.int64] = np.pad(a, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)
    sums = sums[shape[0] :] - sums[: -shape[0]]
    return sums[:, shape[1] :] - sums[:, : -shape[1]]


def _exact(image: _Array, template: _Array) -> npt.NDArray[np.float64]:
    """All sums are exact integers; one root and one quotient are rounded, in float64."""
    shape, n = (template.shape[0], template.shape[1]), template.size
    t, f = template.astype(np.int64), image.astype(np.int64)
    products = np.asarray(score_map(image, template, metric="ccorr"))
    sums = _window_sums(f, shape)
    variance = n * _window_sums(f * f, shape) - sums * sums
    template_variance = n * int((t * t).sum()) - int(t.sum()) ** 2
    divisor = np.sqrt(variance.astype(np.float64) * template_variance)
    divisor[divisor == 0] = 1  # the dividend is 0 there
    scores: npt.NDArray[np.float64] = np.clip((n * products - sums * int(t.sum())) / divisor, -1, 1)
    return scores


def _scores(image: _Array, template: _Array) -> npt.NDArray[np.floating[Any]]:
    f, t = _whole(image), _whole(template)
    if f is not None and t is not None:
        kind = np.result_type(f, t)
        f, t = f.astype(kind, copy=False), t.astype(kind, copy=False)
        if t.size**2 * max(int(f.max()), int(t.max())) ** 2 < 2**63:
            return _exact(f, t)
    else:
        f, t = _float32(image), _float32(template)
    if t.min() == t.max():
        return np.zeros([f.shape[i] - t.shape[i] + 1 for i in (0, 1)])
    return np.asarray(score_map(f, t))


def match_template(
    image: npt.ArrayLike,
    template: npt.ArrayLike,
    pad_input: bool = False,
    mode: Any = "constant",
    constant_values: Any = 0,
) -> npt.NDArray[np.floating[Any]]:
    """The correlation coefficient of the template at every position, as skimage.feature.match_template.

    image            (M, N) of any real type
    template         (m, n), m <= M, n <= N
    pad_input        pad the image, so that the result has its shape and element [y, x] is the
                     score where the template's centre lies there; otherwise it is its top-left
                     corner that does
    mode             of numpy.pad
    constant_values  likewise, for the mode 'constant'

    Returns float32 for an image of float32 or float16, and otherwise float64, of (M, N) or
    (M - m + 1, N - n + 1), from -1 to 1; 0 where the window or the template is flat. Integers in
    a range of 65,536 values are taken exactly, as whole numbers in float64 and img_as_float's
    fractions are. What is left of float64 is rounded to float32, about its mean.

    Raises ValueError where scikit-image does, and for samples that are not finite, and
    NotImplementedError for images of three dimensions.
    """
    frame, part = _real("image", image), _real("template", template)
    if frame.ndim not in (2, 3):
        raise ValueError("The parameter `image` must be a 2-or-3-dimensional array")
    if frame.ndim < part.ndim:
        raise ValueError(
            "Dimensionality of template must be less than or equal to the dimensionality of image."
        )
    if frame.ndim == 3:
        raise NotImplementedError("tmatch.compat.skimage matches images of two dimensions only")
    if part.ndim != 2:
        raise ValueError("template must have two dimensions, as image has")
    if frame.shape[0] < part.shape[0] or frame.shape[1] < part.shape[1]:
        raise ValueError("Image must be larger than template.")

    kind = np.float32 if frame.dtype.kind == "f" and frame.dtype.itemsize <= 4 else np.float64
    extra = {"constant_values": constant_values} if mode == "constant" else {}
    width = [(length, length) for length in part.shape]
    if pad_input:
        padded = np.pad(frame.astype(kind, copy=False), width, mode=mode, **extra)
        first = [m - m // 2 for m in part.shape]  # the window whose centre is the image's first pixel
        last = [first[i] + frame.shape[i] + part.shape[i] - 1 for i in (0, 1)]
        frame = _real("image", padded[first[0] : last[0], first[1] : last[1]])
    else:
        np.pad(np.zeros((1, 1)), 1, mode=mode, **extra)  # an unknown mode is an error
    return _scores(frame, part).astype(kind, copy=False)
