#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shares frames out over shards, kills each of them several times at random moments and resumes it, and merges
their logs: what is printed, in each format, the exit status, the merged log and the report are those of one run.

    tests/soak/shards.py [--frames 20000] [--shards 8] [--kills 5] [--at-once 2] [--seed N] build/tmatch

Every 1000th frame is broken. Prints JSON."""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from frames import make_folder, make_pictures

FORMATS = ("text", "csv", "json")


def without_how(printed):
    """Without how it was found and how long that took, which a log does not have."""
    return b"".join(line.split(b',"algorithm":')[0].rstrip(b"}\n") + b"\n" for line in printed.splitlines(True))


def page_of(path):
    """The report without its date and command line, which stand in one line."""
    return [line for line in path.read_bytes().splitlines() if not line.startswith(b'[{"version":')]


class Test:
    def __init__(self, options, folder):
        self.program, self.folder, self.options = options.tmatch.resolve(), folder, options
        pictures = make_pictures()
        make_folder(folder / "frames", pictures, options.frames)
        for i in range(7, options.frames, 1000):
            frame = folder / f"frames/{i:07d}.pgm"
            frame.unlink()
            frame.write_bytes(b"nonsense")
        (folder / "template.pgm").write_bytes(pictures[0])

    def start(self, *words, out=subprocess.DEVNULL):
        return subprocess.Popen([self.program, "-q", *words], cwd=self.folder, stdout=out, stderr=subprocess.DEVNULL)

    def match(self, *words, **more):
        return self.start("--device", "cpu", "-t", "template.pgm[10x8+20+20]", "frames", *words, **more)

    def shard(self, number, *more):
        return self.match("--threads", "1", "--shard", f"{number}/{self.options.shards}", "--resume", f"log.{number}", *more)

    def printed(self, start, *words):
        process = start(*words, out=subprocess.PIPE)
        text = process.communicate()[0]
        return without_how(text), process.returncode

    def wait_for(self, process, rng, log, left):
        """Waits some time, or else until the log has grown by some part of what will be missing: so long that
        as many kills as are left may come before its end. False if the process has ended before."""
        if rng.random() < 0.3:
            try:
                process.wait(timeout=rng.uniform(0, self.start_s))
            except subprocess.TimeoutExpired:
                return True
            return False
        size = log.stat().st_size if log.exists() else 0
        size += rng.uniform(0, max(self.log_size - size, 0) / (left + 1))
        while process.poll() is None:
            if log.exists() and log.stat().st_size > size:
                return True
            time.sleep(0.001)
        return False

    def killed(self, number, rng):
        """Kills a shard and lets it go on until it has been killed so often. Returns what the kills have met."""
        met = collections.Counter()
        lines = 0
        log = self.folder / f"log.{number}"
        while sum(met.values()) < self.options.kills:
            process = self.shard(number)
            if self.wait_for(process, rng, log, self.options.kills - sum(met.values())):
                process.send_signal(signal.SIGKILL)
                process.wait()
                text = log.read_bytes() if log.exists() else b""
                more = text.count(b'{"frame"') - lines
                met["torn" if text and text[-1:] != b"\n" else "after" if b'{"finished"' in text
                    else "amid" if more else "before"] += 1
                lines += more
        self.shard(number).wait()
        return met

    def shards(self, seed):
        with concurrent.futures.ThreadPoolExecutor(self.options.at_once) as pool:
            return sum(pool.map(lambda n: self.killed(n, random.Random(f"{seed} {n}")), range(1, self.options.shards + 1)),
                       collections.Counter())

    def run(self, seed):
        start = time.monotonic()
        whole = {}
        for form in FORMATS:
            whole[form] = self.printed(self.match, "--format", form, "--resume", f"whole.{form}")
        one_s = (time.monotonic() - start) / len(FORMATS)
        self.start_s = one_s / 4
        self.log_size = (self.folder / "whole.text").stat().st_size / self.options.shards
        start = time.monotonic()
        met = self.shards(seed)
        shards_s = time.monotonic() - start
        logs = [f"log.{n}" for n in range(1, self.options.shards + 1)]
        random.Random(seed).shuffle(logs)
        start = time.monotonic()
        wrong = [form for form in FORMATS
                 if self.printed(self.start, "--format", form, "--merge", *logs) != whole[form]]
        merge_s = (time.monotonic() - start) / len(FORMATS)
        self.start("--merge", *logs, "--resume", "merged", "--report", "merged.html").wait()
        self.match("--resume", "again", "--report", "whole.html").wait()
        if (self.folder / "merged").read_bytes() != (self.folder / "whole.text").read_bytes():
            wrong.append("log")
        if page_of(self.folder / "merged.html") != page_of(self.folder / "whole.html"):
            wrong.append("report")
        return {"seed": seed, "frames": self.options.frames, "shards": self.options.shards, "kills": sum(met.values()),
                "met": dict(met), "one_run_s": round(one_s, 2), "shards_s": round(shards_s, 2),
                "merge_s": round(merge_s, 2), "status": whole["text"][1], "wrong": wrong}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tmatch", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=20000)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tmatch-shards-"))
    made = Test(options, folder).run(options.seed)
    print(json.dumps(made), flush=True)
    if made["wrong"]:
        print(f"look at {folder}", flush=True)
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
