#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A template too large for all of its posed pictures to be kept, in a large frame, at any angle.

    bench/poses_large.py --json bench/results/cpu/poses-large.json      one thread, 762 x 521 in 4024 x 3036
    bench/poses_large.py --cuda 0 --threads 0 --features all --frames 4 --calls 12 --json bench/results/poses-large-cuda.json

Each picture of data/ is enlarged as far as needed by cubic interpolation; the template is cut from it at random. Turned
by Lanczos interpolation, with gain 0.8, offset 20 and edges that blend, it comes into a frame of another picture,
mirrored at every edge, which then gets noise of sigma 5. Times are of the processor and by the clock: the first call's,
which makes what is kept, and the medians of those after it. With --frames there are so many frames in turns, with the template
in another place and pose each, so that hardly a picture of a pose is there from the call before: the medians are of the first
time that each but the first frame is seen. With --cuda a CUDA device takes part, and every answer has to be the CPU's, bit for bit."""
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


def draw(name, other, size, shape, seed, count):
    """The template, and frames with where it lies in them."""
    random = np.random.default_rng([seed, *size])
    source = enlarged(name, size)
    (w, h), reach = size, math.hypot(*size) / 2 + 10
    x, y = random.integers(0, source.shape[1] - w + 1), random.integers(0, source.shape[0] - h + 1)
    frames = []
    for _ in range(count):
        frame = poses.background(poses.read(other), *shape).copy()
        at, turn = tuple(random.uniform(reach, side - reach) for side in shape), random.uniform(-180, 180)
        put(frame, source, (x + (w - 1) / 2, y + (h - 1) / 2), size, at, turn)
        frame += random.normal(0, SIGMA, frame.shape).astype(np.float32)
        frames.append((poses.to_bytes(frame), (*at, turn, 1)))
    return np.ascontiguousarray(poses.to_bytes(source[y:y + h, x:x + w])), frames


def answer(hit):
    return hit.score, hit.center_x, hit.center_y, hit.angle, hit.scale


def search(matcher, posed, frames, calls, min_score):
    """What each call took by the clock and of the processors, and what was found in each frame."""
    clock, spent, found = [], [], []
    for i in range(calls):
        start, ms = time.perf_counter(), time.process_time()
        all_of_them, best = posed.match(frames[i % len(frames)][0], 0 if min_score else 1, min_score, 0)
        clock.append(1e3 * (time.perf_counter() - start))
        spent.append(1e3 * (time.process_time() - ms))
        found.append((best, len(all_of_them)))
    return clock, spent, found


def measure(lib, arguments, name, other):
    template, frames = draw(name, other, arguments.size, arguments.frame, arguments.seed, arguments.frames)
    found = {}
    for cuda in [arguments.cuda] + ([None] if arguments.cuda is not None else []):
        matcher = library.Matcher(lib, arguments.threads, features=arguments.features, strategy=arguments.search, cuda=cuda)
        posed = library.Posed(matcher, template, (-180, 180, arguments.step))
        clock, spent, found[cuda] = search(matcher, posed, frames, arguments.calls + 1 if cuda == arguments.cuda else len(frames),
                                           arguments.min_score)
        if cuda == arguments.cuda:
            after = slice(1, max(2, len(frames)) if len(frames) > 1 else None)
            case = {"template": name, "background": other, "poses": posed.count, "first_spent_ms": round(spent[0]),
                    "first_ms": round(clock[0]), "spent_ms": round(statistics.median(spent[after]), 1),
                    "ms": round(statistics.median(clock[after]), 1), "score": round(found[cuda][0][0].score, 6),
                    "error": [round(e, 3) for e in poses.off(found[cuda][0][0], frames[0][1])[:2]], "ran": matcher.ran()[0],
                    "plan": matcher.plan()}
            if len(frames) > 1:
                case["all_ms"] = [round(ms, 1) for ms in clock]
        posed.forget()
        matcher.close()
    if arguments.cuda is not None:
        for i, (best, count) in enumerate(found[None]):
            if (answer(best), count) != (answer(found[arguments.cuda][i][0]), found[arguments.cuda][i][1]):
                raise SystemExit(f"{name}: {answer(found[arguments.cuda][i][0])}, and on the CPU {answer(best)}")
        case["cpu_ms"] = [round(ms, 1) for ms in clock]
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
    parser.add_argument("--frames", type=int, default=1)
    parser.add_argument("--min-score", type=float, default=0)
    parser.add_argument("--cuda", type=int, help="a CUDA device's number")
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
            gpu = library.gpu() if arguments.cuda is not None else {}
            json.dump({"machine": library.machine(), **gpu, "commit": library.commit(), "size": arguments.size,
                       "frame": arguments.frame, "frames": arguments.frames, "min_score": arguments.min_score, "step": arguments.step, "threads": arguments.threads,
                       "features": arguments.features, "search": arguments.search, "cases": cases}, file, indent=1)


if __name__ == "__main__":
    main()
