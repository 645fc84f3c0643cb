#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Frames of an H.264 movie of 1920 x 1080 that are decoded, and matched, in a second: tmatch, ffmpeg that only decodes
(-f null), and OpenCV's VideoCapture with matchTemplate, in turns, on the same cores.

    PYTHON bench/movies.py [--seconds 600] [--clip FOLDER] [--repeat N] [--rounds 3] [--threads N] [--json FILE] build/tmatch
    PYTHON bench/movies.py --resume [--seconds 600] [--clip FOLDER] build/tmatch
    bench/movies.py --table FILE

PYTHON has cv2, or OpenCV is left out. The movie is made by ffmpeg with libx264, or is one that was made in FOLDER before: its
test picture, a photograph that moves, and a logo that comes and goes and moves; every appearance has to be found to the frame.
--repeat shows it N times, where there is no libx264 to make a longer one. CPU time counts all threads. --resume kills a run
with --resume in the middle, resumes it, and compares its log with that of a run that nobody killed.
"""
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
SIZES = [(48, 40), (96, 80)]

PEER = """
import sys, cv2
movie, name, threads, least, most = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
cv2.setNumThreads(threads)
template = cv2.imread(name, cv2.IMREAD_GRAYSCALE)
capture = cv2.VideoCapture(movie, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, threads])
number = 0
while number < most:
    more, frame = capture.read()
    if not more:
        break
    number += 1
    scores = cv2.matchTemplate(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), template, cv2.TM_CCOEFF_NORMED)
    best = cv2.minMaxLoc(scores)
    if best[1] >= least:
        print(number)
