#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A template too large for all of its posed pictures to be kept, in a large frame, at any angle.

    bench/poses_large.py --json bench/results/cpu/poses-large.json      one thread, 762 x 521 in 4024 x 3036

Each picture of data/ is enlarged as far as needed by cubic interpolation; the template is cut from it at random. Turned
by Lanczos interpolation, with gain 0.8, offset 20 and edges that blend, it comes into a frame of another picture,
mirrored at every edge, which then gets noise of sigma 5. Times are of the processor and by the clock: the first call's,
which makes what is kept, and the medians of those after it."""
import argparse
import json
import math
import os
import statistics
import time

import cv2
import numpy as np

import library
import poses

GAIN, OFFSET, SIGMA = 0.8, 20, 5


def enlarged(name, size):
    picture = poses.read(name).astype(np.float32)
    k = max(1.0, *(1.3 * a / b for a, b in zip(size, picture.shape[::-1])))
    return cv2.resize(picture, None, fx=k, fy=k, interpolation=cv2.INTER_CUBIC)


def put(frame, source, center, size, at, turn):
    """Draws the part of source around center into the frame, turned."""
    reach = int(math.hypot(*size) / 2) + 8
    left, top = int(at[0]) - reach, int(at[1]) - reach
    here = (at[0] - left, at[1] - top)
    cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    matrix = np.array([[cos, -sin, center[0] - cos * here[0] + sin * here[1]],
                       [sin, cos, center[1] - sin * here[0] - cos * here[1]]])
    shape = (2 * reach, 2 * reach)
    turned = cv2.warpAffine(source, matrix, shape, flags=cv2.INTER_LANCZOS4 | cv2.WARP_INVERSE_MAP,
                            borderMode=cv2.BORDER_REPLICATE)
    part = frame[top:top + 2 * reach, left:left + 2 * reach]
    part += poses.cover(size, turn, 1, here, shape) * (GAIN * turned + OFFSET - part)


def draw(name, other, size, shape, seed):
    random = np.random.default_rng([seed, *size])
    source = enlarged(name, size)
    (w, h), reach = size, math.hypot(*size) / 2 + 10
    x, y = random.integers(0, source.shape[1] - w + 1), random.integers(0, source.shape[0] - h + 1)
    frame = poses.background(poses.read(other), *shape).copy()
    at, turn = tuple(random.uniform(reach, side - reach) for side in shape), random.uniform(-180, 180)
    put(frame, source, (x + (w - 1) / 2, y + (h - 1) / 2), size, at, turn)
    frame += random.normal(0, SIGMA, frame.shape).astype(np.float32)
    return np.ascontiguousarray(poses.to_bytes(source[y:y + h, x:x + w])), poses.to_bytes(frame), (*at, turn, 1)


def measure(lib, arguments, name, other):
    template, frame, truth = draw(name, other, arguments.size, arguments.frame, arguments.seed)
    matcher = library.Matcher(lib, arguments.threads, features=arguments.features, strategy=arguments.search)
    posed = library.Posed(matcher, template, (-180, 180, arguments.step))
    clock, spent, best = [], [], None
    for _ in range(arguments.calls + 1):
        start, ms = time.perf_counter(), time.process_time()
        best = posed.match(frame, 1, 0, 0)[1]
        clock.append(1e3 * (time.perf_counter() - start))
        spent.append(1e3 * (time.process_time() - ms))
    case = {"template": name, "background": other, "poses": posed.count, "first_spent_ms": round(spent[0]),
            "first_ms": round(clock[0]), "spent_ms": round(statistics.median(spent[1:]), 1),
            "ms": round(statistics.median(clock[1:]), 1), "score": round(best.score, 6),
            "error": [round(e, 3) for e in poses.off(best, truth)[:2]], "ran": matcher.ran()[0], "plan": matcher.plan()}
    posed.forget()
    matcher.close()
    return case


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", default=library.BUILT)
    parser.add_argument("--size", type=int, nargs=2, default=(762, 521))
    parser.add_argument("--frame", type=int, nargs=2, default=(4024, 3036))
    parser.add_argument("--step", type=float, default=0.15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--features", default="avx2")
    parser.add_argument("--search", default="auto")
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--names", nargs="*", default=poses.NAMES)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    lib, cases = library.load(os.path.abspath(arguments.lib)), []
    for i, name in enumerate(arguments.names):
        other = poses.NAMES[(poses.NAMES.index(name) + 4) % len(poses.NAMES)]
        cases.append(measure(lib, arguments, name, other))
        print(json.dumps(cases[-1]), flush=True)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"machine": library.machine(), "commit": library.commit(), "size": arguments.size,
                       "frame": arguments.frame, "step": arguments.step, "threads": arguments.threads,
                       "features": arguments.features, "search": arguments.search, "cases": cases}, file, indent=1)


if __name__ == "__main__":
    main()
