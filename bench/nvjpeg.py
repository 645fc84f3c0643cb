#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""JPEG frames of 1920 x 1080 matched on a GPU, decoded by libjpeg on all cores and by nvJPEG on the GPU, in turns: frames
in a second, whether both find the same, and by how much samples and scores differ.

    PYTHON bench/nvjpeg.py [--frames 4000] [--rounds 5] [--seconds 600] [--threads N] [--folder FOLDER] [--json FILE] build
    bench/nvjpeg.py --table FILE

PYTHON has cv2 and numpy, which make the files, in /dev/shm if no folder is named: --distinct of them with noise of their
own, and a template at a place of their own; the others are copies with a comment. Times are those of whole processes;
"after the start" leaves out what one frame takes. The samples are read from maps of ccorr by a template of one pixel of 1.
"""
import concurrent.futures
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import library

DECODERS = ("libjpeg", "nvjpeg")
SIZE, PART = (1080, 1920), (48, 64)
KINDS = {"4:2:0, quality 90": [], "4:4:4, quality 95": ["444", 95],
         "progressive, quality 90": ["progressive", 90]}


def template():
    import cv2
    import numpy
    small = numpy.random.default_rng(7).integers(0, 256, (PART[0] // 4, PART[1] // 4)).astype("uint8")
    return cv2.resize(small, PART[::-1], interpolation=cv2.INTER_CUBIC)


def picture(number):
    """One of eight pictures, with its own noise and the template at its own place."""
    import cv2
    import numpy
    random = numpy.random.default_rng(number % 8)
    frame = cv2.resize(random.integers(0, 256, (68, 120, 3)).astype("uint8"), SIZE[::-1], interpolation=cv2.INTER_CUBIC)
    noise = numpy.random.default_rng(1000 + number).integers(-6, 7, (SIZE[0], SIZE[1], 1), dtype="int8")
    frame = numpy.clip(frame.astype("int16") + noise, 0, 255).astype("uint8")
    y, x = number * 37 % (SIZE[0] - PART[0]), number * 61 % (SIZE[1] - PART[1])
    frame[y:y + PART[0], x:x + PART[1]] = template()[:, :, None]
    return frame


def write(job):
    import cv2
    name, number, kind = job
    flags, frame = [cv2.IMWRITE_JPEG_QUALITY, (KINDS[kind] + [90, 90])[1]], picture(number)
    if "444" in KINDS[kind]:
        flags += [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
    if "progressive" in KINDS[kind]:
        flags += [cv2.IMWRITE_JPEG_PROGRESSIVE, 1]
    cv2.imwrite(str(name), frame, flags)


def copy(job):
    source, name, number = job
    data, comment = source.read_bytes(), f"frame {number}".encode()
    name.write_bytes(data[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + data[2:])


def make_files(folder, count, distinct):
    import cv2
    frames = folder / "frames"
    frames.mkdir()
    cv2.imwrite(str(folder / "part.png"), template())
    (folder / "one.pgm").write_bytes(b"P5 1 1 255\n\1")
    jobs = [(frames / f"{i:05}.jpg", i, next(iter(KINDS))) for i in range(min(count, distinct))]
    jobs += [(folder / f"kind{i}.jpg", 5, kind) for i, kind in enumerate(KINDS)]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        list(pool.map(write, jobs, chunksize=4))
        list(pool.map(copy, [(frames / f"{i % distinct:05}.jpg", frames / f"{i:05}.jpg", i)
                             for i in range(distinct, count)], chunksize=32))
    return frames


def run(o, decoder, *arguments):
    """(standard output, standard error, wall seconds, CPU seconds)"""
    command = [o.build / "tmatch", "--device", "cuda:0", "--decoder", decoder, "-v", *arguments]
    if o.threads:
        command += ["--threads", str(o.threads)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        for file in out, err:
            file.seek(0)
        texts = [file.read().decode() for file in (out, err)]
    if status:
        sys.exit(f"{command}: status {status}: {texts[1][-2000:]}")
    return *texts, wall, usage.ru_utime + usage.ru_stime


def read_answers(text):
    found = re.findall(r"^(\S+): x=(\d+) y=(\d+) .*score=(\S+)", text, re.M)
    return {name: (int(x), int(y), float(score)) for name, x, y, score in found}


def compare(answers, frames, distinct):
    """What both decoders say of the same frames."""
    first, second = (answers[d] for d in DECODERS)
    if list(first) != list(second) or len(first) != frames:
        sys.exit("not every frame has an answer, in the same order")
    apart = [abs(first[name][2] - second[name][2]) for name in first]
    numbers = [int(pathlib.Path(name).stem) % distinct for name in first]
    right = [(i * 61 % (SIZE[1] - PART[1]), i * 37 % (SIZE[0] - PART[0])) for i in numbers]
    return {"frames": len(first), "other_places": sum(first[n][:2] != second[n][:2] for n in first),
            "not_where_planted": sum(first[n][:2] != p for n, p in zip(first, right)),
            "same_scores": sum(a == 0 for a in apart), "score_difference_mean": statistics.mean(apart),
            "score_difference_most": max(apart)}


def sample_differences(o, folder):
    """For each kind of file, how many samples differ by how much."""
    import numpy
    rows = []
    for i, kind in enumerate(KINDS):
        samples = []
        for decoder in DECODERS:
            run(o, decoder, "--metric", "ccorr", "--map", folder / "map.npy", folder / f"kind{i}.jpg", folder / "one.pgm")
            samples.append(numpy.load(folder / "map.npy"))
        values, counts = numpy.unique(samples[1] - samples[0], return_counts=True)
        rows.append({"kind": kind, "samples": samples[0].size,
                     "differences": {int(v): int(c) for v, c in zip(values, counts)}})
    return rows


def table(d):
    lines = ["| 1080p JPEG frames | " + " | ".join(DECODERS) + " | nvJPEG / libjpeg |", "| --- | ---: | ---: | ---: |"]
    for name, key, digits in (("frames/s", "frames_per_s", 0), ("frames/s after the start", "frames_per_s_after_start", 0),
                              ("CPU time of a frame, ms", "cpu_ms_a_frame", 2), ("start, s", "start_s", 2)):
        values = [d[key][decoder] for decoder in DECODERS]
        lines.append(f"| {name} | " + " | ".join(f"{v:.{digits}f}" for v in values) + f" | {values[1] / values[0]:.2f} |")
    for row in d["sample_differences"]:
        parts = ", ".join(f"{int(k):+d}: {v / row['samples']:.3%}" for k, v in row["differences"].items() if int(k))
        lines.append(f"| {row['kind']}: samples that differ | | {parts or 'none'} | |")
    return "\n".join(lines)


def summarize(o, document, rounds, answers):
    def middle(value):
        return {d: statistics.median(value(r[d]) for r in rounds) for d in DECODERS}
    starts = document["start_s"]
    return {**document, "frames_per_s": middle(lambda r: o.frames / r["wall_s"]),
            "frames_per_s_after_start": {d: (o.frames - 1) / (s - starts[d])
                                         for d, s in middle(lambda r: r["wall_s"]).items()},
            "cpu_ms_a_frame": middle(lambda r: r["cpu_s"] / o.frames * 1e3), "rounds": rounds,
            "answers": compare(answers, o.frames, o.distinct)}


def measure(o, folder):
    begun = time.monotonic()
    frames = make_files(folder, o.frames, o.distinct)
    common = ["-t", folder / "part.png"]
    note = run(o, "nvjpeg", *common, frames / "00000.jpg")[1]
    document = {"machine": {**library.machine(), **library.gpu()}, "command": " ".join(sys.argv),
                "decoder": re.findall(r"JPEG is decoded by .*", note), "threads": o.threads or os.cpu_count(),
                "bytes_a_frame": sum(f.stat().st_size for f in frames.iterdir()) / o.frames,
                "start_s": {d: statistics.median(run(o, d, *common, frames / "00000.jpg")[2] for _ in range(3))
                            for d in DECODERS},
                "sample_differences": sample_differences(o, folder)}
    rounds, answers = [], {}
    while len(rounds) < o.rounds and (not rounds or time.monotonic() - begun < o.seconds):
        each = {}
        for decoder in DECODERS[::1 if len(rounds) % 2 else -1]:
            out, _, wall, cpu = run(o, decoder, *common, frames)
            answers[decoder] = {pathlib.Path(n).name: a for n, a in read_answers(out).items()}
            each[decoder] = {"wall_s": wall, "cpu_s": cpu}
            print(len(rounds), decoder, each[decoder], file=sys.stderr, flush=True)
        rounds.append(each)
        whole = summarize(o, document, rounds, answers)
        library.write(o, whole)
    return whole


def add_arguments(parser):
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=4000)
    parser.add_argument("--distinct", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=600, help="no round begins later; one is made in any case")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--folder", default="/dev/shm")


def main():
    o = library.arguments(__doc__, add_arguments, 5, table)
    if not o.build:
        sys.exit("wants a build")
    with tempfile.TemporaryDirectory(dir=o.folder) as name:
        document = measure(o, pathlib.Path(name))
    print(table(document))


if __name__ == "__main__":
    main()
