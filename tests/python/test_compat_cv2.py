# SPDX-License-Identifier: MIT
"""matchTemplate beside OpenCV's documented formulas, and beside OpenCV where it is installed."""

import numpy as np
import pytest
from cases import check_cases
from tmatch.compat import cv2 as ours

try:
    import cv2 as theirs
except ImportError:
    theirs = None

METHODS = ["TM_SQDIFF", "TM_SQDIFF_NORMED", "TM_CCORR", "TM_CCORR_NORMED", "TM_CCOEFF", "TM_CCOEFF_NORMED"]
CASES = check_cases(1000) * 3 // 10


def truth(image, templ, method, mask=None):
    """The documented formula in long double. Where it is 0/0 there is NaN."""
    image, templ = (a.reshape(*a.shape[:2], -1).astype(np.longdouble) for a in (image, templ))
    counts = (np.ones(templ.shape[:2]) if mask is None else mask.reshape(*templ.shape[:2], -1)[..., 0]) != 0
    t = templ[counts].T  # by channel and pixel
    windows = np.lib.stride_tricks.sliding_window_view(image, templ.shape[:2], axis=(0, 1))[..., counts]
    if "CCOEFF" in method:
        t = t - t.mean(axis=1, keepdims=True)
        windows = windows - windows.mean(axis=3, keepdims=True)
        flat = (windows == windows[..., :1]).all(axis=(2, 3))
        windows[flat] = 0
    total = (((windows - t) ** 2) if "SQDIFF" in method else windows * t).sum(axis=(2, 3))
    if "NORMED" in method:
        with np.errstate(invalid="ignore", divide="ignore"):
            total = total / np.sqrt((windows**2).sum(axis=(2, 3)) * (t**2).sum())
    return total


def random_case(rng, kind):
    """Noise, of little contrast in one of two cases, with a template that lies in it or not."""
    channels = [(), (3,)][rng.integers(2)]
    base, contrast = [(0, 256), (200, 8)][rng.integers(2)]
    image = base + rng.integers(0, contrast, (*rng.integers(16, 60, 2), *channels))
    h, w = rng.integers(2, 14, 2)
    templ = (
        image[1 : 1 + h, 2 : 2 + w]
        if rng.random() < 0.5
        else base + rng.integers(0, contrast, (h, w, *channels))
    )
    if kind == np.float32:
        image, templ = image + rng.random(image.shape), templ + rng.random(templ.shape)
    return image.astype(kind), templ.astype(kind)


def random_mask(rng, shape, kind=np.uint8):
    mask = rng.random(shape) < 0.7
    mask[0, :2] = True
    return mask.astype(kind) * kind(1 if kind == np.float32 else rng.integers(1, 256))


def distance(scores, exact, method):
    """From the truth, as a part of the largest value where the method is not normed; OpenCV clips at 1."""
    known = np.isfinite(exact)
    least = np.minimum(exact, 1) if method == "TM_SQDIFF_NORMED" else exact
    error = np.abs(scores - least)[known].max(initial=0)
    return float(error if "NORMED" in method else error / max(np.abs(exact).max(), 1))


def is_near(scores, peers, templ, method):
    """OpenCV subtracts large sums of float32 from each other, which shows where there is little contrast."""
    apart = np.append(np.abs(scores - peers), 0)
    return apart.mean() < 0.05 if "NORMED" in method else apart.max() < 5e-6 * 256**2 * templ.size


def test_constants():
    assert [getattr(ours, name) for name in METHODS] == [0, 1, 2, 3, 4, 5]
    if theirs:
        assert [getattr(theirs, name) for name in METHODS] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
