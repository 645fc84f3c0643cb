# SPDX-License-Identifier: MIT
"""match_template beside its definition, and beside scikit-image where that is installed."""

import numpy as np
import pytest
from cases import check_cases
from tmatch.compat.skimage import match_template

try:
    from skimage.feature import match_template as theirs
except ImportError:
    theirs = None

CASES = check_cases(1000) * 3 // 10
MODES = [
    "constant",
    "edge",
    "linear_ramp",
    "maximum",
    "mean",
    "median",
    "minimum",
    "reflect",
    "symmetric",
    "wrap",
]


def truth(image, template):
    """The correlation coefficient in long double; 0 where window or template are flat."""
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(np.longdouble), template.shape)
    flat = (windows == windows[..., :1, :1]).all(axis=(2, 3)) | (template == template[0, 0]).all()
    f = windows - windows.mean(axis=(2, 3), keepdims=True)
    t = template.astype(np.longdouble) - template.astype(np.longdouble).mean()
    divisor = np.sqrt((f * f).sum(axis=(2, 3)) * (t * t).sum())
    return np.where(flat, 0, (f * t).sum(axis=(2, 3)) / np.where(flat | (divisor == 0), 1, divisor))


def random_case(rng, kind):
    """Noise, of little contrast in one of two cases, with a template that lies in it or not."""
    base, contrast = [(0, 120), (100, 8)][rng.integers(2)]

    def noise(shape):
        return base + (
            rng.random(shape) * contrast if np.dtype(kind).kind == "f" else rng.integers(0, contrast, shape)
        )

    image = noise(rng.integers(16, 60, 2)).astype(kind)
    h, w = rng.integers(2, 14, 2)
    return image, image[1 : 1 + h, 2 : 2 + w] if rng.random() < 0.5 else noise((h, w)).astype(kind)


# By type: the distance from the truth at most; scikit-image's is at least as large.
TYPES = {
    "uint8": 4e-15,
    "int8": 4e-15,
    "uint16": 4e-15,
    "int32": 4e-15,
    "uint64": 4e-15,
    "float16": 2.0**-22,
    "float32": 2.0**-22,
    "float64": 1e-11,
}


