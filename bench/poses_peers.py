# SPDX-License-Identifier: MIT
"""The programs that bench/poses.py puts beside tmatch: each gets the same turned templates, made beforehand, and returns its
matches, best first. For one target that is the best of all, whatever it scores; for several the peaks of 0.5 or more."""
import math

import cv2
import numpy as np

try:
    import MTM  # multi-template-matching
except ImportError:
    MTM = None

LEAST = 0.5


class Hit:
    def __init__(self, score, x, y, size, turn):
        self.score = min(float(score), 1e6)  # OpenCV's may be infinite, which JSON has no word for
        self.fine_x, self.fine_y = float(x + (size[0] - 1) / 2), float(y + (size[1] - 1) / 2)
        self.fine_angle, self.fine_scale = turn, 1.0


def turned(template, step):
    """The template at each angle in a canvas that holds it, with a mask; where the mask is 0 there is its mean."""
    h, w = template.shape
    made = []
    for i in range(round(360 / step)):
        a = math.radians(i * step)
        wide = math.ceil(abs(w * math.cos(a)) + abs(h * math.sin(a)))
        high = math.ceil(abs(w * math.sin(a)) + abs(h * math.cos(a)))
        matrix = cv2.getRotationMatrix2D(((w - 1) / 2, (h - 1) / 2), i * step, 1)
        matrix[:, 2] += (wide - w) / 2, (high - h) / 2
        mask = (cv2.warpAffine(np.full((h, w), 255, np.uint8), matrix, (wide, high)) == 255).astype(np.uint8)
        picture = cv2.warpAffine(template, matrix, (wide, high))
        picture[mask == 0] = round(float(template.mean()))
        made.append((i * step, picture, mask))
    return made


def opencv(frame, made, targets):
    """cv2.matchTemplate in a loop. Under a mask flat windows have scores that are no numbers, or above 1: these are left out."""
    hits = []
    for turn, picture, mask in made:
        scores = cv2.matchTemplate(frame, picture, cv2.TM_CCOEFF_NORMED, mask=mask)
        scores[~(scores <= 1.001)] = -1
        places = [cv2.minMaxLoc(scores)[3]]
        if targets > 1:
            peaks = (scores >= LEAST) & (scores == cv2.dilate(scores, np.ones((3, 3))))
            places = np.argwhere(peaks)[:, ::-1]
        hits += [Hit(scores[y, x], x, y, picture.shape[::-1], turn) for x, y in places]
    return apart(hits, min(made[0][1].shape) / 2, targets)


def apart(hits, distance, count):
    """The best hits, each as far from the better ones."""
    kept = []
    for hit in sorted(hits, key=lambda hit: -hit.score):
        if len(kept) == count:
            break
        if all(math.hypot(hit.fine_x - k.fine_x, hit.fine_y - k.fine_y) >= distance for k in kept):
            kept.append(hit)
    return kept


def found_by_mtm(frame, templates, targets, method):
    hits = MTM.matchTemplates(templates, frame, method=method, N_object=targets, score_threshold=LEAST)
    return [Hit(score, box[0], box[1], box[2:], float(name)) for name, box, score in hits]


def mtm(frame, made, targets):
    """MultiTemplateMatching by LCC, for which it takes no masks: the template's mean is beside the turned pictures."""
    return found_by_mtm(frame, [(str(turn), picture) for turn, picture, _ in made], targets, cv2.TM_CCOEFF_NORMED)


def mtm_masked(frame, made, targets):
    """MultiTemplateMatching by the metric for which it takes masks: products without the means."""
    templates = [(str(turn), picture, mask) for turn, picture, mask in made]
    return found_by_mtm(frame, templates, targets, cv2.TM_CCORR_NORMED)


PEERS = {"opencv": opencv} | ({"mtm": mtm, "mtm masked": mtm_masked} if MTM else {})


def versions():
    return {"opencv": cv2.__version__} | ({"mtm": MTM.__version__} if MTM else {})
