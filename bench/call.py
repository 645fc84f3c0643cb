#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call from Python takes, beside the library's own time for it: bench/call.py

A frame of 8 x 8 and a template of 2 x 2, so that little but the call is left; microseconds, the
best of several rounds. The module is found as Python finds it: PYTHONPATH=build/python, or
installed. The library's time is that of the shortest of these matches, by its own clock.
"""

import time

import tmatch

CALLS, ROUNDS = 20_000, 7


def best(call):
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        times.append((time.perf_counter() - start) / CALLS * 1e6)
    return min(times)


pixels = bytes(i * 37 % 251 for i in range(64))
frame = memoryview(pixels).cast("B", (8, 8))
template = memoryview(pixels[27:29] + pixels[35:37]).cast("B", (2, 2))
matcher = tmatch.Matcher(template, device="cpu", threads=1)
library = []
for _ in range(2000):
    matcher.match(frame)
    library.append(matcher.report.milliseconds * 1e3)
print(f"the library's match     {min(library):6.2f}")
print(f"Matcher.match           {best(lambda: matcher.match(frame)):6.2f}")
print(f"Matcher.score_map       {best(lambda: matcher.score_map(frame)):6.2f}")
print(f"tmatch.match            {best(lambda: tmatch.match(frame, template, device='cpu', threads=1)):6.2f}")
