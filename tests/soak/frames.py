#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes very many small frames through one process, and looks at its memory and its descriptors.

    tests/soak/frames.py [--frames 1000000] [--from folder|stream|both] build/tmatch

The frames are files of a folder, or come one after the other on standard input; each has one of 64
pictures of noise, and the template is a crop of the first. After a tenth of the frames, resident
memory grows by less than 1 MiB and the number of descriptors stays, but for the files that the two
threads have open. Prints JSON."""
import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

WIDTH, HEIGHT, PICTURES, MOST_GROWTH = 64, 48, 64, 1024
POLL_S = 0.02
THREADS = 2  # each has memory of its own


def make_pictures(count=PICTURES, width=WIDTH, height=HEIGHT):
    rng = random.Random(1)
    header = f"P5\n{width} {height}\n255\n".encode()
    return [header + rng.randbytes(width * height) for _ in range(count)]


def make_folder(folder, pictures, count):
    """Hard links, of which a file may have about 65,000."""
    folder.mkdir()
    originals = []
    for i in range(count):
        name = folder / f"{i:07d}.pgm"
        if i < len(pictures):
            name.write_bytes(pictures[i])
            originals.append(name)
        else:
            os.link(originals[i % len(pictures)], name)


class Watch(threading.Thread):
    """What a process has, beside how many bytes of results it has printed."""

    def __init__(self, process, results):
        super().__init__()
        self.process, self.results = process, results
        self.samples = []  # bytes, KiB, descriptors

    def run(self):
        proc = pathlib.Path(f"/proc/{self.process.pid}")
        while self.process.poll() is None:
            try:
                descriptors = len(os.listdir(proc / "fd"))
                kib = int((proc / "status").read_text().split("VmRSS:")[1].split()[0])
                self.samples.append((self.results.stat().st_size, kib, descriptors))
            except (OSError, IndexError):
                break  # it ends
            time.sleep(POLL_S)


def count_lines(path):
    with open(path, "rb") as file:
        return sum(1 for _ in file)


def soak(program, folder, source, pictures, frames):
    results, log = folder / "results", folder / "log"
    (folder / "template.pgm").write_bytes(pictures[0])
    command = [program, "-q", "--device", "cpu", "--threads", str(THREADS), "--resume", log,
               "-t", f"{folder / 'template.pgm'}[10x8+20+20]"]
    command += [folder / "frames"] if source == "folder" else ["-"]
    start = time.monotonic()
    with open(results, "wb") as out:
        process = subprocess.Popen(command, stdout=out, stdin=subprocess.PIPE)
    watch = Watch(process, results)
    watch.start()
    if source == "stream":
        block = b"".join(pictures)
        for _ in range(frames // len(pictures)):
            process.stdin.write(block)
        process.stdin.write(b"".join(pictures[:frames % len(pictures)]))
    process.stdin.close()
    status = process.wait()
    watch.join()
    size = results.stat().st_size
    steady = [sample for sample in watch.samples if size / 10 < sample[0] < size]
    made = {"from": source, "frames": frames, "seconds": round(time.monotonic() - start, 1),
            "status": status, "results": count_lines(results), "log_lines": count_lines(log), 
            "samples": len(steady), "first_kib": steady[0][1],
            "most_kib": max(s[1] for s in steady), "last_kib": steady[-1][1],
            "descriptors": sorted({s[2] for s in steady})}
    made["right"] = (status == 0 and made["results"] == frames and made["log_lines"] == frames and
                     made["most_kib"] - made["first_kib"] < MOST_GROWTH and
                     made["descriptors"][-1] - made["descriptors"][0] <= THREADS)
    results.unlink()
    log.unlink()
    return made


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tmatch", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=1000000)
    parser.add_argument("--from", dest="source", choices=("folder", "stream", "both"), default="both")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tmatch-soak-"))
    pictures = make_pictures()
    right = True
    for source in ("stream", "folder") if options.source == "both" else (options.source,):
        if source == "folder":
            make_folder(folder / "frames", pictures, options.frames)
        made = soak(options.tmatch.resolve(), folder, source, pictures, options.frames)
        print(json.dumps(made), flush=True)
        right &= made["right"]
    shutil.rmtree(folder)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
