# SPDX-License-Identifier: MIT
"""What a type checker has to accept; test_files.py asks mypy."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt
import tmatch
from tmatch.compat import cv2, pyscreeze, skimage
from tmatch.dask import match_files


def use(
    frame: npt.NDArray[np.uint8],
    template: npt.NDArray[np.uint8],
    mask: npt.NDArray[np.bool_],
    scores_there: tmatch.DeviceScoreMap,
) -> float:
    matches = tmatch.match(frame, template, n=None, min_score=0.9, mask=mask, region=(0, 0, 10, 10))
    assert_type(matches, list[tmatch.Match])
    lists = tmatch.match(frame, [template, tmatch.read("a.png")], angle=(0, 360), scale=(0.5, 2, 0.1))
    assert_type(lists, list[list[tmatch.Match]])
    scores = tmatch.score_map(frame, memoryview(b""), metric="ccorr", domain="same")
    assert_type(np.asarray(scores)[0, 0] > 0.5, object)  # type: ignore[assert-type]
    with tmatch.Matcher(template, device="cuda:0", mask=mask) as one:
        assert_type(one.match(frame), list[tmatch.Match])
        plan: str = one.report.plan
    several = tmatch.Matcher([template, template])
    assert_type(several.match(frame), list[list[tmatch.Match]])
    begun = one.match_async(scores_there)
    assert_type(begun.result(), list[tmatch.Match])
    assert_type(several.match_async(scores_there).result(), list[list[tmatch.Match]])
    done: bool = begun.ready()
    for result in tmatch.files("folder", "template.png"):
        assert_type(result.matches, list[tmatch.Match])
    for both in tmatch.files(["a.png"], ["template.png", template]):
        assert_type(both.matches, list[list[tmatch.Match]])
    drawn = tmatch.draw(frame, lists, "drawn.png", names=["a", "b"])
    tmatch.write("copy.png", drawn)
    x, y = matches[0].center
    margin: float | None = matches[0].margin
    return x + y + (margin or 0) + len(plan) + scores.best.score + done


def use_compat(image: npt.NDArray[np.uint8], templ: npt.NDArray[np.uint8]) -> pyscreeze.Point:
    scores = cv2.matchTemplate(image, templ, cv2.TM_CCOEFF_NORMED, mask=np.ones((3, 3), np.uint8))
    assert_type(cv2.matchTemplate(image, templ, 5, scores), npt.NDArray[np.float32])
    padded = skimage.match_template(image, templ, pad_input=True, mode="edge")
    box = pyscreeze.locate("needle.png", image, confidence=float(padded.max()))
    boxes: list[pyscreeze.Box] = list(pyscreeze.locateAll(templ, image, region=(0, 0, 9, 9)))
    assert_type(box, pyscreeze.Box | None)
    return pyscreeze.center(box or boxes[0])


def use_dask(client: Any, template: npt.NDArray[np.uint8]) -> None:
    for result in match_files(client, "template.png", "s3://bucket/*.png", storage_options={"anon": True}):
        assert_type(result.matches, list[tmatch.Match])
    for both in match_files(client, [template, "template.png"], ["a.png"], ordered=True):
        assert_type(both.matches, list[list[tmatch.Match]])
