#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times certified search in poses on a GPU, beside exhaustive search there.

    bench/poses_cuda.py --json poses-cuda.json            the three sizes, --cases names some of them
    bench/poses_cuda.py --cases costs                     sizes of frame and template by numbers of poses: src/match/poses_costs.c

A frame is a picture of data/, enlarged, with noise of sigma 2; a template is cut from it turned by 37.3 degrees, times
0.8, plus 20, with noise of sigma 5; or it is cut from another picture: absent. Every answer has to be that of exhaustive
search, bit for bit, which is made once a case. kernel_ms is the median of the kernels' time with the frame on the GPU,
call_ms that of whole calls; the posed template is made before. auto_call_ms is that of the later half of as many calls by
auto, which takes what it expects to be quicker and learns from frames.
"""
import argparse
import json
import statistics

import cv2
import numpy as np

import library

TURNED = 37.3
# frame, template, angles, scales
CASES = {
    "angles": ((1920, 1080), (32, 32), (0, 359, 1), (1, 1, 0)),
    "scales": ((1920, 1080), (32, 32), (0, 359, 1), (0.75, 1.25, 0.05)),
    "large": ((4024, 3036), (762, 521), (-180, 180, 0.15), (1, 1, 0)),
}
COSTS = {
    f"{width}, {side}, {poses}": ((width, height), (side, side), (0, 360 - 360 / poses, 360 / poses), (1, 1, 0))
    for width, height in ((512, 512), (1920, 1080), (4096, 3072))
    for side in (12, 16, 24, 32, 48, 64, 96)
    for poses in (4, 12, 36, 120, 360)
}
PICTURES = ["astronaut.png", "coffee.png", "gravel.png"]


def noisy(picture, sigma, random):
    return np.clip(np.rint(picture + sigma * random.normal(size=picture.shape)), 0, 255).astype(np.uint8)


def enlarged(name, size):
    picture = cv2.imread(f"{library.ROOT}/data/{name}", cv2.IMREAD_GRAYSCALE)
    scale = max(size[0] / picture.shape[1], size[1] / picture.shape[0])
    return cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)[:size[1], :size[0]]


def cut(picture, size, random):
    """Turned about the place of the greatest contrast of 50 that are tried."""
    reach = int(np.hypot(*size) / 2) + 2
    best = None
    for _ in range(50):
        x = int(random.integers(reach, picture.shape[1] - reach))
        y = int(random.integers(reach, picture.shape[0] - reach))
        turn = cv2.getRotationMatrix2D((x, y), -TURNED, 1)
        turn[:, 2] += np.array(size) / 2 - (x, y)
        part = cv2.warpAffine(picture, turn, size, flags=cv2.INTER_CUBIC).astype(float)
        if best is None or part.std() > best.std():
            best = part
    return noisy(0.8 * best + 20, 5, random)


def answer(hit):
    return hit.score, hit.center_x, hit.center_y, hit.angle, hit.scale


def measure(matchers, frame, template, angles, scales, rounds):
    certified, exhaustive, auto = matchers
    posed = library.Posed(certified, template, angles, scales)
    kernel, call = [], []
    for turn in range(rounds + 1):  # the first one warms up
        ms, found = library.timed(lambda: posed.match(frame, 1, 0, 0))
        if turn:
            kernel.append(certified.times().kernel)
            call.append(ms)
    row = {"poses": posed.count, "score": found[1].score, "kernel_ms": statistics.median(kernel),
           "call_ms": statistics.median(call), "algorithm": certified.ran(), "plan": certified.plan()}
    posed.forget()
    posed = library.Posed(exhaustive, template, angles, scales)
    for _ in range(2):
        row["exhaustive_call_ms"], right = library.timed(lambda: posed.match(frame, 1, 0, 0))
    row["exhaustive_kernel_ms"] = exhaustive.times().kernel
    posed.forget()
    posed = library.Posed(auto, template, angles, scales)
    calls = [library.timed(lambda: posed.match(frame, 1, 0, 0)) for _ in range(rounds)]
    row["auto_call_ms"] = statistics.median(ms for ms, _ in calls[rounds // 2:])  # it has chosen by then
    row["auto"] = auto.ran()
    posed.forget()
    for found in (found, calls[-1][1]):
        if answer(found[1]) != answer(right[1]):
            raise SystemExit(f"differs: {answer(found[1])}, and exhaustively {answer(right[1])}")
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", default=library.BUILT)
    parser.add_argument("--device", type=int, default=0, help="the CUDA device's number")
    parser.add_argument("--cases", nargs="+", choices=[*CASES, "costs"], default=list(CASES))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json")
    args = parser.parse_args()
    lib = library.load(args.lib)
    matchers = [library.Matcher(lib, 0, strategy=s, cuda=args.device) for s in ("certified", "exhaustive", "auto")]
    rows = []
    cases = {case: CASES[case] for case in args.cases if case in CASES} | (COSTS if "costs" in args.cases else {})
    for case, (size, template_size, angles, scales) in cases.items():
        # a pose of the largest takes a thousand times as long as one of the others, exhaustively
        few = case == "large" or case in COSTS
        pictures = PICTURES[:1] if few else PICTURES
        for number, name in enumerate(pictures):
            random = np.random.default_rng(number)
            frame = noisy(enlarged(name, size), 2, random)
            other = enlarged(PICTURES[(number + 1) % len(PICTURES)], size)
            for kind, source in (("present", frame), ("absent", other)):
                if few and kind == "absent":
                    continue
                row = {"case": case, "picture": name, "kind": kind,
                       **measure(matchers, frame, cut(source, template_size, random), angles, scales, args.rounds)}
                rows.append(row)
                print(f"{case:13} {name:14} {kind:8} {row['poses']:5} poses: kernels {row['kernel_ms']:.3f} ms, call "
                      f"{row['call_ms']:.3f}; exhaustively {row['exhaustive_kernel_ms']:.3f}, "
                      f"{row['exhaustive_call_ms']:.3f}; auto's call {row['auto_call_ms']:.3f}, {row['auto']}; best {row['score']:.3f}; {row['plan'][:110]}", flush=True)
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"commit": library.commit(), **library.gpu(), "cases": rows}, file, indent=1)


if __name__ == "__main__":
    main()
