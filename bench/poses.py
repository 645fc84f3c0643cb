#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How well and how quickly turned and resized templates are found where the truth is known.

    bench/poses.py --json bench/results/cpu/poses.json      one thread, every angle, automatic steps
    bench/poses.py --search pyramid --peers 10 --json bench/results/cpu/poses-pyramid.json
    bench/poses.py --cases 0 --json bench/results/cpu/poses-scales.json    other sizes alone

Templates are cut at random from a picture of data/, where their standard deviation is at least 10,
turned by a random angle, moved by parts of a pixel, given another contrast and brightness, and pasted
into another picture, with edges that blend; then the frame gets noise. Turned pictures are made by
Lanczos interpolation of the whole source picture, after a Lanczos enlargement by 4; tmatch itself
interpolates linearly. Right is a match within 2 pixels and 2 degrees (and 5 % of the scale).

An unambiguous target is one that content makes findable: contrast of at least 10 gray levels and of
at least the noise's sigma, and the template, before noise, is like itself by less than 0.95 when it
is turned by 3 degrees or more, or moved by 3 pixels, over the pixels that both have.

With --search pyramid the peer is --search auto, which misses nothing: whether both found the same, and the pose
that scores best.

Times are of the processor, for calls with matcher and posed template kept, the less of two.
"""
import argparse
import json
import math
import os
import re
import time

import cv2
import numpy as np

import library
import poses_peers

NAMES = ["astronaut.png", "brick.png", "camera.png", "chelsea.png", "coffee.png", "gravel.png",
         "hubble_deep_field.jpg", "rocket.jpg", "text.png", "screen.png"]
SIZES = [(32, 32), (64, 48), (128, 128), (200, 60)]
NOISE = [0, 5, 15]
LEAST_DEVIATION = 10
ALIKE = 0.95
FINE = 4  # times as large, before it is turned
ALL = (-180, 180, 0)


def read(name):
    return cv2.imread(os.path.join(library.ROOT, "data", name), cv2.IMREAD_GRAYSCALE)


def to_bytes(array):
    return np.clip(np.rint(array), 0, 255).astype(np.uint8)


def background(picture, width, height):
    rows, columns = picture.shape
    tall, wide = max(0, height - rows), max(0, width - columns)
    return np.pad(picture, ((0, tall), (0, wide)), mode="symmetric")[:height, :width].astype(np.float32)


def placed(source, center, turn, scale, at, shape, times=FINE):
    """The source's pixels turned and enlarged about its center, which comes to at in a frame."""
    fine = source
    if scale < 1:
        sigma = 0.5 * math.sqrt(1 / scale ** 2 - 1)
        fine = cv2.GaussianBlur(source, (0, 0), sigma)
    reach = int(math.hypot(*shape) / scale) + 8
    left, top = int(center[0]) - reach, int(center[1]) - reach
    rows = np.clip(np.arange(top, top + 2 * reach), 0, source.shape[0] - 1)
    columns = np.clip(np.arange(left, left + 2 * reach), 0, source.shape[1] - 1)
    part = fine[np.ix_(rows, columns)]
    fine = cv2.resize(part, None, fx=times, fy=times, interpolation=cv2.INTER_LANCZOS4)
    a = math.radians(turn)
    k, x, y = times / scale, center[0] - left, center[1] - top
    x, y = times * (x + 0.5) - 0.5, times * (y + 0.5) - 0.5
    cos, sin = k * math.cos(a), k * math.sin(a)
    matrix = np.array([[cos, -sin, x - cos * at[0] + sin * at[1]], [sin, cos, y - sin * at[0] - cos * at[1]]])
    return cv2.warpAffine(fine, matrix, shape, flags=cv2.INTER_LANCZOS4 | cv2.WARP_INVERSE_MAP,
                          borderMode=cv2.BORDER_REPLICATE)


def cover(size, turn, scale, at, shape):
    """How much of each pixel the turned box takes: falls from 1 to 0 within a pixel of its edge."""
    y, x = np.mgrid[0:shape[1], 0:shape[0]].astype(np.float32)
    a = math.radians(turn)
    u = (x - at[0]) * math.cos(a) - (y - at[1]) * math.sin(a)
    v = (x - at[0]) * math.sin(a) + (y - at[1]) * math.cos(a)
    inside = np.minimum(scale * size[0] / 2 - abs(u), scale * size[1] / 2 - abs(v))
    return np.clip(inside + 0.5, 0, 1)


def correlation(a, b, mask):
    a, b = a[mask] - a[mask].mean(), b[mask] - b[mask].mean()
    return float((a * b).sum() / math.sqrt(max((a * a).sum() * (b * b).sum(), 1e-9)))


def self_likeness(template):
    """The most that the template correlates with itself turned or moved."""
    h, w = template.shape
    picture, middle = template.astype(np.float32), ((w - 1) / 2, (h - 1) / 2)
    turns = [t for a in [*range(3, 12), *range(15, 180, 5)] for t in (a, -a)] + [180]
    most = -1
    for turn, dx, dy in [(t, 0, 0) for t in turns] + [
            (0, 3 * math.cos(i * math.pi / 8), 3 * math.sin(i * math.pi / 8)) for i in range(8)]:
        at = (middle[0] + dx, middle[1] + dy)
        mask = cover((w, h), turn, 1, at, (w, h)) >= 1
        most = max(most, correlation(picture, placed(picture, middle, turn, 1, at, (w, h), 1), mask))
    return most


