#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures a folder of 1920 x 1080 frames, half PNG and half JPEG, one 32 x 32
template, against only decoding it, only matching it, and OpenCV.

    ninja -C build tmatch bench/tmatch-bench
    bench/batch.py [--frames 2000] [--cores N] [--device cpu|cuda] [--repeats 3]
                   [--times 1] [--peer PYTHON] [--folder FOLDER] [--json FILE] build

The frames are made from data/ (90 s on two cores, 2.8 GB for 2000) in /dev/shm, as
some systems take warm files out of memory again while this runs; --folder keeps
them elsewhere. --times lists each so many times, for a longer run. --peer names a
Python with OpenCV.

Machines drift: each run is compared with decoding right before and right after it,
--repeats times. Figures are medians, and those of every repeat are in "each";
"over_decode" has beside the median of the repeats' ratios that of the median times,
and that of all times together. With --device cuda, "start" is what a run of one frame takes: of the whole process, from its
start to its end, beside the same on the CPU.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEMPLATE = "[32x32+900+500]"  # as tmatch-bench cuts it from the same frame

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
    """Wall seconds, CPU seconds, seconds of the CPU in the system, page faults, peak
    memory in MB."""
    start = time.monotonic()
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, **options)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]}: status {status}")
    return {"wall_s": time.monotonic() - start, "cpu_s": usage.ru_utime + usage.ru_stime,
            "system_s": usage.ru_stime, "page_faults": usage.ru_minflt,
            "peak_mb": usage.ru_maxrss / 1024}


def middle(entries, *keys):
    """The medians of these figures."""
    return {key: statistics.median(entry[key] for entry in entries) for key in keys}


def spread(entries, key):
    values = sorted(entry[key] for entry in entries)
    return {"median": statistics.median(values), "least": values[0], "most": values[-1]}


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
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--peer")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--json")
    o = parser.parse_args()
    tool = (o.build / "bench/tmatch-bench").resolve()
    tmatch = (o.build / "tmatch").resolve()

    temporary = None if o.folder else tempfile.TemporaryDirectory(prefix="tmatch-batch-",
                                                                  dir=find_memory(o.frames))
    folder = o.folder or pathlib.Path(temporary.name)
    folder.mkdir(exist_ok=True)
    if len(list(folder.iterdir())) < o.frames:
        pictures = [p for p in sorted((ROOT / "data").iterdir())
                    if p.suffix in (".png", ".jpg") and p.name != "patch.jpg"]
        subprocess.run([tool, "batch", "frames", folder, str(o.frames), *pictures], check=True)
    frames = sorted(folder.iterdir())[:o.frames]
    few = frames[:min(200, o.frames // 10)]
    first = frames[0]
    megabytes = o.times * sum(n.stat().st_size for n in frames) / 1e6
    frames = frames * o.times

    def half(step, *arguments):
        return json.loads(subprocess.run([tool, "batch", step, "--threads", str(o.cores), *arguments, *frames], check=True,
                                         capture_output=True).stdout)

    def batch(names, device=o.device):
        # NUL cannot be in a name, so nothing needs quoting.
        with tempfile.NamedTemporaryFile() as names_file:
            names_file.write(b"\0".join(os.fsencode(n) for n in names))
            names_file.flush()
            return run([tmatch, "-q", "--device", device, "--threads", o.cores, "-t", template,
                        "-0", "--files-from", names_file.name])

    def compare(before):
        each = {"batch": batch(frames)}
        after = half("decode")
        each["decode"] = {key: (before[key] + after[key]) / 2 for key in before}
        each["frames_per_s"] = len(frames) / each["batch"]["wall_s"]
        each["over_decode"] = each["batch"]["wall_s"] / each["decode"]["wall_s"]
        each["cpu_over_decode_s"] = each["batch"]["cpu_s"] - each["decode"]["cpu_s"]
        if o.device == "cpu":
            each["match"] = half("match", first)
            parts = each["decode"]["cpu_s"] + each["match"]["cpu_s"]
            each["cpu_over_parts"] = each["batch"]["cpu_s"] / parts
            each["over_floor"] = each["batch"]["wall_s"] / (parts / o.cores)
        return each, after

    with tempfile.TemporaryDirectory() as crops:
        subprocess.run([tmatch, "-q", "--device", "cpu", "--crops", crops, first, f"{first}{TEMPLATE}"],
                       check=True, stdout=subprocess.DEVNULL)
        template, = pathlib.Path(crops).iterdir()
        for name in set(frames):
            name.read_bytes()
        each = []
        decoded = half("decode")
        for _ in range(o.repeats):
            entry, decoded = compare(decoded)
            each.append(entry)
        walls = [[e[part]["wall_s"] for e in each] for part in ("batch", "decode")]
        of_medians, of_sums = (by(walls[0]) / by(walls[1]) for by in (statistics.median, sum))
        result = {"frames": len(frames), "cores": o.cores, "device": o.device,
                  "folder": str(o.folder or folder.parent), "file_mb": megabytes,
                  "decode": middle([e["decode"] for e in each], "wall_s", "cpu_s"),
                  "batch": middle([e["batch"] for e in each], "wall_s", "cpu_s", "system_s", "page_faults", "peak_mb"),
                  "over_decode": {**spread(each, "over_decode"), "of_medians": of_medians, "of_sums": of_sums},
                  **middle(each, "frames_per_s", "cpu_over_decode_s")}
        if o.device == "cpu":
            result["match"] = middle([e["match"] for e in each], "wall_s", "cpu_s")
            result["over_floor"] = spread(each, "over_floor")
            result["cpu_over_parts"] = spread(each, "cpu_over_parts")
            result["few"] = batch(few)
            result["memory_growth"] = result["batch"]["peak_mb"] / result["few"]["peak_mb"]
        else:
            result["start"] = {f"{device}_s": statistics.median(batch([first], device)["wall_s"] for _ in range(5))
                               for device in ("cpu", o.device)}
    if o.peer:
        peer = subprocess.run([o.peer, "-c", PEER, str(o.cores), first, *frames], check=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
        seconds, version = peer.split()[-2:]
        result["opencv"] = {"version": version, "wall_s": float(seconds),
                            "frames_per_s": len(frames) / float(seconds)}
        result["over_opencv"] = float(seconds) / result["batch"]["wall_s"]
    result["each"] = each
    text = json.dumps(result, indent=1)
    print(text)
    if o.json:
        pathlib.Path(o.json).write_text(text + "\n")


if __name__ == "__main__":
    main()
