#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cuts the power of a disk that tmatch writes to, and resumes: the log is that of one uninterrupted
run, line for line, and so are the pictures.

    tests/soak/cuts.py [--cuts 50] [--frames 150] [--slowly 6] [--seed N] build/tmatch

A real ext4 lies on a disk that remembers its writes and flushes (blocks.py). From a recorded run each
cut makes a disk: what was flushed is on it, of the later sectors a random part. It is mounted, as
after a reboot, and the run is resumed there. Wants root, loop devices and /dev/fuse: exit status 77
where it has none."""
import argparse
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import blocks
import mounts
from kills import DATA, contents, make_frames

DISK_BYTES = 96 << 20
SKIPPED = 77


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, **options)


@contextlib.contextmanager
def mounted(image, folder, options=""):
    folder.mkdir(exist_ok=True)
    run("mount", "-o", "loop" + options, image, folder)
    try:
        yield folder
    finally:
        run("umount", folder)


class Test:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.rng = random.Random(options.seed)
        self.program = options.tmatch.resolve()
        self.work = folder / "disk"  # the same for all runs: the ids contain the outputs' names
        make_frames(folder / "frames", options.frames)
        self.fresh = folder / "fresh"
        with open(self.fresh, "wb") as file:
            file.truncate(DISK_BYTES)
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", self.fresh)

    def start(self, **options):
        return subprocess.Popen(
            [self.program, "-q", "--device", "cpu", "-o", "seen", "--crops", "crops", "--resume", "log",
             "-t", f"{DATA}/camera.png[20x20+1+2]", "-t", f"{DATA}/patch.jpg", self.folder / "frames"],
            cwd=self.work, stdout=subprocess.DEVNULL, text=True, **options)

    def match_all(self):
        return self.start(stderr=subprocess.PIPE).communicate()[1]

    def outputs(self):
        lines = sorted((self.work / "log").read_bytes().splitlines())
        return lines, {name: contents(self.work / name) for name in ("seen", "crops")}

    def whole(self):
        """What one run makes."""
        image = self.folder / "whole"
        shutil.copy(self.fresh, image)
        with mounted(image, self.work):
            self.match_all()
            return self.outputs()

    def record(self, number):
        """A run that is stopped for most of the time, so that the log is synced in the middle, with a
        sync by somebody else now and then, as where memory is short. Returns what the disk was told."""
        record, served = self.folder / "record", self.folder / "served"
        record.unlink(missing_ok=True)
        served.mkdir(exist_ok=True)
        server = subprocess.Popen([sys.executable, blocks.__file__, self.fresh, served, record],
                                  stdout=subprocess.PIPE, text=True)
        if server.stdout.readline() != "ready\n":
            sys.exit(SKIPPED)
        try:
            with mounted(served / "disk", self.work, ",commit=1"):
                start = time.monotonic()
                process = self.start(stderr=subprocess.DEVNULL)
                while process.poll() is None:
                    time.sleep(0.02)
                    if self.rng.random() < 0.01 * number:
                        os.sync()
                    process.send_signal(signal.SIGSTOP)
                    time.sleep(0.01 * self.options.slowly)
                    process.send_signal(signal.SIGCONT)
                print(f"recorded a run of {time.monotonic() - start:.0f} s")
        finally:
            run("umount", served)
            server.wait()
        return blocks.read_record(record)

    def resume_after(self, events, number, cut):
        """Returns how many lines were there after the cut, the outputs in the end, and messages."""
        share = self.rng.choice((0, 0.1, 0.5, 0.9, 1))
        image = self.folder / f"cut{number}"
        image.write_bytes(blocks.image_at(self.fresh.read_bytes(), events, cut,
                                          lambda: self.rng.random() < share))
        with mounted(image, self.work):
            log = self.work / "log"
            there = len(log.read_bytes().splitlines()) if log.exists() else 0
            messages = self.match_all()
            found = self.outputs()
        return there, found, messages


def differences(whole, found, messages):
    lines, pictures = found
    for line in whole[0]:
        if lines.count(line) != 1:
            yield f"{lines.count(line)} times: {line.decode()[:200]}"
    others = [line for line in lines if line not in whole[0]]
    if others and f"{len(others)} damaged" not in messages:
        yield f"{len(others)} other lines: {others[0][:200]}"
    for folder, files in whole[1].items():
        for name in sorted(files.keys() | pictures[folder].keys()):
            if files.get(name) != pictures[folder].get(name):
                size = len(pictures[folder].get(name, b""))
                yield f"{folder}/{name} differs: {size if name in pictures[folder] else 'no'} bytes"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tmatch", type=pathlib.Path)
    parser.add_argument("--cuts", type=int, default=50)
    parser.add_argument("--frames", type=int, default=150)
    parser.add_argument("--slowly", type=float, default=6, help="hundredths of a second in a stop")
    parser.add_argument("--seed", type=int, default=time.time_ns())
    options = parser.parse_args()
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse") or not shutil.which("mkfs.ext4"):
        print("needs root, /dev/fuse and mkfs.ext4")
        return SKIPPED
    mounts.own()
    print("seed", options.seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tmatch-cuts-"))
    test = Test(options, folder)
    whole = test.whole()
    print(f"{len(whole[0])} lines, {sum(len(files) for files in whole[1].values())} pictures in one run")
    bad = lost = done = 0
    events = []
    for number in range(options.cuts):
        if number % 10 == 0:
            events = test.record(number // 10)
            print(f"recorded {len(events)} writes and flushes")
        cut = test.rng.randrange(len(events))
        there, found, messages = test.resume_after(events, number, cut)
        wrong = list(differences(whole, found, messages))
        for line in wrong[:5]:
            print(f"cut {number} at {cut} of {len(events)}: {line}")
        bad += bool(wrong)
        if not wrong:
            (folder / f"cut{number}").unlink()
        done += there
        sys.stdout.flush()
    print(f"{options.cuts} power cuts, after which {done} lines were there already: {bad} of them lost "
          "or doubled something")
    if bad == 0:
        shutil.rmtree(folder)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
