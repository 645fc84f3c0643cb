# SPDX-License-Identifier: MIT
"""Random cases, whose results are those of the program, bit by bit."""

import json
import pathlib
import subprocess

import numpy as np
import pytest
import tmatch
from cases import check_cases

PROGRAM = pathlib.Path(tmatch.__file__).parent / "tmatch"
FRAMES = 8  # that one run of the program takes
CASES = check_cases(1000)


def smooth(rng, shape):
    """Noise in which neighbours resemble each other, as in pictures."""
    a = rng.normal(size=shape)
    for axis in (0, 1):
        a = a + np.roll(a, 1, axis) + np.roll(a, 2, axis)
    return (a - a.min()) / (a.max() - a.min())


def draw_options(rng):
    """Arguments of the program and the same of the module."""
    metric = str(
        rng.choice(["lcc", "lcc", "lcc", "ccorr", "ccorr_normed", "ccoeff", "sqdiff", "sqdiff_normed"])
    )
    domain = str(rng.choice(["valid", "valid", "same", "full"]))
    program = ["--metric", metric, "--domain", domain]
    module = {"metric": metric, "domain": domain, "margin": True}
    if rng.random() < 0.5:
        n, overlap = int(rng.integers(1, 6)), float(rng.choice([0, 0.3, 1]))
        least = {
            "lcc": 0.2,
            "ccorr_normed": 0.5,
            "sqdiff_normed": 0.9,
            "ccorr": 1000,
            "ccoeff": 10,
            "sqdiff": 1e9,
        }[metric]
        program += ["-n", str(n), "--overlap", str(overlap), "--min-score", str(least)]
        module |= {"n": n, "overlap": overlap, "min_score": least}
    if metric == "lcc" and domain == "valid" and rng.random() < 0.15:
        program += ["--angle", "-20:20:10", "--scale", "0.8:1.2:0.2"]
        module |= {"angle": (-20, 20, 10), "scale": (0.8, 1.2, 0.2)}
    if rng.random() < 0.2:
        program += ["--subpixel"]
        module |= {"subpixel": True}
    return program, module


def is_same(printed, match, subpixel):
    """Scores have all their digits; fractions of pixels three, and of scales five."""
    x, y = (match.x + match.dx, match.y + match.dy) if subpixel else (match.x, match.y)
    near = 5.1e-4 if subpixel else 0
    same = (
        (printed["w"], printed["h"]) == (match.width, match.height)
        and abs(printed["x"] - x) <= near
        and abs(printed["y"] - y) <= near
        and np.float32(printed["score"]) == np.float32(match.score)
        and (printed["margin"] is None) == (match.margin is None)
        and (match.margin is None or np.float32(printed["margin"]) == np.float32(match.margin))
        and ("margin_below" in printed) == (match.margin_below is not None)
        and (match.margin_below is None or np.float32(printed["margin_below"]) == np.float32(match.margin_below))
        and ("angle" in printed) == (match.angle is not None)
    )
    if same and match.angle is not None:
        same = (
            np.allclose(printed["center"], match.center, rtol=0, atol=near or 1e-7)
            and np.allclose(printed["corners"], match.corners, rtol=0, atol=5.1e-4)
            and abs(printed["angle"] - match.angle) <= (near or 1e-7)
            and abs(printed["scale"] - match.scale) <= (near or 1e-7)
        )
    return same


@pytest.mark.parametrize("group", range((CASES + FRAMES - 1) // FRAMES))
def test_same_as_the_program(group, rng, tmp_path):
    shape = (int(rng.integers(24, 70)), int(rng.integers(24, 70)))
    size = (int(rng.integers(2, 16)), int(rng.integers(2, 16)))
    depth, color = (65535, np.uint16) if rng.random() < 0.3 else (255, np.uint8), rng.random() < 0.3
    most, kind = depth
    channels = (3,) if color else ()
    frames = [(smooth(rng, (*shape, *channels)) * most).astype(kind) for _ in range(FRAMES)]
    y, x = int(rng.integers(0, shape[0] - size[0])), int(rng.integers(0, shape[1] - size[1]))
    template = frames[0][y : y + size[0], x : x + size[1]]
    program, module = draw_options(rng)
    if color:
        program += ["--color"]
    if rng.random() < 0.3:
        mask = (rng.random(size) < 0.8).astype(np.uint8) * 255
        mask[0, :2] = 255
        tmatch.write(tmp_path / "mask.png", mask)
        program += ["--mask", "mask.png"]
        module["mask"] = mask
    if rng.random() < 0.3 and "angle" not in module:
        mask = (rng.random(shape) < 0.999).astype(np.uint8) * 255
        tmatch.write(tmp_path / "frame-mask.png", mask)
        program += ["--frame-mask", "frame-mask.png"]
        module["frame_mask"] = mask
    if rng.random() < 0.2 and "frame_mask" not in module:
        module["region"] = (1, 2, shape[1] - 2, shape[0] - 4)
        program += ["--roi", "{},{},{},{}".format(*module["region"])]

    tmatch.write(tmp_path / "template.png", template)
    names = [f"{i}.png" for i in range(FRAMES)]
    for name, frame in zip(names, frames):
        tmatch.write(tmp_path / name, frame)
    run = subprocess.run([PROGRAM, "-q", "--format", "json", "--device", "cpu", *program, "-t", "template.png", *names],
                         cwd=tmp_path, capture_output=True, text=True)  # fmt: skip
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(lines) == FRAMES, run.stderr
    for line, frame in zip(lines, frames):
        if "error" in line:
            with pytest.raises(tmatch.Error) as error:
                tmatch.match(frame, template, device="cpu", **module)
            assert str(error.value) == line["error"]
            continue
        found = tmatch.match(frame, template, device="cpu", **module)
        assert len(found) == len(line["matches"]), (program, line, found)
        for printed, match in zip(line["matches"], found):
            assert is_same(printed, match, "subpixel" in module), (program, printed, match)
