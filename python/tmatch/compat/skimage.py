# SPDX-License-Identifier: MIT
"""scikit-image's match_template, for pictures of two dimensions.

from tmatch.compat.skimage import match_template
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._functions import score_map
from ._dense import dense

__all__ = ["match_template"]

_Array: TypeAlias = npt.NDArray[Any]
_UNITS = (1, 255, 65535)  # of float64: whole numbers, and what img_as_float makes of 8 and 16 bits


def _real(name: str, a: object) -> _Array:
    array = dense(name, a)
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


def _digits(a: _Array) -> list[_Array]:
    """The picture on a grid of 2^48 steps from its least sample to its greatest, as digits of 16 bits, the lowest first."""
    if a.dtype.kind != "f" and int(a.max()) - int(a.min()) < 2**48:
        steps = a.astype(np.uint64) - np.uint64(int(a.min()) % 2**64)  # modulo 2^64
        steps = steps << np.uint64(48 - int(steps.max()).bit_length())
    else:
        a = a.astype(np.float64)
        a = np.ldexp(a, -int(np.frexp(np.abs(a).max())[1]))
        a = a - a.min()
        a = np.ldexp(a, 48 - int(np.frexp(a.max())[1]))
        steps = np.minimum(np.rint(a), 2.0**48 - 1).astype(np.uint64)
    return [(steps >> np.uint64(shift)).astype(np.uint16) for shift in (0, 16, 32)]


def _wide(image: _Array, template: _Array) -> npt.NDArray[np.float64]:
    """All sums of digits and of their products are exact integers, which are put together in long double."""
    shape, n = (template.shape[0], template.shape[1]), np.longdouble(template.size)
    f, t = _digits(image), _digits(template)
    place = [np.longdouble(2) ** (16 * i) for i in range(5)]
    f64, t64 = [d.astype(np.int64) for d in f], [d.astype(np.int64) for d in t]
    zero = np.zeros([image.shape[i] - shape[i] + 1 for i in (0, 1)], np.longdouble)
    sums, squares, products = zero, zero, zero
    template_sum = template_squares = np.longdouble(0)
    for i in range(3):
        sums = sums + _window_sums(f64[i], shape) * place[i]
        template_sum += t64[i].sum() * place[i]
        for j in range(3):
            if j <= i:
                twice = place[i + j] * (1 + (j < i))
                squares = squares + _window_sums(f64[i] * f64[j], shape) * twice
                template_squares += (t64[i] * t64[j]).sum() * twice
            if i + j > 1 and f[i].any() and t[j].any():  # the least count for less than the steps do in most windows
                products = products + np.asarray(score_map(f[i], t[j], metric="ccorr")) * place[i + j]
    flat = np.ones(zero.shape, bool)
    for axis in (0, 1):
        steps = np.logical_or.reduce([np.diff(d, axis=axis) != 0 for d in f64]).astype(np.int64)
        if shape[axis] > 1:
            flat &= _window_sums(steps, (shape[0] - (axis == 0), shape[1] - (axis == 1))) == 0
    template_variance = n * template_squares - template_sum**2
    if template_variance <= 0:
        return zero.astype(np.float64)
    variance = n * squares - sums * sums
    flat |= variance <= 0
    divisor = np.sqrt(np.where(flat, 1, variance)) * np.sqrt(template_variance)
    scores = np.where(flat, 0, np.clip((n * products - sums * template_sum) / divisor, -1, 1))
    return scores.astype(np.float64)


def _scores(image: _Array, template: _Array) -> npt.NDArray[np.floating[Any]]:
    f, t = _whole(image), _whole(template)
    if f is not None and t is not None:
        kind = np.result_type(f, t)
        f, t = f.astype(kind, copy=False), t.astype(kind, copy=False)
        if t.size**2 * max(int(f.max()), int(t.max())) ** 2 < 2**63:
            return _exact(f, t)
    elif image.dtype.kind != "f" or image.dtype.itemsize > 4:
        return _wide(image, template)
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
    fractions are. What is left of float64, and wider integers, are rounded to 2^48 steps from the
    least sample to the greatest, which takes several times as long.

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
