#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scores and margins of templates that are in a frame and of templates that are not, over
the pictures of data/, and how often the program's "weak", and plain thresholds, are wrong.

    bench/weak.py [--places 2] [--seed 15] [--cases FILE.csv] build/tmatch
    bench/weak.py --tables FILE.csv --plot docs/images/threshold.png build/tmatch
    bench/weak.py --limits build/tmatch     what a rotation or a change of size does to the score

Present: a crop, changed as below, in the picture that it was cut from. Absent: the crop, as
it is and changed, in the other pictures, in all of them side by side, and in its own picture
with the place painted over. Crops with a standard deviation below 4 gray levels are not taken:
there is nothing in them to be found. Needs NumPy and Pillow.
"""
import argparse
import concurrent.futures
import csv
import io
import json
import math
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np
from PIL import Image, ImageDraw, ImageFont

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
NAMES = ["astronaut.png", "brick.png", "camera.png", "chelsea.png", "coffee.png", "gravel.png",
         "hubble_deep_field.jpg", "rocket.jpg", "text.png"]
SIZES = [(8, 8), (12, 12), (16, 16), (32, 8), (24, 24), (12, 48), (32, 32), (64, 24), (48, 48),
         (64, 64), (24, 128), (96, 96), (128, 128)]
LEAST_DEVIATION = 4


def gray(path):
    return np.asarray(Image.open(path).convert("L"), dtype=np.float64)


def to_bytes(array):
    return np.clip(np.rint(array), 0, 255).astype(np.uint8)


def save(array, path):
    Image.fromarray(to_bytes(array)).save(path)


def resampled(picture, x, y, w, h, scale=1.0, degrees=0.0):
    """The w x h pixels around the middle of the crop at (x, y), of the picture turned and
    enlarged about that middle: cubic interpolation, after a Lanczos enlargement by 4, so that
    the interpolation itself costs next to nothing; made smaller after a blur of that size."""
    margin = int(0.5 * math.hypot(w, h) / scale) + 16
    padded = np.pad(picture, margin, mode="reflect")
    part = padded[y:y + h + 2 * margin, x:x + w + 2 * margin]
    fine = Image.fromarray(part.astype(np.float32), mode="F").resize(
        (4 * part.shape[1], 4 * part.shape[0]), Image.LANCZOS)
    if scale < 1:
        array = np.asarray(fine)
        sigma = 4 * 0.5 * math.sqrt(1 / scale ** 2 - 1)
        fine = Image.fromarray(blurred(array, sigma).astype(np.float32), mode="F")
    a = math.radians(degrees)
    cx, cy = 4 * (margin + w / 2), 4 * (margin + h / 2)
    k = 4 / scale
    matrix = (k * math.cos(a), k * math.sin(a), cx - k * (math.cos(a) * w / 2 + math.sin(a) * h / 2),
              -k * math.sin(a), k * math.cos(a), cy - k * (-math.sin(a) * w / 2 + math.cos(a) * h / 2))
    return np.asarray(fine.transform((w, h), Image.AFFINE, matrix, Image.BICUBIC), dtype=np.float64)


def blurred(array, sigma):
    radius = max(1, int(4 * sigma + 1))
    taps = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    taps /= taps.sum()
    for axis in (0, 1):
        pad = [(radius, radius) if i == axis else (0, 0) for i in (0, 1)]
        padded = np.pad(array, pad, mode="edge")
        n = array.shape[axis]
        array = sum(t * np.take(padded, range(i, i + n), axis=axis) for i, t in enumerate(taps))
    return array


def jpeg(array, quality):
    memory = io.BytesIO()
    Image.fromarray(to_bytes(array)).save(memory, "JPEG", quality=quality)
    return np.asarray(Image.open(memory), dtype=np.float64)


def covered(crop, part, rng):
    """A rectangle of about that part of the crop, at one corner, is something else: gray."""
    h, w = crop.shape
    side = math.sqrt(part)
    ch, cw = max(1, round(h * side)), max(1, round(w * side))
    y, x = rng.choice([0, h - ch]), rng.choice([0, w - cw])
    out = crop.copy()
    out[y:y + ch, x:x + cw] = rng.uniform(0, 255)
    return out


def wider(picture, x, y, w, h, border):
    padded = np.pad(picture, border, mode="reflect")
    return padded[y:y + h + 2 * border, x:x + w + 2 * border]


def inner(array, border):
    return array[border:-border, border:-border]


CHANGES = {
    "as it is": lambda p, x, y, w, h, r: p[y:y + h, x:x + w],
    "noise 5": lambda p, x, y, w, h, r: p[y:y + h, x:x + w] + r.normal(0, 5, (h, w)),
    "noise 15": lambda p, x, y, w, h, r: p[y:y + h, x:x + w] + r.normal(0, 15, (h, w)),
    "JPEG 80": lambda p, x, y, w, h, r: inner(jpeg(wider(p, x, y, w, h, 13), 80), 13),
    "JPEG 40": lambda p, x, y, w, h, r: inner(jpeg(wider(p, x, y, w, h, 13), 40), 13),
    "half contrast, brighter": lambda p, x, y, w, h, r: 0.5 * p[y:y + h, x:x + w] + 60,
    "gamma 2": lambda p, x, y, w, h, r: 255 * (p[y:y + h, x:x + w] / 255) ** 2,
    "gamma 1/2": lambda p, x, y, w, h, r: 255 * (p[y:y + h, x:x + w] / 255) ** 0.5,
    "blur 0.7": lambda p, x, y, w, h, r: inner(blurred(wider(p, x, y, w, h, 8), 0.7), 8),
    "blur 1.5": lambda p, x, y, w, h, r: inner(blurred(wider(p, x, y, w, h, 8), 1.5), 8),
    "half a pixel": lambda p, x, y, w, h, r: shifted(p, x, y, w, h),
    "2 % larger": lambda p, x, y, w, h, r: resampled(p, x, y, w, h, 1.02),
    "2 % smaller": lambda p, x, y, w, h, r: resampled(p, x, y, w, h, 1 / 1.02),
    "15 % covered": lambda p, x, y, w, h, r: covered(p[y:y + h, x:x + w], 0.15, r),
    "30 % covered": lambda p, x, y, w, h, r: covered(p[y:y + h, x:x + w], 0.3, r),
    "noise 5, blur, half a pixel": lambda p, x, y, w, h, r:
        blurred(shifted(p, x, y, w, h), 0.7) + r.normal(0, 5, (h, w)),
}


def shifted(p, x, y, w, h):
    a = wider(p, x, y, w, h, 8)
    fine = Image.fromarray(a.astype(np.float32), mode="F")
    moved = fine.transform(fine.size, Image.AFFINE, (1, 0, 0.5, 0, 1, 0.5), Image.BICUBIC)
    return inner(np.asarray(moved, dtype=np.float64), 8)


def painted_over(picture, x, y, w, h, rng):
    """The place filled with what is elsewhere in the picture, without a part of the place."""
    out = picture.copy()
    while True:
        u = int(rng.integers(0, picture.shape[1] - w + 1))
        v = int(rng.integers(0, picture.shape[0] - h + 1))
        if abs(u - x) >= w or abs(v - y) >= h:
            out[y:y + h, x:x + w] = picture[v:v + h, u:u + w]
            return out


def side_by_side(pictures):
    """In two rows, black where they leave gaps."""
    rows = [pictures[:len(pictures) // 2], pictures[len(pictures) // 2:]]
    width = max(sum(p.shape[1] for p in row) for row in rows)
    out = np.zeros((sum(max(p.shape[0] for p in row) for row in rows), width))
    y = 0
    for row in rows:
        x = 0
        for p in row:
            out[y:y + p.shape[0], x:x + p.shape[1]] = p
            x += p.shape[1]
        y += max(p.shape[0] for p in row)
    return out


def run(program, frames, templates, extra=()):
    """The program's lines of every frame with every template."""
    # not by the folder: a name then says nothing about the order
    command = [program, "--format", "json", "-q", "--device", "cpu", "--threads", "1", *extra]
    for t in templates:
        command += ["-t", str(t)]
    text = subprocess.run(command + [str(f) for f in frames], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def case_of(line, kind, picture, size, change, place=None):
    match = line["matches"][0]
    near = place is not None and max(abs(match["x"] - place[0]), abs(match["y"] - place[1])) <= 2
    return {"kind": kind, "picture": picture, "frame": pathlib.Path(line["frame"]).name,
            "w": size[0], "h": size[1], "change": change, "positions":
            (line["frame_size"][0] - size[0] + 1) * (line["frame_size"][1] - size[1] + 1),
            "score": match["score"], "margin": match["margin"], "found": int(near),
            "weak": int(line.get("weak", False))}


class Experiment:
    def __init__(self, program, folder, places, seed):
        self.program, self.folder, self.places, self.seed = program, folder, places, seed
        plain = {n: gray(DATA / n) for n in NAMES}
        self.sets = {"": plain}
        self.sets["enlarged "] = {n: np.asarray(Image.fromarray(p.astype(np.uint8)).resize(
            (2 * p.shape[1], 2 * p.shape[0]), Image.BICUBIC), dtype=np.float64)
            for n, p in plain.items()}
        for name, pictures in self.sets.items():
            for n, p in pictures.items():
                save(p, self.path(name, n))
        for n in NAMES:
            save(side_by_side([p for m, p in plain.items() if m != n]), self.path("others ", n))

    def path(self, kind, name):
        return self.folder / f"{kind.strip()}{name.split('.')[0]}.png"

    def choose(self, picture, size, rng):
        """Places with something in them; fewer where there are none."""
        places = []
        for _ in range(200):
            if len(places) == self.places:
                break
            x = int(rng.integers(0, picture.shape[1] - size[0] + 1))
            y = int(rng.integers(0, picture.shape[0] - size[1] + 1))
            if picture[y:y + size[1], x:x + size[0]].std() >= LEAST_DEVIATION:
                places.append((x, y))
        return places

    def one(self, kind, name, size):
        """All cases of one picture and one size."""
        picture = self.sets[kind][name]
        h, w = picture.shape
        if size[0] > w // 2 or size[1] > h // 2:
            return []
        rng = np.random.default_rng([self.seed, NAMES.index(name), *size, len(kind)])
        cases = []
        own, others = self.path(kind, name), [self.path(kind, n) for n in NAMES if n != name]
        changes = CHANGES
        if kind == "":
            others.append(self.path("others ", name))
        else: # four times the work, so fewer of them
            others = [others[i] for i in rng.choice(len(others), 2, replace=False)]
            changes = {c: CHANGES[c] for c in ("as it is", "noise 5", "gamma 2", "2 % larger")}
        for i, (x, y) in enumerate(self.choose(picture, size, rng)):
            stem = f"{kind.strip()}-{name.split('.')[0]}-{size[0]}x{size[1]}-{i}"
            templates = []
            for change, make in changes.items():
                path = self.folder / f"{stem}-{len(templates)}.png"
                save(make(picture, x, y, *size, rng), path)
                if np.asarray(Image.open(path)).std() == 0:
                    continue
                templates.append((change, path))
            for (change, _), line in zip(templates, run(self.program, [own], [t for _, t in templates])):
                cases.append(case_of(line, kind + "present", name, size, change, (x, y)))
            changed = templates[int(rng.integers(1, len(templates)))]
            pair = [templates[0], changed]
            lines = iter(run(self.program, others, [t for _, t in pair]))
            for frame in others:
                for change, _ in pair:
                    what = "side by side" if frame.name.startswith("others") else "other pictures"
                    cases.append(case_of(next(lines), kind + what, name, size, change))
            painted = self.folder / f"{stem}-painted.png"
            save(painted_over(picture, x, y, *size, rng), painted)
            for (change, _), line in zip(pair, run(self.program, [painted], [t for _, t in pair])):
                cases.append(case_of(line, kind + "painted over", name, size, change))
            for _, path in templates:
                path.unlink()
            painted.unlink()
        return cases

    def all(self):
        jobs = [(kind, name, size) for kind in self.sets for name in NAMES for size in SIZES]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for cases in pool.map(lambda job: self.one(*job), jobs):
                yield from cases


def keep(path, cases):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, cases[0].keys())
        writer.writeheader()
        writer.writerows(cases)


