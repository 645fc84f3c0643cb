#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares tmatch's maps with cv2.matchTemplate's on the data pictures.

    bench/compare_opencv.py TMATCH DATA_FOLDER

All six metrics; gray, gray under a mask, colour. A line a case: the greatest
difference, as a part of the greatest value (of the normed ones, of 1), how many
positions differ by more than 1e-4 of that, how many of cv2's values are not finite,
and whether the two best positions are the same. Exit status 77 without cv2.
"""
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy as np
except ImportError:
    print("no cv2 or numpy here")
    sys.exit(77)

METRICS = {"lcc": cv2.TM_CCOEFF_NORMED, "ccorr": cv2.TM_CCORR,
           "ccorr_normed": cv2.TM_CCORR_NORMED, "ccoeff": cv2.TM_CCOEFF,
           "sqdiff": cv2.TM_SQDIFF, "sqdiff_normed": cv2.TM_SQDIFF_NORMED}
NORMED = ("lcc", "ccorr_normed", "sqdiff_normed")


def tmatch(program, folder, frame, template, metric, mask, color):
    paths = [f"{folder}/{name}.png" for name in ("frame", "template", "mask")]
    cv2.imwrite(paths[0], frame)
    cv2.imwrite(paths[1], template)
    command = [program, "-q", "--metric", metric, "--map", f"{folder}/map.npy", *paths[:2]]
    if mask is not None:
        cv2.imwrite(paths[2], mask)
        command += ["--mask", paths[2]]
    if color:
        command.append("--color")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return np.load(f"{folder}/map.npy").astype(np.float64)


def compare(name, metric, ours, theirs):
    finite = np.isfinite(theirs)
    scale = 1.0 if metric in NORMED else np.abs(ours).max()
    difference = np.abs(ours - np.where(finite, theirs, ours)) / scale
    best = np.argmin if metric.startswith("sqdiff") else np.argmax
    theirs_best = best(np.where(np.isnan(theirs), -np.inf, theirs))
    print(f"{name:22} {metric:14} {difference.max():9.2e} {(difference > 1e-4).sum():7d} "
          f"{(~finite).sum():7d}  {'same' if best(ours) == theirs_best else 'OTHER'}")


def main():
    program, data = sys.argv[1:]
    print(f"OpenCV {cv2.__version__}\n{'case':22} {'metric':14} {'greatest':>9} {'>1e-4':>7} "
          f"{'not fin':>7}  best")
    cases = [("camera.png", 150, 100, 40, 31), ("coffee.png", 300, 200, 36, 24),
             ("text.png", 100, 40, 60, 20)]
    with tempfile.TemporaryDirectory() as folder:
        for picture, x, y, w, h in cases:
            for color in (False, True):
                frame = cv2.imread(f"{data}/{picture}", 1 if color else 0)
                if color and picture != "coffee.png":
                    continue
                template = frame[y:y + h, x:x + w].copy()
                disc = np.zeros((h, w), np.uint8)
                cv2.ellipse(disc, (w // 2, h // 2), (w // 3, h // 3), 0, 0, 360, 255, -1)
                for mask in (None, disc):
                    name = picture[:-4] + (", colour" if color else "") + (", mask" if mask is not None else "")
                    for metric, code in METRICS.items():
                        ours = tmatch(program, folder, frame, template, metric, mask, color)
                        theirs = cv2.matchTemplate(frame, template, code, mask=mask)
                        compare(name, metric, ours, theirs.astype(np.float64))


main()
