#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A movie matched on a GPU, decoded by libavcodec on all cores and by NVDEC on the GPU, in turns: frames in a second of
the whole program, and whether both find the same.

    bench/nvdec.py [--rounds 5] [--threads N] [--json FILE] build MOVIE TEMPLATE
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import library

DECODERS = {"libavcodec": "libjpeg", "nvdec": "nvdec"} # by their names for --decoder


def run(o, decoder):
    """(standard output, wall seconds, CPU seconds)"""
    command = [o.build / "tmatch", "-q", "--device", "cuda:0", "--decoder", DECODERS[decoder], "--min-score", "0.9", o.movie, o.template]
    if o.threads:
        command += ["--threads", str(o.threads)]
    with tempfile.TemporaryFile() as out:
        start = time.monotonic()
        process = subprocess.Popen([str(c) for c in command], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        out.seek(0)
        text = out.read().decode()
    if status:
        sys.exit(f"{command}: status {status}")
    return text, wall, usage.ru_utime + usage.ru_stime


def add_arguments(parser):
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("movie", type=pathlib.Path)
    parser.add_argument("template")
    parser.add_argument("--threads", type=int, default=0)


def main():
    o = library.arguments(__doc__, add_arguments, 5)
    texts, rounds = {}, []
    for number in range(o.rounds + 1): # the first warms up
        each = {}
        for decoder in list(DECODERS)[::1 if number % 2 else -1]:
            texts[decoder], wall, cpu = run(o, decoder)
            each[decoder] = {"wall_s": wall, "cpu_s": cpu}
        rounds += [each] if number else []
    frames = texts["nvdec"].count("\n")

    def middle(value):
        return {d: statistics.median(value(r[d]) for r in rounds) for d in DECODERS}
    document = {"machine": {**library.machine(), **library.gpu()}, "command": " ".join(sys.argv), "frames": frames,
                "bytes": o.movie.stat().st_size, "threads": o.threads or os.cpu_count(),
                "same_results": len(set(texts.values())) == 1,
                "frames_per_s": middle(lambda r: frames / r["wall_s"]),
                "cpu_ms_a_frame": middle(lambda r: r["cpu_s"] / frames * 1e3), "rounds": rounds}
    library.write(o, document)
    print({key: document[key] for key in ("frames", "same_results", "frames_per_s", "cpu_ms_a_frame")})


if __name__ == "__main__":
    main()