@pytest.mark.parametrize("kind", TYPES)
def test_truth(rng, kind):
    most = TYPES[kind]
    mine, peers = [0.0], [0.0]
    for _ in range(CASES // 8 + 1):
        image, template = random_case(rng, kind)
        exact = truth(image, template)
        scores = match_template(image, template)
        assert scores.shape == exact.shape and scores.dtype == (
            "float32" if kind in ("float16", "float32") else "float64"
        )
        mine.append(float(np.abs(scores - exact).max()))
        assert mine[-1] < most and np.abs(scores).max() <= 1
        if theirs and kind != "float16":  # whose template it sums up in float16
            other = theirs(image, template)
            assert other.dtype == scores.dtype and np.abs(other - scores).mean() < 0.05
            peers.append(float(np.abs(other - exact).max()))
    print(f"{kind}: tmatch {max(mine):.1e}, scikit-image {max(peers):.1e}")
    if len(peers) > 20:
        assert max(mine) <= max(peers)


@pytest.mark.parametrize("unit", [255, 65535])
def test_fractions(rng, unit):
    """What img_as_float makes of integers is matched as these are."""
    whole = rng.integers(0, unit + 1, (40, 50))
    for image in (whole / unit, whole * (1 / unit), (whole - unit // 2) / unit, whole.astype(float)):
        scores = match_template(image, image[3:12, 7:13])
        assert np.abs(scores - truth(whole, whole[3:12, 7:13])).max() < 1e-14 and scores[3, 7] == 1


def test_types_that_differ(rng):
    image = rng.integers(0, 256, (30, 40), dtype=np.uint8)
    template = rng.integers(0, 60000, (5, 6), dtype=np.uint16)
    for other in (np.uint16, np.float32, np.float64, np.int64):
        scores = match_template(image, template.astype(other))
        assert scores.dtype == np.float64 and np.abs(scores - truth(image, template)).max() < 2**-22
    assert match_template(image.astype(np.float32), template).dtype == np.float32
    mask = image > 99
    assert match_template(mask, mask[4:10, 5:11])[4, 5] == 1
    assert match_template(image.astype(np.longdouble), template).dtype == np.float64


def test_wide_ranges(rng):
    noise = rng.random((30, 40))
    for scale, offset in ((1e300, 0), (1e-300, 0), (1, 1e6), (1e9, 0)):
        image = noise * scale + offset
        assert np.abs(match_template(image, image[4:12, 5:11]) - truth(image, image[4:12, 5:11])).max() < 1e-11
    for bits in (17, 40, 48, 62):
        image = (noise * 2**bits).astype(np.int64) - 2**16
        assert np.abs(match_template(image, image[4:12, 5:11]) - truth(image, image[4:12, 5:11])).max() < 1e-11
    large = rng.integers(0, 65536, (260, 300), dtype=np.uint16)
    assert match_template(large, large[5:255, 9:259])[5, 9] == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [np.uint8, np.float64])
def test_padding(rng, mode, kind):
    """The window whose centre is at [y, x], of the picture that np.pad makes larger by the template."""
    image = (rng.random((20, 27)) * 200).astype(kind)
    for m, n in ((4, 5), (5, 4), (1, 6), (7, 7), (20, 27)):
        template = (rng.random((m, n)) * 200).astype(kind)
        padded = np.pad(image.astype(float), [(m, m), (n, n)], mode=mode)
        exact = truth(padded, template)[m - m // 2 :, n - n // 2 :][:20, :27]
        scores = match_template(image, template, pad_input=True, mode=mode)
        assert scores.shape == image.shape and np.abs(scores - exact).max() < 1e-6
        if theirs:
            assert np.abs(scores - theirs(image, template, True, mode)).max() < 1e-6


def test_constant_values(rng):
    image = rng.integers(0, 200, (20, 27), dtype=np.uint8)
    template = image[:6, :5]
    for value in (0, 100, 0.5, 300, -3, (1, 2)):
        padded = np.pad(image.astype(float), [(6, 6), (5, 5)], constant_values=value)
        scores = match_template(image, template, True, "constant", value)
        assert np.abs(scores - truth(padded, template)[3:23, 3:30]).max() < 1e-6
        assert scores[3, 2] == pytest.approx(1)


@pytest.mark.parametrize("contrast, most", [(1e-2, 1e-10), (1e-3, 1e-9), (1e-5, 1e-7)])
def test_little_contrast(rng, contrast, most):
    """A part of a picture of float64 that has little of its contrast."""
    image = rng.random((40, 50))
    image[10:30, 10:40] = 0.5 + contrast * rng.random((20, 30))
    for template in (image[12:20, 15:25], rng.random((6, 7))):
        exact = truth(image, template)
        distance = np.abs(match_template(image, template) - exact).max()
        assert distance < most
        if theirs:
            assert distance < np.abs(theirs(image, template) - exact).max()


def test_flat(rng):
    image = rng.integers(0, 255, (20, 30))
    image[4:12, 5:15] = 77
    for kind in (np.uint8, np.int64, np.float32, np.float64):
        scores = match_template(image.astype(kind), image[1:6, 1:6].astype(kind))
        assert not scores[4:8, 5:11].any() and np.isfinite(scores).all()
        for value in (0, 9):
            scores = match_template(image.astype(kind), np.full((5, 6), value, kind))
            assert scores.shape == (16, 25) and not scores.any()
        assert not match_template((image * 0.37).astype(kind) * 0 + kind(3), image[:5, :5].astype(kind)).any()


E = np.eye(8)


@pytest.mark.parametrize(
    "image, template, kind, message",
    [
        (E[:3], E, ValueError, "Image must be larger than template."),
        (E[:, :3], E[:4, :4], ValueError, "Image must be larger than template."),
        (E[0], E[0], ValueError, "The parameter `image` must be a 2-or-3-dimensional array"),
        (E.reshape(1, 1, 8, 8), E, ValueError, "must be a 2-or-3-dimensional array"),
        (E[:0], E, ValueError, "The parameter `image` cannot be an empty array"),
        (E, np.ones((2, 2, 2)), ValueError, "Dimensionality of template must be less than or equal"),
        (E + 1j, E, ValueError, "complex valued input is not supported"),
    ],
)
def test_errors(image, template, kind, message):
    with pytest.raises(kind, match=message):
        match_template(image, template)
    if theirs:
        with pytest.raises(kind, match=message):
            theirs(image, template)


def test_errors_of_its_own():
    volume = np.random.default_rng(1).random((6, 7, 8))
    for template in (volume[:2, :2, :2], volume[0, :3, :3]):
        with pytest.raises(NotImplementedError, match="two dimensions"):
            match_template(volume, template)
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="template has samples that are not finite"):
            match_template(E, np.full((3, 3), wrong))
        with pytest.raises(ValueError, match="image has samples that are not finite"):
            match_template(E, E[:3, :3], True, "constant", wrong)
    for pad in (False, True):
        with pytest.raises(ValueError, match="mode"):
            match_template(E, E[:3, :3], pad, mode="none")
    with pytest.raises(ValueError, match="two dimensions"):
        match_template(E, E[0])
    with pytest.raises(TypeError, match="no real numbers"):
        match_template(E.astype(object), E)
    for image, template in ((np.ma.MaskedArray(E, E > 0), E), (E, np.ma.MaskedArray(E))):
        with pytest.raises(TypeError, match=r"is a masked array.* its \.data"):
            match_template(image, template)
