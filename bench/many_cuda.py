#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times several templates of one size in a call on a GPU, exhaustively, without a mask and under a common one.

    bench/many_cuda.py --lib build/libtmatch.so --json many-cuda.json

kernel_ms is the median of the kernels' time, call_ms that of whole calls, of 1920 x 1080 of noise in the host's memory. The
mask is a disc. The last template's answer has to be that of a call with it alone.
"""
import argparse
import ctypes as c
import json
import statistics

import numpy as np

import library

FRAME = (1920, 1080)
CASES = [(32, 16), (32, 64), (32, 360), (21, 64), (16, 64), (48, 64), (64, 64)]


def disc(side):
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    return (x * x + y * y <= side * side / 4).astype(np.uint8)


def prepare(matcher, arrays, mask):
    handles = (c.c_void_p * len(arrays))()
    for i, array in enumerate(arrays):
        image, handle = library.image_of(array), c.c_void_p()
        if mask is not None:
            image.mask, image.mask_stride = mask.ctypes.data, mask.strides[0]
        matcher.check(matcher.lib.tm_template_create(c.byref(handle), matcher.handle, c.byref(image)))
        handles[i] = handle.value
    return handles


def match(matcher, frame, handles, count):
    image, peaks = library.image_of(frame), (library.Peak * count)()
    matcher.check(matcher.lib.tm_match_many(matcher.handle, c.byref(image), handles, c.c_size_t(count), peaks, None))
    return peaks


def run(matcher, frame, side, count, mask, rounds):
    random = np.random.default_rng([side, count])
    arrays = [np.ascontiguousarray(frame[y:y + side, x:x + side])
              for x, y in random.integers(0, min(FRAME) - side, (count, 2))]
    handles, kernel, call = prepare(matcher, arrays, mask), [], []
    for turn in range(rounds + 2):
        wall, peaks = library.timed(lambda: match(matcher, frame, handles, count))
        if turn >= 2:
            kernel.append(matcher.times().kernel)
            call.append(wall)
    alone = match(matcher, frame, (c.c_void_p * 1)(handles[count - 1]), 1)[0]
    last = peaks[count - 1]
    if (last.x, last.y, last.score) != (alone.x, alone.y, alone.score):
        raise SystemExit(f"{side}, {count}: the answers differ")
    for handle in handles:
        matcher.lib.tm_template_destroy(c.byref(c.c_void_p(handle)))
    return {"side": side, "count": count, "masked": mask is not None, "kernel_ms": statistics.median(kernel),
            "call_ms": statistics.median(call), "plan": matcher.plan()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lib", default=library.BUILT)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json")
    options = parser.parse_args()
    lib = library.load(options.lib)
    matcher = library.Matcher(lib, 1, strategy="exhaustive", cuda=0)
    frame = np.random.default_rng(1).integers(0, 256, FRAME[::-1], dtype=np.uint8)
    results = []
    for side, count in CASES:
        for mask in (None, disc(side)):
            results.append(run(matcher, frame, side, count, mask, options.rounds))
            r = results[-1]
            print(f"{count} of {side}²{', masked' if r['masked'] else '':8}: kernels {r['kernel_ms']:.3f} ms, "
                  f"call {r['call_ms']:.3f} ms", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"machine": {**library.machine(), **library.gpu()}, "results": results}, file, indent=1)


if __name__ == "__main__":
    main()
