# SPDX-License-Identifier: MIT
"""Parts of a frame's rows, merged: what one call finds."""

import pickle

import numpy as np
import pytest
import tmatch


def parts_of(matcher, frame, seams, **search):
    """A list of parts for each template, made as other processes would, in any order."""
    height = frame.shape[0]
    parts = []
    for a, b in zip(seams, seams[1:]):
        first, end = matcher.part_rows((a, b), height)
        rows = np.ascontiguousarray(frame[first:end])
        parts.append(matcher.match_part(rows, (a, b), frame_height=height, first=first, **search))
    parts = pickle.loads(pickle.dumps(parts[::-1]))
    return [list(one) for one in zip(*parts)]


@pytest.mark.parametrize("domain", ["valid", "same", "full"])
@pytest.mark.parametrize("metric", ["lcc", "sqdiff", "ccorr"])
def test_parts_are_one_call(rng, domain, metric):
    for levels in (2, 4, 256):
        frame = rng.integers(0, levels, (70, 50), dtype=np.uint8)
        template = [frame[20:29, 3:13].copy(), frame[40:43, 9:15].copy()]
        matcher = tmatch.Matcher(template, metric=metric, domain=domain, device="cpu")
        for search in (
            {},
            {"n": 7, "margin": True, "subpixel": True},
            {"n": 0, "min_score": 0.3 if metric == "lcc" else 40, "overlap": 0.1},
        ):
            if metric == "ccorr" and "min_score" in search:
                search["n"] = 20
            whole = matcher.match(frame, **search)
            seams = [0, *sorted(rng.choice(np.arange(1, 60), rng.integers(0, 9), replace=False).tolist()), 100]
            assert [tmatch.merge(parts) for parts in parts_of(matcher, frame, seams, **search)] == whole


def test_color_deep_and_masked_frames(rng):
    frame = rng.integers(0, 3, (60, 40, 3), dtype=np.uint16)
    mask = rng.integers(0, 30, (60, 40)) > 0
    template = frame[30:36, 10:17].copy()
    matcher = tmatch.Matcher(template)
    whole = matcher.match(frame, n=5, margin=True, frame_mask=mask)
    parts = []
    for a, b in ((0, 1), (1, 30), (30, 55)):
        first, end = matcher.part_rows((a, b), 60)
        parts += matcher.match_part(
            frame[first:end], (a, b), frame_height=60, first=first, n=5, margin=True, frame_mask=mask[first:end]
        )
    assert tmatch.merge(parts) == whole


def test_what_is_missing_is_said(scene):
    frame, template = scene
    matcher = tmatch.Matcher(template)

    def part(a, b, **search):
        return matcher.match_part(frame, (a, b), frame_height=48, first=0, **search)[0]

    assert matcher.part_rows((10, 20), 48) == (9, 28)
    assert part(0, 100).rows == (0, 41)
    with pytest.raises(ValueError, match="there are no parts"):
        tmatch.merge([])
    with pytest.raises(ValueError, match="rows 20 to 40 of the map are in no part"):
        tmatch.merge([part(0, 20)])
    with pytest.raises(ValueError, match="rows 10 to 14 of the map are in no part"):
        tmatch.merge([part(15, 41), part(0, 10)])
    with pytest.raises(ValueError, match="rows 15 to 19 of the map are in two parts"):
        tmatch.merge([part(0, 20), part(15, 41)])
    with pytest.raises(ValueError, match="not searched for the same"):
        tmatch.merge([part(0, 20), part(20, 41, n=2)])
    with pytest.raises(ValueError, match="not of one map"):
        other = tmatch.Matcher(template, domain="same").match_part(frame, (20, 48), frame_height=48, first=0)
        tmatch.merge([part(0, 20), *other])
    with pytest.raises(tmatch.InputError, match="row 41 is not in the map, which has 41 rows"):
        part(41, 50)
    with pytest.raises(tmatch.InputError, match="needs rows 9 to 29 of the frame, and has 0 to 19"):
        matcher.match_part(frame[:20], (10, 22), frame_height=48, first=0)
    with pytest.raises(ValueError, match="rows must be"):
        matcher.part_rows((5, 5), 48)
    with pytest.raises(ValueError, match="float samples"):
        floats = tmatch.Matcher(template.astype(np.float32))
        floats.match_part(frame.astype(np.float32), (0, 5), frame_height=48, first=0)
    with pytest.raises(ValueError, match="templates in poses"):
        tmatch.Matcher(template, angle=(0, 90)).match_part(frame, (0, 5), frame_height=48, first=0)
    with pytest.raises(ValueError, match="asks for all matches"):
        part(0, 5, n=0)
