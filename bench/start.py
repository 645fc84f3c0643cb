#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long processes take that start CUDA, from outside, in turns: the driver alone, as far as loading it, its initialisation and
its context, also where the process ends without leaving anything, and tmatch with one match of 1920x1080 with 32x32.

    bench/start.py [--rounds 11] [--tmatch] [--json FILE] NAME=BUILD_FOLDER...

Prints medians and least times in milliseconds; below them what tmatch-bench start says of its phases. That is the last folder's,
with each folder's plugin."""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import library


def pictures(folder):
    generator = random.Random(1)
    width, height, side = 1920, 1080, 32
    samples = generator.randbytes(width * height)
    frame, template = folder / "frame.pgm", folder / "template.pgm"
    frame.write_bytes(b"P5 %d %d 255\n" % (width, height) + samples)
    crop = b"".join(samples[y * width + 500:y * width + 500 + side] for y in range(300, 300 + side))
    template.write_bytes(b"P5 %d %d 255\n" % (side, side) + crop)
    return str(frame), str(template)


def run(command, environment):
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ms = (time.perf_counter() - start) * 1e3
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return ms, done.stdout


def phases(text):
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--tmatch", action="store_true", help="without the driver alone")
    parser.add_argument("--json")
    parser.add_argument("builds", nargs="+", metavar="NAME=BUILD_FOLDER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        frame, template = pictures(pathlib.Path(folder))
        commands, environments = {}, {}
        bench = options.builds[-1].split("=", 1)[1] + "/bench/tmatch-bench"
        for build in options.builds:
            name, path = build.split("=", 1)
            program = f"{path}/tmatch"
            own = {key: value for key, value in os.environ.items() if key != "TMATCH_PLUGIN_DIR"}
            one_queue = own | {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}
            commands[f"{name}: tmatch, cpu"] = [program, "--device", "cpu", frame, template]
            commands[f"{name}: tmatch, cuda:0"] = [program, "--device", "cuda:0", frame, template]
            for key in list(commands):
                environments.setdefault(key, own)
            for what in ("tmatch", "certified"):
                commands[f"{name}: {what}, one queue"] = [bench, "start", what]
                environments[f"{name}: {what}, one queue"] = one_queue | {"TMATCH_PLUGIN_DIR": os.path.realpath(path)}
        for what in ("nothing", "load", "init", "context", "init-left", "context-left") if not options.tmatch else ():
            if not what.endswith("-left"):
                commands[f"driver: {what}"] = [bench, "start", what]
                environments[f"driver: {what}"] = own
            commands[f"driver: {what}, one queue"] = [bench, "start", what]
            environments[f"driver: {what}, one queue"] = one_queue
        times = {name: [] for name in commands}
        parts = {name: [] for name in commands}
        for turn in range(options.rounds + 1):
            for name, command in commands.items():
                ms, text = run(command, environments[name])
                if turn:  # the first finds files that are not cached
                    times[name].append(ms)
                    if command[1] == "start" and text:
                        parts[name].append(phases(text))
    results = {"machine": library.machine() | library.gpu()}
    for name, ms in times.items():
        results[name] = {"median": statistics.median(ms), "least": min(ms)}
        print(f"{name:34} median {results[name]['median']:8.1f} least {min(ms):8.1f}")
        if parts[name]:
            inner = {key: statistics.median(p[key] for p in parts[name]) for key in parts[name][0]}
            results[name]["phases"] = inner
            print("    " + ", ".join(f"{key} {value:.1f}" for key, value in inner.items()))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
