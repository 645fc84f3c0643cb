#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times other programs on the frames that tmatch-bench draws, and measures how far
their scores are from the exact ones. Writes JSON of the bench's schema.

A peer that is not installed is listed as missing, with the reason."""

import argparse
import datetime
import json
import os
import statistics
import sys
import time

import library

SIZES = ["610,21", "2080,21", "2048,64", "2048,128", "4096,64", "4096,128", "5020,21", "11572,21"]
U64 = 0xFFFFFFFFFFFFFFFF


# The problem, as bench/problem.c draws it.

def mix(seed, index):
    z = (seed + (index + 1) * 0x9E3779B97F4A7C15) & U64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & U64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & U64
    return z ^ (z >> 31)


def draw(np, width, height, tw, th, seed):
    words = (width * height + 7) // 8
    z = (np.arange(1, words + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    samples = z.astype("<u8").view(np.uint8)[:width * height] % 255 + 1
    frame = np.ascontiguousarray(samples.astype(np.uint8).reshape(height, width))
    x = mix(~seed & U64, 0) % (width - tw + 1)
    y = mix(~seed & U64, 1) % (height - th + 1)
    return frame, np.ascontiguousarray(frame[y:y + th, x:x + tw])


# The exact map, from tmatch itself.

def exact_map(np, lib, frame, template, metric):
    scores = np.empty((frame.shape[0] - template.shape[0] + 1, frame.shape[1] - template.shape[1] + 1),
                      np.int64 if metric == "ccorr" else np.float32)
    matcher = library.Matcher(lib, threads=0, algorithm="direct", metric=metric)
    matcher.prepare(template)
    matcher.match(frame, scores)
    matcher.forget()
    matcher.close()
    return scores


# Timing.

def spread(ms):
    ms = sorted(ms)
    quarter = statistics.quantiles(ms, n=4, method="inclusive") if len(ms) > 1 else ms * 3
    return {"samples": len(ms), "min": ms[0], "q1": quarter[0], "median": quarter[1],
            "q3": quarter[2], "max": ms[-1]}


def repeat(once, first_ms, options):
    """once() returns milliseconds. The first run was the warm-up, unless it took so
    long that it has to be the sample."""
    if first_ms >= options.budget * 1e3:
        return [first_ms]
    ms, start = [], time.perf_counter()
    while len(ms) < options.samples and (len(ms) < 3 or
                                         time.perf_counter() - start < options.budget):
        ms.append(once())
    return ms


def wall(function):
    start = time.perf_counter()
    result = function()
    return (time.perf_counter() - start) * 1e3, result


class TooLong(Exception):
    pass


# The peers. Each is a generator of (row fields, map as numpy array, times).

def opencv(np, frame, template, options):
    import cv2

    everyone = cv2.getNumberOfCPUs()
    for threads in sorted({1, options.threads or everyone}):
        cv2.setNumThreads(threads)
        run = lambda: cv2.matchTemplate(frame, template, cv2.TM_CCOEFF_NORMED)
        first, result = wall(run)
        yield ({"algorithm": "opencv", "device": "cpu", "threads": threads,
                "plan": "OpenCV %s matchTemplate TM_CCOEFF_NORMED" % cv2.__version__},
               result, repeat(lambda: wall(run)[0], first, options))


def scikit_image(np, frame, template, options):
    import skimage
    from skimage.feature import match_template

    if frame.size > 6000 * 6000:
        raise TooLong("frames over 6000² take it minutes")
    run = lambda: match_template(frame, template)
    first, result = wall(run)
    yield ({"algorithm": "scikit-image", "device": "cpu", "threads": 1,
            "plan": "scikit-image %s match_template" % skimage.__version__},
           result, repeat(lambda: wall(run)[0], first, options))


def window_sum(cp, padded, th, tw):
    """Box sums through prefix sums, the way of cuCIM and scikit-image."""
    sums = cp.cumsum(padded, axis=0)
    sums = sums[th:-1] - sums[:-th - 1]
    sums = cp.cumsum(sums, axis=1)
    return sums[:, tw:-1] - sums[:, :-tw - 1]


def cupy_match(cp, fftconvolve, frame, template):
    """cuCIM's match_template: float32, FFT for the products, prefix sums for the
    windows, on a frame extended with zeros."""
    th, tw = template.shape
    padded = cp.pad(frame.astype(cp.float32), ((th, th), (tw, tw)))
    template = template.astype(cp.float32)
    sums, squares = window_sum(cp, padded, th, tw), window_sum(cp, padded * padded, th, tw)
    mean, n = template.mean(), th * tw
    ssd = ((template - mean) ** 2).sum()
    products = fftconvolve(padded, template[::-1, ::-1], mode="valid")[1:-1, 1:-1]
    numerator = products - sums * mean
    denominator = squares - sums * sums / n
    denominator = cp.sqrt(cp.maximum(denominator * ssd, 0))
    score = cp.where(denominator > cp.finfo(cp.float32).eps, numerator / denominator, 0)
    rows, columns = frame.shape[0] - th + 1, frame.shape[1] - tw + 1
    return score[th - 1:th - 1 + rows, tw - 1:tw - 1 + columns]


def batches(event, elapsed, run):
    """Returns once(): the mean of a batch of about 4 ms, by device events."""
    def batch(launches):
        start, end = event(), event()
        start.record()
        for _ in range(launches):
            run()
        end.record()
        end.synchronize()
        return elapsed(start, end) / launches

    batch(2)
    one = batch(2)
    launches = max(1, min(500, int(4 / one)))
    return one, lambda: batch(launches)


def cupy(np, frame, template, options):
    import cupy as cp
    from cupyx.scipy.signal import fftconvolve

    cp.cuda.Device(0).use()
    f, t = cp.asarray(frame), cp.asarray(template)
    run = lambda: cupy_match(cp, fftconvolve, f, t)
    result = cp.asnumpy(run())
    one, once = batches(cp.cuda.Event, cp.cuda.get_elapsed_time, run)
    ms = repeat(once, one, options)
    del f, t
    cp.get_default_memory_pool().free_all_blocks()
    cp.fft.config.get_plan_cache().clear()
    yield ({"algorithm": "cupy-fft", "device": "cuda:0",
            "plan": "CuPy %s, FFT and prefix sums as cuCIM has them, float32" % cp.__version__},
           result, ms)


def torch_conv(np, frame, template, options):
    import torch

    if not torch.cuda.is_available():
        raise ImportError("PyTorch %s sees no CUDA device" % torch.__version__)
    f = torch.from_numpy(frame).cuda().float()[None, None]
    t = torch.from_numpy(template).cuda().float()[None, None]
    # Its default is the first algorithm that fits; this takes the fastest.
    torch.backends.cudnn.benchmark = True
    run = lambda: torch.nn.functional.conv2d(f, t)
    with torch.no_grad():
        result = run()[0, 0].cpu().numpy()
        one, once = batches(lambda: torch.cuda.Event(enable_timing=True),
                            lambda a, b: a.elapsed_time(b), run)
        ms = repeat(once, one, options)
    del f, t
    torch.cuda.empty_cache()
    yield ({"algorithm": "torch-conv2d", "device": "cuda:0", "metric": "ccorr",
            "note": "the sum of products only: no window sums, no score",
            "plan": "PyTorch %s conv2d, float32 frame, tf32 %s" % (
                torch.__version__, "on" if torch.backends.cudnn.allow_tf32 else "off")},
           result, ms)


PEERS = {"cupy-fft": cupy, "torch-conv2d": torch_conv, "opencv": opencv,
         "scikit-image": scikit_image}


# Quality and the run.

def quality(np, got, exact):
    if exact is None:
        return {"check": "not checked: no libtmatch.so"}
    off, largest, difference, magnitude, bad = None, 0.0, 0.0, 0.0, 0
    for first in range(0, exact.shape[0], 512):
        part = exact[first:first + 512].astype(np.float64)
        off = np.abs(got[first:first + 512].astype(np.float64) - part)
        finite = np.isfinite(off)
        bad += int(off.size - finite.sum())
        off = np.where(finite, off, 0)
        largest = max(largest, float(off.max()))
        difference += float(off.sum())
        magnitude += float(np.abs(part).sum())
    return {"check": "its error: every element with tmatch's exact map",
            "max_abs_error": largest, "relative_error": difference / (magnitude or 1),
            "not_finite": bad}


def check(path):
    """The exact maps are what numpy makes of the definitions."""
    import numpy as np

    lib = library.load(path)
    frame, template = draw(np, 61, 47, 5, 4, 1)
    windows = np.lib.stride_tricks.sliding_window_view(frame, template.shape).astype(np.float64)
    products = (windows * template).sum(axis=(2, 3))
    windows -= windows.mean(axis=(2, 3), keepdims=True)
    centred = template - template.mean()
    scores = (windows * centred).sum(axis=(2, 3)) / np.sqrt((windows**2).sum(axis=(2, 3)) * (centred**2).sum())
    assert (exact_map(np, lib, frame, template, "ccorr") == products).all()
    assert np.abs(exact_map(np, lib, frame, template, "lcc") - scores).max() < 1e-6


def parse_size(text):
    width, _, height = text.partition("x")
    return int(width), int(height or width)


def run_case(np, size, options, lib, missing):
    (width, height), (tw, th) = (parse_size(part) for part in size.split(","))
    frame, template = draw(np, width, height, tw, th, options.seed)
    maps, rows = {}, []

    def exact(metric):
        if metric not in maps:
            maps[metric] = exact_map(np, lib, frame, template, metric) if lib else None
        return maps[metric]

    for name in options.peers:
        base = {"frame": [width, height], "template": [tw, th],
                "map": [width - tw + 1, height - th + 1], "suite": "peers", "metric": "lcc",
                "domain": "valid", "output": "map", "templates": 1, "algorithm": name}
        if name in missing:
            continue
        try:
            for fields, got, ms in PEERS[name](np, frame, template, options):
                row = {**base, "status": "ok", **fields}
                row.update(quality(np, got, exact(row["metric"])))
                rows.append({**row, "kernel_ms": spread(ms)})
        except ImportError as error:
            missing[name] = str(error)
            continue
        except TooLong as error:
            rows.append({**base, "device": "", "status": "skipped", "note": str(error)})
        except Exception as error:  # a peer may fail in any way: say how
            text = " ".join(str(error).split())[:200]
            rows.append({**base, "device": "", "status": "failed",
                         "note": "%s: %s" % (type(error).__name__, text)})
        for row in rows:
            if row["algorithm"] == name:
                told(row)
    return rows


def told(row):
    if row["status"] != "ok":
        print("  %-14s %s: %s" % (row["algorithm"], row["status"], row.get("note", "")))
        return
    print("  %-14s %-7s %3s  %10.4f ms (%.4f to %.4f)  max error %s" % (
        row["algorithm"], row["device"], row.get("threads", ""), row["kernel_ms"]["median"],
        row["kernel_ms"]["q1"], row["kernel_ms"]["q3"],
        "%.3g" % row["max_abs_error"] if "max_abs_error" in row else "-"), flush=True)


def write(path, document):
    with open(path + ".part", "w") as out:
        json.dump(document, out, indent=0)
        out.write("\n")
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", metavar="FRAME,TEMPLATE")
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--json")
    wanted.add_argument("--check", action="store_true", help="test the exact maps, which need no peer, and stop")
    parser.add_argument("--lib", default=library.BUILT, help="libtmatch.so, for the exact maps")
    parser.add_argument("--peers", default=",".join(PEERS), help="of " + ", ".join(PEERS))
    parser.add_argument("--samples", type=int, default=21)
    parser.add_argument("--budget", type=float, default=1.0, help="seconds a measurement")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; 0: all")
    parser.add_argument("--seed", type=int, default=20100)
    options = parser.parse_args()
    options.peers = options.peers.split(",")
    if options.check:
        check(options.lib)
        return 0

    missing = {}
    document = {"schema": 1, "date": datetime.datetime.now(datetime.timezone.utc).isoformat(),
                "command": " ".join(sys.argv), "python": sys.version.split()[0],
                "missing": [], "results": []}

    def save():
        document["missing"] = [{"status": "missing", "algorithm": name, "note": why}
                               for name, why in missing.items()]
        write(options.json, document)

    try:
        import numpy as np
    except ImportError as error:
        missing.update({name: str(error) for name in options.peers})
        save()
        print("missing: all peers: %s" % error)
        return 0
    try:
        lib = library.load(options.lib)
    except OSError as error:
        print("no exact maps: %s" % error, file=sys.stderr)
        lib = None
    for size in options.sizes or SIZES:
        print("%s:" % size, flush=True)
        document["results"] += run_case(np, size, options, lib, missing)
        save()
    for name, why in missing.items():
        print("missing: %s: %s" % (name, why))
    return 0


if __name__ == "__main__":
    sys.exit(main())
