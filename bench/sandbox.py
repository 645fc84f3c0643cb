#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what --sandbox takes: PNG and JPEG frames of 1920 x 1080, and small PNG files, each matched with
a 32 x 32 template (small ones: 32 x 16) with and without it in turns, by one thread and by all.

    ninja -C build tmatch bench/tmatch-bench
    bench/sandbox.py [--frames 200] [--repeats 9] build

Times are medians, and so is their ratio, of runs that followed one another.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(command):
    """Wall seconds and CPU seconds, those of its children too."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=9)
    o = parser.parse_args()
    tmatch = (o.build / "tmatch").resolve()

    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = pathlib.Path(name)
        pictures = [ROOT / "data" / n for n in ("astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg")]
        subprocess.run([o.build.resolve() / "bench/tmatch-bench", "batch", "frames", folder, str(2 * o.frames), *pictures],
                       check=True)
        kinds = {"PNG, 1920x1080": (sorted(folder.glob("*.png")), "[32x32+900+500]"),
                 "JPEG, 1920x1080": (sorted(folder.glob("*.jpg")), "[32x32+900+500]"),
                 "PNG, 113x46": ([ROOT / "data/button.png"] * 10 * o.frames, "[32x16+40+15]")}
        for kind, (frames, crop) in kinds.items():
            listed = folder / "list"
            listed.write_bytes(b"\0".join(os.fsencode(f) for f in frames))
            template = f"{frames[0]}{crop}"
            for threads in sorted({1, len(os.sched_getaffinity(0))}):
                command = [tmatch, "-q", "--device", "cpu", "--threads", str(threads), "-t", template, "-0",
                           "--files-from", listed]
                times = [(run(command), run(command + ["--sandbox"])) for _ in range(o.repeats)]
                plain, boxed = ([statistics.median(t[i][k] for t in times) / len(frames) * 1e3 for k in range(2)]
                                for i in range(2))
                ratio = statistics.median(t[1][0] / t[0][0] for t in times)
                print(f"{kind}, {threads} thread{'s' * (threads > 1)}: {plain[0]:.3f} and {boxed[0]:.3f} ms a frame "
                      f"({ratio:.2f}); CPU {plain[1]:.3f} and {boxed[1]:.3f} ms")


if __name__ == "__main__":
    main()
