# SPDX-License-Identifier: MIT
"""locate and locateAll, on pictures of screens, beside PyScreeze where it is installed."""

import os

import numpy as np
import pytest
import tmatch
from tmatch.compat import cv2 as cv2_errors
from tmatch.compat import pyscreeze as ours


@pytest.fixture
def screen(rng):
    """Blue, green and red, with a button at three places."""
    screen = rng.integers(0, 40, (80, 120, 3)).astype(np.uint8) + np.uint8(150)
    button = rng.integers(0, 256, (12, 17, 3), dtype=np.uint8)
    places = [(70, 5), (3, 30), (90, 60)]
    for x, y in places:
        screen[y : y + 12, x : x + 17] = button
    return screen, button, [(x, y, 17, 12) for x, y in places]


def save(path, bgr):
    tmatch.write(path, np.ascontiguousarray(bgr[..., ::-1]))
    return os.fspath(path)


@pytest.fixture
def peer(monkeypatch):
    """PyScreeze, which asks for a screen when it is imported on some systems."""
    pytest.importorskip("cv2", reason="OpenCV is not installed")
    return pytest.importorskip("pyscreeze", reason="PyScreeze is not installed", exc_type=Exception)


def test_locate_all(screen):
    haystack, button, boxes = screen
    found = list(ours.locateAll(button, haystack))
    assert found == boxes and all(type(box) is ours.Box for box in found)
    assert found[0]._fields == ("left", "top", "width", "height") and isinstance(found[0].left, int)
    for grayscale in (None, True, False):
        assert list(ours.locateAll(button, haystack, grayscale=grayscale)) == boxes
    assert list(ours.locateAll(button, haystack, limit=2)) == boxes[:2]
    assert list(ours.locateAll(button, haystack, limit=None)) == boxes
    assert list(ours.locateAll(button, haystack, confidence=1)) == boxes
    assert list(ours.locateAll(button, haystack, step=2)) == [boxes[2]]  # at an even place
    assert list(ours.locateAll(button, haystack, region=(0, 10, 100, 70))) == [boxes[1]]
    assert list(ours.locateAll(button, haystack, region=(3, 30, 17, 12))) == [boxes[1]]
    assert ours.locate(button, haystack) == boxes[0] == ours.locate(button, haystack, limit=5)


def test_kinds_of_images(screen, tmp_path):
    haystack, button, boxes = screen
    as_files = save(tmp_path / "screen.png", haystack), save(tmp_path / "button.png", button)
    arrays = haystack, button
    kinds = [as_files, arrays, (tmp_path / "screen.png", tmp_path / "button.png")]
    try:
        from PIL import Image
    except ModuleNotFoundError:
        pass
    else:
        opened = tuple(Image.open(name) for name in as_files)
        kinds += [opened, tuple(picture.convert("RGBA") for picture in opened)]
    for grayscale in (True, False):
        for haystack, _ in kinds:
            for _, button in kinds:
                assert list(ours.locateAll(button, haystack, grayscale)) == boxes


def test_gray_and_deep_files(screen, tmp_path, rng):
    haystack, button, boxes = screen
    gray, part = haystack[..., 0], button[..., 0]
    tmatch.write(tmp_path / "gray.png", gray)
    for grayscale in (True, False):
        assert ours.locate(np.dstack([part] * 3), tmp_path / "gray.png", grayscale) == boxes[0]
    assert (
        ours.locate(part, gray) == boxes[0] == ours.locate(part.astype(np.float32), gray.astype(np.float32))
    )
    deep = np.ascontiguousarray(haystack[..., ::-1].astype(np.uint16) * 256) + rng.integers(
        0, 256, dtype=np.uint16
    )
    tmatch.write(tmp_path / "deep.png", deep)
    assert list(ours.locateAll(button, tmp_path / "deep.png", False)) == boxes


def test_not_found(screen, monkeypatch, rng):
    haystack = screen[0]
    needle = rng.integers(0, 256, (9, 9, 3), dtype=np.uint8)
    generator = ours.locateAll(needle, haystack)
    with pytest.raises(
        ours.ImageNotFoundException, match=r"Could not locate the image \(highest confidence = 0\.\d\d\d\)"
    ):
        next(generator)
    with pytest.raises(ours.PyScreezeException):
        ours.locate(needle, haystack)
    with pytest.raises(ours.ImageNotFoundException, match="highest confidence = 1.000"):
        ours.locate(screen[1], haystack, confidence=1.5)
    monkeypatch.setattr(ours, "USE_IMAGE_NOT_FOUND_EXCEPTION", False)
    assert ours.locate(needle, haystack) is None and list(ours.locateAll(needle, haystack)) == []