def load(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for key in ("w", "h", "positions", "found", "weak"):
            row[key] = int(row[key])
        row["score"] = float(row["score"])
        row["margin"] = float(row["margin"]) if row["margin"] else None
    return rows


def table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|---|" + "---:|" * (len(header) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def percent(part):
    part = list(part)
    return f"{100 * sum(part) / len(part):.1f} %" if part else ""


def is_present(case):
    return case["kind"].endswith("present")


# Changes that leave a picture as people would call it the same.
SLIGHT = ["as it is", "noise 5", "JPEG 80", "half contrast, brighter", "gamma 2", "gamma 1/2",
          "blur 0.7", "2 % larger", "2 % smaller"]


def by_size(absent):
    rows = []
    for w, h in SIZES:
        scores = [c["score"] for c in absent if (c["w"], c["h"]) == (w, h)]
        rows.append([f"{w} × {h}"] + [f"{np.percentile(scores, p):.2f}" for p in (50, 95, 99)])
    table(["template", "half of them below", "95 of 100 below", "99 of 100 below"], rows)


def by_change(present):
    rows = []
    for change in CHANGES:
        cases = [c for c in present if c["change"] == change]
        there = [c for c in cases if c["found"]]
        rows.append([change, f"{np.median([c['score'] for c in there]):.3f}",
                     f"{np.percentile([c['score'] for c in there], 5):.2f}",
                     percent(not c["found"] for c in cases), percent(c["weak"] for c in there)])
    table(["template", "median score", "95 of 100 above", "best place elsewhere",
           "called weak though found"], rows)


def nearness(c):
    return (1 - c["score"]) / max(1 - (c["margin"] or 0), 1e-6)


def by_rule(there, absent):
    rules = [(f"score {t}", lambda c, t=t: c["score"] >= t) for t in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)]
    rules.append(("score by the size",
                  lambda c: c["score"] >= 1 - 0.2 * min(1, c["w"] * c["h"] / 1024)))
    rules.append(("nearness 0.6 alone", lambda c: nearness(c) <= 0.6))
    rules.append(("**tmatch's**", lambda c: not c["weak"]))
    rows = []
    for name, accepts in rules:
        rows.append([name, percent(not accepts(c) for c in there),
                     percent(not accepts(c) for c in there if c["change"] in SLIGHT)]
                    + [percent(accepts(c) for c in absent if low <= c["w"] * c["h"] < high)
                       for low, high in ((0, 1 << 30), (0, 1024), (1024, 1 << 30))])
    table(["accepted is", "false alarms", "after slight changes", "misses",
           "below 1024 pixels", "from there on"], rows)


