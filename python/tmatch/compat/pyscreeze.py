# SPDX-License-Identifier: MIT
"""PyScreeze's locate, locateAll and center: PyAutoGUI's, but for the screenshots.

    from tmatch.compat.pyscreeze import locate, locateAll, center

What takes screenshots, as locateOnScreen does, is not here: take one by pyscreeze.screenshot(),
Pillow's ImageGrab or mss, and hand it over.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from .. import _tmatch
from .._read import read
from ._dense import dense
from .cv2 import TM_CCOEFF_NORMED, TM_SQDIFF, matchTemplate

__all__ = [
    "GRAYSCALE_DEFAULT",
    "USE_IMAGE_NOT_FOUND_EXCEPTION",
    "Box",
    "ImageNotFoundException",
    "Point",
    "PyScreezeException",
    "center",
    "locate",
    "locateAll",
]

GRAYSCALE_DEFAULT = True
USE_IMAGE_NOT_FOUND_EXCEPTION = True  # False: locate returns None, and locateAll yields nothing


class Box(NamedTuple):
    left: int
    top: int
    width: int
    height: int


class Point(NamedTuple):
    x: int
    y: int


class PyScreezeException(Exception):
    """PyScreeze's own errors."""


class ImageNotFoundException(PyScreezeException):
    """The image is not there; see USE_IMAGE_NOT_FOUND_EXCEPTION."""


class _Pillow(Protocol):
    def convert(self, mode: str, /) -> Any: ...


Image: TypeAlias = Union[str, "os.PathLike[str]", npt.NDArray[Any], _Pillow]


def _gray(bgr: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rec. 601 luma, rounded as OpenCV rounds it."""
    if bgr.ndim != 3:
        return bgr
    if bgr.shape[2] not in (3, 4):
        raise ValueError(f"an image has {bgr.shape[2]} channels, not blue, green and red")
    if bgr.dtype.kind == "f":
        b, g, r = (bgr[..., i] for i in range(3))
        return (b * 0.114 + g * 0.587 + r * 0.299).astype(bgr.dtype)
    b, g, r = (bgr[..., i].astype(np.uint32) for i in range(3))
    return ((b * 3735 + g * 19235 + r * 9798 + (1 << 14)) >> 15).astype(bgr.dtype)


def _load(image: Image, grayscale: bool) -> npt.NDArray[Any]:
    """Gray, or blue, green and red."""
    if isinstance(image, (str, os.PathLike)):
        try:
            pixels = np.asarray(read(image, color=True))
        except (OSError, _tmatch.InputError) as reason:
            raise OSError(
                f"Failed to read {os.fspath(image)} because file is missing, has improper permissions, "
                f"or is an unsupported or invalid format: {reason}"
            ) from reason
        if pixels.dtype == np.uint16:
            pixels = (pixels >> 8).astype(np.uint8)
        pixels = pixels[..., ::-1] if pixels.ndim == 3 else np.dstack([pixels] * 3)
    elif isinstance(image, np.ndarray):
        pixels = dense("an image", image)
    elif hasattr(image, "convert"):
        pixels = np.asarray(image.convert("RGB"))[..., ::-1]
    else:
        raise TypeError("expected an image filename, OpenCV numpy array, or PIL image")
    return _gray(pixels) if grayscale else pixels


def locateAll(
    needleImage: Image,
    haystackImage: Image,
    grayscale: bool | None = None,
    limit: int | None = 10000,
    region: Sequence[int] | None = None,
    step: int = 1,
    confidence: float = 0.999,
) -> Iterator[Box]:
    """Yields the Box of every place that scores more than the confidence, row by row.

    needleImage, haystackImage  names of files, Pillow's images, or NumPy arrays that are gray or
                                blue, green and red, as OpenCV's are; transparency does not count
    grayscale   compare gray pictures; None: GRAYSCALE_DEFAULT
    limit       at most so many; None: all
    region      (left, top, width, height) of the haystack; places stay the haystack's
    step        2 looks at every second row and column, with a confidence 5 % less
    confidence  the correlation coefficient that is exceeded; 1 asks for 1, and above 1 nothing is found

    A needle of one colour, which correlates with nothing, is found where its copies are.

    Raises ImageNotFoundException at the first step if there is none, ValueError for a needle
    that is larger than the haystack or region and for a confidence of nan, OSError for files, and
    tmatch.compat.cv2.error for arrays of types that matchTemplate does not take.
    """
    gray = GRAYSCALE_DEFAULT if grayscale is None else grayscale
    confidence = float(confidence)
    if math.isnan(confidence):
        raise ValueError("confidence must be a number, not nan")
    needle, haystack = _load(needleImage, gray), _load(haystackImage, gray)
    height, width = needle.shape[:2]
    left, top = 0, 0
    if region:
        left, top, across, down = region
        if left < 0 or top < 0:
            raise ValueError("the region begins outside the haystack image")
        haystack = haystack[top : top + down, left : left + across]
    if haystack.shape[0] < height or haystack.shape[1] < width:
        raise ValueError("needle dimension(s) exceed the haystack image or region dimensions")
    if step == 2:
        confidence *= 0.95
        needle, haystack = needle[::2, ::2], haystack[::2, ::2]
    else:
        step = 1

    if (needle == needle[0, 0]).all():
        scores = (matchTemplate(haystack, needle, TM_SQDIFF) == 0).astype(np.float32)
    else:
        scores = matchTemplate(haystack, needle, TM_CCOEFF_NORMED)
    found = (scores > confidence) | ((scores == 1) & (confidence <= 1))
    places = np.flatnonzero(found)[:limit]
    if not len(places) and USE_IMAGE_NOT_FOUND_EXCEPTION:
        raise ImageNotFoundException(f"Could not locate the image (highest confidence = {scores.max():.3f})")
    for place in places:
        y, x = divmod(int(place), scores.shape[1])
        yield Box(x * step + left, y * step + top, width, height)


def locate(
    needleImage: Image,
    haystackImage: Image,
    grayscale: bool | None = None,
    limit: int | None = 1,
    region: Sequence[int] | None = None,
    step: int = 1,
    confidence: float = 0.999,
) -> Box | None:
    """The first Box of locateAll, whose arguments these are; the limit is 1 whatever is said.

    Raises ImageNotFoundException if there is none, or returns None if
    USE_IMAGE_NOT_FOUND_EXCEPTION is False.
    """
    return next(locateAll(needleImage, haystackImage, grayscale, 1, region, step, confidence), None)


def center(coords: Sequence[int]) -> Point:
    """The middle of a Box, to the right and below where it lies between pixels."""
    return Point(coords[0] + int(coords[2] / 2), coords[1] + int(coords[3] / 2))
