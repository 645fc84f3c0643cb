#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times certified search on pictures, beside exhaustive search and OpenCV.

    bench/certified.py --json certified-cpu.json                     one thread, in one process, in turns
    bench/certified.py --device cuda:0 --json certified-cuda.json    by tmatch-bench certified
    bench/certified.py --device cuda:0 --calls --json certified-calls.json    whole calls, for several matches

Frames are the nine pictures of data/, gray: enlarged, the middle square, bilinear; and tiled,
mirrored at every edge; with noise of sigma 2, as a camera has, so that no two tiles are equal.
And a frame of noise alone. Templates are squares cut at random from the frame where its standard
deviation is at least 10, times 0.8, plus 20, with noise of sigma 5; and, absent, from the frame of
the next picture. Only the best match is asked for; absent ones also with all matches of 0.8 or more.

Every answer has to be that of exhaustive search, position and score. Times are whole calls, on a GPU
the kernels alone, with the frame on it; a template's is the median of the rounds. With --calls they are whole
calls with a frame in the host's pageable memory, for the best 5 matches and for all of 0.8 or more.
"""
import argparse
import concurrent.futures
import json
import math
import os
import statistics
import subprocess
import tempfile

import cv2
import numpy as np

import library

NAMES = ["astronaut.png", "brick.png", "camera.png", "chelsea.png", "coffee.png", "gravel.png",
         "hubble_deep_field.jpg", "rocket.jpg", "text.png"]
MIN_SCORE = 0.8
LEAST_DEVIATION = 10


def to_bytes(array):
    return np.clip(np.rint(array), 0, 255).astype(np.uint8)


def read(name):
    return cv2.imread(os.path.join(library.ROOT, "data", name), cv2.IMREAD_GRAYSCALE)


def enlarged(picture, size):
    side = min(picture.shape)
    top, left = (picture.shape[0] - side) // 2, (picture.shape[1] - side) // 2
    return cv2.resize(picture[top:top + side, left:left + side], (size, size),
                      interpolation=cv2.INTER_LINEAR)


def tiled(picture, size):
    height, width = picture.shape
    return np.pad(picture, ((0, max(0, size - height)), (0, max(0, size - width))),
                  mode="symmetric")[:size, :size]


def frames(size, names):
    """(name, how, frame), each drawn from a seed of its own."""
    def draw(what):
        number, name, how, make = what
        random = np.random.default_rng([size, number])
        return name, how, to_bytes(make(read(name), size) + random.normal(0, 2, (size, size)))

    every = [(number, name, how, make) for number, name in enumerate(names)
             for how, make in (("enlarged", enlarged), ("tiled", tiled))]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        yield from pool.map(draw, every)
    random = np.random.default_rng(size)
    yield "noise", "noise", random.integers(0, 256, (size, size), dtype=np.uint8)


def crop(frame, side, random):
    for _ in range(1000):
        y, x = random.integers(0, frame.shape[0] - side + 1), random.integers(0, frame.shape[1] - side + 1)
        cut = frame[y:y + side, x:x + side].astype(np.float64)
        if cut.std() >= LEAST_DEVIATION:
            break
    return to_bytes(0.8 * cut + 20 + random.normal(0, 5, cut.shape))


def templates(frame, other, side, crops, seed):
    """(case, template): some that are in the frame, and one that is not."""
    random = np.random.default_rng([side, *seed])
    return [("present", crop(frame, side, random)) for _ in range(crops)] + \
           [("absent", crop(other, side, random))]


def spread(ms):
    return {"median": round(statistics.median(ms), 4), "min": round(min(ms), 4), "max": round(max(ms), 4)}


class Cpu:
    """Exhaustive, certified, and what the plan chooses, for each instruction set; OpenCV."""

    def __init__(self, args):
        cv2.setNumThreads(1)
        self.args, self.lib = args, library.load(args.lib)
        self.ours = [(features, strategy, library.Matcher(self.lib, 1, features, strategy))
                     for features in args.features.split("+")
                     for strategy in ("exhaustive", "certified", "auto")]

    def describe(self):
        return {"device": library.processor() + ", 1 thread", "opencv": cv2.__version__,
                "plans": {f"{f}, {s}": m.plan() for f, s, m in self.ours}}

    def measure(self, frame, cases):
        for case, template in cases:
            yield case, self.best(frame, template)
            if case == "absent":
                yield f"absent, all of {MIN_SCORE:g}", self.all(frame, template)

    def rows(self, times, kernels, answers, right):
        rows = []
        for features, strategy, matcher in self.ours:
            algorithm, scored = matcher.ran()
            rows.append({"features": features, "strategy": strategy, "algorithm": algorithm, "scored": scored,
                         "kernel_ms": spread(kernels[features, strategy]), "ms": spread(times[features, strategy])})
            if answers[features, strategy] != right:
                raise SystemExit(f"{features}, {strategy}: {answers[features, strategy]}, not {right}")
        return rows

    def best(self, frame, template):
        return self.compare(template, lambda matcher: matcher.match(frame),
                            lambda: cv2.minMaxLoc(cv2.matchTemplate(frame, template, cv2.TM_CCOEFF_NORMED)))

    def all(self, frame, template):
        return self.compare(template, lambda matcher: matcher.match_all(frame, MIN_SCORE), None)

    def compare(self, template, call, peer):
        times, kernels, answers, opencv = {}, {}, {}, []
        for _, _, matcher in self.ours:
            matcher.prepare(template)
        for turn in range(self.args.rounds + 1):  # the first one warms up
            for features, strategy, matcher in self.ours:
                ms, answers[features, strategy] = library.timed(lambda m=matcher: call(m))
                if turn:
                    times.setdefault((features, strategy), []).append(ms)
                    kernels.setdefault((features, strategy), []).append(matcher.times().kernel)
            if peer and turn % 2:
                ms, found = library.timed(peer)
                opencv.append(ms)
        right = answers[self.ours[0][:2]]
        rows = self.rows(times, kernels, answers, right)
        if peer:
            rows.append({"strategy": "opencv", "ms": spread(opencv), "agrees": found[3] == right[:2]})
        for _, _, matcher in self.ours:
            matcher.forget()
        return {"best": list(right), "rows": rows}


class Calls(Cpu):
    """Whole calls on a GPU, for several matches of templates that are in the frame."""

    def __init__(self, args):
        self.args, self.lib = args, library.load(args.lib)
        self.ours = [("", strategy, library.Matcher(self.lib, 1, "all", strategy, int(args.device.partition(":")[2])))
                     for strategy in ("exhaustive", "certified", "auto")]

    def describe(self):
        return {"device": library.gpu(), "machine": library.machine()}

    def measure(self, frame, cases):
        for case, template in cases:
            if case == "present":
                yield "best 5", self.compare(template, lambda matcher: matcher.match_all(frame, math.nan, 5), None)
                yield f"all of {MIN_SCORE:g}", self.all(frame, template)


class Cuda:
    """The same by tmatch-bench, which has the frame on the device."""

    def __init__(self, args):
        self.args, self.machine = args, None

    def describe(self):
        return {"device": self.machine["gpus"][0]["name"], "machine": self.machine}

    def measure(self, frame, cases):
        with tempfile.TemporaryDirectory() as folder:
            paths = [f"{folder}/{i}.pgm" for i in range(len(cases) + 1)]
            for path, picture in zip(paths, [frame] + [template for _, template in cases]):
                cv2.imwrite(path, picture)
            out = f"{folder}/out.json"
            subprocess.run([self.args.bench, "certified", "--devices", self.args.device, "--samples",
                            str(self.args.rounds), "--json", out, *paths],
                           check=True, stdout=subprocess.DEVNULL)
            with open(out, encoding="utf-8") as file:
                document = json.load(file)
        self.machine = document["machine"]
        for number, (case, _) in enumerate(cases, 1):
            rows = [row for row in document["results"] if row["template_file"] == paths[number]]
            yield case, {"best": rows[0]["best"], "rows": [
                {"features": "", "strategy": row["strategy"], "algorithm": row["algorithm"],
                 "scored": row["scored"], "ms": row["ms"]} for row in rows]}


def describe(entry):
    parts = []
    for row in entry["rows"]:
        share = f" ({100 * row['scored']:.3g} %)" if row.get("algorithm") == "certified" else ""
        parts.append(f"{row.get('features', '')} {row['strategy']}: {row['ms']['median']:.3f}{share}".strip())
    return "  ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cpu, or cuda:0")
    parser.add_argument("--calls", action="store_true", help="on a GPU: whole calls for several matches")
    parser.add_argument("--lib", default=library.BUILT)
    parser.add_argument("--bench", default=os.path.join(library.ROOT, "build", "bench", "tmatch-bench"))
    parser.add_argument("--features", default="avx2+all", help="masks of the CPU's instruction sets")
    parser.add_argument("--sizes", default="2080,5020", help="of frames")
    parser.add_argument("--templates", default="21,64,256", help="their sides")
    parser.add_argument("--crops", default="3,1", help="present templates a frame, for each size")
    parser.add_argument("--pictures", default=",".join(NAMES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", default="")
    args = parser.parse_args()

    names = args.pictures.split(",")
    device = (Cpu if args.device == "cpu" else Calls if args.calls else Cuda)(args)
    record = {"commit": library.commit(), "rounds": args.rounds, "results": []}
    for number, size in enumerate(map(int, args.sizes.split(","))):
        crops = [int(c) for c in args.crops.split(",")]
        drawn = {(name, how): frame for name, how, frame in frames(size, names)}
        others = {name: names[(i + 1) % len(names)] for i, name in enumerate(names)}
        for seed, ((name, how), frame) in enumerate(drawn.items()):
            other = drawn[others.get(name, names[0]), how if name in others else "tiled"]
            for side in map(int, args.templates.split(",")):
                cases = templates(frame, other, side, crops[min(number, len(crops) - 1)], (size, seed))
                for case, entry in device.measure(frame, cases):
                    record["results"].append({"frame": size, "template": side, "picture": name, "how": how,
                                              "case": case, **entry})
                    print(f"{size} {side} {name} {how} {case}: {describe(entry)}", flush=True)
        record.update(device.describe())
        if args.json:
            with open(args.json, "w", encoding="utf-8") as out:
                json.dump(record, out, indent=1)


if __name__ == "__main__":
    main()
