#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Frames of 1920 x 1080 that one core decodes to gray in a second: tmatch with libdeflate and without,
OpenCV's imread and libvips, in turns, each in a process of its own.

    meson setup build-plain -Ddeflate=disabled -Dbench=true && ninja -C build-plain bench/tmatch-bench
    meson setup build -Dbench=true && ninja -C build bench/tmatch-bench
    PYTHON bench/decode.py [--rounds 7] [--json FILE] build-plain build
    bench/decode.py --table FILE

PYTHON has cv2, pyvips, numpy and Pillow, which makes the files from data/. Times are CPU time, as several
readers use threads; each reader decodes a file --frames times in a round.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import library

ROOT = pathlib.Path(__file__).resolve().parent.parent
READERS = ("libpng alone", "tmatch", "OpenCV", "libvips")

PEER = """
import json, sys, time
reader, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
if reader == "OpenCV":
    import cv2
    cv2.setNumThreads(1)
    version = cv2.__version__
    def read():
        return cv2.imread(name, cv2.IMREAD_GRAYSCALE).shape
else:
    import pyvips
    pyvips.cache_set_max(0)
    version = ".".join(str(pyvips.version(i)) for i in range(3))
    def read():
        picture = pyvips.Image.new_from_file(name, access="sequential")
        if picture.hasalpha():
            picture = picture[:-1]
        gray = picture.colourspace("b-w")
        return len(gray.write_to_memory()), gray.width
read()
start = time.process_time()
for _ in range(count):
    read()
print(json.dumps({"cpu_s": time.process_time() - start, "version": version}))
"""


def make_files(folder):
    """A photograph with some noise and a screen, as several programs write them."""
    import cv2
    import numpy
    from PIL import Image
    noise = numpy.random.default_rng(1).normal(0, 2, (1080, 1920, 3)).round()
    photo = Image.open(ROOT / "data/coffee.png").convert("RGB").resize((1920, 1080), Image.Resampling.BICUBIC)
    photo = Image.fromarray(numpy.clip(numpy.asarray(photo) + noise, 0, 255).astype("uint8"))
    tile = Image.open(ROOT / "data/screen.png").convert("RGB")
    screen = Image.new("RGB", (1920, 1080))
    for y in range(0, 1080, tile.height):
        for x in range(0, 1920, tile.width):
            screen.paste(tile, (x, y))
    deep = (numpy.asarray(photo.convert("L")).astype("uint16") * 257) ^ (abs(noise[:, :, 0]) * 31).astype("uint16")
    cv2.imwrite(str(folder / "photo-opencv.png"), numpy.asarray(photo)[:, :, ::-1])
    cv2.imwrite(str(folder / "deep.png"), deep)
    photo.save(folder / "photo.png")
    photo.convert("L").save(folder / "gray.png")
    screen.save(folder / "screen.png")
    screen.convert("RGBA").save(folder / "screen-alpha.png")
    screen.quantize(200).save(folder / "screen-palette.png")
    photo.save(folder / "photo.jpg", quality=92)
    for name, compression in {"none": None, "lzw": "tiff_lzw", "deflate": "tiff_adobe_deflate"}.items():
        photo.save(folder / f"{name}.tif", compression=compression)
    return {"PNG, photograph, by Pillow": "photo.png", "PNG, photograph, by OpenCV": "photo-opencv.png",
            "PNG, photograph, gray": "gray.png", "PNG, photograph, 16 bits gray": "deep.png",
            "PNG, screen": "screen.png", "PNG, screen, RGBA": "screen-alpha.png", "PNG, screen, palette": "screen-palette.png",
            "JPEG, photograph": "photo.jpg", "TIFF, uncompressed": "none.tif", "TIFF, LZW": "lzw.tif",
            "TIFF, deflate": "deflate.tif"}


def measure(reader, name, builds, frames):
    if reader in ("OpenCV", "libvips"):
        command = [sys.executable, "-c", PEER, reader, name, str(frames)]
    else:
        tool = builds[reader == "tmatch"] / "bench/tmatch-bench"
        command = [tool, "batch", "decode", "--threads", "1", *[name] * frames]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "VIPS_CONCURRENCY": "1"})
    return json.loads(done.stdout)


def table(document):
    lines = ["| 1920 × 1080 to gray, frames a second and core | " + " | ".join(READERS) + " | tmatch / libpng alone | tmatch / OpenCV | tmatch / libvips |",
             "| --- |" + " ---: |" * (len(READERS) + 3)]
    for row in document["results"]:
        rates = [f"{row['frames_per_s'][reader]:.0f}" for reader in READERS]
        ratios = [f"{row['tmatch_over'][reader]:.2f}" for reader in READERS if reader != "tmatch"]
        lines.append("| " + " | ".join([row["file"], *rates, *ratios]) + " |")
    return "\n".join(lines)


def add_arguments(parser):
    parser.add_argument("builds", nargs="*", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=20)


def main():
    o = library.arguments(__doc__, add_arguments, 7, table)
    if len(o.builds) != 2:
        sys.exit("wants two builds: without libdeflate, and with it")
    document = {"machine": library.machine(), "command": " ".join(sys.argv), "versions": {},
                "results": []}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = pathlib.Path(name)
        for kind, file in make_files(folder).items():
            rounds = []
            for _ in range(o.rounds):
                runs = {reader: measure(reader, folder / file, o.builds, o.frames) for reader in READERS}
                document["versions"].update({k: r["version"] for k, r in runs.items() if "version" in r})
                rounds.append({reader: r["cpu_s"] / o.frames for reader, r in runs.items()})
            document["results"].append({
                "file": kind, "bytes": (folder / file).stat().st_size, "rounds_s": rounds,
                "frames_per_s": {r: 1 / statistics.median(each[r] for each in rounds) for r in READERS},
                "tmatch_over": {r: statistics.median(each[r] / each["tmatch"] for each in rounds)
                                for r in READERS if r != "tmatch"}})
            print(kind, document["results"][-1]["tmatch_over"], file=sys.stderr)
    library.write(o, document)
    print(table(document))


if __name__ == "__main__":
    main()
