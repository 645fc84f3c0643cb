#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times many templates of one size in one call, and in calls of 15, which are too few to be searched together.

    bench/many.py --library build/libtmatch.so --json many.json

Sets, each with noise in the frame: characters of a font, which the frame has in a grid; icons, which are a part with another
badge, angle, contrast and sharpness each, 60 of them in a screenshot; crops of one picture, with another contrast and noise of
sigma 5, which is the frame; nine: the same of nine pictures of which one is the frame. Whole calls on one thread, processor
time, in turns; the first call, and the median of the later ones. Both ways have to give the same bits.
"""
import ctypes as c
import json
import os
import statistics
import time

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

import library

NINE = ["astronaut.png", "brick.png", "camera.png", "chelsea.png", "coffee.png", "gravel.png",
        "hubble_deep_field.jpg", "rocket.jpg", "text.png"]
CHARACTERS = [chr(i) for first, end in ((33, 127), (0xc0, 0x250), (0x391, 0x3ca), (0x410, 0x450))
              for i in range(first, end)]
FEW = 15


def to_bytes(array):
    return np.clip(np.rint(array), 0, 255).astype(np.uint8)


def picture(name, width, height):
    image = Image.open(os.path.join(library.ROOT, "data", name)).convert("L")
    scale = max(width / image.width, height / image.height)
    size = max(width, round(image.width * scale)), max(height, round(image.height * scale))
    return np.asarray(image.resize(size, Image.BILINEAR), dtype=float)[:height, :width]


def spots(random, frame, side, count):
    for _ in range(count):
        yield random.integers(0, frame.shape[0] - side), random.integers(0, frame.shape[1] - side)


def cut(random, frame, side):
    while True:
        y, x = next(spots(random, frame, side, 1))
        crop = frame[y:y + side, x:x + side]
        if crop.std() >= 10:
            return crop * 0.8 + 20 + random.normal(0, 5, crop.shape)


def glyph(character, side, font):
    image = Image.new("L", (side, side), 255)
    draw = ImageDraw.Draw(image)
    left, _, right, _ = draw.textbbox((0, 0), character, font=font)
    draw.text(((side - right + left) // 2 - left, (side - sum(font.getmetrics())) // 2), character, font=font, fill=0)
    return np.asarray(image, dtype=float)


def make_characters(random, width, height, side, count, path):
    font = ImageFont.truetype(path, round(side * 0.8))
    drawn = {}
    for character in CHARACTERS:
        pixels = glyph(character, side, font)
        if pixels.std():
            drawn.setdefault(pixels.tobytes(), pixels)
    templates = list(drawn.values())[:count]
    frame = np.full((height, width), 255.0)
    for y in range(3, height - side, side + 2):
        for x in range(5, width - side, side):
            if random.random() < 0.8:
                frame[y:y + side, x:x + side] = templates[random.integers(len(templates))]
    return frame, templates


def make_icons(random, width, height, side, count, _):
    part = Image.open(os.path.join(library.ROOT, "data", "part.png")).convert("L").resize((side, side), Image.BILINEAR)
    corner, templates = part.getpixel((0, 0)), []
    for _ in range(count):
        turned = part.rotate(random.uniform(-4, 4), Image.BILINEAR, fillcolor=corner)
        icon = np.array(turned.filter(ImageFilter.GaussianBlur(random.uniform(0, 0.8))), dtype=float)
        y, x = next(spots(random, icon, side // 4, 1))
        icon[y:y + side // 4, x:x + side // 4] = random.integers(0, 256)
        templates.append(icon * random.uniform(0.7, 1) + random.uniform(0, 40))
    frame = picture("screen.png", width, height).copy()
    for icon, (y, x) in zip(templates[:60], spots(random, frame, side, 60)):
        frame[y:y + side, x:x + side] = icon
    return frame, templates


def make_crops(random, width, height, side, count, _):
    frame = picture("camera.png", width, height)
    return frame, [cut(random, frame, side) for _ in range(count)]


def make_nine(random, width, height, side, count, _):
    frame = picture("camera.png", width, height)
    pictures = [frame if name == "camera.png" else picture(name, 512, 512) for name in NINE]
    return frame, [cut(random, pictures[i % len(NINE)], side) for i in range(count)]


SETS = {"characters": make_characters, "icons": make_icons, "crops": make_crops, "nine": make_nine}


class Side:
    """A matcher with its templates, which it matches in calls of so many."""

    def __init__(self, lib, features, templates, at_once):
        self.matcher, self.at_once, self.count = library.Matcher(lib, 1, features), at_once, len(templates)
        self.lib, self.templates = lib, (c.c_void_p * len(templates))()
        for i, template in enumerate(templates):
            self.matcher.template = c.c_void_p()
            self.matcher.prepare(template)
            self.templates[i] = self.matcher.template

    def match(self, frame, threshold):
        """The processor's milliseconds, and what was found."""
        image, search, bits = library.image_of(frame), library.Search(), []
        hits, peaks = (library.Hits * self.count)(), (library.Peak * self.count)()
        self.lib.tm_search_default(c.byref(search), c.c_size_t(c.sizeof(search)))
        search.most, search.min_score = 0, threshold or 0
        start = time.process_time()
        for i in range(0, self.count, self.at_once):
            count = c.c_size_t(min(self.at_once, self.count - i))
            some = c.byref(self.templates, i * c.sizeof(c.c_void_p))
            if threshold:
                status = self.lib.tm_match_peaks(self.matcher.handle, c.byref(image), some, count, c.byref(search),
                                                 c.byref(hits, i * c.sizeof(library.Hits)), None)
            else:
                status = self.lib.tm_match_many(self.matcher.handle, c.byref(image), some, count,
                                                c.byref(peaks, i * c.sizeof(library.Peak)), None)
            self.matcher.check(status)
        took = 1000 * (time.process_time() - start)
        for hit, peak in zip(hits, peaks):
            best = hit.best if threshold else peak
            size = 6 * 8 * hit.count  # of items
            bits.append((best.x, best.y, best.score, hit.count, c.string_at(hit.items, size) if size else b""))
            self.lib.tm_hits_free(c.byref(hit))
        return took, bits

    def close(self):
        for template in self.templates:
            self.lib.tm_template_destroy(c.byref(c.c_void_p(template)))
        self.matcher.close()


