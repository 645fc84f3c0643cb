#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Frames of an H.264 movie of 1920 x 1080 that are decoded, and matched, in a second: tmatch, ffmpeg that only decodes
(-f null), and OpenCV's VideoCapture with matchTemplate, in turns, on the same cores.

    PYTHON bench/movies.py [--seconds 120] [--rounds 3] [--threads N] [--json FILE] build/tmatch
    bench/movies.py --table FILE

PYTHON has cv2. The movie is made by ffmpeg with libx264: its test picture, a photograph that moves, and a logo that comes
and goes and moves; every appearance has to be found to the frame. CPU time counts all threads.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import library

ROOT = pathlib.Path(__file__).resolve().parent.parent
RATE, PERIOD, FIRST, LAST = 25, 250, 75, 150  # the logo is shown in these frames of each period
LEAST = "0.95"

PEER = """
import sys, cv2
movie, name, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
cv2.setNumThreads(threads)
template = cv2.imread(name, cv2.IMREAD_GRAYSCALE)
capture = cv2.VideoCapture(movie, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, threads])
number = 0
while True:
    more, frame = capture.read()
    if not more:
        break
    number += 1
    scores = cv2.matchTemplate(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), template, cv2.TM_CCOEFF_NORMED)
    best = cv2.minMaxLoc(scores)
    if best[1] >= float(sys.argv[4]):
        print(number)
print(cv2.__version__, file=sys.stderr)
"""


def make_movie(folder, seconds, sizes):
    def ffmpeg(*options):
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *options], check=True)
    logo = folder / "logo.png"
    ffmpeg("-i", ROOT / "data/coffee.png", "-vf", "crop=96:80:200:100", logo)
    for width, height in sizes:
        ffmpeg("-i", logo, "-vf", f"crop={width}:{height}:0:0", folder / f"{width}x{height}.png")
    ffmpeg("-f", "lavfi", "-i", f"testsrc2=s=1920x1080:r={RATE}:d={seconds}", "-loop", "1", "-r", str(RATE), "-i",
           ROOT / "data/astronaut.png", "-loop", "1", "-r", str(RATE), "-i", logo, "-filter_complex",
           "[0][1]overlay=x='1400-mod(5*n,1000)':y='40+mod(n,400)':shortest=1[a];"
           f"[a][2]overlay=x='200+mod(3*n,900)':y=900:shortest=1:enable='between(mod(n,{PERIOD}),{FIRST},{LAST})',format=yuv420p",
           "-c:v", "libx264", "-preset", "medium", "-crf", "20", "-g", "100", folder / "clip.mp4")
    return folder / "clip.mp4"


def measure(command):
    """Seconds, CPU seconds of all threads, and what it printed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return {"s": seconds, "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}, done


def check(frames, found, who):
    wanted = [n + 1 for n in range(frames) if FIRST <= n % PERIOD <= LAST]
    if found != wanted:
        sys.exit(f"{who}: found in {len(found)} frames, shown in {len(wanted)}: {sorted(set(found) ^ set(wanted))[:9]}")
    return len(wanted)


def run(o, folder):
    sizes = [(48, 40), (96, 80)]
    clip = make_movie(folder, o.seconds, sizes)
    frames = o.seconds * RATE
    search = [o.tmatch, "-q", "--threads", o.threads, "--min-score", LEAST, *o.options]
    commands = {
        "ffmpeg -f null": ["ffmpeg", "-v", "error", "-nostdin", "-threads", o.threads, "-i", clip, "-f", "null", "-"],
        "tmatch, decoding": [*search, "--every", 10 ** 9, clip, folder / "48x40.png"],
    }
    for size in sizes:
        name = "{}x{}".format(*size)
        commands[f"tmatch, {name}"] = [*search, clip, folder / f"{name}.png"]
        commands[f"OpenCV, {name}"] = [sys.executable, "-c", PEER, clip, folder / f"{name}.png", o.threads, LEAST]
    document = {"frames": frames, "bytes": clip.stat().st_size, "versions": {}, "rounds": []}
    for i in range(o.rounds):
        times = {}
        for name, command in commands.items():
            times[name], done = measure(command)
            if name.startswith("OpenCV"):
                document["versions"]["OpenCV"] = done.stderr.split()[-1]
                found = [int(line) for line in done.stdout.split()]
                if i == 0:
                    document.setdefault("found_by_opencv", {})[name] = len(found)
            elif name.startswith("tmatch, ") and "x" in name:
                found = [int(line.split("#")[1].split(":")[0]) for line in done.stdout.splitlines() if ": none:" not in line]
                document["found"] = check(frames, found, name)
            print(i + 1, name, times[name], file=sys.stderr)
        document["rounds"].append(times)
    document["results"] = {
        name: {"frames_per_s": frames / statistics.median(each[name]["s"] for each in document["rounds"]),
               "frames_per_cpu_s": frames / statistics.median(each[name]["cpu_s"] for each in document["rounds"]),
               "cpu_over_ffmpeg": statistics.median(each[name]["cpu_s"] / each["ffmpeg -f null"]["cpu_s"]
                                                    for each in document["rounds"])}
        for name in commands}
    return document


def table(document):
    lines = ["| 1920 × 1080, H.264 | frames a second | frames a CPU second | CPU time / decoding by ffmpeg |",
             "| --- | ---: | ---: | ---: |"]
    for name, row in document["results"].items():
        lines.append(f"| {name} | {row['frames_per_s']:.0f} | {row['frames_per_cpu_s']:.0f} | {row['cpu_over_ffmpeg']:.2f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tmatch", nargs="?", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--options", type=str.split, default=[], help="more of tmatch's, such as '--device cuda'")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    o = parser.parse_args()
    if o.table:
        print(table(json.loads(o.table.read_text())))
        return
    if not o.tmatch:
        parser.error("wants the program")
    machine = {**library.machine(), "load": os.getloadavg()[1]}
    version = subprocess.run(["ffmpeg", "-version"], check=True, capture_output=True, text=True).stdout.split()[2]
    with tempfile.TemporaryDirectory() as name:
        document = run(o, pathlib.Path(name))
    document["versions"]["ffmpeg"] = version
    document = {"machine": machine, "command": " ".join(sys.argv), **document}
    if o.json:
        o.json.write_text(json.dumps(document, indent=1) + "\n")
    print(table(document))


if __name__ == "__main__":
    main()
