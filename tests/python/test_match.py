# SPDX-License-Identifier: MIT
"""What match returns."""

import math
import pickle

import numpy as np
import pytest
import tmatch


def test_best(scene):
    (best,) = tmatch.match(*scene)
    assert (best.x, best.y, best.width, best.height, best.score) == (21, 13, 10, 8, 1.0)
    assert (best.margin, best.dx, best.dy, best.angle, best.scale) == (None,) * 5
    assert best.center == (21 + 4.5, 13 + 3.5)
    assert best.corners == ((20.5, 12.5), (30.5, 12.5), (30.5, 20.5), (20.5, 20.5))
    assert best.box == (21, 13, 10, 8)
    assert np.array_equal(scene[0][best.slices], scene[1])


def test_match_is_a_value(scene):
    (a,), (b,) = tmatch.match(*scene), tmatch.match(*scene)
    assert a == b and hash(a) == hash(b) and a is not b
    assert a != tmatch.match(scene[0], scene[1][1:])[0]
    assert repr(a) == "Match(x=21, y=13, width=10, height=8, score=1)"
    assert pickle.loads(pickle.dumps(a)) == a
    with pytest.raises(AttributeError):
        a.x = 3


@pytest.mark.parametrize(
    "score, text",
    [(0.5, "0.5"), (np.float32(0.9919919), "0.9919919"), (-1e-8, "-1e-08"), (123456789.0, "123456789")],
)
def test_repr_of_scores(score, text):
    assert f"score={text})" in repr(tmatch.Match(0, 0, 1, 1, float(score)))


def test_several(scene):
    frame, template = scene
    frame[30:38, 40:50] = template
    found = tmatch.match(frame, template, n=None, min_score=0.99)
    assert [(m.x, m.y, m.score) for m in found] == [(21, 13, 1.0), (40, 30, 1.0)]
    assert tmatch.match(frame, template, n=0, min_score=0.99) == found
    assert tmatch.match(frame, template, n=1, min_score=0.99) == found[:1]
    assert len(tmatch.match(frame, template, n=5)) == 5
    assert tmatch.match(frame, 255 - template[::-1], min_score=0.99) == []


def test_overlap(scene):
    frame, template = np.zeros((20, 40), np.uint8), np.zeros((4, 8), np.uint8)
    template[:, ::4] = 255
    frame[:, ::4] = 255
    apart = tmatch.match(frame, template, n=None, min_score=0.99, overlap=0)
    assert len(apart) < len(tmatch.match(frame, template, n=None, min_score=0.99, overlap=1))


def test_list_of_templates(scene):
    frame, template = scene
    other = frame[2:9, 3:9].copy()
    expected = [tmatch.match(frame, template), tmatch.match(frame, other)]
    assert tmatch.match(frame, [template, other]) == expected
    assert tmatch.match(frame, (template, other)) == expected
    assert tmatch.match(frame, [template]) == expected[:1]
    masks = [None, np.eye(7, 6, dtype=bool)]
    assert tmatch.match(frame, [template, other], mask=masks) == [
        tmatch.match(frame, template),
        tmatch.match(frame, other, mask=masks[1]),
    ]


def test_margin_and_subpixel(scene):
    (best,) = tmatch.match(*scene, margin=True, subpixel=True)
    scores = np.asarray(tmatch.score_map(*scene)).copy()
    scores[13 - 7 : 13 + 8, 21 - 9 : 21 + 10] = -1
    assert -1 <= best.margin < 1 and best.margin >= scores.max() - 1e-6
    assert abs(best.dx) <= 0.5 and abs(best.dy) <= 0.5
    assert best.center == (25.5 + best.dx, 16.5 + best.dy)
    (only_margin,) = tmatch.match(*scene, margin=True)
    assert only_margin.dx is None and only_margin.margin == best.margin


