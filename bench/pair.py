#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two builds of tmatch in turns on the same pictures: whether one is slower than the other, and
whether they say the same.

    bench/pair.py [--device cuda:0] [--rounds 9] [--json FILE] OLD/tmatch NEW/tmatch [CASE]...

Each round runs both programs, the order changing, on one frame given many times. A program's time
is the median of its matches, after the first three. A round's ratio is new over old; printed are
the median of the ratios and the range of their middle half. Exit status 1 if the matches or maps
differ. Needs nothing but Python.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile

import library

# Name: sample type, width, height, template width, template height, frames a run, options.
CASES = {
    "gray-21": ("u8", 1920, 1080, 21, 21, 24, []),
    "gray-32": ("u8", 1920, 1080, 32, 32, 24, []),
    "gray-64": ("u8", 2048, 2048, 64, 64, 12, ["--algorithm", "direct"]),
    "gray-odd": ("u8", 1023, 767, 33, 17, 40, []),
    "large": ("u8", 8192, 8192, 64, 64, 8, ["--algorithm", "direct"]),
    "fft-256": ("u8", 2048, 2048, 256, 256, 8, ["--algorithm", "fft"]),
    "ccorr": ("u8", 1920, 1080, 32, 32, 16, ["--metric", "ccorr"]),
    "sqdiff": ("u8", 1920, 1080, 32, 32, 12, ["--metric", "sqdiff"]),
    "rgb": ("rgb", 1920, 1080, 32, 32, 12, ["--color"]),
    "u16": ("u16", 1920, 1080, 32, 32, 12, []),
    "u16-fft": ("u16", 1920, 1080, 128, 128, 6, ["--algorithm", "fft"]),
    "float": ("f32", 1024, 1024, 32, 32, 6, []),
    "float-fft": ("f32", 1024, 1024, 128, 128, 6, ["--algorithm", "fft"]),
    "mask": ("u8", 1024, 1024, 32, 32, 8, ["--mask", "MASK"]),
    "ten-best": ("u8", 1920, 1080, 32, 32, 16, ["-n", "10"]),
    "same": ("u8", 1920, 1080, 32, 32, 16, ["--domain", "same"]),
    "map": ("u8", 1920, 1080, 32, 32, 1, ["--map", "MAP"]),
}
ONLY_CUDA = {"large"}


def write_picture(path, kind, width, height, seed):
    """Noise over blocks of gray: neither flat nor white."""
    generator = random.Random(seed)
    channels = 3 if kind == "rgb" else 1
    half = bytes(i // 2 for i in range(256))
    rows = []
    for y in range(height):
        if y % 16 == 0:
            blocks = b"".join(bytes([generator.randrange(128)]) * 16 * channels for _ in range(width // 16 + 1))
        blocks = blocks[:width * channels]
        noise = generator.randbytes(width * channels).translate(half)
        # no byte carries into the next
        rows.append((int.from_bytes(blocks, "big") + int.from_bytes(noise, "big")).to_bytes(width * channels, "big"))
    samples = b"".join(rows)
    if kind == "f32":
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (height, width)
        header += " " * (-(len(header) + 11) % 64) + "\n"
        path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                         + b"".join(struct.pack("<f", b / 7) for b in samples))
    elif kind == "u16":
        wide = bytes(b for s, n in zip(samples, reversed(samples)) for b in (s, n))
        path.write_bytes(b"P5 %d %d 65535\n" % (width, height) + wide)
    else:
        path.write_bytes(b"P%d %d %d 255\n" % (6 if kind == "rgb" else 5, width, height) + samples)


def run_case(program, case, folder, device):
    kind, width, height, template_width, template_height, count, options = case
    frame, template = f"{kind}-{width}x{height}", f"{kind}-{template_width}x{template_height}-t"
    ending = ".npy" if kind == "f32" else ".pnm"
    options = [{"MASK": str(folder / "mask.pnm"), "MAP": str(folder / "map.npy")}.get(o, o) for o in options]
    command = [program, "--format", "json", "--device", device, *options, "-t", folder / (template + ending)]
    if device == "cpu":
        command += ["--threads", "1"]
    done = subprocess.run([*command, *[folder / (frame + ending)] * count], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    times = [line["time_ms"]["match"] for line in lines]
    said = [line["matches"] for line in lines]
    if "--map" in options:
        said.append(hashlib.sha256((folder / "map.npy").read_bytes()).hexdigest())
    return statistics.median(times[min(3, count - 1):]), said


def describe_machine(program):
    """What the results were measured on and of; PAIR_OLD and TMATCH_COMMIT name the two states."""
    listed = subprocess.run([program, "--list-devices"], capture_output=True, text=True, check=False).stdout
    return {"devices": listed.splitlines(),
            **library.gpu(), "date": datetime.date.today().isoformat(),
            "old": os.environ.get("PAIR_OLD", ""),
            "new": library.commit()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    names = options.cases or [n for n in CASES if options.device != "cpu" or n not in ONLY_CUDA]
    results, differ = {}, False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        mask = bytes(255 * (8 <= x < 24 or y < 20) for y in range(32) for x in range(32))
        (folder / "mask.pnm").write_bytes(b"P5 32 32 255\n" + mask)
        for name in names:
            kind, width, height, w, h, _, _ = CASES[name]
            ending = ".npy" if kind == "f32" else ".pnm"
            for text, size in ((f"{kind}-{width}x{height}", (width, height)), (f"{kind}-{w}x{h}-t", (w, h))):
                if not (folder / (text + ending)).exists():
                    write_picture(folder / (text + ending), kind, *size, seed=size[0])
            ratios, olds = [], []
            for i in range(options.rounds):
                runs = {}
                for program in (options.old, options.new) if i % 2 else (options.new, options.old):
                    runs[program] = run_case(program, CASES[name], folder, options.device)
                (old, said), (new, said_too) = runs[options.old], runs[options.new]
                differ |= said != said_too
                ratios.append(new / old)
                olds.append(old)
            low, middle, high = statistics.quantiles(ratios, n=4)
            results[name] = {"old_ms": statistics.median(olds), "ratio": middle, "quartiles": [low, high],
                             "same": said == said_too}
            print(f"{name:10} {statistics.median(olds):9.3f} ms  new/old {middle:.3f} ({low:.3f} to {high:.3f})"
                  f"  {'same' if said == said_too else 'DIFFERENT'}", flush=True)
    if options.json:
        options.json.write_text(json.dumps({**describe_machine(options.new), "device": options.device,
                                            "rounds": options.rounds, "cases": results}, indent=1) + "\n")
    sys.exit(differ)


main()