def cut(size, random):
    """(name, source, center, template)"""
    while True:
        name = NAMES[random.integers(len(NAMES))]
        source = read(name)
        w, h = size
        y, x = random.integers(0, source.shape[0] - h + 1), random.integers(0, source.shape[1] - w + 1)
        template = np.ascontiguousarray(source[y:y + h, x:x + w])
        if template.std() >= LEAST_DEVIATION:
            return name, source.astype(np.float32), (x + (w - 1) / 2, y + (h - 1) / 2), template


def spots(size, scale, shape, count, random):
    """Centers of boxes that lie in the frame and don't meet."""
    reach = scale * math.hypot(*size) / 2 + 2
    while True:
        found = []
        for _ in range(1000):
            spot = tuple(random.uniform(reach, side - reach) for side in shape)
            if all(math.dist(spot, other) > 2 * reach for other in found):
                found.append(spot)
            if len(found) == count:
                return found
        if count * (2 * reach) ** 2 > 0.35 * shape[0] * shape[1]:
            count -= 1


def draw(size, number, kind, targets, scale=1):
    """The case of this number: the same whatever is measured beside it."""
    random = np.random.default_rng([*size, number, len(kind), targets, int(1000 * scale)])
    name, source, center, template = cut(size, random)
    shape = (1600, 1200) if number % 10 == 9 else (512, 512)
    other = NAMES[(NAMES.index(name) + 1 + random.integers(len(NAMES) - 1)) % len(NAMES)]
    frame = background(read(other), *shape)
    sigma, gain, offset = NOISE[number % 3], random.uniform(0.6, 1.2), random.uniform(-20, 20)
    truth = []
    for at in spots(size, scale, shape, targets, random) if targets else []:
        turn = random.uniform(-180, 180)
        alpha = cover(size, turn, scale, at, shape)
        frame += alpha * (gain * placed(source, center, turn, scale, at, shape) + offset - frame)
        truth.append((*at, turn, scale))
    contrast, like = gain * float(template.std()), self_likeness(template)
    return {"size": list(size), "number": number, "kind": kind, "frame": list(shape), "sigma": sigma,
            "template": name, "background": other, "contrast": round(contrast, 2), "like": round(like, 4),
            "unambiguous": contrast >= max(sigma, LEAST_DEVIATION) and like < ALIKE,
            "truth": [list(map(float, t)) for t in truth]}, \
        template, to_bytes(frame + random.normal(0, sigma, frame.shape))


def off(hit, truth):
    """Pixels, degrees, and part of the scale."""
    turn = abs((hit.fine_angle - truth[2] + 180) % 360 - 180)
    return math.hypot(hit.fine_x - truth[0], hit.fine_y - truth[1]), turn, abs(hit.fine_scale / truth[3] - 1)


def judge(case, found, scaled):
    """For each target the errors of the match that is right, or nothing."""
    case["errors"] = []
    for truth in case["truth"]:
        right = [off(hit, truth) for hit in found]
        right = [e for e in right if e[0] <= 2 and e[1] <= 2 and (not scaled or e[2] <= 0.05)]
        case["errors"].append([round(e, 4) for e in right[0]] if right else None)
    case["scores"] = [round(hit.score, 4) for hit in found]
    case["found"] = [[round(v, 3) for v in (hit.fine_x, hit.fine_y, hit.fine_angle, hit.fine_scale)]
                     for hit in found]


def spent(call):
    start = time.process_time()
    result = call()
    return round(1e3 * (time.process_time() - start), 3), result


def search(lib, case, template, frame, scales, calls, strategy):
    """Poses matched by tmatch; the first call makes what the later ones keep."""
    matcher = library.Matcher(lib, 1, features=lib.features, strategy=strategy)
    posed = library.Posed(matcher, template, ALL, scales)
    most = max(1, len(case["truth"]))
    first, (found, best) = spent(lambda: posed.match(frame, most, 0.5))
    ms = [spent(lambda: posed.match(frame, most, 0.5))[0] for _ in range(calls)]
    case.update({"poses": posed.count, "step": posed.grid.angle_step, "support": posed.grid.support,
                 "algorithm": matcher.ran()[0], "scored": matcher.ran()[1], "plan": matcher.plan(),
                 "first_ms": first, "ms": min(ms) if ms else None, "best": round(best.score, 4)})
    judge(case, found, scales[0] != scales[1])
    posed.forget()
    matcher.close()
    return found, best


