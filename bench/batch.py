#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures a folder of 1920 x 1080 frames, half PNG and half JPEG, one 32 x 32
template, against only decoding it, only matching it, and OpenCV.

    ninja -C build tmatch bench/tmatch-batch
    bench/batch.py [--frames 2000] [--cores N] [--device cpu|cuda] [--peer PYTHON]
                   [--folder FOLDER] [--json FILE] build

The frames are made from data/ (90 s on two cores, 2.8 GB for 2000) in /dev/shm, as
some systems take warm files out of memory again while this runs; --folder keeps
them elsewhere. --peer names a Python with OpenCV. The three runs that are compared
follow each other, --repeats times: figures are of the repeat whose "over_floor" is
the median, and those of all are in "each".
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEMPLATE = "[32x32+900+500]"

# The obvious program: a pool of processes, a frame each.
PEER = """
import multiprocessing, sys, time
import cv2
cv2.setNumThreads(1)
template = cv2.imread(sys.argv[2], cv2.IMREAD_GRAYSCALE)[500:532, 900:932]
def find(name):
    frame = cv2.imread(name, cv2.IMREAD_GRAYSCALE)
    scores = cv2.matchTemplate(frame, template, cv2.TM_CCOEFF_NORMED)
    return name, cv2.minMaxLoc(scores)
if __name__ == "__main__":
    start = time.monotonic()
    with multiprocessing.Pool(int(sys.argv[1])) as pool:
        for name, (_, score, _, place) in pool.imap(find, sys.argv[3:], chunksize=4):
            print(name, place, score)
    print(time.monotonic() - start, cv2.__version__, file=sys.stderr)
"""


def run(command, **options):
    """Wall seconds, CPU seconds, seconds of the CPU in the system, peak memory in MB."""
    start = time.monotonic()
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, **options)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]}: status {status}")
    return {"wall_s": time.monotonic() - start, "cpu_s": usage.ru_utime + usage.ru_stime,
            "system_s": usage.ru_stime, "peak_mb": usage.ru_maxrss / 1024}


def find_memory(frames):
    """A folder in memory with room for the frames, of 1.4 MB each; else None."""
    memory = pathlib.Path("/dev/shm")
    if memory.is_dir() and shutil.disk_usage(memory).free > frames * 2e6:
        return memory
    print("batch.py: no room in /dev/shm: the frames are on a disk", file=sys.stderr)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--json")
    o = parser.parse_args()
    tool = (o.build / "bench/tmatch-batch").resolve()
    tmatch = (o.build / "tmatch").resolve()

    temporary = None if o.folder else tempfile.TemporaryDirectory(prefix="tmatch-batch-",
                                                                  dir=find_memory(o.frames))
    folder = o.folder or pathlib.Path(temporary.name)
    folder.mkdir(exist_ok=True)
    if len(list(folder.iterdir())) < o.frames:
        pictures = [p for p in sorted((ROOT / "data").iterdir())
                    if p.suffix in (".png", ".jpg") and p.name != "patch.jpg"]
        subprocess.run([tool, "frames", folder, str(o.frames), *pictures], check=True)
    frames = sorted(folder.iterdir())[:o.frames]
    few = frames[:min(200, o.frames // 10)]
    first = frames[0]

    def half(step, *arguments):
        return json.loads(subprocess.run([tool, step, str(o.cores), *arguments, *frames], check=True,
                                         capture_output=True).stdout)

    def batch(names):
        # NUL cannot be in a name, so nothing needs quoting.
        with tempfile.NamedTemporaryFile() as names_file:
            names_file.write(b"\0".join(os.fsencode(n) for n in names))
            names_file.flush()
            return run([tmatch, "-q", "--device", o.device, "--threads", o.cores, "-t",
                        f"{first}{TEMPLATE}", "-0", "--files-from", names_file.name])

    def compare():
        each = {"decode": half("decode"), "batch": batch(frames)}
        each["over_decode"] = each["batch"]["wall_s"] / each["decode"]["wall_s"]
        if o.device == "cpu":
            each["match"] = half("match", first)
            parts = each["decode"]["cpu_s"] + each["match"]["cpu_s"]
            each["cpu_over_parts"] = each["batch"]["cpu_s"] / parts
            each["over_floor"] = each["batch"]["wall_s"] / (parts / o.cores)
        return each

    for name in frames:
        name.read_bytes()
    each = [compare() for _ in range(o.repeats)]
    key = "over_floor" if o.device == "cpu" else "over_decode"
    median = sorted(each, key=lambda e: e[key])[len(each) // 2]
    batch_s = median["batch"]["wall_s"]
    result = {"frames": len(frames), "cores": o.cores, "device": o.device, "folder": str(o.folder or folder.parent),
              "file_mb": sum(n.stat().st_size for n in frames) / 1e6, **median,
              "frames_per_s": len(frames) / batch_s}
    if o.device == "cpu":
        result["few"] = batch(few)
        result["memory_growth"] = median["batch"]["peak_mb"] / result["few"]["peak_mb"]
    if o.peer:
        peer = subprocess.run([o.peer, "-c", PEER, str(o.cores), first, *frames], check=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
        seconds, version = peer.split()[-2:]
        result["opencv"] = {"version": version, "wall_s": float(seconds),
                            "frames_per_s": len(frames) / float(seconds)}
        result["over_opencv"] = float(seconds) / batch_s
    result["each"] = [{k: v for k, v in e.items() if not isinstance(v, dict)} for e in each]
    text = json.dumps(result, indent=1)
    print(text)
    if o.json:
        pathlib.Path(o.json).write_text(text + "\n")


if __name__ == "__main__":
    main()