@pytest.mark.parametrize("method", METHODS)
def test_truth(rng, method, kind):
    """Within 2^-22 of the formula, and nearer than OpenCV. pytest -rP shows the largest errors."""
    number = getattr(ours, method)
    mine, peers = [], []
    for _ in range(CASES // 12 + 1):
        image, templ = random_case(rng, kind)
        exact = truth(image, templ, method)
        scores = ours.matchTemplate(image, templ, number)
        assert scores.dtype == np.float32 and scores.shape == exact.shape and np.isfinite(scores).all()
        mine.append(distance(scores, exact, method))
        if theirs:
            other = theirs.matchTemplate(image, templ, number)
            peers.append(distance(other, exact, method))
            assert other.dtype == scores.dtype and is_near(scores, other, templ, method)
    print(f"{method} {np.dtype(kind)}: tmatch {max(mine):.1e}, OpenCV {max(peers, default=np.nan):.1e}")
    assert max(mine) < 2**-22
    if len(peers) > 20 and method not in (
        "TM_SQDIFF_NORMED",
        "TM_CCORR_NORMED",
    ):  # whose errors are of one size
        assert max(mine) <= max(peers)


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
@pytest.mark.parametrize("method", METHODS)
def test_masks(rng, method, kind):
    number = getattr(ours, method)
    for _ in range(10):
        image, templ = random_case(rng, kind)
        mask = random_mask(rng, templ.shape[:2], [np.uint8, np.float32][rng.integers(2)])
        scores = ours.matchTemplate(image, templ, number, mask=mask)
        exact = truth(image, templ, method, mask)
        known = np.isfinite(exact)
        scale = 1 if method.endswith("NORMED") else np.abs(exact).max()
        least = np.maximum(np.abs(exact), scale)[known]
        assert (np.abs(scores - exact)[known] <= 2**-22 * least).all()
        deep = np.repeat(mask[..., None], templ.shape[2] if templ.ndim == 3 else 1, axis=2)
        assert np.array_equal(ours.matchTemplate(image, templ, number, mask=deep), scores)
        if theirs:
            other = theirs.matchTemplate(image, templ, number, mask=mask)
            assert is_near(scores[known], other[known], templ, method)


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_flat_without_a_mask(rng, kind):
    """What has no value by the formula is what OpenCV makes of it."""
    image = rng.integers(1, 256, (20, 24)).astype(kind)
    image[:8, :9], image[10:18, 12:] = 0, 9
    templ = image[6:10, 7:12].copy()
    expected = [
        (templ, "TM_SQDIFF_NORMED", (0, 0), 1),
        (templ, "TM_CCORR_NORMED", (0, 0), 0),
        (templ, "TM_CCOEFF_NORMED", (0, 0), 0),
        (templ, "TM_CCOEFF_NORMED", (11, 13), 0),
        (templ * 0 + 7, "TM_CCOEFF_NORMED", ..., 1),
        (templ * 0 + 7, "TM_CCOEFF", ..., 0),
        (templ * 0, "TM_SQDIFF_NORMED", ..., 1),
        (templ * 0, "TM_CCORR_NORMED", ..., 0),
        (templ * 0, "TM_CCORR", ..., 0),
    ]
    for part, method, place, value in expected:
        assert (ours.matchTemplate(image, part, getattr(ours, method))[place] == value).all(), method
        if theirs:
            other = theirs.matchTemplate(image, part, getattr(theirs, method))
            assert np.abs(other[place] - value).max() < 0.1, method


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_flat_with_a_mask(rng, kind):
    image = rng.integers(1, 256, (20, 24)).astype(kind)
    image[:8, :9] = 0
    templ = image[6:10, 7:12].copy()
    mask = random_mask(rng, templ.shape)
    for method, value in (("TM_SQDIFF_NORMED", np.inf), ("TM_CCORR_NORMED", 0), ("TM_CCOEFF_NORMED", 0)):
        scores = ours.matchTemplate(image, templ, getattr(ours, method), mask=mask)
        assert scores[0, 0] == value and np.isfinite(scores[8:]).all()
    for part, method, value in (
        (templ * 0 + 7, "TM_CCOEFF_NORMED", 0),
        (templ * 0, "TM_SQDIFF_NORMED", np.inf),
        (templ * 0, "TM_CCORR_NORMED", 0),
    ):
        assert (ours.matchTemplate(image, part, getattr(ours, method), mask=mask) == value).all()
    color = np.dstack([image * 0, image, image * 0])
    scores = ours.matchTemplate(color, color[6:10, 7:12], ours.TM_SQDIFF_NORMED, mask=mask)
    assert np.isinf(scores[0, 0]) and np.isfinite(scores[8:]).all()


def test_result(scene):
    expected = ours.matchTemplate(*scene, ours.TM_CCOEFF_NORMED)
    assert expected.max() == expected[13, 21] == 1
    for shape in (expected.shape, (*expected.shape, 1)):
        result = np.zeros(shape, np.float32)
        assert ours.matchTemplate(*scene, 5, result) is result
        assert np.array_equal(result.reshape(expected.shape), expected)
    wide = np.zeros((expected.shape[0], 99), np.float32)
    ours.matchTemplate(*scene, 5, wide[:, : expected.shape[1]])
    assert np.array_equal(wide[:, : expected.shape[1]], expected) and not wide[:, expected.shape[1] :].any()
    for other in (np.zeros(expected.shape), np.zeros((3, 3), np.float32)):
        scores = ours.matchTemplate(*scene, 5, other)
        assert scores is not other and np.array_equal(scores, expected) and not other.any()
    expected.flags.writeable = False
    for wrong in (expected, [1]):
        with pytest.raises(ours.error, match="result"):
            ours.matchTemplate(*scene, 5, wrong)
    assert np.array_equal(
        ours.matchTemplate(image=scene[0], templ=scene[1], method=np.int64(5), result=None, mask=None),
        expected,
    )


def test_larger_template(scene):
    """Picture and template change places, as in OpenCV, where one fits into the other."""
    image, templ = scene
    for method in range(6):
        expected = ours.matchTemplate(image, templ, method)
        assert np.array_equal(ours.matchTemplate(templ, image, method), expected)
        if theirs:
            assert is_near(expected, theirs.matchTemplate(templ, image, method), templ, METHODS[method])
    with pytest.raises(ours.error, match=r"templ, \(48, 64\), is larger than image, \(8, 10\)"):
        ours.matchTemplate(templ, image, 5, mask=np.ones(image.shape, np.uint8))
    with pytest.raises(ours.error, match="larger"):
        ours.matchTemplate(image, np.eye(9, 65, dtype=np.uint8), 5)


def test_template_of_the_size_of_the_image(rng):
    """They stay where they are: what is flat is the template, or the window."""
    noise = rng.integers(0, 256, (16, 16), dtype=np.uint8)
    flat = np.full((16, 16), 7, np.uint8)
    for image, templ, score in ((flat, noise, 0), (noise, flat, 1)):
        assert ours.matchTemplate(image, templ, ours.TM_CCOEFF_NORMED) == [[score]]
        if theirs:
            assert theirs.matchTemplate(image, templ, theirs.TM_CCOEFF_NORMED) == [[score]]


def test_channels(rng):
    for channels in (1, 2, 4):
        image = rng.integers(0, 256, (20, 25, channels), dtype=np.uint8)
        scores = ours.matchTemplate(image, image[3:9, 4:12], ours.TM_CCORR)
        assert np.array_equal(scores, truth(image, image[3:9, 4:12], "TM_CCORR").astype(np.float32))
    flat = rng.integers(0, 256, (20, 25), dtype=np.uint8)
    assert np.array_equal(
        ours.matchTemplate(flat[..., None], flat[3:9, 4:12], 5), ours.matchTemplate(flat, flat[3:9, 4:12], 5)
    )


A = np.arange(200, dtype=np.uint8).reshape(10, 20) ** 2
T = A[2:6, 3:9]


@pytest.mark.parametrize(
    "arguments, message, as_theirs",
    [
        ((A, T, 6), "method must be 0", True),
        ((A, T, -1), "method must be 0", True),
        ((A, T, "5"), "method must be an integer, not str", True),
        ((A, T, 5.0), "method must be an integer", True),
        (
            (A.astype(np.uint16), T.astype(np.uint16), 5),
            "image has samples of uint16, not uint8 or float32",
            True,
        ),
        ((A.astype(float), T.astype(float), 5), "image has samples of float64", True),
        ((A > 9, T > 9, 5), "image has samples of bool", True),
        ((A, T.astype(np.float32), 5), "1 channels of uint8, and templ 1 of float32", True),
        ((A, np.dstack([T] * 3), 5), "1 channels of uint8, and templ 3", True),
        ((A.tolist(), T, 5), "image has samples of int64", True),
        ((None, T, 5), "image has samples of object", True),
        ((A, T[:0], 5), r"templ has shape \(0, 6", True),
        ((A[0], T[0], 5), r"image has shape \(20,\)", False),
        ((np.dstack([A] * 5), np.dstack([T] * 5), 5), "5 channels; at most 4", True),
        ((A, T, 5, None, np.ones((2, 2), np.uint8)), "mask has shape", True),
        ((A, T, 5, None, np.ones((4, 6, 2), np.uint8)), "mask has shape", True),
        ((A, T, 5, None, np.ones((4, 6), np.uint16)), "mask has samples of uint16", True),
        ((A, T, 5, None, np.ones((4, 6), bool)), "mask has samples of bool", True),
        ((A, T, 5, None, np.full((4, 6), 0.5, np.float32)), "weights other than 0 and 1", False),
        ((A, T, 5, None, np.zeros((4, 6), np.uint8)), "mask leaves no pixel", False),
        ((np.ma.MaskedArray(A, A > 9), T, 5), r"image is a masked array.* its \.data", False),
        ((A, np.ma.MaskedArray(T), 5), "templ is a masked array", False),
        ((A, T, 5, None, np.ma.MaskedArray(np.ones((4, 6), np.uint8))), "mask is a masked array", False),
        (
            (np.full((10, 20), np.nan, np.float32), T.astype(np.float32), 5),
            "only finite ones have a score",
            False,
        ),
    ],
)
def test_errors(arguments, message, as_theirs):
    with pytest.raises(ours.error, match=message):
        ours.matchTemplate(*arguments)
    if as_theirs and theirs:
        with pytest.raises(theirs.error):
            theirs.matchTemplate(*arguments)


def test_masks_by_channel():
    color = np.dstack([A, A // 2, A // 3])
    mask = np.ones((4, 6, 3), np.uint8)
    mask[0, 0, 1] = 0
    with pytest.raises(ours.error, match="channels that differ"):
        ours.matchTemplate(color, color[2:6, 3:9], 5, mask=mask)