def search_for_matches(lib, case, template, frame, strategy):
    """How long it takes to find that nothing scores 0.8 or 0.9, where what comes nearest is not looked for."""
    case["only_matches_ms"] = {}
    for least in (0.8, 0.9):
        matcher = library.Matcher(lib, 1, features=lib.features, strategy=strategy)
        posed = library.Posed(matcher, template, ALL, (1, 1, 0))
        for _ in range(2):
            ms, (found, _) = spent(lambda: posed.match(frame, 1, least, only_matches=1))
        if bool(found) != (case["best"] >= least):
            raise SystemExit(f"{case}: {len(found)} matches of {least}")
        case["only_matches_ms"][str(least)] = ms
        posed.forget()
        matcher.close()


def ask(peer, case, template, frame):
    """One of the peers on a case; its turned templates are not counted, as ours are kept."""
    made, targets = poses_peers.turned(template, case["step"]), max(1, len(case["truth"]))
    case["ms"], found = spent(lambda: peer(frame, made, targets))
    case["best"] = round(max((hit.score for hit in found), default=-1), 4)
    judge(case, found, False)


def report(case, who):
    print(who, *case["size"], case["kind"], case["number"], "unambiguous" if case["unambiguous"] else "ambiguous",
          case.get("algorithm", ""), case.get("ms"), case["scores"], case["errors"], case.get("same", ""), flush=True)


def exhaustive(case, other):
    if (other["found"], other["scores"]) != (case["found"], case["scores"]):
        raise SystemExit(f"{case} is not {other}")


def proved(case, other):
    other["same"] = case["best"] == other["best"] and case["found"] == other["found"]


def peers_of(lib, template, frame, strategy):
    """{name: (what runs it, what compares it)}"""
    one = (1, 1, 0)
    if strategy == "pyramid":
        return {"auto": (lambda c: search(lib, c, template, frame, one, 1, "auto"), proved)}
    peers = {"exhaustive": (lambda c: search(lib, c, template, frame, one, 1, "exhaustive"), exhaustive)}
    for name, peer in poses_peers.PEERS.items():
        peers[name] = (lambda c, peer=peer: ask(peer, c, template, frame), None)
    return peers


def measure(lib, size, args, keep):
    one = (1, 1, 0)
    for kind, targets, part, calls in (("one", 1, 1, 2), ("five", 5, 4, 1), ("absent", 0, 2, 1)):
        for number in range(args.cases // part):
            case, template, frame = draw(size, number, kind, targets)
            search(lib, case, template, frame, one, calls, args.search)
            if kind == "absent":
                search_for_matches(lib, case, template, frame, args.search)
            keep(args.search, case)
            if number >= args.peers // part or case["frame"] != [512, 512]:
                continue
            for who, (run, compare) in peers_of(lib, template, frame, args.search).items():
                if args.by and who not in args.by.split(","):
                    continue
                other = {k: case[k] for k in ("size", "number", "kind", "frame", "sigma", "unambiguous", "truth", "step")}
                run(other)
                if compare:
                    compare(case, other)
                keep(who, other)
    for scale, scales in ((1.05, one), (0.95, one), (1.05, (0.9, 1.1, 0.025)), (0.95, (0.9, 1.1, 0.025)),
                          (1.25, (1.2, 1.3, 0.025)), (0.8, (0.75, 0.85, 0.025))):
        for number in range(args.scaled):
            kind = f"{scale:g}" + ("" if scales == one else ", searched")
            case, template, frame = draw(size, number, "scaled", 1, scale)
            case["kind"] = kind
            search(lib, case, template, frame, scales, 0, args.search)
            keep(args.search, case)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lib", default=library.BUILT)
    parser.add_argument("--sizes", default=",".join(f"{w}x{h}" for w, h in SIZES))
    parser.add_argument("--cases", type=int, default=30, help="with one target, of each size")
    parser.add_argument("--peers", type=int, default=1, help="of these, where the frame has 512 x 512, also by the others, and as\n"
                        "large a part of those with five targets and with none")
    parser.add_argument("--by", default="", help="which others: exhaustive, opencv, mtm, mtm masked; without, all")
    parser.add_argument("--scaled", type=int, default=3, help="of each scale and size")
    parser.add_argument("--search", choices=["auto", "pyramid"], default="auto")
    parser.add_argument("--features", default="all", help="instruction sets that tmatch may use, as --cpu-features has them")
    parser.add_argument("--json", default="")
    args = parser.parse_args()

    cv2.setNumThreads(1)
    lib = library.load(args.lib)
    lib.features = args.features
    record = {"commit": library.commit(), "device": library.processor() + ", 1 thread",
              **poses_peers.versions(), "search": args.search, "results": []}

    def keep(who, case):
        kernels = re.search(r"(\w+) kernels", case.get("plan", ""))
        if kernels:
            record["kernels"] = kernels[1]
        if case.get("algorithm") != "direct":
            case.pop("plan", None)
        load = round(os.getloadavg()[0], 1)
        record["load"] = [min(record["load"][0], load), max(record["load"][1], load)] if "load" in record else [load, load]
        record["results"].append({"by": who, **case})
        report(case, who)
        if args.json:
            with open(args.json, "w", encoding="utf-8") as out:
                json.dump(record, out)

    for size in args.sizes.split(","):
        measure(lib, tuple(map(int, size.split("x"))), args, keep)


if __name__ == "__main__":
    main()
