#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Matches frames larger than the memory that is allowed, and measures that.

    bench/memory.py BUILD [--size 60000] [--template 64] [--device cpu] [--keep FOLDER]

Makes a PNM and a PNG of noise, whose template is a crop of them, and matches them
with --max-memory 1G on the CPU, or --max-gpu-memory 512M on cuda, with and without
the map by rows. Prints JSON: peak resident memory of the program (and of the device,
where it can be asked), time, and whether the match is right. Exit status 2 where one
is wrong or the memory exceeds the limit."""
import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--size", type=int, default=60000)
    parser.add_argument("--template", type=int, default=64)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--formats", default="pgm,png")
    parser.add_argument("--maps", action="store_true", help="write the map as well")
    parser.add_argument("--folder", default=None, help="for the frames")
    return parser.parse_args()


class Device(threading.Thread):
    """The greatest memory in use on the first GPU while something runs."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak = self.base = self.read()
        self.over = False

    @staticmethod
    def read():
        try:
            out = subprocess.run(["nvidia-smi", "--query-gpu=memory.used",
                                  "--format=csv,noheader,nounits"], capture_output=True, text=True)
            return int(out.stdout.split()[0])
        except (OSError, IndexError, ValueError):
            return 0

    def run(self):
        while not self.over:
            self.peak = max(self.peak, self.read())
            time.sleep(0.05)


def run(args, frame, folder, with_map):
    n, at = args.template, (args.size * 5 // 7, args.size * 6 // 7)
    command = [os.path.join(args.build, "tmatch"), "-v", "--time", "--max-memory", "1G",
               "--device", args.device]
    if args.device != "cpu":
        command += ["--max-gpu-memory", "512M"]
    if with_map:
        command += ["--map", os.path.join(folder, "map.npy")]
    command += [frame, f"{frame}[{n}x{n}+{at[0]}+{at[1]}]"]
    device = Device() if args.device != "cpu" else None
    if device:
        device.start()
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "TMATCH_PLUGIN_DIR": args.build})
    out, err = process.communicate()
    seconds = time.monotonic() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    result = {"frame": [args.size, args.size], "template": [n, n],
              "format": frame.rsplit(".", 1)[1], "map": with_map, "device": args.device,
              "seconds": round(seconds, 2), "peak_rss_bytes": peak,
              "right": process.returncode == 0 and f"x={at[0]} y={at[1]} w={n} h={n} score=1\n" in out,
              "said": [re.sub(r"^tmatch: \S+: ", "", line) for line in err.splitlines()]}
    if device:
        device.over = True
        device.join()
        result["device_mib"] = {"before": device.base, "peak": device.peak}
    if with_map:
        size = os.path.getsize(os.path.join(folder, "map.npy"))
        result["right"] = result["right"] and size == 128 + 4 * (args.size - n + 1) ** 2
        os.unlink(os.path.join(folder, "map.npy"))
    return result


def main():
    args = parse()
    results = []
    maker = os.path.join(args.build, "bench", "make_frame")
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for ending in args.formats.split(","):
            frame = os.path.join(folder, "frame." + ending)
            subprocess.run([maker, str(args.size), str(args.size), frame], check=True)
            # children's peak never falls: the smaller runs first
            for with_map in ([False, True] if args.maps else [False]):
                results.append(run(args, frame, folder, with_map))
                print(json.dumps(results[-1]), flush=True)
            os.unlink(frame)
    return 0 if all(r["right"] and (args.device != "cpu" or r["peak_rss_bytes"] <= 1 << 30)
                    for r in results) else 2


if __name__ == "__main__":
    sys.exit(main())