def tables(cases):
    present, absent = [c for c in cases if is_present(c)], [c for c in cases if not is_present(c)]
    there = [c for c in present if c["found"]]
    lost = [c for c in present if not c["found"]]
    print(f"{len(cases)} cases: {len(present)} present, {len(lost)} of them not found at their "
          f"place; {len(absent)} absent\n")
    by_size(absent)
    by_change(present)
    by_rule(there, absent)
    for kind in sorted({c["kind"] for c in absent}):
        print(f"misses, {kind}: {percent(not c['weak'] for c in absent if c['kind'] == kind)}")
    print(f"weak of those found elsewhere: {percent(c['weak'] for c in lost)}")
    for name, group in (("found", there), ("absent", absent)):
        share = percent(0.6 <= c["score"] < 1 - 0.05 * min(1, c["w"] * c["h"] / 1024) for c in group)
        print(f"decided by the margin, of the {name}: {share}")


def plot(cases, path):
    """Each case as a dot, over the score of the next best place; tmatch's rule for templates of
    1024 pixels and more as a line."""
    side, left, top, below, twice = 560, 74, 16, 96, 2
    low = 0.2
    font = ImageFont.load_default(15 * twice)
    image = Image.new("RGB", (twice * (left + side + 20), twice * (top + side + below)), "white")
    draw = ImageDraw.Draw(image, "RGBA")

    def at(margin, score):
        return (twice * (left + (margin - low) / (1 - low) * side),
                twice * (top + (1 - score) / (1 - low) * side))

    for i in range(2, 11, 2):
        draw.line([at(low, i / 10), at(1, i / 10)], (225, 225, 225), twice)
        draw.line([at(i / 10, low), at(i / 10, 1)], (225, 225, 225), twice)
        x, y = at(low, i / 10)
        draw.text((x - 12, y), f"{i / 10:.1f}", "black", font, anchor="rm")
        if i == 2:
            continue
        x, y = at(i / 10, low)
        draw.text((x, y + 12), f"{i / 10:.1f}", "black", font, anchor="mt")
    kinds = [((221, 107, 32, 110), lambda c: not is_present(c), "absent"),
             ((30, 100, 190, 110), lambda c: is_present(c) and c["found"], "present, and found")]
    x = twice * left
    for color, belongs, name in kinds:
        for c in cases:
            if belongs(c) and c["margin"] is not None and min(c["margin"], c["score"]) >= low:
                u, v = at(c["margin"], c["score"])
                draw.ellipse([u - 3, v - 3, u + 3, v + 3], fill=color)
        y = twice * (top + side + 72)
        draw.ellipse([x, y - 8, x + 16, y + 8], fill=color[:3])
        draw.text((x + 28, y), name, "black", font, anchor="lm")
        x += twice * 100
    corner = (0.95 - 0.4) / 0.6
    line = [at(low, 0.6), at((0.6 - 0.4) / 0.6, 0.6), at(corner, 0.95), at(1, 0.95)]
    draw.line(line, "black", 2 * twice)
    draw.text(at(0.22, 0.58), "weak below the line", "black", font, anchor="lt")
    draw.text((twice * (left + side / 2), twice * (top + side + 34)),
              "score of the next best place", "black", font, anchor="mt")
    label = Image.new("RGB", (twice * 200, twice * 22), "white")
    ImageDraw.Draw(label).text((0, 0), "score of the best place", "black", font)
    image.paste(label.rotate(90, expand=True), (twice * 6, twice * (top + side // 2 - 100)))
    image.resize((image.width // twice, image.height // twice), Image.LANCZOS).quantize(64).save(path)


def limits(program, folder, places, seed):
    """What a turn or another size costs, and how often the place is found all the same."""
    rng = np.random.default_rng(seed)
    poses = [("2°", 1, 2), ("5°", 1, 5), ("10°", 1, 10), ("2 % larger", 1.02, 0),
             ("5 % larger", 1.05, 0), ("10 % larger", 1.1, 0), ("5 % smaller", 1 / 1.05, 0)]
    found = {(p[0], side): [] for p in poses for side in (32, 64, 128)}
    for name in NAMES:
        picture = gray(DATA / name)
        h, w = picture.shape
        frame = folder / f"{name.split('.')[0]}.png"
        save(picture, frame)
        for side in (32, 64, 128):
            for _ in range(places):
                while True:
                    x, y = int(rng.integers(0, w - side + 1)), int(rng.integers(0, h - side + 1))
                    if picture[y:y + side, x:x + side].std() >= LEAST_DEVIATION:
                        break
                paths = [folder / f"{i}.png" for i in range(len(poses))]
                for path, (_, scale, degrees) in zip(paths, poses):
                    save(resampled(picture, x, y, side, side, scale, degrees), path)
                for line, pose in zip(run(program, [frame], paths), poses):
                    found[pose[0], side].append(case_of(line, "", name, (side, side), "", (x, y)))
    rows = []
    for pose in poses:
        row = [pose[0]]
        for side in (32, 64, 128):
            cases = found[pose[0], side]
            scores = [c["score"] for c in cases]
            low, middle, high = np.percentile(scores, [10, 50, 90])
            row.append(f"{middle:.2f} ({low:.2f} to {high:.2f}); {percent(c['found'] for c in cases)}, "
                       f"{percent(c['weak'] for c in cases)}")
        rows.append(row)
    table(["template is", "32 × 32", "64 × 64", "128 × 128"], rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tmatch", type=pathlib.Path)
    parser.add_argument("--places", type=int, default=2)
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--cases", type=pathlib.Path, help="write the cases there as CSV")
    parser.add_argument("--tables", type=pathlib.Path, help="make the tables of such a file only")
    parser.add_argument("--plot", type=pathlib.Path, help="with --tables: draw them there as well")
    parser.add_argument("--limits", action="store_true")
    options = parser.parse_args()
    if options.tables:
        tables(load(options.tables))
        if options.plot:
            plot(load(options.tables), options.plot)
        return
    print("seed", options.seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tmatch-weak-"))
    program = options.tmatch.resolve()
    try:
        if options.limits:
            limits(program, folder, options.places, options.seed)
            return
        cases = list(Experiment(program, folder, options.places, options.seed).all())
    finally:
        shutil.rmtree(folder)
    if options.cases:
        keep(options.cases, cases)
    tables(cases)


if __name__ == "__main__":
    main()
