#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times tmatch on the CPU against OpenCV, interleaved in one process.

Whole calls that find the best match: tm_match against matchTemplate
(TM_CCOEFF_NORMED) and minMaxLoc. Noise makes no difference to either.

    meson compile -C build
    python3 bench/cpu_opencv.py --threads 1,2 --json out.json
"""
import argparse
import json
import os
import statistics
import time

import numpy as np

import library

ROWS = [(610, 21), (2080, 21), (5020, 21), (2041, 8), (4081, 16), (1080, 32), (2048, 64)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lib", default=library.BUILT)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--features", default="all", help="masks, with + between the names of one")
    parser.add_argument("--opencv-threads", default="1", help="an empty string leaves OpenCV out")
    parser.add_argument("--rows", default="", help="for example 5020x21,610x21")
    parser.add_argument("--seconds", type=float, default=3, help="a row, about")
    parser.add_argument("--json", default="")
    args = parser.parse_args()

    rows = [tuple(map(int, r.split("x"))) for r in args.rows.split(",")] if args.rows else ROWS
    lib = library.load(args.lib)
    ours = {f"tmatch {features}, {threads}": library.Matcher(lib, threads=int(threads), features=features.replace("+", ","))
            for features in args.features.split(",") for threads in args.threads.split(",")}
    peers, cv2 = [], None
    if args.opencv_threads:
        import cv2
        peers = [int(t) for t in args.opencv_threads.split(",")]
    record = {"processor": library.processor(), "commit": library.commit(),
              "opencv": cv2.__version__ if cv2 else None, "numpy": np.__version__, "rows": []}
    print(f"{record['processor']}; tmatch {record['commit']}; OpenCV {record['opencv']}")

    for size, side in rows:
        noise = np.random.default_rng(size)
        frame = noise.integers(0, 256, (size, size), dtype=np.uint8)
        template = np.ascontiguousarray(frame[size // 3:size // 3 + side, size // 2:size // 2 + side])
        times = {name: [] for name in list(ours) + [f"OpenCV, {t}" for t in peers]}
        for matcher in ours.values():
            matcher.prepare(template)
        end = time.perf_counter() + args.seconds
        while time.perf_counter() < end or min(map(len, times.values())) < 5:
            for name, matcher in ours.items():
                ms, (x, y, score) = library.timed(lambda: matcher.match(frame))
                times[name].append(ms)
                assert (x, y, score) == (size // 2, size // 3, 1.0), (x, y, score)
            for threads in peers:
                cv2.setNumThreads(threads)
                ms, _ = library.timed(lambda: cv2.minMaxLoc(
                    cv2.matchTemplate(frame, template, cv2.TM_CCOEFF_NORMED)))
                times[f"OpenCV, {threads}"].append(ms)
        for matcher in ours.values():
            matcher.forget()
        entry = {"frame": size, "template": side, "runs": min(map(len, times.values())),
                 "ms": {name: round(statistics.median(ms), 4) for name, ms in times.items()},
                 "min_ms": {name: round(min(ms), 4) for name, ms in times.items()}}
        if peers:
            # one ratio a round: what disturbs the machine disturbs both
            peer = times[f"OpenCV, {peers[0]}"]
            entry["ratio"] = {name: round(statistics.median(p / m for p, m in zip(peer, times[name])), 2)
                              for name in ours}
        record["rows"].append(entry)
        print(f"{size:5d} {side:3d}  " + "  ".join(
            f"{name}: {ms:.3f} ms" + (f" ({entry['ratio'][name]}x)" if name in entry.get("ratio", {}) else "")
            for name, ms in entry["ms"].items()), flush=True)

    record["plans"] = {name: matcher.plan() for name, matcher in ours.items()}
    if args.json:
        with open(args.json, "w") as out:
            json.dump(record, out, indent=1)


main()
