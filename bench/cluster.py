#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures tmatch.dask beside the program alone, on 1920 x 1080 frames, half PNG and half
JPEG, with one 32 x 32 template.

    ninja -C build tmatch bench/tmatch-bench python/tmatch/_tmatch.abi3.so
    PYTHONPATH=build/python bench/cluster.py [--frames 400] [--repeats 5] [--json FILE] build

Each repeat runs, in turns: the program with all cores and with one thread, and match_files
on one worker of one thread, on two of one, and on two of two; "over_program" has the ratios
of the last to the program within a repeat. The program's time is that of its process;
Dask's is from the call to the last result on a cluster that runs and has matched a frame.
What a cluster takes to start stands beside it, and so do, for scaling.py, what single frames
took in a worker of one thread ("frame_s", "spread"), and the tasks without frames that
the scheduler handed out in a second.
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


def seconds_of(call):
    start = time.monotonic()
    call()
    return time.monotonic() - start


def start_cluster(processes, threads, folder):
    cluster = distributed.LocalCluster(n_workers=processes, threads_per_worker=threads, dashboard_address=":0",
                                       local_directory=folder)
    client = distributed.Client(cluster)
    client.wait_for_workers(processes)
    return cluster, client


def time_frames(client, template, frames):
    """What each frame took, alone in its task; sorted."""
    work = Work(tmatch.read(template), None, {"device": "cpu"}, {})
    futures = [client.submit(match_frames, work.token, work, [(name, name)], pure=False) for name in frames]
    return sorted(seconds for _, seconds in client.gather(futures))


def time_tasks(client, template):
    """Tasks without frames in a second."""
    work = Work(tmatch.read(template), None, {"device": "cpu"}, {})
    start = time.monotonic()
    client.gather([client.submit(match_frames, work.token, work, [], pure=False) for _ in range(TASKS)])
    return TASKS / (time.monotonic() - start)


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
            subprocess.run([program, "-q", "--device", "cpu", "--threads", str(threads), "-t", template, "-0",
                            "--files-from", names], check=True, stdout=subprocess.DEVNULL)

        def over(client):
            results = list(tmatch.dask.match_files(client, template, frames, device="cpu"))
            assert len(results) == len(frames) and all(r.error is None for r in results)

        walls = {name: [] for name in ("program", "program-1", *WORKERS)}
        starts = []
        for _ in range(o.repeats):
            walls["program"].append(seconds_of(lambda: alone(cores)))
            for name, (processes, threads) in WORKERS.items():
                start = time.monotonic()
                cluster, client = start_cluster(processes, threads, folder)
                next(tmatch.dask.match_files(client, template, frames[:1], device="cpu"))
                starts.append(time.monotonic() - start)
                walls[name].append(seconds_of(lambda: over(client)))
                if name == "1x1":
                    times = time_frames(client, template, frames)
                    tasks = time_tasks(client, template)
                client.close()
                cluster.close()
            walls["program-1"].append(seconds_of(lambda: alone(1)))
        pairs = zip(walls["2x2"], walls["program"])
        result = {
            "frames": len(frames), "cores": cores, "file_mb": sum(map(os.path.getsize, frames)) / 1e6,
            "python": sys.version.split()[0], "distributed": distributed.__version__, "load": os.getloadavg(),
            "wall_s": {name: spread(each) for name, each in walls.items()},
            "frames_per_s": {name: len(frames) / statistics.median(each) for name, each in walls.items()},
            "over_program": spread([a / b for a, b in pairs]),
            "start_s": spread(starts),
            "tasks_per_s": tasks,
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
