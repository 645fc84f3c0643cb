#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills tmatch at random moments and resumes it: the log of all runs together is that of one
uninterrupted run, line for line, and so are the pictures. What all runs print is appended to one
file: no result is there twice, and a kill costs at most one frame its results there, where it comes
between the frame's lines in the log and them.

    tests/soak/kills.py [--kills 500] [--frames 400] [--seed N] build/tmatch
"""
import argparse
import collections
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "data"
FORMATS = ("text", "csv", "json")
MOST_RESULTS = 2  # of a frame


def make_frames(folder, count):
    """Every 20th is broken: truncated, empty, nonsense, or a link to nowhere. Returns the names."""
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
    return sorted(folder.iterdir())


def contents(folder):
    """What all files there hold, also those that a run should have removed."""
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def results(path):
    """What was printed, without how it was found and how long that took."""
    lines = [line.split(b',"algorithm":')[0] for line in path.read_bytes().splitlines()]
    return collections.Counter(line for line in lines if not line.startswith(b"frame,template,"))


class Test:
    def __init__(self, options, folder):
        self.program = options.tmatch.resolve()
        self.folder = folder
        make_frames(folder / "frames", options.frames)

    def start(self, name, form):
        # In a folder of its own: the ids contain the outputs' names.
        work = self.folder / name
        work.mkdir(exist_ok=True)
        with open(work / "results", "ab") as out:
            return subprocess.Popen(
                [self.program, "-q", "--device", "cpu", "-o", "seen", "--crops", "crops", "--format", form,
                 "--resume", "log", "-t", f"{DATA}/camera.png[20x20+1+2]", "-t", f"{DATA}/patch.jpg",
                 self.folder / "frames"],
                cwd=work, stdout=out, stderr=subprocess.DEVNULL)

    def outputs(self, name):
        work = self.folder / name
        lines = sorted((work / "log").read_bytes().splitlines())
        return lines, contents(work / "seen"), contents(work / "crops")

    def whole(self):
        """What one run makes, and how long it takes; what it prints in each format."""
        printed = {}
        for form in FORMATS:
            shutil.rmtree(self.folder / "whole", ignore_errors=True)
            start = time.monotonic()
            self.start("whole", form).wait()
            duration = time.monotonic() - start
            printed[form] = results(self.folder / "whole/results")
        return self.outputs("whole"), printed, duration

    def killed(self, form, rng, longest):
        """Kills one run again and again until it comes through. Returns how often, and how often that
        tore a line of the log."""
        kills = torn = 0
        log = self.folder / "killed/log"
        shutil.rmtree(self.folder / "killed", ignore_errors=True)
        while True:
            process = self.start("killed", form)
            try:
                process.wait(timeout=rng.uniform(0, longest))
                return kills, torn
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                longest *= 1.1  # a busy machine may take as long to begin
                torn += log.exists() and log.stat().st_size > 0 and log.read_bytes()[-1:] != b"\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tmatch", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    options = parser.parse_args()
    print("seed", options.seed)
    rng = random.Random(options.seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tmatch-kills-"))
    test = Test(options, folder)
    whole, printed, duration = test.whole()
    print(f"{len(whole[0])} lines, {len(whole[1]) + len(whole[2])} pictures in {duration:.2f} s without a kill")

    kills = rounds = torn = missing = 0
    while kills < options.kills:
        form = rng.choice(FORMATS)
        # Short enough for some tens of kills a round.
        killed, halves = test.killed(form, rng, 0.08 * duration)
        kills += killed
        torn += halves
        rounds += 1
        found = results(folder / "killed/results")
        lost = sum((printed[form] - found).values())
        missing += lost
        if test.outputs("killed") != whole or found - printed[form] or lost > MOST_RESULTS * killed:
            print(f"round {rounds} differs after {kills} kills: look at {folder}")
            return 1
        sys.stdout.flush()
    shutil.rmtree(folder)
    print(f"{kills} kills in {rounds} rounds, {torn} torn lines: every round's lines and pictures are those "
          f"of one run; {missing} results were logged and not printed, none was printed twice")
    return 0


if __name__ == "__main__":
    sys.exit(main())