def test_poses(data):
    frame, template = tmatch.read(data / "parts.jpg"), tmatch.read(data / "part.png")
    found = tmatch.match(frame, template, n=3, angle=(0, 360, 6))
    assert len(found) == 3 and all(m.score > 0.5 and m.angle is not None and m.scale == 1 for m in found)
    for m in found:
        x, y = np.mean(m.corners, axis=0)
        assert abs(x - m.center[0]) < 1e-9 and abs(y - m.center[1]) < 1e-9
        assert m.x <= min(c[0] for c in m.corners) + 0.5 and m.y + m.height >= max(c[1] for c in m.corners)
    fitted = tmatch.match(frame, template, angle=(0, 360, 6), subpixel=True)[0]
    assert abs(fitted.angle - found[0].angle) <= 3 and fitted.score == found[0].score
    one = tmatch.match(frame, template, angle=found[0].angle)[0]
    assert (one.x, one.y, one.score) == (found[0].x, found[0].y, found[0].score)
    bigger = tmatch.match(frame, template, scale=(0.9, 1.1, 0.1), angle=found[0].angle)[0]
    assert bigger.score >= one.score and bigger.scale in (0.9, 1.0, 1.1)


def test_poses_by_a_pyramid(data):
    frame = tmatch.read(data / "camera.png")
    template = np.asarray(frame)[90:160, 220:290]
    found = tmatch.match(frame, template, angle=(-30, 30, 3), search="pyramid")[0]
    assert (found.x, found.y, found.angle, found.score) == (220, 90, 0, 1)
    matcher = tmatch.Matcher(template, angle=(-30, 30, 3), search="pyramid")
    assert matcher.match(frame)[0].score == 1 and matcher.report.search == "pyramid"
    with pytest.raises(tmatch.InputError, match="pyramid search is for templates in poses"):
        tmatch.match(frame, template, search="pyramid")


def test_poses_in_a_region(data):
    frame, template = tmatch.read(data / "parts.jpg"), tmatch.read(data / "part.png")
    (best,) = tmatch.match(frame, template, angle=(0, 360, 30))
    x, y = max(best.x - 20, 0), max(best.y - 20, 0)
    width, height = min(best.width + 40, frame.shape[1] - x), min(best.height + 40, frame.shape[0] - y)
    (again,) = tmatch.match(frame, template, angle=(0, 360, 30), region=(x, y, width, height))
    assert (again.box, again.score, again.angle) == (best.box, best.score, best.angle)
    assert np.allclose(again.corners, best.corners, rtol=0, atol=1e-9)


def test_region(scene):
    frame, template = scene
    assert tmatch.match(frame, template, region=(20, 10, 30, 20)) == tmatch.match(frame, template)
    elsewhere = tmatch.match(frame, template, region=[30, 20, 30, 20])[0]
    assert elsewhere.score < 1 and elsewhere.x >= 30 and elsewhere.y >= 20
    (inside,) = tmatch.match(frame[20:40, 30:60], template)
    assert (inside.x + 30, inside.y + 20, inside.score) == (elsewhere.x, elsewhere.y, elsewhere.score)
    mask = np.ones_like(frame)
    mask[25, 45] = 0
    cut = tmatch.match(frame[20:40, 30:60], template, frame_mask=mask[20:40, 30:60])[0]
    masked = tmatch.match(frame, template, region=(30, 20, 30, 20), frame_mask=mask)[0]
    assert (masked.x, masked.y, masked.score) == (cut.x + 30, cut.y + 20, cut.score)


@pytest.mark.parametrize("kind", [np.uint8, bool])
def test_masks(scene, kind):
    frame, template = scene
    mask = np.ones(template.shape, kind)
    mask[:2] = 0
    damaged = template.copy()
    damaged[:2] = 0
    assert tmatch.match(frame, damaged)[0].score < 1
    assert tmatch.match(frame, damaged, mask=mask)[0].score == 1
    forbidden = np.ones(frame.shape, kind)
    forbidden[15, 25] = 0
    assert tmatch.match(frame, template, frame_mask=forbidden)[0].score < 1
    with pytest.raises(tmatch.InputError) as error:
        tmatch.match(frame, template, frame_mask=np.zeros(frame.shape, kind))
    assert error.value.status == "NO_POSITION"


@pytest.mark.parametrize("metric", ["lcc", "ccorr", "ccorr_normed", "ccoeff", "sqdiff", "sqdiff_normed"])
def test_metrics(scene, metric):
    frame, template = scene
    (best,) = tmatch.match(frame, template, metric=metric)
    scores = np.asarray(tmatch.score_map(frame, template, metric=metric))
    worst_first = -scores if metric.startswith("sqdiff") else scores
    y, x = np.unravel_index(worst_first.argmax(), scores.shape)
    assert (best.x, best.y, best.score) == (x, y, scores[y, x])
    if metric in ("ccorr", "sqdiff"):
        window = frame[y : y + 8, x : x + 10].astype(int)
        expected = (
            (window * template).sum() if metric == "ccorr" else ((window - template.astype(int)) ** 2).sum()
        )
        assert scores.dtype == np.int64 and best.score == expected


