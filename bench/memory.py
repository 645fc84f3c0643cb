#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Matches frames larger than the memory that is allowed, and measures that.

    bench/memory.py BUILD [--size 60000] [--template 64] [--device cpu] [--folder FOLDER]

Makes a PNM and a PNG of noise, whose template is a crop of them, and matches them
with --max-memory 1G on the CPU, or on cuda with --max-gpu-memory 512M alone and with
both, with and without the map by rows. Prints JSON: peak resident memory of the
program, and on cuda what the device had in use at most, beside what it has for a
frame of 64 pixels squared, which is CUDA's own; time, and whether the match is right.
Exit status 2 where one is wrong or a limit is exceeded."""
import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--size", type=int, default=60000)
    parser.add_argument("--template", type=int, default=64)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--formats", default="pgm,png")
    parser.add_argument("--maps", action="store_true", help="write the map as well")
    parser.add_argument("--folder", default=None, help="for the frames")
    return parser.parse_args()


HOST_LIMIT, DEVICE_LIMIT = 1 << 30, 512 << 20
GRAIN = 2 << 20  # CUDA takes memory from the driver in pieces of this


class Device(threading.Thread):
    """The greatest memory in use on the first GPU while something runs."""

    class Memory(ctypes.Structure):
        _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]

    def __init__(self):
        super().__init__(daemon=True)
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.nvml.nvmlInit_v2()
        self.handle = ctypes.c_void_p()
        self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.handle))
        self.peak = self.base = self.read()
        self.over = False

    def read(self):
        memory = self.Memory()
        if self.nvml.nvmlDeviceGetMemoryInfo(self.handle, ctypes.byref(memory)) != 0:
            raise OSError("NVML does not say what memory is in use")
        return memory.used

    def run(self):
        while not self.over:
            self.peak = max(self.peak, self.read())
            time.sleep(0.001)

    def finish(self):
        """What was in use at most, beyond what was before."""
        self.over = True
        self.join()
        return self.peak - self.base


def match(args, options, frame, crop):
    """Runs the program; its output, resources and time, and what the device used."""
    command = [os.path.join(args.build, "tmatch"), "-v", "--time", "--device", args.device]
    device = Device() if args.device != "cpu" else None
    if device:
        device.start()
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([*command, *options, frame, f"{frame}[{crop}]"],
                                   stdout=out, stderr=err,
                                   env={**os.environ, "TMATCH_PLUGIN_DIR": args.build})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        return {"status": process.returncode, "out": out.read(), "err": err.read(),
                "seconds": round(seconds, 2), "peak_rss_bytes": usage.ru_maxrss * 1024,
                "device_bytes": device.finish() if device else 0}


def run(args, frame, folder, with_map, host_limit, own):
    n, at = args.template, (args.size * 5 // 7, args.size * 6 // 7)
    map_path = os.path.join(folder, "map.npy")
    options = ["--max-memory", "1G"] if host_limit else []
    if args.device != "cpu":
        options += ["--max-gpu-memory", "512M"]
    mapping = ["--map", map_path] if with_map else []
    made = match(args, options + mapping, frame, f"{n}x{n}+{at[0]}+{at[1]}")
    right = made["status"] == 0 and f"x={at[0]} y={at[1]} w={n} h={n} score=1\n" in made["out"]
    result = {"frame": [args.size, args.size], "template": [n, n],
              "format": frame.rsplit(".", 1)[1], "map": with_map, "device": args.device,
              "options": options,
              "seconds": made["seconds"], "peak_rss_bytes": made["peak_rss_bytes"]}
    if args.device != "cpu":
        result["device_bytes"] = {"cuda_alone": own, "peak": made["device_bytes"]}
        right = right and made["device_bytes"] - own <= DEVICE_LIMIT + GRAIN
    elif host_limit:
        right = right and made["peak_rss_bytes"] <= HOST_LIMIT
    if with_map:
        right = right and os.path.getsize(map_path) == 128 + 4 * (args.size - n + 1) ** 2
        os.unlink(map_path)
    return {**result, "right": right,
            "said": [re.sub(r"^tmatch: \S+: ", "", line) for line in made["err"].splitlines()]}


def main():
    args = parse()
    results = []
    bench = os.path.join(args.build, "bench", "tmatch-bench")
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        tiny = os.path.join(folder, "tiny.pgm")
        subprocess.run([bench, "frame", "64", tiny], check=True)
        own = match(args, [], tiny, "8x8+3+5")["device_bytes"]
        for ending in args.formats.split(","):
            frame = os.path.join(folder, "frame." + ending)
            subprocess.run([bench, "frame", str(args.size), frame], check=True)
            for host_limit in [True] if args.device == "cpu" else [False, True]:
                for with_map in [False, True] if args.maps and host_limit else [False]:
                    results.append(run(args, frame, folder, with_map, host_limit, own))
                    print(json.dumps(results[-1]), flush=True)
            os.unlink(frame)
    return 0 if all(result["right"] for result in results) else 2


if __name__ == "__main__":
    sys.exit(main())
