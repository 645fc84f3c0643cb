# SPDX-License-Identifier: MIT
"""Random cases beside OpenCV and scikit-image, within their rounding errors."""

import numpy as np
import pytest
import tmatch


def cases(rng, count):
    for _ in range(count):
        frame = rng.integers(0, 256, (rng.integers(20, 90), rng.integers(20, 90)), dtype=np.uint8)
        h, w = rng.integers(2, 20, 2)
        yield frame, rng.integers(0, 256, (h, w), dtype=np.uint8)


@pytest.mark.parametrize("metric", ["ccorr", "ccorr_normed", "ccoeff", "lcc", "sqdiff", "sqdiff_normed"])
def test_opencv(rng, metric):
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    method = getattr(cv2, "TM_" + {"lcc": "ccoeff_normed"}.get(metric, metric).upper())
    for frame, template in cases(rng, 80):
        theirs = cv2.matchTemplate(frame, template, method)
        ours = np.asarray(tmatch.score_map(frame, template, metric=metric)).astype(np.float64)
        if metric == "sqdiff_normed":
            ours = np.minimum(ours, 1)  # as theirs
        scale = 1 if metric.endswith("normed") or metric == "lcc" else 255.0**2 * template.size
        assert theirs.shape == ours.shape and np.abs(theirs - ours).max() / scale < 1e-4


def test_scikit_image(rng):
    feature = pytest.importorskip("skimage.feature", reason="scikit-image is not installed")
    for frame, template in cases(rng, 80):
        theirs = feature.match_template(frame, template)
        ours = np.asarray(tmatch.score_map(frame, template))
        assert theirs.shape == ours.shape and np.abs(theirs - ours).max() < 1e-4