print(cv2.__version__, file=sys.stderr)
"""


def ffmpeg(*options):
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *map(str, options)], check=True)


def name_of(size):
    return "{}x{}.png".format(*size)


def make_movie(folder, seconds, crf):
    logo = folder / "logo.png"
    ffmpeg("-i", ROOT / "data/coffee.png", "-vf", "crop=96:80:200:100", logo)
    for size in SIZES:
        ffmpeg("-i", logo, "-vf", "crop={}:{}:0:0".format(*size), folder / name_of(size))
    ffmpeg("-f", "lavfi", "-i", f"testsrc2=s=1920x1080:r={RATE}:d={seconds}", "-loop", "1", "-r", RATE, "-i",
           ROOT / "data/astronaut.png", "-loop", "1", "-r", RATE, "-i", logo, "-filter_complex",
           "[0][1]overlay=x='1400-mod(5*n,1000)':y='40+mod(n,400)':shortest=1[a];"
           f"[a][2]overlay=x='200+mod(3*n,900)':y=900:shortest=1:enable='between(mod(n,{PERIOD}),{FIRST},{LAST})',format=yuv420p",
           "-c:v", "libx264", "-preset", "veryfast", "-crf", crf, "-g", "100", folder / "clip.mp4")


def find_movie(o, folder):
    """The movie, made where there is none yet, and how many frames it has."""
    clip = folder / "clip.mp4"
    if not clip.exists():
        make_movie(folder, o.seconds, o.crf)
    if o.repeat > 1:
        clip = folder / "repeated.mp4"
        ffmpeg("-stream_loop", o.repeat - 1, "-i", folder / "clip.mp4", "-c", "copy", clip)
    return clip, o.seconds * RATE * o.repeat


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


def frames_of(output):
    return [int(line.split("#")[1].split(":")[0]) for line in output.splitlines() if ": none:" not in line]


def has_opencv():
    return subprocess.run([sys.executable, "-c", "import cv2"], capture_output=True, check=False).returncode == 0


def run(o, folder):
    clip, frames = find_movie(o, folder)
    peer_frames = min(frames, o.peer_frames or frames)
    search = [o.tmatch, "-q", "--threads", o.threads, "--min-score", LEAST, *o.options]
    commands = {
        "ffmpeg -f null": ["ffmpeg", "-v", "error", "-nostdin", "-threads", o.threads, "-i", clip, "-f", "null", "-"],
        "tmatch, decoding": [*search, "--every", 10 ** 9, clip, folder / name_of(SIZES[0])],
    }
    for size in SIZES[:o.sizes]:
        name = name_of(size)
        commands[f"tmatch, {name[:-4]}"] = [*search, clip, folder / name]
        if has_opencv():
            commands[f"OpenCV, {name[:-4]}"] = [sys.executable, "-c", PEER, clip, folder / name, o.threads, LEAST, peer_frames]
    document = {"frames": frames, "peer_frames": peer_frames, "bytes": clip.stat().st_size, "versions": {}, "rounds": []}
    for i in range(o.rounds):
        times = {}
        for name, command in commands.items():
            times[name], done = measure(command)
            if name.startswith("OpenCV"):
                document["versions"]["OpenCV"] = done.stderr.split()[-1]
                if i == 0:
                    document.setdefault("found_by_opencv", {})[name] = len(done.stdout.split())
            elif name.startswith("tmatch, ") and "x" in name:
                document["found"] = check(frames, frames_of(done.stdout), name)
            print(i + 1, name, times[name], file=sys.stderr)
        document["rounds"].append(times)
    counts = {name: peer_frames if name.startswith("OpenCV") else frames for name in commands}
    document["results"] = {
        name: {"frames_per_s": counts[name] / statistics.median(each[name]["s"] for each in document["rounds"]),
               "frames_per_cpu_s": counts[name] / statistics.median(each[name]["cpu_s"] for each in document["rounds"]),
               **{f"{key}_over_ffmpeg": statistics.median(each[name][key] / each["ffmpeg -f null"][key] * frames / counts[name]
                                                          for each in document["rounds"]) for key in ("s", "cpu_s")}}
        for name in commands}
    return document


def resume(o, folder):
    clip, frames = find_movie(o, folder)
    with tempfile.TemporaryDirectory() as name:
        whole, killed = pathlib.Path(name) / "whole", pathlib.Path(name) / "killed"
        def command(log):
            return [str(word) for word in [o.tmatch, "-q", "--threads", o.threads, "--min-score", LEAST, *o.options, "--resume", log,
                                           clip, folder / name_of(SIZES[0])]]
        done = measure(command(whole))[1]
        check(frames, frames_of(done.stdout), "a run that nobody killed")
        first = subprocess.Popen(command(killed), stdout=subprocess.DEVNULL)
        while first.poll() is None and (not killed.exists() or killed.read_bytes().count(b"\n") < frames // 2):
            time.sleep(0.2)
        first.kill()
        first.wait()
        before = killed.read_bytes().count(b"\n")
        measure(command(killed))
        if whole.read_bytes() != killed.read_bytes():
            sys.exit("the log of the resumed run has other lines")
    print(f"killed after {before} of {frames} frames, and resumed: the same log")


def table(document):
    lines = ["| 1920 × 1080, H.264 | frames a second | frames a CPU second | time / decoding by ffmpeg | CPU time / decoding by ffmpeg |",
             "| --- | ---: | ---: | ---: | ---: |"]
    for name, row in document["results"].items():
        lines.append(f"| {name} | {row['frames_per_s']:.0f} | {row['frames_per_cpu_s']:.0f} | {row['s_over_ffmpeg']:.2f} | "
                     f"{row['cpu_s_over_ffmpeg']:.2f} |")
    return "\n".join(lines)


def add_arguments(parser):
    parser.add_argument("tmatch", nargs="?", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--clip", type=pathlib.Path, help="a folder for the movie, where it stays")
    parser.add_argument("--crf", type=int, default=20, help="libx264's")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--sizes", type=int, default=2, help="how many of the templates")
    parser.add_argument("--peer-frames", type=int, default=0, help="so many are enough for OpenCV")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--options", type=str.split, default=[], help="more of tmatch's, such as '--device cuda'")


def main():
    o = library.arguments(__doc__, add_arguments, table=table)
    if not o.tmatch:
        sys.exit("wants the program")
    machine = {**library.machine(), **library.gpu(), "load": os.getloadavg()[1]}
    version = subprocess.run(["ffmpeg", "-version"], check=True, capture_output=True, text=True).stdout.split()[2]
    with tempfile.TemporaryDirectory() as name:
        folder = o.clip or pathlib.Path(name)
        folder.mkdir(exist_ok=True)
        document = resume(o, folder) if o.resume else run(o, folder)
    if o.resume:
        return
    document["versions"]["ffmpeg"] = version
    document = {"machine": machine, "command": " ".join(sys.argv), **document}
    library.write(o, document)
    print(table(document))


if __name__ == "__main__":
    main()
