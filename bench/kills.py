#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills tmatch at random moments and resumes it: the log of all runs together must
be that of one uninterrupted run, line for line, and so must the pictures.

    bench/kills.py [--kills 200] [--frames 400] [--seed N] build/tmatch
"""
import argparse
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def make_frames(folder, count):
    """Every 20th is broken: truncated, empty, nonsense, or a link to nowhere."""
    folder.mkdir()
    pictures = sorted(p for p in DATA.iterdir() if p.suffix in (".png", ".jpg"))
    for i in range(count):
        picture = pictures[i % len(pictures)]
        frame = folder / f"{i:05d}{picture.suffix}"
        if i % 20 == 7:
            content = [picture.read_bytes()[:3000], b"", b"nonsense"][i // 20 % 3]
            frame.write_bytes(content)
        else:
            frame.symlink_to(picture)


def content(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()
            and not p.name.startswith(".")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tmatch", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    options = parser.parse_args()
    program = options.tmatch.resolve()
    print("seed", options.seed)
    rng = random.Random(options.seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tmatch-kills-"))
    make_frames(folder / "frames", options.frames)

    def run(name):
        # In a folder of its own: the ids contain the outputs' names.
        (folder / name).mkdir(exist_ok=True)
        return subprocess.Popen(
            [program, "-q", "--device", "cpu", "--crops", "crops", "--resume", "log",
             "-t", f"{DATA}/camera.png[20x20+1+2]", "-t", f"{DATA}/patch.jpg", folder / "frames"],
            cwd=folder / name, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    start = time.monotonic()
    run("whole").wait()
    duration = time.monotonic() - start
    whole = sorted((folder / "whole/log").read_bytes().splitlines())
    pictures = content(folder / "whole/crops")
    print(f"{len(whole)} lines, {len(pictures)} pictures in {duration:.2f} s without a kill")

    kills = rounds = torn = 0
    while kills < options.kills:
        shutil.rmtree(folder / "killed", ignore_errors=True)
        while True:
            process = run("killed")
            # Short enough for some tens of kills a round.
            try:
                process.wait(timeout=rng.uniform(0, 0.08 * duration))
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                log = folder / "killed/log"
                torn += log.exists() and log.stat().st_size > 0 and log.read_bytes()[-1:] != b"\n"
        rounds += 1
        lines = sorted((folder / "killed/log").read_bytes().splitlines())
        if lines != whole or content(folder / "killed/crops") != pictures:
            print(f"round {rounds} differs after {kills} kills: look at {folder}")
            return 1
    shutil.rmtree(folder)
    print(f"{kills} kills in {rounds} rounds, {torn} torn lines: every round's lines and pictures "
          "are those of one run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