def measure(lib, features, frame, templates, threshold, rounds):
    sides = [Side(lib, features, templates, FEW), Side(lib, features, templates, len(templates))]
    times = [[], []]
    for _ in range(rounds):
        results = [side.match(frame, threshold) for side in sides]
        if results[0][1] != results[1][1]:
            raise SystemExit("the answers differ")
        for own, (took, _) in zip(times, results):
            own.append(took)
    plan = sides[1].matcher.plan()
    for side in sides:
        side.close()
    return {"separately_ms": times[0], "together_ms": times[1], "plan": plan}


def main():
    def add(parser):
        parser.add_argument("--library", default=library.BUILT)
        parser.add_argument("--font", default="/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf")
        parser.add_argument("--sets", default=",".join(SETS))
        parser.add_argument("--features", default="avx2,all")
        parser.add_argument("--frames", default="512x512,1920x1080")
        parser.add_argument("--sides", default="32")
        parser.add_argument("--counts", default="100")

    options = library.arguments(__doc__, add)
    lib, results = library.load(options.library), []
    for name in options.sets.split(","):
        for size in options.frames.split(","):
            for side in map(int, options.sides.split(",")):
                for count in map(int, options.counts.split(",")):
                    random = np.random.default_rng([side, count])
                    width, height = map(int, size.split("x"))
                    frame, templates = SETS[name](random, width, height, side, count, options.font)
                    frame = to_bytes(frame + random.normal(0, 1, frame.shape))
                    templates = [to_bytes(template) for template in templates]
                    for features in options.features.split(","):
                        for threshold in (None, 0.8):
                            case = {"set": name, "frame": size, "side": side, "templates": len(templates),
                                    "features": features, "threshold": threshold}
                            case |= measure(lib, features, frame, templates, threshold, options.rounds)
                            results.append(case)
                            a, b = case["separately_ms"], case["together_ms"]
                            later = statistics.median(a[1:] or a), statistics.median(b[1:] or b)
                            print(f"{name} {size} {side} {len(templates)} {features} {threshold or 'best'}: first "
                                  f"{a[0]:.1f} -> {b[0]:.1f}, later {later[0]:.1f} -> {later[1]:.1f} ms "
                                  f"(x {later[0] / later[1]:.2f}); {case['plan'][:60]}", flush=True)
    if options.json:
        options.json.write_text(json.dumps({"machine": library.machine(), "cases": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
