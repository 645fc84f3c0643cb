#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Simulates many workers of one thread from what cluster.py measured, and prints the table of
docs/many-machines.md.

    PYTHONPATH=build/python bench/scaling.py [--frames 1000000] [--seed 1] [bench/results/cpu/cluster.json]

Frames' times are drawn from those that were measured. Every 50th worker is half as fast.

shards  each worker has the frames whose hashes are its own: independent, each with the same
        probability. A worker starts in the time that the program takes for one frame. The whole
        ends with the last worker.
Dask    tasks have as many frames as tmatch.dask gives them, by its own code. A worker is there after
        the time that a cluster took to start, and up to as much again. It has two tasks, one
        that it works on and one that waits; for each that ends, the scheduler and the client, one
        process, take the CPU time that was measured for a task, one after the other. Tasks are
        not stolen, results take no time on the network.

Reading is not simulated; the last column says what the network and the disks have to deliver.
"""
import argparse
import bisect
import heapq
import json
import pathlib
import random
import statistics

from tmatch.dask._flow import Pace

RESULTS = pathlib.Path(__file__).resolve().parent / "results/cpu/cluster.json"
WORKERS = (1, 16, 256, 4096)
SLOW_EVERY = 50
AHEAD = 2
FEW = 30  # frames whose times are drawn; of more, the sum is drawn as nearly normal


class Frames:
    def __init__(self, measured, draw):
        self.times = [measured["frame_s"] * ratio for ratio in measured["spread"]]
        self.mean, self.deviation = statistics.mean(self.times), statistics.pstdev(self.times)
        self.draw = draw

    def seconds(self, count):
        if count <= FEW:
            return sum(self.draw.choices(self.times, k=count))
        return max(0, self.draw.gauss(count * self.mean, count**0.5 * self.deviation))


def slowness(worker):
    return 2 if worker % SLOW_EVERY == SLOW_EVERY - 1 else 1


def simulate_shards(frames, count, workers, start):
    ends = [(i + 1) / workers for i in range(workers)]
    shares = [0] * workers
    for _ in range(count):
        shares[bisect.bisect_right(ends, frames.draw.random())] += 1
    return max(start + frames.seconds(share) * slowness(i) for i, share in enumerate(shares))


def simulate_dask(frames, count, workers, start, task):
    pace = Pace(None)
    left = count
    scheduler = 0.0  # when it is free
    waiting = [[] for _ in range(workers)]  # (arrival, frames) of tasks
    running = []  # (end, worker, frames, seconds)

    def hand_out(now, worker):
        nonlocal left, scheduler
        if left:
            size = min(pace.size(left, workers), left)
            left -= size
            scheduler = max(scheduler, now) + task
            waiting[worker].append((scheduler, size))

    def begin(now, worker):
        if waiting[worker]:
            arrival, size = waiting[worker].pop(0)
            seconds = frames.seconds(size) * slowness(worker)
            heapq.heappush(running, (max(now, arrival) + seconds, worker, size, seconds))

    there = [start * (1 + frames.draw.random()) for _ in range(workers)]
    asked = pace.tasks(AHEAD, workers)
    for worker in range(asked):
        hand_out(there[worker], worker)
        begin(there[worker], worker)
    now, learnt = 0.0, False
    while running:
        now, worker, size, seconds = heapq.heappop(running)
        pace.learn(size, seconds)
        if pace.is_known(workers) and not learnt:
            learnt = True
            for turn in range(AHEAD):
                for other in range(workers):
                    if turn or other >= asked:
                        hand_out(max(now, there[other]), other)
            for other in range(asked, workers):
                begin(max(now, there[other]), other)
        hand_out(now, worker)
        begin(now, worker)
    return now


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("measured", nargs="?", type=pathlib.Path, default=RESULTS)
    parser.add_argument("--frames", type=int, default=1000000)
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    measured = json.loads(o.measured.read_text())
    frames = Frames(measured, random.Random(o.seed))
    work = o.frames * frames.mean
    megabytes = measured["file_mb"] / measured["frames"]
    print("| workers | ideal | shards | efficiency | Dask | efficiency | to be read |")
    print("|---|---|---|---|---|---|---|")
    for workers in WORKERS:
        ideal = work / workers
        shards = simulate_shards(frames, o.frames, workers, measured["program_start_s"])
        dask = simulate_dask(frames, o.frames, workers, min(measured["start_s"]["each"]), measured["task_s"])
        cells = [f"{workers:,}", f"{ideal:,.0f} s"]
        rate = megabytes * o.frames / min(shards, dask) / 1000
        cells += [cell for took in (shards, dask) for cell in (f"{took:,.0f} s", f"{100 * ideal / took:.0f} %")]
        print("| " + " | ".join([*cells, f"{rate:,.{0 if rate > 10 else 2}f} GB/s"]) + " |")


if __name__ == "__main__":
    main()