@pytest.mark.parametrize("algorithm", ["auto", "reference", "direct", "fft"])
@pytest.mark.parametrize("domain, shape", [("valid", (41, 55)), ("same", (48, 64)), ("full", (55, 73))])
def test_score_map(scene, algorithm, domain, shape):
    frame, template = scene
    try:
        scores = tmatch.score_map(frame, template, domain=domain, algorithm=algorithm)
    except tmatch.InputError as error:
        pytest.skip(str(error))
    a = np.asarray(scores)
    assert scores.shape == a.shape == shape and scores.dtype == "float32" and a.dtype == np.float32
    y, x = np.unravel_index(a.argmax(), a.shape)
    assert (x + scores.origin[0], y + scores.origin[1], a[y, x]) == (21, 13, 1)
    assert scores.best == tmatch.match(frame, template, domain=domain)[0]
    assert np.array_equal(
        a, np.asarray(tmatch.score_map(frame, template, domain=domain, algorithm="reference"))
    )


def test_skipped_positions(scene):
    frame, template = scene
    mask = np.ones_like(frame)
    mask[20, 20] = 0
    for metric in ("lcc", "sqdiff", "ccorr", "sqdiff_normed"):
        scores = tmatch.score_map(frame, template, frame_mask=mask, metric=metric)
        a = np.asarray(scores)
        assert (a == scores.skipped).sum() == template.size and a[14, 14] == scores.skipped
    region = tmatch.score_map(frame, template, region=(20, 10, 30, 20))
    for again in (np.array([20, 10, 30, 20]), iter([20, 10, 30, 20])):
        again = tmatch.score_map(frame, template, region=again)
        assert again.origin == (20, 10) and all(type(x) is int for x in again.origin)
        assert np.array_equal(np.asarray(again), np.asarray(region))
    assert region.origin == (20, 10)
    assert np.array_equal(np.asarray(region), np.asarray(tmatch.score_map(frame, template))[10:23, 20:41])


def test_map_of_a_list(scene):
    frame, template = scene
    with pytest.raises(TypeError, match="one template's"):
        tmatch.score_map(frame, [template, template])


def test_map_without_a_copy(scene):
    scores = tmatch.score_map(*scene)
    a, b, c = np.asarray(scores), np.from_dlpack(scores), memoryview(scores)
    address = scores.__array_interface__["data"][0]
    assert a.ctypes.data == b.ctypes.data == address
    assert c.format == "f" and c.shape == scores.shape and c.strides == a.strides
    assert scores.__dlpack_device__() == (1, 0)
    a[0, 0] = 7
    assert b[0, 0] == c[0, 0] == 7
    del scores
    assert a[0, 0] == 7 and math.isfinite(a.sum()), "the array keeps the map"


def test_channels_and_types(rng):
    for kind in (np.uint8, np.uint16, np.float32):
        for channels in (1, 2, 3, 4):
            frame = rng.integers(0, 200, (20, 30, channels)).astype(kind)
            template = frame[5:12, 8:14].copy()
            (best,) = tmatch.match(frame, template)
            assert (best.x, best.y) == (8, 5) and best.score > 0.99999


def test_cut_off_warns(rng):
    frame = rng.integers(0, 256, (80, 80), dtype=np.uint8)
    matcher = tmatch.Matcher(frame[:4, :4])
    with pytest.warns(RuntimeWarning, match="there may be more matches"):
        matcher.match(frame, n=None, min_score=-1, peaks=3)


def test_scores_without_bounds(scene):
    for metric, least in {"ccorr": 2, "ccoeff": 2, "sqdiff": 1e6, "sqdiff_normed": 2}.items():
        assert len(tmatch.match(*scene, metric=metric, min_score=least)) == 1
    for metric in ("lcc", "ccorr_normed"):
        assert len(tmatch.match(*scene, metric=metric, min_score=1)) == 1
        assert len(tmatch.match(*scene, metric=metric, min_score=-1)) == 1