def test_needle_of_one_colour(screen):
    """It correlates with nothing, and is not found everywhere."""
    haystack = screen[0].copy()
    haystack[20:30, 40:50] = (9, 8, 7)
    needle = np.full((10, 10, 3), (9, 8, 7), np.uint8)
    assert list(ours.locateAll(needle, haystack, False)) == [(40, 20, 10, 10)]
    with pytest.raises(ours.ImageNotFoundException):
        ours.locate(needle + np.uint8(1), haystack)


def test_errors(screen, tmp_path):
    haystack, button, _ = screen
    with pytest.raises(
        ValueError, match=r"needle dimension\(s\) exceed the haystack image or region dimensions"
    ):
        ours.locate(haystack, button)
    with pytest.raises(ValueError, match="exceed"):
        ours.locate(button, haystack, region=(0, 0, 16, 80))
    with pytest.raises(ValueError, match="outside"):
        ours.locate(button, haystack, region=(-1, 0, 30, 30))
    with pytest.raises(ValueError, match="confidence must be a number, not nan"):
        ours.locate(button, haystack, confidence=float("nan"))
    with pytest.raises(OSError, match="Failed to read .*none.png because file is missing"):
        ours.locate(os.fspath(tmp_path / "none.png"), haystack)
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(OSError, match="text.png"):
        ours.locate(tmp_path / "text.png", haystack)
    with pytest.raises(TypeError, match="expected an image filename, OpenCV numpy array, or PIL image"):
        ours.locate([[1]], haystack)
    with pytest.raises(cv2_errors.error, match="uint16"):
        ours.locate(button.astype(np.uint16), haystack.astype(np.uint16))
    with pytest.raises(cv2_errors.error, match="channels"):
        ours.locate(button[..., 0], haystack, grayscale=False)
    with pytest.raises(ValueError, match="2 channels"):
        ours.locate(button[..., :2], haystack)
    with pytest.raises(TypeError, match="an image is a masked array"):
        ours.locate(np.ma.MaskedArray(button, button > 200), haystack)


def test_center():
    assert ours.center((10, 10, 6, 8)) == ours.Point(13, 14)
    assert ours.center(ours.Box(10, 10, 7, 9)) == (13, 14) and ours.center((10, 10, 8, 10)).y == 15


def test_gray_as_opencv(rng):
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    for channels in (3, 4):
        picture = rng.integers(0, 256, (200, 300, channels), dtype=np.uint8)
        assert np.array_equal(ours._gray(picture), cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY))


def test_peer(screen, peer, tmp_path, rng):
    haystack, button, _ = screen
    noisy = np.clip(haystack + rng.normal(0, 12, haystack.shape), 0, 255).astype(np.uint8)
    files = save(tmp_path / "screen.png", noisy), save(tmp_path / "button.png", button)
    for needle, hay in ((button, haystack), (button, noisy), (files[1], files[0]), (files[1], noisy)):
        for more in (
            {},
            {"grayscale": False},
            {"confidence": 0.7},
            {"confidence": 0.5, "limit": 2},
            {"confidence": 0.6, "region": (2, 4, 110, 50)},
            {"confidence": 0.8, "step": 2},
            {"confidence": 0.8, "step": 3},
        ):
            found = []
            for module in (ours, peer):
                try:
                    found.append(list(module.locateAll(needle, hay, **more)))
                except module.ImageNotFoundException:
                    found.append(None)
            assert found[0] == found[1], more
    assert ours.Box._fields == peer.Box._fields and ours.Point._fields == peer.Point._fields
    assert peer.center((1, 2, 7, 9)) == ours.center((1, 2, 7, 9))
    assert ours.GRAYSCALE_DEFAULT == peer.GRAYSCALE_DEFAULT
    assert ours.USE_IMAGE_NOT_FOUND_EXCEPTION == peer.USE_IMAGE_NOT_FOUND_EXCEPTION
