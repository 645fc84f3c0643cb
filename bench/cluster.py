#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures tmatch.dask beside the program alone, on 1920 x 1080 frames, half PNG and half
JPEG, with one 32 x 32 template.

    ninja -C build tmatch bench/tmatch-bench python/tmatch/_tmatch.abi3.so
    PYTHONPATH=build/python bench/cluster.py [--frames 400] [--repeats 5] [--json FILE] build

Each repeat runs, in turns: the program with all cores and with one thread, and match_files
on one worker of one thread, on two of one, and on two of two; "over_program" and
"cpu_over_program" have the ratios of the last to the program within a repeat. CPU seconds are
those of the workers, the scheduler and the client; where other programs run, they say more.
The program's time is that of its process, Dask's is from the call to the last result on a
cluster that has matched a frame; "start_s" is what it takes until then. For scaling.py: the
CPU seconds of single frames in a worker's thread ("frame_s", and "spread", the hundred quantiles
relative to it), and of a task without frames in the scheduler and the client ("task_s").
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import distributed
import tmatch.dask
from batch import ROOT, TEMPLATE, find_memory
from tmatch.dask._worker import Work, match_frames

WORKERS = {"1x1": (1, 1), "2x1": (2, 1), "2x2": (2, 2)}  # processes, threads of each
PARTS = 100  # of the distribution of frames' times
TASKS = 2000


def spread(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values), "each": values}


def run(command):
    """Wall and CPU seconds of a process."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]}: status {status}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime


def cpu_of(client):
    """CPU seconds of the workers, and of this process with the scheduler, until now."""
    return sum(client.run(time.process_time).values()) + time.process_time()


def start_cluster(processes, threads, folder):
    cluster = distributed.LocalCluster(n_workers=processes, threads_per_worker=threads, dashboard_address=":0",
                                       local_directory=folder)
    client = distributed.Client(cluster)
    client.wait_for_workers(processes)
    return cluster, client


def match_one(work, frame):
    """CPU seconds of the worker's thread."""
    start = time.thread_time()
    match_frames(work.token, work, [(frame, frame)])
    return time.thread_time() - start


def time_frames(client, template, frames):
    """What each frame took, sorted."""
    work = Work(tmatch.read(template), None, {"device": "cpu"}, {})
    return sorted(client.gather([client.submit(match_one, work, frame, pure=False) for frame in frames]))


def time_tasks(client, template):
    """CPU seconds of the scheduler and the client for a task without frames."""
    work = Work(tmatch.read(template), None, {"device": "cpu"}, {})
    start = time.process_time()
    client.gather([client.submit(match_frames, work.token, work, [], pure=False) for _ in range(TASKS)])
    return (time.process_time() - start) / TASKS


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json")
    o = parser.parse_args()
    program = (o.build / "tmatch").resolve()
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="tmatch-cluster-", dir=find_memory(o.frames)) as folder:
        pictures = [p for p in sorted((ROOT / "data").iterdir())
                    if p.suffix in (".png", ".jpg") and p.name != "patch.jpg"]
        subprocess.run([(o.build / "bench/tmatch-bench").resolve(), "batch", "frames", folder, str(o.frames), *pictures],
                       check=True)
        frames = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        crops = pathlib.Path(folder, "crops")
        crops.mkdir()
        subprocess.run([program, "-q", "--device", "cpu", "--crops", crops, frames[0], frames[0] + TEMPLATE],
                       check=True, stdout=subprocess.DEVNULL)
        template, = crops.iterdir()
        names = pathlib.Path(folder, "names")
        names.write_bytes(b"\0".join(map(os.fsencode, frames)))

        def alone(threads):
            return run([program, "-q", "--device", "cpu", "--threads", str(threads), "-t", template, "-0",
                        "--files-from", names])

        def over(client):
            start, cpu = time.monotonic(), cpu_of(client)
            results = list(tmatch.dask.match_files(client, template, frames, device="cpu"))
            assert len(results) == len(frames) and all(r.error is None for r in results)
            return time.monotonic() - start, cpu_of(client) - cpu

        runs = {name: [] for name in ("program", "program-1", *WORKERS)}
        starts = []
        for _ in range(o.repeats):
            runs["program"].append(alone(cores))
            for name, (processes, threads) in WORKERS.items():
                start = time.monotonic()
                cluster, client = start_cluster(processes, threads, folder)
                next(tmatch.dask.match_files(client, template, frames[:1], device="cpu"))
                starts.append(time.monotonic() - start)
                runs[name].append(over(client))
                if name == "1x1":
                    times = time_frames(client, template, frames)
                    task = time_tasks(client, template)
                client.close()
                cluster.close()
            runs["program-1"].append(alone(1))
        walls, cpus = ({name: [one[i] for one in each] for name, each in runs.items()} for i in (0, 1))
        names.write_bytes(os.fsencode(frames[0]))
        one = [alone(1)[1] for _ in range(5)]
        result = {
            "frames": len(frames), "cores": cores, "file_mb": sum(map(os.path.getsize, frames)) / 1e6,
            "python": sys.version.split()[0], "distributed": distributed.__version__, "load": os.getloadavg(),
            "wall_s": {name: spread(each) for name, each in walls.items()},
            "frames_per_s": {name: len(frames) / statistics.median(each) for name, each in walls.items()},
            "cpu_s": {name: spread(each) for name, each in cpus.items()},
            "over_program": spread([a / b for a, b in zip(walls["2x2"], walls["program"])]),
            "cpu_over_program": spread([a / b for a, b in zip(cpus["2x2"], cpus["program"])]),
            "start_s": spread(starts),
            "program_start_s": min(one),
            "task_s": task,
            "frame_s": statistics.mean(times),
            "spread": [times[min(i * len(times) // PARTS, len(times) - 1)] / statistics.mean(times)
                       for i in range(PARTS + 1)],
        }
    text = json.dumps(result, indent=1)
    print(text)
    if o.json:
        pathlib.Path(o.json).write_text(text + "\n")


if __name__ == "__main__":
    main()
