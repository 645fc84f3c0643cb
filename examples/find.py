# SPDX-License-Identifier: MIT
import random

import tmatch

# a frame of noise, and a template that lies in it at (300, 200)
pixels = memoryview(random.Random(1).randbytes(480 * 640)).cast("B", (480, 640))
frame = bytearray(pixels.tobytes())
crop = b"".join(frame[y * 640 + 300 : y * 640 + 332] for y in range(200, 224))

(best,) = tmatch.match(pixels, memoryview(crop).cast("B", (24, 32)))
print(f"x={best.x} y={best.y} score={best.score:g}")
